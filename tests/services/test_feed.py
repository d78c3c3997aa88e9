"""The feeds, run against each kind of server: at least once to every group, nothing lost, nothing kept for ever."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import redis

from services.feed import Batch, Feed, Pointer
from services.keys import Keys
from services.store import Store, StoreUnavailable, connect

NOW = 1_800_000_000_000
GROUP = "projector"


@pytest.fixture
def feed(client: redis.Redis, keys: Keys) -> Feed:
    """The feeds of the store, with one group."""
    feed = Feed(client, keys)
    feed.ensure_group(GROUP)
    return feed


def add(store: Store, game: str, expected: int, due: int | None = None) -> None:
    """Append one event."""
    store.append(game, expected, [(b"e", b"")], now=NOW, due=due)


def told(batch: Batch) -> set[tuple[int, str, int, int | None]]:
    """Partition, game, seq and due time of every pointer."""
    return {(p, pointer.game, pointer.seq, pointer.due) for p, found in batch.items() for pointer in found}


def one_of_each_partition(store: Store) -> dict[int, str]:
    """A game of each partition, each with one event."""
    games = {store.keys.partition(game): game for game in map(str, range(99))}
    for game in games.values():
        add(store, game, 0)
    return games


def test_a_group_reads_all_feeds_at_once(store: Store, feed: Feed) -> None:
    """One read brings the pointers of all partitions, oldest first, each with what is due."""
    games = one_of_each_partition(store)
    add(store, games[3], 1, due=NOW + 7)
    batch = feed.read_group(GROUP, "a", 0, 100)
    assert {*range(8)} == set(batch)
    assert [(games[3], 1, None), (games[3], 2, NOW + 7)] == [(p.game, p.seq, p.due) for p in batch[3]]
    assert {1} == {pointer.deliveries for found in batch.values() for pointer in found}
    assert {} == feed.read_group(GROUP, "a", 0, 100)


def test_count_is_of_each_partition(store: Store, feed: Feed) -> None:
    """A small batch leaves the rest for the next read, which goes on where it ended."""
    for seq in range(5):
        add(store, "g", seq)
    p = store.keys.partition("g")
    reads = [feed.read_group(GROUP, "a", 0, 2).get(p, []) for _ in range(4)]
    assert [[1, 2], [3, 4], [5], []] == [[pointer.seq for pointer in read] for read in reads]


def test_two_consumers_share_and_two_groups_do_not(store: Store, feed: Feed) -> None:
    """In one group each pointer goes to one consumer; another group gets them all, from the beginning."""
    one_of_each_partition(store)
    first, second = feed.read_group(GROUP, "a", 0, 100), feed.read_group(GROUP, "b", 0, 100)
    assert (8, 0) == (len(first), len(second))
    feed.ensure_group("other")
    assert told(first) == told(feed.read_group("other", "a", 0, 100))


def test_making_a_group_again_changes_nothing(store: Store, feed: Feed) -> None:
    """Every start may ask for the group; where it stands is kept."""
    add(store, "g", 0)
    feed.read_group(GROUP, "a", 0, 100)
    feed.ensure_group(GROUP)
    assert ({}, 1) == (feed.read_group(GROUP, "a", 0, 100), feed.lag(GROUP))


def test_a_group_cannot_be_made_on_a_key_of_another_type(client: redis.Redis, keys: Keys) -> None:
    """Only a group that is there already may be met silently."""
    client.set(keys.feed(0), "something else")
    with pytest.raises(redis.ResponseError):
        Feed(client, keys).ensure_group(GROUP)


def test_a_waiting_reader_wakes_on_an_append(store: Store, feed: Feed) -> None:
    """The read ends with the first pointer, long before its time is over; without one it ends in time."""
    assert {} == feed.read_group(GROUP, "a", 20, 100)
    begun = threading.Event()

    def read() -> Batch:
        begun.set()
        return feed.read_group(GROUP, "a", 60_000, 100)

    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(read)
        assert begun.wait(30)
        add(store, "g", 0, due=NOW)
        assert {(store.keys.partition("g"), "g", 1, NOW)} == told(reader.result(30))


def test_what_a_dead_consumer_left_is_claimed_with_its_count(store: Store, feed: Feed) -> None:
    """Pointers that were read and not acknowledged come again, and tell how often they have been handed out."""
    one_of_each_partition(store)
    read = feed.read_group(GROUP, "dead", 0, 100)
    p = store.keys.partition("1")
    feed.ack(p, GROUP, [pointer.id for pointer in read[p]])
    for deliveries, consumer in enumerate(["b", "c", "c"], 2):
        claimed = feed.claim_stale(GROUP, consumer, 0)
        assert {q: found for q, found in told_without_ids(read).items() if q != p} == told_without_ids(
            claimed
        )
        assert {deliveries} == {pointer.deliveries for found in claimed.values() for pointer in found}


def told_without_ids(batch: Batch) -> dict[int, list[tuple[str, int]]]:
    """Game and seq by partition."""
    return {p: [(pointer.game, pointer.seq) for pointer in found] for p, found in batch.items()}


def test_a_consumer_that_is_still_at_it_is_left_alone(store: Store, feed: Feed) -> None:
    """Only what has been idle for long enough is taken over."""
    add(store, "g", 0)
    feed.read_group(GROUP, "slow", 0, 100)
    assert {} == feed.claim_stale(GROUP, "b", 60_000)


def test_a_claim_is_of_about_count_pointers(store: Store, feed: Feed) -> None:
    """What one claim leaves, the next takes."""
    for seq in range(30):
        add(store, "g", seq)
    feed.read_group(GROUP, "dead", 0, 100)
    p = store.keys.partition("g")
    assert [*range(1, 11)] == [pointer.seq for pointer in feed.claim_stale(GROUP, "b", 0, count=10)[p]]
    assert [*range(1, 31)] == [pointer.seq for pointer in feed.claim_stale(GROUP, "c", 0)[p]]


def test_a_claim_looks_past_what_others_are_still_at(store: Store, feed: Feed) -> None:
    """The server looks at some pending pointers a time; the claim goes on until it has seen them all."""
    for seq in range(30):
        add(store, "g", seq)
    p = store.keys.partition("g")
    last = feed.read_group(GROUP, "slow", 0, 100)[p][-1]
    store.client.xclaim(store.keys.feed(p), GROUP, "dead", 0, [last.id], idle=100_000)
    claimed = feed.claim_stale(GROUP, "b", 50_000, count=1)
    assert {p: [("g", 30)]} == told_without_ids(claimed)


def test_deliveries_are_told_however_much_lies_between(store: Store, feed: Feed) -> None:
    """The counts are those of the claimed pointers, also where hundreds of others' are pending in between."""
    for seq in range(300):
        add(store, "g", seq)
    p = store.keys.partition("g")
    read = feed.read_group(GROUP, "slow", 0, 300)[p]
    ends = [read[0].id, read[-1].id]
    store.client.xclaim(store.keys.feed(p), GROUP, "dead", 0, ends, idle=100_000, retrycount=6)
    claimed = feed.claim_stale(GROUP, "b", 50_000)[p]
    assert [(1, 7), (300, 7)] == [(pointer.seq, pointer.deliveries) for pointer in claimed]


