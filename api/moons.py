"""What a moon choice would lead to, told to who has to make it and to all who watch: it follows from what everybody has seen."""

from __future__ import annotations

from typing import Any, Final

from marshmallow import Schema, fields, validate

from api.numbers import LARGEST_COUNT
from domain.knobs import MOST_SEATS
from domain.rules import add_points, game_end, hand_points
from domain.ruleset import terms_of
from domain.state import HandState
from domain.view import View

_POINTS: Final = fields.Integer(validate=validate.Range(-LARGEST_COUNT, LARGEST_COUNT))


class MoonOutcome(Schema):
    """What one choice would lead to. Cards of negative points that lie unseen in a kitty are left out."""

    points = fields.List(_POINTS, required=True, metadata={"description": "what it adds, a number a seat"})
    totals = fields.List(
        _POINTS, required=True, metadata={"description": "the totals after it, a number a seat"}
    )
    over = fields.Boolean(required=True, metadata={"description": "whether the game would end"})
    winners = fields.List(
        fields.Integer(validate=validate.Range(0, MOST_SEATS - 1)),
        required=True,
        metadata={"description": "the seats that would win; none where the game goes on"},
    )


class MoonOutcomes(Schema):
    """Both choices of who shot the moon."""

    add = fields.Nested(MoonOutcome, required=True)
    subtract = fields.Nested(MoonOutcome, required=True)


def moon_outcomes(seen: View) -> dict[str, dict[str, Any]]:
    """Both choices at a table that waits for one."""
    terms = terms_of(seen.rules)
    seats = range(terms.players)
    hand = HandState(seen.hand_number, 0, 0, [0] * terms.players, 0)
    for leader, cards, taker in seen.history:
        hand.leader, hand.trick = leader, list(cards)
        hand.take(taker, terms, [])
    # that a choice is asked for says who has all of them, the kitty's included
    hand.penalties_taken = [terms.penalty_cards * (seat == seen.turn) for seat in seats]
    hand.bonus_taken = [terms.bonus_cards * (seat == seen.turn) for seat in seats]
    found = {}
    for choice in ("add", "subtract"):
        points = hand_points(terms, hand, seen.totals, "add" if choice == "add" else "subtract")
        totals = add_points(terms, seen.totals, points)
        end = game_end(terms, totals, points, seen.hand_number)
        winners = () if end is None else end.winners
        found[choice] = {
            "points": points,
            "totals": totals,
            "over": end is not None,
            "winners": winners,
        }
    return found
