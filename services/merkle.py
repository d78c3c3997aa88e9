"""The Merkle tree of RFC 9162, 2.1: roots, inclusion and consistency paths, and their verification. Pure functions.

A tree of n leaves is made of complete subtrees, each named by its level and its place there: ``(level, index)`` covers
the leaves from ``index << level`` on, ``1 << level`` of them. The hash of a complete subtree never changes, so whoever
keeps them all finds any root and any path, at any size, from some log2(n) hashes a step. Hashes are 32 raw bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Final

Node = tuple[int, int]
"""A complete subtree: its level, 0 for leaves, and its index there."""
Range = tuple[int, int]
"""Leaves from the first number up to, and without, the second."""

EMPTY_ROOT: Final = sha256(b"").digest()
"""The root of the tree without leaves."""
HASH_BYTES: Final = 32


def leaf_hash(entry: bytes) -> bytes:
    """The hash of a leaf that holds ``entry``."""
    return sha256(b"\0" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of a node over two others."""
    return sha256(b"\1" + left + right).digest()


# --- the tree as complete subtrees


def pieces(leaves: Range) -> list[Node]:
    """The complete subtrees that the subtree over ``leaves`` is made of, left to right, each smaller than the one before.

    ``leaves`` is a range that occurs in a tree: its start is a multiple of every power of two up to its length.
    """
    start, end = leaves
    found: list[Node] = []
    while start < end:
        level = (end - start).bit_length() - 1
        found.append((level, start >> level))
        start += 1 << level
    return found


def join(hashes: Sequence[bytes]) -> bytes:
    """The root over complete subtrees, left to right, each smaller than the one before."""
    if not hashes:
        return EMPTY_ROOT
    *others, root = hashes
    for left in reversed(others):
        root = node_hash(left, root)
    return root


def grow(size: int, frontier: Sequence[bytes], leaves: Sequence[bytes]) -> Iterator[tuple[Node, bytes]]:
    """The complete subtrees that a tree of ``size`` leaves gains by more of them, with their hashes.

    ``frontier`` has the hashes of ``pieces((0, size))``. Of each level the subtrees come in order.
    """
    open_ones = list(zip(pieces((0, size)), frontier, strict=True))
    for index, leaf in enumerate(leaves, size):
        node, value = (0, index), leaf
        yield node, value
        while open_ones and open_ones[-1][0][0] == node[0]:
            value = node_hash(open_ones.pop()[1], value)
            node = (node[0] + 1, node[1] >> 1)
            yield node, value
        open_ones.append((node, value))


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root over the hashes of all leaves."""
    found = dict(grow(0, [], leaves))
    return join([found[node] for node in pieces((0, len(leaves)))])


# --- paths


def inclusion_ranges(index: int, size: int) -> list[Range]:
    """The subtrees whose hashes are the inclusion path of leaf ``index`` in the tree of ``size``, nearest first.

    RFC 9162, 2.1.3.1. Raises ValueError unless ``index`` is below ``size``.
    """
    if not 0 <= index < size:
        raise ValueError(f"a tree of {size} leaves has no leaf {index}")
    start, end = 0, size
    path: list[Range] = []
    while end - start > 1:
        middle = start + _split(end - start)
        if index < middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((start, middle))
            start = middle
    return path[::-1]


def consistency_ranges(first: int, second: int) -> list[Range]:
    """The subtrees whose hashes show that the tree of ``first`` leaves is the beginning of that of ``second``.

    RFC 9162, 2.1.4.1; none where both are the same. Raises ValueError unless 0 < ``first`` <= ``second``.
    """
    if not 0 < first <= second:
        raise ValueError(f"a tree of {first} leaves cannot be shown to begin one of {second}")
    start, end = 0, second
    path: list[Range] = []
    while end != first:
        middle = start + _split(end - start)
        if first <= middle:
            path.append((middle, end))
            end = middle
        else:
            path.append((start, middle))
            start = middle
    if start:  # else the subtree is the whole first tree, whose root the reader has
        path.append((start, end))
    return path[::-1]


def _split(count: int) -> int:
    """The largest power of two below ``count``, which is at least 2."""
    return 1 << ((count - 1).bit_length() - 1)


# --- verification


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether ``path`` shows that leaf ``index`` of the tree with ``root`` has the hash ``leaf`` (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    at, last, found = index, size - 1, leaf
    for one in path:
        if last == 0:
            return False
        if at & 1 or at == last:
            found = node_hash(one, found)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            found = node_hash(found, one)
        at, last = at >> 1, last >> 1
    return last == 0 and found == root


def verify_consistency(
    first: int, second: int, path: Sequence[bytes], first_root: bytes, second_root: bytes
) -> bool:
    """Whether ``path`` shows that one tree is the beginning of the other (RFC 9162, 2.1.4.2)."""
    if not 0 < first <= second:
        return False
    if first == second:
        return not path and first_root == second_root
    hashes = list(path)
    if first & (first - 1) == 0:
        hashes.insert(0, first_root)
    if not hashes:
        return False
    at, last = first - 1, second - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    old = new = hashes[0]
    for one in hashes[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            old, new = node_hash(one, old), node_hash(one, new)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            new = node_hash(new, one)
        at, last = at >> 1, last >> 1
    return last == 0 and old == first_root and new == second_root
