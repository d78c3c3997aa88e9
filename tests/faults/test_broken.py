"""Each safeguard taken out once: the suite finds it, and says what it is."""

from __future__ import annotations

import functools
import os
import resource
import secrets
import signal
import subprocess
from pathlib import Path
from random import Random
from typing import Any

import pytest
import redis

import services.tables
from domain.game import to_act
from domain.state import State
from services.once import Key
from services.projections import Projections
from services.store import Store, StoreUnavailable
from services.tables import Tables
from services.wiring import now_ms
from tests.faults.checker import AUDIT, CHANGED, FORKED, LOST, STUCK, SURE, TWICE, Violation
from tests.faults.clients import Load
from tests.faults.history import History
from tests.faults.inside import Inside, at_rest, inside, judged, loaded
from tests.faults.lines import with_replica
from tests.faults.nemesis import HOUR_MS, Partition, Storm
from tests.faults.world import STALLED, a_world, trial
from tests.support.embedded import server
from tests.support.house import until


def said(found: dict[str, list[Violation]], kind: str) -> str:
    """What was found of a kind."""
    return "\n".join(one.detail for one in found.get(kind, ()))


def die(house: Inside) -> Path:
    """Kill the store's server. The file it appends to."""
    pid = server(house.store)
    os.kill(pid, signal.SIGKILL)
    until(lambda: not house.store.poll())
    return max((house.store.folder / "appendonlydir").glob("*.incr.aof"))


def test_nothing_broken(tmp_path: Path) -> None:
    """Given answers that are lost, a store that is killed, and every safeguard in its place, then all is well."""
    with inside(tmp_path) as house:
        load = loaded(house.connect)
        die(house)
        house.store.start()
        assert {} == judged(house, load)
        assert any(call.unknown for call in load.history)
        assert any(call.refused for call in load.history)
        assert any(call.replayed for call in load.history)


def test_a_store_that_keeps_nothing(tmp_path: Path) -> None:
    """Killed while its append-only file is off, it has lost what it acknowledged."""
    with inside(tmp_path) as house:
        load = loaded(house.connect, commands=15)
        house.services.client.config_set("appendonly", "no")
        at_rest(house, load)
        die(house)
        house.store.start()
        found = judged(house, load)
    assert LOST in found
    assert FORKED in found


def test_a_torn_end_of_what_was_acknowledged(tmp_path: Path) -> None:
    """Given a disk that has lost more than the write that was on its way, then what is missing is told."""
    with inside(tmp_path) as house:
        load = loaded(house.connect)
        at_rest(house, load)
        file = die(house)
        os.truncate(file, file.read_bytes().rindex(b'"by":"player"'))
        house.store.start()
        assert "were cut off" in house.store.notice
        found = judged(house, load)
    assert LOST in found
    assert "receipt" in said(found, AUDIT)


