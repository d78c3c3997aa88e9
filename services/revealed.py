"""The hidden parts of a game's events, put back where later events reveal them.

When a game is over nothing of it is secret any more, so its public events hold all that a fold needs: what was hidden
when it happened is put back from `HandScored`, and of a hand that was broken off from the secret in `GameEnded`. A practice
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


def restore_hidden(events: list[Any]) -> list[e.AnyEvent]:
    """``events`` with the hidden parts put back that later events reveal."""
    return put_back(events, _broken_off(events))


def put_back(events: list[Any], shown: Shown | None) -> list[e.AnyEvent]:
    """`restore_hidden` where the hand is known that the end of the game broke off; none where it broke off none."""
    scores: dict[int, e.HandScored | Shown] = {
        event.hand: event for event in events if isinstance(event, e.HandScored)
    }
    ended: e.GameEnded | None = None
    if shown is not None:
        scores[shown.hand] = shown
        ended = next((one for one in events if isinstance(one, e.GameEnded) and one.secret), None)
    dealt: e.HandScored | Shown | None = None
    for at, event in enumerate(events):
        kind = type(event)
        if kind is e.HandDealt:
            dealt = scores.get(event.hand)
            if dealt is not None:
                told = dealt.secret if isinstance(dealt, e.HandScored) else ended and ended.secret
                hidden = e.DealtSecret(secret=told or "", deal=dealt.deal, kitty=dealt.kitty)
                events[at] = msgspec.structs.replace(event, hidden=hidden)
        elif kind is e.CardsPassed and dealt is not None:
            events[at] = msgspec.structs.replace(event, hidden=_pass_of(dealt, ended, event))
    return events


def _broken_off(events: Sequence[Any]) -> Shown | None:
    """The hand that the end of the game broke off, where it reveals one."""
    last = events[-1] if events else None
    if not isinstance(last, e.GameEnded) or last.secret is None:
        return None
    check = FairnessCheck()
    with suppress(Failed):
        check.run(events)
    return check.broken_off


def _pass_of(dealt: e.HandScored | Shown, ended: e.GameEnded | None, event: e.CardsPassed) -> Any:
    """What was hidden of a pass; the event's own where nothing reveals it."""
    if isinstance(dealt, Shown):
        cards, revealed = dealt.given[event.seat], None if ended is None else ended.pass_signatures
    elif dealt.passes is None:
        return event.hidden
    else:
        cards, revealed = dealt.passes[event.seat], dealt.pass_signatures
    signed = revealed[event.seat] if revealed else None
    return cards if signed is None else e.SignedPass(cards, *signed)
