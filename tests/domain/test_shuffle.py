"""The deal and its commitments, against the vector and the words of ``docs/spec/audit.md`` 1 to 6."""

from __future__ import annotations

import hmac
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import shuffle
from domain.cards import NAMES, format_cards, parse_cards
from domain.shuffle import (
    _Words,
    bot_seed,
    chain_link,
    commit_cards,
    commit_entropy,
    deal_cards,
    deal_seed,
    entropy_root,
    full_deck,
    genesis_head,
    hash_parts,
    hiding_key,
    mac_parts,
    next_head,
    next_heads,
    shuffle_deck,
)
from tests.support.games import steady

LAST = bytes(range(32))
OPENINGS = [(seat, "player", bytes([seat] * 32).hex()) for seat in range(4)]
ROOT = "0191a0ab94ca6486447b8adc05ea5e33774337e2551d1fdf4b934b81af2d28fe"
SEED = "f2c14490f9e59b753dd3ce2a993cc5d62e299b8e02d7bd9523db3f3841ea4a8f"


def test_the_anchor_of_the_vector() -> None:
    """The chain of 64 links from s_64 = 00 01 ... 1f: its anchor and the secret of the first hand."""
    assert "5ff50b55996e5a3a79d47c675d5dcec28b4c450a8e533fe8a9ee3d06a12792ef" == chain_link(LAST, 64, 0).hex()
    assert "8e4e7fd448996444b443452bc989de0179e28d4e518e84d570e156bada9ed431" == chain_link(LAST, 64, 1).hex()
    assert LAST == chain_link(LAST, 64, 64)


def test_the_entropy_of_the_vector() -> None:
    """The root of four openings, the first hand's seed, and the commitment to the first opening."""
    assert ROOT == entropy_root("g-test", OPENINGS).hex()
    assert SEED == deal_seed(chain_link(LAST, 64, 1), "g-test", 1, bytes.fromhex(ROOT)).hex()
    commitment = "dd1f1c3bba4bd44a4b75d6f2c98c04fdd28e07b0a3ea7f2775cc0cfcfe914354"
    assert commitment == commit_entropy(bytes(32)).hex()


def test_the_deal_of_the_vector() -> None:
    """Seat 0's cards in the order dealt, and the commitment to them in hand 1."""
    hands, kitty = deal_cards(full_deck(1, []), 4, 13, bytes.fromhex(SEED))
    assert "2C 3D KC 4D 6C 6S 9C 6H QC 9S 5H AC JC" == " ".join(NAMES[card] for card in hands[0])
    assert [] == kitty
    key = hiding_key(chain_link(LAST, 64, 1), "0", "hand")
    commitment = "83fc13912eb9be5a86c40d4214b23588de8e7340e02fa53db534ebcec4cca3e6"
    assert commitment == commit_cards(key, format_cards(hands[0])).hex()


def test_the_first_head_of_the_vector() -> None:
    """The chain of events starts from the game's id."""
    assert "f1c7aae76ce12d05725b341e6e07f147396cf4946a70868f354e1cf9c4b158bc" == genesis_head("g-test").hex()


def h(tag: str, *parts: bytes) -> bytes:
    """H of the protocol, written out once more."""
    text = tag.encode() + bytes(1)
    for part in parts:
        text += len(part).to_bytes(4, "big") + part
    return sha256(text).digest()


def m(key: bytes, tag: str, *parts: bytes) -> bytes:
    """M of the protocol."""
    return hmac.new(key, h(tag, *parts), "sha256").digest()


@steady(50)
@given(st.text(max_size=20), st.lists(st.binary(max_size=300), max_size=4), st.binary(max_size=40))
def test_hashes_are_domain_separated_and_length_prefixed(tag: str, parts: list[bytes], key: bytes) -> None:
    """H and M are what the protocol writes, for any parts."""
    assert h(tag, *parts) == hash_parts(tag, *parts)
    assert m(key, tag, *parts) == mac_parts(key, tag, *parts)


