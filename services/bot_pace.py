"""CPU time for bots that count playouts: how many of them fit into so many milliseconds.

A decision may cost ``SHARE`` of its bound. What the least decision and a playout cost is measured when the rules become
known, in the dearest positions there are, a pass and a lead early in a hand; each decision then begins with a search
of a quarter of its time in its own position, and spends the rest at the rate that this one has shown, in one step or more. Where even the
least decision would not fit, the rule-based bot decides.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from domain.bots import BOTS, STAND_IN, Action, Policy
from domain.game import advance, to_act
from domain.ruleset import RuleSet
from domain.shuffle import hash_parts
from domain.view import View, view
from services.bot_table import command, opened

SHARE: Final = 0.7
"""The part of a bound that a decision sets out to use; what a position costs more than it seemed to is in the rest."""
_PROBE: Final = 0.25
"""The part of that which finds out what a playout costs."""
_LONG_ENOUGH: Final = 0.004
"""Seconds of CPU that a measurement takes at least."""
_MOST: Final = 1 << 20
"""Playouts of a search at most."""
_CHEAPEST: Final = 1e-7
"""Seconds that a playout is taken to cost at least."""
_SEED: Final = hash_parts("hearts/v1/bot-pace")


class Pace:
    """What a policy's playouts cost; ``clock`` tells seconds of CPU time."""

    def __init__(self, policy: Policy, clock: Callable[[], float] = time.process_time) -> None:
        self._policy, self._clock = policy, clock
        self._least: dict[str, float] = {}
        """Seconds of the least decision, by phase."""
        self._each: dict[str, float] = {}
        """Seconds of a playout, by phase."""

    def measure(self, rules: RuleSet) -> None:
        """Find out what decisions under ``rules`` cost."""
        self._least, self._each = {}, {}
        for seen in sample_views(rules):
            least, each, playouts = self._time(seen, 1), 0.0, 64
            while True:
                spent = self._time(seen, playouts)
                each = max(spent - least, 0.0) / playouts
                if (spent >= _LONG_ENOUGH and spent >= 3 * least) or playouts >= 1 << 20:
                    break
                playouts *= 4
            self._least[seen.phase], self._each[seen.phase] = least, each

    def _time(self, seen: View, playouts: int) -> float:
        start = self._clock()
        self._policy(seen, _SEED, playouts)
        return self._clock() - start

    def decide(self, seen: View, seed: bytes, milliseconds: int) -> Action:
        """A decision that keeps to so many milliseconds of CPU time."""
        start, bound = self._clock(), milliseconds / 1000 * SHARE
        least = self._least.get(seen.phase, 0.0)
        if least > bound:
            return BOTS[STAND_IN].policy(seen, seed, 0)
        each = max(self._each.get(seen.phase, 0.0), _CHEAPEST)
        playouts = max(1, int((bound * _PROBE - least) / each))
        while True:
            before = self._clock()
            action = self._policy(seen, seed, playouts)
            now = self._clock()
            more = int((bound - (now - start)) * playouts / max(now - before, _CHEAPEST))
            if more < 2 * playouts or playouts >= _MOST or seen.phase == "moon":
                return action
            # a position may have nothing to search at first sight only
            playouts = min(more, 16 * playouts)


def sample_views(rules: RuleSet) -> list[View]:
    """The dearest questions of a game: the first pass, where there is one, and the widest choice of the first tricks."""
    state, passes, plays = opened(rules), list[View](), list[View]()
    while state.phase in ("pass", "play") and len(plays) < 2 * rules.players:
        seat = to_act(state)[0]
        seen = view(state, seat)
        (passes if state.phase == "pass" else plays).append(seen)
        _, state = advance(state, command(seat, BOTS[STAND_IN].policy(seen, _SEED, 0), 1))
    return [*passes[:1], max(plays, key=_choice)]


def _choice(seen: View) -> int:
    return 0 if seen.own is None else seen.own.legal.bit_count()
