"""`make bench`: speed as ratios to a peer measured in the same run, on the same machine.

Each figure is the median of several rounds, house and peer in turn, so that a noisy machine hits both. Run
``python tests/bench/run.py NAME...`` for some of the benchmarks only.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from random import Random
from threading import Barrier

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from domain.bots import BOTS  # noqa: E402
from domain.cards import distinct_cards  # noqa: E402
from domain.commands import PlayCard, SeatPlan  # noqa: E402
from domain.game import fold  # noqa: E402
from domain.rules import legal_plays  # noqa: E402
from domain.variants import ruleset_of  # noqa: E402
from services.audit import ServerKey  # noqa: E402
from services.codec import CODEC  # noqa: E402
from services.embedded import EmbeddedStore  # noqa: E402
from services.folded import Table, follow  # noqa: E402
from services.keys import Keys  # noqa: E402
from services.sealed import seal, unseal  # noqa: E402
from services.snapshot import EVERY  # noqa: E402
from services.store import Store, fix_partitions  # noqa: E402
from services.tables import Tables  # noqa: E402
from services.wire import connect  # noqa: E402
from tests.bench.ages import bench_ages  # noqa: E402
from tests.bench.audits import bench_audits  # noqa: E402
from tests.bench.commits import bench_commits  # noqa: E402
from tests.bench.cost import bench_views  # noqa: E402
from tests.bench.costs import bench_million  # noqa: E402
from tests.bench.listeners import bench_listeners  # noqa: E402
from tests.bench.machines import bench_machines  # noqa: E402
from tests.bench.moves import bench_moves  # noqa: E402
from tests.bench.page import bench_page  # noqa: E402
from tests.bench.peers import PeerHouse  # noqa: E402
from tests.bench.playouts import bench_playouts  # noqa: E402
from tests.bench.proofs import bench_proofs  # noqa: E402
from tests.bench.scale import bench_scale  # noqa: E402
from tests.bench.strength import bench_strength  # noqa: E402
from tests.bench.verify import bench_verify  # noqa: E402

ROUNDS = 7
IN_FLIGHT = 32
"""Commands at a time, of as many clients."""


def timed(work: Callable[[], object], repeat: int) -> float:
    """Seconds that one call of ``work`` takes, the mean of ``repeat`` calls."""
    start = time.perf_counter()
    for _ in range(repeat):
        work()
    return (time.perf_counter() - start) / repeat


def compare(
    title: str, aim: str, unit: str, house: dict[str, Callable[[], float]], peer: Callable[[], float]
) -> None:
    """Measure house and peer in turn; both tell how many things a second they do. Print medians and ratios."""
    figures: dict[str, list[float]] = {name: [] for name in house}
    peers: list[float] = []
    for _ in range(ROUNDS):
        peers.append(peer())
        for name, measure in house.items():
            figures[name].append(measure())
    print(f"\n{title}\n  peer: {statistics.median(peers):>12,.0f} {unit}   (aim: {aim})")
    for name, values in figures.items():
        ratios = [value / other for value, other in zip(values, peers, strict=True)]
        print(
            f"  {name:<20}: {statistics.median(values):>12,.0f} {unit}   {statistics.median(ratios):5.1f} times the peer"
            f"   ({min(ratios):.1f} to {max(ratios):.1f})"
        )


@contextmanager
def house_store(fsync: str) -> Iterator[Store]:
    """A store of its own in a new folder."""
    with tempfile.TemporaryDirectory() as folder, EmbeddedStore(Path(folder), fsync) as server:
        client = connect(server.url)
        yield Store(client, Keys(fix_partitions(client, 64)))


def new_tables(store: Store) -> Tables:
    """Tables on ``store`` with seeded entropy."""
    return Tables(store, ServerKey(bytes(32)), lambda: time.time_ns() // 1_000_000, Random(7).randbytes)


def finished_game(tables: Tables) -> Table:
    """A whole game of four bots."""
    plan = SeatPlan(kind="bot", bot=BOTS["random"].id)
    table = tables.open(ruleset_of({"variant": "basic"}), [plan] * 4).table
    while table.state.phase != "over":
        table = tables.act_for_house(table.state.game)
    return table


def bench_replay() -> None:
    """Load and fold a whole game, against the peer replaying as many events from memory."""
    with house_store("everysec") as store:
        table = finished_game(new_tables(store))
        game, count = table.state.game, table.seq
        peer = PeerHouse()
        peer_game = peer.open_game(count)
        block = seal(store.read(game))
        assert fold(None, unseal(block)).totals == table.state.totals
        compare(
            f"Replay: load and fold a game of {count} events",
            "5 times from the store, 10 from sealed bytes",
            "events/s",
            {
                "from the store            ": lambda: (
                    count / timed(lambda: fold(None, CODEC.decode_all(store.read(game))), 20)
                ),
                "from the store, and chain ": lambda: (
                    count / timed(lambda: follow(game, None, store.read(game)), 20)
                ),
                "from sealed bytes         ": lambda: count / timed(lambda: fold(None, unseal(block)), 20),
            },
            lambda: count / timed(lambda: peer.load(peer_game), 3),
        )


class Sixty:
    """A table of some sixty events at which cards are played one by one: each time the same card of the same game.

    After each move the table is a copy that has not seen it, so that every measured move loads the same sixty events.
    """

    def __init__(self, store: Store) -> None:
        self.store = store
        self.tables = new_tables(store)
        self.base = self._grow()
        self.entries = [(public, hidden) for _, public, hidden in store.read(self.base.state.game)]
        self.snapshot, after = store.load(self.base.state.game, EVERY)
        self.snapshot_seq = self.base.seq - len(after)
        self.card = distinct_cards(legal_plays(self.base.state.terms, self.hand))[0]
        self.copies = 0

    @property
    def hand(self):
        """The hand in play."""
        hand = self.base.state.hand
        assert hand is not None
        return hand

    def _grow(self) -> Table:
        plans = [SeatPlan(kind="player", player=f"p{seat}") for seat in range(4)]
        tables = self.tables
        game = tables.open(ruleset_of({"variant": "basic", "pass_count": 0}), plans).table.state.game
        from domain.commands import GetReady

        for seat in range(4):
            table = tables.handle(game, GetReady(player=f"p{seat}")).table
        while table.seq < 60:
            assert table.state.hand is not None
            card = distinct_cards(legal_plays(table.state.terms, table.state.hand))[0]
            table = tables.handle(game, PlayCard(who=f"p{table.state.hand.turn}", card=card)).table
        return table

    def fresh_games(self, count: int) -> list[str]:
        """Copies of the game under new ids, each with the snapshot that the game has."""
        cut = self.snapshot_seq
        games = [f"copy{self.copies + number}" for number in range(count)]
        self.copies += count
        for game in games:
            self.store.append(game, 0, self.entries[:cut], now=1, due=None, snapshot=self.snapshot)
            self.store.append(game, cut, self.entries[cut:], now=1, due=None)
        return games


def bench_command() -> None:
    """Load, decide and append at a game of sixty events, against the peer in memory."""
    with house_store("everysec") as store:
        sixty = Sixty(store)
        peer = PeerHouse()
        move = PlayCard(who=f"p{sixty.hand.turn}", card=sixty.card)
        batch = 200

        def cold() -> float:
            games = sixty.fresh_games(batch)
            tables = new_tables(store)
            start = time.perf_counter()
            for game in games:
                tables.handle(game, move)
            return batch / (time.perf_counter() - start)

        def cached() -> float:
            games = sixty.fresh_games(batch)
            tables = new_tables(store)
            for game in games:
                tables.load(game)
            start = time.perf_counter()
            for game in games:
                tables.handle(game, move)
            return batch / (time.perf_counter() - start)

        def in_flight() -> float:
            games = sixty.fresh_games(IN_FLIGHT * batch // 4)
            tables = new_tables(store)
            for game in games:
                tables.load(game)
            start, gate = time.perf_counter(), Barrier(IN_FLIGHT)

            def play(mine: Sequence[str]) -> None:
                gate.wait()
                for game in mine:
                    tables.handle(game, move)

            with ThreadPoolExecutor(IN_FLIGHT) as pool:
                list(pool.map(play, [games[number::IN_FLIGHT] for number in range(IN_FLIGHT)]))
            return len(games) / (time.perf_counter() - start)

        def of_peer() -> float:
            games = [peer.open_game(sixty.base.seq) for _ in range(40)]
            start = time.perf_counter()
            for game in games:
                peer.move(game, 0, "QS")
            return len(games) / (time.perf_counter() - start)

        compare(
            f"Command: load, decide and append at a game of {sixty.base.seq} events, fsync everysec, one client or {IN_FLIGHT} at a time",
            "5 times, 10 with the folded table cached, and with as many in flight",
            "moves/s",
            {"cold": cold, "cached": cached, f"cached, {IN_FLIGHT} in flight": in_flight},
            of_peer,
        )


def bench_http() -> None:
    """CPU of a move over HTTP, against a bare route."""
    with tempfile.TemporaryDirectory() as folder:
        bench_moves(Path(folder))


def bench_live() -> None:
    """What only reads, and events to listeners, over HTTP."""
    for bench in (bench_views, bench_listeners):
        with tempfile.TemporaryDirectory() as folder:
            bench(Path(folder))


def bench_audit() -> None:
    """What it costs to audit every game of a store."""
    with tempfile.TemporaryDirectory() as folder:
        bench_audits(Path(folder))


def bench_browser() -> None:
    """What the page in a browser is sent and shows, where Debian's Chromium is installed."""
    if shutil.which("chromium") is None:
        print("\nThe page: there is no chromium on the path")
        return
    with tempfile.TemporaryDirectory() as folder:
        bench_page(Path(folder))


BENCHES = {
    "replay": bench_replay,
    "command": bench_command,
    "commits": bench_commits,
    "moves": bench_http,
    "verify": bench_verify,
    "proofs": bench_proofs,
    "live": bench_live,
    "playouts": bench_playouts,
    "strength": bench_strength,
    "audit": bench_audit,
    "scale": bench_scale,
    "page": bench_browser,
    "million": bench_million,
    "age": bench_ages,
    "machines": bench_machines,
}


def main() -> None:
    """Run the benchmarks named on the command line, or all."""
    for name in sys.argv[1:] or BENCHES:
        BENCHES[name]()


if __name__ == "__main__":
    main()
