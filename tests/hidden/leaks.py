"""Leaks on purpose: each lets a reader tell, by one channel, what it may not know. A trial must notice every one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import msgspec
import pytest
from flask import current_app

from api import helps, live, lookback, metrics, records, telling
from domain import commands
from domain import game as decider
from domain import view as views
from domain.cards import HEARTS, QS, SUIT_CARDS, cards_of, format_mask
from domain.claim import could_be_beaten
from domain.events import CardsPassed, PassesExchanged
from domain.refusals import Refused
from domain.rules import legal_plays
from domain.shuffle import bot_seed
from domain.state import HandState, State
from services import folded, steps, summaries, tables
from services.codec import CODEC
from services.queue import Queue
from tests.hidden.company import Plan
from workers.sweep import Sweep

Patch = pytest.MonkeyPatch
_ONE: Final[dict[str, Any]] = {"hand_limit": 1}
_BASIC: Final = Plan("basic", "ppbb", _ONE)
_HOLD: Final[dict[str, Any]] = {**_ONE, "pass_cycle": [0]}
_PLAY: Final = Plan("basic", "pppp", _HOLD)
"""A table at which cards are played at once."""
_HEARTS: Final = SUIT_CARDS[HEARTS]


class Deliberate(NamedTuple):
    """A leak: how it is made, by which channel it must be noticed, and at which table."""

    make: Callable[[Patch], None]
    channel: str
    """What the name of the channel that it shows in must match, for whoever happens to be asked first."""
    only: str = ""
    """What the names of the readers to ask must match."""
    few: int = 1
    """How many cards are tried, and so on."""
    plan: Plan = _BASIC


def wrap(patch: Patch, owner: Any, name: str, outer: Callable[..., Any]) -> None:
    """Let ``outer`` be called in the place of a function, which it gets as its first argument."""
    plain = getattr(owner, name)
    patch.setattr(owner, name, lambda *args, **named: outer(plain, *args, **named))


def hearts(state: State, seat: int) -> int:
    """How many hearts a seat has."""
    assert state.hand is not None
    return (state.hand.held[seat % len(state.seats)] & _HEARTS).bit_count()


# --- what a table shows


def hearts_of_the_next_seat(patch: Patch) -> None:
    """A table's body tells how many hearts the seat behind the reader has."""

    def body(plain: Any, table: Any, seat: int | None, names: Any) -> Any:
        found = plain(table, seat, names)
        hand = table.state.hand
        return found | ({"next": hearts(table.state, (seat or 0) + 1)} if hand else {})

    wrap(patch, telling, "table_body", body)


def passed_before_it_has(patch: Patch) -> None:
    """A seat that is about to pass the queen of spades is shown as one that has passed."""

    def seen(plain: Any, seat: int, one: Any, hand: HandState | None, taken: int) -> Any:
        shown = plain(seat, one, hand, taken)
        has = hand is not None and not hand.exchanged and bool(hand.held[seat] & 1 << QS)
        return msgspec.structs.replace(shown, passed=True) if has else shown

    wrap(patch, views, "_seat_view", seen)


def legal_for_all(patch: Patch) -> None:
    """A spectator sees how many cards the seat to play may play."""

    def body(plain: Any, table: Any, seat: int | None, names: Any) -> Any:
        hand = table.state.hand
        may = 0 if hand is None or hand.turn < 0 else legal_plays(table.state.terms, hand)
        return plain(table, seat, names) | {"choices": may.bit_count()}

    wrap(patch, telling, "table_body", body)


def open_at_once(patch: Patch) -> None:
    """Hands are open to all while they are played."""
    patch.setattr(lookback, "is_open", lambda *_: True)


def version_of_the_cards(patch: Patch) -> None:
    """The ETag follows from the cards."""
    plain = folded.Table.etag.fget  # type: ignore[attr-defined]

    def etag(table: Any) -> str:
        hand = table.state.hand
        held = 0 if hand is None else sum(seat * mask for seat, mask in enumerate(hand.held))
        return str(plain(table).replace("-", f"-{held % 7}"))

    patch.setattr(folded.Table, "etag", property(etag))


# --- refusals, hints, claims


