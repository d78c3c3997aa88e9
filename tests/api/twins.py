"""The same game with other cards where a reader has not looked: what it is answered must not change by a byte."""

from __future__ import annotations

from random import Random

import msgspec
from flask import Flask

from api.app import create_app
from domain import events as e
from domain.cards import format_mask
from domain.state import HandState
from services.codec import CODEC
from services.wiring import Services, build
from tests.api.guests import Guest
from tests.domain.test_hidden import deal_again
from tests.support.games import hand_of


def deal_twin(services: Services, game: str, reader: int | None, rng: Random) -> Flask:
    """Deal the hand in play again, in a way that ``reader`` (none: a spectator) cannot tell from the one before.

    In the store all public bytes stay, and the secret ones change: cards, and the secrets that shuffles and bots' seeds
    come from. Returns an application that has seen nothing of it before, on the same store.
    """
    store, keys = services.store, services.keys
    hand = hand_of(deal_again(services.tables.load(game).state, reader, rng))
    # where nothing was committed to there is no secret that could be another
    secret = rng.randbytes(32).hex() if hand.secret else ""
    entries, current = [], 0
    for seq, public, hidden in store.read(game):
        event = CODEC.decode(public, hidden)
        current = event.hand if isinstance(event, e.HandDealt) else current
        if current == hand.number:
            event = _dealt_as(event, hand, secret)
        entries.append((public, CODEC.encode(event, seq)[1]))
    store.client.delete(keys.stream(game), keys.snapshot(game))
    store.append(game, 0, entries, now=0, due=None)
    return create_app(
        build(services.settings, store=store.client, clock=lambda: 0, entropy=Random(8).randbytes)
    )


def _dealt_as(event: e.Event, hand: HandState, secret: str) -> e.Event:
    if isinstance(event, e.HandDealt):
        deal = tuple(format_mask(mask) for mask in hand.dealt)
        hidden = e.DealtSecret(secret=secret, deal=deal, kitty=format_mask(hand.kitty))
        return msgspec.structs.replace(event, hidden=hidden)
    if isinstance(event, e.CardsPassed):
        return msgspec.structs.replace(event, hidden=format_mask(hand.passes[event.seat] or 0))
    return event


def move_to(app: Flask, guest: Guest) -> Guest:
    """``guest`` as a caller of another application on the same store."""
    moved = Guest(app)
    moved.id, moved.token = guest.id, guest.token
    return moved
