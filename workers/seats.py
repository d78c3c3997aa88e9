"""Bot seats and clocks: the moves that the house owes, made through `services.tables` like anybody's.

The due sets know which games wait for the house and since when. `Driver` takes them under a lease and plays; `Sweep`
watches, and asks for a drive of every partition in which something is ripe. Jobs are only nudges: whatever dies, the
due sets bring it back.
"""

from __future__ import annotations

import logging
import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from operator import attrgetter
from typing import Final, NamedTuple

import redis

from services.feed import Batch
from services.owed import HOUSE_LEASE_MS, Turn, next_due, of_bots
from services.queue import Queued
from services.scripts import SETTLE
from services.store import StoreUnavailable
from services.supervise import Backoff, Stop
from services.tables import UnknownGame
from services.wire import Script, Wire
from services.wiring import Services
from workers.aging import Aging

DRIVE_SECONDS: Final = 2.0
"""How long a drive of one partition may take before it hands on."""
FAIR_SECONDS: Final = 0.05
"""The same where other partitions wait and none of the games that are left includes a person; where a person waits, one
turn is enough."""
LEASE_MS: Final = HOUSE_LEASE_MS
"""For how long a claimed game is nobody else's: longer than a drive, and how long a killed worker is missed."""
MOST_CLAIMS: Final = 64
"""Games that a drive holds at a time."""
PACE_SECONDS: Final = 0.001
"""For each seat of a table with a person: its bots' moves are stored at the end of so long a while, or of a further one."""
SLICE: Final = 128
"""Events of a game of bots alone that are one append: a person elsewhere waits until a worker has worked them out and
stored them."""
LONGEST_DELAY_MS: Final = 3_600_000
"""Between two tries of a game that cannot be driven."""
REMEMBERED: Final = 10_000
"""Games whose kind, or failures, a worker remembers."""

SWEEP_LEASE_MS: Final = 1_500
"""After so long without a word of the one sweep that works, another takes over."""
RENEW_SECONDS: Final = 0.5
"""How often the lease is renewed, or asked for."""
LOOK_SECONDS: Final = 1.0
"""How often the due sets are looked at, whatever the feeds say."""
MOST_DRIVES: Final = 4
"""Drives for bots alone that are asked for at a time: to ask takes some ms each, and news of persons is heard between."""
LATE_MS: Final = 2_000
"""What is overdue for so long goes before persons, one partition at each look."""
SERVER_TICK: Final = 0.1
"""How late an idle server may notice that a wait is over, seconds."""
GLANCE_SECONDS: Final = 0.01
"""How often the feeds are read while something is due so soon that no wait at the server is safe."""

HOLD: Final = Script("""
-- KEYS[1] lease   ARGV[1] who asks   ARGV[2] for how long, ms
-- Returns 1 when the lease is the asker's now, 0 when it is another's.
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
""")

