"""Moves: what is accepted, how each refusal is told, versions, and players who act at the same moment."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from werkzeug.test import TestResponse

from domain.cards import NAMES
from services.audit import Receipt, verify_receipt
from services.wiring import Services
from tests.api.guests import Guest, open_table, play_on, seat_all

NO_PASS = {"pass_count": 0}
EASY_MOON = {"points": {"2C": 1}, "moon_effect": "choice", **NO_PASS}
"""Who takes the two of clubs has every penalty card."""


def code(answer: TestResponse) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json["code"]


def at_once(guests: list[Guest], calls: list[Any]) -> list[TestResponse]:
    """What the guests get who all move at the same moment; a call is path and body."""
    barrier = Barrier(len(guests))

    def send(guest: Guest, call: tuple[str, Any]) -> TestResponse:
        barrier.wait(10)
        return guest.post(*call)

    with ThreadPoolExecutor(len(guests)) as pool:
        return list(pool.map(send, guests, calls))


def test_a_move_answers_the_table_and_a_receipt(services: Services, four: list[Guest]) -> None:
    """200 with the body of the table as the mover sees it, signed by the server."""
    game = seat_all(four, **NO_PASS)
    turn = four[0].table(game)["turn"]
    moved = four[turn].move(game, {"play": "2C"})
    assert 200 == moved.status_code
    assert ([{"seat": turn, "card": "2C"}], (turn + 1) % 4) == (moved.json["trick"], moved.json["turn"])
    assert 12 == moved.json["seats"][turn]["cards"] == len(moved.json["hand"].split())
    assert "legal" not in moved.json
    receipt = Receipt(**moved.json["receipt"])
    assert verify_receipt(receipt, services.key.public)
    assert (moved.json["seq"], moved.json["head"]) == (receipt.seq, receipt.head)
    assert {**moved.json, "receipt": None} == {**four[turn].table(game), "receipt": None}


@pytest.mark.parametrize("written", ["2C", "2c", " 2c "])
def test_a_card_is_read_as_people_write_it(four: list[Guest], written: str) -> None:
    """Either case, and ten as T or 10."""
    game = seat_all(four, **NO_PASS)
    assert 200 == four[four[0].table(game)["turn"]].move(game, {"play": written}).status_code


def test_four_passes_at_once_are_all_accepted(four: list[Guest]) -> None:
    """Passing has no order: each is judged by the table as it is, and the last one exchanges."""
    game = seat_all(four)
    hands = [one.table(game)["hand"].split() for one in four]
    calls = [(f"/v1/games/{game}/moves", {"pass": hand[:3]}) for hand in hands]
    answers = at_once(four, calls)
    assert [200] * 4 == [one.status_code for one in answers]
    assert 4 == len({one.json["seq"] for one in answers})
    for seat, one in enumerate(four):
        table = one.table(game)
        assert ("play", 13) == (table["phase"], len(table["hand"].split()))
        assert hands[(seat - 1) % 4][:3] == table["received"].split()
        assert hands[seat][:3] == table["given"].split()


def test_a_pass_stays_in_the_hand_until_the_exchange(four: list[Guest]) -> None:
    """`hand` keeps the passed cards, `given` names them, and a second pass is refused."""
    game = seat_all(four)
    hand = four[0].table(game)["hand"]
    passed = four[0].move(game, {"pass": hand.split()[:3]}).json
    assert (hand, "", " ".join(hand.split()[:3])) == (passed["hand"], passed["received"], passed["given"])
    assert passed["seats"][0]["passed"]
    assert passed["turn"] is None
    assert (409, "pass/not_now") == code(four[0].move(game, {"pass": hand.split()[:3]}))


@pytest.mark.parametrize("wrong", [[], ["2C"], ["QS"] * 3, ["2C", "3C", "4C", "5C"], ["2C"] * 104])
def test_a_pass_is_exactly_so_many_cards_held(four: list[Guest], wrong: list[str]) -> None:
    """Too few, too many, one card thrice: not a pass, whatever the hand."""
    game = seat_all(four)
    assert (422, "pass/wrong_cards") == code(four[0].move(game, {"pass": wrong}))


def test_a_double_click_plays_one_card(four: list[Guest]) -> None:
    """The second of two equal moves finds the turn gone, so nothing is played twice."""
    game = seat_all(four, **NO_PASS)
    turn = four[0].table(game)["turn"]
    call = (f"/v1/games/{game}/moves", {"play": "2C"})
    answers = at_once([four[turn]] * 2, [call] * 2)
    assert [200, 409] == sorted(one.status_code for one in answers)
    assert ["2C"] == [laid["card"] for laid in four[0].table(game)["trick"]]
    assert "play/not_your_turn" == next(one.json["code"] for one in answers if one.status_code == 409)


def refusals(guests: list[Guest], game: str, steps: int) -> dict[str, TestResponse]:
    """A refusal of each code that playing every card of the deck, held or not, meets on the way."""
    found: dict[str, TestResponse] = {}
    for _ in range(steps):
        table = guests[0].table(game)
        if table["phase"] != "play":
            break
        mover = guests[table["turn"]]
        legal = mover.table(game)["legal"].split()
        for card in NAMES:
            if card not in legal:
                answer = mover.move(game, {"play": card})
                found.setdefault(answer.json["code"], answer)
        play_on(guests, game)
    return found


def test_each_rule_that_forbids_a_card_has_its_code(four: list[Guest]) -> None:
    """422 with the code of the rule, the legal cards as one list, and the version that it was judged by."""
    found = refusals(four, seat_all(four, **NO_PASS), 14)
    one_club = " ".join(NAMES[1:13])
    found |= refusals(four, seat_all(four, removed=one_club, hand=10, **NO_PASS), 2)
    found |= refusals(four, seat_all(four, opener="left", opening_ban=["C", "D"], **NO_PASS), 1)
    assert {
        "play/not_in_hand",
        "play/must_open_with",
        "play/must_follow_suit",
        "play/hearts_not_broken",
        "play/penalty_on_first_trick",
        "play/penalty_opening_lead",
    } == found.keys()
    for answer in found.values():
        assert 422 == answer.status_code
        assert answer.json["legal"]
        assert answer.json["legal"] in answer.json["hint"]
        assert answer.headers["ETag"].startswith(f'"{answer.json["seq"]}-')


def test_what_is_not_now_is_a_conflict(four: list[Guest], stranger: Guest) -> None:
    """409 for another's turn and another phase, 403 for somebody without a seat."""
    waiting = open_table(four[0], ["me", "open", "open", "open"])
    assert (409, "game/not_started") == code(four[0].move(waiting, {"play": "2C"}))
    assert (403, "seat/not_yours") == code(four[1].move(waiting, {"play": "2C"}))
    passing = seat_all(four)
    assert (409, "play/not_your_turn") == code(four[0].move(passing, {"play": "2C"}))
    assert (409, "moon/not_now") == code(four[0].move(passing, {"moon": "add"}))
    playing = seat_all(four, **NO_PASS)
    turn = four[0].table(playing)["turn"]
    assert (409, "play/not_your_turn") == code(four[turn - 1].move(playing, {"play": "2C"}))
    assert (409, "pass/not_now") == code(four[turn].move(playing, {"pass": ["2C", "3C", "4C"]}))
    assert (401, "auth/required") == code(stranger.move(playing, {"play": "2C"}))


