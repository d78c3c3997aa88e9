"""Why a card was legal or not, and what has changed: for one's own seat at any time, for all when the hand is over."""

from __future__ import annotations

from typing import Any

import pytest

from api.explain import changes
from domain.reasons import RULES
from tests.api.guests import Guest, open_table, play_on, seat_all
from tests.api.test_looking_back import code, happened, look, second_hand, seq_of

DECK = [rank + suit for suit in "CDSH" for rank in "23456789TJQKA"]


def why(guest: Guest, game: str, card: str, query: str = "") -> Any:
    """Ask about a card."""
    return guest.get(f"/v1/games/{game}/why?card={card}{query}")


def test_the_rule_is_named_as_a_move_would_be_refused(four: list[Guest]) -> None:
    """Given whose turn it is asks about every card, then it is told which it may play, and of others the code of the refusal."""
    game = seat_all(four, pass_count=0)
    rules = set()
    for _ in range(12):
        mover = four[four[0].table(game)["turn"]]
        table = mover.table(game)
        for card in DECK:
            told = why(mover, game, card).json
            assert (table["seq"], table["turn"], card) == (told["seq"], told["seat"], told["card"])
            assert told["allowed"] == (card in table["legal"].split())
            rules.add(told["rule"])
            if not told["allowed"]:
                assert told["rule"] == mover.move(game, {"play": card}).json["code"]
                assert told["hint"]
            else:
                assert told["rule"] in RULES
        play_on(four, game)
    assert {"may/follow_suit", "play/not_in_hand", "play/must_follow_suit"} <= rules


def test_a_pass_is_asked_about_by_its_seat(four: list[Guest], stranger: Guest) -> None:
    """Of one's own hand; others hear of it when the hand is over, and must say whose."""
    game = seat_all(four)
    own = four[0].table(game)["hand"].split()
    for card in DECK:
        told = why(four[0], game, card).json
        rule = "may/pass" if card in own else "pass/wrong_cards"
        assert (0, card in own, rule) == (told["seat"], told["allowed"], told["rule"])
        assert (409, "hand/not_over") == code(why(four[0], game, card, "&seat=1"))
        assert (409, "hand/not_over") == code(why(stranger, game, card, "&seat=1"))
    assert (422, "request/invalid") == code(why(stranger, game, "QS"))
    four[0].move(game, {"pass": own[:3]})
    assert "pass/not_now" == why(four[0], game, own[0]).json["rule"]


def test_others_are_explained_when_their_hand_is_over(four: list[Guest], stranger: Guest) -> None:
    """Given a second hand in play, then every play of the first is explained to everybody, and none of the second."""
    game = second_hand(four)
    events = happened(four[0], game)
    scored = seq_of(four[0], game, "hand_scored")
    plays = [event for event in events if event["t"] == "card_played"]
    for event in plays:
        told = why(stranger, game, event["card"], f"&at={event['n'] - 1}")
        if event["n"] < scored:
            assert (event["seat"], True) == (told.json["seat"], told.json["allowed"])
        else:
            assert (409, "hand/not_over") == code(told)
    own = next(event for event in plays if event["n"] > scored and event["seat"] == 2)
    assert why(four[2], game, own["card"], f"&at={own['n'] - 1}").json["allowed"]


def test_where_nobody_is_to_move_it_is_told(four: list[Guest]) -> None:
    """Before the deal, between two tricks, after the end; and what there is not."""
    game = open_table(four[0], ["me", *["open"] * 3], hand_limit=1)
    assert (409, "game/not_started") == code(why(four[0], game, "QS"))
    for guest in four[1:]:
        guest.post(f"/v1/games/{game}/seats")
    for guest in four:
        guest.post(f"/v1/games/{game}/ready")
    while play_on(four, game)["status"] != "over":
        pass
    assert (409, "game/over") == code(why(four[0], game, "QS"))
    before = seq_of(four[0], game, "trick_ended") - 1
    assert (409, "play/hand_over") == code(why(four[0], game, "QS", f"&at={before}"))
    for query in ("&at=99999", "&seat=9", "&at=0"):
        assert (422, "request/invalid") == code(why(four[0], game, "QS", query))
    assert (422, "request/invalid") == code(why(four[0], game, "XX"))
    assert (422, "request/invalid") == code(four[0].get(f"/v1/games/{game}/why"))
    assert (404, "game/unknown") == code(why(four[0], "nothing", "QS"))


# --- differences


def diff(guest: Guest, game: str, query: str) -> Any:
    """Ask what has changed."""
    return guest.get(f"/v1/games/{game}/diff?{query}")


def applied(body: Any, found: list[dict[str, Any]]) -> Any:
    """A body with the changes made."""
    for change in found:
        *way, last = change["field"].split(".")
        at = body
        for step in way:
            at = at[int(step)] if isinstance(at, list) else at[step]
        at[int(last) if isinstance(at, list) else last] = change["after"]
    return body


def test_the_difference_leads_from_one_view_to_the_other(four: list[Guest], stranger: Guest) -> None:
    """Given any two moments, for a player and for a spectator: what is told makes the later view of the earlier one."""
    game = second_hand(four)
    seq = four[0].table(game)["seq"]
    for reader in (four[1], stranger):
        for before, at in ((20, 21), (21, 57), (57, 20), (12, seq), (seq - 1, seq)):
            old, new = (look(reader, game, f"at={moment}").json for moment in (before, at))
            told = diff(reader, game, f"before={before}&at={at}").json
            assert (before, at) == (told["before"], told["at"])
            made = applied(old, told["changes"])
            for body in (made, new):
                body |= {"seq": 0, "head": ""}
                for name in ("hand", "received", "given", "legal", "you"):
                    body.setdefault(name, None)
            assert new == made
    assert [] == diff(four[0], game, f"before={seq}").json["changes"]


def test_the_eyes_of_another_seat_are_lent_for_hands_that_are_over(
    four: list[Guest], stranger: Guest
) -> None:
    """Both moments must be of such; one's own view is always there."""
    game = second_hand(four)
    scored = seq_of(four[0], game, "hand_scored")
    told = diff(stranger, game, f"before=20&at={scored - 3}&as=2").json
    assert "hand" in [change["field"] for change in told["changes"]]
    for query in (f"before=20&at={scored + 5}&as=2", f"before={scored + 5}&at=20&as=2", "before=20&as=2"):
        assert (409, "hand/not_over") == code(diff(stranger, game, query))
        assert (409, "hand/not_over") == code(diff(four[2], game, query))
    assert "hand" not in [change["field"] for change in diff(stranger, game, "before=20").json["changes"]]


@pytest.mark.parametrize(
    "query", ["", "before=0", "before=99999", "before=1&at=99999", "before=1&as=4", "before=x"]
)
def test_a_moment_that_there_is_not(four: list[Guest], query: str) -> None:
    """Is told by the name of its parameter."""
    game = seat_all(four)
    assert (422, "request/invalid") == code(diff(four[0], game, query))


def test_what_is_not_there_is_null() -> None:
    """Members that come and go, and lists that grow, are told whole."""
    old, new = {"a": 1, "l": [1], "d": {"x": 1, "y": 2}}, {"b": 2, "l": [1, 2], "d": {"x": 3, "y": 2}}
    assert [("b", None, 2), ("l", [1], [1, 2]), ("d.x", 1, 3), ("a", 1, None)] == list(changes(old, new))
