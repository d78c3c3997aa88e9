"""Houses for tests of backups: what is copied, and what is looked at in a copy."""

from __future__ import annotations

from pathlib import Path

import msgspec
from click.testing import CliRunner, Result

from domain import commands as c
from domain.bots import house_move
from domain.game import to_act
from domain.variants import ruleset_of
from services.backup import write_backup
from services.cli_audit import audit
from services.cluster import Client
from services.once import Key
from services.restore import restore_backup
from services.settings import Settings
from services.standings_fold import Ledger
from services.tables import Outcome
from services.wiring import Services, build, now_ms
from tests.support.audited import BOT
from tests.support.environs import environ_of
from workers.projector import Projector

NOT_TOLD: list[str] = []
"""What is told where nothing is wrong."""


def settings_in(folder: Path, url: str = "") -> Settings:
    """A house in a folder, archive included, on the store at an address or its own one."""
    return Settings(
        data=folder, partitions=4, fsync="everysec", store_url=url, archive=str(folder / "archive")
    )


def project_all(house: Services) -> None:
    """Fold whatever the feeds point at, and the standings."""
    projector = Projector(house.store, house.feed, house.projections, house.clock, block_ms=0, stale_ms=0)
    projector.begin()
    while projector.round():
        pass
    ledger = Ledger(house.store.wire, house.keys)
    while ledger.step():
        pass


def open_with(house: Services, player: str) -> str:
    """A game of a person and three bots, in which it is the person's turn."""
    seats = [c.SeatPlan(kind="player", player=player), BOT, BOT, BOT]
    game = house.tables.open(ruleset_of({"variant": "standard", "hand_limit": 1}), seats).table.state.game
    house.tables.handle(game, c.GetReady(at=0, player=player))
    house.tables.act_for_house(game)
    return game


def move_of(house: Services, game: str, player: str) -> c.AnyCommand:
    """What a bot would do for the person whose turn it is."""
    table = house.tables.load(game)
    return msgspec.structs.replace(house_move(table.state, to_act(table.state)[0], table.at), who=player)


def move(house: Services, game: str, player: str, key: Key | None = None) -> Outcome:
    """Move for the person, and the bots after that."""
    outcome = house.tables.handle(game, move_of(house, game, player), key=key)
    house.tables.act_for_house(game)
    return outcome


def play_out(house: Services, game: str, player: str) -> None:
    """Play a game to its end."""
    while house.tables.load(game).state.phase != "over":
        move(house, game, player)


def filled(place: Settings, client: Client, file: Path) -> Services:
    """The other house, filled from the copy, without a word of anything wrong, and projected."""
    told: list[str] = []
    restore_backup(place, client, file, now_ms, told.append)
    assert NOT_TOLD == told
    services = build(place)
    project_all(services)
    return services


def audited(place: Settings) -> Result:
    """`hearts audit --all` there."""
    return CliRunner().invoke(audit, ["--all", "-q"], env=environ_of(place))


def saved(house: Services, file: Path) -> list[str]:
    """The house copied to the file; what was told of it."""
    told: list[str] = []
    write_backup(house, file, told.append)
    return told
