"""Keys and lists of a store that nobody of the house has written, or not there: each is found, and a house at work has none."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis
from click.testing import CliRunner

from services import keyscheck
from services.cli_audit import audit
from services.keys import Keys
from services.keyscheck import KeysCheck, KeysReport
from services.settings import Settings
from services.wiring import Services, build
from tests.support.audited import PERSON, open_game
from tests.support.environs import environ_of

GHOST = "f" * 24


@pytest.fixture
def services(
    valkey: redis.Redis, valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Services:
    """Services on an empty store, which commands are led to by its settings."""
    settings = Settings(data=tmp_path, partitions=4, store_url=valkey_url)
    for name, value in environ_of(settings).items():
        monkeypatch.setenv(name, value)
    return build(settings)


@pytest.fixture
def game(services: Services) -> str:
    """A finished game, beside one that goes on."""
    open_game(services, PERSON, most=1)
    return open_game(services)


def check(services: Services) -> KeysReport:
    """What is found."""
    return KeysCheck(services.store.wire, services.keys).run()


def test_a_house_at_work_is_in_order(services: Services, game: str) -> None:
    """With players, tokens, keys of idempotency and standings."""
    report = check(services)
    assert (True, ()) == (report.ok, report.problems)
    assert report.keys > 10


def tampered(k: Keys, g: str) -> list[tuple[tuple[str | bytes | int, ...], str]]:
    """What somebody may write into a store that has a game, each with words of what is told of it."""
    elsewhere = (k.partition(g) + 1) % k.partitions
    unknown = f"lists {GHOST}, and there is no such game"
    return [
        (("SET", "h:nonsense", "x"), "there is a key h:nonsense, which nobody of this house writes"),
        (("SET", b"h:{p00}:g:\xff\xfe", "x"), r"there is a key h:{p00}:g:\xff\xfe, which nobody"),
        (("LPUSH", k.parked(1), "x"), "the key h:{p01}:parked holds a list, and should hold a hash"),
        (("ZADD", "h:{p09}:due", 1, "x"), "the key h:{p09}:due is of no partition"),
        (
            ("ZADD", "h:{p01}:lobby:won", 1, "x"),
            "the key h:{p01}:lobby:won is of no partition, or of no status",
        ),
        (("SET", k.snapshot(GHOST), "x"), f"and no game {GHOST}"),
        (("HSET", k.table(GHOST), "x", "x"), f"and no game {GHOST}"),
        (
            ("XADD", f"h:{{p{elsewhere:02}}}:g:{g}", "1-0", "p", "x"),
            "is in a wrong partition: the house looks at h:{p",
        ),
        (("ZADD", k.lobby(2, "over"), 1, GHOST), f"lobby:over {unknown}"),
        (("ZADD", k.lobby(elsewhere, "over"), 1, g), "which belongs to another partition"),
        (("ZADD", k.due(0), 1, GHOST), f"h:{{p00}}:due {unknown}"),
        (("ZADD", k.finished(0), 1, GHOST), f"h:{{p00}}:finished {unknown}"),
        (
            ("ZADD", k.seats(k.partition(g)), 0, f"p1:0000000000001:{g}"),
            "and that player is not at the table",
        ),
        (("ZADD", k.seats(k.partition(g)), 0, g), "and that player is not at the table"),
        (("SET", k.lobby(elsewhere, "open"), "x"), "holds a string, and should hold a zset"),
    ]


@pytest.mark.parametrize("which", range(len(tampered(Keys(4), GHOST))))
def test_what_was_written_by_hand_is_found(services: Services, game: str, which: int) -> None:
    """And told by `hearts audit --all`, which looks at the games all the same."""
    command, words = tampered(services.keys, game)[which]
    key = command[1]
    if command[0] in ("SET", "LPUSH"):
        services.client.delete(key)
    services.client.execute_command(*command)
    report = check(services)
    assert not report.ok
    assert [True] == [words in problem for problem in report.problems], report.problems
    done = CliRunner().invoke(audit, ["--all"])
    assert done.exit_code in (1, 2), done.output
    assert words in done.stdout
    assert f"game {game}: " in done.stdout


def test_of_many_problems_some_are_told(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """And how many more there are."""
    monkeypatch.setattr(keyscheck, "MOST_TOLD", 3)
    for number in range(7):
        services.client.set(f"h:nonsense:{number}", "x")
    assert "and 4 more" == check(services).problems[-1]


@pytest.mark.parametrize("key", [Keys.server_key, Keys.partitions_key])
def test_an_audit_writes_nothing(services: Services, game: str, key: str) -> None:
    """Given that the store's own mark was taken away, then it says so, and does not put it back."""
    services.client.delete(key)
    done = CliRunner().invoke(audit, [game])
    assert (2, 0) == (done.exit_code, services.client.exists(key))
    assert f"the store has games, and {key} is gone from it" in done.stderr


@pytest.mark.parametrize(
    ("key", "words"),
    [(Keys.server_key, "are proved by the server key"), (Keys.partitions_key, "should hold a number")],
)
def test_marks_that_cannot_be_read(services: Services, game: str, key: str, words: str) -> None:
    """They are told in a sentence."""
    services.client.set(key, b"\xff")
    done = CliRunner().invoke(audit, [game])
    assert 2 == done.exit_code
    assert words in done.stderr
    assert done.exception is None or isinstance(done.exception, SystemExit)
