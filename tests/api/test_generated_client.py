"""A client that a generator makes of the OpenAPI document plays a game to its end."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from flask import Flask

from services.wiring import Services

CONFIG = Path(__file__).resolve().parents[1] / "fuzz/client.yaml"
NAME = "hearts_generated_client"


@pytest.fixture
def package(app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a package that openapi-python-client has made, without a warning."""
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(app.test_client().get("/v1/openapi.json").json), encoding="utf-8")
    options = ["--meta", "none", "--config", str(CONFIG), "--fail-on-warning"]
    program = [sys.executable, "-m", "openapi_python_client", "generate", "--path", str(document)]
    done = subprocess.run(
        [*program, "--output-path", str(tmp_path / NAME), *options],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    assert "arning" not in done.stdout + done.stderr
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / NAME
    for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
        del sys.modules[name]


class Calls:
    """The calls of a generated package, by their names in the document."""

    def __init__(self, folder: Path, app: Flask) -> None:
        self.folder, self.package = folder, folder.name
        self.options: dict[str, Any] = {
            "base_url": "http://hearts.test",
            "httpx_args": {"transport": httpx.WSGITransport(app=app)},
        }
        self.client = self.module("client").Client(**self.options)

    def module(self, name: str) -> ModuleType:
        """A module of the package."""
        return importlib.import_module(f"{self.package}.{name}")

    def model(self, name: str, body: dict[str, Any]) -> Any:
        """A body as the package has it."""
        return getattr(self.module("models"), name).from_dict(body)

    def named(self, name: str) -> ModuleType:
        """The module of a call, whatever group it is in."""
        (found,) = (self.folder / "api").glob(f"*/{name}.py")
        return self.module(f"api.{found.parent.name}.{name}")

    def call(self, name: str, *args: Any, **options: Any) -> Any:
        """What a call answers: a model, or the text of a file."""
        answer = self.named(name).sync(*args, client=self.client, **options)
        assert type(answer).__name__ != "ProblemAnswer", answer
        return answer

    def be(self, token: str) -> None:
        """Send this token from now on."""
        self.client = self.module("client").AuthenticatedClient(token=token, **self.options)


def test_a_generated_client_plays_a_game(app: Flask, package: Path, services: Services) -> None:
    """From becoming a player to the proof of the finished game and a refusal, by nothing but what was generated."""
    calls = Calls(package, app)
    player = calls.call("create_player", body=calls.model("NewPlayer", {"name": "Anna"}))
    calls.be(player.token)
    seats = ["me", {"bot": "rules"}, {"bot": "random"}, {"bot": "rules"}]
    wanted = {"variant": "standard", "seats": seats, "hand_limit": 1}
    table = calls.call("open_table", body=calls.model("NewTable", wanted), idempotency_key="first")
    game = table.id
    table = calls.call("get_ready", game)
    moves = 0
    while table.status.value == "playing":
        services.tables.act_for_house(game)
        table = calls.call("show_table", game)
        if table.turn != table.you and not (table.phase.value == "pass" and not table.seats[0].passed):
            continue
        hint = calls.call("get_hint", game).to_dict()
        ((what, value),) = [(key, one) for key, one in hint.items() if key != "bot"]
        body = calls.model(what.title(), {what: value})
        table = calls.call("make_move", game, body=body, if_match=f'"{table.seq}-{table.head[:16]}"')
        assert table.receipt.seq == table.seq
        moves += 1
    assert 13 <= moves <= 15
    assert calls.call("get_record", game).to_dict()["format"] == "hearts-record/1"
    assert game == json.loads(calls.call("get_proof", game).splitlines()[0])["game"]
    events = calls.call("read_events", game)
    assert table.seq == events.next_

    refused = calls.named("make_move").sync_detailed(game, client=calls.client, body=body)
    assert (409, "game/over", 409) == (
        refused.status_code.value,
        refused.parsed.code.value,
        refused.parsed.status,
    )
    assert refused.parsed.detail
