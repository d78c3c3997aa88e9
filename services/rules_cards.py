"""Cards and classes of cards as a text about the rules names them, in the case that the sentence wants.

The few that everybody has a word for stand in words, all others as their sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from domain.cards import NAMES, SUITS, Card
from services.languages import Words

FEW: Final = 3
"""Cards that are told one by one; of more than that a list is made."""
SIGNS: Final = dict(zip(SUITS, "♣♦♠♥", strict=True))
_PLAIN: Final = str.maketrans({sign: suit for suit, sign in SIGNS.items()} | {"\u2212": "-", "\u00a0": " "})
_ORDER: Final = {name: at for at, name in enumerate((*SUITS[::-1], *NAMES[::-1]))}


def show_card(name: str) -> str:
    """The short form of a card, as it stands in lists."""
    if name in SUITS:
        return SIGNS[name]
    return f"{name[0].replace('T', '10')}{SIGNS[name[1]]}"


def show_cards(cards: Iterable[Card]) -> str:
    """A list of cards in their short form."""
    return ", ".join(show_card(NAMES[card]) for card in cards)


def _each(words: Words, name: str) -> str:
    """A class as the subject of what it counts."""
    subject: dict[str, str] = {
        "C": words.pgettext("counts points", "each club"),
        "D": words.pgettext("counts points", "each diamond"),
        "S": words.pgettext("counts points", "each spade"),
        "H": words.pgettext("counts points", "each heart"),
        "QS": words.pgettext("counts points", "the queen of spades"),
        "JD": words.pgettext("counts points", "the jack of diamonds"),
    }
    return subject.get(name) or show_card(name)


def barred_cards(words: Words, classes: Iterable[str]) -> str:
    """Classes as what somebody may not play."""
    thing: dict[str, str] = {
        "C": words.pgettext("may not play", "a club"),
        "D": words.pgettext("may not play", "a diamond"),
        "S": words.pgettext("may not play", "a spade"),
        "H": words.pgettext("may not play", "a heart"),
        "QS": words.pgettext("may not play", "the queen of spades"),
        "JD": words.pgettext("may not play", "the jack of diamonds"),
    }
    return words.either(thing.get(name) or show_card(name) for name in classes)


def played_cards(words: Words, classes: Iterable[str]) -> str:
    """Classes as what has been played."""
    subject: dict[str, str] = {
        "C": words.pgettext("has been played", "a club"),
        "D": words.pgettext("has been played", "a diamond"),
        "S": words.pgettext("has been played", "a spade"),
        "H": words.pgettext("has been played", "a heart"),
        "QS": words.pgettext("has been played", "the queen of spades"),
        "JD": words.pgettext("has been played", "the jack of diamonds"),
    }
    return words.either(subject.get(name) or show_card(name) for name in classes)


def count_clauses(words: Words, points: Mapping[str, int]) -> Iterator[str]:
    """What each of some classes counts, a clause each; cards that have no word of their own share one where many."""
    unnamed = many_unnamed(words, points)
    for name in sort_classes(points):
        if name not in unnamed:
            yield words.ngettext(
                "{card} counts {n} point", "{card} counts {n} points", points[name], card=_each(words, name)
            )
    if unnamed:
        cards = ", ".join(f"{show_card(name)} {words.number(points[name])}" for name in unnamed)
        yield words.gettext("by the card: {cards}", cards=cards)


def many_unnamed(words: Words, classes: Iterable[str]) -> list[str]:
    """The cards among some classes that have no word of their own; none where they are few."""
    found = [name for name in sort_classes(classes) if _each(words, name) == show_card(name)]
    return found if len(found) > FEW else []


def as_sentence(words: Words, clauses: Iterable[str]) -> str:
    """Clauses as one sentence: a capital, what stands between clauses, a full stop."""
    text = words.pgettext("between clauses", "; ").join(clauses)
    return f"{text[:1].upper()}{text[1:]}."


def sort_classes(classes: Iterable[str]) -> list[str]:
    """Classes in one order however they were written: suits first, then cards from the highest."""
    return sorted(classes, key=_ORDER.__getitem__)


def without_signs(text: str) -> str:
    """A text for a terminal that cannot show suit signs: cards as 2D, a plain minus."""
    return text.translate(_PLAIN)
