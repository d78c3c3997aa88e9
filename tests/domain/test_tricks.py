"""Who takes a trick, of one deck and of two: every edge case of the rules document, section 4, by its number."""

from __future__ import annotations

from typing import Any

import pytest

from domain import events as e
from domain.cards import parse_cards
from domain.game import fold, to_act
from domain.rules import trick_winner
from domain.ruleset import RuleSet, Terms
from domain.view import view
from tests.support.tables import (
    after,
    dealt,
    given,
    plain,
    play,
    played,
    small_rules,
)


def test_a_trick_ends_with_its_last_card() -> None:
    """Its winner leads next."""
    table = after(plain(), play(0, "2C"), play(1, "3C"), play(2, "4C"))
    given(table).when(play(3, "5C")).then(e.CardPlayed(seat=3, card="5C", by="player"), e.TrickEnded(seat=3))
    given(after(table, play(3, "5C"))).when(play(3, "6D")).then(e.CardPlayed)


def two_decks(hands: list[str], kitty: str = "", **more: Any) -> list[e.Event]:
    """A table of two decks where identical cards cancel; p0 leads."""
    return dealt(small_rules(hands, kitty, **{"decks": 2, "cancel": True, **more}), hands, kitty)


def winner(trick: str, **rules: Any) -> int | None:
    """Which card of a trick wins, by its place, led by seat 0."""
    terms = Terms(RuleSet(variant="custom", decks=2, **{"cancel": True, **rules}))
    return trick_winner(terms, 0, parse_cards(trick))


# Number in section 4, cards in the order played, place of the winner, and by the literal reading of the seed.
TRICKS = [
    ("4.1", "JC TC 9C 8C 4C JC", 1, 1),
    ("4.2", "JC JC TC TC 9C 9C", None, None),
    ("4.3", "QS QS 2S KD 4D 9H", 2, 2),
    ("4.4", "AD AD 5C 9H KH 2S", None, None),
    ("4.5", "TS 9H 9H TS", None, None),
    ("4.6", "TS 9H 9H TS 3S 4D", 4, None),
    ("4.7", "5C 9H 9H KC 2C 7C", 3, 3),
    ("4.8", "8D 8D 3D 4S QS 2H", 2, 2),
    ("4.9 seven seats", "5C 5C 6C 6C 7C 7C 2D", None, None),
    ("4.9 nine seats", "5C 5C 6C 6C 7C 7C 2C 2D 2D", 6, None),
    ("pair beside the led card", "5C AC AC 2D 3D 4D", 0, 0),
    ("no pair", "5C 6C 2C KD 3H 8C", 5, 5),
    ("a higher card off suit", "2C AD KD 3H 3S 4S", 0, 0),
]


@pytest.mark.parametrize(
    ("trick", "live", "strict"), [row[1:] for row in TRICKS], ids=[row[0] for row in TRICKS]
)
def test_who_wins_a_trick(trick: str, live: int | None, strict: int | None) -> None:
    """The highest card of the suit led that is there once; none is a dead trick. `two_pairs` kills more."""
    assert live == winner(trick)
    assert strict == winner(trick, dead_trick="two_pairs")


@pytest.mark.parametrize(
    ("trick", "place"),
    [("JC TC 9C 8C 4C JC", 5), ("QS QS 2S KD 4D 9H", 1), ("AD AD 5C 9H KH 2S", 1), ("5C AC 6C AC 2D 2D", 3)],
)
def test_without_cancelling_the_last_of_two_wins(trick: str, place: int) -> None:
    """The older rule for two decks: the second of two identical cards beats the first."""
    assert place == winner(trick, cancel=False)


def test_the_winner_is_counted_from_the_leader() -> None:
    """Seats go round."""
    terms = Terms(RuleSet(variant="custom", decks=2, cancel=True))
    assert 0 == trick_winner(terms, 3, parse_cards("4C 5C 3C 2C"))
    assert 5 == trick_winner(terms, 3, parse_cards("4C 4C 3C 5D 2C 6D"))


# --- dead tricks


