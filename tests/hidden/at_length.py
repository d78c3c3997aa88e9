"""Try at length whether anybody can tell which cards it may not see: every reader at every event, table after table.

    python tests/hidden/at_length.py [--minutes 10] [--seed 1] [--plan basic-ppbb]

`make leaks` runs it. Exit status 1 with the first leak, of which reader, channel, seed and first difference are told; with
`--plan` and `--seed` it is found again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from services.embedded import EmbeddedStore
from tests.hidden.company import Plan
from tests.hidden.plans import PLANS
from tests.hidden.telling import Leak
from tests.hidden.trial import Effort, Trial

THOROUGH = Effort(steps=None, checks=1.0, readers=None, few=4, streams=0.1)


def main() -> int:
    """Play until the time is over, every table at least begun in turn. Returns the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=10.0, help="for how long to try; 0: each table once")
    parser.add_argument("--seed", type=int, default=1, help="of the first round; each round adds one")
    parser.add_argument("--plan", choices=[plan.name for plan in PLANS], help="this table alone")
    parser.add_argument("--readers", type=int, help="how many readers are asked at an event; all unless said")
    asked = parser.parse_args()
    plans = [plan for plan in PLANS if asked.plan in (None, plan.name)]
    effort = THOROUGH._replace(readers=asked.readers)
    end, seed, total = time.monotonic() + 60 * asked.minutes, asked.seed, Counter[str]()
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedStore(Path(folder) / "v", fsync="everysec") as store,
    ):
        while True:
            for plan in plans:
                tried = _try(plan, store.url, Path(folder), effort, seed)
                if tried is None:
                    return 1
                total += tried
                if 0 < asked.minutes and time.monotonic() > end:
                    print(f"in all: {_told(total)}; no leak")
                    return 0
            seed += 1
            if not asked.minutes:
                print(f"in all: {_told(total)}; no leak")
                return 0


def _try(plan: Plan, url: str, folder: Path, effort: Effort, seed: int) -> Counter[str] | None:
    """What was tried at a table; none where it leaks."""
    try:
        tried = Trial(url, folder, plan, effort, seed).run()
    except Leak as leak:
        print(f"{plan.name}, seed {seed}: {leak}", flush=True)
        return None
    print(f"{plan.name}, seed {seed}: {_told(tried)}", flush=True)
    return tried


def _told(tried: Counter[str]) -> str:
    answers = sum(count for status, count in tried.items() if status.isdecimal())
    return f"{tried['checks']} checks, {tried['other cards']} with other cards, {answers} answers compared"


if __name__ == "__main__":
    sys.exit(main())
