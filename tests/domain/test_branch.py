"""Practice tables: a hand of a finished game, played on from one of its events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given as drawn

from domain import events as e
from domain.bots import BOTS
from domain.cards import parse_cards
from domain.game import fold, to_act
from domain.record import parse_record, record_of, replay
from domain.refusals import Refused
from domain.ruleset import RuleSet
from domain.variants import ruleset_of
from domain.view import private_part, view
from tests.support.games import PUBLISHED, Game, play_game, rule_sets, seeds, steady
from tests.support.practice import NOW, finish, hand_of, practice
from tests.support.proofs import KEY, file_of, report_of, statuses
from tests.support.tables import (
    HANDS,
    RULES_BOT,
    after,
    dealt,
    give,
    moon_pending,
    moon_table,
    passing,
    played,
    small_rules,
)

LAST = (e.CardPlayed, e.TrickEnded, e.MoonChosen)
"""Events after which nothing may be left to play."""


# --- what is in it


def test_the_first_events_say_what_it_is() -> None:
    """Given a game in its third hand, then: no anchor, never rated, hints, no clock, and one hand of that number."""
    table = dealt(
        small_rules(HANDS, hand_limit=9), HANDS, hand=3, totals=[5, 1, 2, 8], seats="pbpp", clock=60
    )
    events, state = practice(table, seat=2)
    first = events[0]
    assert isinstance(first, e.GameCreated)
    assert e.Branch("g-old", len(table), 2) == first.branch
    assert (None, 3, 3, False, True, None) == (
        first.anchor, first.chain, first.rules.hand_limit, first.rated, first.hints, first.clock
    )  # fmt: skip
    assert first.rules == msgspec.structs.replace(fold(None, table).terms.rules, hand_limit=3)
    assert [0, 0, 0, 0] == state.totals
    assert {NOW} == {event.at for event in events}


def test_i_sit_in_the_seat_and_bots_in_the_others() -> None:
    """Its own bot where one sat, the stand-in for persons; nobody has contributed anything."""
    table = dealt(small_rules(HANDS), HANDS, seats="bppp")
    events, state = practice(table, seat=2)
    assert [("bot", ""), ("bot", ""), ("player", "me"), ("bot", "")] == [
        (one.kind, one.player) for one in state.seats
    ]
    assert [RULES_BOT, BOTS["rules"].id] == [state.seats[0].bot, state.seats[1].bot]
    locked = next(event for event in events if isinstance(event, e.GameLocked))
    assert ((0, "bot", ""), (1, "bot", ""), (2, "player", ""), (3, "bot", "")) == locked.entropy
    assert all(one.ready for one in state.seats)


def test_a_bot_that_is_no_more_is_replaced() -> None:
    """Given a game with a bot that this house no longer has, then the stand-in sits there; my seat may be a bot's."""
    gone = e.BotName("gone", "1", 0)
    table = [
        msgspec.structs.replace(event, bot=gone) if isinstance(event, e.SeatTaken) and event.bot else event
        for event in dealt(small_rules(HANDS), HANDS, seats="bbpp")
    ]
    _, state = practice(table, seat=1)
    assert (BOTS["rules"].id, "me") == (state.seats[0].bot, state.seats[1].player)


def test_it_copies_the_hand_so_far_without_commitments() -> None:
    """Passes and plays stand there as they were made, by whom too; commitments and secrets are null."""
    table = after(
        passing(), *[give(seat, cards) for seat, cards in enumerate(["2C 3D", "5S 6H", "4C 7H", "6D 7S"])]
    )
    table = played(table, "2C 5D")
    events, state = practice(table)
    old = [event for event in hand_of(table, len(table)) if not isinstance(event, e.HandDealt)]
    new = events[events.index(next(event for event in events if isinstance(event, e.HandDealt))) :]
    assert (None, None, None, None) == new[0].hands  # type: ignore[attr-defined]
    assert [type(event) for event in old] == [type(event) for event in new[1:]]
    for before, copy in zip(old, new[1:], strict=True):
        fields: dict[str, Any] = {"at": NOW}
        if isinstance(before, e.CardsPassed):
            fields["cards"] = None
        assert msgspec.structs.replace(before, **fields) == copy
    hand = state.hand
    assert hand is not None
    assert ("", 3) == (hand.secret, hand.turn)


def test_the_old_tables_own_affairs_stay_there() -> None:
    """A seat that was handed to the stand-in meanwhile is no matter of the practice table."""
    table = [*dealt(small_rules(HANDS), HANDS), e.SeatToBot(seat=1), e.SeatTakenBack(seat=1)]
    events, _ = practice(table)
    assert not any(isinstance(event, e.SeatToBot | e.SeatTakenBack) for event in events)


def test_a_trick_that_was_full_is_cleared() -> None:
    """Given the event of a trick's last card, then the trick's end belongs to it; so the exchange to the last pass."""
    table = played(dealt(small_rules(HANDS), HANDS), "2C 3C 4C 5C")
    assert isinstance(table[-1], e.TrickEnded)
    assert practice(table, len(table) - 1)[1].hand.history == practice(table)[1].hand.history != []  # type: ignore[union-attr]
    gifts = ["2C 3D", "5S 6H", "4C 7H", "6D 7S"]
    table = after(passing(), *[give(seat, cards) for seat, cards in enumerate(gifts)])
    assert ("play", "play") == tuple(practice(table, at)[1].phase for at in (len(table) - 1, len(table)))
    assert "pass" == practice(table, len(table) - 2)[1].phase


def test_a_moon_choice_can_be_practised() -> None:
    """Given a shooter who was to choose, then the practice begins with the choice and ends with it."""
    _, state = practice(moon_pending())
    assert ("moon", (0,)) == (state.phase, to_act(state))
    events, state = finish([], state, Random(1))
    assert ["MoonChosen", "HandScored", "GameEnded"] == [type(event).__name__ for event in events]


