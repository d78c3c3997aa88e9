"""For the operator's page: how the house does, and games set aside tried again or left alone. Needs the scope `admin`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from flask import Response
from marshmallow import Schema, fields

from api.auth import require_now
from api.errors import Problem
from api.house import house
from api.inputs import check_game_id, read_body, wsgi
from api.meter import SPAN
from api.numbers import count
from api.present import encode
from api.room import Room
from api.schemas import Nothing
from api.sent import JSON, Answer
from api.tokens import EMPTY_BODY
from services.overview import Overview, read_overview, retry_parked, skip_parked
from services.wiring import Services

admin: Final = Room(
    "admin", __name__, url_prefix="/v1/admin", description="For operators who have the scope admin"
)

WIDTH: Final = 5
"""Seconds in a piece of what the process has done."""
_HEADERS: Final = [("Content-Type", JSON), ("Cache-Control", "no-store")]


class FiguresAnswer(Schema):
    """How things stand in all partitions together."""

    lag = fields.Dict(
        keys=fields.String(),
        values=count("a number", required=False),
        required=True,
        metadata={"description": "appends that a consumer group has yet to deal with"},
    )
    games = fields.Dict(
        keys=fields.String(),
        values=count("a number", required=False),
        required=True,
        metadata={"description": "games by status"},
    )
    due = count("games in which a bot or a clock must act, now or later")
    overdue = count("games in which a bot or a clock should have acted by now")
    waited_ms = count("for how long the first of these has waited")
    queued = count("jobs of bots that wait; null where the queue's server does not answer", allow_none=True)
    parked = count("games that could not be folded and were set aside, those that were skipped left out")
    skipped = count("those that an operator has left alone")
    unfolded = count("finished games that the standings do not have yet, at most 1000")
    memory = count("bytes that the store's server uses", allow_none=True)


class WorkerAnswer(Schema):
    """A worker of a queue, and what it has done so far."""

    name = fields.String(required=True)
    state = fields.String(required=True, metadata={"description": "idle, busy, started or suspended"})
    job = fields.String(required=True, metadata={"description": "what it is at; may be empty"})
    since = count("when it began, Unix ms")
    done = count("jobs that went well")
    failed = count("jobs that failed")
    seconds = fields.Float(required=True, metadata={"description": "for how long it has worked"})


class QueueAnswer(Schema):
    """A queue of jobs."""

    name = fields.String(required=True)
    waiting = count("null where its server does not answer", allow_none=True)
    workers = fields.List(fields.Nested(WorkerAnswer), required=True, allow_none=True)


class ParkedAnswer(Schema):
    """A game that could not be folded and was set aside."""

    game = fields.String(required=True)
    seq = count("as far as the log went when it was tried last")
    why = fields.String(required=True)
    times = count("how often it was tried")
    at = count("when it was tried last, Unix ms")
    ended = fields.Boolean(
        required=True, metadata={"description": "whether the projector ended while it tried"}
    )
    skipped = fields.Boolean(required=True, metadata={"description": "whether an operator has left it alone"})
    asked = fields.Boolean(
        required=True, metadata={"description": "whether an operator wants it tried, and it was not yet"}
    )


class OverdueAnswer(Schema):
    """A game in which a bot or a clock should have acted."""

    game = fields.String(required=True)
    waited_ms = count("for how long it has waited")


class PieceAnswer(Schema):
    """What the answering process has done in some seconds."""

    requests = count("requests")
    commands = count("commands among them")
    refused = count("requests with a status from 400 on")
    p50 = fields.Float(
        required=True,
        allow_none=True,
        metadata={"description": "seconds in which half of the commands were answered"},
    )
    p99 = fields.Float(
        required=True, allow_none=True, metadata={"description": "seconds in which 99 of 100 were answered"}
    )


class OverviewAnswer(Schema):
    """How the house does now."""

    at = count("Unix ms")
    figures = fields.Nested(FiguresAnswer, required=True)
    appends = count("appends that the store was ever given, about")
    leaves = count("of the transparency log; null where it was spoilt", allow_none=True)
    queues = fields.List(fields.Nested(QueueAnswer), required=True)
    parked = fields.List(fields.Nested(ParkedAnswer), required=True)
    overdue = fields.List(fields.Nested(OverdueAnswer), required=True)
    warnings = fields.List(fields.String(), required=True, metadata={"description": "as `/readyz` has them"})
    width = count("seconds in a piece of `recent`")
    recent = fields.List(
        fields.Nested(PieceAnswer),
        required=True,
        metadata={"description": f"the last {SPAN} seconds of the process that answers, oldest first"},
    )


class RetryAnswer(Schema):
    """A game that is to be tried again."""

    game = fields.String(required=True)
    retried = fields.Boolean(
        required=True, metadata={"description": "false where it is not set aside any more"}
    )


class SkipAnswer(Schema):
    """A game that is left alone."""

    game = fields.String(required=True)
    skipped = fields.Boolean(
        required=True, metadata={"description": "false where it is not set aside any more"}
    )


@admin.view("GET", "/overview", OverviewAnswer, who="player", refuses=(503,))
def get_overview() -> Response:
    """See how the house does.

    Games, lag, workers, queues, what was set aside, what waits longest, and what the answering process has done in the last minutes. Needs the scope
    `admin`, which the command line gives out alone.
    """
    here, environ = house(), wsgi()
    require_now(here.players, environ, "admin")
    body = _told(read_overview(here.services))
    body["warnings"] = here.services.warnings()
    body["width"], body["recent"] = WIDTH, [piece._asdict() for piece in here.meter.recent(WIDTH)]
    return Answer(encode(body), _HEADERS)


@admin.view("POST", "/parked/<game>/retry", RetryAnswer, who="player", refuses=(*EMPTY_BODY, 404, 503))
def retry_game(game: str) -> Response:
    """Let a game that was set aside be tried again.

    The projector folds it anew; where that fails again it stays set aside, with the new reason. One that was left alone is so no
    longer. Needs the scope `admin`.
    """
    return _changed(game, "retried", retry_parked)


@admin.view("POST", "/parked/<game>/skip", SkipAnswer, who="player", refuses=(*EMPTY_BODY, 404, 503))
def skip_game(game: str) -> Response:
    """Leave a game alone that was set aside.

    No alarm counts it any more, and neither new events nor a restart have the projector try it, until `retry` or another version of the
    fold does. It stays listed. Needs the scope `admin`.
    """
    return _changed(game, "skipped", skip_parked)


def _changed(game: str, done: str, change: Callable[[Services, str], bool]) -> Response:
    """The answer to a change of what becomes of a game that was set aside; ``done`` is its name there."""
    here, environ = house(), wsgi()
    require_now(here.players, environ, "admin")
    check_game_id(game)
    read_body(environ, Nothing())
    changed = change(here.services, game)
    if not changed and not here.services.store.last(game):
        raise Problem("game/unknown", "there is no game of this id")
    return Answer(encode({"game": game, done: changed}), _HEADERS)


def _told(found: Overview) -> dict[str, Any]:
    return {
        "at": found.at,
        "figures": found.figures._asdict(),
        "appends": found.appends,
        "leaves": found.leaves,
        "queues": [_queue(one) for one in found.queues],
        "parked": [
            {
                "game": game,
                "seq": one.seq,
                "why": one.why[:500],
                "times": one.times,
                "at": one.at,
                "ended": one.ended,
                "skipped": one.skipped,
                "asked": one.asked,
            }
            for game, one in sorted(found.parked.items())
        ],
        "overdue": [one._asdict() for one in found.overdue],
    }


def _queue(queue: Any) -> dict[str, Any]:
    workers = queue.workers
    told = (
        None
        if workers is None
        else [{k: v for k, v in one._asdict().items() if k != "queue"} for one in workers]
    )
    return {"name": queue.name, "waiting": queue.waiting, "workers": told}
