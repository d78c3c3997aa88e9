"""A house whose projections are made anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from services.wiring import Services
from tests.support.rebuilt import served


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """A house on a store of the test, which the command finds by the environment, with an archive."""
    with served(tmp_path, monkeypatch) as services:
        yield services
