"""A rule set in words: every key is told, in every language, and nothing is told that the rule set does not say."""

from __future__ import annotations

import typing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from msgspec import UNSET

from domain.cards import NAMES
from domain.ruleset import KEYS, RuleSet
from domain.variants import VARIANTS, ruleset_of
from services.cli_rules import page
from services.languages import LANGUAGES, words_of
from services.rules_text import summary, tell_rules, tell_title
from services.rules_topics import TOPICS
from tests.support.games import PUBLISHED, rule_sets, steady

GOLDEN = Path(__file__).with_name("rules")
CUSTOM: list[dict[str, object]] = [
    {},
    {"decks": 2, "hand": 20, "cancel": True, "kitty_to": "last", "points": {"H": 1, "QS": 13, "JD": -10}},
    {"opener": "left", "trick1_all_banned": "must_qs", "moon_effect": "auto", "hand_limit": 21, "floor": 0},
    {"pass_count": 0, "breakers": [], "moon_effect": "none", "trick1_ban": []},
    {
        "sun_effect": "punish",
        "sun_from": 2,
        "moon_effect": "choice",
        "moon_choice_from": 1,
        "partners": "opposite",
    },
    {"sun_effect": "add", "points": {"JD": -10}, "moon_bonus": "swallowed", "hand_floor": 0},
    {
        "sun_effect": "reset",
        "moon_effect": "choice_if_lost",
        "no_trick_points": -5,
        "points": {"H": 1, "JD": -1},
    },
    {"points": {}, "pass_cycle": [0], "removed": " ".join(NAMES[:13]), "hand": 1, "pass_count": 1},
]
BASES = [VARIANTS[name].rules(players) for name, players in PUBLISHED]
BASES += [ruleset_of({"variant": "custom", **changes}) for changes in CUSTOM]
OTHERS: dict[str, list[object]] = {
    "variant": ["basic", "standard", "custom"],
    "players": [3, 4, 5, 6],
    "decks": [1, 2],
    "removed": ["", "2C", "2C 2C", "QS", "2D 3D 4D"],
    "hand": [1, 2, 9, 13],
    "pass_count": [0, 1, 2, 3],
    "pass_cycle": [(0,), (0, 0), (1,), (-1,), (1, -1), (1, 0), (1, -1, 1, -1)],
    "opening_ban": [(), ("H",), ("QS",), ("H", "QS"), ("C",), ("D", "S"), ("JD", "TD")],
    "trick1_ban": [(), ("H",), ("QS",), ("QS", "H"), ("2C",), ("JD", "S")],
    "breakers": [(), ("H",), ("QS",), ("QS", "H"), ("2C",), ("JD", "S", "C")],
    "points": [{}, {"H": 1}, {"H": 0}, {"QS": 13, "H": 1}, {"H": 1, "QH": 2}, {"C": 1, "JD": -1, "S": 2}],
    "moon_x": [0, 1, 26, 1000],
    "floor": [None, 0, -1, -1000],
    "target": [1, 21, 100, 101],
    "hand_limit": [None, 1, 2, 21],
    "moon_choice_from": [UNSET, -1, 0, 26],
    "moon_bonus": [UNSET, "swallowed"],
    "sun_effect": [UNSET, "add", "subtract", "punish", "reset"],
    "sun_x": [UNSET, 0, 1, 21],
    "sun_from": [UNSET, 2],
    "no_trick_points": [UNSET, -5, 1, 21],
    "hand_floor": [UNSET, -1, 0],
    "partners": [UNSET, "opposite"],
}
"""Values to change each key to; those of a choice are known from its type."""


def told(rules: RuleSet, language: str = "en") -> str:
    """All that is told of a rule set."""
    words = words_of(language)
    parts = [section.heading + ": " + " ".join(section.sentences) for section in tell_rules(rules, words)]
    return "\n".join([tell_title(rules, words), *parts])


def values_of(key: str) -> list[object]:
    """Values that a key may have."""
    kind = typing.get_type_hints(RuleSet)[key]
    if kind is bool:
        return [False, True]
    return list(typing.get_args(kind)) if typing.get_origin(kind) is typing.Literal else OTHERS[key]


def changed(rules: RuleSet, key: str, value: object) -> RuleSet | None:
    """A rule set with one key changed; none where nothing changes or it could not be played."""
    other = msgspec.structs.replace(rules, **{key: value})
    return None if other == rules or other.problems() else other


