"""The rule-based bot: a sound player for every family and number of seats, quick and without playouts.

It plays the card after which the trick on the table and the hand that is left are likely to cost least. It ducks,
sheds what is dear, keeps what guards it, catches bonus cards, stops a moon and shoots one where the odds are good.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Final

from domain.bots.knowledge import (
    HIGHER,
    LOWER,
    Knowledge,
    add_floats,
    expected_worst,
    facts_of,
    none_of,
    power,
    stays,
)
from domain.bots.moonrun import best_live, moon_costs
from domain.bots.outlook import Outlook
from domain.cards import (
    BITS,
    SUIT_CARDS,
    SUIT_OF,
    Card,
    Mask,
    Seat,
    Suit,
    both_copies,
    cards_of,
    distinct_cards,
)
from domain.events import Choice
from domain.rules import add_points, game_end, moon_points, trick_winner
from domain.view import View

GIVE: Final = 0.1
"""How much it is worth that points go to another seat."""
FEED: Final = 0.3
"""How much of a feared moon is feared more when its shooter is given another penalty card."""
FLUSH: Final = 0.12
"""How much it is worth to lead below a dear card that is still out."""


HEIGHT: Final = 3.0
PENALTY_HEIGHT: Final = 3.0
"""What keeping the highest card of a suit costs, and how much more where its cards have points."""
PENALTY_CARD: Final = -2.0
"""What keeping a penalty card costs by itself: low ones are the safest cards there are."""
SHORT: Final = (-4.5, -2.7, -1.1)
"""What keeping none, one or two cards of a suit costs: a void is worth having."""
KEPT_KILLER: Final = 0.7
GUARDED: Final = (1.0, 0.7, 0.47, 0.34, 0.3, 0.3)
"""What share of a killer's points its holder pays, and how much of that is left by other cards of the suit."""
OVER_KILLER: Final = 0.4
OVER_GUARD: Final = 0.2
"""What share of an unseen killer's points a card above it costs, and how much of that each card below it spares."""
KEEP_BONUS: Final = 0.8
OVER_BONUS: Final = 0.55
"""What share of a bonus is brought home by its own card, and caught by the highest card of its suit."""


def rules_policy(seen: View, seed: bytes, _playouts: int) -> tuple[Card, ...] | Card | Choice:
    """Pass, play or choose; ``seed`` only breaks ties, playouts are not used."""
    own = seen.own
    assert own is not None
    if seen.phase == "moon":
        return choose_moon(seen)
    if seen.phase == "pass":
        return choose_pass(Knowledge(seen))
    if not own.legal & (own.legal - 1):
        return own.legal.bit_length() - 1
    look = Outlook(Knowledge(seen))
    return _cheapest(moon_costs(look) or _play_costs(look), seed)


def _cheapest(costs: list[tuple[float, Card]], seed: bytes) -> Card:
    low = min(cost for cost, _ in costs)
    ties = [card for cost, card in costs if cost == low]
    return ties[seed[0] % len(ties)]


def choose_moon(seen: View) -> Choice:
    """The effect that leaves the shooter better off: a win before all, then the distance to the best other seat."""
    facts = facts_of(seen.rules)
    me = seen.seat
    assert me is not None
    bonus = _bonus_taken(seen)

    def worth(choice: Choice) -> tuple[int, int]:
        points = moon_points(facts.terms, bonus, me, choice)
        totals = add_points(facts.terms, seen.totals, points)
        end = game_end(facts.terms, totals, points, seen.hand_number)
        won = 0 if end is None else 1 if me in end.winners else -1
        return won, min(
            total for seat, total in enumerate(totals) if seat not in facts.terms.teams[me]
        ) - totals[me]

    return "subtract" if worth("subtract") > worth("add") else "add"


def _bonus_taken(seen: View) -> list[int]:
    """Negative points by seat once all tricks are played, when what is still unseen must be the kitty."""
    facts = facts_of(seen.rules)
    points = [0] * facts.terms.players
    if not facts.bonus:
        return points
    kitty_trick = 0 if seen.rules.kitty_to == "first" else facts.terms.hand - 1
    pile: list[Card] = []
    for number, (_, cards, taker) in enumerate(seen.history):
        pile += cards
        if number == kitty_trick:
            pile += cards_of(Knowledge(seen).out)
        if taker is not None:
            points[taker] += sum(min(0, facts.values[card]) for card in pile)
            pile = []
    return points


