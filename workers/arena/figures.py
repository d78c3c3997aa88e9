"""What the deals of an arena say of its bots: means over deals, and differences that are taken deal by deal.

The seatings of a deal share its cards, so the deal is the unit: each gives one figure for each bot, its points a hand in
all its seatings, and one for each difference. Intervals are Student's over deals.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Final

import msgspec

from services.standings import student
from workers.arena.match import Dealt, Score, class_ns

CHECK_DEALS: Final = 50
"""After so many deals each it is looked whether the intervals are small enough."""


class Figure(msgspec.Struct, frozen=True):
    """A mean over deals."""

    mean: float
    half_width: float | None
    """How far the ends of the 95 percent interval are from the mean; none where there are fewer than two deals."""


class Sample:
    """Figures of deals, one each, summed up as they come (Welford 1962)."""

    def __init__(self) -> None:
        self.count, self.mean, self._squares = 0, 0.0, 0.0

    def add(self, figure: float) -> None:
        """Another deal's."""
        self.count += 1
        off = figure - self.mean
        self.mean += off / self.count
        self._squares += off * (figure - self.mean)

    @property
    def half_width(self) -> float | None:
        """See `Figure`."""
        if self.count < 2:
            return None
        return student(self.count - 1) * math.sqrt(self._squares / (self.count - 1) / self.count)

    @property
    def figure(self) -> Figure:
        """As it is reported."""
        return Figure(self.mean, self.half_width)


class Compared:
    """One measure of all bots: each one's, its difference to the mean of the others, and the differences of pairs."""

    def __init__(self, bots: int, measure: Callable[[Score], float]) -> None:
        self._measure = measure
        self.own = [Sample() for _ in range(bots)]
        self.rest = [Sample() for _ in range(bots)]
        self.pairs = {pair: Sample() for pair in combinations(range(bots), 2)}

    def add(self, scores: Sequence[Score]) -> None:
        """Another deal's."""
        values = [self._measure(score) for score in scores]
        for bot, value in enumerate(values):
            self.own[bot].add(value)
            others = values[:bot] + values[bot + 1 :]
            self.rest[bot].add(sum([value - other for other in others]) / len(others))
        for (one, other), sample in self.pairs.items():
            sample.add(values[one] - values[other])


class Tally:
    """All that is kept of the deals so far."""

    def __init__(self, bots: int) -> None:
        self.deals = self.matches = 0
        self.points = Compared(bots, lambda score: score.points / score.hands if score.hands else 0.0)
        self.won = Compared(bots, lambda score: score.won / score.games if score.games else 0.0)
        self.sums = [Score() for _ in range(bots)]
        self.each: list[tuple[int, int, list[int], list[int]]] = []
        """Of each deal its number, matches, and of each bot the points and hands."""

    def add(self, dealt: Dealt) -> None:
        """Take in another deal."""
        self.deals += 1
        self.matches += dealt.matches
        self.points.add(dealt.scores)
        self.won.add(dealt.scores)
        for total, score in zip(self.sums, dealt.scores, strict=True):
            for field in (
                "points",
                "hands",
                "games",
                "won",
                "moons",
                "moves",
                "illegal",
                "unanswered",
                "cpu_ns",
            ):
                setattr(total, field, getattr(total, field) + getattr(score, field))
            total.lost = dict(Counter(total.lost) + Counter(score.lost))
            total.first_lost = total.first_lost or score.first_lost
            total.times = dict(Counter(total.times) + Counter(score.times))
        points, hands = [one.points for one in dealt.scores], [one.hands for one in dealt.scores]
        self.each.append((dealt.deal, dealt.matches, points, hands))

    def is_precise(self, points: float) -> bool:
        """Whether it is time to look, and no pair's interval reaches further than so many points to each side.

        It looks at widths and not at where 0 is, so that who stops by it favours no bot.
        """
        if self.deals % CHECK_DEALS:
            return False
        widths = [sample.half_width for sample in self.points.pairs.values()]
        return all(width is not None and width <= points for width in widths)


def percentile_ms(times: dict[int, int], share: float) -> float | None:
    """The time, in ms, that so large a share of moves took at most; none where there are no moves."""
    left = share * sum(times.values())
    for place in sorted(times):
        left -= times[place]
        if left <= 0:
            return class_ns(place) / 1e6
    return None
