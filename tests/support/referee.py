"""A second reading of the rules, for comparison: plain lists of card names, no masks, no cleverness.

Written from ``docs/rules.md`` and ``docs/spec/ruleset.md`` alone. It knows nothing of `domain.rules`, and its only
purpose is to disagree with it where one of the two is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

ORDER = [rank + suit for suit in "CDSH" for rank in "23456789TJQKA"]
RANKS = "23456789TJQKA"
UNSAID: dict[str, Any] = {
    "moon_choice_from": None,
    "moon_bonus": "kept",
    "sun_effect": "none",
    "sun_x": 52,
    "sun_from": 1,
    "no_trick_points": 0,
    "hand_floor": None,
    "partners": "none",
}
"""What holds of the keys that a rule set may leave out."""


def in_classes(card: str, classes: Sequence[str]) -> bool:
    """Whether a card is of one of the classes, each a suit letter or a card."""
    return card in classes or card[1] in classes


def deck_of(rules: Mapping[str, Any]) -> list[str]:
    """The cards in play."""
    cards = Counter(ORDER * rules["decks"])
    cards.subtract(rules["removed"].split())
    return sorted(cards.elements())


def value_of(card: str, rules: Mapping[str, Any]) -> int:
    """The points of a card."""
    points = rules["points"]
    if card in points:
        return int(points[card])
    return int(points.get(card[1], 0))


def winner_of(trick: Sequence[str], rules: Mapping[str, Any]) -> int | None:
    """Which card of a full trick wins, by its place in it; none where the trick is dead."""
    copies = Counter(trick)
    if rules["cancel"]:
        pairs = [card for card, number in copies.items() if number == 2]
        if len(pairs) > 1 and rules["dead_trick"] == "two_pairs":
            return None
        live = [card for card in trick if card[1] == trick[0][1] and copies[card] == 1]
    else:
        live = [card for card in trick if card[1] == trick[0][1]]
    if not live:
        return None
    best = max(live, key=lambda card: RANKS.index(card[0]))
    return max(place for place, card in enumerate(trick) if card == best)


class RefereeHand:
    """One hand as the referee follows it."""

    def __init__(
        self, rules: Mapping[str, Any], number: int, deal: Sequence[Sequence[str]], kitty: Sequence[str]
    ) -> None:
        self.rules = rules
        self.seats = rules["players"]
        self.number = number
        self.hands = [list(hand) for hand in deal]
        self.kitty = list(kitty)
        self.broken = not rules["breakers"]
        self.trick: list[str] = []
        self.tricks = 0
        self.pile: list[str] = []
        self.taken: list[list[str]] = [[] for _ in deal]
        self.takers: list[int | None] = []
        self.turn: int | None = None
        self.leader: int | None = None
        self.forced: str | None = None

    def pass_to(self) -> int:
        """How many seats to the left cards are passed; 0: nothing is."""
        if self.rules["pass_count"] == 0:
            return 0
        cycle = self.rules["pass_cycle"]
        step = cycle[(self.number - 1) % len(cycle)]
        return {0: 0, 1: 1, -1: self.seats - 1, 2: self.seats // 2}[step]

    def exchange(self, passes: Sequence[Sequence[str]]) -> None:
        """Move the passed cards."""
        step = self.pass_to()
        for seat, cards in enumerate(passes):
            for card in cards:
                self.hands[seat].remove(card)
        for seat, cards in enumerate(passes):
            self.hands[(seat + step) % self.seats].extend(cards)

    def open(self) -> None:
        """Find who leads first."""
        dealers_left = (self.number - 1) % self.seats
        self.turn = dealers_left
        clubs = [card for hand in self.hands for card in hand if card[1] == "C"]
        if self.rules["opener"] == "forced" and clubs:
            self.forced = min(clubs, key=ORDER.index)
            around = [(dealers_left + step) % self.seats for step in range(self.seats)]
            self.turn = next(seat for seat in around if self.forced in self.hands[seat])
        self.leader = self.turn

    def judge(self, card: str) -> str | None:
        """The code of the first reason against the card; none where it may be played."""
        if self.turn is None:
            return "play/hand_over"
        hand = self.hands[self.turn]
        if card not in hand:
            return "play/not_in_hand"
        if self.trick:
            return self._judge_follower(card, hand)
        if self.tricks == 0:
            return self._judge_opening(card, hand)
        return self._judge_lead(card, hand)

    def _judge_opening(self, card: str, hand: Sequence[str]) -> str | None:
        if self.forced is not None:
            return None if card == self.forced else "play/must_open_with"
        ban = self.rules["opening_ban"]
        if in_classes(card, ban) and not all(in_classes(other, ban) for other in hand):
            return "play/penalty_opening_lead"
        return None

    def _judge_follower(self, card: str, hand: Sequence[str]) -> str | None:
        led = self.trick[0][1]
        if card[1] == led:
            return None
        if any(other[1] == led for other in hand):
            return "play/must_follow_suit"
        ban = self.rules["trick1_ban"]
        if self.tricks > 0 or not in_classes(card, ban):
            return None
        if not all(in_classes(other, ban) for other in hand):
            return "play/penalty_on_first_trick"
        must_queen = self.rules["trick1_all_banned"] == "must_qs" and "QS" in hand
        return "play/penalty_on_first_trick" if must_queen and card != "QS" else None

    def _judge_lead(self, card: str, hand: Sequence[str]) -> str | None:
        if self.broken or card[1] != "H":
            return None
        others = {other for other in hand if other[1] != "H"}
        if not others:
            return None
        if others == {"QS"} and self.rules["qs_hearts_lead"] == "any":
            return None
        return "play/hearts_not_broken"

    def play(self, card: str) -> tuple[int | None] | None:
        """Lay a legal card; of a full trick who takes it, or ``(None,)`` for nobody."""
        assert self.turn is not None
        assert self.leader is not None
        self.hands[self.turn].remove(card)
        self.trick.append(card)
        self.broken = self.broken or in_classes(card, self.rules["breakers"])
        self.turn = (self.turn + 1) % self.seats
        if len(self.trick) < self.seats:
            return None
        return (self._end_trick(),)

    def _end_trick(self) -> int | None:
        last = self.tricks + 1 == self.rules["hand"]
        place = winner_of(self.trick, self.rules)
        assert self.leader is not None
        taker = None if place is None else (self.leader + place) % self.seats
        if taker is None and last and self.rules["dead_last"] == "leader":
            taker = self.leader
        self.pile += self.trick
        if (self.tricks == 0 and self.rules["kitty_to"] == "first") or (
            last and self.rules["kitty_to"] == "last"
        ):
            self.pile += self.kitty
        self.trick, self.tricks = [], self.tricks + 1
        self.takers.append(taker)
        if taker is not None:
            self.taken[taker] += self.pile
            self.pile, self.leader = [], taker
        self.turn = None if last else self.leader
        return taker

    def team(self, seat: int) -> set[int]:
        """Whose points are counted with those of a seat."""
        if self.rule("partners") == "none":
            return {seat}
        return {seat, (seat + self.seats // 2) % self.seats}

    def rule(self, key: str) -> Any:
        """The value of a key that a rule set may leave out."""
        return self.rules.get(key, UNSAID[key])

    def shooter(self) -> int | None:
        """Who shot the moon; of partners, who took more of it, then the lower seat."""
        if self.rules["moon_effect"] == "none":
            return None
        needed = [card for card in deck_of(self.rules) if value_of(card, self.rules) > 0]
        if not needed:
            return None
        counting = [len([card for card in cards if value_of(card, self.rules) > 0]) for cards in self.taken]
        if self.rules["moon_needs_bonus"]:
            needed += [card for card in deck_of(self.rules) if value_of(card, self.rules) < 0]
        for seat in range(self.seats):
            team = sorted(self.team(seat))
            if not Counter(needed) - Counter([card for one in team for card in self.taken[one]]):
                return max(team, key=lambda one: (counting[one], -one))
        return None

    def sun(self) -> int | None:
        """Who took every trick that counts for a sun."""
        if self.rule("sun_effect") == "none":
            return None
        takers = self.takers[self.rule("sun_from") - 1 :]
        for seat in range(self.seats):
            team = sorted(self.team(seat))
            if all(taker in team for taker in takers):
                return max(team, key=lambda one: (takers.count(one), -one))
        return None

    def chooser(self, totals: Sequence[int]) -> int | None:
        """Who has to choose the effect of the moon."""
        seat, effect = self.shooter(), self.rules["moon_effect"]
        if seat is None or self.sun() is not None or effect not in ("choice", "choice_if_lost"):
            return None
        if effect == "choice_if_lost" and not self._loses(seat, totals):
            return None
        least = self.rule("moon_choice_from")
        return seat if least is None or totals[seat] >= least else None

    def points(self, totals: Sequence[int], choice: str | None) -> list[int]:
        """What the hand adds to each total."""
        sun, shooter = self.sun(), self.shooter()
        if sun is not None:
            alone = self._sun_points(sun, totals)
        elif shooter is not None:
            effect = self.rules["moon_effect"]
            if effect == "auto":
                effect = "subtract" if self._loses(shooter, totals) else "add"
            if effect in ("choice", "choice_if_lost"):
                effect = "add" if self.chooser(totals) is None else choice
            alone = self._moon_points(shooter, effect)
        else:
            alone = self._bounded([sum(value_of(card, self.rules) for card in cards) for cards in self.taken])
            for seat in range(self.seats):
                if seat not in self.takers:
                    alone[seat] += self.rule("no_trick_points")
        return self._together(alone)

    def _together(self, alone: Sequence[int]) -> list[int]:
        return [sum(alone[one] for one in self.team(seat)) for seat in range(self.seats)]

    def _bounded(self, points: Sequence[int]) -> list[int]:
        floor = self.rule("hand_floor")
        return [point if floor is None or point > floor else floor for point in points]

    def _bonuses(self) -> list[int]:
        if self.rule("moon_bonus") == "swallowed":
            return [0] * self.seats
        return self._bounded(
            [sum(min(0, value_of(card, self.rules)) for card in cards) for cards in self.taken]
        )

    def _moon_points(self, shooter: int, effect: str | None) -> list[int]:
        x, points = self.rules["moon_x"], self._bonuses()
        rivals = set(range(self.seats)) - self.team(shooter)
        assert effect in ("add", "subtract", "collect")
        if effect != "subtract":
            for seat in rivals:
                points[seat] += x
        if effect != "add":
            points[shooter] -= x if effect == "subtract" else x * len(rivals)
        return points

    def _loses(self, shooter: int, totals: Sequence[int]) -> bool:
        added = self._together(self._moon_points(shooter, "add"))
        winners = self.end(self.totals(totals, added), added)
        return winners is not None and shooter not in winners

    def _sun_points(self, sun: int, totals: Sequence[int]) -> list[int]:
        points, x, effect = self._bonuses(), self.rule("sun_x"), self.rule("sun_effect")
        rivals = set(range(self.seats)) - self.team(sun)
        if effect == "subtract":
            points[sun] -= x
        elif effect == "reset":
            points[sun] = -totals[sun]
        elif effect == "add":
            for seat in rivals:
                points[seat] += x
        else:
            giver = (sun - self.pass_to()) % self.seats
            for seat in rivals:
                points[seat] += x if seat == giver else self.rules["moon_x"]
        return points

    def totals(self, before: Sequence[int], points: Sequence[int]) -> list[int]:
        """The totals after the hand."""
        sums = [a + b for a, b in zip(before, points, strict=True)]
        floor = self.rules["floor"]
        return sums if floor is None else [total if total > floor else floor for total in sums]

    def end(self, totals: Sequence[int], points: Sequence[int]) -> list[int] | None:
        """The winners where the game ends with this hand, none where it goes on."""
        low = [seat for seat, total in enumerate(totals) if total == min(totals)]
        over = max(totals) >= self.rules["target"]
        if over and set(low) - self.team(low[0]) and self.rules["tie"] == "continue":
            over = False
        if over and self.rules["perfect_hand"]:
            others = [points[seat] for seat in range(self.seats) if seat not in low]
            if all(points[seat] > 0 for seat in low) and 0 in others:
                over = False
        limit = self.rules["hand_limit"]
        return low if over or (limit is not None and self.number >= limit) else None
