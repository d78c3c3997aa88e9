"""The sweep: it sees in time what is due, and asks for a drive of it."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from services.queue import Queued
from services.store import StoreUnavailable
from services.supervise import Stop
from services.wiring import build, now_ms
from workers import sweep as watching
from workers.seats import Driver
from workers.sweep import Sweep

PATIENCE = 20
"""Seconds after which a test that waits has failed."""


@contextmanager
def sweeping(*sweeps: Sweep) -> Iterator[Callable[[], None]]:
    """Let sweeps run while a test looks; a call in between raises what has ended one."""
    stop = Stop()
    with ThreadPoolExecutor(len(sweeps)) as pool:
        running = [pool.submit(sweep.run, stop) for sweep in sweeps]

        def check() -> None:
            for one in running:
                if one.done():
                    one.result()

        try:
            yield check
        finally:
            stop.set()
        for one in running:
            one.result(PATIENCE)


class Asked:
    """Stands in for the queue: tells what was asked for, and answers as it is told to."""

    def __init__(self, *answers: Queued) -> None:
        self.partitions: list[tuple[float, int]] = []
        self.names: list[str] = []
        self._answers = list(answers)
        self._news = threading.Condition()

    def enqueue(self, name: str, partition: int, *, unique: str) -> Queued:
        """As `Queue.enqueue`."""
        assert str(partition) == unique
        with self._news:
            self.names.append(name)
            self.partitions.append((time.monotonic(), partition))
            self._news.notify_all()
        return self._answers.pop(0) if self._answers else Queued.NEW

    def wait(self, count: int) -> list[int]:
        """The first so many partitions that were asked for."""
        with self._news:
            assert self._news.wait_for(lambda: len(self.partitions) >= count, PATIENCE)
            return [partition for _, partition in self.partitions[:count]]


@pytest.fixture
def live(house):
    """The house on the real clock."""
    house.services = build(house.services.settings)
    house.clock = now_ms
    return house


def with_queue(house, queue: Asked) -> Sweep:
    """A sweep that asks `queue`."""
    sweep = Sweep(house.services)
    sweep._queue = queue
    return sweep


class TestSweep:
    def test_what_is_ripe_at_the_start_is_asked_for(self, live) -> None:
        """Given games that became ripe while nobody watched, then a drive of each partition is enqueued."""
        partitions = {live.partition(live.open()) for _ in range(6)}
        with sweeping(Sweep(live.services)):
            expected = {f"drive-{partition}" for partition in partitions}
            until(lambda: expected == set(live.services.queue.waiting()))

    def test_an_append_is_seen_at_once(self, live) -> None:
        """Given a sweep that has seen everything, when a game becomes ripe, then it asks before its next full look."""
        queue = Asked()
        sweep = with_queue(live, queue)
        with sweeping(sweep):
            until(lambda: sweep._look_at > 0)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(watching, "LOOK_SECONDS", 3600.0)
                until(lambda: sweep._look_at > time.monotonic() + 60)
                game = live.open()
                assert [live.partition(game)] == queue.wait(1)

    def test_it_wakes_up_for_a_deadline(self, live) -> None:
        """A deadline in the future is asked for when it comes, neither before nor a full look later."""
        queue = Asked()
        sweep = with_queue(live, queue)
        game = live.open(persons=2, ready=False)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(watching, "LOOK_SECONDS", 3600.0)
            with sweeping(sweep):
                until(lambda: sweep._look_at > time.monotonic() + 60)
                due = now_ms() + 700
                feed = live.services.keys.feed(live.partition(game))
                live.services.client.xadd(feed, {"g": game, "n": 9, "d": due})
                queue.wait(1)
                late = now_ms() - due
        assert 0 <= late < 500
        assert ["serve"] == queue.names

    def test_a_refused_request_is_made_again(self, live) -> None:
        """Given a drive still runs, then the sweep asks again until it is queued, as long as something is ripe."""
        queue = Asked(*[Queued.RUNNING] * 3)
        sweep = with_queue(live, queue)
        game = live.open()
        with sweeping(sweep):
            assert [live.partition(game)] * 4 == queue.wait(4)
        times = [at for at, _ in queue.partitions[:4]]
        assert times[3] - times[0] < 0.9

    def test_it_does_not_insist_on_what_was_played_meanwhile(self, live) -> None:
        """Given the running drive has played the game after all, then nothing is asked for again."""
        game = live.open()

        class Playing(Asked):
            def enqueue(self, name: str, partition: int, *, unique: str) -> Queued:
                """Refuse, and let the drive that runs play the game."""
                Driver(live.services).drive(partition, PATIENCE)
                return super().enqueue(name, partition, unique=unique)

        queue = Playing(Queued.RUNNING)
        sweep = with_queue(live, queue)
        with sweeping(sweep):
            queue.wait(1)
            until(lambda: not sweep._due and not sweep._again)
        assert "over" == live.services.tables.load(game).state.phase
        assert 1 == len(queue.partitions)

    def test_one_works_and_another_takes_over(self, live) -> None:
        """Of two sweeps one asks; when it has stopped, or died, the other does within two seconds."""
        first, second = Asked(), Asked()
        one, other = with_queue(live, first), with_queue(live, second)
        assert one.hold()
        assert not other.hold()
        assert one.hold()
        live.open()
        began = time.monotonic()
        with sweeping(other):  # the one has died with the lease
            second.wait(1)
        assert time.monotonic() - began < 2.5
        assert one.hold()
        assert [] == first.partitions

    def test_the_lease_is_given_up_in_order(self, live) -> None:
        """A sweep that stops leaves the lease free, and one that does not hold it leaves it alone."""
        one, other = Sweep(live.services), Sweep(live.services)
        assert one.hold()
        other.release()
        assert not other.hold()
        one.release()
        assert other.hold()

    def test_a_store_that_does_not_answer_is_waited_for(self, live, monkeypatch, caplog) -> None:
        """It is told once, and the watch goes on when the store is back."""
        caplog.set_level(logging.INFO)
        outages = iter(range(3))
        look = live.services.store.dues

        def dues() -> dict[int, int]:
            if next(outages, None) is not None:
                raise StoreUnavailable("gone")
            return look()

        monkeypatch.setattr(live.services.store, "dues", dues)
        queue = Asked()
        game = live.open()
        with sweeping(with_queue(live, queue)):
            assert [live.partition(game)] == queue.wait(1)
            told = lambda: [r.getMessage() for r in caplog.records if r.name == "workers.sweep"]  # noqa: E731
            until(lambda: len(told()) == 2)
        assert ["the store does not answer and is waited for: gone", "the store answers again"] == told()

    def test_a_clock_that_was_set_back(self, house, caplog) -> None:
        """What was due when it was set back is due now, not when the clock has caught up; it is told, once."""
        sweep = with_queue(house, queue := Asked())
        game = house.open()
        sweep.hold()
        house.clock.now -= 3_600_000
        for _ in range(3):
            sweep.look()
            sweep.ask()
        assert house.due(game) == house.clock.now
        assert {house.partition(game)} == {partition for _, partition in queue.partitions}
        told = [r.getMessage() for r in caplog.records]
        assert ["the clock was set back; 1 games that were due later are looked at now"] == told

    def test_a_clock_that_was_ahead_for_a_moment(self, house) -> None:
        """Given one that is set ahead, and back before the next look, then what became due in between is due now."""
        sweep = with_queue(house, Asked())
        sweep.look()
        house.clock.now += 3_600_000
        game = house.open()
        sweep.ask()
        house.clock.now -= 3_600_000
        sweep.ask()
        assert sweep._look_at < time.monotonic(), "it looks at once"
        sweep.look()
        assert house.due(game) == house.clock.now

    def test_a_clock_that_is_only_slowed_down(self, house, caplog) -> None:
        """What is due later stays so."""
        sweep = with_queue(house, Asked())
        game = house.open(persons=2, ready=False)
        due = house.due(game)
        house.clock.now -= 100
        sweep.look()
        assert due == house.due(game)

    def test_appends_after_which_nothing_is_owed(self, live) -> None:
        """A table that waits for persons is nobody's job."""
        queue = Asked()
        with sweeping(with_queue(live, queue)):
            for _ in range(10):
                live.open(persons=2, ready=False)
            marker = live.partition(live.open())
            assert [marker] == queue.wait(1)


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that has no event of its own. Fails after a while."""
    waiting = threading.Event()
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        waiting.wait(0.005)
