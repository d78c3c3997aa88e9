"""What the plain path and the compiled kernel say of a record, side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from domain import kernel
from domain.record import Verdict, read_record, replay
from domain.refusals import InvalidRules, Malformed


def plain(line: bytes) -> Verdict | str:
    """What the plain path says of a line: a verdict, or why it is no record."""
    return outcome(lambda line: replay(read_record(line)), line)


def outcome(judge: Callable[[bytes], Verdict], line: bytes) -> Verdict | str:
    """What ``judge`` says of a line, an error as its text."""
    try:
        return judge(line)
    except (Malformed, InvalidRules) as error:
        return f"{type(error).__name__}: {error}"


def check_same(record: Any) -> Verdict | str:
    """What both paths say of a record, which must be the same; where it holds the kernel itself must have answered."""
    line = msgspec.json.encode(record)
    said = plain(line)
    assert said == outcome(kernel.judge, line), record
    own = kernel.check_record(line)
    holds = isinstance(said, Verdict) and said.ok
    assert own == said or (own is None and not holds), record
    return said
