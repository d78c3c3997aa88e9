"""Changes each byte of a short proof file of every family to each other value: ``make bytes``, a quarter of an hour a family.

A reader who kept a receipt must find and locate every change. Prints what was missed; exit status 1 if anything was.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from services.integrity import Kept, read_kept_receipt
from tests.support.byte_changes import FAMILIES, changed, is_located, judge, places, short_file


def missed_of(family: str) -> tuple[str, int, list[str]]:
    """How many changes of a family's file were tried, and those that were missed."""
    data = short_file(family)
    kept = Kept((read_kept_receipt(short_file(family, receipt=True).splitlines()[-1]),))
    missed = []
    for at, line in places(data):
        for to in {*range(256)} - {data[at]}:
            found = judge(changed(data, at, to), kept)
            if not found.refused or not is_located(data, at, to, line, found):
                missed.append(f"byte {at} (line {line}) to {to}: {found}")
    return family, 255 * len(data), missed


def main() -> int:
    """Try all families, or those that are named, as many at once as there are cores."""
    status = 0
    with ProcessPoolExecutor() as pool:
        for family, tried, missed in pool.map(missed_of, sys.argv[1:] or FAMILIES):
            print(f"{family}: {tried} changes, {len(missed)} missed", flush=True)
            print("".join(f"  {one}\n" for one in missed[:20]), end="")
            status |= bool(missed)
    return status


if __name__ == "__main__":
    raise SystemExit(main())
