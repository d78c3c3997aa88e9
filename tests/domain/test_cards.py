"""Cards, their notation, and hands as multisets."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.cards import (
    AS,
    CARDS,
    FIRST_COPIES,
    HEARTS,
    HEARTS_MASK,
    JD,
    KS,
    NAMES,
    QS,
    SUIT_MASKS,
    SUIT_OF,
    add_card,
    add_masks,
    cards_of,
    contains,
    distinct_cards,
    drop_card,
    format_cards,
    format_mask,
    has_card,
    iter_suits,
    mask_of,
    parse_card,
    parse_cards,
    read_mask,
    remove_cards,
    subtract_masks,
)
from domain.refusals import Malformed
from tests.support.games import steady

HANDS = st.lists(st.integers(0, 51), max_size=60).map(
    lambda cards: [card for place, card in enumerate(cards) if cards[:place].count(card) < 2]
)


def test_cards_are_numbered_by_suit_then_rank() -> None:
    """Clubs, diamonds, spades, hearts, 2 low and ace high: the order in which lists are written."""
    assert "2C 3C 4C 5C 6C 7C 8C 9C TC JC QC KC AC 2D" == " ".join(NAMES[:14])
    assert ("AC", "AD", "AS", "AH") == tuple(NAMES[13 * suit + 12] for suit in range(4))
    assert ["QS", "JD", "AS", "KS"] == [NAMES[card] for card in (QS, JD, AS, KS)]
    assert HEARTS_MASK == SUIT_MASKS[HEARTS] == mask_of(card for card in range(52) if SUIT_OF[card] == HEARTS)
    assert len(CARDS) == 52


@pytest.mark.parametrize(
    ("text", "card"), [("QS", "QS"), ("qs", "QS"), ("Ts", "TS"), ("10S", "TS"), ("10h", "TH"), (" 2c ", "2C")]
)
def test_cards_are_read_in_any_spelling(text: str, card: str) -> None:
    """Either case, and 10 for T."""
    assert card == NAMES[parse_card(text)]


@pytest.mark.parametrize(
    "text", ["", "Q", "S", "SQ", "1S", "11S", "QSS", "10", "100S", "Q S", "QX", "♠Q", "Q♠", "0S", None, 5, ["QS"], b"QS"]
)  # fmt: skip
def test_what_is_no_card_is_told(text: object) -> None:
    """The message names what was read."""
    with pytest.raises(Malformed, match="not a card"):
        parse_card(text)


def test_lists_are_read_in_the_order_written() -> None:
    """Any white space parts them; none is no cards; they are written sorted."""
    cards = parse_cards("QS\t10d  2c\n")
    assert ["QS", "TD", "2C"] == [NAMES[card] for card in cards]
    assert "2C TD QS" == format_cards(cards)
    assert "2C TD QS" == format_mask(mask_of(cards))
    assert [] == parse_cards("  ")
    assert "" == format_cards([])
    for wrong in (None, 5, ["QS"], b"QS"):
        with pytest.raises(Malformed, match="not a list of cards"):
            parse_cards(wrong)
    with pytest.raises(Malformed, match="not a card: 'QX'"):
        parse_cards("2C QX")


@steady(100)
@given(HANDS, HANDS)
def test_a_hand_is_a_multiset(cards: list[int], others: list[int]) -> None:
    """Everything asked of two masks is what a counter of cards says."""
    one, two = Counter(cards), Counter(others)
    mask, other = mask_of(cards), mask_of(others)
    assert sorted(cards) == cards_of(mask)
    assert sorted(set(cards)) == distinct_cards(mask) == distinct_cards(mask & FIRST_COPIES)
    assert len(cards) == mask.bit_count()
    assert (two <= one) is contains(mask, other)
    assert all((one[card] > 0) is has_card(mask, card) for card in range(52))
    assert mask == read_mask(format_mask(mask))
    assert [[card for card in sorted(cards) if card // 13 == suit] for suit in range(4)] == [
        held for _, held in iter_suits(mask)
    ]
    if max((one + two).values(), default=0) <= 2:
        assert sorted((one + two).elements()) == cards_of(add_masks(mask, other))
        assert mask == subtract_masks(add_masks(mask, other), other)
    else:
        with pytest.raises(Malformed, match="three copies"):
            add_masks(mask, other)
    if two <= one:
        assert sorted((one - two).elements()) == cards_of(subtract_masks(mask, other))
        assert subtract_masks(mask, other) == remove_cards(mask, others)


def test_a_third_copy_is_refused() -> None:
    """A hand holds two of a card at most, and drops one at a time."""
    twice = mask_of([QS, QS])
    assert mask_of([QS]) == drop_card(twice, QS)
    assert 0 == drop_card(mask_of([QS]), QS)
    for wrong in (
        lambda: add_card(twice, QS),
        lambda: mask_of([QS] * 3),
        lambda: add_masks(twice, mask_of([QS])),
    ):
        with pytest.raises(Malformed, match="three copies"):
            wrong()


def test_our_own_lists_are_read_strictly() -> None:
    """The quick reader takes lists just as we write them."""
    for wrong in ("qs", "10S", "QS,KS", "1X"):
        with pytest.raises(KeyError):
            read_mask(wrong)
