"""What the rule-based bot does in single positions: its plays, its passes, its moons."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from domain.bots.knowledge import Knowledge
from domain.bots.random import random_policy
from domain.bots.rules import choose_moon, choose_pass, rules_policy
from domain.cards import NAMES, mask_of, parse_cards
from domain.game import fold, to_act
from domain.ruleset import RuleSet
from domain.variants import ruleset_of
from domain.view import Own, View, view
from tests.support.games import play_game
from tests.support.tables import dealt, played, small_rules

SEED = bytes(32)


OMNIBUS = {"H": 1, "QS": 13, "JD": -10}


def options(hands: list[str], so_far: str, **rules: Any) -> set[str]:
    """The cards that the rule-based bot may play, under this seed or that, whose turn it is after ``so_far``."""
    events = dealt(small_rules(hands, **rules), hands, seats="b" * len(hands))
    state = fold(None, played(events, so_far) if so_far else events)
    seen = view(state, to_act(state)[0])
    found = set()
    for number in range(8):
        card = rules_policy(seen, bytes([number]) * 32, 0)
        assert isinstance(card, int)
        found.add(NAMES[card])
    return found


def passing(hand: str, **rules: Any) -> set[str]:
    """The cards that the bot passes of ``hand``."""
    whole = ruleset_of({"variant": "basic", **rules})
    seen = msgspec.structs.replace(
        view(play_game(whole, 1, moves=0, kinds="b" * whole.players).end, 0),
        own=Own(hand=mask_of(parse_cards(hand)), given=0, received=0, legal=0),
    )
    return {NAMES[card] for card in choose_pass(Knowledge(seen))}


def moon_view(totals: tuple[int, ...], taken: dict[int, str], **rules: Any) -> View:
    """A view of seat 0, which shot the moon; ``taken`` are the tricks' cards by who took them."""
    whole = ruleset_of({"variant": "omnibus", **rules})
    seen = view(play_game(whole, 1, moves=0, kinds="b" * whole.players).end, 0)
    history = tuple((0, tuple(parse_cards(cards)), seat) for seat, cards in taken.items())
    own = Own(hand=0, given=0, received=0, legal=0)
    return msgspec.structs.replace(seen, phase="moon", totals=totals, history=history, own=own)


# --- plays


POSITIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "a low card is under the queen, so the ace is not laid over her":
        ("5S 7D 8D, QS 9D TD, 3S 2C 3C, 2S AS 4D; 5S QS 3S; 2S", {}),
    "the queen goes under the ace, not the king":
        ("AS 2D 3D, KS QS 4D, 2S 5D 6D, 3S 7D 8D; AS; QS", {}),
    "a heart on the first trick is not captured for nothing":
        ("5C 2D 3D, 7H 4D 5D, 4C 6D 7D, 3C AC 8D; 5C 7H 4C; 3C", {}),
    "a cheap heart is taken to stop a moon":
        ("AS AH 9H 2C, QS 4H 3H 3C, 2S 5H 2H 4C, 3S 6H 7H TH; AS QS 2S 3S AH 4H 5H 6H 9H 3H 2H; TH", {"moon_effect": "add", "breakers": []}),
    "the last to play ducks as high as it can":
        ("9D 2H 6D, 4D 4H 7D, TD QS 7C, 8D 3D 2C; 9D 4D TD; 8D", {}),
    "without points on the table the last seat gets rid of its highest card":
        ("5D 2C 3C QS 4H, 7D 4C 5C 2H 6D, 3D 6C 7C 3H TD, KD 8D 9C 5H 6H; 5D 7D 3D; KD", {}),
    "a trick that must be won is won with the highest card":
        ("5D 2H 3H 6D, 4D 4H 5H 7D, 3D 6H 7H JD, KD TD 9H 2C; 5D 4D 3D; KD", {}),
    "the twin of the winning king loses, and a dear card is gone":
        ("KD 2H 3H 9D, QS 4H 5H 8C, TD 6H 7H JD, KD 2D AH 9C; KD QS TD; KD", {"decks": 2, "cancel": True}),
    "an ace over two pairs takes the queen":
        ("TD 2H 5C, 4C 3H 6C, 9D 4H 7C, 9D 5H JD, 4C 6H 8C, QS 7H QC, AD 2D 9C; TD 4C 9D 9D 4C QS; 2D", {"decks": 2, "cancel": True, "dead_trick": "no_live_card"}),
    "an ace over two pairs takes nothing where two pairs void a trick":
        ("TD 2H 5C, 4C 3H 6C, 9D 4H 7C, 9D 5H JD, 4C 6H 8C, QS 7H QC, AD 2D 9C; TD 4C 9D 9D 4C QS; AD", {"decks": 2, "cancel": True, "dead_trick": "two_pairs"}),
    "the first trick's queen is left to its leader even where a kitty goes with it":
        ("KS 2H 3H, QS 4H 5H, 4S 6H 7H, AS 2S 9C; KS QS 4S; 2S", {}),
    "a bonus within reach is taken":
        ("5D 2C 3C, JD 4C 5C, 3D 6C 7C, QD 2D 9C; 5D JD 3D; QD", {"points": OMNIBUS}),
    "a bonus card is not thrown under a higher one":
        ("KD 2C 3C, 5D 4C 5C, 3D 6C 7C, JD 2D 9C; KD 5D 3D; 2D", {"points": OMNIBUS}),
}  # fmt: skip
"""The hands; what has been played; the card that is right, and the rules where they matter."""


