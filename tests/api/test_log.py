"""The transparency log over HTTP: as somebody who watches the server would follow it."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import httpx
import pytest
from flask import Flask

from services import logwatch
from services.integrity import Kept, read_kept_checkpoint
from services.keylist import read_key_list
from services.keyring import KeyRing
from services.keys import Keys
from services.leaves import Leaf
from services.logwatch import Had, LogClient, Watch
from services.merkle import root_of, verify_consistency, verify_inclusion
from services.notes import SignedCheckpoint, read_checkpoint
from services.proof import read_proof
from services.verdicts import verify_proof
from services.wiring import Services
from tests.api.guests import Guest, open_table
from workers.projector import Projector

Play = Callable[[], str]
FOR_EVER = "public, max-age=31536000, immutable"


@pytest.fixture
def play(services: Services, four: list[Guest], projector: Projector) -> Play:
    """Plays a game of bots to its end, which adds two leaves."""

    def played() -> str:
        game = open_table(four[0], [{"bot": "rules"}] * 4, hand_limit=1)
        services.tables.act_for_house(game)
        while projector.round():
            pass
        return game

    return played


def checkpoint(guest: Guest) -> SignedCheckpoint:
    """The log's checkpoint as it is now."""
    answer = guest.get("/v1/log/checkpoint")
    assert (200, "text/plain; charset=utf-8") == (answer.status_code, answer.headers["Content-Type"])
    return read_checkpoint(answer.text)


def hashes(texts: list[str]) -> list[bytes]:
    """Hashes that were sent in hex."""
    return [bytes.fromhex(text) for text in texts]


def test_an_empty_log_has_a_checkpoint(services: Services, stranger: Guest) -> None:
    """From the first moment on, under a name made of the server's key; and it has no leaf to prove."""
    signed = checkpoint(stranger)
    assert (0, root_of([])) == signed.checkpoint[1:]
    assert f"hearts-house/{services.key.public[:16]}" == signed.checkpoint.origin
    assert signed.is_signed_by(services.key.public)
    listed = stranger.get("/v1/log/entries")
    assert {"size": 0, "entries": [], "next": 0} == listed.json
    unknown = stranger.get(f"/v1/log/proof?leaf={'0' * 64}")
    assert (404, "log/unknown_leaf") == (unknown.status_code, unknown.json["code"])
    assert 422 == stranger.get("/v1/log/proof?first=1").status_code


def test_a_watcher_follows_the_log(services: Services, stranger: Guest, play: Play) -> None:
    """Given a checkpoint, when games were played, then the log has grown from it, and its entries have its root."""
    game = play()
    before = checkpoint(stranger)
    assert 2 == before.checkpoint.size
    for _ in range(2):
        play()
    after = checkpoint(stranger)
    answer = stranger.get("/v1/log/proof?first=2&second=6")
    assert FOR_EVER == answer.headers["Cache-Control"]
    assert (2, 6) == (answer.json["first"], answer.json["second"])
    path = hashes(answer.json["path"])
    assert verify_consistency(2, 6, path, before.checkpoint.root, after.checkpoint.root)
    assert after == read_checkpoint(answer.json["checkpoint"])
    now = stranger.get("/v1/log/proof?first=2")
    assert (answer.json, "no-cache") == (now.json, now.headers["Cache-Control"])
    entries: list[dict[str, Any]] = []
    while len(entries) < 6:
        page = stranger.get(f"/v1/log/entries?start={len(entries)}&limit=4").json
        entries += page["entries"]
        assert (6, len(entries)) == (page["size"], page["next"])
    leaves = [Leaf(one["game"], one["kind"], one["seq"], bytes.fromhex(one["head"])) for one in entries]
    assert [one["leaf"] for one in entries] == [leaf.hash.hex() for leaf in leaves]
    assert root_of([leaf.hash for leaf in leaves]) == after.checkpoint.root
    assert [("lock", game), ("end", game)] == [(one["kind"], one["game"]) for one in entries[:2]]
    table = services.tables.load(game)
    assert (table.seq, table.head) == (leaves[1].seq, leaves[1].head)


def test_a_checkpoint_is_spared_where_it_is_known(stranger: Guest, play: Play) -> None:
    """304 while the log is as it was."""
    etag = stranger.get("/v1/log/checkpoint").headers["ETag"]
    same = stranger.get("/v1/log/checkpoint", If_None_Match=etag)
    assert (304, b"", etag) == (same.status_code, same.data, same.headers["ETag"])
    play()
    assert 200 == stranger.get("/v1/log/checkpoint", If_None_Match=etag).status_code


