"""Tables where somebody must pass or play, and what the seat to act knows there."""

from __future__ import annotations

from random import Random

import msgspec

from domain.bots.search import Arm, Position
from domain.game import is_over, to_act
from domain.ruleset import RuleSet
from domain.state import State
from domain.view import view
from tests.support.games import play_game


def somewhere(rules: RuleSet, seed: int) -> State | None:
    """A table of bots where somebody must pass or play, random moves into its first hands; none where that is over."""
    rules = msgspec.structs.replace(rules, hand_limit=2)
    moves = Random(seed).randrange(1 + 2 * rules.players * (rules.hand + 1))
    state = play_game(rules, seed, moves=moves, kinds="b" * rules.players, bot="rules").end
    return None if is_over(state) or state.phase not in ("pass", "play") else state


def position_of(state: State) -> tuple[Position, list[Arm]]:
    """What the seat to act knows, and what it may try."""
    position = Position(view(state, to_act(state)[0]))
    return position, position.arms()
