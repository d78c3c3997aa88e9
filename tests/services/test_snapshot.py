"""Snapshots: a shortcut that says what the fold says, and nothing where it cannot."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.bots import BOTS
from domain.commands import SeatPlan
from domain.ruleset import RuleSet
from domain.variants import ruleset_of
from services import snapshot as snapshots
from services.folded import Table, follow, resume
from services.snapshot import EVERY, take_snapshot
from services.store import Store
from tests.support.clock import Clock
from tests.support.games import play_game, rule_sets, steady
from tests.support.handler import first_move, started, tables_on
from tests.support.snapshots import let_snapshot_lie
from tests.support.states import assert_same

ROOT = Path(__file__).resolve().parents[2]


def snapshot_of(table: Table) -> bytes:
    """The snapshot of a table."""
    return take_snapshot(*table)


@steady(60)
@given(rule_sets(), st.integers(0, 2**32))
def test_a_snapshot_holds_the_whole_table(rules: RuleSet, seed: int) -> None:
    """After any event of any game, what is read back is the folded table, and going on from it comes to the same."""
    rng = Random(seed)
    entries = play_game(rules, seed).entries()
    cut = rng.randrange(1, len(entries) + 1)
    table, end = follow("g", None, entries[:cut]), follow("g", None, entries)
    resumed = resume(snapshot_of(table))
    assert resumed is not None
    assert_same(resumed.state, table.state)
    assert resumed[1:] == table[1:]
    after = follow("g", resumed, entries[cut:])
    assert_same(after.state, end.state)
    assert after[1:] == end[1:]


def test_a_snapshot_belongs_to_the_sources_of_the_fold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a change to any file that the fold imports, or to what is stored of a table, then its snapshots are others'."""
    for floor in ("domain", "services"):
        (tmp_path / floor).mkdir()
        for file in (ROOT / floor).glob("*.py"):
            shutil.copy(file, tmp_path / floor)
    monkeypatch.setattr(snapshots, "files", lambda floor: tmp_path / floor)
    measure = snapshots.fold_hash.__wrapped__
    assert snapshots.fold_hash() == measure()
    reached = [
        name for name in imported_by("services.folded", "services.snapshot") if name.startswith("domain.")
    ]
    assert {"domain.fold", "domain.state", "domain.rules", "domain.ruleset"} < set(reached)
    known = {measure()}
    for name in (*reached, "services.codec", "services.folded", "services.snapshot"):
        with tmp_path.joinpath(*name.split(".")).with_suffix(".py").open("a") as source:
            source.write("# changed\n")
        assert measure() not in known, name
        known.add(measure())


def imported_by(*names: str) -> set[str]:
    """The modules of the house that are loaded with some, in a process of its own."""
    program = f"import sys, {', '.join(names)}; print(*(n for n, m in sys.modules.items() if n.startswith('domain.')))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {
        name
        for name in done.stdout.split()
        if name.count(".") == 1 and name not in ("domain.bots", "domain.kernel")
    }


@pytest.mark.parametrize("spoil", ["other version", "cut short", "empty", "no snapshot at all"])
def test_a_snapshot_that_cannot_be_used_is_not(
    log: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch, spoil: str
) -> None:
    """Given a stored snapshot of another version, or one that cannot be read, then the events are folded instead."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    game, key = table.state.game, log.keys.snapshot(table.state.game)
    while table.seq < EVERY + 3:
        table = tables.handle(game, first_move(table)).table
    stored = log.client.get(key)
    assert isinstance(stored, bytes)
    if spoil == "other version":
        monkeypatch.setattr(snapshots, "fold_hash", lambda: b"anothers")
    elif spoil == "no snapshot at all":
        log.client.delete(key)
    else:
        log.client.set(key, stored[: {"cut short": 90, "empty": 3}[spoil]])
    loaded = tables_on(log, clock).load(game)
    assert_same(loaded.state, table.state)
    assert loaded[1:] == table[1:]


def test_a_snapshot_from_which_no_event_follows_is_not_used(log: Store, clock: Clock) -> None:
    """Given a stored snapshot of another moment of the game, then the events are folded instead."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    game = table.state.game
    while table.seq < 2 * EVERY + 3:
        table = tables.handle(game, first_move(table)).table
    let_snapshot_lie(log, game, hand=None)
    loaded = tables_on(log, clock).load(game)
    assert_same(loaded.state, table.state)
    assert loaded[1:] == table[1:]


class Counted(Store):
    """A store that notes how many entries its readers were given."""

    given = 0

    def load(self, game: str, recent: int) -> tuple[bytes, list[tuple[int, bytes, bytes]]]:
        """As the store's own."""
        snapshot, entries = super().load(game, recent)
        self.given += len(entries)
        return snapshot, entries


@pytest.mark.parametrize("players", [3, 5])
def test_a_table_is_loaded_from_few_events(log: Store, clock: Clock, players: int) -> None:
    """However long a game is, who loads it folds fewer events than a snapshot is taken for; a finished one none."""
    counted = Counted(log.client, log.keys)
    bot = SeatPlan(kind="bot", bot=BOTS["random"].id)
    rules = ruleset_of({"variant": "standard", "players": players, "hand_limit": 3})
    game = tables_on(log, clock).open(rules, [bot] * players).table.state.game
    while tables_on(log, clock).load(game).state.phase != "over":
        tables_on(log, clock).act_for_house(game, most=1)
        counted.given = 0
        loaded = tables_on(counted, clock).load(game)
        assert counted.given < EVERY
        assert loaded.head == follow(game, None, log.read(game)).head
    assert counted.given == 0


def test_a_snapshot_of_a_lost_tail_is_not_used(log: Store, clock: Clock) -> None:
    """Given a store that came back without its last events, but with a snapshot of them, then it is not believed."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    game = table.state.game
    while table.seq % EVERY:
        table = tables.handle(game, first_move(table)).table
    assert log.load(game, EVERY) == (snapshot_of(table), [])
    log.client.xdel(log.keys.stream(game), f"{table.seq}-0")
    assert tables_on(log, clock).load(game).seq == table.seq - 1


def test_a_writer_of_an_old_snapshot_does_not_overwrite_a_new_one(log: Store, clock: Clock) -> None:
    """A stale append is answered with what it missed and leaves the snapshot alone."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    game = table.state.game
    before = log.client.get(log.keys.snapshot(game))
    log.append(game, table.seq - 1, [(b"{}", b"")], now=1, due=None, snapshot=b"stale")
    assert log.client.get(log.keys.snapshot(game)) == before


def test_a_damaged_beginning_is_no_older_version() -> None:
    """Given a hash whose first byte, when it is spoilt, makes all of it look like a list with a number, then it is none."""
    table = msgspec.msgpack.encode(["a table"])
    looks_numbered = bytes([0x9C]) + bytes(7) + bytes(4) + table
    assert 12 == len(msgspec.msgpack.decode(looks_numbered))
    assert not snapshots.is_of_other_version(looks_numbered)
    assert snapshots.is_of_other_version(msgspec.msgpack.encode([3, *range(34)]))
