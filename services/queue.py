"""Work for another process, by name: RQ behind one door.

A job is only ever a nudge. What is owed to tables lies in the due sets of the log; a job that is lost costs time, never
work, because a sweep asks for it again. What an audit or an arena owes, the command knows that asks for it. Arguments travel as JSON, never as pickle.
"""

from __future__ import annotations

import hashlib
import os
import socket
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from types import FrameType
from typing import Final, NamedTuple

import redis
import rq
from redis.client import Pipeline
from rq.exceptions import DuplicateJobError, StopRequested
from rq.executions import ExecutionRegistry
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.utils import utcparse
from rq.worker import WorkerStatus
from rq.worker_registration import WORKERS_BY_QUEUE_KEY

from services.embedded import process_began
from services.supervise import Stop
from services.wire import Script, StoreUnavailable, Wire, connect

JOBS: Final = {
    "drive": "workers.jobs.drive",
    "serve": "workers.jobs.serve",
    "late": "workers.jobs.drive",
    "archive": "workers.jobs.archive",
    "audit": "workers.jobs.audit",
    "arena": "workers.jobs.arena",
}
"""Job name -> dotted path of the function that does it."""

URGENT: Final = frozenset({"serve", "late"})
"""Jobs that go before all others in the queue; among themselves the first is served first."""

QUEUE: Final = "hearts"
"""The one queue of the bots, also for what is urgent: a worker of several would lose the job it took when it dies (RQ
uses BLPOP there)."""

AUDITS: Final = "hearts-audits"
"""The queue of audits, with workers of its own: nobody waits for a bot because games are audited."""

ARENA: Final = "hearts-arena"
"""The queue of bots that play against each other to be compared, with workers of its own for the same reason."""

Argument = str | int | list[str]
"""What a job may be given: it travels as JSON."""

JOB_SECONDS: Final = 30
"""How long a job may run before its worker breaks it off."""

GRACE_SECONDS: Final = 5
"""How much longer than allowed a job may show no end before it counts as dead."""

FAILURE_SECONDS: Final = 24 * 60 * 60
"""How long `rq info` can tell of a failed job, unless it is asked for again before."""

_PREFIXES: Final = tuple(f"{name}-" for name in sorted(URGENT))

IDLE_SECONDS: Final = 2
"""How long a worker waits for a job before it looks round. A signal that comes just as it begins to wait, or that the
system hands to another of its threads, does not break the wait off, so it must be short."""


class WorkerState(NamedTuple):
    """A worker of a queue, and what it has done so far."""

    queue: str
    name: str
    state: str
    """As RQ tells it: idle, busy, started, suspended."""
    job: str
    """What it is at; empty where that is nothing."""
    since: int
    """When it began, Unix ms."""
    done: int
    failed: int
    seconds: float
    """For how long it has worked."""


class UnknownJob(Exception):
    """There is no job of this name in `JOBS`."""


class Queued(Enum):
    """What asking for a job has led to."""

    NEW = "it is in the queue now"
    WAITING = "it was in the queue already, and will see what is there when it begins"
    RUNNING = "it is being done; whether it will still see what is new is not certain, so ask again"


FREE = Script("""
-- KEYS[1] job   KEYS[2] queue   KEYS[3] jobs just taken (RQ's intermediate queue)   KEYS[4] jobs in progress
-- KEYS[5] executions of the job   KEYS[6] failed jobs
-- ARGV[1] job id   ARGV[2] enqueued_at   ARGV[3] started_at, or ''
-- Forgets a job that has ended or died, so that its id can be used again. Returns 1, or 0 when the job has
-- been started or asked for anew since it was looked at.
local enqueued = redis.call('HGET', KEYS[1], 'enqueued_at') or ''
local started = redis.call('HGET', KEYS[1], 'started_at') or ''
if enqueued ~= ARGV[2] or started ~= ARGV[3] then
  return 0
end
redis.call('LREM', KEYS[2], 0, ARGV[1])
redis.call('LREM', KEYS[3], 0, ARGV[1])
redis.call('ZREM', KEYS[6], ARGV[1])
local prefix = ARGV[1] .. ':'
for _, execution in ipairs(redis.call('ZRANGE', KEYS[4], 0, -1)) do
  if string.sub(execution, 1, #prefix) == prefix then
    redis.call('ZREM', KEYS[4], execution)
  end
end
redis.call('DEL', KEYS[1], KEYS[5])
return 1
""")

DROP = Script("""
-- KEYS[1] job   KEYS[2] queue   ARGV[1] job id
-- Forgets a job that nobody has taken yet. Returns 1, or 0 where it is not in the queue (any more).
if redis.call('LREM', KEYS[2], 0, ARGV[1]) == 0 then
  return 0
end
redis.call('DEL', KEYS[1])
return 1
""")

