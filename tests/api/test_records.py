"""A whole game with bots over HTTP, and what it leaves behind."""

import json
import logging
from typing import Any

import pytest

from domain.record import read_record, replay
from services.proof import read_proof
from services.store import StoreUnavailable
from services.verdicts import verify_proof
from services.wiring import Services
from tests.api.guests import Guest, open_table
from tests.support.tampering import rewrite, stream


def play_to_the_end(services: Services, guest: Guest, game: str) -> dict[str, Any]:
    """Play the guest's own moves, any that is legal, while the house plays the bots. The last table."""
    guest.post(f"/v1/games/{game}/ready")
    while True:
        services.tables.act_for_house(game)
        table = guest.table(game)
        if table["phase"] == "over":
            return table
        if table["phase"] == "pass":
            body: dict[str, Any] = {"pass": table["hand"].split()[: table["rules"]["pass_count"]]}
        elif table["phase"] == "moon":
            body = {"moon": "subtract"}
        else:
            body = {"play": table["legal"].split()[-1]}
        moved = guest.move(game, body)
        assert 200 == moved.status_code, moved.text


@pytest.mark.parametrize(
    "variant, seats, hands", [("omnibus", 4, None), ("cancellation", 7, 2), ("standard", 3, 2)]
)
def test_a_whole_game_over_http(
    services: Services, four: list[Guest], stranger: Guest, variant: str, seats: int, hands: int | None
) -> None:
    """One person and bots play to the winner; the record replays, the proof file holds, and both agree with the table."""
    plan = ["me", *[{"bot": "rules"}] * (seats - 2), {"bot": "random"}]
    game = open_table(four[0], plan, variant=variant, hand_limit=hands)
    over = play_to_the_end(services, four[0], game)
    assert ("over", [min(over["totals"])] * len(over["winners"])) == (
        over["status"],
        [over["totals"][seat] for seat in over["winners"]],
    )
    assert over["totals"] == [sum(hand["points"][seat] for hand in over["hands"]) for seat in range(seats)]
    written = stranger.get(f"/v1/games/{game}/record")
    assert f'attachment; filename="hearts-{game}.json"' == written.headers["Content-Disposition"]
    assert ["Player 1", *["rules"] * (seats - 2), "random"] == written.json["seats"]
    verdict = replay(read_record(written.data))
    assert (True, "over", over["totals"], over["winners"]) == (
        verdict.ok,
        verdict.phase,
        list(verdict.totals),
        list(verdict.winners),
    )
    proof = stranger.get(f"/v1/games/{game}/proof")
    assert "application/x-ndjson" == proof.headers["Content-Type"]
    assert over["seq"] == len(proof.data.splitlines()) - 3
    report = verify_proof(read_proof(proof.data), services.key.public)
    assert report.ok, report
    assert {"I": "holds", "R": "holds"} == {c.name: c.status for c in report.claims if c.name in ("I", "R")}
    assert (over["seq"], over["head"]) == (report.events, report.head)
    assert written.headers["ETag"] == proof.headers["ETag"] == f'"{over["seq"]}-{over["head"][:16]}"'


