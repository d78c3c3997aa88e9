"""Claims over HTTP: the rest of the tricks at once, or a refusal that tells nothing."""

import json
from random import Random
from typing import Any

import pytest
from werkzeug.test import TestResponse

from domain.claim import proving_order
from domain.view import view
from services.audit import Receipt, verify_receipt
from services.wiring import Services
from tests.api.guests import Guest, open_table, play_on, seat_all
from tests.api.twins import deal_twin, move_to

NO_PASS = {"pass_count": 0}


def code(answer: TestResponse) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json["code"]


def claim(guest: Guest, game: str, body: Any = None, **headers: str) -> TestResponse:
    """Claim the rest of the tricks."""
    return guest.post(f"/v1/games/{game}/claim", body, **headers)


def is_certain(services: Services, game: str) -> bool:
    """Whether the seat to play may claim."""
    state = services.tables.load(game).state
    return state.hand is not None and proving_order(view(state, state.hand.turn)) is not None


def play_to_claim(services: Services, guests: list[Guest], game: str) -> Guest:
    """Play until somebody who is to play may claim: who it is."""
    while not is_certain(services, game):
        play_on(guests, game)
    return guests[guests[0].table(game)["turn"]]


def events_after(guest: Guest, game: str, seq: int) -> list[dict[str, Any]]:
    """The public events after ``seq``."""
    items = guest.get(f"/v1/games/{game}/events?after={seq}").json["events"]
    return [json.loads(item["event"]) for item in items]


def test_a_claim_plays_the_hand_out(services: Services, four: list[Guest]) -> None:
    """Given a seat that certainly takes the rest, its claim is answered by the table after the next deal, and a receipt."""
    game = seat_all(four, hand_limit=2, **NO_PASS)
    mine = play_to_claim(services, four, game)
    before = mine.table(game)
    answer = claim(mine, game, {})
    assert 200 == answer.status_code, answer.text
    events = events_after(mine, game, before["seq"])
    plays = [one for one in events if one["t"] == "card_played"]
    assert {"claim"} == {one["by"] for one in plays}
    assert sum(seat["cards"] for seat in before["seats"]) == len(plays)
    assert sorted(before["hand"].split()) == sorted(
        one["card"] for one in plays if one["seat"] == before["you"]
    )
    assert {before["you"]} == {one["seat"] for one in events if one["t"] == "trick_ended"}
    assert ["hand_scored", "hand_dealt"] == [one["t"] for one in events[-2:]]
    assert 1 == len({one["at"] for one in events})
    table = answer.json
    assert (2, 13, before["you"]) == (table["hand_number"], len(table["hand"].split()), table["you"])
    receipt = Receipt(**table["receipt"])
    assert verify_receipt(receipt, services.key.public)
    assert (table["seq"], f'"{table["seq"]}-{table["head"][:16]}"') == (receipt.seq, answer.headers["ETag"])
    assert {**table, "receipt": None} == {**mine.table(game), "receipt": None}


def test_a_claim_is_told_of_before_it_is_made(services: Services, four: list[Guest]) -> None:
    """Given whole hands, then the table of who is to play has `claim` where it would be accepted; tricks and points come so."""
    game = seat_all(four, hand_limit=2, moon_effect="add", **NO_PASS)
    while four[0].table(game)["hand_number"] == 1:
        tables = [guest.table(game) for guest in four]
        turn = tables[0]["turn"]
        told = tables[turn].get("claim")
        assert [turn] * (told is not None) == [at for at, table in enumerate(tables) if "claim" in table]
        assert (told is not None) == is_certain(services, game)
        if told is None:
            play_on(four, game)
            continue
        assert 200 == claim(four[turn], game).status_code
        events = events_after(four[turn], game, tables[turn]["seq"])
        assert told["tricks"] == sum(one["t"] == "trick_ended" for one in events)
        assert [told["points"]] == [one["points"] for one in events if one["t"] == "hand_scored"]
        return
    raise AssertionError("nobody could claim")


def test_the_last_claim_ends_the_game(services: Services, four: list[Guest]) -> None:
    """Given the last hand, the answer is the table of a finished game, whose proof and record are there."""
    game = seat_all(four, hand_limit=1)
    play_on(four, game)
    answer = claim(play_to_claim(services, four, game), game)
    assert ("over", "limit") == (answer.json["phase"], answer.json["reason"])
    assert 52 == len(" ".join(four[0].get(f"/v1/games/{game}/record").json["hands"][0]["deal"]).split())
    assert (409, "game/over") == code(claim(four[0], game))


