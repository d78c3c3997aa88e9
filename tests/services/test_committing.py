"""Appends that wait at the same time go together, and each has its own outcome."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from queue import Queue
from random import Random
from threading import Event, Lock, Thread
from typing import Any

import pytest
import redis

from services.committing import MOST, Committer
from services.entries import Appended, Once, Replayed
from services.scripts import APPEND
from services.store import CorruptStream, Store
from services.wire import Call, Script, StoreUnavailable, Wire

PATIENCE = 30.0
NOW = 1_800_000_000_000
ECHO = Script("return ARGV[1]")


class HeldWire:
    """A line on which each exchange waits until the test answers it."""

    def __init__(self) -> None:
        self.sent: Queue[list[Any]] = Queue()
        self.answers: Queue[Callable[[list[Any]], list[Any]]] = Queue()

    def packed(self, script: Script, keys: Sequence[str], args: Sequence[Any]) -> bytes:
        """Nothing that anybody would read."""
        assert script is ECHO
        assert not keys
        return b"" if args else b"".join(args)

    def run_apart(self, script: Script, calls: Sequence[tuple[bytes, Call]]) -> list[Any]:
        """What the test says."""
        assert script is ECHO
        words = [args[0] for _, (_, args) in calls]
        self.sent.put(words)
        return self.answers.get(timeout=PATIENCE)(words)

    def answer(self, how: Callable[[list[Any]], list[Any]] = list) -> None:
        """Answer the exchange that is on its way, or the next one: each with its own word, unless something else is said."""
        self.answers.put(how)

    def next(self) -> list[Any]:
        """The next exchange that is sent."""
        return self.sent.get(timeout=PATIENCE)


class Crowd:
    """Threads that ask a committer, one after the other."""

    def __init__(self, committer: Committer, pool: ThreadPoolExecutor) -> None:
        self.committer, self._pool = committer, pool

    def ask(self, *words: Any) -> list[Future[Any]]:
        """Each word by a thread of its own, in this order."""
        asked = []
        for word in words:
            before = len(self.committer._waiting)
            asked.append(self._pool.submit(self.committer.run, (), (word,)))
            while len(self.committer._waiting) == before and not asked[-1].done() and not self._is_sent(word):
                Event().wait(0.0005)
        return asked

    def _is_sent(self, word: Any) -> bool:
        return any(word in sent for sent in list(self.committer._wire.sent.queue))  # type: ignore[attr-defined]


@pytest.fixture
def line() -> HeldWire:
    """A line that waits for the test."""
    return HeldWire()


@pytest.fixture
def crowd(line: HeldWire) -> Iterator[Crowd]:
    """Threads at that line."""
    with ThreadPoolExecutor(MOST + 8) as pool:
        yield Crowd(Committer(line, ECHO), pool)  # type: ignore[arg-type]


def results(asked: Sequence[Future[Any]]) -> list[Any]:
    """What has come of it: answers, or exceptions."""
    return [one.exception(PATIENCE) or one.result() for one in asked]


def test_who_is_alone_goes_at_once(line: HeldWire, crowd: Crowd) -> None:
    """Nobody else is waited for."""
    for word in (1, 2, 3):
        line.answer()
        assert [word] == results(crowd.ask(word))
        assert [word] == line.next()


def test_who_comes_meanwhile_goes_together(line: HeldWire, crowd: Crowd) -> None:
    """Given one on its way, then those who come are sent at once when it is answered, in the order in which they came."""
    first = crowd.ask(0)
    assert [0] == line.next()
    others = crowd.ask(1, 2, 3, 4)
    assert line.sent.empty()
    line.answer()
    assert [0] == results(first)
    assert [1, 2, 3, 4] == line.next()
    line.answer(lambda words: [f"to {word}" for word in words])
    assert ["to 1", "to 2", "to 3", "to 4"] == results(others)


def test_as_many_are_waited_for_as_came_before(line: HeldWire, crowd: Crowd) -> None:
    """Given three who are likely to come, then the first waits for the others a while, and goes without them after it."""
    crowd.committer._likely, crowd.committer._took = 3, 4 * PATIENCE
    asked = crowd.ask(1, 2)
    assert line.sent.empty()
    asked += crowd.ask(3)
    assert [1, 2, 3] == line.next()
    line.answer()
    assert [1, 2, 3] == results(asked)
    crowd.committer._took = 0.01
    line.answer()
    assert [4] == results(crowd.ask(4))
    assert [4] == line.next()
    assert 1 == crowd.committer._likely


def test_no_more_go_together_than_are_good_for_the_others(line: HeldWire, crowd: Crowd) -> None:
    """The rest goes next."""
    crowd.committer._took = 0
    first = crowd.ask(0)
    assert [0] == line.next()
    others = crowd.ask(*range(1, MOST + 4))
    line.answer()
    assert list(range(1, MOST + 1)) == line.next()
    line.answer()
    line.answer()
    assert [0, *range(1, MOST + 4)] == results([*first, *others])


def test_each_has_its_own_exception(line: HeldWire, crowd: Crowd) -> None:
    """What is refused of one is no matter of the others."""
    first = crowd.ask(0)
    others = crowd.ask(1, 2, 3)
    line.answer()
    line.answer(lambda words: [words[0], redis.ResponseError("no"), StoreUnavailable("gone")])
    assert [0, 1] == results([*first, others[0]])
    assert (redis.ResponseError, StoreUnavailable) == tuple(
        type(one.exception(PATIENCE)) for one in others[1:]
    )


def test_who_leads_and_is_interrupted_keeps_none_from_going_on(line: HeldWire, crowd: Crowd) -> None:
    """Those who went with it do not know what has become of theirs; those behind them are sent."""

    def interrupt(_: list[Any]) -> list[Any]:
        raise KeyboardInterrupt

    first = crowd.ask(0)
    together = crowd.ask(1, 2)
    line.answer()
    assert [0] == line.next()
    assert [1, 2] == line.next()
    behind = crowd.ask(3)
    line.answer(interrupt)
    line.answer()
    assert [KeyboardInterrupt, StoreUnavailable] == [type(one.exception(PATIENCE)) for one in together]
    assert [0, 3] == results([*first, *behind])


def test_who_gives_up_its_waiting_leaves_its_turn_to_others(line: HeldWire, crowd: Crowd) -> None:
    """Given one who is interrupted when it is to lead, then the next leads, and nothing of the first is sent."""
    committer = crowd.committer
    first = crowd.ask(0)
    assert [0] == line.next()
    others = crowd.ask(1, 2)
    quitter, rest = committer._waiting
    committer._give_up(quitter)
    line.answer()
    assert [0] == results(first)
    assert [rest.call[1][0]] == line.next()
    line.answer()
    assert [2] == results(others[1:])
    quitter.woken.release()
    others[0].exception(PATIENCE)


def test_a_child_of_a_fork_waits_for_nobody(line: HeldWire, crowd: Crowd) -> None:
    """Those who were on their way are the parent's."""
    first = crowd.ask(0)
    assert [0] == line.next()
    crowd.committer._pid = -1
    second = crowd.ask(1)
    assert [1] == line.next()
    line.answer()
    line.answer()
    assert [0, 1] == results([*first, *second])


