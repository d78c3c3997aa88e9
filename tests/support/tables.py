"""Tables for the tests: given what happened, when something is asked, then this happens.

A table here is the list of its events. `dealt` deals the cards that a test wants, which no shuffle would.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Final

import msgspec
import pytest

from domain import commands as c
from domain import events as e
from domain.cards import NAMES, parse_card, parse_cards
from domain.game import advance, decide, fold
from domain.refusals import Refused
from domain.ruleset import RuleSet
from domain.shuffle import commit_cards, commit_entropy, hiding_key
from domain.state import State
from domain.variants import ruleset_of
from tests.support.states import assert_same

RULES_BOT = e.BotName("rules", "1", 0)
SECRET = bytes(range(32))
HAND_SECRET = bytes(range(100, 132))
"""The secret under which `dealt` hides its cards."""


def entropy_of(seat: int) -> str:
    """What player ``p<seat>`` contributes, hex."""
    return bytes([seat + 1] * 32).hex()


def commitment_of(seat: int) -> str:
    """Its commitment."""
    return commit_entropy(bytes.fromhex(entropy_of(seat))).hex()


def seat_plan(letter: str, seat: int) -> c.SeatPlan:
    """How a seat is filled; see `open_command` for the letters."""
    match letter:
        case "o":
            return c.SeatPlan(kind="open")
        case "b":
            return c.SeatPlan(kind="bot", bot=RULES_BOT)
        case "r":
            return c.SeatPlan(kind="reserved", player=f"p{seat}")
        case _:
            return c.SeatPlan(kind="player", player=f"p{seat}", entropy_commit=commitment_of(seat))


def open_command(
    rules: RuleSet | None = None, seats: str | Sequence[c.SeatPlan | str] = "oooo", **changes: Any
) -> c.OpenTable:
    """A command to open a table; a letter a seat: o open, b a house bot, p the player ``p<seat>``, r kept for it."""
    fields: dict[str, Any] = {
        "game": "g-1",
        "rules": rules or ruleset_of({"variant": "basic"}),
        "secret": SECRET,
        "seats": tuple(
            seat_plan(plan, seat) if isinstance(plan, str) else plan for seat, plan in enumerate(seats)
        ),
        "server_key": "ab" * 32,
        "stand_in": RULES_BOT,
    }
    return c.OpenTable(**(fields | changes))


def opened(
    rules: RuleSet | None = None, seats: str | Sequence[c.SeatPlan | str] = "oooo", **changes: Any
) -> list[e.Event]:
    """The events of a table that has just been opened."""
    return decide(None, open_command(rules, seats, **changes))


def complement(hands: Sequence[str], kitty: str, decks: int) -> str:
    """The cards to remove so that nothing but ``hands`` and ``kitty`` is in play."""
    left = list(range(52)) * decks
    for text in (*hands, kitty):
        for card in parse_cards(text):
            left.remove(card)
    return " ".join(NAMES[card] for card in sorted(left))


def small_rules(hands: Sequence[str], kitty: str = "", **overrides: Any) -> RuleSet:
    """Rules for a deck of just these cards: no pass, no moon, dealer's left leads, one hand, unless said otherwise."""
    decks = overrides.get("decks", 1)
    fields: dict[str, Any] = {
        "variant": "custom",
        "players": len(hands),
        "decks": decks,
        "hand": len(hands[0].split()),
        "removed": complement(hands, kitty, decks),
        "pass_count": 0,
        "pass_cycle": [0],
        "opener": "left",
        "moon_effect": "none",
        "hand_limit": 1,
        "trick1_ban": [],
    }
    return ruleset_of(fields | overrides)


