"""Handing a seat to the stand-in and taking it back, as a client sees it from the table alone."""

from typing import Any

import pytest

from services.wiring import Services
from tests.api.guests import Guest, play_on, seat_all
from tests.support.clock import Clock


def away(guest: Guest, game: str, seat: int) -> tuple[bool, bool]:
    """Whether the bot has a seat, and whether its player is on the way back, as ``guest`` sees it."""
    one = guest.table(game)["seats"][seat]
    return one["away"], one["returning"]


def test_a_table_tells_who_comes_back_with_the_next_hand(four: list[Guest]) -> None:
    """Given no hints, when a seat is taken back, then everybody sees that its player plays again from the next hand on."""
    game = seat_all(four, hints=False, pass_count=0)
    seat = f"/v1/games/{game}/seats/0"
    turn = four[0].table(game)["turn"]
    assert (False, False) == away(four[1], game, 0)
    four[0].delete(seat)
    assert (True, False) == away(four[1], game, 0)
    answer = four[0].post(f"{seat}/back")
    assert [(200, True)] == [(answer.status_code, answer.json["seats"][0]["returning"])]
    assert (True, True) == away(four[1], game, 0)
    assert 409 == four[0].post(f"{seat}/back").status_code
    four[0].delete(seat)
    assert (True, False) == away(four[1], game, 0)
    assert turn == four[1].table(game)["turn"]


def test_with_the_next_hand_the_seat_is_the_players(services: Services, four: list[Guest]) -> None:
    """Given a player who is on the way back, when the next hand is dealt, then the player has the seat, and moves."""
    game = seat_all(four, hints=False, pass_count=0)
    four[0].delete(f"/v1/games/{game}/seats/0")
    four[0].post(f"/v1/games/{game}/seats/0/back")
    while four[1].table(game)["hand_number"] == 1:
        services.tables.act_for_house(game)
        if four[1].table(game)["hand_number"] == 1:
            play_on(four, game)
    assert (False, False) == away(four[1], game, 0)
    while four[0].table(game)["turn"] != 0:
        play_on(four, game)
    assert 200 == four[0].move(game, {"play": four[0].table(game)["legal"].split()[0]}).status_code


def test_with_hints_a_seat_is_back_at_once(four: list[Guest]) -> None:
    """Nobody is ever on the way."""
    game = seat_all(four, pass_count=0)
    four[0].delete(f"/v1/games/{game}/seats/0")
    four[0].post(f"/v1/games/{game}/seats/0/back")
    assert (False, False) == away(four[1], game, 0)


def test_nobody_gets_ready_for_a_game_that_runs(four: list[Guest]) -> None:
    """409, and it says that there is no need to, whoever asks."""
    game = seat_all(four)
    refused = four[0].post(f"/v1/games/{game}/ready")
    assert (409, "seat/taken") == (refused.status_code, refused.json["code"])
    assert "the game has started, and nobody has to get ready any more" == refused.json["detail"]


PHASES: dict[str, dict[str, Any]] = {
    "pass": {},
    "play": {"pass_count": 0},
    "moon": {"pass_count": 0, "points": {"2C": 1}, "moon_effect": "choice"},
}
"""Rules by which a table comes to a phase, the last one when the hand is played out."""


def waiting_for(four: list[Guest], phase: str, **fields: Any) -> tuple[str, int, dict[str, Any]]:
    """A table in a phase, a seat that is to act there, and what it may do."""
    game = seat_all(four, **PHASES[phase], **fields)
    while (table := four[0].table(game))["phase"] != phase:
        play_on(four, game)
    seat = 0 if phase == "pass" else table["turn"]
    own = four[seat].table(game)
    moves = {"pass": own["hand"].split()[:3], "play": own.get("legal"), "moon": "add"}
    return game, seat, {phase: moves[phase]}


@pytest.mark.parametrize("phase", PHASES)
def test_a_seat_is_handed_over_and_taken_back_at_any_time(four: list[Guest], phase: str) -> None:
    """Given a seat that is to pass, play or choose, when it is handed over and taken back, then its player does so."""
    game, seat, move = waiting_for(four, phase)
    for _ in range(2):
        assert 200 == four[seat].delete(f"/v1/games/{game}/seats/{seat}").status_code
        refused = four[seat].move(game, move)
        assert (403, "seat/not_yours") == (refused.status_code, refused.json["code"])
        assert 200 == four[seat].post(f"/v1/games/{game}/seats/{seat}/back").status_code
    assert 200 == four[seat].move(game, move).status_code


@pytest.mark.parametrize("phase", PHASES)
def test_the_stand_in_does_what_its_seat_owes(services: Services, four: list[Guest], phase: str) -> None:
    """Given a seat that is to pass, play or choose, when it is handed over, then the bot does so at once, by its name."""
    game, seat, _ = waiting_for(four, phase, clock=60)
    seq = four[seat].delete(f"/v1/games/{game}/seats/{seat}").json["seq"]
    services.tables.act_for_house(game)
    done = four[0].get(f"/v1/games/{game}/events?after={seq}").json["events"][0]["event"]
    kind = {"pass": "cards_passed", "play": "card_played", "moon": "moon_chosen"}[phase]
    assert f'"t":"{kind}"' in done
    assert f'"seat":{seat}' in done
    assert '"by":"bot"' in done
    assert 200 == four[seat].post(f"/v1/games/{game}/seats/{seat}/back").status_code


@pytest.mark.parametrize("phase", PHASES)
def test_the_clock_does_not_take_the_seat(
    services: Services, clock: Clock, four: list[Guest], phase: str
) -> None:
    """Given a seat whose time is over in any phase, then the house does so by the clock, and the player has the seat still."""
    game, seat, move = waiting_for(four, phase, clock=60)
    seq = four[0].table(game)["seq"]
    clock.now += 59_999
    services.tables.act_for_house(game)
    assert seq == four[0].table(game)["seq"]
    clock.now += 1
    services.tables.act_for_house(game, most=1)
    done = four[0].get(f"/v1/games/{game}/events?after={seq}").json["events"][0]["event"]
    assert f'"seat":{seat}' in done
    assert '"by":"clock"' in done
    assert (False, False) == away(four[1], game, seat)
    assert four[seat].move(game, move).status_code in (409, 422)
