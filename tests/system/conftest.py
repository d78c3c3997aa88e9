"""One running house for the tests of a process that only play on it."""

from collections.abc import Iterator

import pytest

from tests.support.running import running_house


@pytest.fixture(scope="session")
def house_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a running house, to which as many players may come as there are tests."""
    folder = tmp_path_factory.mktemp("house") / "data"
    with running_house(folder, HEARTS_RATE_NEW_PLAYERS="") as url:
        yield url
