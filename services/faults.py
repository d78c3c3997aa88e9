"""What the checks of a proof have in common: how a claim fails, and a hand that only the end of the game shows."""

from __future__ import annotations

from typing import Final, NamedTuple

LATEST: Final = 2**53
"""No time is later, in ms: a number that every JSON reader can hold."""


class Failed(Exception):
    """A claim fails at an event, counted from 1."""

    def __init__(self, event: int, why: str, cause: str = "") -> None:
        super().__init__(why)
        self.event = event
        self.cause = cause
        """What the program said, where ``why`` puts it into other words."""


class Shown(NamedTuple):
    """The cards of a hand that was broken off, as its secret shows them."""

    hand: int
    deal: tuple[str, ...]
    kitty: str
    passes: tuple[str, ...] | None
    """None where not every seat had passed, or nothing is passed."""
    given: dict[int, str]
    """What each seat passed that did."""
