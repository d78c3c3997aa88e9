"""Games audited a second: by one process, by two, and by the workers of the queue; and the CPU that each takes."""

from __future__ import annotations

import statistics
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import psutil

from services.embedded import EmbeddedStore
from services.settings import Settings
from services.wiring import build
from tests.support.audited import open_game
from tests.support.auditing import HEARTS, audit_worker, process_environ

ROUNDS = 3
GAMES = 2000
LONG = 4
"""One game in so many has six hands; the others one."""


def bench_audits(folder: Path) -> None:
    """Audit a store in each way, in turn."""
    with EmbeddedStore(folder, fsync="everysec") as store:
        settings = Settings(data=folder, store_url=store.url)
        services = build(settings)
        for number in range(GAMES):
            open_game(services, hand_limit=1 if number % LONG else 6)
        services.client.close()
        ways = {
            "one process": (["-j", "1"], 0),
            "two processes": (["-j", "2"], 0),
            "one worker": ([], 1),
            "two workers": ([], 2),
        }
        figures: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, (words, workers) in ways.items():
                figures[name].append(_audit(settings, words, workers))
    print(f"\nAudit of {GAMES:,} games, a quarter of six hands, the others of one; median of {ROUNDS} rounds")
    for name, found in figures.items():
        rate = statistics.median(GAMES / seconds for seconds, _ in found)
        cpu = statistics.median(1000 * used / GAMES for _, used in found)
        one = statistics.median(
            other / seconds for (seconds, _), (other, _) in zip(found, figures["one process"], strict=True)
        )
        print(
            f"  {name:<14}: {rate:6.0f} games/s   {one:4.2f} times one process   {cpu:5.1f} ms of CPU a game"
        )


def _audit(settings: Settings, words: list[str], workers: int) -> tuple[float, float]:
    """Seconds that an audit of all games lasts, and seconds of CPU of the command and its workers."""
    with ExitStack() as stack:
        others = [stack.enter_context(audit_worker(settings)) for _ in range(workers)]
        before, start = _cpu(others), time.perf_counter()
        subprocess.run(
            [HEARTS, "audit", "--all", "--quiet", *words],
            env=process_environ(settings),
            check=True,
            stderr=subprocess.DEVNULL,
        )
        return time.perf_counter() - start, _cpu(others) - before


def _cpu(others: list[subprocess.Popen[str]]) -> float:
    """Seconds of CPU of other processes so far, and of the children of this one that have ended."""
    mine = psutil.Process().cpu_times()
    theirs = [psutil.Process(one.pid).cpu_times() for one in others]
    return mine.children_user + mine.children_system + sum(one.user + one.system for one in theirs)
