"""Seatings: every bot plays every seat of every deal equally often, and all neighbours come up."""

from __future__ import annotations

from collections import Counter

import pytest

from workers.arena.seatings import (
    MOST,
    NoSeating,
    count_balanced,
    read_seating,
    seatings_of,
    write_seating,
)

SIZES = [(bots, seats) for seats in range(3, 12) for bots in range(2, 15)]


@pytest.mark.parametrize(("bots", "seats"), SIZES)
def test_every_bot_has_every_seat_equally_often(bots: int, seats: int) -> None:
    """Given any number of bots and seats, then no seating comes twice, and seats are shared out evenly."""
    for deal in (b"1", b"2"):
        found = seatings_of(bots, seats, deal)
        assert len(found) == len(set(found))
        counts = Counter((bot, seat) for one in found for seat, bot in enumerate(one))
        assert bots * seats == len(counts)
        assert 1 == len(set(counts.values()))


@pytest.mark.parametrize(("bots", "seats"), SIZES)
def test_no_bot_has_more_than_one_seat_more_than_another(bots: int, seats: int) -> None:
    """A seating is balanced, so that no bot plays against its own kind alone."""
    for one in seatings_of(bots, seats, b"1"):
        seated = Counter(one)
        counts = [seated[bot] for bot in range(bots)]
        assert max(counts) - min(counts) <= 1


def test_two_bots_at_four_seats_sit_in_all_six_ways() -> None:
    """Two against two: opposite each other and side by side, in every seat."""
    found = [write_seating(one) for one in seatings_of(2, 4, b"any")]
    assert ["AABB", "ABAB", "ABBA", "BAAB", "BABA", "BBAA"] == found


@pytest.mark.parametrize(
    ("bots", "seats", "count"), [(2, 3, 6), (2, 5, 20), (3, 4, 36), (4, 4, 24), (5, 4, 120), (2, 11, 924)]
)
def test_few_seatings_are_all_played(bots: int, seats: int, count: int) -> None:
    """Up to a bound all balanced seatings are played, beyond it those that follow from one of them."""
    assert count == count_balanced(bots, seats)
    found = len(seatings_of(bots, seats, b"1"))
    assert found == count if count <= MOST else found <= bots * seats


@pytest.mark.parametrize(("bots", "seats"), [(4, 8), (3, 7), (5, 4), (6, 6)])
def test_all_neighbours_come_up(bots: int, seats: int) -> None:
    """Given seatings that are drawn, then over many deals every bot sits left of every other about equally often."""
    left = Counter(
        (one[seat - 1], one[seat])
        for deal in range(300)
        for one in seatings_of(bots, seats, str(deal).encode())
        for seat in range(seats)
        if one[seat - 1] != one[seat]
    )
    assert bots * (bots - 1) == len(left)
    mean = sum(left.values()) / len(left)
    assert all(0.65 * mean < count < 1.35 * mean for count in left.values())


def test_a_seating_is_read_as_it_is_written() -> None:
    """Letters by seat, small ones too."""
    assert (0, 1, 1, 0) == read_seating("AbBA", 2, 4)
    assert all(one == read_seating(write_seating(one), 3, 4) for one in seatings_of(3, 4, b""))


@pytest.mark.parametrize("text", ["", "ABB", "ABBAA", "ABCA", "AB1A", "AB\u00c4A"])
def test_what_is_no_seating_is_refused(text: str) -> None:
    """Another number of letters, or another letter."""
    with pytest.raises(NoSeating, match="no seating"):
        read_seating(text, 2, 4)