ADVANCE = Script("""
-- KEYS[1] queue   ARGV[1] job id   ARGV[2] what the ids of urgent jobs begin with; further ones behind it
-- Moves a job of the queue behind the urgent ones at its front. Returns 1, or 0 when it is not in the queue.
if redis.call('LREM', KEYS[1], -1, ARGV[1]) == 0 then
  return 0
end
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  local urgent = false
  for i = 2, #ARGV do
    urgent = urgent or string.sub(id, 1, #ARGV[i]) == ARGV[i]
  end
  if not urgent then
    redis.call('LINSERT', KEYS[1], 'BEFORE', id, ARGV[1])
    return 1
  end
end
redis.call('RPUSH', KEYS[1], ARGV[1])
return 1
""")

TAKEN = Script("""
-- KEYS[1] job   KEYS[2] queue   ARGV[1] job id   ARGV[2] now, Unix seconds
-- Returns since when the job has been in no queue and in nobody's hands, as far as was noticed;
-- '' while it waits in the queue, or is there no more.
if redis.call('HGET', KEYS[1], 'status') ~= 'queued' or redis.call('LPOS', KEYS[2], ARGV[1]) then
  return ''
end
redis.call('HSETNX', KEYS[1], 'hearts_taken', ARGV[2])
return redis.call('HGET', KEYS[1], 'hearts_taken')
""")


