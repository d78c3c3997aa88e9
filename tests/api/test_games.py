"""Opening tables, finding them, and the variants they are played by."""

from typing import Any

import pytest
from flask import Flask

from domain.ruleset import KEYS, LATER
from domain.variants import VARIANTS
from services.summaries import update
from services.wiring import Services
from tests.api.guests import Guest, open_table

BOTS = [{"bot": "rules"}] * 3
CONTRACT = [
    "id",
    "seq",
    "head",
    "status",
    "phase",
    "variant",
    "rules",
    "seats",
    "hand_number",
    "pass_offset",
    "turn",
    "deadline",
    "hearts_broken",
    "trick",
    "last_trick",
    "last_winner",
    "totals",
    "hands",
    "winners",
]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_opens_for_every_number_of_seats(app: Flask, name: str) -> None:
    """The rules of the new table are those that /v1/variants shows for so many seats."""
    anna = Guest(app, "Anna")
    for seats in VARIANTS[name].seats:
        shown = anna.get(f"/v1/variants/{name}?players={seats}").json
        made = anna.post(
            "/v1/games", {"variant": name, "players": seats, "seats": ["me", *["open"] * (seats - 1)]}
        )
        assert 201 == made.status_code, made.text
        assert f"/v1/games/{made.json['id']}" == made.headers["Location"]
        assert shown["rules"] | {"hand_limit": 64} == made.json["rules"]
        keys = [key for key in KEYS if key not in LATER or key in shown["rules"]]
        assert (name, keys) == (shown["name"], list(shown["rules"]))


def test_the_variants_are_listed_with_their_seats(stranger: Guest) -> None:
    """Each published variant is there with a sentence about it."""
    listed = stranger.get("/v1/variants").json["variants"]
    assert list(VARIANTS) == [one["name"] for one in listed]
    assert all(one["summary"] and one["source"] and one["players"] for one in listed)


def test_an_unknown_variant_is_told_with_the_nearest(stranger: Guest) -> None:
    """404 with a hint; a number of seats that it has not is a problem of the rules."""
    unknown = stranger.get("/v1/variants/standrd")
    assert (404, "variant/unknown") == (unknown.status_code, unknown.json["code"])
    assert "standard" in unknown.json["hint"]
    wrong = stranger.get("/v1/variants/standard?players=8")
    assert (422, "rules/invalid") == (wrong.status_code, wrong.json["code"])


def test_a_new_table_says_who_sits_where(four: list[Guest]) -> None:
    """The keys of the contract come in its order, then those of the seat, then ours."""
    made = four[0].post(
        "/v1/games", {"variant": "standard", "seats": ["open", "me", {"bot": "random"}, "open"]}
    )
    body = made.json
    assert [*CONTRACT, "you", "hand", "received"] == list(body)[: len(CONTRACT) + 3]
    assert [
        ("open", "", False),
        ("player", "Player 1", False),
        ("bot", "random", True),
        ("open", "", False),
    ] == [(one["kind"], one["name"], one["ready"]) for one in body["seats"]]
    assert ["seat", "kind", "name", "ready", "cards", "taken", "passed"] == list(body["seats"][0])[:7]
    assert ("open", "seats", 1, "", "") == (
        body["status"],
        body["phase"],
        body["you"],
        body["hand"],
        body["received"],
    )
    assert (3, None, [], None) == (body["seq"], body["turn"], body["last_trick"], body["last_winner"])


def test_the_number_of_seats_follows_from_the_list(four: list[Guest]) -> None:
    """Where players is left out there are as many as seats has entries."""
    made = four[0].post("/v1/games", {"variant": "standard", "seats": ["me", *["open"] * 4]})
    assert (5, 10, "2C 2D") == tuple(made.json["rules"][key] for key in ("players", "hand", "removed"))
    refused = four[0].post("/v1/games", {"variant": "basic", "seats": ["me", "open"]})
    assert "rules/invalid" == refused.json["code"]


def test_overrides_stand_beside_the_variant(four: list[Guest]) -> None:
    """Any key of a rule set may be changed, and custom starts from the defaults."""
    wanted = {"target": 30, "points": {"H": 1, "qs": 13, "JD": -10}, "hand_limit": 3, "moon_effect": "auto"}
    made = four[0].post("/v1/games", {"variant": "custom", "seats": ["me", *BOTS], **wanted})
    assert 201 == made.status_code, made.text
    assert wanted | {"points": {"H": 1, "QS": 13, "JD": -10}} == {
        key: made.json["rules"][key] for key in wanted
    }


def test_all_problems_of_the_rules_are_told_at_once(four: list[Guest]) -> None:
    """A rule set is judged as a whole."""
    body = {"variant": "basic", "seats": ["me", *BOTS], "target": 0, "decks": 3, "points": {"X": 1}}
    refused = four[0].post("/v1/games", body)
    assert (422, "rules/invalid") == (refused.status_code, refused.json["code"])
    assert ["decks", "points", "target"] == sorted(
        error["detail"].split()[0] for error in refused.json["errors"]
    )


