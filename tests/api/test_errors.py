"""The table of codes, and what a client is told when it is our fault."""

import ast
import logging
from pathlib import Path

import pytest
from flask import Flask

from api.errors import CODES, problem_of
from api.explained import EXPLAINED
from domain.refusals import CorruptLog, HeartsError
from services.store import CorruptStream, StoreUnavailable
from services.translog import CorruptTransparencyLog
from services.wiring import Services
from tests.api.guests import Guest, open_table, seat_all

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = [
    "auth/required",
    "auth/forbidden",
    "request/unreadable",
    "request/invalid",
    "request/too_large",
    "rules/invalid",
    "game/unknown",
    "game/not_started",
    "game/over",
    "game/full",
    "play/not_your_turn",
    "seat/taken",
    "seat/not_yours",
    "entropy/wrong_opening",
    "entropy/repeated",
    "version/stale",
    "key/reused",
    "rate/limited",
    "store/unavailable",
]


def refused_codes(folder: str) -> set[str]:
    """Every code that is written in a `Refused(...)` or `Problem(...)` below a folder, or returned as a reason."""
    found = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Name(id="Refused" | "Problem"), args=[first, *_]):
                    found |= {part.value for part in ast.walk(first) if isinstance(part, ast.Constant)}
                case ast.Return(value=value) if value is not None and path.name == "rules.py":
                    found |= {part.value for part in ast.walk(value) if isinstance(part, ast.Constant)}
    return {code for code in found if isinstance(code, str) and code.count("/") == 1 and " " not in code}


def test_every_code_of_the_domain_has_a_status() -> None:
    """No refusal of the game falls through the table."""
    codes = refused_codes("domain")
    assert {"play/must_follow_suit", "seat/not_yours", "game/full"} <= codes
    only_in_records = {"hand/unfinished", "deal/wrong_cards", "pass/missing", "moon/choice_missing"}
    assert set() == {code for code in codes - CODES.keys() - only_in_records if not code.startswith("score/")}


def test_every_code_of_the_contract_is_served() -> None:
    """The codes that docs/spec/http.md promises for what there is so far, and all of this floor."""
    assert set(CONTRACT) <= CODES.keys()
    assert refused_codes("api") <= CODES.keys()
    assert all(f"`{code}`" in (ROOT / "docs/spec/http.md").read_text() for code in CONTRACT)


def test_statuses_mean_what_the_contract_says() -> None:
    """A code's status follows from whose fault it is."""
    statuses = {code: status for code, (status, _) in CODES.items()}
    for area, status in {
        "auth": {401, 403},
        "entropy": {422},
        "rules": {422},
        "version": {412},
        "rate": {429},
    }.items():
        assert status == {one for code, one in statuses.items() if code.startswith(f"{area}/")}
    assert 409 == statuses["play/not_your_turn"] == statuses["play/hand_over"] == statuses["game/over"]
    assert 422 == statuses["play/must_follow_suit"] == statuses["pass/wrong_cards"] == statuses["key/reused"]


def test_a_silent_store_is_told_as_such(
    services: Services, four: list[Guest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 with Retry-After at every call that needs it; the server itself still lives."""
    game = seat_all(four)

    def silent(*_: object, **__: object) -> object:
        raise StoreUnavailable("Connection refused by 10.0.0.1:6379")

    for wire in (services.store.wire, services.players._wire, services.projections._wire):
        for name in ("call", "run", "pipeline"):
            monkeypatch.setattr(wire, name, silent)
    hand = {"pass": ["2C", "3C", "4C"]}
    answers = [
        four[0].get("/readyz"),
        four[0].get("/v1/games"),
        four[0].get(f"/v1/games/{game}"),
        four[0].get(f"/v1/games/{game}/events"),
        four[0].get(f"/v1/games/{game}/proof"),
        four[0].post(f"/v1/games/{game}/moves", hand, Idempotency_Key="k"),
        four[0].post("/v1/games", {"variant": "basic", "seats": ["me", *["open"] * 3]}),
        four[0].post("/v1/players", {"name": "Anna"}),
    ]
    for answer in answers:
        assert (503, "store/unavailable") == (answer.status_code, answer.json["code"])
        assert answer.headers["Retry-After"]
        assert "10.0.0.1" not in answer.text
    assert 200 == four[0].get("/livez").status_code
    assert 200 == four[0].get("/v1/variants").status_code


def test_a_fault_of_ours_is_logged_and_not_told(
    app: Flask,
    services: Services,
    four: list[Guest],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """500 as a problem without details, and the whole story in the log."""
    game = open_table(four[0], ["me", "open", "open", "open"])

    def broken(*_: object) -> object:
        raise CorruptStream(game, 3, "the secret is 42")

    monkeypatch.setattr(services.store, "read", broken)
    with caplog.at_level(logging.ERROR, "hearts.api"):
        answer = four[0].get(f"/v1/games/{game}")
    assert (500, "game/altered", "application/problem+json") == (
        answer.status_code,
        answer.json["code"],
        answer.headers["Content-Type"],
    )
    assert "42" not in answer.text
    assert "the secret is 42" in caplog.text


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CorruptLog("x"), "game/altered"),
        (CorruptStream("g", 3, "x"), "game/altered"),
        (CorruptTransparencyLog("x"), "log/altered"),
    ],
)
def test_what_somebody_did_to_the_store_has_a_code_of_its_own(
    error: Exception, code: str, caplog: pytest.LogCaptureFixture
) -> None:
    """No client is told to try again, or anything of the inside; the operator is told all of it."""
    problem = problem_of(error)
    assert (500, code) == (problem.status, problem.code)
    assert "x" not in problem.detail
    assert "x; `hearts" in caplog.text
    assert "To ask again does not help" in EXPLAINED[code].advice


@pytest.mark.parametrize("error", [ValueError("x"), HeartsError("x"), KeyError("x"), RecursionError()])
def test_what_nobody_foresaw_is_our_fault(error: Exception) -> None:
    """An exception that the table does not name is 500, whatever it says."""
    problem = problem_of(error)
    assert (500, "server/error") == (problem.status, problem.code)
    assert "x" not in problem.detail
