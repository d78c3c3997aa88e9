"""What every store must do, run against each kind of server."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from services.keys import Keys
from services.scripts import HELD
from services.store import (
    DAY_MS,
    PAGE,
    Appended,
    CorruptStream,
    Gap,
    Missed,
    Once,
    PartitionMismatch,
    Replayed,
    Store,
    StoreUnavailable,
    connect,
    fix_partitions,
)

GAME = "g1"
NOW = 1_800_000_000_000
THREE = [(b"a", b""), (b"b", b"secret"), (b"\0\xff\r\n", b"\0")]


def add(store: Store, expected: int, *public: bytes, game: str = GAME, due: int | None = None):
    """Append events without secrets."""
    return store.append(game, expected, [(p, b"") for p in public], now=NOW, due=due)


def written(store: Store) -> dict[bytes, bytes]:
    """Every key of the store with its type: what a refused append must leave as it was."""
    return {key: store.client.type(key) for key in store.client.scan_iter()}


class TestAppendAndRead:
    def test_what_is_appended_is_read_back(self, store: Store) -> None:
        """Bytes come back as they were, public and secret, numbered from 1."""
        assert Appended(3) == store.append(GAME, 0, THREE, now=NOW, due=None)
        assert Appended(4) == add(store, 3, b"d")
        expected = [(1, b"a", b""), (2, b"b", b"secret"), (3, b"\0\xff\r\n", b"\0"), (4, b"d", b"")]
        assert expected == store.read(GAME)
        assert expected[1:3] == store.read(GAME, after=1, upto=3)
        assert [] == store.read(GAME, after=4)
        assert [] == store.read(GAME, after=2, upto=2)

    def test_a_game_that_was_never_opened_is_empty(self, store: Store) -> None:
        """Reading needs no game to be there."""
        assert ([], 0, [[]], None) == (
            store.read("no"),
            store.last("no"),
            store.read_many([("no", 0)]),
            store.recall("no", b"k", NOW),
        )

    def test_games_are_apart(self, store: Store) -> None:
        """Each game has its own numbers."""
        for game in ("a", "b", "c d", "{e}", "ü"):
            assert Appended(1) == add(store, 0, game.encode(), game=game)
            assert [(1, game.encode(), b"")] == store.read(game)
            assert 1 == store.last(game)

    def test_a_long_game_is_read_whole(self, store: Store) -> None:
        """Reading goes on over pages, and the ids that are kept ready do not end it."""
        for start in range(0, 2300, 100):
            add(store, start, *(b"%d" % seq for seq in range(start + 1, start + 101)))
        entries = store.read(GAME)
        assert [(seq, b"%d" % seq, b"") for seq in range(1, 2301)] == entries
        assert entries[5:1999] == store.read(GAME, after=5, upto=1999)
        assert [entries[:PAGE], entries[2000:]] == store.read_many([(GAME, 0), (GAME, 2000)])
        assert 2300 == store.last(GAME)

    def test_nothing_is_no_append(self, store: Store) -> None:
        """An append has an event, and a place that can exist."""
        with pytest.raises(ValueError, match="at least one event"):
            store.append(GAME, 0, [], now=NOW, due=None)
        with pytest.raises(ValueError, match="a seq from 0"):
            add(store, -1, b"a")
        assert {} == written(store)

    def test_the_script_is_sent_again_to_a_server_that_forgot_it(self, store: Store) -> None:
        """A server that was restarted, or flushed its scripts, costs one more message and nothing else."""
        add(store, 0, b"a")
        store.client.script_flush()
        assert Appended(2) == add(store, 1, b"b")


class TestSeq:
    def test_a_stale_writer_gets_what_it_missed(self, store: Store) -> None:
        """The answer has the events behind the expected one, with their secrets, and nothing was written."""
        store.append(GAME, 0, THREE, now=NOW, due=None)
        before = written(store)
        assert Missed([(2, b"b", b"secret"), (3, b"\0\xff\r\n", b"\0")]) == add(store, 1, b"x")
        assert Missed([(n, *pair) for n, pair in enumerate(THREE, 1)]) == add(store, 0, b"x")
        assert (3, before) == (store.last(GAME), written(store))

    def test_a_writer_far_behind_is_brought_up_in_steps(self, store: Store) -> None:
        """At most a page of missed events is told at once; the next try tells the rest."""
        for start in range(0, PAGE + 100, 100):
            add(store, start, *(b"e" for _ in range(100)))
        missed = add(store, 50, b"x")
        assert isinstance(missed, Missed)
        assert (51, PAGE + 50) == (missed.entries[0][0], missed.entries[-1][0])
        rest = add(store, missed.entries[-1][0], b"x")
        assert isinstance(rest, Missed)
        assert [*range(PAGE + 51, PAGE + 101)] == [seq for seq, _, _ in rest.entries]

    @pytest.mark.parametrize("last", [0, 1, 3])
    def test_a_writer_ahead_of_the_stream_is_told_of_the_gap(self, store: Store, last: int) -> None:
        """A writer that knows events the store has not is refused by name, and nothing is written."""
        for seq in range(last):
            add(store, seq, b"e")
        before = written(store)
        with pytest.raises(Gap) as caught:
            add(store, 4, b"x")
        assert (GAME, 4, last) == (caught.value.game, caught.value.expected, caught.value.last)
        assert before == written(store)

    def test_concurrent_writers_have_one_winner_a_seq(self, store: Store) -> None:
        """Eight threads, fifty events each, one game: every event is there once, in the place it was told."""
        told: dict[int, bytes] = {}
        start = threading.Barrier(8)

        def write(thread: int) -> None:
            seq = 0
            start.wait()
            for number in range(50):
                mine = b"%d-%d" % (thread, number)
                while isinstance(answer := add(store, seq, mine), Missed):
                    seq = answer.entries[-1][0]
                assert isinstance(answer, Appended)
                seq = answer.last
                told[seq] = mine

        with ThreadPoolExecutor(8) as pool:
            for done in [pool.submit(write, thread) for thread in range(8)]:
                done.result()
        assert [(seq, told[seq], b"") for seq in range(1, 401)] == store.read(GAME)
        assert 400 == len(set(told.values()))


class TestIdempotency:
    def test_a_repeated_key_is_answered_from_memory(self, store: Store) -> None:
        """The second append writes nothing and gets what was kept, byte for byte."""
        once = Once(b"k\0:\xff", b"57:an:swer\0")
        assert Appended(1) == store.append(GAME, 0, [(b"a", b"")], now=NOW, due=None, once=once)
        again = store.append(GAME, 1, [(b"a", b"")], now=NOW + 5, due=None, once=Once(once.field, b"other"))
        assert Replayed(b"57:an:swer\0") == again
        assert (1, once.answer) == (store.last(GAME), store.recall(GAME, once.field, NOW))

    def test_the_key_is_looked_up_before_the_version(self, store: Store) -> None:
        """A repeat of an old request replays, though its version is stale or unknown by now."""
        store.append(GAME, 0, THREE, now=NOW, due=None, once=Once(b"k", b"answer"))
        for expected in (0, 1, 3, 99):
            repeat = store.append(GAME, expected, THREE, now=NOW, due=None, once=Once(b"k", b"x"))
            assert Replayed(b"answer") == repeat

    def test_a_refused_append_burns_no_key(self, store: Store) -> None:
        """A key is kept only with the events; after a refusal it can be used."""
        add(store, 0, b"a")
        once = Once(b"k", b"answer")
        assert isinstance(store.append(GAME, 0, THREE, now=NOW, due=None, once=once), Missed)
        with pytest.raises(Gap):
            store.append(GAME, 7, THREE, now=NOW, due=None, once=once)
        assert store.recall(GAME, b"k", NOW) is None
        assert Appended(4) == store.append(GAME, 1, THREE, now=NOW, due=None, once=once)

    def test_a_key_is_kept_for_a_day(self, store: Store) -> None:
        """Up to the last millisecond it replays; then it is free, and the server forgets it by itself."""
        store.append(GAME, 0, THREE, now=NOW, due=None, once=Once(b"k", b"old"))
        assert b"old" == store.recall(GAME, b"k", NOW + DAY_MS - 1)
        assert store.recall(GAME, b"k", NOW + DAY_MS) is None
        assert DAY_MS - 60_000 < store.client.pttl(store.keys.idempotency(GAME)) <= DAY_MS
        later = store.append(GAME, 3, THREE, now=NOW + DAY_MS, due=None, once=Once(b"k", b"new"))
        assert (Appended(6), b"new") == (later, store.recall(GAME, b"k", NOW + DAY_MS))

    def test_keys_are_those_of_one_game(self, store: Store) -> None:
        """The same key at another table is another key."""
        store.append("a", 0, THREE, now=NOW, due=None, once=Once(b"k", b"answer"))
        assert Appended(3) == store.append("b", 0, THREE, now=NOW, due=None, once=Once(b"k", b"answer"))

    def test_expired_keys_of_a_long_game_do_not_pile_up(self, store: Store) -> None:
        """Where many answers are kept, appends drop some that have expired, and none that have not."""
        for seq in range(200):
            store.append(GAME, seq, [(b"e", b"")], now=NOW, due=None, once=Once(b"old%d" % seq, b""))
        later = NOW + DAY_MS + 1
        for seq in range(200, 240):
            store.append(GAME, seq, [(b"e", b"")], now=later, due=None, once=Once(b"new%d" % seq, b"x"))
        assert store.client.hlen(store.keys.idempotency(GAME)) < 150
        assert all(b"x" == store.recall(GAME, b"new%d" % seq, later) for seq in range(200, 240))

    def test_a_word_for_the_replicas_is_no_answer(self, store: Store) -> None:
        """Given what `hold` writes among the answers, then nobody is told it, and it is looked over with them."""
        store.append(GAME, 0, THREE, now=NOW, due=None, once=Once(b"k", b"x"))
        assert 1 == store.wire.run(HELD, (store.keys.stream(GAME), store.keys.idempotency(GAME)), (3,))
        assert store.recall(GAME, b"held", NOW) is None
        for seq in range(3, 163):
            store.append(GAME, seq, [(b"e", b"")], now=NOW, due=None, once=Once(b"new%d" % seq, b"x"))
        assert b"x" == store.recall(GAME, b"new3", NOW)


class TestAllOrNothing:
    def test_an_append_writes_pointer_and_due_entry(self, store: Store) -> None:
        """The feed tells game, last seq and due time; the due set has the game at that time."""
        p = store.keys.partition(GAME)
        store.append(GAME, 0, THREE, now=NOW, due=NOW + 9)
        add(store, 3, b"d")
        pointers = [fields for _, fields in store.client.xrange(store.keys.feed(p))]
        assert [
            {b"g": b"g1", b"n": b"3", b"d": b"%d" % (NOW + 9)},
            {b"g": b"g1", b"n": b"4"},
        ] == pointers
        assert [] == store.client.zrange(store.keys.due(p), 0, -1)

    def test_the_due_entry_follows_the_last_append(self, store: Store) -> None:
        """Each append says anew when the game is due; none means never."""
        p = store.keys.partition(GAME)
        for seq, due in enumerate([NOW + 5, NOW + 1, None, NOW + 7]):
            add(store, seq, b"e", due=due)
            assert due == store.next_due(p)

    @pytest.mark.parametrize("wrong", ["stream", "feed", "due", "idempotency"])
    def test_a_key_of_a_wrong_type_fails_before_anything_is_written(self, store: Store, wrong: str) -> None:
        """Whichever of the four keys is unusable, the other three stay as they were."""
        p = store.keys.partition(GAME)
        key = {
            "stream": store.keys.stream(GAME),
            "feed": store.keys.feed(p),
            "due": store.keys.due(p),
            "idempotency": store.keys.idempotency(GAME),
        }[wrong]
        store.client.set(key, "something else")
        before = written(store)
        with pytest.raises(CorruptStream) as caught:
            store.append(GAME, 0, THREE, now=NOW, due=NOW, once=Once(b"k", b"answer"))
        assert (GAME, 1) == (caught.value.game, caught.value.seq)
        assert before == written(store)

    def test_a_stream_that_was_emptied_cannot_be_begun_again(self, store: Store) -> None:
        """The server refuses to give out a seq twice, and nothing of the append stays."""
        add(store, 0, b"a", b"b")
        store.client.xtrim(store.keys.stream(GAME), maxlen=0, approximate=False)
        before = written(store)
        with pytest.raises(CorruptStream):
            add(store, 0, b"x", due=NOW)
        with pytest.raises(Gap):
            add(store, 2, b"x", due=NOW)
        assert before == written(store)
        assert 1 == store.client.xlen(store.keys.feed(store.keys.partition(GAME)))


class TestCorruption:
    @pytest.mark.parametrize("entry", ["2-0", "1-1", "7-0"])
    def test_a_hole_or_a_foreign_id_is_reported(self, store: Store, entry: str) -> None:
        """Reading stops with the seq at which the stream is not what was written."""
        store.client.xadd(store.keys.stream(GAME), {"p": "a"}, id="1-0" if entry == "1-1" else entry)
        if entry == "1-1":
            store.client.xadd(store.keys.stream(GAME), {"p": "a"}, id=entry)
        with pytest.raises(CorruptStream) as caught:
            store.read(GAME)
        assert (2 if entry == "1-1" else 1) == caught.value.seq
        assert entry in str(caught.value)

    def test_foreign_fields_are_reported(self, store: Store) -> None:
        """An entry without public bytes is no event."""
        add(store, 0, b"a")
        store.client.xadd(store.keys.stream(GAME), {"name": "x"}, id="2-0")
        with pytest.raises(CorruptStream) as caught:
            store.read(GAME)
        assert (2, "unknown field name") == (caught.value.seq, caught.value.why)


class TestReadMany:
    def test_many_games_are_read_at_once(self, store: Store) -> None:
        """Of each what is behind its seq; one that is wrong is told apart and keeps none from the others."""
        store.append(GAME, 0, THREE, now=NOW, due=None)
        add(store, 0, b"x", b"y", game="b")
        add(store, 0, b"z", b"z", game="c")
        store.client.xdel(store.keys.stream("c"), "1-0")
        whole, rest, none, wrong = store.read_many([(GAME, 0), ("b", 1), ("b", 2), ("c", 0)])
        assert (store.read(GAME), [(2, b"y", b"")], []) == (whole, rest, none)
        assert isinstance(wrong, CorruptStream)
        assert ("c", 1) == (wrong.game, wrong.seq)
        assert [] == store.read_many([])


class TestDue:
    def claimable(self, store: Store) -> tuple[int, list[str]]:
        """Three games of one partition, due at NOW, NOW+1 and NOW+2."""
        p = store.keys.partition(GAME)
        games = [g for g in map(str, range(200)) if store.keys.partition(g) == p][:3]
        for wait, game in enumerate(games):
            add(store, 0, b"a", game=game, due=NOW + wait)
        return p, games

    def test_a_claim_takes_what_is_ripe_under_a_lease(self, store: Store) -> None:
        """Ripe games come earliest first, once; they come back when the lease is over."""
        p, games = self.claimable(store)
        assert [] == store.claim_due(p, NOW - 1, 1000, 10)
        assert games[:2] == store.claim_due(p, NOW + 1, 1000, 10)
        assert [] == store.claim_due(p, NOW + 1, 1000, 10)
        assert games[2:] == store.claim_due(p, NOW + 1000, 5000, 10)
        assert games[:1] == store.claim_due(p, NOW + 1001, 1000, 1)
        assert games[1:2] == store.claim_due(p, NOW + 1001, 1000, 10)

    def test_an_append_overrules_a_lease(self, store: Store) -> None:
        """What the append says is due counts, whether sooner, later or never."""
        p, games = self.claimable(store)
        store.claim_due(p, NOW + 2, 1000, 10)
        add(store, 1, b"b", game=games[0], due=NOW + 3)
        add(store, 1, b"b", game=games[1], due=None)
        assert games[:1] == store.claim_due(p, NOW + 3, 1000, 10)
        assert games[2:] == store.claim_due(p, NOW + 1002, 5000, 10)

    def test_a_claim_can_be_settled_without_an_append(self, store: Store) -> None:
        """A game that owes nothing leaves the set, or waits for its time."""
        p, games = self.claimable(store)
        store.claim_due(p, NOW + 2, 1000, 10)
        assert store.settle(games[0], NOW + 1002, None)
        assert store.settle(games[1], NOW + 1002, NOW + 7)
        assert games[1:2] == store.claim_due(p, NOW + 7, 9000, 10)
        assert games[2:] == store.claim_due(p, NOW + 1002, 9000, 10)

    def test_settling_does_not_undo_a_later_append(self, store: Store) -> None:
        """A worker that was slow cannot take back what an append has made due since."""
        p, games = self.claimable(store)
        store.claim_due(p, NOW, 1000, 10)
        add(store, 1, b"b", game=games[0], due=NOW - 5)
        assert not store.settle(games[0], NOW + 1000, None)
        assert not store.settle("nowhere", NOW, None)
        assert NOW - 5 == store.next_due(p)

    def test_partitions_tell_what_is_due_there_first(self, store: Store) -> None:
        """The earliest game of each partition decides."""
        games = {store.keys.partition(game): game for game in map(str, range(99))}
        for p, game in games.items():
            if p % 2:
                add(store, 0, b"a", game=game, due=NOW + p)
        assert {1: NOW + 1, 3: NOW + 3, 5: NOW + 5, 7: NOW + 7} == store.dues()
        assert (None, NOW + 7) == (store.next_due(0), store.next_due(7))


class TestServer:
    def test_the_number_of_partitions_is_fixed_for_life(self, client: redis.Redis) -> None:
        """The first start decides; another number is refused, the same one is not."""
        assert (64, 64) == (fix_partitions(client, 64), fix_partitions(client, 64))
        with pytest.raises(PartitionMismatch) as caught:
            fix_partitions(client, 32)
        assert (64, 32) == (caught.value.stored, caught.value.wanted)
        assert 64 == fix_partitions(client, 64)

    def test_a_server_that_is_not_there_is_unavailable(self) -> None:
        """Whatever is asked, the answer is one error, and at once."""
        store = Store(connect("unix:///nonexistent/hearts.sock"), Keys(4))
        for ask in (
            lambda: add(store, 0, b"a"),
            lambda: store.read(GAME),
            lambda: store.read_many([(GAME, 0)]),
            store.dues,
        ):
            with pytest.raises(StoreUnavailable):
                ask()
