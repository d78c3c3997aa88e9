"""The decider: what may happen at a table, and what has.

`decide` turns a command into events or refuses it; `fold` turns events into a `State`. Both are pure. Deciding asks
`domain.rules` for every judgement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from domain import commands as c
from domain import events as e
from domain.cards import NAMES, Seat, cards_of, format_cards, format_mask
from domain.fold import evolve, fold
from domain.refusals import Refused
from domain.rules import (
    add_points,
    check_pass,
    check_play,
    game_end,
    hand_points,
    moon_chooser,
    trick_taker,
)
from domain.seating import (
    Run,
    deal_hand,
    get_ready,
    lock_table,
    open_table,
    seat_state,
    sit_down,
    stand_up,
    take_back,
)
from domain.shuffle import commit_cards, hiding_key
from domain.state import State

__all__ = ["advance", "deadline", "decide", "evolve", "fold", "initial", "is_over", "to_act"]


def initial() -> State | None:
    """The state of a game that nothing has happened in."""
    return None


def is_over(state: State | None) -> bool:
    """Whether the game has ended."""
    return state is not None and state.phase == "over"


def to_act(state: State) -> tuple[Seat, ...]:
    """The seats the table waits for: who must still get ready, pass, play or choose."""
    hand = state.hand
    if state.phase == "seats":
        full = all(one.kind != "open" for one in state.seats)
        return tuple(seat for seat, one in enumerate(state.seats) if full and not one.ready)
    if hand is None or state.phase == "over":
        return ()
    if state.phase == "pass":
        return tuple(seat for seat, given in enumerate(hand.passes) if given is None)
    if state.phase == "moon":
        shooter = moon_chooser(state.terms, hand, state.totals)
        return () if shooter is None or hand.choice is not None else (shooter,)
    # between the events of one command nobody is to act
    return () if hand.turn < 0 else (hand.turn,)


def deadline(state: State) -> int | None:
    """When the house acts for those the table waits for, in ms; none where it waits for as long as they like."""
    if state.phase == "seats":
        first = state.first_ready_at
        return None if first is None else first + state.ready_seconds * 1000
    if state.clock is None or all(state.seats[seat].house_plays for seat in to_act(state)):
        return None
    return state.since + state.clock * 1000


def decide(state: State | None, command: c.AnyCommand) -> list[e.Event]:
    """The events that ``command`` causes, in order.

    Raises `Refused` where the game as it stands does not allow it, `InvalidRules` for an unplayable rule set.
    """
    return advance(state, command)[0]


def advance(state: State | None, command: c.AnyCommand) -> tuple[list[e.Event], State]:
    """`decide` and the `fold` of its answer in one pass: the events and the state after them."""
    if (state is None) is not isinstance(command, c.OpenTable):
        if state is None:
            raise Refused("game/unknown", "there is no such game")
        raise Refused("game/over" if is_over(state) else "seat/taken", "this table is open already")
    run = Run(state, command.at)
    _DECISIONS[type(command)](run, command)
    return run.events, run.state


def _mover(state: State, command: c.PassCards | c.PlayCard | c.ChooseMoon) -> tuple[Seat, e.By]:
    """The seat that a move is for and in whose name it is made."""
    who = command.who
    if isinstance(who, str):
        seat = state.seat_of(who)
        if seat is None:
            raise Refused("seat/not_yours", "you have no seat at this table")
    else:
        seat = who
    if state.phase == "over":
        raise Refused("game/over", "the game is over")
    if state.phase == "seats":
        raise Refused("game/not_started", "the game has not started", hint="wait until all are ready")
    if isinstance(who, str):
        if state.seats[seat].away:
            raise Refused(
                "seat/not_yours", "the stand-in bot plays your seat", hint="take the seat back first"
            )
        return seat, "player"
    house_plays = seat_state(state, seat).house_plays
    if command.by == "bot" and not house_plays:
        raise Refused("seat/not_yours", f"no bot plays seat {seat}")
    if command.by == "clock":
        if house_plays:
            raise Refused("seat/not_yours", f"a bot plays seat {seat}, and no clock runs for it")
        due = deadline(state)
        if due is None or command.at < due:
            raise Refused("seat/not_yours", f"the time of seat {seat} is not over")
    return seat, command.by


def _pass_cards(run: Run, command: c.PassCards) -> None:
    state = run.state
    seat, by = _mover(state, command)
    if state.phase != "pass":
        raise Refused("pass/not_now", "no cards are passed now")
    hand = run.hand
    if hand.passes[seat] is not None:
        raise Refused("pass/not_now", "you have passed already, and wait for the others")
    check_pass(state.terms, hand.held[seat], command.cards)
    text = format_cards(command.cards)
    key = hiding_key(bytes.fromhex(hand.secret), str(seat), "pass")
    run.add(e.CardsPassed(at=run.at, seat=seat, cards=commit_cards(key, text).hex(), by=by, hidden=text))
    if all(given is not None for given in run.hand.passes):
        run.add(e.PassesExchanged(at=run.at, hand=hand.number))


def _play_card(run: Run, command: c.PlayCard) -> None:
    state = run.state
    seat, by = _mover(state, command)
    hand = run.hand
    if state.phase == "moon":
        raise Refused("play/hand_over", "every card of the hand has been played")
    if state.phase != "play" or hand.turn != seat:
        what = "the pass is not over" if state.phase == "pass" else f"it is the turn of seat {hand.turn}"
        raise Refused("play/not_your_turn", what)
    check_play(state.terms, hand, command.card)
    run.add(e.CardPlayed(at=run.at, seat=seat, card=NAMES[command.card], by=by))
    if hand.turn >= 0:
        return
    run.add(e.TrickEnded(at=run.at, seat=trick_taker(state.terms, hand)))
    if hand.turn < 0 and run.phase == "play":
        _score(run)


def _choose_moon(run: Run, command: c.ChooseMoon) -> None:
    state = run.state
    seat, by = _mover(state, command)
    if state.phase != "moon":
        raise Refused("moon/not_now", "nobody has shot the moon")
    if moon_chooser(state.terms, run.hand, state.totals) != seat:
        raise Refused("moon/not_now", "another seat shot the moon")
    run.add(e.MoonChosen(at=run.at, seat=seat, choice=command.choice, by=by))
    _score(run)


def _score(run: Run) -> None:
    state, terms, hand = run.state, run.state.terms, run.hand
    points = hand_points(terms, hand, state.totals, hand.choice)
    totals = add_points(terms, state.totals, points)
    passes = tuple(format_mask(mask or 0) for mask in hand.passes) if hand.offset else None
    run.add(
        e.HandScored(
            at=run.at,
            hand=hand.number,
            secret=hand.secret,
            deal=tuple(format_mask(mask) for mask in hand.dealt),
            kitty=format_cards(cards_of(hand.kitty)),
            passes=passes,
            points=tuple(points),
            totals=tuple(totals),
        )
    )
    end = game_end(terms, totals, points, hand.number)
    if end is None:
        deal_hand(run, hand.number + 1)
        return
    run.add(e.GameEnded(at=run.at, winners=end.winners, totals=tuple(totals), reason=end.reason, secret=None))


_DECISIONS: Final[dict[type[c.Command], Callable[[Run, Any], None]]] = {
    c.OpenTable: open_table,
    c.SitDown: sit_down,
    c.StandUp: stand_up,
    c.TakeBack: take_back,
    c.GetReady: get_ready,
    c.LockTable: lock_table,
    c.PassCards: _pass_cards,
    c.PlayCard: _play_card,
    c.ChooseMoon: _choose_moon,
}
