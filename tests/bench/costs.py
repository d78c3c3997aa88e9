"""What `tests/bench/million.py` reckons with, measured on this machine."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from services.embedded import EmbeddedStore
from services.feed import read_behind, read_pointers, tails
from services.store import Once
from services.wire import Wire
from tests.bench.commits import CARD, NOW
from tests.bench.crowd import Crowd, crowd, moves_of, tables_of_bots, tables_with_a_person, until
from tests.bench.listeners import PLACES, Both, idle_bytes, listening
from tests.bench.million import Costs, told_costs, told_needs
from tests.bench.servers import LENGTHS, Cpu, compared, house, store_cpu, tables_of
from workers.projector import Projector
from workers.sweep import Sweep

ROUNDS: Final = 5
MOVES: Final = 104
POINTERS: Final = 20_000
TABLES: Final = 300
HANDS: Final = 5
APPENDS: Final = 3_000
ANSWER: Final = bytes(300)
"""As long as the answer to a move that is kept under its key."""
LISTENERS: Final = 100


def bench_million() -> None:
    """Print what was measured, and what so many tables would take by it."""
    costs = measured()
    print(
        "\nWhat a million tables would take, by costs measured now (docs/scale.md has those of a quiet machine)\n"
    )
    print(told_costs(costs), "", told_needs(costs), sep="\n")


def measured() -> Costs:
    """Each cost, by some rounds of work on servers of its own."""
    found: dict[str, float] = {}
    for measure in (_commands, _listeners, _bots, _hearing, _folding, _disk):
        found |= measure()
    return Costs(**found)


def _median(one: Callable[[], float]) -> float:
    return statistics.median(one() for _ in range(ROUNDS))


def _commands() -> dict[str, float]:
    """A move over HTTP: the API process, the store's server, and what is written."""
    with tempfile.TemporaryDirectory() as folder, compared(Path(folder)) as (_, limited, _, persons):
        game = persons.game(LENGTHS[0]).state.game
        step = partial(persons.move, limited.line, game)
        return {"command": _median(lambda: limited.us(step, MOVES))}


def _listeners() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with EmbeddedStore(folder, "everysec") as store, house(folder, PLACES) as server:
            both = Both(server.cpu, store_cpu(store), tables_of(folder, store))
            with listening(server, both, LENGTHS[0], LISTENERS) as happen:
                told = _median(lambda: both.us(happen)[0] / LISTENERS)
        with EmbeddedStore(folder, "everysec") as store, house(folder, PLACES) as server:
            return {"told": told, "listener_kb": idle_bytes(server, tables_of(folder, store)) / 1e3}


def _bots() -> dict[str, float]:
    """Bots of rules among themselves, by one worker, for half as many hands as a game has; and the memory of their tables."""
    with crowd("everysec") as here, here.workers(1) as (cpu,):
        before = _memory(here)
        tables = tables_of_bots(range(1, TABLES + 1), hand_limit=HANDS)
        moment = here.plant(tables)
        until(lambda: here.services.clock() >= moment, 0.001)
        spent, stored = cpu.seconds, here.store_cpu.seconds
        until(lambda: not here.services.store.dues(), 0.02)
        worker, store = cpu.seconds - spent, here.store_cpu.seconds - stored
        moves = sum(moves_of(here.services.store.read(one.game)) for one in tables)
        projector = _projector(here)
        while projector.round():
            pass
        live = (_memory(here) - before) / TABLES / 1e3
    return {"bot_move": worker / moves * 1e6, "bot_store": store / moves * 1e6, "live_kb": live}


def _projector(here: Crowd) -> Projector:
    """One that waits for nothing, and has begun."""
    services = here.services
    made = Projector(services.store, services.feed, services.projections, services.clock, block_ms=0)
    made.begin()
    return made


def _memory(here: Crowd) -> int:
    return int(here.services.client.info("memory")["used_memory"])


def _hearing() -> dict[str, float]:
    """An append, to who is told of it and has nothing to do with it: an API process, and the sweep."""
    with crowd("everysec") as here:
        client, keys = here.services.client, here.services.keys
        games = [f"{number:024x}" for number in range(TABLES)]
        feeds = [keys.feed(partition) for partition in range(keys.partitions)]
        wire, sweep = Wire(client), Sweep(here.services)
        cursors, places = tails(wire, feeds), here.services.feed.heads()
        line = client.pipeline(transaction=False)
        for number in range(POINTERS):
            game = games[number % TABLES]
            line.xadd(keys.feed(keys.partition(game)), {"g": game, "n": number, "d": 1 << 60})
        line.execute()
        began = time.process_time()
        while replies := read_behind(wire, cursors, 0, 20):
            for feed, raw in replies:
                {pointer.game for pointer in read_pointers(raw)}
                cursors[feed.decode()] = raw[-1][0]
        elsewhere, began = time.process_time() - began, time.process_time()
        while news := here.services.feed.follow(places, 0, 20):
            sweep.hear(news)
        swept = time.process_time() - began
    return {"elsewhere": elsewhere / POINTERS * 1e6, "sweep": swept / POINTERS * 1e6}


def _folding() -> dict[str, float]:
    """Events of tables with a person, folded by a projector in one go."""
    with crowd("everysec") as here:
        projector = _projector(here)
        here.plant(tables_with_a_person(range(1, TABLES + 1)))
        mine, before = Cpu(os.getpid()), projector.events
        began, stored = mine.seconds, here.store_cpu.seconds
        while projector.round():
            pass
        events = projector.events - before
        spent, of_store = mine.seconds - began, here.store_cpu.seconds - stored
    return {"folded": spent / events * 1e6, "folded_store": of_store / events * 1e6}


def _disk() -> dict[str, float]:
    """A person's move at the store: its server's CPU, the bytes of its file, and what a write to disk adds to the time."""
    with crowd("everysec") as here:
        cpu, size = here.store_cpu.seconds, _file_bytes(here)
        took = _appended(here)
        figures = {
            "append": (here.store_cpu.seconds - cpu) / APPENDS * 1e6,
            "append_bytes": (_file_bytes(here) - size) / APPENDS,
        }
    with crowd("always") as here:
        return figures | {"sync_ms": max(0.0, _appended(here) - took) / APPENDS * 1e3}


def _appended(here: Crowd) -> float:
    """Seconds for some persons' moves, one after the other."""
    began = time.perf_counter()
    for seq in range(APPENDS):
        once = Once(b"key-%d" % seq, ANSWER)
        here.services.store.append("g", seq, [(CARD, b"")], now=NOW, due=NOW + 60_000, once=once)
    return time.perf_counter() - began


def _file_bytes(here: Crowd) -> int:
    return int(here.services.client.info("persistence")["aof_current_size"])
