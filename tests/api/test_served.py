"""What docs/served.md says is not there yet is not there, and all else of the contract is."""

import re
from pathlib import Path

import pytest
from flask import Flask
from werkzeug.exceptions import HTTPException

from api.inputs import DEEPEST, LARGEST_BODY
from api.schemas import LARGEST_PAGE, LONGEST_WAIT, MOST_EVENTS
from api.serving import HEADER_SECONDS, MOST_CONNECTIONS
from domain.ruleset import LARGEST, LONGEST_CYCLE
from tests.api.guests import Guest, open_table

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
    named = set(re.findall(r"^\| `([A-Z]+ /[^`]*)` \| 404", SERVED, re.MULTILINE))
    assert named == {call for call in calls if not is_served(app, call)}


def test_the_parts_that_are_missing_are_refused_as_told(four: list[Guest]) -> None:
    """Parameters, formats and fields that are not there yet are refused and never ignored."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    for kind in ("application/x-ndjson", "text/event-stream"):
        refused = four[0].get(f"/v1/games/{game}/events", Accept=kind)
        assert (406, "request/not_acceptable") == (refused.status_code, refused.json["code"])
        assert f"`{kind}`" in SERVED
    for name, path in (("public_key", "seats"), ("signed_seq", "moves"), ("signature", "moves")):
        refused = four[1].post(f"/v1/games/{game}/{path}", {name: "00"})
        assert (422, name) == (refused.status_code, refused.json["errors"][0]["field"])
        assert f"`{name}`" in SERVED


@pytest.mark.parametrize(
    "said",
    [
        f"| {LARGEST_BODY // 1024} KiB, lists and objects nested {DEEPEST} deep",
        f"| events of an answer | {MOST_EVENTS:,};",
        f"| games of an answer | {LARGEST_PAGE} |",
        f"| {LONGEST_WAIT} seconds; three quarters",
        f"| {MOST_CONNECTIONS:,}; one that sends no whole head of a request for {HEADER_SECONDS} seconds",
        f"| numbers of a rule set | {LARGEST:,},",
        f"| entries of `pass_cycle` | {LONGEST_CYCLE} |",
    ],
)
def test_bounds_are_told_as_they_are(said: str) -> None:
    """The table of bounds has the numbers that are enforced."""
    assert said in SERVED
