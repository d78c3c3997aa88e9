"""Turning to a new server key: games in progress, processes that know nothing of it, and what proofs show of it."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from domain import commands as c
from domain.commands import SeatPlan, SitDown
from domain.game import decide
from domain.refusals import Refused
from domain.variants import ruleset_of
from services import keyring as keyrings
from services.audit import KeyFileError, KeyMissing, ServerKey, verify_receipt
from services.folded import Table, follow
from services.keyring import KeyRing, rotate_game
from services.proof import Claim, proof_lines, read_proof
from services.snapshot import EVERY
from services.store import Store
from services.tables import Tables
from services.verdicts import verify_proof
from tests.support.clock import Clock
from tests.support.handler import BOT, first_move, key, started
from tests.support.proofs import OTHER_KEY, claim
from tests.support.snapshots import let_snapshot_lie


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The key file."""
    return tmp_path / "server.key"


@pytest.fixture
def ring(log: Store, path: Path) -> KeyRing:
    """The keys as one process has them, at a new store."""
    return KeyRing(log.wire, path, Random(1).randbytes)


def new_key(ring: KeyRing, seed: int = 2) -> str:
    """Turn to a new key; its public half."""
    public = ring.add(Random(seed).randbytes)
    ring.turn_to(public)
    return public


def tables_of(log: Store, ring: KeyRing, clock: Clock) -> Tables:
    """Tables as a process with these keys has them."""
    return Tables(log, ring, clock, Random(3).randbytes)


def proof_of(log: Store, ring: KeyRing, table: Table) -> Claim:
    """Claim I of the proof file that the server gives out of a table now."""
    entries = log.read(table.state.game)
    return claim(verify_proof(read_proof(b"".join(proof_lines(entries, ring, table.head)))), "I")


# --- the ring


def test_a_new_ring_has_one_key(ring: KeyRing, path: Path) -> None:
    """The first key is the current one, and derives secrets as it always did."""
    assert (ring.first.public,) == ring.held
    assert ring.first.public == ring.public == ring.shown()
    assert ring.derive("x", "y") == ServerKey(bytes.fromhex(path.read_text())).derive("x", "y")


def test_a_new_key_is_one_more_line(ring: KeyRing, path: Path) -> None:
    """The first stays first, the file its owner's alone, and what is derived does not change."""
    before, derived = path.read_text(), ring.derive("x")
    public = new_key(ring)
    assert path.read_text().startswith(before)
    assert 2 == len(path.read_text().splitlines())
    assert 0o600 == path.stat().st_mode & 0o777
    assert [path.name] == [one.name for one in path.parent.iterdir()]
    assert (ring.first.public, public) == ring.held
    assert (public, derived) == (ring.public, ring.derive("x"))


def test_other_processes_need_no_restart(log: Store, ring: KeyRing, path: Path) -> None:
    """Given a process that was there before, then it finds the new key when it needs it; and so does one that comes later."""
    other = KeyRing(log.wire, path, Random(9).randbytes)
    public = new_key(ring)
    assert public == other.public
    assert public == other.of(public).public
    assert public == KeyRing(log.wire, path, Random(9).randbytes).public


def test_a_process_does_not_start_without_the_current_key(log: Store, ring: KeyRing, path: Path) -> None:
    """Given a key file from before the last rotation, then the start is refused, with the key that is missing."""
    old = path.read_text()
    public = new_key(ring)
    path.write_text(old)
    with pytest.raises(KeyMissing, match=public):
        KeyRing(log.wire, path, Random(9).randbytes)
    assert old == path.read_text()


def test_a_key_that_is_there_already_is_the_next(ring: KeyRing) -> None:
    """`add` before a rotation prepares it, and twice is once."""
    prepared = ring.add(Random(2).randbytes)
    assert prepared == ring.add(Random(4).randbytes)
    assert ring.first.public == ring.public
    ring.turn_to(prepared)
    assert prepared != ring.add(Random(4).randbytes)
    assert 3 == len(ring.held)


def test_a_key_that_is_not_here_is_not_turned_to(ring: KeyRing) -> None:
    """Nothing would sign any more."""
    with pytest.raises(KeyMissing, match=OTHER_KEY.public):
        ring.turn_to(OTHER_KEY.public)
    assert ring.first.public == ring.public


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{first}\nzz\n", "something else than the 64 digits"),
        ("{first}\n\n{other}\n", "has 0 digits"),
        ("{first}\n{other}aa\n", "has 66 digits"),
        ("{other}\n{first}\n", "another key"),
    ],
)
def test_a_key_file_that_was_spoilt_is_told(ring: KeyRing, path: Path, text: str, told: str) -> None:
    """It is never written over, nor are keys left out."""
    spoilt = text.format(first=path.read_text().strip(), other="5a" * 32)
    path.write_text(spoilt)
    with pytest.raises(KeyFileError, match=told):
        ring.of(OTHER_KEY.public)
    with pytest.raises(KeyFileError):
        ring.add(Random(2).randbytes)
    assert spoilt == path.read_text()


