"""Published events as others give them, which are read strictly: so that nobody sees anything else in the same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET

from domain import events as e
from domain import kernel
from domain.refusals import CorruptLog
from services.codec import CODEC, UnknownEvent
from services.plain_json import MOST_LEVELS, NO_JSON, NO_UTF8, TOO_DEEP, NotPlain, read_plain

_LONGEST_NAME: Final = 60
"""Characters that are told of the name of an unknown event."""
WORDS: Final = {
    NO_UTF8: "an event is UTF-8, and this is not",
    TOO_DEEP: f"an event is nested {MOST_LEVELS} deep at most, and this is deeper",
    NO_JSON: "an event is a JSON object, and this is none",
}
_SECRET: Final = "hidden"
"""The part of an event that is never published: in published bytes a field of this name is one that is not known."""
_NUMBER: Final = rb"[1-9][0-9]{0,14}+|0|-[1-9][0-9]{0,14}+"
_TEXT: Final = rb'"[ -!#-\[\]-~]*+"'
_ONE: Final = rb"%b|%b|null" % (_TEXT, _NUMBER)
_VALUE: Final = rb"(?:%b|\[(?:(?:%b)(?:,(?:%b))*+)?\])" % (_ONE, _ONE, _ONE)
_FREQUENT: Final = (e.CardPlayed, e.TrickEnded, e.CardsPassed, e.PassesExchanged, e.HandDealt, e.HandScored)


def _usual(kind: type[e.Event]) -> bytes:
    """The pattern of an event of a kind as the house writes it, from its name on."""
    fields = [field for field in msgspec.structs.fields(kind) if field.name != _SECRET]
    patterns = [
        (rb"(?:,%b)?" if field.default is UNSET else rb",%b") % (rb'"%b":%b' % (field.name.encode(), _VALUE))
        for field in fields
    ]
    return str(kind.__struct_config__.tag).encode() + b'"' + b"".join(patterns)


_USUAL: Final = re.compile(
    rb'\{"n":(?:%b),"t":"(?:%b)\}' % (_NUMBER, b"|".join(_usual(kind) for kind in _FREQUENT))
)
"""What most events are, as the house writes them: nothing in them can be read in two ways."""


def read_published(line: bytes) -> e.Event:
    """The event of a line. Raises `CorruptLog` in words for who knows nothing of the program, whose own are the cause's.

    ``api/web/verify-reading.js`` has the same words.
    """
    try:
        fields = read_plain(line)
    except NotPlain as error:
        raise CorruptLog(WORDS.get(str(error), str(error))) from error.__cause__ or error
    if not isinstance(fields, dict):
        raise CorruptLog(WORDS[NO_JSON])
    fields.pop(_SECRET, None)
    name = fields.get("t")
    if not isinstance(name, str):
        raise CorruptLog("no event is called by anything but a text")
    kind = CODEC.names.get(name)
    if kind is None:
        raise CorruptLog(f"no event is called {json.dumps(name)[:_LONGEST_NAME]}")
    try:
        return CODEC.decode_fields(fields)
    except UnknownEvent as error:
        raise CorruptLog(f"{name} is of a version that is not known here") from error
    except msgspec.ValidationError as error:
        wrong = _first_wrong(fields, kind)
        raise CorruptLog(
            f"{name} {'has not' if wrong in fields else 'lacks'} what it must have ({wrong})"
        ) from error


def read_all_published(first: int, lines: Sequence[bytes], together: bytes) -> list[e.Event] | None:
    """The events of lines, numbered from ``first`` on, which are also given joined by line ends; at once, which is far quicker.

    None where one is out of order, or cannot surely be read so; then each is to be read for itself.
    """
    if not kernel.are_plain(together, first) and (kernel.AVAILABLE or not _are_plain(first, lines)):
        return None
    try:
        events = CODEC.decode_lines(together)
    except CorruptLog:
        return None
    return events if len(events) == len(lines) else None


def is_numbered(number: int, line: bytes) -> bool:
    """Whether a line begins with its number and name, with no white space around the object."""
    return line.startswith(b'{"n":%d,"t":' % number) and line.strip() == line


def _are_plain(first: int, lines: Sequence[bytes]) -> bool:
    """What `domain.kernel.are_plain` tells, where there is none."""
    for number, line in enumerate(lines, first):
        if not line.startswith(b'{"n":%d,"t":' % number):
            return False
        if _USUAL.fullmatch(line) is None and not _is_plain(line):
            return False
    return True


def _is_plain(line: bytes) -> bool:
    try:
        fields = read_plain(line)
    except NotPlain:
        return False
    return isinstance(fields, dict) and not fields.keys() & {_SECRET, "v"} and line.strip() == line


def _first_wrong(fields: dict[str, Any], kind: type[e.Event]) -> str:
    """The first field that keeps an event from being of its kind; those that every one has come before the others."""
    known = [field for field in msgspec.structs.fields(kind) if field.name != _SECRET]
    for field in sorted(known, key=lambda one: not one.required):
        if field.name not in fields:
            if field.required:
                return field.name
            continue
        try:
            msgspec.convert(fields[field.name], field.type)
        except msgspec.ValidationError:
            return field.name
    return "the whole"
