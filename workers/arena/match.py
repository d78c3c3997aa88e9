"""One match of an arena: a hand, or a whole game, of bots that know of each other nothing but the cards.

All seats bear the same name at the table, and what a bot's chance follows from is the deal, the seat and the number of
the decision. So nothing tells in which slot of the arena a bot was entered: equal bots play equal cards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast

import msgspec

from domain import events as e
from domain.bots import BOTS, STAND_IN, UnknownBot, decision_number
from domain.cards import DECK_SIZE, Seat
from domain.commands import AnyCommand, ChooseMoon, OpenTable, PassCards, PlayCard, SeatPlan
from domain.events import BotName
from domain.game import advance, fold, is_over, to_act
from domain.refusals import Refused
from domain.rules import moon_shooter, sun_shooter
from domain.ruleset import LONGEST_CYCLE, RuleSet
from domain.seating import Run, deal_hand
from domain.shuffle import bot_seed, hash_parts
from domain.state import State
from domain.view import View, view
from workers.arena.bots import read_entrant, stand_in
from workers.arena.seat import Entrant, IllegalAnswer, NoAnswer, Player
from workers.arena.seatings import Seating, seatings_of

NOBODY: Final = BotName("arena", "1", 0)
"""What every seat is called at the table."""
LONG: Final = 2 * LONGEST_CYCLE
"""Hands of the chain of a table at which one is played, wherever in the cycle of passes: none of them is the last one."""
ILLEGAL: Final = "illegal"
"""The kind of a decision that is lost by an answer; all others are lost without one."""
FINENESS: Final = 16
"""Times of moves are counted in classes, of which so many double the time."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What an arena plays: with the number of a deal it says everything about it."""

    rules: RuleSet
    bots: tuple[str, ...]
    """As `read_entrant` reads them, budgets included."""
    versions: tuple[str, ...]
    seed: int
    games: bool = False
    """Whole games, not single hands with the totals at 0."""

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """The bots. Raises `UnknownBot`, also where this program has another version of one."""
        return _entrants(self.bots, self.versions)


@lru_cache(maxsize=8)
def _entrants(bots: tuple[str, ...], versions: tuple[str, ...]) -> tuple[Entrant, ...]:
    entrants = tuple(read_entrant(text) for text in bots)
    for entrant, version in zip(entrants, versions, strict=True):
        if entrant.id.version != version:
            raise UnknownBot(f"{entrant.text} is of version {entrant.id.version} here, and not of {version}")
    return entrants


def plan_of(rules: RuleSet, entrants: Sequence[Entrant], seed: int, *, games: bool = False) -> Plan:
    """The plan of an arena of these bots."""
    bots, versions = tuple(one.text for one in entrants), tuple(one.id.version for one in entrants)
    return Plan(rules=rules, bots=bots, versions=versions, seed=seed, games=games)


class Score(msgspec.Struct):
    """What one bot came to in the matches of a deal."""

    points: int = 0
    hands: int = 0
    """A hand counts once for each seat that the bot had in it; likewise games."""
    games: int = 0
    """Games that ended."""
    won: float = 0.0
    """Shares of won games."""
    moons: int = 0
    """Moons and suns that it shot."""
    moves: int = 0
    illegal: int = 0
    """Answers that were against the rules, or no answers to what was asked."""
    unanswered: int = 0
    lost: dict[str, int] = msgspec.field(default_factory=dict)
    """Both of these, by kind: `ILLEGAL`, or that of `NoAnswer`."""
    first_lost: str = ""
    """How the first of them was lost: its kind, and what happened."""
    cpu_ns: int = 0
    """Time of all its answers."""
    times: dict[int, int] = msgspec.field(default_factory=dict)
    """Answers by the class of their time, see `FINENESS`."""

    def lose(self, kind: str, why: str) -> None:
        """Count a decision that is lost."""
        if kind == ILLEGAL:
            self.illegal += 1
        else:
            self.unanswered += 1
        self.lost[kind] = self.lost.get(kind, 0) + 1
        self.first_lost = self.first_lost or f"{kind}: {why}"

    def time(self, cpu_ns: int) -> None:
        """Count the time of an answer."""
        self.cpu_ns += cpu_ns
        place = time_class(cpu_ns)
        self.times[place] = self.times.get(place, 0) + 1


def time_class(cpu_ns: int) -> int:
    """The class that a time is counted in."""
    return int(FINENESS * math.log2(max(1, cpu_ns)))


def class_ns(place: int) -> float:
    """The middle of a class, within 2.2 % of all times in it."""
    return float(2 ** ((place + 0.5) / FINENESS))


class Dealt(msgspec.Struct, frozen=True):
    """What came of a deal."""

    deal: int
    matches: int
    scores: list[Score]
    """By bot."""


class Table(NamedTuple):
    """A table right after its deal, before anybody has moved. The same for all seatings."""

    state: State
    events: list[e.AnyEvent]


