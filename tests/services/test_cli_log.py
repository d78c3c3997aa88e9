"""`hearts log`: what it shows and signs, and that it finds what was done to the log or to the games by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import redis
from click.testing import CliRunner, Result

from domain.bots import BOTS
from domain.commands import SeatPlan
from domain.variants import ruleset_of
from services.cli_audit import audit
from services.cli_keys import keys
from services.cli_log import log_group
from services.keys import Keys
from services.leaves import Leaf, find_leaves
from services.notes import read_checkpoint
from services.projections import GROUP
from services.settings import Settings
from services.wiring import Services, build
from tests.support.audited import open_game
from tests.support.environs import environ_of
from tests.support.tampering import change

Run = Callable[..., Result]
BOT = SeatPlan(kind="bot", bot=BOTS["rules"].id)


@pytest.fixture
def services(
    valkey: redis.Redis, valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Services:
    """Services on an empty store, which the command is led to by its settings."""
    settings = Settings(data=tmp_path, partitions=4, store_url=valkey_url, origin="example.org/hearts")
    for name, value in environ_of(settings).items():
        monkeypatch.setenv(name, value)
    return build(settings)


@pytest.fixture
def games(services: Services) -> list[str]:
    """Two finished games, in the log."""
    ids = []
    for _ in range(2):
        game = services.tables.open(
            ruleset_of({"variant": "basic", "hand_limit": 1}), [BOT] * 4
        ).table.state.game
        services.tables.act_for_house(game)
        services.log.tree.add(find_leaves(game, services.store.read(game)))
        ids.append(game)
    return ids


@pytest.fixture
def run(services: Services) -> Run:
    """Runs `hearts log` with these words."""
    return lambda *words: CliRunner().invoke(log_group, words)


def test_an_empty_log_is_in_order(run: Run) -> None:
    """It has a checkpoint too."""
    assert (0, "0 leaves, all in order\n") == (run("verify").exit_code, run("verify").stdout)
    assert 0 == read_checkpoint(run("checkpoint").stdout).checkpoint.size


def test_a_log_that_lost_a_leaf_is_signed_only_anew(run: Run, services: Services, games: list[str]) -> None:
    """Given a log that was signed and lost its end with a server that failed, then it is signed again only on demand."""
    before = read_checkpoint(run("checkpoint").stdout).checkpoint
    services.client.delete(Keys.log_leaves, Keys.log_index, Keys.log_places)
    services.client.delete(*(Keys.log_nodes(level, 0) for level in range(3)))
    services.log.tree.add(find_leaves(games[0], services.store.read(games[0])))
    for words in (("checkpoint",), ("fill",)):
        refused = run(*words)
        assert (1, "") == (refused.exit_code, refused.stdout)
        assert (
            f"the log had {before.size} leaves, and has 2 (as the server itself signed it last, by "
            in refused.stderr
        )
    assert "as the server itself signed it last" in run("verify").stdout
    assert 2 == read_checkpoint(run("checkpoint", "--anew").stdout).checkpoint.size
    assert 0 == run("fill").exit_code
    assert (0, "4 leaves, all in order\n") == (run("verify").exit_code, run("verify").stdout)


def test_show_lists_the_entries(run: Run, services: Services, games: list[str]) -> None:
    """A line each, with the name and the key of the log beside it; as JSON with every field."""
    shown = run("show")
    assert [
        f"{index} {kind} {game}"
        for index, (game, kind) in enumerate((game, kind) for game in games for kind in ("lock", "end"))
    ] == [" ".join(line.split()[:3]) for line in shown.stdout.splitlines()]
    assert "origin example.org/hearts" in shown.stderr
    assert services.log.verifier_key in shown.stderr
    one = json.loads(run("show", "--json", "--start", "2", "--limit", "1").stdout)
    leaf = services.log.tree.leaves(2, 1)[0][1]
    assert {**leaf._asdict(), "head": leaf.head.hex(), "index": 2, "leaf": leaf.hash.hex()} == one


JUNK = {
    "other fields": {"x": "y"},
    "no number": {"g": "a", "k": "lock", "s": "1_0", "h": "h" * 32},
    "no text": {"g": b"\xff", "k": "lock", "s": "1", "h": "h" * 32},
    "no kind": {"g": "a", "k": "\x1b[2J", "s": "1", "h": "h" * 32},
    "no head": {"g": "a", "k": "lock", "s": "1", "h": ""},
}


@pytest.mark.parametrize("words", [[], ["--json"], ["--start", "3"], ["--limit", "5"]])
@pytest.mark.parametrize("fields", JUNK.values(), ids=[name.replace(" ", "-") for name in JUNK])
def test_a_leaf_that_is_none_is_told_behind_those_before_it(
    run: Run, services: Services, games: list[str], fields: dict, words: list[str]
) -> None:
    """Given junk behind the last leaf, when the log is shown, then all leaves are, and what is wrong is said: status 1."""
    sound = run("show", *words).stdout
    services.client.xadd(Keys.log_leaves, fields, id="5-0")
    shown = run("show", *words)
    assert (1, sound) == (shown.exit_code, shown.stdout)
    told = "leaf 4 of the transparency log is none: no game, kind, event and head; `hearts log verify` tells more"
    assert told == shown.stderr.splitlines()[-1]
    assert 0 == run("show", "--limit", "4").exit_code


def test_a_sound_log_verifies_against_what_was_kept(run: Run, games: list[str], tmp_path: Path) -> None:
    """All hashes, all games, and the checkpoint of before."""
    kept = tmp_path / "kept"
    kept.write_text(run("checkpoint").stdout, encoding="utf-8")
    done = run("verify", "--checkpoint", str(kept))
    assert (0, "4 leaves, all in order\n") == (done.exit_code, done.stdout)
    body = json.loads(run("verify", "--json").stdout)
    assert {"ok": True, "leaves": 4, "missing": 0, "problems": []} == body


def test_checkpoints_from_before_and_after_a_rotation_verify(
    run: Run, services: Services, games: list[str], tmp_path: Path
) -> None:
    """Given that the server turned to a new key, then what any of its keys signed is its own, and a stranger's is not."""
    before, after, strange = (tmp_path / name for name in ("before", "after", "strange"))
    before.write_text(run("checkpoint").stdout, encoding="utf-8")
    by_running = services.log.checkpoint  # of a process that was there before
    assert 0 == CliRunner().invoke(keys, ["rotate"]).exit_code
    after.write_text(run("checkpoint").stdout, encoding="utf-8")
    assert by_running() == after.read_text(encoding="utf-8")
    assert 2 == len(read_checkpoint(by_running()).signatures)
    for kept in (before, after):
        done = run("verify", "--checkpoint", str(kept))
        assert (0, "4 leaves, all in order\n") == (done.exit_code, done.stdout)
    strange.write_text(before.read_text("utf-8").replace("\n4\n", "\n3\n"), encoding="utf-8")
    done = run("verify", "--checkpoint", str(strange))
    assert (1, True) == (done.exit_code, "of 3 leaves is not signed by this server" in done.stdout)


