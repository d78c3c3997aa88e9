"""Work by name: a job is there once, its id is free as soon as it has ended, and a killed worker blocks nothing."""

import json
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from rq.job import Job

from services.queue import GRACE_SECONDS, JOB_SECONDS, JOBS, Queue, Queued, UnknownJob
from services.store import StoreUnavailable, connect
from services.supervise import Stop

ROOT = Path(__file__).parents[2]

TASKS = """
import redis

def note(url, text):
    redis.Redis.from_url(url).rpush("noted", text)

def fail(url, text):
    note(url, text)
    raise RuntimeError(text)

def wait(url, text):
    note(url, text)
    redis.Redis.from_url(url, socket_timeout=60).blpop("go", 60)
"""

WORKER = """
import sys
from services.queue import Queue
from services.supervise import Stop
Queue(sys.argv[1]).worker(Stop()).work(burst=True, logging_level="WARNING")
"""

NAMES = {name: f"hearts_test_tasks.{name}" for name in ("note", "fail", "wait")}


@pytest.fixture
def queue(valkey: redis.Redis, valkey_url: str) -> Queue:
    """An empty queue on a real server, for jobs of this test."""
    assert [] == valkey.keys()
    return Queue(valkey_url, NAMES)


@pytest.fixture
def worker(tmp_path: Path, valkey_url: str) -> Callable:
    """Start a worker process, which ends when the queue is empty."""
    (tmp_path / "hearts_test_tasks.py").write_text(TASKS)

    @contextmanager
    def work() -> Iterator[subprocess.Popen]:
        with subprocess.Popen(
            [sys.executable, "-c", WORKER, valkey_url],
            cwd=tmp_path,
            env={"PYTHONPATH": f"{tmp_path}:{ROOT}"},
            stderr=subprocess.DEVNULL,  # of a job that fails RQ prints the traceback
        ) as process:
            yield process

    return work


def noted(client: redis.Redis) -> list[str]:
    """What the jobs have noted down."""
    return [text.decode() for text in client.lrange("noted", 0, -1)]


def work_all(worker: Callable) -> None:
    """Let a worker empty the queue."""
    with worker() as process:
        assert 0 == process.wait(60)


def test_what_is_urgent_goes_before_the_rest_and_in_its_own_order(
    valkey: redis.Redis, valkey_url: str
) -> None:
    """Given jobs that wait, when urgent ones are asked for, then those are next, the first of them first."""
    queue = Queue(valkey_url)
    assert not queue.urgent_waits()
    for partition in ("1", "2"):
        queue.enqueue("drive", int(partition), unique=partition)
    assert not queue.urgent_waits()
    for partition in ("7", "2", "9"):
        assert Queued.NEW is queue.enqueue("serve", int(partition), unique=partition)
        assert queue.urgent_waits()
    assert Queued.WAITING is queue.enqueue("serve", 9, unique="9")
    queue.enqueue("drive", 3, unique="3")
    assert ["serve-7", "serve-2", "serve-9", "drive-1", "drive-2", "drive-3"] == queue.waiting()


def test_what_is_urgent_in_an_empty_queue(valkey: redis.Redis, valkey_url: str) -> None:
    """Where only urgent jobs wait, the new one is the last of them."""
    queue = Queue(valkey_url)
    for partition in (4, 3):
        assert Queued.NEW is queue.enqueue("serve", partition, unique=str(partition))
    assert ["serve-4", "serve-3"] == queue.waiting()