def choose_pass(knowledge: Knowledge) -> tuple[Card, ...]:
    """The cards without which the hand is likely to cost least: the best of each suit, then the best together."""
    count = knowledge.seen.rules.pass_count
    plans: dict[int, tuple[float, tuple[Card, ...]]] = {0: (0.0, ())}
    for suit in range(4):
        options = _suit_passes(knowledge, suit, count)
        merged: dict[int, tuple[float, tuple[Card, ...]]] = {}
        for given, (cost, cards) in plans.items():
            for more, (suit_cost, suit_cards) in enumerate(options[: count - given + 1]):
                both = cost + suit_cost
                if given + more not in merged or both < merged[given + more][0]:
                    merged[given + more] = (both, cards + suit_cards)
        plans = merged
    return plans[count][1]


def _suit_passes(knowledge: Knowledge, suit: Suit, most: int) -> list[tuple[float, tuple[Card, ...]]]:
    """The best pass of none, one, two ... cards of a suit, each with what its other cards then cost."""
    facts = knowledge.facts
    cards = cards_of(knowledge.hand & SUIT_CARDS[suit])
    weights = [_keep_cost(knowledge, card) for card in cards]
    every = range(len(cards))
    options = []
    for count in range(min(most, len(cards)) + 1):
        best, picked = 0.0, None
        choices: Iterable[tuple[int, ...]] = combinations(every, count)
        if not facts.killers & SUIT_CARDS[suit]:
            choices = [tuple(sorted(every, key=weights.__getitem__, reverse=True)[:count])]
        for gone in choices:
            kept = [at for at in every if at not in gone]
            cost = add_floats([weights[at] for at in kept]) + _killer_cost(
                knowledge, [cards[at] for at in kept]
            )
            if picked is None or cost < best:
                best, picked = cost, gone
        left = len(cards) - count
        short = SHORT[left] * facts.scale if left < len(SHORT) else 0.0
        options.append((best + short, tuple(cards[at] for at in picked or ())))
    return options


def _keep_cost(knowledge: Knowledge, card: Card) -> float:
    """What keeping ``card`` costs by itself, killers apart, in points."""
    facts, suit = knowledge.facts, SUIT_OF[card]
    unseen = knowledge.out & SUIT_CARDS[suit]
    higher = (unseen & HIGHER[card]).bit_count()
    cost = 0.0
    if not facts.killers & BITS[card]:
        height = (unseen & LOWER[card]).bit_count() / max(1, unseen.bit_count())
        price = facts.plain[suit]
        cost = facts.scale * (PENALTY_CARD * price + height * (HEIGHT + PENALTY_HEIGHT * price))
    if facts.values[card] < 0:
        cost += KEEP_BONUS * facts.values[card] / (1 + higher)
    if caught := facts.bonus & unseen & LOWER[card]:
        cost += OVER_BONUS * min(facts.values[one] for one in cards_of(caught)) / (1 + higher)
    return cost


def _killer_cost(knowledge: Knowledge, kept: list[Card]) -> float:
    """What the cards ``kept`` of a suit cost because of its killers, ours and unseen, in points."""
    facts = knowledge.facts
    own = [card for card in kept if facts.killers & BITS[card]]
    if own:
        left = GUARDED[min(len(kept), len(GUARDED)) - 1]
        return KEPT_KILLER * left * sum([facts.values[card] for card in own])
    cost = 0.0
    for card in kept:
        for killer in distinct_cards(facts.killers & knowledge.out & LOWER[card]):
            copies = (knowledge.out & both_copies(BITS[killer])).bit_count()
            guards = sum([one < killer for one in kept])
            share = OVER_KILLER * max(0.0, 1.0 - OVER_GUARD * guards) * (0.5 + 0.5 * copies)
            cost += share * facts.values[killer]
    return cost


def _play_costs(look: Outlook) -> list[tuple[float, Card]]:
    """What each legal card is likely to cost in this trick and after it."""
    knowledge = look.knowledge
    own = knowledge.seen.own
    assert own is not None
    values, trick = knowledge.facts.values, knowledge.seen.trick
    on_table = [values[card] for card in (*trick, *knowledge.pile)]
    table = _kitty_points(look) + sum(on_table)
    dirty = any(value > 0 for value in on_table)
    best = best_live(trick, cancel=knowledge.facts.terms.rules.cancel) if trick else -1
    winner = (knowledge.seen.leader + trick.index(best)) % look.players if best >= 0 else -1
    give = _give(knowledge, winner)
    visible = knowledge.out
    for card in trick:
        visible |= BITS[card]
    costs: list[tuple[float, Card]] = []
    last, cost = -1, 0.0
    for card in distinct_cards(own.legal):
        if not _touching(last, card, visible) or values[last] != values[card]:
            if _can_win(knowledge, card, best):
                cost = _winning_cost(look, card, table, give, dirty=dirty)
            else:
                cost = _losing_cost(look, card, winner, give, dirty=dirty)
        costs.append((cost, card))
        last = card
    if trick and knowledge.later:
        return [pair for pair in costs if not _catches_killer(knowledge, pair[1], best)] or costs
    return costs


