"""The line to a cluster: each command reaches the node of its key, wherever that is by now."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from random import Random
from threading import Thread
from typing import Any

import pytest
import redis

from services import cluster, ears
from services.cluster import ClusterWire, connect_cluster, connect_store, key_of, slot_of, wire_of
from services.keys import Keys
from services.settings import InvalidSettings, Settings
from services.wire import Script, StoreUnavailable, Wire, WrongKeyType, connect
from tests.support.house import until
from tests.support.servers import Nodes, Server, servers

SET = Script("redis.call('SET', KEYS[1], ARGV[1]) return redis.call('GET', KEYS[1]) .. (KEYS[2] or '')")


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    """A cluster of three primaries, whose slots the tests move."""
    with servers(tmp_path_factory.mktemp("nodes") / "servers") as some:
        yield Nodes(some, primaries=3, replicas=0)


@pytest.fixture
def wire(nodes: Nodes) -> Iterator[ClusterWire]:
    """A line to the empty cluster."""
    with connect_cluster(nodes.url) as client:
        client.flushall()
        yield ClusterWire(client)


def tagged(count: int = 64) -> list[str]:
    """Keys of so many slots."""
    return [f"k:{{p{number:02}}}" for number in range(count)]


def elsewhere(nodes: Nodes, key: str) -> tuple[Server, Server]:
    """The node that has the slot of a key, and another one."""
    source = nodes.holder(key)
    return source, next(one for one in nodes.primaries if one is not source)


@pytest.mark.parametrize(
    ("command", "key"),
    [
        (("GET", "k"), "k"),
        (("EVALSHA", "d", 2, "k", "l", "a"), "k"),
        (("EVAL", "text", 0, "a"), None),
        (("XREADGROUP", "GROUP", "g", "c", "COUNT", 1, "STREAMS", "k", ">"), "k"),
        (("XREAD", "STREAMS", "k", "0"), "k"),
        (("XGROUP", "CREATE", "k", "g", "0"), "k"),
        (("XINFO", "GROUPS", "k"), "k"),
        (("INFO", "memory"), None),
        (("SCRIPT", "LOAD", "text"), None),
    ],
)
def test_the_key_of_a_command(command: tuple[Any, ...], key: str | None) -> None:
    """It is where the command has it."""
    assert key == key_of(command)


def test_slots_are_those_of_the_servers(nodes: Nodes) -> None:
    """By the hash tag where there is one that is not empty, else by the whole key."""
    for key in ("k", "h:{p07}:feed", "a{}b", "a{b", "}a{b}c", "{a}{b}", "ö{ä}"):
        told = nodes.primaries[0].client.execute_command("CLUSTER KEYSLOT", key)
        assert told == slot_of(key) == slot_of(key.encode())


def test_answers_come_in_the_order_of_the_questions(wire: ClusterWire) -> None:
    """Given commands for all nodes in one pipeline, in any order, then each has its own answer."""
    keys = tagged()
    wire.pipeline([("SET", key, number) for number, key in enumerate(keys)])
    asked = list(enumerate(keys))
    Random(1).shuffle(asked)
    assert [str(number).encode() for number, _ in asked] == wire.pipeline([("GET", key) for _, key in asked])
    calls = [((key,), (number,)) for number, key in asked]
    assert [str(number).encode() for number, _ in asked] == wire.run_each(SET, calls)
    assert set(keys) == {key.decode() for page in wire.scan("k:*", 10) for key in page}
    assert [] == wire.pipeline([])


def test_a_refusal_is_raised_after_all_are_answered(wire: ClusterWire) -> None:
    """As on a single server: the others are carried out, and a key of a wrong type is named."""
    keys = Keys(64)
    wire.call("SET", keys.feed(3), "no stream")
    with pytest.raises(WrongKeyType, match=r"the key h:\{p03\}:feed holds a string"):
        wire.pipeline([("XLEN", keys.feed(3)), *(("SET", key, 1) for key in tagged())])
    assert [b"1"] * 64 == wire.pipeline([("GET", key) for key in tagged()])
    with pytest.raises(redis.ResponseError, match="hash to the same slot"):
        wire.call("DEL", *tagged(2))


def test_a_script_is_taught_to_all_nodes(wire: ClusterWire, nodes: Nodes) -> None:
    """Also where only one of them has lost it."""
    calls = [((key,), (1,)) for key in tagged(16)]
    assert [b"1"] * 16 == wire.run_each(SET, calls)
    nodes.primaries[1].client.script_flush()
    assert [b"1"] * 16 == wire.run_each(SET, calls)
    for one in nodes.primaries:
        one.client.script_flush()
    assert b"2" == wire.run(SET, tagged(1), [2])


def test_every_primary_is_asked(wire: ClusterWire, nodes: Nodes) -> None:
    """What has no key and is of all is told by all."""
    told = {
        int(one.decode().partition("tcp_port:")[2].split()[0]) for one in wire.everywhere("INFO", "server")
    }
    assert {one.port for one in nodes.primaries} == told
    assert b"PONG" == wire.call("PING")


def test_streams_of_many_slots_are_waited_for(wire: ClusterWire) -> None:
    """News of any of them ends the wait; without news it ends by itself, and the streams without any are left out."""
    streams = dict.fromkeys(tagged(), b"0-0")
    assert [] == list(wire.read_streams(("XREAD",), streams, 30))
    found: list[Any] = []
    reader = Thread(target=lambda: found.extend(wire.read_streams(("XREAD", "COUNT", 10), streams, 30_000)))
    reader.start()
    wire.call("XADD", tagged()[7], "1-0", "f", "x")
    reader.join(20)
    assert [[tagged()[7].encode(), [[b"1-0", [b"f", b"x"]]]]] == found


def read_until_news(wire: ClusterWire, accident: Callable[[], object]) -> list[Any]:
    """What a reader of many streams finds that waits while something happens, and then there is news."""
    found: list[Any] = []
    streams = dict.fromkeys(tagged(), b"0-0")
    reader = Thread(target=lambda: found.extend(wire.read_streams(("XREAD", "COUNT", 10), streams, 30_000)))
    reader.start()
    accident()
    wire.call("XADD", tagged()[9], "1-0", "f", "x")
    reader.join(20)
    return [stream for stream, _ in found]


def test_a_node_that_stops_telling_is_listened_to_again(wire: ClusterWire, nodes: Nodes) -> None:
    """Given connections of readers that are cut, then no news is missed."""

    def cut() -> None:
        until(lambda: all(one.client.client_list(_type="pubsub") for one in nodes.primaries))
        for one in nodes.primaries:
            one.client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")

    assert [tagged()[9].encode()] == read_until_news(wire, cut)


def test_a_node_that_may_not_tell_is_asked(wire: ClusterWire, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a user who may not have changes told, then the streams are looked at every now and then."""

    def refuse(*_: object) -> None:
        raise redis.exceptions.NoPermissionError("no")

    monkeypatch.setattr(ears, "_ask", refuse)
    assert [tagged()[9].encode()] == read_until_news(wire, lambda: None)
    assert [] == list(wire.read_streams(("XREAD",), dict.fromkeys(tagged(2), b"0-0"), 50))