@pytest.mark.parametrize("name", POSITIONS)
def test_one_card_is_right(name: str) -> None:
    """What is played, under every seed, where one card is best; most are the last seat's, which sees the whole trick."""
    text, rules = POSITIONS[name]
    hands, so_far, right = text.split("; ")
    assert options(hands.split(", "), so_far, **rules) == {right}


@pytest.mark.parametrize("seat", [1, 2])
def test_the_king_is_kept_from_under_the_queen(seat: int) -> None:
    """With the queen still out, a low spade is played and the king is not, in second and third seat."""
    hands = ["4S 2D 3D 4D", "KS 3S 5D 6D", "KS 3S 5D 6D", "QS 6S 9D TD"]
    hands[3 - seat] = "2S 5S 7D 8D"
    assert options(hands, "4S" if seat == 1 else "4S 2S") == {"3S"}


def test_the_queen_goes_to_the_next_best_seat() -> None:
    """Void of the suit led, the bot throws the queen of spades before the ace of hearts."""
    hands = ["AD 2D 3C", "QS AH 4C", "4D 5D 5C", "6D 7D 6C"]
    assert options(hands, "AD") == {"QS"}


def test_a_dear_card_is_whatever_the_points_say() -> None:
    """Where the ten of clubs costs 20 and the queen of spades nothing, the ten is thrown."""
    hands = ["AD 2D 3C", "QS TC 4C", "4D 5D 5C", "6D 7D 6C"]
    assert options(hands, "AD", points={"TC": 20, "H": 1}) == {"TC"}


def test_a_single_legal_card_is_played_without_thought() -> None:
    """The forced opening card is led."""
    hands = ["3C 2D 3D", "2C 4D 5D", "4C 6D 7D", "5C 8D 9D"]
    assert options(hands, "", opener="forced") == {"2C"}


def test_a_likely_moon_is_shot_where_it_pays() -> None:
    """Holding nearly all winners the bot leads them; where taking all brings nothing it leaves the lead."""
    hands = ["AH KH QH 2C", "2H 3H AC 3C", "4H 5H 4C 5C", "6H 7H 6C 7C"]
    rules = {"breakers": [], "points": {"H": 1}}
    assert options(hands, "AH 2H 4H 6H", moon_effect="add", **rules) <= {"KH", "QH"}
    assert options(hands, "AH 2H 4H 6H", moon_effect="none", **rules) == {"2C"}


def test_the_seed_chooses_between_equals() -> None:
    """Touching cards of the same points are played one as often as the other."""
    hands = ["9D 2C 3C QS", "7D 6D 2H 3H", "5D 4C 5C 4H", "JD 6C 7C 5H"]
    assert options(hands, "9D") == {"6D", "7D"}


