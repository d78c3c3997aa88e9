"""Why a card was legal or not, the rule named, and what somebody sees otherwise at one event than at another.

Nobody is told more than `api.lookback` shows: of one's own cards at any time, of those of others when their hand is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from flask import Response
from marshmallow import Schema, fields, validate

from api.auth import caller
from api.errors import CODES, FieldProblem, Problem
from api.house import House, house
from api.inputs import check_game_id, read_query, wsgi
from api.numbers import LARGEST_COUNT
from api.present import encode
from api.queries import Lent
from api.room import Room
from api.schemas import CARD_DOC, LARGEST_AFTER, CardField, QueryWhole, Request
from api.sent import JSON, Answer
from api.telling import seat_of, seen_by
from domain.cards import NAMES, Seat
from domain.knobs import MOST_SEATS
from domain.reasons import RULES, Reason, explain_pass, explain_play
from domain.state import State
from domain.view import is_open
from services.folded import Table

explain: Final = Room(
    "explain", __name__, url_prefix="/v1/games", description="Why a card was legal, and what has changed"
)

_MOMENT: Final[dict[str, Any]] = {
    "validate": validate.Range(1, LARGEST_AFTER),
    "load_default": None,
}
_REFUSED: Final = tuple(code for code in CODES if code.startswith(("play/", "pass/")))
_LEFT_OUT: Final = frozenset(("seq", "head"))
"""Members that name the moment, and so are never the same."""


class WhyQuery(Request):
    """Which card, and when; in a pass, whose."""

    card = CardField(required=True, metadata={"description": "the card", **CARD_DOC})
    at = QueryWhole(**_MOMENT, metadata={"description": "after this event; now unless you say so"})
    seat = QueryWhole(
        load_default=None,
        validate=validate.Range(0, MOST_SEATS - 1),
        metadata={
            "description": "who would pass it; you, unless you say so. Of a play it is the seat whose turn it is"
        },
    )


class WhyAnswer(Schema):
    """Whether a card might be played or passed, and by which rule."""

    game = fields.String(required=True)
    seq = fields.Integer(
        required=True,
        validate=validate.Range(1, LARGEST_COUNT),
        metadata={"description": "the event after which it is judged"},
    )
    seat = fields.Integer(
        required=True,
        validate=validate.Range(0, MOST_SEATS - 1),
        metadata={"description": "who would play or pass it"},
    )
    card = fields.String(required=True)
    allowed = fields.Boolean(required=True)
    rule = fields.String(
        required=True,
        validate=validate.OneOf([*RULES, *_REFUSED]),
        metadata={"description": "`may/...`, or the code that such a move is refused with"},
    )
    detail = fields.String(required=True, metadata={"description": "the rule in words"})
    hint = fields.String(required=True, metadata={"description": "what might be done instead; may be empty"})


class DiffQuery(Lent):  # type: ignore[valid-type,misc]
    """Which two moments, and through whose eyes."""

    before = QueryWhole(
        required=True,
        validate=validate.Range(1, LARGEST_AFTER),
        metadata={"description": "the event to compare with"},
    )
    at = QueryWhole(
        **_MOMENT, metadata={"description": "the event that is compared; the last unless you say so"}
    )


class ChangeAnswer(Schema):
    """A member of the table that is another one now."""

    field = fields.String(
        required=True, metadata={"description": "its dotted path", "example": "seats.2.cards"}
    )
    before = fields.Raw(
        required=True, allow_none=True, metadata={"description": "null where it was not there"}
    )
    after = fields.Raw(required=True, allow_none=True, metadata={"description": "null where it is not there"})


class DiffAnswer(Schema):
    """What is seen otherwise at one event than at another."""

    game = fields.String(required=True)
    before = fields.Integer(required=True, validate=validate.Range(1, LARGEST_COUNT))
    at = fields.Integer(required=True, validate=validate.Range(1, LARGEST_COUNT))
    changes = fields.List(fields.Nested(ChangeAnswer), required=True)


WHY: Final = WhyQuery()
DIFF: Final = DiffQuery()
_REFUSES: Final = (401, 404, 409, 503)


@explain.view(
    "GET",
    "/<game>/why",
    WhyAnswer,
    query=WhyQuery,
    refuses=_REFUSES,
    codes=("game/not_started", "game/over", "hand/not_over", "pass/not_now", "play/hand_over"),
)
def explain_card(game: str) -> Response:
    """Ask why a card was legal or not.

    After event `at`, for the seat whose turn it is, or in a pass for `seat`; `rule` names the rule. Of your own seat at any time,
    of others when their hand is over. To ask about the play that is event 58, ask at 57.
    """
    here, environ = house(), wsgi()
    me = caller(here.players, environ)
    check_game_id(game)
    asked = read_query(WHY)
    now = here.tables.load(game)
    own = seat_of(now, me)
    check_asked(now, {"at": asked["at"]}, asked["seat"], "seat")
    then = moment(here, now, asked["at"])
    seat = _mover(then.state, asked["seat"], own)
    if seat != own:
        check_open(now, then)
    reason = _reason(then.state, seat, asked["card"])
    body = {
        "game": game,
        "seq": then.seq,
        "seat": seat,
        "card": NAMES[asked["card"]],
        "allowed": reason.allowed,
    }
    return _sent(body | {"rule": reason.code, "detail": reason.detail, "hint": reason.hint})


@explain.view(
    "GET",
    "/<game>/diff",
    DiffAnswer,
    query=DiffQuery,
    refuses=_REFUSES,
    codes=("hand/not_over",),
)
def compare_moments(game: str) -> Response:
    """Ask what has changed between two events.

    Every member of the table that you see otherwise after event `at` than after event `before`; with `as` as another seat could,
    of hands that are over.
    """
    here, environ = house(), wsgi()
    me = caller(here.players, environ)
    check_game_id(game)
    asked = read_query(DIFF)
    now = here.tables.load(game)
    lent = asked["as"]
    check_asked(now, {"before": asked["before"], "at": asked["at"]}, lent, "as")
    moments = [moment(here, now, asked[name]) for name in ("before", "at")]
    if lent is not None:
        for then in moments:
            check_open(now, then)
    old, new = (seen_by(here, then, seat_of(then, me) if lent is None else lent) for then in moments)
    found = [
        {"field": path, "before": before, "after": after}
        for path, before, after in changes(old, new)
        if path not in _LEFT_OUT
    ]
    return _sent({"game": game, "before": moments[0].seq, "at": moments[1].seq, "changes": found})


def changes(old: Any, new: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    """What is another value in ``new`` than in ``old``, each with its dotted path; lists of one length item by item."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*new, *(key for key in old if key not in new)]:
            yield from changes(old.get(key), new.get(key), f"{path}.{key}".lstrip("."))
    elif isinstance(old, list | tuple) and isinstance(new, list | tuple) and len(old) == len(new):
        for at, (before, after) in enumerate(zip(old, new, strict=True)):
            yield from changes(before, after, f"{path}.{at}")
    elif old != new:
        yield path, old, new