def dealt(
    rules: RuleSet,
    hands: Sequence[str],
    kitty: str = "",
    *,
    hand: int = 1,
    totals: Sequence[int] | None = None,
    seats: str = "",
    **created: Any,
) -> list[e.Event]:
    """The events of a table of persons ``p0``, ``p1``, ... up to the deal of just these cards in hand ``hand``.

    A letter b in ``seats`` makes that seat a house bot's. ``totals`` stand before the hand.
    """
    events = opened(rules, seats or "p" * rules.players, **{"chain": 64, **created})[: rules.players + 1]
    kinds = ["bot" if letter == "b" else "player" for letter in seats or "p" * rules.players]
    events.append(
        e.GameLocked(entropy=tuple((seat, kind, "") for seat, kind in enumerate(kinds)), root="00" * 32)
    )
    if totals is not None:
        events.append(score_of(hand - 1, totals, totals))
    deal = tuple(" ".join(NAMES[card] for card in sorted(parse_cards(text))) for text in hands)
    extras = " ".join(NAMES[card] for card in sorted(parse_cards(kitty)))
    events.append(
        e.HandDealt(
            hand=hand,
            hands=tuple(hidden_hand(seat, text) for seat, text in enumerate(deal)),
            kitty=commit_cards(hiding_key(HAND_SECRET, "kitty", "kitty"), extras).hex() if extras else None,
            hidden=e.DealtSecret(secret=HAND_SECRET.hex(), deal=deal, kitty=extras),
        )
    )
    return events


def score_of(hand: int, points: Sequence[int], totals: Sequence[int]) -> e.HandScored:
    """The end of an earlier hand of which nothing but its score matters."""
    return e.HandScored(
        hand=hand,
        secret="",
        deal=(),
        kitty="",
        passes=None,
        points=tuple(points),
        totals=tuple(totals),
    )


def hidden_hand(seat: int, text: str) -> str:
    """The commitment to a hand dealt by `dealt`."""
    return commit_cards(hiding_key(HAND_SECRET, str(seat), "hand"), text).hex()


def hidden_pass(seat: int, text: str) -> str:
    """The commitment to a pass at a table of `dealt`."""
    return commit_cards(hiding_key(HAND_SECRET, str(seat), "pass"), text).hex()


HANDS: Final = ["2C 3D 4S 5H", "3C 4D 5S 6H", "4C 5D 6S 7H", "5C 6D 7S 8H"]
"""Four hands, one opening with the lowest club."""
PASSES: Final = ["2C 3D", "5S 6H", "4C 7H", "6D 7S"]
"""What each of them passes at a table of `passing`."""
MOON_HANDS: Final = ["AH QS", "2H 2S", "3H 3S"]
"""Three hands of which seat 0 takes all there is, leading."""


def passing(step: int = 1) -> list[e.Event]:
    """A table of four persons that passes two of `HANDS` each by ``step``."""
    return dealt(small_rules(HANDS, pass_count=2, pass_cycle=[step], opener="forced"), HANDS)


def plain() -> list[e.Event]:
    """A table of four persons in a hold hand of `HANDS`, p0 to lead."""
    return dealt(small_rules(HANDS), HANDS)


def moon_table(
    effect: str, plays: str = "AH 2H 3H QS 2S", *, clock: int | None = None, **more: Any
) -> list[e.Event]:
    """A table of `MOON_HANDS` after ``plays``, but for whose last card p0 has shot the moon."""
    rules = small_rules(MOON_HANDS, **{"moon_effect": effect, "breakers": [], **more})
    return played(dealt(rules, MOON_HANDS, clock=clock), plays)


def moon_pending(**more: Any) -> list[e.Event]:
    """A table at which p0 has shot the moon and must choose."""
    return moon_table("choice", "AH 2H 3H QS 2S 3S", **more)


def ready(seat: int, **more: int) -> c.GetReady:
    """Player ``p<seat>`` opens its entropy."""
    return c.GetReady(player=f"p{seat}", entropy=entropy_of(seat), **more)


def sit(seat: int | None, player: str, **more: Any) -> c.SitDown:
    """``player`` sits down."""
    return c.SitDown(player=player, seat=seat, **more)


