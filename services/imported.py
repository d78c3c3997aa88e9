"""Finished games that were played elsewhere and came as records: kept as games that can be replayed and proved by rule.

Nothing of such a game was committed to before it was played, so it has no anchor, commitments or secrets
(``docs/spec/audit.md``, last lines); it is marked, never rated, and all of it happened at the time of the import.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from domain import events as e
from domain.bots import BOTS, STAND_IN
from domain.cards import NAMES, cards_of, format_cards, mask_of
from domain.record import Record, RecordHand, replay
from domain.refusals import HeartsError
from domain.rules import (
    add_points,
    find_opener,
    game_end,
    hand_points,
    kitty_in_trick,
    moon_chooser,
    trick_taker,
)
from domain.ruleset import Terms, terms_of
from domain.seating import lock_event
from domain.shuffle import Opening
from domain.state import HandState

MOST_EVENTS: Final = 50_000
"""Events of the longest game that is imported: it is appended as one."""


class NotImportable(HeartsError):
    """A record that does not hold, is not finished or is too long."""


def check_record(record: Record) -> None:
    """Raise `NotImportable` unless the record is of a finished game and holds to the last card."""
    verdict = replay(record)
    if not verdict.ok:
        where = "" if verdict.hand is None else f"hand {verdict.hand}: "
        raise NotImportable(f"{where}{verdict.code}: {verdict.detail}")
    if verdict.phase != "over":
        raise NotImportable("the game is not over; only finished ones can be imported")
    rules = record.rules
    if len(record.hands) * (rules.players + 1) * (rules.hand + 1) > MOST_EVENTS:
        raise NotImportable(f"the game has more than the {MOST_EVENTS} events that can be imported")


def events_of(record: Record, game: str, players: Sequence[str], server_key: str, at: int) -> list[e.Event]:
    """The events of a game, seats taken by ``players``, all at ``at`` (ms), as far as it was played. For a record that holds."""
    kinds: list[Opening] = [(seat, "player", "") for seat in range(record.rules.players)]
    found: list[e.Event] = [_created(record, game, server_key, at)]
    for seat, player in enumerate(players):
        taken = e.SeatTaken(
            at=at, seat=seat, kind="player", player=player, bot=None, entropy_commit=None, public_key=None
        )
        found.append(taken)
    found.append(lock_event(game, kinds, at))
    terms, totals = terms_of(record.rules), [0] * record.rules.players
    for number, hand in enumerate(record.hands, 1):
        played, points = _play(terms, number, hand, totals, at)
        found += played
        if points is None:
            break
        totals = add_points(terms, totals, points)
        found.append(_scored(terms, number, hand, points, totals, at))
        end = game_end(terms, totals, points, number)
        if end is not None:
            found.append(
                e.GameEnded(at=at, winners=end.winners, totals=tuple(totals), reason=end.reason, secret=None)
            )
    return found


def _created(record: Record, game: str, server_key: str, at: int) -> e.GameCreated:
    return e.GameCreated(
        at=at,
        game=game,
        rules=record.rules,
        anchor=None,
        chain=len(record.hands),
        server_key=server_key,
        ready_seconds=60,
        stand_in=BOTS[STAND_IN].id,
        rated=False,
        hints=False,
        clock=None,
        imported=True,
        hidden=e.OpenedSecret(chain=""),
    )


def _play(
    terms: Terms, number: int, hand: RecordHand, totals: Sequence[int], at: int
) -> tuple[list[e.Event], list[int] | None]:
    """The events of a hand up to its score, and its points; none while it is not over."""
    state = HandState(
        number,
        terms.pass_offset(number),
        (number - 1) % terms.players,
        [mask_of(cards) for cards in hand.deal],
        mask_of(hand.kitty),
    )
    deal = tuple(format_cards(cards) for cards in hand.deal)
    hidden = e.DealtSecret(secret="", deal=deal, kitty=format_cards(hand.kitty))
    found: list[e.Event] = [
        e.HandDealt(at=at, hand=number, hands=(None,) * terms.players, kitty=None, hidden=hidden)
    ]
    if state.offset and hand.passes is None:
        return found, None
    if hand.passes is not None:
        for seat, cards in enumerate(hand.passes):
            state.passes[seat] = mask_of(cards)
            found.append(e.CardsPassed(at=at, seat=seat, cards=None, by="player", hidden=format_cards(cards)))
        state.exchange()
        found.append(e.PassesExchanged(at=at, hand=number))
    state.lead_with(*find_opener(terms, state))
    for card in hand.plays:
        found.append(e.CardPlayed(at=at, seat=state.turn, card=NAMES[card], by="player"))
        state.lay(card, terms.breakers)
        if state.turn < 0:
            taker = trick_taker(terms, state)
            state.take(taker, terms, cards_of(state.kitty) if kitty_in_trick(terms, state) else [])
            found.append(e.TrickEnded(at=at, seat=taker))
    if state.turn >= 0 or (hand.moon is None and moon_chooser(terms, state, totals) is not None):
        return found, None
    if hand.moon is not None:
        state.choice = hand.moon
        found.append(e.MoonChosen(at=at, seat=_chooser(terms, state, totals), choice=hand.moon, by="player"))
    return found, hand_points(terms, state, totals, hand.moon)


def _chooser(terms: Terms, state: HandState, totals: Sequence[int]) -> int:
    chooser = moon_chooser(terms, state, totals)
    assert chooser is not None, "a record that holds names a choice only where there is one"
    return chooser


def _scored(
    terms: Terms, number: int, hand: RecordHand, points: list[int], totals: list[int], at: int
) -> e.HandScored:
    passes = None if hand.passes is None else tuple(format_cards(cards) for cards in hand.passes)
    return e.HandScored(
        at=at,
        hand=number,
        secret=None,
        deal=tuple(format_cards(cards) for cards in hand.deal),
        kitty=format_cards(hand.kitty),
        passes=passes if terms.pass_offset(number) else None,
        points=tuple(points),
        totals=tuple(totals),
    )
