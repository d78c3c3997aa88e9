"""What is read of a store, and what should be by its log alone, for the tests of the rebuild."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from domain.bots import BOTS
from domain.commands import GetReady, SeatPlan
from domain.variants import ruleset_of
from services.cli_rebuild import rebuild
from services.codec import CODEC
from services.desks import news_of
from services.embedded import EmbeddedStore
from services.folded import follow
from services.settings import Settings
from services.summaries import STATUSES, update
from services.versions import DESKS, GAMES, Versions
from services.wiring import Services, build
from tests.support.environs import environ_of
from workers.projector import Projector

ANNA, BEN = "p000000000000000a", "p000000000000000b"
PLAYERS = [ANNA, BEN]
BURNT = b'{"n":%d,"t":"card_burnt","at":1}'
"""An event that nobody knows."""
each_kind = pytest.mark.parametrize("name", [GAMES, DESKS])
BOT = SeatPlan(kind="bot", bot=BOTS["rules"].id)


@contextmanager
def served(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """Services on a store of their own with an archive, which commands find by the environment."""
    settings = Settings(data=folder, partitions=4, fsync="everysec", archive=str(folder / "archive"))
    for name, value in environ_of(settings).items():
        monkeypatch.setenv(name, value)
    with EmbeddedStore(folder, fsync="everysec"):
        services = build(settings)
        yield services
        services.client.close()


def project(house: Services) -> Projector:
    """A projector that has folded all that there is."""
    one = Projector(house.store, house.feed, house.projections, house.clock, block_ms=1)
    one.begin()
    work_off(one)
    return one


def work_off(one: Projector) -> None:
    """Fold all that there is to fold, standings too."""
    while one.round():
        pass
    one._standings._look_at = 0.0
    one._standings.round()
    one._standings.release()


def open_table(house: Services, *players: str) -> str:
    """A table with these players, and open seats."""
    seats = [SeatPlan(kind="player", player=player) for player in players]
    seats += [SeatPlan(kind="open")] * (4 - len(players))
    return house.tables.open(ruleset_of({"variant": "basic"}), seats).table.state.game


def over(house: Services) -> str:
    """A rated game of bots that is over."""
    others = [SeatPlan(kind="bot", bot=BOTS[name].id) for name in ("rules", "random", "rules", "random")]
    table = house.tables.open(ruleset_of({"variant": "basic"}), others, chain=1, rated=True).table
    while table.state.phase != "over":
        table = house.tables.act_for_house(table.state.game)
    return table.state.game


def games_read(house: Services) -> dict[str, Any]:
    """Each game as the version that is read has it: its summary, the lists it stands in, the players it is listed for."""
    version, keys, client = house.projections.versions.live(), house.keys, house.client
    found: dict[str, Any] = {}
    for p in range(keys.partitions):
        for status in STATUSES:
            for game, score in client.zrange(keys.lobby(p, status, version), 0, -1, withscores=True):
                one = found.setdefault(game.decode(), {"listed": [], "players": []})
                one["listed"].append((status, int(score)))
        for member in client.zrange(keys.seats(p, version), 0, -1):
            player, _, game = member.decode().split(":")
            found.setdefault(game, {"listed": [], "players": []})["players"].append(player)
    pattern = keys.table("*", version).replace(f"p{keys.partition('*'):02}", "p*")
    for key in client.scan_iter(pattern):
        game = key.decode().rpartition(":")[2]
        kept = client.hget(key, "summary")
        found.setdefault(game, {"listed": [], "players": []})["summary"] = msgspec.json.decode(kept)
    return found


def games_folded(house: Services) -> dict[str, Any]:
    """The same by the log."""
    found = {}
    for game in house.store.games():
        entries = house.store.read(game)
        opened = CODEC.decode(entries[0][1]).at
        summary = update(game, follow(game, None, entries), opened).summary
        players = sorted(seat["player"] for seat in summary["seats"] if seat["player"])
        found[game] = {
            "listed": [(summary["status"], opened)],
            "players": players,
            "summary": msgspec.json.decode(msgspec.json.encode(summary)),
        }
    return found


def desks_read(house: Services, players: list[str]) -> dict[tuple[str, str], tuple[int, bool]]:
    """How each game stands on the desks of players, those that are done with left out."""
    return {
        (player, game): (place.seq, place.turn)
        for player in players
        for game, place in house.desks.read(player)[1].items()
        if not place.done
    }


def desks_folded(house: Services, players: list[str]) -> dict[tuple[str, str], tuple[int, bool]]:
    """The same by the log."""
    found = {}
    for game in house.store.games():
        table = follow(game, None, house.store.read(game))
        for one in news_of(game, table.state, table.seq, None):
            if one.player in players and not one.done:
                found[one.player, game] = (one.seq, one.turn)
    return found


def of_version(house: Services, version: int) -> list[bytes]:
    """The keys of a version that stay, in the store."""
    return [key for key in house.client.scan_iter(f"h:*:v{version}:*") if house.client.ttl(key) < 0]


def run(*words: str) -> Result:
    """The command."""
    return CliRunner().invoke(rebuild, [*words])


def told(*words: str) -> dict:
    """The report of the command."""
    return json.loads(run(*words, "--json", "--show", "1000").stdout)


def world(house: Services) -> tuple[str, str, str]:
    """A game with a free seat, one that is played and one that is over, projected."""
    waits = open_table(house, ANNA)
    plays = house.tables.open(
        ruleset_of({"variant": "basic"}),
        [SeatPlan(kind="player", player=ANNA), SeatPlan(kind="player", player=BEN), BOT, BOT],
    ).table.state.game
    for player in PLAYERS:
        house.tables.handle(plays, GetReady(player=player))
    ended = over(house)
    project(house)
    return waits, plays, ended


def versions_of(house: Services, name: str) -> Versions:
    """The versions of a projection."""
    return house.projections.versions if name == GAMES else house.desks.versions
