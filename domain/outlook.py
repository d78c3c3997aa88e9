"""What a hand would come to, as far as who looks at a `View` of it can know: after a moon choice, or a certain claim."""

from __future__ import annotations

from typing import Literal, NamedTuple

from domain.cards import Card, Seat, cards_of, mask_of, mask_without
from domain.claim import proving_order
from domain.rules import End, add_points, game_end, hand_points, moon_chooser
from domain.ruleset import terms_of
from domain.state import HandState
from domain.view import View


class Outcome(NamedTuple):
    """What a hand would add to the totals, the totals after it, and the end of the game where it is one."""

    points: list[int]
    totals: list[int]
    end: End | None


class Claim(NamedTuple):
    """What a claim that is certain would bring."""

    tricks: int
    """How many are left, all of them the claimant's."""
    points: list[int] | None
    """
    What the hand would add to the totals, by seat; none where that is not known yet: unseen cards lie in a kitty, or the
    claimant is to choose what its moon does.
    """


def after_choice(seen: View, choice: Literal["add", "subtract"]) -> Outcome:
    """What ``choice`` would lead to at a table that waits for one. Negative points that lie unseen in a kitty are left out."""
    terms, hand = terms_of(seen.rules), _hand_seen(seen)
    seats = range(terms.players)
    # that a choice is asked for says who has all of them, the kitty's included
    hand.penalties_taken = [terms.penalty_cards * (seat == seen.turn) for seat in seats]
    hand.bonus_taken = [terms.bonus_cards * (seat == seen.turn) for seat in seats]
    points = hand_points(terms, hand, seen.totals, choice)
    totals = add_points(terms, seen.totals, points)
    return Outcome(points, totals, game_end(terms, totals, points, seen.hand_number))


def after_claim(seen: View) -> Claim | None:
    """What the reader's claim would bring; none where it is not certain, or not the reader's turn to play."""
    if proving_order(seen) is None or seen.own is None or seen.seat is None:
        return None
    terms, hand = terms_of(seen.rules), _hand_seen(seen)
    tricks = terms.hand - len(hand.history)
    if terms.kitty and terms.rules.kitty_to == "first" and hand.history:
        return Claim(tricks, None)
    played = [card for _, cards, _ in hand.history for card in cards]
    rest = cards_of(mask_without(mask_of(terms.deck), mask_of(played)))
    for _ in range(tricks):
        hand.take(seen.seat, terms, rest)
        rest = []
    chooses = moon_chooser(terms, hand, seen.totals) is not None
    return Claim(tricks, None if chooses else hand_points(terms, hand, seen.totals, None))


def cards_won(seen: View) -> list[list[Card]]:
    """The cards worth points that each seat has taken in the hand, in the order taken; those of a kitty are not seen."""
    values = terms_of(seen.rules).values
    won: list[list[Card]] = [[] for _ in seen.seats]
    pile: list[Card] = []
    for _, cards, taker in seen.history:
        pile += [card for card in cards if values[card]]
        if taker is not None:
            won[taker] += pile
            pile = []
    return won


def places_of(totals: tuple[int, ...]) -> list[int]:
    """The place of each seat by its total, from 1; equal totals share one."""
    return [1 + sum(other < total for other in totals) for total in totals]


def pass_receiver(seen: View, seat: Seat) -> Seat | None:
    """To whom ``seat`` passes in the hand; none where nobody passes."""
    terms = terms_of(seen.rules)
    offset = terms.pass_offset(seen.hand_number) if seen.hand_number else 0
    return (seat + offset) % terms.players if offset else None


def _hand_seen(seen: View) -> HandState:
    """The hand in play with the tricks that all have seen, and no kitty."""
    terms = terms_of(seen.rules)
    offset = terms.pass_offset(seen.hand_number)
    hand = HandState(seen.hand_number, offset, seen.opener, [0] * terms.players, 0)
    for leader, cards, taker in seen.history:
        hand.leader, hand.trick = leader, list(cards)
        hand.take(taker, terms, [])
    return hand
