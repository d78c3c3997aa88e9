"""A person is served before games of bots alone, in whatever partition, and those go on all the same."""

import pytest

from domain.commands import StandUp
from domain.game import to_act
from services.feed import Pointer
from services.folded import Table
from services.queue import QUEUE
from tests.workers.test_seats import move
from workers import seats
from workers.seats import Driver
from workers.sweep import LATE_MS, MOST_DRIVES, Sweep


class Workers:
    """The sweep, the queue and one worker, moved step by step, with a note of what was played."""

    def __init__(self, house, monkeypatch: pytest.MonkeyPatch) -> None:
        self._house = house
        self.sweep = Sweep(house.services)
        self.driver = Driver(house.services)
        self.played: list[str] = []
        self.flooded: set[int] = set()
        self._cursors = house.services.feed.heads()
        plan = house.services.tables.plan_for_house

        def note(table: Table, most: int):
            self.played.append(table.state.game)
            return plan(table, most)

        monkeypatch.setattr(house.services.tables, "plan_for_house", note)
        monkeypatch.setattr(seats, "FAIR_SECONDS", 0.0)

    def watch(self) -> None:
        """Let the sweep hear of the appends since it was last asked, and ask for what is ripe."""
        self.sweep.hear(self._house.services.feed.follow(self._cursors, 1))
        for _ in range(8 // MOST_DRIVES):
            self.sweep.ask()

    def work(self) -> str:
        """Do the next job of the queue, as a worker does. Returns its id."""
        client = self._house.services.client
        job = client.lpop(f"rq:queue:{QUEUE}").decode()
        client.delete(f"rq:job:{job}")
        name, _, partition = job.partition("-")
        self.driver.drive(int(partition), urgent=name == "serve")
        return job


@pytest.fixture
def workers(house, monkeypatch) -> Workers:
    """One worker of the house."""
    return Workers(house, monkeypatch)


def flood(house, each: int) -> list[str]:
    """So many long games of bots alone in each partition."""
    found: dict[int, list[str]] = {partition: [] for partition in range(8)}
    while any(len(games) < each for games in found.values()):
        game = house.open(target=500)
        found[house.partition(game)].append(game)
    return [game for games in found.values() for game in games]


def test_a_person_does_not_wait_for_a_flood_of_bots(house, workers) -> None:
    """Given games of bots in every partition, when a person has moved, then its bots answer in the very next job.

    And with the moves of persons going on, every partition of the flood has its turn.
    """
    games = flood(house, 2)
    for game in games:
        workers.driver._remember(game)
    person = house.open(persons=1)
    workers.watch()
    waiting = house.services.queue.waiting()
    assert [f"serve-{house.partition(person)}", *(f"drive-{p}" for p in range(8))] == [
        waiting[0],
        *sorted(waiting[1:]),
    ]
    workers.work()
    for _ in range(8):
        while house.due(person) != house.clock.now:  # the bots owe nothing where the person is to lead
            assert (0,) == to_act(house.services.tables.load(person).state)
            move(house, person, 0)
        workers.watch()
        workers.played.clear()
        assert f"serve-{house.partition(person)}" == workers.work()
        assert person == workers.played[0]
        workers.watch()
        workers.played.clear()
        assert workers.work().startswith("drive-")
        assert {*workers.played} & {*games}
        workers.flooded |= {house.partition(game) for game in workers.played}
    assert set(range(8)) == workers.flooded


def test_who_serves_leaves_the_bots_alone_where_others_wait(house, workers) -> None:
    """Given persons in two partitions, then the first is served without a turn of the bots there."""
    games = flood(house, 1)
    for game in games:
        workers.driver._remember(game)
    persons = {house.partition(game): game for game in (house.open(persons=1) for _ in range(6))}
    assert len(persons) > 1
    workers.watch()
    for left in range(len(persons) - 1, 0, -1):
        workers.played.clear()
        partition = int(workers.work().removeprefix("serve-"))
        assert persons[partition] in workers.played
        assert not {*workers.played} & {*games}
        assert left == len([job for job in house.services.queue.waiting() if job.startswith("serve-")])


def test_bots_go_on_where_persons_never_rest(house, workers) -> None:
    """Given a drive of bots alone that is late, when the sweep looks, then one partition goes among the persons'."""
    game = house.open(target=500)
    workers.sweep.look()
    workers.sweep.ask()
    assert [f"drive-{house.partition(game)}"] == house.services.queue.waiting()
    busy = (house.partition(game) + 1) % 8
    house.services.queue.enqueue("serve", busy, unique=str(busy))
    house.clock.now += LATE_MS - 1
    workers.sweep.look()
    workers.sweep.ask()
    assert f"late-{house.partition(game)}" not in house.services.queue.waiting()
    house.clock.now += 1
    workers.sweep.look()
    workers.sweep.ask()
    asked = [f"serve-{busy}", f"late-{house.partition(game)}", f"drive-{house.partition(game)}"]
    assert asked == house.services.queue.waiting()


def test_a_look_keeps_what_it_knows_of_persons(house, workers) -> None:
    """Given a person's game that is due, when the sweep looks before it asks, then it asks for it as a person's."""
    game = house.open(persons=1)
    workers.sweep.hear(house.services.feed.follow(dict.fromkeys(range(8), b"0-0"), 1))
    workers.sweep.look()
    workers.sweep.ask()
    assert f"serve-{house.partition(game)}" == house.services.queue.waiting()[0]


def test_a_look_forgets_what_is_due_no_more(house, workers) -> None:
    """Given the person's game was played meanwhile, when the sweep looks, then nothing is asked for in vain."""
    game = house.open(persons=1)
    workers.sweep.hear(house.services.feed.follow(dict.fromkeys(range(8), b"0-0"), 1))
    workers.driver.drive(house.partition(game))
    workers.sweep.look()
    workers.sweep.ask()
    assert [] == house.services.queue.waiting()


def test_who_gives_its_seat_to_the_house_waits_for_nothing(house, workers) -> None:
    """Given the only person has left its seat to the stand-in, then the game waits its turn like one of bots alone."""
    game = house.open(persons=1, target=500)
    workers.watch()
    player = house.services.tables.load(game).state.seats[0].player
    while house.services.queue.waiting():
        workers.work()
    house.services.tables.handle(game, StandUp(player=player, seat=0))
    workers.watch()
    workers.watch()
    assert [f"drive-{house.partition(game)}"] == house.services.queue.waiting()


def test_news_of_persons_is_heard_between_the_drives_of_a_flood(house, workers) -> None:
    """Given more partitions of bots than are asked for at a time, when a person's news comes, then it is next."""
    flood(house, 1)
    workers.sweep.look()
    workers.sweep.ask()
    assert MOST_DRIVES == len(house.services.queue.waiting())
    news = Pointer(b"9-9", "any", 9, house.clock.now)
    workers.sweep.hear({5: [news]})
    workers.sweep.ask()
    waiting = house.services.queue.waiting()
    assert "serve-5" == waiting[0]
    assert {f"drive-{partition}" for partition in range(8)} == {*waiting[1:]}


@pytest.mark.parametrize("elsewhere", [True, False])
def test_who_moves_again_comes_after_who_waits_elsewhere(
    house, workers, monkeypatch, elsewhere: bool
) -> None:
    """Given persons who move on at once, then a partition of theirs is not served for ever where others wait."""
    first = house.open(persons=1)
    second = next(
        game
        for game in iter(lambda: house.open(persons=1), None)
        if house.partition(game) == house.partition(first)
    )
    due_set = house.services.keys.due(house.partition(first))
    house.services.client.zrem(due_set, second)
    if elsewhere:
        house.services.queue.enqueue("serve", 9, unique="9")
    keep = house.services.tables.keep_for_house

    def note(turn, most: int):
        if first == turn.state.game:
            house.clock.now += 1
            house.services.client.zadd(due_set, {second: house.clock.now})
        return keep(turn, most)

    monkeypatch.setattr(house.services.tables, "keep_for_house", note)
    workers.driver.drive(house.partition(first), urgent=True)
    assert ([first] if elsewhere else [first, second]) == workers.played
    assert (house.clock.now == house.due(second)) is elsewhere
