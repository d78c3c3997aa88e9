"""Faults seen in other servers of games, and what happens here in their place.

Those where much happens at once are in `test_seen_elsewhere_at_once`, against running servers.
"""

from collections.abc import Callable

import pytest
from flask import Flask

from tests.api.guests import Guest, open_table, play_on, seat_all

NO_PASS = {"pass_count": 0}
COMMANDS = {
    "seats": {},
    "seats/0": None,
    "seats/0/back": None,
    "ready": {},
    "moves": {"play": "2C"},
    "claim": None,
    "rematch": {},
    "branch": {"at": 1, "seat": 0},
}
"""A body of each command at a table, by its path."""


# --- a failed action consumes the client's counter


def test_a_failed_action_consumes_nothing(four: list[Guest]) -> None:
    """Elsewhere a refused move used up the counter, and the right one was then thrown away as stale.

    Here key and version are as good after every kind of refusal as before it.
    """
    game = seat_all(four, **NO_PASS)
    seen = four[0].get(f"/v1/games/{game}")
    mover, etag = four[seen.json["turn"]], seen.headers["ETag"]
    named = {"Idempotency_Key": "1", "If_Match": etag}
    foreign = next(card for card in ("3C", "4C", "5C", "6C", "7C") if card not in mover.table(game)["hand"])
    failed = [
        mover.move(game, {"play": foreign}, **named),
        mover.move(game, {"moon": "add"}, **named),
        mover.move(game, {"play": "??"}, **named),
        mover.move(game, {}, **named),
        mover.move(game, {"play": "2C"}, **named | {"If_Match": '"1-0"'}),
        mover.move(game, {"play": "2C"}, **named | {"If_Match": "1"}),
        mover.move(game, {"play": "2C"}, **named, Authorization="Bearer nobody"),
        mover.move(game, {"play": "2C"}, **named, Content_Type="text/plain"),
        mover.move("0" * 24, {"play": "2C"}, **named),
    ]
    assert [422, 409, 422, 422, 412, 400, 401, 415, 404] == [answer.status_code for answer in failed]
    assert etag == four[0].get(f"/v1/games/{game}").headers["ETag"]
    accepted = mover.move(game, {"play": "2C"}, **named)
    assert (200, None) == (accepted.status_code, accepted.headers.get("Idempotency-Replayed"))
    assert etag != accepted.headers["ETag"]


# --- a spectator acts


def commands(app: Flask) -> list[tuple[str, str]]:
    """Method and path below a table of every command that there is."""
    found = []
    for rule in app.url_map.iter_rules():
        base, _, path = rule.rule.partition("/<game>/")
        if base == "/v1/games" and path:
            found += [
                (one, path.replace("<seat:seat>", "0"))
                for one in {"POST", "DELETE"} & set(rule.methods or ())
            ]
    return sorted(found)


@pytest.mark.parametrize("phase", ["seats", "pass", "play"])
def test_a_spectator_watches_and_no_more(
    app: Flask, four: list[Guest], guest: Callable[[], Guest], stranger: Guest, phase: str
) -> None:
    """Elsewhere whoever knew the address of a table could play at it.

    Here every command of somebody without a seat is refused and changes nothing: 401 without a token, and with one 403,
    or 409 where nobody may. Only a free seat may be taken.
    """
    if phase == "seats":
        game = open_table(four[0], ["me", "open", "open", "open"])
        for one in four[1:]:
            one.post(f"/v1/games/{game}/seats")
    else:
        game = seat_all(four, **(NO_PASS if phase == "play" else {}))
    watcher, before = guest(), four[0].get(f"/v1/games/{game}")
    assert {path for _, path in commands(app)} == COMMANDS.keys()
    for method, path in commands(app):
        for who in (watcher, stranger):
            refused = who.call(method, f"/v1/games/{game}/{path}", COMMANDS[path])
            nobody_may = ("seats", "rematch", "branch", *(() if phase == "seats" else ("ready",)))
            wanted = 401 if who is stranger else 409 if path in nobody_may else 403
            assert wanted == refused.status_code, (path, refused.text)
            if wanted == 403:
                assert "seat/not_yours" == refused.json["code"]
    assert 403 == watcher.get(f"/v1/games/{game}/hint").status_code
    after = four[0].get(f"/v1/games/{game}")
    assert (before.data, before.headers["ETag"]) == (after.data, after.headers["ETag"])
    assert "hand" not in watcher.table(game)


# --- acting before all have passed


def test_nobody_plays_before_all_have_passed(four: list[Guest]) -> None:
    """Elsewhere a quick client led while others still chose what to pass.

    Here no card, claim or choice is taken until the last pass, whoever sends it and whoever has passed; and the first lead
    is from the hands after the exchange.
    """
    game = seat_all(four)
    hands = [one.table(game)["hand"].split() for one in four]
    for passed in range(4):
        seq = four[0].table(game)["seq"]
        for one, hand in zip(four, hands, strict=True):
            for card in ("2C", *hand):
                refused = one.move(game, {"play": card})
                assert (409, "play/not_your_turn") == (refused.status_code, refused.json["code"])
            assert "play/not_your_turn" == one.post(f"/v1/games/{game}/claim").json["code"]
            assert "moon/not_now" == one.move(game, {"moon": "add"}).json["code"]
            assert (None, False) == (one.table(game)["turn"], "legal" in one.table(game))
        assert seq == four[0].table(game)["seq"]
        assert 200 == four[passed].move(game, {"pass": hands[passed][:3]}).status_code
        again = four[passed].move(game, {"pass": hands[passed][3:6]})
        assert (409, "pass/not_now") == (again.status_code, again.json["code"])
    turn = four[0].table(game)["turn"]
    assert "2C" in four[turn].table(game)["hand"].split()
    assert 200 == four[turn].move(game, {"play": "2C"}).status_code


# --- a seat is changed after the start


def test_no_seat_changes_after_the_start(four: list[Guest], guest: Callable[[], Guest]) -> None:
    """Elsewhere somebody could sit down, change seats or be replaced in a game that had begun.

    Here the seats are fixed from the first `ready` on, and stay so when players leave, hand over, come back and the game
    ends; nobody else ever gets one of them.
    """
    game = open_table(four[0], ["me", "open", "open", "open"], hand_limit=1, **NO_PASS)
    for one in four[1:]:
        one.post(f"/v1/games/{game}/seats")
    four[1].post(f"/v1/games/{game}/ready")
    late = guest()

    def try_all() -> None:
        for who in (late, *four):
            for seat in range(4):
                taken = who.post(f"/v1/games/{game}/seats", {"seat": seat})
                assert (409, True) == (taken.status_code, taken.json["code"] in ("seat/taken", "game/over"))
                if who is not four[seat]:
                    for answer in (
                        who.delete(f"/v1/games/{game}/seats/{seat}"),
                        who.post(f"/v1/games/{game}/seats/{seat}/back"),
                    ):
                        assert (403, "seat/not_yours") == (answer.status_code, answer.json["code"])
        assert [one.id for one in four] == [seat["player"] for seat in four[0].table(game)["seats"]]

    try_all()
    assert 409 == four[2].delete(f"/v1/games/{game}/seats/2").status_code
    for one in four:
        one.post(f"/v1/games/{game}/ready")
    try_all()
    assert 200 == four[2].delete(f"/v1/games/{game}/seats/2").status_code
    try_all()
    assert 200 == four[2].post(f"/v1/games/{game}/seats/2/back").status_code
    while four[0].table(game)["status"] != "over":
        play_on(four, game)
    try_all()
