"""Games folded again from their first event, out of the log and the archive, many at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import redis

from services.codec import CODEC
from services.folded import Table, follow
from services.projections import Projections
from services.store import PAGE, CorruptStream, Entry, Store, StoreUnavailable


class Refolded(NamedTuple):
    """A game as its events say that it is."""

    game: str
    table: Table
    opened: int
    """When it was opened, in ms since 1970 UTC."""


class Refold(NamedTuple):
    """What came of some games."""

    found: list[Refolded]
    failed: Mapping[str, str]
    """Those that cannot be folded, each with the reason."""
    events: int


def refold(store: Store, projections: Projections, games: Sequence[str]) -> Refold:
    """Fold games from their first event. One that cannot be folded keeps no other waiting.

    One that ended the projector is not folded: it might end this process. Raises `StoreUnavailable`.
    """
    found: list[Refolded] = []
    failed: dict[str, str] = {}
    marks = projections.parked_among(games)
    for game in games:
        if game in marks and marks[game].ended:
            failed[game] = marks[game].why
    events = 0
    wanted = [game for game in games if game not in failed]
    for game, first in zip(wanted, _read_each(store, wanted), strict=True):
        try:
            if isinstance(first, CorruptStream):
                raise first
            entries = first + store.read(game, PAGE) if len(first) == PAGE else first
            if not entries:
                raise LookupError("its stream is not in the store")
            opened = CODEC.decode(entries[0][1]).at
            found.append(Refolded(game, follow(game, None, entries), opened))
            events += len(entries)
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 (whatever kept it from being folded)
            failed[game] = f"{type(error).__name__}: {error}"
    return Refold(found, failed, events)


def _read_each(store: Store, games: Sequence[str]) -> list[list[Entry] | CorruptStream]:
    """The first page of each game's events, or what is wrong with them."""
    try:
        return store.read_many([(game, 0) for game in games])
    except StoreUnavailable:
        raise
    except redis.ResponseError:
        pass  # one of them is no stream; asked for one by one each tells for itself
    found: list[list[Entry] | CorruptStream] = []
    for game in games:
        try:
            found.append(store.read(game, 0, PAGE))
        except CorruptStream as error:
            found.append(error)
    return found
