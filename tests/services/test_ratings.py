"""Ratings: ties, three to eleven seats, who left, partners, bots with several seats."""

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.ratings import Finisher, Skill, rate

NEW = Skill()
STRONG = Skill(35.0, 3.0)


def table(*places: int) -> list[Finisher]:
    """Players a, b, c, ... who ended at these places."""
    return [Finisher(chr(97 + seat), place) for seat, place in enumerate(places)]


def rms(numbers: list[float]) -> float:
    """Root of the mean square."""
    return math.sqrt(sum(one * one for one in numbers) / len(numbers))


@st.composite
def games(draw: st.DrawFn) -> tuple[dict[str, Skill], list[Finisher]]:
    """Skills, and a table of three to eleven with ties, leavers, bots and at times partners."""
    seats = draw(st.integers(3, 11))
    ids = st.sampled_from(["bot:rules@1", "bot:random@1", *(f"p{n}" for n in range(seats))])
    whos = draw(st.lists(ids, min_size=seats, max_size=seats))
    sides = draw(st.booleans()) and seats % 2 == 0
    found = [
        Finisher(
            who,
            draw(st.integers(0, 4)),
            not who.startswith("bot:") and draw(st.booleans()),
            seat % (seats // 2) if sides else -1,
        )
        for seat, who in enumerate(whos)
    ]
    means, deviations = st.floats(-20, 70), st.floats(0.5, 9)
    return {who: Skill(draw(means), draw(deviations)) for who in sorted(set(whos))}, found


@pytest.mark.parametrize("seats", range(3, 12))
def test_better_places_get_better_ratings(seats: int) -> None:
    """Given newcomers, then ratings fall from place to place, around the mean that they began with."""
    after = rate({}, table(*range(seats)))
    means = [after[chr(97 + seat)].mu for seat in range(seats)]
    assert sorted(set(means), reverse=True) == means
    assert math.isclose(NEW.mu, sum(means) / seats)
    assert all(one.sigma < NEW.sigma for one in after.values())


@pytest.mark.parametrize("seats", range(3, 12))
def test_one_lucky_game_is_worth_about_as_much_at_every_table(seats: int) -> None:
    """Ten who are beaten at once shared their winner's luck: the gain is within a point of two of three's."""
    gained = rate({}, table(0, *[1] * (seats - 1)))["a"].mu - NEW.mu
    three = rate({}, table(0, 1, 1))["a"].mu - NEW.mu
    assert three <= gained < three + 1.5
    assert rate({}, table(0, *[1] * (seats - 1)))["a"].score < 7


@pytest.mark.parametrize("seats", [3, 4, 11])
def test_a_tie_of_equals_moves_no_mean(seats: int) -> None:
    """Everybody level says nothing about who is better."""
    after = rate({}, table(*[5] * seats))
    assert {NEW.mu} == {one.mu for one in after.values()}


def test_a_tie_is_a_draw_for_each_by_who_they_are() -> None:
    """Given somebody strong level with somebody new, then one goes down and the other up, not both alike."""
    after = rate({"a": STRONG, "b": NEW, "c": STRONG}, table(0, 0, 0))
    assert after["a"].mu < STRONG.mu
    assert after["b"].mu > NEW.mu
    assert after["a"] == after["c"]


def test_level_players_who_are_alike_stay_alike() -> None:
    """A shared second place is the same for both, and between the first and the last."""
    after = rate({}, table(0, 3, 3, 9))
    assert after["b"] == after["c"]
    assert after["a"].mu > after["b"].mu == NEW.mu > after["d"].mu


def test_who_left_counts_last_and_for_nobody_else() -> None:
    """Given the stand-in won with the seat, then its player has lost to all, and the others play as three."""
    seats = [Finisher("a", 0, left=True), *table(0, 5, 6, 7)[1:]]
    after = rate({}, seats)
    assert after["a"] == rate({}, table(9, 5, 6, 7))["a"]
    three = rate({}, table(9, 5, 6, 7)[1:])
    assert {who: after[who] for who in "bcd"} == three


def test_two_who_left_are_level() -> None:
    """Whatever their seats had at the end; both have lost to who stayed."""
    seats = [Finisher("a", 0, left=True), Finisher("b", 9, left=True), *table(0, 0, 5, 7)[2:]]
    after = rate({}, seats)
    assert after["a"] == after["b"]
    assert after["a"].mu < NEW.mu < after["c"].mu


def test_the_only_one_who_stayed_is_not_rated() -> None:
    """There is nobody to be compared with; those who left have lost all the same."""
    after = rate({}, [Finisher(who, 1, left=who != "a") for who in "abc"])
    assert {"b", "c"} == after.keys()


def test_a_table_of_one_bot_says_nothing() -> None:
    """Four seats of the same bot cannot be better than each other, and it is no surer how good it is."""
    assert {} == rate({}, [Finisher("bot:rules@1", place) for place in range(4)])


def test_several_seats_of_a_bot_are_one_opinion() -> None:
    """Three seats move the bot by the mean of what each says, never by more than the best of them."""
    alone = [rate({}, [Finisher("bot", place), Finisher("a", 2)])["bot"].mu for place in (0, 3, 4)]
    after = rate({}, [*(Finisher("bot", place) for place in (0, 3, 4)), Finisher("a", 2)])
    assert math.isclose(sum(alone) / 3, after["bot"].mu)


def test_partners_are_not_compared() -> None:
    """A pair that won has beaten two; that it is level with itself says nothing."""
    pairs = [Finisher(who, place, side=place) for who, place in (("a", 0), ("b", 1), ("c", 0), ("d", 1))]
    after = rate({"c": STRONG}, pairs)
    assert after["a"] == rate({}, [pairs[0], pairs[1], pairs[3]])["a"]


@given(games(), st.randoms(use_true_random=False))
def test_who_sits_where_makes_no_difference(
    game: tuple[dict[str, Skill], list[Finisher]], chance: Random
) -> None:
    """Seats in another order get the same skills, to the last bit; nobody gets numbers that are none."""
    skills, seats = game
    after = rate(skills, seats)
    mixed = seats[:]
    chance.shuffle(mixed)
    assert after == rate(skills, mixed)
    for one in after.values():
        assert math.isfinite(one.mu)
        assert 0 < one.sigma < 10


def test_large_tables_find_the_truth_without_being_too_sure() -> None:
    """Given thirty players of known skill in games of eleven, then the errors are not much more than is believed.

    With every comparison counted whole they are 4.4 times what is believed, and 9.8 points.
    """
    chance = Random(3)
    truth = {f"p{n}": chance.gauss(25, 25 / 3) for n in range(30)}
    skills: dict[str, Skill] = {}
    for _ in range(100):
        who = chance.sample(sorted(truth), 11)
        shown = {one: chance.gauss(truth[one], 25 / 6) for one in who}
        order = sorted(who, key=lambda one: -shown[one])
        skills |= rate(skills, [Finisher(one, place) for place, one in enumerate(order)])
    errors = {who: skills[who].mu - truth[who] for who in truth}
    offset = sum(errors.values()) / len(errors)
    assert 2 > rms([(errors[who] - offset) / skills[who].sigma for who in truth])
    assert 7.5 > rms([error - offset for error in errors.values()])
    best = max(skills, key=lambda one: skills[one].score)
    assert best in sorted(truth, key=lambda one: truth[one])[-3:]
