"""`hearts audit`: which games it takes, what it prints, and its exit status."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner, Result

from services.cli_audit import audit
from services.settings import Settings
from services.wiring import Services, build
from tests.support.audited import open_game
from tests.support.clock import Clock
from tests.support.environs import environ_of
from tests.support.tampering import change

Run = Callable[..., Result]
DAY_MS = 86_400_000


@pytest.fixture
def clock() -> Clock:
    """The time, 1 March 2026."""
    return Clock(1_772_323_200_000)


@pytest.fixture
def services(
    valkey: redis.Redis, valkey_url: str, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> Services:
    """Services on an empty store, which the command is led to by its settings."""
    settings = Settings(data=tmp_path, partitions=4, store_url=valkey_url)
    for name, value in environ_of(settings).items():
        monkeypatch.setenv(name, value)
    return build(settings, clock=clock)


@pytest.fixture
def run(services: Services) -> Run:
    """Runs `hearts audit` with these words."""
    return lambda *words: CliRunner().invoke(audit, words)


def spoil(services: Services, game: str) -> int:
    """Change who made a move in a game. Its event."""
    return change(services, game, "card_played", lambda raw: raw.replace(b'"by":"bot"', b'"by":"clock"'))


def test_games_by_name(run: Run, services: Services) -> None:
    """A line a game and a line a claim; status 1 where something is wrong, with its event."""
    good, bad = open_game(services), open_game(services, most=40)
    done = run(good)
    assert 0 == done.exit_code
    assert done.stdout.startswith(f"game {good}: holds; over, ")
    assert "  R (rules and score) holds: 1 hand checked to the last card. Level 1 of 3; " in done.stdout
    assert done.stdout.endswith("1 game holds, 0 do not\n")
    seq = spoil(services, bad)
    done = run(good, bad, good)
    assert 1 == done.exit_code
    assert f"game {bad}: DOES NOT HOLD; playing, " in done.stdout
    assert f"  R (rules and score) FAILS at event {seq}: " in done.stdout
    assert done.stdout.endswith("1 game holds, 1 do not\n")
    quiet = run(good, bad, "--quiet")
    assert good not in quiet.stdout
    assert f"game {bad}" in quiet.stdout
    assert "1 game holds, 1 do not\n" == quiet.stderr


def test_all_games(run: Run, services: Services) -> None:
    """Live and finished ones, as JSON one a line."""
    over = open_game(services)
    games = {over, open_game(services, most=40), open_game(services, most=1)}
    done = run("--all", "--json")
    bodies = [json.loads(line) for line in done.stdout.splitlines()]
    assert (0, games) == (done.exit_code, {one["game"] for one in bodies})
    assert {"over", "playing"} == {one["status"] for one in bodies}
    for one in bodies:
        assert {"game", "ok", "status", "seq", "head", "claims", "problems", "settled"} == one.keys()
        assert one["ok"] is True
    spoil(services, over)
    bodies = [json.loads(line) for line in run("--all", "--json", "-q").stdout.splitlines()]
    assert [over] == [one["game"] for one in bodies]
    assert {"check", "event", "detail"} == bodies[0]["problems"][0].keys()


def test_games_since_a_date(run: Run, services: Services, clock: Clock) -> None:
    """By their last event, in UTC; one that cannot be read is always among them."""
    old, broken = open_game(services), open_game(services)
    clock.now += DAY_MS
    new = open_game(services)
    services.client.xadd(services.keys.stream(broken), {b"p": b"x"}, id="900-0")
    said = run("--since", "2026-03-02").stdout
    assert (True, True, False) == (new in said, broken in said, old in said)
    assert old in run("--since", "2026-03-01T00:00:00").stdout
    assert new not in run("--since", "2026-03-02 00:00:01").stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "one of the three"),
        (("--all", "--since", "2026-01-01"), "one of the three"),
        (("x", "--all"), "one of the three"),
        (("--since", "yesterday"), "does not match"),
        (("nothing",), "there is no game nothing"),
        (("a\x1bb\nc",), "there is no game a\N{REPLACEMENT CHARACTER}b"),
    ],
)
def test_what_cannot_be_audited_is_status_2(run: Run, words: tuple[str, ...], told: str) -> None:
    """With a sentence on standard error."""
    done = run(*words)
    assert (2, True) == (done.exit_code, told in done.stderr), done.output


def test_no_store_is_status_2(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And nothing is said to hold."""
    monkeypatch.setenv("HEARTS_STORE_URL", f"unix://{tmp_path}/nothing")
    done = run("--all")
    assert (2, "") == (done.exit_code, done.stdout)
    assert "the store does not answer" in done.stderr


def test_an_empty_store_holds(run: Run) -> None:
    """There is nothing wrong with no games."""
    assert (0, "0 games hold, 0 do not\n") == (run("--all").exit_code, run("--all").stdout)
