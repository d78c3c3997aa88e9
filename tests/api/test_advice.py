"""What a house bot would have done: told of hands that are over, from the view of who was to act."""

from __future__ import annotations

from typing import Any

from api.advice import AdviceAnswer
from domain.bots import ADVISER, advise
from domain.cards import NAMES
from domain.view import view
from services.wiring import Services
from tests.api.guests import Guest, open_table, play_on, seat_all
from tests.api.test_docs import check
from tests.api.test_looking_back import code, happened, second_hand, seq_of


def advice(guest: Guest, game: str, query: str) -> Any:
    """Ask about a moment."""
    return guest.get(f"/v1/games/{game}/advice?{query}")


def test_every_move_of_a_hand_that_is_over(services: Services, four: list[Guest], stranger: Guest) -> None:
    """Given a second hand in play, then for each play of the first it is what the adviser would play, and nothing of the second."""
    game = second_hand(four)
    scored = seq_of(four[0], game, "hand_scored")
    for event in happened(four[0], game):
        if event["t"] != "card_played":
            continue
        told = advice(stranger, game, f"at={event['n'] - 1}")
        if event["n"] > scored:
            assert (409, "hand/not_over") == code(told)
            continue
        check(AdviceAnswer, told.json)
        wanted = advise(view(services.tables.at(game, event["n"] - 1).state, event["seat"]))
        assert (event["seat"], NAMES[wanted]) == (told.json["seat"], told.json["play"])
        assert ADVISER == told.json["bot"]["name"]


def test_a_pass_is_asked_about_by_its_seat(four: list[Guest], stranger: Guest) -> None:
    """Before each passed, who has passed has nothing to do."""
    game = second_hand(four)
    dealt = seq_of(four[0], game, "hand_dealt")
    assert (422, "request/invalid") == code(advice(stranger, game, f"at={dealt}"))
    passes = [event for event in happened(four[0], game) if event["t"] == "cards_passed"][:4]
    for seat in range(4):
        assert 3 == len(advice(stranger, game, f"at={dealt}&seat={seat}").json["pass"])
    first = passes[0]
    assert (409, "pass/not_now") == code(advice(stranger, game, f"at={first['n']}&seat={first['seat']}"))


def test_where_nobody_is_to_act_it_is_told(four: list[Guest], stranger: Guest) -> None:
    """Before the deal, when a trick is full, after the end; and what there is not."""
    game = seat_all(four, hand_limit=1, pass_count=0)
    while play_on(four, game)["status"] != "over":
        pass
    last = four[0].table(game)["seq"]
    trick = seq_of(four[0], game, "trick_ended")
    mover = next(event for event in happened(four[0], game) if event["t"] == "card_played")
    other = (mover["seat"] + 1) % 4
    assert (409, "play/not_your_turn") == code(advice(stranger, game, f"at={mover['n'] - 1}&seat={other}"))
    assert (409, "game/over") == code(advice(stranger, game, f"at={last}"))
    assert (409, "play/hand_over") == code(advice(stranger, game, f"at={trick - 1}"))
    for query in ("", "at=0", f"at={last + 1}", "at=9&seat=4", "at=9&seat=x"):
        assert (422, "request/invalid") == code(advice(stranger, game, query))
    assert (404, "game/unknown") == code(advice(stranger, "nothing", "at=3"))


def test_a_table_that_has_not_begun(four: list[Guest]) -> None:
    """There are no cards yet."""
    game = open_table(four[0], ["me", *["open"] * 3])
    assert (409, "game/not_started") == code(advice(four[0], game, "at=1"))
