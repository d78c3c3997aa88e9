"""Playouts a second of the search, compiled and plain, from the middle of a hand; and what a decision takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from random import Random
from typing import Final

from domain import kernel
from domain.bots.search import BUDGET, Arm, Position, Tried, search_policy
from domain.game import to_act
from domain.variants import ruleset_of
from domain.view import View, view
from tests.support.games import play_game

FAMILIES: Final = (("basic", 4), ("omnibus", 4), ("standard", 3), ("standard", 7), ("cancellation", 8))
POSITIONS: Final = 6
ROUNDS: Final = 5
COMPILED, PLAIN = 60_000, 120
"""Playouts of a round."""


def middles(variant: str, players: int) -> list[View]:
    """Views of seats that choose among cards when half of a hand is played."""
    rules = ruleset_of({"variant": variant, "players": players})
    found: list[View] = []
    seed, rng = 0, Random(1)
    while len(found) < POSITIONS:
        seed += 1
        moves = players + players * (rules.hand // 2) + rng.randrange(players)
        state = play_game(rules, seed, moves=moves, kinds="b" * players, bot="rules").end
        if state.phase == "play":
            seen = view(state, to_act(state)[0])
            if len(Position(seen).arms()) > 1:
                found.append(seen)
    return found


def playouts_a_second(
    views: list[View], search: Callable[[Position, list[Arm], int, int], list[Tried] | None], budget: int
) -> float:
    """How many playouts a second of CPU, over all positions."""
    spent, count = 0.0, 0
    for number, seen in enumerate(views):
        position = Position(seen)
        arms = position.arms()
        start = time.process_time()
        found = search(position, arms, budget, number)
        spent += time.process_time() - start
        count += sum(one.worlds for one in found or ())
    return count / spent


def bench_playouts() -> None:
    """Print a line a family: medians of rounds, compiled and plain in turn."""
    print("\nPlayouts a second of CPU from the middle of a hand, one core   (aim at four seats: 2,000,000)")
    for variant, players in FAMILIES:
        views = middles(variant, players)
        compiled: list[float] = []
        plain: list[float] = []
        for _ in range(ROUNDS):
            if kernel.AVAILABLE:
                compiled.append(playouts_a_second(views, Position.try_compiled, COMPILED))
            plain.append(playouts_a_second(views, Position.try_plainly, PLAIN))
        told = "not compiled here" if not compiled else f"{statistics.median(compiled):>10,.0f}"
        times = []
        for number, seen in enumerate(views * ROUNDS):
            start = time.process_time()
            search_policy(seen, number.to_bytes(32, "big"), BUDGET)
            times.append(1e3 * (time.process_time() - start))
        ratio = f"{statistics.median(compiled) / statistics.median(plain):4.0f} times" if compiled else ""
        print(
            f"  {variant:<13}{players:>2} seats: kernel {told}   plain {statistics.median(plain):>8,.0f}   {ratio}"
            f"   a decision with {BUDGET:,}: {statistics.median(times):.2f} ms, at most {max(times):.2f}"
        )
