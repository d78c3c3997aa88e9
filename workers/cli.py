"""`hearts worker`: the processes behind the API, those that audit, and those that play for the arena."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Final, TypeVar

import click
import redis
import rq
from rq.exceptions import StopRequested

from domain import kernel
from domain.bots.search import BUDGET
from services.cli import read_settings
from services.cli_process import leave_without_store, once_store_answers, set_up_logging
from services.embedded import EmbeddedStoreError
from services.queue import Queue
from services.settings import Settings
from services.supervise import Backoff, Program, Stop, Supervisor, exit_with_parent, tell_ready
from services.wiring import Services, queue_url, store_url
from workers import jobs
from workers.projector import Projector
from workers.sweep import Sweep

SWITCH_SECONDS: Final = 0.001
"""How long a thread of a bot worker may keep the others waiting: a drive must not hold up the sweep."""
NICE: Final = 10
"""How far audits give way to the processes that people wait for."""
STEADY_SECONDS: Final = 10.0
"""An RQ worker that has lasted so long is begun again at once when it breaks off."""

T = TypeVar("T")

log = logging.getLogger(__name__)

_with_parent = click.option(
    "--exit-with-parent", is_flag=True, help="Stop when standard input ends, as it does when the parent dies."
)


@click.group()
def worker() -> None:
    """Run a process behind the API: the projector, bots, or one that audits games or plays for the arena.

    Any number of each may run, on any machine that reaches the store. SIGTERM or Ctrl-C stops one in order.
    """


@worker.command()
@_with_parent
def projector(exit_with_parent: bool) -> None:
    """Keep the read models: lobby, whose turn, finished games."""
    stop = Stop()
    stop.on_signals()
    services = _begin(exit_with_parent, stop, jobs.services)
    if services is None:
        return
    log.info("the projector works")
    Projector(services.store, services.feed, services.projections, services.clock).run(stop)
    log.info("the projector stops")


_count = click.option("--count", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes.")


@worker.command()
@_count
@_with_parent
def audits(count: int, exit_with_parent: bool) -> None:
    """Audit games for `hearts audit`, wherever that is called. The least urgent work: it gives way to all other."""
    _serve("audits", lambda: jobs.services().audits, count, exit_with_parent)


@worker.command()
@_count
@_with_parent
def arena(count: int, exit_with_parent: bool) -> None:
    """Play for `hearts arena --queue`, wherever that is called. It gives way to what people wait for.

    It needs the queue's server (HEARTS_QUEUE_URL, else the store's) and nothing else of a house.
    """
    _serve("arena matches", jobs.queue_of_arena, count, exit_with_parent)


def _serve(what: str, queue_of: Callable[[], Queue], count: int, with_parent: bool) -> None:
    """Do the jobs of a queue that gives way to all others."""
    if count > 1:
        _run_many(what.partition(" ")[0], count, with_parent)
        return
    stop = Stop()
    stop.on_signals()
    os.nice(NICE)
    queue = _begin(with_parent, stop, queue_of, queue_url)
    if queue is None:
        return
    log.info("%s are served", what)
    try:
        _work(queue, stop)
    finally:
        log.info("%s are served no more", what)


@worker.command()
@_count
@_with_parent
def bots(count: int, exit_with_parent: bool) -> None:
    """Play for the bots and watch the clocks."""
    if count > 1:
        _run_many("bots", count, exit_with_parent)
        return
    stop, failed = Stop(), threading.Event()
    stop.on_signals()
    sys.setswitchinterval(SWITCH_SECONDS)
    services = _begin(exit_with_parent, stop, jobs.services)
    if services is None:
        return
    sweep = threading.Thread(target=_sweep, args=(services, stop, failed), name="sweep", daemon=True)
    sweep.start()
    log.info("the bots play")
    if not kernel.AVAILABLE:
        log.warning("%s: new tables' search bots think with %d playouts", kernel.NO_KERNEL, BUDGET)
    try:
        _work(services.queue, stop)
    finally:
        stop.set()
        sweep.join(timeout=5)
        log.info("the bots stop")
    if failed.is_set():
        raise SystemExit(1)


def _begin(
    with_parent: bool, stop: Stop, make: Callable[[], T], address: Callable[[Settings], str] = store_url
) -> T | None:
    """Set up logging, and ``make`` what is needed of the store; one that does not answer is waited for. None when asked to stop meanwhile."""
    settings = read_settings()
    set_up_logging(settings)
    try:
        leave_without_store(address(settings), log)
    except EmbeddedStoreError as error:
        raise click.ClickException(str(error)) from error
    if with_parent:
        exit_with_parent()
    made = None if stop.is_set() else once_store_answers(make, stop.wait, log)
    if with_parent and made is not None:
        tell_ready()
    return made


def _run_many(kind: str, count: int, with_parent: bool) -> None:
    stop = Stop()
    stop.on_signals()
    if with_parent:
        exit_with_parent()
    command = [sys.executable, "-P", "-m", "services.cli", "worker", kind, "--exit-with-parent"]
    programs = [Program(f"{kind}-{number}", command, None) for number in range(1, count + 1)]
    supervisor = Supervisor(programs, lambda sentence: click.echo(sentence, err=True))
    supervisor.start()
    try:
        while not stop.wait(0.1):
            supervisor.check()
    finally:
        supervisor.stop(lambda: stop.times > 1)


def _sweep(services: Services, stop: Stop, failed: threading.Event) -> None:
    try:
        Sweep(services).run(stop)
    except Exception:
        log.exception("the sweep has failed, and this worker ends")
        failed.set()
        os.kill(os.getpid(), signal.SIGTERM)


def _work(queue: Queue, stop: Stop) -> None:
    """Do jobs until asked to stop. RQ gives up when the store does not answer, so it is begun again."""
    logging.getLogger("rq.worker").addFilter(_is_news)
    patience = Backoff(0.1, 2.0, apart=True)
    while not stop.is_set():
        began = time.monotonic()
        try:
            hand = queue.worker(stop)
            hand.max_connection_wait_time = 1
            _bury_earlier(hand)
            hand.work(logging_level="WARNING")
        except StopRequested:
            return
        except redis.RedisError as error:
            log.debug("RQ breaks off: %s", error)
        stop.on_signals()  # RQ has put handlers of its own in their place
        if time.monotonic() - began > STEADY_SECONDS:
            patience.succeed()
        stop.wait(patience.fail())


def _bury_earlier(hand: rq.SimpleWorker) -> None:
    """End what an RQ worker of this process has left that lost the store: its registration and the job it had.

    Nobody else can know that they have ended, since the process has not; the job would be waited for until its time
    is over.
    """
    hand.register_death()  # type: ignore[no-untyped-call]
    for queue in hand.queues:
        for job_id in queue.started_job_registry.get_job_ids(cleanup=False):
            job = queue.fetch_job(job_id)
            if job is not None and job.worker_name == hand.name:
                job.delete(remove_from_queue=False)


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a line of RQ's says more than that the store does not answer, which the sweep tells once."""
    error = record.exc_info[1] if record.exc_info else None
    if isinstance(error, redis.ConnectionError | redis.TimeoutError):
        return False
    return not str(record.msg).startswith(
        ("Worker %s: could not connect", "Worker %s: Redis connection timeout")
    )
