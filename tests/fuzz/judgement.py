"""What schemathesis cannot know of this server: which refusals of a request that fits its schema are right.

The game, other requests and the version of a table are beyond any schema. What is not: a field that fits its description
and is refused nevertheless. Loaded by `tests/fuzz/run.py` and by the tests.
"""

from __future__ import annotations

import re
from typing import Any

import schemathesis

RIGHTLY_REFUSED = ["2xx", "304", "401", "403", "404", "409", "412", "422", "429"]
"""How a request that fits its schema may be answered; 400, 406, 413 and 415 are not among them."""
BEYOND_SCHEMAS = {
    "create_player": "a name has a character that can be seen",
    "rename": "a name has a character that can be seen",
    "make_token": "a label has a character that can be seen",
    "rematch": "a practice table has none",
    "make_move": "a seat signs its moves, or has no key",
    "open_table": "there are as many seats as the rules have; a player that is named exists",
    "list_games": "a cursor is one of this list",
    "show_leaderboard": "a cursor is one of this list",
    "read_my_events": "a cursor is one of this player",
    "get_entries": "the log has come as far as `start`",
    "get_log_proof": "a leaf, or two sizes, of a log of that size",
    "get_proof": "the log has come as far as `size`",
    "branch": "the game has the event, in a hand, and the seat",
    "show_table": "an event and a seat are there; one of `as` and `open`",
    "explain_card": "an event and a seat are there; in a pass a seat is named or one's own",
    "compare_moments": "both events and the seat are there",
    "get_advice": "an event and a seat are there; where several may act a seat is named",
    "read_events": "the game has come as far as `after`",
    "sit_down": "the table has the seat",
    "stand_up": "the table has the seat",
    "take_back": "the table has the seat",
}
"""Calls that may be `request/invalid` though they fit their schema, and what no schema can say of them."""


@schemathesis.check
def fields_that_fit_are_taken(ctx: Any, response: Any, case: Any) -> None:
    """A request that fits its schema is `request/invalid` only where a schema cannot say what is wrong."""
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code != 422:
        return
    name = case.operation.definition.raw.get("operationId")
    if name not in BEYOND_SCHEMAS:
        assert response.json()["code"] != "request/invalid", response.json()["detail"]


@schemathesis.hook
def filter_failure(ctx: Any, failure: Any, case: Any, response: Any) -> bool:
    """Whether to believe a failure: schemathesis 4.32 sends `If-Match: 0` and takes it for what its pattern asks."""
    for one in case.operation.definition.raw.get("parameters", ()):
        value = (case.headers or {}).get(one["name"]) if one["in"] == "header" else None
        if value is not None and not re.search(one["schema"].get("pattern", ""), str(value)):
            return response.status_code not in (400, 422)
    return True
