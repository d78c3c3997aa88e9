"""`hearts keys` on a store that is served."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from domain.commands import SeatPlan
from domain.variants import ruleset_of
from services.cli_keys import keys as command
from services.embedded import EmbeddedStore
from services.settings import Settings
from services.wiring import build
from tests.support.environs import environ_of
from workers.projector import Projector


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """`hearts keys` on the data folder of the test."""
    for name, value in environ_of(Settings(data=tmp_path, partitions=4, fsync="everysec")).items():
        monkeypatch.setenv(name, value)
    return lambda *words: CliRunner().invoke(command, [*words])


def test_keys_are_shown_prepared_and_rotated(run: Callable[..., Result], tmp_path: Path) -> None:
    """An operator sees the keys, prepares one, turns to it, and sees that no game was left behind."""
    with EmbeddedStore(tmp_path, fsync="everysec"):
        house = build(Settings(data=tmp_path, partitions=4))
        projector = Projector(house.store, house.feed, house.projections, house.clock)
        projector.begin()
        first = house.key.public
        game = house.tables.open(ruleset_of({"variant": "basic"}), [SeatPlan(kind="open")] * 4).table
        assert f"{first}  first, current: new games name it\n" == run("show").stdout
        second = run("add").stdout.strip()
        assert [f"{first}  first, current: new games name it", second] == run("show").stdout.splitlines()
        rotated = run("rotate")
        assert f"{second} is the current key; 0 games went over to it" in rotated.stdout
        assert (1, True) == (rotated.exit_code, "rotate --resume" in rotated.stderr)
        while projector.round():
            pass
        assert "1 game in progress is signed for by an older key" in run("show").stdout
        resumed = run("rotate", "--resume")
        assert "1 game went over to it" in resumed.stdout
        assert second == house.tables.load(game.state.game).state.server_key
        assert 2 == len(run("show").stdout.splitlines())
        house.client.close()


def test_a_game_that_cannot_be_looked_at_keeps_no_other_from_the_new_key(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    """Given a game whose stream is damaged, and one whose snapshot is, then the one is told, and the other goes over."""
    with EmbeddedStore(tmp_path, fsync="everysec"):
        house = build(Settings(data=tmp_path, partitions=4))
        rules = ruleset_of({"variant": "basic"})
        games = [house.tables.open(rules, [SeatPlan(kind="open")] * 4).table.state.game for _ in range(3)]
        projector = Projector(house.store, house.feed, house.projections, house.clock)
        projector.begin()
        while projector.round():
            pass
        damaged, whole, other = games
        house.client.delete(house.keys.stream(damaged))
        house.client.xadd(house.keys.stream(damaged), {"p": "x", "s": ""}, id="1-0")
        house.client.delete(house.keys.snapshot(whole))
        house.client.rpush(house.keys.snapshot(whole), "no snapshot")
        rotated = run("rotate")
        assert "2 games went over to it" in rotated.stdout
        assert (1, True) == (rotated.exit_code, f"game {damaged}, event 1: " in rotated.stderr)
        assert "Error: 1 game could not be looked at; `hearts audit GAME` tells more" in rotated.stderr
        for game in (whole, other):
            assert house.key.public == house.tables.fold_anew(game).state.server_key
        house.client.close()