RELEASE: Final = Script("""
-- KEYS[1] lease   ARGV[1] who gives it up
-- Returns 1 when it was theirs.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
""")

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

    def drive(self, partition: int, seconds: float = DRIVE_SECONDS, *, urgent: bool = False) -> int:
        """Play the due games of a partition until nothing is ripe or the time is over. Returns how many turns.

        A turn is what one game owes, games with a person first. What could not be played is due as before when this
        returns; so the sweep sees it and asks for another drive. An ``urgent`` one is for persons: where more of its kind
        wait, it leaves games of bots alone, of which every other plays a turn before it hands on. Where the store does
        not answer, the leases end by themselves.
        """
        began = time.monotonic()
        claims: dict[str, int] = {}
        held: list[_Held] = []
        turns = of_bots_alone = 0
        try:
            while time.monotonic() - began < seconds:
                if held and min(one.moment for one in held) <= time.monotonic():
                    self._keep(held)
                    continue
                claims |= self._claim(partition, MOST_CLAIMS - len(claims) - len(held))
                game = next((game for game in claims if game not in self._of_bots), None)
                if game is None and held:
                    self._keep(held)
                    continue
                if game is None:
                    if not claims or (
                        (urgent or of_bots_alone) and self._others_wait(time.monotonic() - began)
                    ):
                        break
                    game = next(iter(claims))
                self._play(game, claims.pop(game), held)
                of_bots_alone += game in self._of_bots
                turns += 1
            while held:
                self._keep(held)
            self._give_back(partition, claims)
        except StoreUnavailable as error:
            log.warning("partition %d is left for later: the store does not answer: %s", partition, error)
        return turns

    def _others_wait(self, elapsed: float) -> bool:
        """Whether a drive of so many seconds that has only games of bots left should hand on."""
        return self._queue.urgent_waits() or (elapsed > FAIR_SECONDS and bool(self._queue.waiting()))

    def _claim(self, partition: int, most: int) -> dict[str, int]:
        """Games that are ripe, each with the end of its lease."""
        now = self._clock()
        games = self._store.claim_due(partition, now, LEASE_MS, most) if most > 0 else []
        return dict.fromkeys(games, now + LEASE_MS)

    def _give_back(self, partition: int, claims: dict[str, int]) -> None:
        """Make claimed games due again: as `Store.settle` does, with one write to disk for all of them."""
        now = self._clock()
        key = self._store.keys.due(partition)
        self._store.wire.run_each(
            SETTLE, [((key,), (game, leased_until, now)) for game, leased_until in claims.items()]
        )

    def _play(self, game: str, leased_until: int, held: list[_Held]) -> None:
        """Work out what the house does at a table, and store it at once, or hold it where there is a person."""
        began = time.monotonic()
        with self._own_affair(game, leased_until):
            turn = self._tables.plan_for_house(game, SLICE)
            seats = turn.state.seats
            if turn.events and any(seat.kind == "player" for seat in seats):
                pace = PACE_SECONDS * len(seats)
                moment = began + pace * math.ceil(max(time.monotonic() - began, pace) / pace)
                held.append(_Held(moment, game, leased_until, turn))
            else:
                self._store_turn(game, leased_until, turn)

    def _keep(self, held: list[_Held]) -> None:
        """Store the turn whose moment comes first, at that moment."""
        one = min(held, key=attrgetter("moment"))
        held.remove(one)
        time.sleep(max(0.0, one.moment - time.monotonic()))
        with self._own_affair(one.game, one.leased_until):
            self._store_turn(one.game, one.leased_until, one.turn)

    def _store_turn(self, game: str, leased_until: int, turn: Turn) -> None:
        table = self._tables.keep_for_house(turn, SLICE)
        self._failures.drop(game)
        if of_bots(table.state):
            self._remember(game)
        else:
            self._of_bots.pop(game, None)
        # without effect where the turn has been appended, which said itself what is due
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


class _Asked(NamedTuple):
    """A job that plays in a partition: "serve" where a person waits there, else "drive", or "late" in its place."""

    name: str
    partition: int


