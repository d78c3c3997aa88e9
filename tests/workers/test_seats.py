"""Bot seats and clocks: what the house owes is played, once, whoever dies."""

import time

import msgspec
import pytest

from domain.bots import house_move
from domain.commands import GetReady
from domain.game import abandoned_at, deadline, to_act
from services.folded import Table
from services.store import StoreUnavailable
from workers import seats
from workers.seats import LEASE_MS, Driver

PATIENCE = 20
"""Seconds after which a test that waits has failed."""


def move(house, game: str, seat: int) -> None:
    """Let the person of a seat pass or play, as a bot would."""
    state = house.services.tables.load(game).state
    command = house_move(state, seat, 0)
    house.services.tables.handle(game, msgspec.structs.replace(command, who=state.seats[seat].player))


def state_of(house, game: str):
    """The table now."""
    return house.services.tables.load(game).state


class TestDrive:
    def test_a_table_of_bots_is_played_to_the_end(self, house) -> None:
        """Given tables of bots alone, when their partition is driven, then they are over and nothing is due."""
        games = [house.open() for _ in range(3)]
        driver = Driver(house.services)
        assert all(house.due(game) == house.clock.now for game in games)
        for game in games:
            driver.drive(house.partition(game), PATIENCE)
        assert ["over"] * 3 == [state_of(house, game).phase for game in games]
        assert {} == house.services.store.dues()

    def test_it_stops_where_a_person_must_act(self, house) -> None:
        """The bots pass and play until it is the person's turn, whose time is then due; and on again after its move."""
        game = house.open(persons=1)
        driver = Driver(house.services)
        moved = 0
        while state_of(house, game).phase != "over":
            driver.drive(house.partition(game), PATIENCE)
            assert abandoned_at(state_of(house, game)) == house.due(game)
            if state_of(house, game).phase != "over":
                assert (0,) == to_act(state_of(house, game))
                move(house, game, 0)
                moved += 1
        assert 13 <= moved

    def test_a_table_that_waits_for_persons_is_left_alone(self, house) -> None:
        """Nothing is due but its end as abandoned while seats are open or persons are not ready."""
        game = house.open(persons=2, ready=False)
        assert 0 == Driver(house.services).drive(house.partition(game))
        state = state_of(house, game)
        assert (abandoned_at(state), "seats") == (house.due(game), state.phase)

    def test_the_time_to_get_ready_locks_a_table(self, house) -> None:
        """Given one of two persons is ready, when the ready seconds are over, then the table is locked and dealt."""
        game = house.open(persons=2, ready=False)
        player = state_of(house, game).seats[0].player
        house.services.tables.handle(game, GetReady(player=player))
        ends = deadline(state_of(house, game))
        assert ends == house.due(game)
        driver = Driver(house.services)
        house.clock.now = ends - 1
        assert 0 == driver.drive(house.partition(game))
        assert "seats" == state_of(house, game).phase
        house.clock.now = ends
        driver.drive(house.partition(game))
        assert "pass" == state_of(house, game).phase
        assert (0, 1) == to_act(state_of(house, game))
        assert abandoned_at(state_of(house, game)) == house.due(game) != ends

    def test_a_game_that_owes_nothing_is_not_kept_leased(self, house) -> None:
        """Given a due entry that is wrong, when it is claimed, then it is corrected at once."""
        game = house.open(persons=1)
        driver = Driver(house.services)
        driver.drive(house.partition(game))
        due_set = house.services.keys.due(house.partition(game))
        house.services.client.zadd(due_set, {game: house.clock.now})
        assert 1 == driver.drive(house.partition(game))
        assert abandoned_at(state_of(house, game)) == house.due(game) != house.clock.now
        early = house.open(persons=2, ready=False)
        house.services.tables.handle(early, GetReady(player=state_of(house, early).seats[0].player))
        house.services.client.zadd(house.services.keys.due(house.partition(early)), {early: house.clock.now})
        driver.drive(house.partition(early))
        assert deadline(state_of(house, early)) == house.due(early)

    def test_a_due_game_that_is_not_there(self, house) -> None:
        """An entry without a game goes, and the others are served."""
        partition = house.partition("nothing")
        game = self.open_in(house, partition)
        due_set = house.services.keys.due(partition)
        house.services.client.zadd(due_set, {"nothing": 1})
        driver = Driver(house.services)
        while driver.drive(partition, PATIENCE):
            pass
        assert "over" == state_of(house, game).phase
        assert 0 == house.services.client.zcard(due_set)

    def test_what_a_killed_worker_had_claimed_comes_back(self, house) -> None:
        """Given a worker that died with a game, when its lease is over, and not before, then another plays it."""
        game = house.open()
        partition = house.partition(game)
        assert [game] == house.services.store.claim_due(partition, house.clock.now, LEASE_MS, 9)
        driver = Driver(house.services)
        house.clock.now += LEASE_MS - 1
        assert 0 == driver.drive(partition)
        house.clock.now += 1
        driver.drive(partition, PATIENCE)
        assert "over" == state_of(house, game).phase

    def test_games_with_a_person_come_first(self, house, monkeypatch) -> None:
        """Given games known to be of bots alone, when one with a person becomes ripe, then it is the next."""
        partition = house.partition(house.open())
        house.services.client.delete(house.services.keys.due(partition))
        bots = [self.open_in(house, partition, target=500) for _ in range(3)]
        due_set = house.services.keys.due(partition)
        waiting = house.services.client.zrange(due_set, 0, -1, withscores=True)
        person = self.open_in(house, partition, persons=1)
        house.services.client.delete(due_set)
        house.services.client.zadd(due_set, dict(waiting))
        played: list[str] = []
        act = house.services.tables.plan_for_house

        def note(table: Table, most: int):
            played.append(table.state.game)
            turn = act(table, most)
            if len(played) == 5:
                house.services.client.zadd(due_set, {person: house.clock.now + 1})
                house.clock.now += 1
            return turn

        monkeypatch.setattr(house.services.tables, "plan_for_house", note)
        Driver(house.services).drive(partition, PATIENCE)
        assert {*bots} == {*played[:5]}
        assert person == played[5]
        assert person not in played[6:]
        assert len(played) > 10

    def test_what_there_is_no_time_for_stays_due(self, house) -> None:
        """A drive whose time is over gives back what it had claimed, so that the next finds it ripe."""
        game = house.open(target=500)
        driver = Driver(house.services)
        assert 0 == driver.drive(house.partition(game), 0)
        assert house.clock.now == house.due(game)
        ticks = iter([0.0, 0.0, 1.0, 1.0, 1.0])
        others = [self.open_in(house, house.partition(game), target=500) for _ in range(3)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time, "monotonic", lambda: next(ticks, 9.0))
            assert 1 == driver.drive(house.partition(game), 0.5)
        assert {house.clock.now} == {house.due(other) for other in [game, *others]}

    def test_it_hands_on_soon_where_others_wait(self, house) -> None:
        """A partition of bots alone does not keep the worker while another waits in the queue."""
        game = house.open(target=500)
        house.services.queue.enqueue("drive", 9, unique="9")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(seats, "FAIR_SECONDS", 0.0)
            assert 1 == Driver(house.services).drive(house.partition(game), PATIENCE)
        assert house.clock.now == house.due(game)

    def test_it_hands_on_after_a_turn_where_a_person_waits(self, house) -> None:
        """A partition of bots alone plays one turn where a person's waits, and on to the end where other bots do."""
        game = house.open(target=500)
        house.services.queue.enqueue("serve", 9, unique="9")
        driver = Driver(house.services)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(seats, "FAIR_SECONDS", float(PATIENCE))
            assert 1 == driver.drive(house.partition(game), PATIENCE)
            assert house.clock.now == house.due(game)
            house.services.client.delete("rq:queue:hearts")
            house.services.queue.enqueue("drive", 8, unique="8")
            driver.drive(house.partition(game), PATIENCE)
        assert "over" == state_of(house, game).phase

    @staticmethod
    def open_in(house, partition: int, **options: object) -> str:
        """A table of the partition."""
        opened = iter(lambda: house.open(**options), None)
        return next(game for game in opened if house.partition(game) == partition)


