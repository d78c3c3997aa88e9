"""The bot that plays any legal card: a yardstick, and a source of positions nobody would think of."""

from __future__ import annotations

from domain.cards import Card, cards_of, distinct_cards
from domain.events import Choice
from domain.view import View


def random_policy(seen: View, seed: bytes, _playouts: int) -> tuple[Card, ...] | Card | Choice:
    """A uniform choice among what is legal; playouts are not used."""
    own = seen.own
    assert own is not None
    number = int.from_bytes(seed, "big")
    if seen.phase == "moon":
        return ("add", "subtract")[number % 2]
    if seen.phase == "pass":
        cards = cards_of(own.hand)
        picked = []
        for _ in range(seen.rules.pass_count):
            number, at = divmod(number, len(cards))
            picked.append(cards.pop(at))
        return tuple(picked)
    legal = distinct_cards(own.legal)
    return legal[number % len(legal)]
