"""Arenas for the tests: plans, what is deterministic in their results, and bots that fail in every way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from domain.events import BotName
from domain.variants import ruleset_of
from domain.view import View
from workers.arena.bots import read_entrant
from workers.arena.match import Dealt, Plan, plan_of
from workers.arena.seat import Answer, NoAnswer, Player


def plan(*bots: str, variant: str = "classic", seed: int = 1, games: bool = False, **rules: Any) -> Plan:
    """An arena of these bots."""
    given = ruleset_of({"variant": variant, **rules})
    return plan_of(given, [read_entrant(text) for text in bots], seed, games=games)


def timeless(dealt: Sequence[Dealt]) -> list[Dealt]:
    """What must be the same whoever plays the deals, and when."""
    return [
        msgspec.structs.replace(
            one, scores=[msgspec.structs.replace(score, cpu_ns=0, times={}) for score in one.scores]
        )
        for one in dealt
    ]


class Wrong:
    """An entrant that always answers the same, or dies where that is an exception."""

    def __init__(self, text: str, answer: object) -> None:
        self.text, self.answer = text, answer
        self.id = BotName("wrong", "1", 0)
        self.sat = self.left = 0

    def sit(self) -> Player:
        """See `Entrant`."""
        self.sat += 1
        return self

    def decide(self, _seen: View, _seed: bytes) -> Answer:
        """See `Player`."""
        if isinstance(self.answer, NoAnswer):
            raise self.answer
        return Answer(self.answer, 1000)

    def leave(self) -> None:
        """See `Player`."""
        self.left += 1
