"""What it costs a server process to show a table, now or as it was, and to give a hint, however long the game is."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from tests.bench.servers import LENGTHS, WAY, Line, Persons, Side, compared, ratios, spread

ROUNDS: Final = 15
CALLS: Final = 40
"""Of each kind in a round."""
BARE: Final = "bare Flask + marshmallow + GET"
KINDS: Final = (
    "a view",
    "a view with If-None-Match",
    "a view of any moment (?at=)",
    "ten late events",
    "a hint",
)
LIMITED: Final = f"a view, game of {LENGTHS[0]:,} events, limiter on"


def bench_views(folder: Path) -> None:
    """Print CPU of the calls that only read, as ratios to a bare route, and how it grows with the game."""
    with compared(folder) as (bare, limited, free, persons):
        steps: dict[str, tuple[Side, Callable[[], object]]] = {
            BARE: (bare, partial(bare.line.ask, "GET", "/view"))
        }
        for length in LENGTHS:
            for kind, call in _calls(free.line, persons, length).items():
                steps[_name(kind, length)] = (free, call)
        steps[LIMITED] = (limited, _calls(limited.line, persons, LENGTHS[0])[KINDS[0]])
        figures: dict[str, list[float]] = {name: [] for name in steps}
        for _ in range(ROUNDS):
            for name, (side, call) in steps.items():
                figures[name].append(side.us(call, CALLS))
    _tell(figures)


def _calls(line: Line, persons: Persons, length: int) -> dict[str, Callable[[], object]]:
    """The calls of each kind about a game that is so long, by who must play there."""
    table = persons.game(length)
    seat, _ = persons.next_card(table)
    path, token, moments = f"/v1/games/{table.state.game}", persons.tokens[seat], Random(7)

    def look_back() -> None:
        line.ask("GET", f"{path}?at={moments.randint(1, table.seq)}", token)

    def read_ten() -> None:
        after = moments.randint(table.seq - 60, table.seq - 10)
        line.ask("GET", f"{path}/events?after={after}&limit=10", token)

    ask = partial(line.ask, "GET")
    calls = (
        partial(ask, path, token),
        partial(ask, path, token, known=table.etag),
        look_back,
        read_ten,
        partial(ask, f"{path}/hint", token),
    )
    return dict(zip(KINDS, calls, strict=True))


def _name(kind: str, length: int) -> str:
    return f"{kind}, game of {length:,} events"


def _tell(figures: dict[str, list[float]]) -> None:
    print(f"\nReading over HTTP: CPU of the server process, one client; {ROUNDS} rounds of {CALLS}")
    print(WAY)
    for name, values in figures.items():
        print(f"  {name:<50}: {spread(values):<24}{ratios(values, figures[BARE])}")
    for kind in KINDS:
        growth = ratios(figures[_name(kind, LENGTHS[-1])], figures[_name(kind, LENGTHS[0])])
        print(f"  growth of {kind:<40}: {'':<24}{growth}   (aim: 1.0)")