def score(events: list[e.Event]) -> tuple[int, ...]:
    """The points of the hand that ended last."""
    return [event.points for event in events if isinstance(event, e.HandScored)][-1]


def takers(events: list[e.Event]) -> list[int | None]:
    """Who took each trick."""
    return [event.seat for event in events if isinstance(event, e.TrickEnded)]


@pytest.mark.parametrize(
    ("trick", "points"),
    [
        ("QS QS 2S KD 4D 9H", (0, 0, 27, 0, 0, 0)),
        ("5C 9H 9H KC 2C 7C", (0, 0, 0, 2, 0, 0)),
        ("8D 8D 3D 4S QS 2H", (0, 0, 14, 0, 0, 0)),
        ("TS 9H 9H TS 3S 4D", (0, 0, 0, 0, 2, 0)),
    ],
)
def test_cancelled_cards_still_score(trick: str, points: tuple[int, ...]) -> None:
    """They go to whoever takes the trick (4.3, 4.6, 4.7, 4.8)."""
    table = two_decks(trick.split())
    assert points == score(played(table, trick, first=0))


def test_the_pile_of_dead_tricks_grows_and_goes_to_the_next_winner() -> None:
    """The leader leads again (4.2, 4.11, 4.20); whoever wins then takes all of it, and leads."""
    hands = ["4H 9H 3C 2C", "4H 9H 3D 4D", "5H TH 6C 3S", "5H TH 2D 4S"]
    table = two_decks(hands, breakers=[])
    table = played(table, "4H 4H 5H 5H")
    assert e.TrickEnded(seat=None) == table[-1]
    assert (0,) == to_act(fold(None, table))
    table = played(table, "9H 9H TH TH", first=0)
    assert (0,) == to_act(fold(None, table))
    assert 8 == len(fold(None, table).hand.pile)  # type: ignore[union-attr]
    table = played(table, "3C 3D 6C 2D 3S 4S 2C 4D", first=0)
    assert [None, None, 2, 3] == takers(table)
    assert (0, 0, 8, 0) == score(table)


def test_after_a_dead_trick_the_suit_led_is_new() -> None:
    """It is a fresh trick (4.21): who could not follow before may be able to now."""
    table = played(two_decks(["4C 2D", "4C 3D", "5C 2S", "5C 3S"]), "4C 4C 5C 5C 2D", first=0)
    given(table).when(play(1, "3D")).then(e.CardPlayed(seat=1, card="3D", by="player"))


def test_a_dead_trick_is_told_in_the_view() -> None:
    """Nobody took it, and nobody is counted as having; the leader stays (4.20)."""
    seen = view(fold(None, played(two_decks(["4C 2D", "4C 3D", "5C 2S", "5C 3S"]), "4C 4C 5C 5C")), None)
    assert ((0, tuple(parse_cards("4C 4C 5C 5C")), None),) == seen.history
    assert (0, 0, [0, 0, 0, 0]) == (seen.leader, seen.turn, [seat.taken for seat in seen.seats])


def taken_by(
    hands: list[str], cards: str, kitty: str = "", **rules: str
) -> tuple[list[int | None], list[int]]:
    """Who took each trick of a hand of two decks in which identical cards cancel, and its points."""
    table = dealt(small_rules(hands, kitty, decks=2, cancel=True, breakers=[], **rules), hands, kitty)
    table = played(table, cards, first=0)
    return [event.seat for event in table if isinstance(event, e.TrickEnded)], fold(None, table).totals


@pytest.mark.parametrize("last", ["nobody", "leader"])
def test_only_a_dead_last_trick_may_go_to_its_leader(last: str) -> None:
    """An earlier dead trick has no taker: its pile goes to whoever wins the next one."""
    assert ([None, 0], [2, 0, 0]) == taken_by(
        ["4H AD", "4H 3D", "5S 2D"], "4H 4H 5S AD 3D 2D", dead_last=last
    )
    assert ([2, 0], [0, 0, 3]) == taken_by(["4H AD", "4H 3D", "5H 2D"], "4H 4H 5H 2D AD 3D", dead_last=last)


