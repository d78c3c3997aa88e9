"""What is told of a rule set, topic by topic, in any of our languages: small functions, each the owner of some keys.

`TOPICS` is their table. A test holds that every key of a rule set has one owner, and that a change of any one key
changes the text: a key that nobody tells of is noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from domain.cards import CLUBS, HEARTS_MASK, NAMES, QS, SUIT_OF, SUITS, Card, has_card, mask_of, parse_cards
from domain.ruleset import Terms
from services.languages import Words
from services.rules_cards import (
    as_sentence,
    barred_cards,
    count_clauses,
    played_cards,
    show_card,
    show_cards,
)
from services.rules_moon import has_moon, has_sun, tell_moon, tell_sun, tell_swallowed


class Topic(NamedTuple):
    """Something that is told of every rule set, the keys that it alone tells of, and the section it stands in."""

    section: str
    keys: tuple[str, ...]
    tell: Callable[[Words, Terms], Iterator[str]]


# --- the table and the deal


def _players(words: Words, terms: Terms) -> Iterator[str]:
    n = words.number(terms.players)
    if terms.rules.decks == 1:
        yield words.gettext("{n} players, one deck of 52 cards.", n=n)
    else:
        yield words.gettext("{n} players, two decks of 52 cards shuffled together.", n=n)
    if removed := sorted(parse_cards(terms.rules.removed)):
        yield words.ngettext(
            "{n} card is taken out before the deal: {cards}.",
            "{n} cards are taken out before the deal: {cards}.",
            len(removed),
            cards=show_cards(removed),
        )


def _partners(words: Words, terms: Terms) -> Iterator[str]:
    if len(terms.teams[0]) > 1:
        yield words.gettext(
            "Players opposite each other are partners: each scores what the two get together."
        )
        yield words.gettext(
            "A moon or sun is the pair's, the other players are those of the other pairs, and in a tie a pair is one."
        )
        if has_moon(terms) or has_sun(terms):
            yield words.gettext(
                "What a moon or sun gives to every other player is given to both of a pair, so that the pair scores it twice."
            )


def _deal(words: Words, terms: Terms) -> Iterator[str]:
    yield words.ngettext("Each player is dealt {n} card.", "Each player is dealt {n} cards.", terms.hand)
    if terms.kitty and terms.rules.kitty_to == "first":
        yield words.ngettext(
            "{n} card is left over; it lies face down and goes to the winner of the first trick.",
            "{n} cards are left over; they lie face down and go to the winner of the first trick.",
            terms.kitty,
        )
    elif terms.kitty:
        yield words.ngettext(
            "{n} card is left over; it lies face down and goes to the winner of the last trick.",
            "{n} cards are left over; they lie face down and go to the winner of the last trick.",
            terms.kitty,
        )


def _pass(words: Words, terms: Terms) -> Iterator[str]:
    cycle, count = terms.rules.pass_cycle, terms.rules.pass_count
    if not count or not any(cycle):
        yield words.gettext("No cards are passed.")
        return
    yield words.ngettext(
        "Before play each player passes {n} card face down, and looks at what comes in only after that.",
        "Before play each player passes {n} cards face down, and looks at what comes in only after that.",
        count,
    )
    ways = {
        1: words.pgettext("pass", "to the left"),
        -1: words.pgettext("pass", "to the right"),
        2: words.pgettext("pass", "across the table"),
        0: words.pgettext("pass", "no pass"),
    }
    if len(cycle) == 1:
        yield words.gettext("The direction is the same in every hand: {way}.", way=ways[cycle[0]])
    else:
        directions = ", ".join(ways[way] for way in cycle)
        yield words.gettext("Hand by hand, over and over: {directions}.", directions=directions)


# --- leads and tricks


def clubs_of(terms: Terms) -> list[Card]:
    """All clubs of the deck, copies counted."""
    return [card for card in terms.deck if SUIT_OF[card] == CLUBS]


def always_held(terms: Terms) -> bool:
    """Whether some hand holds a club however the cards fall."""
    return len(clubs_of(terms)) > terms.kitty


def _opening(words: Words, terms: Terms) -> Iterator[str]:
    clubs = sorted(clubs_of(terms))
    if terms.rules.opener == "left" or not clubs:
        yield words.gettext("The player on the dealer's left leads to the first trick.")
        yield from _opening_lead(words, terms)
        yield words.gettext("The deal moves one seat to the left with every hand.")
        return
    if terms.kitty:
        yield words.gettext("Whoever holds the lowest club when play begins must lead it to the first trick.")
    elif NAMES[clubs[0]] == "2C":
        yield words.gettext(
            "Whoever holds the two of clubs when play begins must lead it to the first trick."
        )
    else:
        card = show_card(NAMES[clubs[0]])
        yield words.gettext(
            "Whoever holds {card} when play begins must lead it to the first trick.", card=card
        )
    if clubs.count(clubs[0]) > 1 or (terms.kitty and len(set(clubs)) < len(clubs)):
        yield words.gettext("Where two players hold it, the first of them from the dealer's left leads.")
    if not always_held(terms):
        yield words.gettext("Where nobody holds a club, the player on the dealer's left leads.")
        yield from _opening_lead(words, terms)


def _opening_lead(words: Words, terms: Terms) -> Iterator[str]:
    if terms.rules.opening_ban:
        yield words.gettext(
            "This lead may not be {cards}, unless the hand holds nothing else.",
            cards=barred_cards(words, terms.rules.opening_ban),
        )
    else:
        yield words.gettext("This lead may be any card, hearts included.")


def _first_trick(words: Words, terms: Terms) -> Iterator[str]:
    yield words.gettext("Play goes clockwise. Whoever can follow suit must; there are no trumps.")
    yield words.gettext(
        "The highest card of the suit led takes the trick, and whoever played it leads to the next."
    )
    if not terms.rules.trick1_ban:
        yield words.gettext("Whoever cannot follow suit may play anything, on the first trick too.")
        return
    yield words.gettext(
        "Whoever cannot follow suit may play anything, but on the first trick not {cards}, unless the hand holds nothing else.",
        cards=barred_cards(words, terms.rules.trick1_ban),
    )
    if terms.must_qs and must_qs_matters(terms):
        yield words.gettext(
            "In a hand of nothing else, the queen of spades must be played to the first trick, if it is there."
        )


def must_qs_matters(terms: Terms) -> bool:
    """Whether a hand of nothing but barred cards may hold the queen of spades beside another one."""
    barred = terms.trick1_ban & mask_of(set(terms.deck))
    return has_card(barred, QS) and barred.bit_count() > 1


def _hearts(words: Words, terms: Terms) -> Iterator[str]:
    if not terms.rules.breakers:
        yield words.gettext("Hearts may be led at any time.")
        return
    yield words.gettext(
        "Hearts may not be led until {cards} has been played, which breaks them; whoever holds nothing else may lead them before.",
        cards=played_cards(words, terms.rules.breakers),
    )
    if not queen_beside_hearts(terms):
        return
    if terms.hearts_beside_qs:
        yield words.gettext(
            "The queen of spades may be led before, and from a hand with only hearts besides so may they."
        )
    else:
        yield words.gettext(
            "The queen of spades may be led before, and from a hand with only hearts besides it must be."
        )


def queen_beside_hearts(terms: Terms) -> bool:
    """Whether somebody may have to lead from the queen of spades and hearts alone before hearts are broken."""
    return bool(terms.breakers) and QS in terms.deck and bool(mask_of(set(terms.deck)) & HEARTS_MASK)


def has_pairs(terms: Terms) -> bool:
    """Whether the deck holds two copies of some card."""
    return len(set(terms.deck)) < len(terms.deck)


def _identical(words: Words, terms: Terms) -> Iterator[str]:
    if not has_pairs(terms):
        return
    if not terms.rules.cancel:
        yield words.gettext("Of two identical cards in a trick the one played later is the higher.")
        return
    yield words.gettext(
        "Two identical cards in a trick cancel each other: neither can take it, but whoever takes the trick gets them."
    )
    if terms.rules.dead_trick == "two_pairs":
        yield words.gettext(
            "A trick that holds two such pairs, or no other card of the suit led, is dead: its cards go with the next trick that is taken, and the same player leads again."
        )
    else:
        yield words.gettext(
            "A trick that holds no other card of the suit led is dead: its cards go with the next trick that is taken, and the same player leads again."
        )
    if terms.rules.dead_last == "leader":
        yield words.gettext("If the last trick is dead, its leader takes the cards.")
    else:
        yield words.gettext("If the last trick is dead, nobody takes the cards.")


# --- points


def _points(words: Words, terms: Terms) -> Iterator[str]:
    points = terms.rules.points
    if not points:
        yield words.gettext("No card counts anything.")
        return
    yield as_sentence(words, count_clauses(words, points))
    if any(len(name) > 1 and name[1] in points for name in points):
        yield words.gettext("A card that is named has this value in place of that of its suit.")
    if not points.keys() >= set(SUITS):
        yield words.gettext("No other card counts anything.")
    if terms.bonus_cards:
        yield words.gettext("Cards with a minus are bonus cards.")


def _hand_points(words: Words, terms: Terms) -> Iterator[str]:
    if terms.no_trick_points:
        yield words.ngettext(
            "Whoever takes no trick scores {n} point for that, but not in a hand with a moon or sun.",
            "Whoever takes no trick scores {n} points for that, but not in a hand with a moon or sun.",
            terms.no_trick_points,
        )
    if terms.hand_floor is not None:
        yield words.gettext(
            "What a player takes in one hand never counts less than {n}.", n=words.number(terms.hand_floor)
        )


# --- the end


def _target(words: Words, terms: Terms) -> Iterator[str]:
    yield words.ngettext(
        "The game ends with the hand after which somebody has {n} point or more; the lowest total wins.",
        "The game ends with the hand after which somebody has {n} points or more; the lowest total wins.",
        terms.rules.target,
    )


def _floor(words: Words, terms: Terms) -> Iterator[str]:
    if terms.rules.floor is not None:
        yield words.gettext("No total ever falls below {n}.", n=words.number(terms.rules.floor))


def _tie(words: Words, terms: Terms) -> Iterator[str]:
    if terms.rules.tie == "shared":
        yield words.gettext("Players who tie for the lowest total share the win.")
    else:
        yield words.gettext("While several tie for the lowest total, another hand is played.")


def _perfect(words: Words, terms: Terms) -> Iterator[str]:
    if terms.rules.perfect_hand:
        yield words.gettext(
            "A perfect hand keeps the game going: if in the hand that would end it a player behind the leaders scores 0, and each leader scores more, another hand is played."
        )


def _limit(words: Words, terms: Terms) -> Iterator[str]:
    if terms.rules.hand_limit is not None:
        yield words.ngettext(
            "After {n} hand the game ends in any case, and all who have the lowest total win.",
            "After {n} hands the game ends in any case, and all who have the lowest total win.",
            terms.rules.hand_limit,
        )


# --- the table of all of it


TOPICS: Final = (
    Topic("table", ("players", "decks", "removed"), _players),
    Topic("table", ("partners",), _partners),
    Topic("table", ("hand", "kitty_to"), _deal),
    Topic("pass", ("pass_count", "pass_cycle"), _pass),
    Topic("tricks", ("opener", "opening_ban"), _opening),
    Topic("tricks", ("trick1_ban", "trick1_all_banned"), _first_trick),
    Topic("tricks", ("cancel", "dead_trick", "dead_last"), _identical),
    Topic("hearts", ("breakers", "qs_hearts_lead"), _hearts),
    Topic("points", ("points",), _points),
    Topic("points", ("no_trick_points", "hand_floor"), _hand_points),
    Topic("moon", ("moon_effect", "moon_x", "moon_needs_bonus", "moon_choice_from"), tell_moon),
    Topic("moon", ("sun_effect", "sun_x", "sun_from"), tell_sun),
    Topic("moon", ("moon_bonus",), tell_swallowed),
    Topic("end", ("target",), _target),
    Topic("end", ("tie",), _tie),
    Topic("end", ("perfect_hand",), _perfect),
    Topic("end", ("hand_limit",), _limit),
    Topic("end", ("floor",), _floor),
)
"""Every topic in the order told. `variant` is told by the title."""
