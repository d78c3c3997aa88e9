"""The witness of a game: what it says of events and receipts that are not as its player took part."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from api import keepsakes
from api.answered import Item, SignedHead
from api.client import Strange
from api.keepsakes import Keepsakes
from api.witness import Keepsake, Witness
from domain.shuffle import commit_entropy, genesis_head, next_head
from services.audit import rotation_message
from tests.support.proofs import KEY, OTHER_KEY

GAME = "g-test"
OPENING = b"c" * 32
COMMIT = commit_entropy(OPENING).hex()
CREATED = {"t": "game_created", "server_key": KEY.public}
TAKEN = {"t": "seat_taken", "seat": 0, "entropy_commit": COMMIT, "public_key": None}
READY = {"t": "seat_ready", "seat": 0, "entropy": OPENING.hex()}
LOCKED = {"t": "game_locked", "entropy": [[0, "player", OPENING.hex()], [1, "bot", ""]]}
UNOPENED = {"t": "game_locked", "entropy": [[0, "player", ""], [1, "bot", ""]]}


def witness(seat_key: str = "", opening: bytes | None = OPENING, **options: Any) -> Witness:
    """Who sits in seat 0, and knows the server."""
    kept = Keepsake(url="http://x", game=GAME, seat=0, seat_key=seat_key)
    return Witness(kept, [KEY.public], opening=opening, **options)


def items(*events: dict[str, Any]) -> list[Item]:
    """The events as they are sent, with their heads."""
    found, head = [], genesis_head(GAME)
    for seq, event in enumerate(events, 1):
        raw = json.dumps(event)
        head = next_head(head, raw.encode())
        found.append(Item(seq, head.hex(), raw))
    return found


def shown(one: Witness, *events: dict[str, Any]) -> list[str]:
    """What it says of the events."""
    return [told for item in items(*events) for told in one.see(item, json.loads(item.event))]


def receipt(item: Item, key: Any = KEY, **changed: Any) -> SignedHead:
    """The server's receipt for an event."""
    signed = key.receipt(GAME, item.seq, bytes.fromhex(item.head))
    return SignedHead(**(signed._asdict() | changed))


def test_an_honest_table_is_nothing_to_speak_of() -> None:
    """Its receipt is kept, the last one alone."""
    kept: list[Keepsake] = []
    one = witness(keep=kept.append)
    told = items(CREATED, TAKEN, READY, LOCKED)
    for item in (told[1], told[3], told[2]):
        one.hear(receipt(item))
    assert [] == shown(one, CREATED, TAKEN, READY, LOCKED)
    assert receipt(told[3]) == one.kept.receipt
    assert one.kept is kept[-1]


@pytest.mark.parametrize(
    ("events", "opened", "told"),
    [
        ([TAKEN, READY, UNOPENED], False, "without the randomness that you have opened"),
        ([TAKEN, UNOPENED], True, "without the randomness that you have opened"),
        ([TAKEN, UNOPENED], False, "was not opened in time"),
        ([TAKEN | {"entropy_commit": "00" * 32}, LOCKED], False, "another commitment for your seat"),
        ([TAKEN | {"entropy_commit": None}, UNOPENED], False, "another commitment for your seat"),
    ],
)
def test_a_lock_is_held_to_what_the_seat_did(events: list[dict[str, Any]], opened: bool, told: str) -> None:
    """What it opened must be in it, and what it committed to at its seat; what came too late is told more mildly."""
    one = witness()
    one.opened = opened
    (found,) = shown(one, CREATED, *events)
    assert told in found


def test_who_committed_to_nothing_misses_nothing() -> None:
    """A seat that was taken by another program."""
    assert [] == shown(witness(opening=None), CREATED, TAKEN | {"entropy_commit": None}, UNOPENED)


def test_a_seat_with_another_key_is_told() -> None:
    """Whoever has that one could move for it."""
    one = witness(seat_key="11" * 32)
    (found,) = shown(one, CREATED, TAKEN | {"public_key": "22" * 32}, READY, LOCKED)
    assert "another key for your seat" in found
    assert [] == shown(witness(seat_key="11" * 32), CREATED, TAKEN | {"public_key": "11" * 32}, LOCKED)


def test_a_seat_that_others_had_before_is_not_ours() -> None:
    """What counts is who had it last."""
    other = TAKEN | {"entropy_commit": "00" * 32}
    assert [] == shown(witness(), CREATED, other, {"t": "seat_left", "seat": 0}, TAKEN, READY, LOCKED)


