"""How strong the rule-based bot is: duplicate deals against chance and against a bot that only ducks.

``python tests/bench/bots_strength.py [--deals N] [--against random,duck] [VARIANT[:SEATS] ...]``. Each deal is played
with every seat in turn as the odd one out, once as the bot among opponents and once the other way round, through the
decider. Figures are points a hand, lower is better; the interval is 95%, over deals.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from domain.bots import Action, Policy, decision_number  # noqa: E402
from domain.bots.knowledge import facts_of  # noqa: E402
from domain.bots.random import random_policy  # noqa: E402
from domain.bots.rules import rules_policy  # noqa: E402
from domain.cards import SUIT_OF, Card, cards_of, distinct_cards  # noqa: E402
from domain.commands import AnyCommand, ChooseMoon, OpenTable, PassCards, PlayCard, SeatPlan  # noqa: E402
from domain.events import BotName  # noqa: E402
from domain.game import advance, is_over, to_act  # noqa: E402
from domain.rules import moon_shooter  # noqa: E402
from domain.ruleset import RuleSet  # noqa: E402
from domain.shuffle import bot_seed  # noqa: E402
from domain.variants import VARIANTS, ruleset_of  # noqa: E402
from domain.view import View, view  # noqa: E402

NOBODY = BotName("rules", "1", 0)
"""The name that all seats bear; the policies that move for them are given from outside."""


def duck_policy(seen: View, _seed: bytes, _playouts: int) -> Action:
    """Pass the highest, lead the lowest, stay under where it can, throw the dearest: what a beginner does."""
    own = seen.own
    assert own is not None
    values = facts_of(seen.rules).values

    def height(card: Card) -> tuple[int, int]:
        return card % 13, values[card]

    def price(card: Card) -> tuple[int, int]:
        return values[card], card % 13

    if seen.phase == "moon":
        return "add"
    if seen.phase == "pass":
        count = seen.rules.pass_count
        return tuple(sorted(cards_of(own.hand), key=height, reverse=True)[:count])
    legal = distinct_cards(own.legal)
    if not seen.trick:
        return min(legal, key=height)
    led = SUIT_OF[seen.trick[0]]
    if SUIT_OF[legal[0]] != led or SUIT_OF[legal[-1]] != led:
        return max(legal, key=price)
    best = max(card for card in seen.trick if SUIT_OF[card] == led)
    under = [card for card in legal if card < best]
    if under:
        return max(under)
    return max(legal) if len(seen.trick) + 1 == seen.rules.players else min(legal)


OPPONENTS: dict[str, Policy] = {"random": random_policy, "duck": duck_policy}


class Clock:
    """Seconds and decisions of one policy."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.seconds = 0.0
        self.decisions = 0

    def __call__(self, seen: View, seed: bytes, playouts: int) -> Action:
        """The policy's move, timed."""
        start = time.perf_counter()
        action = self.policy(seen, seed, playouts)
        self.seconds += time.perf_counter() - start
        self.decisions += 1
        return action


class Hand(NamedTuple):
    """How a hand ended."""

    points: tuple[int, ...]
    shooter: int | None


def play_hand(rules: RuleSet, secret: bytes, policies: list[Policy]) -> Hand:
    """A game of one hand; equal secrets deal equal cards."""
    plans = tuple(SeatPlan(kind="bot", bot=NOBODY) for _ in policies)
    state = advance(
        None,
        OpenTable(
            game="bench",
            rules=rules,
            secret=secret,
            chain=64,
            seats=plans,
            server_key="00" * 32,
            stand_in=NOBODY,
        ),
    )[1]
    while not is_over(state):
        for seat in to_act(state):
            assert state.hand is not None
            seed = bot_seed(bytes.fromhex(state.hand.secret), seat, decision_number(state, seat))
            state = advance(state, _command(seat, policies[seat](view(state, seat), seed, 0)))[1]
    assert state.hand is not None
    return Hand(state.hands[0], moon_shooter(state.terms, state.hand))


def _command(seat: int, action: Action) -> AnyCommand:
    match action:
        case tuple():
            return PassCards(who=seat, cards=action)
        case str():
            return ChooseMoon(who=seat, choice=action)
        case _:
            return PlayCard(who=seat, card=action)


