"""Bots in child processes: sound ones play as they would here, hostile ones lose the decision and nothing else."""

from __future__ import annotations

import os
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from domain.bots import BOTS
from domain.cards import cards_of
from domain.refusals import Malformed
from domain.variants import ruleset_of
from domain.view import View
from services.bot_child import MEMORY, BotFailed, bare_environ
from services.bot_desk import decision_seed
from services.bot_pace import sample_views
from services.bot_trial import try_bot
from services.outside_bot import GIVE_UP, Budget, Losses, OutsideBot, house_command, outside_bot, seed_number
from tests.support.house import until

BASIC = ruleset_of({"variant": "basic", "hand_limit": 1})
SEED = bytes(range(32))
QUICK = Budget(milliseconds=30)
LOOP = """
import os, select, subprocess, sys
def say(text):
    print(text, flush=True)
for line in sys.stdin:
    word = line.split()[0]
    if word == "hearts-bot":
        say("ok hostile 1")
    elif word != "pass?":
        if word == "hand":
            cards = line.split()[4:]
        say("ok")
    else:
"""


def passing() -> View:
    """A seat that is to pass."""
    return sample_views(BASIC)[0]


def hostile(code: str, budget: Budget = QUICK, memory: int = MEMORY) -> OutsideBot:
    """A bot that does ``code`` when it is to pass."""
    return OutsideBot([sys.executable, "-c", LOOP + textwrap.indent(code, " " * 8)], budget, memory=memory)


def program(code: str, budget: Budget = QUICK) -> OutsideBot:
    """A bot that is all of ``code``."""
    return OutsideBot([sys.executable, "-c", code], budget)


@pytest.mark.parametrize("name", BOTS)
def test_a_house_bot_outside_plays_as_inside(name: str) -> None:
    """A hand of some variants, each decision that of its policy with the seed of the line."""

    class Compared(OutsideBot):
        def ask(self, seen: View, seed: bytes) -> object:  # type: ignore[override]
            """What both decide."""
            action = super().ask(seen, seed)
            assert action == BOTS[name].policy(seen, decision_seed(seed_number(seed), 0), 50)
            return action

    with Compared(house_command(name), Budget(playouts=50), environ=bare_environ(ours=True)) as bot:
        rules = [
            ruleset_of({"variant": one, "hand_limit": 2}) for one in ("basic", "cancellation", "omnibus")
        ]
        try_bot(bot, rules)
    assert ({}, name, "1") == (dict(bot.failures), bot.name, bot.version)
    assert bot.decisions > 200


