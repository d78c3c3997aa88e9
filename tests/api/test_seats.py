"""Sitting down, standing up, coming back, getting ready."""

from collections.abc import Callable

import pytest
from werkzeug.test import TestResponse

from domain.shuffle import commit_entropy
from services.wiring import Services
from tests.api.guests import Guest, open_table, play_on, seat_all
from tests.support.clock import Clock

ALL_OPEN = ["me", "open", "open", "open"]
OWN = bytes(range(32))
COMMIT = commit_entropy(OWN).hex()


def code(answer: TestResponse) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json["code"]


def test_players_sit_down_and_the_last_ready_one_deals(four: list[Guest]) -> None:
    """Each command answers the table as the caller sees it, with the receipt of its last event."""
    game = open_table(four[0], ALL_OPEN)
    sat = four[1].post(f"/v1/games/{game}/seats", {"seat": 2})
    assert (200, 2) == (sat.status_code, sat.json["you"])
    told = {"game": game, "seq": sat.json["seq"], "head": sat.json["head"]}
    assert told.items() <= sat.json["receipt"].items()
    assert f'"{sat.json["seq"]}-{sat.json["head"][:16]}"' == sat.headers["ETag"]
    assert [1, 3] == [one.post(f"/v1/games/{game}/seats", {}).json["you"] for one in four[2:]]
    for one in four[:3]:
        assert "open" == one.post(f"/v1/games/{game}/ready").json["status"]
    dealt = four[3].post(f"/v1/games/{game}/ready", {"entropy": ""})
    assert ("playing", "pass", 1) == tuple(dealt.json[key] for key in ("status", "phase", "hand_number"))
    assert 13 == len(dealt.json["hand"].split())


def test_a_seat_is_had_once(four: list[Guest], guest: Callable[[], Guest]) -> None:
    """Taken, full, a second seat, a seat that is not there: each is told by its code."""
    game = open_table(four[0], ALL_OPEN)
    seats = f"/v1/games/{game}/seats"
    assert (409, "seat/taken") == code(four[1].post(seats, {"seat": 0}))
    assert (409, "seat/taken") == code(four[0].post(seats, {"seat": 1}))
    assert (422, "request/invalid") == code(four[1].post(seats, {"seat": 4}))
    assert (422, "request/invalid") == code(four[1].post(seats, {"seat": -1}))
    for one in four[1:]:
        assert 200 == one.post(seats).status_code
    assert (409, "game/full") == code(guest().post(seats))
    for asked in ({}, {"seat": 0}, {"seat": 2}):
        again = four[2].post(seats, asked)
        assert (409, "seat/taken") == code(again)
        assert "you have seat 2 at this table already" == again.json["detail"]


def test_a_reserved_seat_waits_for_its_player(four: list[Guest]) -> None:
    """It is open until that player sits down, and nobody else can."""
    game = open_table(four[0], ["me", {"player": four[1].id}, "open", {"bot": "rules"}])
    assert "open" == four[0].table(game)["seats"][1]["kind"]
    assert (409, "seat/taken") == code(four[2].post(f"/v1/games/{game}/seats", {"seat": 1}))
    assert 2 == four[2].post(f"/v1/games/{game}/seats").json["you"]
    assert 1 == four[1].post(f"/v1/games/{game}/seats").json["you"]


def test_standing_up_before_anyone_is_ready_frees_the_seat(four: list[Guest]) -> None:
    """The seat is open again; from the first `ready` on it is not given up before the deal."""
    game = open_table(four[0], ["me", "open", {"bot": "rules"}, {"bot": "rules"}])
    four[1].post(f"/v1/games/{game}/seats")
    left = four[1].delete(f"/v1/games/{game}/seats/1")
    assert (200, "open") == (left.status_code, left.json["seats"][1]["kind"])
    assert "you" not in left.json
    assert (403, "seat/not_yours") == code(four[1].delete(f"/v1/games/{game}/seats/0"))
    four[2].post(f"/v1/games/{game}/seats")
    four[0].post(f"/v1/games/{game}/ready")
    assert (409, "seat/taken") == code(four[2].delete(f"/v1/games/{game}/seats/1"))
    assert (409, "seat/taken") == code(four[0].post(f"/v1/games/{game}/ready"))


