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


def configuration(token: str, games: list[str]) -> str:
    """The configuration of schemathesis, as TOML."""
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
"""
