"""What a proof file shows: the four claims of ``docs/spec/audit.md``, each judged by a module of its own.

The events go by once, hand by hand, and every check takes from each hand what it needs; it stops at its own first fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from domain import events as e
from domain.refusals import InvalidRules
from domain.ruleset import check_rules
from services.chain import Chain
from services.fairness import FairnessCheck, unshown
from services.faults import Failed
from services.hands import EventReader, Hands
from services.integrity import IntegrityCheck, Kept, Signed, WrongEvidence, check_evidence
from services.levels import bots_level, rules_level
from services.proof import Claim, Proof, Report
from services.proof_file import ProofFile
from services.replay import RulesCheck
from services.rerun import ASK, NOT_ASKED, BotsCheck, bot_moves
from services.rotations import KeysOverTime
from services.signatures import SignatureCheck

BOTS: Final = "honest bots"
_AT_ONCE: Final = 1024
"""Events of a proof in memory that are judged at a time."""


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
    Raises `Malformed` where a hand has more events than are read, `WrongEvidence` where ``kept`` is of another game or server.
    """
    verifier = Verifier(proof.game, proof.server_key, seat_keys, rerun_bots=rerun_bots)
    for at in range(0, len(proof.lines), _AT_ONCE):
        lines = proof.lines[at : at + _AT_ONCE]
        verifier.feed(lines, b"\n".join(lines))
    return verifier.report(proof.heads, proof.signed, server_key, kept)


def verify_file(
    file: ProofFile,
    server_key: str | None = None,
    kept: Kept = Kept(),  # noqa: B008 (a value)
    seat_keys: Mapping[int, str] | None = None,
    *,
    rerun_bots: bool = False,
) -> Report:
    """What a proof file shows, as `verify_proof`, which is read here for the first time and never held.

    Raises `Malformed`, with the number of the line, where it is no proof file, and `WrongEvidence`.
    """
    verifier = Verifier(file.game, file.server_key, seat_keys, rerun_bots=rerun_bots)
    for lines, together in file.events():
        verifier.feed(lines, together)
    heads, signed = file.behind()
    return verifier.report(heads, signed, server_key, kept)


def verify_throughout(proof: Proof, server_key: str, kept: Kept) -> tuple[Report, list[Claim]]:
    """`verify_proof` for an audit, which takes no keys of seats: all decisions of bots are made again, and claims F and R go on behind a hand that fails.

    What follows from a hand that fails is judged as if its score and its secret were right, so not all that is named is a
    fault of its own.
    """
    verifier = Verifier(proof.game, proof.server_key, None, rerun_bots=True, throughout=True)
    verifier.feed(proof.lines, b"\n".join(proof.lines))
    report = verifier.report(proof.heads, proof.signed, server_key, kept)
    return report, verifier.more


