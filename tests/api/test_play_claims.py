"""Claims by our own client and in the terminal."""

from __future__ import annotations

import functools
from pathlib import Path
from random import Random

import click
import pytest
from click.testing import CliRunner
from flask import Flask

from api import play as command
from api.client import Client, Problem
from api.signer import SigningClient
from services.wiring import Services
from tests.api.wires import Wire


@pytest.fixture
def wire(app: Flask, services: Services) -> Wire:
    """A connection on which bots move at once."""
    return Wire(app, services.tables)


def claims_of(services: Services, game: str) -> int:
    """How many cards of a game were played by claim."""
    return sum(b'"by":"claim"' in public for _, public, _ in services.store.read(game))


def test_the_client_claims(services: Services, wire: Wire) -> None:
    """Refused until it is certain, under a key of its own each time; then the table after the hand is the answer."""
    with Client("http://hearts.test", transport=wire) as client:
        client.new_player("Anna")
        seats = ["me", *[{"bot": "rules"}] * 3]
        game = client.open_table("basic", seats, {"hand_limit": 1, "pass_count": 0}).id
        client.ready(game)
        table, codes = client.table(game), set()
        while table.phase != "over":
            try:
                table = client.claim(game)
            except Problem as problem:
                codes.add((problem.status, problem.code))
                client.play(game, table.legal.split()[0])
                table = client.table(game)
    assert {(422, "claim/not_certain")} == codes
    keys = [
        request.headers["Idempotency-Key"] for request in wire.seen if request.url.path.endswith("/claim")
    ]
    assert len(set(keys)) == len(keys) > 1
    assert table.winners


def test_claim_is_a_word_in_the_terminal(
    services: Services, wire: Wire, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Given a whole game in which it is typed at every turn: refused in the server's words, or the hand is played out."""
    monkeypatch.setattr(click, "get_app_dir", lambda name: str(tmp_path / name))
    monkeypatch.setattr(command, "SigningClient", functools.partial(SigningClient, transport=wire))
    # the client's entropy is part of the shuffle: with it the deals are the same each time
    monkeypatch.setattr(command.secrets, "token_bytes", Random(1).randbytes)
    words = ["basic", "--set", "target=60", "--set", "pass_count=0", "--name", "Anna"]
    done = CliRunner().invoke(command.play, words, input="Claim\n1\n" * 600)
    assert 0 == done.exit_code, done.output
    assert "do not show that you take every trick left" in done.output
    assert "play on, and claim again when they do" in done.output
    assert "(claimed)" in done.output
    game = done.output.rsplit("/verify?game=", 1)[1].strip()
    assert claims_of(services, game)
