"""Counting requests in windows, by several processes on one store."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
import redis

from services.keys import Keys
from services.rates import ALONE_SECONDS, AWAY_SECONDS, SHARES, Rates
from services.store import StoreUnavailable


class Timer:
    """Seconds, as a test sets them."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """The time in seconds."""
        return self.now


@pytest.fixture
def timer() -> Timer:
    """The time of the processes."""
    return Timer()


@pytest.fixture
def process(client: redis.Redis, timer: Timer) -> Callable[[], Rates]:
    """Makes what one process has, on a store of each kind in turn."""
    return lambda: Rates(client, timer)


def passed(rates: Rates, amount: int, tries: int) -> int:
    """How many of a number of requests are within the limit."""
    return sum(rates.hit("x", amount, 10).number <= amount for _ in range(tries))


@pytest.mark.parametrize("amount", [1, 2, 19, 20, 100, 1001])
def test_one_process_lets_pass_what_the_limit_says(process: Callable[[], Rates], amount: int) -> None:
    """Exactly so many, however many come."""
    assert amount == passed(process(), amount, amount + 50)


@pytest.mark.parametrize("amount", [1, 7, 40, 400])
def test_several_processes_let_pass_no_more(process: Callable[[], Rates], amount: int) -> None:
    """In turn they get the limit but for a share that each may keep; never more."""
    rates = [process() for _ in range(3)]
    found = sum(passed(rates[number % 3], amount, 1) for number in range(amount * 4))
    assert amount - 2 * max(1, amount // SHARES) <= found <= amount


def test_threads_take_no_share_each(process: Callable[[], Rates], monkeypatch: pytest.MonkeyPatch) -> None:
    """Many at the same moment get the numbers that they would get one after another."""
    rates, inside = process(), threading.Barrier(8)
    run = rates._wire.run

    def crowded(*args: Any) -> Any:
        # where all may ask at the same time they meet here; else the first goes on alone
        with suppress(threading.BrokenBarrierError):
            inside.wait(0.3)
        return run(*args)

    monkeypatch.setattr(rates._wire, "run", crowded)
    with ThreadPoolExecutor(8) as pool:
        numbers = list(pool.map(lambda _: rates.hit("x", 100, 10).number, range(8)))
    assert [*range(1, 9)] == sorted(numbers)


def test_a_window_ends(process: Callable[[], Rates], client: redis.Redis, timer: Timer) -> None:
    """The count begins again when its time is over, in the store as here; until then it tells how long."""
    rates = process()
    assert 3 == passed(rates, 3, 5)
    assert (5, 10.0) == (rates.look("x").number, round(rates.look("x").left, 1))
    assert 9_000 < client.pttl(Keys.rate("x")) <= 10_000
    timer.now += 10.1
    assert 0 == rates.look("x").number
    client.delete(Keys.rate("x"))
    assert 3 == passed(rates, 3, 5)


def test_callers_are_counted_apart(process: Callable[[], Rates]) -> None:
    """Nobody is refused for what another does; one that is forgotten begins again."""
    rates = process()
    assert [1, 1, 2] == [rates.hit(who, 5, 10).number for who in ("x", "y", "x")]
    rates.forget("x")
    assert [1, 2] == [rates.hit(who, 5, 10).number for who in ("x", "y")]


def test_the_store_is_asked_seldom(process: Callable[[], Rates], monkeypatch: pytest.MonkeyPatch) -> None:
    """A twentieth of the limit a time, and not at all by who is over it."""
    rates = process()
    asked = watched(rates, monkeypatch)
    assert 1000 == passed(rates, 1000, 1000)
    assert SHARES == len(list(asked))
    assert 0 == passed(rates, 1000, 1000)
    assert SHARES == len(list(asked))


def watched(rates: Rates, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list that grows with each question to the store."""
    asked: list[str] = []
    run = rates._wire.run

    def told(*args: object) -> object:
        asked.append("asked")
        return run(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(rates._wire, "run", told)
    return asked


@pytest.fixture
def silent(process: Callable[[], Rates], monkeypatch: pytest.MonkeyPatch) -> Iterator[Rates]:
    """A process whose store is away."""

    def fail(*_: object) -> object:
        raise StoreUnavailable("gone")

    rates = process()
    with monkeypatch.context() as patch:
        patch.setattr(rates._wire, "run", fail)
        yield rates


def test_without_a_store_a_process_counts_alone(silent: Rates) -> None:
    """Nobody is refused because the store is away, and the limit holds all the same."""
    assert 5 == passed(silent, 5, 9)
    assert silent.hit("day", 5, 86_400).left <= ALONE_SECONDS


def test_a_store_that_is_away_is_not_asked_for_each(
    silent: Rates, timer: Timer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once it did not answer it is left in peace for two seconds, whoever calls."""
    asked = watched(silent, monkeypatch)
    for who in range(100):
        silent.hit(f"caller {who}", 5, 10)
    assert 1 == len(asked)
    timer.now += AWAY_SECONDS
    silent.hit("another", 5, 10)
    assert 2 == len(asked)
