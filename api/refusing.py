"""Which codes a call may refuse with, and how OpenAPI tells it: a response a status, an example a code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from api.errors import CODES, PROBLEM_JSON
from api.explained import EXPLAINED, Told

REFUSES: Final = "x-refuses"
"""Where `api.room` leaves the codes that a call names for `api.document`."""
_USUAL: Final = {
    400: "request/unreadable",
    401: "auth/required",
    403: "auth/forbidden",
    406: "request/not_acceptable",
    412: "version/stale",
    413: "request/too_large",
    415: "request/media_type",
    429: "rate/limited",
    503: "store/unavailable",
}
"""The one code that a call has in mind that names such a status."""
_OF_GAMES: Final = frozenset((403, 409, 422))
"""The statuses that tell what a game does not allow."""
_OF_ADDRESSES: Final = {"{game}": "game/unknown", "{player}": "player/unknown"}
"""What a 404 means at an address, by what it has a part for."""
_HEADERS: Final[dict[int, dict[str, str]]] = {
    401: {"WWW-Authenticate": "how to say who you are, RFC 6750"},
    403: {"WWW-Authenticate": "the scope that is wanted, where the token lacks it, RFC 6750"},
    429: {"Retry-After": "seconds to wait"},
    503: {"Retry-After": "seconds to wait"},
}
"""Headers that every refusal of a status has; of 403 only those for want of a scope."""


OF_SITTING_DOWN: Final = ("game/full", "game/over", "invitation/wrong", "seat/taken", "entropy/repeated")
OF_A_SEAT: Final = ("game/over", "seat/not_yours", "seat/taken")
"""What standing up and coming back are refused with."""
OF_READINESS: Final = (*OF_A_SEAT, "entropy/wrong_opening", "game/not_started")
OF_MOVES: Final = (
    "game/not_started",
    "game/over",
    "moon/not_now",
    "move/unsigned",
    "move/wrong_signature",
    "pass/not_now",
    "pass/wrong_cards",
    "play/hand_over",
    "play/hearts_not_broken",
    "play/must_follow_suit",
    "play/must_open_with",
    "play/not_in_hand",
    "play/not_your_turn",
    "play/penalty_on_first_trick",
    "play/penalty_opening_lead",
    "seat/not_yours",
)


def codes_of(statuses: Iterable[int], codes: Iterable[str], rule: str, *, keyed: bool) -> list[str]:
    """The codes that a call at the address ``rule`` may refuse with, by status.

    ``codes`` are those that it names; ``keyed`` tells whether it takes an Idempotency-Key. Of ``statuses`` each brings its
    usual codes; where a status has none it may be any of that status, and so it is for a command that names none.
    """
    named = frozenset(codes)
    found = set(named)
    for status in statuses:
        usual = _usual(status, rule, keyed)
        found |= usual
        is_named = any(CODES[code][0] == status for code in named)
        if not (usual or is_named) or (keyed and not named and status in _OF_GAMES):
            found |= {code for code, (of, _) in CODES.items() if of == status}
    return sorted(found, key=lambda code: (CODES[code][0], code))


def _usual(status: int, rule: str, keyed: bool) -> frozenset[str]:
    if status == 404:
        return frozenset(code for part, code in _OF_ADDRESSES.items() if part in rule and code in CODES)
    if status == 422:
        return frozenset(("request/invalid", "key/reused") if keyed else ("request/invalid",))
    return frozenset((_USUAL[status],) if status in _USUAL else ())


def refusals(codes: Iterable[str]) -> dict[str, Any]:
    """The responses of OpenAPI that tell ``codes``, by status."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(CODES[code][0], []).append(code)
    return {str(status): _response(status, by_status[status]) for status in sorted(by_status)}


def codes_in(response: dict[str, Any]) -> list[str]:
    """The codes that a response of `refusals` tells."""
    return list(response.get("content", {}).get(PROBLEM_JSON, {}).get("examples", ()))


def component(code: str) -> str:
    """The name of a code's example among the components."""
    return code.replace("/", ".")


def examples(codes: Iterable[str]) -> dict[str, Any]:
    """The components that the examples of ``codes`` refer to."""
    return {component(code): {"summary": CODES[code][1], "value": example(code)} for code in sorted(codes)}


def _response(status: int, codes: list[str]) -> dict[str, Any]:
    response: dict[str, Any] = {
        "description": "\n".join(f"* `{code}`: {told(code).meaning}" for code in codes)
        if len(codes) > 1
        else f"`{codes[0]}`: {told(codes[0]).meaning}",
        "content": {
            PROBLEM_JSON: {
                "schema": {"$ref": "#/components/schemas/ProblemAnswer"},
                "examples": {code: {"$ref": f"#/components/examples/{component(code)}"} for code in codes},
            }
        },
    }
    if status in _HEADERS:
        response["headers"] = {
            name: {"description": what, "required": status != 403, "schema": {"type": "string"}}
            for name, what in _HEADERS[status].items()
        }
    return response


def told(code: str) -> Told:
    """How ``code`` is told to people, by its title alone where nobody has explained it."""
    title = CODES[code][1]
    return EXPLAINED.get(code) or Told(f"{title}.", "", title.lower())


def example(code: str) -> dict[str, Any]:
    """A whole problem of this code, as a body has it."""
    status, title = CODES[code]
    said = told(code)
    return {
        "type": f"/docs#{code}",
        "title": title,
        "status": status,
        "detail": said.detail,
        "code": code,
        "hint": said.hint or said.advice,
        **said.extra,
    }
