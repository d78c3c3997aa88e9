"""A proof judged with the compiled kernel is judged as without it, and most of its hands are judged by it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given

from domain import events as e
from domain import kernel
from domain.ruleset import RuleSet
from domain.variants import ruleset_of
from services.proof import Report
from tests.support.any_forgery import forge
from tests.support.byte_changes import FAMILIES, changed, judge, places, short_file, with_heads_anew
from tests.support.forged_claims import CLAIMS
from tests.support.forged_plays import RULES
from tests.support.games import PUBLISHED, play_game, rule_sets, seeds, steady
from tests.support.proofs import KEY, Events, at_of, claim, file_of, played, report_of
from tests.support.proofs import changed as changed_event


@contextmanager
def uncompiled() -> Iterator[None]:
    """The house as it is where there was no compiler."""
    known, kernel.AVAILABLE = kernel.AVAILABLE, False
    try:
        yield
    finally:
        kernel.AVAILABLE = known


def both(events: Events, *, rerun_bots: bool = False) -> Report:
    """What is shown of the events, which must be the same on either path."""
    data = file_of(events)
    with uncompiled():
        plain = report_of(data, rerun_bots=rerun_bots)
    assert plain == report_of(data, rerun_bots=rerun_bots)
    return plain


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each hand that the kernel was asked about whether it answered."""
    found: list[bool] = []
    score_hand = kernel.score_hand

    def count(*args: Any) -> list[int] | None:
        points = score_hand(*args)
        found.append(points is not None)
        return points

    monkeypatch.setattr(kernel, "score_hand", count)
    return found


@pytest.mark.parametrize(("name", "players"), PUBLISHED)
def test_every_family_is_judged_alike(name: str, players: int, counted: list[bool]) -> None:
    """Whole games, by bots alone: every hand in which nobody chooses for a moon is the kernel's."""
    rules = ruleset_of({"variant": name, "players": players, "hand_limit": 4})
    events = list(play_game(rules, f"{name}{players}", kinds="b" * players, server_key=KEY.public).events)
    assert both(events).ok
    chosen = sum(isinstance(event, e.MoonChosen) for event in events)
    assert sum(counted) == len(counted) == sum(isinstance(event, e.HandScored) for event in events) - chosen


@pytest.mark.parametrize("name", ["standard", "special", "omnibus"])
def test_persons_and_bots_are_judged_alike(name: str, counted: list[bool]) -> None:
    """Given both at a table, then each must have made its own moves, and the hands are still the kernel's."""
    rules = ruleset_of({"variant": name, "players": 4, "hand_limit": 3})
    events = list(play_game(rules, 3, kinds="pbnb", server_key=KEY.public).events)
    assert both(events).ok
    assert counted == [True] * 3


def test_a_person_who_came_back_plays_the_next_hand(counted: list[bool]) -> None:
    """Given a seat handed to the bot and taken back in one hand, then the next one is the person's, and the kernel's."""
    events = list(played("pppp").events)
    changed_event(events, 0, hints=False)
    deal, score = at_of(events, e.HandDealt), at_of(events, e.HandScored)
    for at in range(deal, score):
        if getattr(events[at], "seat", None) == 0 and hasattr(events[at], "by"):
            changed_event(events, at, by="bot")
    at = events[deal].at
    events[deal + 1 : deal + 1] = [e.SeatToBot(at=at, seat=0), e.SeatTakenBack(at=at, seat=0)]
    assert claim(both(events), "R").status == "holds"
    assert counted == [True]


@given(rule_sets(), seeds)
@steady(60)
def test_any_rules_are_judged_alike(rules: RuleSet, seed: int) -> None:
    """Games by rule sets with every key drawn, dead tricks, kitties, suns and moons to choose for among them."""
    assert both(list(play_game(rules, seed, server_key=KEY.public).events)).ok


@given(rule_sets(), seeds)
@steady(250)
def test_any_forgery_is_judged_alike(rules: RuleSet, seed: int) -> None:
    """Whatever a server changes in its events before it builds the chain anew, the report is the same to the letter."""
    rng = Random(seed)
    events = list(play_game(rules, seed, kinds="b" * rules.players, server_key=KEY.public).events)
    for _ in range(rng.choice([1, 1, 2])):
        forge(events, rng)
    both(events, rerun_bots=seed % 2 == 0)


