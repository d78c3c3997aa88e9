"""`hearts worker`: real processes that wait for their store, stop when asked, and go with their parent."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import psutil
import pytest
import redis

from services.archive import file_name
from services.embedded import EmbeddedStore
from services.queue import Queue, Queued
from services.settings import Settings
from services.store import connect
from services.supervise import Stop
from services.wiring import build
from tests.support.audited import open_game
from tests.support.clock import Clock
from tests.support.environs import environ_of
from workers import cli

HEARTS = Path(sys.executable).with_name("hearts")
PATIENCE = 30
"""Seconds after which a test that waits has failed."""
READY = [
    (["projector"], "the projector works"),
    (["bots"], "the bots play"),
    (["audits"], "audits are served"),
]
"""Each kind of worker and what it says when it is ready."""


class Worker:
    """A `hearts worker` and what it says."""

    def __init__(self, settings: Settings, program: Sequence[str | Path]) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("HEARTS_")}
        self.process = subprocess.Popen(
            program,
            env=environment | environ_of(settings),
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said: list[str] = []

    def wait_for(self, words: str) -> None:
        """Read on until it says something."""
        assert self.process.stderr
        while not self.said or words not in self.said[-1]:
            line = self.process.stderr.readline()
            assert line, self.said
            self.said.append(line)

    def stop(self, signum: int = signal.SIGTERM) -> int:
        """Send a signal. Returns the exit code."""
        self.process.send_signal(signum)
        return self.process.wait(PATIENCE)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Worker]]:
    """Starts workers on a data folder; what still runs at the end of the test is killed."""
    workers: list[Worker] = []

    def begin(*words: str, program: Sequence[str | Path] = ()) -> Worker:
        settings = Settings(data=tmp_path, partitions=4, fsync="everysec")
        workers.append(Worker(settings, program or [HEARTS, "worker", *words]))
        return workers[-1]

    yield begin
    for worker in workers:
        if worker.process.poll() is None:
            worker.process.kill()
        for pipe in (worker.process.stdin, worker.process.stderr):
            pipe.close()
        worker.process.wait(PATIENCE)


@pytest.mark.parametrize(("words", "ready"), READY)
class TestEitherWorker:
    def test_a_store_that_is_not_there_yet(self, start, tmp_path: Path, words: list[str], ready: str) -> None:
        """Given no store, then it is waited for; when it comes, the work begins; SIGTERM ends it with 0."""
        worker = start(*words)
        worker.wait_for("the store does not answer and is waited for")
        with EmbeddedStore(tmp_path, fsync="everysec"):
            worker.wait_for(ready)
            assert 0 == worker.stop()
        assert not any("Traceback" in line for line in worker.said)

    def test_the_end_of_the_parent(self, start, tmp_path: Path, words: list[str], ready: str) -> None:
        """It stops in order when its standard input ends; without the option input means nothing."""
        with EmbeddedStore(tmp_path, fsync="everysec"):
            alone, child = start(*words), start(*words, "--exit-with-parent")
            alone.wait_for(ready)
            child.wait_for(ready)
            for worker in (alone, child):
                worker.process.stdin.close()
            assert 0 == child.process.wait(PATIENCE)
            assert alone.process.poll() is None
            assert 0 == alone.stop(signal.SIGINT)

    def test_a_store_it_cannot_work_with(self, start, tmp_path: Path, words: list[str], ready: str) -> None:
        """What cannot pass is told in a sentence, with exit code 1."""
        with EmbeddedStore(tmp_path, fsync="everysec"):
            build(Settings(data=tmp_path, partitions=8)).client.close()
            worker = start(*words)
            assert 1 == worker.process.wait(PATIENCE)
            assert worker.process.stderr.read().startswith("Error: this store was made with 8 partitions")


@pytest.mark.parametrize(("words", "ready"), READY)
@pytest.mark.parametrize("loss", ["hangs", "is full", "has gone"])
def test_a_request_to_stop_does_not_wait_for_the_store(
    start, tmp_path: Path, words: list[str], ready: str, loss: str
) -> None:
    """Given a store that hangs, takes no writes or has gone, then SIGTERM ends the process soon, with 0."""
    with EmbeddedStore(tmp_path, fsync="everysec") as store:
        worker = start(*words)
        worker.wait_for(ready)
        server = psutil.Process(json.loads((store.folder / "owner.json").read_text())["server"])
        if loss == "hangs":
            server.suspend()
        elif loss == "is full":
            with connect(store.url) as client:
                client.config_set("maxmemory", 1)
        else:
            server.kill()
            until(lambda: not store.poll())
        began = time.monotonic()
        try:
            assert 0 == worker.stop()
        finally:
            if server.is_running():
                server.resume()
        assert time.monotonic() - began < 5
        assert not any("Traceback" in line for line in worker.process.stderr)


def test_bots_and_projector_outlive_their_store(start, tmp_path: Path) -> None:
    """Given workers whose store is killed and comes back, then the same processes play and project on."""
    from domain.bots import BOTS
    from domain.commands import SeatPlan
    from domain.variants import ruleset_of

    with EmbeddedStore(tmp_path, fsync="everysec") as store:
        bots, projector = start("bots"), start("projector")
        bots.wait_for("the bots play")
        projector.wait_for("the projector works")
        services = build(Settings(data=tmp_path, partitions=4))
        seats = [SeatPlan(kind="bot", bot=BOTS["random"].id)] * 4
        for _ in range(2):
            game = services.tables.open(ruleset_of({"variant": "standard"}), seats).table.state.game
            until(lambda game=game: "over" in [one["status"] for one in services.projections.tables([game])])
            # by its record: the tests' shared server is a child of this process, too
            psutil.Process(json.loads((store.folder / "owner.json").read_text())["server"]).kill()
            until(lambda: not store.poll())
            store.restart()
        services.client.close()
        assert [0, 0] == [bots.stop(), projector.stop()]


def test_bots_archive_what_has_been_over_for_a_day(start, tmp_path: Path) -> None:
    """Given a game that ended long ago, then a bot worker moves it into the archive of the data folder."""
    with EmbeddedStore(tmp_path, fsync="everysec"):
        services = build(Settings(data=tmp_path, partitions=4), clock=Clock(1_700_000_000_000))
        game = open_game(services)
        entries = services.store.read(game)
        worker = start("bots")
        until(lambda: 1 == services.client.xlen(services.keys.stream(game)))
        assert entries == services.store.read(game)
        assert [tmp_path / "archive" / file_name(game, len(entries))] == [*(tmp_path / "archive").glob("*/*")]
        services.client.close()
        assert 0 == worker.stop()


DEAF = """
import signal, sys, threading
from services.cli import main
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
sys.argv = ["hearts", "worker", "bots"]
main()
"""


def test_a_signal_that_does_not_wake_the_main_thread(start, tmp_path: Path) -> None:
    """Given SIGTERM handled in another thread while the main one waits for a job, then the bots stop all the same."""
    with EmbeddedStore(tmp_path, fsync="everysec"):
        worker = start(program=[sys.executable, "-c", DEAF])
        worker.wait_for("the bots play")
        services = build(Settings(data=tmp_path, partitions=4))
        until(lambda: any(state == b"idle" for state in _states(services.client)))
        services.client.close()
        assert 0 == worker.stop()


def _states(client: redis.Redis) -> list[object]:
    return [client.hget(key, "state") for key in client.smembers("rq:workers")]


def test_a_job_that_the_store_was_lost_in(valkey: redis.Redis, valkey_url: str) -> None:
    """Given a worker that was cut off in a job, when the same process begins again, then the job can be asked for."""
    queue = Queue(valkey_url)
    assert Queued.NEW is queue.enqueue("drive", 1, unique="1")
    hand = queue.worker(Stop())
    hand.register_birth()
    job, _ = hand.dequeue_job_and_maintain_ttl(1)
    hand.prepare_execution(job)
    hand.prepare_job_execution(job, remove_from_intermediate_queue=True)
    assert Queued.RUNNING is queue.enqueue("drive", 1, unique="1")
    hand = queue.worker(Stop())
    cli._bury_earlier(hand)
    hand.register_birth()
    assert Queued.NEW is queue.enqueue("drive", 1, unique="1")
    assert ["drive-1"] == queue.waiting()
    hand.register_death()


def test_several_bot_workers_from_one_command(start, tmp_path: Path) -> None:
    """Each is a process, one that dies is replaced, and none is left when the command is stopped."""
    with EmbeddedStore(tmp_path, fsync="everysec"):
        worker = start("bots", "--count", "2")
        me = psutil.Process(worker.process.pid)
        until(lambda: len(me.children()) == 2)
        first, other = me.children()
        first.kill()
        until(lambda: len(set(me.children()) - {first}) == 2)
        assert other in me.children()
        children = me.children()
        assert 0 == worker.stop()
        assert [] == [child for child in children if child.is_running()]


def until(condition: Callable[[], object]) -> None:
    """Wait for something that has no event of its own. Fails after a while."""
    pause, deadline = threading.Event(), time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        pause.wait(0.02)