class Sweep:
    """Watches what is due in every partition and asks for drives; of many sweeps one works at a time.

    The feeds tell which games have a person: those are served before all others, in whatever partition they are. The due
    sets do not, so what a new sweep finds there, and what comes up again, has its turn with the games of bots. That
    persons never keep bots from playing at all, the look sees to: what is late for long waits no longer than a person.
    """

    def __init__(self, services: Services) -> None:
        self._store = services.store
        self._feed = services.feed
        self._queue = services.queue
        self._clock = services.clock
        self._wire = Wire(services.client)
        self._lease = services.keys.sweep
        self._name = secrets.token_hex(8)
        self._due: dict[_Asked, int] = {}
        self._again: dict[_Asked, tuple[float, Backoff]] = {}
        self._aging = Aging(services)
        self._renew_at = self._look_at = 0.0

    def run(self, stop: Stop) -> None:
        """Watch until asked to stop, whenever the lease is free; a store that does not answer is waited for."""
        patience = Backoff(0.1, 1.0)
        while not stop.is_set():
            try:
                if self.hold():
                    self._watch(stop, patience)
                else:
                    stop.wait(RENEW_SECONDS)
            except (StoreUnavailable, redis.RedisError) as error:  # RQ lets through what the server refuses
                pause = patience.fail()
                if patience.failures == 1:
                    log.warning("the store does not answer and is waited for: %s", error)
                stop.wait(pause)
        self.release()

    def hold(self) -> bool:
        """Take or renew the lease. Returns whether it is this sweep's now."""
        self._renew_at = time.monotonic() + RENEW_SECONDS
        return bool(self._wire.run(HOLD, (self._lease,), (self._name, SWEEP_LEASE_MS)))

    def release(self) -> None:
        """Give the lease up, so that another need not wait for its end."""
        try:
            self._wire.run(RELEASE, (self._lease,), (self._name,))
        except StoreUnavailable:
            log.debug("the lease of the sweep ends by itself")

    def _watch(self, stop: Stop, patience: Backoff) -> None:
        """Work while the lease is held."""
        cursors = self._feed.heads()  # before the first look, so that nothing falls between the two
        self._look_at = 0.0
        while not stop.is_set():
            if time.monotonic() >= self._renew_at and not self.hold():
                return
            if time.monotonic() >= self._look_at:
                self.look()
            self.ask()
            self._aging.ask()
            if patience.succeed():
                log.info("the store answers again")
            self.hear(self._feed.follow(cursors, self._wait(stop)))

    def hear(self, news: Batch) -> None:
        """Take in what new pointers say is due, and whether a person waits for it."""
        for partition, pointers in news.items():
            for pointer in pointers:
                if pointer.due is not None:
                    asked = _Asked("drive" if pointer.of_bots else "serve", partition)
                    self._due[asked] = min(pointer.due, self._due.get(asked, pointer.due))

    def look(self) -> None:
        """Read from the due sets when each partition's earliest game is due."""
        self._look_at = time.monotonic() + LOOK_SECONDS
        found = self._store.dues()
        # of games with a person, those that are due no more as they were are not asked for in vain
        persons = {
            asked: due
            for asked, due in self._due.items()
            if asked.name == "serve" and found.get(asked.partition, due + 1) <= due
        }
        self._due = {_Asked("drive", partition): due for partition, due in found.items()} | persons
        if found:
            latest = min(found, key=found.__getitem__)
            if found[latest] <= self._clock() - LATE_MS:
                self._due[_Asked("late", latest)] = found[latest]

    def ask(self) -> None:
        """Ask for a drive of partitions in which a game is ripe, as far as is known.

        Of all where persons wait; then of `MOST_DRIVES` others, and the rest are still due when this is called again.
        """
        now = self._clock()
        drives = 0
        ripe = [asked for asked, due in self._due.items() if due <= now]
        for asked in sorted(ripe, key=lambda asked: asked.name == "drive"):
            if drives == MOST_DRIVES:
                break
            again = self._again.get(asked)
            if again is not None:
                if time.monotonic() < again[0]:
                    continue
                if not self._still_ripe(asked, now):
                    continue
            self._ask(asked, again[1] if again else Backoff(0.005, 0.16))
            drives += asked.name == "drive"

    def _ask(self, asked: _Asked, backoff: Backoff) -> None:
        if self._queue.enqueue(*asked, unique=str(asked.partition)) is Queued.RUNNING:
            # it may be too late for that job to see what is ripe
            self._again[asked] = time.monotonic() + backoff.fail(), backoff
        else:
            self._due.pop(asked, None)
            self._again.pop(asked, None)

    def _still_ripe(self, asked: _Asked, now: int) -> bool:
        due = self._store.next_due(asked.partition)
        if due is not None and due <= now:
            return True
        self._again.pop(asked, None)
        self._due.pop(asked, None)
        if due is not None:
            self._due[asked] = due
        return False

    def _wait(self, stop: Stop) -> int:
        """For how many ms to wait for news at the server; where something is due sooner than that allows, wait here.

        An idle server looks ten times a second which waits are over, so one of 5 ms may last 100.
        """
        mono, now = time.monotonic(), self._clock()
        duty = min(self._renew_at, self._look_at) - mono
        soon = duty
        for asked, due in self._due.items():
            again = self._again.get(asked)
            soon = min(soon, (due - now) / 1000 if due > now or again is None else again[0] - mono)
        if soon < duty and soon < 2 * SERVER_TICK:
            stop.wait(min(soon, GLANCE_SECONDS))
            return 0
        return max(1, int(1000 * (duty if soon == duty else soon - SERVER_TICK)))
