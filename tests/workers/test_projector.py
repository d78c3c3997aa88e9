"""The projector: every event has its effect once, whatever dies or fails."""

import logging
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from services.folded import Table, follow
from services.projections import GROUP, Parked, Projections
from services.snapshot import fold_hash
from services.store import Entry, StoreUnavailable
from services.supervise import Stop
from workers import projector as module
from workers.projector import CONSUMER, MOST_TRIES, TRIM_AFTER, Projector

PATIENCE = 20
"""Seconds after which a test that waits has failed."""


def projector(house, **options: int) -> Projector:
    """A projector that does not wait for news."""
    services = house.services
    options = {"block_ms": 1, **options}
    one = Projector(services.store, services.feed, services.projections, services.clock, **options)
    one.begin()
    return one


def work_off(one: Projector) -> None:
    """Let a projector fold all there is."""
    while one.round():
        pass


def play_on(house, game: str, most: int = 40) -> None:
    """Let the bots of a game move."""
    house.services.tables.act_for_house(game, most)


@pytest.fixture
def worked(house) -> Iterator[dict[str, int]]:
    """How often each game has been folded, counted while a test runs."""
    counted: dict[str, int] = {}

    def count(game: str, known: Table | None, entries: list[Entry]) -> Table:
        counted[game] = counted.get(game, 0) + 1
        return follow(game, known, entries)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "follow", count)
        yield counted


class TestFolding:
    def test_a_game_from_the_first_event_to_the_last(self, house) -> None:
        """Given a table, when it moves on, then its summary follows, and nothing is left to do."""
        game = house.open()
        one = projector(house)
        work_off(one)
        summary = house.summary(game)
        assert ("playing", house.clock.now) == (summary["status"], summary["created_at"])
        house.clock.now += 1000
        while house.services.tables.load(game).state.phase != "over":
            play_on(house, game)
        work_off(one)
        table = house.services.tables.load(game)
        summary = house.summary(game)
        assert ("over", table.seq, list(table.state.winners)) == (
            summary["status"],
            summary["seq"],
            summary["winners"],
        )
        assert (house.clock.now - 1000, house.clock.now) == (summary["created_at"], summary["updated_at"])
        assert 0 == house.services.projections.lag()
        assert table.seq == one.events

    def test_many_pointers_at_a_game_are_one_fold(self, house, worked: dict[str, int]) -> None:
        """A backlog is folded game by game, not pointer by pointer, and later only what is new."""
        games = [house.open() for _ in range(5)]
        for game in games:
            for _ in range(5):
                play_on(house, game, 4)
        one = projector(house)
        work_off(one)
        assert dict.fromkeys(games, 1) == worked
        before = one.events
        play_on(house, games[0], 4)
        work_off(one)
        assert 2 == worked[games[0]]
        assert 4 <= one.events - before < 10

    def test_what_is_projected_is_not_folded_again(self, house, worked: dict[str, int]) -> None:
        """Pointers that come again, to a projector that knows nothing yet, are only acknowledged."""
        game = house.open()
        work_off(projector(house))
        house.services.client.xgroup_setid(house.services.keys.feed(house.partition(game)), GROUP, "0")
        assert 0 < house.services.projections.lag()
        work_off(projector(house))
        assert {game: 1} == worked
        assert 0 == house.services.projections.lag()

    def test_two_share_the_work(self, house) -> None:
        """Two projectors at once end where one would have: every game at its last event, all acknowledged."""
        games = [house.open() for _ in range(12)]
        ones = [projector(house) for _ in range(2)]
        play = threading.Event()

        def keep(one: Projector) -> None:
            while not play.is_set() or house.services.projections.lag():
                one.round()

        with ThreadPoolExecutor(2) as pool:
            working = [pool.submit(keep, one) for one in ones]
            for _ in range(10):
                for game in games:
                    play_on(house, game, 8)
            play.set()
            for done in working:
                done.result(PATIENCE)
        for game in games:
            assert house.services.tables.load(game).seq == house.summary(game)["seq"]
        assert all(one.events for one in ones)

    def test_feeds_are_trimmed_behind_the_group(self, house) -> None:
        """What is dealt with leaves the feed now and then, so that it does not grow for ever."""
        game = house.open()
        store, feed = house.services.store, house.services.keys.feed(house.partition(game))
        one = projector(house)
        work_off(one)
        house.services.client.delete(house.services.keys.due(house.partition(game)))
        filler = [("XADD", feed, "*", "g", game, "n", 1)] * TRIM_AFTER
        store.wire.pipeline(filler)
        work_off(one)
        assert 100 >= house.services.client.xlen(feed)