@pytest.mark.parametrize(("name", "players"), PUBLISHED, ids=str)
def test_the_page_of_every_published_variant(name: str, players: int) -> None:
    """The whole page in English, word for word: a change of the wording is a change that somebody has read."""
    expected = (GOLDEN / f"{name}-{players}.txt").read_text(encoding="utf-8")
    assert expected == page(VARIANTS[name].rules(players), words_of(), 80) + "\n"


def test_there_is_no_page_of_anything_else() -> None:
    """A page is left over from no variant that is gone."""
    assert {f"{name}-{players}.txt" for name, players in PUBLISHED} == {
        path.name for path in GOLDEN.iterdir()
    }


def test_every_key_has_one_owner() -> None:
    """A new key of the rule set fails here until a topic tells of it, and no two tell of the same."""
    assert sorted(KEYS) == sorted(["variant", *(key for topic in TOPICS for key in topic.keys)])


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("key", KEYS)
def test_every_change_of_a_key_changes_the_text(key: str, language: str) -> None:
    """From every base to every value of the key, all others the same: the texts differ, idle keys included."""
    tried = 0
    for base in BASES:
        found = [other for value in values_of(key) if (other := changed(base, key, value))]
        texts = {told(rules, language) for rules in [base, *found]}
        assert len({repr(rules) for rules in [base, *found]}) == len(texts), base
        tried += len(found)
    assert tried > 3


@given(rule_sets(), rule_sets())
@steady(200)
def test_texts_of_any_two_rule_sets_that_differ_in_a_key_differ(one: RuleSet, other: RuleSet) -> None:
    """One key at a time is taken over from another rule set, in all languages; no placeholder is ever left."""
    texts = {language: told(one, language) for language in LANGUAGES}
    assert len(LANGUAGES) == len(set(texts.values()))
    for language, text in texts.items():
        # the settings that make no difference are told by value, in JSON
        assert not set("{}") & set(text.partition(" = ")[0])
        assert summary(one, words_of(language)).endswith(".")
    for key in KEYS:
        if mixed := changed(one, key, getattr(other, key)):
            assert told(mixed, "en") != texts["en"], key


@given(rule_sets())
@steady(30)
def test_equal_rule_sets_have_equal_texts(rules: RuleSet) -> None:
    """Points are told in one order however they were written."""
    turned = msgspec.structs.replace(rules, points=dict(reversed(rules.points.items())))
    assert (told(rules), summary(rules)) == (told(turned), summary(turned))


@pytest.mark.parametrize("language", LANGUAGES)
def test_summaries_tell_the_variants_apart(language: str) -> None:
    """One line each, all different, of moderate length."""
    lines = [summary(variant.rules(), words_of(language)) for variant in VARIANTS.values()]
    assert len(VARIANTS) == len(set(lines))
    assert all("\n" not in line and len(line) < 250 for line in lines)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"removed": "2C 2D 2S 2H", "hand": 12}, "Whoever holds 3♣ when play begins must lead it"),
        ({"hand": 12}, "4 cards are left over; they lie face down and go to the winner of the first trick."),
        ({"hand": 12}, "Whoever holds the lowest club when play begins"),
        ({"hand": 9}, "Where nobody holds a club, the player on the dealer's left leads."),
        ({"opener": "left"}, "This lead may be any card, hearts included."),
        (
            {"decks": 2, "hand": 26},
            "Where two players hold it, the first of them from the dealer's left leads.",
        ),
        ({"decks": 2, "hand": 26}, "Of two identical cards in a trick the one played later is the higher."),
        ({"pass_cycle": [1]}, "The direction is the same in every hand: to the left."),
        ({"pass_cycle": [0]}, "No cards are passed."),
        ({"trick1_ban": ["TD", "QS"]}, "on the first trick not 10♦ or the queen of spades, unless"),
        ({"trick1_all_banned": "must_qs"}, "the queen of spades must be played to the first trick"),
        ({"breakers": ["S", "TH", "QS"]}, "until a spade, 10♥ or the queen of spades has been played"),
        (
            {"points": {"TH": 5, "H": 1}},
            "Each heart counts 1 point; 10♥ counts 5 points. A card that is named",
        ),
        ({"points": {"JD": -10}}, "Cards with a minus are bonus cards"),
        (
            {"points": dict.fromkeys(["2H", "TH", "QS", "AS", "3H"], 2)},
            "; by the card: 10♥ 2, 3♥ 2, 2♥ 2, A♠ 2.",
        ),
        ({"partners": "opposite"}, "each scores what the two get together."),
        ({"sun_effect": "punish", "sun_x": 1}, "then scores 1 point, and every other opponent 26; where"),
        (
            {"sun_effect": "reset", "sun_from": 2},
            "from the second on; it stands in place of a moon. The shooter's",
        ),
        ({"no_trick_points": -5}, "Whoever takes no trick scores -5 points for that"),
        ({"hand_floor": -3}, "in one hand never counts less than -3."),
        ({"moon_effect": "collect"}, "Every other player scores 26 points, and for each of them 26 come off"),
        ({"moon_effect": "choice", "moon_choice_from": 26}, "before the hand was below 26 has no choice"),
        ({"moon_choice_from": 26}, "makes no difference that moon_choice_from = 26."),
        (
            {"moon_needs_bonus": True, "points": {"H": 1, "JD": -1}},
            "and every bonus card of a hand (14 cards)",
        ),
        ({"points": {"QS": 1}, "moon_x": 1}, "(1 card). The shooter then scores nothing for them, and every"),
        ({"moon_effect": "none"}, "There is no moon"),
        ({"target": 1_000_000}, "somebody has 1,000,000 points or more"),
        ({"hand_limit": 1}, "After 1 hand the game ends in any case"),
        ({"cancel": True, "moon_x": 5, "moon_effect": "none"}, "that cancel = true, moon_x = 5."),
    ],
)
def test_what_is_told_of_a_house_rule(changes: dict[str, object], words: str) -> None:
    """Each in the words that players use."""
    assert words in told(ruleset_of({"variant": "custom", **changes}))


