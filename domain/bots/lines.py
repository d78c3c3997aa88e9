"""The bot line protocol ``hearts-bot/1`` as a bot hears it: what one seat knows from the lines alone.

``docs/spec/bot-stdio.md`` is its text. `SeatLines` is told line after line and shows the seat's `View`, the same that
`domain.view.view` shows of a table in the same situation, in everything that a policy looks at. Of who sits where, of
deadlines and of the points of single hands the lines say nothing. `domain.bots.telling` is the other side.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final, Literal

from domain.cards import (
    BITS,
    NAMES,
    SUIT_MASKS,
    Card,
    Mask,
    Seat,
    add_masks,
    cards_of,
    contains,
    distinct_cards,
    mask_of,
    parse_card,
    subtract_masks,
)
from domain.refusals import Malformed
from domain.rules import check_pass, check_play, legal_plays, trick_taker
from domain.ruleset import RuleSet, Terms, decode_rules, terms_of
from domain.state import HandState
from domain.view import Own, SeatView, View

PROTOCOL: Final = "hearts-bot 1"
"""The first line."""
LONGEST_LINE: Final = 1 << 16
"""Bytes of a line, its end included."""
Question = Literal["pass", "play", "moon"]
QUESTIONS: Final[dict[str, Question]] = {"pass?": "pass", "move?": "play", "moon?": "moon"}
"""The phase that each question is asked in."""
_NUMBER: Final = re.compile(r"-?[0-9]{1,9}")


def read_number(text: str) -> int:
    """A whole number of at most nine digits. Raises `Malformed`."""
    if _NUMBER.fullmatch(text) is None:
        raise Malformed(f"not a whole number: {text!r:.40}")
    return int(text)


def read_rules(text: str) -> RuleSet:
    """The rule set of a ``rules`` line. Raises `Malformed` and `InvalidRules`."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"rules: no JSON: {error}") from error
    return decode_rules(data)