def test_keys_are_not_added_without_end(ring: KeyRing, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file has only so many."""
    monkeypatch.setattr(keyrings, "MOST_KEYS", 2)
    new_key(ring)
    with pytest.raises(KeyFileError, match="may have no more"):
        ring.add(Random(5).randbytes)


def test_a_file_that_cannot_be_written_keeps_the_old_key(
    ring: KeyRing, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk is told, and nothing is left behind."""

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(keyrings.os, "fsync", full)
    with pytest.raises(KeyFileError, match="No space left"):
        ring.add(Random(2).randbytes)
    assert 1 == len(path.read_text().splitlines())
    assert [path.name] == [one.name for one in path.parent.iterdir()]


def test_the_keys_that_sign_are_those_up_to_the_current_one_in_every_process(
    log: Store, ring: KeyRing, path: Path
) -> None:
    """Given a process from before, when a key is prepared and then turned to, then both have the same list each time."""
    other = KeyRing(log.wire, path, Random(9).randbytes)
    first = ring.first.public
    prepared = ring.add(Random(2).randbytes)
    late = KeyRing(log.wire, path, Random(9).randbytes)
    for one in (ring, other, late):
        assert [first] == [key.public for key in one.all()]
    ring.turn_to(prepared)
    for one in (ring, other, late):
        assert [first, prepared] == [key.public for key in one.all()]


def test_a_process_without_the_current_key_signs_for_no_log(
    log: Store, ring: KeyRing, path: Path, tmp_path: Path
) -> None:
    """Given a key file from before the rotation, then it is told which key is missing, and nothing signed by half of them."""
    old = tmp_path / "old.key"
    old.write_bytes(path.read_bytes())
    other = KeyRing(log.wire, old, Random(9).randbytes)
    public = new_key(ring)
    with pytest.raises(KeyMissing, match=public):
        other.all()


# --- games


def test_a_game_goes_over_by_an_event_of_its_own(log: Store, ring: KeyRing, clock: Clock) -> None:
    """Given a game in progress, then `key_rotated` names the new key, signed by the old; a second time nothing happens."""
    tables = tables_of(log, ring, clock)
    table = started(tables, pass_count=0)
    old, new = ring.public, new_key(ring)
    assert rotate_game(tables, ring, table.state.game)
    after = tables.load(table.state.game)
    assert (table.seq + 1, new, old) == (after.seq, after.state.server_key, after.signer)
    assert not rotate_game(tables, ring, table.state.game)
    assert after[1:] == tables.load(table.state.game)[1:]


def test_receipts_change_hands_with_the_event(log: Store, ring: KeyRing, path: Path, clock: Clock) -> None:
    """Given two processes of which one rotates, then the other's next receipt is by the new key, without a restart.

    A receipt given before, and that of the event itself, are by the old one, also when they are given again.
    """
    here = tables_of(log, ring, clock)
    there = tables_of(log, KeyRing(log.wire, path, Random(9).randbytes), clock)
    table = started(here, pass_count=0)
    game, old = table.state.game, ring.public
    before = there.handle(game, first_move(table), key=key("k"))
    new = new_key(ring)
    rotate_game(here, ring, game)
    after = there.handle(game, first_move(there.load(game)))
    assert verify_receipt(after.receipt, new)
    assert not verify_receipt(after.receipt, old)
    again = here.handle(game, first_move(table), key=key("k"))
    assert again.replayed
    assert before.receipt == again.receipt
    assert verify_receipt(again.receipt, old)


@pytest.mark.parametrize("moves_after", [0, 1, 3])
def test_a_proof_of_a_rotated_game_holds(log: Store, ring: KeyRing, clock: Clock, moves_after: int) -> None:
    """The file names the first key, and its receipt is by the one that is valid at its last event."""
    tables = tables_of(log, ring, clock)
    table = started(tables, pass_count=0)
    old = ring.public
    new_key(ring)
    rotate_game(tables, ring, table.state.game)
    for _ in range(moves_after):
        tables.handle(table.state.game, first_move(tables.load(table.state.game)))
    table = tables_of(log, ring, clock).load(table.state.game)
    entries = log.read(table.state.game)
    data = b"".join(proof_lines(entries, ring, table.head))
    found = claim(verify_proof(read_proof(data), old), "I")
    assert "holds" == found.status, found.line
    assert "key not pinned" not in found.detail


@pytest.mark.parametrize("lie", ["server_key", "signer", "head"])
def test_a_snapshot_that_lies_misleads_no_rotation(log: Store, ring: KeyRing, clock: Clock, lie: str) -> None:
    """Given another key of the ring where the snapshot names one, or other events, then it is the events that count."""
    tables = tables_of(log, ring, clock)
    game = at_its_snapshot(log, tables).state.game
    new_key(ring, 2)
    other = ring.public
    let_snapshot_lie(log, game, **{lie: bytes(32) if lie == "head" else other})
    new_key(ring, 3)
    assert rotate_game(tables_of(log, ring, clock), ring, game)
    table = follow(game, None, log.read(game))
    assert "holds" == proof_of(log, ring, table).status


def test_a_snapshot_that_lies_misleads_no_proof(log: Store, ring: KeyRing, clock: Clock) -> None:
    """Given another signer in the snapshot, then the receipt of the proof file is by the one that the events name."""
    old = ring.public
    table = at_its_snapshot(log, tables_of(log, ring, clock))
    new_key(ring)
    let_snapshot_lie(log, table.state.game, signer=ring.public)
    loaded = tables_of(log, ring, clock).load(table.state.game)
    assert (ring.public, old) == (loaded.signer, table.signer)
    assert "holds" == proof_of(log, ring, loaded).status


def at_its_snapshot(log: Store, tables: Tables) -> Table:
    """A game in play whose snapshot was just taken."""
    table = started(tables, pass_count=0)
    while table.seq % EVERY:
        table = tables.handle(table.state.game, first_move(table)).table
    assert log.load(table.state.game, EVERY)[0]
    return table


def test_a_game_that_is_over_stays_as_it_is(log: Store, ring: KeyRing, clock: Clock) -> None:
    """Its proofs are signed by the key it ended under, which is kept."""
    tables = tables_of(log, ring, clock)
    rules = ruleset_of({"variant": "basic", "hand_limit": 1})
    game = tables.open(rules, [BOT] * 4).table.state.game
    table = tables.act_for_house(game, most=10_000)
    assert "over" == table.state.phase
    old = ring.public
    new_key(ring)
    assert not rotate_game(tables, ring, game)
    assert (table.seq, old) == (tables.load(game).seq, tables.load(game).signer)
    assert "holds" == proof_of(log, ring, table).status
    with pytest.raises(Refused, match="game/over"):
        decide(table.state, c.RotateKey(server_key=ring.public, signature=""))


def test_new_games_name_the_new_key(log: Store, ring: KeyRing, path: Path, clock: Clock) -> None:
    """At every process at once, also one that was there before; and ids that follow from the secret stay what they were."""
    there = tables_of(log, KeyRing(log.wire, path, Random(9).randbytes), clock)
    rules = ruleset_of({"variant": "basic", "hand_limit": 1})
    plans = [SeatPlan(kind="player", player="p0"), BOT, BOT, BOT]
    game = there.open(rules, plans).table.state.game
    there.handle(game, c.GetReady(player="p0"))
    there.handle(game, c.StandUp(player="p0", seat=0))
    ended = there.act_for_house(game, most=10_000)
    again = there.rematch(ended.state, SitDown(player="p0")).table.state.game
    new = new_key(ring)
    assert new == there.open(rules, plans).table.state.server_key
    assert again == there.rematch(ended.state, SitDown(player="p0")).table.state.game
    assert again == tables_of(log, ring, clock).rematch(ended.state, SitDown(player="p0")).table.state.game


def test_nothing_happens_that_could_not_be_signed_for(
    log: Store, ring: KeyRing, path: Path, tmp_path: Path, clock: Clock
) -> None:
    """Given another machine whose key file is the old one, then it refuses, and serves again once it has the new file."""
    copy = tmp_path / "elsewhere" / "server.key"
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    there = tables_of(log, KeyRing(log.wire, copy, Random(9).randbytes), clock)
    here = tables_of(log, ring, clock)
    table = started(here, pass_count=0)
    game = table.state.game
    new_key(ring)
    rotate_game(here, ring, game)
    now = here.load(game)
    with pytest.raises(KeyMissing):
        there.handle(game, first_move(now))
    with pytest.raises(KeyMissing):
        there.open(ruleset_of({"variant": "basic"}), [BOT] * 4)
    assert now.seq == here.load(game).seq
    copy.write_bytes(path.read_bytes())
    assert there.handle(game, first_move(now)).receipt.seq > now.seq


def test_a_rotation_and_a_move_at_the_same_moment_both_happen(
    log: Store, ring: KeyRing, path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a move that comes first, then the rotation is signed anew for the place that it gets."""
    here, there = tables_of(log, ring, clock), tables_of(log, ring, clock)
    table = started(here, pass_count=0)
    game = table.state.game
    new_key(ring)
    advance, late = keyrings.advance, [first_move(table)]

    def slow(state: Any, made: Any) -> Any:
        if late:
            there.handle(game, late.pop())
        return advance(state, made)

    monkeypatch.setattr(keyrings, "advance", slow)
    assert rotate_game(here, ring, game)
    assert [] == late
    assert "holds" == proof_of(log, ring, here.load(game)).status
