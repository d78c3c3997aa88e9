"""The hint of a refusal: what helps, whatever was refused."""

import pytest

from api.explained import EXPLAINED
from tests.api.guests import Guest, open_table, seat_all


@pytest.mark.parametrize("path", ["moves", "claim", "seats/0/back", "rematch"])
def test_a_refusal_says_what_helps(four: list[Guest], path: str) -> None:
    """Where the refusal has no hint of its own it has that of its code."""
    game = open_table(four[0], ["me", "open", "open", "open"])
    refused = four[1].post(f"/v1/games/{game}/{path}", {"play": "2C"} if path == "moves" else None)
    assert 400 <= refused.status_code < 500
    assert EXPLAINED[refused.json["code"]].advice == refused.json["hint"]


def test_a_hint_of_its_own_stays(four: list[Guest]) -> None:
    """The cards that may be played say more than that there are some."""
    game = seat_all(four, pass_count=0)
    mover = four[four[0].table(game)["turn"]]
    refused = mover.move(
        game, {"play": next(card for card in mover.table(game)["hand"].split() if card != "2C")}
    )
    assert (422, True) == (refused.status_code, "2C" in refused.json["hint"])