def refusal_by_who_holds_it(patch: Patch) -> None:
    """A card that one does not have is refused in other words where the next seat has it."""

    def check(plain: Any, terms: Any, hand: HandState, card: int) -> None:
        try:
            plain(terms, hand, card)
        except Refused as refused:
            holder = next((seat for seat, mask in enumerate(hand.held) if mask & 1 << card), None)
            if refused.code == "play/not_in_hand" and holder is not None:
                raise Refused(refused.code, f"seat {holder} has it") from refused
            raise

    wrap(patch, decider, "check_play", check)


def hint_by_the_secret(patch: Patch) -> None:
    """A hint follows from the secret of the hand."""
    asked: list[State] = []

    def asker(plain: Any, state: State, player: str) -> Any:
        asked.append(state)
        return plain(state, player)

    def advise(_plain: Any, seen: Any) -> Any:
        hand = asked[-1].hand
        assert hand is not None
        seed = bot_seed(bytes.fromhex(hand.secret), seen.seat, 0)
        own = cards_of(seen.own.legal or seen.own.hand)
        at = seed[0] % len(own)
        return own[at] if seen.phase == "play" else (own[at], own[at - 1], own[at - 2])

    wrap(patch, helps, "_asker", asker)
    wrap(patch, helps, "advise", advise)


def claim_by_all_hands(patch: Patch) -> None:
    """A claim is refused in other words where it would have been true."""

    def claim(plain: Any, run: Any, command: Any) -> None:
        state, seat = run.state, run.state.seat_of(command.who)
        try:
            plain(run, command)
        except Refused as refused:
            hand = state.hand
            if refused.code != "claim/not_certain":
                raise
            order = sorted(cards_of(hand.held[seat]), reverse=True)
            beaten = could_be_beaten(state.terms, hand, order)
            raise Refused(refused.code, f"{beaten} could take a trick") from refused

    patch.setitem(decider._DECISIONS, commands.ClaimRest, lambda run, command: claim(_CLAIM, run, command))


_CLAIM: Final = decider._DECISIONS[commands.ClaimRest]


# --- events


def private_part_to_the_neighbour(patch: Patch) -> None:
    """What an event tells one seat is told to the next."""

    def part(plain: Any, state: State, event: Any, seat: int) -> Any:
        return plain(state, event, (seat + 1) % len(state.seats))

    wrap(patch, folded, "private_part", part)


def time_of_the_exchange(patch: Patch) -> None:
    """Cards are received some milliseconds later where high ones were passed."""

    def passing(run: Any, command: Any) -> None:
        _PASS(run, command)
        if isinstance(run.events[-1], PassesExchanged):
            given = sum(max(cards_of(mask or 0)) for mask in run.state.hand.passes)
            run.events[-1] = msgspec.structs.replace(run.events[-1], at=run.at + given % 13)

    patch.setitem(decider._DECISIONS, commands.PassCards, passing)


def order_of_selection(patch: Patch) -> None:
    """A pass is the later, the later its lowest card was selected."""

    def passing(run: Any, command: Any) -> None:
        _PASS(run, command)
        for at, event in enumerate(run.events):
            if isinstance(event, CardsPassed):
                late = command.cards.index(min(command.cards))
                run.events[at] = msgspec.structs.replace(event, at=run.at + late)

    patch.setitem(decider._DECISIONS, commands.PassCards, passing)


_PASS: Final = decider._DECISIONS[commands.PassCards]


def events_to_all(patch: Patch) -> None:
    """A page of events tells everybody what it tells seat 0."""
    wrap(patch, live, "seat_of", lambda *_: 0)


def proof_with_secrets(patch: Patch) -> None:
    """A proof file ends with the hidden parts of the events."""

    def lines(plain: Any, entries: Any, *more: Any) -> Any:
        kept = list(entries)
        yield from plain(kept, *more)
        yield b"".join(hidden for _, _, hidden in kept) + b"\n"

    wrap(patch, records, "proof_lines", lines)


# --- beside the answers


