"""The marshmallow schemas of standings: what ``/v1/players/{id}`` and ``/v1/leaderboard`` take and send."""

from __future__ import annotations

from typing import Any, Final

from marshmallow import Schema, fields, validate

from api.numbers import LARGEST_COUNT, count, number
from api.schemas import LARGEST_PAGE, QueryWhole, Request
from domain.knobs import MOST_SEATS
from domain.variants import FAMILIES
from services.standings import RECENT

USUAL: Final = "basic"
"""The family of a leaderboard that does not say which."""


def _figure(description: str, *, allow_none: bool = False) -> fields.Float:
    return fields.Float(required=True, allow_none=allow_none, metadata={"description": description})


def _text(description: str, **more: Any) -> fields.String:
    return fields.String(required=True, metadata={"description": description, **more})


def _flag(description: str) -> fields.Boolean:
    return fields.Boolean(required=True, metadata={"description": description})


class BoardQuery(Request):
    """Which leaderboard, and from where on."""

    family = fields.String(
        load_default=USUAL,
        validate=validate.OneOf(FAMILIES),
        metadata={"description": "the family of rules"},
    )
    after = fields.String(
        load_default=None,
        validate=validate.Length(1, 256),
        metadata={"description": "`next` of the page before"},
    )
    limit = QueryWhole(load_default=20, validate=validate.Range(1, LARGEST_PAGE))


class MeanPoints(Schema):
    """Mean points a hand, with the interval that holds the true mean in 95 of 100 cases."""

    mean = _figure("points a hand; less is better")
    low = _figure("end of the interval; null before the second game", allow_none=True)
    high = _figure("end of the interval; null before the second game", allow_none=True)
    hands = count("hands that were counted, of rated games and of others by the published rules", low=1)


class FamilyRating(Schema):
    """How good somebody is in a family of rules."""

    rating = _figure("25 for who has not played; null before the first rated game", allow_none=True)
    deviation = _figure("standard deviation of the rating; null where that is", allow_none=True)
    games = count("rated games")
    wins = count("rated games won, shared wins included")
    mean_points = fields.Nested(MeanPoints, required=True, allow_none=True)


class GameCounts(Schema):
    """Finished games; those that were given up, imported or practised do not count."""

    finished = count("all of them")
    rated = count("those that moved a rating")
    won = count("shared wins included")
    left = count("those whose seat was handed over and not taken back")
    withheld = count(
        "those for whose deals the player committed to entropy and never opened it: once may be a lost connection, "
        "often is a choice among deals"
    )


class RecentGame(Schema):
    """A finished game as its player sees it."""

    game = _text("the game's id")
    ended_at = count("ms since 1970 UTC")
    variant = _text("the variant it started from, or custom")
    seat = number("the player's", 0, MOST_SEATS - 1)
    total = number("the seat's points at the end", -LARGEST_COUNT, LARGEST_COUNT)
    won = _flag("alone or with others")
    left = _flag("whether the seat was handed over and not taken back")
    withheld = _flag("whether the player committed to entropy for the deals and never opened it")
    rating = _figure("after the game; null where it was not rated", allow_none=True)
    deviation = _figure("likewise", allow_none=True)


class StandingAnswer(Schema):
    """How good a player or a house bot is."""

    id = _text("as in the seats of a table; of a house bot as in `bot:rules@1`")
    name = _text("of the player or the bot; empty where it was erased")
    bot = _flag("whether it is a house bot")
    ratings = fields.Dict(
        required=True,
        keys=fields.String(),
        values=fields.Nested(FamilyRating),
        metadata={"description": "by family of rules, those that were played"},
    )
    games = fields.Nested(GameCounts, required=True)
    recent = fields.List(
        fields.Nested(RecentGame),
        required=True,
        validate=validate.Length(max=RECENT),
        metadata={"description": "the last finished games, newest first"},
    )
    history = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "where all finished games are listed; null for a house bot"},
    )


class BoardLine(FamilyRating):
    """A player or a house bot in a leaderboard."""

    place = count("from 1; equal scores share a place", low=1)
    id = _text("leads on to `/v1/players/{id}`")
    name = _text("of the player or the bot; empty where it was erased")
    bot = _flag("whether it is a house bot")
    score = _figure("the rating less three deviations")


class BoardAnswer(Schema):
    """A page of a leaderboard."""

    family = fields.String(required=True, validate=validate.OneOf(FAMILIES))
    players = fields.List(fields.Nested(BoardLine), required=True)
    next = fields.String(required=True, allow_none=True, metadata={"description": "`after` of the next page"})
