"""One running house for the tests of a process that only play on it."""

from collections.abc import Iterator

import pytest

from tests.support.running import running_house


@pytest.fixture(scope="session")
def house_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running house."""
    with running_house(tmp_path_factory.mktemp("house") / "data") as url:
        yield url
