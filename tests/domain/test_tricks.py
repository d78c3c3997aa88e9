"""Tricks at the edges of a hand: a dead last trick that goes to its leader, and the kitty beside it."""

from __future__ import annotations

import pytest

from domain import events as e
from domain.game import fold
from tests.support.tables import dealt, played, small_rules


def takers(hands: list[str], cards: str, kitty: str = "", **rules: str) -> tuple[list[int | None], list[int]]:
    """Who took each trick of a hand of two decks in which identical cards cancel, and its points."""
    table = dealt(small_rules(hands, kitty, decks=2, cancel=True, breakers=[], **rules), hands, kitty)
    table = played(table, cards, first=0)
    return [event.seat for event in table if isinstance(event, e.TrickEnded)], fold(None, table).totals


@pytest.mark.parametrize("last", ["nobody", "leader"])
def test_only_a_dead_last_trick_may_go_to_its_leader(last: str) -> None:
    """An earlier dead trick has no taker: its pile goes to whoever wins the next one."""
    assert ([None, 0], [2, 0, 0]) == takers(["4H AD", "4H 3D", "5S 2D"], "4H 4H 5S AD 3D 2D", dead_last=last)
    assert ([2, 0], [0, 0, 3]) == takers(["4H AD", "4H 3D", "5H 2D"], "4H 4H 5H 2D AD 3D", dead_last=last)


@pytest.mark.parametrize("last", ["nobody", "leader"])
def test_a_last_trick_with_a_winner_goes_to_it(last: str) -> None:
    """The rule for a dead last trick takes nothing from who wins a live one."""
    assert ([0, 1], [0, 1, 0]) == takers(["9C 2D", "3C 3D", "4C 5H"], "9C 3C 4C 2D 3D 5H", dead_last=last)


@pytest.mark.parametrize(("last", "points"), [("nobody", [0, 0, 0]), ("leader", [4, 0, 0])])
def test_dead_to_the_end(last: str, points: list[int]) -> None:
    """Where every trick was dead the whole pile goes with the last: to nobody, or to who led them all."""
    hands = ["4H 9H", "4H 9H", "5S 6S"]
    taken: list[int | None] = [None, 0 if last == "leader" else None]
    assert (taken, points) == takers(hands, "4H 4H 5S 9H 9H 6S", dead_last=last)


@pytest.mark.parametrize(("to", "points"), [("first", [0, 14, 0]), ("last", [13, 1, 0])])
def test_the_kitty_of_a_hand_with_one_dead_trick(to: str, points: list[int]) -> None:
    """With the first trick it waits in the pile of a dead one; with the last it goes to that one's winner."""
    hands = ["4C 2D AS", "4C 3D 2S", "5S 2H 3S"]
    taken: list[int | None] = [None, 1, 0]
    assert taken == takers(hands, "4C 4C 5S 2D 3D 2H 2S 3S AS", "QS", kitty_to=to)[0]
    assert points == takers(hands, "4C 4C 5S 2D 3D 2H 2S 3S AS", "QS", kitty_to=to)[1]
