"""Programs and plug-ins in the arena: each seat of a match has a process of its own, which serves later matches too."""

from __future__ import annotations

import time
from functools import lru_cache

from domain.bots import UnknownBot
from domain.events import BotName
from domain.refusals import Malformed
from domain.view import View
from services.bot_child import BotFailed
from services.bot_plugins import describe_plugin
from services.outside_bot import STDIO, Budget, Losses, OutsideBot, outside_bot
from workers.arena.seat import Answer, IllegalAnswer, NoAnswer, Player


class OutsideEntrant:
    """A bot in child processes: ``name`` as `outside_bot` reads it, ``text`` as the arena does, its playouts a decision included.

    It is started once to hear its name and version. Raises `UnknownBot` where that fails.
    """

    def __init__(self, name: str, text: str, playouts: int | None) -> None:
        self._name, self._budget = name, Budget(playouts=playouts)
        self.text = text
        """See `Entrant`."""
        self._idle: list[OutsideBot] = []
        self._losses = Losses()
        """Of all seats together: a program that hangs would keep an arena waiting for each of them."""
        first = self._new()
        try:
            first.start()
        except BotFailed as error:
            raise UnknownBot(f"{self.text:.80} cannot play: {error}") from error
        self.id = BotName(first.name, first.version, playouts or 0)
        """See `Entrant`."""
        self._idle.append(first)

    def sit(self) -> Player:
        """See `Entrant`."""
        return _Seated(self._idle.pop() if self._idle else self._new(), self._idle)

    def _new(self) -> OutsideBot:
        try:
            return outside_bot(self._name, self._budget, losses=self._losses)
        except Malformed as error:
            raise UnknownBot(str(error)) from error


class _Seated:
    def __init__(self, bot: OutsideBot, idle: list[OutsideBot]) -> None:
        self._bot, self._idle = bot, idle

    def decide(self, seen: View, seed: bytes) -> Answer:
        """See `Player`; the time is that on the clock, for a program may have others work for it."""
        began = time.perf_counter_ns()
        try:
            self._bot.start()  # which is no part of the decision
            began = time.perf_counter_ns()
            action = self._bot.ask(seen, seed)
        except BotFailed as error:
            if error.kind == "illegal":
                raise IllegalAnswer(str(error), time.perf_counter_ns() - began) from error
            raise NoAnswer(str(error), error.kind) from error
        return Answer(action, time.perf_counter_ns() - began)

    def leave(self) -> None:
        """See `Player`."""
        self._idle.append(self._bot)


@lru_cache(maxsize=64)
def read_outside(rest: str, budget: int | None) -> OutsideEntrant:
    """The entrant of ``stdio:COMMAND``, or of ``stdio:N:COMMAND`` with its playouts a decision, less the ``stdio:``.

    It is the same one each time, for its processes are kept. Raises `UnknownBot`.
    """
    playouts, colon, command = rest.partition(":")
    if colon and playouts.isascii() and playouts.isdecimal() and len(playouts) < 9:
        rest, budget = command, int(playouts)
    text = f"{STDIO}{rest}" if budget is None else f"{STDIO}{budget}:{rest}"
    return OutsideEntrant(STDIO + rest, text, budget)


@lru_cache(maxsize=64)
def usual_playouts(name: str) -> int:
    """The playouts a decision of a plug-in, 0 where it counts none. Raises `UnknownBot` where it cannot be loaded."""
    described = describe_plugin(name)
    if described.problem:
        raise UnknownBot(f"{name:.40} cannot play: {described.problem}")
    return described.budget


@lru_cache(maxsize=64)
def plugin_entrant(name: str, playouts: int) -> OutsideEntrant:
    """The entrant of a plug-in; the same one each time, for its processes are kept. Raises `UnknownBot`."""
    text = f"{name}:{playouts}" if playouts else name
    return OutsideEntrant(name, text, playouts or None)