def test_a_job_is_done_once_however_often_it_is_asked_for(
    queue: Queue, worker: Callable, valkey: redis.Redis, valkey_url: str
) -> None:
    """The second request meets the first in the queue; when it is done it can be asked for again at once."""
    assert Queued.NEW is queue.enqueue("note", valkey_url, "a", unique="p1")
    assert Queued.WAITING is queue.enqueue("note", valkey_url, "b", unique="p1")
    assert Queued.NEW is queue.enqueue("note", valkey_url, "c", unique="p2")
    assert ["note-p1", "note-p2"] == queue.waiting()
    work_all(worker)
    assert ["a", "c"] == noted(valkey)
    assert Queued.NEW is queue.enqueue("note", valkey_url, "d", unique="p1")
    work_all(worker)
    assert ["a", "c", "d"] == noted(valkey)
    assert [] == queue.waiting()
    assert not valkey.exists("rq:job:note-p1")


def test_a_job_that_failed_can_be_asked_for_at_once(
    queue: Queue, worker: Callable, valkey: redis.Redis, valkey_url: str
) -> None:
    """A failure is kept for the operator and stands in nobody's way."""
    for text in ("a", "b", "c"):
        assert Queued.NEW is queue.enqueue("fail", valkey_url, text, unique="p1")
        assert Queued.WAITING is queue.enqueue("fail", valkey_url, text, unique="p1")
        work_all(worker)
        assert [b"fail-p1"] == valkey.zrange("rq:failed:hearts", 0, -1)
        assert "failed" == Job.fetch("fail-p1", connection=valkey, serializer="json").get_status()
    assert ["a", "b", "c"] == noted(valkey)


def test_a_job_that_is_being_done_is_not_queued_beside_itself(
    queue: Queue, worker: Callable, valkey: redis.Redis, valkey_url: str
) -> None:
    """Who asks meanwhile is told so, and has to ask again."""
    queue.enqueue("wait", valkey_url, "a", unique="p1")
    with worker() as process:
        assert valkey.blpop("noted", 60)
        assert Queued.RUNNING is queue.enqueue("wait", valkey_url, "b", unique="p1")
        valkey.rpush("go", "on")
        assert 0 == process.wait(60)
    assert Queued.NEW is queue.enqueue("wait", valkey_url, "c", unique="p1")


def test_a_worker_killed_in_mid_job_blocks_nothing(
    queue: Queue, worker: Callable, valkey: redis.Redis, valkey_url: str
) -> None:
    """On its own machine its death is seen at once, and the next worker does the job."""
    queue.enqueue("wait", valkey_url, "a", unique="p1")
    with worker() as process:
        assert valkey.blpop("noted", 60)
        process.kill()
    assert Queued.NEW is queue.enqueue("note", valkey_url, "b", unique="p1")  # another job of that number
    assert Queued.NEW is queue.enqueue("wait", valkey_url, "c", unique="p1")
    valkey.rpush("go", "on")
    work_all(worker)
    assert ["b", "c"] == noted(valkey)
    assert [] == valkey.zrange("rq:wip:hearts", 0, -1)
    assert 0 == valkey.llen("rq:queue:hearts:intermediate")


def test_a_worker_killed_on_another_machine_blocks_for_a_bounded_time(
    queue: Queue, worker: Callable, valkey: redis.Redis, valkey_url: str
) -> None:
    """Of a machine that cannot be looked into, a job counts as dead when its time and some grace are over."""
    queue.enqueue("wait", valkey_url, "a", unique="p1", seconds=20)
    with worker() as process:
        assert valkey.blpop("noted", 60)
        process.kill()
    name = valkey.hget("rq:job:wait-p1", "worker_name").decode().split(".")
    valkey.hset("rq:job:wait-p1", "worker_name", ".".join([name[0], "elsewhere", *name[-2:]]))
    began = Job.fetch("wait-p1", connection=valkey, serializer="json").started_at.timestamp()
    for after, expected in ((20 + GRACE_SECONDS - 1, Queued.RUNNING), (20 + GRACE_SECONDS + 1, Queued.NEW)):
        later = Queue(valkey_url, NAMES, clock=lambda after=after: began + after)
        assert expected is later.enqueue("wait", valkey_url, "b", unique="p1")
    assert ["wait-p1"] == queue.waiting()


