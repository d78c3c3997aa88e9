"""Proof files: a game's public events as they are stored, and what anybody can check of them offline.

The format and the claims are ``docs/spec/audit.md``. Reading is strict: a file that is not exactly of the format is
`Malformed`. A claim `holds`, `fails` at an event, or is not shown, with what would show it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, Final, Literal

import msgspec

from domain import events as e
from domain.refusals import CorruptLog, InvalidRules, Malformed
from domain.ruleset import check_rules
from domain.shuffle import genesis_head, next_head
from services.audit import Receipt, ServerKey, verify_receipt
from services.codec import CODEC
from services.fairness import FairnessCheck
from services.replay import Failed, RulesCheck
from services.store import Entry

FORMAT: Final = "hearts-audit/1"
HEAD_DIGITS: Final = 16
_HEADS_PIECE: Final = 32 * 1024
"""Bytes of heads that are written at a time."""
_HEX: Final = re.compile(r"(?:[0-9a-f]{2})+")


class Claim(msgspec.Struct, frozen=True, omit_defaults=True):
    """One claim of the audit and how far the file shows it."""

    name: Literal["F", "I", "R", "B"]
    title: str
    status: Literal["holds", "fails", "not shown"]
    detail: str
    event: int | None = None
    """The first event at fault."""

    @property
    def line(self) -> str:
        """The claim in one line for people."""
        if self.status == "fails":
            where = "" if self.event is None else f" at event {self.event}"
            return f"{self.name} ({self.title}) FAILS{where}: {self.detail}"
        return f"{self.name} ({self.title}) {self.status}: {self.detail}"


class Proof(msgspec.Struct, frozen=True):
    """A proof file as it was read."""

    game: str
    server_key: str
    lines: tuple[bytes, ...]
    """The stored public bytes of the events."""
    heads: str
    receipt: Receipt | None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What a proof file shows."""

    ok: bool
    """Whether no claim fails."""
    game: str
    events: int
    head: str
    claims: tuple[Claim, ...]
    key_pinned: bool
    """Whether the reader got the server's key elsewhere than from the file."""


