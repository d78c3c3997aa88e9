"""What the tests of the archive have in common."""

from __future__ import annotations

from pathlib import Path

from services.wiring import Services, build

NOW = 1_772_323_200_000
"""The time, ms."""
HOURS = 24
"""How long a game has been over when it is moved."""


def files(tmp_path: Path) -> list[str]:
    """What is in the archive."""
    folder = tmp_path / "archive"
    return sorted(str(one.relative_to(folder)) for one in folder.rglob("*.gz"))


def anew(services: Services) -> Services:
    """Services of another process."""
    return build(services.settings, clock=services.clock)