HOSTILE = {
    "silent": ("pass", "late", "no answer within 0.3 s"),
    "late": ("select.select([], [], [], 60); say('pass')", "late", "no answer"),
    "half": ("sys.stdout.write('pass'); sys.stdout.flush()", "late", "no answer"),
    "one endless line": ("while True: sys.stdout.write('x' * 999)", "unreadable", "a line of more than"),
    "twice": ("say('pass\\npass')", "unreadable", "more than it was asked"),
    "dies": ("sys.exit('I give up')", "died", "it ended with status 1: I give up"),
    "raises": ("1 / 0", "died", "ZeroDivisionError"),
    "kills itself": ("os.kill(os.getpid(), 9)", "died", "by signal 9"),
    "closes": ("os.close(1); sys.stdin.read()", "died", "it ended"),
    "illegal": ("say('pass 2C 2C 2C')", "illegal", "pass? pass 2C 2C 2C: three copies"),
    "nonsense": ("say('fold')", "illegal", "no answer to the question"),
    "no text": ("os.write(1, b'\\xff\\x00\\n')", "illegal", "no answer to the question"),
    "refuses": ("say('error no idea')", "refused", "no idea"),
    "eats": ("x = []\nwhile True: x.append(bytearray(1 << 26))", "died", "MemoryError"),
    "shouts": ("while True: sys.stderr.write('!' * 9999)", "late", "!!!"),
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_hostile_bot_loses_the_decision(how: str) -> None:
    """To the rule-based bot; it is counted, told with the bot's last words, and the process group is gone or in step."""
    code, kind, told = HOSTILE[how]
    seen, by_rule = passing(), BOTS["rules"].policy(passing(), SEED, 0)
    # eating takes some time, and is not what is too late here
    with hostile(code, Budget() if how == "eats" else QUICK, memory=512 << 20) as bot:
        bot.start()
        assert bot._child
        pid = bot._child.pid
        assert by_rule == bot(seen, SEED)
        assert {kind: 1} == dict(bot.failures)
        assert told in bot.last_failure
        assert len(bot.last_failure) < 3000
        assert bot.last_failure.isprintable()
        assert psutil.pid_exists(pid) is (kind in ("illegal", "refused"))
        assert by_rule == bot(seen, SEED)
        assert (2, {kind: 2}) == (bot.decisions, dict(bot.failures))


def test_whoever_fails_once_is_asked_again(tmp_path: Path) -> None:
    """In a new process, which is told everything anew."""
    code = f"""
if os.path.exists({str(tmp_path / "flag")!r}):
    say("pass " + " ".join(cards[:3]))
else:
    open({str(tmp_path / "flag")!r}, "w").close()
    sys.exit(1)
"""
    with hostile(code, Budget()) as bot:
        assert bot(passing(), SEED) == BOTS["rules"].policy(passing(), SEED, 0)
        assert bot(passing(), SEED) == bot.ask(passing(), SEED) == tuple(cards_of(passing().own.hand)[:3])  # type: ignore[union-attr]
    assert {"died": 1} == dict(bot.failures)


def test_a_bot_that_speaks_unasked_is_out_of_step() -> None:
    """What it said in between is no answer to the next question."""
    for code in ("say('pass 2C 2C 2C'); say('pass')", "while True: say('pass')"):
        with hostile(code) as bot:
            for _ in range(4):
                bot(passing(), SEED)
        # the first line may be all that has come when it is looked at
        assert {"illegal", "unreadable"} >= set(bot.failures)
        assert 4 == sum(bot.failures.values())


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("print('hello')", "no greeting: 'hello'"),
        ("import sys; sys.exit(3)", "with status 3"),
        ("print('ok a b c')", "no greeting"),
        ("print('\\x1b[2J')", "no greeting"),
    ],
)
def test_a_program_that_is_no_bot_is_given_up(code: str, told: str) -> None:
    """After some processes no further one is started; every decision is lost and counted."""
    with program(code) as bot:
        for _ in range(GIVE_UP + 3):
            bot(passing(), SEED)
    assert GIVE_UP + 3 == sum(bot.failures.values())
    assert f"given up after {GIVE_UP} processes" in bot.last_failure
    assert told in bot.last_failure


def test_a_program_is_given_up_in_all_its_seats() -> None:
    """Given two processes of a program that share what they lose, then five are started in all."""
    losses = Losses()
    command = [sys.executable, "-c", "import sys; sys.exit(3)"]
    with OutsideBot(command, losses=losses) as one, OutsideBot(command, losses=losses) as other:
        for _ in range(GIVE_UP - 1):
            one(passing(), SEED)
        assert "given up" not in one.last_failure
        other(passing(), SEED)
        assert "given up" not in other.last_failure
        for bot in (one, other):
            bot(passing(), SEED)
            assert f"given up after {GIVE_UP} processes" in bot.last_failure


def test_a_program_that_is_not_there_is_told() -> None:
    """And nothing at all; a file of this folder is no program of that name, and it is told how it would be."""
    for command in (["/nowhere/bot"], ["no-such-program-of-any-kind"], []):
        with OutsideBot(command) as bot, pytest.raises(BotFailed, match="no such program"):
            bot.ask(passing(), SEED)


def test_a_file_of_this_folder_is_named_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a bot that is here and called without its folder, then it is said how."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-bot.py").touch()
    with OutsideBot(["my-bot.py"]) as bot, pytest.raises(BotFailed) as raised:
        bot.start()
    assert "no such program: 'my-bot.py'; there is a file of this name here: ./my-bot.py" == str(raised.value)


