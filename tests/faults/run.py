"""`make faults`: faults strike a house at random while it is played at, and all it has promised is checked after each.

A run is repeated, as far as processes go, by its seed, which is printed first. Ends with exit status 1 where something
that is promised was not kept.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from random import Random, SystemRandom

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.faults.rounds import CAN_WAIT, embedded_round, line_round, of_embedded, replica_round
from tests.faults.world import Row, World, merged

CHECKED = """checked after each strike, over the whole history of the house: every acknowledged command is in the log once, no
refused one is, unknown ones at most once; nobody was told a head that is not the log's, or less than was told before; repeats
are answered alike; receipts, chains, rules, deals, secrets, read models, due sets, keys, transparency log and standings hold
(as `hearts audit --all`, with every receipt that was given); and every game was played to its end."""


def tell(row: Row, world: World) -> None:
    """A line while it runs, and everything that is wrong."""
    print(f"  {row.fault}: {'VIOLATED' if row.violations else 'holds'}", flush=True)
    for violation in row.violations[:20]:
        print(f"    {violation}")
    if row.violations:
        print("    the house has said:")
        print("\n".join(f"      {line}" for line in world.house.told().splitlines()[-20:]), flush=True)


def all_rounds(folder: Path, rng: Random) -> Iterator[Row]:
    """Rounds of all faults, in another order each, without end."""
    for number in count(1):
        print(f"round {number}", flush=True)
        yield from line_round(folder / f"line-{number}", rng, tell)
        if CAN_WAIT:
            yield from replica_round(folder / f"replica-{number}", rng, waits=True, tell=tell)
        faults = of_embedded()
        rng.shuffle(faults)
        yield from embedded_round(folder / f"embedded-{number}", rng, faults, tell)


def report(rows: Sequence[Row]) -> str:
    """The table of a run."""
    head = ("fault", "strikes", "done", "refused", "unknown", "reads", "games", "verdict")
    lines = [
        (
            row.fault,
            *map(str, (row.strikes, row.acknowledged, row.refused, row.unknown, row.reads, row.games)),
            f"{len(row.violations)} violations" if row.violations else "holds",
        )
        for row in rows
    ]
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    return "\n".join(
        "  ".join(
            text.ljust(width) if place in (0, 7) else text.rjust(width)
            for place, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in (head, *lines)
    )


def main() -> None:
    """Run until the time is over; the strike that runs then is brought to its end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0, help="for how long (default 600)")
    parser.add_argument("--seed", type=int, help="of a run that is to be repeated")
    options = parser.parse_args()
    seed = SystemRandom().getrandbits(32) if options.seed is None else options.seed
    print(f"seed {seed}, {options.seconds:.0f} seconds", flush=True)
    rows: list[Row] = []
    deadline = time.monotonic() + options.seconds
    with tempfile.TemporaryDirectory(prefix="hearts-faults-") as folder:
        rounds = all_rounds(Path(folder), Random(seed))
        try:
            for row in rounds:
                rows.append(row)
                if time.monotonic() > deadline:
                    break
        finally:
            rounds.close()
    found = merged(rows)
    print(f"\n{report(found)}\n\n{CHECKED}")
    if not CAN_WAIT:
        print("not tried: a partitioned primary, for this house cannot wait for replicas")
    if any(row.violations for row in found):
        print(f"\nsomething that is promised was not kept; again: make faults SEED={seed}")
        raise SystemExit(1)


if __name__ == "__main__":
    main()