@pytest.mark.parametrize(
    "changed",
    [
        {"signature": "00" * 64},
        {"signature": "x"},
        {"game": "g-other"},
        {"head": "zz"},
        {"seq": 0},
        {"seq": -1},
    ],
)
def test_a_receipt_that_is_none_is_told_and_never_kept(changed: dict[str, Any]) -> None:
    """It takes the place of no other, and is told once."""
    one = witness()
    told = items(CREATED, TAKEN)
    one.hear(receipt(told[0]))
    one.hear(receipt(told[1], **changed))
    one.hear(receipt(told[1], OTHER_KEY))
    found = shown(one, CREATED, TAKEN)
    assert [
        "A receipt of the server is not signed by the key that the game names: it shows nothing."
    ] == found
    assert receipt(told[0]) == one.kept.receipt


def test_a_rotation_is_vouched_for_by_the_old_key() -> None:
    """Or it is told, and nothing that the new one signs counts."""
    learnt: list[str] = []
    signature = KEY.sign(rotation_message(GAME, 2, OTHER_KEY.public)).hex()
    turn = {"t": "key_rotated", "server_key": OTHER_KEY.public, "signature": signature}
    one = witness(learn=learnt.append)
    told = items(CREATED, turn, TAKEN)
    for item, key in ((told[1], KEY), (told[2], OTHER_KEY)):
        one.hear(receipt(item, key))
    assert [] == shown(one, CREATED, turn, TAKEN)
    assert ([OTHER_KEY.public], 3) == (learnt, one.kept.receipt.seq if one.kept.receipt else 0)
    for bad in ("00" * 64, "no hex"):
        (found,) = shown(witness(learn=learnt.append), CREATED, turn | {"signature": bad})
        assert "its old key does not vouch for it" in found
    assert [OTHER_KEY.public] == learnt


def test_a_game_that_begins_under_another_key_later_is_told() -> None:
    """Given the first event named a key when the game was first seen, then it names that one for ever."""
    kept = Keepsake(url="http://x", game=GAME, seat=0, server_key=OTHER_KEY.public)
    one = Witness(kept, [OTHER_KEY.public, KEY.public])
    (found,) = shown(one, CREATED)
    assert "said another before" in found


@pytest.mark.parametrize(
    "event", [{"t": "game_created"}, {"t": "seat_taken"}, {"t": "game_locked", "entropy": [7]}]
)
def test_an_event_that_cannot_be_read_is_no_traceback(event: dict[str, Any]) -> None:
    """It is strange, as a scene says."""
    one = witness()
    with pytest.raises(Strange, match="cannot be read"):
        shown(one, event)


# --- the folder


def test_the_folder_keeps_a_bounded_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given more games than that, then the one that was written to least lately is forgotten, of proofs earlier."""
    monkeypatch.setattr(keepsakes, "MOST", 3)
    monkeypatch.setattr(keepsakes, "MOST_PROOFS", 1)
    folder = Keepsakes(tmp_path / "games")
    games = [Keepsake(url="u", game=f"g{number}", seat=0, server_key="k") for number in range(4)]
    for number, one in enumerate(games):
        folder.keep(one)
        folder.keep_proof(one, b"proof")
        for path in (tmp_path / "games").glob(f"*g{number}*"):
            os.utime(path, (number, number))
    folder.keep(games[0])
    assert ["k", "", "k", "k"] == [folder.find("u", one.game, 0).server_key for one in games]
    assert 1 == len(list((tmp_path / "games").glob("*.ndjson")))


def test_a_server_names_no_files(tmp_path: Path) -> None:
    """Whatever it calls its games, and however another server calls its own."""
    folder = Keepsakes(tmp_path / "games")
    for url in ("u", "v"):
        for game in ("../../players", "a/b", "", "g", "."):
            folder.keep(Keepsake(url=url, game=game, seat=0, server_key=url))
    assert 10 == len(list((tmp_path / "games").iterdir()))
    assert ["games"] == [one.name for one in tmp_path.iterdir()]
    assert ("u", "") == (folder.find("u", "g", 0).server_key, folder.find("u", "g", 1).server_key)


@pytest.mark.parametrize("data", [b"", b"no json", b"[]", b"\xff", b'{"url":"w","game":"g","seat":0}'])
def test_a_file_that_cannot_be_read_counts_as_none(tmp_path: Path, data: bytes) -> None:
    """Nor one that is of another server."""
    folder = Keepsakes(tmp_path)
    nothing = Keepsake(url="u", game="g", seat=0)
    folder.path(nothing).write_bytes(data)
    assert nothing == folder.find("u", "g", 0)
