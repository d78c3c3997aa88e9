"""Whether two folded tables are the same, slot by slot."""

from __future__ import annotations

from typing import Any

from domain.ruleset import Terms
from domain.state import HandState, State


def contents(value: Any) -> Any:
    """``value`` as plain data that can be compared; slots that were never set are left out."""
    if isinstance(value, (State, HandState)):
        return {name: contents(getattr(value, name)) for name in value.__slots__ if hasattr(value, name)}
    if isinstance(value, Terms):
        return {name: getattr(value, name) for name in value.__slots__}
    if isinstance(value, (list, tuple)):
        return [contents(one) for one in value]
    return value


def assert_same(one: State, other: State) -> None:
    """Fail, naming the slots, unless the two tables are the same."""
    left, right = contents(one), contents(other)
    differing = [name for name in left.keys() | right.keys() if left.get(name) != right.get(name)]
    assert [] == differing, {name: (left.get(name), right.get(name)) for name in differing}
