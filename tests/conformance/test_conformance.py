"""The conformance data: every case in process and through the command, and proof files changed byte by byte."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from click.testing import CliRunner

from domain.record import parse_record, print_record, read_record, replay
from domain.refusals import Malformed
from services.cli_records import verify
from services.proof import Report, read_proof
from services.verdicts import verify_proof

FOLDER = Path(__file__).parent
CASES: list[dict[str, Any]] = [
    json.loads(line)
    for name in ("rules.ndjson", "more.ndjson", "variants.ndjson")
    for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()
]
PROOFS = sorted((FOLDER / "proofs").glob("*.ndjson"))
CHANGES = 120
"""Bytes changed of each proof file, one at a time."""

each_case = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
each_proof = pytest.mark.parametrize("path", PROOFS, ids=[path.stem for path in PROOFS])


def comparable(said: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """What was said of the fields that are expected, ``legal`` as a set without doublets."""
    part = {key: said.get(key) for key in expected}
    if isinstance(part.get("legal"), list):
        assert len(set(part["legal"])) == len(part["legal"])
        part["legal"] = sorted(part["legal"])
    return part


def wanted(case: dict[str, Any]) -> dict[str, Any]:
    """The expectation of a case, ``legal`` sorted."""
    expected = dict(case["expect"])
    if "legal" in expected:
        expected["legal"] = sorted(expected["legal"])
    return expected


def as_json(verdict: Any) -> dict[str, Any]:
    """A verdict as the fields that it has."""
    fields = {name: getattr(verdict, name) for name in verdict.__struct_fields__}
    return {name: value for name, value in fields.items() if value is not None}


def test_the_data_is_all_there() -> None:
    """All files of cases and the four proof files are read, and no name is used twice."""
    assert len(CASES) == 1059
    assert len({case["name"] for case in CASES}) == len(CASES)
    assert [path.stem for path in PROOFS] == ["basic-4", "cancellation-6", "special-4", "standard-3"]


@each_case
def test_a_case_comes_out_as_the_referee_says(case: dict[str, Any]) -> None:
    """The verdict on a record equals the expected one in every field that is named."""
    assert comparable(as_json(replay(parse_record(case["record"]))), wanted(case)) == wanted(case)


@each_case
def test_a_case_comes_out_the_same_when_written_again(case: dict[str, Any]) -> None:
    """A record that was read and printed in our own way has the same verdict."""
    record = parse_record(case["record"])
    again = read_record(print_record(record))
    if again.winners == () and record.winners is None:
        assert replay(again).code in (replay(record).code, "score/winners")
    else:
        assert replay(again) == replay(record)


def test_the_command_says_the_same_of_all_cases_in_one_file(tmp_path: Path) -> None:
    """`hearts verify --json` prints one object a record, in order, and exits 1 for the refused ones."""
    file = tmp_path / "cases.ndjson"
    file.write_text("".join(json.dumps(case["record"]) + "\n" for case in CASES), encoding="utf-8")
    result = CliRunner().invoke(verify, ["--json", str(file)])
    lines = result.stdout.splitlines()
    assert len(lines) == len(CASES)
    for case, line in zip(CASES, lines, strict=True):
        assert comparable(json.loads(line), wanted(case)) == wanted(case), case["name"]
    assert result.exit_code == 1
    assert result.stderr == ""


def test_the_command_holds_where_every_case_holds(tmp_path: Path) -> None:
    """Without the refused ones the exit status is 0."""
    held = [case["record"] for case in CASES if case["expect"]["ok"]]
    file = tmp_path / "cases.ndjson"
    file.write_text("".join(json.dumps(record) + "\n" for record in held), encoding="utf-8")
    result = CliRunner().invoke(verify, [str(file)])
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) == len(held) > 300


# --- proof files


def report_of(data: bytes) -> Report:
    """What a proof file shows."""
    return verify_proof(read_proof(data))


def refused(data: bytes) -> bool:
    """Whether a proof file is not readable as one, or a claim of it fails."""
    try:
        return not report_of(data).ok
    except Malformed:
        return True


@each_proof
def test_every_claim_of_a_proof_file_holds(path: Path) -> None:
    """F, I and R hold: the receipt shows I, and the players' entropy F."""
    report = report_of(path.read_bytes())
    assert report.ok
    assert {claim.name: claim.status for claim in report.claims} == {
        "F": "holds",
        "I": "holds",
        "R": "holds",
        "B": "not shown",
    }


@each_proof
def test_the_command_holds_for_a_proof_file(path: Path) -> None:
    """`hearts verify` exits 0 for it, and prints one line a claim."""
    result = CliRunner().invoke(verify, [str(path)])
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == ["F", "I", "R", "B"]


