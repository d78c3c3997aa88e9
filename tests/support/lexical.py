"""Lines of proof files that are written otherwise than the house writes them: some that every reader reads alike, some not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from domain.shuffle import genesis_head, next_head
from services.chain import HEAD_DIGITS
from services.plain_json import (
    HALF_PAIR,
    MOST_LEVELS,
    MOST_VALUES,
    NO_JSON,
    ODD_NUMBER,
    TOO_DEEP,
    TOO_MANY,
    TWICE,
)
from services.published import WORDS
from tests.support.proofs import KEY, file_of, played

Change = Callable[[bytes], bytes]
NUMBER: Final = 19
"""The event that is changed: one of a card played."""
NO_EVENT: Final = WORDS[NO_JSON]
_DEEP: Final = WORDS[TOO_DEEP]


def more(text: str | bytes) -> Change:
    """A field more."""
    raw = text if isinstance(text, bytes) else text.encode()
    return lambda line: line[:-1] + b"," + raw + b"}"


def valued(text: str | bytes) -> Change:
    """A field more that nobody knows, of this value."""
    raw = text if isinstance(text, bytes) else text.encode()
    return more(b'"z":' + raw)


def put(old: str, new: str) -> Change:
    """Something instead of the first of something else."""

    def change(line: bytes) -> bytes:
        assert old.encode() in line
        return line.replace(old.encode(), new.encode(), 1)

    return change


def timed(form: str) -> Change:
    """The time written in another form."""

    def change(line: bytes) -> bytes:
        at = str(json.loads(line)["at"])
        return line.replace(f'"at":{at}'.encode(), f'"at":{form.format(at)}'.encode())

    return change


def nested(levels: int) -> Change:
    """A field of lists in each other, so many levels with the event's own."""
    return valued("[" * (levels - 1) + "]" * (levels - 1))


def values(count: int) -> Change:
    """An event of so many commas and opening brackets."""

    def change(line: bytes) -> bytes:
        bare = valued("[0]")(line)
        rest = count - sum(bare.count(mark) for mark in (b",", b"[", b"{"))
        return valued("[0" + ",0" * rest + "]")(line)

    return change


