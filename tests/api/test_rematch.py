"""Rematches: the same table once more, at which all who ask for it meet."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from werkzeug.test import TestResponse

from domain.bots import BOTS
from domain.shuffle import commit_entropy
from services.wiring import Services
from tests.api.guests import Guest, open_table, play_on, seat_all

COMMIT = commit_entropy(b"a" * 32).hex()


def code(answer: TestResponse) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json["code"]


def rematch(guest: Guest, game: str, body: Any = None, **headers: str) -> TestResponse:
    """Ask for a rematch."""
    return guest.post(f"/v1/games/{game}/rematch", body, **headers)


def finish(guests: list[Guest], game: str) -> str:
    """Play a game to its end."""
    while play_on(guests, game)["status"] != "over":
        pass
    return game


@pytest.fixture
def over(four: list[Guest]) -> str:
    """A finished game of four persons."""
    return finish(four, seat_all(four, hand_limit=1, pass_count=0))


def with_bots(services: Services, guest: Guest, **fields: Any) -> str:
    """A finished game of ``guest`` in seat 1 and house bots, the stand-in's included."""
    seats = [{"bot": "random"}, "me", {"bot": "rules"}, {"bot": "rules"}]
    game = open_table(guest, seats, hand_limit=1, **fields)
    guest.post(f"/v1/games/{game}/ready")
    guest.delete(f"/v1/games/{game}/seats/1")
    services.tables.act_for_house(game)
    assert "over" == guest.table(game)["status"]
    return game


def test_a_rematch_is_a_new_table_with_me_at_it(four: list[Guest], over: str) -> None:
    """Given a game that is over, when one of its players asks, then 201 and a table where it sits as before, alone."""
    before = four[2].table(over)
    made = rematch(four[2], over, {"entropy_commit": COMMIT})
    assert 201 == made.status_code
    table = made.json
    assert table["id"] != over
    assert f"/v1/games/{table['id']}" == made.headers["Location"]
    assert (2, "open", 2, table["id"]) == (
        table["seq"],
        table["status"],
        table["you"],
        table["receipt"]["game"],
    )
    assert ["open", "open", "player", "open"] == [one["kind"] for one in table["seats"]]
    assert f'"entropy_commit":"{COMMIT}"' in four[2].get(f"/v1/games/{table['id']}/events").text.replace(
        "\\", ""
    )
    assert before == four[2].table(over)


def test_all_who_ask_meet(four: list[Guest], over: str) -> None:
    """Given a rematch that one player has opened, the others sit down there in their seats, and can play."""
    made = [rematch(four[seat], over) for seat in (3, 0, 2, 1)]
    assert {201} == {one.status_code for one in made}
    (game,) = {one.json["id"] for one in made}
    assert [2, 3, 4, 5] == [one.json["seq"] for one in made]
    assert {one.headers["Location"] for one in made} == {f"/v1/games/{game}"}
    old = [one["player"] for one in four[0].table(over)["seats"]]
    assert old == [one["player"] for one in four[0].table(game)["seats"]]
    for one in four:
        assert 200 == one.post(f"/v1/games/{game}/ready").status_code
    assert "playing" == four[0].table(game)["status"]
    again = rematch(four[0], finish(four, game))
    assert 201 == again.status_code
    assert again.json["id"] not in (game, over)


def test_all_who_ask_at_once_meet(four: list[Guest], over: str) -> None:
    """Four requests at the same moment open one table."""
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(lambda one: rematch(one, over), four))
    assert {201} == {one.status_code for one in made}
    (game,) = {one.json["id"] for one in made}
    assert [one.id for one in four] == [one["player"] for one in four[0].table(game)["seats"]]


@pytest.mark.parametrize(
    "fields",
    [
        {"clock": 90, "ready_seconds": 33, "chain": 7, "hints": False},
        {"variant": "standard", "points": {"QS": 5}, "target": 30, "hints": True},
    ],
)
def test_rules_and_settings_are_those_of_before(
    services: Services, four: list[Guest], fields: dict[str, Any]
) -> None:
    """Rules by value, clock, times, chain and hints; house bots in the same seats, by their present version."""
    game = with_bots(services, four[0], **fields)
    made = rematch(four[0], game).json
    old = four[0].table(game)
    assert old["rules"] == made["rules"]
    for name in ("variant", "clock", "ready_seconds", "hints", "rated"):
        assert old[name] == made[name]
    assert [("bot", "random"), ("player", "Player 1"), ("bot", "rules"), ("bot", "rules")] == [
        (one["kind"], one["name"]) for one in made["seats"]
    ]
    states = [services.tables.load(one).state for one in (game, made["id"])]
    assert states[0].chain == states[1].chain
    assert states[0].anchor != states[1].anchor
    assert BOTS["random"].id == states[1].seats[0].bot
    assert not made["seats"][1]["away"]


def test_a_rated_game_has_a_rated_rematch(four: list[Guest]) -> None:
    """Rated stays rated, and with it the rules that nobody has changed."""
    game = finish(four, seat_all(four, variant="basic", rated=True, chain=1))
    made = rematch(four[1], game).json
    assert (True, False) == (made["rated"], made["hints"])
    assert four[0].table(game)["rules"] == made["rules"]


