"""What a game takes of the store's memory while it is played, and when it is archived, as ratios to the bytes of its events.

And a soak: many games are played to their end and archived, and what is left of each must not grow with how many there were.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Final

from domain.variants import ruleset_of
from services.embedded import EmbeddedStore
from services.settings import Settings
from services.wiring import build
from tests.support.ageing import Ageing, keys_by_template, used_memory

LIVE: Final = 150
"""Games that are measured at a time."""
EVENTS: Final = (75, 300)
"""How far they are: one hand, and half of a usual game."""
ARCHIVED: Final = 50
FIRST: Final = 24
"""Games before that, so that what a house has once is there."""
PARTITIONS: Final = 4
SOAK: Final = 150
"""Finished games after which the soak measures first; then after four times as many."""
MOST_LIVE, MOST_ARCHIVED = 1.3, 0.2
"""The aims."""
FEW: Final = 0.002
"""Keys that take less of the events' bytes are not listed."""


def bench_ages() -> None:
    """Print the ratios, and what takes how much."""
    for events in EVENTS:
        for persons in (0, 1, 4):
            _live(persons, events)
    for persons in (0, 1, 4):
        _archived(persons)
    _soak()


@contextmanager
def ageing(**rules: object) -> Iterator[Ageing]:
    """A house on a new folder."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedStore(Path(folder), "everysec") as store:
        house = build(
            Settings(
                data=Path(folder),
                store_url=store.url,
                archive=f"{folder}/archive",
                archive_hours=1,
                partitions=PARTITIONS,
            )
        )
        try:
            yield Ageing(house, ruleset_of({"variant": "standard", **rules}))
        finally:
            house.client.close()


def _players(persons: int, number: int) -> Sequence[str]:
    """Ten thousand persons, who meet in turn: nobody plays two games of a measurement."""
    return [f"p{(number * persons + at) % 10_000:016x}" for at in range(persons)]


def _live(persons: int, events: int) -> None:
    with ageing() as here:
        for number in range(FIRST):
            here.play(_players(persons, 9_000 + number), EVENTS[0])
        here.project()
        here.raw, before, (_, _, keys) = 0, used_memory(here.house), keys_by_template(here.house)
        for number in range(LIVE):
            here.play(_players(persons, number), events)
        here.project()
        _tell(f"live, {persons} persons, {events} events", here, before, keys, MOST_LIVE, LIVE)


def _archived(persons: int) -> None:
    with ageing() as here:
        _age(here, persons, range(9_000, 9_000 + FIRST // 4))
        here.raw, before, (_, _, keys) = 0, used_memory(here.house), keys_by_template(here.house)
        _age(here, persons, range(ARCHIVED))
        _tell(f"archived, {persons} persons, whole games", here, before, keys, MOST_ARCHIVED, ARCHIVED)


def _age(here: Ageing, persons: int, numbers: range) -> None:
    """Play games to their end and archive them; what is kept under keys for a day is let go as after that day."""
    for number in numbers:
        game = here.play(_players(persons, number))
        here.project()
        here.archive()
        here.house.client.delete(here.house.keys.idempotency(game))


def _soak() -> None:
    with ageing(hand_limit=1) as here:
        _age(here, 1, range(SOAK))
        first, raw, (_, _, keys) = used_memory(here.house), here.raw, keys_by_template(here.house)
        told = [first]
        for part in range(1, 4):
            _age(here, 1, range(part * SOAK, (part + 1) * SOAK))
            told.append(used_memory(here.house))
        here.raw -= raw
        _tell(
            f"soak, from {SOAK} to {4 * SOAK} games of one hand", here, first, keys, MOST_ARCHIVED, 3 * SOAK
        )
        grown = [(after - before) / SOAK / 1000 for before, after in pairwise(told)]
        print(
            f"  KB of the server's memory for each {SOAK} games more: {', '.join(f'{one:.2f}' for one in grown)} a game"
        )


def _tell(title: str, here: Ageing, before: int, keys: Counter[str], aim: float, games: int) -> None:
    _, _, now = keys_by_template(here.house)
    grown, raw = now - keys, here.raw
    whole, told = used_memory(here.house) - before, sum((now - keys).values())
    print(
        f"\n{title}: {raw / games / 1000:.1f} KB of events a game; keys {told / raw:.2f}, "
        f"the server's memory {whole / raw:.2f} of that (aim: at most {aim})"
    )
    shares = [(name, size) for name, size in grown.most_common() if size / raw >= FEW]
    print("  " + ", ".join(f"{name} {size / raw:.3f} ({size / games:.0f} B)" for name, size in shares))
