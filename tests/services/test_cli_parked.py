"""`hearts parked`: games that cannot be folded are listed, shown, tried again and left alone."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from domain.commands import SeatPlan
from domain.variants import ruleset_of
from services import cli_parked
from services.cli_parked import parked_group
from services.embedded import EmbeddedStore
from services.folded import Table
from services.overview import skip_parked
from services.settings import Settings
from services.snapshot import fold_hash
from services.supervise import Stop
from services.wire import Wire
from services.wiring import Services, build
from tests.support.environs import environ_of
from workers import projector as module
from workers.projector import AGAIN, MOST_TRIES, Projector

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
    assert listed.output.startswith(f"{game}  projected to 0 of 2, tried once")
    assert all(word in listed.output for word in ("tried once", "card_burnt"))
    one = json.loads(run("list", "--json").output)
    assert (game, 0, 1, False, False) == tuple(
        one[name] for name in ("game", "projected", "times", "ended", "skipped")
    )
    shown = run("show", game)
    assert 0 == shown.exit_code
    for words in (
        "events 1 to 1 can be folded: basic at 4 seats, phase seats",
        "event 2 cannot be: ",
        'event 2 is stored as {"n":2,"t":"card_burnt","at":1}\n',
        f"hearts parked retry {game}",
        f"hearts parked skip {game}",
    ):
        assert words in shown.output


def test_bytes_that_are_no_text(house: Services) -> None:
    """They are shown by their numbers, so that nothing of them is lost, and what steers a terminal is not; long ones are cut."""
    game = table(house)
    house.client.xadd(house.keys.stream(game), {"p": b"\xff\x1b[2J" + b"x" * 999}, id="2-0")
    work_off(projector(house))
    shown = run("show", game).output
    assert "event 2 is stored as \\xff\N{REPLACEMENT CHARACTER}[2Jxxx" in shown
    assert "xxx ...\n" in shown


def test_how_far_the_log_goes(house: Services) -> None:
    """Given the log went on since the game was tried, then it is told as it is now; without a stream, as nothing."""
    game = burnt(house)
    house.client.xadd(house.keys.stream(game), {"p": BURNT % 3}, id="3-0")
    assert f"{game}  projected to 0 of 3, " in run("list").output
    one = json.loads(run("list", "--json").output)
    assert (1, 3) == (one["seq"], one["last"])
    house.client.delete(house.keys.stream(game))
    assert 0 == json.loads(run("list", "--json").output)["last"]
    house.client.set(house.keys.stream(game), "no stream")
    assert (1, 0) == ((told := run("list", "--json")).exit_code, json.loads(told.output)["last"])
    assert "its stream cannot be read at event 1" in run("show", game).output
    asked = run("retry", game)
    assert (1, True) == (asked.exit_code, "it is no stream" in asked.stderr)
    assert 0 == run("skip", game).exit_code


def test_what_cannot_be_shown_safely_is_not(house: Services) -> None:
    """Given a game at which the projector ended, then it is not folded here; one without a stream; one that is whole."""
    game = burnt(house)
    one = house.projections.parked()[game]
    house.projections.park({game: module.Parked(seq=one.seq, why="x\x1b[2J", times=3, at=one.at, ended=True)})
    shown = run("show", game)
    assert "the projector ended while it folded this game, so it is not folded here" in shown.output
    assert 'event 1 is stored as {"' in shown.output
    assert "\x1b" not in shown.output
    assert "the projector ended" in run("list").output
    house.projections.park({game: one})
    house.projections.park({game: module.Parked(seq=one.seq, why="x", times=1, at=1, skipped=True)})
    assert "parked skip" not in run("show", game).output
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
    assert "to be tried again" in run("list").output
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


@pytest.mark.parametrize("ends", ["folded", "the projector ended"])
def test_a_try_that_is_being_made(house: Services, monkeypatch: pytest.MonkeyPatch, ends: str) -> None:
    """Given a game is marked as ending the projector while it is tried, then that is waited out, and believed where it lasts."""
    game = burnt(house)
    asked, now = iter(range(2)), [0.0]

    class Steps:
        """A projector marks the game, and then folds it, or is dead and the time is over."""

        def wait(self, _: float) -> None:
            if not next(asked):
                house.projections.park({game: module.Parked(seq=1, why=ends, times=2, at=2, ended=True)})
            elif ends == "folded":
                house.projections.take_back(game)
            else:
                now.append(61.0)

    monkeypatch.setattr(cli_parked, "Event", Steps)
    monkeypatch.setattr(cli_parked, "time", SimpleNamespace(monotonic=lambda: now[-1]))
    told = run("retry", game, "--wait", "60")
    expected = (0, "folded") if ends == "folded" else (1, f"set aside again: {ends}")
    assert (expected[0], f"game {game}: {expected[1]}\n") == (told.exit_code, told.output)
    assert [] == [*asked]


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


def test_new_events_of_a_game_that_is_left_alone(house: Services) -> None:
    """They do not have it tried, whatever it did to the projector; what came meanwhile is folded when it is tried again."""
    game = burnt(house)
    run("skip", game)
    house.client.xdel(house.keys.stream(game), "2-0")  # a try would go well now
    house.feed.point(game, 2)
    one = projector(house)
    work_off(one)
    mark = house.projections.parked()[game]
    assert (1, True, 0) == (mark.times, mark.skipped, house.projections.lag())
    run("retry", game)
    work_off(one)
    assert ({}, 1) == (house.projections.parked(), house.projections.seqs([game])[game])


def test_a_game_that_ended_the_projector_too_often(house: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a restart nor new events have it tried; an operator does, once, and alone."""
    game = table(house)
    one = module.Parked(seq=1, why="x", times=MOST_TRIES, at=1, ended=True, fold=fold_hash().hex())
    house.projections.park({game: one})
    tried = list[str]()

    class Killed(BaseException):
        """The end of a process."""

    def fatal(game: str, *_: object) -> None:
        tried.append(game)
        raise Killed

    monkeypatch.setattr(module, "follow", fatal)
    work_off(projector(house))
    assert ([], {game: one}) == (tried, house.projections.parked())
    assert 0 == run("retry", game).exit_code
    with pytest.raises(Killed):
        work_off(projector(house))
    mark = house.projections.parked()[game]
    assert (MOST_TRIES + 1, True, False) == (mark.times, mark.ended, mark.asked)
    work_off(projector(house))
    assert [game] == tried


