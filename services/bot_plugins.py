"""Plug-in bots: policies that other distributions name in the entry point group ``hearts.bots``.

An entry is ``policy(view, seed, playouts) -> action``, or a `domain.bots.Bot`. Of a policy the version is that of its
distribution, the budget its attribute ``playouts`` (0: it counts none), and the summary the first line of its docstring.
A plug-in is only ever loaded in a process of its own, by running this module.
"""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint, entry_points
from typing import Final

import msgspec

from domain.bots import BOTS, Bot
from domain.refusals import HeartsError
from services.bot_child import BotFailed, Child, bare_environ
from services.bot_desk import Desk, converse, taken_streams
from services.printable import printable, printable_line

GROUP: Final = "hearts.bots"
RESERVED: Final = frozenset((*BOTS, "list", "new", "try"))
"""Names that no plug-in can have."""
_DESCRIBE: Final = "--describe"
_LOAD_SECONDS: Final = 30.0


class BrokenPlugin(HeartsError):
    """A plug-in that cannot be played by; the text says what is wrong."""


class Plugin(msgspec.Struct, frozen=True):
    """What is known of a plug-in; ``problem`` says why it cannot be loaded, ``""`` where it can."""

    name: str
    version: str = ""
    budget: int = 0
    summary: str = ""
    problem: str = ""


def plugin_names() -> list[str]:
    """The names that installed distributions give, those that cannot be used among them."""
    return sorted({point.name for point in entry_points(group=GROUP)})


def plugin_command(name: str, *more: str) -> list[str]:
    """The command by which a plug-in speaks the protocol; nothing of the folder where it is run is taken for a module."""
    return [sys.executable, "-P", "-m", "services.bot_plugins", *more, name]


def load_plugin(name: str) -> Bot:
    """The bot of a plug-in, whose code runs. Raises `BrokenPlugin`."""
    points = list(entry_points(group=GROUP, name=name))
    if not points:
        raise BrokenPlugin(f"no plug-in {name:.40}")
    if name in RESERVED or len(name.split()) != 1:
        raise BrokenPlugin(f"no plug-in can be called {name!r:.40}")
    if len(points) > 1:
        raise BrokenPlugin(f"several distributions name it: {', '.join(sorted(map(_maker, points)))}")
    try:
        found = points[0].load()
    except (Exception, SystemExit) as error:
        raise BrokenPlugin(f"{type(error).__name__}: {error}") from error
    return _bot_of(name, points[0], found)


def _bot_of(name: str, point: EntryPoint, found: object) -> Bot:
    if isinstance(found, Bot):
        if found.name != name:
            raise BrokenPlugin(f"its bot is called {found.name!r:.40}")
        return found
    if not callable(found):
        raise BrokenPlugin(f"{point.value} is neither a policy nor a bot")
    budget = getattr(found, "playouts", 0)
    if not isinstance(budget, int) or budget < 0:
        raise BrokenPlugin(f"{point.value}.playouts is no number of playouts")
    version = "0" if point.dist is None else point.dist.version
    told = (found.__doc__ or "").strip().partition("\n")[0]
    return Bot(name=name, version=version, budget=budget, policy=found, summary=told)


def _maker(point: EntryPoint) -> str:
    return "?" if point.dist is None else point.dist.name


def describe_plugin(name: str) -> Plugin:
    """What a plug-in says of itself, asked in a process of its own."""
    with Child(plugin_command(name, _DESCRIBE), environ=bare_environ(ours=True)) as child:
        try:
            told = msgspec.json.decode(child.ask(["describe"], _LOAD_SECONDS)[0], type=Plugin)
        except (BotFailed, msgspec.DecodeError) as error:
            return Plugin(name, problem=str(error))
    line = printable_line
    return Plugin(name, printable(told.version), told.budget, line(told.summary), line(told.problem))


class _Describing:
    """Answers any line with what a plug-in is."""

    def __init__(self, name: str) -> None:
        self._name = name

    def answer(self, line: str) -> str | None:
        if line.strip() == "quit":
            return None
        try:
            bot = load_plugin(self._name)
        except BrokenPlugin as error:
            found = Plugin(self._name, problem=str(error))
        else:
            found = Plugin(bot.name, bot.version, bot.budget, bot.summary)
        return msgspec.json.encode(found).decode()


def main(arguments: list[str]) -> None:
    """Serve a plug-in, or describe it."""
    source, sink = taken_streams()
    with source, sink:
        if arguments[0] == _DESCRIBE:
            converse(_Describing(arguments[1]), source, sink)
            return
        try:
            bot = load_plugin(arguments[0])
        except BrokenPlugin as error:
            sys.exit(f"the plug-in {arguments[0]} cannot be loaded: {error}")
        converse(Desk(bot), source, sink)


if __name__ == "__main__":
    main(sys.argv[1:])
