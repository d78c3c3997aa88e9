"""Claims: the rest of the tricks at once, where a seat's own view shows that it takes them all."""

from __future__ import annotations

import pytest

from domain import commands as c
from domain import events as e
from domain.cards import CARDS, NAMES, parse_cards
from domain.claim import possible_cards, proving_order
from domain.game import fold, to_act
from domain.ruleset import terms_of
from domain.view import view
from tests.support.tables import (
    MOON_HANDS,
    after,
    dealt,
    give,
    given,
    moon_pending,
    opened,
    passing,
    plain,
    played,
    small_rules,
)

TOP = ["AS KS 2D", "3S 5H 9H", "4S 6H 7H"]
"""Three hands of which seat 0 takes every trick: nobody else has a diamond."""


def claim(seat: int, **more: int) -> c.ClaimRest:
    """Player ``p<seat>`` claims the rest."""
    return c.ClaimRest(who=f"p{seat}", **more)


def laid(seat: int, card: str) -> e.CardPlayed:
    """A card played by a claim."""
    return e.CardPlayed(seat=seat, card=card, by="claim")


def order_of(events: list[e.Event]) -> str | None:
    """The proving order of the seat to play at a table, its cards as one text."""
    state = fold(None, events)
    order = proving_order(view(state, to_act(state)[0]))
    return None if order is None else " ".join(NAMES[card] for card in order)


# --- what an accepted claim does


def test_a_claim_plays_the_hand_out() -> None:
    """The claimant's proving order, of the others each the first card it may play, then the score as after any hand."""
    given(dealt(small_rules(TOP), TOP)).when(claim(0)).then(
        *(laid(0, "AS"), laid(1, "3S"), laid(2, "4S"), e.TrickEnded(seat=0)),
        *(laid(0, "KS"), laid(1, "5H"), laid(2, "6H"), e.TrickEnded(seat=0)),
        *(laid(0, "2D"), laid(1, "9H"), laid(2, "7H"), e.TrickEnded(seat=0)),
        *(e.HandScored, e.GameEnded),
    )


def test_a_claim_in_the_middle_of_a_trick_ends_it() -> None:
    """What lies on the table stays as it was played."""
    hands = ["3S 5H", "AS KS", "4S 6H"]
    given(played(dealt(small_rules(hands), hands), "3S")).when(claim(1)).then(
        *(laid(1, "AS"), laid(2, "4S"), e.TrickEnded(seat=1)),
        *(laid(1, "KS"), laid(2, "6H"), laid(0, "5H"), e.TrickEnded(seat=1)),
        ...,
    )


def test_the_next_hand_is_dealt_at_once() -> None:
    """A claim that does not end the game is followed by the next deal in the same append."""
    rules = small_rules(TOP, hand_limit=2)
    events = given(dealt(rules, TOP)).when(claim(0, at=7)).then(*[e.CardPlayed, e.CardPlayed, ...])
    assert [e.HandScored, e.HandDealt] == [type(event) for event in events[-2:]]
    assert {7} == {event.at for event in events}


def test_a_claim_that_shoots_the_moon_waits_for_the_choice() -> None:
    """The claimant chooses its effect as after any last card."""
    rules = small_rules(MOON_HANDS, moon_effect="choice")
    events = dealt(rules, MOON_HANDS)
    claimed = (
        given(events)
        .when(claim(0))
        .then(*[e.CardPlayed] * 3, e.TrickEnded, *[e.CardPlayed] * 3, e.TrickEnded)
    )
    given(events, claimed).when(c.ChooseMoon(who="p0", choice="add")).then(
        e.MoonChosen(seat=0, choice="add", by="player"), e.HandScored, e.GameEnded
    )


# --- when one may claim


