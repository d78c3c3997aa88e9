"""A match of an arena played once more, to be read: its events, and the record of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from domain import events as e
from domain.record import as_first_hand, record_of
from domain.refusals import HeartsError
from workers.arena.match import Plan, Score, deal_id, open_table, play_match
from workers.arena.seatings import Seating, letter, read_seating, seatings_of


class NoMatch(HeartsError):
    """A text that names no match."""


class Place(NamedTuple):
    """Which match of an arena."""

    seed: int
    deal: int
    seating: str


class Retelling(NamedTuple):
    """A match as it went."""

    events: list[e.AnyEvent]
    names: list[str]
    """By seat."""
    scores: list[Score]
    """By bot."""
    record: dict[str, Any]
    of_arena: bool
    """Whether the arena plays the deal in this seating too."""


def read_place(text: str) -> Place:
    """The match that ``SEED:DEAL:SEATING`` names. Raises `NoMatch`."""
    seed, _, rest = text.partition(":")
    deal, _, seating = rest.partition(":")
    numbers = all(part.isascii() and part.isdecimal() and len(part) < 19 for part in (seed, deal))
    if not numbers or not int(deal) or not seating:
        raise NoMatch(f"{text!r:.60} is no SEED:DEAL:SEATING, as in 1:17:ABBA; deals are counted from 1")
    return Place(int(seed), int(deal), seating)


def replay_match(plan: Plan, deal: int, written: str) -> Retelling:
    """Play a match again. Raises `NoSeating`."""
    seating: Seating = read_seating(written, len(plan.bots), plan.rules.players)
    table = open_table(plan, deal)
    events = list(table.events)
    scores = [Score() for _ in plan.bots]
    play_match(plan, table.state, seating, scores, events.extend)
    if not plan.games:
        scored = next(place for place, event in enumerate(events) if isinstance(event, e.HandScored))
        if isinstance(events[-1], e.HandDealt):  # of the hand behind it, which is not played
            del events[scored + 1 :]
    names = [f"{letter(bot)} {plan.bots[bot]}" for bot in seating]
    known = seatings_of(len(plan.bots), plan.rules.players, deal_id(plan, deal))
    return Retelling(events, names, scores, _record(plan, events, names), seating in known)


def _record(plan: Plan, events: list[e.AnyEvent], names: list[str]) -> dict[str, Any]:
    record = record_of(events, names)
    if plan.games:
        return record
    number = next(event.hand for event in events if isinstance(event, e.HandScored))
    rules = msgspec.structs.replace(plan.rules, hand_limit=None)
    as_first_hand(record, rules, number, hand_limit=None)
    return record
