"""The standings held to the games: whatever was changed in them by hand is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import redis

from services.keys import Keys
from services.settings import Settings
from services.standings_check import StandingsCheck, StandingsReport
from services.standings_fold import Finished, Ledger
from services.wiring import Services, build
from tests.support.audited import open_game
from tests.support.clock import Clock

NOW = 1_772_323_200_000


@pytest.fixture
def services(valkey: redis.Redis, tmp_path: Path) -> Services:
    """Services on an empty store."""
    return build(Settings(data=tmp_path, partitions=4), store=valkey, clock=Clock(NOW))


@pytest.fixture
def games(services: Services) -> list[str]:
    """Some finished games of bots, folded."""
    found = [open_game(services, hand_limit=None, variant="classic") for _ in range(3)]
    fold(services)
    return found


def fold(services: Services) -> None:
    """Fold what there is."""
    ledger = Ledger(services.client, services.keys)
    while ledger.step():
        pass


def check(services: Services) -> StandingsReport:
    """What an audit finds."""
    return StandingsCheck(services.store.wire, services.keys, services.tables.load).run()


def test_sound_standings_hold(services: Services, games: list[str]) -> None:
    """Folded to the end, or not yet, or not at all."""
    assert StandingsReport(True, 3, 1, ()) == check(services)
    open_game(services, hand_limit=None, variant="classic")
    assert StandingsReport(True, 4, 1, ()) == check(services)
    fold(services)
    assert check(services).ok


def test_an_empty_store(services: Services) -> None:
    """There is nothing to be wrong."""
    assert StandingsReport(True, 0, 0, ()) == check(services)


def _lose(services: Services, games: list[str]) -> str:
    services.client.xdel(Keys.standings_games, services.client.xrange(Keys.standings_games)[1][0])
    return f"game {games[1]} counts as entered, and is not among the finished games"


def _double(services: Services, games: list[str]) -> str:
    services.client.xadd(Keys.standings_games, services.client.xrange(Keys.standings_games)[0][1])
    return f"game {games[0]} is entered twice"


def _change(services: Services, games: list[str]) -> str:
    _, fields = services.client.xrange(Keys.standings_games)[2]
    game = msgspec.json.decode(fields[b"f"], type=Finished)
    lie = msgspec.structs.replace(game, winners=(), hands=game.hands + 1)
    services.client.xadd(Keys.standings_games, {"f": msgspec.json.encode(lie)})
    return f"game {games[2]} is entered with another hands, winners than its events say"


def _spoil(services: Services, games: list[str]) -> str:
    services.client.xadd(Keys.standings_games, {"f": "{"})
    return "of the finished games cannot be read"


def _invent(services: Services, games: list[str]) -> str:
    _, fields = services.client.xrange(Keys.standings_games)[2]
    game = msgspec.json.decode(fields[b"f"], type=Finished)
    other = msgspec.structs.replace(game, game="nosuchgame")
    services.client.xadd(Keys.standings_games, {"f": msgspec.json.encode(other)})
    return "game nosuchgame is entered, and is not in the store"


def _figure(services: Services, games: list[str]) -> str:
    key = Keys.standings_players(1)
    (who,) = services.client.hkeys(key)
    services.client.hset(key, who, services.client.hget(key, who).replace(b'"finished":3', b'"finished":4'))
    return f"what is kept of {who.decode()} is not what the finished games come to"


def _player(services: Services, games: list[str]) -> str:
    services.client.hset(Keys.standings_players(1), "p1", "{}")
    return "what is kept of p1 is not what the finished games come to"


def _board(services: Services, games: list[str]) -> str:
    services.client.zadd(Keys.standings_board(1, "basic"), {"p1": 40.5})
    return "the board of basic has p1 at 40.5, and the games say None"


@pytest.mark.parametrize("spoil", [_lose, _double, _change, _spoil, _invent, _figure, _player, _board])
def test_what_was_changed_by_hand_is_found(
    services: Services, games: list[str], spoil: Callable[[Services, list[str]], str]
) -> None:
    """Entries that are gone, doubled, changed, unreadable or invented; figures, players and boards that are."""
    told = spoil(services, games)
    report = check(services)
    assert not report.ok
    assert any(told in problem for problem in report.problems), report


def test_keys_that_are_none_of_theirs(services: Services, games: list[str]) -> None:
    """Given keys of another type, junk for a number, and a fold that there is not, then that is told, and nothing breaks off."""
    client = services.client
    for key in (
        Keys.standings_known,
        Keys.standings_games,
        Keys.standings_players(1),
        Keys.standings_board(1, "basic"),
    ):
        kept = client.dump(key)
        client.set(key, "x")
        assert any(f"the key {key} holds a string" in one for one in check(services).problems)
        client.delete(key)
        if kept is not None:
            client.restore(key, 0, kept)
    client.hset(Keys.standings_state, "live", "9")
    assert ("fold 9 is read, and there is none of this number",) == check(services).problems
    client.hset(Keys.standings_state, "live", b"\xff")
    assert not check(services).ok
    client.set(Keys.standings_state, "x")
    assert not check(services).ok


def test_a_fold_that_moves_on_meanwhile_is_followed(
    services: Services, games: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given games that are folded while the figures are read, then nothing is wrong."""
    differences = StandingsCheck._differences
    rounds = iter([True, True])

    def late(self: StandingsCheck, number: int) -> list[str]:
        if next(rounds, False):
            open_game(services, hand_limit=None, variant="classic")
            fold(services)
        return differences(self, number)

    monkeypatch.setattr(StandingsCheck, "_differences", late)
    assert StandingsReport(True, 5, 1, ()) == check(services)


def test_a_fold_of_another_version_is_left_alone(services: Services, games: list[str]) -> None:
    """What a program keeps that folds in another way is not judged by this one."""
    services.client.hset(Keys.standings_state, "v:1", 99)
    assert check(services).ok