class _Header(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    game: str
    server_key: str


class _Heads(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    heads: str


class _SignedHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    game: str
    seq: int
    head: str
    signature: str


class _ReceiptLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    receipt: _SignedHead


# --- writing


def proof_lines(
    entries: Iterable[Entry], key: ServerKey | None = None, expected: bytes | None = None
) -> Iterator[bytes]:
    """The proof file of a game's stored ``entries``, in pieces: each line with its newline, that of the heads cut up.

    With the server's ``key`` the last line is a receipt of the last event. Of what went by only the short heads are
    kept, 8 bytes an event. ``expected`` is the head that the server has answered before: where the stored bytes lead to
    another, somebody has changed them, and nothing is signed. Raises `CorruptLog`.
    """
    entries = iter(entries)
    opening = next(entries)
    first = CODEC.decode(opening[1])
    if not isinstance(first, e.GameCreated):
        raise CorruptLog("the first event is no game_created")
    yield _line(_Header(FORMAT, first.game, first.server_key))
    head, seq = genesis_head(first.game), 0
    heads = bytearray()
    for seq, public, _ in chain((opening,), entries):  # noqa: B007 (the last one is the receipt's)
        head = next_head(head, public)
        heads += head[: HEAD_DIGITS // 2]
        yield public + b"\n"
    yield b'{"heads":"'
    for at in range(0, len(heads), _HEADS_PIECE):
        yield heads[at : at + _HEADS_PIECE].hex().encode()
    yield b'"}\n'
    if expected is not None and head != expected:
        raise CorruptLog(
            f"game {first.game}: its stored events are not those it was played by; nothing is signed"
        )
    if key is not None:
        receipt = key.receipt(first.game, seq, head)
        yield _line(_ReceiptLine(_SignedHead(*receipt)))


def _line(what: msgspec.Struct) -> bytes:
    return msgspec.json.encode(what) + b"\n"


# --- reading


def read_proof(data: bytes) -> Proof:
    """The proof file in ``data``. Raises `Malformed`, with the number of the line, where it is none."""
    lines = data.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise Malformed("line 1: the file is empty")
    header = _read_line(1, lines[0], _Header)
    if header.format != FORMAT:
        raise Malformed(f"line 1: format is {header.format!r:.60}, not {FORMAT!r}")
    _require_hex(1, "server_key", header.server_key)
    count = next((at for at, line in enumerate(lines[1:]) if not line.startswith(b'{"n":')), len(lines) - 1)
    events, rest = lines[1 : count + 1], lines[count + 1 :]
    if not events:
        raise Malformed("line 2: there are no events")
    if not rest:
        raise Malformed(f"line {len(lines) + 1}: the line of heads is missing")
    heads = _read_line(count + 2, rest[0], _Heads).heads
    _require_hex(count + 2, "heads", heads)
    receipt = None
    if len(rest) > 1:
        signed = _read_line(count + 3, rest[1], _ReceiptLine).receipt
        for name in ("head", "signature"):
            _require_hex(count + 3, name, getattr(signed, name))
        receipt = Receipt(signed.game, signed.seq, signed.head, signed.signature)
    if len(rest) > 2:
        raise Malformed(f"line {count + 4}: nothing may follow the receipt")
    return Proof(header.game, header.server_key, tuple(events), heads, receipt)


def _read_line(number: int, line: bytes, kind: type[Any]) -> Any:
    if line.strip() != line:
        raise Malformed(f"line {number}: white space around the object")
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Malformed(f"line {number}: {error}") from error


def _require_hex(number: int, name: str, text: str) -> None:
    if not _HEX.fullmatch(text):
        raise Malformed(f"line {number}: {name} is not lower-case hex")


# --- verifying


def verify_proof(proof: Proof, server_key: str | None = None) -> Report:
    """What the proof shows. ``server_key`` is the first key of the server as the reader got it elsewhere, hex."""
    integrity, head = _integrity(proof, server_key)
    imported = False
    try:
        events = _events(proof)
        fairness, rules = _replayed(events)
        imported = events[0].imported is True  # type: ignore[union-attr]
    except Failed as failed:
        fairness = Claim("F", "fair deals", "not shown", "the events cannot be read")
        rules = Claim("R", "rules and score", "fails", str(failed), failed.event)
    if imported and integrity.status != "fails":
        integrity = Claim("I", integrity.title, "not shown", "imported; since then " + _since(integrity))
    claims = [fairness, integrity, rules, _bots(imported)]
    return Report(
        ok=all(claim.status != "fails" for claim in claims),
        game=proof.game,
        events=len(proof.lines),
        head=head.hex(),
        claims=tuple(claims),
        key_pinned=server_key is not None,
    )


def _integrity(proof: Proof, server_key: str | None) -> tuple[Claim, bytes]:
    """Claim I, and the head of the whole chain."""
    title = "nothing altered"
    head = genesis_head(proof.game)
    signed: bytes | None = None
    wrong: int | None = None
    for number, line in enumerate(proof.lines, 1):
        head = next_head(head, line)
        told = proof.heads[(number - 1) * HEAD_DIGITS : number * HEAD_DIGITS]
        if wrong is None and told != head.hex()[:HEAD_DIGITS]:
            wrong = number
        if proof.receipt is not None and proof.receipt.seq == number:
            signed = head
    if wrong is None and len(proof.heads) != len(proof.lines) * HEAD_DIGITS:
        wrong = len(proof.lines)
    if wrong is not None:
        return Claim("I", title, "fails", "its head is not the one in the file", wrong), head
    if server_key is not None and server_key != proof.server_key:
        return Claim("I", title, "fails", "the file names another server key than you have", 1), head
    receipt = proof.receipt
    if receipt is None:
        return Claim("I", title, "not shown", "a receipt or a checkpoint would show it"), head
    if receipt.game != proof.game or signed is None or receipt.head != signed.hex():
        return Claim("I", title, "fails", "the receipt was given for other events", receipt.seq), head
    if not verify_receipt(receipt, proof.server_key):
        return Claim(
            "I", title, "fails", "the signature of the receipt is not the server's", receipt.seq
        ), head
    pinned = "" if server_key else "; key not pinned: compare it with one you got elsewhere (--server-key)"
    return Claim(
        "I", title, "holds", f"by a receipt of event {receipt.seq} of {len(proof.lines)}{pinned}"
    ), head


def _events(proof: Proof) -> list[e.AnyEvent]:
    """The events, their numbers and the header checked. Raises `Failed`."""
    found: list[Any] = []
    for number, line in enumerate(proof.lines, 1):
        if not line.startswith(b'{"n":%d,"t":' % number) or line.strip() != line:
            raise Failed(number, "it is not numbered in order")
        try:
            found.append(CODEC.decode(line))
        except CorruptLog as error:
            raise Failed(number, str(error)) from error
    first = found[0]
    if not isinstance(first, e.GameCreated):
        raise Failed(1, "the first event is no game_created")
    if first.game != proof.game or first.server_key != proof.server_key:
        raise Failed(1, "the header names another game or key")
    try:
        check_rules(first.rules)
    except InvalidRules as error:
        raise Failed(1, f"the rules cannot be played: {error}") from error
    return found


def _replayed(events: Sequence[e.AnyEvent]) -> tuple[Claim, Claim]:
    """Claims F and R."""
    check = FairnessCheck()
    fairness = _claim("F", "fair deals", check.run, events)
    rules = RulesCheck(events, check.broken_off)
    return fairness, _claim("R", "rules and score", rules.run, events)


def _claim(name: Literal["F", "R"], title: str, run: Any, events: Iterable[e.AnyEvent]) -> Claim:
    try:
        status, detail = run(events)
    except Failed as failed:
        return Claim(name, title, "fails", str(failed), failed.event)
    return Claim(name, title, status, detail)


def _since(integrity: Claim) -> str:
    """What is shown of the time after a game was imported."""
    return f"it {integrity.status} {integrity.detail}" if integrity.status == "holds" else integrity.detail


def _bots(imported: bool) -> Claim:
    why = "imported" if imported else "this version does not play the bots' decisions again"
    return Claim("B", "honest bots", "not shown", why)
