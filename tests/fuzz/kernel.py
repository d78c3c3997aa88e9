"""The compiled kernel under the sanitizers of the compiler: its tests, and then spoilt input for as long as is asked for.

``python tests/fuzz/kernel.py [--minutes M] [--seed S]``, or ``make check-kernel``. The tree is copied into a new folder and
the kernel is built there with AddressSanitizer and UndefinedBehaviorSanitizer, so that nothing here is changed. Whatever they
find ends the run with their report and a status that is not 0. Needs gcc or clang with both.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("domain", "services", "tests", "docs", "requirements")
FLAGS = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
TESTS = (
    "tests/domain/test_kernel.py",
    "tests/domain/test_kernel_reading.py",
    "tests/domain/test_kernel_search.py",
    "tests/services/test_plain_json.py",
    "tests/services/test_whole_hands.py",
)


def sanitized(folder: Path) -> dict[str, str]:
    """Copy the tree into ``folder`` and build the kernel there; the environment to run it in."""
    for name in FOLDERS:
        ignore = shutil.ignore_patterns("__pycache__", "*.so", "*.pyd")
        shutil.copytree(ROOT / name, folder / name, ignore=ignore)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder / name)
    compiler = os.environ.get("CC", "gcc")
    build = {**os.environ, "CC": compiler, "CFLAGS": FLAGS, "LDFLAGS": "-fsanitize=address,undefined"}
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    subprocess.run(command, cwd=folder, env=build, check=True)
    if not list((folder / "domain/kernel").glob("_hearts*.so")):
        sys.exit("the kernel was not built")
    found = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    )
    return {
        **os.environ,
        "LD_PRELOAD": found.stdout.strip(),
        # Python itself leaves memory to the system at its end, and takes it from its own arenas
        "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0",
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(folder),
    }


def spoil(data: bytes, rng: Random) -> bytes:
    """``data`` with some of its bytes or words changed, left out or doubled."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 5))):
        at = rng.randrange(len(changed) + 1)
        match rng.randrange(4):
            case 0:
                changed[at : at + 1] = rng.randbytes(1)
            case 1:
                at -= at % 8
                number = rng.choice((0, 1, -1, 11, 52, 127, 2**31, 2**52, -(2**63), 2**63 - 1))
                changed[at : at + 8] = number.to_bytes(8, "little", signed=True)
            case 2:
                del changed[at : at + rng.randrange(1, 20)]
            case _:
                changed[at:at] = changed[at : at + rng.randrange(1, 20)]
    return bytes(changed)


def spoil_for(minutes: float, seed: int) -> int:
    """Give the kernel spoilt positions and records for so long; how many there were."""
    import msgspec

    from domain import kernel
    from domain.bots.search import Position
    from domain.game import is_over, to_act
    from domain.record import record_of
    from domain.variants import ruleset_of
    from domain.view import view
    from tests.support.games import PUBLISHED, play_game

    rng, until, count = Random(seed), time.monotonic() + 60 * minutes, 0
    while time.monotonic() < until:
        variant, players = rng.choice(PUBLISHED)
        rules = ruleset_of({"variant": variant, "players": players, "hand_limit": 2})
        game = play_game(rules, rng.getrandbits(32), moves=rng.randrange(120), kinds="b" * players)
        record = msgspec.json.encode(record_of(game.events))
        for _ in range(200):
            kernel.check_record(spoil(record, rng))
            count += 1
        if is_over(game.end) or game.end.phase not in ("pass", "play"):
            continue
        seen = view(game.end, to_act(game.end)[0])
        position = Position(seen)
        arms = position.arms()
        packed, given = position.pack(), [arm.packed for arm in arms]
        for _ in range(200):
            with suppress(ValueError):
                kernel.search(spoil(packed, rng), rules, given, 8, rng.getrandbits(64))
            count += 1
    return count


def main() -> None:
    """Build, run the tests, then spoil."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=2.0, help="how long input is spoilt (default 2)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        print(f"{spoil_for(given.minutes, given.seed):,} spoilt inputs, nothing found")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = sanitized(folder)
        tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout", "1800", *TESTS]
        more = [sys.executable, "tests/fuzz/kernel.py", "--inside", "--minutes", str(given.minutes)]
        for command in (tests, [*more, "--seed", str(given.seed)]):
            done = subprocess.run(command, cwd=folder, env=environment)
            if done.returncode:
                sys.exit(done.returncode)


if __name__ == "__main__":
    main()
