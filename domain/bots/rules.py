"""The rule-based bot (draft)."""

from __future__ import annotations

from domain.bots.knowledge import (
    HIGHER,
    LOWER,
    SUIT_CARDS,
    Knowledge,
    runs_out,
    expected_worst,
    none_of,
    stays,
    wins,
)
from domain.cards import BITS, FIRST_COPIES, SUIT_OF, Card, Mask, cards_of, distinct_cards, drop_card
from domain.events import Choice
from domain.view import View

P = dict(slope=0.5, base=0.1, lead=0.2, shed=0.6, give=0.1, stuck=0.2, twin=0.3, future=1.0, killer=0.7, catch=0.8, top=0.25, safe=0.35, regain=0.6, goloss=0.5, minp=0.05, moon=1)


def rules_policy(seen: View, seed: bytes, playouts: int) -> tuple[Card, ...] | Card | Choice:
    if seen.phase == "moon":
        return "add"
    own = seen.own
    if seen.phase == "pass":
        return choose_pass(Outlook(Knowledge(seen)), seed)
    if not own.legal & (own.legal - 1):
        return own.legal.bit_length() - 1
    look = Outlook(Knowledge(seen))
    shot = shoot(look)
    if shot:
        return cheapest(shot, seed)
    if not seen.trick:
        costs = lead_costs(look)
    else:
        costs = follow_costs(look)
    return cheapest(costs, seed)


def cheapest(costs, seed):
    low = min(c for c, _ in costs)
    ties = [card for c, card in costs if c == low]
    return ties[seed[0] % len(ties)]


