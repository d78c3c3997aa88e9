"""What two worlds tell a reader, compared."""

from __future__ import annotations

import itertools
import json
from typing import Any, Final

from tests.hidden.channels import Reader, Told

OWN: Final = ("hand", "received", "given", "legal")
"""What stands in a table's body for a seat alone."""


class Leak(AssertionError):
    """A reader can tell which cards it may not see."""

    def __init__(self, channel: str, reader: Reader, true: object, twin: object) -> None:
        self.channel, self.reader = channel, reader
        super().__init__(f"{reader.name} can tell by {channel}:\n{_first_difference(true, twin)}")


def public_part(told: Told) -> Told:
    """An answer about a table without what stands there for its seat alone."""
    body = json.loads(told.body)
    public = {name: value for name, value in body.items() if name not in OWN}
    headers = tuple(one for one in told.headers if one[0] != "Content-Length")
    return Told(told.status, headers, json.dumps(public).encode())


def same(channel: str, reader: Reader, true: Any, twin: Any) -> None:
    """Hold what ``reader`` is told by a channel in two worlds against each other. Raises `Leak`."""
    if true != twin:
        raise Leak(channel, reader, true, twin)


def _first_difference(true: Any, twin: Any) -> str:
    """Where two values differ first, in a few words."""
    if isinstance(true, dict) and isinstance(twin, dict):
        for key in [*true, *twin]:
            if true.get(key) != twin.get(key):
                return f"{key}: {_first_difference(true.get(key), twin.get(key))}"
    if isinstance(true, list | tuple) and isinstance(twin, list | tuple):
        for at, (one, other) in enumerate(itertools.zip_longest(true, twin)):
            if one != other:
                return f"[{at}] {_first_difference(one, other)}"
    if isinstance(true, bytes) and isinstance(twin, bytes):
        at = next(
            (at for at, (one, other) in enumerate(zip(true, twin, strict=False)) if one != other),
            min(len(true), len(twin)),
        )
        start = max(0, at - 60)
        return f"...{true[start : at + 60]!r}\n...{twin[start : at + 60]!r}"
    return f"{true!r:.300}\n{twin!r:.300}"
