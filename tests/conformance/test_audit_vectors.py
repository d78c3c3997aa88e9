"""The published vectors of the audit protocol, held by the house; `tests/api/test_browser_vectors.py` holds the page to them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from domain.cards import NAMES, parse_cards
from domain.refusals import Malformed
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
)
from services.audit import (
    Receipt,
    ServerKey,
    is_signed,
    receipt_message,
    rotation_message,
    verify_receipt,
)
from services.keylist import link_message, read_key_list
from services.leaves import Leaf
from services.merkle import root_of, verify_consistency, verify_inclusion
from services.notes import Checkpoint, read_checkpoint, sign_checkpoint
from services.proof import read_proof
from services.verdicts import verify_proof

FOLDER = Path(__file__).parent
FILE = FOLDER / "audit.ndjson"
CASES: list[dict[str, Any]] = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
raw = bytes.fromhex


def names(cards: list[int]) -> str:
    """Cards in the order dealt."""
    return " ".join(NAMES[card] for card in cards)


def dealt(decks: int, removed: str, seats: int, hand: int, seed: str) -> dict[str, Any]:
    """A deal."""
    hands, kitty = deal_cards(full_deck(decks, parse_cards(removed)), seats, hand, raw(seed))
    return {"hands": [names(one) for one in hands], "kitty": names(kitty)}


def words(seed: str) -> list[int]:
    """The first words of a seed: numbers below 2^32, of which none is skipped."""
    stream = _Words(raw(seed))
    return list(islice(iter(lambda: stream.below(2**32), None), 20))


def numbers(seed: str, bounds: list[int]) -> list[int]:
    """Numbers below bounds."""
    stream = _Words(raw(seed))
    return [stream.below(bound) for bound in bounds]


def receipt(secret: str, game: str, seq: int, head: str) -> dict[str, Any]:
    """A receipt as the server gives it, and believes it."""
    key = ServerKey(raw(secret))
    given = key.receipt(game, seq, raw(head))
    assert verify_receipt(given, key.public)
    assert not verify_receipt(Receipt(game, seq + 1, head, given.signature), key.public)
    message = receipt_message(game, seq, raw(head))
    return {"message": message.hex(), "public_key": key.public, "signature": given.signature}


def rotation(secret: str, game: str, seq: int, key: str) -> dict[str, Any]:
    """What an old key signs of a new one."""
    old, message = ServerKey(raw(secret)), rotation_message(game, seq, key)
    return {"message": message.hex(), "public_key": old.public, "signature": old.sign(message).hex()}


def key_link(secret: str, first: str, number: int, key: str) -> dict[str, Any]:
    """What a key signs of the one behind it in a server's list."""
    old, message = ServerKey(raw(secret)), link_message(first, number, key)
    return {"message": message.hex(), "public_key": old.public, "signature": old.sign(message).hex()}


def key_list(text: str) -> Any:
    """The keys of a list."""
    try:
        return [*read_key_list(text.encode()).keys]
    except Malformed:
        return None


def inclusion(leaf: str, index: int, size: int, path: list[str], root: str) -> bool:
    """Whether a path leads to a root."""
    return verify_inclusion(raw(leaf), index, size, [raw(one) for one in path], raw(root))


def consistency(first: int, second: int, path: list[str], first_root: str, second_root: str) -> bool:
    """Whether one tree begins another."""
    return verify_consistency(first, second, [raw(one) for one in path], raw(first_root), raw(second_root))


def note(origin: str, size: int, root: str, secret: str) -> str:
    """A checkpoint as the server signs it."""
    return sign_checkpoint(Checkpoint(origin, size, raw(root)), [ServerKey(raw(secret))])


def checkpoint(note: str, key: str) -> dict[str, Any] | None:
    """A checkpoint as it is read."""
    try:
        found = read_checkpoint(note)
    except Malformed:
        return None
    origin, size, root = found.checkpoint
    return {"origin": origin, "size": size, "root": root.hex(), "signed": found.is_signed_by(key)}


