"""Which texts the kernel reads as records, and that it reads no other and no further."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest

from domain import kernel
from domain.record import Verdict
from tests.support.records import cut, moon_record, small_record, spoil
from tests.support.verdicts import check_same, outcome, plain

WHOLE = small_record(winners=[])
NAMED = ["Anna ü", 'B"o\\/\b\f\n\r\t', "\U0001f0a1 \u00e9\u0800\uffff\U0010ffff"]


@pytest.mark.parametrize(
    "write",
    [
        msgspec.json.encode,
        lambda record: json.dumps(record).encode(),
        lambda record: json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode(),
        lambda record: json.dumps(record, indent="\t").encode() + b"\r\n",
        lambda record: b" \n" + json.dumps(record, sort_keys=True, separators=(" ,", " : ")).encode() + b" ",
        lambda record: json.dumps(dict(reversed(record.items()))).encode(),
    ],
    ids=["msgspec", "json", "compact", "indented", "sorted", "reversed"],
)
def test_ordinary_ways_of_writing_json_are_read_by_the_kernel(write: Callable[[Any], bytes]) -> None:
    """The order of keys, white space and escapes in names change nothing."""
    record = {**WHOLE, "seats": NAMED}
    record["hands"] = [dict(reversed(hand.items())) for hand in record["hands"]]
    line = write(record)
    assert kernel.check_record(line) == plain(line)
    assert isinstance(kernel.check_record(line), Verdict)
    assert NAMED == kernel.seat_names(line)


def test_null_stands_for_left_out() -> None:
    """Where the plain path reads null so, the kernel does."""
    record = cut(small_record(winners=None), 0)
    record["hands"][0] |= dict.fromkeys(("pass", "moon", "points", "totals"))
    record["hands"][1] |= dict.fromkeys(("pass", "plays", "moon"))
    assert isinstance(check_same(record), Verdict)
    for path in ("hands.0.deal", "hands.0.kitty", "hands", "seats", "rules", "format"):
        check_same(spoil(record, path, None))


ODD = [
    (b'"QS"', b'"qs"'),
    (b'"QS"', b'"\\u0051S"'),
    (b'"QS"', b'"QS "'),
    (b'"QS"', b'"QX"'),
    (b'"QS"', b'""'),
    (b'"QS"', b"7"),
    (b'"2C 3D', b'"2C  3D'),
    (b'"2C 3D', b'" 2C 3D'),
    (b'"2C 3D', b'"2C\\t3D'),
    (b'"2C 3D', b'"2C 2C 2C 3D'),
    (b'"format"', b'"form\\u0061t"'),
    (b'"hands"', b'"hand"'),
    (b'"format"', b'"winners":[],"format"'),
    (b'"seats"', b'"seats":["x"],"seats"'),
    (b'"deal"', b'"deal":[],"deal"'),
    (b'"points"', b'"point"'),
    (b"[0,0,13]", b"[0,0,13.0]"),
    (b"[0,0,13]", b"[0,0,1.3e1]"),
    (b"[0,0,13]", b"[-0,0,13]"),
    (b"[0,0,13]", b"[00,0,13]"),
    (b"[0,0,13]", b"[0,0,013]"),
    (b"[0,0,13]", b"[0,0,+13]"),
    (b"[0,0,13]", b"[0,0,]"),
    (b"[0,0,13]", b"[0,0,13,]"),
    (b"[0,0,13]", b"[0,0,true]"),
    (b"[0,0,13]", b"[0,0,-]"),
    (b"[0,0,13]", b"[0,0,18446744073709551629]"),
    (b"[0,0,13]", b"[0,0,1000000000000000000000000000013]"),
    (b"[0,0,13]", b"[0,13]"),
    (b'"winners":[]', b'"winners":[0,0]'),
    (b'"winners":[]', b'"winners":[' + b",".join([b"1"] * 12) + b"]"),
    (b'"winners":[]', b'"winners":{}'),
    (b'"Anna"', b'"\\ud800"'),
    (b'"Anna"', b'"\\udc00\\ud800"'),
    (b'"Anna"', b'"\\ud83c\\u0041"'),
    (b'"Anna"', b'"\\ud83c\\udca1"'),
    (b'"Anna"', b'"\\x41"'),
    (b'"Anna"', b'"\\u00g1"'),
    (b'"Anna"', b'"\x1f"'),
    (b'"Anna"', b'"\x7f"'),
    (b'"Anna"', b'"\xff"'),
    (b'"Anna"', b'"\xc0\x80"'),
    (b'"Anna"', b'"\xe0\x80\x80"'),
    (b'"Anna"', b'"\xed\xa0\x80"'),
    (b'"Anna"', b'"\xf0\x80\x80\x80"'),
    (b'"Anna"', b'"\xf4\x90\x80\x80"'),
    (b'"Anna"', b'"\xf5\x80\x80\x80"'),
    (b'"Anna"', b'"\xc3"'),
    (b'"Anna"', b'["Anna"]'),
    (b'"Anna"', b'"Anna","Dan"'),
    (b'"Anna",', b""),
    (b'"variant"', b'"players":4,"players":3,"variant"'),
    (b'"variant":"custom"', b'"variant":"customs"'),
    (b'"variant":"custom"', b'"variant":"custom","x":"}"'),
    (b'"variant":"custom"', b'"variant":"custom","floor":1e400'),
    (b'"variant":"custom"', b'"variant":"custom","floor":' + b"[" * 2000),
    (b'"variant":"custom"', b'"variant":"custom","floor":"\xff"'),
    (b'"variant":"custom"', b'"variant":"custom","floor":[}'),
    (b'"variant":"custom"', b'"variant":"custom"' + b" " * 5000),
    (b'"pass_cycle":[0,1]', b'"pass_cycle":[0,1,3]'),
    (b'"rules":{', b'"rules":[{'),
    (b"hearts-record/1", b"hearts-record/2"),
    (b"hearts-record/1", b"hearts\\u002drecord/1"),
    (b'{"format"', b'\xef\xbb\xbf{"format"'),
    (b'{"format"', b'[{"format"'),
    (b'"winners":[]}', b'"winners":[]},'),
    (b'"winners":[]}', b'"winners":[]}x'),
    (b'"winners":[]}', b'"winners":[]}\0'),
    (b'"winners":[]}', b'"winners":[],}'),
    (b'"winners":[]}', b'"winners":[]}}'),
]


@pytest.mark.parametrize(("old", "new"), ODD)
def test_odd_writing_is_judged_by_the_plain_path(old: bytes, new: bytes) -> None:
    """Whether it is right or not: the answer, or the error, is the plain one."""
    line = msgspec.json.encode(WHOLE)
    assert old in line
    odd = line.replace(old, new, 1)
    said = plain(odd)
    assert said == outcome(kernel.judge, odd)
    assert kernel.check_record(odd) in (None, said)


def test_a_record_cut_off_at_any_byte_is_none() -> None:
    """Nothing is read of what is not there."""
    line = msgspec.json.encode(WHOLE)
    assert [] == [end for end in range(len(line)) if kernel.check_record(line[:end]) is not None]


def test_any_bytes_have_the_answer_of_the_plain_path() -> None:
    """Records with bytes changed, left out, doubled and put elsewhere, and such as are no record at all."""
    lines = [
        msgspec.json.encode(record)
        for record in (WHOLE, moon_record(), cut(small_record(), 4), dict(reversed(WHOLE.items())))
    ]
    assert b"" not in lines
    rng = Random(7)
    for turn in range(6000):
        line = mutated(rng.choice(lines), rng)
        said = plain(line)
        assert kernel.check_record(line) in (None, said), (turn, line)
        assert said == outcome(kernel.judge, line), (turn, line)


def mutated(line: bytes, rng: Random) -> bytes:
    """``line`` with one to three places changed."""
    data = bytearray(line)
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice((0, 1, 1, 1, 2, 5, 40)))
        other = rng.randrange(len(data) + 1)
        data[start:end] = rng.choice(
            (
                b"",
                rng.randbytes(1),
                bytes(data[other : other + end - start]),
                rng.choice(
                    (b'"', b",", b"[", b"]", b"{", b"}", b":", b" ", b"-", b"0", b"9", b"null", b"\\")
                ),
            )
        )
    return bytes(data)
