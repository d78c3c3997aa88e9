"""What `make fuzz` and the short run among the tests have in common: the tables that are there, and the configuration."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.fuzz.judgement import RIGHTLY_REFUSED

Post = Callable[[str, dict[str, Any]], dict[str, Any]]
"""Posts a body to an address, and returns that of the answer."""
_BOTS = [{"bot": "rules"}] * 3


def seed_games(post: Post) -> list[str]:
    """The ids of tables of the caller: one's own and open, open to all, over (if bots are played), passing, in play."""

    def opened(seats: list[Any], **rules: Any) -> str:
        game: str = post("/v1/games", {"variant": "basic", "seats": seats, **rules})["id"]
        return game

    games = [
        opened(["me", "open", "open", "open"]),
        opened(["open"] * 4),
        opened([{"bot": "rules"}, *_BOTS], hand_limit=1),
    ]
    for count in (3, 0):
        game = opened(["me", *_BOTS], pass_count=count, pass_cycle=[1 if count else 0])
        post(f"/v1/games/{game}/ready", {})
        games.append(game)
    return games


FATAL = ("DELETE /v1/me", "POST /v1/me/token", "DELETE /v1/me/tokens/{token}")
"""Calls that may end the token that makes them, and with it all that was still to be tried."""


def configuration(token: str, spare: str, games: list[str]) -> str:
    """The configuration of schemathesis, as TOML; ``spare`` is another player's token, for the calls of `FATAL`."""
    apart = "".join(
        f"""
[[operations]]
include-name = "{call}"
headers = {{ Authorization = "Bearer {spare}" }}
"""
        for call in FATAL
    )
    return f"""
headers = {{ Authorization = "Bearer {token}" }}
warnings = false
request-timeout = 60

[dictionaries.games]
values = {json.dumps(games)}

[dictionaries.waits]
values = [0, 1]

[parameters]
"query.wait" = {{ dictionary = "waits", probability = 0.95 }}
"path.game" = {{ dictionary = "games", probability = 0.7 }}

[checks.positive_data_acceptance]
expected-statuses = {json.dumps(RIGHTLY_REFUSED)}
{apart}"""
