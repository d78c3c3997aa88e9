"""What every version of every house bot decides in the recorded games stays as it is: a changed policy is a new version."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest

from domain.bots import BOTS, OLDER
from domain.bots.knowledge import add_floats
from tests.golden.decisions import EVERY_BOT, Digests, decisions, digest, digests, kept, recordings

FEW = ["omnibus-4", "cancellation-6", "sun-4"]
CHANGED = "its decisions have changed: raise its version, and keep the old one in domain.bots.OLDER"


def test_every_version_has_its_decisions() -> None:
    """No bot of a version is without them, and none of them without its bot: a version is kept."""
    assert set(EVERY_BOT) == set(kept())
    assert len(EVERY_BOT) == len(BOTS) + len(OLDER)
    for games in kept().values():
        assert recordings() == sorted(games)


@pytest.mark.parametrize("name", recordings())
@pytest.mark.parametrize("which", EVERY_BOT)
def test_a_version_decides_as_it_did(which: str, name: str) -> None:
    """Asked at every move of a recorded game, a bot answers as it always has."""
    assert kept()[which][name] == digest(EVERY_BOT[which], name), CHANGED


def test_the_recordings_ask_for_every_kind_of_decision() -> None:
    """Passes, plays and moon choices, in one deck and two."""
    kinds = {type(action) for name in recordings() for _, action in decisions(BOTS["rules"], name)}
    assert {tuple, int, str} == kinds


@pytest.mark.parametrize("seed", ["0", "4711"])
def test_no_order_of_hashes_enters_a_decision(seed: str) -> None:
    """Another process, with other hashes of texts, decides the same."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.golden.decisions", *FEW],
        env=os.environ | {"PYTHONHASHSEED": seed},
        capture_output=True,
        check=True,
        timeout=120,
    )
    found = msgspec.json.decode(done.stdout, type=Digests)
    assert {which: {name: games[name] for name in FEW} for which, games in kept().items()} == found


def sum_of_ints(values: Iterable[Any], start: Any = 0) -> Any:
    """`sum`, of whole numbers alone."""
    items = list(values)
    assert not any(isinstance(one, float) for one in (start, *items)), "sums of floats are `add_floats`"
    return sum(items, start)


def test_no_sum_of_floats_depends_on_the_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """From Python 3.12 on `sum` rounds floats in another way than before, and the bots must decide the same on all."""
    for module in ("knowledge", "moonrun", "outlook", "random", "rules"):
        monkeypatch.setattr(f"domain.bots.{module}.sum", sum_of_ints, raising=False)
    names = recordings()
    assert digests(names) == kept()


def test_floats_are_added_from_left_to_right() -> None:
    """Each sum is rounded before the next number is added."""
    assert 0.0 == add_floats([])
    assert 0.0 == add_floats([1.0, 1e100, -1e100])
    assert 0.1 + 0.2 + 0.3 == add_floats([0.1, 0.2, 0.3]) != math.fsum([0.1, 0.2, 0.3])