def test_a_damaged_byte_that_the_server_reads(tmp_path: Path) -> None:
    """Given an event that was changed in the file, so that the server starts, then its head is not the one that was told."""
    with inside(tmp_path) as house:
        load = loaded(house.connect)
        at_rest(house, load)
        file = die(house)
        content = file.read_bytes()
        at = content.rindex(b'"seat":', 0, content.index(b'"by":"player"', len(content) // 2)) + len(
            b'"seat":'
        )
        file.write_bytes(content[:at] + b"%d" % ((content[at] - 47) % 10) + content[at + 1 :])
        house.store.start()
        found = judged(house, load)
    assert FORKED in found
    assert AUDIT in found


def test_a_full_disk_and_a_store_that_acknowledges_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a store that writes within a second, on a disk where nothing more goes, then what it said is done is lost."""
    # a file that may not grow is a failed write to the server, not a signal, as on a full disk
    patient = functools.partial(subprocess.Popen, restore_signals=False)
    monkeypatch.setattr("services.embedded.subprocess.Popen", patient)
    with inside(tmp_path, fsync="everysec") as house:
        load = loaded(house.connect)
        # whether a command of ours was among those of the write that failed is a matter of chance
        for _ in range(8):
            (file,) = (house.store.folder / "appendonlydir").glob("*.incr.aof")
            limits = (file.stat().st_size, resource.RLIM_INFINITY)
            resource.prlimit(server(house.store), resource.RLIMIT_FSIZE, limits)
            lost = sum(call.unknown for call in load.history)
            until(lambda lost=lost: sum(call.unknown for call in load.history) > lost + 5)
            die(house)
            house.store.start()
            store = house.services.store
            if any(call.done and call.seq > store.last(call.game) for call in load.history):
                break
        found = judged(house, load)
    assert {LOST, FORKED} & found.keys()


def test_a_key_that_is_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A repeat is carried out again: a second twin is played, a second table opened, and a repeat refused."""
    monkeypatch.setattr(Key, "field", property(lambda _: secrets.token_bytes(8)))
    with inside(tmp_path) as house:
        found = judged(house, loaded(house.connect, pairs=3, commands=80))
    assert TWICE in found
    assert CHANGED in found


def lose_answers(monkeypatch: pytest.MonkeyPatch, rng: Random) -> None:
    """Lose some answers of the store to appends, after they were carried out."""
    real = Store.append

    def append(self: Store, *args: Any, **options: Any) -> Any:
        done = real(self, *args, **options)
        if rng.random() < 0.1:
            raise StoreUnavailable("the answer was lost") from redis.ConnectionError()
        return done

    monkeypatch.setattr(Store, "append", append)


def give_up(*asked: Any) -> None:
    """Look nothing up."""
    raise asked[-1]


def test_a_lost_answer_of_the_store_is_resolved_by_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the API, and in the bots, of whose moves there are no keys but the numbers of the events."""
    lose_answers(monkeypatch, Random(3))
    with inside(tmp_path) as house:
        assert {} == judged(house, loaded(house.connect))


def test_a_lost_answer_that_is_resolved_by_a_second_append(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command is done twice, where it can be, or refused though it was done."""
    lose_answers(monkeypatch, Random(3))
    monkeypatch.setattr(Tables, "_look_up", give_up)
    real = Tables.handle

    def handle(self: Tables, game: str, command: Any, *, key: Key | None = None, **options: Any) -> Any:
        try:
            return real(self, game, command, key=key, **options)
        except StoreUnavailable:
            return handle(self, game, command, **options)

    monkeypatch.setattr(Tables, "handle", handle)
    with inside(tmp_path) as house:
        assert {TWICE, SURE} & judged(house, loaded(house.connect, pairs=3, commands=80)).keys()


def test_a_projector_that_acknowledges_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given one that dies between the two, then the end of a game is never projected."""
    real = Projections.write

    def write(self: Projections, updates: Any, acks: Any = None) -> int:
        ended = any(one.summary["status"] == "over" for some in updates.values() for one in some)
        return real(self, {} if ended else updates, acks)

    monkeypatch.setattr(Projections, "write", write)
    with inside(tmp_path) as house:
        found = judged(house, loaded(house.connect))
    assert [AUDIT] == list(found)
    assert "projection" in said(found, AUDIT)


def test_a_claim_without_a_lease(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a worker that takes a game from the due set and dies, then nobody knows of it, and the table is stuck."""
    real = Store.claim_due
    dead: list[str] = []

    def claim(self: Store, partition: int, *args: Any) -> list[str]:
        games = real(self, partition, *args)
        for game in games:
            self.wire.call("ZREM", self.keys.due(partition), game)
        if games and not dead and house.services.tables.load(games[0]).seq > 30:
            dead.extend(games)
            return []
        return games

    with inside(tmp_path) as house:
        load = loaded(house.connect, commands=8)
        monkeypatch.setattr(Store, "claim_due", claim)
        found = judged(house, load, patience=6.0)
    assert {one.game for one in found[STUCK]} <= {*dead}
    assert dead[0] in said(found, AUDIT)


def test_times_that_follow_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a clock that is set back, and events that are not held to the one before, then a game runs backwards."""
    ahead = [HOUR_MS]
    monkeypatch.setattr(services.tables, "max", lambda clock, _: clock, raising=False)
    with inside(tmp_path, clock=lambda: now_ms() + ahead[0]) as house:
        load = loaded(house.connect, commands=15)
        ahead[0] = 0
        found = judged(house, load)
    assert AUDIT in found


def test_an_old_pointer_that_is_believed(tmp_path: Path) -> None:
    """Given a summary that a late delivery has put over a newer one, then it is not the fold's."""
    with inside(tmp_path) as house:
        load = loaded(house.connect, commands=15)
        game = next(load.games())
        key = house.services.keys.table(game)
        until(lambda: house.services.client.hget(key, "summary"))
        old = house.services.client.hgetall(key)
        at_rest(house, load)
        house.services.client.hset(key, mapping=old)
        found = judged(house, load)
    assert [AUDIT] == list(found)
    assert game in said(found, AUDIT)


def test_an_event_that_is_gone(tmp_path: Path) -> None:
    """Whoever was told of it, and its game, are named."""
    with inside(tmp_path) as house:
        load = loaded(house.connect)
        game = next(load.games())
        at_rest(house, load)
        house.services.client.xdel(house.services.keys.stream(game), "9-0")
        found = judged(house, load)
    assert {game} == {one.game for one in found[LOST]}
    assert game in said(found, AUDIT)


def only_bots_owe(state: State) -> bool:
    """Whether nobody but bots can do anything at a table."""
    return state.phase != "seats" and all(state.seats[seat].house_plays for seat in to_act(state))


def test_a_due_entry_that_is_gone(tmp_path: Path) -> None:
    """The table that waits for its bots is stuck, and the audit says why."""
    with inside(tmp_path) as house:
        house.resting.set()
        load = Load(house.connect, 1, 1, History())
        load.start()
        until(lambda: [*load.games()])
        game = next(load.games())
        until(lambda: only_bots_owe(house.services.tables.load(game).state))
        house.services.client.zrem(house.services.keys.due(house.services.keys.partition(game)), game)
        house.resting.clear()
        found = judged(house, load, patience=4.0)
    assert [game] == [one.game for one in found[STUCK]]
    assert "due" in said(found, AUDIT)


def test_a_replica_that_is_not_waited_for(tmp_path: Path) -> None:
    """Given a primary that acknowledges while it is cut off, then all of that is lost when its replica is promoted."""
    with with_replica(tmp_path) as (world, pair):
        row = trial(world, Partition(pair, waits=False), Random(2))
    assert {LOST, FORKED} <= {one.kind for one in row.violations}


def test_connections_that_are_not_bounded_by_time(tmp_path: Path) -> None:
    """Given an API with few connections, which a caller may keep without a word, then a storm takes them all."""
    with a_world(tmp_path, FAULTS_NARROW="1", HEARTS_LISTENERS="1") as world:
        world.patience = 5.0
        row = trial(world, Storm(), Random(2))
    assert {STALLED} == {one.kind for one in row.violations}
