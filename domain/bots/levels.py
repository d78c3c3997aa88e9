"""Opponents for people, from easy to hard: one number, the level, says how a bot errs.

It errs as people do. It looks at fewer worlds, forgets who has shown to lack a suit and what it passed, does not see the
chance of a moon, and is unsure how much a card is worth: the worth of each gets an error whose size falls with the level.
So it often plays the second best card, seldom a bad one, and an awful one hardly ever; it never plays just any card.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from domain.bots.rules import choose_moon
from domain.bots.search import POINT, WIN, Position, Tried
from domain.bots.worlds import Chance, scale
from domain.cards import Card
from domain.events import Choice
from domain.view import View


class Level(NamedTuple):
    """How well a bot plays."""

    playouts: int
    unsure: int
    """By how many tenths of a point, in a game of 26 points a hand, it is usually mistaken about what a card is worth."""
    forgets: int
    """How many of 16 things that it has seen it has forgotten."""
    shoots: bool
    """Whether it ever means to shoot the moon."""


LEVELS: Final = (
    Level(playouts=40, unsure=120, forgets=14, shoots=False),
    Level(playouts=60, unsure=85, forgets=11, shoots=False),
    Level(playouts=80, unsure=60, forgets=8, shoots=False),
    Level(playouts=100, unsure=40, forgets=6, shoots=False),
    Level(playouts=150, unsure=25, forgets=4, shoots=False),
    Level(playouts=200, unsure=14, forgets=2, shoots=True),
    Level(playouts=300, unsure=5, forgets=1, shoots=True),
)
"""Level 1 is a beginner who knows the rules; above the last one is the searching bot itself."""
_THINGS: Final = 16
_DICE: Final = 12
_SIDES: Final = 1 << 16


def level_policy(level: int) -> Callable[[View, bytes, int], tuple[Card, ...] | Card | Choice]:
    """The policy of a level, from 1."""
    return partial(_decide, LEVELS[level - 1])


def _decide(level: Level, seen: View, seed: bytes, playouts: int) -> tuple[Card, ...] | Card | Choice:
    """Pass, play or choose, with so many playouts a decision."""
    if seen.phase == "moon":
        return choose_moon(seen)
    chance = Chance(int.from_bytes(seed[:8], "big"))
    position = Position(seen)
    position.unseen.forget(lambda: scale(chance.word(), _THINGS) < level.forgets)
    arms = [arm for arm in position.arms() if level.shoots or not arm.shoots]
    if len(arms) > 1:
        tried = position.try_all(arms, playouts, int.from_bytes(seed[8:16], "big"))
        arms = [max(tried, key=lambda one: _felt(one, level, chance)).arm]
    return arms[0].action


def _felt(tried: Tried, level: Level, chance: Chance) -> int:
    """What an arm seems to be worth: the mean of its playouts, and an error like one in a bell curve."""
    mean = tried.total // max(1, tried.worlds)
    rolled = sum([scale(chance.word(), _SIDES) for _ in range(_DICE)]) - _DICE * _SIDES // 2
    # twelve dice have the variance of one side squared; a point is worth what it counts, and a hundredth of the game
    return mean + rolled * level.unsure * (POINT + WIN // 100) // (10 * _SIDES)
