"""Invitations: a seat kept for somebody whose id nobody knows yet."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from flask import Flask

from api import play as command
from api.playoptions import Link, read_link
from api.signer import SigningClient
from services.wiring import Services
from tests.api.guests import Guest, open_table
from tests.api.wires import Wire

SEATS = ["me", "invited", "open", "invited"]


def code_for(guest: Guest, game: str, seat: int) -> str:
    """The code that invites to a seat, as somebody at the table is told it."""
    codes = {one["seat"]: one["code"] for one in guest.table(game)["invitations"]}
    code: str = codes[seat]
    return code


def test_the_code_opens_its_seat_and_no_other(four: list[Guest]) -> None:
    """Given a table with seats for who is invited, then whoever sits down with a code has that seat."""
    game = open_table(four[0], SEATS)
    assert [1, 3] == [one["seat"] for one in four[0].table(game)["invitations"]]
    code = code_for(four[0], game, 3)
    sat = four[1].post(f"/v1/games/{game}/seats", {"invitation": code})
    assert (200, 3) == (sat.status_code, sat.json["you"])
    assert [1] == [one["seat"] for one in sat.json["invitations"]]
    taken = four[2].post(f"/v1/games/{game}/seats", {"invitation": code})
    assert (409, "seat/taken") == (taken.status_code, taken.json["code"])


def test_without_a_code_the_seat_is_kept(four: list[Guest]) -> None:
    """Who has none is given an open seat or none, and is refused the seat by its number."""
    game = open_table(four[0], SEATS)
    assert 2 == four[1].post(f"/v1/games/{game}/seats").json["you"]
    for body in ({"seat": 1}, {"seat": 3}):
        refused = four[2].post(f"/v1/games/{game}/seats", body)
        assert (409, "seat/taken") == (refused.status_code, refused.json["code"])
    full = four[2].post(f"/v1/games/{game}/seats")
    assert (409, "game/full") == (full.status_code, full.json["code"])


def test_codes_are_for_those_at_the_table(four: list[Guest], stranger: Guest) -> None:
    """Nobody else is told them, by table, events, lobby or proof."""
    game = open_table(four[0], SEATS)
    codes = [code_for(four[0], game, seat) for seat in (1, 3)]
    for one in (four[1], stranger):
        for path in ("", "/events", "/proof", "?as=0", "?as=1", "?at=2&as=0", "?open=1"):
            told = one.get(f"/v1/games/{game}{path}").text
            assert not [code for code in codes if code in told]
            assert "invit" not in told
    assert "invit" not in json.dumps(one.get("/v1/games").json)


@pytest.mark.parametrize(
    "body, status, told",
    [
        ({"invitation": "0" * 24}, 403, "invitation/wrong"),
        ({"invitation": "x"}, 422, "request/invalid"),
        ({"invitation": 7}, 422, "request/invalid"),
        ({"invitation": "0" * 23 + "\u00e9"}, 422, "request/invalid"),
        ({"invitation": "0" * 24 + "\n"}, 422, "request/invalid"),
        ({"invitation": "0" * 24 + "x"}, 422, "request/invalid"),
        ({"invitation": "", "seat": 2}, 422, "request/invalid"),
    ],
)
def test_what_is_no_invitation_is_refused(
    four: list[Guest], body: dict[str, object], status: int, told: str
) -> None:
    """Also where an open seat is there; nothing has changed then."""
    game = open_table(four[0], SEATS)
    refused = four[1].post(f"/v1/games/{game}/seats", body)
    assert (status, told) == (refused.status_code, refused.json["code"])
    assert 2 == four[0].table(game)["seq"]


def test_an_invitation_is_to_one_table_and_one_seat(four: list[Guest]) -> None:
    """That of another table is none here; with the number of another seat it is no clear wish."""
    here, there = open_table(four[0], SEATS), open_table(four[0], SEATS)
    code = code_for(four[0], there, 1)
    wrong = four[1].post(f"/v1/games/{here}/seats", {"invitation": code})
    assert (403, "invitation/wrong") == (wrong.status_code, wrong.json["code"])
    unclear = four[1].post(f"/v1/games/{there}/seats", {"invitation": code, "seat": 2})
    assert (422, "seat") == (unclear.status_code, unclear.json["errors"][0]["field"])


def test_a_seat_that_is_given_up_waits_again(four: list[Guest]) -> None:
    """The same code is good once more; when all are there and the cards are dealt, nothing is told any more."""
    game = open_table(four[0], ["me", "invited", "invited", "invited"])
    codes = {seat: code_for(four[0], game, seat) for seat in (1, 2, 3)}
    four[1].post(f"/v1/games/{game}/seats", {"invitation": codes[1]})
    left = four[1].delete(f"/v1/games/{game}/seats/1").json
    assert "open" == left["seats"][1]["kind"]
    for guest, seat in zip([four[2], four[1], four[3]], (1, 2, 3), strict=True):
        sat = guest.post(f"/v1/games/{game}/seats", {"invitation": codes[seat]}, Idempotency_Key="k")
        assert seat == sat.json["you"]
    for guest in four:
        guest.post(f"/v1/games/{game}/ready")
    table = four[0].table(game)
    assert "pass" == table["phase"]
    assert "invitations" not in table


def test_who_opens_a_table_for_others_is_told_the_codes_once(four: list[Guest]) -> None:
    """Given a table at which its opener has no seat, then the answer has the codes, and nothing that is read later."""
    made = four[0].post("/v1/games", {"variant": "basic", "seats": ["invited"] * 4})
    codes = {one["seat"]: one["code"] for one in made.json["invitations"]}
    assert {0, 1, 2, 3} == codes.keys()
    assert "invitations" not in four[0].table(made.json["id"])
    sat = four[1].post(f"/v1/games/{made.json['id']}/seats", {"invitation": codes[2]})
    assert (200, 2) == (sat.status_code, sat.json["you"])


def test_the_link_sits_down_in_the_terminal(
    app: Flask, four: list[Guest], services: Services, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Given the link as it is told, behind the server's address, then `hearts play --game LINK` has that seat."""
    seats = [{"bot": "rules"}, {"bot": "rules"}, {"bot": "rules"}, "invited"]
    made = four[0].post("/v1/games", {"variant": "basic", "seats": seats}).json
    game, (waiting,) = made["id"], made["invitations"]
    assert f"/v1/games/{game}#{waiting['code']}" == waiting["link"]
    monkeypatch.setattr(click, "get_app_dir", lambda name: str(tmp_path / name))
    monkeypatch.setattr(
        command, "SigningClient", functools.partial(SigningClient, transport=Wire(app, services.tables))
    )
    words = ["--game", f"http://hearts.test{waiting['link']}", "--name", "Bo"]
    CliRunner().invoke(command.play, words, input="")
    assert "Bo" == four[0].table(game)["seats"][3]["name"]


@pytest.mark.parametrize(
    "text, link",
    [
        ("0a", Link("0a")),
        ("last", Link("last")),
        ("/v1/games/0a", Link("0a")),
        ("/v1/games/0a#ff", Link("0a", None, "ff")),
        ("https://hearts.example:8000/v1/games/0a#ff", Link("0a", "https://hearts.example:8000", "ff")),
        ("http://hearts.example/v1/games/0a/proof", Link("http://hearts.example/v1/games/0a/proof")),
    ],
)
def test_what_a_game_may_be_called(text: str, link: Link) -> None:
    """An id, an address with or without its server, a link; anything else is taken for an id, and refused as one."""
    assert link == read_link(text)
