"""The same house on one server, behind Sentinels and on a cluster: whole games over HTTP, kept, folded and audited."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from api.answered import Table
from api.bot import HttpBot
from api.client import Client
from services.settings import Settings
from services.wiring import build
from tests.support.auditing import HEARTS, process_environ
from tests.support.house import until, up
from tests.support.places import KINDS, Place, place


@pytest.fixture(scope="session", params=KINDS)
def somewhere(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A store of each kind in turn, which nothing happens to."""
    with place(request.param, tmp_path_factory.mktemp(request.param) / "servers") as one:
        yield one


COMMANDS = (
    ("audit", "--all"),
    ("log", "verify"),
    ("players", "list"),
    ("leaderboard",),
    ("parked", "list"),
    ("archive", "run", "--hours", "0"),
    ("audit", "--all", "--jobs", "1"),
)
"""What an operator asks of a store, whatever kind it is."""


def choose(table: Table) -> str | list[str]:
    """The first that is legal."""
    if table.phase == "moon":
        return "add"
    if table.phase == "pass":
        return table.hand.split()[: table.rules["pass_count"]]
    return table.legal.split()[0]


def test_a_house_on_each_kind_of_store(somewhere: Place, tmp_path: Path) -> None:
    """Given players over HTTP and bots, when they play, then each game is over, projected, listed and audited as it must."""
    seats = ["me", {"bot": "rules"}, {"bot": "random"}, {"bot": "rules"}]
    environ = somewhere.environ | {"HEARTS_ARCHIVE": str(tmp_path / "archive")}
    with up(tmp_path / "data", **environ) as house, Client(house.url) as client:
        client.new_player("Bot")
        games = [client.open_table("basic", seats, {"hand_limit": 1}).id for _ in range(2)]
        HttpBot(client, choose).play(2)
        ready = httpx.get(f"{house.url}/readyz").raise_for_status().json()
        assert ready["ready"]
        settings = Settings.from_environ(environ | {"HEARTS_DATA": str(house.data)})
        services = build(settings)
        until(lambda: services.feed.lag("projector") == 0)
        assert ["over"] * 2 == [one["status"] for one in services.projections.tables(games)]
        assert set(games) <= set(services.store.games())
        for game in games:
            report = services.auditor.audit(game)
            assert () == tuple(report.problems)
            assert "holds" == {claim.name: claim.status for claim in report.claims}["R"]
        services.client.close()
        for words in COMMANDS:
            done = subprocess.run(
                [HEARTS, *words], env=process_environ(settings), capture_output=True, text=True, check=False
            )
            assert 0 == done.returncode, (words, done.stdout, done.stderr)
        assert 0 == house.stop()