def _catches_killer(knowledge: Knowledge, card: Card, best: Card) -> bool:
    """Whether a later seat could drop a killer under ``card``: a thing not to be done while another card is legal."""
    if not _can_win(knowledge, card, best) or not knowledge.later & ~knowledge.voids[SUIT_OF[card]]:
        return False
    return bool(knowledge.facts.killers & knowledge.out & LOWER[card])


def _touching(lower: Card, higher: Card, visible: Mask) -> bool:
    """Whether no card that is ``visible`` elsewhere stands between two cards of a hand, so that they are equals."""
    if lower < 0 or SUIT_OF[lower] != SUIT_OF[higher]:
        return False
    return not SUIT_CARDS[SUIT_OF[higher]] & ~HIGHER[higher] & ~LOWER[lower] & visible


def _can_win(knowledge: Knowledge, card: Card, best: Card) -> bool:
    """Whether ``card`` may win the trick, ``best`` (-1: none) being its winning card so far; exact for the last."""
    terms, seen = knowledge.facts.terms, knowledge.seen
    if not seen.trick:
        return True
    if SUIT_OF[card] != SUIT_OF[seen.trick[0]]:
        return False
    if not terms.rules.cancel:
        return card >= best
    if not knowledge.later:
        return trick_winner(terms, seen.leader, (*seen.trick, card)) == knowledge.me
    return card > best and card not in seen.trick


def _give(knowledge: Knowledge, winner: Seat) -> float:
    """How much a point to ``winner`` (-1: nobody yet) is worth: more to who leads a game that is about to end."""
    totals, facts = knowledge.seen.totals, knowledge.facts
    if winner in facts.terms.teams[knowledge.me]:
        return -1.0  # a partner's points are our own
    if winner < 0 or max(totals) + facts.penalty_points < facts.terms.rules.target:
        return GIVE
    lowest = min(total for seat, total in enumerate(totals) if seat != knowledge.me)
    return 2.0 * GIVE if totals[winner] == lowest else 0.5 * GIVE


def _losing_cost(look: Outlook, card: Card, winner: Seat, give: float, *, dirty: bool) -> float:
    """The cost of a card that cannot win the trick, which ``winner`` (-1: nobody) holds so far."""
    after = look.without(card)
    value = look.knowledge.facts.values[card]
    cost = after.cost + after.stuck * after.entry - give * value
    if look.threat and value > 0 and not dirty:
        if winner in look.shooters:
            cost += FEED * look.threat
        elif not look.knowledge.later:
            cost -= look.threat
    return cost


def _winning_cost(look: Outlook, card: Card, table: float, give: float, *, dirty: bool) -> float:
    """The cost of a card that wins the trick unless a later seat goes over it; ``table`` are its points so far."""
    knowledge = look.knowledge
    facts, suit = knowledge.facts, SUIT_OF[card]
    after, value = look.without(card), facts.values[card]
    unseen = knowledge.out & SUIT_CARDS[suit]
    total, later = unseen.bit_count(), knowledge.later.bit_count()
    followers = (knowledge.later & ~knowledge.voids[suit]).bit_count() if total else 0
    shared = look.holders[suit] + look.extra or 1
    none = none_of(shared)
    stay = stays(shared)[(unseen & LOWER[card]).bit_count()][(unseen & HIGHER[card]).bit_count()]
    chance = power(stay, followers)
    below = facts.penalty & unseen & LOWER[card]
    follow = expected_worst(look.levels, below, none) if below else 0.0
    gap = none[total]
    extra = followers * ((1.0 - gap) * follow + gap * look.discard) + (later - followers) * look.discard
    points = table + value + extra
    if look.threat:
        points -= look.threat if dirty or value > 0 else look.threat * min(1.0, extra)
    cost = after.cost + after.stuck * (chance + (1.0 - chance) * after.entry)
    cost += chance * (points + look.lead) - (1.0 - chance) * give * (table + value)
    return cost if knowledge.seen.trick else cost - _flush_worth(look, card)


def _flush_worth(look: Outlook, card: Card) -> float:
    """What it is worth to lead ``card`` below a dear card of its suit, which may have to be played."""
    facts = look.knowledge.facts
    dear = facts.penalty & look.knowledge.out & HIGHER[card]
    if not dear:
        return 0.0
    worst = max(facts.values[one] for one in distinct_cards(dear | dear >> 52))
    return FLUSH * max(0.0, worst - look.unit)


def _kitty_points(look: Outlook) -> float:
    """Points that the kitty is likely to add to this trick."""
    knowledge = look.knowledge
    if not knowledge.facts.kitty:
        return 0.0
    first = knowledge.facts.terms.rules.kitty_to == "first"
    if knowledge.seen.history if first else knowledge.left != 1:
        return 0.0
    return look.rest * knowledge.facts.kitty / max(1, knowledge.out.bit_count())