REFUSED: Final[dict[str, tuple[Change, str]]] = {
    "a fraction": (timed("{}.0"), ODD_NUMBER),
    "an exponent": (timed("{}e0"), ODD_NUMBER),
    "both": (timed("{}.0E+0"), ODD_NUMBER),
    "minus nothing": (valued("-0"), ODD_NUMBER),
    "a time of 2^53 + 1": (timed("9007199254740993"), ODD_NUMBER),
    "2^53": (valued("9007199254740992"), ODD_NUMBER),
    "-2^53": (valued("-9007199254740992"), ODD_NUMBER),
    "a number of thousands of digits": (valued("1" * 5000), ODD_NUMBER),
    "a fraction in a list in an object": (valued('{"y":[1.5]}'), ODD_NUMBER),
    "the first half of a pair": (valued(r'"\ud800"'), HALF_PAIR),
    "the second half of a pair": (valued(r'"\uDFFF"'), HALF_PAIR),
    "the halves of a pair the other way round": (valued(r'"\ude00\ud83d"'), HALF_PAIR),
    "a half and a letter": (valued(r'"\ud83d\u0041"'), HALF_PAIR),
    "half a pair in a key": (more(r'"\ud800":1'), HALF_PAIR),
    "half a pair in an inner key": (valued(r'[{"\udc00":1}]'), HALF_PAIR),
    "a second number": (more('"n":20'), TWICE),
    "a second time, the same": (timed('{0},"at":{0}'), TWICE),
    "a second card": (more('"card":"QS"'), TWICE),
    "a second card by another name for its letters": (more(r'"\u0063ard":"QS"'), TWICE),
    "a key twice that nobody knows": (more('"z":1,"z":1'), TWICE),
    "a key twice in an inner object": (valued('{"y":1,"y":2}'), TWICE),
    "a key twice in an object in a list": (valued('[[{"":1,"x":2,"":3}]]'), TWICE),
    "a key twice, and half a pair": (valued(r'{"y":1,"y":"\ud800"}'), HALF_PAIR),
    "a key twice, and a fraction": (valued(r'{"y":1,"y":0.0}'), ODD_NUMBER),
    "a control character": (valued('"\x01"'), NO_EVENT),
    "a bare zero byte": (valued('"\x00"'), NO_EVENT),
    "a bare tab": (valued('"\t"'), NO_EVENT),
    "a leading zero": (valued("01"), NO_EVENT),
    "a plus": (valued("+1"), NO_EVENT),
    "no number": (valued("NaN"), NO_EVENT),
    "no end": (valued("-Infinity"), NO_EVENT),
    "a number in hex": (valued("0x10"), NO_EVENT),
    "a fraction without a whole": (valued(".5"), NO_EVENT),
    "a fraction without digits": (valued("1."), NO_EVENT),
    "a comma too many": (lambda line: line[:-1] + b",}", NO_EVENT),
    "a comment": (valued("1/**/"), NO_EVENT),
    "other marks": (valued("'a'"), NO_EVENT),
    "an escape that there is not": (valued(r'"\x41"'), NO_EVENT),
    "an escape of two digits": (valued(r'"\u41"'), NO_EVENT),
    "a word in capitals": (valued("True"), NO_EVENT),
    "a space that JSON knows not": (valued("\u00a01"), NO_EVENT),
    "a form feed": (valued("\x0c1"), NO_EVENT),
    "a byte order mark": (valued("\ufeff1"), NO_EVENT),
    "something behind the object": (lambda line: line + b"{}", NO_EVENT),
    "nested too deeply": (nested(MOST_LEVELS + 1), _DEEP),
    "nested far too deeply": (nested(20_000), _DEEP),
    "nested too deeply, and never closed": (valued("[" * MOST_LEVELS), _DEEP),
    "too many values": (values(MOST_VALUES + 1), TOO_MANY),
}
"""Ways to write an event that is refused, with the words."""
BYTES: Final[dict[str, Change]] = {
    "no UTF-8": valued(b'"\xff"'),
    "half a character": valued(b'"\xc3"'),
    "a zero byte in two": valued(b'"\xc0\x80"'),
    "half a pair in three bytes": valued(b'"\xed\xa0\x80"'),
    "beyond the last character": valued(b'"\xf4\x90\x80\x80"'),
    "no UTF-8 in a key": more(b'"\xff":1'),
}
"""The same with bytes that are no UTF-8."""
READ: Final[dict[str, Change]] = {
    "white space": lambda line: line.replace(b',"seat":', b' ,\t"seat" \r:  '),
    "a text in escapes": put('"card_played"', r'"card\u005Fplayed"'),
    "a key in escapes": put('"seat"', r'"\u0073eat"'),
    "all short escapes": valued(r'"\"\\\/\b\f\n\r\t"'),
    "a pair of surrogates": valued(r'"\ud83d\ude00"'),
    "an escaped zero": valued(r'"\u0000"'),
    "letters of all kinds": valued('"\x7f\u0080\u2028\ufeff\uffff\U0010ffff"'),
    "the largest numbers": valued("[9007199254740991,-9007199254740991,0]"),
    "the same key in two objects": valued('[{"n":1},{"n":1},{"n":{"n":1}}]'),
    "keys that differ in case": more('"Card":1'),
    "an empty key": more('"":1'),
    "a key that JavaScript knows": more('"__proto__":1,"constructor":2'),
    "a secret part of no kind": more('"hidden":5'),
    "the version, and white space": more(' "v" : 1'),
    "a version within something": valued('{"y":1,"v":2}'),
    "keys in another order": lambda line: json.dumps(
        {key: json.loads(line)[key] for key in ("n", "t", "by", "card", "seat", "at")}, separators=(",", ":")
    ).encode(),
    "brackets in a text": valued('"' + "[{" * 500 + r"\"" + '"'),
    "nested as deeply as may be": nested(MOST_LEVELS),
    "as many values as may be": values(MOST_VALUES),
}
"""Ways to write an event that is read, and read as what it is."""
FIRST: Final[dict[str, Change]] = {
    "a rule twice": put('"players":', '"players":4,"players":'),
    "points of a class twice": put('"points":{', '"points":{"QS":13,"QS":13,'),
    "a fraction of the seed chain": put('"chain":64', '"chain":64.0'),
    "the stand-in's name twice": put('"stand_in":{', '"stand_in":{"name":"x",'),
}
"""Ways to write the first event that are refused."""
LINES: Final[dict[str, tuple[int, Change]]] = {
    "header: the game twice": (0, put('"game":', '"game":"g","game":')),
    "header: the game twice, by another name": (0, put('"game":', r'"g\u0061me":"g","game":')),
    "header: half a pair": (0, put('"game":"', r'"game":"\ud800')),
    "heads: twice": (-3, put('{"heads":', '{"heads":"00","heads":')),
    "receipt: twice": (-2, put('{"receipt":', '{"receipt":{},"receipt":')),
    "receipt: the head twice": (-2, put('"head":', '"head":"00","head":')),
    "receipt: a fraction": (-2, put(',"head":', '.0,"head":')),
    "receipt: too large": (-2, put('"seq":', '"seq":1000000000000000')),
    "receipt: something more": (-2, put('"head":', '"z":{},"head":')),
}
"""Ways to write a line that is no event which are refused, and which line that is, from 0 or from behind."""


