"""The results of an arena: as JSON, and as a table for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import msgspec

from domain.record import short_rules
from workers.arena.bots import is_outside
from workers.arena.figures import Figure, Tally, percentile_ms
from workers.arena.kept import VERSION, arena_id
from workers.arena.match import Plan
from workers.arena.seatings import letter

FORMAT: Final = "hearts-arena/1"


class Times(msgspec.Struct, frozen=True):
    """Time of a move, ms; none where nothing was answered."""

    mean: float | None
    p99: float | None
    """What 99 of 100 moves took at most, to 2.2 %."""
    of: Literal["cpu", "clock"] = "cpu"
    """CPU time of the process that decides; of a program or plug-in, which may have several, time on the clock."""


class BotReport(msgspec.Struct, frozen=True):
    """What came of one bot."""

    slot: str
    """Its letter in seatings."""
    bot: str
    """As it was entered, its budget included."""
    version: str
    points: Figure
    """A hand; fewer are better."""
    against_others: Figure
    """Its points a hand less the mean of the other bots'; below zero it is the better one."""
    won: Figure | None
    """The share of a game that a seat of it won; none where hands were played."""
    won_against_others: Figure | None
    hands: int
    """Hands in its seats."""
    moons: int
    moves: int
    illegal: int
    """Answers that were against the rules; the rule-based bot moved instead."""
    unanswered: int
    """Moves without an answer; likewise."""
    cpu_ms: Times
    lost: dict[str, int] = msgspec.field(default_factory=dict)
    """Decisions that are illegal or unanswered, by kind: ``illegal``, ``late``, ``died`` and so on."""
    first_lost: str | None = None
    """How the first of them was lost: its kind, and what happened; none where there is none."""


class PairReport(msgspec.Struct, frozen=True):
    """The difference of two bots, first less second."""

    slots: tuple[str, str]
    points: Figure
    """A hand; below zero the first is the better one."""
    won: Figure | None


class Report(msgspec.Struct, frozen=True):
    """The results of an arena."""

    format: Literal["hearts-arena/1"]
    id: str
    """The same bots, rules and seed have the same."""
    program: str
    seed: int
    rules: dict[str, Any]
    """As in a record: variant, players, and what differs from the variant."""
    mode: Literal["hands", "games"]
    deals: int
    """Deals played; in ``games`` the games that were dealt, each played in all its seatings."""
    asked: int
    """Deals asked for: more than were played where the intervals were small enough before."""
    matches: int
    bots: list[BotReport]
    pairs: list[PairReport]
    each: list[tuple[int, int, list[int], list[int]]]
    """Of each deal its number, its matches, and points and hands by bot."""


def report_of(plan: Plan, tally: Tally, asked: int) -> Report:
    """The results so far; of one deal at least."""
    slots = [letter(bot) for bot in range(len(plan.bots))]
    return Report(
        format=FORMAT,
        id=arena_id(plan),
        program=VERSION,
        seed=plan.seed,
        rules=short_rules(plan.rules),
        mode="games" if plan.games else "hands",
        deals=tally.deals,
        asked=asked,
        matches=tally.matches,
        bots=[_bot(plan, tally, bot) for bot in range(len(slots))],
        pairs=[
            PairReport(
                slots=(slots[one], slots[other]),
                points=sample.figure,
                won=tally.won.pairs[one, other].figure if plan.games else None,
            )
            for (one, other), sample in tally.points.pairs.items()
        ],
        each=tally.each,
    )


def _bot(plan: Plan, tally: Tally, bot: int) -> BotReport:
    total = tally.sums[bot]
    answered = sum(total.times.values())
    return BotReport(
        slot=letter(bot),
        bot=plan.bots[bot],
        version=plan.versions[bot],
        points=tally.points.own[bot].figure,
        against_others=tally.points.rest[bot].figure,
        won=tally.won.own[bot].figure if plan.games else None,
        won_against_others=tally.won.rest[bot].figure if plan.games else None,
        hands=total.hands,
        moons=total.moons,
        moves=total.moves,
        illegal=total.illegal,
        unanswered=total.unanswered,
        cpu_ms=Times(
            mean=total.cpu_ns / answered / 1e6 if answered else None,
            p99=percentile_ms(total.times, 0.99),
            of="clock" if is_outside(plan.bots[bot]) else "cpu",
        ),
        lost=total.lost,
        first_lost=total.first_lost or None,
    )


