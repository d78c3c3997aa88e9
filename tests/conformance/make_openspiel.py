"""Records random hands as OpenSpiel plays them, for `test_openspiel.py`: every legal set, every turn, the points.

OpenSpiel is large, so it is no dependency of the tests. Run ``python tests/conformance/make_openspiel.py`` in an
environment that has it (``pip install open_spiel==2.0.2``) to record again.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

FILE = Path(__file__).with_name("openspiel.ndjson.z")
ORDER = "CDSH"
RANKS = "23456789TJQKA"
DIRECTIONS = ("none", "left", "across", "right")
"""OpenSpiel's pass directions by number."""
HANDS = 40
"""Hands of each choice of flags."""
FLAGS: list[dict[str, bool]] = [
    {},
    {"qs_breaks_hearts": False},
    {"can_lead_hearts_instead_of_qs": True},
    {"no_pts_on_first_trick": False},
    {"must_break_hearts": False},
    {"jd_bonus": True},
    {"avoid_all_tricks_bonus": True},
    {"jd_bonus": True, "avoid_all_tricks_bonus": True, "pass_cards": False},
]


def card_list(cards: Sequence[str]) -> str:
    """Cards as a card list."""
    return " ".join(sorted(cards, key=lambda card: (ORDER.index(card[1]), RANKS.index(card[0]))))


def deal_order(rng: Random, strong: bool) -> list[str]:
    """A shuffled deck; a strong one gives every fourth card, that of one seat, from the top of the suits."""
    deck = [rank + suit for suit in ORDER for rank in RANKS]
    rng.shuffle(deck)
    if strong:
        high = [card for card in deck if card[0] in "AKQJ" and card[1] != "C"] + ["AC"]
        rest = [card for card in deck if card not in high]
        deck = []
        for at in range(52):
            deck.append(high.pop() if at % 4 == 0 and high else rest.pop())
    return deck


def play_hand(spiel: Any, flags: dict[str, bool], rng: Random) -> dict[str, Any]:
    """One hand, written down as it goes."""
    state = spiel.load_game("hearts", flags).new_initial_state()
    passing = flags.get("pass_cards", True)
    strong = rng.random() < 0.3
    direction = rng.randrange(4) if passing else 0
    if len(state.legal_actions()) <= len(DIRECTIONS):
        state.apply_action(direction)
    deal: list[list[str]] = [[], [], [], []]
    passes: list[list[str]] = [[], [], [], []]
    turns, legal, plays = [], [], []
    order = deal_order(rng, strong)
    for at, card in enumerate(order):
        names = {state.action_to_string(action): action for action in state.legal_actions()}
        deal[at % 4].append(card)
        state.apply_action(names[card])
    while not state.is_terminal():
        seat = state.current_player()
        names = {state.action_to_string(action): action for action in state.legal_actions()}
        if direction and sum(map(len, passes)) < 12:
            name = min(names, key=lambda one: RANKS.index(one[0])) if strong else rng.choice(sorted(names))
            passes[seat].append(name)
        else:
            high = strong and seat == 0
            best = sorted(names, key=lambda one: RANKS.index(one[0]))[-1 if high else 0]
            name = best if strong else rng.choice(sorted(names))
            turns.append(seat)
            legal.append(card_list(list(names)))
            plays.append(name)
        state.apply_action(names[name])
    return {
        "flags": flags,
        "direction": DIRECTIONS[direction],
        "deal": [card_list(hand) for hand in deal],
        "pass": [card_list(cards) for cards in passes] if direction else None,
        "turns": turns,
        "legal": legal,
        "plays": plays,
        "returns": [int(value) for value in state.returns()],
    }


def main() -> None:
    """Write `FILE`."""
    import pyspiel

    rng = Random("openspiel")
    hands = [play_hand(pyspiel, flags, rng) for flags in FLAGS for _ in range(HANDS)]
    lines = "".join(json.dumps(hand, separators=(",", ":")) + "\n" for hand in hands)
    FILE.write_bytes(zlib.compress(lines.encode(), 9))


if __name__ == "__main__":
    main()
