"""House bots: pure functions of what their seat may know.

A policy is ``policy(view, seed, playouts) -> action``: the `View` of the seat to act, 32 bytes from which everything
random follows, and the playouts it may spend. The action is a tuple of cards for a pass, a card for a play, and
``"add"`` or ``"subtract"`` for a moon.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import msgspec

from domain.bots.random import random_policy
from domain.bots.rules import rules_policy
from domain.cards import Card, Seat
from domain.commands import ChooseMoon, PassCards, PlayCard
from domain.events import BotName, Choice
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
}
"""Every house bot, by its name."""
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


def house_move(state: State, seat: Seat, at: int) -> PassCards | PlayCard | ChooseMoon:
    """The move that the house makes for ``seat``: its own bot's, or the stand-in's for a person's seat."""
    one = state.seats[seat]
    named = one.bot if one.kind == "bot" and one.bot is not None else state.stand_in
    hand = state.hand
    assert hand is not None
    seed = bot_seed(bytes.fromhex(hand.secret), seat, decision_number(state, seat))
    action = BOTS[named.name].policy(view(state, seat), seed, named.budget)
    by: Literal["bot", "clock"] = "bot" if one.house_plays else "clock"
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
