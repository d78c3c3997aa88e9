"""Clocks by a real clock: who does not move in time is moved for, and may come back at any time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from domain.cards import NAMES
from tests.api.callers import Caller, open_table, seat_all
from tests.support.house import until

SOON_MS = 500
"""How late a clock may be that nothing keeps busy."""
LATE_MS = 20_000
"""How late one may be on a machine that has much else to do."""
NO_PASS = {"pass_count": 0}
BOTS = [{"bot": "rules"}] * 2


def short(hand: int) -> dict[str, Any]:
    """Rules of a game of one hand of so many clubs."""
    kept = NAMES[: 4 * hand]
    return {"removed": " ".join(name for name in NAMES if name not in kept), "hand": hand, "hand_limit": 1}


@pytest.fixture
def four(house_url: str) -> Iterator[list[Caller]]:
    """Four players of a running house."""
    with ExitStack() as stack:
        yield [Caller(house_url, stack, f"Player {n}") for n in range(4)]


def follow(caller: Caller, game: str, after: int) -> Iterator[dict[str, Any]]:
    """The events of a game, as they come."""
    with caller.stream(game, after) as items:
        for item in items:
            yield json.loads(item["event"])


def check_lateness(lateness: list[int]) -> None:
    """The house never moves before the time is over, and as a rule at once when it is."""
    assert 0 <= min(lateness) < SOON_MS, lateness
    assert max(lateness) < LATE_MS, lateness


def test_who_does_not_move_is_moved_for(four: list[Caller]) -> None:
    """A pass and every play come by clock, a second after the table began to wait, and the game goes to its end."""
    game = open_table(four[0], ["me", *BOTS, {"bot": "random"}], clock=1, **short(3) | {"pass_count": 1})
    seq = four[0].post(f"/v1/games/{game}/ready").json()["seq"]
    lateness, since, mine = [], 0, []
    for event in follow(four[0], game, seq - 1):
        if event["t"] in ("cards_passed", "card_played") and event["seat"] == 0:
            mine.append((event["t"], event["by"]))
            lateness.append(event["at"] - since - 1000)
        if event["t"] in ("hand_dealt", "passes_exchanged", "card_played"):
            since = event["at"]
    # the last card is nobody's choice, and is waited for all the same
    assert [("cards_passed", "clock"), *[("card_played", "clock")] * 3] == mine
    check_lateness(lateness)
    assert ("over", "limit") == tuple(four[0].table(game)[key] for key in ("status", "reason"))


def test_a_moon_is_chosen_by_the_clock(four: list[Caller]) -> None:
    """Who shot it and does not choose has it chosen a second after the last trick."""
    game = seat_all(four, clock=1, points={"2C": 1}, moon_effect="choice", **short(1) | NO_PASS)
    lateness, kinds, since = [], [], 0
    for event in follow(four[0], game, 0):
        if event.get("by") == "clock":
            lateness.append(event["at"] - since - 1000)
        since = event["at"]
        kinds.append(event["t"])
    # four cards and the choice
    assert (5, 1) == (len(lateness), kinds.count("moon_chosen"))
    check_lateness(lateness)


def play(caller: Caller, game: str) -> bool:
    """Play the first legal card where it is one's turn; whether it was in time."""
    legal = caller.table(game).get("legal", "").split()
    return bool(legal) and caller.move(game, {"play": legal[0]}).status_code == 200


def test_who_comes_back_plays(four: list[Caller]) -> None:
    """The clock takes a move and not the seat; the bot takes the seat, and only until its player wants it back."""
    game = open_table(four[0], ["me", "open", *BOTS], clock=1, hand_limit=1, **NO_PASS)
    four[1].post(f"/v1/games/{game}/seats")
    for one in four[:2]:
        seq = one.post(f"/v1/games/{game}/ready").json()["seq"]
    events = follow(four[0], game, seq - 1)

    def await_play(by: str) -> None:
        assert next(one for one in events if (one.get("seat"), one.get("by")) == (0, by))

    await_play("clock")
    until(lambda: play(four[0], game))
    await_play("player")
    assert 200 == four[0].call("DELETE", f"/v1/games/{game}/seats/0").status_code
    await_play("bot")
    back = four[0].post(f"/v1/games/{game}/seats/0/back")
    assert (200, False) == (back.status_code, back.json()["seats"][0]["away"])
    until(lambda: play(four[0], game))
    await_play("player")
    assert "playing" == four[0].table(game)["status"]
