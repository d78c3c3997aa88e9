"""A proof file is read a piece at a time: what is shown is the same, and what is held does not grow with the game."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from click.testing import CliRunner
from hypothesis import given

from domain import events as e
from domain.refusals import Malformed
from domain.ruleset import RuleSet
from services import hands, proof_file
from services.cli_records import verify
from services.proof import Report, proof_lines, read_proof
from services.proof_file import ProofFile
from services.verdicts import verify_file, verify_proof
from tests.support.any_forgery import forge
from tests.support.games import play_game, rule_sets, seeds, steady, stored
from tests.support.proofs import KEY, at_of, claim, file_of, played

HEARTS = Path(sys.executable).with_name("hearts")
SIZES = (1, 7, 100, 5000)
"""Bytes that a file is read in at a time."""


def streamed(data: bytes, size: int = proof_file.PIECE) -> Report | str:
    """What is shown of a file that gives so many bytes at a time, or why it is none."""
    read = io.BytesIO(data).read
    try:
        return verify_file(ProofFile(lambda most: read(min(most, size))))
    except Malformed as error:
        return str(error)


def whole(data: bytes) -> Report | str:
    """What is shown of a file that is read before it is judged, or why it is none."""
    try:
        return verify_proof(read_proof(data))
    except Malformed as error:
        return str(error)


# --- the same as at once


@given(rule_sets(), seeds)
@steady(60)
def test_any_pieces_show_the_same(rules: RuleSet, seed: int) -> None:
    """Honest games and forged ones, spoiled bytes included: however the file comes, the report is the same."""
    rng = Random(seed)
    events = list(play_game(rules, seed, server_key=KEY.public).events)
    for _ in range(rng.choice([0, 1])):
        forge(events, rng)
    data = bytearray(file_of(events))
    if rng.random() < 0.3:
        data[rng.randrange(len(data))] = rng.randrange(256)
    expected = whole(bytes(data))
    assert [expected] * 2 == [streamed(bytes(data), size) for size in (rng.choice(SIZES), proof_file.PIECE)]


def test_a_hand_that_comes_in_two_pieces_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a file in memory that is judged some events at a time, then no hand is cut by that."""
    monkeypatch.setattr("services.verdicts._AT_ONCE", 10)
    report = verify_proof(read_proof(file_of(played().events)))
    assert claim(report, "R").detail.startswith("2 hands checked to the last card")
    assert report.ok


@pytest.mark.parametrize("size", SIZES)
def test_what_stands_behind_the_events_is_read_in_any_pieces(size: int) -> None:
    """The heads and the receipt come to the letter, with or without an end of the last line."""
    data = file_of(played().events)
    report = streamed(data, size)
    assert isinstance(report, Report)
    assert claim(report, "I").status == "holds"
    assert report == streamed(data.removesuffix(b"\n"), size)


@pytest.mark.parametrize("size", SIZES)
def test_what_is_no_proof_file_is_told_with_its_line(size: int) -> None:
    """Given lines left out, doubled or put in, then the fault and its line are those of the file read at once."""
    lines = file_of(played(moves=3).events).splitlines(keepends=True)
    for at in range(len(lines)):
        for forged in (
            [*lines[:at], *lines[at + 1 :]],
            [*lines[: at + 1], *lines[at:]],
            [*lines[:at], b"\n", *lines[at:]],
            lines[:at],
        ):
            data = b"".join(forged)
            assert whole(data) == streamed(data, size)


# --- bounds


def test_a_line_of_a_gigabyte_is_not_held() -> None:
    """Given a file that never ends its line, then it is refused when that is longer than the longest line of heads."""
    given, lines = 0, file_of(played(moves=3).events).split(b"\n")
    start = io.BytesIO(b"\n".join([*lines[:-3], b'{"heads":"']))

    def read(size: int) -> bytes:
        nonlocal given
        piece = start.read(size) or b"0" * size
        given += len(piece)
        assert given < 1 << 30
        return piece

    file = ProofFile(read)
    with pytest.raises(Malformed, match=rf"line {len(lines) - 2}: longer than"):
        list(file.events())
    assert given < proof_file.LONGEST_LINE + len(b"".join(lines)) + 2 * proof_file.PIECE