# --- at a real server


@contextmanager
def together(count: int) -> Iterator[Callable[[Callable[[int], Any]], list[Any]]]:
    """Run something in so many threads at the same time."""
    with ThreadPoolExecutor(count) as pool:
        yield lambda do: [
            one.result(PATIENCE) for one in [pool.submit(do, number) for number in range(count)]
        ]


def test_all_that_many_append_is_there_once(store: Store) -> None:
    """Games of their own, and one for which all fight: each has its events in order, none lost, none twice."""

    def play(number: int) -> int:
        won = 0
        for seq in range(40):
            told = store.append(f"own{number}", seq, [(b"%d" % seq, b"")], now=NOW, due=NOW + 5)
            assert Appended(seq + 1) == told
            last = store.last("all")
            answer = store.append("all", last, [(b"%d/%d" % (number, seq), b"")], now=NOW, due=None)
            won += isinstance(answer, Appended)
        return won

    with together(16) as run:
        won = run(play)
    for number in range(16):
        assert [b"%d" % seq for seq in range(40)] == [public for _, public, _ in store.read(f"own{number}")]
    entries = store.read("all")
    assert sum(won) == len(entries) == len({public for _, public, _ in entries})


def test_a_key_makes_it_once_whoever_is_first(store: Store) -> None:
    """Given the same command from many at once, then one is carried out, and the others have its answer."""
    once = Once(b"k", b"the answer")

    def send(_: int) -> Any:
        return store.append("g", 0, [(b"1", b"")], now=NOW, due=None, once=once)

    with together(12) as run:
        told = run(send)
    assert [Appended(1)] == [one for one in told if isinstance(one, Appended)]
    assert 11 == sum(one == Replayed(b"the answer") for one in told)
    assert 1 == store.last("g")


