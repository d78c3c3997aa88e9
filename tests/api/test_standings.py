"""Players' standings and leaderboards, as they are served."""

import pytest
from flask import Flask

from domain.variants import FAMILIES
from services.standings_fold import Ledger
from services.wiring import Services
from tests.api.guests import Guest
from tests.support.finished import finished

FIELDS = {"rating", "deviation", "games", "wins", "mean_points"}


@pytest.fixture
def ledger(services: Services) -> Ledger:
    """Where finished games are entered."""
    return Ledger(services.client, services.keys)


def play(ledger: Ledger, four: list[Guest], games: int = 1, **options: object) -> None:
    """Games that the first of four won, folded."""
    who = [guest.id for guest in four]
    found = [
        finished(f"{options.get('variant')}{n}", [10 + n, 30, 40, 50], who=who, at=n, **options)
        for n in range(games)
    ]
    ledger.enter(found)
    while ledger.step():
        pass


def test_a_player_who_has_played(stranger: Guest, four: list[Guest], ledger: Ledger) -> None:
    """Ratings by family, counts, the last games, and the way to all of them; for anybody."""
    play(ledger, four, 2)
    seen = stranger.get(f"/v1/players/{four[0].id}")
    assert (200, "no-cache") == (seen.status_code, seen.headers["Cache-Control"])
    body = seen.json
    assert [four[0].id, "Player 1", False] == [body[name] for name in ("id", "name", "bot")]
    assert {"finished": 2, "rated": 2, "won": 2, "left": 0, "withheld": 0} == body["games"]
    standard = body["ratings"]["standard"]
    assert standard.keys() == FIELDS
    assert (True, True, 2, 2) == (
        standard["rating"] > 25,
        standard["deviation"] < 8.33,
        standard["games"],
        standard["wins"],
    )
    mean = standard["mean_points"]
    assert (1.31, 16) == (mean["mean"], mean["hands"])
    assert mean["low"] < mean["mean"] < mean["high"]
    assert ["None1", "None0"] == [one["game"] for one in body["recent"]]
    assert [1, 0] == [one["ended_at"] for one in body["recent"]]
    assert standard["rating"] == body["recent"][0]["rating"]
    history = stranger.get(body["history"])
    assert (200, []) == (history.status_code, history.json["games"])


def test_what_was_withheld_is_there_for_everybody(stranger: Guest, four: list[Guest], ledger: Ledger) -> None:
    """Given a player that committed to entropy and did not open it, then its profile counts that, and tells where."""
    ledger.enter([finished("g", [10, 20, 30, 40], who=[guest.id for guest in four], withheld=[2])])
    while ledger.step():
        pass
    seen = [stranger.get(f"/v1/players/{guest.id}").json for guest in four]
    assert [0, 0, 1, 0] == [body["games"]["withheld"] for body in seen]
    assert [False, False, True, False] == [body["recent"][0]["withheld"] for body in seen]


def test_a_player_who_has_not_played(stranger: Guest, four: list[Guest]) -> None:
    """Is there, and nothing is claimed."""
    body = stranger.get(f"/v1/players/{four[0].id}").json
    assert ({}, [], 0) == (body["ratings"], body["recent"], body["games"]["finished"])


def test_one_game_has_no_interval(stranger: Guest, four: list[Guest], ledger: Ledger) -> None:
    """A mean, and null for both ends."""
    play(ledger, four, rated=False)
    family = stranger.get(f"/v1/players/{four[1].id}").json["ratings"]["standard"]
    assert {"mean": 3.75, "low": None, "high": None, "hands": 8} == family["mean_points"]
    assert (None, None, 0) == (family["rating"], family["deviation"], family["games"])


def test_house_bots_are_players_too(stranger: Guest, four: list[Guest], ledger: Ledger) -> None:
    """By ids of their own, marked, with or without games."""
    fresh = stranger.get("/v1/players/bot:rules@1").json
    assert ("bot:rules@1", "rules", True, None, {}) == tuple(
        fresh[name] for name in ("id", "name", "bot", "history", "ratings")
    )
    ledger.enter([finished("g", [1, 2, 3], who=["bot:rules@0", four[0].id, "bot:search@1~500"])])
    while ledger.step():
        pass
    assert ["rules", "search"] == [
        stranger.get(f"/v1/players/{who}").json["name"] for who in ("bot:rules@0", "bot:search@1~500")
    ]
    line = stranger.get("/v1/leaderboard?family=standard").json["players"][0]
    assert ("bot:rules@0", "rules", True) == (line["id"], line["name"], line["bot"])


