"""Bots at scale: moves a second by workers and tables, and how long a crowd of persons waits for its bots."""

from __future__ import annotations

import os
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import rq
from rq.serializers import JSONSerializer

from services.wire import connect
from tests.bench.crowd import (
    Crowd,
    Planted,
    crowd,
    moves_of,
    tables_of_bots,
    tables_with_a_person,
    until,
)
from tests.bench.servers import Cpu

ROUNDS: Final = 3
WORKERS: Final = (1, 2)
CROWDS: Final[dict[int, dict[str, int]]] = {10: {}, 100: {"hand_limit": 3}, 1_000: {"hand_limit": 1}}
"""How many tables play at a time, and to what end; all are played whole."""
AIMS: Final = {"everysec": 5_000, "always": 1_000}
"""Moves a second that a core is to make, by how the store writes to disk."""
WAITING: Final = 10_000
"""Persons who have moved at the same moment."""
JOBS: Final = 400
"""Moves of the peer that does one RQ job a move."""


class Played(NamedTuple):
    """What came of some tables that were played to their end."""

    moves: int
    seconds: float
    worker: float
    """CPU of the workers, seconds."""
    store: float
    """CPU of the store's server, seconds."""

    @property
    def rate(self) -> float:
        """Moves a second."""
        return self.moves / self.seconds

    @property
    def cores(self) -> float:
        """Cores that were at work, that of the server included: less than there are workers where others share them."""
        return (self.worker + self.store) / self.seconds

    @property
    def core(self) -> float:
        """Moves for a second of CPU, that of the server included."""
        return self.moves / (self.worker + self.store)


def bench_scale() -> None:
    """Print throughput by workers and tables beside its peers, and the waits of a crowd."""
    for fsync in AIMS:
        _bench_throughput(fsync)
    tables = tables_with_a_person(range(1, WAITING + 1))
    print(f"\n{WAITING:,} persons who have moved at once: how long until their bots have answered")
    for fsync in AIMS:
        for workers in WORKERS:
            _bench_waits(fsync, workers, tables)


def _bench_throughput(fsync: str) -> None:
    figures: dict[tuple[int, int], list[Played]] = {}
    peers: dict[str, list[float]] = {}
    with crowd(fsync) as house:
        made = Counter[str]()
        for _ in range(ROUNDS):
            for workers in WORKERS:
                with house.workers(workers) as cpus:
                    for count, rules in CROWDS.items():
                        tables = tables_of_bots(_numbers(made, count), **rules)
                        figures.setdefault((workers, count), []).append(_play(house, cpus, tables))
            slices, singles = _bare_appends(house, tables)
            peers.setdefault("bare append of the same events, in the same portions", []).append(slices)
            peers.setdefault("bare append of the same events, a move each", []).append(singles)
            peers.setdefault("one RQ job a move", []).append(_jobs(house, _numbers(made, 1)))
    _tell(fsync, figures, peers)


def _numbers(made: Counter[str], count: int) -> range:
    made["tables"] += count
    return range(made["tables"] - count + 1, made["tables"] + 1)


def _play(house: Crowd, cpus: Sequence[Cpu], tables: Sequence[Planted]) -> Played:
    """Let the workers play tables to their end."""
    moment = house.plant(tables)
    until(lambda: house.services.clock() >= moment, 0.001)
    spent = sum(one.seconds for one in cpus), house.store_cpu.seconds
    until(lambda: not house.services.store.dues(), 0.02)
    worker, store = sum(one.seconds for one in cpus) - spent[0], house.store_cpu.seconds - spent[1]
    pointers = house.pointers()
    last = max(pointers[one.game][-1][0] for one in tables)
    moves = sum(moves_of(house.services.store.read(one.game)) for one in tables)
    return Played(moves, (last - moment) / 1000, worker, store)


def _bare_appends(house: Crowd, tables: Sequence[Planted]) -> tuple[float, float]:
    """Moves a second where the events of some tables are only appended: in the portions they came in, and one by one."""
    store, pointers, now = house.services.store, house.pointers(), house.services.clock()
    seconds, moves = [0.0, 0.0], [0, 0]
    for number, one in enumerate(tables[:60]):
        entries = store.read(one.game)
        stored = [pair for _, *pair in entries]
        portions = [seq for _, seq in pointers[one.game]]
        for way, ends in enumerate((portions, range(1, len(entries) + 1))):
            if way and number >= 20:
                continue
            began, after = time.perf_counter(), 0
            for end in ends:
                if end > after:
                    store.append(f"bare{way}{one.game}", after, stored[after:end], now=now, due=None)
                    after = end
            seconds[way] += time.perf_counter() - began
            moves[way] += moves_of(entries)
    return moves[0] / seconds[0], moves[1] / seconds[1]


