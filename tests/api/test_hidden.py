"""What a caller may not see is in no answer: views, events, refusals."""

import json
import re
from typing import Any

from services.wiring import Services
from tests.api.guests import Guest, play_on, seat_all

CARD = re.compile(r"\b[2-9TJQKA][CDSH]\b")


def cards_in(text: str) -> set[str]:
    """Every card that is named anywhere in a text."""
    return set(CARD.findall(text))


def told_of_play(table: dict[str, Any]) -> str:
    """A table without its rules, and without the cards that count by them."""
    assert cards_in(table["counting"]) == {f"{rank}H" for rank in "23456789TJQKA"} | {"QS"}
    return json.dumps({**table, "rules": None, "counting": None})


def test_a_spectator_sees_the_public_part_alone(four: list[Guest], stranger: Guest) -> None:
    """No key of a seat, and no card but those played."""
    game = seat_all(four, opener="left")
    for _ in range(3):
        table = stranger.table(game)
        assert {"you", "hand", "received", "legal", "given"}.isdisjoint(table)
        laid = {one["card"] for one in [*table["trick"], *table["last_trick"]]}
        assert laid == cards_in(told_of_play(table))
        play_on(four, game)


def test_each_seat_sees_its_own_cards_alone(four: list[Guest]) -> None:
    """A hand is in the answers to its owner, before and after the pass, and in nobody else's."""
    game = seat_all(four)
    for _ in range(2):
        tables = [one.table(game) for one in four]
        hands = [set(table["hand"].split()) for table in tables]
        assert 52 == len(set().union(*hands))
        for seat, table in enumerate(tables):
            own = hands[seat] | set(table["given"].split()) | set(table["received"].split())
            assert cards_in(told_of_play(table)) <= own
        play_on(four, game)


def test_legal_cards_are_there_for_whoever_may_play(four: list[Guest]) -> None:
    """One seat has them at a time, and only in play."""
    game = seat_all(four)
    assert all("legal" not in one.table(game) for one in four)
    play_on(four, game)
    for _ in range(6):
        turn = four[0].table(game)["turn"]
        assert [seat == turn for seat in range(4)] == ["legal" in one.table(game) for one in four]
        play_on(four, game)


def test_events_tell_each_seat_its_own(four: list[Guest], stranger: Guest) -> None:
    """`private` has the dealt cards, the pass given, and the pass received; a spectator and the others get null."""
    game = seat_all(four)
    hands = [one.table(game)["hand"] for one in four]
    play_on(four, game)
    received = [one.table(game)["received"] for one in four]
    for seat, one in enumerate(four):
        private: dict[str, Any] = {}
        for item in one.get(f"/v1/games/{game}/events").json["events"]:
            if item["private"] is not None:
                private[json.loads(item["event"])["t"]] = item["private"]
        assert {"hand_dealt", "cards_passed", "passes_exchanged"} == private.keys()
        assert (hands[seat], " ".join(hands[seat].split()[:3])) == (
            private["hand_dealt"]["cards"],
            private["cards_passed"]["cards"],
        )
        assert received[seat] == private["passes_exchanged"]["received"]
    watched = stranger.get(f"/v1/games/{game}/events")
    assert {None} == {item["private"] for item in watched.json["events"]}
    dealt = [item["event"] for item in watched.json["events"] if '"t":"game_created"' not in item["event"]]
    assert set() == cards_in(" ".join(dealt))


def test_the_stored_secrets_are_in_no_answer(services: Services, four: list[Guest], stranger: Guest) -> None:
    """Neither the seed chain nor the secret of the hand leaves the house while the hand is in play."""
    game = seat_all(four)
    state = services.tables.load(game).state
    assert state.hand is not None
    for path in ("", "/events", "/proof"):
        for one in (*four, stranger):
            text = one.get(f"/v1/games/{game}{path}").text
            assert state.hand.secret not in text
            assert state.chain_secret not in text


def test_a_refusal_does_not_depend_on_who_holds_the_card(four: list[Guest]) -> None:
    """A card of another hand and one that was played are refused in the same words."""
    game = seat_all(four, pass_count=0)
    for _ in range(4):
        play_on(four, game)
    table = four[0].table(game)
    mover = four[table["turn"]]
    hand = set(mover.table(game)["hand"].split())
    played = table["last_trick"][0]["card"]
    held = next(card for one in four for card in one.table(game)["hand"].split() if card not in hand)
    told = []
    for card in (played, held):
        refused = mover.move(game, {"play": card}).json
        told.append({**refused, "detail": refused["detail"].replace(card, "it")})
    assert told[0] == told[1]
    assert "play/not_in_hand" == told[0]["code"]
    for seat, one in enumerate(four):
        if seat != table["turn"]:
            other = [one.move(game, {"play": card}).text for card in (played, held)]
            assert other[0] == other[1]
