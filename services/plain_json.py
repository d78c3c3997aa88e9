"""JSON that every reader reads alike: what is published is read as this, or not at all.

JSON leaves to its readers what a key that stands twice means, what becomes of numbers beyond 2^53, of ``1.0`` and ``-0``,
and of half a surrogate pair. Two of them could see different things under one head; so all of this is refused, wherever it
stands, as ``docs/audit.md`` has it. ``api/web/verify-json.js`` does the same, in the same words.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

from domain.refusals import Malformed

MOST_LEVELS: Final = 64
"""Objects and lists within each other at most. Those of an honest event are three."""
MOST_VALUES: Final = 2**16
"""Commas and opening brackets of a line at most, those in texts included. Those of an honest one are some hundreds."""
LARGEST: Final = 2**53 - 1
"""The largest number: the last up to which every reader can tell each from the next."""

NO_UTF8: Final = "it is no UTF-8"
TOO_MANY: Final = f"it has more than the {MOST_VALUES} values that are read"
TOO_DEEP: Final = f"it is nested more than {MOST_LEVELS} deep"
NO_JSON: Final = "it is no JSON"
ODD_NUMBER: Final = "a number in it is not written as a whole one up to 2^53 - 1"
HALF_PAIR: Final = "a text in it has half of a surrogate pair"
TWICE: Final = "a key stands twice in an object in it"
_IN_ORDER: Final = (ODD_NUMBER, HALF_PAIR, TWICE)
"""Of several faults the first is told that stands above, so that all readers tell the same."""
NOT_JSON: Final = (NO_UTF8, NO_JSON)
"""What is said of bytes that are no JSON at all."""
_TEXTS: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_BRACKETS: Final = re.compile(rb"[\[\]{}]")
_HALF: Final = re.compile("[\ud800-\udfff]")


class NotPlain(ValueError):
    """Bytes that are not JSON, or not such that everybody reads it alike; the text says why."""


class _Odd:
    """Stands for a number that some readers change."""


class _Doubled(list[tuple[str, Any]]):
    """The keys and values of an object that has a key twice."""


def read_plain(data: bytes) -> Any:
    """The value that is written in ``data``. Raises `NotPlain`."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise NotPlain(NO_UTF8) from error
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MOST_VALUES:
        raise NotPlain(TOO_MANY)
    if _is_deep(data):
        raise NotPlain(TOO_DEEP)
    try:
        value = _DECODER.decode(text)
    except ValueError as error:
        raise NotPlain(NO_JSON) from error
    faults: set[str] = set()
    _look(value, faults)
    for why in _IN_ORDER:
        if why in faults:
            raise NotPlain(why)
    return value


def read_evidence(data: bytes, what: str) -> Any:
    """The value of JSON that a reader kept, ``what`` with its article. Raises `Malformed`, in the words of the page ``/verify``."""
    try:
        return read_plain(data)
    except NotPlain as error:
        why = "this is none" if str(error) in NOT_JSON else str(error)
        raise Malformed(f"{what} is JSON, and {why}") from error


def _is_deep(data: bytes) -> bool:
    """Whether anything in it is nested deeper than it may be: by its brackets outside of texts, be it JSON or not."""
    if data.count(b"[") + data.count(b"{") <= MOST_LEVELS:
        return False
    level = 0
    for bracket in _BRACKETS.findall(_TEXTS.sub(b"", data)):
        level += 1 if bracket in b"[{" else -1
        if level > MOST_LEVELS:
            return True
    return False


def _look(value: Any, faults: set[str]) -> None:
    """Add what is wrong with a value and with those in it."""
    if isinstance(value, str):
        if not value.isascii() and _HALF.search(value):
            faults.add(HALF_PAIR)
    elif isinstance(value, _Odd):
        faults.add(ODD_NUMBER)
    elif isinstance(value, dict | list | tuple):
        if isinstance(value, _Doubled):
            faults.add(TWICE)
        inner = [*value, *value.values()] if isinstance(value, dict) else value
        for one in inner:
            _look(one, faults)


def _whole(written: str) -> int | _Odd:
    if written == "-0" or len(written) > len(str(-LARGEST)):
        return _Odd()
    number = int(written)
    return number if -LARGEST <= number <= LARGEST else _Odd()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Doubled:
    fields = dict(pairs)
    return fields if len(fields) == len(pairs) else _Doubled(pairs)


def _no_number(written: str) -> Any:
    """``NaN`` and ``Infinity``, which Python reads beside JSON."""
    raise ValueError(written)


_DECODER: Final = json.JSONDecoder(
    parse_int=_whole,
    parse_float=lambda _: _Odd(),
    parse_constant=_no_number,
    object_pairs_hook=_object,
)
