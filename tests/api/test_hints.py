"""Hints: what a house bot would do from the caller's view, and when there is none."""

from random import Random
from typing import Any

import pytest
from werkzeug.test import TestResponse

from domain.bots import BOTS
from services.wiring import Services
from tests.api.guests import Guest, open_table, play_on, seat_all
from tests.api.twins import deal_twin, move_to


def hint(guest: Guest, game: str) -> TestResponse:
    """Ask for a hint."""
    return guest.get(f"/v1/games/{game}/hint")


def code(answer: TestResponse) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json["code"]


def follow(guests: list[Guest], game: str) -> list[str]:
    """Play a game to its end, all by hints; the kinds of hints that were given."""
    kinds = []
    while (table := guests[0].table(game))["status"] != "over":
        waiting = [seat for seat, one in enumerate(table["seats"]) if not one["passed"]]
        seat = table["turn"] if table["turn"] is not None else waiting[0]
        advice = hint(guests[seat], game).json
        assert {"name": "rules", "version": BOTS["rules"].version} == advice.pop("bot")
        (kind,) = advice
        kinds.append(kind)
        moved = guests[seat].move(game, advice)
        assert 200 == moved.status_code, moved.text
    return kinds


def test_a_hint_is_a_move_that_is_taken(four: list[Guest]) -> None:
    """Given a table with hints, when all play as they are told, then the game is played to its end."""
    kinds = follow(four, seat_all(four, hand_limit=1))
    assert ["pass"] * 4 + ["play"] * 52 == kinds[:56]


def test_who_shot_the_moon_is_advised(four: list[Guest]) -> None:
    """Given that one card is all that counts, whoever took it is told what its moon should do."""
    rules: dict[str, Any] = {"points": {"QS": 13}, "moon_effect": "choice", "hand_limit": 1}
    assert "moon" == follow(four, seat_all(four, **rules))[-1]


def test_a_hint_is_what_the_bot_would_do(services: Services, four: list[Guest]) -> None:
    """Where nothing is left to chance it is the move of the house itself; the cards of a pass come sorted."""
    game = seat_all(four, hand_limit=1)
    advice = hint(four[0], game).json["pass"]
    assert sorted(advice, key=four[0].table(game)["hand"].split().index) == advice
    four[0].delete(f"/v1/games/{game}/seats/0")
    services.tables.act_for_house(game)
    four[0].post(f"/v1/games/{game}/seats/0/back")
    assert " ".join(advice) == four[0].table(game)["given"]


def test_the_same_view_gets_the_same_hint(four: list[Guest]) -> None:
    """Asked twice it is the same to the last byte, with the version of the table, and kept by nobody."""
    game = seat_all(four, pass_count=0)
    mover = four[four[0].table(game)["turn"]]
    first = hint(mover, game)
    assert first.data == hint(mover, game).data
    assert mover.get(f"/v1/games/{game}").headers["ETag"] == first.headers["ETag"]
    assert ("private, no-store", "Authorization") == (first.headers["Cache-Control"], first.headers["Vary"])


def test_there_is_no_hint_before_and_after_play(four: list[Guest]) -> None:
    """Given a table that has not begun, or is over, it is refused by the code that a move would be."""
    game = open_table(four[0], ["me", *["open"] * 3])
    assert (409, "game/not_started") == code(hint(four[0], game))
    game = seat_all(four, hand_limit=1)
    while play_on(four, game)["status"] != "over":
        pass
    assert (409, "game/over") == code(hint(four[0], game))


def test_there_is_no_hint_out_of_turn(four: list[Guest]) -> None:
    """Who has passed, and whose turn it is not, waits like the others; the refusal tells the version."""
    game = seat_all(four)
    hand = four[0].table(game)["hand"].split()
    four[0].move(game, {"pass": hand[:3]})
    refused = hint(four[0], game)
    assert (409, "pass/not_now") == code(refused)
    assert four[0].table(game)["seq"] == refused.json["seq"]
    play_on(four, game)
    turn = four[0].table(game)["turn"]
    for seat, one in enumerate(four):
        wanted = (200, None) if seat == turn else (409, "play/not_your_turn")
        answer = hint(one, game)
        assert wanted == (answer.status_code, answer.json.get("code"))


@pytest.mark.parametrize("settings", [{"hints": False}, {"rated": True}])
def test_a_table_may_give_no_hints(four: list[Guest], settings: dict[str, Any]) -> None:
    """Given a table opened without hints, as rated ones are unless they say otherwise, none is given at any time."""
    game = open_table(four[0], ["me", *[{"bot": "rules"}] * 3], **settings)
    assert (403, "hint/not_allowed") == code(hint(four[0], game))
    four[0].post(f"/v1/games/{game}/ready")
    assert (403, "hint/not_allowed") == code(hint(four[0], game))


def test_hints_are_for_those_who_play(four: list[Guest], stranger: Guest) -> None:
    """Neither for spectators nor for a player whose seat the stand-in bot plays."""
    game = seat_all(four[:3], variant="standard", players=3)
    assert (401, "auth/required") == code(hint(stranger, game))
    assert (403, "seat/not_yours") == code(hint(four[3], game))
    assert 200 == hint(four[1], game).status_code
    four[1].delete(f"/v1/games/{game}/seats/1")
    assert (403, "seat/not_yours") == code(hint(four[1], game))
    assert (404, "game/unknown") == code(hint(four[0], "0" * 24))


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"pass_count": 0, "opener": "left"},
        {"variant": "omnibus"},
        {"variant": "basic", "removed": "2C 2D", "hand": 12},
    ],
)
def test_a_hint_does_not_depend_on_hidden_cards(
    services: Services, four: list[Guest], fields: dict[str, Any]
) -> None:
    """Given the other hands, their passes and the kitty dealt in another way, the same hint comes, to the last byte."""
    game, rng = seat_all(four, hand_limit=1, **fields), Random(3)
    others, guests = 0, four
    for _ in range(7):
        table = guests[0].table(game)
        seat = table["turn"] or 0
        advice = hint(guests[seat], game)
        assert 200 == advice.status_code
        hands = [one.table(game)["hand"] for one in guests]
        app = deal_twin(services, game, seat, rng)
        twins = [move_to(app, one) for one in guests]
        assert advice.data == hint(twins[seat], game).data
        others += hands != [one.table(game)["hand"] for one in twins]
        guests = twins
        for _ in range(5):
            play_on(guests, game)
        services.tables._cache.drop(game)
    assert others >= 6, "the other hands were dealt again"
