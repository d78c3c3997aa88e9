"""Servers die and partitions move while games are played over HTTP: what was acknowledged is kept, and the games go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import httpx
import msgspec
import pytest

from api.answered import Table
from api.bot import HttpBot
from api.client import PATIENT, Client
from api.following import Follower
from services.cluster import slot_of
from services.settings import Settings
from services.store import StoreUnavailable
from services.wiring import Services, build
from tests.support.house import Up, until, up
from tests.support.places import Place, place
from tests.support.servers import Nodes, Replicated

SEATS = ["me", {"bot": "rules"}, {"bot": "random"}, {"bot": "rules"}]
GAMES = 2
SMALL = {"HEARTS_BOT_WORKERS": "1", "HEARTS_AUDIT_WORKERS": "0"}


class Recording(httpx.BaseTransport):
    """A connection that keeps the receipt of every command that was acknowledged."""

    def __init__(self) -> None:
        self._inner = httpx.HTTPTransport()
        self.receipts: list[tuple[str, int, str]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Pass it on."""
        response = self._inner.handle_request(request)
        if request.method == "POST" and "/games" in request.url.path:
            if response.is_success:
                told = msgspec.json.decode(response.read())["receipt"]
                self.receipts.append((told["game"], told["seq"], told["head"]))
            elif response.status_code == 503:
                assert response.headers["Retry-After"]
        return response

    def close(self) -> None:
        """Close it."""
        self._inner.close()


def choose(table: Table) -> str | list[str]:
    """The first that is legal."""
    if table.phase == "moon":
        return "add"
    if table.phase == "pass":
        return table.hand.split()[: table.rules["pass_count"]]
    return table.legal.split()[0]


@contextmanager
def house(one: Place, folder: Path) -> Iterator[tuple[Up, Services]]:
    """A house on a store, and its services beside it."""
    with up(folder / "data", **one.environ, **SMALL) as running:
        services = build(Settings.from_environ(one.environ | {"HEARTS_DATA": str(running.data)}))
        yield running, services
        services.client.close()


def play_through(one: Place, folder: Path, accident: Callable[[Services, list[str]], None]) -> Recording:
    """Play games to their ends, let something happen in the middle, and see that nothing acknowledged was lost."""
    record, halfway = Recording(), Event()

    def decide(table: Table) -> str | list[str]:
        if table.hand_number == 2:
            halfway.set()
        return choose(table)

    waits = [min(wait, 0.3) for wait in PATIENT for _ in range(12)]
    with house(one, folder) as (running, services), ThreadPoolExecutor(1) as thread:
        with Client(running.url, transport=record, waits=waits) as client:
            client.new_player("Bot")
            games = [client.open_table("basic", SEATS, {"hand_limit": 2}).id for _ in range(GAMES)]
            bot = HttpBot(client, decide, follower=Follower(client, chance=lambda: 1.0))
            playing = thread.submit(bot.play, GAMES)
            assert halfway.wait(60)
            accident(services, games)
            playing.result(120)
        until(lambda: is_folded(services))
        assert ["over"] * GAMES == [told["status"] for told in services.projections.tables(games)]
        assert {} == services.projections.parked()
        for game, seq, head in record.receipts:
            assert services.tables.at(game, seq).head.hex() == head
        for game in games:
            report = services.auditor.audit(game)
            assert () == tuple(report.problems)
            assert "holds" == {claim.name: claim.status for claim in report.claims}["R"]
        until(lambda: httpx.get(f"{running.url}/readyz").status_code == 200)
    assert len(record.receipts) >= GAMES * 26
    return record


def is_folded(services: Services) -> bool:
    """Whether the read models have everything."""
    return services.feed.lag("projector") == 0


def test_the_primary_dies_behind_sentinels(tmp_path: Path) -> None:
    """Given a primary killed in the middle of games, then Sentinels name another one, and the games go on there."""
    with place("sentinel", tmp_path / "servers", replicas=2) as one:
        assert isinstance(one.store, Replicated)
        store = one.store

        def accident(services: Services, games: list[str]) -> None:
            store.primary.kill()
            with pytest.raises(StoreUnavailable):
                services.store.last(games[0])
            until(lambda: store.now_primary() is not store.primary)

        play_through(one, tmp_path, accident)


def test_a_node_of_the_cluster_dies(tmp_path: Path) -> None:
    """Given the node of a game killed, then its replica goes on with it when that has a replica itself."""
    with place("cluster", tmp_path / "servers") as one:
        assert isinstance(one.store, Nodes)
        nodes = one.store

        def accident(services: Services, games: list[str]) -> None:
            dying = nodes.holder(services.keys.stream(games[0]))
            dying.kill()
            with pytest.raises(StoreUnavailable):
                services.store.last(games[0])
            until(lambda: holder_or_none(nodes, services.keys.stream(games[0])))
            dying.start()

        play_through(one, tmp_path, accident)


def holder_or_none(nodes: Nodes, key: str) -> object:
    """Who has the slot of a key, none where nobody has it now."""
    try:
        return nodes.holder(key)
    except AssertionError:
        return None


def test_partitions_move_between_nodes(tmp_path: Path) -> None:
    """Given slots that are carried to other nodes in the middle of games, then no game stops, and none is split."""
    with place("cluster", tmp_path / "servers", replicas=0) as one:
        assert isinstance(one.store, Nodes)
        nodes = one.store

        def accident(services: Services, games: list[str]) -> None:
            for key in {services.keys.feed(services.keys.partition(game)): game for game in games}:
                source = nodes.holder(key)
                target = next(node for node in nodes.primaries if node is not source)
                nodes.open_move(slot_of(key), source, target)
                nodes.close_move(slot_of(key), source, target)
                assert nodes.holder(key) is target

        play_through(one, tmp_path, accident)
