"""What is acknowledged is on the replicas: WAIT is asked, its answer believed, and what was not confirmed is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from domain.commands import SeatPlan, SitDown
from domain.variants import ruleset_of
from services import wire as wire_module
from services.durability import Durability, replicas_of, weaknesses
from services.keys import Keys
from services.once import Key
from services.settings import Settings
from services.store import Appended, Once, Replayed, Store, StoreUnavailable
from services.wire import NotReplicated
from services.wiring import Services, build
from tests.support.house import until
from tests.support.servers import Pair, servers

NOW = 1_800_000_000_000
ONCE = Once(b"anna|play|1", b"the answer")
PLAYER = "p000000000000000a"
ROUTE = Key(PLAYER, "POST /v1/games", "k", "f")


@pytest.fixture(scope="module")
def the_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """They are shared by the tests of this module."""
    with servers(tmp_path_factory.mktemp("pair") / "servers") as some:
        yield Pair(some)


@pytest.fixture
def pair(the_pair: Pair, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pair]:
    """They are empty and linked; a replica that says nothing is waited for shortly."""
    monkeypatch.setattr(wire_module, "WAIT_MS", 300)
    the_pair.primary.client.flushall()
    yield the_pair
    the_pair.replica.release()
    the_pair.primary.client.config_set("min-replicas-to-write", 0)
    until(the_pair.is_linked)


@pytest.fixture
def services(pair: Pair, tmp_path: Path) -> Services:
    """A house that promises one replica."""
    settings = Settings(data=tmp_path, store_url=pair.primary.url, partitions=4, replicas=1)
    return build(settings, entropy=Random(7).randbytes)


def append(store: Store, expected: int) -> Appended | Replayed:
    """Append an event under an idempotency key."""
    done = store.append("g", expected, [(b"e", b"")], now=NOW, due=None, once=ONCE)
    assert isinstance(done, Appended | Replayed)
    return done


def test_an_event_is_acknowledged_when_the_replica_has_it(pair: Pair) -> None:
    """Given a replica that keeps up, then what was appended is there when the append is answered."""
    keys = Keys(4)
    store = Store(pair.primary.client, keys, replicas=1)
    assert Appended(1) == append(store, 0)
    assert 1 == pair.replica.client.xlen(keys.stream("g"))
    with pytest.raises(NotReplicated, match="1 of 2 replicas have confirmed the write within 300 ms"):
        Store(pair.primary.client, keys, replicas=2).append("h", 0, [(b"e", b"")], now=NOW, due=None)


def test_an_answer_is_repeated_only_when_the_replica_has_it(pair: Pair) -> None:
    """Given an event that no replica confirmed, then its key has it once, and is answered when the replica is back."""
    store = Store(pair.primary.client, Keys(4), replicas=1)
    pair.replica.hold()
    with pytest.raises(NotReplicated):
        append(store, 0)
    assert [1] == [seq for seq, _, _ in store.read("g")]
    assert Replayed(ONCE.answer) == append(store, 0), "which is no acknowledgement yet"
    with pytest.raises(NotReplicated):
        store.hold("g", 1)
    pair.replica.release()
    until(pair.is_linked)
    store.hold("g", 1)
    assert 1 == pair.replica.client.xlen(store.keys.stream("g"))
    with pytest.raises(StoreUnavailable, match="has lost event 2"):
        store.hold("g", 2)


def test_what_is_only_read_waits_for_nobody(pair: Pair) -> None:
    """Whoever reads, and whoever promises nothing, works on while no replica answers."""
    pair.replica.hold()
    store = Store(pair.primary.client, Keys(4), replicas=1)
    assert ([], 0) == (store.read("g"), store.last("g"))
    plain = Store(pair.primary.client, Keys(4))
    assert Appended(1) == append(plain, 0)
    plain.hold("g", 7)


def test_commands_under_keys_are_answered_when_the_replica_is_back(pair: Pair, services: Services) -> None:
    """Opening, sitting down and moving: refused while the replica hangs, done once, and then told."""
    rules, seats = ruleset_of({"variant": "standard"}), [SeatPlan(kind="open")] * 4
    pair.replica.hold()
    for _ in range(2):
        with pytest.raises(NotReplicated):
            services.tables.open(rules, seats, key=ROUTE)
    pair.replica.release()
    until(pair.is_linked)
    opened = services.tables.open(rules, seats, key=ROUTE)
    assert opened.replayed
    game, sit = opened.table.state.game, ROUTE._replace(route="sit")
    pair.replica.hold()
    for _ in range(2):
        with pytest.raises(NotReplicated):
            services.tables.handle(game, SitDown(player=PLAYER), key=sit)
    with pytest.raises(NotReplicated):
        services.tables.recall(game, sit)
    pair.replica.release()
    until(pair.is_linked)
    assert services.tables.handle(game, SitDown(player=PLAYER), key=sit).replayed
    assert opened.table.seq + 1 == services.tables.load(game).seq


def test_players_and_tokens_wait_too(pair: Pair, services: Services) -> None:
    """Also a token that is made, or ended, again under the same key."""
    anna, token = services.players.create("Anna")
    assert pair.replica.client.hget(Keys.player(anna.id), "name") == b"Anna"
    made = services.players.tokens.issue(anna.id, ["play"], once=ROUTE)
    pair.replica.hold()
    with pytest.raises(NotReplicated):
        services.players.create("Bert")
    with pytest.raises(NotReplicated):
        services.players.tokens.issue(anna.id, ["play"], once=ROUTE)
    assert services.players.tokens.bearer(token), "who reads is let in"
    pair.replica.release()
    until(pair.is_linked)
    assert made.token == services.players.tokens.issue(anna.id, ["play"], once=ROUTE).token
    end = ROUTE._replace(route="end")
    assert services.players.tokens.end(anna.id, made.info.id, end) is False
    pair.replica.hold()
    with pytest.raises(NotReplicated):
        services.players.tokens.end(anna.id, made.info.id, end)


def test_readiness_follows_the_replicas(pair: Pair) -> None:
    """It is refused while fewer keep up than are promised, and comes back with them."""
    one, two, none = (Durability(pair.primary.client, replicas=count) for count in (1, 2, 0))
    assert (None, None) == (one.hindrance(), none.hindrance())
    told = two.hindrance()
    assert told == "1 replicas keep up, and 2 must have what is acknowledged (HEARTS_REPLICAS)"
    pair.replica.hold()
    assert "0 replicas keep up" in until(one.hindrance)
    assert none.hindrance() is None
    pair.replica.release()
    until(lambda: one.hindrance() is None)


def test_a_primary_without_replicas_writes_nothing(pair: Pair) -> None:
    """Where its settings say so it refuses, so that not even an unconfirmed event is left behind."""
    store = Store(pair.primary.client, Keys(4), replicas=1)
    pair.primary.client.config_set("min-replicas-to-write", 2)
    with pytest.raises(StoreUnavailable, match="Not enough good replicas"):
        append(store, 0)
    assert [] == store.read("g")
    assert "refuses to write" in str(Durability(pair.primary.client, replicas=1).hindrance())


def test_a_replica_is_no_primary(pair: Pair) -> None:
    """Given a server that became a replica, then it acknowledges nothing, not even what it has."""
    store = Store(pair.primary.client, Keys(4), replicas=1)
    append(store, 0)
    with pytest.raises(StoreUnavailable, match="WAIT cannot be used"):
        append(Store(pair.replica.client, Keys(4), replicas=1), 0)
    with pytest.raises(StoreUnavailable):
        Store(pair.replica.client, Keys(4)).append("h", 0, [(b"e", b"")], now=NOW, due=None)


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("slave0:ip=h,port=1,state=online,offset=5,lag=0,type=replica", 1),
        (
            "slave0:ip=h,port=1,state=online,offset=5,lag=2\r\nslave1:ip=h,port=2,state=online,offset=5,lag=1",
            2,
        ),
        ("slave0:ip=h,port=1,state=online,offset=5,lag=3", 0),
        ("slave0:ip=h,port=1,state=wait_bgsave,offset=0,lag=0", 0),
        ("slave0:ip=h,port=1,state=online,offset=5", 0),
        ("connected_slaves:1", 0),
    ],
)
def test_replicas_that_keep_up_are_counted(line: str, count: int) -> None:
    """Those that are online and have confirmed something in the last two seconds."""
    assert count == replicas_of(f"# Replication\r\nrole:master\r\n{line}\r\n")


@pytest.mark.parametrize(("least", "replicas", "told"), [("1", 1, 0), ("0", 1, 1), ("1", 2, 1), ("0", 0, 0)])
def test_a_primary_that_writes_alone_is_warned_of(least: str, replicas: int, told: int) -> None:
    """Where its ``min-replicas-to-write`` is less than what is promised."""
    safe = {"appendonly": "yes", "appendfsync": "always", "min-replicas-to-write": least}
    found = weaknesses(safe, replicas)
    assert told == len(found)
    assert all(f"min-replicas-to-write {least}" in one for one in found)
