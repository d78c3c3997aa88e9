"""Counting continuations: how many ways a hand may go on for so many plays, as chess programs count with perft.

Run ``python -m tests.support.perft`` to count again; it writes `FILE` for all published variants and seats.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec

from domain.cards import NAMES, cards_of, distinct_cards, format_cards, mask_of, parse_card, parse_cards
from domain.rules import find_opener, kitty_in_trick, legal_plays, trick_taker
from domain.ruleset import Terms, terms_of
from domain.state import HandState
from domain.variants import VARIANTS, ruleset_of
from tests.support.referee import RefereeHand

FILE: Final = Path(__file__).parents[1] / "conformance" / "perft.ndjson"
MOST: Final = 20_000
"""Continuations after which no deeper level is counted."""


class Position(msgspec.Struct):
    """A hand at some point of its play, and how many continuations of 1, 2, ... plays it has."""

    name: str
    variant: str
    players: int
    hand: int
    deal: list[str]
    kitty: str
    passes: list[str] | None
    plays: list[str]
    counts: list[int]

    def rules(self) -> dict[str, Any]:
        """The rule set by value."""
        whole: dict[str, Any] = msgspec.to_builtins(
            ruleset_of({"variant": self.variant, "players": self.players})
        )
        return whole


def positions() -> list[Position]:
    """The counted positions."""
    decode = msgspec.json.Decoder(Position).decode
    return [decode(line) for line in FILE.read_bytes().splitlines()]


# --- the house


def replayed(position: Position) -> tuple[Terms, HandState]:
    """The hand as `domain` has it."""
    terms = terms_of(ruleset_of({"variant": position.variant, "players": position.players}))
    hand = HandState(
        position.hand,
        terms.pass_offset(position.hand),
        (position.hand - 1) % terms.players,
        [mask_of(parse_cards(text)) for text in position.deal],
        mask_of(parse_cards(position.kitty)),
    )
    if position.passes is not None:
        hand.passes = [mask_of(parse_cards(text)) for text in position.passes]
        hand.exchange()
    hand.lead_with(*find_opener(terms, hand))
    for name in position.plays:
        lay(terms, hand, parse_card(name))
    return terms, hand


def lay(terms: Terms, hand: HandState, card: int) -> None:
    """Play a card, and end the trick where it is full."""
    hand.lay(card, terms.breakers)
    if hand.turn < 0:
        extra = cards_of(hand.kitty) if kitty_in_trick(terms, hand) else []
        hand.take(trick_taker(terms, hand), terms, extra)


def count(terms: Terms, hand: HandState, depth: int) -> int:
    """Continuations of ``depth`` plays; twin cards are one."""
    if hand.turn < 0:
        return 0
    cards = distinct_cards(legal_plays(terms, hand))
    if depth == 1:
        return len(cards)
    total = 0
    for card in cards:
        after = hand.copy()
        lay(terms, after, card)
        total += count(terms, after, depth - 1)
    return total


# --- the referee


def refereed(position: Position) -> RefereeHand:
    """The hand as the referee has it."""
    deal = [text.split() for text in position.deal]
    hand = RefereeHand(position.rules(), position.hand, deal, position.kitty.split())
    if position.passes is not None:
        hand.exchange([text.split() for text in position.passes])
    hand.open()
    for name in position.plays:
        hand.play(name)
    return hand


def count_refereed(position: Position, plays: tuple[str, ...], depth: int) -> int:
    """As `count`, by replaying every line from the deal."""
    hand = refereed(msgspec.structs.replace(position, plays=[*position.plays, *plays]))
    if hand.turn is None:
        return 0
    cards = [card for card in sorted(set(hand.hands[hand.turn])) if hand.judge(card) is None]
    if depth == 1:
        return len(cards)
    return sum(count_refereed(position, (*plays, card), depth - 1) for card in cards)


# --- writing


def _count_all(position: Position) -> Position:
    terms, hand = replayed(position)
    left = terms.hand * terms.players - len(position.plays)
    counts: list[int] = []
    while len(counts) < min(left, 12) and (not counts or counts[-1] * 4 < MOST):
        counts.append(count(terms, hand, len(counts) + 1))
    return msgspec.structs.replace(position, counts=counts)


def _deal(variant: str, players: int, number: int, rng: Random) -> Position:
    terms = terms_of(ruleset_of({"variant": variant, "players": players}))
    deck = [NAMES[card] for card in terms.deck]
    rng.shuffle(deck)
    hands = [deck[seat : terms.hand * players : players] for seat in range(players)]
    kitty = deck[terms.hand * players :]
    passes = None
    if terms.pass_offset(number):
        passes = [" ".join(hand[: terms.rules.pass_count]) for hand in hands]
    text = [format_cards(parse_cards(" ".join(hand))) for hand in hands]
    return Position(
        name="",
        variant=variant,
        players=players,
        hand=number,
        deal=text,
        kitty=format_cards(parse_cards(" ".join(kitty))),
        passes=passes,
        plays=[],
        counts=[],
    )


def _played(position: Position, plays: int, rng: Random) -> Position:
    terms, hand = replayed(position)
    played: list[str] = []
    for _ in range(plays):
        card = rng.choice(distinct_cards(legal_plays(terms, hand)))
        lay(terms, hand, card)
        played.append(NAMES[card])
    return msgspec.structs.replace(position, plays=played)


def main() -> None:
    """Write `FILE`: for each variant and number of seats the opening, the middle and the end of a hand."""
    lines = []
    for variant, published in VARIANTS.items():
        for players in published.seats:
            rng = Random(f"perft {variant} {players}")
            whole = terms_of(ruleset_of({"variant": variant, "players": players})).hand * players
            for number, (where, plays) in enumerate(
                (
                    ("opening", 0),
                    ("second trick", players),
                    ("middle", whole // 2),
                    ("end", whole - 2 * players),
                ),
                1,
            ):
                position = _played(_deal(variant, players, number, rng), plays, rng)
                position.name = f"{variant}-{players} {where}"
                lines.append(msgspec.json.encode(_count_all(position)))
    FILE.write_bytes(b"\n".join(lines) + b"\n")


if __name__ == "__main__":
    main()
