"""A rule set by value: every knob of the game, what is wrong with a choice of them, and the terms that follow.

The keys, their order and their values are ``docs/spec/ruleset.md``; the reasons are ``docs/rules.md`` section 1. A rule
set is stored whole in the first event of a game, so a later change of the published variants changes no old game.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final, Literal, cast

import msgspec
from msgspec import UNSET, UnsetType

from domain.cards import (
    BITS,
    DECK_SIZE,
    NAMES,
    SUIT_MASKS,
    SUITS,
    Card,
    Mask,
    Seat,
    parse_card,
    parse_cards,
)
from domain.knobs import LARGEST, LATER, LONGEST_CYCLE, MOST_HANDS, READERS, VARIANT_SEATS
from domain.refusals import InvalidRules, Malformed
from domain.shuffle import full_deck

__all__ = [
    "KEYS",
    "LARGEST",
    "LATER",
    "LONGEST_CYCLE",
    "MOST_HANDS",
    "VARIANT_SEATS",
    "RuleSet",
    "Terms",
    "check_rules",
    "class_mask",
    "decode_rules",
    "misfits",
    "read_fields",
    "terms_of",
    "wrong_seats",
]


class RuleSet(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The rules of one table; the defaults are those of ``basic``. Field order is the stored order."""

    variant: str
    """The published variant it started from, or ``custom``."""
    players: int = 4
    """Seats, 3 to 11."""
    decks: int = 1
    """52-card decks shuffled together, 1 or 2."""
    removed: str = ""
    """Cards taken out before the deal, one copy each, as a card list."""
    hand: int = 13
    """Cards dealt to each seat; what is left over is the kitty."""
    kitty_to: Literal["first", "last"] = "first"
    """Whose pile the kitty joins: the winner's of the first or of the last trick."""
    pass_count: int = 3
    """Cards each seat passes, 0 to 4; 0 means that nothing is ever passed."""
    pass_cycle: tuple[int, ...] = (1, -1, 2, 0)
    """To whom, hand by hand: 1 left, -1 right, 2 across (even seats: n/2), 0 hold."""
    opener: Literal["forced", "left"] = "forced"
    """Who leads first: the holder of the lowest club, which must be led, or the dealer's left."""
    opening_ban: tuple[str, ...] = ()
    """Classes that the opening lead may not be, where another card is held."""
    trick1_ban: tuple[str, ...] = ("H", "QS")
    """Classes that a follower may not discard on the first trick."""
    trick1_all_banned: Literal["any", "must_qs"] = "any"
    """With nothing but banned cards on the first trick: any of them, or the queen of spades where held."""
    breakers: tuple[str, ...] = ("H",)
    """Classes whose play breaks hearts; none means that hearts may always be led."""
    qs_hearts_lead: Literal["qs", "any"] = "qs"
    """Hearts unbroken, holding only the queen of spades and hearts: the queen must be led, or any card may."""
    cancel: bool = False
    """Whether two identical cards in one trick cancel each other."""
    dead_trick: Literal["no_live_card", "two_pairs"] = "no_live_card"
    """When a trick of a cancelling game has no winner; ``two_pairs`` also voids any trick with two pairs."""
    dead_last: Literal["nobody", "leader"] = "nobody"
    """Who takes the pile of a last trick without winner."""
    points: dict[str, int] = msgspec.field(default_factory=lambda: {"H": 1, "QS": 13})
    """Points by class; a card's own entry wins over its suit's; negative ones are a bonus."""
    moon_effect: Literal["add", "subtract", "choice", "choice_if_lost", "auto", "collect", "none"] = "add"
    """What shooting the moon does: others plus `moon_x`, shooter minus it, the shooter's choice, its choice where `add`
    would lose it the game, the better of the two, others plus and shooter minus it for each of them, nothing."""
    moon_x: int = 26
    """Points of a moon."""
    moon_needs_bonus: bool = False
    """Whether the cards of negative points must be taken too."""
    floor: int | None = None
    """The lowest a total may reach, or none."""
    target: int = 100
    """The game ends after a hand in which some total has reached this many points."""
    tie: Literal["shared", "continue"] = "continue"
    """Several lowest at the end: they share the win, or another hand is played."""
    perfect_hand: bool = False
    """Special's rule: a perfect hand of another seat than the leader keeps the game going."""
    hand_limit: int | None = None
    """Hands after which the game ends as it stands, all lowest winning, or none."""

    # Later keys. They are left out where they stand at their defaults, so that a rule set without them is written as it
    # always was; `get` and `Terms` tell what they say then.
    moon_choice_from: int | UnsetType = UNSET
    """Total from which on a shooter may choose; below it a `choice` is an `add`. Default: null, always."""
    moon_bonus: Literal["swallowed"] | UnsetType = UNSET
    """Whether cards of negative points count in a hand with a moon or sun: `kept` (default) or `swallowed`."""
    sun_effect: Literal["add", "subtract", "punish", "reset"] | UnsetType = UNSET
    """What taking every trick does instead of a moon. Default: `none`, nothing of its own."""
    sun_x: int | UnsetType = UNSET
    """Points of a sun. Default: 52."""
    sun_from: Literal[2] | UnsetType = UNSET
    """The first trick that counts for a sun, 1 (default) or 2."""
    no_trick_points: int | UnsetType = UNSET
    """Points for taking no trick, in a hand without moon or sun. Default: 0."""
    hand_floor: int | UnsetType = UNSET
    """The least that the cards of one hand may score for a seat. Default: null, no such bound."""
    partners: Literal["opposite"] | UnsetType = UNSET
    """Whose points are counted together: `none` (default), or the seats `opposite` each other."""

    def get(self, key: str) -> Any:
        """The value of ``key``, its default where it was left out."""
        value = getattr(self, key)
        return LATER[key] if value is UNSET else value

    def problems(self) -> list[str]:
        """Everything that is wrong with this rule set, a sentence each; ``[]`` when it can be played."""
        found: list[str] = []
        for key, (read, expected) in READERS.items():
            value = getattr(self, key)
            if value is UNSET and key in LATER:
                continue
            try:
                # people may write a class as "h" or "10S"; a rule set that is played holds it as we write it
                right = read(value) == value
            except (ValueError, Malformed):
                right = False
            if not right:
                found.append(_wrong_value(key, expected, value))
        return found or misfits(self)