def test_other_streams_and_other_nodes(wire: ClusterWire, nodes: Nodes) -> None:
    """A reader that turns to other streams is told of those, and holds one connection to each node."""
    for number in range(5):
        streams = dict.fromkeys(tagged(number + 2), b"0-0")
        assert [] == list(wire.read_streams(("XREAD",), streams, 5))
    until(lambda: [1, 1, 1] == [len(one.client.client_list(_type="pubsub")) for one in nodes.primaries])


def test_a_slot_that_has_moved_is_found(wire: ClusterWire, nodes: Nodes) -> None:
    """Given a slot that went to another node since, then no command fails, and the next one goes there at once."""
    keys = tagged()
    wire.pipeline([("SET", key, "old") for key in keys])
    source, target = elsewhere(nodes, keys[5])
    nodes.open_move(slot_of(keys[5]), source, target)
    nodes.close_move(slot_of(keys[5]), source, target)
    assert [b"old"] * 64 == wire.pipeline([("GET", key) for key in keys])
    moved = int(source.info("errorstats").get("errorstat_MOVED", {"count": 0})["count"])
    assert b"new" == wire.run(SET, [keys[5]], ["new"])
    assert moved == int(source.info("errorstats")["errorstat_MOVED"]["count"])
    assert nodes.holder(keys[5]) is target


def test_a_key_that_is_carried_over_already(wire: ClusterWire, nodes: Nodes) -> None:
    """Given a slot that is just moving, then what has gone ahead is asked for at its new place."""
    key = tagged(10)[9]
    wire.call("SET", key, "x")
    source, target = elsewhere(nodes, key)
    nodes.open_move(slot_of(key), source, target)
    nodes.carry(source, target, key)
    assert [b"x", b"PONG"] == wire.pipeline([("GET", key), ("PING",)])
    assert b"y" == wire.run(SET, [key], ["y"])
    nodes.close_move(slot_of(key), source, target)
    assert b"y" == wire.call("GET", key)


