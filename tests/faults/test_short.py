"""The fault suite in short: some faults of each kind, on three houses. `make faults` has them all, again and again."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.faults.nemesis import (
    ClockJump,
    DamagedByte,
    Deliveries,
    DiesBetween,
    FullDisk,
    Kill,
    Stop,
    Storm,
    TornTail,
    WholeHouse,
)
from tests.faults.rounds import CAN_WAIT, embedded_round, line_round, replica_round
from tests.faults.world import Nemesis, Row

PROCESSES = (Kill("store"), Kill("api"), Kill("bots"), DiesBetween(), Stop("store"), WholeHouse(kill=True))
FILES = (TornTail(), DamagedByte(), FullDisk(), ClockJump(1), Deliveries(), Storm())
SEED = 1
pytestmark = pytest.mark.timeout(
    400
)  # a house with six faults takes half a minute; more where much else runs


def assert_kept(rows: list[Row], faults: int) -> None:
    """Every fault has struck, commands were done, and nothing that is promised was not kept."""
    assert [] == [f"{row.fault}: {one}" for row in rows for one in row.violations]
    assert faults == len(rows)
    assert all(row.acknowledged for row in rows)


@pytest.mark.parametrize("faults", [PROCESSES, FILES], ids=["processes", "files"])
def test_a_house_on_the_embedded_store(tmp_path: Path, faults: tuple[Nemesis, ...]) -> None:
    """Its processes are killed, its files torn, its disk is full, its clock jumps, its callers storm."""
    assert_kept([*embedded_round(tmp_path / "disk", Random(SEED), faults, pairs=1)], len(faults))


def test_a_house_far_from_its_store(tmp_path: Path) -> None:
    """The store is slow, and the lines to it break."""
    assert_kept([*line_round(tmp_path, Random(SEED), pairs=1)], 2)


if CAN_WAIT:

    def test_a_house_that_waits_for_its_replica(tmp_path: Path) -> None:
        """The primary is cut off, and the replica takes its place."""
        assert_kept([*replica_round(tmp_path, Random(SEED), waits=True, pairs=1)], 1)
