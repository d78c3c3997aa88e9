"""An audit of many games, fanned out: workers of the queue do it batch by batch, and this process what they do not.

RQ may lose a job, and a worker may die or be of another version. So only this process counts: it knows which games of
which batch are still without an outcome, and a batch that nobody will bring any more it audits itself.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice, takewhile
from typing import Final

import msgspec
import redis

from services.audit_batch import VERSION, Outcome, audit_batch
from services.audit_channel import Channel, Reply
from services.auditor import Auditor
from services.queue import Queue
from services.store import StoreUnavailable

BATCH_SECONDS: Final = 2.0
"""How long a batch should take: a job costs RQ up to 15 ms, and what is lost with a worker is done again."""
FIRST_GAMES: Final = 10
"""Games of a batch as long as it is not known how long one takes."""
MOST_GAMES: Final = 250
"""Games of a batch at most, so that few reports are in memory."""
LOOK_SECONDS: Final = 0.5
"""How often it is looked where the batches are that workers have."""
AHEAD: Final = 2
"""Batches in the queue for each worker: one that it does, one that waits. Others who audit have their turn between."""


class _Batch:
    """Games, and what has become of the first of them."""

    def __init__(self, number: int, games: list[str]) -> None:
        self.number, self.games = number, games
        self.outcomes: list[Outcome] = []
        self.attempt = 0
        self.asked = False
        """Whether a worker was asked for it, and may still do it."""

    @property
    def left(self) -> list[str]:
        """The games without an outcome."""
        return self.games[len(self.outcomes) :]


class FanOut:
    """One audit of many games by the workers of a queue. ``tell`` is given a sentence when workers fail it."""

    def __init__(
        self,
        auditor: Auditor,
        queue: Queue,
        *,
        brief: bool,
        tell: Callable[[str], object],
        version: str = VERSION,
    ) -> None:
        self._auditor, self._queue, self._brief, self._tell = auditor, queue, brief, tell
        self._version = version
        self._run = secrets.token_hex(8)
        self._channel = Channel(queue.wire, self._run)
        self._open: dict[int, _Batch] = {}
        """Batches that are not told yet, in order."""
        self._next = 0
        self._workers = 0
        self._queue_is_used = True
        self._per_game = BATCH_SECONDS / FIRST_GAMES
        self._look_at = 0.0

    def workers(self) -> int:
        """How many workers there are; none, too, where the queue does not answer."""
        with self._over_queue():
            self._workers = self._queue.workers()
        return self._workers

    def outcomes(self, games: Iterable[str]) -> Generator[Outcome]:
        """The outcomes of games, in their order. To be closed: what is still in the queue is taken out then.

        Raises `StoreUnavailable` where the store, not the queue, does not answer.
        """
        games = iter(games)
        try:
            self._look()
            while self._fill(games) or self._open:
                self._look()
                mine = next((one for one in self._open.values() if not one.asked and one.left), None)
                self._hear(0.0 if mine else LOOK_SECONDS)
                if mine is not None:
                    self._audit_here(mine)
                yield from self._told()
        finally:
            self._leave()

    # --- inside

    def _fill(self, games: Iterator[str]) -> bool:
        """Have as many batches in hand as there is somebody for. Whether there were more games."""
        more = False
        while len(self._open) <= 2 * AHEAD * self._workers:
            if self._workers and sum(one.asked for one in self._open.values()) >= AHEAD * self._workers:
                break
            size = max(1, min(MOST_GAMES, int(BATCH_SECONDS / self._per_game)))
            taken = list(islice(games, size))
            if not taken:
                break
            more = True
            batch = self._open[self._next] = _Batch(self._next, taken)
            self._next += 1
            self._ask(batch)
        return more

    def _ask(self, batch: _Batch) -> None:
        """Ask the workers for what is left of a batch, where there are any."""
        if not self._workers:
            return
        batch.attempt += 1
        batch.asked = True  # before it is in the queue: who is interrupted between the two takes it out
        with self._over_queue():
            args = (self._version, self._run, batch.number, batch.attempt, batch.left, int(self._brief))
            self._queue.enqueue("audit", *args, unique=self._name(batch))

    def _name(self, batch: _Batch) -> str:
        return f"{self._run}-{batch.number}-{batch.attempt}"

    def _hear(self, seconds: float) -> None:
        """Take in what workers have found, and wait a while for the first of it."""
        if not any(one.asked for one in self._open.values()):
            return
        with self._over_queue():
            for reply in self._channel.take(seconds):
                self._take(reply)

    def _take(self, reply: Reply) -> None:
        batch = self._open.get(reply.batch)
        if batch is None or not batch.asked or reply.attempt != batch.attempt:
            return  # it was given up, and done here
        batch.asked = False
        if reply.version != self._version:
            self._give_up(f"an audit worker is of version {reply.version}, and this is {self._version}")
            return
        left = batch.left
        found: list[Outcome] = []
        with suppress(msgspec.MsgspecError):
            found = msgspec.json.decode(reply.outcomes, type=list[Outcome])
        if not found or [one.game for one in found] != left[: len(found)]:
            return
        self._measure(reply.seconds / len(found))
        seen = list(takewhile(lambda one: not one.why, found))
        batch.outcomes += seen
        if batch.left and seen == found:
            self._ask(batch)  # else something may be wrong with that worker, and it is looked at here

    def _measure(self, per_game: float) -> None:
        """Let the next batches be as large as this one says they should be, half and half with those before."""
        self._per_game = max(1e-4, (self._per_game + per_game) / 2)

    def _look(self) -> None:
        """Now and then: say that somebody waits, count the workers, and miss what nobody will bring any more."""
        asked = [one for one in self._open.values() if one.asked]
        if time.monotonic() < self._look_at or not (self._queue_is_used or asked):
            return
        self._look_at = time.monotonic() + LOOK_SECONDS
        with self._over_queue():
            self._channel.wait()
            if self._queue_is_used:
                before, self._workers = self._workers, self._queue.workers()
                if before and not self._workers:
                    self._tell("no audit worker is left; this command goes on alone until one comes")
            for batch in asked:
                self._look_after(batch)

    def _look_after(self, batch: _Batch) -> None:
        name = self._name(batch)
        if not self._workers and self._queue.drop("audit", name):
            batch.asked = False
        elif self._queue.look_up("audit", name) is None:
            self._hear(0.0)  # what it told before its job ended
            if batch.asked and name == self._name(batch):
                batch.asked = False

    def _audit_here(self, batch: _Batch) -> None:
        began = time.monotonic()
        found = audit_batch(
            self._auditor, batch.left, brief=self._brief, seconds=LOOK_SECONDS, wanted=lambda: True
        )
        batch.outcomes += found
        self._measure((time.monotonic() - began) / len(found))

    def _told(self) -> Iterator[Outcome]:
        """The outcomes of the batches that are done and whose turn it is."""
        while self._open:
            number, batch = next(iter(self._open.items()))
            if batch.left:
                return
            del self._open[number]
            yield from batch.outcomes

    @contextmanager
    def _over_queue(self) -> Iterator[None]:
        """Do without the queue from now on where it does not answer."""
        try:
            yield
        except (StoreUnavailable, redis.RedisError) as error:
            self._give_up(f"the job queue does not answer ({error})")
            for batch in self._open.values():
                batch.asked = False

    def _give_up(self, why: str) -> None:
        if self._queue_is_used:
            self._tell(f"{why}; this command goes on alone")
        self._queue_is_used, self._workers = False, 0
        for batch in self._open.values():
            with suppress(StoreUnavailable, redis.RedisError):
                if batch.asked and self._queue.drop("audit", self._name(batch)):
                    batch.asked = False

    def _leave(self) -> None:
        """Take out of the queue what is still in it, and let who works at the rest know that nobody waits."""
        with suppress(StoreUnavailable, redis.RedisError):
            for batch in self._open.values():
                if batch.asked and not self._queue.drop("audit", self._name(batch)):
                    self._queue.look_up("audit", self._name(batch))  # which forgets it where its worker died
            self._channel.close()
        self._queue.close()