class Verifier:
    """Judges a proof file of which it is fed the events' lines in order, and at the end what stands behind them."""

    def __init__(
        self,
        game: str,
        server_key: str,
        seat_keys: Mapping[int, str] | None = None,
        *,
        rerun_bots: bool,
        throughout: bool = False,
    ) -> None:
        self._game, self._server_key, self._audit = game, server_key, throughout
        self._reader = EventReader()
        self._chain = Chain(game)
        self._keys = KeysOverTime(game, server_key)
        self._keys_fault: Failed | None = None
        self._first: e.AnyEvent | None = None
        self._first_fault: Failed | None = None
        self._hands = Hands()
        self._replay = _Replay(SignatureCheck(self._chain.head_of, seat_keys), rerun_bots, throughout)

    @property
    def more(self) -> list[Claim]:
        """The faults behind the first ones of F and R, where they are looked for."""
        return self._replay.more

    def feed(self, lines: Sequence[bytes], together: bytes) -> None:
        """Judge the next lines; ``together`` are the same, joined by line ends."""
        self._chain.add(lines, together)
        events = self._reader.read(lines, together)
        if self._first is None and events:
            self._first = events[0]
            self._first_fault = self._check_first(events[0])
        if self._keys_fault is None:
            self._keys_fault = _caught(self._keys.feed, events)
        if self._first_fault is None and self._reader.fault is None:
            for hand in self._hands.add(events, len(together)):
                self._replay.feed(hand)

    def report(self, heads: str, signed: Signed, server_key: str | None, kept: Kept) -> Report:
        """What all of it shows. Raises `WrongEvidence` where ``kept`` is of another game or server."""
        if isinstance(self._first, e.GameCreated) and self._first.game == self._game:
            check_evidence(kept, self._game)
        integrity = self._integrity(heads, signed, server_key, kept)
        broken = self._reader.fault or self._first_fault
        why = ""
        if broken is None:
            if rest := self._hands.rest():
                self._replay.feed(rest)
            assert isinstance(self._first, e.GameCreated)
            fairness, rules, bots = self._replay.claims(self._first)
            why = unshown(self._first)
        else:
            fairness = Claim("F", "fair deals", "not shown", "the events cannot be read")
            rules = Claim("R", "rules and score", "fails", str(broken), broken.event, cause=broken.cause)
            bots = Claim("B", BOTS, "not shown", "the events cannot be read")
        if why and integrity.status != "fails":
            told = f"{why}; since then {_since(integrity)}"
            integrity = Claim("I", integrity.title, "not shown", told)
        claims = (fairness, integrity, rules, bots)
        return Report(
            ok=all(claim.status != "fails" for claim in claims),
            game=self._game,
            events=self._chain.events,
            head=self._chain.head.hex(),
            claims=claims,
            key_pinned=server_key is not None,
        )

    def _check_first(self, first: e.AnyEvent) -> Failed | None:
        if not isinstance(first, e.GameCreated):
            return Failed(1, "the first event is no game_created")
        if first.game != self._game or first.server_key != self._server_key:
            return Failed(1, "the header names another game or key")
        try:
            check_rules(first.rules)
        except InvalidRules as error:
            return Failed(1, f"the rules cannot be played: {error}")
        return None

    def _integrity(self, heads: str, signed: Signed, server_key: str | None, kept: Kept) -> Claim:
        wrong, forged = self._chain.first_wrong(heads), self._keys_fault

        check = IntegrityCheck(self._game, self._keys, self._chain)

        def run() -> tuple[Literal["holds", "not shown"], str]:
            # a rotation that is forged is told before a head that follows from it
            if forged is not None and (wrong is None or forged.event < wrong):
                raise forged
            if wrong is not None:
                raise Failed(wrong, "its head is not the one in the file")
            try:
                return check.run(signed, kept, server_key)
            except WrongEvidence as error:
                if (self._reader.fault or self._first_fault) is None:
                    raise
                return "not shown", str(
                    error
                )  # by a key, it may be, that the events name which cannot be read

        found = _claim("I", "nothing altered", run)
        if found.status == "fails":
            return found
        holds, pinned = found.status == "holds", server_key is not None
        return found.at(check.level(holds=holds, pinned=pinned, audit=self._audit))