def test_a_moon_is_chosen_by_who_shot_it(four: list[Guest]) -> None:
    """Until then no card is played; the choice ends the hand, and here the game."""
    game = seat_all(four, hand_limit=1, **EASY_MOON)
    while four[0].table(game)["phase"] == "play":
        play_on(four, game)
    table = four[0].table(game)
    shooter = table["turn"]
    assert ("moon", "playing") == (table["phase"], table["status"])
    assert (409, "play/hand_over") == code(four[shooter].move(game, {"play": "2C"}))
    assert (409, "moon/not_now") == code(four[shooter - 1].move(game, {"moon": "add"}))
    assert (422, "request/invalid") == code(four[shooter].move(game, {"moon": "both"}))
    add, subtract = table["moon"]["add"], table["moon"]["subtract"]
    assert ([0 if seat == shooter else 26 for seat in range(4)], True) == (add["totals"], add["over"])
    over = four[shooter].move(game, {"moon": "subtract"}).json
    points = [-26 if seat == shooter else 0 for seat in range(4)]
    assert ("over", [shooter], "limit") == (over["phase"], over["winners"], over["reason"])
    hand = {"hand": 1, "points": points, "totals": points, "pass_offset": 0, "moon": shooter}
    assert (points, [hand]) == (over["totals"], over["hands"])
    assert (points, over["winners"]) == (subtract["points"], subtract["winners"])
    assert "moon" not in over
    assert ("", "", None) == (over["hand"], over["received"], over["turn"])
    for body in ({"play": "2C"}, {"pass": []}, {"moon": "add"}):
        assert (409, "game/over") == code(four[0].move(game, body))
    assert (409, "game/over") == code(four[0].delete(f"/v1/games/{game}/seats/0"))
    assert (409, "game/over") == code(four[0].post(f"/v1/games/{game}/ready"))


