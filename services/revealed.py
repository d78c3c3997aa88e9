"""The hidden parts of a game's events, put back where later events reveal them.

When a game is over nothing of it is secret any more, so its public events hold all that a fold needs: what was hidden
when it happened is put back from `HandScored`, at a duplicate table from `HandsRevealed`, and of a hand that was broken off from the secret in `GameEnded`. A practice
table that was abandoned has no such secret: its cards stand in the game that it was branched from, and in its own log.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import msgspec

from domain import events as e
from services.fairness import FairnessCheck
from services.faults import Failed, Shown

_Reveal = e.HandScored | e.HandsRevealed | Shown


def restore_hidden(events: list[Any]) -> list[e.AnyEvent]:
    """``events`` with the hidden parts put back that later events reveal."""
    return put_back(events, _broken_off(events))


def put_back(events: list[Any], shown: Shown | None) -> list[e.AnyEvent]:
    """`restore_hidden` where the hand is known that the end of the game broke off; none where it broke off none."""
    scores: dict[int, _Reveal] = {
        event.hand: event
        for event in events
        if isinstance(event, e.HandScored | e.HandsRevealed) and event.deal is not None
    }
    ended: e.GameEnded | e.HandsRevealed | None = None
    if shown is not None:
        scores[shown.hand] = shown
        ended = next((one for one in events if _is_end_of(one, shown.hand)), None)
    dealt: _Reveal | None = None
    for at, event in enumerate(events):
        kind = type(event)
        if kind is e.HandDealt:
            dealt = scores.get(event.hand)
            if dealt is not None:
                told = ended and ended.secret if isinstance(dealt, Shown) else dealt.secret
                hidden = e.DealtSecret(secret=told or "", deal=dealt.deal or (), kitty=dealt.kitty or "")
                events[at] = msgspec.structs.replace(event, hidden=hidden)
        elif kind is e.CardsPassed and dealt is not None:
            events[at] = msgspec.structs.replace(event, hidden=_pass_of(dealt, ended, event))
    return events


def _broken_off(events: Sequence[Any]) -> Shown | None:
    """The hand that the end of the game broke off, where it reveals one."""
    if not any(isinstance(one, e.GameEnded) and one.reason == "abandoned" for one in events):
        return None
    check = FairnessCheck()
    with suppress(Failed):
        check.run(events)
    return check.broken_off


def _is_end_of(event: e.AnyEvent, hand: int) -> bool:
    """Whether an event reveals the secret of a hand that was broken off."""
    if isinstance(event, e.HandsRevealed):
        return event.hand == hand
    return isinstance(event, e.GameEnded) and event.secret is not None


def _pass_of(dealt: _Reveal, ended: e.GameEnded | e.HandsRevealed | None, event: e.CardsPassed) -> Any:
    """What was hidden of a pass; the event's own where nothing reveals it."""
    if isinstance(dealt, Shown):
        cards, revealed = dealt.given[event.seat], None if ended is None else ended.pass_signatures
    elif dealt.passes is None:
        return event.hidden
    else:
        cards, revealed = dealt.passes[event.seat], dealt.pass_signatures
    signed = revealed[event.seat] if revealed else None
    return cards if signed is None else e.SignedPass(cards, *signed)