class _Replay:
    """Claims F, R and B. Of signed moves, R has that they are their seats' own."""

    def __init__(self, signatures: SignatureCheck, rerun_bots: bool, throughout: bool = False) -> None:
        self.more: list[Claim] = []
        self._audit = self._fair_on = self._rules_on = throughout
        """Whether F and R go on when they have failed."""
        self._fairness, self._rules, self._bots = FairnessCheck(), RulesCheck(), BotsCheck()
        self._signatures, self._rerun_bots = signatures, rerun_bots
        self._unfair: Failed | None = None
        self._wrong: Failed | None = None
        self._unsigned: Failed | None = None
        self._dishonest: Failed | None = None
        self._has_bot_moves = False
        self._number = 0

    def feed(self, hand: Sequence[e.AnyEvent]) -> None:
        """Let every check that has found no fault yet see the next hand."""
        before = self._fairness.broken_off
        end = self._number + len(hand)
        if self._unfair is None or self._fair_on:
            unfair = _caught(self._fairness.feed, hand)
            self._unfair = self._first_of("F", self._unfair, unfair)
            if unfair is not None:
                self._fair_on = self._fair_on and self._fairness.skip(hand[-1], end)
        shown = self._fairness.broken_off
        broken_off = None if shown is before else shown
        sound = hand
        if self._wrong is not None and self._rules_on:
            wrong = _caught(self._rules.feed, hand, broken_off)
            self._first_of("R", self._wrong, wrong)
            self._rules_on = wrong is None or self._rules.skip(hand, end)
        if self._wrong is None:
            self._wrong = _caught(self._rules.feed, hand, broken_off)
            if self._wrong is not None:
                self._rules_on = self._rules_on and self._rules.skip(hand, end)
                sound = hand[: max(self._wrong.event - 1 - self._number, 0)]
            if self._unsigned is None:
                self._unsigned = _caught(self._signatures.feed, sound, broken_off)
        self._has_bot_moves = self._has_bot_moves or bool(bot_moves(hand))
        if self._rerun_bots and self._unfair is None and self._dishonest is None:
            fault = None if self._wrong is None else self._wrong.event
            self._dishonest = _caught(self._bots.feed, hand, broken_off, fault)
        self._number += len(hand)

    def _first_of(self, name: Literal["F", "R"], first: Failed | None, fault: Failed | None) -> Failed | None:
        """The first fault of a claim; a later one is kept beside it."""
        if first is None or fault is None:
            return first or fault
        title = "fair deals" if name == "F" else "rules and score"
        self.more.append(Claim(name, title, "fails", str(fault), fault.event, cause=fault.cause))
        return first

    def claims(self, first: e.GameCreated) -> tuple[Claim, Claim, Claim]:
        """The three claims on all that went by."""
        fairness = _claim("F", "fair deals", self._fairness.result, self._unfair)
        if fairness.status != "fails":
            fairness = fairness.at(self._fairness.level())
        found = _claim("R", "rules and score", self._rules.result, self._wrong)
        bots = self._claim_bots(first, found.event)
        try:
            if self._unsigned is not None:
                raise self._unsigned
            signed = self._signatures.result(audit=self._audit)
        except Failed as failed:
            return fairness, Claim("R", found.title, "fails", str(failed), failed.event), bots
        if found.status != "fails":
            found = msgspec.structs.replace(found, detail=found.detail + signed).at(
                rules_level(
                    self._signatures.signing,
                    self._signatures.pinned,
                    hands=int(found.status == "holds"),
                    sealed=self._rules.is_sealed,
                    audit=self._audit,
                )
            )
        return fairness, found, bots

    def _claim_bots(self, first: e.GameCreated, fault: int | None) -> Claim:
        """Claim B. The seeds follow from the secrets of the deals, so these must have been shown to be right."""
        why = unshown(first)
        if not why and self._has_bot_moves:
            if not self._rerun_bots:
                why = NOT_ASKED
            elif self._unfair is not None:
                why = "the bots' seeds follow from the secrets of the deals, and claim F fails"
        if not why:
            found = _claim("B", BOTS, lambda: self._bots.result(fault), self._dishonest)
            return found if found.status == "fails" else found.at(self._bots.level(fault))
        found = Claim("B", BOTS, "not shown", why)
        return found.at(bots_level(made=False, rest=ASK)) if why == NOT_ASKED else found


def _caught(feed: Callable[..., None], *what: Any) -> Failed | None:
    """The fault that a check finds in what it is fed."""
    try:
        feed(*what)
    except Failed as failed:
        return failed
    return None


def _claim(
    name: Literal["F", "I", "R", "B"],
    title: str,
    run: Callable[[], tuple[Literal["holds", "not shown"], str]],
    fault: Failed | None = None,
) -> Claim:
    """A claim that fails by the fault that was found, or else is what ``run`` comes to."""
    try:
        if fault is not None:
            raise fault
        status, detail = run()
    except Failed as failed:
        return Claim(name, title, "fails", str(failed), failed.event, cause=failed.cause)
    return Claim(name, title, status, detail)


def _since(integrity: Claim) -> str:
    """What is shown of the time after a game was imported or branched off."""
    return f"it {integrity.status} {integrity.detail}" if integrity.status == "holds" else integrity.detail