def test_what_was_done_to_the_log_by_hand_is_found(
    run: Run, services: Services, games: list[str], tmp_path: Path
) -> None:
    """A hash, an index, a leaf and the whole log."""
    kept, client = tmp_path / "kept", services.client
    kept.write_text(run("checkpoint").stdout, encoding="utf-8")
    client.setrange(Keys.log_nodes(1, 0), 3, b"x")
    done = run("verify")
    assert 1 == done.exit_code
    assert "the hash of the subtree over leaves 0 and on" in done.stdout
    assert "1 problem" in done.stdout
    client.hdel(Keys.log_index, services.log.tree.leaves(3, 1)[0][1].hash)
    assert f"leaf 3 (end of game {games[1]}) is not found by its hash" in run("verify").stdout
    client.hdel(Keys.log_places, f"{games[1]}|end")
    assert f"leaf 3 (end of game {games[1]}) is not found by its game" in run("verify").stdout
    client.xdel(Keys.log_leaves, "2-0")
    done = run("verify")
    assert "leaf 1 is not in the transparency log" in done.stdout
    assert "lock has no leaf" not in done.stdout, "the first is there"
    client.delete(Keys.log_leaves)
    for words in (["verify"], ["checkpoint"]):
        done = run(*words)
        assert done.exit_code
        assert "the transparency log has 0 leaves, and had 3: cut off" in done.output
    for key in client.scan_iter("h:{log}:*"):
        client.delete(key)
    done = run("verify", "--checkpoint", str(kept))
    assert "the log had 4 leaves, and has 0" in done.stdout
    assert 1 == done.exit_code


def test_a_log_that_was_written_anew_is_found_by_a_checkpoint(
    run: Run, services: Services, games: list[str], tmp_path: Path
) -> None:
    """Given the same leaves in another order, everything fits but what was kept."""
    kept = tmp_path / "kept"
    kept.write_text(run("checkpoint").stdout, encoding="utf-8")
    leaves = [leaf for _, leaf in services.log.tree.every_leaf()]
    for key in services.client.scan_iter("h:{log}:*"):
        services.client.delete(key)
    services.log.tree.add(leaves[::-1])
    assert "the log was changed (as the server itself signed it last" in run("verify").stdout
    services.log.forget_signed()
    assert 0 == run("verify").exit_code
    done = run("verify", "--checkpoint", str(kept))
    assert (1, True) == (done.exit_code, "the first 4 leaves are others" in done.stdout)