def test_a_hand_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given more events without the end of a hand than any hand has, then the line is named where it is enough."""
    data = file_of(played().events)
    monkeypatch.setattr(hands, "LONGEST_HAND", 20_000)
    assert streamed(data, 1000) == whole(data), "no hand is so long"
    event = e.SeatToBot(at=played().events[-1].at, seat=0)
    opened = list(played().events)[: at_of(list(played().events), e.HandDealt) + 1]
    told = streamed(file_of([*opened, *[event] * 1000]), 1000)
    assert isinstance(told, str)
    assert told.startswith("line 3")
    assert "without the end of a hand, and 20000 are the most" in told


def test_more_events_than_any_game_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given one event more than a file may have, then its line is named; so many are read."""
    data = file_of(played(moves=3).events)
    count = data.count(b'{"n":')
    monkeypatch.setattr(proof_file, "MOST_EVENTS", count)
    assert isinstance(streamed(data), Report)
    monkeypatch.setattr(proof_file, "MOST_EVENTS", count - 1)
    assert str(streamed(data)).startswith(f"line {count + 1}: a proof file has {count - 1} events at most")


def long_file(many: int) -> bytes:
    """The proof file of so many hands of one trick each."""
    base = list(played("bbbb", hand_limit=1, hand=1, pass_count=0, target=10**6).events)
    cut = at_of(base, e.HandDealt)
    events = [*base[:cut], *base[cut:-1] * many, base[-1]]
    return b"".join(proof_lines(stored(events), KEY))


def peak(data: bytes) -> int:
    """Bytes that were held at once while a file was judged."""
    source = io.BytesIO(data)
    streamed(data)
    tracemalloc.start()
    try:
        verify_file(ProofFile(source.read))
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_does_not_grow_but_by_the_heads() -> None:
    """Of each event that goes by its head is kept, 32 bytes, and at the end the line of heads comes on top."""
    short, long = long_file(2000), long_file(8000)
    more = long.count(b"\n") - short.count(b"\n")
    assert more > 30_000
    assert peak(long) - peak(short) < 90 * more


# --- the command


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    """A proof file."""
    path = tmp_path / "game.ndjson"
    path.write_bytes(file_of(played().events))
    return path


def test_a_proof_file_comes_through_a_pipe(proof: Path) -> None:
    """`cat FILE | hearts verify -` says what `hearts verify FILE` says."""
    named = CliRunner().invoke(verify, [str(proof)])
    with subprocess.Popen(
        [str(HEARTS), "verify", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        data = proof.read_bytes()
        for at in range(0, len(data), 5000):
            process.stdin.write(data[at : at + 5000])
            process.stdin.flush()
        process.stdin.close()
        told = process.stdout.read().decode()
    assert (0, named.stdout.replace(named.stdout.partition(": ")[0], "<stdin>", 1)) == (
        process.returncode,
        told,
    )


def test_a_file_that_breaks_off_while_it_is_read_is_told(
    proof: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a disk that fails in mid-file, then that is a sentence and status 2."""

    class Broken(io.BytesIO):
        name = "broken.ndjson"

        def read(self, size: int | None = -1) -> bytes:
            if self.tell() > 5000:
                raise OSError(5, "Input/output error")
            return super().read(min(size or 1000, 1000))

    monkeypatch.setattr("click.File.convert", lambda *_: Broken(proof.read_bytes()))
    result = CliRunner().invoke(verify, [str(proof)])
    assert result.exit_code == 2
    assert "the file cannot be read here: Input/output error" in result.stderr


def test_a_terminal_is_shown_how_far_a_proof_file_is(proof: Path) -> None:
    """A bar on a terminal, before the verdict that goes to the same terminal."""
    script = (
        f"from services import cli_records; cli_records.BAR_BYTES = 1; import sys; "
        f"sys.argv = ['verify', {str(proof)!r}]; cli_records.verify()"
    )
    leader, follower = pty.openpty()
    with subprocess.Popen([sys.executable, "-c", script], stdout=follower, stderr=follower) as process:
        os.close(follower)
        shown = b"".join(until_closed(leader))
    assert process.returncode == 0
    assert shown.index(b"100%") < shown.index(b"F (fair deals) holds")


def until_closed(terminal: int) -> Iterator[bytes]:
    """What comes to a terminal."""
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:  # Linux says so when nobody has the other end any more
            break
        if not data:
            break
        yield data
    os.close(terminal)


def test_a_fault_behind_the_events_is_told_by_its_line(proof: Path, tmp_path: Path) -> None:
    """However far on it stands."""
    data = proof.read_bytes().replace(b'"heads":"', b'"heads":"X')
    path = tmp_path / "late.ndjson"
    path.write_bytes(data)
    result = CliRunner().invoke(verify, [str(path)])
    number = data.count(b'{"n":') + 2
    assert f"line {number}: heads is not lower-case hex" in result.stderr
