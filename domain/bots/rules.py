"""The rule-based bot: a sound player for every family and number of seats, quick and without playouts.

It plays the card after which the trick on the table and the hand that is left are likely to cost least. It ducks,
sheds what is dear, keeps what guards it, catches bonus cards, stops a moon and shoots one where the odds are good.
"""

from __future__ import annotations

from domain.bots.knowledge import HIGHER, LOWER, SUIT_CARDS, Knowledge, expected_worst, none_of, stays
from domain.bots.moonrun import best_live, moon_costs
from domain.bots.outlook import Outlook, add_up
from domain.cards import SUIT_OF, Card, Seat, distinct_cards, drop_card
from domain.events import Choice
from domain.rules import add_points, game_end
from domain.ruleset import terms_of
from domain.view import View

GIVE = 0.1
"""How much it is worth that points go to another seat."""
FEED = 0.3
"""How much of a feared moon is feared more when its shooter is given another penalty card."""
FLUSH = 0.08
"""How much it is worth to lead below a dear card that is still out."""


def rules_policy(seen: View, seed: bytes, _playouts: int) -> tuple[Card, ...] | Card | Choice:
    """Pass, play or choose; ``seed`` only breaks ties, playouts are not used."""
    own = seen.own
    assert own is not None
    if seen.phase == "moon":
        return choose_moon(seen)
    if seen.phase == "pass":
        return choose_pass(Outlook(Knowledge(seen)), seed)
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
    terms = terms_of(seen.rules)
    me, moon_x = seen.seat, seen.rules.moon_x
    assert me is not None

    def worth(choice: Choice) -> tuple[int, int]:
        points = [moon_x if choice == "add" and seat != me else 0 for seat in range(terms.players)]
        if choice == "subtract":
            points[me] = -moon_x
        totals = add_points(terms, seen.totals, points)
        end = game_end(terms, totals, points, seen.hand_number)
        won = 0 if end is None else 1 if me in end.winners else -1
        return won, min(total for seat, total in enumerate(totals) if seat != me) - totals[me]

    return "subtract" if worth("subtract") > worth("add") else "add"


def choose_pass(look: Outlook, seed: bytes) -> tuple[Card, ...]:
    """The cards without which the hand is likely to cost least, one after the other."""
    hand = look.knowledge.hand
    picked: list[Card] = []
    for _ in range(look.knowledge.seen.rules.pass_count):
        suits = [look.suit(suit, hand) for suit in range(4)]
        costs = []
        for card in distinct_cards(hand):
            suit = SUIT_OF[card]
            rest = [*suits[:suit], look.suit(suit, drop_card(hand, card)), *suits[suit + 1 :]]
            costs.append((add_up(rest).cost, card))
        picked.append(_cheapest(costs, seed))
        hand = drop_card(hand, picked[-1])
    return tuple(picked)


def _play_costs(look: Outlook) -> list[tuple[float, Card]]:
    """What each legal card is likely to cost in this trick and after it."""
    knowledge = look.knowledge
    own = knowledge.seen.own
    assert own is not None
    values, trick = knowledge.facts.values, knowledge.seen.trick
    cancel = knowledge.facts.terms.rules.cancel
    on_table = [values[card] for card in (*trick, *knowledge.pile)]
    table = _kitty_points(look) + sum(on_table)
    dirty = any(value > 0 for value in on_table)
    best = best_live(trick, cancel=cancel) if trick else -1
    winner = (knowledge.seen.leader + trick.index(best)) % look.players if best >= 0 else -1
    costs = []
    for card in distinct_cards(own.legal):
        under = bool(trick) and (
            SUIT_OF[card] != SUIT_OF[trick[0]] or card < best or (cancel and (card == best or card in trick))
        )
        if under:
            costs.append((_losing_cost(look, card, winner, dirty=dirty), card))
        else:
            costs.append((_winning_cost(look, card, table, dirty=dirty), card))
    return costs


def _losing_cost(look: Outlook, card: Card, winner: Seat, *, dirty: bool) -> float:
    """The cost of a card that cannot win the trick, which ``winner`` (-1: nobody) holds so far."""
    after = look.without(card)
    value = look.knowledge.facts.values[card]
    cost = after.cost + after.stuck * after.entry - GIVE * value
    if look.threat and value > 0 and not dirty:
        if winner == look.shooter:
            cost += FEED * look.threat
        elif not look.knowledge.later:
            cost -= look.threat
    return cost


def _winning_cost(look: Outlook, card: Card, table: float, *, dirty: bool) -> float:
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
    chance = 1.0
    for _ in range(followers):
        chance *= stay
    below = facts.penalty & unseen & LOWER[card]
    follow = expected_worst(look.levels, below, none) if below else 0.0
    gap = none[total]
    extra = followers * ((1.0 - gap) * follow + gap * look.discard) + (later - followers) * look.discard
    points = table + value + extra
    if look.threat:
        points -= look.threat if dirty or value > 0 else look.threat * min(1.0, extra)
    cost = after.cost + after.stuck * (chance + (1.0 - chance) * after.entry)
    cost += chance * (points + look.lead) - (1.0 - chance) * GIVE * (table + value)
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
