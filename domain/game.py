"""The decider: what may happen at a table, and what has.

`decide` turns a command into events or refuses it; `fold` turns events into a `State`. Both are pure. Deciding asks
`domain.rules` for every judgement.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from msgspec import UNSET

from domain import commands as c
from domain import events as e
from domain.cards import NAMES, Card, Seat, cards_of, distinct_cards, format_cards, format_mask
from domain.claim import proving_order
from domain.fold import evolve, fold
from domain.refusals import Refused
from domain.rules import (
    add_points,
    check_pass,
    check_play,
    game_end,
    hand_points,
    legal_plays,
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
from domain.signing import Signed, moon_action, pass_action, pass_signatures, play_action, require_signed
from domain.state import HandState, State
from domain.view import view
from domain.waiting import abandoned_at, bots_owe, deadline, left_until, to_act

__all__ = [
    "abandoned_at",
    "advance",
    "bots_owe",
    "deadline",
    "decide",
    "evolve",
    "fold",
    "initial",
    "is_over",
    "left_until",
    "to_act",
]


def initial() -> State | None:
    """The state of a game that nothing has happened in."""
    return None


def is_over(state: State | None) -> bool:
    """Whether the game has ended."""
    return state is not None and state.phase == "over"


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
    if isinstance(command.who, str):
        return _own_seat(state, command.who), "player"
    seat = command.who
    _check_playing(state)
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


def _own_seat(state: State, player: str) -> Seat:
    """The seat that a player moves for itself."""
    seat = state.seat_of(player)
    if seat is None:
        raise Refused("seat/not_yours", "you have no seat at this table")
    _check_playing(state)
    if state.seats[seat].away:
        raise Refused("seat/not_yours", "the stand-in bot plays your seat", hint="take the seat back first")
    return seat


def _check_playing(state: State) -> None:
    if state.phase == "over":
        raise Refused("game/over", "the game is over")
    if state.phase == "seats":
        raise Refused("game/not_started", "the game has not started", hint="wait until all are ready")


def _pass_cards(run: Run, command: c.PassCards) -> None:
    state = run.state
    seat, by = _mover(state, command)
    if state.phase != "pass":
        raise Refused("pass/not_now", "no cards are passed now")
    hand = run.hand
    if hand.passes[seat] is not None:
        raise Refused("pass/not_now", "you have passed already, and wait for the others")
    check_pass(state.terms, hand.held[seat], command.cards)
    signed = require_signed(state, seat, by, pass_action(command.cards), command.signed)
    text, commitment = format_cards(command.cards), None
    if hand.secret:
        key = hiding_key(bytes.fromhex(hand.secret), str(seat), "pass")
        commitment = commit_cards(key, text).hex()
    hidden = text if signed is None else e.SignedPass(text, signed.seq, signed.signature)
    run.add(e.CardsPassed(at=run.at, seat=seat, cards=commitment, by=by, hidden=hidden))
    if all(given is not None for given in run.hand.passes):
        run.add(e.PassesExchanged(at=run.at, hand=hand.number))


def _play_card(run: Run, command: c.PlayCard) -> None:
    seat, by = _mover(run.state, command)
    _check_turn(run, seat)
    check_play(run.state.terms, run.hand, command.card)
    signed = require_signed(run.state, seat, by, play_action(command.card), command.signed)
    _lay(run, command.card, by, signed)


def _check_turn(run: Run, seat: Seat) -> None:
    """Raise `Refused` unless ``seat`` is to play a card."""
    state, hand = run.state, run.hand
    if state.phase == "moon":
        raise Refused("play/hand_over", "every card of the hand has been played")
    if state.phase != "play" or hand.turn != seat:
        what = "the pass is not over" if state.phase == "pass" else f"it is the turn of seat {hand.turn}"
        raise Refused("play/not_your_turn", what)


def _lay(run: Run, card: Card, by: e.By, signed: Signed | None = None) -> None:
    """Let the seat to play lay ``card``, and what follows from it at once."""
    hand = run.hand
    seq, signature = (UNSET, UNSET) if signed is None else signed
    play = e.CardPlayed(
        at=run.at, seat=hand.turn, card=NAMES[card], by=by, signed_seq=seq, signature=signature
    )
    run.add(play)
    if hand.turn >= 0:
        return
    run.add(e.TrickEnded(at=run.at, seat=trick_taker(run.state.terms, hand)))
    if hand.turn < 0 and run.phase == "play":
        _score(run)


def _claim_rest(run: Run, command: c.ClaimRest) -> None:
    terms, seat = run.state.terms, _own_seat(run.state, command.who)
    _check_turn(run, seat)
    order = proving_order(view(run.state, seat))
    if order is None:
        raise Refused(
            "claim/not_certain",
            "your cards, your passes and the cards played do not show that you take every trick left",
            hint="play on, and claim again when they do",
        )
    hand, own = run.hand, iter(order)
    while hand.turn >= 0:
        mine = hand.turn == seat
        _lay(run, next(own) if mine else distinct_cards(legal_plays(terms, hand))[0], "claim")


def _choose_moon(run: Run, command: c.ChooseMoon) -> None:
    state = run.state
    seat, by = _mover(state, command)
    if state.phase != "moon":
        raise Refused("moon/not_now", "nobody has shot the moon")
    if moon_chooser(state.terms, run.hand, state.totals) != seat:
        raise Refused("moon/not_now", "another seat shot the moon")
    signed = require_signed(state, seat, by, moon_action(command.choice), command.signed)
    seq, signature = (UNSET, UNSET) if signed is None else signed
    choice = command.choice
    run.add(e.MoonChosen(at=run.at, seat=seat, choice=choice, by=by, signed_seq=seq, signature=signature))
    _score(run)


def _score(run: Run) -> None:
    state, terms, hand = run.state, run.state.terms, run.hand
    points = hand_points(terms, hand, state.totals, hand.choice)
    totals = add_points(terms, state.totals, points)
    sealed = bool(state.deal_group)
    deal, kitty, passes = (None, None, None) if sealed else _cards_of(hand)
    run.add(
        e.HandScored(
            at=run.at,
            hand=hand.number,
            secret=None if sealed else hand.secret or None,
            deal=deal,
            kitty=kitty,
            passes=passes,
            points=tuple(points),
            totals=tuple(totals),
            pass_signatures=UNSET if sealed else pass_signatures(state, hand),
        )
    )
    end = game_end(terms, totals, points, hand.number)
    if end is None:
        deal_hand(run, hand.number + 1)
        return
    run.add(e.GameEnded(at=run.at, winners=end.winners, totals=tuple(totals), reason=end.reason, secret=None))


def _cards_of(hand: HandState) -> tuple[tuple[str, ...], str, tuple[str, ...] | None]:
    """The deal, the kitty and the passes of a hand as events show them; no passes where not all have passed."""
    passes = None
    if hand.offset and None not in hand.passes:
        passes = tuple(format_mask(mask or 0) for mask in hand.passes)
    return tuple(format_mask(mask) for mask in hand.dealt), format_cards(cards_of(hand.kitty)), passes


def _reveal(run: Run, command: c.RevealHand) -> None:
    sealed = run.state.sealed
    if not sealed or sealed[0].number != command.hand:
        raise Refused("hand/not_over", f"hand {command.hand} is not the next of this table to be revealed")
    hand = sealed[0]
    deal, kitty, passes = _cards_of(hand)
    run.add(
        e.HandsRevealed(
            at=run.at,
            hand=hand.number,
            secret=hand.secret,
            deal=deal,
            kitty=kitty,
            passes=passes,
            pass_signatures=pass_signatures(run.state, hand),
        )
    )


def _abandon(run: Run, command: c.AbandonTable) -> None:
    state = run.state
    if state.phase == "over":
        raise Refused("game/over", "the game is over")
    due = abandoned_at(state)
    if due is None or command.at < due:
        raise Refused("game/not_over", "the table is not abandoned")
    # before the deal there is no hand, and a finished one is followed at once by the next or by the end
    hand = None if state.deal_group else state.hand
    secret = None if hand is None else hand.secret or None
    run.add(
        e.GameEnded(
            at=run.at,
            winners=(),
            totals=tuple(state.totals),
            reason="abandoned",
            secret=secret,
            pass_signatures=UNSET if hand is None else pass_signatures(state, hand),
        )
    )


def _rotate_key(run: Run, command: c.RotateKey) -> None:
    if run.phase == "over":
        raise Refused("game/over", "the game is over, and stays under the key that it ended under")
    run.add(e.KeyRotated(at=run.at, server_key=command.server_key, signature=command.signature))


_DECISIONS: Final[dict[type[c.Command], Callable[[Run, Any], None]]] = {
    c.OpenTable: open_table,
    c.SitDown: sit_down,
    c.StandUp: stand_up,
    c.TakeBack: take_back,
    c.GetReady: get_ready,
    c.LockTable: lock_table,
    c.AbandonTable: _abandon,
    c.PassCards: _pass_cards,
    c.PlayCard: _play_card,
    c.ChooseMoon: _choose_moon,
    c.ClaimRest: _claim_rest,
    c.RevealHand: _reveal,
    c.RotateKey: _rotate_key,
}