def proof(file: str, at: int | None = None, byte: int = 0) -> dict[str, Any]:
    """What a proof file shows, a byte of it changed."""
    data = bytearray((FOLDER / file).read_bytes())
    if at is not None:
        data[at] = byte
    report = verify_proof(read_proof(bytes(data)))
    found: dict[str, Any] = {"ok": report.ok, "events": report.events}
    events = [claim.event for claim in report.claims if claim.name == "I" and claim.event is not None]
    return found | ({"event": events[0]} if events else {})


def leaf(game: str, kind: Any, seq: int, head: str) -> str:
    """The hash of a leaf."""
    return Leaf(game, kind, seq, raw(head)).hash.hex()


HELD: dict[str, Callable[..., Any]] = {
    "H": lambda tag, parts: hash_parts(tag, *map(raw, parts)).hex(),
    "M": lambda key, tag, parts: mac_parts(raw(key), tag, *map(raw, parts)).hex(),
    "link": lambda last, length, index: chain_link(raw(last), length, index).hex(),
    "entropy commitment": lambda opening: commit_entropy(raw(opening)).hex(),
    "entropy root": lambda game, openings: entropy_root(game, openings).hex(),
    "deal seed": lambda secret, game, hand, root: deal_seed(raw(secret), game, hand, raw(root)).hex(),
    "words": words,
    "below": numbers,
    "deck": lambda decks, removed: names(full_deck(decks, parse_cards(removed))),
    "deal": dealt,
    "hiding key": lambda secret, who, what: hiding_key(raw(secret), who, what).hex(),
    "commitment": lambda secret, who, what, text: commit_cards(
        hiding_key(raw(secret), who, what), text
    ).hex(),
    "bot seed": lambda secret, seat, decision: bot_seed(raw(secret), seat, decision).hex(),
    "genesis": lambda game: genesis_head(game).hex(),
    "head": lambda head, raw: next_head(bytes.fromhex(head), raw.encode()).hex(),
    "receipt": receipt,
    "rotation": rotation,
    "key link": key_link,
    "key list": key_list,
    "signature": lambda public_key, message, signature: is_signed(public_key, raw(message), raw(signature)),
    "leaf": leaf,
    "root": lambda leaves: root_of([raw(one) for one in leaves]).hex(),
    "inclusion": inclusion,
    "consistency": consistency,
    "note": note,
    "checkpoint": checkpoint,
    "proof": proof,
}
"""By what a line is of: what the house makes of its input."""


@pytest.mark.parametrize("what", HELD)
def test_the_house_agrees_with_every_line(what: str) -> None:
    """Each formula gives what the line expects, and there are lines of each."""
    lines = [case for case in CASES if case["what"] == what]
    assert lines
    for case in lines:
        assert case["expected"] == HELD[what](**case["input"]), case


def test_no_line_is_of_another_kind() -> None:
    """Every line is held to something."""
    assert HELD.keys() == Counter(case["what"] for case in CASES).keys()


def test_the_vector_of_the_specification_is_among_them() -> None:
    """The numbers that the specification ends with stand in the file."""
    text = (FOLDER.parents[1] / "docs/spec/audit.md").read_text(encoding="utf-8").partition("\nVector: ")[2]
    published = [word.strip(".,;") for word in text.split() if len(word.strip(".,;")) == 64]
    told = FILE.read_text(encoding="utf-8")
    assert 7 == len(published)
    assert [] == [one for one in published if f'"expected":"{one}"' not in told]
    assert '"2C 3D KC 4D 6C 6S 9C 6H QC 9S 5H AC JC"' in told


def test_the_file_is_what_its_generator_writes(tmp_path: Path) -> None:
    """Nobody has mended a line by hand."""
    made = tmp_path / "audit.ndjson"
    subprocess.run([sys.executable, FOLDER / "make_audit.py", made], check=True, cwd=FOLDER)
    assert FILE.read_bytes() == made.read_bytes()