KEYS: Final[tuple[str, ...]] = RuleSet.__struct_fields__


def _wrong_value(key: str, expected: str, value: object) -> str:
    return f"{key} must be {expected}; it is {value!r:.60}"


def read_fields(given: Mapping[str, object]) -> tuple[dict[str, Any], list[str]]:
    """The fields of ``given`` that can be read, as `RuleSet` holds them, and a sentence for each that cannot."""
    fields: dict[str, Any] = {}
    found: list[str] = []
    for key, value in given.items():
        if key not in READERS:
            near = get_close_matches(key, KEYS, n=1)
            found.append(
                f"{key!r:.60} is no key of a rule set" + (f"; did you mean {near[0]}?" if near else "")
            )
            continue
        read, expected = READERS[key]
        try:
            right = read(value)
            fields[key] = UNSET if key in LATER and right == LATER[key] else right
        except (ValueError, Malformed):
            found.append(_wrong_value(key, expected, value))
    return fields, found


def misfits(rules: RuleSet) -> list[str]:
    """What is wrong between fields that are each all right."""
    removed = parse_cards(rules.removed)
    found = [
        f"removed takes out {removed.count(card)} x {NAMES[card]}, and the deck has {rules.decks}"
        for card in sorted(set(removed))
        if removed.count(card) > rules.decks
    ]
    if rules.players not in VARIANT_SEATS[rules.variant]:
        found.append(wrong_seats(rules.variant, rules.players))
    in_play = rules.decks * DECK_SIZE - len(removed)
    needed = rules.players * rules.hand
    if needed > in_play:
        found.append(
            f"too few cards: {rules.players} seats x hand {rules.hand} = {needed}, and the deck has {in_play}"
        )
    if rules.pass_count > rules.hand:
        found.append(f"pass_count {rules.pass_count} is more than the {rules.hand} cards of a hand")
    if rules.partners is not UNSET and rules.players % 2:
        found.append(f"partners sit opposite each other, and {rules.players} seats have no opposites")
    if rules.get("sun_from") > rules.hand:
        found.append(f"sun_from {rules.sun_from} is more than the {rules.hand} tricks of a hand")
    if 2 in rules.pass_cycle and rules.players % 2:
        found.append(
            f"pass_cycle has 2 (across), which {rules.players} seats do not have: only even numbers do"
        )
    return found