class Outlook:
    def __init__(self, k: Knowledge) -> None:
        self.k = k
        self.n = k.facts.terms.players
        held = k.hand.bit_count()
        out = k.out
        self.extra = max(0, (out.bit_count() + held // 2) // held - (self.n - 1)) if held else 0
        self.levels = k.facts.levels
        self.none = none_of(self.n - 1 + self.extra)
        self.discard = expected_worst(self.levels, out, self.none)
        self.rest = sum(v * (out & m).bit_count() for v, m in self.levels)
        self.unit = self.rest / held if held else 0.0
        self.lead = P["lead"] * self.unit
        self.holders = [(k.others & ~v).bit_count() for v in k.voids]
        self.base = None

    def risks(self, suit: int, held: Mask):
        k, n = self.k, self.n
        mine = held & SUIT_CARDS[suit]
        count = mine.bit_count()
        unseen = k.out & SUIT_CARDS[suit]
        o = unseen.bit_count()
        holders = self.holders[suit] if o else 0
        values = k.facts.values
        if not holders:
            if not count:
                return [], 0.0
            return [
                P["stuck"] * (max(0, values[c]) + (n - 1) * self.discard + self.lead) for c in cards_of(mine)
            ], 0.0
        rounds = (o + count) / n
        spare = rounds - count if rounds > count else 0.0
        if not count:
            return [], spare
        eff = holders + self.extra
        none = none_of(eff)
        win = wins(eff, holders)
        heavy = k.facts.penalty & unseen
        bonus = k.facts.bonus & unseen
        strangers = (n - 1 - holders) * self.discard
        result = []
        slope, base = P["slope"], P["base"]
        lead = self.lead
        for g, card in enumerate(distinct_cards(mine) if mine <= FIRST_COPIES else cards_of(mine)):
            low = (unseen & LOWER[card]).bit_count()
            high = (unseen & HIGHER[card]).bit_count()
            reach = base + slope * (rounds - g)
            value = values[card]
            risk = 0.0
            if reach > 0.0:
                if reach > 1.0:
                    reach = 1.0
                gap = none[o - g * holders] if o > g * holders else 1.0
                below = heavy & LOWER[card]
                follow = expected_worst(self.levels, below, none) * P["killer"] if below else 0.0
                points = strangers + holders * ((1.0 - gap) * follow + gap * self.discard) + lead
                if value > 0:
                    points += value
                risk = reach * win[low][high] * points
            if value < 0:
                risk += value * P["catch"] / (1 + high)
            if bonus & LOWER[card]:
                worst = min(values[c] for c in distinct_cards(bonus & LOWER[card] & FIRST_COPIES))
                risk += worst * P["top"] / (1 + high) / (count - g)
            result.append(risk)
        return result, spare

    def prepare(self):
        self.base = [self.risks(s, self.k.hand) for s in range(4)]

    def future(self, card: Card) -> float:
        """Cost of hand less card"""
        suit = SUIT_OF[card]
        risks, spare = self.risks(suit, drop_card(self.k.hand, card))
        risks = risks[:]
        for s in range(4):
            if s != suit:
                risks += self.base[s][0]
                spare += self.base[s][1]
        return total(risks, spare)


def total(risks, spare):
    cost = sum(risks)
    if spare > 0.0:
        risks.sort(reverse=True)
        shed = P["shed"]
        for risk in risks:
            if risk <= 0.0:
                break
            if spare < 1.0:
                cost -= shed * spare * risk
                break
            cost -= shed * risk
            spare -= 1.0
    return cost


def choose_pass(look, seed):
    k = look.k
    hand = k.hand
    picked = []
    for _ in range(k.seen.rules.pass_count):
        base = [look.risks(s, hand) for s in range(4)]
        costs = []
        for card in distinct_cards(hand):
            suit = SUIT_OF[card]
            risks, spare = look.risks(suit, drop_card(hand, card))
            risks = risks[:]
            for s in range(4):
                if s != suit:
                    risks += base[s][0]
                    spare += base[s][1]
            costs.append((total(risks, spare), card))
        card = cheapest(costs, seed)
        picked.append(card)
        hand = drop_card(hand, card)
    return tuple(picked)


def kitty_points(look):
    k = look.k
    if not k.facts.kitty:
        return 0.0
    first = k.facts.terms.rules.kitty_to == "first"
    if (first and not k.seen.history) or (not first and k.left == 1):
        return look.rest * k.facts.kitty / max(1, k.out.bit_count())
    return 0.0


def later_points(look, suit, card, none, gap, followers, voids):
    k = look.k
    below = k.facts.penalty & k.out & LOWER[card]
    follow = expected_worst(look.levels, below, none) if below else 0.0
    return followers * ((1.0 - gap) * follow + gap * look.discard) + voids * look.discard


def lead_costs(look):
    k, n = look.k, look.n
    look.prepare()
    values = k.facts.values
    table = sum(values[c] for c in k.pile) + kitty_points(look)
    costs = []
    for card in distinct_cards(k.seen.own.legal):
        suit = SUIT_OF[card]
        unseen = k.out & SUIT_CARDS[suit]
        o = unseen.bit_count()
        holders = look.holders[suit] if o else 0
        eff = max(1, holders + look.extra)
        none = none_of(eff)
        low = (unseen & LOWER[card]).bit_count()
        high = (unseen & HIGHER[card]).bit_count()
        chance = wins(eff, holders)[low][high]
        points = (
            table + values[card] + later_points(look, suit, card, none, none[o], holders, n - 1 - holders)
        )
        costs.append((chance * (points + look.lead) + P["future"] * look.future(card), card))
    return costs


def best_live(trick, cancel):
    suit = SUIT_OF[trick[0]]
    if not cancel:
        return max(c for c in trick if SUIT_OF[c] == suit)
    live = [c for c in trick if SUIT_OF[c] == suit and trick.count(c) == 1]
    return max(live) if live else -1


def follow_costs(look):
    k, n = look.k, look.n
    seen = k.seen
    look.prepare()
    values = k.facts.values
    trick = seen.trick
    suit = SUIT_OF[trick[0]]
    cancel = k.facts.terms.rules.cancel
    best = best_live(trick, cancel)
    table = sum(values[c] for c in trick) + sum(values[c] for c in k.pile) + kitty_points(look)
    unseen = k.out & SUIT_CARDS[suit]
    o = unseen.bit_count()
    later = k.later.bit_count()
    followers = (k.later & ~k.voids[suit]).bit_count() if o else 0
    eff = max(1, look.holders[suit] + look.extra)
    none = none_of(eff)
    stay = stays(eff)
    costs = []
    for card in distinct_cards(seen.own.legal):
        cost = P["future"] * look.future(card)
        value = values[card]
        if (
            SUIT_OF[card] == suit
            and (card > best or (card == best and not cancel))
            and not (cancel and card in trick)
        ):
            low = (unseen & LOWER[card]).bit_count()
            high = (unseen & HIGHER[card]).bit_count()
            s = stay[low][high]
            chance = 1.0
            for _ in range(followers):
                chance *= s
            points = (
                table + value + later_points(look, suit, card, none, none[o], followers, later - followers)
            )
            cost += chance * (points + look.lead)
            cost -= (1.0 - chance) * P["give"] * (table + value)
        else:
            cost -= P["give"] * (value)
        costs.append((cost, card))
    return costs


def sweep(look, held):
    """Chance to win all penalty cards with held"""
    k, n = look.k, look.n
    penalty = k.facts.penalty
    chance = 1.0
    for suit in range(4):
        mine = held & SUIT_CARDS[suit]
        if not mine:
            continue
        unseen = k.out & SUIT_CARDS[suit]
        o = unseen.bit_count()
        holders = look.holders[suit]
        if not o or not holders:
            continue
        eff = holders + look.extra
        table = runs_out(eff)
        none = none_of(eff)
        cards = cards_of(mine)
        lowest = 1.0
        for i, card in enumerate(reversed(cards)):
            high = (unseen & HIGHER[card]).bit_count()
            if not high:
                continue
            p = table[i][o]
            if high > 1:
                p *= p
            if p < 1.0:
                if not BITS[card] & penalty:
                    p += (1.0 - p) * P["safe"] * (1.0 - none[o])
                    chance *= p
                elif p < lowest:
                    chance *= p / lowest
                    lowest = p
        if chance < P["minp"]:
            return 0.0
    return chance


def shoot(look):
    k, n = look.k, look.n
    if not P["moon"] or not k.facts.moon or not k.out & k.facts.penalty and not k.hand & k.facts.penalty:
        return None
    me = k.me
    if k.taken[me] != sum(k.taken):
        return None
    seen = k.seen
    if sweep(look, k.hand) < P["minp"] / 2:
        return None
    facts = k.facts
    values = facts.values
    x = facts.terms.rules.moon_x
    trick = seen.trick
    penalty = facts.penalty
    dirty = any(values[c] > 0 for c in trick) or any(values[c] > 0 for c in k.pile)
    if trick:
        suit = SUIT_OF[trick[0]]
        cancel = facts.terms.rules.cancel
        best = best_live(trick, cancel)
    result = []
    later = k.later
    regain = P["regain"]
    for card in distinct_cards(seen.own.legal):
        if trick and SUIT_OF[card] != suit:
            win = 0.0
            harmless = 0.0 if dirty or values[card] > 0 else 0.7
        else:
            s = SUIT_OF[card]
            unseen = k.out & SUIT_CARDS[s]
            o = unseen.bit_count()
            followers = (later & ~k.voids[s]).bit_count() if o else 0
            strangers = later.bit_count() - followers
            eff = max(1, look.holders[s] + look.extra)
            none = none_of(eff)
            if trick and (card < best or cancel and card in trick):
                win = 0.0
            else:
                one = none[(unseen & HIGHER[card]).bit_count()]
                win = 1.0
                for _ in range(followers):
                    win *= one
            harmless = 0.0
            if not dirty and values[card] <= 0 and not strangers:
                harmless = 1.0
                for _ in range(followers):
                    harmless *= 1.0 - none[o]
        through = win + (1.0 - win) * harmless * regain
        result.append((-through * sweep(look, drop_card(k.hand, card)) if through else 0.0, card))
    p = -min(result)[0]
    mine = k.points[me]
    rest = facts.penalty_points - mine
    if p * (x + mine + rest / n) > (1 - p) * P["goloss"] * rest:
        return result
    return None
