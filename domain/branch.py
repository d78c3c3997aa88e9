"""Practice tables: a hand of a finished game, played on from one of its events by somebody in one of its seats.

``docs/spec/audit.md``, branches. Such a table commits to nothing, for its deal is known: it has no anchor, commitments or
secrets. It copies the events of the hand up to that event, all at the moment when it is opened, and ends with the
hand. Of the old game it takes nothing else, so that what happens there follows from its own events alone: the totals
begin at 0, and a rule that looks at totals, or asks whether the game ends, is judged by that one hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import UNSET

from domain import events as e
from domain.bots import BOTS, STAND_IN
from domain.cards import Seat
from domain.commands import ABANDONED_AFTER
from domain.fold import fold
from domain.game import to_act
from domain.refusals import Refused
from domain.seating import lock_event, seat_state
from domain.state import SeatState, State

COPIED: Final = (e.HandDealt, e.CardsPassed, e.PassesExchanged, e.CardPlayed, e.TrickEnded, e.MoonChosen)
"""The events of a hand; what else happened meanwhile was the old table's own affair."""
AT_ONCE: Final = (e.PassesExchanged, e.TrickEnded)
"""What follows from the move before it at once, so that there is no position between the two."""


def begin_practice(
    old: State, hand: Sequence[e.Event], branch: e.Branch, *, game: str, player: str, server_key: str, at: int
) -> tuple[list[e.Event], State]:
    """The first events of the practice table ``game``, and the state after them.

    ``old`` is the finished game as it is now; ``hand`` are its events from the deal of the hand up to ``branch.at``,
    hidden parts included. ``player`` sits in ``branch.seat``, house bots in the other seats: their own where bots sat,
    the stand-in for the persons. ``at`` is in ms since 1970 UTC. Raises `Refused` where the game is not over, has no
    such seat, or where nothing is left to play in the hand.
    """
    check_over(old)
    _check_seat(old, branch.seat)
    copied = [one for one in hand if isinstance(one, COPIED)]
    dealt = copied[0]
    assert isinstance(dealt, e.HandDealt)
    events: list[e.Event] = [_created(old, branch, dealt.hand, game, server_key, at)]
    events += [
        _seated(at, seat, player if seat == branch.seat else "", one) for seat, one in enumerate(old.seats)
    ]
    events.append(e.SeatReady(at=at, seat=branch.seat, entropy=""))
    kinds = [(seat, "player" if seat == branch.seat else "bot", "") for seat in range(len(old.seats))]
    events.append(lock_event(game, kinds, at))
    events += [_copy(one, at) for one in copied]
    state = fold(None, events)
    if not to_act(state):
        raise Refused(
            "request/invalid",
            f"at: nothing is left to play in the hand after event {branch.at}",
            hint="choose an event before its last card",
        )
    return events, state


def check_over(old: State) -> None:
    """Raise `Refused` unless the game is over: until then its cards are nobody else's affair."""
    if old.phase != "over":
        raise Refused("game/not_over", "a practice table is branched from a game that is over")
    if old.sealed:
        raise Refused(
            "game/not_over",
            f"its cards are sealed until every table of group {old.deal_group} has finished its hands",
        )


def _check_seat(old: State, seat: Seat) -> None:
    try:
        seat_state(old, seat)
    except Refused as refused:
        raise Refused(refused.code, f"seat: {refused.detail}") from None


def _created(old: State, branch: e.Branch, hand: int, game: str, server_key: str, at: int) -> e.GameCreated:
    return e.GameCreated(
        at=at,
        game=game,
        rules=msgspec.structs.replace(old.terms.rules, hand_limit=hand),
        anchor=None,
        chain=hand,
        server_key=server_key,
        ready_seconds=old.ready_seconds,
        stand_in=BOTS[STAND_IN].id,
        rated=False,
        hints=True,
        clock=None,
        hidden=e.OpenedSecret(chain=""),
        branch=branch,
        abandon_seconds=old.abandon_seconds or ABANDONED_AFTER,
    )


def _seated(at: int, seat: Seat, player: str, before: SeatState) -> e.SeatTaken:
    """``player`` in ``seat``, or a house bot where it is ``""``."""
    name = STAND_IN if before.bot is None or before.bot.name not in BOTS else before.bot.name
    return e.SeatTaken(
        at=at,
        seat=seat,
        kind="player" if player else "bot",
        player=player or None,
        bot=None if player else BOTS[name].id,
        entropy_commit=None,
        public_key=None,
    )


def _copy(event: e.Event, at: int) -> e.Event:
    """``event`` as it is copied: at the time of the branch, without commitments, secrets and signatures; who made it stands."""
    if isinstance(event, e.HandDealt):
        hidden = event.hidden
        assert hidden is not UNSET
        return msgspec.structs.replace(
            event,
            at=at,
            hands=(None,) * len(event.hands),
            kitty=None,
            hidden=msgspec.structs.replace(hidden, secret=""),
        )
    if isinstance(event, e.CardsPassed):
        return msgspec.structs.replace(event, at=at, cards=None, hidden=event.text)
    if isinstance(event, e.CardPlayed | e.MoonChosen):
        # what was signed was a move at the old table
        return msgspec.structs.replace(event, at=at, signed_seq=UNSET, signature=UNSET)
    return msgspec.structs.replace(event, at=at)
