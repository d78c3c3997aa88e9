"""The vectors of the transparency log, and the few lines that `make_audit.py` shares with them.

Hashes are written out here after `docs/spec/audit.md`, tree paths after the recursive definitions of RFC 9162.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ONE, TWO = bytes(range(32)), bytes(range(32, 64))
GAME = "g-test"


def digest(tag: str, *parts: bytes) -> bytes:
    """H of the specification."""
    whole = tag.encode() + b"\0" + b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return hashlib.sha256(whole).digest()


def case(what: str, expected: Any, /, **given: Any) -> dict[str, Any]:
    """A line of the file, bytes in hex."""
    return {"what": what, "input": given, "expected": expected}


def public_of(key: Ed25519PrivateKey) -> bytes:
    """The public half."""
    return key.public_key().public_bytes_raw()


# --- the transparency log


def node(left: bytes, right: bytes) -> bytes:
    """The hash of a node."""
    return hashlib.sha256(b"\1" + left + right).digest()


def split(count: int) -> int:
    """The largest power of two below ``count``."""
    return 1 << (count - 1).bit_length() - 1


def tree(leaves: list[bytes]) -> bytes:
    """MTH of RFC 9162, over the hashes of leaves."""
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    at = split(len(leaves))
    return node(tree(leaves[:at]), tree(leaves[at:]))


def path(index: int, leaves: list[bytes]) -> list[bytes]:
    """PATH of RFC 9162, 2.1.3.1."""
    if len(leaves) == 1:
        return []
    at = split(len(leaves))
    if index < at:
        return [*path(index, leaves[:at]), tree(leaves[at:])]
    return [*path(index - at, leaves[at:]), tree(leaves[:at])]


def growth(first: int, leaves: list[bytes], whole: bool = True) -> list[bytes]:
    """SUBPROOF of RFC 9162, 2.1.4.1."""
    if first == len(leaves):
        return [] if whole else [tree(leaves)]
    at = split(len(leaves))
    if first <= at:
        return [*growth(first, leaves[:at], whole), tree(leaves[at:])]
    return [*growth(first - at, leaves[at:], False), tree(leaves[:at])]


def leaf_cases() -> Iterator[dict[str, Any]]:
    """Leaves of games."""
    head = digest("hearts/v1/genesis", GAME.encode())
    for game, kind, seq in ((GAME, "lock", 9), (GAME, "end", 931), ("g-ä♥", "end", 1)):
        entry = digest("hearts/v1/leaf", game.encode(), kind.encode(), str(seq).encode(), head)
        found = hashlib.sha256(b"\0" + entry).hexdigest()
        yield case("leaf", found, game=game, kind=kind, seq=seq, head=head.hex())


def tree_cases() -> Iterator[dict[str, Any]]:
    """Roots, and paths that lead there and do not."""
    all_leaves = [hashlib.sha256(bytes([number])).digest() for number in range(17)]
    for size in range(18):
        leaves = all_leaves[:size]
        yield case("root", tree(leaves).hex(), leaves=[leaf.hex() for leaf in leaves])
    for size, index in ((1, 0), (2, 1), (3, 0), (3, 2), (5, 4), (7, 3), (8, 7), (9, 8), (17, 5), (17, 16)):
        leaves = all_leaves[:size]
        right = {
            "leaf": leaves[index].hex(),
            "index": index,
            "size": size,
            "path": [one.hex() for one in path(index, leaves)],
            "root": tree(leaves).hex(),
        }
        yield case("inclusion", True, **right)
        longer = [*right["path"], "00" * 32]
        for wrong in (
            {"index": index + 1},
            {"index": -1},
            {"size": index},
            {"path": longer},
            {"leaf": "00" * 32},
            {"root": "00" * 32},
        ):
            yield case("inclusion", False, **right | wrong)
        if right["path"]:
            yield case("inclusion", False, **right | {"path": right["path"][:-1]})
    for first, second in (
        (1, 1),
        (1, 2),
        (2, 3),
        (3, 4),
        (4, 8),
        (6, 8),
        (7, 17),
        (16, 17),
        (17, 17),
        (8, 9),
    ):
        steps = [one.hex() for one in growth(first, all_leaves[:second])]
        right = {
            "first": first,
            "second": second,
            "path": steps,
            "first_root": tree(all_leaves[:first]).hex(),
            "second_root": tree(all_leaves[:second]).hex(),
        }
        yield case("consistency", True, **right)
        for wrong in (
            {"first": 0},
            {"first": second + 1},
            {"path": [*steps, "00" * 32]},
            {"first_root": "00" * 32},
            {"second_root": "00" * 32},
        ):
            yield case("consistency", False, **right | wrong)
        if steps:
            yield case("consistency", False, **right | {"path": steps[:-1]})


def note_of(origin: str, size: int, root: bytes, *secrets: bytes, more: str = "") -> str:
    """A signed note in C2SP's form."""
    text = f"{origin}\n{size}\n{b64encode(root).decode()}\n{more}"
    lines = ""
    for secret in secrets:
        key = Ed25519PrivateKey.from_private_bytes(secret)
        mark = hashlib.sha256(f"{origin}\n".encode() + b"\1" + public_of(key)).digest()[:4]
        lines += f"— {origin} {b64encode(mark + key.sign(text.encode())).decode()}\n"
    return f"{text}\n{lines}"


