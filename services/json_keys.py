"""Keys that stand in a JSON object twice: of them readers would see one or the other, so nobody may rely on either."""

from __future__ import annotations

import json
import re
from typing import Any, Final, NamedTuple

_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)


class Twice(NamedTuple):
    """A key that an object has twice, and the offset in bytes of where it stands the second time."""

    key: str
    at: int


def find_twice(data: bytes) -> Twice | None:
    """The first key that its object has twice, none where each stands there once. ``data`` is proper JSON in UTF-8.

    Raises RecursionError where it is nested deeper than Python goes.
    """
    found = False

    def look(pairs: list[tuple[str, Any]]) -> None:
        nonlocal found
        found = found or len(dict(pairs)) != len(pairs)

    # numbers are not looked at: reading a long one takes its time
    json.loads(data, object_pairs_hook=look, parse_int=len, parse_float=len, parse_constant=len)
    return _place(data) if found else None


def _place(data: bytes) -> Twice:
    """Where it is. It is looked for only where there is one, as this is far slower than to see that there is."""
    objects: list[set[str] | None] = []
    last, at = b"", 0
    for match in _TOKEN.finditer(data):
        token = match[0]
        if token in (b"{", b"["):
            objects.append(set() if token == b"{" else None)
        elif token in (b"}", b"]"):
            objects.pop()
        elif token == b":":
            key, known = json.loads(last), objects[-1]
            assert known is not None, "a colon stands in an object"
            if key in known:
                return Twice(key, at)
            known.add(key)
        elif token != b",":
            last, at = token, match.start()
    raise AssertionError("an object has a key twice")
