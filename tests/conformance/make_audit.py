"""Writes `audit.ndjson`: every formula of the audit protocol with fixed inputs, and proof files with changed bytes.

Nothing of the house is used: hashes are written out here after `docs/spec/audit.md`, signatures are the library's. Run it
from the root of the project: ``python tests/conformance/make_audit.py``, with a path to write elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from make_audit_log import (
    GAME,
    ONE,
    TWO,
    case,
    digest,
    key_cases,
    leaf_cases,
    note_cases,
    public_of,
    tree_cases,
)

FOLDER = Path(__file__).parent
FILE = FOLDER / "audit.ndjson"
CARDS = [rank + suit for suit in "CDSH" for rank in "23456789TJQKA"]


def mac(key: bytes, tag: str, *parts: bytes) -> bytes:
    """M of the specification."""
    return hmac.new(key, digest(tag, *parts), hashlib.sha256).digest()


def link(last: bytes, length: int, index: int) -> bytes:
    """Link ``index`` of the chain of secrets."""
    for _ in range(length - index):
        last = digest("hearts/v1/seed-chain", last)
    return last


FIRST_SECRET = link(ONE, 64, 1)
"""The secret of the first hand in the vector of the specification."""


def seeds() -> list[bytes]:
    """Some seeds that differ in every byte."""
    return [hashlib.sha256(f"seed {number}".encode()).digest() for number in range(12)]


# --- hashes, the chain of secrets, entropy


def hash_cases() -> Iterator[dict[str, Any]]:
    """H and M: no part, empty parts, parts that only the lengths tell apart."""
    for parts in ((), (b"",), (b"", b""), (b"ab", b"c"), (b"a", b"bc"), (b"abc",), (bytes(300),)):
        given = [part.hex() for part in parts]
        yield case("H", digest("hearts/v1/test", *parts).hex(), tag="hearts/v1/test", parts=given)
        yield case(
            "M", mac(ONE, "hearts/v1/test", *parts).hex(), key=ONE.hex(), tag="hearts/v1/test", parts=given
        )
    yield case(
        "H", digest("hearts/v1/ä♥", "ä♥".encode()).hex(), tag="hearts/v1/ä♥", parts=["ä♥".encode().hex()]
    )


def chain_cases() -> Iterator[dict[str, Any]]:
    """Links of the chain of secrets: the last one, the first hand's, the anchor."""
    for last in (ONE, TWO):
        for index in (64, 63, 2, 1, 0):
            yield case("link", link(last, 64, index).hex(), last=last.hex(), length=64, index=index)


def openings(kinds: str) -> list[list[Any]]:
    """What seats gave: a person with entropy (p), one without (n), a bot (b)."""
    return [
        [seat, "bot" if kind == "b" else "player", (bytes([seat]) * 32).hex() if kind == "p" else ""]
        for seat, kind in enumerate(kinds)
    ]


def root_of(game: str, rows: list[list[Any]]) -> bytes:
    """E."""
    return digest(
        "hearts/v1/entropy", game.encode(), *(json.dumps(row, separators=(",", ":")).encode() for row in rows)
    )


def entropy_cases() -> Iterator[dict[str, Any]]:
    """Commitments to entropy, and what freezes it."""
    for opening in (bytes(32), ONE, TWO):
        yield case(
            "entropy commitment", digest("hearts/v1/entropy-commit", opening).hex(), opening=opening.hex()
        )
    for game, kinds in ((GAME, "pppp"), (GAME, "pnbb"), (GAME, "bbb"), ("g-ä♥", "ppp"), (GAME, "p" * 11)):
        yield case("entropy root", root_of(game, openings(kinds)).hex(), game=game, openings=openings(kinds))


# --- the deal


def words(seed: bytes) -> Iterator[int]:
    """The words of a seed."""
    number = 0
    while True:
        block = hashlib.sha256(seed + number.to_bytes(4, "big")).digest()
        yield from (int.from_bytes(block[at : at + 4], "big") for at in range(0, 32, 4))
        number += 1


def below(stream: Iterator[int], bound: int) -> int:
    """A number below ``bound``."""
    return next(word % bound for word in stream if word < 2**32 - 2**32 % bound)