class _Worker(rq.SimpleWorker):
    """A worker that registers anew when its registration is gone.

    RQ registers a worker once. Where it was suspended for longer than that lasts, its next heartbeat brings a registration
    back that says nothing but when that was: nobody would count with the worker any more, though it does jobs.

    RQ ends an idle worker by an exception that the signal's handler raises, and Python drops that one where it comes out
    of a destructor; so ``asked`` remembers the signal, and the next heartbeat looks.
    """

    asked: Stop

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Stop after the job that is being done, if any, else at once."""
        self.asked.set()
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def heartbeat(self, timeout: int | None = None, pipeline: Pipeline | None = None) -> None:
        """Say that it lives, and who it is where nobody knows any more. Raises `StopRequested` when idle and asked to stop."""
        if self.asked.is_set() and pipeline is None and self.get_state() != WorkerStatus.BUSY:
            raise StopRequested
        super().heartbeat(timeout, pipeline)
        if pipeline is None and self.birth_date and not self.connection.hexists(self.key, "birth"):
            self.connection.delete(self.key)  # RQ would take it for another worker of this name
            self.register_birth()  # type: ignore[no-untyped-call]


class Queue:
    """A queue, by its name, at a server's address or of a client. `jobs` and `clock` (Unix seconds) are for tests."""

    def __init__(
        self,
        server: str | redis.Redis,
        jobs: Mapping[str, str] = JOBS,
        clock: Callable[[], float] = time.time,
        name: str = QUEUE,
    ) -> None:
        self._server = server
        self._name = name
        self._jobs = jobs
        self._clock = clock
        self._client = connect(server) if isinstance(server, str) else server
        self._wire = Wire(self._client)
        self._rq = rq.Queue(name, connection=self._client, serializer=JSONSerializer)

    @property
    def name(self) -> str:
        """What it is called."""
        return self._name

    @property
    def wire(self) -> Wire:
        """The line to the queue's server."""
        return self._wire

    def close(self) -> None:
        """Let go of the connections, where they are the queue's own."""
        if isinstance(self._server, str):
            self._client.close()

    def enqueue(self, name: str, *args: Argument, unique: str, seconds: int = JOB_SECONDS) -> Queued:
        """Ask for a job: its arguments, and what makes it `unique` among the jobs of its name.

        The same job is never twice in the queue, and not in the queue while it is being done. One that has
        ended, well or not, can be asked for again at once; one whose worker was killed, at once on the
        same machine and otherwise `seconds` + GRACE_SECONDS after it began (also where the worker only
        hangs: then two may run at the same time, so a job must bear that).

        One of `URGENT` goes before all that are not.

        Raises UnknownJob, ValueError for a `unique` with a colon, StoreUnavailable.
        """
        if name not in self._jobs:
            raise UnknownJob(f"no job {name!r}; there are: {', '.join(sorted(self._jobs))}")
        if ":" in unique:
            raise ValueError(f"RQ allows no colon in a job id: {unique!r}")
        job_id = f"{name}-{unique}"
        try:
            for _ in range(3):
                if self._push(name, job_id, args, seconds):
                    if name in URGENT:  # where this fails, it is only later
                        self._wire.run(ADVANCE, (self._rq.key,), (job_id, *_PREFIXES))
                    return Queued.NEW
                held = self._held(job_id)
                if held is not None:
                    return held
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise StoreUnavailable(str(error)) from error
        return Queued.RUNNING  # others ask for it and work it off at the same time

    def look_up(self, name: str, unique: str) -> Queued | None:
        """Where a job is that was asked for: waiting or being done; None where it has ended or died, and is forgotten.

        That a worker was killed is known as soon, and as late, as `enqueue` says.
        """
        return self._held(f"{name}-{unique}")

    def drop(self, name: str, unique: str) -> bool:
        """Take a job out of the queue. False where it is not there: taken by a worker, or ended."""
        job_id = f"{name}-{unique}"
        return bool(self._wire.run(DROP, (Job.key_for(job_id), self._rq.key), (job_id,)))

    def workers(self) -> int:
        """How many workers serve the queue, as far as can be told: one that died elsewhere counts for a minute or two."""
        keys = self._wire.call("SMEMBERS", WORKERS_BY_QUEUE_KEY % self._name)
        told = self._wire.pipeline([("HMGET", key, "birth", "death") for key in keys])
        names = [key.decode().removeprefix(rq.SimpleWorker.redis_worker_namespace_prefix) for key in keys]
        return sum(
            birth is not None and death is None and not _is_dead(name)
            for name, (birth, death) in zip(names, told, strict=True)
        )

    def worker_states(self) -> list[WorkerState]:
        """The workers that serve the queue, as `workers` counts them, by name."""
        found = [
            WorkerState(
                self._name,
                one.name,
                str(one.get_state()),
                ", ".join(sorted(run.job_id for run in one.get_current_executions(refresh=True))),
                int(one.birth_date.replace(tzinfo=UTC).timestamp() * 1000),
                one.successful_job_count,
                one.failed_job_count,
                one.total_working_time,
            )
            for one in rq.SimpleWorker.all(queue=self._rq, serializer=JSONSerializer)
            if one.birth_date is not None and one.death_date is None and not _is_dead(one.name)
        ]
        return sorted(found, key=lambda one: one.name)

    def waiting(self) -> list[str]:
        """The ids of the jobs in the queue, next first."""
        return [job.decode() for job in self._wire.call("LRANGE", self._rq.key, 0, -1)]

    def urgent_waits(self) -> bool:
        """Whether an urgent job is next."""
        first = self._wire.call("LINDEX", self._rq.key, 0)
        return first is not None and first.decode().startswith(_PREFIXES)

    def worker(self, asked: Stop) -> rq.SimpleWorker:
        """A worker of the queue for this process's main thread: call its `work()`, which goes on until ``asked`` to stop.

        It does jobs in its own process, which costs a third of what a fork for each would. Its name tells
        `enqueue` on the same machine whether it is still alive.
        """
        # RQ lengthens the socket timeout of the client it is given, so that it can wait for jobs
        client = connect(self._server) if isinstance(self._server, str) else self._server
        made = _Worker(
            [self._name],
            name=f"hearts.{socket.gethostname()}.{os.getpid()}.{_mark(os.getpid())}",
            connection=client,
            serializer=JSONSerializer,
            worker_ttl=IDLE_SECONDS + 15,  # RQ waits for so much less
        )
        made.asked = asked
        return made

    def _push(self, name: str, job_id: str, args: tuple[Argument, ...], seconds: int) -> bool:
        try:
            self._rq.enqueue(
                self._jobs[name],
                args=args,
                job_id=job_id,
                job_timeout=seconds,
                result_ttl=0,
                failure_ttl=FAILURE_SECONDS,
                unique=True,
            )
        except DuplicateJobError:
            return False
        return True

    def _held(self, job_id: str) -> Queued | None:
        """What holds a job's id; None when nothing does any more."""
        fields = ("status", "enqueued_at", "started_at", "worker_name", "timeout")
        found = self._wire.call("HMGET", Job.key_for(job_id), *fields)
        status, enqueued, started, worker, seconds = [(value or b"").decode() for value in found]
        if not status:
            return None
        if status == "queued":
            since = self._wire.run(
                TAKEN, (Job.key_for(job_id), self._rq.key), (job_id, self._clock())
            ).decode()
            if not since:
                return Queued.WAITING
            dead = self._clock() > float(since) + GRACE_SECONDS
        elif status == "started":
            limit = utcparse(started) + timedelta(seconds=int(seconds or JOB_SECONDS) + GRACE_SECONDS)
            dead = _is_dead(worker) or datetime.fromtimestamp(self._clock(), UTC) > limit
        else:
            dead = True  # failed, stopped, or what else RQ keeps of a job that has ended
        if not dead:
            return Queued.RUNNING
        self._wire.run(FREE, self._keys(job_id), (job_id, enqueued, started))
        return None

    def _keys(self, job_id: str) -> tuple[str, ...]:
        executions: str = ExecutionRegistry(job_id, self._client).key
        return (
            Job.key_for(job_id),
            self._rq.key,
            self._rq.intermediate_queue_key,
            self._rq.started_job_registry.key,
            executions,
            self._rq.failed_job_registry.key,
        )


def _mark(pid: int) -> str:
    """Tells a process from an earlier one of the same id; empty when it does not live."""
    began = process_began(pid)
    return "" if began is None else hashlib.sha256(began.encode()).hexdigest()[:12]


def _is_dead(worker: str) -> bool:
    """Whether a worker was a process of this machine that is no more. Of others nothing can be told."""
    prefix, _, mark = worker.rpartition(".")
    host, _, pid = prefix.rpartition(".")
    return host == f"hearts.{socket.gethostname()}" and pid.isdecimal() and _mark(int(pid)) != mark
