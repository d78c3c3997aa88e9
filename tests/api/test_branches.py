"""Practice over HTTP: a table branched from a finished game; and tables that end because nobody comes."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from werkzeug.test import TestResponse

from api.answers import CommandAnswer, TableAnswer
from domain import events as e
from services.codec import CODEC
from services.proof import read_proof
from services.verdicts import verify_proof
from services.wiring import Services
from tests.api.guests import Guest, open_table, play_on, seat_all
from tests.api.test_claims import claim, play_to_claim
from tests.api.test_docs import check
from tests.api.test_hidden import cards_in
from tests.api.twins import deal_twin, move_to
from tests.support.clock import Clock

WEEK = 7 * 24 * 60 * 60 * 1000


def code(answer: TestResponse) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json["code"]


def branch(guest: Guest, game: str, at: Any, seat: Any = 0, **headers: str) -> TestResponse:
    """Ask for a practice table."""
    return guest.post(f"/v1/games/{game}/branch", {"at": at, "seat": seat}, **headers)


@pytest.fixture
def over(services: Services, four: list[Guest]) -> str:
    """A finished game of two hands: one person, who has left, and house bots."""
    game = open_table(four[0], ["me", {"bot": "random"}, {"bot": "rules"}, {"bot": "rules"}], hand_limit=2)
    four[0].post(f"/v1/games/{game}/ready")
    four[0].delete(f"/v1/games/{game}/seats/0")
    services.tables.act_for_house(game)
    assert "over" == four[0].table(game)["status"]
    return game


def places(services: Services, game: str, kind: type[e.Event]) -> list[int]:
    """The seqs of a game's events of a kind."""
    return [seq for seq, *pair in services.store.read(game) if isinstance(CODEC.decode(*pair), kind)]


def test_a_practice_table_is_mine(services: Services, four: list[Guest], over: str) -> None:
    """Given a finished game, when anybody asks, then 201: I sit in that seat, bots in the others, in that very hand."""
    at = places(services, over, e.CardPlayed)[70]
    made = branch(four[3], over, at, 2)
    assert 201 == made.status_code
    check(CommandAnswer, made.json)
    table = made.json
    assert f"/v1/games/{table['id']}" == made.headers["Location"]
    assert ({"game": over, "at": at, "seat": 2}, 2, False, True, None) == (
        table["branch"], table["you"], table["rated"], table["hints"], table["clock"]
    )  # fmt: skip
    assert [("bot", "rules"), ("bot", "random"), ("player", four[3].id), ("bot", "rules")] == [
        (one["kind"], one["player"] or one["name"]) for one in table["seats"]
    ]
    then = four[3].get(f"/v1/games/{over}?at={at}&as=2").json
    for name in ("hand", "received", "given", "trick", "last_trick", "hand_number", "pass_offset", "turn"):
        assert then[name] == table[name], name
    assert "imported" not in table
    assert "branch" not in four[3].table(over)


def test_it_is_played_to_the_end_of_the_hand(services: Services, four: list[Guest], over: str) -> None:
    """My moves and the bots', a hint when I want one; the hand keeps its number, totals begin at 0; proof and record are there."""
    me, at = four[1], places(services, over, e.HandDealt)[1]
    game = branch(me, over, at, 1).json["id"]
    services.tables.act_for_house(game)
    while (table := me.table(game))["status"] != "over":
        check(TableAnswer, table)
        hint = me.get(f"/v1/games/{game}/hint").json
        assert 200 == me.move(game, {name: hint[name] for name in hint if name != "bot"}).status_code
        services.tables.act_for_house(game)
    assert ("limit", [(2, table["totals"])]) == (
        table["reason"],
        [(one["hand"], one["points"]) for one in table["hands"]],
    )
    report = verify_proof(read_proof(me.get(f"/v1/games/{game}/proof").data))
    assert report.ok
    assert (
        f"F (fair deals) not shown: practice table branched from game {over} at {at}" == report.claims[0].line
    )
    record = me.get(f"/v1/games/{game}/record").json
    assert ["Player 2", "rules", "rules", "rules"] == record["seats"]
    assert table["totals"] == [record["hands"][0]["points"][(seat - 1) % 4] for seat in range(4)]
    assert (422, "request/invalid") == code(me.post(f"/v1/games/{game}/rematch"))


