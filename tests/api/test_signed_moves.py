"""Signed moves over HTTP: a key with a seat, a signature with each move, and no word of a pass before its time."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.proof import read_proof
from services.signing import MoveKey
from services.verdicts import verify_proof
from tests.api.guests import Guest, open_table

KEYS = [MoveKey(bytes([seat + 1] * 32)) for seat in range(4)]
SEATS = ["me", "open", "open", "open"]


def seated(four: list[Guest], signers: int = 4, **fields: Any) -> str:
    """A table of four at which the first ``signers`` have keys, all ready and dealt."""
    game = open_table(four[0], SEATS, public_key=KEYS[0].public, **fields)
    for seat in range(1, 4):
        body = {"public_key": KEYS[seat].public} if seat < signers else {}
        assert 200 == four[seat].post(f"/v1/games/{game}/seats", body).status_code
    for one in four:
        assert 200 == one.post(f"/v1/games/{game}/ready").status_code
    return game


def signed(guest: Guest, seat: int, game: str, move: dict[str, Any]) -> dict[str, Any]:
    """The move, signed by what the guest sees of the table."""
    table = guest.table(game)
    return KEYS[seat].sign_move(game, table["seq"], table["head"], move)


def step(four: list[Guest], game: str, signers: int = 4) -> dict[str, Any]:
    """One legal step, signed where the seat has a key: all passes, or a card."""
    table = four[0].table(game)
    if table["phase"] == "pass":
        movers = [seat for seat in range(4) if not table["seats"][seat]["passed"]]
    else:
        movers = [table["turn"]]
    for seat in movers:
        own = four[seat].table(game)
        if table["phase"] == "moon":
            move: dict[str, Any] = {"moon": "add"}
        elif table["phase"] == "pass":
            move = {"pass": own["hand"].split()[: own["rules"]["pass_count"]]}
        else:
            move = {"play": own["legal"].split()[0]}
        body = signed(four[seat], seat, game, move) if seat < signers else move
        answer = four[seat].move(game, body)
        assert 200 == answer.status_code, answer.text
    found: dict[str, Any] = answer.json
    return found


def test_a_signed_game_is_played_and_proved(four: list[Guest], stranger: Guest) -> None:
    """Two seats sign each move of a hand; the proof file shows it to whoever has their keys."""
    game = seated(four, 2, hand_limit=1)
    while four[0].table(game)["phase"] != "over":
        step(four, game, 2)
    proof = read_proof(stranger.get(f"/v1/games/{game}/proof").data)
    report = verify_proof(proof, seat_keys={0: KEYS[0].public, 1: KEYS[1].public})
    rules = next(one for one in report.claims if one.name == "R")
    assert report.ok
    assert "28 moves signed by seats 0, 1" in rules.detail
    assert "not pinned" not in rules.detail


def test_a_signing_seat_must_sign(four: list[Guest]) -> None:
    """An unsigned pass is 422, with what would be signed, and changes nothing."""
    game = seated(four)
    table = four[0].table(game)
    cards = table["hand"].split()[:3]
    refused = four[0].move(game, {"pass": cards[::-1]})
    assert (422, "move/unsigned") == (refused.status_code, refused.json["code"])
    assert f'"pass {" ".join(cards)}"' in refused.json["hint"]
    assert table["seq"] == refused.json["seq"] == four[0].table(game)["seq"]


def test_a_seat_without_a_key_must_not(four: list[Guest]) -> None:
    """A signature that nothing could be checked by is 422."""
    game = seated(four, 1)
    cards = four[1].table(game)["hand"].split()[:3]
    refused = four[1].move(game, signed(four[1], 1, game, {"pass": cards}))
    assert (422, "request/invalid") == (refused.status_code, refused.json["code"])
    assert 200 == four[1].move(game, {"pass": cards}).status_code


def test_a_signature_of_other_cards_is_refused(four: list[Guest]) -> None:
    """The body's cards are what must have been signed."""
    game = seated(four)
    hand = four[0].table(game)["hand"].split()
    body = signed(four[0], 0, game, {"pass": hand[:3]})
    refused = four[0].move(game, body | {"pass": hand[1:4]})
    assert (422, "move/wrong_signature") == (refused.status_code, refused.json["code"])
    assert f'"pass {" ".join(hand[1:4])}"' in refused.json["hint"]
    assert 200 == four[0].move(game, body).status_code


def test_a_signature_of_another_table_is_refused(four: list[Guest]) -> None:
    """The same move, signed at another table of the same players."""
    game, other = seated(four), seated(four)
    hand = four[0].table(game)["hand"].split()
    body = signed(four[0], 0, other, {"pass": hand[:3]})
    refused = four[0].move(game, body)
    assert (422, "move/wrong_signature") == (refused.status_code, refused.json["code"])


