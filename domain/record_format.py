"""Game records as people and other programs write them: read, and written.

The format is ``docs/spec/record.md``; `domain.record` replays what is read here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec
from msgspec import UNSET

from domain import events as e
from domain.cards import CARDS, NAMES, Card, Seat, format_cards, parse_card, parse_cards
from domain.refusals import Malformed
from domain.ruleset import KEYS, RuleSet
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
        if passes is not None:
            passes = tuple(tuple(parse_cards(text)) for text in _list(passes, "pass"))
            if passes and len(passes) != seats:
                raise Malformed(f"pass has {len(passes)} entries, and there are {seats} seats")
        return RecordHand(
            deal=tuple(tuple(parse_cards(text)) for text in _list(hand.get("deal"), "deal")),
            kitty=tuple(parse_cards(_given(hand, "kitty", ""))),
            passes=passes or None,
            plays=_parse_plays(_list(_given(hand, "plays", ()), "plays")),
            moon=moon,
            points=_per_seat(hand.get("points"), "points", seats),
            totals=_per_seat(hand.get("totals"), "totals", seats),
        )
    except Malformed as error:
        raise Malformed(f"hand {number}: {error}") from error


def _parse_plays(texts: Sequence[Any]) -> tuple[Card, ...]:
    try:
        return tuple([CARDS[text] for text in texts])
    except (KeyError, TypeError):  # not as we write it, or no card
        return tuple([parse_card(text) for text in texts])


def _given(hand: Mapping[str, Any], key: str, default: Any) -> Any:
    """The value of ``key``, null standing for left out; anything else is read, and refused where it is wrong."""
    value = hand.get(key)
    return default if value is None else value


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


# --- writing


def record_of(events: Iterable[e.AnyEvent], names: Sequence[str] | None = None) -> dict[str, Any]:
    """The record of a game from its events; ``names`` clockwise, else ids stand for them.

    Of hands that were scored, and of one that the end of the game broke off, where ``events`` have its hidden parts; a hand
    that is sealed still is left out, so there is no record of a duplicate table before its last reveal. The
    hand of a practice table is written as the first of a game: see `as_first_hand`.
    """
    written: dict[str, Any] = {"format": FORMAT, "rules": {}, "seats": [], "hands": [], "winners": []}
    seats: dict[Seat, str] = {}
    hand = _Written()
    sealed: dict[int, tuple[int, _Written]] = {}
    """By number the hands of a duplicate table that wait for their reveal: where they go, and what is known of them."""
    created: e.GameCreated | None = None
    for event in events:
        if isinstance(event, e.CardPlayed):
            hand.plays.append(event.card)
        elif isinstance(event, e.HandDealt):
            hand = _Written(event)
        elif isinstance(event, e.CardsPassed):
            hand.passes[event.seat] = event.text
        elif isinstance(event, e.PassesExchanged):
            hand.exchanged = True
        elif isinstance(event, e.HandScored):
            _note_scored(written["hands"], sealed, hand, event)
            hand = _Written(number=event.hand)
        elif isinstance(event, e.HandsRevealed) and event.hand in sealed:
            at, one = sealed.pop(event.hand)
            written["hands"].insert(at, one.scored(event))
        elif isinstance(event, e.MoonChosen):
            hand.moon = event.choice
        elif isinstance(event, e.SeatTaken):
            seats[event.seat] = event.player or (event.bot.name if event.bot else "")
        elif isinstance(event, e.SeatLeft):
            del seats[event.seat]
        elif isinstance(event, e.GameCreated):
            created, written["rules"] = event, short_rules(event.rules)
        elif isinstance(event, e.GameEnded):
            written["winners"] = list(event.winners)
            written["hands"] += hand.broken_off()
    if names is None and created is not None:
        names = [seats.get(seat, "") for seat in range(created.rules.players)]
    written["seats"] = list(names or ())
    if created is not None and created.branch is not UNSET:
        as_first_hand(written, created.rules, hand.number, hand_limit=1)
    return written


def _note_scored(
    hands: list[dict[str, Any]], sealed: dict[int, tuple[int, _Written]], hand: _Written, event: e.HandScored
) -> None:
    """Write a hand that is over, or keep it for its reveal."""
    if event.deal is None:
        sealed[event.hand] = len(hands) + len(sealed), hand
        hand.points, hand.totals = list(event.points), list(event.totals)
    else:
        hands.append(hand.scored(event))


class _Written:
    """A hand as far as events have told of it."""

    def __init__(self, dealt: e.HandDealt | None = None, number: int = 1) -> None:
        self.dealt = dealt
        self.number = number if dealt is None else dealt.hand
        self.passes: dict[Seat, str] = {}
        self.exchanged = False
        self.plays: list[str] = []
        self.moon: str | None = None
        self.points: list[int] = []
        self.totals: list[int] = []

    def scored(self, shown: e.HandScored | e.HandsRevealed) -> dict[str, Any]:
        """The hand in a record, by what reveals it."""
        if isinstance(shown, e.HandScored):
            self.points, self.totals = list(shown.points), list(shown.totals)
        hand = self._hand(shown.deal or (), shown.kitty or "", shown.passes)
        hand["points"], hand["totals"] = self.points, self.totals
        return hand

    def broken_off(self) -> list[dict[str, Any]]:
        """The hand in a record, if one is in play whose cards are known; passes count when they are exchanged."""
        if self.dealt is None or self.dealt.hidden is UNSET:
            return []
        passes = [self.passes[seat] for seat in sorted(self.passes)] if self.exchanged else None
        return [self._hand(self.dealt.hidden.deal, self.dealt.hidden.kitty, passes)]

    def _hand(self, deal: Sequence[str], kitty: str, passes: Sequence[str] | None) -> dict[str, Any]:
        hand: dict[str, Any] = {"deal": list(deal)}
        if kitty:
            hand["kitty"] = kitty
        if passes is not None:
            hand["pass"] = list(passes)
        hand["plays"] = self.plays
        if self.moon is not None:
            hand["moon"] = self.moon
        return hand


def as_first_hand(written: dict[str, Any], rules: RuleSet, number: int, *, hand_limit: int | None) -> None:
    """Make the record of hand ``number`` alone one of a first hand, for in a record hands are counted from 1.

    The seats are turned so that the dealer's left of that hand is seat 0, and the rules pass as that hand passed;
    ``hand_limit`` is 1 where the game ended with it.
    """
    first, cycle = (number - 1) % rules.players, rules.pass_cycle

    def turned(seats: list[Any]) -> list[Any]:
        return seats[first:] + seats[:first]

    alone = msgspec.structs.replace(
        rules, pass_cycle=(cycle[(number - 1) % len(cycle)],), hand_limit=hand_limit
    )
    written["rules"] = short_rules(alone)
    written["seats"] = turned(written["seats"])
    for hand in written["hands"]:
        hand |= {key: turned(hand[key]) for key in ("deal", "pass", "points", "totals") if key in hand}
    written["winners"] = sorted((seat - first) % rules.players for seat in written["winners"])


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
            short[key] = msgspec.to_builtins(rules.get(key))
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