# --- for people


def label(bot: BotReport) -> str:
    """A bot as tables and pictures call it."""
    return f"{bot.slot} {bot.bot}"


def table_lines(report: Report) -> Iterator[str]:
    """The results as lines of text."""
    yield heading(report)
    yield ""
    games = report.mode == "games"
    head = ["bot", "points a hand", "less others' mean"]
    head += ["games won", "less others'"] if games else []
    head += ["moons", "ms a move", "p99", "illegal", "no answer"]
    yield from _columns([head, *(_row(one, games) for one in report.bots)])
    if len(report.bots) > 2:
        yield ""
        names = {one.slot: label(one) for one in report.bots}
        yield from _columns(
            [
                [f"{names[one.slots[0]]} less {names[one.slots[1]]}", signed(one.points), *_won(one.won)]
                for one in report.pairs
            ]
        )
    yield ""
    yield f"Fewer points are better. Behind ± the 95 % interval over deals; {_times(report.bots)}."
    for bot in report.bots:
        if bot.first_lost is not None:
            yield lost_line(label(bot), bot.lost, bot.first_lost)


def lost_line(name: str, lost: Mapping[str, int], first: str) -> str:
    """How many decisions a bot has lost to the rule-based bot, of which kinds, and how the first one."""
    count = sum(lost.values())
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in sorted(lost.items()))
    return f"{name} lost {count:,} decision{'' if count == 1 else 's'}: {kinds}; the first one: {first}"


def heading(report: Report) -> str:
    """What was played, in a line."""
    rules, what = report.rules, "games" if report.mode == "games" else "hands"
    stopped = f" of {report.asked:,}" if report.deals < report.asked else ""
    return (
        f"{report.deals:,}{stopped} deals of {rules['variant']} for {rules['players']}, {report.matches:,} {what}; "
        f"seed {report.seed}, arena {report.id}"
    )


def _row(bot: BotReport, games: bool) -> list[str]:
    cells = [label(bot), plain(bot.points), signed(bot.against_others)]
    if games:
        cells += [*_won(bot.won), *(_won(bot.won_against_others))]
    cells += [f"{bot.moons:,}", _ms(bot.cpu_ms.mean), _ms(bot.cpu_ms.p99)]
    return [*cells, f"{bot.illegal:,}", f"{bot.unanswered:,}"]


def _times(bots: Sequence[BotReport]) -> str:
    """What is measured as the time of a move."""
    clocked = [label(one) for one in bots if one.cpu_ms.of == "clock"]
    if not clocked:
        return "times are CPU time"
    of_some = "times" if len(clocked) == len(bots) else f"times are CPU time, those of {', '.join(clocked)}"
    return f"{of_some} are from question to answer on the clock"


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _won(figure: Figure | None) -> list[str]:
    if figure is None:
        return []
    wide = "" if figure.half_width is None else f" ± {100 * figure.half_width:.1f}"
    return [f"{100 * figure.mean:.1f}{wide} %".replace("-", "\N{MINUS SIGN}")]


def plain(figure: Figure) -> str:
    """A mean with its interval."""
    return f"{figure.mean:.2f}{_wide(figure)}"


def signed(figure: Figure) -> str:
    """A difference with its interval."""
    mean = round(figure.mean, 2) + 0.0  # no minus before a zero
    return f"{mean:+.2f}{_wide(figure)}".replace("-", "\N{MINUS SIGN}")


def _wide(figure: Figure) -> str:
    return "" if figure.half_width is None else f" ± {figure.half_width:.2f}"


def _columns(rows: list[list[str]]) -> Iterator[str]:
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    for row in rows:
        cells = [
            row[0].ljust(widths[0]),
            *(cell.rjust(wide) for cell, wide in zip(row[1:], widths[1:], strict=True)),
        ]
        yield "  ".join(cells).rstrip()
