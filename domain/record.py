"""Game records: what was dealt, passed and played, as people and other programs write it.

The format, its codes and which fault is told first are ``docs/spec/record.md``. A record is replayed on the same
`HandState` and judged by the same `domain.rules` as a live table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from domain import events as e
from domain.cards import (
    BITS,
    NAMES,
    Card,
    Seat,
    cards_of,
    distinct_cards,
    format_cards,
    mask_of,
    parse_card,
    parse_cards,
)
from domain.refusals import HeartsError, Malformed, Refused
from domain.rules import (
    End,
    add_points,
    check_deal,
    check_pass,
    check_play,
    find_opener,
    game_end,
    hand_points,
    kitty_in_trick,
    legal_plays,
    moon_shooter,
    trick_taker,
)
from domain.ruleset import KEYS, RuleSet, Terms
from domain.state import HandState
from domain.variants import CUSTOM, VARIANTS, ruleset_of

FORMAT: Final = "hearts-record/1"
_RECORD_KEYS: Final = frozenset(("format", "rules", "seats", "hands", "winners"))
_HAND_KEYS: Final = frozenset(("deal", "kitty", "pass", "plays", "moon", "points", "totals"))


class RecordHand(msgspec.Struct, frozen=True, kw_only=True):
    """One hand as it was written down; what may be left out is none."""

    deal: tuple[tuple[Card, ...], ...]
    kitty: tuple[Card, ...] = ()
    passes: tuple[tuple[Card, ...], ...] | None = None
    plays: tuple[Card, ...] = ()
    moon: Literal["add", "subtract"] | None = None
    points: tuple[int, ...] | None = None
    totals: tuple[int, ...] | None = None


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """A game as it was written down."""

    rules: RuleSet
    seats: tuple[str, ...]
    hands: tuple[RecordHand, ...]
    winners: tuple[Seat, ...] | None = None


class Verdict(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What replaying a record says of it; fields that do not apply are none and are left out of the JSON."""

    ok: bool
    code: str | None = None
    phase: Literal["pass", "play", "moon", "deal", "over"] | None = None
    hand: int | None = None
    play: int | None = None
    seat: Seat | None = None
    turn: Seat | None = None
    detail: str | None = None
    legal: list[str] | None = None
    right: list[int] | None = None
    """What points, totals or winners should have been."""
    points: list[list[int]] | None = None
    totals: list[int] | None = None
    winners: list[Seat] | None = None


# --- reading


def read_record(text: bytes | str) -> Record:
    """The record written as JSON in ``text``. Raises `Malformed`, or `InvalidRules` for rules that cannot be played."""
    try:
        data = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise Malformed(f"no JSON: {error}") from error
    return parse_record(data)


def parse_record(data: object) -> Record:
    """The record in decoded JSON. Raises `Malformed`, or `InvalidRules` for rules that cannot be played."""
    record = _object(data, "a record", _RECORD_KEYS)
    if record.get("format") != FORMAT:
        raise Malformed(f"format is {record.get('format')!r:.60}, not {FORMAT!r}")
    seats = tuple(_text(name, "a seat's name") for name in _list(record.get("seats"), "seats"))
    given = record.get("rules")
    if not isinstance(given, Mapping):
        raise Malformed(f"rules is no object: {given!r:.60}")
    rules = ruleset_of({"players": len(seats), **given})
    if len(seats) != rules.players:
        raise Malformed(f"seats has {len(seats)} names, and the rules have {rules.players} players")
    hands = tuple(
        _parse_hand(hand, number, rules.players)
        for number, hand in enumerate(_list(record.get("hands"), "hands"), 1)
    )
    winners = record.get("winners")
    return Record(
        rules=rules,
        seats=seats,
        hands=hands,
        winners=None if winners is None else _numbers(winners, "winners"),
    )


def _parse_hand(data: object, number: int, seats: int) -> RecordHand:
    try:
        hand = _object(data, "a hand", _HAND_KEYS)
        moon = hand.get("moon")
        if moon not in (None, "add", "subtract"):
            raise Malformed(f"moon is add or subtract, not {moon!r:.60}")
        passes = hand.get("pass")
        if passes:
            passes = tuple(tuple(parse_cards(text)) for text in _list(passes, "pass"))
            if len(passes) != seats:
                raise Malformed(f"pass has {len(passes)} entries, and there are {seats} seats")
        return RecordHand(
            deal=tuple(tuple(parse_cards(text)) for text in _list(hand.get("deal"), "deal")),
            kitty=tuple(parse_cards(hand.get("kitty") or "")),
            passes=passes or None,
            plays=tuple(parse_card(text) for text in _list(hand.get("plays") or [], "plays")),
            moon=moon,
            points=_per_seat(hand.get("points"), "points", seats),
            totals=_per_seat(hand.get("totals"), "totals", seats),
        )
    except Malformed as error:
        raise Malformed(f"hand {number}: {error}") from error


def _object(data: object, what: str, keys: frozenset[str]) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise Malformed(f"{what} is an object, not {data!r:.60}")
    unknown = sorted(str(key) for key in data if key not in keys)
    if unknown:
        raise Malformed(f"{what} has no key {unknown[0]!r:.60}")
    return data


