"""Programs and plug-ins in the arena: how they are entered, and what is told of what they lose."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
from click.testing import CliRunner

from domain.bots import UnknownBot
from domain.variants import ruleset_of
from services.bot_pace import sample_views
from tests.support.plugins import SOUND, install_plugin
from workers.arena import outside
from workers.arena.bots import read_entrant
from workers.arena.cli import arena


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder where distributions are found."""
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


BASIC = ruleset_of({"variant": "basic", "hand_limit": 1})
FAILS = """
import sys
for line in sys.stdin:
    word = line.split()[0]
    if word == "pass?" and LATER:
        sys.exit("I give up")
    print({"hearts-bot": "ok fails 1", "pass?": "pass 2C 2C 2C", "move?": "play 1X"}.get(word, "ok"), flush=True)
"""


def failing(folder: Path, *, dies: bool) -> str:
    """A program that answers illegally, or dies of the first question."""
    program = folder / f"fails_{dies}.py"
    program.write_text(FAILS.replace("LATER", str(dies)))
    return f"stdio:{shlex.join([sys.executable, str(program)])}"


def results(*words: str) -> list[dict]:
    """What the command writes of each bot."""
    done = CliRunner().invoke(arena, [*words, "--json", "-"])
    assert 0 == done.exit_code, done.output
    return msgspec.json.decode(done.stdout)["bots"]


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_plugin_is_entered_by_its_name(site: Path, jobs: str) -> None:
    """Given an installed plug-in, when it is named, then it decides each of its moves, with the version of its distribution."""
    install_plugin(site, f"entered{jobs}", SOUND)
    plugin, rules = results(f"entered{jobs}", "rules", "--deals", "2", "-j", jobs)
    assert (f"entered{jobs}:12", "4.5") == (plugin["bot"], plugin["version"])
    assert (0, 0, True) == (plugin["illegal"], plugin["unanswered"], plugin["moves"] == rules["moves"])


def test_a_plugin_has_a_budget_where_it_counts_playouts(site: Path) -> None:
    """Given two plug-ins, then the one with playouts takes those that are named, or those for all; the other takes none."""
    install_plugin(site, "counts", SOUND)
    install_plugin(site, "counts_none", SOUND.replace("policy.playouts = 12", ""))
    for text, budget, written, playouts in (
        ("counts", None, "counts:12", 12),
        ("counts", 7, "counts:7", 7),
        ("counts:5", 7, "counts:5", 5),
        ("counts_none", 7, "counts_none", 0),
    ):
        found = read_entrant(text, budget)
        assert (written, playouts) == (found.text, found.id.budget)
        assert found is read_entrant(found.text)
    for text, why in (("counts_none:5", "does no playouts"), ("counts:0", "a number of playouts from 1")):
        with pytest.raises(UnknownBot, match=why):
            read_entrant(text)


def test_a_plugin_that_cannot_be_loaded_is_no_entrant(site: Path) -> None:
    """It is told why, and an unknown name which plug-ins there are."""
    install_plugin(site, "spoilt", "1 / 0")
    with pytest.raises(UnknownBot, match="spoilt cannot play: ZeroDivisionError"):
        read_entrant("spoilt")
    with pytest.raises(UnknownBot, match=r"there is no bot 'nobody'; there are .*spoilt"):
        read_entrant("nobody")


def test_what_a_program_loses_is_told_by_kind(tmp_path: Path) -> None:
    """Given one that answers illegally and one that dies, then each is counted as such, and the author is told how many and why."""
    illegal, dies = failing(tmp_path, dies=False), failing(tmp_path, dies=True)
    first, second, rules = results(illegal, dies, "rules", "--deals", "1")
    assert (first["moves"], 0) == (first["illegal"], first["unanswered"])
    assert {"illegal": first["moves"]} == first["lost"]
    assert first["first_lost"].startswith("illegal: pass? pass 2C 2C 2C: ")
    assert 0 < second["lost"]["died"] == second["unanswered"]
    assert "died: it ended with status 1: I give up" == second["first_lost"]
    assert (0, 0, {}, None) == tuple(rules[key] for key in ("illegal", "unanswered", "lost", "first_lost"))


def test_what_a_program_loses_is_told_below_the_table(tmp_path: Path) -> None:
    """A line for each that lost decisions, and with a match that is told again, too."""
    bots = (failing(tmp_path, dies=False), "rules")
    done = CliRunner().invoke(arena, [*bots, "--deals", "1"])
    *_, last = done.stdout.splitlines()
    assert last.startswith(f"A {bots[0]} lost 168 decisions: 168 illegal; the first one: illegal: pass? pass")
    done = CliRunner().invoke(arena, [*bots, "--replay", "1:1:ABBA"])
    assert "lost 28 decisions: 28 illegal; the first one: illegal: pass? pass" in done.stderr


@pytest.mark.parametrize(
    ("entered", "measured"),
    [
        (["rules", "random"], "times are CPU time."),
        (["rules", "BOT"], "times are CPU time, those of B BOT are from question to answer on the clock."),
        (["BOT", "BOT"], "times are from question to answer on the clock."),
    ],
)
def test_what_is_measured_is_told(entered: list[str], measured: str, tmp_path: Path) -> None:
    """CPU time cannot be told of a program, which may have others work for it."""
    bot = failing(tmp_path, dies=False)
    words = [*(bot if one == "BOT" else one for one in entered), "--deals", "1"]
    assert measured.replace("BOT", bot) in CliRunner().invoke(arena, words).stdout
    for one in results(*words):
        assert ("clock" if one["bot"] == bot else "cpu") == one["cpu_ms"]["of"]


def test_to_start_a_program_is_no_part_of_a_decision(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a program that takes a minute to begin and a millisecond to decide, then it took a millisecond."""
    now = 0

    def passes(nanoseconds: int) -> Callable[..., None]:
        def wait(*_: object) -> None:
            nonlocal now
            now += nanoseconds

        return wait

    slow = SimpleNamespace(name="slow", version="1", start=passes(60 * 10**9), ask=passes(10**6))
    monkeypatch.setattr(outside, "outside_bot", lambda *_, **__: slow)
    monkeypatch.setattr(outside.time, "perf_counter_ns", lambda: now)
    player = outside.OutsideEntrant("stdio:slow", "stdio:slow", None).sit()
    assert 10**6 == player.decide(sample_views(BASIC)[0], bytes(32)).cpu_ns