def deck_of(decks: int, removed: str) -> list[str]:
    """The starting order."""
    cards = CARDS * decks
    for name in removed.split():
        del cards[max(at for at, card in enumerate(cards) if card == name)]
    return cards


def deal(decks: int, removed: str, seats: int, hand: int, seed: bytes) -> dict[str, Any]:
    """The hands in the order dealt and the kitty."""
    cards, stream = deck_of(decks, removed), words(seed)
    for top in range(len(cards) - 1, 0, -1):
        other = below(stream, top + 1)
        cards[top], cards[other] = cards[other], cards[top]
    hands: list[list[str]] = [[] for _ in range(seats)]
    for at, card in enumerate(cards[: seats * hand]):
        hands[at % seats].append(card)
    return {"hands": [" ".join(one) for one in hands], "kitty": " ".join(cards[seats * hand :])}


TABLES = [
    (1, "", 4, 13),
    (1, "2D", 3, 17),
    (1, "2C 2D", 5, 10),
    (1, "", 5, 10),
    (1, "2C 2D 2S 2H", 6, 8),
    (1, "", 7, 7),
    (1, "AH", 3, 1),
    (2, "", 6, 17),
    (2, "2C 2C", 6, 17),
    (2, "2D", 7, 14),
    (2, "QS", 8, 12),
    (2, "", 8, 13),
    (2, "2C 2D 2S 2H 3C", 9, 11),
    (2, "", 10, 10),
    (2, "", 11, 9),
    (2, "", 3, 34),
]
"""Decks, removed cards, seats, cards a seat."""


def deal_cases() -> Iterator[dict[str, Any]]:
    """Seeds, words, numbers below a bound, decks, deals for 3 to 11 seats."""
    root = root_of(GAME, openings("pppp"))
    for hand in (1, 2, 10, 64):
        seed = mac(FIRST_SECRET, "hearts/v1/deal", GAME.encode(), str(hand).encode(), root)
        yield case("deal seed", seed.hex(), secret=FIRST_SECRET.hex(), game=GAME, hand=hand, root=root.hex())
        given = {"decks": 1, "removed": "", "seats": 4, "hand": 13, "seed": seed.hex()}
        yield case("deal", deal(1, "", 4, 13, seed), **given)
    for seed in (bytes(32), *seeds()[:2]):
        stream = words(seed)
        yield case("words", [next(stream) for _ in range(20)], seed=seed.hex())
    # above half of all words every second one is skipped
    for bounds in (
        [52, 51, 50, 2, 1] * 4,
        [2**31 + 1] * 12,
        [2**32 - 1, 2**31, 3_000_000_000, 1000] * 4,
        [104] * 20,
    ):
        stream = words(seeds()[2])
        yield case("below", [below(stream, bound) for bound in bounds], seed=seeds()[2].hex(), bounds=bounds)
    for decks, removed in sorted({(decks, removed) for decks, removed, _, _ in TABLES}):
        yield case("deck", " ".join(deck_of(decks, removed)), decks=decks, removed=removed)
    for at, (decks, removed, seats, hand) in enumerate(TABLES):
        for seed in (seeds()[at % 12], hashlib.sha256(bytes([at])).digest()):
            given = {"decks": decks, "removed": removed, "seats": seats, "hand": hand, "seed": seed.hex()}
            yield case("deal", deal(decks, removed, seats, hand, seed), **given)


# --- hiding, the chain of events


def hiding_cases() -> Iterator[dict[str, Any]]:
    """Keys and commitments of hands, passes and kitties; seeds of bots."""
    for secret, who, what, text in (
        (FIRST_SECRET, "0", "hand", "2C 6C 9C JC QC KC AC 3D 4D 6S 9S 5H 6H"),
        (TWO, "0", "hand", "2C 4D 6C"),
        (TWO, "0", "pass", "2C 4D 6C"),
        (TWO, "10", "hand", "QS QS AH"),
        (TWO, "1", "pass", ""),
        (TWO, "kitty", "kitty", "2H"),
    ):
        key = mac(secret, "hearts/v1/hide", who.encode(), what.encode())
        yield case("hiding key", key.hex(), secret=secret.hex(), who=who, what=what)
        found = mac(key, "hearts/v1/hidden", text.encode())
        yield case("commitment", found.hex(), secret=secret.hex(), who=who, what=what, text=text)
    for seat, decision in ((0, 0), (0, 1), (10, 13)):
        found = mac(TWO, "hearts/v1/bot", str(seat).encode(), str(decision).encode())
        yield case("bot seed", found.hex(), secret=TWO.hex(), seat=seat, decision=decision)


