"""The fold: a table's state from its events. It judges nothing, it only takes note.

State is changed in place, but only ever on a copy that nobody else holds: measured ten times faster than a new value an
event. `domain.game` is the door to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec
from msgspec import UNSET

from domain import events as e
from domain.cards import CARDS, cards_of, read_mask
from domain.refusals import CorruptLog
from domain.rules import find_opener, kitty_in_trick, moon_chooser, moon_shooter
from domain.ruleset import terms_of
from domain.state import HandState, SeatState, State

MISSING_DEAL: Final = "the cards of this hand are not known yet"


def evolve(state: State | None, event: e.Event) -> State:
    """The state after one more event."""
    return fold(state, (event,))


def fold(state: State | None, events: Iterable[e.Event]) -> State:
    """The state after ``events``, in order. ``state`` itself is left alone.

    Raises `CorruptLog` for events that do not follow from it.
    """
    folded = State.__new__(State) if state is None else state.copy()
    folds = _FOLDS
    event: e.Event | None = None
    try:
        for event in events:
            folds[type(event)](folded, event)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise _does_not_follow(event, error) from error
    if event is not None:
        folded.last_at = event.at
    elif state is None:
        raise CorruptLog("a game begins with game_created, and there is no event")
    return folded


def apply(state: State, event: e.Event) -> None:
    """Change ``state`` by one event, in place: for whoever owns the copy. Raises as `fold` does."""
    try:
        _FOLDS[type(event)](state, event)
        state.last_at = event.at
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise _does_not_follow(event, error) from error


def _does_not_follow(event: e.Event | None, error: Exception) -> CorruptLog:
    # a state without its first event has no fields at all, so any other event fails on the first it looks at
    return CorruptLog(f"{type(event).__name__} does not follow: {error}")


def _created(state: State, event: e.GameCreated) -> None:
    if getattr(state, "game", None) is not None:
        raise CorruptLog("a game is created once")
    hidden = event.hidden
    reserved = {} if hidden is UNSET else hidden.reserved
    state.game, state.terms = event.game, terms_of(event.rules)
    state.chain_secret = "" if hidden is UNSET else hidden.chain
    state.anchor, state.chain, state.server_key = event.anchor, event.chain, event.server_key
    state.ready_seconds, state.stand_in, state.clock = event.ready_seconds, event.stand_in, event.clock
    state.rated, state.hints = event.rated, event.hints
    state.abandon_seconds = None if event.abandon_seconds is UNSET else event.abandon_seconds
    state.branch = None if event.branch is UNSET else event.branch
    state.deal_group, state.sealed = "" if event.deal_group is UNSET else event.deal_group, ()
    state.seats = [SeatState(reserved=reserved.get(seat, "")) for seat in range(event.rules.players)]
    state.first_ready_at, state.root, state.phase, state.since = None, "", "seats", event.at
    state.hand, state.hands, state.totals = None, [], [0] * event.rules.players
    state.moons = ()
    state.winners, state.reason = (), None


def _seat_taken(state: State, event: e.SeatTaken) -> None:
    state.seats[event.seat] = SeatState(
        kind=event.kind,
        player=event.player or "",
        bot=event.bot,
        reserved=state.seats[event.seat].reserved,
        entropy_commit=event.entropy_commit,
        public_key=event.public_key,
        ready=event.kind == "bot",
    )


def _seat_left(state: State, event: e.SeatLeft) -> None:
    state.seats[event.seat] = SeatState(reserved=state.seats[event.seat].reserved)


def _seat(state: State, seat: int, **changes: Any) -> None:
    state.seats[seat] = msgspec.structs.replace(state.seats[seat], **changes)


def _seat_ready(state: State, event: e.SeatReady) -> None:
    _seat(state, event.seat, ready=True, entropy=event.entropy)
    if state.first_ready_at is None:
        state.first_ready_at = event.at


def _locked(state: State, event: e.GameLocked) -> None:
    state.root = event.root


def _hand_dealt(state: State, event: e.HandDealt) -> None:
    hidden = event.hidden
    if hidden is UNSET:
        raise CorruptLog(MISSING_DEAL)
    terms = state.terms
    state.hand = HandState(
        event.hand,
        terms.pass_offset(event.hand),
        (event.hand - 1) % terms.players,
        [read_mask(text) for text in hidden.deal],
        read_mask(hidden.kitty),
        hidden.secret,
    )
    for seat, one in enumerate(state.seats):
        if one.returning:
            _seat(state, seat, away=False, returning=False)
    state.since = event.at
    state.phase = "pass" if state.hand.offset else "play"
    if not state.hand.offset:
        _give_lead(state)


def _give_lead(state: State) -> None:
    hand = _hand(state)
    hand.lead_with(*find_opener(state.terms, hand))


def _hand(state: State) -> HandState:
    if state.hand is None:
        raise CorruptLog("no hand has been dealt")
    return state.hand


def _passed(state: State, event: e.CardsPassed) -> None:
    hidden = event.hidden
    if hidden is UNSET:
        raise CorruptLog(MISSING_DEAL)
    hand = _hand(state)
    if isinstance(hidden, e.SignedPass):
        hand.note_signature(event.seat, hidden.signed_seq, hidden.signature)
        hidden = hidden.cards
    hand.passes[event.seat] = read_mask(hidden)


def _exchanged(state: State, event: e.PassesExchanged) -> None:
    _hand(state).exchange()
    _give_lead(state)
    state.phase, state.since = "play", event.at


def _played(state: State, event: e.CardPlayed) -> None:
    hand = state.hand
    if hand is None or hand.turn != event.seat:
        raise CorruptLog(f"seat {event.seat} plays out of turn")
    hand.lay(CARDS[event.card], state.terms.breakers)
    state.since = event.at


def _trick_ended(state: State, event: e.TrickEnded) -> None:
    hand = _hand(state)
    extra = cards_of(hand.kitty) if kitty_in_trick(state.terms, hand) else []
    hand.take(event.seat, state.terms, extra)
    if hand.turn < 0 and moon_chooser(state.terms, hand, state.totals) is not None:
        state.phase = "moon"


def _moon_chosen(state: State, event: e.MoonChosen) -> None:
    _hand(state).choice = event.choice


def _scored(state: State, event: e.HandScored) -> None:
    hand = state.hand
    state.hands.append(event.points)
    # a kitty that is sealed tells no moon, as it tells no cards
    told = hand is not None and not (event.deal is None and hand.kitty)
    state.moons = (*state.moons, moon_shooter(state.terms, _hand(state)) if told else None)
    state.totals = list(event.totals)
    if event.deal is None:
        state.sealed = (*state.sealed, _hand(state))


def _revealed(state: State, event: e.HandsRevealed) -> None:
    if not state.sealed or state.sealed[0].number != event.hand:
        raise CorruptLog(f"hand {event.hand} is not the next that is to be revealed")
    at = event.hand - 1
    if at < len(state.moons):  # a hand that was broken off has no score
        shooter = moon_shooter(state.terms, state.sealed[0])
        state.moons = (*state.moons[:at], shooter, *state.moons[at + 1 :])
    state.sealed = state.sealed[1:]


def _to_bot(state: State, event: e.SeatToBot) -> None:
    _seat(state, event.seat, away=True, returning=False)


def _taken_back(state: State, event: e.SeatTakenBack) -> None:
    now = state.hints or state.phase == "over"
    _seat(state, event.seat, away=not now, returning=not now)


def _rotated(state: State, event: e.KeyRotated) -> None:
    state.server_key = event.server_key


def _ended(state: State, event: e.GameEnded) -> None:
    state.phase, state.winners, state.reason = "over", event.winners, event.reason
    if state.deal_group and state.hand is not None and state.hand.number > len(state.hands):
        state.sealed = (*state.sealed, state.hand)


_FOLDS: Final[dict[type[e.Event], Callable[[State, Any], None]]] = {
    e.GameCreated: _created,
    e.SeatTaken: _seat_taken,
    e.SeatLeft: _seat_left,
    e.SeatReady: _seat_ready,
    e.GameLocked: _locked,
    e.HandDealt: _hand_dealt,
    e.CardsPassed: _passed,
    e.PassesExchanged: _exchanged,
    e.CardPlayed: _played,
    e.TrickEnded: _trick_ended,
    e.MoonChosen: _moon_chosen,
    e.HandScored: _scored,
    e.HandsRevealed: _revealed,
    e.SeatToBot: _to_bot,
    e.SeatTakenBack: _taken_back,
    e.KeyRotated: _rotated,
    e.GameEnded: _ended,
}