def test_what_is_not_certain_is_refused(services: Services, four: list[Guest]) -> None:
    """Given the first lead, nothing happens, and the refusal says what a claim is judged by."""
    game = seat_all(four, **NO_PASS)
    turn = four[0].table(game)["turn"]
    refused = claim(four[turn], game)
    assert (422, "claim/not_certain") == code(refused)
    assert refused.json["hint"]
    assert four[0].table(game)["seq"] == refused.json["seq"]
    assert refused.headers["ETag"] == four[0].get(f"/v1/games/{game}").headers["ETag"]


def test_a_claim_is_for_who_is_to_play(services: Services, four: list[Guest], stranger: Guest) -> None:
    """Neither for the others at the table, nor for a seat that the stand-in bot plays, nor for those who watch."""
    game = open_table(four[0], ["me", *["open"] * 3])
    assert (409, "game/not_started") == code(claim(four[0], game))
    game = seat_all(four[:3], variant="standard", players=3)
    assert (409, "play/not_your_turn") == code(claim(four[0], game))
    play_on(four[:3], game)
    mine = play_to_claim(services, four[:3], game)
    for guest in four[:3]:
        if guest is not mine:
            assert (409, "play/not_your_turn") == code(claim(guest, game))
    assert (403, "seat/not_yours") == code(claim(four[3], game))
    assert (401, "auth/required") == code(claim(stranger, game))
    assert (404, "game/unknown") == code(claim(mine, "0" * 24))
    seat = mine.table(game)["you"]
    mine.delete(f"/v1/games/{game}/seats/{seat}")
    assert (403, "seat/not_yours") == code(claim(mine, game))


@pytest.mark.parametrize("body", [{"play": "AS"}, {"cards": "AS KS"}, [], "AS"])
def test_a_claim_says_nothing_more(services: Services, four: list[Guest], body: Any) -> None:
    """The body is empty, for the proof is the server's to find."""
    game = seat_all(four, **NO_PASS)
    mine = play_to_claim(services, four, game)
    assert (422, "request/invalid") == code(claim(mine, game, body))
    assert 200 == claim(mine, game).status_code


def test_a_repeat_under_a_key_is_the_same_answer(services: Services, four: list[Guest]) -> None:
    """Given a claim that was accepted, its repeat claims nothing more; a refused one burns no key."""
    game = seat_all(four, hand_limit=2, **NO_PASS)
    turn = four[0].table(game)["turn"]
    refused = claim(four[turn], game, Idempotency_Key="early")
    assert (422, "claim/not_certain") == code(refused)
    mine = play_to_claim(services, four, game)
    first = claim(mine, game, Idempotency_Key="early")
    assert 200 == first.status_code
    play_on(four, game)
    again = claim(mine, game, Idempotency_Key="early")
    assert ("true", first.data, first.headers["ETag"]) == (
        again.headers["Idempotency-Replayed"],
        again.data,
        again.headers["ETag"],
    )
    assert "Idempotency-Replayed" not in first.headers


def test_a_claim_may_name_the_version_it_is_meant_for(services: Services, four: list[Guest]) -> None:
    """A stale If-Match is refused, the present one is not."""
    game = seat_all(four, **NO_PASS)
    stale = four[0].get(f"/v1/games/{game}").headers["ETag"]
    mine = play_to_claim(services, four, game)
    assert (412, "version/stale") == code(claim(mine, game, If_Match=stale))
    present = mine.get(f"/v1/games/{game}").headers["ETag"]
    assert 200 == claim(mine, game, If_Match=present).status_code


@pytest.mark.parametrize(
    "fields",
    [{}, {"pass_count": 0, "opener": "left"}, {"variant": "omnibus"}, {"removed": "2C 2D", "hand": 12}],
)
def test_a_claim_does_not_depend_on_hidden_cards(
    services: Services, four: list[Guest], fields: dict[str, Any]
) -> None:
    """Given the cards dealt in another way that the claimant cannot tell apart, it is refused to the last byte alike."""
    game, rng = seat_all(four, hand_limit=1, **fields), Random(3)
    guests, refusals = four, 0
    play_on(guests, game)
    while guests[0].table(game)["phase"] == "play":
        seat = guests[0].table(game)["turn"]
        certain = is_certain(services, game)
        refused = None if certain else claim(guests[seat], game)
        services.tables._cache.drop(game)
        app = deal_twin(services, game, seat, rng)
        guests = [move_to(app, one) for one in guests]
        services.tables._cache.drop(game)
        assert certain == is_certain(services, game)
        if refused is None:
            assert 200 == claim(guests[seat], game).status_code
            break
        twin = claim(guests[seat], game)
        assert (422, refused.data) == (twin.status_code, twin.data)
        refusals += 1
        for _ in range(5):
            if not is_certain(services, game):
                play_on(guests, game)
            services.tables._cache.drop(game)
    assert refusals >= 3
