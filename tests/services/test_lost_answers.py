"""An append whose answer was lost: what became of it is looked up, and it is never made a second time."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from services.store import Store, StoreUnavailable
from tests.support.clock import Clock
from tests.support.handler import first_move, key, started, tables_on

BROKEN, HANGS = redis.ConnectionError("broken"), redis.TimeoutError("too late")


class Line:
    """A line to the store that loses the answer to the next append, carried out or not."""

    def __init__(self, log: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        self.appends = 0
        self.cause: Exception | None = None
        self.arrives = True
        real = log.append

        def append(*args: Any, **options: Any) -> Any:
            self.appends += 1
            done = real(*args, **options) if self.arrives else None
            if self.cause is not None:
                cause, self.cause = self.cause, None
                raise StoreUnavailable("lost") from cause
            return done

        monkeypatch.setattr(log, "append", append)


@pytest.fixture
def line(log: Store, monkeypatch: pytest.MonkeyPatch) -> Line:
    """The line of `log`."""
    return Line(log, monkeypatch)


def test_by_its_key(log: Store, clock: Clock, line: Line) -> None:
    """Given a move that was stored, when its answer is lost, then it is answered as if it had come."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    before, line.cause = line.appends, BROKEN
    done = tables.handle(table.state.game, first_move(table), key=key("k"))
    assert not done.replayed
    assert done.events
    assert (1, table.seq + 1) == (line.appends - before, log.last(table.state.game))
    again = tables.handle(table.state.game, first_move(table), key=key("k"))
    assert again.replayed
    assert done.receipt == again.receipt


@pytest.mark.parametrize("name, cause", [("", BROKEN), ("k", HANGS)])
def test_what_cannot_be_looked_up(log: Store, clock: Clock, line: Line, name: str, cause: Exception) -> None:
    """Without a key, or where the store hangs, the caller is told that nobody knows; a repeat finds out."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    used = key(name) if name else None
    before, line.cause = line.appends, cause
    with pytest.raises(StoreUnavailable, match="lost"):
        tables.handle(table.state.game, first_move(table), key=used)
    assert 1 == line.appends - before
    if used is not None:
        assert tables.handle(table.state.game, first_move(table), key=used).replayed
    assert table.seq + 1 == log.last(table.state.game)


def test_what_has_not_arrived(log: Store, clock: Clock, line: Line) -> None:
    """Given a move that was not stored, then it is not stored by us a second time: the caller asks again."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    line.cause, line.arrives = BROKEN, False
    with pytest.raises(StoreUnavailable, match="lost"):
        tables.handle(table.state.game, first_move(table), key=key("k"))
    assert table.seq == log.last(table.state.game)
    line.arrives = True
    assert not tables.handle(table.state.game, first_move(table), key=key("k")).replayed


def test_another_process_had_stored_it(log: Store, clock: Clock, line: Line) -> None:
    """Given a caller whose first try was stored by another process, then its outcome is told, as of a repeat."""
    here, there = tables_on(log, clock, 1), tables_on(log, clock, 2)
    table = started(here, pass_count=0)
    there.load(table.state.game)
    clock.now += 1
    first = here.handle(table.state.game, first_move(table), key=key("k"))
    clock.now += 1
    line.cause = BROKEN
    told = there.handle(table.state.game, first_move(table), key=key("k"))
    assert told.replayed
    assert first.receipt == told.receipt