def wrong_seats(variant: str, players: int) -> str:
    """What is told of a published variant with a number of seats that it does not have."""
    seats = ", ".join(map(str, VARIANT_SEATS[variant]))
    return f"{variant} is not played with {players} seats; it is with {seats}"


def check_rules(rules: RuleSet) -> RuleSet:
    """``rules`` itself. Raises `InvalidRules` with all its problems where it cannot be played."""
    problems = rules.problems()
    if problems:
        raise InvalidRules(problems)
    return rules


class Terms:
    """A rule set worked out for play: masks and counts, computed once a game and never changed."""

    __slots__ = (
        "bonus_cards",
        "breakers",
        "deck",
        "hand",
        "hand_floor",
        "hearts_beside_qs",
        "moon_choice_from",
        "must_qs",
        "no_trick_points",
        "opening_ban",
        "penalty_cards",
        "players",
        "rules",
        "sun_effect",
        "swallows",
        "teams",
        "trick1_ban",
        "values",
    )

    def __init__(self, rules: RuleSet) -> None:
        self.rules = rules
        self.players = rules.players
        self.hand = rules.hand
        self.deck: tuple[Card, ...] = tuple(full_deck(rules.decks, parse_cards(rules.removed)))
        """The cards in play, in the starting order of the shuffle."""
        self.values: tuple[int, ...] = tuple(
            rules.points.get(name, rules.points.get(name[1], 0)) for name in NAMES
        )
        """Points of each card."""
        self.penalty_cards = sum(self.values[card] > 0 for card in self.deck)
        """Cards of positive points in the deck: who takes so many has shot the moon."""
        self.bonus_cards = sum(self.values[card] < 0 for card in self.deck)
        self.breakers: Mask = class_mask(rules.breakers)
        self.opening_ban: Mask = class_mask(rules.opening_ban)
        self.trick1_ban: Mask = class_mask(rules.trick1_ban)
        self.must_qs = rules.trick1_all_banned == "must_qs"
        self.hearts_beside_qs = rules.qs_hearts_lead == "any"
        self.moon_choice_from: int | None = rules.get("moon_choice_from")
        self.swallows = rules.moon_bonus is not UNSET
        self.sun_effect: str = rules.get("sun_effect")
        self.no_trick_points: int = rules.get("no_trick_points")
        self.hand_floor: int | None = rules.get("hand_floor")
        half = rules.players // 2
        self.teams: tuple[tuple[Seat, ...], ...] = tuple(
            (seat,) if rules.partners is UNSET else tuple(sorted((seat, (seat + half) % rules.players)))
            for seat in range(rules.players)
        )
        """Whose points are counted with those of each seat, itself among them."""

    @property
    def kitty(self) -> int:
        """How many cards the deal leaves over."""
        return len(self.deck) - self.players * self.hand

    def pass_way(self, hand: int) -> int:
        """The pass of hand ``hand`` (from 1) as players call it: 1 left, -1 right, 2 across, 0 hold."""
        if not self.rules.pass_count:
            return 0
        return self.rules.pass_cycle[(hand - 1) % len(self.rules.pass_cycle)]

    def pass_offset(self, hand: int) -> int:
        """How many seats to the left the cards of hand ``hand`` (from 1) are passed; 0 is a hold hand."""
        offset = self.pass_way(hand)
        return self.players // 2 if offset == 2 else offset % self.players


def terms_of(rules: RuleSet) -> Terms:
    """The terms of ``rules``, which thousands of tables share: kept for the rule sets seen last."""
    return _terms(msgspec.json.encode(rules))


@lru_cache(maxsize=256)
def _terms(encoded: bytes) -> Terms:
    return Terms(msgspec.json.decode(encoded, type=RuleSet))


def class_mask(classes: tuple[str, ...]) -> Mask:
    """The first copies of all cards of some classes."""
    mask = 0
    for name in classes:
        mask |= SUIT_MASKS[SUITS.index(name)] if name in SUITS else BITS[parse_card(name)]
    return mask


def decode_rules(data: object) -> RuleSet:
    """A rule set that was stored whole. Raises `InvalidRules` where it is not one that can be played."""
    if not isinstance(data, Mapping):
        raise InvalidRules(["a rule set is an object"])
    fields, found = read_fields(cast("Mapping[str, object]", data))
    found.extend(f"{key} is missing" for key in KEYS if key not in data and key not in LATER)
    if found:
        raise InvalidRules(found)
    return check_rules(RuleSet(**fields))
