"""What is read from, and added to, several games at once is the same as one by one, on each kind of server."""

from collections.abc import Iterable

import pytest

from services.keys import Keys
from services.store import Append, Gap, Missed, Store, StoreUnavailable, connect

NOW = 1_800_000_000_000


def events(*public: bytes) -> list[tuple[bytes, bytes]]:
    """Events with these public bytes."""
    return [(one, b"s") for one in public]


def wanted(game: str, expected: int, *public: bytes, due: int | None = NOW + 5, **more: bytes) -> Append:
    """An append."""
    return Append(game, expected, events(*public), NOW, due, **more)


def told(store: Store, games: Iterable[str]) -> dict[str, list[bytes]]:
    """The public bytes of some games."""
    return {game: [public for _, public, _ in store.read(game)] for game in games}


class TestAppendEach:
    def test_each_is_added_as_by_itself(self, store: Store) -> None:
        """Events, snapshots and what is due are those of an append, of whatever partition."""
        store.append("b", 0, events(b"1"), now=NOW, due=None)
        games = [wanted("a", 0, b"1", b"2", snapshot=b"of a"), wanted("b", 1, b"2"), wanted("c", 0, b"1")]
        assert [True, True, True] == store.append_each(games)
        assert {"a": [b"1", b"2"], "b": [b"1", b"2"], "c": [b"1"]} == told(store, "abc")
        assert b"2:of a" == store.client.get(store.keys.snapshot("a"))
        assert {store.keys.partition(game) for game in "abc"} == {*store.dues()}
        assert {NOW + 5} == {*store.dues().values()}
        assert [] == store.append_each([])

    def test_who_is_behind_keeps_none_from_the_others(self, store: Store) -> None:
        """Of a game that has gone on, or has lost its end, nothing is added, and an append tells why."""
        store.append("a", 0, events(b"1", b"2"), now=NOW, due=None)
        store.append("b", 0, events(b"1"), now=NOW, due=None)
        assert [False, False, True] == store.append_each(
            [wanted("a", 1, b"x"), wanted("b", 7, b"x"), wanted("c", 0, b"1")]
        )
        assert {"a": [b"1", b"2"], "b": [b"1"], "c": [b"1"]} == told(store, "abc")
        assert Missed([(2, b"2", b"s")]) == store.append("a", 1, events(b"x"), now=NOW, due=None)
        with pytest.raises(Gap):
            store.append("b", 7, events(b"x"), now=NOW, due=None)

    def test_what_the_server_refuses_leaves_the_others_in_doubt(self, store: Store) -> None:
        """Given a game whose key is of another type, then nobody is told to be done, and asking again does nothing twice."""
        store.client.set(store.keys.stream("a"), "no stream")
        assert [False, False] == store.append_each([wanted("a", 0, b"1"), wanted("b", 0, b"1")])
        assert Missed([(1, b"1", b"s")]) == store.append("b", 0, events(b"1"), now=NOW, due=None)
        assert {"b": [b"1"]} == told(store, "b")

    def test_a_server_that_forgot_the_script(self, store: Store) -> None:
        """It is taught it again, and each is added once."""
        store.client.script_flush()
        assert [True, True] == store.append_each([wanted("a", 0, b"1"), wanted("b", 0, b"1")])
        assert {"a": [b"1"], "b": [b"1"]} == told(store, "ab")

    def test_nothing_is_no_append(self, store: Store) -> None:
        """Each has an event; where one has none, nothing is added at all."""
        with pytest.raises(ValueError, match="at least one event"):
            store.append_each([wanted("a", 0, b"1"), wanted("b", 0)])
        assert {"a": []} == told(store, "a")


class TestLoadEach:
    def test_each_is_loaded_as_by_itself(self, store: Store) -> None:
        """With a snapshot or without, short, long enough to need all its entries, or not there."""
        long = [b"%d" % number for number in range(1, 12)]
        for game, snapshot in (("snap", b"shot"), ("long", b""), ("old", b"")):
            store.append_each([wanted(game, 0, *long, snapshot=snapshot)])
        store.append("snap", 11, events(b"12"), now=NOW, due=None)
        store.append_each([wanted("short", 0, b"1", b"2")])
        games = ["snap", "long", "short", "none"]
        found = store.load_each(games, 8)
        assert [store.load("snap", 8), None, store.load("short", 8), (b"", [])] == found
        assert (b"shot", [(12, b"12", b"s")]) == found[0]
        assert [] == store.load_each([], 8)

    def test_what_is_wrong_is_left_to_be_told_alone(self, store: Store) -> None:
        """A stream with a hole keeps none from the others; a key of another type leaves all to be loaded alone."""
        store.append_each([wanted("a", 0, b"1", b"2"), wanted("b", 0, b"1")])
        store.client.xdel(store.keys.stream("a"), "2-0")
        store.client.xadd(store.keys.stream("a"), {"p": "x"}, id="3-0")
        assert [None, store.load("b", 8)] == store.load_each("ab", 8)
        store.client.set(store.keys.stream("c"), "no stream")
        assert [None, None] == store.load_each("bc", 8)


def test_a_server_that_is_not_there_is_unavailable() -> None:
    """Both say so."""
    store = Store(connect("unix:///nonexistent/hearts.sock"), Keys(4))
    with pytest.raises(StoreUnavailable):
        store.append_each([wanted("a", 0, b"1")])
    with pytest.raises(StoreUnavailable):
        store.load_each(["a"], 8)