def move(game: str) -> None:
    """An RQ job that makes one move at a table, and asks for the next."""
    table = _PEER["tables"].act_for_house(game, 1)
    if table.state.phase != "over":
        _PEER["queue"].enqueue("tests.bench.scale.move", game)


_PEER = {}


def _jobs(house: Crowd, numbers: range) -> float:
    """Moves a second by one RQ job each, done in this process."""
    (one,) = tables_of_bots(numbers)
    house.services.store.append(one.game, 0, one.stored, now=one.state.last_at, due=None)
    client = connect(house.services.settings.store_url)
    queue = rq.Queue("peer", connection=client, serializer=JSONSerializer)
    _PEER.update(tables=house.services.tables, queue=queue)
    queue.enqueue("tests.bench.scale.move", one.game)
    worker = rq.SimpleWorker([queue], connection=client, serializer=JSONSerializer)
    began = time.perf_counter()
    worker.work(burst=True, max_jobs=JOBS, logging_level="ERROR")
    seconds = time.perf_counter() - began
    queue.empty()
    house.services.client.delete(house.services.keys.due(house.services.keys.partition(one.game)))
    client.close()
    return moves_of(house.services.store.read(one.game)) / seconds


def _tell(fsync: str, figures: dict[tuple[int, int], list[Played]], peers: dict[str, list[float]]) -> None:
    print(
        f"\nSelf-play of rule bots, every event in the log, fsync {fsync}; {os.cpu_count()} cores, load "
        f"{os.getloadavg()[0]:.1f}; median of {ROUNDS} rounds   (aim: {AIMS[fsync]:,} moves/s a core)"
    )
    for number, (name, rates) in enumerate(peers.items(), 1):
        print(f"  peer {number}, {name:<52}: {statistics.median(rates):>8,.0f} moves/s")
    for (workers, count), found in figures.items():
        print(f"  {workers} worker{'s' if workers > 1 else ' '}, {count:>5,} tables: {_row(found, peers)}")


def _row(found: Sequence[Played], peers: dict[str, list[float]]) -> str:
    def middle(of: Callable[[Played], float]) -> float:
        return statistics.median(map(of, found))

    ratios = [
        statistics.median(one.rate / peer for one, peer in zip(found, rates, strict=True))
        for rates in peers.values()
    ]
    return (
        f"{middle(lambda one: one.rate):>7,.0f} moves/s by {middle(lambda one: one.cores):.2f} cores, "
        f"{middle(lambda one: one.core):>6,.0f} a core "
        f"({middle(lambda one: 1e6 * one.worker / one.moves):.0f} us of CPU a move, "
        f"{middle(lambda one: 1e6 * one.store / one.moves):.0f} of the store)"
        f"   peers: {', '.join(f'{ratio:.2f}' for ratio in ratios)} times"
    )


def _bench_waits(fsync: str, workers: int, tables: Sequence[Planted]) -> None:
    with crowd(fsync) as house:
        with house.workers(workers) as cpus:
            moment = house.plant(tables)
            until(lambda: house.services.clock() >= moment, 0.001)
            spent = sum(one.seconds for one in cpus), house.store_cpu.seconds
            until(lambda: min(house.services.store.dues().values()) > house.services.clock() + 60_000, 0.05)
            worker, store = sum(one.seconds for one in cpus) - spent[0], house.store_cpu.seconds - spent[1]
        pointers = house.pointers()
    assert all(pointers[one.game][-1][1] > len(one.stored) for one in tables), "each was answered"
    waits = sorted((pointers[one.game][-1][0] - moment) / 1000 for one in tables)
    half, most, last = (waits[int(share * (len(waits) - 1))] for share in (0.5, 0.99, 1))
    print(
        f"  {workers} worker{'s' if workers > 1 else ' '}, fsync {fsync:<8}: half after {half:5.2f} s, 99 % after {most:5.2f} s, "
        f"all after {last:5.2f} s; {WAITING / last:,.0f} answers/s by {(worker + store) / last:.2f} cores "
        f"({1e6 * worker / WAITING:.0f} us of CPU each, {1e6 * store / WAITING:.0f} of the store)"
    )
