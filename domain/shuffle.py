"""The deal and its commitments: from secret bytes to hands, as ``docs/spec/audit.md`` sections 1 to 6 pin it.

Only SHA-256 and HMAC-SHA-256. Hashes, secrets and roots are their 32 raw bytes here; events carry them in hex.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from struct import Struct
from typing import Literal

import msgspec

from domain.cards import DECK_SIZE, Card

Opening = tuple[int, str, str]
"""``(seat, kind, value)``: kind ``player`` or ``bot``, value the opened entropy in hex, or ``""``."""
Hidden = Literal["hand", "pass", "kitty"]


def hash_parts(tag: str, *parts: bytes) -> bytes:
    """``H(tag, parts...)``: domain separated, every part length prefixed; 32 bytes."""
    block = [tag.encode(), b"\0"]
    for part in parts:
        block.append(len(part).to_bytes(4, "big"))
        block.append(part)
    return sha256(b"".join(block)).digest()


_BLOCK = 64
"""Bytes of a block of SHA-256, which HMAC fills a key up to."""
_INNER, _OUTER = (bytes(byte ^ pad for byte in range(256)) for pad in (0x36, 0x5C))
"""What HMAC makes of each byte of a key, for the hash of the message and for that of this hash."""
_EMPTY = sha256()


def mac_parts(key: bytes, tag: str, *parts: bytes) -> bytes:
    """``M(key, tag, parts...)``: HMAC-SHA-256 over `hash_parts`; 32 bytes."""
    return _mac(key, hash_parts(tag, *parts))


def _mac(key: bytes, message: bytes) -> bytes:
    """HMAC-SHA-256 as RFC 2104 has it. `hmac.digest` takes half as long again; a test holds the two equal."""
    block = (key if len(key) <= _BLOCK else sha256(key).digest()).ljust(_BLOCK, b"\0")
    inner, outer = _EMPTY.copy(), _EMPTY.copy()
    inner.update(block.translate(_INNER) + message)
    outer.update(block.translate(_OUTER) + inner.digest())
    return outer.digest()


@lru_cache(maxsize=64)
def _chain(last: bytes, length: int) -> tuple[bytes, ...]:
    links = [last]
    for _ in range(length):
        links.append(hash_parts("hearts/v1/seed-chain", links[-1]))
    links.reverse()
    return tuple(links)


def chain_link(last: bytes, length: int, index: int) -> bytes:
    """Link ``s_index`` of the reverse hash chain whose last link ``s_length`` is ``last``; ``s_0`` is the anchor."""
    return _chain(last, length)[index]


def commit_entropy(opening: bytes) -> bytes:
    """The commitment to a player's 32 bytes of entropy."""
    return hash_parts("hearts/v1/entropy-commit", opening)


def entropy_root(game: str, openings: Sequence[Opening]) -> bytes:
    """``E``: the hash that freezes what every seat contributed to the deals."""
    rows = [msgspec.json.encode(list(opening)) for opening in openings]
    return hash_parts("hearts/v1/entropy", game.encode(), *rows)


def deal_seed(secret: bytes, game: str, hand: int, root: bytes) -> bytes:
    """``seed_r``: the seed of the deal of hand ``hand``, counted from 1."""
    return mac_parts(secret, "hearts/v1/deal", game.encode(), str(hand).encode(), root)


class _Words:
    """The stream of 32-bit words that follows from a seed."""

    def __init__(self, seed: bytes) -> None:
        self._seed = seed
        self._block = b""
        self._at = 0
        self._next = 0

    def below(self, bound: int) -> int:
        """A uniform number below ``bound``, by skipping the words that would make it uneven."""
        limit = (1 << 32) - (1 << 32) % bound
        while True:
            if self._at == len(self._block):
                self._block = sha256(self._seed + self._next.to_bytes(4, "big")).digest()
                self._next += 1
                self._at = 0
            word = int.from_bytes(self._block[self._at : self._at + 4], "big")
            self._at += 4
            if word < limit:
                return word % bound