def test_pointers_that_were_trimmed_while_pending_do_not_come_back(store: Store, feed: Feed) -> None:
    """A claim skips what is no longer in the feed."""
    add(store, "g", 0)
    feed.read_group(GROUP, "dead", 0, 100)
    store.client.xtrim(store.keys.feed(store.keys.partition("g")), maxlen=0, approximate=False)
    assert {} == feed.claim_stale(GROUP, "b", 0)


def test_acknowledged_pointers_are_done(store: Store, feed: Feed) -> None:
    """Acknowledging tells how many were pending, and does nothing twice."""
    add(store, "g", 0)
    add(store, "g", 1)
    p = store.keys.partition("g")
    ids = [pointer.id for pointer in feed.read_group(GROUP, "a", 0, 100)[p]]
    assert (2, 0, 0) == (feed.ack(p, GROUP, ids), feed.ack(p, GROUP, ids), feed.ack(p, GROUP, []))
    assert {} == feed.claim_stale(GROUP, "b", 0)


def test_a_follower_sees_what_is_new(store: Store, feed: Feed) -> None:
    """From the heads on, each pointer comes once, and the cursors move."""
    add(store, "g", 0)
    cursors = feed.heads()
    assert {*range(8)} == set(cursors)
    assert {} == feed.follow(cursors, 20)
    add(store, "g", 1, due=NOW)
    add(store, "h", 0)
    p, q = store.keys.partition("g"), store.keys.partition("h")
    assert {(p, "g", 2, NOW), (q, "h", 1, None)} == told(feed.follow(cursors, 60_000))
    assert {} == feed.follow(cursors, 0)
    assert cursors == feed.heads()