def test_a_job_lost_between_queue_and_worker_is_given_up_after_a_while(
    queue: Queue, valkey: redis.Redis, valkey_url: str
) -> None:
    """A worker that died with a job just taken leaves it in no queue; it is missed, and asked for again."""
    now = [1_800_000_000.0]
    watched = Queue(valkey_url, NAMES, clock=lambda: now[0])
    watched.enqueue("note", valkey_url, "a", unique="p1")
    valkey.lmove("rq:queue:hearts", "rq:queue:hearts:intermediate")
    for wait, expected in ((0, Queued.RUNNING), (GRACE_SECONDS, Queued.RUNNING), (1, Queued.NEW)):
        now[0] += wait
        assert expected is watched.enqueue("note", valkey_url, "a", unique="p1")
    assert (["note-p1"], 0) == (queue.waiting(), valkey.llen("rq:queue:hearts:intermediate"))
    assert Queued.WAITING is watched.enqueue("note", valkey_url, "a", unique="p1")


def test_a_job_that_was_only_slow_is_not_forgotten(
    queue: Queue, worker: Callable, valkey: redis.Redis, valkey_url: str
) -> None:
    """A job long in the queue waits there, however old it is."""
    queue.enqueue("note", valkey_url, "a", unique="p1")
    later = Queue(valkey_url, NAMES, clock=lambda: 4_000_000_000.0)
    assert Queued.WAITING is later.enqueue("note", valkey_url, "a", unique="p1")
    work_all(worker)
    assert ["a"] == noted(valkey)


def test_a_job_can_be_looked_up_and_dropped(
    queue: Queue, worker: Callable, valkey: redis.Redis, valkey_url: str
) -> None:
    """While it waits it can be taken out; while it is done it cannot; when its worker was killed it is forgotten."""
    assert (None, False) == (queue.look_up("wait", "p1"), queue.drop("wait", "p1"))
    queue.enqueue("wait", valkey_url, "a", unique="p1")
    assert Queued.WAITING is queue.look_up("wait", "p1")
    assert queue.drop("wait", "p1")
    assert ([], []) == (queue.waiting(), valkey.keys("rq:job:*"))
    queue.enqueue("wait", valkey_url, "b", unique="p1")
    with worker() as process:
        assert valkey.blpop("noted", 60)
        assert (Queued.RUNNING, False) == (queue.look_up("wait", "p1"), queue.drop("wait", "p1"))
        process.kill()
    assert queue.look_up("wait", "p1") is None
    assert ([], []) == (valkey.keys("rq:job:*"), valkey.keys("rq:wip:*"))


def test_workers_are_counted_by_their_queue(
    queue: Queue, worker: Callable, valkey: redis.Redis, valkey_url: str
) -> None:
    """Those that live; one that was killed here no more at once, one elsewhere until its registration is over."""
    other = Queue(valkey_url, NAMES, name="other")
    assert (0, 0) == (queue.workers(), other.workers())
    queue.enqueue("wait", valkey_url, "a", unique="p1")
    other.enqueue("note", valkey_url, "b", unique="p1")
    assert (["wait-p1"], ["note-p1"]) == (queue.waiting(), other.waiting())
    with worker() as process:
        assert valkey.blpop("noted", 60)
        assert (1, 0) == (queue.workers(), other.workers())
        (state,) = queue.worker_states()
        assert ("hearts", "busy", "wait-p1", 0) == (state.queue, state.state, state.job, state.done)
        assert 0 < state.since
        process.kill()
    assert (0, []) == (queue.workers(), queue.worker_states())
    hand = other.worker(Stop())
    hand.register_birth()
    assert (0, 1) == (queue.workers(), other.workers())
    valkey.rename(hand.key, f"rq:worker:hearts.elsewhere.1.{'0' * 12}")
    valkey.sadd("rq:workers:other", f"rq:worker:hearts.elsewhere.1.{'0' * 12}")
    assert 1 == other.workers()
    valkey.delete(f"rq:worker:hearts.elsewhere.1.{'0' * 12}")
    assert 0 == other.workers()
    for one in (queue, other):
        one.close()


