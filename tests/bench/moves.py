"""CPU that a server process spends on a move over HTTP, against the bare route under the same server."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from services.audit import ServerKey
from tests.bench.servers import LENGTHS, WAY, Side, compared, ratios, spread

ROUNDS: Final = 21
MOVES: Final = 104
"""Of a round: two hands."""
SIGNED: Final = 20
BARE: Final = "bare Flask + marshmallow + XADD"
LIMITED: Final = f"a move, game of {LENGTHS[0]:,} events, limiter on"


def bench_moves(folder: Path) -> None:
    """Print CPU a move of the house, of the bare route, and the ratio."""
    with compared(folder) as (bare, limited, free, persons):
        long_games = {length: persons.game(length).state.game for length in LENGTHS[1:]}
        figures: dict[str, list[float]] = {}
        key, signing = ServerKey(os.urandom(32)), []
        for _ in range(ROUNDS):
            games = {LENGTHS[0]: persons.game(LENGTHS[0]).state.game, **long_games}

            def do_plainly(game: str = games[LENGTHS[0]]) -> None:
                # what the other servers wait for between two calls
                persons.next_card(persons.tables.load(game))
                bare.line.ask("POST", "/moves", body={"play": "QS"})

            steps: list[tuple[str, Side, Callable[[], None]]] = [(BARE, bare, do_plainly)]
            for length, game in games.items():
                steps.append((_name(length), free, partial(persons.move, free.line, game)))
            other = persons.game(LENGTHS[0]).state.game
            steps.append((LIMITED, limited, partial(persons.move, limited.line, other)))
            signing.append(_signing_us(key))
            for name, side, step in steps:
                figures.setdefault(name, []).append(side.us(step, MOVES))
    _tell(figures, signing)


def _name(length: int) -> str:
    return f"a move, game of {length:,} events"


def _tell(figures: dict[str, list[float]], signing: list[float]) -> None:
    print(
        f"\nMove over HTTP: CPU of the server process, fsync everysec, one client; {ROUNDS} rounds of {MOVES}"
    )
    print(WAY)
    bare, short, limited = figures[BARE], figures[_name(LENGTHS[0])], figures[LIMITED]
    for name, values in figures.items():
        print(f"  {name:<42}: {spread(values):<22}{ratios(values, bare)}")
    unsigned = [value - one for value, one in zip(short, signing, strict=True)]
    limiter = statistics.median(one - other for one, other in zip(limited, short, strict=True))
    print(f"  {'of it, signing the receipt':<42}: {spread(signing)}")
    print(f"  {'beside it, the rate limiter':<42}: {limiter:6.0f}")
    told = "a move, signing and limiter apart"
    print(f"  {told:<42}: {spread(unsigned):<22}{ratios(unsigned, bare)}   (aim: at most 1.5)")
    print(
        f"  {'  the quietest round of each':<42}: {min(unsigned):6.0f}{'':<16}{min(unsigned) / min(bare):4.2f}"
    )
    growth = ratios(figures[_name(LENGTHS[-1])], short)
    print(f"  growth, {LENGTHS[-1]:,} events to {LENGTHS[0]:<17}: {'':<22}{growth}   (aim: 1.0)")


def _signing_us(key: ServerKey) -> float:
    start = time.thread_time_ns()
    for number in range(SIGNED):
        key.receipt("g", number, bytes(32))
    return (time.thread_time_ns() - start) / SIGNED / 1e3