# --- inside


def _sent(body: dict[str, Any]) -> Answer:
    headers = [("Content-Type", JSON), ("Cache-Control", "private, no-store"), ("Vary", "Authorization")]
    return Answer(encode(body), headers)


def moment(here: House, now: Table, at: int | None) -> Table:
    """The table as it was after event ``at``, which there is; as it is ``now`` where there is none."""
    return now if at is None or at == now.seq else here.pages.table(now.state.game, at)


def check_asked(now: Table, moments: dict[str, int | None], seat: Seat | None, name: str) -> None:
    """Raise ``request/invalid`` for an event or a seat that there is not."""
    errors = [
        {"field": field, "detail": f"{field}: the game has {now.seq} events"}
        for field, at in moments.items()
        if at is not None and at > now.seq
    ]
    if seat is not None and seat >= len(now.state.seats):
        last = len(now.state.seats) - 1
        errors.append({"field": name, "detail": f"{name}: there is no seat {seat}; seats are 0 to {last}"})
    if errors:
        raise FieldProblem(errors)


def check_open(now: Table, then: Table) -> None:
    """Raise ``hand/not_over`` where the cards of others at ``then`` are not shown ``now``."""
    if not is_open(then.state, now.state):
        raise Problem(
            "hand/not_over",
            "the cards of other seats are shown when their hand is over",
            hint="ask about your own seat, or about a hand that is over",
            seq=now.seq,
        )


def _mover(state: State, seat: Seat | None, own: Seat | None) -> Seat:
    """Who would play or pass a card: it follows from what everybody sees."""
    hand = state.hand
    match state.phase:
        case "seats":
            raise Problem("game/not_started", "no cards are dealt yet", hint="ask after a hand was dealt")
        case "over":
            raise Problem("game/over", "the game is over", hint="ask with at about an event before its end")
        case "pass":
            asked = own if seat is None else seat
            if asked is None:
                raise FieldProblem([{"field": "seat", "detail": "seat: cards are passed; say by whom"}])
            return asked
    if hand is None or hand.turn < 0:
        raise Problem("play/hand_over", "nobody is to play a card", hint="ask about another event")
    return hand.turn


def _reason(state: State, seat: Seat, card: int) -> Reason:
    hand = state.hand
    assert hand is not None
    if state.phase == "pass":
        return explain_pass(state.terms, hand, seat, card)
    return explain_play(state.terms, hand, card)
