"""`hearts audit`: which games it takes, what it prints, and its exit status."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner, Result

from services import pool
from services.archive import file_name
from services.audit_batch import LOCAL_GAMES, audit_game
from services.cli_audit import FEW, audit
from services.settings import Settings
from services.wiring import Services, build
from tests.support.audited import open_game
from tests.support.auditing import process_environ
from tests.support.clock import Clock
from tests.support.environs import environ_of
from tests.support.tampering import change, rewrite, stream

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
    *bodies, keys, log, last = [json.loads(line) for line in done.stdout.splitlines()]
    assert (True, []) == (keys["keys"]["ok"], keys["keys"]["problems"])
    assert {"log": {"ok": True, "leaves": 4, "problems": []}} == log
    assert {"standings": {"ok": True, "games": 1, "players": 0, "problems": []}} == last
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
        (("--since", "yesterday"), "is no date as 2026-03-01"),
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
    told = [
        "keys: hold; 2 keys",
        "transparency log: holds; 0 leaves",
        "standings: hold; 0 finished games, 0 players and bots",
        "0 games hold, 0 do not",
    ]
    assert (0, told) == (run("--all").exit_code, run("--all").stdout.splitlines())


def test_a_key_of_another_type(run: Run, services: Services) -> None:
    """Given something else where stream, snapshot or summary should be, then that is what is wrong, and the others go on."""
    good = open_game(services)
    keys = services.keys
    for name, key, kind in [
        ("stream", keys.stream("0" * 24), "stream"),
        ("snapshot", keys.snapshot(open_game(services)), "string"),
        ("projection", keys.table(open_game(services)), "hash"),
    ]:
        services.client.delete(key)
        services.client.sadd(key, "x")
        game = key.rpartition(":")[2]
        for words in (
            [game, good],
            ["--since", "2026-01-01", "--quiet"],
            ["--since", "2026-01-01", "-j", "1"],
        ):
            done = run(*words)
            assert 1 == done.exit_code, done.output
            assert f"game {game}: DOES NOT HOLD" in done.stdout
            assert f"{name}: the key {key} holds a set, and should hold a {kind}" in done.stdout
            assert ("--quiet" in words) != (f"game {good}: holds" in done.stdout)


def test_a_game_that_cannot_be_looked_at(
    run: Run, services: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Given an archive that is not mounted, then its games are told, the others go on, and the status is 2."""
    monkeypatch.setenv("HEARTS_ARCHIVE", str(tmp_path / "archive"))
    archiving = build(Settings.from_environ(), clock=services.clock)
    good, gone = open_game(services), open_game(services)
    assert archiving.archiver
    archiving.archiver.archive(gone)
    assert 0 == run("--all").exit_code
    (tmp_path / "archive").rename(tmp_path / "away")
    for words in (["--all"], ["--all", "-j", "1"], [gone, good], ["--since", "2026-01-01", "--quiet"]):
        done = run(*words)
        assert 2 == done.exit_code, done.output
        assert (
            f"game {gone} could not be looked at: {tmp_path / 'archive'} is not the archive of this"
            in done.stderr
        )
        assert "1 game holds, 0 do not, 1 could not be looked at\n" in done.output
        assert ("--quiet" in words) != (f"game {good}: holds" in done.stdout)


