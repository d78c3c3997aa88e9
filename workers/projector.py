"""The projector: folds what the feeds point at into the read models.

Pointers are delivered at least once, by consumer group; a game's summary and its seq are written in one step and
only when newer, so each event has its effect exactly once. Any number of projectors share the work.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

import redis

from domain.events import Event
from services.codec import CODEC
from services.desks import Desks, News, news_of
from services.feed import Batch, Feed
from services.folded import Table, follow
from services.keys import Keys
from services.leaves import Leaf, find_leaves
from services.projections import GROUP, Parked, Projections
from services.snapshot import fold_hash
from services.standings_fold import finished_of
from services.store import Store, StoreError, StoreUnavailable
from services.summaries import Update, update
from services.supervise import Backoff, Stop
from services.translog import TransparencyLog
from workers.standings import Folder

CONSUMER: Final = "projector"
"""All projectors are one consumer to the server. What one was given and has not acknowledged is taken over by how long
ago that was, so names would tell nothing, and each restart would leave one behind in every feed."""
COUNT: Final = 100
"""Pointers of a partition that are read at once."""
BLOCK_MS: Final = 500
"""How long a projector waits for pointers before it looks whether it should stop."""
STALE_MS: Final = 5_000
"""Pointers that were given out so long ago and are not acknowledged belong to a projector that died."""
CLAIM_SECONDS: Final = 2.0
"""How often to look for such pointers."""
TRIM_AFTER: Final = 1_000
"""Pointers of a partition that are dealt with before its feed is trimmed."""
SUSPECT: Final = 3
"""From this delivery on a pointer may be what kills its readers: its game is folded by itself."""
MOST_TRIES: Final = 3
"""How often a game may end the projector before it is left alone."""
AGAIN: Final = 20
"""Games set aside that are tried again before the next pointers are read: a fault of the fold may have left many."""
CACHED: Final = 4096
"""Folded tables that are kept; one takes some 10 KB."""

_ENDED: Final = "the projector ended while it folded this game"

log = logging.getLogger(__name__)


class _Known(NamedTuple):
    """A table as it is projected, and when it was opened."""

    table: Table
    opened: int
    leaves: tuple[Leaf, ...] = ()
    """What its events add to the transparency log, until it is there."""


class Projector:
    """One projector of a store. For one thread."""

    def __init__(
        self,
        store: Store,
        feed: Feed,
        projections: Projections,
        clock: Callable[[], int],
        *,
        block_ms: int = BLOCK_MS,
        stale_ms: int = STALE_MS,
    ) -> None:
        self._store = store
        self._keys: Keys = store.keys
        self._feed = feed
        self._projections = projections
        self._desks = Desks(store.client, store.keys)
        self._standings = Folder(store)
        self._log = TransparencyLog(store.wire)
        self._clock = clock
        self._block_ms, self._stale_ms = block_ms, stale_ms
        self._tables: OrderedDict[str, _Known] = OrderedDict()
        self._done: dict[int, int] = {}
        self._claim_at = 0.0
        self._again: deque[str] = deque()
        """Games to be tried again since this projector began, the one that was tried longest ago first."""
        self.events = 0
        """How many have been folded."""

    def run(self, stop: Stop) -> None:
        """Keep the read models until asked to stop; a store that does not answer is waited for."""
        patience = Backoff(0.1, 2.0, apart=True)
        begun = False
        while not stop.is_set():
            try:
                if not begun:
                    self.begin()
                    begun = True
                self.round()
                self._standings.round()
            except StoreUnavailable as error:
                pause = patience.fail()
                if patience.failures == 1:
                    log.warning("the store does not answer and is waited for: %s", error)
                self._tables.clear()  # it may come back without a tail that was folded here
                stop.wait(pause)
            except redis.ResponseError as error:
                if not str(error).startswith("NOGROUP "):
                    raise
                log.warning("the store was emptied; beginning anew")
                self._tables.clear()
                begun = False
            else:
                if patience.succeed():
                    log.info("the store answers again")
        self._standings.release()

    def begin(self) -> None:
        """Make the consumer groups where there are none, and try again what was set aside."""
        self._feed.ensure_group(GROUP)
        aside = self._projections.parked()
        worth = filter(lambda game: _is_worth_a_try(aside[game]), aside)
        self._again = deque(sorted(worth, key=lambda game: (aside[game].at, game)))
        self._try_again()
        for partition in range(self._keys.partitions):
            self._feed.trim(partition)

    def round(self) -> int:
        """Deal with one batch of pointers, waiting for them where there is nothing to do. Returns how many there were.

        Games that were set aside before it began, and are tried in between, count with them.
        """
        tried = self._try_again()
        batch: Batch = {}
        if time.monotonic() >= self._claim_at:
            batch = self._feed.claim_stale(GROUP, CONSUMER, self._stale_ms)
            self._claim_at = time.monotonic() + CLAIM_SECONDS
            self._fold_suspects(batch)
        for partition, pointers in self._feed.read_group(
            GROUP, CONSUMER, 0 if batch or tried else self._block_ms, COUNT
        ).items():
            batch.setdefault(partition, []).extend(pointers)
        if not batch:
            return tried
        self._fold(batch)
        self._trim(batch)
        return tried + sum(map(len, batch.values()))

    # --- inside

    def _fold(self, batch: Batch) -> None:
        """Fold the games that a batch points at, write them and acknowledge the batch."""
        parked: dict[str, Parked] = {}
        folded: dict[str, _Known] = {}
        wanted = dict(self._newer(batch))
        marks = self._projections.parked_among(wanted)
        for game, seq in wanted.items():
            before = marks.get(game)
            if before is not None and (before.ended or not _is_worth_a_try(before)):
                self._fold_marked(game, seq, before)
                continue
            try:
                folded[game] = self._follow(game)
            except StoreUnavailable:
                raise
            except Exception as error:
                # one game that cannot be folded, whatever the reason, must not keep the others waiting
                log.exception("game %s cannot be folded and is set aside", game)
                parked[game] = self._parked(seq, _why(error), before)
        self._projections.park(parked)
        acks = {partition: [pointer.id for pointer in pointers] for partition, pointers in batch.items()}
        self._write(folded, acks)

    def _write(self, folded: Mapping[str, _Known], acks: Mapping[int, Sequence[bytes]]) -> None:
        """Write folded games to everything that is kept of them, and acknowledge what pointed at them.

        The summaries are last, in one step with the acknowledgement: by them a game counts as projected. Where this
        process ends before that, all of it is delivered again, and what was written already is not written twice.
        """
        for game, known in folded.items():
            if known.leaves:  # what is public for ever must not be lost with a primary
                self._store.hold(game, known.table.seq)
        news = [one for game, known in folded.items() for one in self._news(game, known)]
        self._desks.write(news, self._clock())
        self._standings.enter(finished_of(known.table) for known in folded.values())
        self._publish(folded.values())
        updates: dict[int, list[Update]] = {}
        for game, known in folded.items():
            one = update(game, known.table, known.opened)
            updates.setdefault(self._keys.partition(game), []).append(one)
        self._projections.write(updates, acks)
        for game, known in folded.items():
            self._remember(game, known)

    def _newer(self, batch: Batch) -> Iterable[tuple[str, int]]:
        """The games of a batch that are not projected as far as it says, each with the last seq that it names."""
        wanted: dict[str, int] = {}
        for pointers in batch.values():
            for pointer in pointers:
                wanted[pointer.game] = max(pointer.seq, wanted.get(pointer.game, 0))
        unknown = [game for game in wanted if game not in self._tables]
        projected = self._projections.seqs(unknown)
        for game, seq in wanted.items():
            known = self._tables.get(game)
            if seq > (projected[game] if known is None else known.table.seq):
                yield game, seq

    def _follow(self, game: str) -> _Known:
        """The game folded as far as the log goes now."""
        known = self._tables.get(game)
        entries = self._store.read(game, 0 if known is None else known.table.seq)
        if known is None:
            if not entries:
                raise LookupError("its stream is not in the store")
            first: Event = CODEC.decode(entries[0][1])
            opened = first.at
        elif not entries:
            return known
        else:
            opened = known.opened
        self.events += len(entries)
        leaves = tuple(find_leaves(game, entries, known and known.table.head))
        return _Known(follow(game, known and known.table, entries), opened, leaves)

    def _publish(self, games: Iterable[_Known]) -> None:
        """Add the leaves of games to the transparency log. Where it was spoilt, the read models are kept all the same."""
        leaves = [leaf for known in games for leaf in known.leaves]
        try:
            self._log.add(leaves)
        except StoreUnavailable:
            raise
        except StoreError:
            log.exception("the transparency log lacks %d leaves; `hearts log verify` tells more", len(leaves))

    def _news(self, game: str, known: _Known) -> list[News]:
        before = self._tables.get(game)
        return news_of(game, known.table.state, known.table.seq, before and before.table.state)

    def _remember(self, game: str, known: _Known) -> None:
        self._tables[game] = known._replace(leaves=())
        self._tables.move_to_end(game)
        if len(self._tables) > CACHED:
            self._tables.popitem(last=False)

    def _fold_suspects(self, batch: Batch) -> None:
        """Fold the games that may have killed earlier readers, one by one, before the others are."""
        suspects: dict[str, int] = {}
        for pointers in batch.values():
            for pointer in pointers:
                if pointer.deliveries >= SUSPECT:
                    suspects[pointer.game] = max(pointer.seq, suspects.get(pointer.game, 0))
        if not suspects:
            return
        marks = self._projections.parked_among(suspects)
        for game, seq in suspects.items():
            self._fold_marked(game, seq, marks.get(game))
        for partition, pointers in list(batch.items()):
            dealt_with = [pointer.id for pointer in pointers if pointer.game in suspects]
            self._feed.ack(partition, GROUP, dealt_with)
            batch[partition] = [pointer for pointer in pointers if pointer.game not in suspects]
            if not batch[partition]:
                del batch[partition]

    def _try_again(self) -> int:
        """Try some of the games that were set aside before this projector began. Returns how many are off the list."""
        few = [*islice(self._again, AGAIN)]
        marks = self._projections.parked_among(few)
        for game in few:
            if game in marks:
                self._fold_marked(game, marks[game].seq, marks[game])
            self._again.popleft()
        return len(few)

    def _fold_marked(self, game: str, seq: int, parked: Parked | None) -> None:
        """Fold one game alone, unless it is to be left alone; its events are folded when it is tried again."""
        if parked is None or _is_worth_a_try(parked):
            self._fold_alone(game, seq, parked)

    def _fold_alone(self, game: str, seq: int, parked: Parked | None) -> None:
        """Fold one game that is marked as set aside until that has gone well, so that a crash leaves the mark."""
        self._projections.park({game: self._parked(seq, _ENDED, parked, ended=True)})
        try:
            known = self._follow(game)
        except StoreUnavailable:
            raise
        except Exception as error:
            log.exception("game %s cannot be folded and is set aside", game)
            self._projections.park({game: self._parked(seq, _why(error), parked)})
        else:
            self._write({game: known}, {})
            self._projections.take_back(game)
            if (last := self._store.last(game)) > known.table.seq:
                self._feed.point(game, last)  # who saw the mark meanwhile has passed over what it pointed at

    def _parked(self, seq: int, why: str, before: Parked | None, *, ended: bool = False) -> Parked:
        fold = fold_hash().hex()
        times = 1 if before is None or before.fold != fold else before.times + 1
        skipped = before is not None and before.skipped
        return Parked(
            seq=seq, why=why, times=times, at=self._clock(), ended=ended, fold=fold, skipped=skipped
        )

    def _trim(self, batch: Batch) -> None:
        for partition, pointers in batch.items():
            done = self._done.get(partition, 0) + len(pointers)
            if done >= TRIM_AFTER:
                self._feed.trim(partition)
                done = 0
            self._done[partition] = done


def _is_worth_a_try(parked: Parked) -> bool:
    """Whether a game that was set aside is tried: by another fold once in any case, for that may have been mended."""
    if parked.asked or parked.fold != fold_hash().hex():
        return True
    return not parked.skipped and (not parked.ended or parked.times < MOST_TRIES)


def _why(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
