"""How long a bot thinks follows from its cards, and must not be seen: by when its move comes a person learns nothing."""

import math
from collections.abc import Iterator

import msgspec
import pytest

from domain.bots import BOTS, house_move
from workers import seats
from workers.seats import PACE_SECONDS, Driver


class Time:
    """The clock of a process, which goes on when somebody thinks or waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """Seconds."""
        return self.now

    def sleep(self, seconds: float) -> None:
        """Wait."""
        self.now += seconds


@pytest.fixture
def time(monkeypatch) -> Time:
    """The time of the driver."""
    found = Time()
    monkeypatch.setattr(seats, "time", found)
    return found


def think(monkeypatch, time: Time, free: float, forced: float) -> list[float]:
    """Let bots take so long, seconds, where they have a choice and where they have none. Notes how long they took."""
    plain, took = BOTS["rules"], []

    def policy(seen, seed: bytes, playouts: int):
        took.append(free if seen.phase != "play" or seen.own.legal & (seen.own.legal - 1) else forced)
        time.now += took[-1]
        return plain.policy(seen, seed, playouts)

    monkeypatch.setitem(BOTS, "rules", msgspec.structs.replace(plain, policy=policy))
    return took


def answers(house, game: str, time: Time, monkeypatch, took: list[float]) -> Iterator[tuple[float, float]]:
    """For each turn of the bots, to the end of a game with one person: how long after it was owed it was stored, and
    how long they thought, of what `think` notes.
    """
    store, stored = house.services.store, []
    append = store.append

    def note(*args, **named):
        stored.append(time.now)
        return append(*args, **named)

    monkeypatch.setattr(store, "append", note)
    driver = Driver(house.services)
    while (state := house.services.tables.load(game).state).phase != "over":
        began = time.now
        stored.clear()
        took.clear()
        driver.drive(house.partition(game), 20)
        yield from ((moment - began, sum(took)) for moment in stored[:1])
        state = house.services.tables.load(game).state
        if state.phase != "over":
            command = house_move(state, 0, 0)
            time.now += 1.0
            house.services.tables.handle(game, msgspec.structs.replace(command, who=state.seats[0].player))


def test_a_forced_move_comes_no_sooner(house, time, monkeypatch) -> None:
    """Whether bots had a choice or not, their moves are stored at the same time after they were owed."""
    took = think(monkeypatch, time, free=0.0006, forced=0.00001)
    game = house.open(persons=1, hand_limit=1)
    late, thought = zip(*answers(house, game, time, monkeypatch, took), strict=True)
    assert {4 * PACE_SECONDS} == {round(one, 6) for one in late}
    assert 10 < len(late)
    assert 2 < len({round(one, 6) for one in thought}), "there were moves of both kinds"


def test_who_thinks_for_longer_answers_a_whole_pace_later(house, time, monkeypatch) -> None:
    """Bots that need longer than a pace end with a later one, and not when they are done."""
    pace, took = 4 * PACE_SECONDS, think(monkeypatch, time, free=0.0031, forced=0.0002)
    game = house.open(persons=1, hand_limit=1)
    late, thought = zip(*answers(house, game, time, monkeypatch, took), strict=True)
    assert [round(one / pace, 3) for one in late] == [max(1, math.ceil(one / pace)) for one in thought]
    assert 1 < len({round(one / pace) for one in late}), "they thought for longer here and there"


def test_a_table_of_bots_alone_is_not_held_up(house, time, monkeypatch) -> None:
    """Where nobody plays against them bots store their moves as soon as they have them."""
    game = house.open(hand_limit=1)
    Driver(house.services).drive(house.partition(game), 20)
    assert "over" == house.services.tables.load(game).state.phase
    assert 0.0 == time.now


def test_other_tables_have_their_turn_meanwhile(house, time, monkeypatch) -> None:
    """Two tables whose moves are held wait for their moment together, and not one after the other."""
    think(monkeypatch, time, free=0.0002, forced=0.0001)
    first = house.open(persons=1)
    second = next(
        game
        for game in iter(lambda: house.open(persons=1), None)
        if house.partition(game) == house.partition(first)
    )
    Driver(house.services).drive(house.partition(first), 20)
    assert all(3 == sum(_passed(house, game)) for game in (first, second))
    assert time.now < 1.5 * 4 * PACE_SECONDS


def _passed(house, game: str) -> list[bool]:
    hand = house.services.tables.load(game).state.hand
    return [given is not None for given in hand.passes]
