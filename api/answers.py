"""The marshmallow schemas of what ``/v1`` sends. They describe: answers are made by `api.present`, and tests hold the two together."""

from __future__ import annotations

from typing import Any, Final

from marshmallow import Schema, fields, validate

from api.answers_branch import BeyondTheContract
from api.errors import CODES
from api.numbers import LARGEST_COUNT, count, number
from api.outlooks import MoonOutcomes
from api.schemas import (
    LARGEST_AFTER,
    LONGEST_IF_MATCH,
    STATUSES,
    Knobs,
)
from domain.commands import LONGEST_CLOCK, READY_SECONDS
from domain.knobs import LARGEST, MOST_HAND, MOST_HANDS, MOST_SEATS

_CARDS: Final = "a card list: sorted by suit CDSH, then rank, one space between; empty for none"
_HEAD: Final = "head of the event chain, 32 bytes in hex"
_POINTS: Final = (-LARGEST_COUNT, LARGEST_COUNT)
_SEATS: Final = (0, MOST_SEATS - 1)


def _text(description: str, **more: Any) -> fields.String:
    return fields.String(required=True, metadata={"description": description, **more})


def _numbers(description: str, low: int, high: int) -> fields.List[Any]:
    return fields.List(
        fields.Integer(validate=validate.Range(low, high)),
        required=True,
        metadata={"description": description},
    )


def _seat(description: str, *, allow_none: bool = False, required: bool = True) -> fields.Integer:
    return number(description, 0, MOST_SEATS - 1, allow_none=allow_none, required=required)


def _flag(description: str, *, required: bool = True) -> fields.Boolean:
    return fields.Boolean(required=required, metadata={"description": description})


class Rules(Knobs):  # type: ignore[valid-type,misc]
    """A whole rule set, by value."""

    variant = fields.String(required=True)


class SeatAnswer(Schema):
    """A seat, as anybody may know it."""

    seat = _seat("from 0, clockwise")
    kind = fields.String(required=True, validate=validate.OneOf(["player", "bot", "open"]))
    name = _text("of the player or the bot; empty where there is none")
    ready = _flag("whether it waits for the deal")
    cards = number("cards in hand, passed ones included until the exchange", 0, MOST_HAND)
    taken = number("tricks taken in this hand", 0, MOST_HAND)
    passed = _flag("whether it has passed in this hand")
    player = fields.String(required=True, allow_none=True, metadata={"description": "the player's id"})
    away = _flag("whether the stand-in bot plays it for its player")
    returning = _flag("whether its player has taken it back, and plays it again from the next hand on")
    won = _text(f"the cards worth points that it has taken in this hand, a kitty's left out, {_CARDS}")


class LaidCard(Schema):
    """A card of a trick."""

    seat = _seat("who played it")
    card = _text("the card", example="QS")


class HandPoints(Schema):
    """What a finished hand added to the totals."""

    hand = number("from 1", 1, MOST_HANDS)
    points = _numbers("a number a seat", *_POINTS)
    totals = _numbers("the totals after it, a number a seat", *_POINTS)
    pass_offset = number("how its cards were passed: 1 left, -1 right, 2 across, 0 hold", -1, 2)
    moon = fields.Integer(
        required=True,
        allow_none=True,
        validate=validate.Range(0, MOST_SEATS - 1),
        metadata={
            "description": "the seat that shot the moon; null where none did, or where sealed cards would be told by it"
        },
    )


class OpenHand(Schema):
    """The cards of a seat, once its hand is over."""

    seat = _seat("whose")
    hand = _text(f"its cards at that event, {_CARDS}")
    received = _text(f"what was passed to it, {_CARDS}")
    given = _text(f"what it had passed, {_CARDS}")


class InvitationAnswer(Schema):
    """A seat that waits for whoever is invited to it."""

    seat = _seat("which")
    code = _text("what to sit down with, 24 digits in hex")
    link = _text("the address of the table with the code, for `hearts play --game LINK`")