# --- how it goes on


def test_it_ends_with_the_hand() -> None:
    """Given a game that would have gone on, then the practice is over after its hand, by its limit, totals from 0."""
    table = dealt(small_rules(HANDS, hand_limit=9), HANDS, hand=3, totals=[5, 1, 2, 8])
    _, state = finish(*practice(table), Random(1))
    assert ("limit", list(state.hands[0])) == (state.reason, state.totals)


def test_new_passes_and_the_score_have_no_commitments_and_secrets() -> None:
    """What is passed at the practice table is not committed to, and its end reveals no secret."""
    events, _ = finish(*practice(passing(), seat=3), Random(1))
    assert {None} == {event.cards for event in events if isinstance(event, e.CardsPassed)}
    [scored] = [event for event in events if isinstance(event, e.HandScored)]
    assert (None, None) == (scored.secret, events[-1].secret)  # type: ignore[attr-defined]
    assert list(scored.deal) == [" ".join(hand.split()) for hand in HANDS]


def test_bots_answer_the_same_moves_in_the_same_way() -> None:
    """Given the same position twice, when the same cards are played, then the bots play the same: one can try the other card."""
    game = play_game(ruleset_of({"variant": "basic"}), 5, kinds="bbbb", house=True)
    at = next(place for place, event in enumerate(game.events) if isinstance(event, e.PassesExchanged)) + 1
    ends = [finish(*practice(game.events, at, end=game.end), Random(3))[0] for _ in range(2)]
    assert ends[0] == ends[1]


def test_a_seat_sees_its_own_cards_and_no_others() -> None:
    """The view is that of any table, though the old game is open; of my cards I am told without a key."""
    events, state = practice(passing(), seat=1)
    own = view(state, 1).own
    assert own is not None
    assert parse_cards(HANDS[1]) == [card for card in range(52) if own.hand >> card & 1]
    assert None is view(state, None).own
    deal = next(event for event in events if isinstance(event, e.HandDealt))
    assert {"cards": HANDS[1]} == private_part(state, deal, 1)


# --- what is refused


def refusal(*args: Any, **options: Any) -> Refused:
    """Why there is no such practice."""
    with pytest.raises(Refused) as caught:
        practice(*args, **options)
    return caught.value


def test_a_game_that_goes_on_is_nobody_elses_affair() -> None:
    """Given a hand in play, then there is no practice from it: it would show the hands."""
    table = dealt(small_rules(HANDS), HANDS)
    assert "game/not_over" == refusal(table, end=fold(None, table)).code


@pytest.mark.parametrize("seat", [-1, 4])
def test_a_seat_that_there_is_not(seat: int) -> None:
    """The refusal says which there are."""
    found = refusal(dealt(small_rules(HANDS), HANDS), seat=seat)
    assert "request/invalid" == found.code
    assert "seat: there is no seat" in found.detail


def test_a_hand_that_is_played_out() -> None:
    """Given its last card, or its last choice, then nothing is left to practise."""
    table = moon_table("add", "AH 2H 3H QS 2S 3S")
    cards = [place for place, event in enumerate(table, 1) if isinstance(event, e.CardPlayed)]
    for at in (cards[-1], cards[-1] + 1):
        assert "nothing is left" in refusal(table, at).detail
    assert practice(table, cards[-2])[1].phase == "play"
    chosen = [*moon_pending(), e.MoonChosen(seat=0, choice="add", by="player")]
    assert "nothing is left" in refusal(chosen).detail


# --- the law of it


def branches(game: Game) -> Iterator[int]:
    """The events of a game that lie in a hand."""
    inside = False
    for at, event in enumerate(game.events, 1):
        inside = isinstance(event, e.HandDealt) or (
            inside and not isinstance(event, e.HandScored | e.GameEnded)
        )
        if inside:
            yield at


def check(game: Game, at: int, seat: int, rng: Random) -> bool:
    """Play a branch out and hold it against the rules, its proof and its record; whether there was anything to play."""
    begun = None
    with suppress(Refused):
        begun = practice(game.events, at, seat, game.end)
    if begun is None:
        assert isinstance(game.events[at - 1], LAST)
        return False
    events, state = finish(*begun, rng)
    report = report_of(file_of(events), KEY.public)
    assert report.ok, [one.line for one in report.claims]
    assert {"F": "not shown", "I": "not shown", "R": "holds", "B": "not shown"} == statuses(report)
    verdict = replay(parse_record(record_of(events)))  # type: ignore[arg-type]
    assert (True, "over") == (verdict.ok, verdict.phase)
    assert sorted(verdict.totals or ()) == sorted(state.totals)
    return True


@pytest.mark.parametrize(("variant", "players"), PUBLISHED)
def test_every_branch_of_every_event_is_played_to_its_end(variant: str, players: int) -> None:
    """Of a game of each family: whatever the event, in the later hands too, and its proof and record hold."""
    rules = ruleset_of({"variant": variant, "players": players, "hand_limit": 2})
    game = play_game(rules, variant)
    rng = Random(variant)
    done = [check(game, at, rng.randrange(players), rng) for at in branches(game)]
    assert sum(done) > len(done) * 3 // 4


@steady(40)
@drawn(rule_sets(), seeds)
def test_house_rules_are_practised_too(rules: RuleSet, seed: int) -> None:
    """Any rule set: floors, suns, choices that depend on totals, partners, dead tricks."""
    game, rng = play_game(rules, seed), Random(seed)
    events = list(branches(game))
    for at in rng.sample(events, min(5, len(events))):
        check(game, at, rng.randrange(rules.players), rng)
