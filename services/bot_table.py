"""A table of bots that nobody keeps: for trying and measuring them."""

from __future__ import annotations

from domain import commands as c
from domain.bots import BOTS, STAND_IN, Action
from domain.cards import Seat
from domain.game import advance
from domain.ruleset import RuleSet
from domain.shuffle import hash_parts
from domain.state import State


def opened(rules: RuleSet) -> State:
    """A table of bots alone, which is dealt at once; the same cards each time."""
    plan = c.SeatPlan(kind="bot", bot=BOTS[STAND_IN].id)
    opening = c.OpenTable(
        game="trial",
        rules=rules,
        secret=hash_parts("hearts/v1/bot-trial"),
        seats=(plan,) * rules.players,
        server_key="00" * 32,
        stand_in=BOTS[STAND_IN].id,
    )
    return advance(None, opening)[1]


def command(seat: Seat, action: Action, at: int) -> c.PassCards | c.PlayCard | c.ChooseMoon:
    """The command of a seat's action."""
    if isinstance(action, tuple):
        return c.PassCards(who=seat, cards=action, at=at)
    if isinstance(action, str):
        return c.ChooseMoon(who=seat, choice=action, at=at)
    return c.PlayCard(who=seat, card=action, at=at)
