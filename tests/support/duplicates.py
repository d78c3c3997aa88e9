"""Duplicate tables: games of a group, whose hands are sealed until every table of it has finished them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import Any

from domain import commands as c
from domain import events as e
from domain.bots import house_move
from domain.game import is_over, to_act
from domain.variants import ruleset_of
from tests.support.games import Game, clock, open_game, random_move
from tests.support.proofs import KEY, Events, at_of, changed
from tests.support.signing import mark_of, seat_of, sign

GROUP = "t-7/r1"
WHENS = ("at once", "late", "at the end")
"""When hands are revealed: as soon as they are over, in the middle of the hand that follows, when the game is over."""
WEEK = 7 * 24 * 60 * 60 * 1000


def begin(
    kinds: str = "ppnb", name: str = "g-test", seed: int = 7, *, key: str = KEY.public, **rules: Any
) -> Game:
    """A duplicate table of two short hands, dealt."""
    given = {"variant": "standard", "players": 4, "hand_limit": 2} | rules
    return open_game(ruleset_of(given), Random(seed), kinds, name=name, server_key=key, deal_group=GROUP)


def reveal(game: Game) -> None:
    """Let the next sealed hand of a table be shown."""
    game.do(c.RevealHand(at=game.events[-1].at + 5, hand=game.end.sealed[0].number))


def play_on(
    game: Game, seed: int = 7, *, moves: int | None = None, kinds: str = "", house: bool = True
) -> None:
    """Play a table to its end, or for so many moves; seats of kind ``k`` sign."""
    rng, ticks = Random(seed), clock(game.events[-1].at)
    while not is_over(game.state) and moves != 0:
        seats = [seat for seat in to_act(game.end) if not game.end.seats[seat].house_plays]
        if seats or not house:
            command: Any = random_move(game.end, rng, next(ticks), seats or None)
            seat = seat_of(game, command)
            if seat < len(kinds) and kinds[seat] == "k":
                command = sign(
                    game.events, seat, command, rng.randint(mark_of(game.events), len(game.events))
                )
        else:
            command = house_move(game.end, to_act(game.end)[0], next(ticks))
        game.do(command)
        moves = None if moves is None else moves - 1


@cache
def duplicate(when: str = "late", kinds: str = "ppnb", **rules: Any) -> Game:
    """A whole game at a duplicate table whose hands are revealed then; ``never`` is possible too."""
    game = begin(kinds, **rules)
    while not is_over(game.state):
        play_on(game, len(game.events), moves=1, kinds=kinds)
        hand = game.end.hand
        while game.end.sealed and (
            when == "at once" or (when == "late" and hand is not None and len(hand.history) == 5)
        ):
            reveal(game)
    while game.end.sealed and when != "never":
        reveal(game)
    return game


@cache
def broken_off(moves: int, *, shown: bool = True, kinds: str = "ppnp") -> Game:
    """A duplicate table that was abandoned after so many moves, its hands revealed afterwards or not."""
    game = begin(kinds)
    play_on(game, moves=moves)
    game.do(c.AbandonTable(at=game.events[-1].at + WEEK))
    while game.end.sealed and shown:
        reveal(game)
    return game


# --- what a server might do, each with the number of the event that must be named


def wrong_secret(events: Events) -> int:
    """A reveal with the secret of another chain."""
    return changed(events, at_of(events, e.HandsRevealed), secret="77" * 32)


def reveal_of_another_deal(events: Events) -> int:
    """A reveal of cards that were not dealt."""
    at = at_of(events, e.HandsRevealed)
    first, second, *rest = events[at].deal
    return changed(events, at, deal=(second, first, *rest))


def reveal_of_another_pass(events: Events) -> int:
    """A reveal of a pass that was not committed to."""
    at = at_of(events, e.HandsRevealed)
    first, second, *rest = events[at].passes
    return changed(events, at, passes=(second, first, *rest))


def reveal_twice(events: Events) -> int:
    """A hand that is revealed once more."""
    at = at_of(events, e.HandsRevealed)
    events.insert(at + 1, events[at])
    return at + 2


def reveal_too_early(events: Events) -> int:
    """A hand that is revealed while it is played."""
    at, dealt = at_of(events, e.HandsRevealed), at_of(events, e.HandDealt)
    events.insert(dealt + 9, events[at])
    return dealt + 10


def reveal_out_of_order(events: Events) -> int:
    """The second hand before the first."""
    first, second = at_of(events, e.HandsRevealed), at_of(events, e.HandsRevealed, 1)
    events[first], events[second] = events[second], events[first]
    return first + 1


def show_in_the_score(events: Events) -> int:
    """Cards that are shown before the other tables have finished the hand."""
    at, shown = at_of(events, e.HandScored), events[at_of(events, e.HandsRevealed)]
    return changed(events, at, deal=shown.deal, kitty=shown.kitty, passes=shown.passes, secret=shown.secret)


FORGED: Sequence[Callable[[Events], int]] = (
    wrong_secret,
    reveal_of_another_deal,
    reveal_of_another_pass,
    reveal_twice,
    reveal_too_early,
    reveal_out_of_order,
    show_in_the_score,
)
"""Claim F must find each of these at that event."""


def sealed_points(events: Events) -> int:
    """Points of a sealed hand other than those of its cards, the totals to match; found at the score, when it is shown."""
    number = 0
    for which in (1, 0):
        at = at_of(events, e.HandScored, which)
        one = events[at]
        points = (one.points[0] - 1, one.points[1] + 1, *one.points[2:]) if which == 0 else one.points
        totals = (one.totals[0] - 1, one.totals[1] + 1, *one.totals[2:])
        number = changed(events, at, points=points, totals=totals)
    at = at_of(events, e.GameEnded)
    totals = events[at - 1].totals if isinstance(events[at - 1], e.HandScored) else events[at].totals
    changed(events, at, totals=totals, winners=tuple(s for s in range(4) if totals[s] == min(totals)))
    return number
