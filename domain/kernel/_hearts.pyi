"""The compiled kernel. It is used through `domain.kernel`, which also works where this module is missing."""

from collections.abc import Callable
from typing import Literal, final

from domain.cards import Mask, Seat
from domain.ruleset import RuleSet

Position = tuple[
    Literal["pass", "play", "moon", "deal", "over"],
    int,
    Seat | None,
    list[str] | None,
    list[list[int]],
    list[int],
    list[Seat],
]
"""Phase, hand, turn, legal, points, totals and winners of a record that holds, as `domain.record.Verdict` has them."""

Fault = tuple[RuleSet, int, bool, bytes, list[list[int]], list[int]]
"""Rules, hand and its JSON, whether it is the last, and points and totals before it, of a record that is wrong there."""

@final
class Terms:
    """A rule set as the kernel plays it: `domain.ruleset.Terms` in numbers.

    ``rules`` comes back with a fault; ``deck`` is the first and the second copies; ``offsets`` the seats to the left that each hand of the pass cycle
    passes; ``values`` the points of each card; ``moon`` and ``sun`` indices into `domain.kernel.CHOICES`; ``hand_limit`` is 0 for none.
    Raises `ValueError` where the kernel could not play them.
    """

    def __new__(
        cls,
        *,
        rules: RuleSet,
        players: int,
        hand: int,
        deck: tuple[Mask, Mask],
        pass_count: int,
        offsets: tuple[int, ...],
        opening_ban: Mask,
        trick1_ban: Mask,
        breakers: Mask,
        values: tuple[int, ...],
        opener_forced: bool,
        kitty_last: bool,
        must_qs: bool,
        hearts_beside_qs: bool,
        cancel: bool,
        two_pairs_dead: bool,
        dead_last_to_leader: bool,
        partners: bool,
        moon: int,
        sun: int,
        sun_from: int,
        moon_needs_bonus: bool,
        swallows: bool,
        tie_goes_on: bool,
        perfect_hand: bool,
        moon_x: int,
        sun_x: int,
        no_trick_points: int,
        moon_choice_from: int | None,
        hand_floor: int | None,
        floor: int | None,
        target: int,
        hand_limit: int,
    ) -> Terms: ...

def check(line: bytes, find_terms: Callable[[bytes, int], Terms | None], /) -> Position | Fault | None:
    """The position a record ends in, or the first hand that is wrong; none where another must judge.

    ``find_terms`` is asked once, with the raw ``rules`` and the number of seats, for the terms of a valid rule set, or
    none where the kernel shall not answer. What it raises is raised.
    """

def search(
    terms: Terms, position: bytes, arms: list[tuple[int, Mask, Mask, bool]], budget: int, chance: int, /
) -> list[tuple[int, int, int]]:
    """Try ``arms`` at a position, as `domain.bots.search.Position.pack` writes it, with about ``budget`` playouts.

    Returns the place of each arm, the sum of what its playouts were worth, and their number, the best first. Raises
    `ValueError` where the position cannot be played on or an arm is not allowed there. Runs without the interpreter's lock.
    """

def score_hand(
    terms: Terms,
    totals: list[int],
    number: int,
    deal: tuple[str, ...],
    kitty: str,
    passes: tuple[str, ...] | None,
    seats: bytes,
    plays: bytes,
    takers: bytes,
    /,
) -> list[int] | None:
    """What a hand adds to ``totals``, where all of it is right; else none.

    The other arguments are the fields of `domain.kernel.ToldHand`.
    """

def are_plain(lines: bytes, first: int, /) -> bool:
    """Whether published events, one a line, are numbered in order from ``first`` on and are JSON that everybody reads alike.

    They are surely where it says so; where it does not, another must judge.
    """
