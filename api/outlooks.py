"""What a moon choice or a claim would lead to, as it is sent: `domain.outlook` has how it follows from what the reader has seen."""

from __future__ import annotations

from typing import Any, Final, Literal

from marshmallow import Schema, fields, validate

from api.numbers import LARGEST_COUNT, number
from domain.knobs import MOST_HAND, MOST_SEATS
from domain.outlook import after_choice, after_claim
from domain.view import View

_POINTS: Final = fields.Integer(validate=validate.Range(-LARGEST_COUNT, LARGEST_COUNT))
_CHOICES: Final[tuple[Literal["add", "subtract"], ...]] = ("add", "subtract")


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


class ClaimOutcome(Schema):
    """What a claim that is certain would bring."""

    tricks = number("how many are left, all of which the caller takes", 1, MOST_HAND)
    points = fields.List(
        _POINTS,
        required=True,
        allow_none=True,
        metadata={
            "description": "what the hand would add to the totals, a number a seat; null where that is not known yet: cards "
            "that nobody has seen lie in a kitty, or the caller is to choose what its moon does"
        },
    )


def moon_outcomes(seen: View) -> dict[str, dict[str, Any]]:
    """Both choices at a table that waits for one."""
    found: dict[str, dict[str, Any]] = {}
    for choice in _CHOICES:
        points, totals, end = after_choice(seen, choice)
        winners = () if end is None else end.winners
        found[choice] = {"points": points, "totals": totals, "over": end is not None, "winners": winners}
    return found


def claim_outcome(seen: View) -> dict[str, Any] | None:
    """What the reader's claim would bring; none where it would be refused."""
    claim = after_claim(seen)
    if claim is None:
        return None
    return claim._asdict()
