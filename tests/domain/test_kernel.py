"""The compiled kernel says of every record what the plain path says, or leaves it to the plain path."""

from __future__ import annotations

import copy
import json
import re
import sys
from pathlib import Path
from random import Random
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import kernel
from domain.cards import FIRST_COPIES, NAMES
from domain.knobs import LATER
from domain.record import Verdict, read_record, record_of, replay, short_rules
from domain.ruleset import KEYS, RuleSet, Terms
from domain.variants import ruleset_of
from tests.domain.test_record import FAULTS
from tests.domain.test_record_properties import spoil as spoiled_in
from tests.support.games import PUBLISHED, house_rules, play_game, rule_sets, seeds, steady
from tests.support.records import cut, moon_record, small_record, spoil
from tests.support.verdicts import check_same, plain

ROOT = Path(__file__).resolve().parents[2]
CASES: list[dict[str, Any]] = [
    json.loads(line)["record"]
    for name in ("rules.ndjson", "more.ndjson")
    for line in (ROOT / "tests/conformance" / name).read_text(encoding="utf-8").splitlines()
]
CODES = frozenset(
    re.findall(
        r"`((?:deal|pass|play|hand|moon|score|game)/\w+)`",
        (ROOT / "docs/spec/record.md").read_text(encoding="utf-8"),
    )
)
"""Every code that a fault of a record has."""
WHOLE = small_record()
# not imported by name, so that without it a test fails that says why
_hearts: Any = getattr(kernel, "_hearts", None)

# --- what it is


def test_the_kernel_is_compiled() -> None:
    """Where the tests run there is a compiler, so that the kernel is tested and not only left out."""
    assert kernel.AVAILABLE, (
        "domain/kernel is not compiled: a C compiler is needed, then `make venv` builds it"
    )
    assert Path(_hearts.__file__ or "").parent == ROOT / "domain/kernel", "an older build is in the way"


def test_every_key_of_a_rule_set_is_played_or_handed_over() -> None:
    """A key that is added to the rule set must be told to the kernel, one way or the other."""
    assert set(KEYS) == kernel.PLAYED | kernel.HANDED_OVER
    assert not kernel.PLAYED & kernel.HANDED_OVER


def test_every_word_of_a_played_key_is_known() -> None:
    """A word that is added to a key must be told to the kernel too."""
    words: dict[str, set[object]] = {}
    for key, hint in get_type_hints(RuleSet).items():
        for one in (hint, *get_args(hint)):
            if key in kernel.PLAYED and get_origin(one) is Literal:
                words[key] = {*get_args(one), *([LATER[key]] if key in LATER else [])}
    assert words == {key: set(known) for key, known in kernel.CHOICES.items()}


@pytest.mark.parametrize(
    ("unknown", "rules", "answered"),
    [
        ({"PLAYED": kernel.PLAYED - {"floor"}}, {"floor": 0}, False),
        ({"PLAYED": kernel.PLAYED - {"floor"}}, {"floor": None}, True),
        ({"CHOICES": kernel.CHOICES | {"tie": ("continue",)}}, {"tie": "shared"}, False),
        ({"CHOICES": kernel.CHOICES | {"tie": ("continue",)}}, {"tie": "continue"}, True),
    ],
)
def test_rules_it_does_not_know_are_handed_over(
    monkeypatch: pytest.MonkeyPatch, unknown: dict[str, Any], rules: dict[str, Any], answered: bool
) -> None:
    """A key or a word that the kernel does not know leaves the record to the plain path, its default does not."""
    for name, value in unknown.items():
        monkeypatch.setattr(kernel, name, value)
    kernel._find_terms.cache_clear()
    line = msgspec.json.encode(spoil(small_record(), "rules", {**small_record()["rules"], **rules}))
    try:
        assert answered is (kernel.check_record(line) is not None)
        assert kernel.judge(line) == plain(line)
    finally:
        kernel._find_terms.cache_clear()