@steady(50)
@given(st.binary(min_size=32, max_size=32), st.binary(max_size=5000))
def test_the_quick_head_is_the_hash_of_its_two_parts(head: bytes, raw: bytes) -> None:
    """`next_head` is `hash_parts` written out, for events of any length."""
    assert hash_parts("hearts/v1/event", head, raw) == next_head(head, raw)


@given(st.binary(min_size=32, max_size=32), st.lists(st.binary(max_size=300), max_size=5))
def test_many_heads_are_the_heads_one_by_one(head: bytes, events: list[bytes]) -> None:
    """`next_heads` is `next_head` of each event after the one before it."""
    expected = []
    last = head
    for raw in events:
        last = next_head(last, raw)
        expected.append(last)
    assert expected == next_heads(head, events)


@given(st.integers(0, 104), st.binary(min_size=32, max_size=32))
def test_the_quick_shuffle_is_that_of_the_words(size: int, seed: bytes) -> None:
    """`shuffle_deck` is Fisher-Yates by `_Words`, written out."""
    words, cards = _Words(seed), list(range(size))
    for top in range(size - 1, 0, -1):
        other = words.below(top + 1)
        cards[top], cards[other] = cards[other], cards[top]
    assert cards == shuffle_deck(range(size), seed)


def test_the_quick_shuffle_skips_the_words_that_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given limits so low that every third word is skipped, then both skip the same ones."""
    low = [0, *((1 << 31) + (1 << 30) for _ in range(104))]
    monkeypatch.setattr(shuffle, "_LIMITS", tuple(low))
    blocks = b"".join(sha256(LAST + number.to_bytes(4, "big")).digest() for number in range(40))
    every = [int.from_bytes(blocks[place : place + 4], "big") for place in range(0, len(blocks), 4)]
    kept = iter([word for word in every if word < low[1]])
    cards = list(range(104))
    for top in range(103, 0, -1):
        other = next(kept) % (top + 1)
        cards[top], cards[other] = cards[other], cards[top]
    assert cards == shuffle_deck(range(104), LAST)


def test_the_limits_are_those_of_the_words() -> None:
    """The first word that is skipped for each bound."""
    assert [(1 << 32) - (1 << 32) % bound for bound in range(1, 105)] == list(shuffle._LIMITS[1:])


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_the_quick_mac_is_the_mac(key: bytes, message: bytes) -> None:
    """`_mac` is HMAC-SHA-256 under keys of any length."""
    assert hmac.digest(key, message, "sha256") == shuffle._mac(key, message)


@pytest.mark.parametrize("length", [1, 2, 64, 4096])
def test_each_link_is_the_hash_of_the_next(length: int) -> None:
    """Revealing one link tells nothing of the next, and each leads back to the anchor."""
    links = [chain_link(LAST, length, index) for index in range(length + 1)]
    assert links[length] == LAST
    assert all(links[index - 1] == h("hearts/v1/seed-chain", links[index]) for index in range(1, length + 1))


def test_what_enters_the_root() -> None:
    """The game's id and each seat's number, kind and opening, in order."""
    rows = [b'[0,"player","%b"]' % (b"ab" * 32), b'[1,"bot",""]']
    assert h("hearts/v1/entropy", "g-ö".encode(), *rows) == entropy_root(
        "g-ö", [(0, "player", "ab" * 32), (1, "bot", "")]
    )


def test_each_hidden_list_has_a_key_of_its_own() -> None:
    """By secret, seat and kind; a bot's seeds are by seat and decision."""
    who = [("0", "hand"), ("0", "pass"), ("1", "hand"), ("1", "pass"), ("kitty", "kitty")]
    for one, what in who:
        assert m(LAST, "hearts/v1/hide", one.encode(), what.encode()) == hiding_key(LAST, one, what)  # type: ignore[arg-type]
    assert m(LAST, "hearts/v1/bot", b"2", b"13") == bot_seed(LAST, 2, 13)
    assert m(ROOT.encode(), "hearts/v1/hidden", b"QS KS") == commit_cards(ROOT.encode(), "QS KS")
    assert m(LAST, "hearts/v1/deal", b"g", b"12", b"root") == deal_seed(LAST, "g", 12, b"root")