def taken(seat: int, player: str, commit: str | None = None) -> e.SeatTaken:
    """A person sat down."""
    return e.SeatTaken(
        seat=seat, kind="player", player=player, bot=None, entropy_commit=commit, public_key=None
    )


def play(seat: int, card: str, **more: Any) -> c.PlayCard:
    """Player ``p<seat>`` plays ``card``."""
    return c.PlayCard(who=f"p{seat}", card=parse_card(card), **more)


def give(seat: int, cards: str, **more: Any) -> c.PassCards:
    """Player ``p<seat>`` passes ``cards``."""
    return c.PassCards(who=f"p{seat}", cards=tuple(parse_cards(cards)), **more)


def played(state_events: Sequence[e.Event], cards: str, first: int | None = None) -> list[e.Event]:
    """The events of ``state_events`` and of playing ``cards``, each by the seat whose turn it is."""
    events = list(state_events)
    state = fold(None, events)
    for number, card in enumerate(parse_cards(cards)):
        assert state.hand is not None
        if number == 0 and first is not None:
            assert first == state.hand.turn
        seat = state.hand.turn
        who = state.seats[seat].player or seat
        more, state = advance(state, c.PlayCard(who=who, card=card))
        events.extend(more)
    return events


class When:
    """What a command causes at a table."""

    def __init__(self, events: Sequence[e.Event], command: c.AnyCommand) -> None:
        self._state: State | None = fold(None, events) if events else None
        self._before: State | None = fold(None, events) if events else None
        self._command = command

    def then(self, *expected: e.Event | type[e.Event] | EllipsisType) -> list[e.Event]:
        """It causes just these events: each given whole, or by its kind, and ``...`` for any that still follow."""
        events, after = advance(self._state, self._command)
        assert decide(self._state, self._command) == events
        assert_same(after, fold(self._state, events))
        self._nothing_changed()
        open_end = bool(expected) and expected[-1] is ...
        wanted = expected[:-1] if open_end else expected
        got = events[: len(wanted)] if open_end else events
        shown = [
            type(one) if isinstance(want, type) else one
            for one, want in zip(got, [*wanted, *[None] * len(got)], strict=False)
        ]
        assert list(wanted) == shown
        return events

    def refused(self, code: str, *, legal: str | None = None, says: str = "") -> Refused:
        """It is refused with ``code``, and nothing changes; ``legal`` are the cards named instead."""
        with pytest.raises(Refused) as caught:
            decide(self._state, self._command)
        self._nothing_changed()
        refusal = caught.value
        assert code == refusal.code
        assert says in refusal.detail
        if legal is not None:
            assert legal.split() == list(refusal.legal or ())
        return refusal

    def _nothing_changed(self) -> None:
        if self._state is not None and self._before is not None:
            assert_same(self._before, self._state)


class Given:
    """A table that something has happened at."""

    def __init__(self, events: Sequence[e.Event]) -> None:
        self.events = list(events)

    def when(self, *commands: c.AnyCommand) -> When:
        """The last of ``commands`` at the table, after those before it."""
        events = list(self.events)
        for command in commands[:-1]:
            events.extend(decide(fold(None, events) if events else None, command))
        return When(events, commands[-1])


def given(*events: e.Event | Sequence[e.Event]) -> Given:
    """A table at which ``events`` happened; none: no table."""
    found: list[e.Event] = []
    for one in events:
        found.extend([one] if isinstance(one, e.Event) else one)
    return Given(found)


def after(events: Sequence[e.Event], *commands: c.AnyCommand) -> list[e.Event]:
    """``events`` and those that ``commands`` cause, one after the other."""
    found = list(events)
    for command in commands:
        found.extend(decide(fold(None, found) if found else None, command))
    return found


def at(event: e.Event, ms: int) -> e.Event:
    """``event`` at another time."""
    return msgspec.structs.replace(event, at=ms)