def full_deck(decks: int, removed: Sequence[Card]) -> list[Card]:
    """The cards in play in their starting order; each removed card drops one copy, the last."""
    cards = list(range(DECK_SIZE)) * decks
    for card in removed:
        del cards[len(cards) - 1 - cards[::-1].index(card)]
    return cards


_LIMITS: tuple[int, ...] = (0, *((1 << 32) - (1 << 32) % bound for bound in range(1, 2 * DECK_SIZE + 1)))
"""By bound, the first word that `_Words.below` skips."""
_read_words = Struct(">8I").unpack


def shuffle_deck(deck: Sequence[Card], seed: bytes) -> list[Card]:
    """Fisher-Yates from the top, driven by the words of ``seed``.

    `_Words` written out, for every deal of every proof is made again with it; a test holds them equal.
    """
    cards = list(deck)
    top, block = len(cards) - 1, 0
    while top > 0:
        for word in _read_words(sha256(seed + block.to_bytes(4, "big")).digest()):
            if word < _LIMITS[top + 1]:
                other = word % (top + 1)
                cards[top], cards[other] = cards[other], cards[top]
                top -= 1
                if not top:
                    break
        block += 1
    return cards


def deal_cards(
    deck: Sequence[Card], seats: int, hand: int, seed: bytes
) -> tuple[list[list[Card]], list[Card]]:
    """The hands in the order dealt, seat 0 first, and the kitty. ``hand`` is the number of cards a seat."""
    cards = shuffle_deck(deck, seed)
    dealt = seats * hand
    return [cards[seat:dealt:seats] for seat in range(seats)], cards[dealt:]


@lru_cache(maxsize=64)
def _hide_parts(who: str, what: Hidden) -> bytes:
    return hash_parts("hearts/v1/hide", who.encode(), what.encode())


def hiding_key(secret: bytes, who: str, what: Hidden) -> bytes:
    """The key under which hand secret ``secret`` hides a card list: ``who`` is a seat's number, or ``kitty``."""
    return _mac(secret, _hide_parts(who, what))


_HIDDEN = sha256(b"hearts/v1/hidden\0")


def commit_cards(key: bytes, text: str) -> bytes:
    """The commitment to a card list as it is written.

    `mac_parts` written out, for a proof has some nine a hand; a test holds them equal.
    """
    raw = text.encode()
    digest = _HIDDEN.copy()
    digest.update(len(raw).to_bytes(4, "big") + raw)
    return _mac(key, digest.digest())


def bot_seed(secret: bytes, seat: int, decision: int) -> bytes:
    """The seed of a house bot's decision: 0 the pass, 1, 2, ... the seat's plays, then the moon choice."""
    return mac_parts(secret, "hearts/v1/bot", str(seat).encode(), str(decision).encode())


def genesis_head(game: str) -> bytes:
    """``head_0`` of a game's event chain."""
    return hash_parts("hearts/v1/genesis", game.encode())


_EVENT = sha256(b"hearts/v1/event\0" + (32).to_bytes(4, "big"))


def next_head(head: bytes, raw: bytes) -> bytes:
    """``head_n`` from ``head_(n-1)`` and the stored public bytes of event n.

    `hash_parts` written out for its two parts, for it runs once for each event read; a test holds them equal.
    """
    # a copy is a third quicker than a new object, which looks the algorithm up again
    digest = _EVENT.copy()
    digest.update(head + len(raw).to_bytes(4, "big") + raw)
    return digest.digest()


def next_heads(head: bytes, events: Sequence[bytes]) -> list[bytes]:
    """`next_head` of each of ``events`` in turn, without its call; a test holds them equal."""
    heads, copy = [], _EVENT.copy
    for raw in events:
        digest = copy()
        digest.update(head + len(raw).to_bytes(4, "big") + raw)
        head = digest.digest()
        heads.append(head)
    return heads
