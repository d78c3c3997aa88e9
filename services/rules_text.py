"""A rule set in sentences, in any of our languages, made of its fields and of nothing else.

`services.rules_topics` has the sentences; here they are put together: the title, the sections, a summary in one line,
and what of a rule set makes no difference. Where two rule sets differ in a key, their texts differ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Final, NamedTuple

import msgspec

from domain.cards import HEARTS, HEARTS_MASK, QS, SUIT_OF
from domain.commands import FULL_CHAIN
from domain.rules import MOON_CHOICES
from domain.ruleset import RuleSet, Terms, terms_of
from domain.variants import CUSTOM, VARIANTS
from services.languages import ENGLISH, Words, words_of
from services.rules_cards import as_sentence, count_clauses, many_unnamed
from services.rules_moon import has_moon, has_sun
from services.rules_topics import (
    TOPICS,
    always_held,
    clubs_of,
    has_pairs,
    must_qs_matters,
    queen_beside_hearts,
)

_USUAL: Final = {"H": 1, "QS": 13}
_IDLE: Final[dict[str, Callable[[Terms], bool]]] = {
    "kitty_to": lambda terms: not terms.kitty,
    "pass_count": lambda terms: not any(terms.rules.pass_cycle),
    "pass_cycle": lambda terms: not terms.rules.pass_count or _holds_twice(terms),
    "opener": lambda terms: not clubs_of(terms),
    "opening_ban": lambda terms: terms.rules.opener == "forced" and always_held(terms),
    "trick1_all_banned": lambda terms: not must_qs_matters(terms),
    "qs_hearts_lead": lambda terms: not queen_beside_hearts(terms),
    "cancel": lambda terms: not has_pairs(terms),
    "dead_trick": lambda terms: not (terms.rules.cancel and has_pairs(terms)),
    "dead_last": lambda terms: not (terms.rules.cancel and has_pairs(terms)),
    "moon_effect": lambda terms: not terms.penalty_cards,
    "moon_x": lambda terms: not has_moon(terms) and terms.sun_effect != "punish",
    "moon_needs_bonus": lambda terms: not (has_moon(terms) and terms.bonus_cards),
    "moon_choice_from": lambda terms: not (has_moon(terms) and terms.rules.moon_effect in MOON_CHOICES),
    "moon_bonus": lambda terms: not (terms.bonus_cards and (has_moon(terms) or has_sun(terms))),
    "sun_x": lambda terms: terms.sun_effect in ("none", "reset"),
    "sun_from": lambda terms: not has_sun(terms),
}
"""When a key makes no difference to play, so that its topic does not tell of it."""


class Section(NamedTuple):
    """A heading and the sentences under it, at least one."""

    heading: str
    sentences: list[str]


def tell_rules(rules: RuleSet, words: Words | None = None) -> list[Section]:
    """A rule set that can be played, in sentences under headings; English where no ``words`` are given."""
    words = words or words_of()
    terms = terms_of(rules)
    told: dict[str, list[str]] = {}
    for topic in TOPICS:
        told.setdefault(topic.section, []).extend(topic.tell(words, terms))
    told["idle"] = list(_idle(words, terms))
    headings = _headings(words)
    return [Section(headings[name], sentences) for name, sentences in told.items() if sentences]


def tell_title(rules: RuleSet, words: Words | None = None) -> str:
    """What people call a rule set, with the name to ask for it by."""
    words = words or words_of()
    if rules.variant == CUSTOM:
        return words.gettext("House rules ({name})", name=rules.variant)
    title = words.gettext(VARIANTS[rules.variant].title)
    # every table has the limit that its chain of seeds sets
    full = rules.hand_limit == FULL_CHAIN
    if (msgspec.structs.replace(rules, hand_limit=None) if full else rules) == origin_of(rules):
        return f"{title} ({rules.variant})"
    return words.gettext("{title} ({name}) with house rules", title=title, name=rules.variant)


def summary(rules: RuleSet, words: Words | None = None) -> str:
    """What sets a rule set apart, in one line."""
    words = words or words_of()
    return as_sentence(words, _traits(words, terms_of(rules)))


@cache
def published_summary(name: str, players: int, language: str = ENGLISH) -> str:
    """The summary of a published variant: it never changes, and every page and list of variants asks for it."""
    return summary(VARIANTS[name].rules(players), words_of(language))


def origin_of(rules: RuleSet) -> RuleSet:
    """What a rule set started from: its variant as published for as many seats, or the defaults of `RuleSet`."""
    if rules.variant == CUSTOM:
        return RuleSet(variant=CUSTOM)
    return VARIANTS[rules.variant].rules(rules.players)


def _headings(words: Words) -> dict[str, str]:
    return {
        "table": words.pgettext("heading", "Players and cards"),
        "pass": words.pgettext("heading", "Passing"),
        "tricks": words.pgettext("heading", "Tricks"),
        "hearts": words.pgettext("heading", "Leading hearts"),
        "points": words.pgettext("heading", "Points"),
        "moon": words.pgettext("heading", "Shooting the moon"),
        "end": words.pgettext("heading", "End of the game"),
        "idle": words.pgettext("heading", "Without effect"),
    }


def _holds_twice(terms: Terms) -> bool:
    cycle = terms.rules.pass_cycle
    return len(cycle) > 1 and not any(cycle)


def _idle(words: Words, terms: Terms) -> Iterator[str]:
    rules, origin = terms.rules, origin_of(terms.rules)
    changed = [
        f"{key} = {msgspec.json.encode(rules.get(key)).decode()}"
        for key, makes_none in _IDLE.items()
        if rules.get(key) != origin.get(key) and makes_none(terms)
    ]
    if changed:
        yield words.gettext(
            "With these rules it makes no difference that {settings}.", settings=", ".join(changed)
        )


def _traits(words: Words, terms: Terms) -> Iterator[str]:
    rules = terms.rules
    yield words.ngettext("to {n} point", "to {n} points", rules.target)
    if rules.decks > 1:
        yield words.gettext("two decks")
    if rules.cancel and has_pairs(terms):
        yield words.gettext("identical cards cancel")
    if len(terms.teams[0]) > 1:
        yield words.gettext("opposite players are partners")
    if not rules.pass_count:
        yield words.gettext("nothing is passed")
    if HEARTS_MASK & ~terms.trick1_ban:
        yield words.gettext("hearts may fall on the first trick")
    if not rules.breakers:
        yield words.gettext("hearts may always be led")
    elif "QS" in rules.breakers:
        yield words.gettext("the queen of spades breaks hearts too")
    yield from _point_traits(words, terms)
    if terms.penalty_cards:
        yield _moon_trait(words, terms)
    if has_sun(terms):
        yield words.gettext("who takes every trick has shot the sun")
    yield words.gettext("a tie is shared") if rules.tie == "shared" else words.gettext("a tie is played out")
    if rules.perfect_hand:
        yield words.gettext("a perfect hand keeps the game going")


def _point_traits(words: Words, terms: Terms) -> Iterator[str]:
    """What counts otherwise than a point for each heart and 13 for the queen of spades."""
    if not terms.values[QS]:
        yield words.gettext("the queen of spades counts nothing")
    if not any(terms.values[card] for card in terms.deck if SUIT_OF[card] == HEARTS):
        yield words.gettext("hearts count nothing")
    unusual = {
        name: value for name, value in terms.rules.points.items() if value and _USUAL.get(name) != value
    }
    many = many_unnamed(words, unusual)
    yield from count_clauses(words, {name: value for name, value in unusual.items() if name not in many})
    if many:
        yield words.gettext("many cards have a value of their own")


def _moon_trait(words: Words, terms: Terms) -> str:
    # both players of another pair are given it
    pair = len(terms.teams[0]) if terms.rules.moon_effect == "add" else 1
    n = words.number(terms.rules.moon_x * pair)
    traits = {
        "add": words.gettext("moon: {n} for the others", n=n),
        "subtract": words.gettext("moon: {n} off", n=n),
        "choice": words.gettext("moon: {n} for the others, or off", n=n),
        "choice_if_lost": words.gettext("moon: {n} for the others, or off to save the game", n=n),
        "auto": words.gettext("moon: {n} for the others, or off if that wins", n=n),
        "collect": words.gettext("moon: {n} from each of the others", n=n),
        "none": words.gettext("no moon"),
    }
    return traits[terms.rules.moon_effect]
