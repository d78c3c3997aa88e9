"""A game with claims, and what a server might do to them before it builds a chain that fits.

Each forgery changes a game's events in place and gives the number of the event that must be named.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

import msgspec

from domain import commands as c
from domain import events as e
from domain.cards import CARDS, NAMES, distinct_cards
from domain.claim import proving_order
from domain.game import fold, is_over, to_act
from domain.rules import legal_plays
from domain.variants import ruleset_of
from domain.view import view
from tests.support.claims import lay
from tests.support.games import Game, clock, hand_of, open_game, random_move
from tests.support.proofs import KEY, Events, at_of, changed

LEFT = 8
"""Plays that the claims of `claimed` make at least: two tricks."""


@cache
def claimed(moon: bool = False) -> Game:
    """A game of two hands by players who claim as soon as they can, the first claim of two tricks or more."""
    given = {"variant": "standard", "players": 4, "hand_limit": 2}
    points = {"points": {"2C": 1}, "moon_effect": "choice"} if moon else {}
    rules = ruleset_of(given | points)
    for seed in range(1000):
        rng, ticks = Random(seed), clock()
        game = open_game(rules, rng, "pnpp", ticks=ticks, server_key=KEY.public)
        while not is_over(game.state):
            state, at = game.end, next(ticks)
            me = to_act(state)[0]
            certain = state.phase == "play" and proving_order(view(state, me)) is not None
            game.do(c.ClaimRest(at=at, who=f"p{me}") if certain else random_move(state, rng, at))
        first = game.events[first_of(game.events) :]
        if sum(isinstance(one, e.CardPlayed) for one in first[: at_of(first, e.HandScored)]) > LEFT:
            return game
    raise AssertionError("no game has such a claim")


def first_of(events: Events) -> int:
    """The index of the first play of the first claim."""
    return next(at for at, one in enumerate(events) if isinstance(one, e.CardPlayed) and one.by == "claim")


def other_legal_card(events: Events) -> int:
    """Another card than its first legal one by a seat that did not claim, and the plays after it to match."""
    start = first_of(events)
    claimant = events[start].seat
    state = fold(None, events[:start])
    hand = hand_of(state).copy()
    for at in range(start, at_of(events[start:], e.HandScored) + start):
        if not isinstance(events[at], e.CardPlayed):
            continue
        legal = distinct_cards(legal_plays(state.terms, hand))
        if hand.turn != claimant and len(legal) > 1:
            wrong = NAMES[legal[1]]
            # the card comes later in the claim: the two change places
            later = next(n for n in range(at, len(events)) if getattr(events[n], "card", None) == wrong)
            right = events[at].card
            changed(events, at, card=wrong)
            changed(events, later, card=right)
            return at + 1
        lay(state.terms, hand, CARDS[events[at].card])
    raise AssertionError("nobody had a choice")


def play_by_hand(events: Events) -> int:
    """A play in the middle of a claim in the player's own name."""
    return changed(events, first_of(events) + 1, by="player")


def claim_by_halves(events: Events) -> int:
    """A claim whose plays do not happen at one moment."""
    start = first_of(events)
    for at in range(start + 1, len(events)):
        events[at] = msgspec.structs.replace(events[at], at=events[at].at + 1)
    return start + 2


def stand_up_within(events: Events) -> int:
    """Something else in the middle of a claim."""
    at = first_of(events) + 1
    events.insert(at, e.SeatToBot(at=events[at].at, seat=events[at].seat))
    return at + 1


def claim_one_card(events: Events) -> int:
    """A card in the middle of the hand that is called a claim, and is none of the rest."""
    at = at_of(events, e.CardPlayed, 5)
    changed(events, at, by="claim")
    return at + 2


def claim_a_pass(events: Events) -> int:
    """A pass by claim."""
    return changed(events, at_of(events, e.CardsPassed), by="claim")


CLAIMS: list[Callable[[Events], int]] = [
    other_legal_card,
    play_by_hand,
    claim_by_halves,
    stand_up_within,
    claim_one_card,
    claim_a_pass,
]