def test_a_proof_is_there_at_any_time(services: Services, four: list[Guest], stranger: Guest) -> None:
    """Also of a table that still waits for players: its events so far, and a receipt of the last one."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    lines = [json.loads(line) for line in stranger.get(f"/v1/games/{game}/proof").data.splitlines()]
    assert (game, services.key.public) == (lines[0]["game"], lines[0]["server_key"])
    assert ["game_created", "seat_taken"] == [line["t"] for line in lines[1:3]]
    assert 2 == lines[-1]["receipt"]["seq"]
    etag = stranger.get(f"/v1/games/{game}/proof").headers["ETag"]
    assert 304 == stranger.get(f"/v1/games/{game}/proof", If_None_Match=etag).status_code
    four[1].post(f"/v1/games/{game}/seats")
    assert 200 == stranger.get(f"/v1/games/{game}/proof", If_None_Match=etag).status_code


def test_the_proof_of_a_long_game_is_sent_as_it_is_read(
    services: Services, four: list[Guest], stranger: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Page by page, to the same bytes with the same version; HEAD and a version that is known read no page."""
    game = open_table(four[0], [{"bot": "rules"}] * 4, hand_limit=1)
    services.tables.act_for_house(game)
    path = f"/v1/games/{game}/proof"
    whole = stranger.get(path)
    assert whole.headers["Content-Length"]
    monkeypatch.setattr("services.paging.PAGE", 16)
    monkeypatch.setattr("api.records.PAGE", 16)
    sent = stranger.get(path)
    assert "Content-Length" not in sent.headers
    assert (whole.data, whole.headers["ETag"]) == (sent.data, sent.headers["ETag"])
    report = verify_proof(read_proof(sent.data), services.key.public)
    assert "holds" == next(one.status for one in report.claims if one.name == "I")
    pages: list[int] = []
    read = services.store.read
    monkeypatch.setattr(
        services.store,
        "read",
        lambda game, after=0, upto=None: (pages.append(after), read(game, after, upto))[1],
    )
    first = iter(stranger.client.get(path, buffered=False).response)
    next(first)
    assert 48 not in pages, "a page is read when it is wanted"
    before = len(pages)
    head = stranger.call("HEAD", path)
    assert (200, b"", whole.headers["ETag"]) == (head.status_code, head.data, head.headers["ETag"])
    known = stranger.get(path, If_None_Match=whole.headers["ETag"])
    assert (304, b"") == (known.status_code, known.data)
    assert len(pages) <= before + 4


def test_a_proof_that_the_store_cannot_give_is_told(
    services: Services, four: list[Guest], stranger: Guest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 before anything is sent, of a long game too."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    stranger.table(game)
    monkeypatch.setattr("services.paging.PAGE", 1)
    monkeypatch.setattr("api.records.PAGE", 1)

    def silent(*_: object) -> object:
        raise StoreUnavailable("gone")

    monkeypatch.setattr(services.store.wire, "call", silent)
    assert 503 == stranger.get(f"/v1/games/{game}/proof").status_code


def test_a_record_waits_for_the_end(four: list[Guest], stranger: Guest) -> None:
    """409 before the game is over; then it is the same for everybody, and known by its version."""
    bots = [{"bot": "rules"}] * 3
    game = open_table(four[0], ["me", *bots], pass_count=0)
    early = stranger.get(f"/v1/games/{game}/record")
    assert (409, "game/not_over", 5) == (early.status_code, early.json["code"], early.json["seq"])
    assert 404 == stranger.get(f"/v1/games/{'0' * 24}/record").status_code
    assert 404 == stranger.get(f"/v1/games/{'0' * 24}/proof").status_code


def test_the_figures_are_on_a_port_of_their_own(four: list[Guest]) -> None:
    """What an operator counts is not at the public address."""
    answer = four[0].get("/metrics")
    assert (404, "request/not_found") == (answer.status_code, answer.json["code"])


def test_a_changed_log_is_not_signed(
    services: Services, four: list[Guest], stranger: Guest, caplog: pytest.LogCaptureFixture
) -> None:
    """Given an event that was changed in the store behind the server's back, then no proof with a receipt comes of it.

    Whoever asks is told what it is and what to keep, and the server's log tells its operator.
    """
    game = open_table(four[0], ["me", *[{"bot": "rules"}] * 3], hand_limit=1)
    play_to_the_end(services, four[0], game)
    entries = stream(services, game)
    for fields in entries:
        if b'"card_played"' in fields[b"p"]:
            fields[b"p"] = fields[b"p"].replace(b'"by":"bot"', b'"by":"clock"')
    rewrite(services, game, entries)
    with caplog.at_level(logging.ERROR, "hearts.api"):
        proof = stranger.get(f"/v1/games/{game}/proof")
    assert (500, "game/altered") == (proof.status_code, proof.json["code"])
    assert "Keep your receipts" in proof.json["hint"]
    assert b'receipt"' not in proof.data
    assert game not in proof.text
    assert f"game {game}: its stored events are not those it was played by" in caplog.text
    assert "`hearts audit GAME` tells more" in caplog.text
