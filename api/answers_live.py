"""The marshmallow schemas of what `api.live` sends, beside those of `api.answers`."""

from __future__ import annotations

from typing import Final

from marshmallow import Schema, fields, validate

from api.answers import TableAnswer
from api.numbers import count, number
from domain.knobs import MOST_SEATS

_PHASES: Final = ("seats", "pass", "play", "moon")


class DeskItem(Schema):
    """An event of one of your games, or a table to begin with."""

    game = fields.String(required=True, metadata={"description": "the game's id"})
    seq = count("its place in the game, from 1; of a table, the last event that it shows", low=1)
    head = fields.String(
        required=True, metadata={"description": "head of the event chain after it, 32 bytes in hex"}
    )
    event = fields.String(metadata={"description": "its stored bytes: compact JSON; not of a table"})
    private = fields.Dict(
        allow_none=True,
        keys=fields.String(),
        values=fields.String(),
        metadata={"description": "what it tells your seat alone; not of a table"},
    )
    table = fields.Nested(TableAnswer, metadata={"description": "the table as you see it; not of an event"})


class DeskEventsAnswer(Schema):
    """Events of all your games, in order."""

    events = fields.List(fields.Nested(DeskItem), required=True)
    next = fields.String(required=True, metadata={"description": "`after` of the next call"})


class Turn(Schema):
    """A game that waits for you."""

    game = fields.String(required=True, metadata={"description": "the game's id"})
    seq = count("events so far", low=1)
    seat = number("your seat", 0, MOST_SEATS - 1)
    phase = fields.String(required=True, validate=validate.OneOf(_PHASES))
    variant = fields.String(required=True, metadata={"description": "the variant it started from, or custom"})
    deadline = count("when the house acts for you, in ms since 1970 UTC", allow_none=True)


class TurnsAnswer(Schema):
    """The games that wait for you."""

    turns = fields.List(fields.Nested(Turn), required=True)
