"""Games in which the house moves for its bots, for persons whose time is over, and for those who handed their seat over."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import msgspec

from domain import commands as c
from domain import events as e
from domain.bots import house_move
from domain.cards import Seat, cards_of, distinct_cards
from domain.claim import proving_order
from domain.game import deadline, is_over, to_act
from domain.rules import legal_plays
from domain.ruleset import RuleSet
from domain.state import State
from domain.view import view
from tests.support.games import Game, hand_of, open_game, random_move
from tests.support.proofs import KEY

Move = c.PassCards | c.PlayCard | c.ChooseMoon
House = Callable[[State, Seat, int], Move]
"""Who decides for the house: of a table, a seat and a time in ms."""


class Cheat:
    """A house whose first decisions are honest ones, and one of them, of a kind and for a kind of seat, is not."""

    def __init__(self, kind: type[Move], by: str = "bot", after: int = 0, *, person: bool = False) -> None:
        self.kind, self.by, self.after, self.person = kind, by, after, person
        self.honest: Move | None = None
        """What should have been done; none until it was not."""
        self.instead: Move | None = None

    def __call__(self, state: State, seat: Seat, at: int) -> Move:
        """The move of the house."""
        move = house_move(state, seat, at)
        fits = isinstance(move, self.kind) and move.by == self.by
        if self.honest is not None or not fits or self.person is (state.seats[seat].kind == "bot"):
            return move
        other = another(state, seat, move)
        if other is None:
            return move
        self.after -= 1
        if self.after >= 0:
            return move
        self.honest, self.instead = move, other
        return other


def another(state: State, seat: Seat, move: Move) -> Move | None:
    """Another legal move in the place of ``move``; none where it is the only one."""
    hand = hand_of(state)
    if isinstance(move, c.ChooseMoon):
        return msgspec.structs.replace(move, choice="add" if move.choice == "subtract" else "subtract")
    if isinstance(move, c.PlayCard):
        cards = [card for card in distinct_cards(legal_plays(state.terms, hand)) if card != move.card]
        return msgspec.structs.replace(move, card=cards[0]) if cards else None
    kept = [card for card in cards_of(hand.held[seat]) if card not in move.cards]
    return msgspec.structs.replace(move, cards=(*move.cards[1:], kept[0])) if kept and move.cards else None


def bot_game(
    rules: RuleSet,
    seed: int,
    kinds: str,
    *,
    house: House = house_move,
    bot: str = "rules",
    seconds: int | None = None,
    hints: bool = False,
    late: float = 0.5,
    leaves: float = 0.0,
    claims: bool = False,
    moves: int | None = None,
) -> Game:
    """A game in which ``house`` moves for bots, and for a share ``late`` of the persons' moves where there is a clock.

    Persons move at random; before a move one may, with the chance ``leaves``, hand its seat over or come back to it.
    With ``claims`` they claim as soon as they can.
    """
    rng = Random(seed)
    setup = open_game(rules, rng, kinds, bot=bot, server_key=KEY.public)
    game = Game(rules)
    game.do(msgspec.structs.replace(setup.steps[0].command, clock=seconds, hints=hints))
    for step in setup.steps[1:]:
        game.do(step.command)
    while not is_over(game.state) and moves != 0:
        if rng.random() < leaves:
            _come_and_go(game, rng)
        _move(game, rng, house, late, claims)
        moves = None if moves is None else moves - 1
    return game


def _come_and_go(game: Game, rng: Random) -> None:
    state = game.end
    persons = [seat for seat, one in enumerate(state.seats) if one.kind == "player"]
    if persons:
        seat = rng.choice(persons)
        one, at = state.seats[seat], state.last_at + 5
        back = one.away and not one.returning
        command = c.TakeBack if back else c.StandUp
        game.do(command(at=at, player=one.player, seat=seat))


def _move(game: Game, rng: Random, house: House, late: float, claims: bool) -> None:
    state = game.end
    seat, due, at = to_act(state)[0], deadline(state), state.last_at + 5
    if state.seats[seat].house_plays:
        game.do(house(state, seat, at))
    elif due is not None and rng.random() < late:
        game.do(house(state, seat, max(at, due)))
    elif claims and state.phase == "play" and proving_order(view(state, seat)) is not None:
        game.do(c.ClaimRest(at=at, who=state.seats[seat].player))
    else:
        game.do(random_move(state, rng, at, seats=[seat]))


def number_of(game: Game, move: Move) -> int:
    """The number of the event that a move was kept as."""
    place = next(place for place, step in enumerate(game.steps) if step.command is move)
    return sum(len(step.events) for step in game.steps[:place]) + 1


def houses(events: list[e.Event]) -> int:
    """How many moves of a game are the house's."""
    return sum(getattr(event, "by", "") in ("bot", "clock") for event in events)
