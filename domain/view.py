"""What one seat, or a spectator, may know of a table. The only way out for hidden cards.

Everything that leaves the house while a hand is in play (answers, bots' views, errors' contexts) is made from a `View`,
so that nothing in it can depend on a card its reader may not see.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from domain.cards import Card, Mask, Seat, format_mask
from domain.events import BotName, CardsPassed, Event, HandDealt, PassesExchanged, Reason
from domain.rules import legal_plays
from domain.ruleset import RuleSet
from domain.shuffle import hiding_key
from domain.state import HandState, Phase, SeatState, State, Trick
from domain.waiting import abandoned_at, deadline, to_act


class SeatView(msgspec.Struct, frozen=True, kw_only=True):
    """What anybody may know of a seat."""

    seat: Seat
    kind: str
    """``player``, ``bot`` or ``open``."""
    player: str
    """Opaque id, ``""`` for a bot or an open seat."""
    bot: BotName | None
    away: bool
    """Whether the stand-in bot plays a person's seat."""
    returning: bool
    """Whether the person has taken it back, and plays again from the next hand on."""
    ready: bool
    cards: int
    """Cards in hand, passed ones included until the exchange."""
    taken: int
    """Tricks taken in this hand."""
    passed: bool


class Own(msgspec.Struct, frozen=True, kw_only=True):
    """What a seat knows of its own cards in the hand in play."""

    hand: Mask
    """Cards held; passed ones stay until the exchange."""
    given: Mask
    """The cards it passed; 0 before it did."""
    received: Mask
    """The cards it got; 0 before the exchange."""
    legal: Mask
    """What it may play now, each card once; 0 when it is not its turn to play."""


class View(msgspec.Struct, frozen=True, kw_only=True):
    """A table as one reader may see it. Equal views mean that the reader cannot tell the tables apart."""

    game: str
    rules: RuleSet
    phase: Phase
    seats: tuple[SeatView, ...]
    hand_number: int
    """From 1; 0 before the first deal."""
    pass_offset: int
    """1 left, -1 right, 2 across, 0 hold."""
    opener: Seat
    """The dealer's left."""
    turn: Seat | None
    """Who must act; none while several may, or nobody."""
    deadline: int | None
    """When the house acts for whom the table waits for, in ms since 1970 UTC."""
    abandoned_at: int | None
    """When the table ends unless something happens at it first, in ms since 1970 UTC."""
    hearts_broken: bool
    leader: Seat
    """Who leads the trick on the table, or the next one; -1 before the opening lead. After the last trick, its taker."""
    trick: tuple[Card, ...]
    """The cards on the table, in the order played from `leader`."""
    history: tuple[Trick, ...]
    """The finished tricks of the hand."""
    totals: tuple[int, ...]
    hands: tuple[tuple[int, ...], ...]
    """Points of the finished hands."""
    winners: tuple[Seat, ...]
    reason: Reason | None
    seat: Seat | None
    """The reader's seat; none for a spectator."""
    own: Own | None


def view(state: State, seat: Seat | None) -> View:
    """``state`` as ``seat`` may see it, or as a spectator may (none)."""
    hand = state.hand
    waiting = to_act(state)
    dealt = hand is not None and state.phase != "over"
    return View(
        game=state.game,
        rules=state.terms.rules,
        phase=state.phase,
        seats=tuple(_seat_views(state, hand)),
        hand_number=0 if hand is None else hand.number,
        pass_offset=0 if hand is None else state.terms.pass_way(hand.number),
        opener=-1 if hand is None else hand.opener,
        turn=waiting[0] if len(waiting) == 1 and state.phase in ("play", "moon") else None,
        deadline=deadline(state),
        abandoned_at=abandoned_at(state),
        hearts_broken=hand is not None and hand.broken,
        leader=-1 if hand is None else hand.leader,
        trick=() if hand is None else tuple(hand.trick),
        history=() if hand is None else tuple(hand.history),
        totals=tuple(state.totals),
        hands=tuple(state.hands),
        winners=state.winners,
        reason=state.reason,
        seat=seat,
        own=_own(state, hand, seat) if hand is not None and dealt and seat is not None else None,
    )


def is_open(then: State, now: State) -> bool:
    """Whether anybody may see every card that ``then`` has in play, ``now`` being the same game as it is at present.

    So it is when that hand is over: all its cards are public from then on; at a duplicate table, once every table of its
    group has finished it.
    """
    hand = then.hand
    if hand is None:
        return True
    is_sealed = any(one.number == hand.number for one in now.sealed)
    return not is_sealed and (now.phase == "over" or hand.number <= len(now.hands))


def _seat_views(state: State, hand: HandState | None) -> list[SeatView]:
    taken = [0] * len(state.seats) if hand is None else hand.tricks_taken()
    return [_seat_view(seat, one, hand, taken[seat]) for seat, one in enumerate(state.seats)]


def _seat_view(seat: Seat, one: SeatState, hand: HandState | None, taken: int) -> SeatView:
    return SeatView(
        seat=seat,
        kind=one.kind,
        player=one.player,
        bot=one.bot,
        away=one.away,
        returning=one.returning,
        ready=one.ready,
        cards=0 if hand is None else hand.held[seat].bit_count(),
        taken=taken,
        passed=hand is not None and hand.passes[seat] is not None,
    )


def _own(state: State, hand: HandState, seat: Seat) -> Own:
    received = hand.passes[hand.receives_from(seat)] if hand.exchanged else 0
    return Own(
        hand=hand.held[seat],
        given=hand.passes[seat] or 0,
        received=received or 0,
        legal=legal_plays(state.terms, hand) if state.phase == "play" and hand.turn == seat else 0,
    )


def private_part(state: State, event: Event, seat: Seat) -> dict[str, str] | None:
    """What ``event`` tells ``seat`` alone, ``state`` being the table right after it; none for most events.

    Its own cards and the key of their commitment, and of an exchange the cards received under the key of the seat
    that passed them (``docs/spec/audit.md``, public events). A game that commits to no cards has no keys.
    """
    hand = state.hand
    if hand is None:
        return None
    if isinstance(event, HandDealt):
        return {"cards": format_mask(hand.dealt[seat]), **_key(hand, seat, "hand")}
    if isinstance(event, CardsPassed) and event.seat == seat:
        return {"cards": format_mask(hand.passes[seat] or 0), **_key(hand, seat, "pass")}
    if isinstance(event, PassesExchanged):
        giver = hand.receives_from(seat)
        return {"received": format_mask(hand.passes[giver] or 0), **_key(hand, giver, "pass")}
    return None


def _key(hand: HandState, seat: Seat, what: Literal["hand", "pass"]) -> dict[str, str]:
    """What opens a commitment; nothing where the deal has none."""
    return {"key": hiding_key(bytes.fromhex(hand.secret), str(seat), what).hex()} if hand.secret else {}