def line_starts(data: bytes) -> list[int]:
    """Where each line of a file begins, and its end."""
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def changes(data: bytes, name: str) -> Iterator[tuple[int, int, bytes]]:
    """Some changes of one byte: the line (from 0), the offset in it, and the changed file. All kinds of lines."""
    rng = Random(name)
    starts = line_starts(data)
    last = len(starts) - 2
    kinds: dict[bytes, list[int]] = {}
    for at, (start, end) in enumerate(pairwise(starts)):
        kinds.setdefault(data[start:end].partition(b'"t":')[2][:14] or b"line %d" % at, []).append(at)
    for turn in range(CHANGES):
        kind = sorted(kinds)[turn % len(kinds)]
        line = rng.choice(kinds[kind])
        offset = rng.randrange(starts[line + 1] - starts[line] - 1)
        place = starts[line] + offset
        byte = rng.choice([data[place] ^ 1, data[place] ^ 0x20, rng.randrange(256)])
        if byte != data[place]:
            yield line, offset, data[:place] + bytes([byte]) + data[place + 1 :]
    for line in (0, 1, last - 2, last - 1, last):
        place = starts[line + 1] - 1
        assert data[place : place + 1] == b"\n"
        yield line, place - starts[line], data[:place] + b" " + data[place + 1 :]


@each_proof
def test_a_proof_file_with_one_byte_changed_is_refused(path: Path) -> None:
    """A changed byte anywhere is found; inside event n claim I fails and names event n."""
    data = path.read_bytes()
    starts = line_starts(data)
    events = len(starts) - 1 - 3
    tried = 0
    for line, offset, changed in changes(data, path.stem):
        assert refused(changed), (line, offset)
        tried += 1
        whole_line = changed.count(b"\n") == data.count(b"\n")
        if not 1 <= line <= events or offset < len(b'{"n":') or not whole_line:
            continue
        claim = next(claim for claim in report_of(changed).claims if claim.name == "I")
        assert (claim.status, claim.event) == ("fails", line)
    assert tried > CHANGES // 2


@each_proof
def test_a_cut_proof_file_is_refused(path: Path) -> None:
    """Cut anywhere but between the heads and the receipt, a proof file is refused, and there I is not shown."""
    lines = path.read_bytes().splitlines(keepends=True)
    for kept in (0, 1, 2, len(lines) // 2, len(lines) - 3, len(lines) - 2):
        assert refused(b"".join(lines[:kept])), kept
    for kept in (1, 10, len(lines) // 2):
        assert refused(b"".join(lines[:kept] + lines[-2:])), "events cut out before the heads"
        assert refused(b"".join(lines[:-2])[:-kept]), "the last event cut short"
    report = report_of(b"".join(lines[:-1]))
    claim = next(claim for claim in report.claims if claim.name == "I")
    assert (report.ok, claim.status) == (True, "not shown")
    assert "receipt" in claim.detail


@each_proof
def test_a_tail_cut_off_with_its_heads_is_refused_by_the_receipt(path: Path) -> None:
    """A server that drops the last events and cuts the heads to fit is refuted by a receipt of the last one."""
    lines = path.read_bytes().splitlines(keepends=True)
    heads = json.loads(lines[-2])["heads"]
    short = json.dumps({"heads": heads[:-16]}, separators=(",", ":")).encode() + b"\n"
    data = b"".join([*lines[:-3], short, lines[-1]])
    claim = next(claim for claim in report_of(data).claims if claim.name == "I")
    assert claim.status == "fails"
    assert "receipt" in claim.detail


@each_proof
def test_a_receipt_of_another_game_or_with_another_signature_is_refused(path: Path) -> None:
    """A receipt changed in game, number, head or signature fails claim I at its event."""
    lines = path.read_bytes().splitlines(keepends=True)
    other = next(one for one in PROOFS if one != path).read_bytes().splitlines(keepends=True)[-1]
    receipt = json.loads(lines[-1])["receipt"]
    spoiled = [
        receipt | {"game": "g-other"},
        receipt | {"seq": receipt["seq"] - 1},
        receipt | {"seq": receipt["seq"] + 1},
        receipt | {"seq": 0},
        receipt | {"head": "00" * 32},
        receipt | {"signature": "00" * 64},
        receipt | {"signature": receipt["signature"][:-2]},
    ]
    texts = [json.dumps({"receipt": one}, separators=(",", ":")).encode() + b"\n" for one in spoiled]
    for text in [*texts, other]:
        report = report_of(b"".join([*lines[:-1], text]))
        claim = next(claim for claim in report.claims if claim.name == "I")
        assert claim.status == "fails", text
        assert not report.ok
