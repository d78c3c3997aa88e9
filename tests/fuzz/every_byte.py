"""Changes each byte of a short proof file of every family, and of one with all kinds of events and lines, to each other value.

``make bytes``, a quarter of an hour a family. A reader who kept a receipt must find and locate every change, and so must one
who kept a checkpoint of the log instead. Prints what was missed; exit status 1 if anything was. Families may be named, and
``all-events``; ``--checkpoint`` or ``--receipt`` leaves the other out.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from services.integrity import Kept
from tests.support.all_events import kept_checkpoint as checkpoint_of_all
from tests.support.all_events import kept_receipt as receipt_of_all
from tests.support.all_events import whole_file
from tests.support.byte_changes import (
    FAMILIES,
    changed,
    is_located,
    judge,
    kept_checkpoint,
    kept_receipt,
    places,
    short_file,
)

ALL = "all-events"
EVIDENCE = ("receipt", "checkpoint")


def subject(family: str, evidence: str) -> tuple[bytes, Kept]:
    """A file, and what its reader has."""
    if family == ALL:
        return whole_file(), receipt_of_all() if evidence == "receipt" else checkpoint_of_all()
    return short_file(family), kept_receipt(family) if evidence == "receipt" else kept_checkpoint(family)


def missed_of(task: tuple[str, str]) -> tuple[str, int, list[str]]:
    """How many changes of a family's file were tried, and those that were missed."""
    data, kept = subject(*task)
    missed = []
    for at, line in places(data):
        for to in {*range(256)} - {data[at]}:
            found = judge(changed(data, at, to), kept)
            if not found.refused or not is_located(data, at, to, line, found):
                missed.append(f"byte {at} (line {line}) to {to}: {found}")
    return " by ".join(task), 255 * len(data), missed


def main(words: list[str]) -> int:
    """Try all families, or those that are named, as many at once as there are cores."""
    evidence = [one for one in EVIDENCE if f"--{one}" in words] or EVIDENCE
    families = [word for word in words if not word.startswith("--")] or [*FAMILIES, ALL]
    status = 0
    with ProcessPoolExecutor() as pool:
        for told, tried, missed in pool.map(
            missed_of, [(family, one) for family in families for one in evidence]
        ):
            print(f"{told}: {tried} changes, {len(missed)} missed", flush=True)
            print("".join(f"  {one}\n" for one in missed[:20]), end="")
            status |= bool(missed)
    return status


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