def test_what_is_no_position_is_refused(
    services: Services, four: list[Guest], over: str, stranger: Guest
) -> None:
    """Each with what would be right; and nothing is made of it."""
    end = four[0].table(over)["seq"]
    first, scored = places(services, over, e.HandDealt)[0], places(services, over, e.HandScored)[0]
    for at in (1, first - 1, scored, end):
        refused = branch(four[0], over, at)
        assert (422, "request/invalid", end) == (*code(refused), refused.json["seq"])
        assert "hand_dealt" in refused.json["hint"]
    assert "nothing is left" in branch(four[0], over, scored - 1).json["detail"]
    assert (422, f"at: the game has {end} events") == (
        branch(four[0], over, end + 1).status_code,
        branch(four[0], over, end + 1).json["detail"],
    )
    for at, seat in (
        (first, 4),
        (first, 11),
        (first, -1),
        (0, 0),
        ("7", 0),
        (None, 0),
        (first, True),
        (1.5, 0),
    ):
        assert (422, "request/invalid") == code(branch(four[0], over, at, seat))
    for body in ({}, {"at": first}, {"seat": 0}, {"at": first, "seat": 0, "extra": 1}):
        assert (422, "request/invalid") == code(four[0].post(f"/v1/games/{over}/branch", body))
    assert (401, "auth/required") == code(branch(stranger, over, first))
    assert (404, "game/unknown") == code(branch(four[0], "0" * 24, first))
    going = seat_all(four)
    assert (409, "game/not_over") == code(branch(four[0], going, 12))
    assert (409, "game/not_over") == code(branch(four[0], going, 999))


def test_a_repeat_under_a_key_is_the_same_answer(services: Services, four: list[Guest], over: str) -> None:
    """The same table as it was; another body under the key is refused; without a key each is a table of its own."""
    at = places(services, over, e.HandDealt)[0]
    first = branch(four[0], over, at, Idempotency_Key="k")
    services.tables.act_for_house(first.json["id"])
    again = branch(four[0], over, at, Idempotency_Key="k")
    assert (201, first.data, first.headers["ETag"], "true") == (
        again.status_code, again.data, again.headers["ETag"], again.headers["Idempotency-Replayed"]
    )  # fmt: skip
    assert (422, "key/reused") == code(branch(four[0], over, at, 1, Idempotency_Key="k"))
    made = {
        branch(one, over, at, **named).json["id"]
        for one in four[:2]
        for named in ({}, {"Idempotency_Key": "k"})
    }
    assert 4 == len(made)
    # a key is of its route: that of a table that was opened is another
    opened = four[0].post(
        "/v1/games", {"variant": "basic", "seats": ["me", *["open"] * 3]}, Idempotency_Key="k"
    )
    assert (201, False) == (opened.status_code, opened.json["id"] in made)


def test_a_practice_hides_its_cards_like_any_table(
    services: Services, four: list[Guest], over: str, stranger: Guest
) -> None:
    """In view, events, proof and refusals a seat finds its own cards alone, and nobody else any but those played."""
    me, at = four[2], places(services, over, e.CardPlayed)[60]
    table = branch(me, over, at, 3).json
    game = table["id"]
    own = set(table["hand"].split()) | set(table["received"].split()) | set(table["given"].split())
    played: set[str] = set()
    private: dict[str, Any] = {}
    for item in me.get(f"/v1/games/{game}/events").json["events"]:
        event = json.loads(item["event"])
        played |= {event["card"]} if event["t"] == "card_played" else set()
        private |= {event["t"]: item["private"]} if item["private"] else {}
        assert event["t"] in ("card_played", "game_created") or not cards_in(item["event"])
    rules, counting = cards_in(json.dumps(table["rules"])), table["counting"]
    # which cards count is a matter of the rules as well
    assert cards_in(me.get(f"/v1/games/{game}").text.replace(counting, "")) - rules <= own | played
    assert {"cards"} == private["hand_dealt"].keys() == private["cards_passed"].keys()
    for path in ("", "/events", "/proof"):
        told = stranger.get(f"/v1/games/{game}{path}").text.replace(counting, "")
        assert cards_in(told) - rules <= played
    for query in ("?as=0", "?open=1"):
        assert (409, "hand/not_over") == code(me.get(f"/v1/games/{game}{query}"))


