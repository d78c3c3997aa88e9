"""Bots that are not the house's: any program that speaks ``hearts-bot/1``, and plug-ins, each in a child process.

An `OutsideBot` is asked with a view and a seed and answers an action. What it fails to decide the rule-based bot decides,
and the failure is counted.
"""

from __future__ import annotations

import shlex
import shutil
import stat
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from domain.bots import BOTS, STAND_IN, Action
from domain.bots.lines import PROTOCOL, read_answer
from domain.bots.telling import Teller, question, rules_line
from domain.refusals import Malformed
from domain.ruleset import RuleSet
from domain.view import View
from services.bot_child import MEMORY, BotFailed, Child, Failure, bare_environ
from services.bot_desk import OK
from services.bot_plugins import plugin_command, plugin_names
from services.printable import printable

STDIO: Final = "stdio:"
"""Begins the name of a bot that is a command."""
SECONDS: Final = 60.0
"""For a decision where playouts are counted, and for beginning: the greeting, the budget and the rules."""
PATIENCE: Final = 10
"""How many times its budget a decision may last, where that is milliseconds."""
GIVE_UP: Final = 5
"""So many processes that ended in failure, one after another without a sound decision, and no further one is started."""


_ERROR: Final = "error"


class Budget(NamedTuple):
    """What a bot may spend on a decision: playouts, or milliseconds of CPU; with neither it is its own affair."""

    playouts: int | None = None
    milliseconds: int | None = None

    @property
    def line(self) -> str:
        """As the protocol says it, ``""`` for nothing."""
        if self.milliseconds is not None:
            return f"budget ms {self.milliseconds}"
        return "" if self.playouts is None else f"budget playouts {self.playouts}"

    @property
    def seconds(self) -> float:
        """How long an answer may take."""
        return SECONDS if self.milliseconds is None else PATIENCE * self.milliseconds / 1000


def seed_number(seed: bytes) -> int:
    """The number of a ``seed`` line: 63 bits, which fit an integer of any language."""
    return int.from_bytes(seed[:8], "big") >> 1


class Losses:
    """Processes that ended in failure, one after another without a sound decision, and why the last one did."""

    def __init__(self) -> None:
        self.count, self.why = 0, ""


class OutsideBot:
    """A bot in a process of its own, which is started when it is first asked. Close it, or use it as a context.

    It may be asked of any seats and tables by turns, by one thread at a time.
    """

    def __init__(
        self,
        command: Sequence[str],
        budget: Budget = Budget(),  # noqa: B008 (a value)
        *,
        environ: Mapping[str, str] | None = None,
        memory: int = MEMORY,
        losses: Losses | None = None,
    ) -> None:
        """``losses`` are counted beside its own: those of all processes of a program that plays in several seats."""
        self.budget = budget
        self.name, self.version = "", ""
        """As the bot calls itself; empty before it was asked."""
        self.decisions = 0
        self.failures: Counter[str] = Counter()
        """Decisions that it has lost, by `BotFailed.kind`."""
        self.last_failure = ""
        self._command, self._environ, self._memory = list(command), environ, memory
        self._child: Child | None = None
        self._teller = Teller()
        self._rules: RuleSet | None = None
        self._losses = [Losses(), *([losses] if losses else [])]

    def __enter__(self) -> OutsideBot:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __call__(self, seen: View, seed: bytes) -> Action:
        """What the bot decides, or the rule-based bot where it fails."""
        self.decisions += 1
        try:
            return self.ask(seen, seed)
        except BotFailed as error:
            self.failures[error.kind] += 1
            self.last_failure = str(error)
            return BOTS[STAND_IN].policy(seen, seed, 0)

    def ask(self, seen: View, seed: bytes) -> Action:
        """What the bot decides for the seat that sees ``seen``, which must act. Raises `BotFailed`."""
        child = self._running()
        try:
            if seen.rules != self._rules:
                self._rules = None
                self._say(child, [rules_line(seen.rules)], SECONDS)
                self._rules = seen.rules
                self._teller.forget()
            told = [f"seed {seed_number(seed)}", *self._teller.next_lines(seen)]
            answer = self._say(child, [*told, question(seen)], self.budget.seconds)
        except BotFailed as error:
            self._teller.forget()
            if error.kind != "refused":
                self._lose(error)
            raise
        try:
            action = read_answer(seen, answer)
        except Malformed as error:
            raise BotFailed("illegal", printable(f"{question(seen)} {answer:.80}: {error}", 400)) from error
        for one in self._losses:
            one.count = 0
        return action

    def start(self) -> None:
        """Start it, if it does not run, and hear its name and version. Raises `BotFailed`."""
        self._running()

    def close(self) -> None:
        """End its process; asked again, it would be started again."""
        child, self._child = self._child, None
        if child is not None:
            child.close()

    def _running(self) -> Child:
        if self._child is not None:
            return self._child
        for one in self._losses:
            if one.count >= GIVE_UP:
                raise BotFailed("died", f"given up after {GIVE_UP} processes; the last one: {one.why}")
        self._child = Child(
            [_program(self._command), *self._command[1:]], environ=self._environ, memory=self._memory
        )
        self._teller.forget()
        self._rules = None
        try:
            greeting = self._child.ask([PROTOCOL], SECONDS)[0].split()
            if len(greeting) != 3 or greeting[0] != OK:
                raise BotFailed("unreadable", f"no greeting: {printable(' '.join(greeting))!r}")
            self.name, self.version = printable(greeting[1]), printable(greeting[2])
            if self.budget.line:
                self._say(self._child, [self.budget.line], SECONDS, answered=OK)
        except BotFailed as error:
            self._lose(error)
            raise
        return self._child

    def _say(self, child: Child, lines: list[str], seconds: float, *, answered: str = "") -> str:
        """Tell and ask; the last answer. All before it must be ``ok``, and it too where it is to be ``answered``."""
        *told, last = child.ask(lines, seconds)
        answered = answered or (OK if lines[-1].startswith("rules ") else "")
        for line, answer in zip(lines, [*told, *([last] if answered else [])], strict=False):
            if answer != OK:
                raise _refusal(line, answer)
        if last.partition(" ")[0] == _ERROR:
            raise _refusal(lines[-1], last)
        return last

    def _lose(self, why: BotFailed) -> None:
        for one in self._losses:
            one.count, one.why = one.count + 1, str(why)
        self.close()