def test_a_title_says_whether_a_variant_is_as_published() -> None:
    """The name to ask for, and whether the house has changed something."""
    titles = [
        tell_title(ruleset_of(given))
        for given in ({"variant": "omnibus"}, {"variant": "omnibus", "target": 5}, {"variant": "custom"})
    ]
    assert ["Omnibus Hearts (omnibus)", "Omnibus Hearts (omnibus) with house rules"] == titles[:2]
    assert "House rules (custom)" == titles[2]


@pytest.mark.parametrize(
    ("language", "changes", "words"),
    [
        ("is", {"hand": 10, "decks": 2, "removed": "2C 3C 4C"}, "61 spil gengur af; það liggur á hvolfi"),
        ("is", {"hand": 10}, "12 spil ganga af; þau liggja á hvolfi"),
        ("is", {"decks": 2, "hand": 23, "removed": "2C"}, "11 spil ganga af"),
        ("is", {"hand_limit": 1}, "Eftir 1 gjöf lýkur"),
        ("is", {"hand_limit": 11}, "Eftir 11 gjafir lýkur"),
        ("is", {"hand_limit": 21}, "Eftir 21 gjöf lýkur"),
        ("is", {"breakers": ["H", "QS"]}, "fyrr en hjarta eða spaðadrottningin hefur fallið"),
        ("is", {}, "í fyrsta slag ekki hjarta eða spaðadrottninguna, nema"),
        ("sv", {"hand_limit": 1}, "Efter 1 giv slutar"),
        ("sv", {"hand_limit": 21}, "Efter 21 givar slutar"),
        ("sv", {"breakers": ["H", "QS"]}, "förrän hjärter eller spader dam har spelats"),
        ("fi", {"pass_count": 1}, "antaa 1 kortin kuvapuoli"),
        ("fi", {"pass_count": 2}, "antaa 2 korttia kuvapuoli"),
        ("fi", {}, "ensimmäiseen tikkiin ei herttaa tai patarouvaa"),
        ("fi", {"breakers": ["H", "QS"]}, "ennen kuin hertta tai patarouva on pelattu"),
        (
            "el",
            {"points": {"H": 1, "QS": 13}},
            "Κάθε κούπα μετράει 1 πόντο· η ντάμα μπαστούνι μετράει 13 πόντους.",
        ),
        ("el", {"opening_ban": ["H", "QS"], "opener": "left"}, "δεν γίνεται με κούπα ή την ντάμα μπαστούνι"),
        ("el", {"breakers": ["H", "QS"]}, "πριν πέσει κούπα ή η ντάμα μπαστούνι"),
    ],
)
def test_words_are_inflected_by_number_and_case(
    language: str, changes: dict[str, object], words: str
) -> None:
    """Counts and cards in the forms that the sentence wants; 21 is singular in Icelandic and nowhere else."""
    assert words in told(ruleset_of({"variant": "custom", **changes}), language)