def _list(data: object, what: str) -> Sequence[Any]:
    if not isinstance(data, (list, tuple)):
        raise Malformed(f"{what} is a list, not {data!r:.60}")
    return data


def _text(data: object, what: str) -> str:
    if not isinstance(data, str):
        raise Malformed(f"{what} is a text, not {data!r:.60}")
    return data


def _numbers(data: object, what: str) -> tuple[int, ...]:
    for one in _list(data, what):
        if isinstance(one, bool) or not isinstance(one, int):
            raise Malformed(f"{what} is a list of whole numbers; {one!r:.60} is none")
    return tuple(_list(data, what))


def _per_seat(data: object, what: str, seats: int) -> tuple[int, ...] | None:
    if data is None:
        return None
    numbers = _numbers(data, what)
    if len(numbers) != seats:
        raise Malformed(f"{what} has {len(numbers)} entries, and there are {seats} seats")
    return numbers


# --- replaying


class Fault(HeartsError):
    """The first thing that is wrong with a record."""

    def __init__(self, code: str, detail: str, **where: Any) -> None:
        super().__init__(detail)
        self.verdict = Verdict(ok=False, code=code, detail=detail, **where)


def replay(record: Record) -> Verdict:
    """Play the record through and judge it: the position it ends in, or its first fault."""
    try:
        return _Replay(record).run()
    except Fault as fault:
        return fault.verdict


class _Replay:
    def __init__(self, record: Record) -> None:
        self.record = record
        self.terms = Terms(record.rules)
        self.points: list[list[int]] = []
        self.totals = [0] * record.rules.players
        self.end: End | None = None
        self.state: HandState | None = None

    def run(self) -> Verdict:
        phase: Literal["pass", "play", "moon", "deal", "over"] = "deal"
        for number, hand in enumerate(self.record.hands, 1):
            if self.end is not None:
                raise Fault("game/over", "the game was over before this hand", hand=number)
            phase = self._play_hand(number, hand, last=number == len(self.record.hands))
        winners = [] if self.end is None else list(self.end.winners)
        given = self.record.winners
        if given is not None and sorted(given) != winners:
            raise Fault("score/winners", f"winners should be {winners}", right=winners)
        verdict = Verdict(
            ok=True,
            phase="over" if self.end else phase,
            hand=len(self.record.hands) + (phase == "deal" and self.end is None),
            points=self.points,
            totals=self.totals,
            winners=winners,
        )
        if phase in ("play", "moon") and self.state is not None:
            verdict.turn = self.state.turn if phase == "play" else moon_shooter(self.terms, self.state)
            if phase == "play":
                verdict.legal = [NAMES[card] for card in distinct_cards(legal_plays(self.terms, self.state))]
        return verdict

    def _play_hand(
        self, number: int, hand: RecordHand, *, last: bool
    ) -> Literal["pass", "play", "moon", "deal"]:
        phase = self._play_cards(number, hand)
        if phase == "deal":
            self._score(number, hand)
            return phase
        if hand.moon is not None:
            raise Fault("moon/not_now", "the hand is not played out", hand=number)
        if not last:
            if phase == "moon":
                raise Fault("moon/choice_missing", "who shot the moon has not chosen", hand=number)
            raise Fault(
                "hand/unfinished", "a later hand follows, and this one is not played out", hand=number
            )
        for code, given in (("score/points", hand.points), ("score/totals", hand.totals)):
            if given is not None:
                raise Fault(code, "the hand is not over, so it has no score yet", hand=number)
        return phase

    def _play_cards(self, number: int, hand: RecordHand) -> Literal["pass", "play", "moon", "deal"]:
        """Deal, pass and play; ``deal`` means that the hand is played out and its moon, if any, chosen."""
        terms = self.terms
        if not check_deal(terms, hand.deal, hand.kitty):
            raise Fault("deal/wrong_cards", "the hands and the kitty are not the deck", hand=number)
        state = self.state = HandState(
            number,
            terms.pass_offset(number),
            (number - 1) % terms.players,
            [mask_of(cards) for cards in hand.deal],
            mask_of(hand.kitty),
        )
        if not self._pass(number, hand, state):
            return "pass"
        state.lead_with(*find_opener(terms, state))
        for index, card in enumerate(hand.plays):
            if state.turn < 0 or not legal_plays(terms, state) & BITS[card]:
                self._refuse(number, index, state, card)
            state.lay(card, terms.breakers)
            if state.turn < 0:
                extra = cards_of(state.kitty) if kitty_in_trick(terms, state) else []
                state.take(trick_taker(terms, state), terms, extra)
        if state.turn >= 0:
            return "play"
        return self._choose_moon(number, hand, state)

    def _pass(self, number: int, hand: RecordHand, state: HandState) -> bool:
        """Exchange the passes; whether the hand goes on to the play."""
        if not state.offset:
            if hand.passes is not None:
                raise Fault("pass/not_now", "nothing is passed in this hand", hand=number)
            return True
        if hand.passes is None:
            if hand.plays:
                raise Fault("pass/missing", "cards were played before the pass", hand=number)
            return False
        for seat, cards in enumerate(hand.passes):
            try:
                state.passes[seat] = check_pass(self.terms, state.held[seat], cards)
            except Refused as refusal:
                raise Fault(refusal.code, f"seat {seat}: {refusal.detail}", hand=number, seat=seat) from None
        state.exchange()
        return True

    def _refuse(self, number: int, index: int, state: HandState, card: Card) -> None:
        seat = state.turn if state.turn >= 0 else None
        try:
            check_play(self.terms, state, card)
        except Refused as refusal:
            legal = list(refusal.legal or ()) or None
            raise Fault(
                refusal.code, refusal.detail, hand=number, play=index, seat=seat, legal=legal
            ) from None

    def _choose_moon(self, number: int, hand: RecordHand, state: HandState) -> Literal["moon", "deal"]:
        choosing = self.terms.rules.moon_effect == "choice" and moon_shooter(self.terms, state) is not None
        if choosing and hand.moon is None:
            return "moon"
        if hand.moon is not None and not choosing:
            raise Fault("moon/not_now", "nobody had to choose the effect of a moon", hand=number)
        state.choice = hand.moon
        return "deal"

    def _score(self, number: int, hand: RecordHand) -> None:
        assert self.state is not None
        points = hand_points(self.terms, self.state, self.totals, self.state.choice)
        totals = add_points(self.terms, self.totals, points)
        for code, given, right in (
            ("score/points", hand.points, points),
            ("score/totals", hand.totals, totals),
        ):
            if given is not None and list(given) != right:
                raise Fault(code, f"{code[6:]} should be {right}", hand=number, right=right)
        self.points.append(points)
        self.totals = totals
        self.end = game_end(self.terms, totals, points, number)