def test_without_the_kernel_the_plain_path_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything works where nothing was compiled."""
    line = msgspec.json.encode(small_record())
    said = kernel.judge(line)
    monkeypatch.setattr(kernel, "AVAILABLE", False)
    assert kernel.check_record(line) is None
    assert said == kernel.judge(line)


# --- the same verdicts


@pytest.mark.parametrize("record", CASES, ids=range(len(CASES)))
def test_a_case_of_the_conformance_data_has_the_same_verdict(record: dict[str, Any]) -> None:
    """Every rule and every fault of the conformance data."""
    check_same(record)


@pytest.mark.parametrize(("name", "players"), PUBLISHED)
def test_whole_games_of_every_family_are_answered_by_the_kernel(name: str, players: int) -> None:
    """A record of each published variant at each number of seats holds, to its end and cut off anywhere."""
    rules = ruleset_of({"variant": name, "players": players})
    record = record_of(play_game(rules, f"{name}{players}").events)
    said = check_same(record)
    assert isinstance(said, Verdict)
    assert "over" == said.phase
    rng = Random(players)
    for number in range(len(record["hands"])):
        plays = rng.randrange(len(record["hands"][number]["plays"]) + 1)
        check_same({**cut(record, plays, number), "winners": []})


@steady(150)
@given(rule_sets(), seeds)
def test_random_rules_have_the_same_verdicts(rules: RuleSet, seed: int) -> None:
    """Games under any rule set: whole, cut off at any point, and spoiled in any way."""
    record = record_of(play_game(rules, seed).events)
    rng = Random(seed)
    check_same(record)
    number = rng.randrange(len(record["hands"]))
    for _, _, spoiled in spoiled_in(record, number, Terms(rules)):
        check_same(spoiled)
    at = rng.randrange(len(record["hands"][number]["plays"]) + 1)
    short = {**cut(record, at, number), "winners": None}
    check_same(short)
    for card in NAMES:
        other = copy.deepcopy(short)
        other["hands"][number]["plays"].append(card)
        check_same(other)


@st.composite
def short_hands(draw: st.DrawFn) -> RuleSet:
    """Any rule set, but of few tricks, so that moons and suns are frequent."""
    hand = draw(st.integers(1, 3))
    given = dict(msgspec.to_builtins(draw(house_rules())))
    given |= {"hand": hand, "pass_count": draw(st.integers(0, 1)), "hand_limit": 8}
    given |= {"points": draw(st.sampled_from([given["points"], {"C": 1, "QD": -3}, {"H": 1, "S": 1}]))}
    return ruleset_of({**given, "sun_from": 1} if hand == 1 else given)


@steady(150)
@given(short_hands(), seeds)
def test_moons_and_suns_have_the_same_verdicts(rules: RuleSet, seed: int) -> None:
    """Whatever they do to points, totals, choices and the end of the game."""
    record = record_of(play_game(rules, seed).events)
    check_same(record)
    for number, hand in enumerate(record["hands"]):
        moon = ... if "moon" in hand else "subtract"
        check_same(spoil(record, f"hands.{number}.moon", moon))
        pending = cut(record, len(hand["plays"]), number)
        check_same({**pending, "winners": None})


@pytest.mark.parametrize(("path", "value"), [row[1:3] for row in FAULTS], ids=[row[0] for row in FAULTS])
def test_a_fault_written_by_hand_has_the_same_verdict(path: str, value: Any) -> None:
    """Each of the faults that the tests of the plain path know."""
    said = check_same(spoil(small_record(), path, value))
    assert isinstance(said, Verdict)
    assert not said.ok


def test_the_kernel_finds_the_hand_that_is_wrong() -> None:
    """A fault anywhere in a long record is told by the kernel, which leaves to the plain path one hand of it."""
    record = record_of(play_game(ruleset_of({"variant": "standard", "moon_effect": "add"}), 3).events)
    hands = record["hands"]
    last = len(hands) - 1
    told = []
    for number in (0, 3, last):
        spoiled = [
            spoil(record, f"hands.{number}.plays.30", hands[number]["plays"][29]),
            spoil(record, f"hands.{number}.plays", hands[number]["plays"][:-1]),
            spoil(record, f"hands.{number}.plays", [*hands[number]["plays"], "2C"]),
            spoil(record, f"hands.{number}.points.0", 26),
            spoil(record, f"hands.{number}.totals.1", 1_000_000_000_000),
            spoil(record, f"hands.{number}.moon", "subtract"),
        ]
        for one in spoiled:
            said = check_same(one)
            assert isinstance(said, Verdict)
            assert number + 1 == said.hand
            assert said == kernel.check_record(msgspec.json.encode(one))
            told.append(said.code)
    assert {"hand/unfinished", "play/hand_over", "score/points", "score/totals", "moon/not_now"} < set(told)


def test_every_code_is_met() -> None:
    """The faults of these tests have all the codes there are."""
    late = spoil(moon_record(), "hands.0.moon", ...)
    over = spoil(small_record(), "rules.hand_limit", 1)
    banned = spoil(spoil(small_record(), "rules.trick1_ban", ["S"]), "hands.1.plays.2", "4S")
    records = [*CASES, *(spoil(small_record(), *row[1:3]) for row in FAULTS), late, over, banned]
    verdicts = [replay(read_record(msgspec.json.encode(record))) for record in records]
    assert CODES == {verdict.code for verdict in verdicts if not verdict.ok}
    for record in (late, over, banned):
        check_same(record)


# --- the module behind it


def good_terms() -> dict[str, Any]:
    """Arguments of `_hearts.Terms` that it takes."""
    return {
        "rules": None,
        "players": 4,
        "hand": 13,
        "deck": (FIRST_COPIES, 0),
        "pass_count": 3,
        "offsets": (1, 3, 2, 0),
        "opening_ban": 0,
        "trick1_ban": 0,
        "breakers": 0,
        "values": (1,) * 52,
        "opener_forced": True,
        "kitty_last": False,
        "must_qs": False,
        "hearts_beside_qs": False,
        "cancel": False,
        "two_pairs_dead": False,
        "dead_last_to_leader": False,
        "partners": False,
        "moon": 0,
        "sun": 0,
        "sun_from": 1,
        "moon_needs_bonus": False,
        "swallows": False,
        "tie_goes_on": False,
        "perfect_hand": False,
        "moon_x": 26,
        "sun_x": 52,
        "no_trick_points": 0,
        "moon_choice_from": None,
        "hand_floor": None,
        "floor": None,
        "target": 100,
        "hand_limit": 0,
    }


@pytest.mark.parametrize(
    "changes",
    [
        {"players": 2},
        {"players": 12},
        {"hand": 0},
        {"hand": 14},
        {"players": 2**31 - 1},
        {"hand": 2**31 - 1},
        {"deck": (FIRST_COPIES, 1 << 52)},
        {"deck": (1 << 60, 0)},
        {"deck": (1, 2)},
        {"pass_count": -1},
        {"pass_count": 14},
        {"offsets": ()},
        {"offsets": (1,) * 65},
        {"offsets": (4,)},
        {"offsets": (-1,)},
        {"values": (1,) * 51},
        {"values": (1,) * 53},
        {"values": (1_000_001,) * 52},
        {"breakers": 1 << 52},
        {"opening_ban": -1},
        {"moon": 7},
        {"moon": -1},
        {"sun": 5},
        {"sun_from": 0},
        {"sun_from": 3},
        {"sun_from": 2, "hand": 1, "pass_count": 0},
        {"players": 3, "partners": True},
        {"moon_x": 1_000_001},
        {"floor": -1_000_001},
        {"hand_limit": -1},
    ],
)
def test_terms_that_cannot_be_played_are_refused(changes: dict[str, Any]) -> None:
    """The compiled module trusts no caller with numbers that would lead it astray."""
    assert _hearts.Terms(**good_terms())
    with pytest.raises(ValueError, match=r"terms|tuple"):
        _hearts.Terms(**{**good_terms(), **changes})


@pytest.mark.parametrize(
    "changes", [{"offsets": ("1",)}, {"floor": "low"}, {"deck": 5}, {"players": None}, {"target": None}]
)
def test_terms_of_the_wrong_kind_are_refused(changes: dict[str, Any]) -> None:
    """Other types are type errors."""
    with pytest.raises(TypeError):
        _hearts.Terms(**{**good_terms(), **changes})


def test_errors_of_the_caller_are_raised() -> None:
    """What the search for terms raises comes out, and nothing but bytes and terms is taken."""
    line = msgspec.json.encode(WHOLE)

    def fail(written: bytes, seats: int) -> None:
        raise LookupError(written, seats)

    with pytest.raises(LookupError) as failure:
        _hearts.check(line, fail)
    assert ((msgspec.json.encode(WHOLE["rules"])), 3) == failure.value.args
    for args in ((line, lambda *_: 5), ("text", fail), (bytearray(line), fail), (line,), (line, fail, 1)):
        with pytest.raises(TypeError):
            _hearts.check(*args)  # type: ignore[arg-type]


def test_terms_for_another_number_of_seats_are_not_used() -> None:
    """The kernel never plays a record under terms of more or fewer seats than it has."""
    terms = _hearts.Terms(**good_terms())
    assert _hearts.check(msgspec.json.encode(WHOLE), lambda *_: terms) is None


def test_nothing_is_kept_of_what_was_judged() -> None:
    """Thousands of records, good and bad, leave no object behind."""
    rules = ruleset_of({"variant": "basic", "hand_limit": 2})
    line = msgspec.json.encode(record_of(play_game(rules, 1).events))
    lines = [line, line[:-1], line.replace(b"AS", b"2S"), msgspec.json.encode(short_rules(rules))]
    kept = []
    for _ in range(3):
        for one in lines * 500:
            kernel.check_record(one)
        kept.append(sys.getallocatedblocks())
    assert kept[2] - kept[1] < 100
