"""Who plays in an arena: house bots and plug-ins by name, and whatever else can answer a view.

A match knows only `Entrant` and `Player`. A program of one's own, run as a child process, is another entrant; each kind of
them is entered in `KINDS`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import msgspec
from rq.timeouts import BaseTimeoutException

from domain.bots import BOTS, STAND_IN, Action, Bot, UnknownBot
from domain.events import BotName
from domain.view import View
from services.bot_plugins import plugin_names
from workers.arena.outside import plugin_entrant, read_outside, usual_playouts
from workers.arena.seat import Answer, Entrant, NoAnswer, Player

MOST_BOTS: Final = 26
"""As many as there are letters for them."""
MOST_PLAYOUTS: Final = 10_000_000


class HouseBot(msgspec.Struct, frozen=True):
    """A bot of `domain.bots`, with so many playouts. It remembers nothing, so it is its own player in every seat."""

    bot: Bot
    budget: int

    @property
    def text(self) -> str:
        """See `Entrant`."""
        return f"{self.bot.name}:{self.budget}" if self.bot.budget else self.bot.name

    @property
    def id(self) -> BotName:
        """See `Entrant`."""
        return BotName(self.bot.name, self.bot.version, self.budget)

    def sit(self) -> Player:
        """See `Entrant`."""
        return self

    def decide(self, seen: View, seed: bytes) -> Answer:
        """See `Player`."""
        began = time.process_time_ns()
        try:
            action = self.bot.policy(seen, seed, self.budget)
        except BaseTimeoutException:  # a worker breaks the whole job off
            raise
        except Exception as error:
            raise NoAnswer(f"{type(error).__name__}: {error}") from error
        return Answer(action, time.process_time_ns() - began)

    def leave(self) -> None:
        """See `Player`."""


KINDS: Final[dict[str, Callable[[str, int | None], Entrant]]] = {"stdio": read_outside}
"""What makes an entrant of ``KIND:REST``, given the rest and the budget that all shall have."""


def read_entrant(text: str, budget: int | None = None) -> Entrant:
    """The bot that ``text`` names: ``rules``, ``search``, ``search:500``, a plug-in likewise, or ``KIND:...`` of `KINDS`.

    ``budget`` is for those that take one and do not name it. Raises `UnknownBot`.
    """
    name, colon, rest = text.partition(":")
    if name in KINDS and colon:
        return KINDS[name](rest, budget)
    bot = BOTS.get(name)
    if bot is not None:
        return HouseBot(bot, _playouts(text, bot.budget, budget))
    plugins = plugin_names()
    if name in plugins:
        return plugin_entrant(name, _playouts(text, usual_playouts(name), budget))
    raise UnknownBot(f"there is no bot {text!r:.60}; there are {', '.join(sorted({*BOTS, *plugins}))}")


def is_outside(text: str) -> bool:
    """Whether the bot of `Entrant.text` decides in processes of its own."""
    return text.partition(":")[0] not in BOTS


def _playouts(text: str, usual: int, budget: int | None) -> int:
    """The playouts a decision of ``NAME`` or ``NAME:N``, of a bot that usually does so many; 0 for one that does none."""
    name, colon, rest = text.partition(":")
    if not colon:
        return budget if budget is not None and usual else usual
    if not usual:
        raise UnknownBot(f"{text!r:.60}: {name} does no playouts, so it has no budget")
    if not rest.isascii() or not rest.isdecimal() or not 1 <= int(rest[:12]) <= MOST_PLAYOUTS:
        raise UnknownBot(f"{text!r:.60}: a budget is a number of playouts from 1 to {MOST_PLAYOUTS}")
    return int(rest)


def stand_in(seen: View, seed: bytes) -> Action:
    """The decision of the bot that moves where another failed."""
    bot = BOTS[STAND_IN]
    return bot.policy(seen, seed, bot.budget)
