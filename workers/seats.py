"""Bot seats and clocks: the moves that the house owes, made through `services.tables` like anybody's.

The due sets know which games wait for the house and since when. `Driver` takes them under a lease and plays;
`workers.sweep` watches, and asks for a drive of every partition in which something is ripe. Jobs are only nudges: whatever
dies, the due sets bring it back.
"""

from __future__ import annotations

import logging
import math
import time
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from operator import attrgetter
from typing import Final, NamedTuple

from services.folded import Table
from services.owed import HOUSE_LEASE_MS, Turn, next_due, of_bots
from services.scripts import SETTLE
from services.store import StoreUnavailable
from services.supervise import Backoff
from services.tables import UnknownGame
from services.wiring import Services

DRIVE_SECONDS: Final = 2.0
"""How long a drive of one partition may take before it hands on."""
FAIR_SECONDS: Final = 0.2
"""The same where other partitions wait and none of the games that are left includes a person; where a person waits, one
turn is enough."""
LEASE_MS: Final = HOUSE_LEASE_MS
"""For how long a claimed game is nobody else's: longer than a drive, and how long a killed worker is missed."""
MOST_CLAIMS: Final = 64
"""Games that a drive holds at a time."""
MOST_LOADED: Final = 16
"""Games that a drive reads at once. Those at which a person waits are stored together, too, as far as their moments have
come: each round trip costs as much as a move, and each write to disk as much as ten."""
MOST_KEEP_SECONDS: Final = 0.02
"""For how long turns whose moment has come are left while others are worked out, however slow the disk is."""
PACE_SECONDS: Final = 0.001
"""For each seat of a table with a person: its bots' moves are stored at the end of so long a while, or of a further one."""
SLICE: Final = 128
"""Events of a game of bots alone that are one append: a person elsewhere waits until a worker has worked them out and
stored them."""
LONGEST_DELAY_MS: Final = 3_600_000
"""Between two tries of a game that cannot be driven."""
REMEMBERED: Final = 10_000
"""Games whose kind, or failures, a worker remembers."""

log = logging.getLogger(__name__)


class _Failures:
    """The games that could not be driven, and how often in a row."""

    def __init__(self) -> None:
        self._games: OrderedDict[str, tuple[str, Backoff]] = OrderedDict()

    def add(self, game: str, error: Exception) -> int:
        """Another failure, logged where it is a new one. Returns the ms to the next try."""
        why = f"{type(error).__name__}: {error}"
        known, backoff = self._games.pop(game, ("", Backoff(LEASE_MS, LONGEST_DELAY_MS)))
        if known != why:
            log.error("game %s cannot be driven and is left for later", game, exc_info=error)
        self._games[game] = why, backoff
        if len(self._games) > REMEMBERED:
            self._games.popitem(last=False)
        return int(backoff.fail())

    def drop(self, game: str) -> None:
        """The game could be driven after all."""
        if self._games:
            self._games.pop(game, None)


class _Held(NamedTuple):
    """A turn of the house that waits for its moment."""

    moment: float
    """When it is to be stored, by `time.monotonic`."""
    game: str
    leased_until: int
    turn: Turn


