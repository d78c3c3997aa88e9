"""Tables on a real log, as one process has them, with a clock that stands still."""

from __future__ import annotations

from random import Random

from domain.bots import BOTS
from domain.cards import distinct_cards
from domain.commands import GetReady, PlayCard, SeatPlan
from domain.rules import legal_plays
from domain.variants import ruleset_of
from services.audit import ServerKey
from services.folded import Table
from services.once import Key
from services.store import Store
from services.tables import Tables
from tests.support.clock import Clock

PERSONS = [SeatPlan(kind="player", player=f"p{seat}") for seat in range(4)]
BOT = SeatPlan(kind="bot", bot=BOTS["random"].id)


def tables_on(log: Store, clock: Clock, seed: int = 1) -> Tables:
    """Tables as one process has them: with a cache of its own."""
    return Tables(log, ServerKey(bytes(32)), clock, Random(seed).randbytes)


def started(tables: Tables, **rules: object) -> Table:
    """A table of four persons, ready and dealt."""
    game = tables.open(ruleset_of({"variant": "basic", **rules}), PERSONS).table.state.game
    for seat in range(4):
        table = tables.handle(game, GetReady(player=f"p{seat}")).table
    return table


def first_move(table: Table) -> PlayCard:
    """A legal card of the seat to play."""
    hand = table.state.hand
    assert hand is not None
    return PlayCard(who=f"p{hand.turn}", card=distinct_cards(legal_plays(table.state.terms, hand))[0])


def key(name: str, fingerprint: str = "f") -> Key:
    """An idempotency key of player p0."""
    return Key("p0", "POST /moves", name, fingerprint)
