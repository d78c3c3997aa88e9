"""Programs and plug-ins in the arena: each seat of a match has a process of its own, which serves later matches too."""

from __future__ import annotations

import time
from functools import lru_cache

from domain.bots import UnknownBot
from domain.events import BotName
from domain.refusals import Malformed
from domain.view import View
from services.bot_child import BotFailed
from services.outside_bot import STDIO, Budget, OutsideBot, outside_bot
from workers.arena.seat import Answer, NoAnswer, Player


class OutsideEntrant:
    """A program that speaks ``hearts-bot/1``, named ``stdio:COMMAND`` or, with its playouts a decision, ``stdio:N:COMMAND``.

    It is started once to hear its name and version. Raises `UnknownBot` where that fails.
    """

    def __init__(self, command: str, budget: int | None) -> None:
        self._name, self._budget = STDIO + command, Budget(playouts=budget)
        self.text = f"{STDIO}{command}" if budget is None else f"{STDIO}{budget}:{command}"
        """See `Entrant`."""
        self._idle: list[OutsideBot] = []
        first = self._new()
        try:
            first.start()
        except BotFailed as error:
            raise UnknownBot(f"{self.text:.80} cannot play: {error}") from error
        self.id = BotName(first.name, first.version, budget or 0)
        """See `Entrant`."""
        self._idle.append(first)

    def sit(self) -> Player:
        """See `Entrant`."""
        return _Seated(self._idle.pop() if self._idle else self._new(), self._idle)

    def _new(self) -> OutsideBot:
        try:
            return outside_bot(self._name, self._budget)
        except Malformed as error:
            raise UnknownBot(str(error)) from error


class _Seated:
    def __init__(self, bot: OutsideBot, idle: list[OutsideBot]) -> None:
        self._bot, self._idle = bot, idle

    def decide(self, seen: View, seed: bytes) -> Answer:
        """See `Player`; the time is that on the clock, for the program's own cannot be told from here."""
        began = time.perf_counter_ns()
        try:
            action = self._bot.ask(seen, seed)
        except BotFailed as error:
            raise NoAnswer(f"{error.kind}: {error}") from error
        return Answer(action, time.perf_counter_ns() - began)

    def leave(self) -> None:
        """See `Player`."""
        self._idle.append(self._bot)


@lru_cache(maxsize=64)
def read_outside(rest: str, budget: int | None) -> OutsideEntrant:
    """The entrant of ``stdio:REST``; the same one each time, for its processes are kept. Raises `UnknownBot`."""
    playouts, colon, command = rest.partition(":")
    if colon and playouts.isascii() and playouts.isdecimal() and len(playouts) < 9:
        return OutsideEntrant(command, int(playouts))
    return OutsideEntrant(rest, budget)
