"""A bot tried: a hand of every published variant and number of seats, all its own, each decision held against the rules."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from domain.bots import decision_number
from domain.game import advance, is_over, to_act
from domain.ruleset import RuleSet
from domain.shuffle import bot_seed
from domain.variants import VARIANTS, ruleset_of
from domain.view import view
from services.bot_table import command, opened
from services.outside_bot import OutsideBot


def trial_rules() -> list[RuleSet]:
    """One hand of every published variant, with every number of seats that it is played with."""
    return [
        ruleset_of({"variant": name, "players": players, "hand_limit": 1})
        for name, variant in VARIANTS.items()
        for players in variant.seats
    ]


def try_bot(bot: OutsideBot, rules: Iterable[RuleSet] = ()) -> OutsideBot:
    """Let a bot play under each of ``rules``, `trial_rules` unless they are given.

    Returns the bot, which has counted its ``decisions`` and ``failures``.
    """
    for one in tuple(rules) or trial_rules():
        state, at = opened(one), count(1)
        while not is_over(state):
            assert state.hand is not None
            seat = to_act(state)[0]
            seed = bot_seed(bytes.fromhex(state.hand.secret), seat, decision_number(state, seat))
            _, state = advance(state, command(seat, bot(view(state, seat), seed), next(at)))
    return bot