@pytest.mark.parametrize(
    "fields, told",
    [
        ({"target": 50}, "leave out target"),
        ({"variant": "custom"}, "published rules"),
        ({"players": 4}, None),
    ],
)
def test_a_rated_table_keeps_to_the_published_rules(
    four: list[Guest], fields: dict[str, Any], told: str | None
) -> None:
    """Only the number of players may be chosen; hints are off unless asked for."""
    made = four[0].post("/v1/games", {"variant": "basic", "seats": ["me", *BOTS], "rated": True, **fields})
    if told is None:
        assert (201, True, False) == (made.status_code, made.json["rated"], made.json["hints"])
    else:
        assert (422, "rules/invalid") == (made.status_code, made.json["code"])
        assert told in made.json["detail"]


@pytest.mark.parametrize(
    "fields, field",
    [
        ({"seats": None}, "seats"),
        ({"seats": []}, "seats"),
        ({"seats": ["me"] * 12}, "seats"),
        ({"seats": ["me", "me", "open", "open"]}, "seats.1"),
        ({"seats": ["me", "you", "open", "open"]}, "seats.1"),
        ({"seats": ["me", {"bot": "ruels"}, "open", "open"]}, "seats.1"),
        ({"seats": ["me", {"bot": "rules", "player": "p"}, "open", "open"]}, "seats.1"),
        ({"seats": ["me", {"player": "p0123456789abcdef"}, "open", "open"]}, "seats.1"),
        ({"seats": ["me", {"player": "*"}, "open", "open"]}, "seats.1"),
        ({"seats": ["me", {"player": 7}, "open", "open"]}, "seats.1"),
        ({"seats": {"0": "me"}}, "seats"),
        ({"clock": 0}, "clock"),
        ({"clock": True}, "clock"),
        ({"clock": 1.5}, "clock"),
        ({"clock": "60"}, "clock"),
        ({"ready_seconds": 14}, "ready_seconds"),
        ({"ready_seconds": 3601}, "ready_seconds"),
        ({"chain": 4097}, "chain"),
        ({"hints": "yes"}, "hints"),
        ({"rated": 1}, "rated"),
        ({"entropy_commit": "A" * 64}, "entropy_commit"),
        ({"entropy_commit": "a" * 63}, "entropy_commit"),
        ({"entropy_commit": "a" * 64 + "\n"}, "entropy_commit"),
        ({"entropy_commit": "a" * 64, "seats": ["open"] * 4}, "entropy_commit"),
        ({"public_key": "a" * 63}, "public_key"),
        ({"varaint": "basic"}, "varaint"),
        ({"variant": 7}, "variant"),
        ({"variant": "x" * 41}, "variant"),
    ],
)
def test_a_field_that_is_wrong_is_named(four: list[Guest], fields: dict[str, Any], field: str) -> None:
    """422 request/invalid with the path of the field."""
    body = {"variant": "basic", "seats": ["me", *["open"] * 3], **fields}
    refused = four[0].post("/v1/games", body)
    assert (422, "request/invalid") == (refused.status_code, refused.json["code"]), refused.text
    assert field in {error["field"] for error in refused.json["errors"]}


def test_an_unknown_field_is_told_with_the_nearest(four: list[Guest]) -> None:
    """A misspelt key says what was probably meant."""
    body = {"variant": "basic", "seats": ["me", *BOTS], "targett": 50}
    told = {one["field"]: one["detail"] for one in four[0].post("/v1/games", body).json["errors"]}
    assert "did you mean target?" in told["targett"]


def test_a_table_of_bots_alone_begins_at_once(four: list[Guest]) -> None:
    """Nobody has to be ready where nobody is a person."""
    made = four[0].post("/v1/games", {"variant": "basic", "seats": [{"bot": "rules"}] * 4})
    assert (201, "playing") == (made.status_code, made.json["status"])
    assert "you" not in made.json


def test_opening_a_table_needs_a_token(stranger: Guest) -> None:
    """401, and no table."""
    assert 401 == stranger.post("/v1/games", {"variant": "basic", "seats": ["me", *BOTS]}).status_code


def test_the_lobby_is_a_list_of_pages(services: Services, four: list[Guest], stranger: Guest) -> None:
    """Newest first, by status and player, with names and the address of the next page."""
    games = []
    for _ in range(3):
        services.clock.now += 1000  # type: ignore[attr-defined]
        games.append(open_table(four[0], ["me", *["open"] * 3]))
    for game in games:
        table = services.tables.load(game)
        services.projections.write({services.keys.partition(game): [update(game, table, table.at)]})
    first = stranger.get("/v1/games?status=open&limit=2")
    assert games[:0:-1] == [one["id"] for one in first.json["games"]]
    assert "Player 1" == first.json["games"][0]["seats"][0]["name"]
    link, relation = first.headers["Link"].split("; ")
    assert ('rel="next"', first.json["next"]) == (relation, link.split("after=")[1].split("&")[0].rstrip(">"))
    second = stranger.get(link.strip("<>"))
    assert (games[:1], None) == ([one["id"] for one in second.json["games"]], second.json["next"])
    assert "Link" not in second.headers
    assert 3 == len(stranger.get(f"/v1/games?player={four[0].id}").json["games"])
    assert [] == stranger.get("/v1/games?status=over").json["games"]


@pytest.mark.parametrize(
    "query", ["status=done", "limit=0", "limit=101", "limit=ten", "limit=٣", "after=!", "player="]
)
def test_a_lobby_query_that_is_wrong_is_refused(stranger: Guest, query: str) -> None:
    """422, never an empty page that looks like an answer."""
    refused = stranger.get(f"/v1/games?{query}")
    assert (422, "request/invalid") == (refused.status_code, refused.json["code"])
