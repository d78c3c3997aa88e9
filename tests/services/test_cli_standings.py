"""`hearts leaderboard` on a store that is served."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from domain.bots import BOTS
from domain.commands import SeatPlan
from domain.variants import ruleset_of
from services.cli_standings import leaderboard
from services.settings import Settings
from services.standings_fold import Ledger
from services.summaries import update
from services.wiring import Services, build
from tests.support.environs import environ_of
from tests.support.finished import finished

SEATS = [SeatPlan(kind="bot", bot=BOTS[name].id) for name in ("rules", "random", "rules", "random")]


@pytest.fixture
def house(valkey, valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Services:
    """Services on the store that the command finds, too."""
    settings = Settings(data=tmp_path, store_url=valkey_url, partitions=4)
    for name, value in environ_of(settings).items():
        monkeypatch.setenv(name, value)
    return build(settings)


def said(*words: str) -> str:
    """What the command prints."""
    result = CliRunner().invoke(leaderboard, words)
    assert result.exit_code == 0, result.output
    return result.output


def test_who_leads(house: Services) -> None:
    """A line each, the best first, names as they may stand on a terminal."""
    assert "nobody has finished a rated game of basic yet\n" == said()
    anna = house.players.name("Anna")
    ledger = Ledger(house.client, house.keys)
    ledger.enter([finished(f"g{n}", [1, 2, 3], who=[anna, "bot:rules@1", "p1"]) for n in range(2)])
    while ledger.step():
        pass
    lines = said("--family", "standard").splitlines()
    assert 3 == len(lines)
    assert ["1", "Anna"] == [lines[0].split()[0], lines[0].split()[-1]]
    assert "2 games      2 won    0.12 a hand (0.12 to 0.12)" in lines[0]
    assert lines[1].endswith("bot:rules@1")
    assert 1 == len(said("--family", "standard", "--limit", "1").splitlines())


def test_made_anew_with_the_games_that_were_missing(house: Services) -> None:
    """Given a store whose games ended before there were standings, then they are entered in the order they ended."""
    for number in range(3):
        table = house.tables.open(ruleset_of({"variant": "basic"}), SEATS, chain=1, rated=True).table
        while table.state.phase != "over":
            table = house.tables.act_for_house(table.state.game)
        one = update(table.state.game, table, number)
        house.projections.write({house.keys.partition(table.state.game): [one]})
    assert "fold 1 begins; 3 finished games were not in the list before\n" == said("--rebuild")
    ledger = Ledger(house.client, house.keys)
    while ledger.step():
        pass
    before = house.standings.standing("bot:rules@1")
    assert 3 == before.finished
    assert "fold 2 begins; 0 finished games were not in the list before\n" == said("--rebuild")
    while ledger.step():
        pass
    assert (2, before) == (house.standings.fold(), house.standings.standing("bot:rules@1"))