def test_seats_are_kept_for_who_had_them(four: list[Guest], over: str, guest: Callable[[], Guest]) -> None:
    """Nobody else sits down there, and who stands up finds its seat free again, the first one too."""
    game = rematch(four[0], over).json["id"]
    assert (409, "game/full") == code(guest().post(f"/v1/games/{game}/seats"))
    assert (409, "seat/taken") == code(guest().post(f"/v1/games/{game}/seats", {"seat": 3}))
    assert 200 == four[0].delete(f"/v1/games/{game}/seats/0").status_code
    assert (409, "game/full") == code(guest().post(f"/v1/games/{game}/seats"))
    sat = four[1].post(f"/v1/games/{game}/seats")
    assert 1 == sat.json["you"]
    back = rematch(four[0], over)
    assert (201, game, 0) == (back.status_code, back.json["id"], back.json["you"])


def test_asking_again_changes_nothing(four: list[Guest], over: str) -> None:
    """Who sits there is shown the table as it is; with another commitment it is refused, for the first one counts."""
    first = rematch(four[0], over, {"entropy_commit": COMMIT})
    rematch(four[1], over)
    for body in (None, {"entropy_commit": COMMIT}, {"entropy_commit": None}):
        again = rematch(four[0], over, body)
        assert (201, first.json["id"], 3) == (again.status_code, again.json["id"], again.json["seq"])
    assert (409, "seat/taken") == code(rematch(four[0], over, {"entropy_commit": "00" * 32}))
    assert (422, "entropy/repeated") == code(rematch(four[2], over, {"entropy_commit": COMMIT}))
    assert 3 == four[0].table(first.json["id"])["seq"]


@pytest.mark.parametrize("seat", [0, 1])
def test_a_repeat_under_a_key_is_the_same_answer(four: list[Guest], over: str, seat: int) -> None:
    """For who opens the rematch and for who joins it, as the table was then; another body under the key is refused."""
    if seat:
        rematch(four[0], over)
    first = rematch(four[seat], over, Idempotency_Key="k")
    rematch(four[3], over)
    again = rematch(four[seat], over, Idempotency_Key="k")
    assert "true" == again.headers["Idempotency-Replayed"]
    assert "Idempotency-Replayed" not in first.headers
    assert (201, first.data, first.headers["ETag"], first.headers["Location"]) == (
        again.status_code,
        again.data,
        again.headers["ETag"],
        again.headers["Location"],
    )
    other = rematch(four[seat], over, {"entropy_commit": COMMIT}, Idempotency_Key="k")
    assert (422, "key/reused") == code(other)
    assert 201 == rematch(four[2], over, Idempotency_Key="k").status_code


def test_a_rematch_waits_for_the_end(four: list[Guest]) -> None:
    """Before the deal and while the game goes on there is none."""
    game = open_table(four[0], ["me", *["open"] * 3])
    assert (409, "game/not_over") == code(rematch(four[0], game))
    game = seat_all(four)
    refused = rematch(four[0], game)
    assert (409, "game/not_over") == code(refused)
    assert four[0].table(game)["seq"] == refused.json["seq"]


def test_a_rematch_is_for_those_who_played(
    four: list[Guest], over: str, guest: Callable[[], Guest], stranger: Guest
) -> None:
    """Neither for others nor for spectators; and a body is read as anywhere."""
    assert (401, "auth/required") == code(rematch(stranger, over))
    assert (403, "seat/not_yours") == code(rematch(guest(), over))
    assert (404, "game/unknown") == code(rematch(four[0], "0" * 24))
    assert (422, "request/invalid") == code(rematch(four[0], over, {"entropy_commit": "x"}))
    signed = rematch(four[0], over, {"public_key": "00" * 32})
    assert (422, "public_key") == (signed.status_code, signed.json["errors"][0]["field"])
    assert (400, "request/unreadable") == code(rematch(four[0], over, Idempotency_Key="a b"))


def test_nobody_can_tell_the_id_of_a_rematch(services: Services, four: list[Guest], over: str) -> None:
    """It follows from the old game under the server's secret: the same in each process, and unlike a keyed table's."""
    game = rematch(four[0], over).json["id"]
    assert services.key.derive("rematch", over)[:12].hex() == game
    ids = {game}
    for key in (over, game, "rematch"):
        made = four[0].post(
            "/v1/games", {"variant": "basic", "seats": ["me", *["open"] * 3]}, Idempotency_Key=key
        )
        ids.add(made.json["id"])
    assert 4 == len(ids)


def test_the_cards_of_a_rematch_are_dealt_afresh(services: Services, four: list[Guest]) -> None:
    """Nothing of the old shuffles is in the new ones, though all else is the same."""
    game = with_bots(services, four[0], pass_count=0)
    again = rematch(four[0], game).json["id"]
    four[0].post(f"/v1/games/{again}/ready")
    old, new = (services.tables.load(one).state for one in (game, again))
    assert old.hand is not None
    assert new.hand is not None
    assert old.chain_secret != new.chain_secret
    assert old.hand.dealt != new.hand.dealt
