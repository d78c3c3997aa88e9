"""Any change of a game's events that a server might try, drawn at random: most break it, some change nothing that counts."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec

from domain import events as e
from domain.cards import NAMES
from tests.support.proofs import Events


def forge(events: Events, rng: Random) -> None:
    """Change, leave out, repeat or move an event, in place; one of a hand most often."""
    last = len(events) - 1
    at = rng.randint(1, last)
    way = rng.random()
    if way < 0.1:
        del events[at]
    elif way < 0.2:
        events.insert(at, events[at])
    elif way < 0.3:
        other = rng.randint(1, last)
        events[at], events[other] = events[other], events[at]
    elif way < 0.4 and at < last:
        events[at], events[at + 1] = events[at + 1], events[at]
    elif way < 0.5:
        events.insert(at, e.SeatToBot(at=events[at].at, seat=rng.randint(0, 3)))
    else:
        events[at] = _changed(events[at], rng)


def _changed(event: Any, rng: Random) -> Any:
    name = rng.choice([name for name in event.__struct_fields__ if name not in ("hidden", "rules")])
    value = getattr(event, name)
    return msgspec.structs.replace(event, **{name: _other(name, value, rng)})


def _other(name: str, value: Any, rng: Random) -> Any:
    if name in ("signed_seq", "signature", "pass_signatures", "branch", "abandon_seconds", "imported"):
        return value
    if name == "by":
        return rng.choice(["player", "bot", "clock", "claim"])
    if name == "card":
        return rng.choice([*NAMES, "", "XX", "2C3C"])
    if name == "seat" and rng.random() < 0.3:
        return rng.choice([-1, 0, 7, 255, 256, *([None] if value is None else [])])
    if name == "at":
        return value + rng.choice([-1000, -1, 1, 1000, 2**53])
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice([-1, 1, 10**12])
    if isinstance(value, str) and name in ("kitty", "deal"):
        return _other_list(value, rng)
    if isinstance(value, tuple) and value and isinstance(value[0], str | int):
        place = rng.randrange(len(value))
        one = value[place]
        other = _other_list(one, rng) if isinstance(one, str) else one + rng.choice([-1, 1, 2**63])
        return (*value[:place], other, *value[place + 1 :])
    return value


def _other_list(text: str, rng: Random) -> str:
    """Another list of cards: one card another, one less or more, in another order, or written otherwise."""
    cards = text.split()
    way = rng.randrange(6)
    if way == 0:
        return " ".join([*cards[1:], rng.choice(NAMES)])
    if way == 1:
        return " ".join(cards[1:])
    if way == 2:
        return " ".join([*cards, rng.choice(NAMES)])
    if way == 3:
        return " ".join(cards[::-1])
    return text.lower() if way == 4 else text + " "