@pytest.mark.parametrize("last", ["nobody", "leader"])
def test_a_last_trick_with_a_winner_goes_to_it(last: str) -> None:
    """The rule for a dead last trick takes nothing from who wins a live one."""
    assert ([0, 1], [0, 1, 0]) == taken_by(["9C 2D", "3C 3D", "4C 5H"], "9C 3C 4C 2D 3D 5H", dead_last=last)


@pytest.mark.parametrize(("last", "points"), [("nobody", [0, 0, 0]), ("leader", [4, 0, 0])])
def test_dead_to_the_end(last: str, points: list[int]) -> None:
    """Where every trick was dead the whole pile goes with the last: to nobody, or to who led them all."""
    hands = ["4H 9H", "4H 9H", "5S 6S"]
    taken: list[int | None] = [None, 0 if last == "leader" else None]
    assert (taken, points) == taken_by(hands, "4H 4H 5S 9H 9H 6S", dead_last=last)


@pytest.mark.parametrize(("last", "points"), [("nobody", (0, 1, 0, 0)), ("leader", (0, 3, 0, 0))])
def test_a_dead_last_trick_is_lost_or_its_leaders(last: str, points: tuple[int, ...]) -> None:
    """Its cards are nobody's, unless the rules give them to who led it (4.12)."""
    table = two_decks(["2C 4H", "5C 4H", "4C 5D", "3C 5D"], "6H", dead_last=last)
    table = played(played(table, "2C 5C 4C 3C", first=0), "4H 5D 5D 4H", first=1)
    assert [1, None if last == "nobody" else 1] == takers(table)
    assert points == score(table)


# --- the kitty


@pytest.mark.parametrize(("to", "points"), [("first", (0, 0, 14, 0)), ("last", (14, 0, 0, 0))])
def test_the_kitty_joins_the_first_or_the_last_trick(to: str, points: tuple[int, ...]) -> None:
    """Its winner takes it."""
    table = two_decks(["2C 9D", "3C 3D", "5C 2D", "4C 3S"], "AH QS", kitty_to=to)
    assert points == score(played(table, "2C 3C 5C 4C 2D 3S 9D 3D", first=0))


@pytest.mark.parametrize(("to", "points"), [("first", [0, 14, 0]), ("last", [13, 1, 0])])
def test_the_kitty_of_a_hand_with_one_dead_trick(to: str, points: list[int]) -> None:
    """With the first trick it waits in the pile of a dead one (4.10, 4.15); with the last it goes to its winner."""
    hands = ["4C 2D AS", "4C 3D 2S", "5S 2H 3S"]
    taken: list[int | None] = [None, 1, 0]
    assert taken == taken_by(hands, "4C 4C 5S 2D 3D 2H 2S 3S AS", "QS", kitty_to=to)[0]
    assert points == taken_by(hands, "4C 4C 5S 2D 3D 2H 2S 3S AS", "QS", kitty_to=to)[1]


@pytest.mark.parametrize(("last", "points"), [("nobody", (0, 0, 0)), ("leader", (13, 0, 0))])
def test_a_kitty_for_the_last_trick_is_lost_with_it(last: str, points: tuple[int, ...]) -> None:
    """Where the last trick is dead and nobody's."""
    table = two_decks(["2C", "2C", "3D"], "QS", kitty_to="last", dead_last=last)
    assert points == score(played(table, "2C 2C 3D"))


def test_the_kitty_is_shown_to_nobody_before_the_score() -> None:
    """Not even to who took it (4.22): no view differs with what it holds."""
    hands = ["9C 2D", "3C 3H", "5C 2S"]
    rules = small_rules(hands, "AH", decks=2)
    for seat in (None, 0, 1, 2):
        one, other = (
            view(fold(None, played(dealt(rules, hands, kitty), "9C 3C 5C")), seat) for kitty in ("AH", "QS")
        )
        assert one == other


# --- moons, hearts and copies


