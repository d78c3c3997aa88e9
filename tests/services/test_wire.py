"""The line to the server: connections are used again, and never one that would give somebody else's answer."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import redis

from services.keys import Keys
from services.wire import Script, StoreUnavailable, Wire, WrongKeyType, connect


@pytest.fixture
def wire(valkey: redis.Redis) -> Wire:
    """A line to an empty server."""
    return Wire(valkey)


def test_one_connection_serves_one_command_after_the_other(wire: Wire) -> None:
    """No connection is made where one is idle."""
    assert wire.call("CLIENT", "ID") == wire.call("CLIENT", "ID") == wire.pipeline([("CLIENT", "ID")])[0]


def test_a_connection_that_the_server_has_closed_is_replaced(wire: Wire, valkey: redis.Redis) -> None:
    """Given an idle connection that was closed at the other end, then the next command is sent on a new one."""
    first = wire.call("CLIENT", "ID")
    valkey.client_kill_filter(_id=first)
    assert wire.call("CLIENT", "ID") != first


def test_a_late_answer_is_nobody_elses(valkey_url: str) -> None:
    """Given a command whose answer did not come in time, then the next one gets its own."""
    client = connect(valkey_url, timeout=0.05)
    wire = Wire(client)
    with pytest.raises(StoreUnavailable):
        wire.call("BLPOP", "nothing", 0)
    assert wire.call("ECHO", "mine") == b"mine"
    client.close()


def test_a_refused_command_leaves_its_connection_in_order(wire: Wire) -> None:
    """All answers of a pipeline are read before its error is raised."""
    first = wire.call("CLIENT", "ID")
    with pytest.raises(redis.ResponseError):
        wire.pipeline([("SET", "k", "v"), ("LPUSH", "k", "x"), ("ECHO", "late")])
    assert wire.call("ECHO", "mine") == b"mine"
    assert wire.call("CLIENT", "ID") == first


def test_a_key_of_another_type_is_named(wire: Wire) -> None:
    """By a command, a pipeline and a script; with what it holds and what it should hold."""
    keys = Keys(4)
    wire.call("RPUSH", keys.lobby(1, "open"), "x")
    wire.call("SET", keys.log_leaves, "x")
    length = Script("return redis.call('XLEN', KEYS[1])")
    lobby = r"^the key h:\{p01\}:lobby:open holds a list, and should hold a zset$"
    leaves = r"^the key h:\{log\}:leaves holds a string, and should hold a stream$"
    with pytest.raises(WrongKeyType, match=lobby):
        wire.call("ZCARD", keys.lobby(1, "open"))
    with pytest.raises(WrongKeyType, match=leaves):
        wire.pipeline([("ECHO", "x"), ("ZCARD", keys.lobby(2, "open")), ("XLEN", keys.log_leaves)])
    with pytest.raises(WrongKeyType, match=leaves):
        wire.run(length, [keys.log_leaves], [])
    with pytest.raises(redis.ResponseError, match="WRONGTYPE"):
        wire.pipeline([("SET", "k", "v"), ("LPUSH", "k", "x")])


def test_a_lost_script_is_sent_once_for_all_its_calls(wire: Wire, valkey: redis.Redis) -> None:
    """Whether the server knows it or not, each call gets its own answer, in order; no calls are no message."""
    script = Script("return KEYS[1] .. ARGV[1] .. #ARGV")
    calls = [(("a",), (1,)), (("b",), (2, 3))]
    for _ in range(2):
        assert [b"a11", b"b22"] == wire.run_each(script, calls) == wire.run_each(script, calls)
        assert [1] == wire.call("SCRIPT", "EXISTS", script.digest)
        valkey.script_flush()
    assert [] == wire.run_each(script, [])
    assert [0] == wire.call("SCRIPT", "EXISTS", script.digest)


def test_a_child_process_talks_on_connections_of_its_own(wire: Wire) -> None:
    """What a fork has inherited is left to the parent."""
    first = wire.call("CLIENT", "ID")
    wire._pid = -1
    assert wire.call("CLIENT", "ID") != first


def test_many_threads_get_their_own_answers(wire: Wire) -> None:
    """Given threads that talk at the same time, then none reads another's answer."""
    wrong = []

    def talk(name: str) -> None:
        for number in range(200):
            word = f"{name}-{number}".encode()
            if wire.call("ECHO", word) != word:
                wrong.append(word)

    threads = [threading.Thread(target=talk, args=(f"t{number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


class Hiccups:
    """A server whose connections break or cannot be made, for so many times."""

    def __init__(self, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
        self.refused = self.broken = 0
        """How many connections fail to be made, and how many break when the answer is waited for."""
        self.sent: list[bytes] = []
        self.naps: list[float] = []
        real_take, real_read = wire._take, wire._read

        def take() -> Any:
            if self.refused:
                self.refused -= 1
                raise redis.ConnectionError("refused")
            return real_take()

        def read(connection: Any) -> Any:
            reply = real_read(connection)
            self.sent.append(reply)
            if self.broken:
                self.broken -= 1
                raise redis.ConnectionError("broken")
            return reply

        monkeypatch.setattr(wire, "_take", take)
        monkeypatch.setattr(wire, "_read", read)
        monkeypatch.setattr("services.wire.time.sleep", self.naps.append)


@pytest.fixture
def hiccups(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> Hiccups:
    """What happens to the line."""
    return Hiccups(wire, monkeypatch)


def test_what_only_reads_is_asked_for_again(wire: Wire, hiccups: Hiccups) -> None:
    """By a command and by a pipeline, after pauses that differ and stay within a bound."""
    wire.call("SET", "k", "v")
    hiccups.broken = 3
    assert wire.call("GET", "k") == b"v"
    assert 3 == len(hiccups.naps)
    hiccups.broken = 1
    assert wire.pipeline([("GET", "k"), ("EXISTS", "k")]) == [b"v", 1]
    hiccups.broken = 1000
    with pytest.raises(StoreUnavailable, match="broken"):
        wire.call("GET", "k")
    assert 0 < 1000 - hiccups.broken < 20
    assert sum(hiccups.naps[4:]) == pytest.approx(0.2 * 5.0)


def test_what_writes_is_sent_once(wire: Wire, hiccups: Hiccups) -> None:
    """Given an answer that was lost, then nobody knows whether it was carried out; here it was, and only once."""
    for ask in (
        lambda: wire.call("INCR", "k"),
        lambda: wire.pipeline([("GET", "k"), ("INCR", "k")]),
        lambda: wire.run(Script("return redis.call('INCR', KEYS[1])"), ("k",), ()),
    ):
        before = int(wire.call("GET", "k") or 0)
        hiccups.broken = 1
        with pytest.raises(StoreUnavailable, match="broken"):
            ask()
        # a script that the server does not know yet is refused, which is an answer, before it is sent in full
        assert int(wire.call("GET", "k") or 0) - before in (0, 1)
    assert [] == hiccups.naps


def test_what_was_never_sent_is_sent(wire: Wire, hiccups: Hiccups) -> None:
    """Given a server that takes no connections for a moment, then also what writes is sent when it does, once."""
    hiccups.refused = 2
    assert 1 == wire.call("INCR", "k")
    hiccups.refused = 1000
    with pytest.raises(StoreUnavailable, match="refused"):
        wire.call("INCR", "k")
    hiccups.refused = 0
    assert b"1" == wire.call("GET", "k")
