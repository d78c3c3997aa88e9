"""An arena fanned out over real workers: whatever dies, no deal is lost, and none is played twice that was kept."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
import redis
from click.testing import CliRunner

from services.keys import Keys
from services.queue import ARENA, Queue
from services.settings import Settings
from tests.support.auditing import PATIENCE, ROOT, audit_worker, process_environ
from tests.support.contests import Wrong, plan, timeless
from workers.arena import bots, fan
from workers.arena.cli import arena
from workers.arena.fan import ArenaFan
from workers.arena.kept import KEPT_SECONDS, Kept, UnknownArena, arena_id
from workers.arena.match import Dealt, Plan, play_deal

PLAN = plan("rules", "random")
DEALS = 30
COMMAND = "from workers.arena.cli import arena; arena()"
GATED = """
import os, sys
import redis
from services.cli import main
from services.settings import Settings
from workers.arena import fan

real, played = fan.play_deal, []

def play_deal(plan, deal):
    played.append(deal)
    if len(played) == 3:
        client = redis.Redis.from_url(Settings.from_environ().store_url, socket_timeout=90)
        client.rpush("taken", os.getpid())
        client.blpop("go", 60)
    return real(plan, deal)

fan.play_deal = play_deal
sys.argv = ["hearts", "worker", "arena"]
main()
"""
"""A worker that tells its process id and waits before its third deal."""


@pytest.fixture
def settings(valkey: redis.Redis, valkey_url: str, tmp_path: Path) -> Settings:
    """Of an empty store, which has the queue too; there is no key file."""
    return Settings(data=tmp_path, partitions=4, store_url=valkey_url)


@pytest.fixture
def queue(settings: Settings) -> Iterator[Queue]:
    """The queue of the arena there."""
    found = Queue(settings.store_url, name=ARENA)
    yield found
    found.close()


@pytest.fixture(scope="module")
def expected() -> list[Dealt]:
    """What one process plays."""
    return timeless([play_deal(PLAN, deal) for deal in range(1, DEALS + 1)])


def played(queue: Queue, deals: int = DEALS, *, here: bool = True) -> tuple[list[Dealt], list[str]]:
    """What comes of deals by the workers there are, and what was told of these; played not by the command unless ``here``."""
    told: list[str] = []
    fanned = (ArenaFan if here else Idle)(PLAN, queue, tell=told.append)
    fanned.workers()
    with closing(fanned.played(deals)) as found:
        return timeless(list(found)), told


class Idle(ArenaFan):
    """Of a command that must leave all to the workers."""

    def do(self, items: Sequence[str], _: float) -> list[Dealt]:
        """Nobody may ask for it."""
        raise AssertionError(f"the command plays {items} itself")


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The deals that this process plays."""
    numbers: list[int] = []

    def counted(of: Plan, deal: int) -> Dealt:
        numbers.append(deal)
        return play_deal(of, deal)

    monkeypatch.setattr(fan, "play_deal", counted)
    return numbers


def jobs_left(client: redis.Redis) -> list[bytes]:
    """What is still there of jobs and waiting commands."""
    queue = "rq:queue:hearts-arena"
    patterns = ("rq:job*", queue, f"{queue}:intermediate", "rq:wip:*", "h:fan*")
    return [key for pattern in patterns for key in client.keys(pattern)]


def test_workers_play_what_one_process_plays(
    settings: Settings, queue: Queue, expected: list[Dealt], valkey: redis.Redis
) -> None:
    """Given two workers, when deals are played, then the command plays none itself, and all are kept for a week."""
    with audit_worker(settings, kind="arena"), audit_worker(settings, kind="arena"):
        assert (expected, []) == played(queue, here=False)
    key = Keys.arena(arena_id(PLAN))
    assert DEALS + 2 == valkey.hlen(key)
    assert KEPT_SECONDS - 60 < valkey.ttl(key) <= KEPT_SECONDS
    assert [] == jobs_left(valkey)


def test_what_is_kept_is_not_played_again(queue: Queue, expected: list[Dealt], here: list[int]) -> None:
    """Given deals that were played, when more are asked for, then the new ones alone are played."""
    assert (expected[:10], []) == played(queue, 10)
    assert list(range(1, 11)) == here
    assert (expected, []) == played(queue)
    assert list(range(1, DEALS + 1)) == here


def test_holes_and_what_cannot_be_read_are_filled(
    queue: Queue, expected: list[Dealt], here: list[int], valkey: redis.Redis
) -> None:
    """Given deals of which some are missing and one is broken, then these are played, and the order is kept."""
    played(queue)
    here.clear()
    key = Keys.arena(arena_id(PLAN))
    valkey.hdel(key, 3, 17, 30)
    valkey.hset(key, 9, "{")
    assert (expected, []) == played(queue)
    assert [3, 9, 17, 30] == sorted(here)


