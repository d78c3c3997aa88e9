"""The bot line protocol ``hearts-bot/1`` as a bot is told it: a seat's views turned into lines.

`domain.bots.lines` is the other side; ``tests/domain/test_bots_lines.py`` holds the two together.
"""

from __future__ import annotations

from typing import Final

import msgspec

from domain.cards import NAMES, Card, Mask, Seat, add_masks, cards_of, format_mask, mask_of, subtract_masks
from domain.ruleset import RuleSet
from domain.view import View

_ASKED: Final = {"pass": "pass?", "play": "move?", "moon": "moon?"}


def rules_line(rules: RuleSet) -> str:
    """The line of a rule set."""
    return f"rules {msgspec.json.encode(rules).decode()}"


def question(seen: View) -> str:
    """What the seat that sees ``seen``, and must act, is asked."""
    return _ASKED[seen.phase]


def hand_lines(seen: View) -> list[str]:
    """Everything that a seat knows of the hand in play, in the order in which it came to know it."""
    own, me = seen.own, seen.seat
    assert own is not None
    assert me is not None
    plays = _play_lines(seen)
    mine = add_masks(own.hand, mask_of(_played_by(seen, me)))
    dealt = add_masks(subtract_masks(mine, own.received), own.given) if own.received else mine
    lines = [
        f"hand {seen.hand_number} {me} {seen.pass_offset} {format_mask(dealt)}",
        f"totals {' '.join(map(str, seen.totals))}",
    ]
    if own.received:
        lines.append(f"passed {_names(own.given)} received {_names(own.received)}")
    return lines + plays


class Teller:
    """Remembers what a bot has been told of a hand, and finds what it must be told next.

    Views may come of several seats and tables in any order: where the lines told so far are not the beginning of what
    the next view shows, the hand is told anew.
    """

    def __init__(self) -> None:
        self._told: list[str] = []

    def next_lines(self, seen: View) -> list[str]:
        """The lines that lead from what has been told to ``seen``; they count as told."""
        known, lines = self._told, hand_lines(seen)
        self._told = lines
        return lines[len(known) :] if lines[: len(known)] == known else lines

    def forget(self) -> None:
        """Begin anew, with a bot that has heard nothing."""
        self._told = []


def _play_lines(seen: View) -> list[str]:
    lines = []
    for leader, cards, taker in seen.history:
        lines += _trick_lines(seen, leader, cards)
        lines.append("trick -" if taker is None else f"trick {taker}")
    return lines + _trick_lines(seen, seen.leader, seen.trick)


def _trick_lines(seen: View, leader: Seat, cards: tuple[Card, ...]) -> list[str]:
    seats = seen.rules.players
    return [f"play {(leader + step) % seats} {NAMES[card]}" for step, card in enumerate(cards)]


def _played_by(seen: View, seat: Seat) -> list[Card]:
    seats = seen.rules.players
    tricks = [*((leader, cards) for leader, cards, _ in seen.history), (seen.leader, seen.trick)]
    return [
        card for leader, cards in tricks for step, card in enumerate(cards) if (leader + step) % seats == seat
    ]


def _names(cards: Mask) -> str:
    return " ".join(NAMES[card] for card in cards_of(cards))
