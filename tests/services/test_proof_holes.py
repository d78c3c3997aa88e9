"""Logs that a cheating server could write, each consistent in itself, that a proof must not pass."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from domain import events as e
from domain.shuffle import commit_entropy
from domain.variants import ruleset_of
from tests.support.games import Game, play_game
from tests.support.proofs import at_of, claim_of, played


def moon_game() -> Game:
    """A game in which somebody chose that the others pay for a moon."""
    rules = ruleset_of({"variant": "standard", "points": {"QS": 13}, "hand_limit": 1})
    games = (play_game(rules, seed, kinds="pppp") for seed in range(20))
    return next(
        game
        for game in games
        if any(isinstance(one, e.MoonChosen) and one.choice == "add" for one in game.events)
    )


def test_a_moon_must_be_chosen_before_it_is_scored() -> None:
    """Without the shooter's choice the score is nobody's to decide, though it be the usual one."""
    events = moon_game().events
    assert "holds" == claim_of(events, "R").status
    at = at_of(events, e.MoonChosen)
    found = claim_of([*events[:at], *events[at + 1 :]], "R")
    assert ("fails", at + 1) == (found.status, found.event)


def test_a_seat_that_is_taken_is_not_taken_again() -> None:
    """Else the server could put its own commitment in the place of a person's."""
    events: list[Any] = list(played("pppp").events)
    at = at_of(events, e.SeatTaken)
    own = commit_entropy(bytes(32)).hex()
    events.insert(at + 1, msgspec.structs.replace(events[at], entropy_commit=own))
    found = claim_of(events, "F")
    assert ("fails", at + 2) == (found.status, found.event)


@pytest.mark.parametrize("limit", [None, 65])
def test_the_chain_has_a_secret_for_every_hand(limit: int | None) -> None:
    """The hand limit of event 1 is at most the length of the chain that the anchor commits to."""
    events: list[Any] = list(played("pppp").events)
    rules = msgspec.structs.replace(events[0].rules, hand_limit=limit)
    events[0] = msgspec.structs.replace(events[0], rules=rules)
    found = claim_of(events, "F")
    assert ("fails", 1) == (found.status, found.event)


@pytest.mark.parametrize("anchor", ["", "zz", "AB" * 32, "ab" * 31])
def test_an_anchor_that_is_none_fails_at_event_one(anchor: str) -> None:
    """The event at fault is counted from 1."""
    events: list[Any] = list(played("pppp").events)
    events[0] = msgspec.structs.replace(events[0], anchor=anchor)
    found = claim_of(events, "F")
    assert ("fails", 1) == (found.status, found.event)


def test_classes_that_are_not_written_as_ours_cannot_be_played_by() -> None:
    """A rule set by value is judged as it stands: `h` is no class that the rules would find."""
    for changes in ({"breakers": ("h",)}, {"points": {"h": 1}}):
        events: list[Any] = list(played("pppp").events)
        events[0] = msgspec.structs.replace(
            events[0], rules=msgspec.structs.replace(events[0].rules, **changes)
        )
        found = claim_of(events, "R")
        assert ("fails", 1) == (found.status, found.event)
