"""The Merkle tree against the recursive definitions of RFC 9162, word by word, at every small size and some large ones."""

from __future__ import annotations

from hashlib import sha256
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.merkle import (
    EMPTY_ROOT,
    consistency_ranges,
    grow,
    inclusion_ranges,
    join,
    leaf_hash,
    node_hash,
    pieces,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from tests.support.games import steady

ENTRIES = [b"%d" % number for number in range(300)]
LEAVES = [leaf_hash(entry) for entry in ENTRIES]
SMALL = range(1, 71)


def split(count: int) -> int:
    """The largest power of two smaller than ``count``."""
    k = 1
    while 2 * k < count:
        k *= 2
    return k


def mth(entries: list[bytes]) -> bytes:
    """MTH of RFC 9162, 2.1.1."""
    if not entries:
        return sha256(b"").digest()
    if len(entries) == 1:
        return sha256(b"\x00" + entries[0]).digest()
    k = split(len(entries))
    return sha256(b"\x01" + mth(entries[:k]) + mth(entries[k:])).digest()


def path(m: int, entries: list[bytes]) -> list[bytes]:
    """PATH of RFC 9162, 2.1.3.1."""
    if len(entries) == 1:
        return []
    k = split(len(entries))
    if m < k:
        return [*path(m, entries[:k]), mth(entries[k:])]
    return [*path(m - k, entries[k:]), mth(entries[:k])]


def subproof(m: int, entries: list[bytes], whole: bool) -> list[bytes]:
    """SUBPROOF of RFC 9162, 2.1.4.1."""
    if m == len(entries):
        return [] if whole else [mth(entries)]
    k = split(len(entries))
    if m <= k:
        return [*subproof(m, entries[:k], whole), mth(entries[k:])]
    return [*subproof(m - k, entries[k:], False), mth(entries[:k])]


def over(ranges: list[tuple[int, int]]) -> list[bytes]:
    """The roots over ranges of the leaves."""
    return [root_of(LEAVES[start:end]) for start, end in ranges]


@pytest.mark.parametrize("size", [0, *SMALL, 128, 255, 256, 257, 300])
def test_the_root_is_that_of_the_definition(size: int) -> None:
    """From all leaves, and from complete subtrees alone."""
    assert mth(ENTRIES[:size]) == root_of(LEAVES[:size])
    found = dict(grow(0, [], LEAVES[:size]))
    assert mth(ENTRIES[:size]) == join([found[node] for node in pieces((0, size))])


def test_published_vectors() -> None:
    """The roots over the eight leaves that implementations of Certificate Transparency are tested with."""
    entries = [bytes.fromhex(text) for text in ("", "00", "10", "2021", "3031", "40414243")]
    entries += [bytes(range(0x50, 0x58)), bytes(range(0x60, 0x70))]
    roots = {
        1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    }
    for size, root in roots.items():
        assert root == root_of([leaf_hash(entry) for entry in entries[:size]]).hex()
    assert "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" == EMPTY_ROOT.hex()


@pytest.mark.parametrize("size", SMALL)
def test_inclusion_paths_are_those_of_the_definition_and_verify(size: int) -> None:
    """Every leaf of every size; no path shows another leaf, another place, another size or another root."""
    root = mth(ENTRIES[:size])
    for index in range(size):
        found = over(inclusion_ranges(index, size))
        assert path(index, ENTRIES[:size]) == found
        assert verify_inclusion(LEAVES[index], index, size, found, root)
        assert not verify_inclusion(LEAVES[index + 1], index, size, found, root)
        assert not verify_inclusion(LEAVES[index], index, size, [*found, root], root)
        assert not verify_inclusion(LEAVES[index], index, size, found, LEAVES[299])
        assert not verify_inclusion(LEAVES[index], size, size, found, root)
        assert not verify_inclusion(LEAVES[index], -1, size, found, root)
        for other in range(size):
            assert (other == index) == verify_inclusion(LEAVES[index], other, size, found, root)
        if found:
            assert not verify_inclusion(LEAVES[index], index, size, found[:-1], root)
            assert not verify_inclusion(LEAVES[index], index, size, [LEAVES[299], *found[1:]], root)


@pytest.mark.parametrize("second", SMALL)
def test_consistency_paths_are_those_of_the_definition_and_verify(second: int) -> None:
    """Every earlier size of every size; no path shows a tree with another leaf, or of another size, to be the beginning."""
    new = mth(ENTRIES[:second])
    for first in range(1, second + 1):
        old = mth(ENTRIES[:first])
        found = over(consistency_ranges(first, second))
        assert subproof(first, ENTRIES[:second], True) == found
        assert verify_consistency(first, second, found, old, new)
        forked = mth([*ENTRIES[: first - 1], b"another"])
        assert not verify_consistency(first, second, found, forked, new)
        assert not verify_consistency(first, second, found, old, forked)
        assert not verify_consistency(first, second, [*found, old], old, new)
        assert not verify_consistency(0, second, found, old, new)
        assert not verify_consistency(second + 1, second, found, old, new)
        if found:
            assert not verify_consistency(first, second, found[:-1], old, new)
            assert not verify_consistency(first, second, [*found[:-1], LEAVES[299]], old, new)


@steady(60)
@given(st.integers(1, 2**50), st.data())
def test_paths_in_huge_trees_are_short_and_whole(size: int, data: st.DataObject) -> None:
    """A path has some log2(n) steps, and with its leaf, or the earlier tree, it covers every leaf once."""
    index = data.draw(st.integers(0, size - 1))
    ranges = inclusion_ranges(index, size)
    assert len(ranges) <= size.bit_length() + 1
    assert sum(len(pieces(one)) for one in ranges) <= size.bit_length() * 3
    covered = sorted([(index, index + 1), *ranges])
    assert [0, *[end for _, end in covered]] == [*[start for start, _ in covered], size]
    first = data.draw(st.integers(1, size))
    between = consistency_ranges(first, size)
    assert len(between) <= size.bit_length() + 1
    behind = sorted(one for one in between if one[0] >= first)
    assert [first, *[end for _, end in behind]] == [*[start for start, _ in behind], size]


@steady(40)
@given(st.lists(st.integers(1, 40), max_size=8))
def test_a_tree_grows_the_same_in_any_steps(steps: list[int]) -> None:
    """Leaves added a few at a time, from nothing but the right edge, give the subtrees of all added at once."""
    kept: dict[tuple[int, int], bytes] = {}
    size = 0
    for step in steps:
        leaves = LEAVES[size : size + step]
        gained = dict(grow(size, [kept[node] for node in pieces((0, size))], leaves))
        assert not kept.keys() & gained.keys()
        kept |= gained
        size += len(leaves)
    assert dict(grow(0, [], LEAVES[:size])) == kept


def test_random_large_sizes() -> None:
    """A thousand leaves and more: paths built from kept subtrees verify."""
    rng = Random(3)
    leaves = [rng.randbytes(32) for _ in range(5000)]
    kept = dict(grow(0, [], leaves))

    def roots(ranges: list[tuple[int, int]]) -> list[bytes]:
        return [join([kept[node] for node in pieces(one)]) for one in ranges]

    for _ in range(300):
        size = rng.randint(1, 5000)
        index, first = rng.randrange(size), rng.randint(1, size)
        root, earlier = roots([(0, size), (0, first)])
        assert verify_inclusion(leaves[index], index, size, roots(inclusion_ranges(index, size)), root)
        between = roots(consistency_ranges(first, size))
        assert verify_consistency(first, size, between, earlier, root)


@pytest.mark.parametrize("ask", [(0, 0), (1, 1), (-1, 3)])
def test_no_path_where_there_is_no_leaf(ask: tuple[int, int]) -> None:
    """A number that no leaf has is a mistake of the caller."""
    with pytest.raises(ValueError, match="has no leaf"):
        inclusion_ranges(*ask)


@pytest.mark.parametrize("ask", [(0, 3), (4, 3), (-1, 3)])
def test_no_path_between_sizes_that_are_none(ask: tuple[int, int]) -> None:
    """Neither from nothing nor backwards."""
    with pytest.raises(ValueError, match="cannot be shown"):
        consistency_ranges(*ask)


def test_leaves_and_nodes_are_told_apart() -> None:
    """A leaf that holds two hashes is not the node over them."""
    assert leaf_hash(LEAVES[0] + LEAVES[1]) != node_hash(LEAVES[0], LEAVES[1])
