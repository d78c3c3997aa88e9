"""The signatures in a proof: every move of a seat that registered a key is its own (``docs/spec/audit.md`` 8).

Moves of the house, by bot, clock or claim, are exempt. A signature counts only for the move it stands at: it binds the
game, the action and the whole history up to an event no earlier than the last deal, exchange or end of a trick.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any, Final, NamedTuple

from msgspec import UNSET, UnsetType

from domain import events as e
from domain.refusals import Malformed
from domain.signing import Signed, move_message, signed_move
from services.faults import Failed, Shown
from services.signing import check_public_key, is_signed

_SHARE: Final = 8
"""Signatures that are worth a thread."""
PassSignatures = tuple[tuple[int, str] | None, ...] | UnsetType


class _Pass(NamedTuple):
    """A pass whose signature is still hidden: its event, and the first event that it may be signed at."""

    number: int
    since: int


class _Due(NamedTuple):
    """A signature to be checked; the event that is named where it is wrong, and in which words."""

    key: str
    signature: str
    message: bytes
    number: int
    why: str


class SignatureCheck:
    """Checks the signed moves of a game.

    ``head_of`` tells the head after an event. ``pinned`` are keys of seats as the reader got them elsewhere.
    """

    def __init__(self, head_of: Callable[[int], bytes], pinned: Mapping[int, str] | None = None) -> None:
        self._head_of, self._pinned = head_of, pinned or {}
        self._game = ""
        self._number = 0
        self._keys: dict[int, str] = {}
        self._seats: dict[int, int] = {}
        """By seat the event in which it was taken."""
        self._mark = 0
        self._passes: dict[int, _Pass] = {}
        """The passes of this hand that seats with a key made themselves."""
        self._sealed: dict[int, dict[int, _Pass]] = {}
        """By number the passes of hands of a duplicate table that are over and not revealed."""
        self._hand = 0
        self._due: list[_Due] = []
        """Signatures that are still to be checked, in the order of the events that they stand in."""
        self._signed = 0
        self._broken_off: Shown | None = None

    def feed(self, events: Sequence[e.AnyEvent], broken_off: Shown | None = None) -> None:
        """Check what comes next of the game. Raises `Failed` at the first event that is not signed right.

        ``events`` follow the rules; ``broken_off`` is the hand that the end of the game reveals in them.
        """
        self._broken_off = broken_off
        try:
            self._follow(events)
        finally:
            self._settle()  # what it raises was wrong before what came up just now

    def _follow(self, events: Sequence[e.AnyEvent]) -> None:
        before, keys, played = self._number, self._keys, e.CardPlayed
        for number, event in enumerate(events, before + 1):
            # most games are not signed, and most events plays
            if type(event) is played and not keys and event.signature is UNSET is event.signed_seq:
                continue
            check = _CHECKS.get(type(event))
            if check is not None:
                self._number = number
                check(self, event)
        self._number = before + len(events)

    def result(self, *, audit: bool = False) -> str:
        """What is shown of signatures, "" where nobody signs; in an ``audit``, which takes no keys, not which keys the reader lacks.

        Raises `Failed` where a key is pinned and nobody's.
        """
        for seat in sorted(self._pinned.keys() - self._seats.keys()):
            raise Failed(1, f"nobody sits at seat {seat}, whose key you have")
        return self._summary(audit)

    @property
    def signing(self) -> list[int]:
        """The seats that sign their moves, and in `pinned` those of them whose keys the reader has."""
        return sorted(self._keys)

    @property
    def pinned(self) -> list[int]:
        """See `signing`."""
        return [seat for seat in self.signing if seat in self._pinned]

    def _created(self, event: e.GameCreated) -> None:
        self._game = event.game

    def _seat_left(self, event: e.SeatLeft) -> None:
        self._keys.pop(event.seat, None)
        self._seats.pop(event.seat, None)

    def _marked(self, _: e.PassesExchanged | e.TrickEnded) -> None:
        self._mark = self._number

    def _dealt(self, event: e.HandDealt) -> None:
        self._mark, self._passes, self._hand = self._number, {}, event.hand

    def _chosen(self, event: e.CardsPassed) -> None:
        if event.by == "player" and event.seat in self._keys:
            self._passes[event.seat] = _Pass(self._number, self._mark)

    def _scored(self, event: e.HandScored) -> None:
        if event.deal is None:
            self._sealed[event.hand], self._passes = self._passes, {}
            return
        self._passed(dict(enumerate(event.passes or ())), event.pass_signatures)

    def _ended(self, event: e.GameEnded) -> None:
        if self._broken_off is not None:
            self._passed(self._broken_off.given, event.pass_signatures)
        elif self._passes:
            self._sealed[self._hand], self._passes = self._passes, {}

    def _revealed(self, event: e.HandsRevealed) -> None:
        between, self._passes = self._passes, self._sealed.pop(event.hand, {})
        broken = self._broken_off
        given = dict(enumerate(event.passes or ()))
        if broken is not None and broken.hand == event.hand:
            given = broken.given
        self._passed(given, event.pass_signatures)
        self._passes = between

    def _seat_taken(self, event: e.SeatTaken) -> None:
        self._seats[event.seat] = self._number
        if event.public_key is None:
            return
        try:
            check_public_key(event.public_key)
        except Malformed as error:
            raise Failed(self._number, f"its public key is {error}") from error
        if event.kind != "player":
            raise Failed(self._number, "a house bot signs nothing")
        self._keys[event.seat] = event.public_key

    def _compare_keys(self, _: e.GameLocked) -> None:
        for seat, key in sorted(self._pinned.items()):
            if seat in self._seats and self._keys.get(seat) != key:
                raise Failed(self._seats[seat], f"seat {seat} has another key than you have, or none")

    def _moved(self, event: e.CardPlayed | e.MoonChosen) -> None:
        if event.seat not in self._keys or event.by != "player":
            if event.signature is not UNSET or event.signed_seq is not UNSET:
                raise Failed(
                    self._number, f"seat {event.seat} has no key, or did not move, and here it signs"
                )
            return
        move = signed_move(event)
        if move is None:
            raise Failed(self._number, f"seat {event.seat} signs its moves, and this one is not signed")
        self._verify(event.seat, move.action, move.signed, self._mark, self._number)

    def _passed(self, passes: Mapping[int, str], signatures: PassSignatures) -> None:
        shown = () if signatures is UNSET else signatures
        for seat, signed in enumerate(shown):
            if signed is not None and seat not in self._passes:
                raise Failed(self._number, f"seat {seat} has no key, or did not pass, and here it signs")
        for seat, made in sorted(self._passes.items()):
            signed = shown[seat] if seat < len(shown) else None
            if signed is None:
                raise Failed(
                    self._number,
                    f"seat {seat} signs its moves, and its pass (event {made.number}) is not signed",
                )
            self._verify(seat, f"pass {passes.get(seat, '')}", Signed(*signed), made.since, made.number)
        self._passes = {}

    def _verify(self, seat: int, action: str, signed: Signed, since: int, number: int) -> None:
        """Judge the signature of what ``seat`` did in event ``number``."""
        what = f"the signature of seat {seat}" + ("" if number == self._number else f" for event {number}")
        if not since <= signed.seq < number:
            raise Failed(
                self._number,
                f"{what} is one of event {signed.seq}, which is not from {since} to {number - 1}",
            )
        message = move_message(self._game, signed.seq, self._head_of(signed.seq), action)
        why = f"{what} is not its key's, or not of {action!r} at this table"
        self._due.append(_Due(self._keys[seat], signed.signature, message, self._number, why))

    def _settle(self) -> None:
        """Check the signatures that have come up, all together. Raises `Failed` at the first that is wrong."""
        due, self._due = self._due, []
        self._signed += len(due)
        for one, right in zip(due, _check_all(due), strict=True):
            if not right:
                raise Failed(one.number, one.why)

    def _summary(self, audit: bool) -> str:
        if not self._keys:
            return ""
        seats = ", ".join(map(str, sorted(self._keys)))
        told = f"; {self._signed} moves signed by seats {seats}"
        open_keys = [str(seat) for seat in sorted(self._keys) if seat not in self._pinned]
        if open_keys and not audit:
            told += f"; key not pinned of seats {', '.join(open_keys)}"
        return told


_CHECKS: Final[dict[type[e.Event], Callable[[SignatureCheck, Any], None]]] = {
    e.GameCreated: SignatureCheck._created,
    e.SeatTaken: SignatureCheck._seat_taken,
    e.SeatLeft: SignatureCheck._seat_left,
    e.GameLocked: SignatureCheck._compare_keys,
    e.HandDealt: SignatureCheck._dealt,
    e.CardsPassed: SignatureCheck._chosen,
    e.PassesExchanged: SignatureCheck._marked,
    e.CardPlayed: SignatureCheck._moved,
    e.TrickEnded: SignatureCheck._marked,
    e.MoonChosen: SignatureCheck._moved,
    e.HandScored: SignatureCheck._scored,
    e.HandsRevealed: SignatureCheck._revealed,
    e.GameEnded: SignatureCheck._ended,
}


def _check_all(due: Sequence[_Due]) -> list[bool]:
    """Which of some signatures count.

    One takes as long as all the rest of a hand, and other threads run meanwhile: so every core is given a share.
    """
    share = max(-(-len(due) // (os.cpu_count() or 1)), _SHARE)
    if len(due) <= share:
        return _check_some(due)
    shares = [due[at : at + share] for at in range(0, len(due), share)]
    with ThreadPoolExecutor(len(shares)) as pool:
        return list(chain.from_iterable(pool.map(_check_some, shares)))


def _check_some(due: Sequence[_Due]) -> list[bool]:
    return [is_signed(one.key, one.signature, one.message) for one in due]