@pytest.mark.parametrize(
    ("events", "who", "code"),
    [
        (opened(), "p0", "seat/not_yours"),
        (opened(seats="pppo"), "p0", "game/not_started"),
        (passing(), "p0", "play/not_your_turn"),
        (plain(), "p1", "play/not_your_turn"),
        (plain(), "p9", "seat/not_yours"),
        (moon_pending(), "p0", "play/hand_over"),
        (after(plain(), c.StandUp(player="p0", seat=0)), "p0", "seat/not_yours"),
        (after(dealt(small_rules(TOP), TOP), claim(0)), "p0", "game/over"),
        (plain(), "p0", "claim/not_certain"),
    ],
)
def test_a_claim_is_for_who_is_to_play(events: list[e.Event], who: str, code: str) -> None:
    """Others, bots' seats, other phases and claims that are not certain are refused, and nothing changes."""
    given(events).when(c.ClaimRest(who=who)).refused(code)


def test_a_refused_claim_is_told_in_words() -> None:
    """What was not shown, and by what it would be; no card is named."""
    refusal = given(plain()).when(claim(0)).refused("claim/not_certain")
    assert (
        "your cards, your passes and the cards played do not show that you take every trick left",
        "play on, and claim again when they do",
        None,
    ) == (refusal.detail, refusal.hint, refusal.legal)


def test_a_claim_leaves_the_others_waiting_for_nothing() -> None:
    """Given a hand that a claim has ended, its moon chosen or none shot, the next one waits for its own first move."""
    rules = small_rules(TOP, hand_limit=2)
    state = fold(None, after(dealt(rules, TOP), claim(0)))
    assert ("play", 2, (1,)) == (state.phase, len(state.hands) + 1, to_act(state))


# --- what is certain