def compare(variant: str, players: int, opponent: Policy, deals: int) -> str:
    """One line: points a hand of bot and opponent, their difference, moons and microseconds a decision."""
    bot, other = Clock(rules_policy), Clock(opponent)
    cycle = ruleset_of({"variant": variant, "players": players}).pass_cycle
    ours: list[float] = []
    theirs: list[float] = []
    moons = [0, 0]
    for deal in range(deals):
        changes = {"hand_limit": 1, "pass_cycle": [cycle[deal % len(cycle)]]}
        rules = ruleset_of({"variant": variant, "players": players, **changes})
        mine: list[float] = []
        rest: list[float] = []
        for odd in range(players):
            for lone in (True, False):
                is_bot = [(seat == odd) is lone for seat in range(players)]
                seats: list[Policy] = [bot if own else other for own in is_bot]
                hand = play_hand(rules, deal.to_bytes(32, "big"), seats)
                pairs = list(zip(hand.points, is_bot, strict=True))
                mine.append(statistics.fmean(points for points, own in pairs if own))
                rest.append(statistics.fmean(points for points, own in pairs if not own))
                if hand.shooter is not None:
                    moons[0 if is_bot[hand.shooter] else 1] += 1
        ours.append(statistics.fmean(mine))
        theirs.append(statistics.fmean(rest))
    gaps = [a - b for a, b in zip(ours, theirs, strict=True)]
    margin = 1.96 * statistics.stdev(gaps) / len(gaps) ** 0.5
    return (
        f"{statistics.fmean(ours):6.2f} {statistics.fmean(theirs):6.2f}   {statistics.fmean(gaps):+6.2f} ± {margin:.2f}"
        f"   moons {moons[0]:>4} : {moons[1]:<4} {1e6 * bot.seconds / bot.decisions:5.0f} µs"
    )


def self_play(players: int, variant: str, hands: int) -> float:
    """Moves a second of tables of rule-based bots alone, views, rules and events included."""
    rules = ruleset_of({"variant": variant, "players": players, "hand_limit": 1})
    bot = Clock(rules_policy)
    seats: list[Policy] = [bot] * players
    start = time.perf_counter()
    for deal in range(hands):
        play_hand(rules, deal.to_bytes(32, "little"), seats)
    return bot.decisions / (time.perf_counter() - start)


def families(wanted: list[str]) -> list[tuple[str, int]]:
    """The published variants and numbers of seats that ``VARIANT[:SEATS]`` texts name; all where there is none."""
    every = [(name, players) for name, variant in VARIANTS.items() for players in variant.seats]
    return [
        (name, players)
        for name, players in every
        if not wanted or name in wanted or f"{name}:{players}" in wanted
    ]


def main() -> None:
    """Print a table for each opponent, then the speed of bots among themselves."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("families", nargs="*", metavar="VARIANT[:SEATS]")
    parser.add_argument(
        "--deals", type=int, default=40, help="deals for each family, at least 2 (default 40)"
    )
    parser.add_argument("--against", default=",".join(OPPONENTS), help="opponents, separated by commas")
    given = parser.parse_args()
    chosen = families(given.families)
    if not chosen:
        parser.error(f"no such family; there are {', '.join(VARIANTS)}")
    unknown = set(given.against.split(",")) - set(OPPONENTS)
    if unknown or given.deals < 2:
        parser.error(f"--against takes {', '.join(OPPONENTS)}, and --deals at least 2")
    for name in given.against.split(","):
        print(
            f"\nrules against {name}, points a hand: rules, {name}, difference; moons shot; time a decision"
        )
        for variant, players in chosen:
            print(
                f"  {variant:<13}{players:>2}  {compare(variant, players, OPPONENTS[name], given.deals)}",
                flush=True,
            )
    print("\nrules alone, moves a second with views, rules and events")
    for variant, players in chosen:
        print(f"  {variant:<13}{players:>2}  {self_play(players, variant, 20):8,.0f}", flush=True)


if __name__ == "__main__":
    main()
