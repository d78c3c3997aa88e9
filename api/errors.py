"""Refusals as ``application/problem+json`` (RFC 9457): the one table from exception and code to status.

Whatever goes wrong in a request ends here, werkzeug's own errors included, so that no client ever gets a page of HTML or
a word about the inside of the server.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec
from flask import Flask, Response
from werkzeug.exceptions import HTTPException

from api.explained import EXPLAINED
from domain.refusals import CorruptLog, HeartsError, InvalidRules, Malformed, Refused
from services.archive import ArchiveUnavailable
from services.audit import KeyFileError
from services.folded import Table
from services.hub import Closed, Cut
from services.once import KeyReused
from services.store import CorruptStream, StoreUnavailable
from services.tables import StaleVersion, UnknownGame
from services.token_forms import TokenEnded, TooManyTokens
from services.translog import CorruptTransparencyLog
from services.wire import NotReplicated

LOG: Final = logging.getLogger("hearts.api")
PROBLEM_JSON: Final = "application/problem+json"
RETRY_SECONDS: Final = 1
"""How long a client should wait before it asks again, where waiting helps."""
BEARER: Final = 'Bearer realm="hearts"'
"""The challenge to who has no valid token."""
TOKEN_HINT: Final = "POST /v1/players gives you a token; send it as Authorization: Bearer TOKEN"

CODES: Final[dict[str, tuple[int, str]]] = {
    "request/unreadable": (400, "The request cannot be read"),
    "auth/required": (401, "A valid token is required"),
    "auth/forbidden": (403, "The token does not allow this"),
    "hint/not_allowed": (403, "No hints at this table"),
    "invitation/wrong": (403, "Not an invitation to this table"),
    "seat/not_yours": (403, "Not your seat"),
    "game/unknown": (404, "No such game"),
    "player/unknown": (404, "No such player"),
    "log/unknown_leaf": (404, "No such leaf in the log"),
    "variant/unknown": (404, "No such variant"),
    "token/unknown": (404, "No such token"),
    "request/not_found": (404, "There is nothing at this address"),
    "request/method_not_allowed": (405, "The method does not fit the address"),
    "request/not_acceptable": (406, "The answer does not come in a format you accept"),
    "game/full": (409, "No seat is free"),
    "game/not_over": (409, "The game is not over"),
    "game/not_started": (409, "The game has not started"),
    "game/over": (409, "The game is over"),
    "hand/not_over": (409, "The hand is not over"),
    "moon/not_now": (409, "There is no moon to choose now"),
    "pass/not_now": (409, "No cards are passed now"),
    "play/hand_over": (409, "The hand is played out"),
    "play/not_your_turn": (409, "Not your turn"),
    "seat/taken": (409, "The seat cannot be had"),
    "log/cut": (409, "The log has lost events"),
    "game/too_many": (409, "You have opened too many tables that are not over"),
    "token/too_many": (409, "You have too many tokens"),
    "version/stale": (412, "The table has moved on"),
    "request/too_large": (413, "The request is too large"),
    "request/media_type": (415, "The body is not JSON"),
    "claim/not_certain": (422, "The rest of the tricks is not certain"),
    "entropy/repeated": (422, "The commitment is at the table already"),
    "entropy/wrong_opening": (422, "The opening does not fit the commitment"),
    "key/reused": (422, "The idempotency key was used for another request"),
    "move/unsigned": (422, "The move is not signed"),
    "move/wrong_signature": (422, "The signature is not that of the move"),
    "pass/wrong_cards": (422, "Not a valid pass"),
    "play/hearts_not_broken": (422, "Hearts are not broken"),
    "play/must_follow_suit": (422, "Suit must be followed"),
    "play/must_open_with": (422, "The hand must be opened with another card"),
    "play/not_in_hand": (422, "The card is not in your hand"),
    "play/penalty_on_first_trick": (422, "Not on the first trick"),
    "play/penalty_opening_lead": (422, "Not as the opening lead"),
    "request/invalid": (422, "The request does not say what it should"),
    "rules/invalid": (422, "The rules cannot be played"),
    "rate/limited": (429, "Too many requests"),
    "stream/too_slow": (429, "The stream was not read"),
    "game/altered": (500, "The game was altered in the store"),
    "log/altered": (500, "The transparency log was altered in the store"),
    "server/error": (500, "The server failed"),
    "server/busy": (503, "The server opens no new tables now"),
    "server/stopping": (503, "The server is about to stop"),
    "store/unavailable": (503, "The store does not answer"),
}
"""Status and title of every code that an answer of this server may carry."""

_OF_STATUS: Final = {
    400: "request/unreadable",
    404: "request/not_found",
    405: "request/method_not_allowed",
    406: "request/not_acceptable",
    413: "request/too_large",
    415: "request/media_type",
    429: "rate/limited",
    503: "store/unavailable",
}
"""The code of an error that the web framework raises itself, by its status."""
_WORDS: Final = {
    400: ("the request is not proper HTTP", ""),
    404: ("there is nothing at this address", "all addresses are listed at /docs"),
    405: ("the address does not take this method", "all addresses and their methods are listed at /docs"),
    413: ("the body is too large", "a body has at most 64 KiB"),
}
"""Detail and hint of such an error."""


class Problem(HeartsError):
    """A refusal by this floor. ``status`` is that of its code unless it is given; ``extra`` are further members."""

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        hint: str = "",
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
        **extra: object,
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.code, self.detail, self.hint = code, detail, hint
        self.status = CODES[code][0] if status is None else status
        self.headers, self.extra = dict(headers or {}), extra


class FieldProblem(Problem):
    """A request whose fields are not all right; ``errors`` tells each, as `field` and `detail`."""

    def __init__(self, errors: list[dict[str, str]]) -> None:
        told = "; ".join(one["detail"] for one in errors)
        super().__init__("request/invalid", told[:1000], errors=errors)


class HeaderProblem(Problem):
    """A header that cannot be read, so that nothing is known of what it asks."""

    def __init__(self, name: str, detail: str) -> None:
        super().__init__("request/unreadable", detail, errors=[{"field": name, "detail": detail}])


class RefusedAt(HeartsError):
    """A command refused by the table as it is at ``table``: a `Refused` with the version it was judged by."""

    def __init__(self, refused: Refused, table: Table) -> None:
        super().__init__(str(refused))
        self.refused, self.table = refused, table


class ProblemResponse(Response):
    """The answer that tells a problem, and its code."""

    code = ""


def problem_body(problem: Problem) -> bytes:
    """``problem`` as JSON."""
    body: dict[str, Any] = {
        "type": f"/docs#{problem.code}",
        "title": CODES[problem.code][1],
        "status": problem.status,
        "detail": problem.detail,
        "code": problem.code,
        "hint": problem.hint or EXPLAINED[problem.code].advice,
        **problem.extra,
    }
    return msgspec.json.encode(body)


def problem_response(problem: Problem) -> ProblemResponse:
    """The answer that tells ``problem``."""
    status = problem.status
    headers = {"Content-Type": PROBLEM_JSON, "Cache-Control": "no-store", **problem.headers}
    if status in (429, 503):
        headers.setdefault("Retry-After", str(RETRY_SECONDS))
    response = ProblemResponse(problem_body(problem), status, headers=headers)
    response.code = problem.code
    return response


def problem_of(error: Exception) -> Problem:
    """The problem that an exception is told as; anything unforeseen is our fault and told without details."""
    for kind, tell in _TOLD.items():
        if isinstance(error, kind):
            return tell(error)
    LOG.error("a request failed", exc_info=error)
    return Problem("server/error", "The request failed, and the failure was logged.", hint="try again later")


def register_errors(app: Flask) -> None:
    """Let every exception of a request be told as a problem."""

    def tell(error: Exception) -> Response:
        return problem_response(problem_of(error))

    app.register_error_handler(Exception, tell)
    app.register_error_handler(HTTPException, tell)


def _refused(error: Refused) -> Problem:
    problem = Problem(error.code, error.detail, hint=error.hint)
    if error.legal is not None:
        problem.extra["legal"] = " ".join(error.legal)
    return problem


def _refused_at(error: RefusedAt) -> Problem:
    problem = _refused(error.refused)
    problem.extra["seq"] = error.table.seq
    problem.headers["ETag"] = error.table.etag
    return problem


def _invalid_rules(error: InvalidRules) -> Problem:
    errors = [{"detail": problem} for problem in error.problems]
    hint = "/v1/variants has every published rule set by value"
    return Problem("rules/invalid", "; ".join(error.problems)[:1000], hint=hint, errors=errors)


def _stale(error: StaleVersion) -> Problem:
    return Problem(
        "version/stale",
        f"the table is at event {error.table.seq}, not at the version of If-Match",
        hint="read the table again, or send the command without If-Match",
        headers={"ETag": error.table.etag},
        seq=error.table.seq,
    )


def _key_reused(_: KeyReused) -> Problem:
    return Problem(
        "key/reused",
        "this Idempotency-Key was sent with another request before",
        hint="use a fresh key for each new request, and the same one only to repeat it",
    )


def not_valid(error: TokenEnded | None = None) -> Problem:
    """What is said to who asks with a token that is not valid."""
    return Problem(
        "auth/required",
        str(error or "the token of this request is not valid"),
        hint=TOKEN_HINT,
        headers={"WWW-Authenticate": f'{BEARER}, error="invalid_token"'},
    )


def _too_many_tokens(error: TooManyTokens) -> Problem:
    return Problem(
        "token/too_many", str(error), hint="end one that you no longer need: DELETE /v1/me/tokens/{id}"
    )


def _not_replicated(error: NotReplicated) -> Problem:
    return Problem(
        "store/unavailable",
        f"a command may have been carried out, but too few copies of it are kept yet: {error}",
        hint="repeat it under the same Idempotency-Key: it is answered when enough copies are kept, and done once at most",
    )


def _unavailable(_: StoreUnavailable) -> Problem:
    return Problem(
        "store/unavailable",
        "the store does not answer, so it is not known whether a command was carried out",
        hint="try again in a moment, and repeat a command under the same Idempotency-Key",
    )


def _archive_unavailable(error: ArchiveUnavailable) -> Problem:
    LOG.error("%s", error)
    return Problem(
        "store/unavailable",
        "the archive of finished games cannot be read at the moment",
        hint="try again later; the server's log tells its operator why",
    )


def _key_missing(error: KeyFileError) -> Problem:
    LOG.error("%s", error)
    return Problem(
        "store/unavailable",
        "this server process cannot sign now, so nothing was done",
        hint="try again in a moment; the server's log tells its operator which key is missing",
    )


def _altered(error: CorruptLog | CorruptStream) -> Problem:
    LOG.error("a game in the store is not as it was written: %s; `hearts audit GAME` tells more", error)
    return Problem("game/altered", "what the store holds of this game is not what was written there")


def _log_altered(error: CorruptTransparencyLog) -> Problem:
    LOG.error("%s; `hearts log verify` tells more", error)
    return Problem(
        "log/altered", "what the store holds of the transparency log is not what was written there"
    )


def _http(error: HTTPException) -> Problem:
    status = error.code or 500
    if status >= 500 and status not in _OF_STATUS:
        LOG.error("a request failed", exc_info=error)
        return Problem("server/error", "The request failed, and the failure was logged.", status=status)
    code = _OF_STATUS.get(status, "request/unreadable")
    headers = {name: value for name, value in error.get_headers() if name in ("Allow", "Retry-After")}
    detail, hint = _WORDS.get(status, (error.name.lower(), ""))
    return Problem(code, detail, hint=hint, status=status, headers=headers)


_TOLD: Final[dict[type[Exception], Callable[[Any], Problem]]] = {
    Problem: lambda error: error,
    RefusedAt: _refused_at,
    Refused: _refused,
    InvalidRules: _invalid_rules,
    Malformed: lambda error: Problem("request/invalid", str(error)),
    UnknownGame: lambda _: Problem(
        "game/unknown", "there is no game of this id", hint="/v1/games lists them"
    ),
    StaleVersion: _stale,
    KeyReused: _key_reused,
    TokenEnded: not_valid,
    TooManyTokens: _too_many_tokens,
    ArchiveUnavailable: _archive_unavailable,
    NotReplicated: _not_replicated,
    StoreUnavailable: _unavailable,
    CorruptLog: _altered,
    CorruptStream: _altered,
    CorruptTransparencyLog: _log_altered,
    Cut: lambda error: Problem("log/cut", str(error), hint="read the table anew, and go on from its seq"),
    Closed: lambda error: Problem("server/stopping", str(error), hint="try again in a moment"),
    KeyFileError: _key_missing,
    HTTPException: _http,
}
