"""`hearts verify` and `hearts legal` on files that mean harm, or cannot be read."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from services.bulk import How, judge_all
from services.cli_records import legal, verify
from services.cli_replay import replay
from services.record_files import Unreadable, until_broken
from services.sealed import seal
from tests.services.test_cli_records import GAME, KEY, OVER, PROOF, REVOKE, UNFINISHED, line, record, run
from tests.support.running import house_environ

__all__ = ["run"]

NAME = "x\x1b[2J\nforged:1: holds\u202e" + "y" * 100_000
SHOWN = "x\ufffd[2J\ufffdforged:1: holds\ufffd"


@pytest.mark.parametrize("text", [OVER, UNFINISHED, REVOKE])
def test_a_seats_name_forges_nothing(run: Any, text: dict[str, Any]) -> None:
    """One line, no escapes, and of a long name the beginning."""
    for command in (verify, legal):
        said = run(command, line(text | {"seats": [NAME] * len(text["seats"])}))
        assert said.stdout.removesuffix("\n").isprintable()
        assert (SHOWN in said.stdout) == (text is not REVOKE)
        assert len(said.stdout) < 1000


def test_what_a_file_says_wrong_forges_nothing(run: Any) -> None:
    """Keys, rules and formats are quoted in reasons, each in one printable line."""
    odd = "\x1b[2J\nfile: line 1: fine\u202e"
    bad = [OVER | {odd: 1}, OVER | {"rules": {"variant": odd}}, OVER | {"rules": {odd: 1}}, {"format": odd}]
    bad.append(OVER | {"rules": {"variant": "basic", "tie": odd}})
    bad.append(OVER | {"hands": [{odd: 1}]})
    for text in bad:
        for encoded in (json.dumps(text).encode(), json.dumps(text, ensure_ascii=False).encode()):
            said = run(verify, encoded)
            assert (2, True) == (said.exit_code, said.stderr.removesuffix("\n").isprintable()), said.stderr
    lines = PROOF.splitlines(keepends=True)
    game = lines[0].replace(b"g-test", b"g\\u001b[2J\\n")
    assert game != lines[0]
    for text in run(verify, game + b"".join(lines[1:])).stdout.splitlines():
        assert text.isprintable()


def test_a_files_name_forges_nothing(tmp_path: Path) -> None:
    """Not even one with a line break."""
    path = tmp_path / "a\nb\x1b[2J"
    path.write_bytes(line(OVER) + b"garbage\n")
    said = CliRunner().invoke(verify, [str(path)])
    assert said.stdout.removesuffix("\n").isprintable()
    assert said.stderr.removesuffix("\n").isprintable()
    assert "a\ufffdb\ufffd[2J:1: holds" in said.stdout


def test_a_key_twice_is_no_record(run: Any) -> None:
    """Of two readers each might see another game: status 2, with line and key, whatever the others say."""
    twice = line(OVER).replace(b'{"format"', b'{"winners": [0], "format"', 1)
    inner = line(OVER).replace(b'"plays":', b'"plays": [], "pl\\u0061ys":', 1)
    for command in (verify, legal):
        said = run(command, line(OVER) + twice + inner + line(OVER))
        assert 2 == said.exit_code
        assert "line 2: the key 'winners' stands there twice" in said.stderr
        assert "line 3: the key 'plays' stands there twice" in said.stderr
        assert 2 == len(said.stdout.splitlines())
    pretty = json.dumps(OVER, indent=1).replace('"seats":', '"seats": [],\n"seats":')
    at = pretty[: pretty.rindex('"seats"')].count("\n") + 1
    assert f"line {at}: the key 'seats' stands there twice" in run(verify, pretty.encode()).stderr


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    """What the system refuses is a sentence and status 2, and other files are judged."""
    path = tmp_path / "record"
    path.write_bytes(line(OVER))
    for command in (verify, legal):
        said = CliRunner().invoke(command, ["/proc/self/mem", str(path)])
        assert (2, 1) == (said.exit_code, len(said.stdout.splitlines()))
        assert "/proc/self/mem: line 1: the file cannot be read here: Input/output error\n" == said.stderr


def test_a_file_that_breaks_off_is_judged_so_far() -> None:
    """What was read before counts, and where it broke off is told."""

    def texts() -> Any:
        yield 1, line(OVER)
        raise Unreadable(2, "gone")

    broken: list[Unreadable] = []
    (judged,) = judge_all(until_broken(texts(), broken), How("f", False, False), 1)
    assert ((1, 0, 0), [2]) == (judged.counts, [one.line for one in broken])


@pytest.mark.parametrize("command", ["verify", "legal"])
def test_a_closed_standard_input(command: str) -> None:
    """Wrong usage, and no traceback."""
    program = f"from services.cli_records import {command}; {command}()"
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" -c "$1" - <&-', sys.executable, program],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.endswith("standard input is closed\n")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xef\xbb\xbf" + PROOF, "a byte order mark stands before the header"),
        (b"\n" + PROOF, "it is empty, and the header should stand there"),
        (b"\xef\xbb\xbf\n \n" + PROOF, "a byte order mark stands before the header"),
        (PROOF.partition(b"\n")[2], "the header is missing: the file begins with an event"),
        (PROOF.replace(b'"server_key"', b'"mood":1,"server_key"', 1), "mood does not belong there"),
        (PROOF.replace(b'"server_key"', b'"key"', 1), "server_key is missing or not as it should be"),
    ],
)
def test_of_a_proof_file_every_byte_counts(run: Any, content: bytes, words: str) -> None:
    """What stands before its header, or in its place, is told in one line of plain words."""
    done = run(verify, content)
    assert (2, "", 1) == (done.exit_code, done.stdout, len(done.stderr.splitlines()))
    assert f"line 1: {words}" in done.stderr


def test_the_answer_of_a_server_is_no_file(run: Any) -> None:
    """Given the problem that a server answered in place of a proof file, then its title is told, however it is printed."""
    problem = {
        "type": "/errors#x",
        "title": "No such\x1b game",
        "status": 404,
        "detail": "There is no game g-x.",
    }
    for indent in (None, 2):
        done = run(verify, json.dumps(problem, indent=indent).encode())
        assert (2, "", 1) == (done.exit_code, done.stdout, len(done.stderr.splitlines()))
        assert "no file but a server's answer, 404: No such\ufffd game (There is no game g-x.)" in done.stderr


@pytest.mark.parametrize("words", [("--server-key", KEY.public), ("--seat-key", f"0={KEY.public}")])
def test_a_key_is_of_a_proof_file(run: Any, words: tuple[str, ...]) -> None:
    """Given a record, then a key shows nothing of it, and that is told."""
    done = run(verify, line(OVER), options=words)
    assert (2, "") == (done.exit_code, done.stdout)
    assert "a key is of a proof file, and this is a record" in done.stderr


# --- compressed, and of another version


def test_what_gzip_has_compressed_is_read(run: Any) -> None:
    """A proof file, records, and a sealed game as the archive has it; one that is damaged is told."""
    sealed = seal(GAME.entries())
    for packed in (gzip.compress(PROOF), sealed):
        result = run(verify, packed)
        assert result.exit_code == 0, result.output
        assert f"game g-test, {len(GAME.events)} events" in result.stdout
    assert run(verify, gzip.compress(line(record()))).stdout == run(verify, line(record())).stdout
    for damaged in (sealed[:-1], gzip.compress(PROOF)[:50], b"\x1f\x8b"):
        result = run(verify, damaged)
        assert (2, True) == (result.exit_code, "compressed by gzip, and damaged" in result.stderr)


def in_members(data: bytes, *cuts: int) -> bytes:
    """Data compressed by gzip piece by piece, as by several programs at a time or one after another."""
    places = [0, *cuts, len(data)]
    return b"".join(gzip.compress(data[at:end]) for at, end in pairwise(places))


@pytest.mark.parametrize("cuts", [(100,), (100, 5000), (0,), (len(PROOF) - 1,)])
def test_what_gzip_has_compressed_in_pieces_is_read(run: Any, cuts: tuple[int, ...]) -> None:
    """Any number of members, cut anywhere; and what is damaged in a later one is told."""
    packed = in_members(PROOF, *cuts)
    assert run(verify, packed).stdout == run(verify, PROOF).stdout
    assert gzip.decompress(packed) == PROOF
    records = line(record()) * 2
    cut = len(records) // 2
    assert run(verify, in_members(records, cut)).stdout == run(verify, records).stdout
    for damaged in (packed[:-9], packed + b"junk"):
        result = run(verify, damaged)
        assert (2, True) == (result.exit_code, "compressed by gzip, and damaged" in result.stderr)


def test_what_comes_through_a_pipe_may_be_compressed() -> None:
    """Plain, by gzip, in pieces, and as the archive has it: the same is said."""
    told = set()
    for given in (PROOF, gzip.compress(PROOF), in_members(PROOF, 100), seal(GAME.entries())):
        done = subprocess.run(
            [sys.executable, "-m", "services.cli", "verify", "--json", "-"],
            env=house_environ(),
            input=given,
            capture_output=True,
        )
        claims = json.loads(done.stdout)["claims"]
        told.add((done.returncode, done.stderr, *(one["status"] for one in claims if one["name"] != "I")))
    assert {(0, b"", "holds", "holds", "not shown")} == told


def test_what_was_in_a_file_of_the_archive_is_told_from_a_proof_file(run: Any) -> None:
    """Given a file of the archive that another program has unpacked, then it is said where the proof file ends, and what to do."""
    unpacked = gzip.decompress(seal(GAME.entries()))
    done = run(verify, unpacked)
    assert (2, "") == (done.exit_code, done.stdout)
    assert "nothing may follow the heads" in done.stderr
    assert "what the archive keeps behind a proof file in a second part of the compressed one" in done.stderr


def test_a_proof_file_of_another_version_is_told(run: Any) -> None:
    """And not taken for a record that lacks everything."""
    result = run(verify, PROOF.replace(b"hearts-audit/1", b"hearts-audit/2", 1))
    assert result.exit_code == 2
    assert (
        "line 1: the file is of the format 'hearts-audit/2', and this program reads hearts-audit/1"
        in result.stderr
    )


def test_replay_reads_what_gzip_has_compressed(run: Any) -> None:
    """As it reads the same file plain."""
    assert run(replay, PROOF).stdout == run(replay, gzip.compress(PROOF)).stdout != ""