def test_an_archived_game_is_read_anew_each_time(
    run: Run, services: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Given a file that was read a moment ago and is gone, then that alone is told of its game, by whoever looks."""
    monkeypatch.setenv("HEARTS_ARCHIVE", str(tmp_path / "archive"))
    house = build(Settings.from_environ(), clock=services.clock)
    game = open_game(services)
    last = services.store.last(game)
    assert house.archiver
    house.archiver.archive(game)
    assert audit_game(house.auditor, game).ok
    (tmp_path / "archive" / file_name(game, last)).unlink()
    assert not audit_game(house.auditor, game).ok
    done = run(game)
    assert 1 == done.exit_code
    why = f"events 1 to {last - 1} are not in the store, and the archive has no {file_name(game, last)}"
    first, second, _ = done.stdout.splitlines()
    assert f"game {game}: DOES NOT HOLD; unknown, 0 events" == first
    assert f"  stream at event 1: {why}: if it ever had, put it back from a copy of the archive" == second


def test_what_cannot_be_read_keeps_no_game_from_being_looked_at(run: Run, services: Services) -> None:
    """A summary and an event that are nested without end are faults of their games, and the others go on."""
    good, summary, event = open_game(services), open_game(services), open_game(services)
    entries = stream(services, event)
    for deep in (b"[" * 100_000, b"[]"):
        services.client.hset(services.keys.table(summary), "summary", deep)
        entries[-1][b"p"] = deep
        rewrite(services, event, entries, number=False)
        for words in (["--all"], ["--since", "2026-01-01"]):
            done = run(*words)
            assert 1 == done.exit_code, done.output
            assert f"game {good}: holds" in done.stdout
            assert done.stdout.endswith("1 game holds, 2 do not\n")


def test_who_does_the_work_is_told(run: Run, services: Services) -> None:
    """Of many games: that there is no worker; of some by name nothing, nor where processes are asked for."""
    games = [open_game(services, most=1) for _ in range(FEW + 1)]
    told = "no audit worker serves the queue: this command does the work (-j N: in N processes)\n"
    for words in (["--all"], games, ["--since", "2026-01-01"]):
        done = run(*words)
        assert (0, told) == (done.exit_code, done.stderr)
        assert done.stdout.endswith(f"{FEW + 1} games hold, 0 do not\n")
    for words in (games[:FEW], ["--all", "-j", "1"]):
        done = run(*words)
        assert (0, "") == (done.exit_code, done.stderr)


def test_a_queue_that_does_not_answer(
    run: Run, services: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is told, and the games are audited all the same."""
    game = open_game(services)
    monkeypatch.setenv("HEARTS_QUEUE_URL", f"unix://{tmp_path}/nothing")
    done = run("--all")
    assert (0, True) == (done.exit_code, f"game {game}: holds" in done.stdout)
    assert done.stderr.startswith("the job queue does not answer (")
    assert "this command goes on alone\n" in done.stderr


@pytest.mark.parametrize("options", [[], ["--json"], ["--quiet"]])
def test_several_processes_say_what_one_says(run: Run, services: Services, options: list[str]) -> None:
    """In the same order, with the same status."""
    games = [open_game(services, most=number) for number in range(2 * LOCAL_GAMES + 3)]
    change(services, games[20], "game_locked", lambda raw: raw.replace(b'"root":"', b'"root":"0'))
    one, two = run("--all", "-j", "1", *options), run("--all", "-j", "2", *options)
    assert (1, one.stdout, one.stderr) == (two.exit_code, two.stdout, two.stderr)
    assert 1 == one.exit_code
    assert games[20] in one.stdout


def test_a_process_that_is_killed_is_told(
    services: Services, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    """Nothing is said of the games that it had: status 2."""
    open_game(services, most=1)
    monkeypatch.setattr(pool, "end_with_parent", die)
    done = run("--all", "-j", "2")
    assert (2, "") == (done.exit_code, done.stdout)
    assert "a process that audits was ended; nothing is said of the other games" in done.stderr


def die() -> None:
    """What a process does that is killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_terminal_is_shown_how_far_it_is(services: Services) -> None:
    """A bar on standard error when that is a terminal and the reports go elsewhere."""
    for _ in range(3):
        open_game(services, most=1)
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "services.cli", "audit", "--all", "-j", "1"],
        env=process_environ(services.settings),
        stdout=subprocess.DEVNULL,
        stderr=follower,
    ) as process:
        os.close(follower)
        said = b""
        with suppress(OSError):  # that nobody writes any more
            while piece := os.read(leader, 4096):
                said += piece
    os.close(leader)
    assert 0 == process.returncode
    assert b"games" in said
    assert b"3/3" in said


# --- receipts


@pytest.fixture
def kept(services: Services, tmp_path: Path) -> tuple[str, Path]:
    """A game that goes on, and a file with the receipt of its last event."""
    game = open_game(services, most=40)
    table = services.tables.load(game)
    receipt = services.key.first.receipt(game, table.seq, table.head)
    path = tmp_path / "receipt.json"
    path.write_text(json.dumps({"receipt": receipt._asdict()}))
    return game, path


def test_a_receipt_that_a_player_sent(run: Run, services: Services, kept: tuple[str, Path]) -> None:
    """It is told whether the store has that event, and whose signature it is; the game may be left unsaid."""
    game, path = kept
    key = services.key.first.public
    for words in ([game], []):
        done = run(*words, "--receipt", str(path))
        assert 0 == done.exit_code, done.output
        assert f"game {game}: holds; playing" in done.stdout
        assert re.search(rf"\n  receipt of event \d+ holds: .*{key}\n", done.stdout)
    body = json.loads(run("--receipt", str(path), "--json").stdout)
    assert [("holds", key)] == [(one["status"], one["signed_by"]) for one in body["receipts"]]
    rewrite(services, game, stream(services, game)[:-1])
    done = run("--receipt", str(path), "-q")
    assert 1 == done.exit_code
    assert re.search(r"\n  receipt of event \d+ FAILS: the server signed that there is an event", done.stdout)
    services.client.flushall()


def test_a_receipt_of_somebody_else(run: Run, services: Services, kept: tuple[str, Path]) -> None:
    """One that this server has not signed is told, says nothing of the game, and is status 2."""
    game, path = kept
    path.write_text(path.read_text().replace('"seq": ', '"seq": 1'))
    done = run("--receipt", str(path), "-q")
    assert 2 == done.exit_code
    assert f"game {game}: holds" in done.stdout
    assert "is not this server's: none of the server's keys has signed it" in done.stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--all"], "without --all or --since"),
        (["--since", "2026-01-01"], "without --all or --since"),
        (["other"], "which is not named"),
    ],
)
def test_receipts_go_with_their_games(run: Run, kept: tuple[str, Path], words: list[str], told: str) -> None:
    """Neither with all, nor with those since a date, nor with another game."""
    done = run(*words, "--receipt", str(kept[1]))
    assert (2, True) == (done.exit_code, told in done.stderr), done.output


def test_what_is_no_receipt(run: Run, tmp_path: Path) -> None:
    """A sentence, and status 2."""
    (tmp_path / "x").write_text("{}")
    done = run("--receipt", str(tmp_path / "x"))
    assert (2, True) == (done.exit_code, "the receipt cannot be read" in done.stderr)
