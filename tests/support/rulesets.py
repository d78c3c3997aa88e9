"""Rule sets by Hypothesis: published ones, house rules on them, and tables that nobody has ever published."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from domain.cards import NAMES
from domain.ruleset import RuleSet
from domain.variants import VARIANTS, ruleset_of

CLASSES = st.lists(st.sampled_from(["H", "QS", "JD", "S", "C", "AH", "D"]), max_size=3, unique=True)
PENALTIES = st.sampled_from(
    [
        {"H": 1, "QS": 13},
        {"H": 1, "QS": 13, "JD": -10},
        {"H": 1, "AH": 5, "QS": 13, "TD": -10, "2C": -3},
        {"S": 1, "AS": 7, "KS": 10, "QS": 13},
        {"QS": 1},
        {},
    ]
)
HOUSE_RULES: dict[str, st.SearchStrategy[Any]] = {
    "kitty_to": st.sampled_from(["first", "last"]),
    "opener": st.sampled_from(["forced", "left"]),
    "opening_ban": CLASSES,
    "trick1_ban": CLASSES,
    "trick1_all_banned": st.sampled_from(["any", "must_qs"]),
    "breakers": CLASSES,
    "qs_hearts_lead": st.sampled_from(["qs", "any"]),
    "cancel": st.booleans(),
    "dead_trick": st.sampled_from(["no_live_card", "two_pairs"]),
    "dead_last": st.sampled_from(["nobody", "leader"]),
    "points": PENALTIES,
    "moon_effect": st.sampled_from(["add", "subtract", "choice", "auto", "none"]),
    "moon_x": st.sampled_from([0, 13, 26, 52]),
    "moon_needs_bonus": st.booleans(),
    "floor": st.sampled_from([None, 0, -5]),
    "tie": st.sampled_from(["shared", "continue"]),
    "perfect_hand": st.booleans(),
    "target": st.sampled_from([1, 13, 26, 50]),
}


@st.composite
def published_rules(draw: st.DrawFn) -> RuleSet:
    """A published rule set for one of its numbers of seats, to a few hands at most."""
    variant = draw(st.sampled_from(sorted(VARIANTS)))
    players = draw(st.sampled_from(sorted(VARIANTS[variant].seats)))
    house = draw(st.fixed_dictionaries({}, optional=HOUSE_RULES))
    return ruleset_of({"variant": variant, "players": players, "hand_limit": draw(st.integers(1, 4)), **house})


@st.composite
def custom_rules(draw: st.DrawFn) -> RuleSet:
    """Any table: seats, decks, cards removed, hand and kitty as they fall; small hands more often than large ones.

    Few cards make what is rare common: dead tricks, moons, seats without a club, hands of penalty cards alone.
    """
    players = draw(st.integers(3, 11))
    decks = draw(st.sampled_from([1, 2, 2]))
    copies = [card for card in NAMES for _ in range(decks)]
    removed = draw(st.lists(st.sampled_from(range(len(copies))), unique=True, max_size=30))
    in_play = len(copies) - len(removed)
    most = in_play // players
    hand = min(most, draw(st.one_of(st.just(most), st.integers(1, most), st.integers(1, 4))))
    steps = [1, -1, 0] + ([2] if players % 2 == 0 else [])
    fields: dict[str, Any] = {
        "variant": "custom",
        "players": players,
        "decks": decks,
        "removed": " ".join(copies[place] for place in removed),
        "hand": hand,
        "pass_count": draw(st.integers(0, min(4, hand))),
        "pass_cycle": draw(st.lists(st.sampled_from(steps), min_size=1, max_size=4)),
        "hand_limit": draw(st.integers(1, 3)),
    }
    return ruleset_of(fields | draw(st.fixed_dictionaries(HOUSE_RULES)))


@st.composite
def tiny_rules(draw: st.DrawFn) -> RuleSet:
    """A table of a few cards, most of them penalties, where a hand is over at once and anything may happen in it."""
    players = draw(st.integers(3, 6))
    hand = draw(st.integers(1, 4))
    decks = draw(st.sampled_from([1, 2, 2]))
    extra = draw(st.integers(0, 3))
    few = ["QS", "AH", "2H", "3H", "KH", "JD", "2D", "5S", "AS", "2C", "9C", "TC", "4D", "8H", "JS", "KS"]
    copies = few * decks
    rest = [card for card in NAMES if card not in few for _ in range(decks)]
    order = draw(st.permutations(range(len(copies))))
    kept = [copies[place] for place in order][: players * hand + extra]
    kept += rest[: players * hand - len(kept)] if len(kept) < players * hand else []
    gone = [*copies, *rest]
    for card in kept:
        gone.remove(card)
    steps = [1, -1, 0] + ([2] if players % 2 == 0 else [])
    fields: dict[str, Any] = {
        "variant": "custom",
        "players": players,
        "decks": decks,
        "removed": " ".join(gone),
        "hand": hand,
        "pass_count": draw(st.integers(0, min(2, hand))),
        "pass_cycle": draw(st.lists(st.sampled_from(steps), min_size=1, max_size=3)),
        "hand_limit": draw(st.integers(1, 5)),
    }
    return ruleset_of(fields | draw(st.fixed_dictionaries(HOUSE_RULES)))


def rule_sets() -> st.SearchStrategy[RuleSet]:
    """Any rule set that can be played in a few hands."""
    return st.one_of(published_rules(), custom_rules(), tiny_rules())
