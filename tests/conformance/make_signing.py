"""Writes `signing.ndjson`: signed moves with fixed keys, right ones and wrong ones.

Nothing of the house is used: hashes are written out here after `docs/spec/audit.md`, signatures are the library's.
Run it from the root of the project: ``python tests/conformance/make_signing.py``.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

FILE = Path(__file__).with_name("signing.ndjson")
SMALL_ORDER = {
    "order 1": "01" + "00" * 31,
    "order 2": "ec" + "ff" * 30 + "7f",
    "order 4": "00" * 32,
    "order 8": "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
}


def digest(tag: str, *parts: bytes) -> bytes:
    """H of the specification."""
    whole = tag.encode() + b"\0" + b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hashlib.sha256(whole).digest()


def message_of(game: str, seq: int, head: bytes, action: str) -> bytes:
    """What is signed."""
    return digest("hearts/v1/move", game.encode(), str(seq).encode(), head, action.encode())


def case(name: str, seed: bytes, game: str, seq: int, head: bytes, action: str) -> dict[str, Any]:
    """A signed move."""
    key = Ed25519PrivateKey.from_private_bytes(seed)
    message = message_of(game, seq, head, action)
    return {
        "name": name,
        "secret": seed.hex(),
        "public_key": key.public_key().public_bytes_raw().hex(),
        "game": game,
        "seq": seq,
        "head": head.hex(),
        "action": action,
        "message": message.hex(),
        "signature": key.sign(message).hex(),
        "valid": True,
    }


def spoilt(name: str, right: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A case whose signature is not of what it says; the message is that of what it says."""
    wrong = right | changes | {"name": name, "valid": False}
    if changes.keys() & {"game", "seq", "head", "action"}:
        head = bytes.fromhex(wrong["head"])
        wrong["message"] = message_of(wrong["game"], wrong["seq"], head, wrong["action"]).hex()
    wrong.pop("secret")
    return wrong


def cases() -> list[dict[str, Any]]:
    """All of them."""
    one, two = bytes(range(32)), bytes(range(32, 64))
    genesis = digest("hearts/v1/genesis", b"g-test")
    head = digest("hearts/v1/event", genesis, b'{"n":1}')
    play = case("a play", one, "g-test", 1, head, "play QS")
    found = [
        play,
        case("a ten is one letter", one, "g-test", 23, head, "play TH"),
        case("a pass, as a card list", two, "g-test", 9, head, "pass 2C QS AH"),
        case("a pass of two equal cards", two, "g-test", 9, head, "pass QS QS AH"),
        case("a pass of one card", two, "g-test", 10, head, "pass AH"),
        case("a moon added", one, "g-test", 250, head, "moon add"),
        case("a moon subtracted", one, "g-test", 250, head, "moon subtract"),
        case("a long seq", one, "g-test", 1234567890, head, "play 2C"),
        case("an id in UTF-8", one, "g-\u00e4\u2665", 1, digest("hearts/v1/genesis", b"x"), "play 2C"),
        spoilt("another game", play, game="g-tesu"),
        spoilt("another seq", play, seq=2),
        spoilt("another head", play, head=genesis.hex()),
        spoilt("another card", play, action="play KS"),
        spoilt("another key", play, public_key=case("", two, "g", 1, head, "")["public_key"]),
        spoilt("capitals in the signature", play, signature=play["signature"].upper()),
        spoilt("cut short", play, signature=play["signature"][:-2]),
        spoilt("the last bit", play, signature=play["signature"][:-1] + "f"),
    ]
    found += [
        {"name": f"a key of small order: {name}", "public_key": key, "acceptable": False}
        for name, key in SMALL_ORDER.items()
    ]
    found += [
        {"name": "a key that is no point", "public_key": "02" + "00" * 31, "acceptable": False},
        {"name": "a key spelt another way", "public_key": "ee" + "ff" * 30 + "7f", "acceptable": False},
        {"name": "a key", "public_key": play["public_key"], "acceptable": True},
    ]
    return found


if __name__ == "__main__":
    lines = [json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in cases()]
    FILE.write_text("".join(lines), encoding="utf-8")
