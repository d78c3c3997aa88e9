"""Audits of the games of a store: each looked at once it holds still, and reports of finished games kept."""

from __future__ import annotations

import logging
import math
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from threading import Lock
from typing import Any, Final

import msgspec
import redis

from domain.refusals import CorruptLog
from services.audit import Receipt, Signer
from services.checkpoints import PublicLog
from services.codec import CODEC
from services.copies import Copies, Due
from services.desks import Desks
from services.entries import seq_of
from services.folded import Table
from services.inspection import AuditReport, Check, Inspection, Problem, spoilt
from services.key_types import wrong_types
from services.projections import Projections
from services.receipts import signer_of
from services.short import lengthened
from services.store import CorruptStream, Entry, Store
from services.summaries import STATUSES, VERSION
from services.tables import UnknownGame
from services.translog import CorruptTransparencyLog, Place

KEPT_REPORTS: Final = 256
"""Reports of finished games that a process keeps; one takes some 2 KB."""
KEPT_SECONDS: Final = 60
"""How long it keeps one: the game does not go on, but somebody may change what the store has of it."""
log = logging.getLogger(__name__)
_INDEX: Final = ("seq", "status", "players")
_PAGE: Final = 100
"""Games of a list that are looked at at a time."""
_TRIES: Final = 3
"""How often a game that moves on while it is audited is looked at again."""


