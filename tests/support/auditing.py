"""Workers that audit, as processes: plain ones, and such as wait in the middle of a batch until they are let go."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis

from services.settings import Settings
from tests.support.environs import environ_of

ROOT = Path(__file__).resolve().parents[2]
HEARTS = Path(sys.executable).with_name("hearts")
PATIENCE = 60
"""Seconds after which a test that waits has failed."""

GATED = """
import os, sys
import redis
from services import audit_batch
from services.cli import main
from services.settings import Settings

real, seen = audit_batch.audit_game, []

def audit_game(auditor, game, *more, **options):
    seen.append(game)
    if len(seen) == {game}:
        client = redis.Redis.from_url(Settings.from_environ().store_url, socket_timeout=90)
        client.rpush("taken", os.getpid())
        client.blpop("go", 60)
        if {fails}:
            raise SystemExit("it fails")
    return real(auditor, game, *more, **options)

audit_batch.audit_game = audit_game
sys.argv = ["hearts", "worker", "audits"]
main()
"""
"""A worker that tells its process id and waits before its game of this number."""

HASTY = """
import sys
from services.cli import main
from workers import audits
audits.MOST_SECONDS = 0.0
sys.argv = ["hearts", "worker", "audits"]
main()
"""
"""A worker whose time is over after a single game of each batch."""

BLIND = """
import sys
from services import audit_batch
from services.cli import main

def audit_game(auditor, game, *_, **options):
    return audit_batch.Outcome(game, why="it cannot see " + game)

audit_batch.audit_game = audit_game
sys.argv = ["hearts", "worker", "audits"]
main()
"""
"""A worker that can look at no game, as one that has no key file, or is of another store."""

FAILING = """
import sys
from services.cli import main
from workers import jobs

def audit(*_):
    raise RuntimeError("it cannot")

jobs.audit = audit
sys.argv = ["hearts", "worker", "audits"]
main()
"""
"""A worker whose jobs all fail."""


def process_environ(settings: Settings) -> dict[str, str]:
    """The environment of a process on these settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HEARTS_")}
    return kept | environ_of(settings) | {"PYTHONPATH": str(ROOT)}


def gated(game: int = 3, *, fails: bool = False) -> str:
    """The program of a worker that waits before its game of this number."""
    return GATED.format(game=game, fails=fails)


@contextmanager
def audit_worker(settings: Settings, program: str = "") -> Iterator[subprocess.Popen[str]]:
    """A worker that is ready for jobs; stopped in order at the end, where it still lives."""
    command = [sys.executable, "-c", program] if program else [str(HEARTS), "worker", "audits"]
    queue = redis.Redis.from_url(settings.queue_url or settings.store_url, decode_responses=True)
    with (
        queue,
        subprocess.Popen(
            command, env=process_environ(settings), cwd=ROOT, stderr=subprocess.PIPE, text=True
        ) as process,
    ):
        try:
            _wait_until_ready(process, queue)
            yield process
            if process.poll() is None:
                process.terminate()  # it ends its job first
                assert process.wait(PATIENCE) == 0
        finally:
            process.kill()


def _wait_until_ready(process: subprocess.Popen[str], queue: redis.Redis) -> None:
    assert process.stderr
    said = []
    while "audits are served" not in "".join(said[-1:]):
        said.append(process.stderr.readline())
        assert said[-1], said
    # RQ tells nobody when it has registered a worker but the server, which has an event for it
    with queue.pubsub() as ear:
        queue.config_set("notify-keyspace-events", "Ks")
        ear.subscribe("__keyspace@0__:rq:workers:hearts-audits")
        while not any(f".{process.pid}." in key for key in queue.smembers("rq:workers:hearts-audits")):
            ear.get_message(timeout=1)