def test_a_worker_whose_registration_is_gone_registers_anew(valkey: redis.Redis, valkey_url: str) -> None:
    """As one that was suspended for longer than it lasts: with its next heartbeat it counts again."""
    other = Queue(valkey_url, NAMES, name="other")
    hand = other.worker(Stop())
    hand.heartbeat()
    assert (0, None) == (other.workers(), valkey.hget(hand.key, "queues"))  # it has not begun to work
    valkey.delete(hand.key)
    hand.register_birth()
    for also_by_others in (False, True):
        valkey.delete(hand.key)
        if also_by_others:
            valkey.delete("rq:workers", "rq:workers:other")
        hand.heartbeat()
        assert (1, b"other") == (other.workers(), valkey.hget(hand.key, "queues"))
        assert valkey.sismember("rq:workers", hand.key)
        assert valkey.ttl(hand.key) > 0
    born = valkey.hget(hand.key, "birth")
    hand.heartbeat()
    assert born == valkey.hget(hand.key, "birth")
    hand.register_death()
    assert 0 == other.workers()
    other.close()


def test_arguments_travel_as_json(queue: Queue, valkey: redis.Redis, valkey_url: str) -> None:
    """No pickle is ever read from the queue: what is stored is a dotted path and JSON."""
    queue.enqueue("note", valkey_url, 7, ["x", "y"], unique="p1", seconds=9)
    stored = valkey.hgetall("rq:job:note-p1")
    assert ["hearts_test_tasks.note", None, [valkey_url, 7, ["x", "y"]], {}] == json.loads(
        zlib.decompress(stored[b"data"])
    )
    assert b"9" == stored[b"timeout"]


def test_unknown_jobs_and_ids_that_rq_does_not_take_are_refused(queue: Queue, valkey: redis.Redis) -> None:
    """A mistake in a name is an error where it is made, not in a worker."""
    with pytest.raises(UnknownJob, match="no job 'drvie'; there are: fail, note, wait"):
        queue.enqueue("drvie", unique="p1")
    with pytest.raises(ValueError, match="no colon"):
        queue.enqueue("note", unique="p:1")
    assert [] == valkey.keys()


def test_jobs_are_named_by_their_path() -> None:
    """The names of the house's own jobs lead to functions of the workers, and a job has time to do something."""
    assert {
        "drive": "workers.jobs.drive",
        "serve": "workers.jobs.serve",
        "late": "workers.jobs.drive",
        "archive": "workers.jobs.archive",
        "audit": "workers.jobs.audit",
        "arena": "workers.jobs.arena",
    } == JOBS
    assert 0 < GRACE_SECONDS < JOB_SECONDS


def test_a_queue_that_is_not_there_is_unavailable() -> None:
    """The error is that of the store, so callers treat both alike."""
    with pytest.raises(StoreUnavailable):
        Queue(connect("unix:///nonexistent/hearts.sock"), NAMES).enqueue("note", unique="p1")


DEAF = """
import signal, sys
from services.queue import Queue
from services.supervise import Stop

class Last:
    def __del__(self):
        signal.raise_signal(signal.SIGTERM)

hand = Queue(sys.argv[1]).worker(Stop())
beat = hand.heartbeat
hand.heartbeat = lambda *args, **named: (beat(*args, **named), Last())[0]
hand.work(logging_level="WARNING")
assert hand.asked.is_set()
"""


def test_a_signal_in_a_destructor_stops_a_worker_too(valkey_url: str) -> None:
    """Python drops what a signal's handler raises there, and the worker ends all the same."""
    told = subprocess.run(
        [sys.executable, "-c", DEAF, valkey_url], capture_output=True, text=True, timeout=60, check=True
    )
    assert "StopRequested" in told.stderr, "it was dropped"
