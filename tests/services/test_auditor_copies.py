"""The audit of games of which a copy was changed by hand: snapshot, summary, lists, leaves."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
import redis

from domain.commands import GetReady, StandUp
from services.keys import Keys
from services.owed import HOUSE_LEASE_MS
from services.settings import Settings
from services.wiring import Services, build
from tests.support.audited import ANNA, PERSON, audit, open_game, project, status, told
from tests.support.clock import Clock
from tests.support.snapshots import let_snapshot_lie


@pytest.fixture
def services(valkey: redis.Redis, tmp_path: Path) -> Services:
    """Services on an empty store."""
    return build(Settings(data=tmp_path, partitions=4), store=valkey, clock=Clock(1_700_000_000_000))


@pytest.fixture
def game(services: Services) -> str:
    """A finished game of one hand."""
    return open_game(services)


def test_a_summary_that_differs_from_the_fold_is_found(services: Services, game: str) -> None:
    """Each field is named, with both values."""
    key = services.keys.table(game)
    summary = json.loads(services.client.hget(key, "summary"))
    right = summary["totals"]
    summary["totals"] = [0, 0, 0, 0]
    summary["winners"] = []
    summary["more"] = 1
    services.client.hset(key, "summary", json.dumps(summary))
    lines = told(audit(services, game), "projection")
    assert f"totals is [0,0,0,0], and the events say {json.dumps(right, separators=(',', ':'))}" in lines
    assert "winners is [], and the events say" in lines
    assert "more is 1, and the events say null" in lines


def test_a_game_in_the_wrong_list_is_found(services: Services, game: str) -> None:
    """In one too many, in none, or at the wrong place."""
    p, client = services.keys.partition(game), services.client
    client.zadd(services.keys.lobby(p, "open"), {game: 5})
    assert "it is listed as open, over, and it is over" in told(audit(services, game), "projection")
    client.zrem(services.keys.lobby(p, "open"), game)
    client.zadd(services.keys.lobby(p, "over"), {game: 5})
    assert "it is listed as opened at 5, and it was at 1700" in told(audit(services, game), "projection")
    for one in ("open", "over"):
        client.zrem(services.keys.lobby(p, one), game)
    assert "it is listed as nowhere" in told(audit(services, game), "projection")


@pytest.mark.parametrize(
    "value, standing",
    [("{}:t:1", "waiting for that player"), ("{}::1", "waiting for others"), ("{}:d:1", "")],
)
def test_a_game_that_stands_wrongly_on_a_desk_is_found(services: Services, value: str, standing: str) -> None:
    """It waits for who need not move, or for nobody though it is over; what stands there right is not told."""
    game = open_game(services, PERSON, most=1)
    services.tables.handle(game, GetReady(player=ANNA))
    services.tables.handle(game, StandUp(player=ANNA, seat=0))
    services.tables.act_for_house(game)
    project(services, game)
    seq = services.tables.load(game).seq
    services.client.hset(services.keys.desk(ANNA), game, value.format(seq))
    lines = told(audit(services, game), "projection")
    assert (f"on the desk of {ANNA} it stands as {standing}" in lines) == bool(standing)


def test_a_game_that_its_players_do_not_find_is_found(services: Services) -> None:
    """It is missing in a list of games, on a desk, or stands there as of an earlier event."""
    game = open_game(services, PERSON, most=1)
    services.tables.handle(game, GetReady(player=ANNA))
    services.tables.act_for_house(game)
    project(services, game)
    assert audit(services, game).ok, told(audit(services, game))
    client, keys = services.client, services.keys
    desk, place = keys.desk(ANNA), client.hget(keys.desk(ANNA), game)
    client.hset(desk, game, b"2:t:1")
    assert f"on the desk of {ANNA} it stands as of event 2" in told(audit(services, game), "projection")
    client.hdel(desk, game)
    assert f"on the desk of {ANNA} it is missing" in told(audit(services, game), "projection")
    client.hset(desk, game, b"x:t")
    assert f"on the desk of {ANNA} it cannot be read" in told(audit(services, game), "projection")
    client.hset(desk, game, place)
    assert audit(services, game).ok
    client.delete(keys.seats(keys.partition(game)))
    assert f"it is not in the list of games of {ANNA}" in told(audit(services, game), "projection")


def test_a_finished_game_that_is_not_ranked_is_found(services: Services, game: str) -> None:
    """The standings lack it; a game that goes on, or was given up, they need not know."""
    services.client.delete(Keys.standings_known)
    assert "it is over, and the standings do not know it" in told(audit(services, game), "projection")
    assert audit(services, open_game(services, most=40)).ok


def test_a_summary_of_an_earlier_event_is_held_to_that(services: Services) -> None:
    """Behind the events it is compared with the table as it was; and with nothing to come, it is wrong to be behind."""
    game = open_game(services, most=30)
    before = services.tables.load(game).seq
    services.tables.act_for_house(game)
    report = audit(services, game)
    assert f"projection at event {before + 1}: the read models have events up to {before}" in told(report)
    assert 1 == len([one for one in report.problems if one.check == "projection"]), told(report)


def test_a_snapshot_that_differs_from_the_fold_is_found(services: Services) -> None:
    """A field of it, or the events that it says it is of; the one of another version is used by nobody."""
    game = open_game(services, PERSON, most=1)
    services.tables.handle(game, GetReady(player=ANNA))
    services.tables.act_for_house(game)
    project(services, game)
    key, client = services.keys.snapshot(game), services.client
    seq = client.get(key).partition(b":")[0]
    let_snapshot_lie(services.store, game, ready_seconds=999)
    assert f"snapshot at event {int(seq)}: its ready_seconds is not what" in told(audit(services, game))
    let_snapshot_lie(services.store, game, head=bytes(32))
    report = audit(services, game)
    assert "it was taken of other events" in told(report, "snapshot")
    assert "fails" == status(report, "I")
    client.set(key, seq + b":" + msgspec.msgpack.encode([3, *["anything"] * 34]))
    assert audit(services, game).ok


def test_a_fork_and_a_spoilt_log_are_found(services: Services, game: str) -> None:
    """A second leaf of a kind, a leaf that is lost, and a log that is none."""
    end = services.log.tree.of_game(game)[-1][1]
    services.log.tree.add([end._replace(head=bytes(32))])
    report = audit(services, game)
    assert "a fork" in told(report, "log")
    assert "fails" == status(report, "I")
    services.client.xdel(Keys.log_leaves, "2-0")
    assert "leaf 1 of the transparency log is none" in told(audit(services, game), "log")
    services.client.delete(Keys.log_places)
    services.client.set(Keys.log_places, "x")
    assert "holds a string, and should hold a hash" in told(audit(services, game), "log")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (("DEL", Keys.log_index), "is not found by its hash"),
        (("DEL", Keys.log_nodes(0, 0)), "the transparency log has lost subtree"),
        (
            ("XADD", Keys.log_leaves, "3-0", "g", "x", "k", "end", "s", "9", "h", bytes(32)),
            "the transparency log has lost subtree",
        ),
        (("SET", Keys.log_index, "x"), "holds a string, and should hold a hash"),
    ],
    ids=["index", "nodes", "leaf", "type"],
)
def test_a_log_that_shows_nothing_is_found(
    services: Services, game: str, caplog: pytest.LogCaptureFixture, how: tuple[str | bytes, ...], words: str
) -> None:
    """What is kept beside the leaves is gone, or a leaf was added by hand: told in the report, and nowhere else."""
    client: redis.Redis = services.client
    client.execute_command(*how)
    report = audit(services, game)
    assert words in told(report, "log")
    assert not report.ok
    assert not caplog.records


def test_a_summary_that_is_nested_too_deeply_is_found(services: Services, game: str) -> None:
    """It is one that cannot be read, as any other."""
    services.client.hset(services.keys.table(game), "summary", b"[" * 100_000)
    assert "its summary cannot be read" in told(audit(services, game), "projection")


@pytest.mark.parametrize("how", [b"%d:xyz", b"%d:", b"xyz", b"%d:\x93\x01"])
def test_a_snapshot_that_cannot_be_read_is_found(services: Services, game: str, how: bytes) -> None:
    """Nobody would use it, and nobody of the house has written it."""
    last = services.tables.load(game).seq
    services.client.set(services.keys.snapshot(game), how.replace(b"%d", b"%d" % last))
    assert "there is one, and it cannot be read" in told(audit(services, game), "snapshot")


@pytest.mark.parametrize("number", [-1, 1, None])
def test_a_snapshot_under_another_number_is_found(services: Services, game: str, number: int | None) -> None:
    """Who loads the game would go on from the wrong event."""
    key, client = services.keys.snapshot(game), services.client
    seq, _, data = client.get(key).partition(b":")
    named = b"x" if number is None else b"%d" % (int(seq) + number)
    client.set(key, named + b":" + data)
    words = f"snapshot at event {int(seq)}: it is kept as of event {named.decode()}, and was taken after"
    assert words in told(audit(services, game))


@pytest.mark.parametrize(("name", "value"), [("players", "p1 p2"), ("status", "1"), ("seq", "3")])
def test_what_the_lists_are_kept_by_is_checked(services: Services, game: str, name: str, value: str) -> None:
    """The fields beside the summary: by them the game is moved from list to list."""
    services.client.hset(services.keys.table(game), name, value)
    assert f"its lists are kept by {name} '{value}', and the" in told(audit(services, game), "projection")


@pytest.mark.parametrize("score", ["inf", "-inf", "1.5"])
def test_a_place_in_a_list_that_is_no_time_is_found(services: Services, game: str, score: str) -> None:
    """A score that no program writes keeps nobody from the report."""
    services.client.zadd(services.keys.lobby(services.keys.partition(game), "over"), {game: score})
    assert "it is listed as opened at" in told(audit(services, game), "projection")


def test_a_game_that_the_house_has_forgotten_is_found(services: Services) -> None:
    """It is not due, or too late; what a worker has taken is put off by its lease, and that is right."""
    clock, waits = services.clock, open_game(services, PERSON, most=1)
    assert isinstance(clock, Clock)
    for game in (waits, open_game(services, most=40)):
        due, at = services.keys.due(services.keys.partition(game)), services.tables.load(game).at
        assert audit(services, game).ok
        for score, wrong in (
            (at - 9, False),
            (clock.now + HOUSE_LEASE_MS, False),
            (clock.now + 10**12, True),
        ):
            services.client.zadd(due, {game: score})
            assert ("and it is due only at" in told(audit(services, game), "due")) == wrong
        services.client.zrem(due, game)
        assert "it is not among what is due: it waits for ever" in told(audit(services, game), "due")


def test_a_game_that_is_over_is_not_due(services: Services, game: str) -> None:
    """Nothing is to be done there."""
    services.client.delete(services.keys.due(services.keys.partition(game)))
    assert audit(services, game).ok


def test_a_snapshot_that_is_damaged_within_keeps_nobody_from_the_game(services: Services, game: str) -> None:
    """Each byte of it in turn: the table is folded from its events, and the audit says that there is a snapshot of no use."""
    key = services.keys.snapshot(game)
    right = services.client.get(key)
    head = services.tables.load(game).head
    for at in range(right.index(b":") + 1, len(right), 7):
        services.client.set(key, right[:at] + bytes([right[at] ^ 0xFF]) + right[at + 1 :])
        again = build(services.settings, store=services.client, clock=services.clock)
        assert "there is one, and it cannot be read" in told(audit(again, game), "snapshot")
        assert head == again.tables.load(game).head


def test_an_entry_of_another_kind_of_id_is_found(services: Services, game: str) -> None:
    """Behind the end of the stream, where no event can be."""
    last = services.store.last(game)
    services.client.xadd(services.keys.stream(game), {"p": "x"}, id=f"{last}-7")
    report = audit(services, game)
    assert (False, last) == (report.ok, report.seq)
    assert f"stream at event {last + 1}: the stream has entry {last}-7 here" in told(report)


def test_a_finished_game_that_would_never_be_archived_is_found(services: Services, game: str) -> None:
    """It is missing in the list of those that are to be, or stands there as if it ended in a hundred years."""
    finished = services.keys.finished(services.keys.partition(game))
    services.client.zadd(finished, {game: services.clock() + 10**12})
    assert "which is yet to come" in told(audit(services, game), "projection")
    services.client.zadd(finished, {game: services.tables.load(game).at})
    early = build(services.settings, store=services.client, clock=lambda: services.clock() - 3_600_000)
    assert audit(early, game).ok, "the clock was set back since the game ended"
    services.client.zadd(finished, {game: 1})
    assert "it is to be archived as if it ended at 1, and it did at " in told(
        audit(services, game), "projection"
    )
    services.client.zrem(finished, game)
    assert "not among the games that are to be archived" in told(audit(services, game), "projection")