@pytest.mark.parametrize(
    "who", ["nobody", "p0000000000000000", "bot:rules@99", "bot:", "%F0%9F%82%A1", "p" * 300]
)
def test_who_is_not_there(stranger: Guest, who: str) -> None:
    """404 with a hint where ids stand."""
    answer = stranger.get(f"/v1/players/{who}")
    assert (404, "player/unknown") == (answer.status_code, answer.json["code"])
    assert answer.json["hint"]


def test_an_erased_name_is_empty(
    app: Flask, services: Services, stranger: Guest, four: list[Guest], ledger: Ledger
) -> None:
    """The games stay, the name does not."""
    play(ledger, four)
    services.client.hset(services.keys.player(four[0].id), "name", "")
    services.players._names._entries.clear()
    assert "" == stranger.get(f"/v1/players/{four[0].id}").json["name"]
    assert "" == stranger.get("/v1/leaderboard?family=standard").json["players"][0]["name"]


def test_a_leaderboard(stranger: Guest, four: list[Guest], ledger: Ledger) -> None:
    """The best first, by rating less three deviations, with what a player's own page says."""
    play(ledger, four, 15)
    body = stranger.get("/v1/leaderboard?family=standard").json
    assert ("standard", None) == (body["family"], body["next"])
    assert [guest.id for guest in four] == [line["id"] for line in body["players"]]
    assert [1, 2, 3, 4] == [line["place"] for line in body["players"]]
    for line in body["players"]:
        own = stranger.get(f"/v1/players/{line['id']}").json
        assert own["ratings"]["standard"] == {name: line[name] for name in FIELDS}
        assert abs(line["rating"] - 3 * line["deviation"] - line["score"]) < 0.03
    assert [] == stranger.get("/v1/leaderboard").json["players"]
    assert "basic" == stranger.get("/v1/leaderboard").json["family"]


def test_a_leaderboard_is_read_page_by_page(stranger: Guest, four: list[Guest], ledger: Ledger) -> None:
    """Along `next` and along `Link` alike."""
    play(ledger, four, 3)
    first = stranger.get("/v1/leaderboard?family=standard&limit=3")
    assert 3 == len(first.json["players"])
    link = first.headers["Link"]
    assert link.endswith('; rel="next"')
    rest = stranger.get(link.partition(">")[0].removeprefix("<"))
    assert ([four[3].id], None) == ([line["id"] for line in rest.json["players"]], rest.json["next"])
    assert "Link" not in rest.headers
    assert (
        rest.json == stranger.get(f"/v1/leaderboard?family=standard&limit=3&after={first.json['next']}").json
    )


@pytest.mark.parametrize(
    "query", ["family=bridge", "limit=0", "limit=101", "limit=x", "after=x", "after=", "family="]
)
def test_a_query_that_cannot_be_is_refused(stranger: Guest, query: str) -> None:
    """422, naming the parameter."""
    answer = stranger.get(f"/v1/leaderboard?{query}")
    assert (422, "request/invalid") == (answer.status_code, answer.json["code"])
    if query.startswith("family"):
        assert all(family in answer.json["detail"] for family in FAMILIES)


@pytest.mark.parametrize("path", ["/v1/players/{}", "/v1/leaderboard?family=standard"])
def test_what_has_not_changed_need_not_be_sent(
    stranger: Guest, four: list[Guest], ledger: Ledger, path: str
) -> None:
    """304 with the version that one has, 200 after the next game."""
    play(ledger, four)
    path = path.format(four[0].id)
    etag = stranger.get(path).headers["ETag"]
    same = stranger.get(path, If_None_Match=etag)
    assert (304, b"", etag) == (same.status_code, same.data, same.headers["ETag"])
    play(ledger, four, variant="pagat")
    changed = stranger.get(path, If_None_Match=etag)
    assert (200, True) == (changed.status_code, changed.headers["ETag"] != etag)


def test_variants_are_rated_with_their_family(stranger: Guest, four: list[Guest], ledger: Ledger) -> None:
    """Microsoft's Hearts is standard Hearts; Black Maria is a game of its own."""
    play(ledger, four, variant="microsoft")
    play(ledger, four, variant="black_maria")
    assert {"standard", "black_maria"} == stranger.get(f"/v1/players/{four[0].id}").json["ratings"].keys()