@pytest.mark.parametrize(
    "body, field",
    [
        ({}, ""),
        ({"play": "QS", "moon": "add"}, ""),
        ({"play": None}, "play"),
        ({"play": 7}, "play"),
        ({"play": ["QS"]}, "play"),
        ({"play": "1S"}, "play"),
        ({"play": "QS " * 30}, "play"),
        ({"play": "\u0661\u0660S"}, "play"),
        ({"pass": "AS KS QS"}, "pass"),
        ({"pass": ["AS", 1, "QS"]}, "pass.1"),
        ({"pass": {"0": "AS"}}, "pass"),
        ({"pass": ["AS"] * 105}, "pass"),
        ({"moon": True}, "moon"),
        ({"plya": "QS"}, "plya"),
        ({"play": "QS", "signature": "00" * 64, "signed_seq": 0}, "signed_seq"),
    ],
)
def test_a_move_that_says_nothing_is_refused(four: list[Guest], body: Any, field: str) -> None:
    """Exactly one of pass, play and moon, of the right type; the field is named."""
    game = seat_all(four, **NO_PASS)
    refused = four[0].move(game, body)
    assert (422, "request/invalid") == code(refused)
    assert field in {error["field"] for error in refused.json["errors"]}


def test_a_move_may_name_the_version_it_is_meant_for(four: list[Guest]) -> None:
    """The current one and * are judged by the rules; a stale, a weak and another one are 412 and change nothing."""
    game = seat_all(four)
    etag = four[0].get(f"/v1/games/{game}").headers["ETag"]
    hands = [one.table(game)["hand"].split()[:3] for one in four]
    first = four[0].move(game, {"pass": hands[0]}, If_Match=etag)
    assert 200 == first.status_code
    for stale in (etag, f"W/{first.headers['ETag']}", '"0-0000000000000000"', '""'):
        refused = four[1].move(game, {"pass": hands[1]}, If_Match=stale)
        assert (412, "version/stale") == code(refused)
        assert (first.headers["ETag"], first.json["seq"]) == (refused.headers["ETag"], refused.json["seq"])
    assert 200 == four[1].move(game, {"pass": hands[1]}, If_Match="*").status_code
    current = four[2].get(f"/v1/games/{game}").headers["ETag"]
    assert 200 == four[2].move(game, {"pass": hands[2]}, If_Match=f" {current} ").status_code


@pytest.mark.parametrize("header", ["57", "57-00", '"a" "b"', '"a', 'w/"a"', '"ä"', ""])
def test_a_version_that_cannot_be_read_is_refused(four: list[Guest], header: str) -> None:
    """400, before the move is looked at: nobody knows which version it names."""
    game = seat_all(four)
    hand = four[0].table(game)["hand"].split()
    assert (400, "request/unreadable") == code(four[0].move(game, {"pass": hand[:3]}, If_Match=header))
    assert not four[0].table(game)["seats"][0]["passed"]


def test_a_table_that_has_not_changed_is_not_sent_again(four: list[Guest]) -> None:
    """304 for whoever has this version, with nothing in it but the version."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    seen = four[0].get(f"/v1/games/{game}")
    for known in (seen.headers["ETag"], f'"x", W/{seen.headers["ETag"]}', "*"):
        again = four[0].get(f"/v1/games/{game}", If_None_Match=known)
        assert (304, b"", seen.headers["ETag"]) == (again.status_code, again.data, again.headers["ETag"])
    four[1].post(f"/v1/games/{game}/seats")
    assert 200 == four[0].get(f"/v1/games/{game}", If_None_Match=seen.headers["ETag"]).status_code
