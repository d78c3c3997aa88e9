"""Claims judged the long way: every deal that a seat cannot rule out, and every legal play of the others.

Deals are ruled out by playing the hand again with them, so nothing here knows how `domain.claim` reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from random import Random
from typing import Any

import msgspec

from domain.cards import NAMES, Card, cards_of, contains, distinct_cards, mask_of
from domain.rules import find_opener, kitty_in_trick, legal_plays, trick_taker
from domain.ruleset import RuleSet, Terms
from domain.state import HandState, State
from domain.variants import VARIANTS, ruleset_of
from tests.support.games import hand_of

FAMILIES = sorted(VARIANTS)


ODD: dict[str, list[Any]] = {
    "decks": [1, 2],
    "kitty_to": ["first", "last"],
    "opener": ["forced", "left"],
    "opening_ban": [[], ["H"], ["H", "QS"], ["C", "D"]],
    "trick1_ban": [[], ["H", "QS"], ["S"], ["H", "S", "AC"]],
    "trick1_all_banned": ["any", "must_qs"],
    "breakers": [[], ["H"], ["H", "QS"], ["QS"], ["C"]],
    "qs_hearts_lead": ["qs", "any"],
    "cancel": [True, True, False],
    "dead_trick": ["no_live_card", "two_pairs"],
    "dead_last": ["nobody", "leader"],
}
"""Values of every knob that says who may play what, and who takes it."""


def small_family(family: str, rng: Random, *, odd: bool = False) -> RuleSet:
    """The rules of a published variant for three or four seats and a small deck, often with twins and a kitty.

    With ``odd`` every knob that matters to a claim is drawn at random.
    """
    variant = VARIANTS[family]
    rules: dict[str, Any] = msgspec.to_builtins(
        ruleset_of({"variant": family, "players": min(variant.seats)})
    )
    if odd:
        rules |= {key: rng.choice(values) for key, values in ODD.items()}
    players = rng.choice([3, 3, 4])
    hand = rng.randint(2, 4 if players == 3 else 2)
    kitty = rng.choice([0, 0, 1]) if players == 3 or hand < 3 else 0
    decks = rules["decks"]
    # of few suits and, in two decks, few ranks, so that it comes down to who holds what
    suits = rng.sample(range(4), rng.randint(2, 4))
    pool = [13 * suit + rank for suit in suits for rank in range(rng.randint(0, 8), 13)] * decks
    while len(pool) < players * hand + kitty:
        pool = list(range(52)) * decks
    kept = Counter(rng.sample(pool, players * hand + kitty))
    removed = sorted((Counter(list(range(52)) * decks) - kept).elements())
    rules |= {
        "variant": "custom",
        "players": players,
        "hand": hand,
        "removed": " ".join(NAMES[card] for card in removed),
        "pass_count": rng.choice([0, 1]),
        "pass_cycle": [rng.choice([1, -1])],
        "hand_limit": 1,
    }
    if "sun_from" in rules:
        rules["sun_from"] = 1
    if "partners" in rules:
        rules["partners"] = "none"
    return ruleset_of(rules)


def played_by(hand: HandState) -> list[list[Card]]:
    """The cards that each seat has played."""
    found: list[list[Card]] = [[] for _ in hand.held]
    for leader, cards in tricks_of(hand):
        for place, card in enumerate(cards):
            found[(leader + place) % len(found)].append(card)
    return found


def tricks_of(hand: HandState) -> list[tuple[int, tuple[Card, ...]]]:
    """The tricks so far, that on the table last."""
    table = [(hand.leader, tuple(hand.trick))] if hand.trick else []
    return [(leader, cards) for leader, cards, _ in hand.history] + table


def worlds(state: State, me: int, rng: Random) -> Iterator[HandState]:
    """The hand in play with every spread of the cards unseen by ``me`` that it cannot rule out, in random order."""
    hand = hand_of(state)
    others = [seat for seat in range(len(hand.held)) if seat != me]
    rng.shuffle(others)
    played = played_by(hand)
    pool = Counter(card for seat in others for card in cards_of(hand.held[seat]))
    pool.update(cards_of(hand.kitty))
    given = hand.passes[me] or 0
    receiver = (me + hand.offset) % len(hand.held)

    def spread(rest: Counter[Card], seats: Sequence[int], held: dict[int, list[Card]]) -> Iterator[HandState]:
        if not seats:
            yield from replayed(state.terms, hand, [*_hands(held, played)], mask_of(rest.elements()))
            return
        seat, count = seats[0], hand.held[seats[0]].bit_count()
        choices = sorted(set(combinations(sorted(rest.elements()), count)))
        rng.shuffle(choices)
        for cards in choices:
            if seat == receiver and not contains(mask_of([*cards, *played[seat]]), given):
                continue
            yield from spread(rest - Counter(cards), seats[1:], held | {seat: list(cards)})

    yield from spread(pool, others, {me: cards_of(hand.held[me])})


def _hands(held: dict[int, list[Card]], played: list[list[Card]]) -> list[int]:
    return [mask_of([*held[seat], *cards]) for seat, cards in enumerate(played)]


def replayed(terms: Terms, hand: HandState, whole: list[int], kitty: int) -> Iterator[HandState]:
    """The hand played again from the hands ``whole`` after the pass; nothing where a play would not have been legal."""
    twin = HandState(hand.number, 0, hand.opener, whole, kitty)
    twin.lead_with(*find_opener(terms, twin))
    for leader, cards in tricks_of(hand):
        if twin.turn != leader:
            return
        for card in cards:
            if not legal_plays(terms, twin) >> card & 1:
                return
            lay(terms, twin, card)
    if (twin.turn, twin.forced) == (hand.turn, hand.forced):
        yield twin


def another_world(state: State, me: int, rng: Random) -> HandState:
    """A spread of the cards unseen by ``me``, far from the real one, that it cannot rule out: cards change places."""
    hand = hand_of(state)
    played = [*played_by(hand), []]
    places = [cards_of(mask) for mask in [*hand.held, hand.kitty]]
    given, receiver = hand.passes[me] or 0, (me + hand.offset) % len(hand.held)
    unseen = [(at, n) for at, cards in enumerate(places) if at != me for n in range(len(cards))]
    found = hand.copy()
    for _ in range(30 if len(unseen) > 1 else 0):
        (a, i), (b, j) = rng.sample(unseen, 2)
        places[a][i], places[b][j] = places[b][j], places[a][i]
        whole = [mask_of([*cards, *laid]) for cards, laid in zip(places, played, strict=True)]
        kept = hand.offset == 0 or contains(whole[receiver], given)
        worlds_ = list(replayed(state.terms, hand, whole[:-1], whole[-1])) if kept else []
        if worlds_:
            found = worlds_[0]
        else:
            places[a][i], places[b][j] = places[b][j], places[a][i]
    return found


def lay(terms: Terms, hand: HandState, card: Card) -> int | None:
    """Play ``card``; of a trick that it ends, who takes it (-1: it goes on)."""
    hand.lay(card, terms.breakers)
    if hand.turn >= 0:
        return -1
    taker = trick_taker(terms, hand)
    hand.take(taker, terms, cards_of(hand.kitty) if kitty_in_trick(terms, hand) else [])
    return taker


def can_fail(terms: Terms, hand: HandState, me: int, order: Sequence[Card]) -> bool:
    """Whether the others can play so that ``me``, playing ``order``, misses a trick or may not play a card of it."""
    if hand.turn < 0:
        return False
    legal = distinct_cards(legal_plays(terms, hand))
    mine = hand.turn == me
    if mine and order[0] not in legal:
        return True
    for card in order[:1] if mine else legal:
        after = hand.copy()
        taker = lay(terms, after, card)
        if taker not in (-1, me) or can_fail(terms, after, me, order[1:] if mine else order):
            return True
    return False


def holds_always(state: State, me: int, order: Sequence[Card], rng: Random) -> bool:
    """Whether ``order`` takes every trick in all worlds, however the others play."""
    return not any(can_fail(state.terms, world, me, order) for world in worlds(state, me, rng))


def is_certain(state: State, me: int, rng: Random) -> bool:
    """Whether some order of the cards of ``me`` does."""
    orders = {*permutations(cards_of(hand_of(state).held[me]))}
    for world in worlds(state, me, rng):
        orders = {order for order in orders if not can_fail(state.terms, world, me, order)}
        if not orders:
            return False
    return True