def test_a_leaf_is_proved_by_hash_and_by_game(stranger: Guest, play: Play) -> None:
    """The same path either way, in the log as it is and as it was, each with the checkpoint that it ends in."""
    game = play()
    play()
    answer = stranger.get(f"/v1/log/proof?game={game}&kind=end")
    found = answer.json
    assert ("no-cache", 1, 4) == (answer.headers["Cache-Control"], found["index"], found["size"])
    assert (game, "end") == (found["game"], found["kind"])
    assert found == stranger.get(f"/v1/log/proof?leaf={found['leaf']}").json
    for size in (2, 3, 4):
        sized = stranger.get(f"/v1/log/proof?game={game}&kind=end&size={size}")
        assert FOR_EVER == sized.headers["Cache-Control"]
        root = read_checkpoint(sized.json["checkpoint"]).checkpoint.root
        path = hashes(sized.json["path"])
        assert verify_inclusion(bytes.fromhex(sized.json["leaf"]), 1, size, path, root)
    too_early = stranger.get(f"/v1/log/proof?game={game}&kind=end&size=1")
    assert (404, "log/unknown_leaf") == (too_early.status_code, too_early.json["code"])


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?leaf=00",
        "?game=x",
        "?kind=lock",
        "?game=x&kind=middle",
        "?size=1",
        "?second=1",
        f"?leaf={'0' * 64}&game=x&kind=lock",
        f"?leaf={'0' * 64}&first=1",
        f"?leaf={'0' * 64}&size=3",
        "?first=0",
        "?first=3",
        "?first=1&second=3",
        "?first=2&second=1",
        "?first=-1",
        "?first=x",
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(stranger: Guest, play: Play, query: str) -> None:
    """422, with what is wrong."""
    play()
    refused = stranger.get(f"/v1/log/proof{query}")
    assert (422, "request/invalid") == (refused.status_code, refused.json["code"])
    assert refused.json["errors"][0]["detail"]


def test_entries_are_bounded(stranger: Guest, play: Play) -> None:
    """Behind the last one there are none yet; beyond that there is nothing to wait for."""
    play()
    assert {"size": 2, "entries": [], "next": 2} == stranger.get("/v1/log/entries?start=2").json
    for query in ("start=3", "start=-1", "limit=0", "limit=1001"):
        assert 422 == stranger.get(f"/v1/log/entries?{query}").status_code


def test_the_proof_file_has_the_games_leaves(services: Services, stranger: Guest, play: Play) -> None:
    """Once they are in the log: I holds by them as well, and the file is never spared, for it grows with the log."""
    game = play()
    play()
    path = f"/v1/games/{game}/proof"
    answer = stranger.get(path)
    proof = read_proof(answer.data)
    assert proof.checkpoint is not None
    assert (4, 2) == (proof.checkpoint.checkpoint.size, len(proof.inclusions))
    report = verify_proof(proof, services.key.public)
    held = next(one for one in report.claims if one.name == "I")
    events = report.events
    assert held.detail == (
        f"up to event {events} of {events}, by a receipt of event {events} "
        f"and by a log of 4 that has the game's end, event {events}"
    )
    assert 200 == stranger.get(path, If_None_Match=answer.headers["ETag"]).status_code


def test_a_proof_file_for_the_checkpoint_that_was_kept(
    services: Services, stranger: Guest, play: Play
) -> None:
    """With its size the file has the paths that end in it, of the leaves that were there then."""
    game = play()
    note = stranger.get("/v1/log/checkpoint").data
    play()
    kept = Kept((), (read_kept_checkpoint(note),))
    now = verify_proof(read_proof(stranger.get(f"/v1/games/{game}/proof").data), None, kept)
    held = next(one for one in now.claims if one.name == "I")
    assert f"get the file with /v1/games/{game}/proof?size=2" in held.detail
    then = verify_proof(read_proof(stranger.get(f"/v1/games/{game}/proof?size=2").data), None, kept)
    held = next(one for one in then.claims if one.name == "I")
    assert held.status == "holds"
    assert "by a log of 2 that" in held.detail
    half = read_proof(stranger.get(f"/v1/games/{game}/proof?size=1").data)
    assert 1 == len(half.inclusions)
    assert read_proof(stranger.get(f"/v1/games/{game}/proof?size=0").data).checkpoint is None
    refused = stranger.get(f"/v1/games/{game}/proof?size=5")
    assert (422, "size") == (refused.status_code, refused.json["errors"][0]["field"])