def test_a_command_that_is_killed(
    settings: Settings, queue: Queue, expected: list[Dealt], here: list[int], valkey: redis.Redis
) -> None:
    """Given a command that dies in the middle, when it is called again, then it goes on where the first one was."""
    name = arena_id(PLAN)
    command = [sys.executable, "-c", COMMAND, "rules", "random", "--deals", "100000", "--queue"]
    valkey.config_set("notify-keyspace-events", "Kh")
    with valkey.pubsub() as ear:
        ear.subscribe(f"__keyspace@0__:{Keys.arena(name)}")
        with subprocess.Popen(
            command, env=process_environ(settings), cwd=ROOT, stderr=subprocess.DEVNULL
        ) as process:
            heard = 0
            while heard < 6:
                heard += (ear.get_message(timeout=PATIENCE) or {})["type"] == "message"
            process.kill()
    there = Kept(queue.wire, name).deals()
    assert len(there) >= 4
    assert (expected, []) == played(queue)
    assert sorted(here) == sorted(set(range(1, DEALS + 1)) - there)


def test_a_worker_that_is_killed(
    settings: Settings, queue: Queue, expected: list[Dealt], here: list[int], valkey: redis.Redis
) -> None:
    """Given a worker that dies in its third deal, then the two before are kept, and the command plays what it had."""
    with audit_worker(settings, GATED, kind="arena") as worker, ThreadPoolExecutor() as pool:
        running = pool.submit(played, queue)
        assert valkey.blpop("taken", PATIENCE)
        worker.kill()
        worker.wait(PATIENCE)
        found, told = running.result(PATIENCE)
    assert expected == found
    assert ["no arena worker is left; this command goes on alone until one comes"] == told
    assert DEALS - 2 == len(here)
    assert [] == jobs_left(valkey)


def test_a_worker_without_one_of_the_bots(
    settings: Settings, queue: Queue, valkey: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a bot that the command has and the worker has not, then the job fails, and the command plays."""
    monkeypatch.setitem(bots.KINDS, "wrong", lambda _rest, _budget: Wrong("wrong:", None))
    with audit_worker(settings, kind="arena"):
        fanned = ArenaFan(plan("rules", "wrong:"), queue, tell=print)
        fanned.workers()
        with closing(fanned.played(4)) as found:
            assert [1, 2, 3, 4] == [one.deal for one in found]
    assert [] == jobs_left(valkey)


def test_an_interrupt(settings: Settings, valkey: redis.Redis) -> None:
    """Given Ctrl-C in the middle, then the command names the arena to go on with, and its jobs are gone."""
    command = [sys.executable, "-c", COMMAND, "rules", "random", "--deals", "100000", "--queue"]
    with (
        audit_worker(settings, GATED, kind="arena"),
        subprocess.Popen(
            command, env=process_environ(settings), cwd=ROOT, stderr=subprocess.PIPE, text=True
        ) as process,
    ):
        assert valkey.blpop("taken", PATIENCE)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        valkey.rpush("go", "on")
    assert 130 == process.returncode
    assert err.endswith(f"interrupted; `hearts arena --resume {arena_id(PLAN)}` goes on\n")
    assert "Traceback" not in err
    assert [] == jobs_left(valkey)


def test_it_is_taken_up_by_its_id(
    settings: Settings, queue: Queue, here: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given an arena that was begun, then its id is enough: bots, rules and deals are known."""
    for name, value in process_environ(settings).items():
        monkeypatch.setenv(name, value)
    played(queue, 5)
    Kept(queue.wire, arena_id(PLAN)).begin(PLAN, 8)
    done = CliRunner().invoke(arena, ["--resume", arena_id(PLAN), "--json", "-"])
    assert 0 == done.exit_code, done.output
    assert "plays alone until one comes; 5 deals are kept from before" in done.stderr
    found = msgspec.json.decode(done.stdout)
    assert (8, ["rules", "random"]) == (found["deals"], [bot["bot"] for bot in found["bots"]])
    assert list(range(1, 9)) == here
    more = CliRunner().invoke(arena, ["rules", "random", "--deals", "9", "--queue"])
    assert (0, [*range(1, 10)]) == (more.exit_code, here)
    other = CliRunner().invoke(arena, ["--resume", "nothing"])
    assert (1, "Error: arena nothing: there is no such arena, or not any more\n") == (
        other.exit_code,
        other.stderr,
    )


def test_a_queue_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, and that nothing is lost."""
    monkeypatch.setenv("HEARTS_STORE_URL", f"unix://{tmp_path}/none")
    done = CliRunner().invoke(arena, ["rules", "random", "--queue"])
    assert 1 == done.exit_code
    assert "does not answer" in done.stderr


def test_other_arenas_are_kept_apart(queue: Queue) -> None:
    """Bots, their order, rules, seed and mode make an arena; how many deals are asked for does not."""
    others = [
        plan("random", "rules"),
        plan("rules", "random", seed=2),
        plan("rules", "random", target=60),
        plan("rules", "random", games=True),
        msgspec.structs.replace(PLAN, versions=("2", "1")),
    ]
    assert 6 == len({arena_id(one) for one in [PLAN, *others]})
    kept = Kept(queue.wire, arena_id(PLAN))
    with pytest.raises(UnknownArena):
        kept.recall()
    kept.begin(PLAN, 5)
    kept.begin(PLAN, 7)
    assert (PLAN, 7) == kept.recall()
    assert {} == kept.find([])
