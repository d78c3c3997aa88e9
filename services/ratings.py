"""Ratings: what the order in which a game ended says of the skill of those who played it.

A skill is a normal belief, `Skill`. A game moves it by the Bradley-Terry model with full pairing: Weng and Lin, A
Bayesian approximation method for online ranking, JMLR 12 (2011), algorithm 1, as the package `openskill` has it. Each
seat is compared with each other one; who ends level has drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
from openskill.models import BradleyTerryFull

CAUTION: Final = 3.0
"""Deviations below the mean at which somebody stands in a table: the skill that one can be all but sure of."""


class Skill(msgspec.Struct, frozen=True, array_like=True):
    """What is believed of somebody's skill: its mean and standard deviation, in points of the rating scale."""

    mu: float = 25.0
    sigma: float = 25.0 / 3.0

    @property
    def score(self) -> float:
        """What a table of players is sorted by: 0 for who has not played; a lucky game or two lift nobody to the top."""
        return self.mu - CAUTION * self.sigma


class Finisher(NamedTuple):
    """A seat at the end of a game."""

    who: str
    """Id of the player or the bot; a bot may have several seats."""
    place: int
    """Less is better; equal is level."""
    left: bool = False
    """Whether its player has handed it over: then it counts last, and for nobody's rating but the player's own."""
    side: int = -1
    """Partners have a side in common; -1 for who plays alone."""


def rate(skills: dict[str, Skill], seats: Sequence[Finisher]) -> dict[str, Skill]:
    """The skills after a game, by id; who has nobody to be compared with is left out. ``skills`` has those before it.

    A seat is compared with the seats of others that are not its partner's, who stayed unless it left itself. Who had
    several seats gets the mean of what they would get. The order of ``seats`` makes no difference, to the last bit.
    """
    found: dict[str, list[Skill]] = {}
    for seat in seats:
        others = [other for other in seats if _are_compared(seat, other)]
        if others:
            found.setdefault(seat.who, []).append(_rate_one(skills, seat, others))
    return {who: _mean(several) for who, several in found.items()}


def _are_compared(seat: Finisher, other: Finisher) -> bool:
    partners = seat.side >= 0 and seat.side == other.side
    return seat.who != other.who and not partners and (seat.left or not other.left)


def _rate_one(skills: dict[str, Skill], seat: Finisher, others: Sequence[Finisher]) -> Skill:
    model = _model()
    table = [seat, *sorted(others, key=lambda one: (one.left, one.place, one.who))]
    before = [skills.get(one.who, Skill()) for one in table]
    ranks = [math.inf if one.left else float(one.place) for one in table]
    teams = [[model.rating(mu=skill.mu, sigma=skill.sigma)] for skill in before]
    after = model.rate(teams, ranks=ranks)[0][0]
    return Skill(before[0].mu + _share(len(table)) * (after.mu - before[0].mu), after.sigma)


def _share(seats: int) -> float:
    """What a comparison counts for where there are so many seats.

    The comparisons of a seat have its own luck in common. With k seats they tell what one with the mean of k - 1 others
    does, of variance b^2 (1 + 1 / (k - 1)) where one with a single other has 2 b^2: 2 (k - 1) / k times as much, which
    is 2 / k for each. Counted whole, one lucky game of eleven would be worth ten.
    """
    return 2 / seats


def _gamma(c: float, k: int, _mu: float, sigma_squared: float, *_: Any) -> float:
    """The package's own bound on how fast a deviation shrinks, with the share of `_share`."""
    return _share(k) * math.sqrt(sigma_squared) / c


@cache
def _model() -> BradleyTerryFull:
    """The package's model with its usual scale: mean 25, deviation 25 / 3, luck of a game 25 / 6, drift 25 / 300."""
    return BradleyTerryFull(gamma=_gamma)


def _mean(skills: Sequence[Skill]) -> Skill:
    count = len(skills)
    return Skill(math.fsum(one.mu for one in skills) / count, math.fsum(one.sigma for one in skills) / count)