def test_a_changed_log_is_not_signed(services: Services, stranger: Guest, play: Play) -> None:
    """Given a hash of the tree that somebody changed, then there is no checkpoint of it, and no path."""
    game = play()
    for level in (0, 1):
        services.client.setrange(Keys.log_nodes(level, 0), 0, bytes(32))
    for path in ("checkpoint", "proof?first=1", f"proof?game={game}&kind=end"):
        answer = stranger.get(f"/v1/log/{path}")
        assert (500, "log/altered") == (answer.status_code, answer.json["code"])


def test_a_spoilt_log_takes_no_proof_file_away(services: Services, stranger: Guest, play: Play) -> None:
    """Given that the log was tampered with, then the file comes without what it would show, and the log's calls fail."""
    game = play()
    services.client.set(Keys.log_places, "x")
    services.client.set(Keys.log_index, "x")
    proof = read_proof(stranger.get(f"/v1/games/{game}/proof").data)
    assert (None, ()) == (proof.checkpoint, proof.inclusions)
    assert proof.receipt is not None
    broken = stranger.get(f"/v1/log/proof?game={game}&kind=end")
    assert (500, "log/altered") == (broken.status_code, broken.json["code"])


def turn(services: Services, seed: int = 5) -> str:
    """Turn to a new key, as another process than that of the API does; its public half."""
    ring = KeyRing(services.store.wire, services.settings.key_path, Random(1).randbytes)
    ring.turn_to(ring.add(Random(seed).randbytes))
    return ring.public


def test_the_keys_are_listed_each_signed_by_the_one_before(services: Services, stranger: Guest) -> None:
    """Given rotations by another process, then the list and the signatures of a checkpoint are there at once."""
    keys = [services.key.first.public]
    for seed in (5, 6):
        keys.append(turn(services, seed))
        answer = stranger.get("/v1/log/keys")
        assert ("no-cache", services.log.origin) == (answer.headers["Cache-Control"], answer.json["origin"])
        assert tuple(keys) == read_key_list(answer.data).keys
        signed = checkpoint(stranger)
        assert signed.signers(keys) == keys
        assert signed.judge(keys)
    assert keys[-1] == stranger.get("/version").json["server_key"]


def test_a_checkpoint_is_not_spared_after_a_rotation(services: Services, stranger: Guest, play: Play) -> None:
    """Given the checkpoint of before, when the key was changed, then the new signature is sent though the log is the same."""
    play()
    before = stranger.get("/v1/log/checkpoint")
    turn(services)
    after = stranger.get("/v1/log/checkpoint", If_None_Match=before.headers["ETag"])
    assert 200 == after.status_code
    assert (1, 2) == tuple(len(read_checkpoint(one.text).signatures) for one in (before, after))


def test_a_reader_follows_a_rotation(services: Services, stranger: Guest, play: Play) -> None:
    """Given key and checkpoint of before, then they hold for a game that was opened after, by the list of keys alone."""
    play()
    first = services.key.first.public
    turn(services)
    kept = read_kept_checkpoint(stranger.get("/v1/log/checkpoint").data)
    old = kept._replace(signed=kept.signed._replace(signatures=kept.signed.signatures[:1]))
    game = play()
    proof = read_proof(stranger.get(f"/v1/games/{game}/proof").data)
    assert first != proof.server_key
    assert proof.checkpoint is not None
    assert 1 == len(proof.checkpoint.signatures)
    keys = read_key_list(stranger.get("/v1/log/keys").data)
    verdicts = {}
    for name, evidence in (("list", Kept((), (old,), keys)), ("none", Kept((), (old,)))):
        report = verify_proof(proof, first, evidence)
        verdicts[name] = next(one for one in report.claims if one.name == "I")
    assert ("holds", "fails") == (verdicts["list"].status, verdicts["none"].status)
    assert "or the key was changed in between" in verdicts["none"].detail


def test_the_watching_command_reads_what_the_api_answers(
    app: Flask, services: Services, stranger: Guest, play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a checkpoint, when games were played, the key changed and a game forked, then the command finds just that."""
    monkeypatch.setattr(logwatch, "PAGE", 3)
    game = play()
    before, first = stranger.get("/v1/log/checkpoint").text, services.key.first.public

    def look() -> Watch:
        with httpx.Client(transport=httpx.WSGITransport(app)) as client:
            log = LogClient(client, "http://localhost", 60)
            watch = Watch(log, Had(first, read_checkpoint(before)))
            watch.run()
        return watch

    play()
    turn(services)
    watch = look()
    assert ([], True) == (watch.problems, watch.goes_on)
    assert "the checkpoint of 4 leaves" in watch.held[0]
    assert "2 keys that follow from the one that you named" in watch.held[0]
    end = services.log.tree.of_game(game)[1][1]
    services.log.tree.add([end._replace(head=bytes(32))])
    assert [f"leaf 4 is a second end of game {game}: the game was forked"] == look().problems