def note_cases() -> Iterator[dict[str, Any]]:
    """Signed notes, and what is none: ``null`` where it cannot be read, else whether the key has signed."""
    key = public_of(Ed25519PrivateKey.from_private_bytes(ONE)).hex()
    origin, root = "example.org/hearts", hashlib.sha256(b"root").digest()
    right = note_of(origin, 12, root, ONE)
    read = {"origin": origin, "size": 12, "root": root.hex()}
    yield case("note", right, origin=origin, size=12, root=root.hex(), secret=ONE.hex())
    yield case("checkpoint", read | {"signed": True}, note=right, key=key)
    yield case("checkpoint", read | {"signed": True}, note=note_of(origin, 12, root, TWO, ONE), key=key)
    yield case(
        "checkpoint",
        read | {"signed": True},
        note=note_of(origin, 12, root, ONE, more="a line more\n"),
        key=key,
    )
    yield case("checkpoint", read | {"signed": False}, note=note_of(origin, 12, root, TWO), key=key)
    yield case(
        "checkpoint", read | {"size": 13, "signed": False}, note=right.replace("\n12\n", "\n13\n"), key=key
    )
    yield case("checkpoint", read | {"signed": False}, note=right, key="00")
    most = 2**53 - 1
    yield case(
        "checkpoint", read | {"size": most, "signed": True}, note=note_of(origin, most, root, ONE), key=key
    )
    for wrong in (
        "",
        "garbage",
        right.rstrip("\n"),
        right.replace("\n12\n", "\n012\n"),
        right.replace("\n12\n", "\n-1\n"),
        right.replace("\n12\n", "\n9007199254740992\n"),
        right.replace("\n12\n", "\n1.2\n"),
        right.replace(origin, "two words"),
        right.replace(origin, "a+b"),
        right.replace("—", "-"),
        right.replace("=", "", 1),
        right.replace("— example.org/hearts ", "— example.org/hearts  "),
        note_of(origin, 12, root[:31], ONE),
        right + "\n",
    ):
        yield case("checkpoint", None, note=wrong, key=key)


# --- the list of a server's keys


def link(secrets: list[bytes], number: int) -> dict[str, str | None]:
    """The entry of the key at place ``number``, from 1, signed by the one before it."""
    keys = [Ed25519PrivateKey.from_private_bytes(secret) for secret in secrets]
    new = public_of(keys[number - 1])
    if number == 1:
        return {"server_key": new.hex(), "signature": None}
    message = digest("hearts/v1/next-key", public_of(keys[0]), str(number).encode(), new)
    return {"server_key": new.hex(), "signature": keys[number - 2].sign(message).hex()}


def key_cases() -> Iterator[dict[str, Any]]:
    """Links from one key to the next, and lists: the keys in order, ``null`` where the list is none."""
    secrets = [ONE, TWO, bytes([3]) * 32, bytes([4]) * 32]
    publics = [public_of(Ed25519PrivateKey.from_private_bytes(one)).hex() for one in secrets]
    for number in (2, 3, 4):
        message = digest(
            "hearts/v1/next-key",
            bytes.fromhex(publics[0]),
            str(number).encode(),
            bytes.fromhex(publics[number - 1]),
        )
        told = {
            "message": message.hex(),
            "public_key": publics[number - 2],
            "signature": link(secrets, number)["signature"],
        }
        given = {"secret": secrets[number - 2].hex(), "first": publics[0], "number": number}
        yield case("key link", told, **given, key=publics[number - 1])
    one, two, three, four = (link(secrets, number) for number in (1, 2, 3, 4))
    for count in (1, 2, 4):
        yield case("key list", publics[:count], text=written([one, two, three, four][:count]))
    yield case("key list", publics[:2], text=written([one, two], origin="example.org/hearts"))
    for wrong in (
        [],
        [two],
        [one, three],
        [one, three, two],
        [one, two, two],
        [one, link([ONE, TWO], 2) | {"signature": None}],
        [one | {"signature": two["signature"]}, two],
        [one, two | {"server_key": publics[2]}],
        [one, two | {"signature": str(two["signature"]).upper()}],
        [one, two | {"signature": str(two["signature"])[:-2]}],
        [one, two, link([TWO, TWO, secrets[2]], 3)],
        [link([TWO, secrets[2]], 1), two],
    ):
        yield case("key list", None, text=written(wrong))
    for text in ("", "[]", '{"keys":7}', '{"keys":[7]}'):
        yield case("key list", None, text=text)


def written(entries: list[Any], **more: Any) -> str:
    """A list as text."""
    return json.dumps({**more, "keys": entries}, separators=(",", ":"))