def due_by_choices(patch: Patch) -> None:
    """A bot with one legal card is due a millisecond before the others."""

    def due(plain: Any, state: State, now: int) -> Any:
        found = plain(state, now)
        hand = state.hand
        if found is None or hand is None or state.phase != "play":
            return found
        return found + (legal_plays(state.terms, hand).bit_count() > 1)

    wrap(patch, steps, "next_due", due)


def log_line_with_a_card(patch: Patch) -> None:
    """A command writes the highest card of seat 0 to the log."""

    def handle(plain: Any, self: Any, game: str, command: Any, **named: Any) -> Any:
        outcome = plain(self, game, command, **named)
        hand = outcome.table.state.hand
        if hand is not None:
            logging.getLogger("hearts").debug("seat 0 has %s", format_mask(hand.held[0])[-2:])
        return outcome

    plain = tables.Tables.handle
    patch.setattr(tables.Tables, "handle", lambda self, *args, **named: handle(plain, self, *args, **named))


def metric_with_a_card(patch: Patch) -> None:
    """Refusals are counted by the number of hearts of seat 1."""

    def outcome(plain: Any, response: Any) -> str:
        known = current_app.extensions["hearts"].tables._cache._tables
        table = next(iter(known.values()), None)
        told = "" if table is None or table.state.hand is None else f" {hearts(table.state, 1)}"
        return str(plain(response)) + told

    wrap(patch, metrics, "_outcome", outcome)


def job_with_a_card(patch: Patch) -> None:
    """A job for bot workers says which cards the seats of its partition have."""

    def ask(plain: Any, self: Any, partition: int, backoff: Any) -> Any:
        held = [
            CODEC.decode(public, hidden)
            for game in self._store.games()
            for _, public, hidden in self._store.read(game)
            if b"hand_dealt" in public
        ]
        wrap_queue(self._queue, repr(held[-1:]))
        return plain(self, partition, backoff)

    def wrap_queue(queue: Any, more: str) -> None:
        queue.enqueue = lambda name, *args, unique: Queue.enqueue(queue, name, *args, more, unique=unique)

    plain = Sweep._ask
    patch.setattr(Sweep, "_ask", lambda self, *args: ask(plain, self, *args))


def lobby_with_the_kitty(patch: Patch) -> None:
    """The list of games tells the points of the kitty."""

    def summary(plain: Any, game: str, table: Any, opened: int) -> Any:
        hand = table.state.hand
        return plain(game, table, opened) | ({} if hand is None else {"kitty": format_mask(hand.kitty)})

    wrap(patch, summaries, "_summary", summary)


_TABLE: Final = r"GET /v1/games/|HEAD|the answer"
_SEATS: Final = r"seat \d$"

LEAKS: Final = [
    Deliberate(hearts_of_the_next_seat, _TABLE),
    Deliberate(passed_before_it_has, _TABLE),
    Deliberate(legal_for_all, _TABLE, plan=_PLAY),
    Deliberate(open_at_once, r"GET .*(open=1|as=\d)"),
    Deliberate(version_of_the_cards, _TABLE),
    Deliberate(refusal_by_who_holds_it, r"POST .*/moves", _SEATS, 6, _PLAY),
    Deliberate(hint_by_the_secret, r"GET .*/hint", _SEATS),
    Deliberate(claim_by_all_hands, r"POST .*/claim", _SEATS, plan=_PLAY),
    Deliberate(private_part_to_the_neighbour, r"GET .*/events", _SEATS),
    Deliberate(time_of_the_exchange, r"public events|the answer"),
    Deliberate(order_of_selection, r"public events|the answer", plan=Plan("basic", "pppp", _ONE)),
    Deliberate(events_to_all, r"GET .*/events", "stranger|outsider"),
    Deliberate(proof_with_secrets, r"GET .*/proof"),
    Deliberate(due_by_choices, r"the store beside the log|log lines", plan=Plan("basic", "ppbb", _HOLD)),
    Deliberate(log_line_with_a_card, "log lines"),
    Deliberate(metric_with_a_card, "metrics", _SEATS, plan=_PLAY),
    Deliberate(job_with_a_card, "the store beside the log"),
    Deliberate(lobby_with_the_kitty, "the store", plan=Plan("cancellation", "ppbbbb", _ONE)),
]
"""All of them."""