CANNOT_BE_EXECUTED = {
    "no permission": (
        b"#!/bin/sh\n",
        0o644,
        "no permission; `chmod +x {path}` gives it, or name what runs it",
    ),
    "a folder": (None, 0o755, "it is a folder"),
    "no interpreter": (b"#!/no/such/python\n", 0o755, "the interpreter that it names in its first line, or"),
    "words": (b"print('ok')\n", 0o755, "Exec format error; it is no program of this machine, nor a script"),
    "half a program": (
        b"\x7fELF",
        0o755,
        "Exec format error; it is no program of this machine, nor a script",
    ),
}


@pytest.mark.parametrize(
    ("written", "mode", "told"),
    CANNOT_BE_EXECUTED.values(),
    ids=[one.replace(" ", "-") for one in CANNOT_BE_EXECUTED],
)
def test_what_is_there_and_cannot_be_executed(
    written: bytes | None, mode: int, told: str, tmp_path: Path
) -> None:
    """It is not said to be missing, and is told what to do."""
    path = tmp_path / "bot"
    if written is None:
        path.mkdir()
    else:
        path.write_bytes(written)
    path.chmod(mode)
    with OutsideBot([str(path)]) as bot, pytest.raises(BotFailed) as raised:
        bot.start()
    assert f"cannot be executed: {told.format(path=path)}" in str(raised.value)


def test_rules_that_a_bot_cannot_play_cost_only_their_decisions() -> None:
    """It is told the rules again when it is asked again, and lives."""
    code = LOOP.replace(
        'elif word != "pass?"', 'elif word == "rules":\n        say("error too hard")\n    elif word'
    )
    with program(code + "        say('ok')") as bot:
        for _ in range(GIVE_UP + 2):
            bot(passing(), SEED)
    assert {"refused": GIVE_UP + 2} == dict(bot.failures)
    assert "rules: error too hard" in bot.last_failure


def test_nothing_of_our_environment_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """No address of the store, no secret, whatever its name; none of our descriptors."""
    monkeypatch.setenv("HEARTS_STORE_URL", "redis://secret")
    monkeypatch.setenv("TOP_SECRET", "1")
    code = """
import os
held = [n for n in range(3, 64) if os.path.exists(f"/proc/self/fd/{n}") and os.readlink(f"/proc/self/fd/{n}")[0] != "/"]
print("ok", "+".join(sorted(os.environ)), len(held), flush=True)
input()
"""
    read, write = os.pipe()
    try:
        os.set_inheritable(write, True)
        with program(code, Budget()) as bot:
            bot.start()
    finally:
        os.close(read)
        os.close(write)
    assert {"LANG", "PATH"} == {one for one in bot.name.split("+") if one != "LC_CTYPE"}
    assert "0" == bot.version


@pytest.mark.parametrize("ends", ["by failing", "by closing"])
def test_what_it_has_forked_ends_with_it(ends: str) -> None:
    """The whole process group."""
    code = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
for line in sys.stdin:
    sys.exit(1) if line.startswith("rules") else print("ok forks", child.pid, flush=True)
"""
    with program(code, Budget()) as bot:
        bot.start()
        pid = int(bot.version)
        assert psutil.pid_exists(pid)
        if ends == "by failing":
            with pytest.raises(BotFailed, match="status 1"):
                bot.ask(passing(), SEED)
            assert bot._child is None
            gone(pid)
    gone(pid)


def gone(pid: int) -> None:
    """Wait until a process has ended."""
    until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_a_bot_is_named_by_its_command() -> None:
    """`stdio:` and a command line; what cannot be one is told."""
    assert ["a", "b c"] == outside_bot("stdio:a 'b c'")._command
    for name in ("stdio:", "stdio:'", "nobody", ""):
        with pytest.raises(Malformed):
            outside_bot(name)
