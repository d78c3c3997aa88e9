"""What a table says of its end as abandoned, and of where a practice table comes from."""

from __future__ import annotations

from marshmallow import Schema, fields, validate

from api.schemas import LARGEST_AFTER
from domain.commands import ABANDON_SECONDS
from domain.knobs import MOST_SEATS


class BranchAnswer(Schema):
    """The position of a finished game that is played on from."""

    game = fields.String(required=True, metadata={"description": "the id of the finished game"})
    at = fields.Integer(
        required=True,
        validate=validate.Range(1, LARGEST_AFTER),
        metadata={"description": "its event, from 1"},
    )
    seat = fields.Integer(
        required=True,
        validate=validate.Range(0, MOST_SEATS - 1),
        metadata={"description": "the seat of who practises"},
    )


class EndAndOrigin(Schema):
    """Fields of a table beside those of the contract."""

    abandon_seconds = fields.Integer(
        required=True,
        allow_none=True,
        validate=validate.Range(*ABANDON_SECONDS),
        metadata={
            "description": "seconds of waiting for persons after which the table ends; null at tables of before "
            "there was such a time, which wait for ever"
        },
    )
    abandoned_at = fields.Integer(
        required=True,
        allow_none=True,
        validate=validate.Range(0, LARGEST_AFTER),
        metadata={
            "description": "when the table ends unless something happens first, ms since 1970 UTC; null while a "
            "bot is to move or a deadline runs, and where it never does"
        },
    )
    branch = fields.Nested(BranchAnswer, metadata={"description": "stands at a practice table"})
