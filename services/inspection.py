"""One look at one game of the store: the claims of its proof file, and what only who has the store can check.

A game is held to what else the store has of it: its snapshot, its summary in the read models, when the house must act in it,
its leaves in the transparency log, and the secrets that its commitments and reveals must agree with. The report lists everything that is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Literal

import msgspec

from domain import events as e
from domain.refusals import CorruptLog, Malformed
from domain.shuffle import genesis_head, next_head
from domain.state import State
from services.archive import ArchiveDamaged
from services.audit import KeyMissing, Receipt, Signer
from services.checkpoints import LogProof, PublicLog
from services.codec import CODEC
from services.copies import Copies, due_problem, list_problems
from services.folded import Table, follow
from services.hidden_parts import secret_problems
from services.integrity import Kept
from services.leaves import Leaf, leaf_kind
from services.logcheck import leaf_problems
from services.proof import Claim, proof_lines, read_proof
from services.receipts import ReceiptReport, judge_receipt
from services.snapshot import Snapshot, is_of_other_version, read_snapshot, take_snapshot
from services.store import CorruptStream, Entry
from services.summaries import update
from services.translog import CorruptTransparencyLog
from services.verdicts import verify_throughout

Check = Literal[
    "stream", "fold", "secrets", "snapshot", "projection", "due", "log", "receipt", "F", "I", "R", "B"
]


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong: what found it, the first event at fault where that is known, and why in words."""

    check: Check
    event: int | None
    detail: str

    @property
    def line(self) -> str:
        """The problem in one line for people."""
        where = "" if self.event is None else f" at event {self.event}"
        return f"{self.check}{where}: {self.detail}"


