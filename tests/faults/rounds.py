"""Which faults there are, at which houses, and a round of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from random import Random
from typing import Final

from services.settings import Settings
from tests.faults.lines import behind_a_line, with_replica
from tests.faults.nemesis import (
    BrokenLine,
    ClockJump,
    DamagedByte,
    Deliveries,
    DiesBetween,
    FullDisk,
    Kill,
    Partition,
    Restart,
    SlowStore,
    Stop,
    Storm,
    TornTail,
    WholeHouse,
)
from tests.faults.world import KINDS, Nemesis, Row, World, a_world, small_disk, trial

CAN_WAIT: Final = "replicas" in {field.name for field in fields(Settings)}
"""Whether a house can wait for replicas before it acknowledges."""

PAIRS: Final = 2
"""Pairs of players at a house."""

Tell = Callable[[Row, World], None]
"""Is told each trial when it is over."""


def no_word(_: Row, __: World) -> None:
    """Nobody wants to know."""


def of_embedded() -> list[Nemesis]:
    """The faults of a house on the embedded store."""
    found: list[Nemesis] = []
    for kind in KINDS:
        found += [Kill(kind), Stop(kind), Restart(kind)]
    found += [WholeHouse(kill=True), WholeHouse(kill=False)]
    found += [TornTail(), DamagedByte(), FullDisk(), ClockJump(1), ClockJump(-1)]
    return [*found, Deliveries(), DiesBetween(), Storm()]


def embedded_round(
    folder: Path, rng: Random, faults: Sequence[Nemesis], tell: Tell = no_word, pairs: int = PAIRS
) -> Iterator[Row]:
    """A house on the embedded store, its disk a small one where that can be, and these faults one after the other."""
    with small_disk(folder), a_world(folder) as world:
        yield from _trials(world, rng, faults, tell, pairs)


def line_round(folder: Path, rng: Random, tell: Tell = no_word, pairs: int = PAIRS) -> Iterator[Row]:
    """A house whose line to its store is slow, and breaks."""
    with behind_a_line(folder) as (world, line):
        faults: list[Nemesis] = [SlowStore(line), BrokenLine(line)]
        rng.shuffle(faults)
        yield from _trials(world, rng, faults, tell, pairs)


def replica_round(
    folder: Path, rng: Random, *, waits: bool, tell: Tell = no_word, pairs: int = PAIRS
) -> Iterator[Row]:
    """A house whose store is cut off from its replica, which then takes its place."""
    with with_replica(folder, **({"HEARTS_REPLICAS": "1"} if waits else {})) as (world, pair):
        yield from _trials(world, rng, [Partition(pair, waits=waits)], tell, pairs)


def _trials(world: World, rng: Random, faults: Sequence[Nemesis], tell: Tell, pairs: int) -> Iterator[Row]:
    for nemesis in faults:
        row = trial(world, nemesis, rng, pairs=pairs)
        tell(row, world)
        yield row
        if row.violations:
            return  # what comes after it would find the same again
