"""`hearts parked`: games that cannot be folded are listed, shown, tried again and left alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import pytest
from click.testing import CliRunner, Result

from domain.commands import SeatPlan
from domain.variants import ruleset_of
from services.cli_parked import parked_group
from services.embedded import EmbeddedStore
from services.settings import Settings
from services.supervise import Stop
from services.wiring import Services, build
from tests.support.environs import environ_of
from workers import projector as module
from workers.projector import Projector

BURNT = b'{"n":%d,"t":"card_burnt","at":1}'


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    """A house on a store of the test, which the command finds by the environment."""
    settings = Settings(data=tmp_path, partitions=4, fsync="everysec")
    for name, value in environ_of(settings).items():
        monkeypatch.setenv(name, value)
    with EmbeddedStore(tmp_path, fsync="everysec"):
        services = build(settings)
        yield services
        services.client.close()


def run(*words: str) -> Result:
    """The command."""
    return CliRunner().invoke(parked_group, [*words])


def projector(house: Services) -> Projector:
    """A projector that has begun."""
    one = Projector(house.store, house.feed, house.projections, house.clock, block_ms=1)
    one.begin()
    return one


def work_off(one: Projector) -> None:
    """Fold all that there is to fold."""
    while one.round():
        pass


def table(house: Services) -> str:
    """A table that waits for somebody."""
    return house.tables.open(ruleset_of({"variant": "basic"}), [SeatPlan(kind="open")] * 4).table.state.game


def burnt(house: Services) -> str:
    """A table whose second event nobody knows; it was set aside for that, and another one was not."""
    game, good = table(house), table(house)
    house.client.xadd(house.keys.stream(game), {"p": BURNT % 2}, id="2-0")
    work_off(projector(house))
    assert [game] == [*house.projections.parked()]
    assert house.projections.seqs([good])[good]
    return game


def test_none_is_set_aside(house: Services) -> None:
    """Nothing to list, and nothing to try."""
    table(house)
    work_off(projector(house))
    listed = run("list")
    assert (0, "no game is set aside\n", "") == (
        listed.exit_code,
        listed.output,
        run("list", "--json").output,
    )
    assert 2 == run("show", "nothing").exit_code
    for words in (("retry", "nothing"), ("skip", "nothing")):
        told = run(*words)
        assert (1, True) == (told.exit_code, "game nothing is not set aside" in told.stderr)
    assert 0 == run("retry", "--all").exit_code
    assert [2, 2] == [run("retry", *words).exit_code for words in ((), ("a", "--all"))]


def test_a_game_with_an_event_that_nobody_knows(house: Services) -> None:
    """It is listed with the reason, and shown with the event as it is stored."""
    game = burnt(house)
    listed = run("list")
    assert 1 == listed.exit_code
    assert listed.output.startswith(f"{game}  projected to 0 of ")
    assert all(word in listed.output for word in ("tried once", "card_burnt"))
    one = json.loads(run("list", "--json").output)
    assert (game, 0, 1, False, False) == tuple(
        one[name] for name in ("game", "projected", "times", "ended", "skipped")
    )
    shown = run("show", game)
    assert 0 == shown.exit_code
    for words in (
        "events 1 to 1 can be folded",
        "event 2 cannot: ",
        'stored as {"n":2,"t":"card_burnt","at":1}',
    ):
        assert words in shown.output


def test_what_cannot_be_shown_safely_is_not(house: Services) -> None:
    """Given a game at which the projector ended, then it is not folded here; one without a stream; one that is whole."""
    game = burnt(house)
    one = house.projections.parked()[game]
    house.projections.park({game: module.Parked(seq=one.seq, why="x\x1b[2J", times=3, at=one.at, ended=True)})
    shown = run("show", game)
    assert "The projector ended" in shown.output
    assert "\x1b" not in shown.output
    assert "the projector ended" in run("list").output
    house.projections.park({game: one})
    house.client.xdel(house.keys.stream(game), "2-0")
    assert "this version folds all of its 1 events" in run("show", game).output
    house.client.delete(house.keys.stream(game))
    assert "its stream is not in the store" in run("show", game).output
    asked = run("retry", game)
    assert (1, True) == (asked.exit_code, f"there is no game {game}" in asked.stderr)


def test_it_is_tried_again(house: Services) -> None:
    """Given what was wrong is mended, then it is folded; before that it is set aside again, and without a projector nothing comes of it."""
    game = burnt(house)
    assert "no projector has tried it yet" in run("retry", game, "--wait", "0").output
    stop = Stop()
    one = projector(house)
    thread = Thread(target=one.run, args=(stop,))
    thread.start()
    try:
        again = run("retry", game, "--wait", "30")
        assert (1, True) == (again.exit_code, f"game {game}: set aside again: " in again.output)
        house.client.xdel(house.keys.stream(game), "2-0")
        mended = run("retry", "--all", "--wait", "30")
        # an earlier pointer at it may have been read behind the mending, so that none is left to be tried
        assert mended.output in (f"game {game}: folded\n", "")
        assert 0 == mended.exit_code
    finally:
        stop.set()
        thread.join()
    assert (1, {}) == (house.projections.seqs([game])[game], house.projections.parked())


def test_it_is_left_alone(house: Services) -> None:
    """No restart tries a skipped game, no alarm counts it; it stays listed, and `retry` takes it back."""
    game = burnt(house)
    assert any("hearts parked list" in one for one in house.warnings())
    assert (0, f"game {game} is left alone\n") == ((told := run("skip", game)).exit_code, told.output)
    assert [] == [one for one in house.warnings() if "parked" in one]
    tried = house.projections.parked()[game].times
    work_off(projector(house))
    assert (tried, True) == ((one := house.projections.parked()[game]).times, one.skipped)
    listed = run("list")
    assert (0, True) == (listed.exit_code, "left alone" in listed.output)
    assert not house.auditor.audit(game).ok
    assert 0 == run("retry", game).exit_code
    work_off(projector(house))
    assert not house.projections.parked()[game].skipped


@pytest.mark.parametrize("kept", ["skipped", "ended"])
def test_another_fold_drains_what_was_set_aside(
    house: Services, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    """Given games that one version of the fold failed at, when another begins, then each is tried once more, oldest first."""
    games = [table(house) for _ in range(3)]
    fold, folded = module.follow, list[str]()

    def broken(*_: object) -> None:
        raise ZeroDivisionError("a fault of this version")

    monkeypatch.setattr(module, "follow", broken)
    work_off(projector(house))
    for place, (game, one) in enumerate(sorted(house.projections.parked().items())):
        marks = {"skipped": kept == "skipped", "ended": kept == "ended"}
        house.projections.park(
            {game: module.Parked(seq=one.seq, why=one.why, times=9, at=100 - place, fold=one.fold, **marks)}
        )
    projector(house)
    assert sorted(games) == sorted(house.projections.parked())

    def noted(game: str, *rest: object) -> object:
        folded.append(game)
        return fold(game, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "follow", noted)
    monkeypatch.setattr(module, "fold_hash", lambda: b"another")
    projector(house)
    assert sorted(games, reverse=True) == folded
    assert {} == house.projections.parked()


def test_a_store_that_is_away(run_away: Callable[[], Result]) -> None:
    """The list cannot be had: status 2."""
    told = run_away()
    assert (2, True) == (told.exit_code, "does not answer" in told.stderr)


@pytest.fixture
def run_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Result]:
    """The command where no store is."""
    for name, value in environ_of(Settings(data=tmp_path, partitions=4)).items():
        monkeypatch.setenv(name, value)
    return lambda: run("list")
