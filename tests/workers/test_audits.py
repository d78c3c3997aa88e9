"""An audit fanned out over real workers: whatever becomes of them, each game has its outcome, once and in order."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
import redis

from services.audit_batch import VERSION, Outcome, audit_game
from services.audit_fan import AHEAD, FanOut
from services.auditor import Auditor
from services.embedded import EmbeddedStore
from services.inspection import AuditReport
from services.queue import AUDITS, Queue
from services.settings import Settings
from services.store import connect
from services.wiring import Services, build
from tests.support.audited import open_game
from tests.support.auditing import (
    BLIND,
    FAILING,
    HASTY,
    HEARTS,
    PATIENCE,
    audit_worker,
    gated,
    process_environ,
)
from tests.support.tampering import change

WHO = b'"by":"bot"'


@pytest.fixture
def settings(valkey: redis.Redis, valkey_url: str, tmp_path: Path) -> Settings:
    """Of an empty store, which has the queue too."""
    return Settings(data=tmp_path, partitions=4, store_url=valkey_url)


@pytest.fixture
def services(settings: Settings) -> Iterator[Services]:
    """Services on that store."""
    built = build(settings)
    yield built
    built.client.close()


@pytest.fixture
def games(services: Services) -> list[str]:
    """Some games, one of them with a move in the wrong name."""
    found = [open_game(services, most=10 + number) for number in range(24)]
    change(services, found[13], "card_played", lambda raw: raw.replace(WHO, b'"by":"clock"'))
    return found


class NoAuditor(Auditor):
    """Of a command that must leave all to the workers."""

    def __init__(self) -> None:
        """It needs nothing."""

    def audit(self, game: str, _: object = ()) -> AuditReport:
        """Nobody may ask for it."""
        raise AssertionError(f"the command audits {game} itself")


def audited(
    services: Services,
    games: list[str],
    *,
    auditor: Auditor | None = None,
    queue: Queue | None = None,
    version: str = VERSION,
) -> tuple[list[Outcome], list[str]]:
    """The outcomes of an audit by the workers there are, and what was told of these."""
    told: list[str] = []
    fan = FanOut(
        auditor or services.auditor,
        queue or Queue(services.settings.queue_url or services.settings.store_url, name=AUDITS),
        brief=False,
        tell=told.append,
        version=version,
    )
    fan.workers()
    with closing(fan.outcomes(games)) as found:
        return list(found), told


def check(services: Services, games: list[str], outcomes: list[Outcome]) -> None:
    """Each game has the outcome that it has here, in order."""
    assert games == [one.game for one in outcomes]
    assert [audit_game(services.auditor, game) for game in games] == outcomes
    assert [13] == [place for place, one in enumerate(outcomes) if not one.ok]


def left_behind(client: redis.Redis) -> list[bytes]:
    """What is still in the store of an audit or its jobs."""
    queue = "rq:queue:hearts-audits"
    found = [*client.keys("h:audit*"), *client.keys("rq:job*"), *client.keys(queue)]
    return found + client.keys(f"{queue}:intermediate") + client.keys("rq:wip:*")


def kill(worker: subprocess.Popen[str]) -> None:
    """Kill a worker, and wait until it is gone."""
    worker.kill()
    worker.wait(PATIENCE)


def test_workers_say_what_one_process_says(
    services: Services, settings: Settings, games: list[str], valkey: redis.Redis
) -> None:
    """Given two workers, when games with a faulty one among them are audited, then the command does none itself."""
    with audit_worker(settings), audit_worker(settings):
        outcomes, told = audited(services, games, auditor=NoAuditor())
    check(services, games, outcomes)
    assert [] == told
    assert [] == left_behind(valkey)


def test_a_worker_killed_in_mid_batch(
    services: Services, settings: Settings, games: list[str], valkey: redis.Redis
) -> None:
    """Given a worker that has done two games of a batch, when it is killed, then the command audits what it had."""
    with audit_worker(settings, gated()) as worker, ThreadPoolExecutor() as pool:
        running = pool.submit(audited, services, games)
        assert valkey.blpop("taken", PATIENCE)
        kill(worker)
        outcomes, told = running.result(PATIENCE)
    check(services, games, outcomes)
    assert ["no audit worker is left; this command goes on alone until one comes"] == told
    assert [] == left_behind(valkey)


def test_a_worker_killed_beside_another(
    services: Services, settings: Settings, games: list[str], valkey: redis.Redis
) -> None:
    """Given two workers, when one is killed in a batch, then that batch comes to its end, and its place is kept."""
    with audit_worker(settings, gated()) as worker, audit_worker(settings), ThreadPoolExecutor() as pool:
        running = pool.submit(audited, services, games)
        assert valkey.blpop("taken", PATIENCE)
        kill(worker)
        outcomes, told = running.result(PATIENCE)
    check(services, games, outcomes)
    assert [] == told
    assert [] == left_behind(valkey)


def test_a_worker_that_comes_late_helps(services: Services, settings: Settings, games: list[str]) -> None:
    """Given no worker at first, when one comes, then it is asked for what follows."""
    told: list[str] = []
    fan = FanOut(services.auditor, Queue(settings.store_url, name=AUDITS), brief=True, tell=told.append)
    assert 0 == fan.workers()
    with closing(fan.outcomes(games)) as found:
        first = [next(found).game]
        with audit_worker(settings):
            fan._look_at, fan._auditor = 0.0, NoAuditor()
            rest = [one.game for one in found]
    assert (games, []) == (first + rest, told)


def test_no_worker(services: Services, games: list[str], valkey: redis.Redis) -> None:
    """The command does it all, and asks nobody."""
    outcomes, told = audited(services, games)
    check(services, games, outcomes)
    assert ([], []) == (told, left_behind(valkey))


@pytest.mark.parametrize(
    "program", [FAILING, BLIND, gated(1, fails=True)], ids=["job", "outcomes", "process"]
)
def test_a_worker_that_fails(
    services: Services, settings: Settings, games: list[str], valkey: redis.Redis, program: str
) -> None:
    """Given a worker whose jobs fail, that can look at no game, or ends, then the command audits what it was asked for."""
    valkey.rpush("go", "on")
    with audit_worker(settings, program):
        outcomes, _ = audited(services, games)
    check(services, games, outcomes)
    assert [] == left_behind(valkey)


def test_a_worker_whose_time_is_over(services: Services, settings: Settings, games: list[str]) -> None:
    """What it leaves of a batch is asked for again."""
    with audit_worker(settings, HASTY):
        outcomes, told = audited(services, games, auditor=NoAuditor())
    check(services, games, outcomes)
    assert [] == told


def test_a_worker_of_another_version(
    services: Services, settings: Settings, games: list[str], valkey: redis.Redis
) -> None:
    """It says so, reports nothing, and the command goes on alone."""
    with audit_worker(settings):
        outcomes, told = audited(services, games, version="0.0.9/1")
    check(services, games, outcomes)
    assert [
        f"an audit worker is of version {VERSION}, and this is 0.0.9/1; this command goes on alone"
    ] == told
    assert [] == left_behind(valkey)


def test_two_audits_at_once(services: Services, settings: Settings, games: list[str]) -> None:
    """Given one worker for both, then each has all its outcomes."""
    with audit_worker(settings), ThreadPoolExecutor() as pool:
        both = [pool.submit(audited, services, games, auditor=NoAuditor()) for _ in range(2)]
        for running in both:
            check(services, games, running.result(PATIENCE)[0])


def test_a_queue_on_another_server(
    services: Services, settings: Settings, games: list[str], tmp_path: Path
) -> None:
    """Given HEARTS_QUEUE_URL, then jobs and reports go over that server; when it is gone in the middle, without it."""
    with EmbeddedStore(tmp_path / "queue", fsync="everysec") as other:
        apart = Settings(data=tmp_path, partitions=4, store_url=settings.store_url, queue_url=other.url)
        with audit_worker(apart, gated(16)) as worker, ThreadPoolExecutor() as pool:
            running = pool.submit(audited, services, games, queue=Queue(other.url, name=AUDITS))
            assert services.client.blpop("taken", PATIENCE)
            assert [] == left_behind(services.client)
            with connect(other.url) as client:
                assert 1 == len(client.keys("h:audit*"))
            other.stop()
            outcomes, told = running.result(PATIENCE)
            kill(worker)
    check(services, games, outcomes)
    assert 1 == len(told)
    assert told[0].startswith("the job queue does not answer")


def test_only_a_few_batches_are_in_hand(services: Services, settings: Settings, games: list[str]) -> None:
    """Given games without end in sight, then only some are taken before the first outcomes are told."""
    taken = 0

    def endless() -> Iterator[str]:
        nonlocal taken
        while True:
            taken += 1
            yield games[0]

    def most(fan: FanOut, batches: int) -> None:
        nonlocal taken
        with closing(fan.outcomes(endless())) as found:
            next(found)
            sizes = [len(one.games) for one in fan._open.values()]
            assert len(sizes) <= batches
            assert taken <= sum(sizes) + 10

    most(FanOut(services.auditor, Queue(settings.store_url, name=AUDITS), brief=True, tell=print), 1)
    taken = 0
    with audit_worker(settings):
        fan = FanOut(NoAuditor(), Queue(settings.store_url, name=AUDITS), brief=True, tell=print)
        assert 1 == fan.workers()
        most(fan, 2 * AHEAD + 1)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_queued(
    services: Services, settings: Settings, games: list[str], valkey: redis.Redis, signum: signal.Signals
) -> None:
    """Given Ctrl-C in the middle, then the command says how far it came, and its jobs are gone; so are the worker's."""
    for _ in range(2):
        games += [open_game(services, most=1) for _ in range(30)]
    with audit_worker(settings, gated()) as worker:
        command = [HEARTS, "audit", "--all"]
        with subprocess.Popen(
            command,
            env=process_environ(settings),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            assert valkey.blpop("taken", PATIENCE)
            process.send_signal(signum)
            out, err = process.communicate(timeout=PATIENCE)
        assert (128 + signum, "") == (process.returncode, out)
        assert err.endswith("0 games hold, 0 do not\ninterrupted; nothing is said of the other games\n")
        assert "Traceback" not in err
        assert 0 == valkey.llen("rq:queue:hearts-audits")
        assert [] == valkey.keys("h:audit*")
        valkey.rpush("go", "on")
        # the worker is told by what is left, and takes the next job when it has done with that one
        outcomes, _ = audited(services, games[:3], auditor=NoAuditor())
        assert [True] * 3 == [one.ok for one in outcomes]
        os.kill(worker.pid, signal.SIGTERM)
        assert 0 == worker.wait(PATIENCE)
    assert [] == left_behind(valkey)
