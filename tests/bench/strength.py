"""How strong the bots are: duplicate deals in the arena, against peers.

``python tests/bench/strength.py [--deals N] [--bot BOT] [--against BOT,...] [VARIANT[:SEATS] ...]``. Each deal is played in
every seating in which both sides have equally many seats (`docs/bots.md`); figures are the bot's advantage in points a
hand, with the 95 % interval over deals, and CPU time a move. ``{N}`` in ``--against`` is the bot's own budget: a playout
costs the flat peer as much as the bot.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from domain.variants import VARIANTS, ruleset_of  # noqa: E402
from tests.bench import contest  # noqa: E402, F401 - it makes the peers known to the arena
from workers.arena.bots import read_entrant  # noqa: E402
from workers.arena.figures import Tally  # noqa: E402
from workers.arena.local import play_deals  # noqa: E402
from workers.arena.match import plan_of  # noqa: E402
from workers.arena.report import BotReport, report_of  # noqa: E402

BOT = "search:3000"
"""At a table of four 99 of 100 decisions take less than 5 ms of CPU."""
AGAINST = "rules,peer:uct,peer:flat:{N}"
SEED = 1


def match(variant: str, players: int, bots: list[str], deals: int, seed: int) -> str:
    """One line: the advantage of the first bot, moons, and the time that both take."""
    rules = ruleset_of({"variant": variant, "players": players})
    plan = plan_of(rules, [read_entrant(text) for text in bots], seed)
    tally = Tally(len(bots))
    for dealt in play_deals(plan, deals, jobs=1):
        tally.add(dealt)
    report = report_of(plan, tally, deals)
    ours, theirs = report.bots
    lead = report.pairs[0].points
    failed = sum(bot.illegal + bot.unanswered for bot in report.bots)
    return (
        f"{-lead.mean:+6.2f} ± {lead.half_width or 0.0:.2f}   moons {ours.moons:>4} : {theirs.moons:<4}"
        f"   {_times(ours)}   peer {_times(theirs)}" + (f"   {failed} decisions failed" if failed else "")
    )


def _times(bot: BotReport) -> str:
    return f"{bot.cpu_ms.mean or 0.0:5.2f} ms a move, p99 {bot.cpu_ms.p99 or 0.0:5.2f}"


def families(wanted: list[str]) -> list[tuple[str, int]]:
    """The published variants and numbers of seats that ``VARIANT[:SEATS]`` texts name; basic where there is none."""
    every = [(name, players) for name, variant in VARIANTS.items() for players in variant.seats]
    return [one for one in every if {one[0], f"{one[0]}:{one[1]}"} & set(wanted or ["basic"])]


def bench_strength(
    chosen: list[tuple[str, int]] | None = None,
    bot: str = BOT,
    against: str = AGAINST,
    deals: int = 60,
    seed: int = SEED,
) -> None:
    """Print a line a family and peer."""
    print(
        f"\nStrength: points a hand that {bot} is ahead, over {deals} duplicate deals   (aims: 2, 3 and 0.5)"
    )
    playouts = bot.partition(":")[2]
    for variant, players in chosen or families([]):
        for peer in against.replace("{N}", playouts).split(","):
            line = match(variant, players, [bot, peer], deals, seed)
            print(f"  {variant:<13}{players:>2}  against {peer:<16} {line}", flush=True)


def main() -> None:
    """Read the command line, and play."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("families", nargs="*", metavar="VARIANT[:SEATS]")
    parser.add_argument(
        "--deals", type=int, default=60, help="deals for each family, at least 2 (default 60)"
    )
    parser.add_argument("--bot", default=BOT, help=f"as the arena names it (default {BOT})")
    parser.add_argument(
        "--against", default=AGAINST, help=f"opponents, separated by commas (default {AGAINST})"
    )
    parser.add_argument(
        "--seed", type=int, default=SEED, help="which deals; others are drawn with another one"
    )
    given = parser.parse_args()
    chosen = families(given.families)
    if not chosen or given.deals < 2:
        parser.error(f"no such family, or fewer than 2 deals; there are {', '.join(VARIANTS)}")
    bench_strength(chosen, given.bot, given.against, given.deals, given.seed)


if __name__ == "__main__":
    main()
