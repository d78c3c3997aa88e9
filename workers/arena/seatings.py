"""Who sits where: the seatings in which a deal is played, so that every bot plays every seat of it equally often.

A seating is a bot's number by seat, written as letters: ``ABBA``. Where all balanced seatings, in which no bot has more
than one seat more than another, are few, a deal is played in each of them. Where they are many, one of them is drawn, and
the deal is played in all that follow from it by turning the table and, where the seats cannot be shared out evenly, by
letting the bots change places in turn. Turned and exchanged, each bot comes to each seat as often as any other; with
every deal another one is drawn, so that all neighbours come up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from math import comb, factorial
from typing import Final

from domain.refusals import HeartsError
from domain.shuffle import hash_parts

MOST: Final = 40
"""All balanced seatings are played where there are no more."""

Seating = tuple[int, ...]


class NoSeating(HeartsError):
    """A text that is no seating of these bots."""


def seatings_of(bots: int, seats: int, seed: bytes) -> tuple[Seating, ...]:
    """The seatings of one deal, in order; ``seed`` is the deal's."""
    if count_balanced(bots, seats) <= MOST:
        return _all_balanced(bots, seats)
    return tuple(sorted(_turned(_drawn(bots, seats, seed), bots)))


def count_balanced(bots: int, seats: int) -> int:
    """How many balanced seatings there are."""
    each, more = divmod(seats, bots)
    ways = factorial(seats) // factorial(each) ** (bots - more) // factorial(each + 1) ** more
    return int(comb(bots, more) * ways)


@lru_cache(maxsize=16)
def _all_balanced(bots: int, seats: int) -> tuple[Seating, ...]:
    each, more = divmod(seats, bots)

    def grow(seated: Seating, counts: tuple[int, ...]) -> Iterator[Seating]:
        if len(seated) == seats:
            yield seated
            return
        fuller = sum(count > each for count in counts)
        for bot in range(bots):
            if counts[bot] < each or (counts[bot] == each and fuller < more):
                yield from grow((*seated, bot), (*counts[:bot], counts[bot] + 1, *counts[bot + 1 :]))

    return tuple(grow((), (0,) * bots))


def _drawn(bots: int, seats: int, seed: bytes) -> Seating:
    def shuffled(what: str, count: int) -> list[int]:
        return sorted(range(count), key=lambda one: hash_parts(what, seed, str(one).encode()))

    order = shuffled("hearts/v1/arena-bots", bots)
    taken = [order[place % bots] for place in range(seats)]
    return tuple(taken[place] for place in shuffled("hearts/v1/arena-seats", seats))


def _turned(seating: Seating, bots: int) -> set[Seating]:
    turned = {seating[by:] + seating[:by] for by in range(len(seating))}
    if len(seating) % bots == 0:
        return turned
    return {tuple((bot + by) % bots for bot in one) for one in turned for by in range(bots)}


def letter(bot: int) -> str:
    """How a bot is written in a seating."""
    return chr(ord("A") + bot)


def write_seating(seating: Seating) -> str:
    """A seating as it is written."""
    return "".join(map(letter, seating))


def read_seating(text: str, bots: int, seats: int) -> Seating:
    """The seating that was written. Raises `NoSeating`; an unbalanced one may be asked for too."""
    seating = tuple(ord(one) - ord("A") for one in text.upper())
    if len(seating) != seats or not all(0 <= bot < bots for bot in seating):
        raise NoSeating(
            f"{text!r:.40} is no seating: it has a letter for each of {seats} seats, A to {letter(bots - 1)}"
        )
    return seating


def seats_by_bot(seating: Seating) -> Counter[int]:
    """How many seats each bot has."""
    return Counter(seating)
