"""The sweep: watches what is due in every partition, and asks for a drive where something is ripe."""

from __future__ import annotations

import logging
import secrets
import time
from typing import Final, NamedTuple

import redis

from services.cluster import wire_of
from services.feed import Batch
from services.queue import Queued
from services.scripts import HOLD, RELEASE
from services.store import StoreUnavailable
from services.supervise import Backoff, Stop
from services.wire import Script
from services.wiring import Services
from workers.aging import Aging

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
REST_SECONDS: Final = 0.005
"""After news the feeds are left alone for so long: where many tables move, one reading tells of several."""
GLANCE_SECONDS: Final = 0.01
"""How often the feeds are read while something is due so soon that no wait at the server is safe."""

WAKE: Final = Script("""
-- KEYS[1] due set   ARGV[1] now, Unix ms
-- Makes everything that is due later due now, for a clock that was set back. Returns how many games that were.
local later = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[1], '+inf')
for _, game in ipairs(later) do
  redis.call('ZADD', KEYS[1], ARGV[1], game)
end
return #later
""")

SET_BACK_MS: Final = 500
"""By so much the clock was set back for certain, and not slowed down."""

log = logging.getLogger(__name__)


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
        self._wire = wire_of(services.client)
        self._lease = services.keys.sweep
        self._name = secrets.token_hex(8)
        self._due: dict[_Asked, int] = {}
        self._again: dict[_Asked, tuple[float, Backoff]] = {}
        self._aging = Aging(services)
        self._renew_at = self._look_at = 0.0
        self._latest = self._clock()
        """The latest time that this sweep has seen, Unix ms."""
        self._set_back = False

    def run(self, stop: Stop) -> None:
        """Watch until asked to stop, whenever the lease is free; a store that does not answer is waited for."""
        patience = Backoff(0.1, 1.0, apart=True)
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
        self._mind_clock()
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
        news: Batch = {}
        while not stop.is_set():
            if time.monotonic() >= self._renew_at and not self.hold():
                return
            if time.monotonic() >= self._look_at:
                self.look()
            self.ask()
            self._aging.ask()
            if patience.succeed():
                log.info("the store answers again")
            if news:
                stop.wait(REST_SECONDS)
            news = self._feed.follow(cursors, self._wait(stop))
            self.hear(news)

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
        self._mind_clock()
        if self._set_back:
            self._wake()
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

    def _mind_clock(self) -> int:
        """The time, and a note where it was set back, also while another sweep works, which may have died of that.

        Whoever appends has the sweep look at the clock, so a time that something was due by is seen here soon.
        """
        now = self._clock()
        if now < self._latest - SET_BACK_MS:
            self._set_back, self._look_at = True, 0.0
        self._latest = now
        return now

    def _wake(self) -> None:
        """Have every game looked at for which something is due, now.

        What was due at once when the clock was set back, or was in the hands of a worker, would wait until it has caught
        up. What is woken too early is put back by whoever drives it.
        """
        keys = self._store.keys
        now = self._clock()
        dues = [keys.due(partition) for partition in range(keys.partitions)]
        woken = sum(self._wire.run_each(WAKE, [((due,), (now,)) for due in dues]))
        log.warning("the clock was set back; %d games that were due later are looked at now", woken)
        self._due.clear()
        self._set_back = False

    def ask(self) -> None:
        """Ask for a drive of partitions in which a game is ripe, as far as is known.

        Of all where persons wait; then of `MOST_DRIVES` others, and the rest are still due when this is called again.
        """
        now = self._mind_clock()
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