@pytest.mark.parametrize("change", [*RULES, *CLAIMS], ids=lambda change: change.__name__)
def test_each_known_forgery_is_judged_alike(change: Any) -> None:
    """The forgeries of plays, scores and claims that other tests name the event of."""
    for kinds in ("ppnb", "bbbb"):
        events = list(played(kinds).events)
        try:
            change(events)
        except (IndexError, StopIteration, ValueError):
            continue  # there is nothing of the kind at this table
        both(events)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_changed_byte_is_judged_alike(family: str) -> None:
    """A byte changed here and there, the heads made anew: the same line or report on either path."""
    data = short_file(family)
    for at, _ in list(places(data))[len(family) % 7 :: 7]:
        forged = changed(data, at, data[at] ^ 1)
        if (
            data[at] != ord("\n")
            and forged.count(b"\n") == data.count(b"\n")
            and b'{"n":1,' in forged[: at + 9]
        ):
            forged = with_heads_anew(forged)
        with uncompiled():
            plain = judge(forged)
        assert plain == judge(forged), at


def test_a_hand_goes_not_to_the_kernel_where_it_is_out_of_turn(counted: list[bool]) -> None:
    """Given a lock in mid-hand, after which that hand is dealt again, then R fails though the kernel would count it."""
    events = list(played("bbbb").events)
    lock, deal = at_of(events, e.GameLocked), at_of(events, e.HandDealt)
    score = at_of(events, e.HandScored)
    at = events[score].at
    again = [msgspec.structs.replace(one, at=at) for one in (events[lock], *events[deal : score + 1])]
    events = [*events[: deal + 8], *again, *events[score + 1 :]]
    assert claim(both(events), "R").event == deal + 10
    assert not any(counted)


def test_a_card_of_the_kitty_in_a_hand_is_no_deal() -> None:
    """Given a deal that is the deck, when a seat has the kitty's card besides its own, then R fails at the deal."""
    rules = ruleset_of({"variant": "standard", "hand": 12, "hand_limit": 1})
    events = list(play_game(rules, 5, kinds="bbbb", server_key=KEY.public).events)
    at = at_of(events, e.HandScored)
    deal, kitty = events[at].deal, events[at].kitty
    changed_event(events, at, deal=(f"{deal[0]} {kitty[:2]}", *deal[1:]), kitty=kitty[3:])
    found = claim(both(events), "R")
    assert (found.detail, found.event) == ("the deal is not the deck", at_of(events, e.HandDealt) + 1)


def test_passes_of_a_hand_in_which_nothing_is_passed_fail() -> None:
    """Given a hold hand, when its score has passes, then R fails there."""
    rules = ruleset_of({"variant": "basic", "pass_count": 0, "hand_limit": 2})
    events = list(play_game(rules, 5, kinds="bbbb", server_key=KEY.public).events)
    at = at_of(events, e.HandScored)
    changed_event(events, at, passes=("", "", "", ""))
    found = claim(both(events), "R")
    assert (found.detail, found.event) == ("nothing was passed in this hand", at + 1)


def test_a_moon_that_nobody_chose_for_fails() -> None:
    """Given a moon that was to add, when the choice is left out, then R fails though the points are those of it."""
    rules = ruleset_of(
        {"variant": "basic", "points": {"QS": 13}, "moon_effect": "choice", "moon_x": 13, "hand_limit": 3}
    )
    for seed in range(20):
        events = list(play_game(rules, seed, kinds="bbbb", server_key=KEY.public).events)
        at = at_of(events, e.MoonChosen)
        if events[at].choice == "add":
            break
    del events[at]
    assert claim(both(events), "R").event == at + 1


def test_a_dead_trick_goes_to_nobody_and_not_to_a_seat_that_there_is_not() -> None:
    """Given a dead trick, when it is said to go to the seat whose number stands for nobody in the kernel, then R fails."""
    rules = ruleset_of({"variant": "cancellation", "players": 11, "dead_trick": "two_pairs", "hand_limit": 4})
    events = list(play_game(rules, 3, kinds="b" * 11, server_key=KEY.public).events)
    dead = [at for at, one in enumerate(events) if isinstance(one, e.TrickEnded) and one.seat is None]
    assert both(events).ok
    changed_event(events, dead[0], seat=kernel.NOBODY)
    found = claim(both(events), "R")
    assert (found.detail, found.event) == ("the trick goes to nobody", dead[0] + 1)


def test_an_end_is_not_called_abandoned() -> None:
    """Given a game that is over by its last hand, when its end says that it was abandoned, then R fails."""
    events = list(played("bbbb", hand_limit=1).events)
    end = events[-1]
    assert isinstance(events[0], e.GameCreated)
    assert isinstance(end, e.GameEnded)
    late = end.at + 10**10
    events[-1] = e.GameEnded(at=late, winners=(), totals=end.totals, reason="abandoned", secret=None)
    found = claim(both(events), "R")
    assert (found.status, found.event) == ("fails", len(events))
