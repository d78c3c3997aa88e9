"""The marshmallow schemas of the queries of ``/v1``, beside those of bodies in `api.schemas`."""

from __future__ import annotations

from typing import Final

from marshmallow import Schema, fields, validate

from api.schemas import LARGEST_AFTER, LARGEST_PAGE, LONGEST_WAIT, MOST_EVENTS, STATUSES, QueryWhole, Request
from api.tongues import LANGUAGE
from domain.knobs import MOST_SEATS

Lent: Final[type[Schema]] = Request.from_dict(
    {
        "as": QueryWhole(
            load_default=None,
            validate=validate.Range(0, MOST_SEATS - 1),
            metadata={"description": "as this seat could see it; only of a hand that is over now"},
        )
    },
    name="Lent",
)


class TableQuery(Lent):  # type: ignore[valid-type,misc]
    """Which moment of a table, and through whose eyes."""

    at = QueryWhole(
        load_default=None,
        validate=validate.Range(1, LARGEST_AFTER),
        metadata={"description": "as it was after this event; as it is now unless you say so"},
    )
    open = QueryWhole(
        load_default=0,
        validate=validate.Range(0, 1),
        metadata={"description": "1: with the cards of every seat; only of a hand that is over now"},
    )


class EventsQuery(Request):
    """Which events, how many, and how long to wait for one."""

    after = QueryWhole(
        load_default=0,
        validate=validate.Range(0, LARGEST_AFTER),
        metadata={"description": "the seq behind which to read: `next` of before"},
    )
    wait = QueryWhole(
        load_default=0,
        validate=validate.Range(0, LONGEST_WAIT),
        metadata={"description": "seconds to wait where there is none yet"},
    )
    limit = QueryWhole(
        load_default=MOST_EVENTS,
        validate=validate.Range(1, MOST_EVENTS),
        metadata={"description": "events that an answer has at most; `next` leads on"},
    )


class TurnsQuery(Request):
    """How long to wait for a turn."""

    wait = QueryWhole(
        load_default=0,
        validate=validate.Range(0, LONGEST_WAIT),
        metadata={"description": "seconds to wait where there is none, or no other than before"},
    )


class DeskQuery(TurnsQuery):
    """Which events of all games, and how long to wait for one."""

    after = fields.String(
        load_default=None,
        validate=validate.Length(1, 64),
        metadata={"description": "`next` of before; your tables as they are unless you say so"},
    )


class GamesQuery(Request):
    """Which games."""

    status = fields.String(load_default=None, validate=validate.OneOf(STATUSES))
    player = fields.String(
        load_default=None, validate=validate.Length(1, 64), metadata={"description": "games of this player"}
    )
    after = fields.String(
        load_default=None,
        validate=validate.Length(1, 256),
        metadata={"description": "`next` of the page before"},
    )
    limit = QueryWhole(load_default=20, validate=validate.Range(1, LARGEST_PAGE))


class LanguageQuery(Request):
    """In which language."""

    language = LANGUAGE


class VariantQuery(LanguageQuery):
    """For how many seats, and in which language."""

    players = QueryWhole(
        load_default=None,
        metadata={"description": "the number of seats", "minimum": 3, "maximum": MOST_SEATS},
    )
