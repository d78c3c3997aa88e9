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