def test_after_the_deal_the_stand_in_plays_until_one_comes_back(four: list[Guest]) -> None:
    """The seat is `away`, its player may not move, and `back` gives the seat to nobody else."""
    game = seat_all(four, pass_count=0)
    turn = four[0].table(game)["turn"]
    mover, other = four[turn], four[turn - 1]
    away = mover.delete(f"/v1/games/{game}/seats/{turn}").json
    assert (True, turn) == (away["seats"][turn]["away"], away["you"])
    assert "legal" not in away
    card = away["hand"].split()[0]
    assert (403, "seat/not_yours") == code(mover.move(game, {"play": card}))
    assert (403, "seat/not_yours") == code(other.post(f"/v1/games/{game}/seats/{turn}/back"))
    assert (409, "seat/taken") == code(other.post(f"/v1/games/{game}/seats"))
    back = mover.post(f"/v1/games/{game}/seats/{turn}/back").json
    assert not back["seats"][turn]["away"]
    assert back["legal"]
    assert (409, "seat/taken") == code(mover.post(f"/v1/games/{game}/seats/{turn}/back"))


def test_at_a_table_without_hints_one_comes_back_with_the_next_hand(
    services: Services, four: list[Guest]
) -> None:
    """Whoever was away has seen nothing that helps in the hand in play."""
    game = seat_all(four, pass_count=0, hints=False)
    four[0].delete(f"/v1/games/{game}/seats/0")
    assert four[0].post(f"/v1/games/{game}/seats/0/back").json["seats"][0]["away"]
    while four[1].table(game)["hand_number"] == 1:
        services.tables.act_for_house(game)
        if four[1].table(game)["hand_number"] == 1:
            play_on(four, game)
    assert not four[1].table(game)["seats"][0]["away"]


def test_entropy_is_committed_and_opened(four: list[Guest]) -> None:
    """A commitment is not taken twice, and only its own opening is."""
    bots = [{"bot": "rules"}] * 2
    game = open_table(four[0], ["me", "open", *bots], entropy_commit=COMMIT)
    seats, ready = f"/v1/games/{game}/seats", f"/v1/games/{game}/ready"
    assert (422, "entropy/repeated") == code(four[1].post(seats, {"entropy_commit": COMMIT}))
    assert (409, "game/not_started") == code(four[0].post(ready, {"entropy": OWN.hex()}))
    four[1].post(seats, {"entropy_commit": None})
    for wrong in ("", OWN.hex().upper(), "00" * 32, "zz"):
        assert (422, "entropy/wrong_opening") == code(four[0].post(ready, {"entropy": wrong}))
    assert (422, "entropy/wrong_opening") == code(four[1].post(ready, {"entropy": OWN.hex()}))
    assert (422, "request/invalid") == code(four[1].post(ready, {"entropy": "0" * 65}))
    assert 200 == four[0].post(ready, {"entropy": OWN.hex()}).status_code
    assert "playing" == four[1].post(ready, {"entropy": None}).json["status"]


def test_the_deadline_of_the_first_ready_one_is_told(
    services: Services, clock: Clock, four: list[Guest]
) -> None:
    """Once somebody is ready the table says when it deals without the others, and it does."""
    game = open_table(four[0], ["me", "open", {"bot": "rules"}, {"bot": "rules"}], ready_seconds=15)
    four[1].post(f"/v1/games/{game}/seats")
    ready = four[0].post(f"/v1/games/{game}/ready").json
    assert (clock.now + 15_000, 15) == (ready["deadline"], ready["ready_seconds"])
    clock.now += 15_000
    services.tables.act_for_house(game)
    assert "playing" == four[1].table(game)["status"]
    assert (409, "seat/taken") == code(four[1].post(f"/v1/games/{game}/ready"))


def test_a_clock_is_told_and_kept(services: Services, clock: Clock, four: list[Guest]) -> None:
    """After the seconds of the table the house moves, and the event says so."""
    game = seat_all(four, pass_count=0, clock=5)
    before = four[0].table(game)
    assert (clock.now + 5_000, 5) == (before["deadline"], before["clock"])
    clock.now += 5_000
    services.tables.act_for_house(game, most=1)
    events = four[0].get(f"/v1/games/{game}/events?after={before['seq']}").json["events"]
    assert '"by":"clock"' in events[0]["event"]


@pytest.mark.parametrize("path", ["seats", "ready", "moves", "seats/0/back"])
def test_a_command_needs_a_token_and_a_table(four: list[Guest], stranger: Guest, path: str) -> None:
    """401 without a token, whatever the table; 404 for a table that there is not."""
    body = {"play": "QS"} if path == "moves" else None
    game = open_table(four[0], ALL_OPEN)
    assert (401, "auth/required") == code(stranger.post(f"/v1/games/{game}/{path}", body))
    for unknown in ("0" * 24, "x", "a b", "*", "a" * 65, "%00"):
        assert (404, "game/unknown") == code(four[0].post(f"/v1/games/{unknown}/{path}", body))