@pytest.mark.parametrize("ends", [True, False])
def test_keys_that_are_carried_over_in_part(
    wire: ClusterWire, nodes: Nodes, monkeypatch: pytest.MonkeyPatch, ends: bool
) -> None:
    """A script of several keys is offered again while they move; where that lasts too long the store is unavailable."""
    first, second = "a:{p11}", "b:{p11}"
    wire.pipeline([("SET", first, "x"), ("SET", second, "x")])
    source, target = elsewhere(nodes, first)
    nodes.open_move(slot_of(first), source, target)
    nodes.carry(source, target, first)
    if ends:
        monkeypatch.setattr(cluster.time, "sleep", lambda _: nodes.close_move(slot_of(first), source, target))
        assert b"yb:{p11}" == wire.run(SET, [first, second], ["y"])
    else:
        monkeypatch.setattr(cluster, "MOVING_SECONDS", 0.0)
        with pytest.raises(StoreUnavailable, match=r"Multiple keys"):
            wire.run(SET, [first, second], ["y"])
        nodes.close_move(slot_of(first), source, target)
        assert b"x" == wire.call("GET", first)


def test_nodes_that_do_not_agree(wire: ClusterWire, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command that is sent from node to node for ever is given up."""
    monkeypatch.setattr(Wire, "exchange", lambda *_: ([redis.exceptions.MovedError("5 127.0.0.1:1")], None))
    with pytest.raises(StoreUnavailable, match="in disorder"):
        wire.call("GET", "k")


def test_no_node_answers() -> None:
    """It is told as of a server that is away."""
    with pytest.raises(StoreUnavailable, match="no node of the cluster answers"):
        connect_store("redis+cluster://127.0.0.1:1", timeout=1)


def test_a_node_dies_and_its_replica_takes_over(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Its keys are unavailable until then, and those of others are not; what replicas had confirmed is there."""
    with servers(tmp_path_factory.mktemp("dying") / "servers") as some:
        nodes = Nodes(some, primaries=3, replicas=1)
        with connect_cluster(nodes.url) as client:
            wire = wire_of(client, replicas=1)
            keys = tagged()
            wire.pipeline([("SET", key, "x") for key in keys])
            dying = nodes.holder(keys[0])
            of_others = next(key for key in keys if nodes.holder(key) is not dying)
            dying.kill()
            with pytest.raises(StoreUnavailable):
                wire.call("GET", keys[0])
            assert b"x" == wire.call("GET", of_others)
            assert b"x" == until(lambda: asked(wire, keys[0]))
            assert [b"x"] * 64 == wire.pipeline([("GET", key) for key in keys])
            with pytest.raises(StoreUnavailable, match="0 of 1 replicas"):
                wire.call("SET", keys[0], "y")
            dying.start()
            until(nodes.is_ready)
            assert b"OK" == wire.call("SET", keys[0], "z")


def asked(wire: Wire, key: str) -> bytes | None:
    """What a key holds; none where its node does not answer."""
    try:
        found: bytes = wire.call("GET", key)
    except StoreUnavailable:
        return None
    return found


def test_jobs_are_elsewhere() -> None:
    """RQ does not run on a cluster: whoever names one for the log and no other server for jobs is told so at once."""
    address = "redis+cluster://a:1,b:2"
    with pytest.raises(InvalidSettings, match="HEARTS_QUEUE_URL='': must name a server of its own"):
        Settings.from_environ({"HEARTS_STORE_URL": address})
    with pytest.raises(InvalidSettings, match="not a cluster, where RQ does not run"):
        Settings.from_environ({"HEARTS_STORE_URL": address, "HEARTS_QUEUE_URL": address})
    assert (
        address
        == Settings.from_environ({"HEARTS_STORE_URL": address, "HEARTS_QUEUE_URL": "redis://q"}).store_url
    )
    with pytest.raises(ValueError, match="no single server"):
        connect(address)


def test_the_map_is_not_read_for_every_command(wire: ClusterWire, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a node does not answer it is read again once in a while, so that its death is no flood for the others."""
    read: list[float] = []
    monkeypatch.setattr(wire._cluster.nodes_manager, "initialize", lambda **_: read.append(time.monotonic()))
    monkeypatch.setattr(cluster, "REREAD_SECONDS", 3600.0)
    for _ in range(5):
        wire._failed = ""
        wire.call("PING")
    assert 1 == len(read)


def test_who_needs_other_nodes_goes_on(wire: ClusterWire) -> None:
    """While one thread reads the map anew, which may take as long as a node hangs, others work by the old one."""
    with wire._lock:
        wire._failed = "127.0.0.1:1"
        assert wire.call("GET", "k") is None
    assert b"PONG" == wire.call("PING")
    assert wire._failed is None