def test_the_seed_only_breaks_ties() -> None:
    """`random` follows its seed; `rules` plays the same card under every seed where one is best."""
    hands = ["5S 7D 8D", "QS 9D TD", "3S 2C 3C", "2S KS 4D"]
    state = fold(None, played(dealt(small_rules(hands), hands, seats="bbbb"), "5S QS 3S"))
    seen = view(state, 3)
    seeds = [bytes([number]) * 32 for number in range(16)]
    assert len({rules_policy(seen, seed, 0) for seed in seeds}) == 1
    assert len({random_policy(seen, seed, 0) for seed in seeds}) == 2


def test_equal_rules_are_one_to_the_bot() -> None:
    """A rule set that is equal but another object changes no answer, whatever is kept of it."""
    hands = ["5S 7D 8D", "QS 9D TD", "3S 2C 3C", "2S KS 4D"]
    seen = view(fold(None, played(dealt(small_rules(hands), hands, seats="bbbb"), "5S QS 3S")), 3)
    twin = msgspec.structs.replace(seen, rules=msgspec.convert(msgspec.to_builtins(seen.rules), RuleSet))
    assert twin.rules is not seen.rules
    assert rules_policy(twin, SEED, 0) == rules_policy(seen, SEED, 0)


# --- passes and moons


PASSES = {
    "a bare queen goes": ("QS 3S 4C 5C 6C 7C 8D 9D 2D 3D 4H 5H 6H", {"QS"}, set()),
    "a well guarded queen stays": ("QS 2S 3S 5S 8S TS 4C 9C KC 3D TD 2H 5H", set(), {"QS"}),
    "king and ace without low spades go": ("AS KS 3C 4C 5C 6C 2D 3D 4D 5D 2H 3H 4H", {"AS", "KS"}, set()),
    "low hearts stay, high ones go": ("2H 3H AH 2C 4C 6C 8C 2D 4D 6D 2S 3S 4S", {"AH"}, {"2H", "3H"}),
    "a short suit is emptied": ("KD QD 2C 3C 4C 5C 6C 2S 3S 4S 2H 3H 4H", {"KD", "QD"}, set()),
}


@pytest.mark.parametrize("name", PASSES)
def test_passes(name: str) -> None:
    """What is dangerous goes, what guards or is safe stays."""
    hand, gone, kept = PASSES[name]
    given = passing(hand)
    assert gone <= given
    assert not kept & given


def test_a_card_above_the_queen_goes_first() -> None:
    """Of three aces the one that may catch the queen of spades is passed, though it is the best guarded."""
    assert passing("AC 3C 4C AD 3D 4D AS 2S 3S 4S 2H 3H 4H", pass_count=1) == {"AS"}


def test_what_catches_a_bonus_is_kept() -> None:
    """The ace of diamonds is passed where it is only high, and kept where it may catch the jack."""
    hand = "AD 9D 4D 2C 3C 5C 7C 3S 4S 6S 2H 3H 5H"
    assert "AD" in passing(hand)
    assert "AD" not in passing(hand, variant="omnibus")


@pytest.mark.parametrize(
    ("totals", "taken", "rules", "right"),
    [
        ((90, 95, 63, 70), {}, {}, "subtract"),
        ((60, 95, 63, 70), {}, {}, "add"),
        ((20, 95, 63, 70), {}, {}, "add"),  # it ends with the shooter lowest
        ((20, 30, 40, 50), {}, {}, "add"),  # the game goes on: 26 to three others is more
        ((90, 95, 63, 70), {0: "JD 2D 3D 4D"}, {}, "add"),  # our own jack: 80 against 89
        ((81, 95, 58, 70), {}, {}, "add"),  # 81 against 84
        ((81, 95, 58, 70), {2: "JD 2D 3D 4D"}, {}, "subtract"),  # the leader's jack: 81 against 74
        ((85, 95, 58, 70), {}, {"hand_limit": 1}, "add"),  # lost either way, by as much
        ((62, 95, 58, 70), {}, {"hand_limit": 1, "floor": 50}, "add"),
        ((30, 70, 20, 60), {}, {"target": 80}, "add"),
    ],
)
def test_the_moon_is_chosen_by_what_it_leads_to(
    totals: tuple[int, ...], taken: dict[int, str], rules: dict[str, Any], right: str
) -> None:
    """The shooter adds unless that loses the game; bonus points that were taken count."""
    assert choose_moon(moon_view(totals, taken, **rules)) == right