class Driver:
    """Plays what the house owes. One a process, so that it knows its games; for one thread.

    How long a bot thinks follows from its cards: one that may play a single card is done at once. So that nobody can tell
    by the time at which a move comes, the moves at a table with a person are held until a moment that does not depend on
    the cards; meanwhile other tables have their turn.
    """

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._tables = services.tables
        self._queue = services.queue
        self._clock = services.clock
        self._failures = _Failures()
        self._of_bots: OrderedDict[str, None] = OrderedDict()
        self._keep_seconds = 0.0
        """How long the last turns that were held took to be stored."""

    def drive(self, partition: int, seconds: float = DRIVE_SECONDS, *, urgent: bool = False) -> int:
        """Play the due games of a partition until nothing is ripe or the time is over. Returns how many turns.

        A turn is what one game owes, games with a person first. What could not be played is due as before when this
        returns; so the sweep sees it and asks for another drive. An ``urgent`` one is for persons: where more of its kind
        wait, it leaves games of bots alone, of which every other plays a turn before it hands on, and persons who moved
        after it began, who come after those that wait elsewhere. Where the store does not answer, the leases end by
        themselves.
        """
        began, start = time.monotonic(), self._clock()
        claims: dict[str, int] = {}
        loaded: dict[str, Table] = {}
        held: list[_Held] = []
        turns = of_bots_alone = 0
        look = True
        try:
            while time.monotonic() - began < seconds:
                if self._should_keep(held):
                    self._keep(held)
                    continue
                # while persons wait who were found before, nobody can be first who was not
                if look or not any(self._of_persons(claims)):
                    hurried = urgent and turns > 0 and self._queue.urgent_waits()
                    ripe_at = start if hurried else self._clock()
                    claims |= self._claim(partition, ripe_at, MOST_CLAIMS - len(claims) - len(held))
                game = next(self._of_persons(claims), None)
                if game is None and held:
                    self._keep(held)
                    continue
                if game is None:
                    if not claims or (
                        (urgent or of_bots_alone) and self._others_wait(time.monotonic() - began)
                    ):
                        break
                    game = next(iter(claims))
                elif game not in loaded:
                    loaded = self._tables.load_each([*islice(self._of_persons(claims), MOST_LOADED)])
                self._play(game, claims.pop(game), loaded.pop(game, None), held)
                look = game in self._of_bots
                of_bots_alone += look
                turns += 1
            while held:
                self._keep(held)
            self._give_back(partition, claims)
        except StoreUnavailable as error:
            log.warning("partition %d is left for later: the store does not answer: %s", partition, error)
        return turns

    def _should_keep(self, held: list[_Held]) -> bool:
        """Whether a turn has come to its moment, and others have been worked out for as long as it takes to store them.

        So a worker waits for a slow disk for half its time at most, and stores the more at once the longer each write takes.
        """
        return bool(held) and min(one.moment for one in held) + self._keep_seconds <= time.monotonic()

    def _of_persons(self, claims: Iterable[str]) -> Iterator[str]:
        """Those games that are not known to be of bots alone."""
        return (game for game in claims if game not in self._of_bots)

    def _others_wait(self, elapsed: float) -> bool:
        """Whether a drive of so many seconds that has only games of bots left should hand on."""
        return self._queue.urgent_waits() or (elapsed > FAIR_SECONDS and bool(self._queue.waiting()))

    def _claim(self, partition: int, ripe_at: int, most: int) -> dict[str, int]:
        """Games that were ripe at a time (Unix ms), each with the end of its lease."""
        end = self._clock() + LEASE_MS
        games = self._store.claim_due(partition, ripe_at, end - ripe_at, most) if most > 0 else []
        return dict.fromkeys(games, end)

    def _give_back(self, partition: int, claims: dict[str, int]) -> None:
        """Make claimed games due again: as `Store.settle` does, with one write to disk for all of them."""
        now = self._clock()
        key = self._store.keys.due(partition)
        self._store.wire.run_each(
            SETTLE, [((key,), (game, leased_until, now)) for game, leased_until in claims.items()]
        )

    def _play(self, game: str, leased_until: int, table: Table | None, held: list[_Held]) -> None:
        """Work out what the house does at a table, read anew where it is none, and store it; hold it where there is a person."""
        began = time.monotonic()
        with self._own_affair(game, leased_until):
            turn = self._tables.plan_for_house(self._tables.load(game) if table is None else table, SLICE)
            seats = turn.state.seats
            if turn.events and any(seat.kind == "player" for seat in seats):
                pace = PACE_SECONDS * len(seats)
                moment = began + pace * math.ceil(max(time.monotonic() - began, pace) / pace)
                held.append(_Held(moment, game, leased_until, turn))
            else:
                self._note(game, leased_until, turn, self._tables.keep_for_house(turn, SLICE))

    def _keep(self, held: list[_Held]) -> None:
        """Store the turn whose moment comes first, at that moment, and those with it whose moments have come by then."""
        held.sort(key=attrgetter("moment"))
        time.sleep(max(0.0, held[0].moment - time.monotonic()))
        now = time.monotonic()
        ripe = [one for one in held if one.moment <= now] or held[:1]
        del held[: len(ripe)]
        tables = self._tables.keep_each([one.turn for one in ripe])
        for one, table in zip(ripe, tables, strict=True):
            with self._own_affair(one.game, one.leased_until):
                kept = table or self._tables.keep_for_house(one.turn, SLICE)
                self._note(one.game, one.leased_until, one.turn, kept)
        self._keep_seconds = min(MOST_KEEP_SECONDS, time.monotonic() - now)

    def _note(self, game: str, leased_until: int, turn: Turn, table: Table) -> None:
        """Remember what the game is like after a turn; where nothing was appended, say what is due."""
        self._failures.drop(game)
        if of_bots(table.state):
            self._remember(game)
        else:
            self._of_bots.pop(game, None)
        if table.seq == turn.table.seq:
            self._store.settle(game, leased_until, next_due(table.state, self._clock()))

    @contextmanager
    def _own_affair(self, game: str, leased_until: int) -> Iterator[None]:
        """Put a game off that cannot be driven: a log that is corrupt or a policy that fails is that game's affair alone."""
        try:
            yield
        except StoreUnavailable:
            raise
        except UnknownGame:
            self._store.settle(game, leased_until, None)
        except Exception as error:  # noqa: BLE001 (it is logged by `_Failures`, once)
            due = self._clock() + self._failures.add(game, error)
            self._store.settle(game, leased_until, due)

    def _remember(self, game: str) -> None:
        self._of_bots[game] = None
        self._of_bots.move_to_end(game)
        if len(self._of_bots) > REMEMBERED:
            self._of_bots.popitem(last=False)
