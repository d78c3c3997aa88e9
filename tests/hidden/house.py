"""House bots whose moves are noted in one world and made again in its twin."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import msgspec

from domain.bots import BOTS, Action
from domain.view import View


class Call(NamedTuple):
    """What a bot was shown, and what it did."""

    seen: View
    action: Action


@contextmanager
def noted() -> Iterator[list[Call]]:
    """Note what bots are shown and do."""
    calls: list[Call] = []
    plain = dict(BOTS)

    def policy_of(name: str) -> None:
        bot = plain[name]

        def policy(seen: View, seed: bytes, playouts: int) -> Action:
            action = bot.policy(seen, seed, playouts)
            calls.append(Call(seen, action))
            return action

        BOTS[name] = msgspec.structs.replace(bot, policy=policy)

    for name in plain:
        policy_of(name)
    try:
        yield calls
    finally:
        BOTS.update(plain)


@contextmanager
def scripted(script: list[Call], passes: list[tuple[int, ...]]) -> Iterator[list[Call]]:
    """Let bots do what was noted, but pass, each by its seat, what ``passes`` says. Notes what they are shown."""
    calls: list[Call] = []
    plain = dict(BOTS)
    waiting = deque(script)

    def policy(seen: View, _seed: bytes, _playouts: int) -> Action:
        assert seen.seat is not None
        action = waiting.popleft().action if waiting else ()
        if isinstance(action, tuple):
            action = passes[seen.seat]
        calls.append(Call(seen, action))
        return action

    for name, bot in plain.items():
        BOTS[name] = msgspec.structs.replace(bot, policy=policy)
    try:
        yield calls
    finally:
        BOTS.update(plain)