def plain_deal(deck: list[int], seats: int, hand: int, seed: bytes) -> tuple[list[list[int]], list[int]]:
    """The deal as the protocol words it, step by step."""
    blocks = b"".join(sha256(seed + number.to_bytes(4, "big")).digest() for number in range(40))
    words = iter([int.from_bytes(blocks[place : place + 4], "big") for place in range(0, len(blocks), 4)])
    cards = list(deck)
    for i in range(len(cards) - 1, 0, -1):
        word = next(words)
        while word >= 2**32 - 2**32 % (i + 1):
            word = next(words)
        j = word % (i + 1)
        cards[i], cards[j] = cards[j], cards[i]
    hands: list[list[int]] = [[] for _ in range(seats)]
    for k, card in enumerate(cards[: seats * hand]):
        hands[k % seats].append(card)
    return hands, cards[seats * hand :]


@steady(60)
@given(st.integers(3, 11), st.integers(1, 2), st.integers(0, 12), st.data())
def test_any_deal_follows_from_its_seed(players: int, decks: int, removed: int, data: st.DataObject) -> None:
    """One card a seat in turn from the shuffled deck, the rest is the kitty."""
    out = data.draw(st.lists(st.integers(0, 51), min_size=removed, max_size=removed, unique=True))
    deck = full_deck(decks, out)
    hand = data.draw(st.integers(1, len(deck) // players))
    seed = data.draw(st.binary(min_size=32, max_size=32))
    assert plain_deal(deck, players, hand, seed) == deal_cards(deck, players, hand, seed)
    assert sorted(deck) == sorted(shuffle_deck(deck, seed))


def test_words_that_would_make_it_uneven_are_skipped() -> None:
    """With a bound just over half the range almost half the words are; the others come out unchanged, in order."""
    bound = (1 << 31) + 1
    blocks = b"".join(sha256(LAST + number.to_bytes(4, "big")).digest() for number in range(8))
    every = [int.from_bytes(blocks[place : place + 4], "big") for place in range(0, len(blocks), 4)]
    kept = [word for word in every if word < bound]
    words = _Words(LAST)
    assert 0 < len(kept) < len(every)
    assert kept == [words.below(bound) for _ in kept]


def test_a_word_at_the_very_limit_is_skipped() -> None:
    """A bound above half the range is its own limit: the word equal to it is the first that is skipped."""
    seeds = [bytes([value] * 32) for value in range(8)]
    streams = {seed: sha256(seed + bytes(4)).digest() for seed in seeds}
    high = {seed: block for seed, block in streams.items() if block[0] > 0x80}
    assert high
    for seed, block in high.items():
        first, *rest = (int.from_bytes(block[place : place + 4], "big") for place in range(0, 32, 4))
        assert next(word for word in rest if word < first) == _Words(seed).below(first)
        assert first == _Words(seed).below(first + 1)


@pytest.mark.parametrize(
    ("decks", "removed", "ends"),
    [
        (1, "", ("2C", "AH", 52)),
        (1, "2C AH", ("3C", "KH", 50)),
        (2, "", ("2C", "AH", 104)),
        (2, "2C AH", ("2C", "KH", 102)),
        (2, "2C 2C", ("3C", "AH", 102)),
    ],
)
def test_the_starting_order(decks: int, removed: str, ends: tuple[str, str, int]) -> None:
    """Clubs, diamonds, spades, hearts from 2 to A, once or twice; a removed card drops its last copy."""
    deck = full_deck(decks, parse_cards(removed))
    out = parse_cards(removed)
    first, last = ([card for card in range(52) if out.count(card) < enough] for enough in (decks, 1))
    assert [*first, *(last if decks == 2 else [])] == deck
    assert ends == (NAMES[deck[0]], NAMES[deck[-1]], len(deck))