def test_a_forgotten_script_is_taught_again(store: Store) -> None:
    """While many append: each is added once."""
    stop = Event()

    def forget() -> None:
        while not stop.is_set():
            store.client.script_flush()

    thread = Thread(target=forget)
    thread.start()
    try:
        with together(8) as run:
            run(
                lambda number: [
                    store.append(f"g{number}", seq, [(b"x", b"")], now=NOW, due=None) for seq in range(30)
                ]
            )
    finally:
        stop.set()
        thread.join()
    assert [30] * 8 == [store.last(f"g{number}") for number in range(8)]


def test_what_is_refused_is_one_games_matter(store: Store) -> None:
    """Given a game whose stream is of another type, then those who go with it are not touched."""
    store.client.set(store.keys.stream("bad"), "no stream")

    def send(number: int) -> str:
        game = "bad" if number % 4 == 0 else f"g{number}"
        try:
            return type(store.append(game, 0, [(b"1", b"")], now=NOW, due=None)).__name__
        except CorruptStream as error:
            return type(error).__name__

    with together(12) as run:
        assert ["CorruptStream" if number % 4 == 0 else "Appended" for number in range(12)] == run(send)


def test_broken_lines_lose_nothing_and_double_nothing(log: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a line that breaks before, or behind, what it was to do, when each asks again under its key, then all is there once."""
    rng, talk, lock = Random(5), log.wire._talk, Lock()

    def break_off(packed: bytes, read: Callable[[Any], Any]) -> Any:
        with lock:
            how = rng.random()
        if how < 0.1:
            raise StoreUnavailable("cut before it was sent")

        def read_one(connection: Any) -> Any:
            connection.read_response()
            raise redis.ConnectionError("cut behind its first reply")

        return talk(packed, read_one if how < 0.25 else read)

    def play(number: int) -> int:
        lost = 0
        for seq in range(60):
            told: Any = None
            while told is None:
                once = Once(b"%d" % seq, b"%d" % (seq + 1))
                try:
                    told = log.append(f"g{number}", seq, [(b"%d" % seq, b"")], now=NOW, due=None, once=once)
                except StoreUnavailable:
                    lost += 1
            assert told in (Appended(seq + 1), Replayed(b"%d" % (seq + 1)))
        return lost

    monkeypatch.setattr(log.wire, "_talk", break_off)
    with together(8) as run:
        lost = run(play)
    monkeypatch.undo()
    assert all(lost)
    for number in range(8):
        assert [b"%d" % seq for seq in range(60)] == [public for _, public, _ in log.read(f"g{number}")]


def test_few_round_trips_serve_many(log: Store) -> None:
    """Given sixteen who append at the same time, then far fewer exchanges are made than there are appends."""
    exchanges: list[int] = []
    committer = log._committer
    ask = committer._exchange
    committer._exchange = lambda group: exchanges.append(len(group)) or ask(group)  # type: ignore[method-assign, func-returns-value]
    with together(16) as run:
        run(
            lambda number: [
                log.append(f"g{number}", seq, [(b"x", b"")], now=NOW, due=None) for seq in range(30)
            ]
        )
    assert 16 * 30 == sum(exchanges)
    assert len(exchanges) < 16 * 30 / 2


def test_alone_it_is_the_script_and_nothing_else(wire_of: Wire) -> None:
    """The reply of a real script, and its refusal."""
    committer = Committer(wire_of, APPEND)
    with pytest.raises(redis.ResponseError, match="wrong arguments"):
        committer.run(["{a}1", "{a}2", "{a}3", "{a}4", "{a}5"], ["g"])


@pytest.fixture
def wire_of(valkey: redis.Redis) -> Wire:
    """A line to an empty server."""
    return Wire(valkey)