class SeatLines:
    """What one seat has been told; a line that is refused changes nothing."""

    def __init__(self) -> None:
        self.rules: RuleSet | None = None
        self._terms: Terms | None = None
        self._hand: HandState | None = None
        self._me: Seat = 0
        self._way = 0
        self._totals: list[int] = []

    def tell(self, line: str) -> None:
        """Take in a line that tells something.

        Raises `Malformed` where it cannot be read, `Refused` for a card that the seat itself may not play, and
        `InvalidRules`.
        """
        word, _, rest = line.strip().partition(" ")
        if word == "rules":
            self._set_rules(read_rules(rest))
            return
        words = rest.split()
        match word:
            case "hand":
                self._deal(words)
            case "totals":
                self._count(words)
            case "passed":
                self._exchange(words)
            case "play":
                self._play(words)
            case "trick":
                self._take(words)
            case _:
                raise Malformed(f"not a line of {PROTOCOL}: {line!r:.60}")

    def _set_rules(self, rules: RuleSet) -> None:
        self.rules, self._terms, self._hand = rules, terms_of(rules), None
        self._totals = [0] * rules.players

    def _known_terms(self) -> Terms:
        if self._terms is None:
            raise Malformed("the rules come first")
        return self._terms

    def _known_hand(self) -> HandState:
        if self._hand is None:
            raise Malformed("no hand has been dealt")
        return self._hand

    # --- what has happened

    def _deal(self, words: list[str]) -> None:
        terms = self._known_terms()
        if len(words) < 3:
            raise Malformed("hand wants its number, the seat, the pass offset and the cards")
        number, seat, way = [read_number(word) for word in words[:3]]
        cards = mask_of(parse_card(word) for word in words[3:])
        if number < 1 or not 0 <= seat < terms.players:
            raise Malformed(f"hand: no hand {number} of seat {seat} at a table of {terms.players}")
        offset = terms.pass_offset(number)
        if (terms.players // 2 if way == 2 else way % terms.players) != offset:
            raise Malformed(f"hand: by the rules hand {number} is passed by {terms.pass_way(number)}")
        if cards.bit_count() != terms.hand or not contains(mask_of(terms.deck), cards):
            raise Malformed(f"hand: not {terms.hand} cards of the deck")
        held = [0] * terms.players
        held[seat] = cards
        hand = HandState(number, offset, (number - 1) % terms.players, held, 0)
        self._hand, self._me, self._way = hand, seat, terms.pass_way(number)

    def _count(self, words: list[str]) -> None:
        terms = self._known_terms()
        totals = [read_number(word) for word in words]
        if len(totals) != terms.players:
            raise Malformed(f"totals: one for each of {terms.players} seats")
        self._totals = totals

    def _exchange(self, words: list[str]) -> None:
        terms, hand, me = self._known_terms(), self._known_hand(), self._me
        if not hand.offset or hand.exchanged:
            raise Malformed("passed: nothing is passed now")
        if "received" not in words:
            raise Malformed("passed: the word received is missing")
        place = words.index("received")
        given = check_pass(terms, hand.held[me], [parse_card(word) for word in words[:place]])
        received = mask_of(parse_card(word) for word in words[place + 1 :])
        if received.bit_count() != terms.rules.pass_count:
            raise Malformed(f"passed: {terms.rules.pass_count} cards are received")
        self._check_cards(add_masks(hand.dealt[me], received))
        hand.held[me] = add_masks(subtract_masks(hand.held[me], given), received)
        hand.passes[me] = given
        hand.passes[hand.receives_from(me)] = received
        hand.exchanged = True

    def _play(self, words: list[str]) -> None:
        terms, hand, me = self._known_terms(), self._known_hand(), self._me
        if len(words) != 2:
            raise Malformed("play wants a seat and a card")
        seat, card = read_number(words[0]), parse_card(words[1])
        if not 0 <= seat < terms.players:
            raise Malformed(f"play: no seat {seat}")
        begun = self._begun(hand, seat)
        if begun.turn != seat:
            raise Malformed(f"play: it is not the turn of seat {seat}")
        if seat == me:
            check_play(terms, begun, card)
        else:
            self._check_cards(add_masks(self._seen(begun), BITS[card]))
            begun.held[seat] |= BITS[card]
        begun.lay(card, terms.breakers)
        self._hand = begun

    def _take(self, words: list[str]) -> None:
        terms, hand = self._known_terms(), self._known_hand()
        if len(words) != 1 or len(hand.trick) < terms.players:
            raise Malformed("trick wants who took it, and a full trick on the table")
        seat = None if words[0] == "-" else read_number(words[0])
        if seat != trick_taker(terms, hand):
            raise Malformed(f"trick: by the rules it is not taken by {words[0]:.12}")
        hand.take(seat, terms, [])

    def _begun(self, hand: HandState, seat: Seat) -> HandState:
        """The hand with its opening lead given to ``seat``, where nobody has had it yet; a copy."""
        if hand.offset and not hand.exchanged:
            raise Malformed("the cards have not been passed")
        hand = hand.copy()
        if hand.leader < 0:
            forced = -1
            if self._known_terms().rules.opener == "forced" and seat == self._me:
                clubs = distinct_cards(hand.held[seat] & SUIT_MASKS[0])
                forced = clubs[0] if clubs else -1
            hand.lead_with(seat, forced)
        return hand

    def _seen(self, hand: HandState) -> Mask:
        """Cards that the seat has seen or passed on, and that nobody can play any more, with its own."""
        seen = hand.held[self._me]
        for _, cards, _ in hand.history:
            seen = add_masks(seen, mask_of(cards))
        return add_masks(seen, mask_of(hand.trick))

    def _check_cards(self, cards: Mask) -> None:
        if not contains(mask_of(self._known_terms().deck), cards):
            raise Malformed("more copies of a card than the deck has")

    # --- what the seat sees

    def view(self, question: Question) -> View:
        """The seat's view as it is asked. Raises `Malformed` where this cannot be asked now."""
        terms, hand, me = self._known_terms(), self._known_hand(), self._me
        if question == "pass":
            if not hand.offset or hand.exchanged:
                raise Malformed("pass?: nothing is passed now")
        elif question == "moon":
            if len(hand.history) < terms.hand:
                raise Malformed("moon?: the hand is not over")
        else:
            hand = self._begun(hand, me)
            if hand.turn != me:
                raise Malformed(f"move?: it is not the turn of seat {me}")
        return _view(terms, hand, me, question, self._way, self._totals)


def _view(terms: Terms, hand: HandState, me: Seat, phase: Question, way: int, totals: Iterable[int]) -> View:
    return View(
        game="",
        rules=terms.rules,
        phase=phase,
        seats=tuple(_seat_views(terms, hand)),
        hand_number=hand.number,
        pass_offset=way,
        opener=hand.opener,
        turn=None if phase == "pass" else me,
        deadline=None,
        abandoned_at=None,
        hearts_broken=hand.broken,
        leader=hand.leader,
        trick=tuple(hand.trick),
        history=tuple(hand.history),
        totals=tuple(totals),
        hands=(),
        winners=(),
        reason=None,
        seat=me,
        own=Own(
            hand=hand.held[me],
            given=hand.passes[me] or 0,
            received=(hand.passes[hand.receives_from(me)] or 0) if hand.exchanged else 0,
            legal=legal_plays(terms, hand) if phase == "play" else 0,
        ),
    )


def _seat_views(terms: Terms, hand: HandState) -> list[SeatView]:
    taken = hand.tricks_taken()
    played = [(hand.leader + step) % terms.players for step in range(len(hand.trick))]
    return [
        SeatView(
            seat=seat,
            kind="bot",
            player="",
            bot=None,
            away=False,
            returning=False,
            ready=True,
            cards=terms.hand - len(hand.history) - (seat in played),
            taken=taken[seat],
            passed=hand.exchanged,
        )
        for seat in range(terms.players)
    ]


def format_answer(action: object) -> str:
    """The answer line of an action. Raises `Malformed` for what is none."""
    match action:
        case "add" | "subtract":
            return f"moon {action}"
        case tuple() | list() if all(_is_card(card) for card in action):
            return " ".join(["pass", *(NAMES[card] for card in action)])
        case int() if _is_card(action):
            return f"play {NAMES[action]}"
    raise Malformed(f"not an action: {action!r:.60}")


def _is_card(card: object) -> bool:
    return isinstance(card, int) and not isinstance(card, bool) and 0 <= card < len(NAMES)


def read_answer(seen: View, line: str) -> tuple[Card, ...] | Card | Literal["add", "subtract"]:
    """What a bot that sees ``seen`` has answered.

    Raises `Malformed` for no answer to the question, and for one that the rules do not allow.
    """
    own, words = seen.own, line.split()
    assert own is not None
    if seen.phase == "moon":
        if words == ["moon", "add"]:
            return "add"
        if words == ["moon", "subtract"]:
            return "subtract"
    elif seen.phase == "pass" and words[:1] == ["pass"]:
        cards = tuple(parse_card(word) for word in words[1:])
        given = mask_of(cards)
        if len(cards) != seen.rules.pass_count or not contains(own.hand, given):
            raise Malformed(f"illegal pass: {line:.60}; held are {_names(own.hand)}")
        return cards
    elif seen.phase == "play" and words[:1] == ["play"] and len(words) == 2:
        card = parse_card(words[1])
        if not own.legal & BITS[card]:
            raise Malformed(f"illegal card: {NAMES[card]}; legal are {_names(own.legal)}")
        return card
    raise Malformed(f"no answer to the question: {line!r:.60}")


def _names(cards: Mask) -> str:
    return " ".join(NAMES[card] for card in cards_of(cards))
