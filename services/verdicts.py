"""What a proof file shows: the four claims of ``docs/spec/audit.md``, each judged by a module of its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from domain import events as e
from domain.refusals import CorruptLog, InvalidRules
from domain.ruleset import check_rules
from domain.shuffle import genesis_head, next_head
from services.codec import CODEC
from services.fairness import FairnessCheck, unshown
from services.integrity import (
    IntegrityCheck,
    Kept,
    follow_chain,
)
from services.proof import Claim, Proof, Report
from services.replay import Failed, RulesCheck
from services.rerun import NOT_ASKED, BotsCheck, bot_moves
from services.rotations import KeysOverTime
from services.signatures import SignatureCheck

BOTS: Final = "honest bots"


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
