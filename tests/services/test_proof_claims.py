"""Claims in proofs: legal plays like any others, of the whole rest of a hand, all of whose tricks are the claimant's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cache
from random import Random

import msgspec
import pytest

from domain import commands as c
from domain import events as e
from domain.cards import cards_of, parse_card
from domain.game import fold, is_over, to_act
from domain.record import read_record, record_of, replay
from domain.variants import ruleset_of
from domain.view import View
from tests.support.claims import can_fail
from tests.support.forged_claims import CLAIMS, claimed, first_of
from tests.support.games import Game, clock, hand_of, open_game, random_move
from tests.support.proofs import KEY, Events, at_of, changed, claim, claim_of, file_of, report_of, statuses


@pytest.mark.parametrize("moon", [False, True])
def test_a_game_with_claims_holds(moon: bool) -> None:
    """Given games whose hands end in claims, a moon's among them, deals, chain and rules hold."""
    game = claimed(moon)
    report = report_of(file_of(game.events))
    assert report.ok
    assert ("holds", "holds", "holds") == tuple(statuses(report)[name] for name in "FIR")
    assert moon == any(isinstance(one, e.MoonChosen) for one in game.events)


@pytest.mark.parametrize("forge", CLAIMS, ids=[forge.__name__ for forge in CLAIMS])
def test_a_forged_claim_is_found(forge: Callable[[Events], int]) -> None:
    """Given a claim that is not what a claim gives, in a chain that fits, R fails at that event."""
    events = list(claimed().events)
    number = forge(events)
    report = report_of(file_of(events))
    assert claim(report, "I").status == "holds"
    found = claim(report, "R")
    assert (found.status, found.event) == ("fails", number), found
    assert "claim" in found.detail or "first legal" in found.detail


def any_order(seen: View) -> tuple[int, ...]:
    """What a server would say that accepts every claim."""
    assert seen.own is not None
    return tuple(reversed(cards_of(seen.own.hand)))


@cache
def bold_games() -> list[Events]:
    """Games of one hand by a server that accepts every claim, of the last three tricks each."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("domain.game.proving_order", any_order)
        for seed in range(60):
            rng, ticks = Random(seed), clock()
            rules = ruleset_of({"variant": "black_maria", "players": 4, "hand_limit": 1})
            game = open_game(rules, rng, "pppp", ticks=ticks, server_key=KEY.public)
            while not is_over(game.state):
                state, at = game.end, next(ticks)
                lead = (
                    state.phase == "play" and len(hand_of(state).history) == 10 and not hand_of(state).trick
                )
                me = f"p{to_act(state)[0]}"
                game.do(c.ClaimRest(at=at, who=me) if lead else random_move(state, rng, at))
            found.append(game.events)
    return found


def test_a_claim_that_misses_a_trick_is_found() -> None:
    """Given a server that accepts what is not certain, R fails at the first trick that somebody else takes."""
    found = 0
    for events in bold_games():
        start = first_of(events)
        for at in range(start, len(events)):
            if isinstance(events[at], e.TrickEnded) and events[at].seat != events[start].seat:
                rules = claim_of(events, "R")
                assert (rules.status, rules.event) == ("fails", at + 1), rules
                assert "claimed every trick" in rules.detail
                found += 1
                break
    assert found > 30


def test_a_claim_that_was_lucky_is_found() -> None:
    """Given a claim that took every trick, R holds just where nobody could have taken one by other plays."""
    found: Counter[bool] = Counter()
    for events in bold_games():
        start, end = first_of(events), at_of(events, e.HandScored)
        claimant = events[start].seat
        if {claimant} != {one.seat for one in events[start:end] if isinstance(one, e.TrickEnded)}:
            continue
        state = fold(None, events[:start])
        order = [
            parse_card(one.card)
            for one in events[start:end]
            if getattr(one, "card", "") and one.seat == claimant
        ]
        lucky = can_fail(state.terms, hand_of(state), claimant, order)
        rules = claim_of(events, "R")
        assert (rules.status, rules.event) == (("fails", end) if lucky else ("holds", None)), rules
        found[lucky] += 1
    assert found[True] > 0
    assert found[False] > 0


def test_a_claim_at_a_bots_seat_is_found() -> None:
    """Given a seat that the stand-in bot plays, nobody can have claimed for it."""
    events = list(claimed().events)
    at = first_of(events)
    events.insert(at, e.SeatToBot(at=events[at].at, seat=events[at].seat))
    found = claim_of(events, "R")
    assert (found.status, found.event) == ("fails", at + 2)
    assert "bot's" in found.detail


def test_a_moon_by_claim_is_found() -> None:
    """A choice is made by who has it, not by a claim."""
    events = list(claimed(moon=True).events)
    number = changed(events, at_of(events, e.MoonChosen), by="claim")
    found = claim_of(events, "R")
    assert (found.status, found.event) == ("fails", number)


def test_a_proof_that_breaks_off_in_a_claim_is_judged_as_far_as_it_goes() -> None:
    """Given the events up to the middle of a claim, nothing of it can be wrong yet."""
    events = list(claimed().events)
    report = report_of(file_of(events[: first_of(events) + 3]))
    assert report.ok


def test_the_record_of_a_game_with_claims_holds() -> None:
    """Claimed plays stand in the record like any others, and are judged like them."""
    game: Game = claimed()
    record = read_record(msgspec.json.encode(record_of(game.events)))
    verdict = replay(record)
    assert (True, "over") == (verdict.ok, verdict.phase)
    assert list(game.end.totals) == verdict.totals
    played = [one.card for one in game.events if isinstance(one, e.CardPlayed)]
    assert [parse_card(card) for card in played] == [card for hand in record.hands for card in hand.plays]