class TestTrouble:
    def test_it_takes_over_what_a_dead_one_was_given(self, house) -> None:
        """Given a projector that died with a batch in hand, when its time is over, then another deals with it."""
        game = house.open()
        projector(house)
        batch = house.services.feed.read_group(GROUP, CONSUMER, 0, 100)
        assert [game] == [pointer.game for pointer in batch[house.partition(game)]]
        patient = projector(house, stale_ms=3_600_000)
        work_off(patient)
        assert house.summary(game) is None
        work_off(projector(house, stale_ms=0))
        assert house.services.tables.load(game).seq == house.summary(game)["seq"]
        assert 0 == house.services.projections.lag()

    def test_a_game_that_cannot_be_folded_is_parked_by_itself(self, house, caplog) -> None:
        """Its reason is kept, the others go on, and it comes back when it can be folded after all."""
        bad, good = house.open(), house.open()
        client, keys = house.services.client, house.services.keys
        entries = client.xrange(keys.stream(bad))
        client.xdel(keys.stream(bad), entries[1][0])
        one = projector(house)
        work_off(one)
        assert house.summary(good) is not None
        assert house.summary(bad) is None
        ((game, parked),) = house.services.projections.parked().items()
        assert (bad, len(entries), 1, house.clock.now) == (game, parked.seq, parked.times, parked.at)
        assert parked.why.startswith("CorruptStream: ")
        assert bad in caplog.text
        assert 0 == house.services.projections.lag()

        self.restore(house, bad, entries)
        projector(house)
        assert {} == house.services.projections.parked()
        assert len(entries) == house.summary(bad)["seq"]

    def test_a_parked_game_is_tried_again_with_the_next_event(self, house) -> None:
        """Each new pointer is another try, counted while it fails."""
        game = house.open()
        entries = house.services.client.xrange(house.services.keys.stream(game))
        house.services.client.delete(house.services.keys.stream(game))
        one = projector(house)
        for times in (1, 2):
            self.point_at(house, game, len(entries))
            work_off(one)
            assert times == house.services.projections.parked()[game].times
        self.restore(house, game, entries)
        self.point_at(house, game, len(entries))
        work_off(one)
        assert {} == house.services.projections.parked()
        assert len(entries) == house.summary(game)["seq"]

    def test_a_parked_game_that_is_projected_by_now(self, house) -> None:
        """Given another projector has folded it meanwhile, then a restart takes it back all the same."""
        game = house.open()
        work_off(projector(house))
        house.services.projections.park({game: Parked(seq=1, why="x", times=1, at=1)})
        projector(house)
        assert {} == house.services.projections.parked()

    def test_a_game_that_moves_on_while_it_is_tried_alone(self, house, monkeypatch) -> None:
        """Given another projector passes over its news for the mark that it has meanwhile, then they are folded all the same."""
        game = house.open()
        one = projector(house)
        mark = Parked(seq=1, why="x", times=MOST_TRIES, at=1, ended=True, asked=True, fold=fold_hash().hex())
        house.services.projections.park({game: mark})

        def fold(game: str, known: Table | None, entries: list[Entry]) -> Table:
            monkeypatch.setattr(module, "follow", follow)
            play_on(house, game)
            work_off(projector(house, stale_ms=0))
            assert house.summary(game) is None
            return follow(game, known, entries)

        monkeypatch.setattr(module, "follow", fold)
        work_off(one)
        assert house.services.tables.load(game).seq == house.summary(game)["seq"]
        assert {} == house.services.projections.parked()

    def test_an_unknown_event_parks_its_game(self, house) -> None:
        """An event that this program does not know is a reason, never passed over."""
        game = house.open()
        house.services.client.xadd(
            house.services.keys.stream(game),
            {"p": b'{"n":9,"t":"card_burnt","at":1}'},
            id=f"{house.services.tables.load(game).seq + 1}-0",
        )
        work_off(projector(house))
        assert "card_burnt" in house.services.projections.parked()[game].why
        assert house.summary(game) is None

    def test_a_game_that_kills_its_readers_is_left_alone_in_the_end(self, house, monkeypatch) -> None:
        """Given a game whose fold ends the process, then each restart gets further, and the others are served."""
        killer, good = house.open(), house.open()
        tried = []

        class Killed(BaseException):
            """The end of a process."""

        def fold(game: str, known: Table | None, entries: list[Entry]) -> Table:
            if game == killer:
                tried.append(game)
                raise Killed
            return follow(game, known, entries)

        monkeypatch.setattr(module, "follow", fold)
        lives = 0
        while house.services.projections.lag() or not lives:
            lives += 1
            assert lives < 20
            try:
                work_off(projector(house, stale_ms=0))
            except Killed:
                continue
        assert house.summary(good) is not None
        parked = house.services.projections.parked()
        assert [killer] == list(parked)
        assert (MOST_TRIES, True) == (parked[killer].times, parked[killer].ended)
        survived = len(tried)
        projector(house)
        assert survived == len(tried)

    def test_a_store_that_does_not_answer_is_waited_for(self, house, monkeypatch, caplog) -> None:
        """It is told once, tried with pauses, and the work goes on by itself when the store is back."""
        caplog.set_level(logging.INFO)
        game = house.open()
        one = projector(house)
        stop, outages, rounds = Stop(), iter(range(3)), one.round

        def round_() -> int:
            if next(outages, None) is not None:
                raise StoreUnavailable("gone")
            if not rounds():
                stop.set()
            return 0

        monkeypatch.setattr(one, "round", round_)
        one.run(stop)
        assert house.summary(game) is not None
        told = [record.getMessage() for record in caplog.records if record.name == "workers.projector"]
        assert ["the store does not answer and is waited for: gone", "the store answers again"] == told

    def test_a_store_that_comes_back_with_another_tail(self, house, monkeypatch) -> None:
        """What was folded before an outage is not built on: the log is believed, as it is then."""
        game, other = house.open(), house.open(target=77)
        one = projector(house)
        work_off(one)
        play_on(house, other)
        stop, outages, rounds = Stop(), iter(range(1)), one.round

        def round_() -> int:
            if next(outages, None) is not None:
                entries = house.services.client.xrange(house.services.keys.stream(other))
                self.restore(house, game, entries)
                self.point_at(house, game, len(entries))
                raise StoreUnavailable("gone")
            if not rounds():
                stop.set()
            return 0

        monkeypatch.setattr(one, "round", round_)
        one.run(stop)
        assert {} == house.services.projections.parked()
        assert 77 == house.summary(game)["target"]

    def test_a_store_that_was_emptied_is_begun_anew(self, house) -> None:
        """Groups that have gone are made again, and what this process knew of the old store is forgotten."""
        game = house.open()
        one = projector(house)
        work_off(one)
        house.services.client.flushall()
        stop = Stop()
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(one.run, stop)
            try:
                fresh = house.open()
                while house.summary(fresh) is None:
                    assert not running.done()
            finally:
                stop.set()
            running.result(PATIENCE)
        assert house.summary(game) is None

    def test_an_error_of_the_program_is_not_hidden(self, house, monkeypatch) -> None:
        """What the server refuses ends the projector, to be seen and started again by who looks after it."""
        one = projector(house)

        def refuse() -> int:
            raise redis.ResponseError("ERR wrong number of arguments")

        monkeypatch.setattr(one, "round", refuse)
        with pytest.raises(redis.ResponseError, match="wrong number"):
            one.run(Stop())

    @staticmethod
    def restore(house, game: str, entries: list) -> None:
        """Put a game's stream back."""
        stream = house.services.keys.stream(game)
        house.services.client.delete(stream)
        for entry, fields in entries:
            house.services.client.xadd(stream, fields, id=entry)

    @staticmethod
    def point_at(house, game: str, seq: int) -> None:
        """Add a pointer to the feed, as an append would."""
        feed = house.services.keys.feed(house.partition(game))
        house.services.client.xadd(feed, {"g": game, "n": seq})


def test_a_projector_of_a_new_store_has_nothing_to_do(house) -> None:
    """Nothing is parked, nothing lags, and a round comes back."""
    assert 0 == projector(house).round()
    projections: Projections = house.services.projections
    assert ({}, 0) == (projections.parked(), projections.lag())
