"""`hearts players` on a store that is served."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner, Result

from domain.commands import SeatPlan
from domain.variants import ruleset_of
from services.cli_players import players
from services.settings import Settings
from services.summaries import update
from services.token_forms import MOST_TOKENS
from services.wiring import Services, build
from tests.support.environs import environ_of

Run = Callable[..., Result]


@pytest.fixture
def settings(
    tmp_path: Path, valkey: redis.Redis, valkey_url: str, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    """The settings of the commands: an empty Valkey."""
    found = Settings(data=tmp_path, store_url=valkey_url, partitions=4)
    for name, value in environ_of(found).items():
        monkeypatch.setenv(name, value)
    return found


@pytest.fixture
def house(settings: Settings) -> Iterator[Services]:
    """A running house on the same store."""
    services = build(settings)
    yield services
    services.client.close()


@pytest.fixture
def run(settings: Settings) -> Run:
    """Runs `hearts players` with some words."""
    return lambda *words, **options: CliRunner().invoke(players, words, **options)


def test_players_are_listed_by_name(run: Run, house: Services) -> None:
    """Those that have or had a token, for people and for programs; nobody else."""
    assert (0, "") == (run("list").exit_code, run("list").output)
    ids = {name: house.players.create(name)[0].id for name in ("Bo", "anna", "Zoë")}
    house.players.name("only spoken of")
    assert [f"{ids[name]}  {name}" for name in ("anna", "Bo", "Zoë")] == run("list").output.splitlines()
    assert {"id": ids["Bo"], "name": "Bo"} in json.loads(run("list", "--json").output)


def test_a_token_is_given_out(run: Run, house: Services) -> None:
    """To standard output alone, with the scopes that are named; the operator's scope is had here and nowhere else."""
    player, _ = house.players.create("Anna")
    given = run("token", player.id, "--scope", "admin", "--label", "ops", "--expires-in", "60")
    assert (0, True) == (given.exit_code, bool(re.fullmatch(r"hearts_[\w-]{43}\n", given.stdout)))
    found = house.players.by_token(given.stdout.strip())
    assert found is not None
    assert (player.id, {"admin"}) == (found.id, found.scopes)
    assert 0 < (found.expires or 0) - house.clock() <= 60_000
    usual = house.players.by_token(run("token", player.id).stdout.strip())
    assert usual is not None
    assert ({"play", "watch"}, None) == (usual.scopes, usual.expires)
    lines = run("tokens", player.id).output.splitlines()
    assert 3 == len(lines)
    assert [
        line
        for line in lines
        if re.match(r"t[0-9a-f]{16}  admin  used \d{4}-\d\d-\d\d  ends .* UTC  ops$", line)
    ]
    listed = json.loads(run("tokens", player.id, "--json").output)
    assert {"ops", ""} == {one["label"] for one in listed}


def test_a_token_is_ended(run: Run, house: Services) -> None:
    """By its id; one that is not there is told."""
    player, token = house.players.create("Anna")
    assert 0 == run("revoke", player.id, player.token).exit_code
    house.players.tokens.forget()
    assert house.players.by_token(token) is None
    again = run("revoke", player.id, player.token)
    assert (1, True) == (again.exit_code, "has no token" in again.output)


def test_a_player_is_forgotten(run: Run, house: Services) -> None:
    """Asked for beforehand; its seat in a running game is the stand-in bot's then."""
    player, token = house.players.create("Anna")
    plans = [SeatPlan(kind="player", player=player.id), *[SeatPlan(kind="open")] * 3]
    table = house.tables.open(ruleset_of({"variant": "basic", "players": 4}), plans).table
    game = table.state.game
    house.projections.write({house.keys.partition(game): [update(game, table, table.at)]})
    assert 1 == run("erase", player.id, input="n\n").exit_code
    assert house.players.by_token(token) is not None
    done = run("erase", player.id, input="y\n")
    assert (0, True) == (done.exit_code, "1 seats were given up" in done.output)
    house.players.tokens.forget()
    assert house.players.by_token(token) is None
    assert house.tables.load(game).state.seat_of(player.id) is None
    assert "" == run("list").output
    assert 0 == run("erase", player.id, "--yes").exit_code


@pytest.mark.parametrize(
    "words",
    [
        ("tokens", "p0000000000000000"),
        ("token", "nobody"),
        ("revoke", "p0000000000000000", "t0"),
        ("erase", "nobody", "--yes"),
    ],
)
def test_nobody_is_told_as_such(run: Run, words: tuple[str, ...]) -> None:
    """An id that is none: a sentence, and exit status 1."""
    done = run(*words)
    assert (1, True) == (done.exit_code, "there is no player" in done.output)


@pytest.mark.parametrize(
    "words", [("--scope", "all"), ("--expires-in", "0"), ("--label", "x" * 41), ("--label", "a\nb")]
)
def test_a_token_that_cannot_be_is_refused(run: Run, house: Services, words: tuple[str, ...]) -> None:
    """Exit status 2 and what is wrong; nothing was made."""
    player, _ = house.players.create("Anna")
    assert 2 == run("token", player.id, *words).exit_code
    assert 1 == len(house.players.tokens.all_of(player.id))


def test_too_many_tokens_are_told(run: Run, house: Services) -> None:
    """As over HTTP."""
    player, _ = house.players.create("Anna")
    for _ in range(MOST_TOKENS - 1):
        house.players.tokens.issue(player.id, ["watch"])
    done = run("token", player.id)
    assert (1, True) == (done.exit_code, f"at most {MOST_TOKENS} tokens" in done.output)


def test_a_store_that_is_away_is_told(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A sentence, and no trace of the inside."""
    monkeypatch.setenv("HEARTS_STORE_URL", f"unix://{tmp_path}/no.sock")
    done = run("list")
    assert (1, True) == (done.exit_code, "the store does not answer" in done.output)