class AuditReport(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the audit of a game came to."""

    game: str
    ok: bool
    """Whether nothing is wrong."""
    status: Literal["open", "playing", "over", "unknown"]
    seq: int
    """Events that were looked at, and the head of their chain."""
    head: str
    claims: tuple[Claim, ...]
    problems: tuple[Problem, ...]
    """All that is wrong, claims that fail included."""
    settled: bool
    """Whether the read models and the log have all of the game, so that the report will stay as it is when it is over."""
    receipts: tuple[ReceiptReport, ...] = ()
    """What was found of the receipts that were sent in, where any were."""


class Inspection:
    """One look at one game."""

    def __init__(
        self,
        game: str,
        copies: Copies,
        entries: list[Entry],
        torn: CorruptStream | None,
        receipts: Sequence[Receipt] = (),
    ) -> None:
        self._game, self._copies, self._entries, self._torn = game, copies, entries, torn
        self._receipts = receipts
        self._problems: list[Problem] = []
        self._heads = [genesis_head(game)]
        for _, public, _ in entries:
            self._heads.append(next_head(self._heads[-1], public))
        self._leaves = [
            Leaf(game, kind, seq, self._heads[seq])
            for seq, public, _ in entries
            if (kind := leaf_kind(seq, public)) is not None
        ]
        for seq, public, _ in entries:
            if b"\n" in public:
                self._tell("stream", seq, "it has a line break, and a proof file an event a line")
        self._more: list[Claim] = []
        """Faults of claims behind the first one."""
        self._broken: tuple[int, str] | None = None
        """The first event up to which something else than the stream has another head, and what."""
        if torn is not None:
            self._tell("stream", torn.seq, torn.why)
            self._break(torn.seq, torn.why)

    def is_empty(self) -> bool:
        """Whether the store has nothing of the game."""
        copies = self._copies
        return not self._entries and self._torn is None and copies.projected is None and not copies.reach

    @property
    def _missing(self) -> int:
        """The event behind the last one, which is the first that a game lacks whose end was cut off."""
        return len(self._entries) + 1

    # --- what may still come

    def is_behind(self) -> bool:
        """Whether the read models or the log have not all of the game."""
        projected = self._copies.projected
        if projected is None:
            behind = self._copies.misprint is None
        else:
            behind = projected["seq"] < len(self._entries)
        kinds = {leaf.kind for _, leaf in self._copies.places}
        return behind or any(leaf.kind not in kinds for leaf in self._leaves)

    def tell_behind(self) -> None:
        """What the read models and the log lack is wrong: nothing is to come."""
        projected, last = self._copies.projected, len(self._entries)
        if projected is None:
            if self._copies.misprint is None:
                self._tell("projection", None, "the game is not in the read models: it was never projected")
        elif projected["seq"] < last:
            seq = projected["seq"]
            self._tell("projection", seq + 1, f"the read models have events up to {seq}")
        kinds = {leaf.kind for _, leaf in self._copies.places}
        for leaf in self._leaves:
            if leaf.kind not in kinds and self._copies.log_fault is None:
                self._tell("log", leaf.seq, f"the {leaf.kind} has no leaf in the transparency log")

    # --- the report

    def report(self, log: PublicLog, key: Signer, now: int, *, settled: bool) -> AuditReport:
        """Everything that is wrong at a time in ms; of a game that the archive does not give, that alone."""
        if isinstance(self._torn, ArchiveDamaged) and not self._entries:
            return spoilt(self._game, self._problems)
        receipts = self._check_receipts(key)
        self._check_log(log)
        tables = self._fold()
        self._check_snapshot(tables)
        self._check_projection(tables, now)
        self._check_due(tables, now)
        self._check_secrets()
        held = [one for one, told in zip(self._receipts, receipts, strict=True) if told.status == "holds"]
        claims = self._claims(log, key, Kept(receipts=tuple(held)))
        for claim in claims:
            if claim.status == "fails":
                self._tell(claim.name, claim.event, claim.detail)
        for claim in self._more:
            self._tell(claim.name, claim.event, claim.detail)
        end = tables.get(len(self._entries))
        return AuditReport(
            game=self._game,
            ok=not self._problems,
            status="unknown" if end is None else _status(end.state),
            seq=len(self._entries),
            head=self._heads[-1].hex(),
            claims=claims,
            problems=tuple(self._problems),
            settled=settled,
            receipts=receipts,
        )

    def _tell(self, check: Check, event: int | None, detail: str) -> None:
        self._problems.append(Problem(check, event, detail))

    def _break(self, seq: int, why: str) -> None:
        first = min(seq, self._missing)
        if self._broken is None or first < self._broken[0]:
            self._broken = first, why

    def _check_receipts(self, key: Signer) -> tuple[ReceiptReport, ...]:
        """The events that players have receipts of are those of the store."""
        told = tuple(judge_receipt(one, self._heads, self._entries, key) for one in self._receipts)
        for one in told:
            if one.status == "fails":
                self._tell("receipt", min(one.seq, self._missing), one.detail)
                self._break(one.seq, f"by a receipt: {one.detail}")
        return told

    def _check_log(self, log: PublicLog) -> None:
        """The leaves of the log are those of the events, and are found by their hashes."""
        if self._copies.log_fault is not None:
            self._tell("log", None, self._copies.log_fault)
        for _, leaf in self._copies.places:
            if leaf not in self._leaves:
                self._break(
                    leaf.seq, f"the transparency log has other events up to the {leaf.kind} of the game"
                )
        for problem in leaf_problems(self._game, self._copies.places, self._leaves):
            self._tell("log", None, problem)
        try:
            found = log.tree.find([leaf.hash for _, leaf in self._copies.places])
        except CorruptTransparencyLog as error:
            self._tell("log", None, str(error))
            return
        for (index, leaf), known in zip(self._copies.places, found, strict=True):
            if known != index:
                self._tell("log", leaf.seq, f"leaf {index}, the {leaf.kind}, is not found by its hash")

    def _fold(self) -> dict[int, Table]:
        """The tables at the seqs that are compared, and at the end; fewer where the events cannot be folded."""
        seqs = {len(self._entries), self._copies.snapshot_seq, (self._copies.projected or {}).get("seq", 0)}
        found: dict[int, Table] = {}
        known: Table | None = None
        for seq in sorted(one for one in seqs if 0 < one <= len(self._entries)):
            try:
                known = follow(self._game, known, self._entries[known.seq if known else 0 : seq])
            except CorruptStream as error:
                self._tell("fold", error.seq or None, error.why)
                break
            found[seq] = known
        return found

    def _check_snapshot(self, tables: dict[int, Table]) -> None:
        """The snapshot is the fold of the events that it was taken after, and has their head."""
        data = self._copies.snapshot.partition(b":")[2]
        kept = read_snapshot(data) if data else None
        if kept is None:
            if self._copies.snapshot and not is_of_other_version(data):
                self._tell("snapshot", None, "there is one, and it cannot be read")
            return
        last = len(self._entries)
        if self._copies.snapshot_seq != kept.seq:
            named = self._copies.snapshot.partition(b":")[0].decode(errors="replace")
            self._tell(
                "snapshot", kept.seq, f"it is kept as of event {named:.20}, and was taken after {kept.seq}"
            )
        if kept.seq > last:
            self._break(kept.seq, f"there was an event {kept.seq}, of which there is a snapshot")
            self._tell(
                "snapshot", last + 1, f"it was taken after event {kept.seq}, and there are {last}: cut off"
            )
        elif kept.head != self._heads[kept.seq]:
            self._break(kept.seq, "a snapshot was taken of other events up to here")
            self._tell("snapshot", kept.seq, "it was taken of other events: one up to here was changed")
        elif kept.seq in tables:
            table = tables[kept.seq]
            wanted = read_snapshot(take_snapshot(*table))
            for name in _differences(kept, wanted):
                self._tell("snapshot", kept.seq, f"its {name} is not what the events come to")

    def _check_projection(self, tables: dict[int, Table], now: int) -> None:
        """The summary in the read models is that of the fold, and the game is listed where it belongs."""
        kept, last = self._copies.projected, len(self._entries)
        if self._copies.misprint:
            self._tell("projection", None, self._copies.misprint)
        if kept is None:
            return
        if kept["seq"] > last:
            self._break(kept["seq"], f"there was an event {kept['seq']}, which the read models have")
            self._tell(
                "projection", last + 1, f"it has events up to {kept['seq']}, and there are {last}: cut off"
            )
            return
        table = tables.get(kept["seq"])
        if table is None:
            return
        one = update(self._game, table, CODEC.decode(self._entries[0][1]).at)
        wanted = msgspec.json.decode(msgspec.json.encode(one.summary))
        for name in [*wanted, *(name for name in kept if name not in wanted)]:
            if kept.get(name) != wanted.get(name):
                told = f"{name} is {_short(kept.get(name))}, and the events say {_short(wanted.get(name))}"
                self._tell("projection", kept["seq"], told)
        for problem in list_problems(self._copies, table, one, now, ended=kept["seq"] == last):
            self._tell("projection", kept["seq"], problem)

    def _check_due(self, tables: dict[int, Table], now: int) -> None:
        """The house knows when it must act at the table."""
        due, table = self._copies.due, tables.get(len(self._entries))
        if due is not None and table is not None and due.seq == table.seq:
            problem = due_problem(due, table, now)
            if problem is not None:
                self._tell("due", table.seq, problem)

    def _check_secrets(self) -> None:
        """What was secret is what was revealed later, and the chain of secrets begins at the anchor."""
        try:
            events = CODEC.decode_all(self._entries)
            bare = CODEC.decode_all([(seq, public, b"") for seq, public, _ in self._entries])
        except (CorruptLog, KeyError):
            return  # which the fold and the claims tell
        for seq, why in secret_problems(list(events), list(bare)):
            self._tell("secrets", seq, why)

    def _pinned(self, key: Signer) -> str:
        """The key that the game was opened under, where it is one of the server's; else one that it is not."""
        with suppress(KeyMissing, CorruptLog):
            first = CODEC.decode(self._entries[0][1])
            return key.of(first.server_key).public if isinstance(first, e.GameCreated) else key.public
        return key.public

    def _prove(self, log: PublicLog, leaves: Sequence[Leaf], server_key: str) -> LogProof | None:
        """What the log shows of the game; that it is spoilt is a problem."""
        try:
            return log.show(leaves, server_key)
        except CorruptTransparencyLog as error:
            self._tell("log", None, str(error))
        except KeyMissing:
            pass  # the event that names such a key was changed, which the claims tell
        return None

    def _claims(self, log: PublicLog, key: Signer, kept: Kept) -> tuple[Claim, ...]:
        """The claims of the proof file, I held to the store's other copies too."""
        try:
            prove = None if self._copies.log_fault else partial(self._prove, log)
            data = b"".join(proof_lines(iter(self._entries), None, None, prove)) if self._entries else b""
            report, more = verify_throughout(read_proof(data), self._pinned(key), kept)
            found: list[Claim] = list(report.claims)
            self._more = more
        except (CorruptLog, Malformed) as error:
            self._tell("stream", None, f"there is no proof file of it: {error}")
            found = []
        if self._broken is not None:
            claim = Claim("I", "nothing altered", "fails", self._broken[1], self._broken[0])
            found = [claim if one.name == "I" else one for one in found] or [claim]
        return tuple(found)


def spoilt(game: str, problems: Sequence[Problem]) -> AuditReport:
    """The report on a game of which so little is left that nothing else can be said."""
    return AuditReport(
        game=game,
        ok=False,
        status="unknown",
        seq=0,
        head=genesis_head(game).hex(),
        claims=(),
        problems=tuple(problems),
        settled=True,
        receipts=(),
    )


def _differences(kept: Snapshot, wanted: Snapshot | None) -> list[str]:
    return [name for name in Snapshot.__struct_fields__ if getattr(kept, name) != getattr(wanted, name, None)]


def _status(state: State) -> Literal["open", "playing", "over"]:
    return "open" if state.phase == "seats" else "over" if state.phase == "over" else "playing"


def _short(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 80 else text[:79] + "\N{HORIZONTAL ELLIPSIS}"
