"""Proof files: a game's public events as they are stored, and what anybody can check of them offline.

The format and the claims are ``docs/spec/audit.md``. Reading is strict: a file that is not exactly of the format is
`Malformed`. A claim `holds`, `fails` at an event, or is not shown, with what would show it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, Literal

import msgspec

from domain import events as e
from domain.refusals import CorruptLog, InvalidRules, Malformed
from domain.ruleset import check_rules
from domain.shuffle import genesis_head, next_head
from services.audit import Receipt, ServerKey
from services.checkpoints import Inclusion, LogProof
from services.codec import CODEC
from services.fairness import FairnessCheck, unshown
from services.integrity import (
    HEAD_DIGITS,
    IntegrityCheck,
    Kept,
    Signed,
    check_hex,
    follow_chain,
)
from services.leaves import Leaf, leaf_kind
from services.notes import SignedCheckpoint, read_checkpoint
from services.replay import Failed, RulesCheck
from services.rerun import NOT_ASKED, BotsCheck, bot_moves
from services.rotations import KeysOverTime
from services.signatures import SignatureCheck
from services.store import Entry

FORMAT: Final = "hearts-audit/1"
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
    checkpoint: SignedCheckpoint | None = None
    inclusions: tuple[Inclusion, ...] = ()

    @property
    def signed(self) -> Signed:
        """All that the server has signed of the game."""
        receipts = () if self.receipt is None else (self.receipt,)
        return Signed(receipts, self.checkpoint, self.inclusions)


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


class _CheckpointLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    checkpoint: str


class _InclusionLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    inclusion: Inclusion


BOTS: Final = "honest bots"
MOST_INCLUSIONS: Final = 2
"""A game has a leaf at its lock and one at its end."""


# --- writing


def proof_lines(
    entries: Iterable[Entry],
    key: ServerKey | None = None,
    expected: bytes | None = None,
    log: Callable[[Sequence[Leaf]], LogProof | None] | None = None,
) -> Iterator[bytes]:
    """The proof file of a game's stored ``entries``, in pieces: each line with its newline, that of the heads cut up.

    With the server's ``key`` the last line is a receipt of the last event. Of what went by only the short heads are
    kept, 8 bytes an event. ``expected`` is the head that the server has answered before: where the stored bytes lead to
    another, somebody has changed them, and nothing is signed. ``log`` is asked at the end what it has of the game's leaves.
    Raises `CorruptLog`.
    """
    entries = iter(entries)
    opening = next(entries)
    first = CODEC.decode(opening[1])
    if not isinstance(first, e.GameCreated):
        raise CorruptLog("the first event is no game_created")
    yield _line(_Header(FORMAT, first.game, first.server_key))
    head, seq = genesis_head(first.game), 0
    heads, leaves = bytearray(), []
    for seq, public, _ in chain((opening,), entries):
        head = next_head(head, public)
        kind = leaf_kind(seq, public)
        if kind is not None:
            leaves.append(Leaf(first.game, kind, seq, head))
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
    logged = None if log is None else log(leaves)
    if logged is not None:
        yield _line(_CheckpointLine(logged.checkpoint))
        for inclusion in logged.inclusions:
            yield _line(_InclusionLine(inclusion))


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
    receipt, checkpoint, inclusions = _read_signed(count + 3, rest[1:])
    return Proof(header.game, header.server_key, tuple(events), heads, receipt, checkpoint, inclusions)


def _read_signed(
    first: int, lines: Sequence[bytes]
) -> tuple[Receipt | None, SignedCheckpoint | None, tuple[Inclusion, ...]]:
    """What stands behind the heads from line ``first`` on: a receipt, a checkpoint, inclusions, each only if it is there."""
    receipt = checkpoint = None
    paths: list[Inclusion] = []
    for number, line in enumerate(lines, first):
        if line.startswith(b'{"receipt":') and not (receipt or checkpoint or paths):
            receipt = _read_receipt(number, line)
        elif line.startswith(b'{"checkpoint":') and not (checkpoint or paths):
            note = _read_line(number, line, _CheckpointLine).checkpoint
            try:
                checkpoint = read_checkpoint(note)
            except Malformed as error:
                raise Malformed(f"line {number}: {error}") from error
        elif line.startswith(b'{"inclusion":') and len(paths) < MOST_INCLUSIONS:
            paths.append(_read_inclusion(number, line))
        else:
            raise Malformed(
                f"line {number}: nothing may follow the heads but a receipt, a checkpoint "
                f"and {MOST_INCLUSIONS} inclusions, in this order"
            )
    return receipt, checkpoint, tuple(paths)


def _read_receipt(number: int, line: bytes) -> Receipt:
    signed = _read_line(number, line, _ReceiptLine).receipt
    for name in ("head", "signature"):
        _require_hex(number, name, getattr(signed, name))
    return Receipt(signed.game, signed.seq, signed.head, signed.signature)


def _read_inclusion(number: int, line: bytes) -> Inclusion:
    read: Inclusion = _read_line(number, line, _InclusionLine).inclusion
    try:
        check_hex((read.leaf, *read.path))
    except ValueError as error:
        raise Malformed(f"line {number}: {error}") from error
    return read


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


def verify_proof(
    proof: Proof,
    server_key: str | None = None,
    kept: Kept = Kept(),  # noqa: B008 (a value)
    seat_keys: Mapping[int, str] | None = None,
    *,
    rerun_bots: bool = False,
) -> Report:
    """What the proof shows.

    ``server_key`` is the first key of the server as the reader got it elsewhere, ``seat_keys`` those of seats that sign
    their moves, all in hex; ``kept`` what it kept itself. With ``rerun_bots`` the bots' decisions are made again.
    """
    events, broken = _events(proof)
    integrity, head = _integrity(proof, server_key, kept, events)
    why = ""
    if broken is None:
        fairness, rules, bots = _replayed(events, SignatureCheck(_heads(proof), seat_keys), rerun_bots)
        why = unshown(events[0])  # type: ignore[arg-type]
    else:
        fairness = Claim("F", "fair deals", "not shown", "the events cannot be read")
        rules = Claim("R", "rules and score", "fails", str(broken), broken.event)
        bots = Claim("B", BOTS, "not shown", "the events cannot be read")
    if why and integrity.status != "fails":
        integrity = Claim("I", integrity.title, "not shown", f"{why}; since then {_since(integrity)}")
    claims = [fairness, integrity, rules, bots]
    return Report(
        ok=all(claim.status != "fails" for claim in claims),
        game=proof.game,
        events=len(proof.lines),
        head=head.hex(),
        claims=tuple(claims),
        key_pinned=server_key is not None,
    )


def _integrity(
    proof: Proof, server_key: str | None, kept: Kept, events: Sequence[e.AnyEvent]
) -> tuple[Claim, bytes]:
    """Claim I, and the head of the whole chain. ``events`` are those that can be read."""
    signed = proof.signed
    wanted = [one.seq for one in (*signed.receipts, *kept.receipts)]
    chain, wrong = follow_chain(proof.game, proof.lines, proof.heads, wanted)

    def run(_: object) -> tuple[Literal["holds", "not shown"], str]:
        # a rotation that is forged is told before a head that follows from it
        keys = KeysOverTime(proof.game, proof.server_key, events if wrong is None else events[: wrong - 1])
        if wrong is not None:
            raise Failed(wrong, "its head is not the one in the file")
        check = IntegrityCheck(proof.game, keys, len(proof.lines), chain)
        return check.run(signed, kept, server_key)

    return _claim("I", "nothing altered", run, ()), chain.head


def _heads(proof: Proof) -> list[bytes]:
    """The heads of the chain, that of no event first."""
    heads = [genesis_head(proof.game)]
    for line in proof.lines:
        heads.append(next_head(heads[-1], line))
    return heads


def _events(proof: Proof) -> tuple[list[e.AnyEvent], Failed | None]:
    """The events, their numbers and the header checked: those before the first fault, and that fault."""
    found: list[e.AnyEvent] = []
    try:
        _read_events(proof, found)
    except Failed as failed:
        return found, failed
    return found, None


def _read_events(proof: Proof, found: list[Any]) -> None:
    for number, line in enumerate(proof.lines, 1):
        if not line.startswith(b'{"n":%d,"t":' % number) or line.strip() != line:
            raise Failed(number, "it is not numbered in order")
        try:
            if not line.isascii():
                line.decode()  # msgspec passes over what it does not know, whatever its bytes
            found.append(CODEC.decode(line))
        except CorruptLog as error:
            raise Failed(number, str(error)) from error
        except UnicodeDecodeError as error:
            raise Failed(number, f"an event is no UTF-8: {error}") from error
    first = found[0]
    if not isinstance(first, e.GameCreated):
        raise Failed(1, "the first event is no game_created")
    if first.game != proof.game or first.server_key != proof.server_key:
        raise Failed(1, "the header names another game or key")
    try:
        check_rules(first.rules)
    except InvalidRules as error:
        raise Failed(1, f"the rules cannot be played: {error}") from error


def _replayed(
    events: Sequence[e.AnyEvent], signatures: SignatureCheck, rerun_bots: bool
) -> tuple[Claim, Claim, Claim]:
    """Claims F, R and B. Of signed moves, R has that they are their seats' own."""
    check = FairnessCheck()
    fairness = _claim("F", "fair deals", check.run, events)
    rules = RulesCheck(events, check.broken_off)
    found = _claim("R", "rules and score", rules.run, events)
    bots = _bots(events, fairness, BotsCheck(check.broken_off, found.event), rerun_bots)
    sound = events if found.event is None else events[: found.event - 1]
    try:
        signed = signatures.run(sound, check.broken_off)
    except Failed as failed:
        return fairness, Claim("R", found.title, "fails", str(failed), failed.event), bots
    if found.status != "fails":
        found = msgspec.structs.replace(found, detail=found.detail + signed)
    return fairness, found, bots


def _claim(name: Literal["F", "I", "R", "B"], title: str, run: Any, events: Iterable[e.AnyEvent]) -> Claim:
    try:
        status, detail = run(events)
    except Failed as failed:
        return Claim(name, title, "fails", str(failed), failed.event)
    return Claim(name, title, status, detail)


def _since(integrity: Claim) -> str:
    """What is shown of the time after a game was imported or branched off."""
    return f"it {integrity.status} {integrity.detail}" if integrity.status == "holds" else integrity.detail


def _bots(events: Sequence[e.AnyEvent], fairness: Claim, check: BotsCheck, asked: bool) -> Claim:
    """Claim B. The seeds follow from the secrets of the deals, so these must have been shown to be right."""
    why = unshown(events[0])  # type: ignore[arg-type]
    if not why and bot_moves(events):
        why = "" if asked else NOT_ASKED
        if asked and fairness.status == "fails":
            why = "the bots' seeds follow from the secrets of the deals, and claim F fails"
    return Claim("B", BOTS, "not shown", why) if why else _claim("B", BOTS, check.run, events)
