"""House bots: pure functions of what their seat may know.

A policy is ``policy(view, seed, playouts) -> action``: the `View` of the seat to act, 32 bytes from which everything
random follows, and the playouts it may spend. The action is a tuple of cards for a pass, a card for a play, and
``"add"`` or ``"subtract"`` for a moon.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import msgspec

from domain.bots.levels import LEVELS, level_policy
from domain.bots.random import random_policy
from domain.bots.rules import rules_policy
from domain.bots.search import BUDGET, search_policy
from domain.cards import Card, Seat
from domain.commands import ChooseMoon, PassCards, PlayCard
from domain.events import BotName, Choice
from domain.refusals import HeartsError
from domain.shuffle import bot_seed, hash_parts
from domain.state import State
from domain.view import View, view

Action = tuple[Card, ...] | Card | Choice
Policy = Callable[[View, bytes, int], Action]


class Bot(msgspec.Struct, frozen=True, kw_only=True):
    """A policy under the name, version and budget by which events know it; a changed policy is a new version."""

    name: str
    version: str
    budget: int
    policy: Policy
    summary: str

    @property
    def id(self) -> BotName:
        """As events name it."""
        return BotName(self.name, self.version, self.budget)


BOTS: Final[dict[str, Bot]] = {
    "random": Bot(
        name="random",
        version="1",
        budget=0,
        policy=random_policy,
        summary="any legal card",
    ),
    "rules": Bot(
        name="rules",
        version="1",
        budget=0,
        policy=rules_policy,
        summary="a sound player by rules of thumb, for every family and number of seats",
    ),
    "search": Bot(
        name="search",
        version="1",
        budget=BUDGET,
        policy=search_policy,
        summary="the strongest: tries what it might do in sampled worlds, and plays for the game",
    ),
    **{
        f"level{number}": Bot(
            name=f"level{number}",
            version="1",
            budget=min(
                level.playouts, BUDGET
            ),  # without the kernel no level thinks more than the strongest bot
            policy=level_policy(number),
            summary=f"level {number} of {len(LEVELS)}, an opponent for people, who errs as they do",
        )
        for number, level in enumerate(LEVELS, 1)
    },
}
"""Every house bot, by its name, in its newest version."""
OLDER: Final[tuple[Bot, ...]] = ()
"""Earlier versions, each kept until the games that name it are over, and as long as their bots shall be checked."""
STAND_IN: Final = "rules"
"""The bot that moves for a seat whose clock ran out or whose person handed it over."""
ADVISER: Final = "rules"
"""The bot that gives hints."""


def decision_number(state: State, seat: Seat) -> int:
    """Which decision of its hand ``seat`` is to make: 0 the pass, 1, 2, ... its plays, then the moon choice."""
    hand = state.hand
    assert hand is not None
    if state.phase == "pass":
        return 0
    return state.terms.hand - hand.held[seat].bit_count() + 1


class UnknownBot(HeartsError):
    """A game names a bot, or a version of one, that this program does not have."""


def bot_of(named: BotName) -> Bot:
    """The bot that an event names, in that very version. Raises `UnknownBot`: another one would play other cards."""
    newest = BOTS.get(named.name)
    for bot in OLDER if newest is None else (newest, *OLDER):
        if (bot.name, bot.version) == (named.name, named.version):
            return bot
    raise UnknownBot(f"this program does not have bot {named.name:.40}@{named.version:.40}")


def house_bot(state: State, seat: Seat) -> BotName:
    """The bot that makes the house's moves for ``seat``: its own, or the stand-in for a person's seat."""
    one = state.seats[seat]
    return one.bot if one.kind == "bot" and one.bot is not None else state.stand_in


def house_action(state: State, seat: Seat) -> Action:
    """What the house decides for ``seat``, which must act (``docs/spec/audit.md`` 11). Raises `UnknownBot`.

    It follows from the bot's name and version, the seat's view, the seat's budget, and a seed that follows from the
    secret of the hand (an empty one where the hand has none), the seat, and which decision of its hand it is.
    """
    named, hand = house_bot(state, seat), state.hand
    assert hand is not None
    seed = bot_seed(bytes.fromhex(hand.secret), seat, decision_number(state, seat))
    return bot_of(named).policy(view(state, seat), seed, named.budget)


def house_move(state: State, seat: Seat, at: int) -> PassCards | PlayCard | ChooseMoon:
    """The move that the house makes for ``seat`` at ``at`` (ms). Raises `UnknownBot`."""
    action = house_action(state, seat)
    by: Literal["bot", "clock"] = "bot" if state.seats[seat].house_plays else "clock"
    if isinstance(action, tuple):
        return PassCards(who=seat, cards=action, by=by, at=at)
    if isinstance(action, str):
        return ChooseMoon(who=seat, choice=action, by=by, at=at)
    return PlayCard(who=seat, card=action, by=by, at=at)


def advise(seen: View) -> Action:
    """What `ADVISER` would do in the place of the seat that sees ``seen`` and must act: a hint.

    Nothing but the view goes in. The seed, which breaks ties, follows from the place in the game and not, as for a
    bot's own moves, from the secret of the hand, which would be asked for what nobody at the table may know yet.
    """
    place = (seen.seat, seen.hand_number, len(seen.history))
    seed = hash_parts("hearts/v1/hint", seen.game.encode(), *[str(part).encode() for part in place])
    bot = BOTS[ADVISER]
    return bot.policy(seen, seed, bot.budget)