def costly_moon(hands: list[str], kitty: str = "", **more: Any) -> list[e.Event]:
    """Such a table where a moon costs the others 26."""
    return two_decks(hands, kitty, moon_effect="add", breakers=[], **more)


def test_a_penalty_card_in_a_dead_last_trick_prevents_a_moon() -> None:
    """Nobody took it, so nobody took all (4.13)."""
    lost = costly_moon(["AH 9C", "2H 9C", "3H 4H"])
    assert (3, 0, 0) == score(played(lost, "AH 2H 3H 9C 9C 4H"))
    whole = costly_moon(["AH 9C", "2H 9C", "3H 4D"])
    assert (0, 26, 26) == score(played(whole, "AH 2H 3H 9C 9C 4D"))
    kept = costly_moon(["AH 9C", "2H 9C", "3H 4H"], dead_last="leader")
    assert (0, 26, 26) == score(played(kept, "AH 2H 3H 9C 9C 4H"))


@pytest.mark.parametrize(
    ("hands", "plays", "points"),
    [
        (["AS 5H", "QS 2D", "QS 3D"], "AS QS QS 5H 2D 3D", (0, 26, 26)),
        (["AS 2D", "QS 5H", "QS 3D"], "AS QS QS 2D 5H 3D", (26, 0, 1)),
    ],
)
def test_26_points_are_no_moon(hands: list[str], plays: str, points: tuple[int, ...]) -> None:
    """Both queens make 26 with or without a heart, but only all the penalty cards make a moon (4.14)."""
    assert points == score(played(costly_moon(hands), plays))


def test_a_heart_in_the_kitty_counts_and_breaks_nothing() -> None:
    """It belongs to the moon and to the score; it was never played (4.15)."""
    hands = ["9C 2H 2D", "3C 3D 4D", "5C 5D 6D"]
    given(played(two_decks(hands, "AH"), "9C 3C 5C")).when(play(0, "2H")).refused("play/hearts_not_broken")
    hands = ["9C 2D", "3C 3H", "5C 2S"]
    table = played(two_decks(hands, "AH", moon_effect="add"), "9C 3C 5C 2D 3H 2S")
    assert (0, 26, 26) == score(table)
    hands = ["9C 2D", "3C 3H", "5C 3D"]
    table = played(two_decks(hands, "AH", moon_effect="add"), "9C 3C 5C 2D 3H 3D")
    assert (1, 0, 1) == score(table)


def test_one_copy_leaves_the_hand() -> None:
    """Hands are multisets: the twin stays, and is played another time (4.16)."""
    table = two_decks(["9C 9C", "2C 3C", "4C 5C"])
    after = played(table, "9C")
    assert parse_cards("9C") == [card for card in range(52) if fold(None, after).hand.held[0] >> card & 1]  # type: ignore[union-attr]
    assert 1 == view(fold(None, after), 0).seats[0].cards
    given(played(after, "2C 4C")).when(play(0, "9C")).then(e.CardPlayed(seat=0, card="9C", by="player"))
    given(played(after, "2C 4C 9C")).when(play(0, "9C")).refused("play/not_your_turn")


@pytest.mark.parametrize(("breakers", "broken"), [(["H", "QS"], True), (["H"], False)])
def test_a_cancelled_queen_breaks_hearts(breakers: list[str], broken: bool) -> None:
    """Played is played (4.18), where the rules have the queen break them."""
    table = two_decks(["9S 2H 2C", "QS 3D 4D", "QS 5D 6D"], breakers=breakers)
    when = given(played(table, "9S QS QS")).when(play(0, "2H"))
    if broken:
        when.then(e.CardPlayed)
    else:
        when.refused("play/hearts_not_broken", legal="2C")


def test_only_hearts_may_be_led_after_a_dead_trick() -> None:
    """The exception holds as everywhere (4.19)."""
    table = played(two_decks(["4C 2H", "4C 3D", "5D 2S"], breakers=["H", "QS"]), "4C 4C 5D")
    given(table).when(play(0, "2H")).then(e.CardPlayed(seat=0, card="2H", by="player"))
