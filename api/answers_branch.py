"""What a table tells beside the contract: its end as abandoned, where a practice table comes from, what follows from its rules."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.numbers import number
from api.outlooks import ClaimOutcome
from api.schemas import LARGEST_AFTER
from domain.commands import ABANDON_SECONDS
from domain.knobs import MOST_SEATS


class BranchAnswer(Schema):
    """The position of a finished game that is played on from."""

    game = fields.String(required=True, metadata={"description": "the id of the finished game"})
    at = number("its event, from 1", 1, LARGEST_AFTER)
    seat = number("the seat of who practises", 0, MOST_SEATS - 1)


class BeyondTheContract(Schema):
    """Fields of a table beside those of the contract."""

    abandon_seconds = number(
        "seconds of waiting for persons after which the table ends; null at tables of before there was such a time, "
        "which wait for ever",
        *ABANDON_SECONDS,
        allow_none=True,
    )
    abandoned_at = number(
        "when the table ends unless something happens first, ms since 1970 UTC; null while a bot is to move or a "
        "deadline runs, and where it never does",
        0,
        LARGEST_AFTER,
        allow_none=True,
    )
    branch = fields.Nested(BranchAnswer, metadata={"description": "stands at a practice table"})
    counting = fields.String(
        required=True,
        metadata={"description": "the cards worth points by the rules of the table, a card list"},
    )
    places = fields.List(
        fields.Integer(validate=validate.Range(1, MOST_SEATS)),
        required=True,
        metadata={"description": "the place of each seat by its total, from 1; equal totals share one"},
    )
    pass_to = number(
        "the seat that the caller passes to in this hand; null where nobody passes",
        0,
        MOST_SEATS - 1,
        allow_none=True,
        required=False,
    )
    claim = fields.Nested(
        ClaimOutcome,
        metadata={
            "description": "there when the caller may claim the rest of the tricks: what that would bring"
        },
    )
