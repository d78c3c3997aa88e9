"""Twin worlds: the same store with other hidden cards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

import msgspec

from domain import events as e
from domain.cards import cards_of, format_mask
from domain.game import is_over
from domain.shuffle import chain_link, deal_seed, hiding_key
from domain.state import HandState, State
from services.codec import CODEC
from services.store import Entry
from tests.hidden.deals import deal_consistently
from tests.hidden.oracle import Oracle
from tests.hidden.worlds import World
from tests.support.games import hand_of


def make_twin(
    twin: World, true: World, game: str, oracle: Oracle, seat: int | None, before: int, rng: Random
) -> HandState | None:
    """Let ``twin``, a copy of the true world as it was after event ``before``, have other cards. Returns its hand.

    They are others than the reader of ``seat`` (none: a spectator) can tell from the true ones by all that has happened
    in the true world since. None where no cards are hidden: before the deal the secrets of later hands alone are others,
    after the game nothing is.
    """
    entries = true.services.tables.entries(game)
    after, chain, hand = true.services.tables.load(game).state, rng.randbytes(32), None
    oracle.forget()
    if is_over(after):
        # a server that reports on a finished game looks at the whole chain of its secrets
        chain = _chain_of(entries)
    elif after.hand is not None:
        hand = deal_consistently(after, seat, rng)
        hand.secret = chain_link(chain, after.chain, hand.number).hex()
        _program(oracle, seat, after, hand, entries)
    keys = true.services.keys
    twin.client.delete(keys.stream(game), keys.snapshot(game))
    with twin.client.pipeline(transaction=False) as pipe:
        for entry in _numbered(entries[:before]):
            seq, public, hidden = _hidden_as(entry, hand, chain)
            fields: dict[Any, Any] = {"p": public, **({"s": hidden} if hidden else {})}
            pipe.xadd(keys.stream(game), fields, id=f"{seq}-0")
        pipe.execute()
    return hand


def _program(
    oracle: Oracle, seat: int | None, state: State, hand: HandState, entries: Sequence[Entry]
) -> None:
    """Program the hashes of the twin's secret, as far as the game has gone in the true world."""
    true, secret = bytes.fromhex(hand_of(state).secret), bytes.fromhex(hand.secret)
    if seat is not None:
        oracle.keys[secret, str(seat), "hand"] = hiding_key(true, str(seat), "hand")
        oracle.keys[secret, str(seat), "pass"] = hiding_key(true, str(seat), "pass")
        if hand.exchanged:
            giver = str(hand.receives_from(seat))
            oracle.keys[secret, giver, "pass"] = hiding_key(true, giver, "pass")
    for entry in _numbered(entries):
        event = CODEC.decode(entry.public, entry.hidden)
        if entry.hand != hand.number:
            continue
        if isinstance(event, e.HandDealt):
            for other, commitment in enumerate(event.hands):
                oracle.program(secret, str(other), "hand", commitment)
            oracle.program(secret, "kitty", "kitty", event.kitty)
        elif isinstance(event, e.CardsPassed):
            oracle.program(secret, str(event.seat), "pass", event.cards)
    seed = deal_seed(secret, state.game, hand.number, bytes.fromhex(state.root))
    oracle.deals[seed] = [cards_of(mask) for mask in hand.dealt], cards_of(hand.kitty)


def _chain_of(entries: Sequence[Entry]) -> bytes:
    created = CODEC.decode(*entries[0][1:])
    assert isinstance(created, e.GameCreated)
    assert isinstance(created.hidden, e.OpenedSecret)
    return bytes.fromhex(created.hidden.chain)


class _Numbered(NamedTuple):
    seq: int
    public: bytes
    hidden: bytes
    hand: int
    """The hand that was in play."""


def _numbered(entries: Sequence[Entry]) -> Iterator[_Numbered]:
    number = 0
    for seq, public, hidden in entries:
        event = CODEC.decode(public, hidden)
        number = event.hand if isinstance(event, e.HandDealt) else number
        yield _Numbered(seq, public, hidden, number)


def _hidden_as(entry: _Numbered, hand: HandState | None, chain: bytes) -> Entry:
    """An event whose hidden part is that of the twin."""
    seq, public, hidden, number = entry
    event = CODEC.decode(public, hidden)
    if isinstance(event, e.GameCreated):
        assert isinstance(event.hidden, e.OpenedSecret)
        event = msgspec.structs.replace(
            event, hidden=msgspec.structs.replace(event.hidden, chain=chain.hex())
        )
    elif hand is not None and number == hand.number and isinstance(event, e.HandDealt):
        deal = tuple(format_mask(mask) for mask in hand.dealt)
        secret = e.DealtSecret(secret=hand.secret, deal=deal, kitty=format_mask(hand.kitty))
        event = msgspec.structs.replace(event, hidden=secret)
    elif hand is not None and number == hand.number and isinstance(event, e.CardsPassed):
        text = format_mask(hand.passes[event.seat] or 0)
        told = event.hidden
        if isinstance(told, e.SignedPass):
            # the signature of another pass is another one
            signature = told.signature if text == told.cards else chain.hex() * 2
            event = msgspec.structs.replace(event, hidden=e.SignedPass(text, told.signed_seq, signature))
        else:
            event = msgspec.structs.replace(event, hidden=text)
    else:
        return seq, public, hidden
    return seq, public, CODEC.encode(event, seq)[1]
