"""What a house bot would have done at a moment of a game, for whoever looks at it afterwards."""

from __future__ import annotations

from typing import Final

from flask import Response
from marshmallow import fields, validate

from api.answers import HintAnswer
from api.auth import caller
from api.errors import FieldProblem, Problem
from api.explain import check_asked, check_open, moment
from api.helps import hint_of
from api.house import house
from api.inputs import check_game_id, read_query, wsgi
from api.numbers import LARGEST_COUNT
from api.present import encode
from api.room import Room
from api.schemas import LARGEST_AFTER, QueryWhole, Request
from api.sent import JSON, Answer
from domain.bots import advise
from domain.cards import Seat
from domain.game import to_act
from domain.knobs import MOST_SEATS
from domain.state import State
from domain.view import view

advices: Final = Room("advice", __name__, url_prefix="/v1/games", description="What a bot would have done")


class AdviceQuery(Request):
    """When, and in whose place."""

    at = QueryWhole(
        required=True,
        validate=validate.Range(1, LARGEST_AFTER),
        metadata={"description": "after this event"},
    )
    seat = QueryWhole(
        load_default=None,
        validate=validate.Range(0, MOST_SEATS - 1),
        metadata={"description": "in whose place, where several may act: who passes"},
    )


class AdviceAnswer(HintAnswer):
    """What a house bot would have done, and where."""

    game = fields.String(required=True)
    seq = fields.Integer(
        required=True,
        validate=validate.Range(1, LARGEST_COUNT),
        metadata={"description": "the event after which it is asked"},
    )
    seat = fields.Integer(
        required=True,
        validate=validate.Range(0, MOST_SEATS - 1),
        metadata={"description": "in whose place, from whose view alone"},
    )


ADVICE: Final = AdviceQuery()


@advices.view(
    "GET",
    "/<game>/advice",
    AdviceAnswer,
    query=AdviceQuery,
    refuses=(401, 404, 409, 503),
    codes=(
        "game/not_started",
        "game/over",
        "hand/not_over",
        "pass/not_now",
        "play/hand_over",
        "play/not_your_turn",
    ),
)
def get_advice(game: str) -> Response:
    """Ask what a house bot would have done.

    After event `at`, in the place of whoever was to act then and from that seat's view alone: what a hint would have been. Only of a hand that is
    over, for the hints of a table at play may be closed.
    """
    here, environ = house(), wsgi()
    caller(here.players, environ)
    check_game_id(game)
    asked = read_query(ADVICE)
    now = here.tables.load(game)
    check_asked(now, {"at": asked["at"]}, asked["seat"], "seat")
    then = moment(here, now, asked["at"])
    check_open(now, then)
    seat = _mover(then.state, asked["seat"])
    body = {"game": game, "seq": then.seq, "seat": seat, **hint_of(advise(view(then.state, seat)))}
    headers = [("Content-Type", JSON), ("Cache-Control", "no-store")]
    return Answer(encode(body), headers)


def _mover(state: State, asked: Seat | None) -> Seat:
    """Who was to act."""
    acting = to_act(state)
    if not acting:
        code = {"seats": "game/not_started", "over": "game/over"}.get(state.phase, "play/hand_over")
        raise Problem(code, "nobody is to act", hint="ask about another event")
    if asked is None and len(acting) > 1:
        raise FieldProblem([{"field": "seat", "detail": "seat: several may act; say in whose place"}])
    if asked is not None and asked not in acting:
        code = "pass/not_now" if state.phase == "pass" else "play/not_your_turn"
        raise Problem(code, f"seat {asked} is not to act then", hint="ask about another event or seat")
    return acting[0] if asked is None else asked