def test_a_game_that_was_changed_cut_or_lost_is_found(run: Run, services: Services, games: list[str]) -> None:
    """The leaves tell the heads that the games had."""
    client, stream = services.client, services.keys.stream
    second = stream(games[1])
    change(services, games[0], "game_locked", lambda raw: raw.replace(b'"at":', b'"at":1'))
    said = run("verify").stdout
    assert f"leaf 0 has the lock of game {games[0]} at event" in said
    assert f"leaf 1 has the end of game {games[0]} at event" in said
    client.delete(second)
    assert f"leaf 2 is of the lock of game {games[1]}, which is not in the store" in run("verify").stdout


def test_a_fork_is_found(run: Run, services: Services, games: list[str]) -> None:
    """Two leaves of a kind for one game."""
    leaf = services.log.tree.leaves(1, 1)[0][1]
    services.log.tree.add([leaf._replace(head=bytes(32))])
    done = run("verify")
    assert 1 == done.exit_code
    assert f"leaf 4 is a second end of game {games[0]}: a fork" in done.stdout


def test_missing_leaves_are_told_and_filled_in(run: Run, services: Services, games: list[str]) -> None:
    """A store from before there was a log; those that the projector is about to add are no fault."""
    for key in services.client.scan_iter("h:{log}:*"):
        services.client.delete(key)
    done = run("verify")
    assert (1, True) == (done.exit_code, f"the lock of game {games[0]}, event" in done.stdout)
    services.feed.ensure_group(GROUP)
    done = run("verify")
    assert (0, "0 leaves, all in order; 4 leaves are still to come\n") == (done.exit_code, done.stdout)
    assert "4 leaves added\n" == run("fill").stdout
    assert "0 leaves added\n" == run("fill").stdout
    assert "4 leaves, all in order\n" == run("verify").stdout


def test_no_store_is_status_2(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of every command, with a sentence."""
    monkeypatch.setenv("HEARTS_STORE_URL", f"unix://{tmp_path}/nothing")
    for word in ("checkpoint", "show", "verify", "fill"):
        done = run(word)
        assert (2, True) == (done.exit_code, "the store does not answer" in done.stderr)


# --- as `hearts audit` tells it


def test_a_leaf_of_no_game(services: Services) -> None:
    """Given a leaf that somebody wrote into the log, of a game that there never was, then the log does not hold."""
    open_game(services)
    fields = {"g": "f" * 24, "k": "lock", "s": 3, "h": bytes(32)}
    services.client.xadd(Keys.log_leaves, fields, id="3-0")
    done = CliRunner().invoke(audit, ["--all", "-q"])
    assert 1 == done.exit_code, done.output
    assert (
        "transparency log: DOES NOT HOLD; 3 leaves\n  the transparency log has lost subtree (0, 2)"
        in done.stdout
    )


def test_a_leaf_of_no_game_that_was_added_as_any_other(services: Services) -> None:
    """Then it is told of that game too."""
    services.log.tree.add([Leaf("f" * 24, "lock", 3, bytes(32))])
    done = CliRunner().invoke(audit, ["--all", "-q"])
    assert 1 == done.exit_code, done.output
    assert f"leaf 0 has the lock of game {'f' * 24} at event 3" in done.stdout


def test_a_log_that_does_not_continue_what_was_signed(services: Services) -> None:
    """Given a log that was made anew, without its last leaf, then the last checkpoint tells."""
    game = open_game(services)
    services.log.checkpoint()
    keys = (Keys.log_leaves, Keys.log_index, Keys.log_places, Keys.log_nodes(0, 0), Keys.log_nodes(1, 0))
    services.client.delete(*keys)
    lock, end = find_leaves(game, services.store.read(game))
    services.log.tree.add([lock._replace(head=bytes(32)), end])
    done = CliRunner().invoke(audit, ["--all", "--json", "-q"])
    assert 1 == done.exit_code
    log = next(line["log"] for line in map(json.loads, done.stdout.splitlines()) if "log" in line)
    assert 2 == len(log["problems"])
    for problem, place in zip(log["problems"], (Keys.log_signed, services.settings.signed_path), strict=True):
        told = "the first 2 leaves are others than they were: the log was changed (as the server itself signed it last"
        assert f"{told}, by {place})" == problem