def open_table(plan: Plan, deal: int) -> Table:
    """The table of a deal, which are counted from 1. Raises `InvalidRules`.

    A single hand is one out of the cycle of passes, deal after deal; the game it belongs to goes on behind it, so that no
    bot plays it as the last one.
    """
    rules, seed = plan.rules, str(plan.seed).encode()
    if not plan.games:
        rules = msgspec.structs.replace(rules, hand_limit=None)
    seats = tuple(SeatPlan(kind="bot", bot=NOBODY) for _ in range(rules.players))
    command = OpenTable(
        game=f"arena-{plan.seed}-{deal}",
        rules=rules,
        secret=hash_parts("hearts/v1/arena", seed, str(deal).encode()),
        seats=seats,
        server_key="00" * 32,
        stand_in=BOTS[STAND_IN].id,
        hints=False,
        chain=64 if plan.games else LONG,
    )
    events, state = advance(None, command)
    hand = 1 if plan.games else 1 + (deal - 1) % len(rules.pass_cycle)
    if hand == 1:
        return Table(state, _known(events))
    events.pop()  # the deal of the first hand
    run = Run(fold(None, events), 0)
    deal_hand(run, hand)
    return Table(run.state, _known([*events, *run.events]))


def _known(events: list[e.Event]) -> list[e.AnyEvent]:
    return cast("list[e.AnyEvent]", events)


def play_deal(plan: Plan, deal: int) -> Dealt:
    """What comes of a deal in all its seatings."""
    table, entrants = open_table(plan, deal), plan.entrants
    seatings = seatings_of(len(entrants), plan.rules.players, deal_id(plan, deal))
    scores = [Score() for _ in entrants]
    for seating in seatings:
        play_match(plan, table.state, seating, scores)
    return Dealt(deal, len(seatings), scores)


def deal_id(plan: Plan, deal: int) -> bytes:
    """From what the seatings of a deal are drawn."""
    return f"{plan.seed}/{deal}".encode()


def play_match(
    plan: Plan,
    state: State,
    seating: Seating,
    scores: Sequence[Score],
    tell: Callable[[list[e.AnyEvent]], object] = lambda _: None,
) -> State:
    """Play one seating, and add what came of it to ``scores``; ``tell`` is given the events of each move.

    Returns the table at its end: of a single hand the next one is dealt already, or the game is over.
    """
    players = [plan.entrants[bot].sit() for bot in seating]
    scored = [scores[bot] for bot in seating]
    try:
        while not is_over(state):
            before, (events, state) = state, _move(state, players, scored)
            tell(_known(events))
            if len(state.hands) > len(before.hands):
                _count_hand(before, events, state, scored)
                if not plan.games:
                    break
    finally:
        for player in players:
            player.leave()
    if plan.games:
        for seat, score in enumerate(scored):
            score.games += 1
            score.won += (seat in state.winners) / max(1, len(state.winners))
    return state


def _move(state: State, players: Sequence[Player], scored: Sequence[Score]) -> tuple[list[e.Event], State]:
    """The next move: what the bot in the seat decides, or the stand-in where that fails."""
    hand, seat = state.hand, to_act(state)[0]
    assert hand is not None
    seen, score = view(state, seat), scored[seat]
    seed = bot_seed(bytes.fromhex(hand.secret), seat, decision_number(state, seat))
    score.moves += 1
    try:
        answer = players[seat].decide(seen, seed)
    except NoAnswer as error:
        score.lose(error.kind, str(error))
        return _stand_in(state, seat, seen, seed)
    except IllegalAnswer as error:
        score.time(error.cpu_ns)
        score.lose(ILLEGAL, str(error))
        return _stand_in(state, seat, seen, seed)
    score.time(answer.cpu_ns)
    command = command_of(seat, answer.action)
    why = f"{answer.action!r:.80} is no answer"
    if command is not None:
        try:
            return advance(state, command)
        except Refused as error:
            why = str(error)
    score.lose(ILLEGAL, why)
    return _stand_in(state, seat, seen, seed)


def _stand_in(state: State, seat: Seat, seen: View, seed: bytes) -> tuple[list[e.Event], State]:
    command = command_of(seat, stand_in(seen, seed))
    assert command is not None
    return advance(state, command)


def command_of(seat: Seat, action: Any) -> AnyCommand | None:
    """The move that an answer stands for; none where it is of no kind of answer."""
    if action == "add" or action == "subtract":
        return ChooseMoon(who=seat, choice=action)
    if isinstance(action, tuple):
        return PassCards(who=seat, cards=action) if all(map(_is_card, action)) else None
    return PlayCard(who=seat, card=action) if _is_card(action) else None


def _is_card(one: object) -> bool:
    return isinstance(one, int) and not isinstance(one, bool) and 0 <= one < DECK_SIZE


def _count_hand(before: State, events: Sequence[e.Event], after: State, scored: Sequence[Score]) -> None:
    for score, points in zip(scored, after.hands[-1], strict=True):
        score.points += points
        score.hands += 1
    end = next(place for place, event in enumerate(events) if isinstance(event, e.HandScored))
    hand = fold(before, events[:end]).hand
    assert hand is not None
    shooters = (shooter(before.terms, hand) for shooter in (sun_shooter, moon_shooter))
    shot = next((seat for seat in shooters if seat is not None), None)
    if shot is not None:
        scored[shot].moons += 1