@pytest.mark.parametrize(
    ("fields", "at_fault"),
    [
        ({"signed_seq": 5}, "signature"),
        ({"signature": "5a" * 64}, "signed_seq"),
        ({"signed_seq": "5", "signature": "5a" * 64}, "signed_seq"),
        ({"signed_seq": True, "signature": "5a" * 64}, "signed_seq"),
        ({"signed_seq": 0, "signature": "5a" * 64}, "signed_seq"),
        ({"signed_seq": 10**15, "signature": "5a" * 64}, "signed_seq"),
        ({"signed_seq": 5, "signature": "5a" * 63}, "signature"),
        ({"signed_seq": 5, "signature": "5A" * 64}, "signature"),
        ({"signed_seq": 5, "signature": None}, "signature"),
        ({"signed_seq": None, "signature": "5a" * 64}, "signed_seq"),
    ],
)
def test_half_a_signature_is_none(four: list[Guest], fields: dict[str, Any], at_fault: str) -> None:
    """Both fields, each of its type, or neither."""
    game = seated(four)
    refused = four[0].move(game, {"play": "2C", **fields})
    assert (422, "request/invalid") == (refused.status_code, refused.json["code"])
    assert at_fault in [one["field"] for one in refused.json["errors"]]


@pytest.mark.parametrize("key", ["", "ab" * 31, "AB" * 32, 7, "01" + "00" * 31, "02" + "00" * 31, ["00"]])
def test_what_is_no_key_cannot_be_registered(four: list[Guest], key: Any) -> None:
    """A key that nobody or anybody can sign for is told when sitting down, in each way of doing so."""
    game = open_table(four[0], SEATS)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("/v1/games", {"variant": "basic", "seats": SEATS}),
        (f"/v1/games/{game}/seats", {}),
        (f"/v1/games/{game}/rematch", {}),
    ]
    for path, body in calls:
        refused = four[1].post(path, body | {"public_key": key})
        assert (422, "public_key") == (refused.status_code, refused.json["errors"][0]["field"])


def test_a_key_is_of_the_seat_me(four: list[Guest]) -> None:
    """A key at a table that its owner does not sit at is a mistake."""
    body = {"variant": "basic", "seats": ["open"] * 4, "public_key": KEYS[0].public}
    refused = four[0].post("/v1/games", body)
    assert (422, "public_key") == (refused.status_code, refused.json["errors"][0]["field"])


def test_null_is_no_key(four: list[Guest]) -> None:
    """A key may be left out or be null."""
    game = open_table(four[0], SEATS, public_key=None)
    event = json.loads(four[0].get(f"/v1/games/{game}/events").json["events"][1]["event"])
    assert ("seat_taken", None) == (event["t"], event["public_key"])


def test_a_rematch_takes_a_key_of_its_own(four: list[Guest]) -> None:
    """Keys do not come along: who signs in the rematch says so again, and is told if it sits there otherwise."""
    game = seated(four, 1, hand_limit=1)
    while four[0].table(game)["phase"] != "over":
        step(four, game, 1)
    first = four[1].post(f"/v1/games/{game}/rematch", {"public_key": KEYS[1].public})
    assert 201 == first.status_code
    again = four[1].post(f"/v1/games/{game}/rematch", {"public_key": KEYS[1].public})
    assert (201, first.json["id"]) == (again.status_code, again.json["id"])
    other = four[1].post(f"/v1/games/{game}/rematch", {"public_key": KEYS[2].public})
    assert (409, "seat/taken") == (other.status_code, other.json["code"])
    four[0].post(f"/v1/games/{game}/rematch")
    events = [
        json.loads(item["event"])
        for item in four[0].get(f"/v1/games/{first.json['id']}/events").json["events"]
    ]
    keys = {event["seat"]: event["public_key"] for event in events if event["t"] == "seat_taken"}
    assert {1: KEYS[1].public, 0: None} == keys


def test_no_reader_gets_the_signature_of_a_pass_before_the_hand_is_over(
    four: list[Guest], stranger: Guest
) -> None:
    """With the signature, anybody could try all passes until one fits. No answer has it until `hand_scored`.

    Events, tables, hints, proof, refusals and repeated answers: for the seat itself, for the others, and for strangers.
    """
    game = seated(four, hand_limit=1)
    secrets: list[str] = []
    heard: list[str] = []
    for seat, one in enumerate(four):
        cards = one.table(game)["hand"].split()[:3]
        body = signed(one, seat, game, {"pass": cards})
        secrets.append(body["signature"])
        heard += [one.move(game, body, Idempotency_Key=f"k{seat}").text for _ in range(2)]
        heard.append(one.move(game, body).text)
    for plays in (0, 20, 31):
        heard += [str(step(four, game)) for _ in range(plays)]
        for reader in (*four, stranger):
            paths = ("", "/events", "/events?after=8", "/proof", "/hint", "?at=11", "/record")
            heard += [reader.get(f"/v1/games/{game}{path}").text for path in paths]
    assert [] == [secret for secret in secrets if any(secret in text for text in heard)]
    assert "over" == step(four, game)["phase"]
    proof = stranger.get(f"/v1/games/{game}/proof").text
    assert all(secret in proof for secret in secrets)
