"""Proof files of short games with a byte changed, and whether a reader finds and locates the change."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

import fakeredis

from domain.refusals import Malformed
from domain.shuffle import genesis_head, next_head
from domain.variants import ruleset_of
from services.chain import HEAD_DIGITS
from services.checkpoints import PublicLog
from services.integrity import Kept, KeptCheckpoint, read_kept_receipt
from services.leaves import Leaf, find_leaves
from services.notes import read_checkpoint
from services.proof import Report, proof_lines, read_proof
from services.translog import TransparencyLog
from services.verdicts import verify_proof
from services.wire import Wire
from tests.support.games import play_game, stored
from tests.support.proofs import KEY

FAMILIES = {
    "basic": 4,
    "classic": 4,
    "special": 4,
    "standard": 3,
    "cancellation": 6,
    "omnibus": 4,
}
"""The families, each with the seats of its short game."""


class Found(NamedTuple):
    """What became of a file: refused at a line, or judged by a report."""

    line: int | None
    report: Report | None

    @property
    def refused(self) -> bool:
        """Whether the file does not hold."""
        return self.report is None or not self.report.ok

    @property
    def events(self) -> set[int]:
        """The events that failing claims name."""
        claims = () if self.report is None else self.report.claims
        return {claim.event for claim in claims if claim.event is not None}


@cache
def short_file(family: str, receipt: bool = False) -> bytes:
    """The proof file of a game of one trick, with a pass where the family has one."""
    rules = ruleset_of(
        {"variant": family, "players": FAMILIES[family], "hand": 1, "pass_count": 1, "hand_limit": 1}
    )
    game = play_game(rules, 7, kinds="pnb" + "p" * (FAMILIES[family] - 3), server_key=KEY.public)
    return b"".join(proof_lines(stored(game.events), KEY if receipt else None))


@cache
def kept_receipt(family: str) -> Kept:
    """The receipt that the last command of the game was answered with."""
    line = short_file(family, receipt=True).splitlines()[-1]
    return Kept((read_kept_receipt(line),))


@cache
def kept_checkpoint(family: str) -> Kept:
    """A checkpoint of the log, after other games, with the leaf of the game's end."""
    entries = [(seq, line, b"") for seq, line in enumerate(read_proof(short_file(family)).lines, 1)]
    leaves: list[Leaf] = find_leaves("g-test", entries)
    tree = TransparencyLog(
        Wire(fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2, version=(7, 0)))
    )
    tree.add([leaves[0]._replace(game="g-other"), *leaves, leaves[1]._replace(game="g-other")])
    proof = PublicLog(tree, KEY, "example.org/hearts").prove([leaves[1]])
    assert proof is not None
    return Kept((), (KeptCheckpoint(read_checkpoint(proof.checkpoint), leaves[1], proof.inclusions[0]),))


def judge(data: bytes, kept: Kept = Kept()) -> Found:  # noqa: B008 (a value)
    """What a reader who kept ``kept`` is told of a file."""
    try:
        return Found(None, verify_proof(read_proof(data), None, kept))
    except Malformed as error:
        word, number = str(error).partition(":")[0].split()
        assert "line" == word
        return Found(int(number), None)


def line_starts(data: bytes) -> list[int]:
    """Where each line begins, and the end."""
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def changed(data: bytes, at: int, to: int) -> bytes:
    """The file with the byte at a place changed."""
    assert data[at] != to
    return data[:at] + bytes([to]) + data[at + 1 :]


def places(data: bytes) -> Iterator[tuple[int, int]]:
    """Each byte of a file and the number of its line, from 1."""
    starts = line_starts(data)
    for line, (start, end) in enumerate(pairwise(starts), 1):
        yield from ((at, line) for at in range(start, end))


def is_located(data: bytes, at: int, to: int, line: int, found: Found) -> bool:
    """Whether what was found names the place of the change of byte ``at``, of ``line``, to ``to``.

    A line that cannot be read is named by its number, an event by its own, which is one less; a changed head by the
    event that it is of, and what stands behind the heads by an event that it is of. What the first line says is of all events, so it is held to the first. Where a line's end comes
    or goes, the line behind it may be the one that cannot be read.
    """
    if found.line is not None and line == 1:
        # another key in the header is told where the checkpoint is that it has not signed
        behind = data.splitlines()[found.line - 1] if found.line <= data.count(b"\n") else b""
        return found.line in (1, 2) or behind.startswith(b'{"checkpoint"')
    if found.line is not None:
        return found.line in ((line, line + 1) if ord("\n") in (data[at], to) else (line,))
    lines = data.splitlines(keepends=True)
    if lines[line - 1].startswith(b'{"heads"'):
        digit = at - line_starts(data)[line - 1] - len(b'{"heads":"')
        return digit // HEAD_DIGITS + 1 in found.events
    if lines[line - 1].startswith((b'{"receipt"', b'{"checkpoint"', b'{"inclusion"')):
        return bool(found.events)
    return max(line - 1, 1) in found.events


def with_heads_anew(data: bytes) -> bytes:
    """The file with the line of heads that its events lead to, as whoever changes a file would write it."""
    header, *events, _ = data.splitlines()
    head, digits = genesis_head(json.loads(header)["game"]), ""
    for line in events:
        head = next_head(head, line)
        digits += head.hex()[:HEAD_DIGITS]
    return b"\n".join([header, *events, json.dumps({"heads": digits}, separators=(",", ":")).encode(), b""])