def head_cases() -> Iterator[dict[str, Any]]:
    """Heads, event after event."""
    for game in (GAME, "", "g-ä♥"):
        head = digest("hearts/v1/genesis", game.encode())
        yield case("genesis", head.hex(), game=game)
        for raw in ('{"n":1,"t":"seat_left","at":0,"seat":1}', "{}", "", '{"name":"ä♥"}', "x" * 5000):
            after = digest("hearts/v1/event", head, raw.encode())
            yield case("head", after.hex(), head=head.hex(), raw=raw)
            head = after


# --- signatures


def signature_cases() -> Iterator[dict[str, Any]]:
    """Receipts and rotations with their signatures, and signatures that are not right."""
    key, other = Ed25519PrivateKey.from_private_bytes(ONE), Ed25519PrivateKey.from_private_bytes(TWO)
    head = digest("hearts/v1/genesis", GAME.encode())
    public = public_of(key).hex()
    for game, seq in ((GAME, 1), (GAME, 931), ("g-ä♥", 1234567890)):
        message = digest("hearts/v1/receipt", game.encode(), str(seq).encode(), head)
        told = {"message": message.hex(), "public_key": public, "signature": key.sign(message).hex()}
        yield case("receipt", told, secret=ONE.hex(), game=game, seq=seq, head=head.hex())
    for seq in (2, 57):
        message = digest("hearts/v1/rotate", GAME.encode(), str(seq).encode(), public_of(other))
        told = {"message": message.hex(), "public_key": public, "signature": key.sign(message).hex()}
        yield case("rotation", told, secret=ONE.hex(), game=GAME, seq=seq, key=public_of(other).hex())
    right = key.sign(head)
    flipped = bytes([right[0] ^ 1]) + right[1:]
    for signed, by, signature in (
        (True, public, right),
        (False, public, flipped),
        (False, public, right[:-1]),
        (False, public, b""),
        (False, public_of(other).hex(), right),
        (False, "02" + "00" * 31, right),
        (False, public[:-2], right),
        (False, "", right),
    ):
        yield case("signature", signed, public_key=by, message=head.hex(), signature=signature.hex())


# --- proof files


def proof_cases() -> Iterator[dict[str, Any]]:
    """Whole files: as they are, and with one byte of a line changed, which is located by the line of heads."""
    for name in sorted(file.name for file in (FOLDER / "proofs").glob("*.ndjson")):
        data = (FOLDER / "proofs" / name).read_bytes()
        lines = data.split(b"\n")
        events = len(lines) - 4  # the header, the heads, the receipt, nothing behind the last newline
        yield case("proof", {"ok": True, "events": events}, file=f"proofs/{name}")
        starts = [0]
        for line in lines:
            starts.append(starts[-1] + len(line) + 1)
        for number in (1, 2, 9, events // 2, events):
            # the last digit of the event's time, which stands in every event and breaks nothing else
            at = starts[number] + lines[number].index(b'"at":') + 17
            byte = ord("8") if data[at] == ord("9") else ord("9")
            yield case(
                "proof",
                {"ok": False, "events": events, "event": number},
                file=f"proofs/{name}",
                at=at,
                byte=byte,
            )


PARTS = (
    *(hash_cases, chain_cases, entropy_cases, deal_cases, hiding_cases, head_cases),
    *(signature_cases, leaf_cases, tree_cases, note_cases, key_cases, proof_cases),
)


def cases() -> list[dict[str, Any]]:
    """All of them."""
    return [one for part in PARTS for one in part()]


if __name__ == "__main__":
    text = "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in cases())
    (Path(sys.argv[1]) if sys.argv[1:] else FILE).write_text(text, encoding="utf-8")
