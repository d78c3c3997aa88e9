"""What is told of a duplicate table whose hands are sealed: every table of its group has to finish them first.

``docs/spec/audit.md``, branches and duplicates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec
from msgspec import UNSET

from domain import events as e
from services.faults import Shown


def group_of(first: e.GameCreated) -> str | None:
    """The group of a duplicate table; none of any other."""
    return None if first.deal_group is UNSET else first.deal_group


def sealed_words(hands: Sequence[int], group: str) -> str:
    """Why nothing is shown of some hands."""
    told, them = ("hand", "it") if len(hands) == 1 else ("hands", "them")
    return (
        f"the cards of {told} {', '.join(map(str, hands))} are sealed until every table of group {group:.64}"
        f" has finished {them}"
    )


class _Judge(Protocol):
    """Judges a hand by its events."""

    def feed(self, events: Sequence[e.AnyEvent], broken_off: Shown | None = None) -> None:
        """Raises `services.faults.Failed`."""


class SealedHands:
    """The hands of a duplicate table whose cards are not known yet, each with who judges it when they are.

    Their events are kept until then, which is the rest of a file where no reveal ever comes.
    """

    def __init__(self, group: str) -> None:
        self._group = group
        self._kept: dict[int, tuple[_Judge, list[Any]]] = {}
        self.waiting: list[int] = []
        """The hands that are over and not revealed, in order."""

    @property
    def why(self) -> str:
        """Why nothing is shown of them."""
        return sealed_words(self.waiting, self._group)

    def keep(self, hand: int, judge: _Judge, events: Sequence[e.AnyEvent]) -> None:
        """Keep a hand, ``events`` from its deal on up to its end, and who judges them."""
        self._kept[hand] = judge, list(events)

    def close(self, hand: int) -> None:
        """A hand is over."""
        self.waiting.append(hand)

    def reveal(self, event: e.HandsRevealed, broken_off: Shown | None) -> bool:
        """Judge the hand whose cards are known now; false where it is not the next. Raises `services.faults.Failed`.

        ``broken_off`` are the cards of one that the end of the game broke off.
        """
        if self.waiting[:1] != [event.hand]:
            return False
        self.waiting.pop(0)
        judge, events = self._kept.pop(event.hand)
        if isinstance(events[-1], e.HandScored):
            cards = {name: getattr(event, name) for name in ("secret", "deal", "kitty", "passes")}
            judge.feed([*events[:-1], msgspec.structs.replace(events[-1], **cards)])
        else:
            judge.feed(events, broken_off)
        return True