@cache
def lines_of() -> tuple[bytes, ...]:
    """The lines of a short game's file: header, events, heads, receipt, and nothing behind the last line end."""
    return tuple(file_of(played(hand=5, hand_limit=1).events).split(b"\n"))


def rewritten(number: int, change: Change) -> bytes:
    """The file with an event changed, and heads and receipt made for just these events."""
    header, *events = lines_of()[:-3]
    events[number - 1] = change(events[number - 1])
    game = json.loads(header)["game"]
    head, digits = genesis_head(game), ""
    for line in events:
        head = next_head(head, line)
        digits += head.hex()[:HEAD_DIGITS]
    receipt = KEY.receipt(game, len(events), head)
    told: list[Any] = [{"heads": digits}, {"receipt": receipt._asdict()}]
    behind = [json.dumps(one, separators=(",", ":")).encode() for one in told]
    return b"\n".join([header, *events, *behind, b""])


def relined(name: str) -> bytes:
    """The file with a line changed that is no event."""
    at, change = LINES[name]
    lines = list(lines_of())
    lines[at] = change(lines[at])
    return b"\n".join(lines)


# --- changes by chance

_VALUES: Final = st.sampled_from(
    [
        *(
            "1",
            "-1",
            "0",
            "-0",
            "1.0",
            "1e3",
            "0.1E-2",
            "01",
            "9007199254740991",
            "9007199254740992",
            "-",
            "1" * 30,
        ),
        *(
            '""',
            '"z"',
            r'"\u0041"',
            r'"\ud800"',
            r'"\ud83d\ude00"',
            r'"\u0000"',
            '"\x00"',
            r'"\q"',
            '"é"',
            '"\t"',
        ),
        *(
            "{}",
            "[]",
            "[1,2]",
            '{"a":1}',
            '{"a":1,"a":2}',
            '[{"a":{"b":1,"\\u0062":1}}]',
            '{"n":1,"v":2}',
            "[1,]",
        ),
        *("true", "false", "null", "NaN", "nul", "[" * 70, "[" * 62 + "]" * 62, "[" * 63 + "]" * 63 + "]"),
    ]
)
_KEYS: Final = st.sampled_from(
    [
        "z",
        "at",
        "seat",
        "card",
        "v",
        "hidden",
        "n",
        "t",
        "",
        "__proto__",
        r"\u0061t",
        r"\ud800",
        "A",
        "signature",
    ]
)
_SCRAPS: Final = st.sampled_from([*'"{}[],:\\ \t\r\x00\x0b\u00a0\ufeff0-.e', r"\u", r"\ud800"]) | _VALUES
_TOKEN: Final = re.compile(rb'"[^"]*"|-?[0-9]+|null|true|false')


@st.composite
def rewritings(draw: st.DrawFn) -> tuple[int, bytes]:
    """A number of an event, and its line with something put into it, taken out of it or put in the place of something."""
    number = draw(st.integers(1, len(lines_of()) - 4))
    line = lines_of()[number]
    for _ in range(draw(st.integers(1, 2))):
        line = draw(st.sampled_from([_with_field, _with_value, _with_space, _with_escape, _with_scrap]))(
            draw, line
        )
    return number, line


def _with_field(draw: st.DrawFn, line: bytes) -> bytes:
    field = f'"{draw(_KEYS)}":{draw(_VALUES)}'.encode()
    at = draw(st.sampled_from([at for at, mark in enumerate(line) if mark == ord("}")] or [0]))
    return line[:at] + b"," + field + line[at:]


def _with_value(draw: st.DrawFn, line: bytes) -> bytes:
    start, end = draw(st.sampled_from([one.span() for one in _TOKEN.finditer(line, 12)] or [(0, 0)]))
    return line[:start] + draw(_VALUES).encode() + line[end:]


def _with_space(draw: st.DrawFn, line: bytes) -> bytes:
    at = draw(st.sampled_from([at for at, mark in enumerate(line) if mark in b',:{}[]"']))
    return line[:at] + draw(st.sampled_from([" ", "\t ", "\r", "\x0b", "\u00a0"])).encode() + line[at:]


def _with_escape(draw: st.DrawFn, line: bytes) -> bytes:
    at = draw(st.sampled_from([at for at, mark in enumerate(line) if chr(mark).isalnum() and at > 11] or [0]))
    return line[:at] + b"\\u%04x" % line[at] + line[at + 1 :]


def _with_scrap(draw: st.DrawFn, line: bytes) -> bytes:
    at = draw(st.integers(0, len(line)))
    scrap = draw(_SCRAPS.map(str.encode) | st.binary(max_size=3)).replace(b"\n", b"")
    return line[:at] + scrap + line[at + draw(st.integers(0, 3)) :]