def test_a_mark_that_changes_while_it_is_read(house: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a projector folds the game, or fails at it again, between the look at its mark and the change of it."""
    game, later = burnt(house), module.Parked(seq=7, why="later", times=2, at=9)
    run_script, changes = Wire.run, [lambda: house.projections.park({game: later}), lambda: None]

    def late(wire: Wire, *words: Any) -> Any:
        changes.pop(0)()
        return run_script(wire, *words)

    monkeypatch.setattr(Wire, "run", late)
    assert skip_parked(house, game)
    assert ("later", True) == ((mark := house.projections.parked()[game]).why, mark.skipped)
    changes += [lambda: house.projections.take_back(game)]
    assert not skip_parked(house, game)
    assert {} == house.projections.parked()


@pytest.mark.parametrize("kept", ["failed", "skipped", "ended"])
def test_another_fold_drains_what_was_set_aside(
    house: Services, monkeypatch: pytest.MonkeyPatch, kept: str
) -> None:
    """Given a fold that fails at some games, then the others go on; the mended one tries those once, oldest first."""
    bad, good = [table(house) for _ in range(AGAIN + 2)], [table(house) for _ in range(3)]
    fold, folded = module.follow, list[str]()

    def broken(game: str, *rest: Any) -> Table:
        if game in bad:
            raise ZeroDivisionError("a fault of this version")
        return fold(game, *rest)

    def mended(game: str, *rest: Any) -> Table:
        folded.append(game)
        return fold(game, *rest)

    monkeypatch.setattr(module, "follow", broken)
    work_off(projector(house))
    aside = house.projections.parked()
    assert (sorted(bad), [1] * 3) == (sorted(aside), [*house.projections.seqs(good).values()])
    for place, game in enumerate(bad):
        mark = {"at": 1000 - place, "times": 9, "skipped": kept == "skipped", "ended": kept == "ended"}
        house.projections.park({game: msgspec.structs.replace(aside[game], **mark)})
    work_off(projector(house))
    assert set(bad) == {*house.projections.parked()}

    monkeypatch.setattr(module, "follow", mended)
    monkeypatch.setattr(module, "fold_hash", lambda: b"another")
    if kept == "failed":  # the last start has tried them once more, all at about the same time
        bad = sorted(bad, key=lambda game: (house.projections.parked()[game].at, game), reverse=True)
    another = projector(house)
    late = table(house)
    work_off(another)
    assert [*reversed(bad), late] == [game for game in folded if game not in good]
    assert {} == house.projections.parked()
    assert 0 == house.projections.lag()


def test_another_fold_that_fails_as_well(house: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a skipped game, then a fold of another version tries it once, however often it is begun, and it stays skipped."""
    game = burnt(house)
    run("skip", game)
    monkeypatch.setattr(module, "fold_hash", lambda: b"another")
    for _ in range(2):
        work_off(projector(house))
        mark = house.projections.parked()[game]
        assert (1, True, b"another".hex()) == (mark.times, mark.skipped, mark.fold)
    assert 0 == run("list").exit_code


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