class TestTrim:
    def length(self, store: Store) -> int:
        """Pointers that the feed of game g holds."""
        return store.client.xlen(store.keys.feed(store.keys.partition("g")))

    def test_a_feed_is_trimmed_behind_the_slowest_group(self, store: Store, feed: Feed) -> None:
        """What any group has still to read stays."""
        p = store.keys.partition("g")
        for seq in range(6):
            add(store, "g", seq)
        feed.ensure_group("slow")
        feed.ack(p, GROUP, [pointer.id for pointer in feed.read_group(GROUP, "a", 0, 6)[p]])
        assert (0, 6) == (feed.trim(p), self.length(store))
        slow = feed.read_group("slow", "a", 0, 4)[p]
        feed.ack(p, "slow", [pointer.id for pointer in slow])
        assert 3 == feed.trim(p)
        assert [5, 6] == [pointer.seq for pointer in feed.read_group("slow", "a", 0, 10)[p]]

    def test_what_is_pending_is_not_trimmed(self, store: Store, feed: Feed) -> None:
        """A pointer that was handed out and not acknowledged can still be claimed after a trim."""
        p = store.keys.partition("g")
        for seq in range(4):
            add(store, "g", seq)
        read = feed.read_group(GROUP, "dead", 0, 10)[p]
        feed.ack(p, GROUP, [read[0].id, read[2].id])
        assert 1 == feed.trim(p)
        assert [2, 4] == [pointer.seq for pointer in feed.claim_stale(GROUP, "b", 0)[p]]

    def test_a_feed_without_groups_is_left_alone(self, store: Store) -> None:
        """Before the first reader has come nothing is dropped, nor where there is no feed."""
        bare = Feed(store.client, store.keys)
        assert 0 == bare.trim(0)
        add(store, "g", 0)
        assert (0, 1) == (bare.trim(store.keys.partition("g")), self.length(store))


class TestLag:
    def test_lag_counts_what_is_not_dealt_with(self, store: Store, feed: Feed) -> None:
        """Not delivered and not acknowledged pointers count, over all partitions."""
        games = one_of_each_partition(store)
        assert (8, 0) == (feed.lag(GROUP), feed.lag("nobody"))
        read = feed.read_group(GROUP, "a", 0, 100)
        assert 8 == feed.lag(GROUP)
        for p, found in read.items():
            feed.ack(p, GROUP, [pointer.id for pointer in found])
        assert 0 == feed.lag(GROUP)
        add(store, games[2], 1)
        assert 1 == feed.lag(GROUP)

    def test_lag_is_counted_where_the_server_does_not_know(self, store: Store, feed: Feed) -> None:
        """After a deletion in the middle the server tells no lag; it is counted then."""
        for seq in range(6):
            add(store, "g", seq)
        feed_key = store.keys.feed(store.keys.partition("g"))
        store.client.xdel(feed_key, store.client.xrange(feed_key)[3][0])
        assert 5 == feed.lag(GROUP)


def test_a_store_without_feeds_has_no_lag_and_no_heads(client: redis.Redis, keys: Keys) -> None:
    """An empty store is nothing to be behind of."""
    feed = Feed(client, keys)
    assert (0, {b"0-0"}) == (feed.lag(GROUP), set(feed.heads().values()))


def test_a_server_that_is_not_there_is_unavailable(keys: Keys) -> None:
    """A reader is told so at once, and not after its wait."""
    with pytest.raises(StoreUnavailable):
        Feed(connect("unix:///nonexistent/hearts.sock"), keys).read_group(GROUP, "a", 60_000, 1)


def test_a_pointer_is_plain_data() -> None:
    """Fresh pointers have been delivered once."""
    assert (b"1-0", "g", 2, None, 1, False) == Pointer(b"1-0", "g", 2, None)