class TestFailures:
    def test_a_corrupt_game_waits_longer_each_time_and_is_told_once(self, house, caplog) -> None:
        """Given a game whose log is corrupt, then it is put off, twice as long each time, and the others go on."""
        bad = house.open()
        good = next(game for game in iter(house.open, None) if house.partition(game) == house.partition(bad))
        stream = house.services.keys.stream(bad)
        house.services.client.xdel(stream, "2-0")
        fresh = Driver(self.forgetful(house))
        for delay in (LEASE_MS, 2 * LEASE_MS, 4 * LEASE_MS):
            fresh.drive(house.partition(bad), PATIENCE)
            assert house.clock.now + delay == house.due(bad)
            house.clock.now += delay
        assert "over" == state_of(house, good).phase
        assert 1 == len([record for record in caplog.records if bad in record.getMessage()])

    def test_a_policy_that_fails_is_its_own_games_affair(self, house, monkeypatch, caplog) -> None:
        """An exception of any kind puts off that game alone; it goes on when the policy works again."""
        games = [house.open() for _ in range(2)]
        act = house.services.tables.plan_for_house

        def fail(table: Table, most: int):
            if table.state.game == games[0]:
                raise ZeroDivisionError("policy")
            return act(table, most)

        driver = Driver(house.services)
        monkeypatch.setattr(house.services.tables, "plan_for_house", fail)
        for game in games:
            driver.drive(house.partition(game), PATIENCE)
        assert house.clock.now + LEASE_MS == house.due(games[0])
        assert "over" == state_of(house, games[1]).phase
        assert "ZeroDivisionError" in caplog.text
        monkeypatch.undo()
        house.clock.now += LEASE_MS
        driver.drive(house.partition(games[0]), PATIENCE)
        assert "over" == state_of(house, games[0]).phase

    def test_a_store_that_does_not_answer_ends_the_drive(self, house, monkeypatch, caplog) -> None:
        """The job ends in order; the leases bring everything back."""
        game = house.open()

        def fail(table: Table, most: int):
            raise StoreUnavailable("gone")

        driver = Driver(house.services)
        with monkeypatch.context() as patch:
            patch.setattr(house.services.tables, "plan_for_house", fail)
            assert 0 == driver.drive(house.partition(game))
        assert "the store does not answer" in caplog.text
        house.clock.now += LEASE_MS
        driver.drive(house.partition(game), PATIENCE)
        assert "over" == state_of(house, game).phase

    @staticmethod
    def forgetful(house):
        """The same house seen by a process that has folded nothing yet."""
        from services.wiring import build

        return build(house.services.settings, clock=house.clock)