@pytest.mark.parametrize("reader", [1, None])
def test_answers_do_not_depend_on_hidden_cards(
    services: Services, four: list[Guest], over: str, stranger: Guest, reader: int | None
) -> None:
    """Given the hidden cards of a practice table dealt in another way, then every answer is the same to the byte."""
    game = branch(four[0], over, places(services, over, e.CardPlayed)[58], 1).json["id"]
    one = stranger if reader is None else four[0]
    before = [asked.data for asked in answers(one, game)]
    twin = move_to(deal_twin(services, game, reader, Random(3)), one)
    assert before == [asked.data for asked in answers(twin, game)]


def answers(one: Guest, game: str) -> list[TestResponse]:
    """What a caller is told of a table, refusals included."""
    found = [one.get(f"/v1/games/{game}{path}") for path in ("", "/events", "?at=9", "?open=1", "/record")]
    return [*found, one.move(game, {"play": "QS"}), one.move(game, {"pass": ["2C", "3C", "4C"]})]


# --- abandoned tables


def test_a_table_says_when_it_ends(services: Services, clock: Clock, guest: Callable[[], Guest]) -> None:
    """A week unless it says otherwise, from the last event on; null while a bot is to move, and when it is over."""
    me = guest()
    table = me.table(open_table(me, ["me", "open", "open", "open"]))
    assert (604800, clock.now + WEEK) == (table["abandon_seconds"], table["abandoned_at"])
    game = open_table(me, ["me", *[{"bot": "rules"}] * 3], abandon_seconds=3600, pass_count=3)
    made = me.post(f"/v1/games/{game}/ready").json
    assert (3600, None) == (made["abandon_seconds"], made["abandoned_at"])
    clock.now += 5
    services.tables.act_for_house(game)
    assert clock.now + 3_600_000 == me.table(game)["abandoned_at"]
    clock.now += 3_600_000
    services.tables.act_for_house(game)
    ended = me.table(game)
    assert ("over", "abandoned", None, []) == tuple(
        ended[name] for name in ("status", "reason", "abandoned_at", "winners")
    )
    assert (409, "game/over") == code(me.move(game, {"play": "2C"}))
    record = me.get(f"/v1/games/{game}/record").json
    assert ([], ["deal", "plays"]) == (record["winners"], sorted(record["hands"][0]))


@pytest.mark.parametrize("seconds", [3599, 2_592_001, 0, -5, "7200", 7200.5, True, None])
def test_a_time_out_of_bounds_is_refused(guest: Callable[[], Guest], seconds: Any) -> None:
    """An hour to thirty days, in whole seconds."""
    body = {"variant": "basic", "seats": ["me", *["open"] * 3], "abandon_seconds": seconds}
    refused = guest().post("/v1/games", body)
    assert (422, "request/invalid") == code(refused)
    assert "abandon_seconds" == refused.json["errors"][0]["field"]


def test_a_rematch_keeps_the_time(services: Services, four: list[Guest]) -> None:
    """The setting is copied like the others; and an abandoned game has a rematch."""
    game = seat_all(four, hand_limit=1, pass_count=0, abandon_seconds=7200)
    while play_on(four, game)["status"] != "over":
        pass
    assert 7200 == four[0].post(f"/v1/games/{game}/rematch").json["abandon_seconds"]


def test_a_practice_table_may_begin_within_a_claim(services: Services, four: list[Guest]) -> None:
    """Given a hand that ended by a claim, from every event of it one can play on, and the proof of that table holds."""
    game = seat_all(four, hand_limit=1, pass_count=0)
    claim(play_to_claim(services, four, game), game)
    for at in [
        seq
        for seq in places(services, game, e.CardPlayed)[:-1]
        if CODEC.decode(*services.store.read(game, seq - 1, seq)[0][1:]).by == "claim"
    ]:
        made = branch(four[3], game, at, 2).json
        while four[3].table(made["id"])["phase"] != "over":
            if services.tables.act_for_house(made["id"]).state.phase != "over":
                four[3].move(made["id"], {"play": four[3].table(made["id"])["legal"].split()[0]})
        report = verify_proof(read_proof(four[3].get(f"/v1/games/{made['id']}/proof").data))
        assert report.ok, report
