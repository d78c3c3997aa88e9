"""What came of the deals of an arena, kept on the queue's server: whoever plays them later need not do it again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.metadata import version
from typing import Final

import msgspec

from services.keys import Keys
from services.wire import Script, Wire
from workers.arena.match import Dealt, Plan

MATCHES: Final = 2
"""Raise it with every change of how deals are dealt, seated, played or written down."""
VERSION: Final = f"{version('hearts-house')}/{MATCHES}"
"""Of a program that plays: what another has played is not taken for one's own."""
KEPT_SECONDS: Final = 7 * 24 * 60 * 60
"""For how long it is kept after the last deal that was added."""
_PLAN, _ASKED = "plan", "asked"

KEEP: Final = Script("""
-- KEYS[1] an arena   ARGV[1] for how long it is kept, seconds   ARGV[2...] fields and values in turn
-- Adds to what is kept, all or nothing. Returns 1.
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('EXPIRE', KEYS[1], ARGV[1])
return 1
""")


class UnknownArena(Exception):
    """Nothing is kept under this id."""


def write_plan(plan: Plan) -> str:
    """A plan as JSON."""
    return msgspec.json.encode(plan, order="deterministic").decode()


def read_plan(text: str | bytes) -> Plan:
    """A plan from JSON. Raises `msgspec.MsgspecError`."""
    return msgspec.json.decode(text, type=Plan)


def arena_id(plan: Plan) -> str:
    """The id of an arena: of the same bots, rules and seed it is the same, however many deals are played."""
    return hashlib.sha256(f"{VERSION}\n{write_plan(plan)}".encode()).hexdigest()[:12]


class Kept:
    """The deals that are kept of one arena. Methods raise `StoreUnavailable`."""

    def __init__(self, wire: Wire, name: str) -> None:
        self._wire, self._key = wire, Keys.arena(name)

    def begin(self, plan: Plan, asked: int) -> None:
        """Note what is played, and how many deals are asked for."""
        self._wire.run(KEEP, (self._key,), (KEPT_SECONDS, _PLAN, write_plan(plan), _ASKED, asked))

    def recall(self) -> tuple[Plan, int]:
        """What is played, and how many deals were asked for last. Raises `UnknownArena`."""
        plan, asked = self._wire.call("HMGET", self._key, _PLAN, _ASKED)
        if plan is None or asked is None:
            raise UnknownArena("there is no such arena, or not any more")
        return read_plan(plan), int(asked)

    def deals(self) -> set[int]:
        """The numbers of the deals that are there."""
        return {int(name) for name in self._wire.call("HKEYS", self._key) if name.isdigit()}

    def find(self, deals: Sequence[int]) -> dict[int, Dealt]:
        """Those of ``deals`` that are there."""
        if not deals:
            return {}
        found: dict[int, Dealt] = {}
        for deal, text in zip(deals, self._wire.call("HMGET", self._key, *deals), strict=True):
            with suppress(msgspec.MsgspecError):
                if text is not None:
                    found[deal] = msgspec.json.decode(text, type=Dealt)
        return found

    def keep(self, played: Iterable[Dealt]) -> None:
        """Add deals."""
        fields = [part for one in played for part in (one.deal, msgspec.json.encode(one))]
        self._wire.run(KEEP, (self._key,), (KEPT_SECONDS, *fields))
