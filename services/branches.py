"""Practice tables: the position of a finished game found in its log, and a table opened there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from domain import events as e
from domain.branch import AT_ONCE, begin_practice, check_over
from domain.refusals import Refused
from services.audit import Signer
from services.codec import CODEC
from services.once import Key
from services.store import PAGE, Seq, Store
from services.tables import Begun, Outcome, Tables

BOUNDS: Final = (e.HandDealt, e.HandScored, e.GameEnded)
"""The events that a hand lies between."""


class Branches:
    """Opens practice tables."""

    def __init__(self, store: Store, tables: Tables, key: Signer) -> None:
        self._store = store
        self._tables = tables
        self._key = key

    def open(self, game: str, at: Seq, seat: int, player: str, key: Key | None = None) -> Outcome:
        """Let ``player`` play on from event ``at`` of a finished game, in ``seat``, at a table of its own.

        Raises `Refused` where the game is not over, or has no such event in a hand, or no such seat, or nothing is left
        to play; `UnknownGame`, `KeyReused`, `StoreUnavailable`.
        """
        now = self._tables.load(game)
        check_over(now.state)
        if not 1 <= at <= now.seq:
            raise Refused("request/invalid", f"at: the game has {now.seq} events")
        hand = self._hand(game, at)

        def begin(new: str, ms: int) -> Begun:
            branch = e.Branch(game, at, seat)
            return begin_practice(
                now.state, hand, branch, game=new, player=player, server_key=self._key.public, at=ms
            )

        return self._tables.create(begin, key)

    def _hand(self, game: str, at: Seq) -> Sequence[e.Event]:
        """The events of the hand that event ``at`` lies in, from its deal, with what followed from it at once."""
        found: list[e.Event] = [one for one in self._read(game, at, at + 1) if isinstance(one, AT_ONCE)]
        upto = at
        while upto > 0:
            start = max(0, upto - PAGE)
            found = [*self._read(game, start, upto), *found]
            bounds = [index for index, one in enumerate(found) if isinstance(one, BOUNDS)]
            if bounds:
                if isinstance(found[bounds[-1]], e.HandDealt):
                    return found[bounds[-1] :]
                break
            upto = start
        raise Refused(
            "request/invalid",
            f"at: event {at} is in no hand",
            hint="choose an event from a hand_dealt up to the last card of that hand",
        )

    def _read(self, game: str, after: Seq, upto: Seq) -> list[e.Event]:
        return CODEC.decode_all(self._store.read(game, after, upto))