CERTAIN: list[tuple[str, list[str], str, str, dict[str, object]]] = [
    ("top cards", ["AS KS", "QS JS", "TS 9S"], "", "AS KS", {}),
    ("a long suit after the others' cards have fallen", ["AS KS 4S", "QS 5H 6H", "JS 7H 8H"], "", "AS KS 4S", {}),
    ("a long suit that another may hold whole", ["AS KS 2S", "3S 4H 5H", "4S 6H 7H"], "8S", "", {}),
    ("a suit that nobody else can have", ["2D 3D", "4S 5H", "6S 7H"], "", "3D 2D", {}),
    ("hearts last, before they are broken", ["AS AH", "4S 5H", "6S 7H"], "", "AS AH", {}),
    ("a card beside its own twin", ["AS AS", "4S 5H", "KS 7H"], "", "AS AS", {"decks": 2, "cancel": True}),
    ("a card whose twin is out", ["AS", "AS", "KH"], "", "", {"decks": 2, "cancel": True}),
    ("a card whose twin beats it", ["AS", "AS", "KH"], "", "", {"decks": 2}),
    ("twins that must cancel", ["KS", "AS", "AS"], "", "KS", {"decks": 2, "cancel": True}),
    ("twins that need not", ["KS", "AS", "AS"], "7H", "", {"decks": 2, "cancel": True}),
    ("twins, the later of which wins", ["KS", "AS", "AS"], "", "", {"decks": 2}),
    ("a dead last trick for its leader", ["AS", "AS", "3H"], "", "AS", {"decks": 2, "cancel": True, "dead_last": "leader"}),
    ("a dead last trick for nobody", ["AS", "AS", "3H"], "", "", {"decks": 2, "cancel": True}),
    ("the best card, with room for all others in the kitty", ["KS", "2S", "3S"], "AS", "", {}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("hands", "kitty", "order", "rules"), [one[1:] for one in CERTAIN], ids=[one[0] for one in CERTAIN]
)
def test_what_is_certain_at_the_lead(
    hands: list[str], kitty: str, order: str, rules: dict[str, object]
) -> None:
    """Given three hands and what seat 0 sees of them, its proving order; none where it is not certain."""
    events = dealt(small_rules(hands, kitty, breakers=["H"], **rules), hands, kitty)
    assert (order or None) == order_of(events)


def test_a_low_card_is_certain_when_nobody_can_have_kept_a_higher_one() -> None:
    """Two others and three spades out: after two leads one of them may have kept a third; after three nobody has."""
    long, short = ["AS KS QS 2S", "3S 4S 5H 6H", "5S 7H 8H 9H"], ["AS KS 2S", "3S 4H 5H", "5S 7H 8H"]
    rules = {"breakers": ["H"]}
    assert "AS KS QS 2S" == order_of(dealt(small_rules(long, **rules), long))
    assert order_of(dealt(small_rules(short, **rules), short)) == "AS KS 2S"
    three = ["AS KS 2S", "3S 4S 5S", "6H 7H 8H"]
    assert order_of(dealt(small_rules(three, **rules), three)) is None


def test_a_void_that_was_shown_counts() -> None:
    """Who did not follow diamonds has none: those still out are in the kitty."""
    hands = ["AD 2D", "3S 4S", "5S 6S"]
    events = dealt(small_rules(hands, "QD KD"), hands, "QD KD")
    assert order_of(events) is None
    assert order_of(played(events, "AD 3S 5S")) == "2D"


def test_a_card_passed_is_known_to_be_held() -> None:
    """Seat 1 holds the card it got, and has room for nothing else: the ace of spades is in the kitty."""
    held = ["2C KS", "3D 4C", "5C 5S"]
    events = dealt(small_rules(held, "AS"), held, "AS")
    assert order_of(played(events, "2C 4C 5C 5S")) is None
    hands = ["2C 3D", "4C 5C", "5S KS"]
    events = dealt(small_rules(hands, "AS", pass_count=1, pass_cycle=[1]), hands, "AS")
    passed = after(events, give(0, "3D"), give(1, "5C"), give(2, "KS"))
    assert order_of(played(passed, "2C 4C 5C 5S")) == "KS"


def test_a_lead_that_was_legal_counts() -> None:
    """Who led a heart before hearts were broken had nothing else, so that it can have no diamond."""
    hands = ["AD 3C AH 2D", "3D 4C 2H 3H", "4S 2C 5H KS"]
    for breakers, order in ((["H"], "AH 2D"), ([], None)):
        rules = small_rules(hands, "KD QD", breakers=breakers)
        events = played(dealt(rules, hands, "KD QD"), "AD 3D 4S 3C 4C 2C 2H 5H")
        assert order == order_of(events)


def test_the_last_to_play_knows_what_it_takes() -> None:
    """In the middle of a trick only the seats that still play to it can beat a card; it is the lowest that will do."""
    hands = ["5S 2H", "6S 3H", "7S AS"]
    assert order_of(played(dealt(small_rules(hands), hands), "5S 6S")) in ("7S AS", "AS 7S")
    hands = ["5S 2H", "7S AS", "6S 3H"]
    assert order_of(played(dealt(small_rules(hands), hands), "5S")) == "AS 7S"
    hands = ["8S 2H", "7S 3H", "6S 4H"]
    assert order_of(played(dealt(small_rules(hands), hands), "8S")) is None


def test_a_lead_that_is_not_legal_proves_nothing() -> None:
    """Given a card that must open the hand, the order begins with it or there is none."""
    hands = ["2C AS", "3D KS", "4D QS"]
    assert order_of(dealt(small_rules(hands, opener="forced"), hands)) == "2C AS"
    hands = ["2C AS", "3C KS", "4D QS"]
    assert order_of(dealt(small_rules(hands, opener="forced"), hands)) is None


TWO_PAIRS = {"decks": 2, "cancel": True}


@pytest.mark.parametrize(
    ("hands", "plays", "order"),
    [(["AS", "3H", "3H", "4H", "4H"], "", "AS"), (["2S", "2S", "AS", "4H", "4H"], "2S 2S", "AS")],
    ids=["two to come", "one on the table"],
)
def test_two_pairs_that_may_meet_leave_nothing_certain(hands: list[str], plays: str, order: str) -> None:
    """Where two pairs kill a trick whatever else lies there; with the usual rule the highest live card takes it."""
    for rule, found in (("no_live_card", order), ("two_pairs", None)):
        rules = small_rules(hands, "2C", dead_trick=rule, **TWO_PAIRS)
        assert found == order_of(played(dealt(rules, hands, "2C"), plays))


# --- what plays show of the hands they came from

SHOWN: list[tuple[str, list[str], str, dict[str, object], list[str]]] = [
    ("nothing before a play", ["3C 4D", "5C 6D", "7C 8D"], "", {}, ["3C 4D", "3C 4D", "3C 4D"]),
    ("a suit that was not followed", ["3C 4C", "5D 6D", "7C 8C"], "3C 5D 7C", {}, ["5D 6C", "5D", "5D 6C"]),
    (
        "an opening lead of what is banned",
        ["4H 5H", "6D 7D", "8D 9D"],
        "4H",
        {"opening_ban": ["H"]},
        ["5H", "5H QS 2C", "5H QS 2C"],
    ),
    (
        "a banned discard on the first trick",
        ["4D 5D", "6H 7H", "8D 9D"],
        "4D 6H",
        {"trick1_ban": ["H", "QS"]},
        ["7H QS 2C", "7H QS", "7H QS 2C"],
    ),
    (
        "a heart where the queen would have had to go",
        ["4D 5D", "6H 7H", "8D 9D"],
        "4D 6H",
        {"trick1_ban": ["H", "QS"], "trick1_all_banned": "must_qs"},
        ["7H QS 2C", "7H", "7H QS 2C"],
    ),
    (
        "the queen where she had to go",
        ["4D 5D", "QS 7H", "8D 9D"],
        "4D QS",
        {"trick1_ban": ["H", "QS"], "trick1_all_banned": "must_qs"},
        ["7H 2C", "7H", "7H 2C"],
    ),
    (
        "a heart led before they were broken",
        ["4D 5H 6H", "2D 9D TD", "3D JD KD"],
        "4D 2D 3D 5H",
        {"breakers": ["H"]},
        ["6H", "6H QS TD", "6H QS TD"],
    ),
    (
        "a heart led beside the queen",
        ["4D 5H QS", "2D 9D TD", "3D JD KD"],
        "4D 2D 3D 5H",
        {"breakers": ["H"], "qs_hearts_lead": "any"},
        ["6H QS", "6H QS TD", "6H QS TD"],
    ),
    (
        "a heart led after they were broken",
        ["4D 5D 6H", "2H 9D TD", "3D JD KD"],
        "4D 9D 3D",
        {"breakers": ["D"]},
        ["6H 5D", "6H 5D", "6H 5D"],
    ),
]


@pytest.mark.parametrize(
    ("hands", "plays", "rules", "expected"), [one[1:] for one in SHOWN], ids=[one[0] for one in SHOWN]
)
def test_what_plays_show(hands: list[str], plays: str, rules: dict[str, object], expected: list[str]) -> None:
    """Given plays that were legal, of the cards that a case names each seat may hold just these."""
    built = small_rules(hands, **{"breakers": [], **rules})
    seen = view(fold(None, played(dealt(built, hands), plays)), None)
    named = sorted({card for text in expected for card in parse_cards(text)})
    possible = possible_cards(terms_of(built), seen)
    assert [sorted(parse_cards(text)) for text in expected] == [
        [card for card in named if mask >> card & 1] for mask in possible
    ]


@pytest.mark.parametrize(
    ("hands", "plays", "clubs"),
    [
        (["5C 5D", "4C 4C", "6C 7D"], "4C", ["5C 6C", "4C 5C 6C", "4C 5C 6C"]),
        (["4D 5D", "3D 7D", "6D 8D"], "4D", ["", "", ""]),
    ],
    ids=["led", "none"],
)
def test_what_a_forced_opening_shows(hands: list[str], plays: str, clubs: list[str]) -> None:
    """Nobody has a lower club than the one led, nor its twin who would have led before; no club is led where none is held."""
    rules = small_rules(hands, opener="forced", decks=2)
    seen = view(fold(None, played(dealt(rules, hands), plays)), None)
    low = [CARDS[f"{rank}C"] for rank in "23456"]
    assert clubs == [
        " ".join(NAMES[card] for card in low if mask >> card & 1)
        for mask in possible_cards(terms_of(rules), seen)
    ]