class TableAnswer(BeyondTheContract):
    """A table as the caller may see it. The last keys of the contract are there for a seat alone."""

    id = _text("the game's id")
    seq = count("events so far", low=1)
    head = _text(_HEAD)
    status = fields.String(required=True, validate=validate.OneOf(STATUSES))
    phase = fields.String(required=True, validate=validate.OneOf(["seats", "pass", "play", "moon", "over"]))
    variant = _text("the variant it started from, or custom")
    rules = fields.Nested(Rules, required=True)
    seats = fields.List(fields.Nested(SeatAnswer), required=True)
    hand_number = number("from 1; 0 before the first deal", 0, MOST_HANDS)
    pass_offset = number("1 left, -1 right, 2 across, 0 hold", -1, 2)
    turn = _seat("the seat to act; null while several may, or nobody", allow_none=True)
    deadline = count("when the house acts for whom the table waits for, ms since 1970 UTC", allow_none=True)
    hearts_broken = _flag("whether hearts may be led")
    trick = fields.List(fields.Nested(LaidCard), required=True)
    last_trick = fields.List(fields.Nested(LaidCard), required=True)
    last_winner = _seat("who took the last trick; null where it was dead, or before any", allow_none=True)
    totals = _numbers("a number a seat", *_POINTS)
    hands = fields.List(fields.Nested(HandPoints), required=True)
    winners = _numbers("the seats that have won", *_SEATS)
    you = _seat("the caller's seat", required=False)
    hand = fields.String(metadata={"description": f"the caller's cards, {_CARDS}"})
    received = fields.String(metadata={"description": f"what was passed to the caller, {_CARDS}"})
    legal = fields.String(metadata={"description": f"there when the caller may play now, {_CARDS}"})
    given = fields.String(metadata={"description": f"what the caller has passed, {_CARDS}"})
    invitations = fields.List(
        fields.Nested(InvitationAnswer),
        metadata={"description": "for those at the table: seats that wait for who is invited"},
    )
    moon = fields.Nested(
        MoonOutcomes, metadata={"description": "in the phase moon: what each choice would lead to"}
    )
    reason = fields.String(
        required=True, allow_none=True, validate=validate.OneOf(["target", "limit", "abandoned"])
    )
    rated = _flag("whether the game counts")
    hints = _flag("whether players may ask for hints")
    clock = number("seconds for a move, or null", 1, LONGEST_CLOCK, allow_none=True)
    ready_seconds = number("seconds from the first who is ready until the deal", *READY_SECONDS)
    imported = _flag("stands where the game was played elsewhere and came as a record", required=False)
    open = fields.List(
        fields.Nested(OpenHand), metadata={"description": "there with `open=1`: one entry a seat"}
    )


class HintBot(Schema):
    """A house bot."""

    name = _text("as in the seats of a new table")
    version = _text("another one may advise otherwise")


class HintAnswer(Schema):
    """Exactly one of a pass, a play and a moon choice, as a move takes them; and who would make it."""

    passed = fields.List(
        fields.String(), data_key="pass", metadata={"description": "the cards to pass, sorted"}
    )
    play = fields.String(metadata={"description": "the card to play", "example": "QS"})
    moon = fields.String(
        validate=validate.OneOf(["add", "subtract"]), metadata={"description": "what the moon should do"}
    )
    bot = fields.Nested(HintBot, required=True)


class ReceiptAnswer(Schema):
    """The server's signed word that an event is in the log, docs/spec/audit.md 7."""

    game = _text("the game's id")
    seq = count("of the last event that the command caused", low=1)
    head = _text(_HEAD)
    signature = _text("Ed25519, in hex")


class CommandAnswer(TableAnswer):
    """The table after a command, and the receipt of its last event."""

    receipt = fields.Nested(ReceiptAnswer, required=True)


class PlayerAnswer(Schema):
    """A new player."""

    id = _text("opaque id")
    token = _text("shown this once: send it as Authorization: Bearer TOKEN")
    name = _text("as it was understood")


class MeAnswer(Schema):
    """Whose token it is."""

    id = _text("opaque id")
    name = _text("the player's name")
    scopes = fields.List(fields.String(), required=True)
    token = _text("id of the token that asks")


class VariantAnswer(Schema):
    """A published variant for a number of seats."""

    name = _text("what to open a table with")
    title = _text("what people call it")
    summary = _text("what sets it apart")
    source = _text("where its rules are from")
    players = _numbers("the numbers of seats it is played with", 3, MOST_SEATS)
    rules = fields.Nested(Rules, required=True)


class VariantsAnswer(Schema):
    """The published variants, each for its usual number of seats."""

    variants = fields.List(fields.Nested(VariantAnswer), required=True)


class GameSeat(Schema):
    """A seat in the lobby."""

    seat = _seat("from 0, clockwise")
    kind = fields.String(required=True, validate=validate.OneOf(["player", "bot", "open"]))
    player = fields.String(required=True, allow_none=True, metadata={"description": "the player's id"})
    bot = fields.String(required=True, allow_none=True, metadata={"description": "the bot's name"})
    name = _text("of the player or the bot; empty where there is none")


