"""Games in which some seats sign their moves."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import msgspec

from domain import commands as c
from domain import events as e
from domain.bots import house_move
from domain.game import is_over, to_act
from domain.ruleset import RuleSet
from domain.shuffle import genesis_head, next_head
from domain.signing import HISTORY_MARKS, Signed, moon_action, pass_action, play_action
from domain.variants import ruleset_of
from services.codec import CODEC
from tests.support.games import Game, clock, move_key, open_game, random_move
from tests.support.proofs import KEY

Move = c.PassCards | c.PlayCard | c.ChooseMoon


def heads_of(events: list[e.Event], game: str = "g-test") -> list[bytes]:
    """The heads of a chain of events, that of no event first."""
    heads = [genesis_head(game)]
    for number, event in enumerate(events, 1):
        heads.append(next_head(heads[-1], CODEC.encode(event, number)[0]))
    return heads


def mark_of(events: list[e.Event]) -> int:
    """The first event that a move may be signed at."""
    return max(number for number, event in enumerate(events, 1) if type(event) in HISTORY_MARKS)


def action_of(command: Move) -> str:
    """What is signed of a command."""
    match command:
        case c.PlayCard():
            return play_action(command.card)
        case c.PassCards():
            return pass_action(command.cards)
        case _:
            return moon_action(command.choice)


def signature(events: list[e.Event], seat: int, command: Move, seq: int | None = None) -> Signed:
    """The seat's signature of a command after ``events``, by the head of event ``seq`` (the last)."""
    heads = heads_of(events)
    at = len(events) if seq is None else seq
    return move_key(seat).sign("g-test", at, heads[at], action_of(command))


def sign(events: list[e.Event], seat: int, command: Move, seq: int | None = None) -> Any:
    """The command with the seat's signature."""
    return msgspec.structs.replace(command, signed=signature(events, seat, command, seq))


def play_signed(
    rules: RuleSet, seed: int, kinds: str = "kkpb", *, moves: int | None = None, away: int | None = None
) -> Game:
    """A game to its end or for so many moves, each of a seat of kind ``k`` signed at some event that it may be signed at.

    The seat ``away`` is handed to the stand-in bot right after the deal.
    """
    rng, ticks = Random(seed), clock()
    game = open_game(rules, rng, kinds, ticks=ticks, server_key=KEY.public)
    if away is not None:
        game.do(c.StandUp(at=next(ticks), player=f"p{away}", seat=away))
    while not is_over(game.state) and moves != 0:
        seat = rng.choice(to_act(game.end))
        if game.end.seats[seat].away:
            game.do(house_move(game.end, seat, next(ticks)))
        else:
            command = random_move(game.end, rng, next(ticks))
            seat = seat_of(game, command)
            if kinds[seat] == "k":
                events = game.events
                command = sign(events, seat, command, rng.randint(mark_of(events), len(events)))
            game.do(command)
        moves = None if moves is None else moves - 1
    return game


def seat_of(game: Game, command: Move) -> int:
    """Whose move a command is."""
    who = command.who
    return who if isinstance(who, int) else int(who[1:])


@cache
def signed_game(**rules: Any) -> Game:
    """A game of two hands in which seats 0 and 1 sign, seat 2 does not, and a bot sits at seat 3."""
    return play_signed(ruleset_of({"variant": "standard", "players": 4, "hand_limit": 2} | rules), 7)