class Auditor:
    """Audits the games of a store. Every method raises `StoreUnavailable` when it does not answer."""

    def __init__(
        self,
        store: Store,
        projections: Projections,
        log: PublicLog,
        key: Signer,
        clock: Callable[[], int],
    ) -> None:
        self._store, self._projections, self._log, self._key = store, projections, log, key
        self._clock = clock
        self._desks = Desks(store.client, store.keys)
        self._kept: OrderedDict[tuple[str, int, bytes], tuple[int, bytes]] = OrderedDict()
        self._lock = Lock()

    def audit(self, game: str, receipts: Sequence[Receipt] = ()) -> AuditReport:
        """The report on a game as it is now, and on ``receipts`` that its players sent in.

        Raises `UnknownGame` where the store has nothing of it, unless this server has signed one of the receipts.
        """
        try:
            return self._audit(game, receipts)
        except redis.ResponseError as error:
            problems = self._wrong_keys(game)
            if not problems:
                raise
            log.debug("game %s: %s", game, error)
            return spoilt(game, problems)

    def _audit(self, game: str, receipts: Sequence[Receipt]) -> AuditReport:
        signed = any(signer_of(one, self._key) for one in receipts)
        for _ in range(_TRIES):
            copies = self._read_copies(game)
            audit = Inspection(game, copies, *self._read_stream(game), receipts)
            if audit.is_empty() and not signed:
                raise UnknownGame(f"there is no game {game:.60}")
            # what is behind may be about to come; what is behind though nothing is to come is wrong
            behind = audit.is_behind()
            if not behind or self._projections.lag():
                break
        else:
            audit.tell_behind()
        return audit.report(self._log, self._key, self._clock(), settled=not behind)

    def is_cut(self, game: str) -> bool:
        """Whether the store knows of events of a game that are behind the last one in its stream, which may be none."""
        copies = self._read_copies(game)
        return copies.reach > self._store.last(game)

    def kept_json(self, game: str, table: Table) -> bytes | None:
        """The report on a finished game as JSON, where `audit_json` made one in the last `KEPT_SECONDS`."""
        with self._lock:
            until, body = self._kept.get((game, table.seq, table.head), (0, b""))
        return body if self._clock() < until else None

    def audit_json(self, game: str, table: Table) -> tuple[bytes, bool]:
        """The report on a finished game as JSON, and whether nothing more is to come, and it is kept for a while therefore."""
        report = self.audit(game)
        body = msgspec.json.encode(report)
        same = (report.seq, report.head) == (table.seq, table.head.hex())
        stays = report.settled and report.ok and same and not table.state.sealed
        if stays:
            with self._lock:
                key = (game, table.seq, table.head)
                self._kept.pop(key, None)
                self._kept[key] = self._clock() + 1000 * KEPT_SECONDS, body
                if len(self._kept) > KEPT_REPORTS:
                    self._kept.popitem(last=False)
        return body, stays

    def games(self) -> Iterator[str]:
        """The ids of all games that the store has a stream, a summary or a leaf of, as they are found."""
        told: set[str] = set()
        for game in chain(self._store.games(), self._summaries(), self._leaves()):
            if game not in told:
                told.add(game)
                yield game

    def count(self) -> int:
        """About how many games there are: those in the lists of the read models."""
        keys, version = self._store.keys, self._projections.versions.live()
        lobbies = [keys.lobby(p, status, version) for p in range(keys.partitions) for status in STATUSES]
        try:
            return sum(self._store.wire.pipeline([("ZCARD", lobby) for lobby in lobbies]))
        except redis.ResponseError:  # one of them is no list, as the check of the keys tells
            return 0

    def last_at(self, game: str) -> float:
        """When the last event of a game happened, in ms; of one that cannot be read, which must be looked at, just now."""
        try:
            newest = self._store.wire.call("XREVRANGE", self._store.keys.stream(game), "+", "-", "COUNT", 1)
            (entry, (name, public, *_)) = newest[0]
            return CODEC.decode(lengthened(seq_of(game, entry), public)).at if name == b"p" else math.inf
        except (CorruptLog, redis.ResponseError, CorruptStream, LookupError, ValueError):
            return math.inf

    def _summaries(self) -> Iterator[str]:
        """The games in the lists that have a summary, which nobody reads here: it may be one that cannot be read."""
        keys, wire = self._store.keys, self._store.wire
        version = self._projections.versions.live()
        for lobby in (keys.lobby(p, status, version) for p in range(keys.partitions) for status in STATUSES):
            cursor = b"0"
            while True:
                try:
                    cursor, flat = wire.call("ZSCAN", lobby, cursor, "COUNT", _PAGE)
                except redis.ResponseError:  # it is no list, as the check of the keys tells
                    break
                games = [one.decode(errors="replace") for one in flat[::2]]
                there = wire.pipeline([("EXISTS", keys.table(game, version)) for game in games])
                yield from (game for game, known in zip(games, there, strict=True) if known)
                if cursor == b"0":
                    break

    def _leaves(self) -> Iterator[str]:
        """The games that are found by their leaves; of a leaf that nothing leads to, the check of the log tells."""
        tree, at = self._log.tree, 0
        with suppress(CorruptTransparencyLog):  # which the audit of each game tells
            while page := [leaf for _, leaf in tree.leaves(at, _PAGE)]:
                yield from (leaf.game for leaf, found in zip(page, tree.places(page), strict=True) if found)
                at += len(page)

    def _wrong_keys(self, game: str) -> list[Problem]:
        """The keys of a game that hold something of another type than they should."""
        keys, partition = self._store.keys, self._store.keys.partition(game)
        version = self._projections.versions.live()
        wanted: dict[str, Check] = {
            keys.stream(game): "stream",
            keys.snapshot(game): "snapshot",
            keys.table(game, version): "projection",
            keys.due(partition): "due",
            keys.finished(partition): "projection",
            keys.seats(partition, version): "projection",
            **{keys.lobby(partition, status, version): "projection" for status in STATUSES},
            keys.standings_known: "projection",
        }
        return [
            Problem(wanted[key], None, why)
            for key, why in wrong_types(self._store.wire.pipeline, wanted).items()
        ]

    def _read_copies(self, game: str) -> Copies:
        keys, partition = self._store.keys, self._store.keys.partition(game)
        version = self._projections.versions.live()  # for all that is read of this game
        last = ("XREVRANGE", keys.stream(game), "+", "-", "COUNT", 1)
        before, due, after, first, finished, snapshot, table, *scores = self._store.wire.pipeline(
            [
                last,
                ("ZSCORE", keys.due(partition), game),
                last,
                ("XRANGE", keys.stream(game), "-", "+", "COUNT", 1),
                ("ZSCORE", keys.finished(partition), game),
                ("GET", keys.snapshot(game)),
                ("HMGET", keys.table(game, version), "v", "summary", *_INDEX),
                *(("ZSCORE", keys.lobby(partition, status, version), game) for status in STATUSES),
            ]
        )
        made_by, summary, *index = table
        projected, misprint = _read_summary(made_by, summary)
        players = _players(projected)
        fault: str | None = None
        places: list[Place] = []
        try:
            places = self._log.tree.of_game(game)
        except CorruptTransparencyLog as error:
            fault = str(error)
        return Copies(
            snapshot=snapshot or b"",
            projected=projected,
            misprint=misprint,
            asked=players,
            desks=self._desks.places(game, players),
            kept_by={name: value or b"" for name, value in zip(_INDEX, index, strict=True)},
            due=_due(due, before, after),
            unlisted=self._unlisted(game, version, projected, players),
            finished=None if finished is None else float(finished),
            archived=not first or first[0][0] != b"1-0",
            ranked=bool(self._store.wire.call("SISMEMBER", keys.standings_known, game)),
            lobbies={
                status: float(score)
                for status, score in zip(STATUSES, scores, strict=True)
                if score is not None
            },
            places=places,
            log_fault=fault,
        )

    def _unlisted(
        self, game: str, version: int, projected: dict[str, Any] | None, players: Sequence[str]
    ) -> list[str]:
        """Those of the players at a table whose list of games lacks it; none where it was projected on meanwhile."""
        opened = (projected or {}).get("created_at")
        if projected is None or type(opened) is not int:
            return []
        keys, partition = self._store.keys, self._store.keys.partition(game)
        *listed, now = self._store.wire.pipeline(
            [
                *(
                    ("ZSCORE", keys.seats(partition, version), f"{player}:{opened:013}:{game}")
                    for player in players
                ),
                ("HGET", keys.table(game, version), "seq"),
            ]
        )
        if now != b"%d" % projected["seq"]:
            return []
        return [player for player, score in zip(players, listed, strict=True) if score is None]

    def _read_stream(self, game: str) -> tuple[list[Entry], CorruptStream | None]:
        """The events of the stream, and why they end where they do if that is not its end."""
        try:
            return self._store.read(game, fresh=True), None
        except CorruptStream as error:
            with suppress(CorruptStream):
                return self._store.read(game, 0, error.seq - 1, fresh=True) if error.seq > 1 else [], error
            return [], error


def _due(score: bytes | None, before: Sequence[Any], after: Sequence[Any]) -> Due | None:
    """When the house must act, if the last entry of the stream is the same before and after that was read."""
    if not before or not after or before[0][0] != after[0][0]:
        return None
    return Due(int(before[0][0].split(b"-")[0]), None if score is None else float(score))


def _read_summary(version: bytes | None, summary: bytes | None) -> tuple[dict[str, Any] | None, str | None]:
    """A summary as it is stored, none where there is none of this version; or why it cannot be read."""
    if version is None or not version.isdigit() or int(version) < VERSION:
        return None, None
    try:
        found = msgspec.json.decode(summary or b"", type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return None, f"its summary cannot be read: {error}"
    if type(found.get("seq")) is not int:
        return None, "its summary does not tell of which event it is"
    return found, None


def _players(summary: dict[str, Any] | None) -> list[str]:
    """The players at a table, by its summary."""
    seats = (summary or {}).get("seats")
    if not isinstance(seats, list):
        return []
    return [one["player"] for one in seats if isinstance(one, dict) and isinstance(one.get("player"), str)]