class GameSummary(Schema):
    """A game in the lobby or the history; it may lag behind the table a little."""

    id = _text("the game's id")
    seq = count("events so far", low=1)
    status = fields.String(required=True, validate=validate.OneOf(STATUSES))
    phase = _text("as in the table")
    variant = _text("the variant it started from, or custom")
    players = number("how many seats it has", 3, MOST_SEATS)
    seats = fields.List(fields.Nested(GameSeat), required=True)
    created_at = count("ms since 1970 UTC")
    updated_at = count("ms since 1970 UTC")
    hand_number = number("from 1; 0 before the first deal", 0, MOST_HANDS)
    totals = _numbers("a number a seat", *_POINTS)
    winners = _numbers("the seats that have won", *_SEATS)
    rated = _flag("whether the game counts")
    target = number("points that end the game", 1, LARGEST)


class GamesAnswer(Schema):
    """A page of games."""

    games = fields.List(fields.Nested(GameSummary), required=True)
    next = fields.String(required=True, allow_none=True, metadata={"description": "`after` of the next page"})


class ItemAnswer(Schema):
    """An event, docs/spec/audit.md."""

    seq = count("its place in the game, from 1", low=1)
    head = _text(f"{_HEAD}, after it")
    event = _text("its stored bytes: compact JSON")
    private = fields.Dict(
        required=True,
        allow_none=True,
        keys=fields.String(),
        values=fields.String(),
        metadata={"description": "what it tells the caller's seat alone"},
    )


class EventsAnswer(Schema):
    """Events in order."""

    events = fields.List(fields.Nested(ItemAnswer), required=True)
    next = number("`after` of the next call", 0, LARGEST_AFTER)


class RecordAnswer(Schema):
    """A game as a record, docs/spec/record.md."""

    format = _text("hearts-record/1")
    rules = fields.Dict(required=True)
    seats = fields.List(fields.String(), required=True)
    hands = fields.List(fields.Dict(), required=True)
    winners = _numbers("the seats that have won", *_SEATS)


class LiveAnswer(Schema):
    """The process answers."""

    live = _flag("true")


class ReadyAnswer(Schema):
    """The server can do its work."""

    ready = _flag("true")
    partitions = number("partitions of the log", 1, 1024)
    projector_lag = count(
        "appends that lobby and history do not show yet; null where unknown", allow_none=True
    )
    warnings = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "what in the store's settings may lose what was acknowledged"},
    )


class VersionAnswer(Schema):
    """What is running."""

    version = _text("of the program")
    commit = fields.String(required=True, allow_none=True)
    kernel = fields.String(
        required=True, allow_none=True, metadata={"description": "`compiled`; null where all is plain Python"}
    )
    server_key = _text("the public key that new games name, Ed25519 in hex; it signs their receipts")


class FieldError(Schema):
    """One thing wrong with a request."""

    field = fields.String(metadata={"description": "its dotted path; not there for a problem of the rules"})
    detail = _text("what is wrong")


class ProblemAnswer(Schema):
    """A refusal, RFC 9457. It changed nothing."""

    type = _text("where the code is explained")
    title = _text("of the code")
    status = number("the HTTP status", 400, 599)
    detail = _text("what is wrong this time")
    code = fields.String(required=True, validate=validate.OneOf(list(CODES)))
    hint = _text("what would be accepted; may be empty")
    legal = fields.String(metadata={"description": f"what may be played instead, {_CARDS}"})
    seq = count("events of the table that refused", low=1, required=False)
    errors = fields.List(fields.Nested(FieldError))


class KeyHeader(Schema):
    """The header of a command that opens a table."""

    key = fields.String(
        data_key="Idempotency-Key",
        metadata={
            "description": "repeat a request under the same key, and it is done once: 1 to 255 characters",
            "maxLength": 255,
        },
    )


class CommandHeaders(KeyHeader):
    """The headers of a command at a table."""

    if_match = fields.String(
        data_key="If-Match",
        metadata={
            "description": "the ETag of the only version it may be judged by, or some with commas between",
            "maxLength": LONGEST_IF_MATCH,
        },
    )


class ReadHeaders(Schema):
    """The headers of a read that may be spared."""

    if_none_match = fields.String(
        data_key="If-None-Match",
        metadata={"description": "the ETag of the version you have: 304 where it still is"},
    )


ETAG_DOC: Final = {
    "ETag": {
        "description": "seq and head of the table",
        "schema": {
            "type": "string",
            "pattern": '^"[0-9]+-[0-9a-f]{16}"$',
            "example": '"57-0123456789abcdef"',
        },
    }
}
REPLAYED_DOC: Final = {
    "Idempotency-Replayed": {
        "description": "`true` where the request was carried out before under its key",
        "schema": {"type": "string", "enum": ["true"]},
    }
}