# --- writing


def record_of(events: Iterable[e.AnyEvent], names: Sequence[str] | None = None) -> dict[str, Any]:
    """The record of a game from its events, finished hands only; ``names`` clockwise, else ids stand for them."""
    written: dict[str, Any] = {"format": FORMAT, "rules": {}, "seats": [], "hands": [], "winners": []}
    seats: dict[Seat, str] = {}
    plays: list[str] = []
    moon: str | None = None
    for event in events:
        if isinstance(event, e.CardPlayed):
            plays.append(event.card)
        elif isinstance(event, e.HandScored):
            written["hands"].append(_write_hand(event, plays, moon))
            plays, moon = [], None
        elif isinstance(event, e.MoonChosen):
            moon = event.choice
        elif isinstance(event, e.SeatTaken):
            seats[event.seat] = event.player or (event.bot.name if event.bot else "")
        elif isinstance(event, e.GameCreated):
            written["rules"] = short_rules(event.rules)
        elif isinstance(event, e.GameEnded):
            written["winners"] = list(event.winners)
    written["seats"] = list(names) if names is not None else [seats[seat] for seat in sorted(seats)]
    return written


def _write_hand(scored: e.HandScored, plays: list[str], moon: str | None) -> dict[str, Any]:
    hand: dict[str, Any] = {"deal": list(scored.deal)}
    if scored.kitty:
        hand["kitty"] = scored.kitty
    if scored.passes is not None:
        hand["pass"] = list(scored.passes)
    hand["plays"] = plays
    if moon is not None:
        hand["moon"] = moon
    hand["points"], hand["totals"] = list(scored.points), list(scored.totals)
    return hand


def short_rules(rules: RuleSet) -> dict[str, Any]:
    """A rule set as a record writes it: the variant, the seats, and what differs from the published rules."""
    variant = VARIANTS.get(rules.variant)
    if variant is None or rules.players not in variant.seats:
        base = RuleSet(variant=CUSTOM)
    else:
        base = variant.rules(rules.players)
    short: dict[str, Any] = {"variant": rules.variant, "players": rules.players}
    for key in KEYS:
        if key not in short and getattr(rules, key) != getattr(base, key):
            short[key] = msgspec.to_builtins(getattr(rules, key))
    return short


def print_record(record: Record) -> bytes:
    """The record as one line of JSON, cards as we write them."""
    hands = []
    for hand in record.hands:
        written: dict[str, Any] = {"deal": [format_cards(cards) for cards in hand.deal]}
        if hand.kitty:
            written["kitty"] = format_cards(hand.kitty)
        if hand.passes is not None:
            written["pass"] = [format_cards(cards) for cards in hand.passes]
        written["plays"] = [NAMES[card] for card in hand.plays]
        for key in ("moon", "points", "totals"):
            if getattr(hand, key) is not None:
                written[key] = getattr(hand, key)
        hands.append(written)
    whole = {
        "format": FORMAT,
        "rules": short_rules(record.rules),
        "seats": record.seats,
        "hands": hands,
        "winners": record.winners or (),
    }
    return msgspec.json.encode(whole)


__all__ = [
    "FORMAT",
    "Record",
    "RecordHand",
    "Verdict",
    "parse_record",
    "print_record",
    "read_record",
    "record_of",
    "replay",
    "short_rules",
]
