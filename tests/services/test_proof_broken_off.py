"""Games that end in the middle of a hand: the end reveals the hand's secret, and from it all of the hand is checked."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from domain import events as e
from domain.cards import NAMES, cards_of
from domain.rules import legal_plays
from domain.variants import ruleset_of
from tests.support.games import Game, play_game
from tests.support.proofs import (
    KEY,
    Events,
    at_of,
    changed,
    claim,
    claim_of,
    file_of,
    replaced,
    report_of,
    statuses,
)

WEEK = 7 * 24 * 60 * 60 * 1000
"""The time after which a table is abandoned unless it says otherwise, ms."""
MOON = {"variant": "standard", "points": {"QS": 13}, "hand_limit": 2}


def game_of(moves: int, seed: int = 7, kinds: str = "ppnn", **rules: object) -> Game:
    """A game of four, or by ``rules``, after so many moves."""
    given = {"variant": "standard", "players": 4, "hand_limit": 2} | rules
    return play_game(ruleset_of(given), seed, moves=moves, kinds=kinds, server_key=KEY.public)


def broken_off(game: Game) -> Events:
    """The events of a game that is abandoned where it stands, a week after its last event."""
    state = game.end
    secret = None if state.hand is None else state.hand.secret
    end = e.GameEnded(
        at=game.events[-1].at + WEEK,
        winners=(),
        totals=tuple(state.totals),
        reason="abandoned",
        secret=secret,
    )
    return [*game.events, end]


def check(events: Events) -> dict[str, str]:
    """Each claim's status; a file of events that is honest has none that fails."""
    return statuses(report_of(file_of(events)))


@pytest.mark.parametrize("moves", [0, 2, 4, 5, 8, 55, 56, 58, 60, 90])
def test_a_hand_that_was_broken_off_is_shown_by_its_secret(moves: int) -> None:
    """In the pass, before the opening lead, in the middle of a trick, between two, in a later hand: F and R hold."""
    report = report_of(file_of(broken_off(game_of(moves))))
    assert {"F": "holds", "I": "holds", "R": "holds", "B": "not shown"} == statuses(report)
    done = 0 if moves < 56 else 1
    assert f"{done} hand" in claim(report, "R").detail
    assert "as far as it was played" in claim(report, "R").detail


def test_a_kitty_and_two_decks_are_shown_too() -> None:
    """The kitty's commitment opens, and passes of two equal cards are found."""
    for seed in range(3):
        game = game_of(20, seed, kinds="p" * 7, variant="cancellation", players=7)
        assert {"F": "holds", "I": "holds", "R": "holds", "B": "not shown"} == check(broken_off(game))


def test_a_game_may_be_abandoned_at_a_pending_moon() -> None:
    """All cards are out and nobody has chosen: the hand is shown as far as it was played."""
    for seed in range(20):
        game = play_game(ruleset_of(MOON), seed, kinds="pppp", server_key=KEY.public)
        at = next((at for at, step in enumerate(game.steps) if step.after.phase == "moon"), None)
        if at is not None:
            break
    assert at is not None
    cut = Game(game.rules, game.steps[: at + 1], game.steps[at].after)
    assert {"F": "holds", "I": "holds", "R": "holds", "B": "not shown"} == check(broken_off(cut))


def test_a_table_may_be_abandoned_before_the_deal() -> None:
    """Nothing was dealt, so there is nothing to reveal, and nothing to show."""
    events = game_of(0).events
    events = events[: at_of(events, e.SeatReady)]
    end = e.GameEnded(
        at=events[-1].at + WEEK, winners=(), totals=(0, 0, 0, 0), reason="abandoned", secret=None
    )
    assert {"F": "not shown", "I": "holds", "R": "not shown", "B": "not shown"} == check([*events, end])


def test_without_a_contribution_the_deal_of_a_broken_off_hand_is_the_servers() -> None:
    """Its commitments open, and yet nobody had a say."""
    assert {"F": "not shown", "I": "holds", "R": "holds", "B": "not shown"} == check(
        broken_off(game_of(20, kinds="nnnn"))
    )


# --- what must not pass


def hide_the_secret(events: Events) -> int:
    """An unfinished hand whose secret is kept."""
    return changed(events, len(events) - 1, secret=None)


def reveal_another_link(events: Events) -> int:
    """The secret of the hand before."""
    return changed(events, len(events) - 1, secret=events[at_of(events, e.HandScored)].secret)


def reveal_nonsense(events: Events) -> int:
    """A secret that is none."""
    return changed(events, len(events) - 1, secret="zz")


def change_hand(events: Events) -> int:
    """A commitment to other cards than those of the secret; found at the reveal."""
    at = at_of(events, e.HandDealt, 1)
    changed(events, at, hands=replaced(events[at].hands, 2, "77" * 32))
    return len(events)


def invent_kitty(events: Events) -> int:
    """A commitment to a kitty that the deal does not leave."""
    changed(events, at_of(events, e.HandDealt, 1), kitty="77" * 32)
    return len(events)


def change_pass(events: Events) -> int:
    """A pass that opens to no cards of its seat."""
    changed(events, at_of(events, e.CardsPassed, 5), cards="77" * 32)
    return len(events)


def pass_at_no_seat(events: Events) -> int:
    """A pass by a seat that there is not."""
    changed(events, at_of(events, e.CardsPassed, 5), seat=9)
    return len(events)


FORGED = [
    hide_the_secret,
    reveal_another_link,
    reveal_nonsense,
    change_hand,
    invent_kitty,
    change_pass,
    pass_at_no_seat,
]


@pytest.mark.parametrize("forge", FORGED, ids=[one.__name__ for one in FORGED])
def test_what_the_secret_does_not_show_fails(forge: Callable[[Events], int]) -> None:
    """Secret, hands, kitty and passes of a hand that was broken off are held to their commitments."""
    events = broken_off(game_of(80))
    number = forge(events)
    found = claim_of(events, "F")
    assert ("fails", number) == (found.status, found.event)


def test_no_secret_is_left_where_every_hand_is_over() -> None:
    """A game that ends with a score has shown all its hands; the next link is of a hand that nobody played."""
    events: Events = list(game_of(-1).events)
    assert check(events)["F"] == "holds"
    changed(events, len(events) - 1, secret="77" * 32)
    found = claim_of(events, "F")
    assert ("fails", len(events)) == (found.status, found.event)


def test_a_hand_may_not_be_dealt_over() -> None:
    """A new deal before the last one was revealed fails F where it stands: its cards would never be shown."""
    events: Events = list(game_of(-1).events)
    at = at_of(events, e.HandScored)
    del events[at]
    found = claim_of(events, "F")
    assert ("fails", at + 1) == (found.status, found.event)


def test_a_play_against_the_rules_is_found_though_the_hand_was_broken_off() -> None:
    """R judges each card of the hand by the cards that its secret shows."""
    game = game_of(90)
    for step in reversed(game.steps):
        hand = None if step.before is None else step.before.hand
        if hand is None or not hand.trick or hand.turn < 0:
            continue
        legal = legal_plays(game.end.terms, hand)
        wrong = [card for card in cards_of(hand.held[hand.turn]) if not legal >> card & 1]
        if wrong:
            break
    events = broken_off(game)
    at = next(place for place, event in enumerate(events) if event is step.events[0])
    events[at] = msgspec.structs.replace(events[at], card=NAMES[wrong[0]])
    found = claim_of(events, "R")
    assert ("fails", at + 1) == (found.status, found.event)
    assert "play/" in found.detail
