"""What is told of the moon and the sun: what they are, what they do, and to whom. Sentences like `services.rules_topics`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from domain.rules import MOON_CHOICES
from domain.ruleset import Terms
from services.languages import Words


def has_moon(terms: Terms) -> bool:
    """Whether taking all penalty cards does something of its own."""
    return bool(terms.penalty_cards) and terms.rules.moon_effect != "none"


def has_sun(terms: Terms) -> bool:
    """Whether taking all tricks does something of its own."""
    return terms.sun_effect != "none"


def tell_moon(words: Words, terms: Terms) -> Iterator[str]:
    """The moon, where any card counts points."""
    if not terms.penalty_cards:
        return
    effect, x = terms.rules.moon_effect, terms.rules.moon_x
    if effect == "none":
        yield words.gettext("There is no moon: a player who takes all that counts scores it all.")
        return
    if terms.bonus_cards and terms.rules.moon_needs_bonus:
        yield words.ngettext(
            "To shoot the moon, take every card that counts points and every bonus card of a hand ({n} card).",
            "To shoot the moon, take every card that counts points and every bonus card of a hand ({n} cards).",
            terms.penalty_cards + terms.bonus_cards,
        )
    else:
        yield words.ngettext(
            "To shoot the moon, take every card of a hand that counts points against you ({n} card).",
            "To shoot the moon, take every card of a hand that counts points against you ({n} cards).",
            terms.penalty_cards,
        )
    yield _MOONS[effect](words, x)
    if effect in MOON_CHOICES and terms.moon_choice_from is not None:
        yield words.gettext(
            "A shooter whose total before the hand was below {n} has no choice: the points go to the others.",
            n=words.number(terms.moon_choice_from),
        )


def _moon_add(words: Words, x: int) -> str:
    return words.ngettext(
        "The shooter then scores nothing for them, and every other player {n} point.",
        "The shooter then scores nothing for them, and every other player {n} points.",
        x,
    )


def _moon_subtract(words: Words, x: int) -> str:
    return words.ngettext(
        "Nobody scores for them, and {n} point comes off the shooter's total.",
        "Nobody scores for them, and {n} points come off the shooter's total.",
        x,
    )


def _moon_choice(words: Words, x: int) -> str:
    return words.ngettext(
        "The shooter chooses: {n} point for every other player, or {n} off the shooter's own total.",
        "The shooter chooses: {n} points for every other player, or {n} off the shooter's own total.",
        x,
    )


def _moon_auto(words: Words, x: int) -> str:
    return words.ngettext(
        "Every other player scores {n} point; where that would end the game without a win for the shooter, {n} comes off the shooter's total instead.",
        "Every other player scores {n} points; where that would end the game without a win for the shooter, {n} come off the shooter's total instead.",
        x,
    )


def _moon_choice_if_lost(words: Words, x: int) -> str:
    return words.ngettext(
        "Every other player scores {n} point; where that would end the game without a win for the shooter, the shooter may have {n} taken off instead.",
        "Every other player scores {n} points; where that would end the game without a win for the shooter, the shooter may have {n} taken off instead.",
        x,
    )


def _moon_collect(words: Words, x: int) -> str:
    return words.ngettext(
        "Every other player scores {n} point, and for each of them {n} comes off the shooter's total.",
        "Every other player scores {n} points, and for each of them {n} come off the shooter's total.",
        x,
    )


_MOONS: Final[dict[str, Callable[[Words, int], str]]] = {
    "add": _moon_add,
    "subtract": _moon_subtract,
    "choice": _moon_choice,
    "choice_if_lost": _moon_choice_if_lost,
    "collect": _moon_collect,
    "auto": _moon_auto,
}


def tell_sun(words: Words, terms: Terms) -> Iterator[str]:
    """The sun, where there is one."""
    if not has_sun(terms):
        return
    if terms.rules.get("sun_from") == 1:
        yield words.gettext("To shoot the sun, take every trick of a hand; it stands in place of a moon.")
    else:
        yield words.gettext(
            "To shoot the sun, take every trick of a hand from the second on; it stands in place of a moon."
        )
    yield _SUNS[terms.sun_effect](words, terms, terms.rules.get("sun_x"))


def _sun_add(words: Words, terms: Terms, x: int) -> str:
    del terms
    return words.ngettext(
        "Every other player then scores {n} point.", "Every other player then scores {n} points.", x
    )


def _sun_subtract(words: Words, terms: Terms, x: int) -> str:
    del terms
    return words.ngettext(
        "Then {n} point comes off the shooter's total.", "Then {n} points come off the shooter's total.", x
    )


def _sun_punish(words: Words, terms: Terms, x: int) -> str:
    return words.ngettext(
        "Whoever passed to the shooter then scores {n} point, and every other opponent {m}; where nothing was passed, all opponents {m}.",
        "Whoever passed to the shooter then scores {n} points, and every other opponent {m}; where nothing was passed, all opponents {m}.",
        x,
        m=words.number(terms.rules.moon_x),
    )


def _sun_reset(words: Words, terms: Terms, x: int) -> str:
    del terms, x
    return words.gettext("The shooter's total then becomes 0.")


_SUNS: Final[dict[str, Callable[[Words, Terms, int], str]]] = {
    "add": _sun_add,
    "subtract": _sun_subtract,
    "punish": _sun_punish,
    "reset": _sun_reset,
}


def tell_swallowed(words: Words, terms: Terms) -> Iterator[str]:
    """What bonus cards count with a moon or sun, where there is any of them."""
    if not terms.bonus_cards or not (has_moon(terms) or has_sun(terms)):
        return
    if terms.swallows:
        yield words.gettext("Bonus cards then count nothing.")
    else:
        yield words.gettext("Bonus cards then count for whoever took them, as ever.")
