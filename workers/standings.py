"""The projector's part in the standings: finished games are entered by each, and folded by one at a time."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Iterable
from typing import Final

from services.scripts import HOLD, RELEASE
from services.standings_fold import Finished, Ledger
from services.store import Store, StoreUnavailable

LEASE_MS: Final = 10_000
"""After so long without a word of the projector that folds, another takes over."""
LOOK_SECONDS: Final = 0.5
"""How often to look for games that other projectors have entered."""
BUSY_SECONDS: Final = 0.2
"""How long a backlog may keep a projector from its other work at a time."""

log = logging.getLogger(__name__)


class Folder:
    """Enters finished games and folds them while it holds the lease. For one thread."""

    def __init__(self, store: Store) -> None:
        self._wire = store.wire
        self._ledger = Ledger(store.client, store.keys)
        self._lease = store.keys.standings_lease
        self._name = secrets.token_hex(8)
        self._look_at = 0.0

    def enter(self, games: Iterable[Finished | None]) -> None:
        """Enter games, those that count for nothing left out; the ones that ended first stand first."""
        entered = [game for game in games if game is not None]
        if entered:
            self._ledger.enter(sorted(entered, key=lambda game: (game.at, game.game)))
            self._look_at = 0.0

    def round(self) -> None:
        """Fold what there is, for a moment, now and then, where no other projector does."""
        if time.monotonic() < self._look_at:
            return
        until = time.monotonic() + BUSY_SECONDS
        self._look_at = time.monotonic() + LOOK_SECONDS
        if not self._wire.run(HOLD, (self._lease,), (self._name, LEASE_MS)):
            return
        while self._ledger.step():
            if time.monotonic() > until:
                self._look_at = 0.0
                return

    def release(self) -> None:
        """Give the lease up, so that another need not wait for its end."""
        try:
            self._wire.run(RELEASE, (self._lease,), (self._name,))
        except StoreUnavailable:
            log.debug("the lease of the standings ends by itself")