def _program(command: Sequence[str]) -> str:
    """Where the program of a command is. Raises `BotFailed` where there is none, or none that can be executed."""
    name = command[0] if command else ""
    if found := shutil.which(name):
        return found
    path, quoted = Path(name), printable(shlex.quote(name), 80)
    mode = 0
    with suppress(OSError, ValueError):
        mode = path.stat().st_mode
    if not mode or "/" not in name:
        here = f"; there is a file of this name here: ./{quoted}" if stat.S_ISREG(mode) else ""
        raise BotFailed("died", f"no such program: {printable(' '.join(command), 80)!r}{here}")
    if stat.S_ISDIR(mode):
        raise BotFailed("died", f"{quoted} cannot be executed: it is a folder")
    raise BotFailed(
        "died",
        f"{quoted} cannot be executed: no permission; `chmod +x {quoted}` gives it, or name what runs it, "
        f"as in `python3 {quoted}`",
    )


def _refusal(line: str, answer: str) -> BotFailed:
    """What was answered in place of ``ok``: an error, or something that is out of step."""
    kind: Failure = "refused" if answer.partition(" ")[0] == _ERROR else "unreadable"
    return BotFailed(kind, f"{line.partition(' ')[0]}: {printable(answer, 400)}")


def outside_bot(
    name: str,
    budget: Budget = Budget(),  # noqa: B008 (a value)
    *,
    memory: int = MEMORY,
    losses: Losses | None = None,
) -> OutsideBot:
    """The bot of ``stdio:COMMAND``, or of a plug-in's name. Raises `Malformed` where there is none."""
    if name.startswith(STDIO):
        try:
            command = shlex.split(name.removeprefix(STDIO))
        except ValueError as error:
            raise Malformed(f"{name:.80}: {error}") from error
        if not command:
            raise Malformed(f"{name:.80}: no command")
        return OutsideBot(command, budget, memory=memory, losses=losses)
    if name in plugin_names():
        environ = bare_environ(ours=True)
        return OutsideBot(plugin_command(name), budget, environ=environ, memory=memory, losses=losses)
    raise Malformed(f"no bot {name:.80}: a plug-in's name, or {STDIO}COMMAND")


def house_command(name: str) -> list[str]:
    """The command by which a house bot speaks the protocol."""
    return [sys.executable, "-P", "-m", "services.bot_desk", name]
