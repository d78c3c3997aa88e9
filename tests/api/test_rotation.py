"""A new server key, as clients see it: receipts, proofs, `/version`, and a process that lacks the key."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
import redis

from services.audit import Receipt, verify_receipt
from services.keyring import KeyRing, rotate_game
from services.proof import read_proof
from services.verdicts import verify_proof
from services.wiring import Services
from tests.api.guests import Guest, play_on, seat_all


def turn(services: Services) -> str:
    """Turn to a new key; its public half."""
    public = services.key.add(Random(5).randbytes)
    services.key.turn_to(public)
    return public


def test_a_rotated_game_goes_on_under_the_new_key(services: Services, four: list[Guest]) -> None:
    """Moves are answered with receipts by the new key, and the proof file holds by the first one."""
    game = seat_all(four, pass_count=0)
    first, new = services.key.public, turn(services)
    rotate_game(services.tables, services.key, game)
    table = play_on(four, game)
    receipt = Receipt(*(table["receipt"][name] for name in ("game", "seq", "head", "signature")))
    assert verify_receipt(receipt, new)
    report = verify_proof(read_proof(four[0].get(f"/v1/games/{game}/proof").data), first)
    assert "holds" == next(one for one in report.claims if one.name == "I").status


def test_the_version_names_the_current_key(
    services: Services, stranger: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also, as it was last known, where the store does not answer."""
    assert services.key.first.public == stranger.get("/version").json["server_key"]
    new = turn(services)
    assert new == stranger.get("/version").json["server_key"]

    def away(*_: object, **__: object) -> None:
        raise redis.ConnectionError("gone")

    monkeypatch.setattr(services.client.connection_pool, "get_connection", away)
    services.key._wire._idle.clear()
    assert new == stranger.get("/version").json["server_key"]


def test_a_process_without_the_key_answers_503_and_changes_nothing(
    services: Services, four: list[Guest], tmp_path: Path
) -> None:
    """Given a machine that the new key file has not reached, then moves and new tables wait for it."""
    game = seat_all(four, pass_count=0)
    path = services.settings.key_path
    old = path.read_bytes()
    elsewhere = tmp_path / "elsewhere.key"
    elsewhere.write_bytes(old)
    ring = KeyRing(services.store.wire, elsewhere, Random(8).randbytes)
    ring.turn_to(ring.add(Random(9).randbytes))
    rotate_game(services.tables, ring, game)
    mover = four[four[0].table(game)["turn"]]
    seen = mover.table(game)
    move = {"play": seen["legal"].split()[0]}
    new_table = {"variant": "basic", "seats": ["me", "open", "open", "open"]}
    for refused in (mover.move(game, move), mover.post("/v1/games", new_table)):
        assert (503, "store/unavailable") == (refused.status_code, refused.json["code"])
        assert "Retry-After" in refused.headers
        assert ring.latest not in refused.text
    assert seen["seq"] == mover.table(game)["seq"]
    path.write_bytes(elsewhere.read_bytes())
    assert 200 == mover.move(game, move).status_code
