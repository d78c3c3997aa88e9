"""What docs/served.md says is not there yet is not there, and all else of the contract is."""

import re
from pathlib import Path

import pytest
from flask import Flask
from limits import parse_many
from werkzeug.exceptions import HTTPException

from api.answers_log import MOST_ENTRIES
from api.house import MOST_OF_ONE
from api.inputs import DEEPEST, LARGEST_BODY
from api.schemas import LARGEST_PAGE, LONGEST_WAIT, MOST_EVENTS
from api.serving import COMMANDERS, HEADER_SECONDS, UNREAD_SECONDS
from api.streams import SLOW_SECONDS
from api.tokens import LONGEST_GRACE, USUAL_GRACE
from domain.commands import ABANDON_SECONDS
from domain.knobs import CLASSES, LONGEST_LIST, MOST_SEATS
from domain.ruleset import LARGEST, LONGEST_CYCLE
from services.players import LONGEST_NAME
from services.settings import Settings, variable
from services.standings import RECENT
from services.token_forms import LONGEST_LIFE, MOST_TOKENS
from services.tokens import BELIEVED_MS

ROOT = Path(__file__).resolve().parents[2]
SERVED = (ROOT / "docs/served.md").read_text(encoding="utf-8")
CONTRACT = (ROOT / "docs/spec/http.md").read_text(encoding="utf-8")
SHORT = {
    "DELETE .../seats/{n}": "DELETE /v1/games/{id}/seats/{n}",
    "POST .../seats/{n}/back": "POST /v1/games/{id}/seats/{n}/back",
    "/branch": "POST /v1/games/{id}/branch",
    "/audit": "GET /v1/games/{id}/audit",
    "/v1/me/events": "GET /v1/me/events",
    "/v1/leaderboard": "GET /v1/leaderboard",
    "/v1/log/proof": "GET /v1/log/proof",
    "/v1/variants/{name}": "GET /v1/variants/{name}",
    "/livez": "GET /livez",
    "/readyz": "GET /readyz",
    "/version": "GET /version",
    "/metrics": "GET /metrics",
}
"""How the table of the contract shortens a call that stands beside another."""
ON_ANOTHER_PORT = "GET /metrics"


def contract_calls() -> set[str]:
    """Every call of the contract's table, written out."""
    table = re.search(r"\| call \|.*?\n\n", CONTRACT, re.DOTALL)
    assert table
    calls = set()
    for cell in re.findall(r"^\| (`.*?) \| ", table[0], re.MULTILINE):
        for quoted in re.findall(r"`([^`]*)`", cell):
            if quoted.startswith("{"):
                continue
            call = re.split(r" \{|\?", quoted)[0].strip()
            calls.add(call if re.match(r"(GET|POST) /", call) else SHORT[call])
    seats = re.findall(r"`((?:DELETE|POST) \.\.\.[^`]*)`", table[0])
    return calls | {SHORT[call] for call in seats}


def is_served(app: Flask, call: str) -> bool:
    """Whether the application has a route for ``METHOD /address``."""
    method, _, address = call.partition(" ")
    path = address.replace("{n}", "0").replace("{id}", "x").replace("{name}", "x")
    try:
        app.url_map.bind("localhost").match(path, method)
    except HTTPException:
        return False
    return True


def test_the_calls_that_are_missing_are_the_ones_that_are_named(app: Flask) -> None:
    """Each call of the contract is served, or stands in the table of docs/served.md; none does both."""
    calls = contract_calls()
    assert 29 == len(calls), sorted(calls)
    assert not is_served(app, ON_ANOTHER_PORT)
    calls.remove(ON_ANOTHER_PORT)
    named = set(re.findall(r"^\| `([A-Z]+ /[^`]*)` \| 404", SERVED, re.MULTILINE))
    assert named == {call for call in calls if not is_served(app, call)}


@pytest.mark.parametrize(
    "said",
    [
        f"| {LARGEST_BODY // 1024} KiB, lists and objects nested {DEEPEST} deep",
        f"| events of an answer | {MOST_EVENTS:,};",
        f"| games of an answer | {LARGEST_PAGE} |",
        f"| wait of a long poll | {LONGEST_WAIT} seconds |",
        f"| streams and long polls of a process | `HEARTS_LISTENERS`, {Settings().listeners:,}; {MOST_OF_ONE} of one player,",
        f"| how long a stream may be left unread | {SLOW_SECONDS:.0f} seconds, then it ends; its connection is closed after {UNREAD_SECONDS} |",
        f"| connections of a process | {COMMANDERS:,} beside those; one that sends no whole head of a request for {HEADER_SECONDS} seconds",
        f"| places of a leaderboard in an answer | {LARGEST_PAGE} |",
        f"| last games of a player in an answer | {RECENT} |",
        f"| entries of the transparency log in an answer | {MOST_ENTRIES:,} |",
        f"| numbers of a rule set | {LARGEST:,},",
        f"| entries of `pass_cycle` | {LONGEST_CYCLE} |",
        f"| `abandon_seconds` | {ABANDON_SECONDS[0]:,} to {ABANDON_SECONDS[1]:,} |",
        f"| tokens of a player | {MOST_TOKENS};",
        f"| life of a token that ends by itself | 1 second to {LONGEST_LIFE // 86_400} days |",
        f"| `grace` of a rotation | 0 to {LONGEST_GRACE:,} seconds |",
        f"seconds, {USUAL_GRACE} unless you say so",
        f"within {BELIEVED_MS // 1000} seconds by",
        f"| names and labels | {LONGEST_NAME} characters |",
        f"| tables that a player has opened and that are not over | {Settings().most_tables} (",
        f"| list of cards of a rule set, classes of a rule set | {LONGEST_LIST} characters, {len(CLASSES)} entries |",
        f"| seats of a table | {MOST_SEATS} |",
    ],
)
def test_bounds_are_told_as_they_are(said: str) -> None:
    """The table of bounds has the numbers that are enforced."""
    assert said in SERVED


@pytest.mark.parametrize("name", ["rate_player", "rate_address", "rate_new_players", "rate_bad_tokens"])
def test_limits_are_told_as_they_are(name: str) -> None:
    """The defaults of the settings stand in the table of bounds, and as they are written for operators."""
    setting, row = variable(name), next(line for line in SERVED.splitlines() if variable(name) in line)
    for limit in parse_many(getattr(Settings(), name)):
        period = {1: "second", 10: "10 seconds", 60: "minute", 86_400: "day"}[limit.get_expiry()]
        assert re.search(rf"\b{limit.amount:,} (in|a) {period}\b", row)
    operating = (ROOT / "docs/operating.md").read_text(encoding="utf-8")
    assert f"| `{setting}` | `{getattr(Settings(), name)}` |" in operating
