"""What so many tables at a time would take: a model from measured costs, and a simulation of how long a person waits.

``docs/scale.md`` holds the costs that were measured last and what the model makes of them.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Sequence
from statistics import quantiles
from typing import Final, NamedTuple

TABLES: Final = (1_000, 10_000, 100_000, 1_000_000)
BUSY: Final = 0.6
"""The part of a core, of a disk, of memory that is planned for; the rest is for what comes at the same time."""
LINES: Final = 0.25
"""The part of an API process that may go into hearing of tables at which nobody listens there."""
CALLS: Final = 100_000
"""Commands that are simulated."""


class Costs(NamedTuple):
    """What was measured, each for one of its kind; the CPU of one core in microseconds unless the name says otherwise."""

    command: float
    """An API process, for a move over HTTP."""
    told: float
    """An API process, for an event to one listener."""
    elsewhere: float
    """An API process, for an append to a game at which nobody listens there."""
    append: float
    """The store's server, for an append of a person's move."""
    bot_move: float
    """A bot worker, for a move of a bot of rules."""
    bot_store: float
    """The store's server, for such a move."""
    sweep: float
    """The one process that watches what is due, for an append."""
    folded: float
    """A projector, for an event, what it writes included."""
    folded_store: float
    """The store's server, for that."""
    live_kb: float
    """KB of the store's memory, for a table in play."""
    listener_kb: float
    """KB of an API process, for a listener."""
    append_bytes: float
    """What an append adds to the append-only file."""
    sync_ms: float
    """A write to disk, ms."""


class Play(NamedTuple):
    """How it is played."""

    think_s: float = 4.0
    """For so long a person thinks about a card."""
    bot_s: float = 0.7
    """For so long a bot seems to."""
    persons: int = 1
    """At each table, the other seats being bots."""
    seats: int = 4
    listeners: float = 1.2
    """At each table: some have a second tab, or watch."""

    @property
    def trick_s(self) -> float:
        """Seconds for a trick."""
        return self.persons * self.think_s + (self.seats - self.persons) * self.bot_s

    @property
    def moves(self) -> float:
        """Moves of a second at a table, by persons and bots; each is an append of its own."""
        return self.seats / self.trick_s

    @property
    def events(self) -> float:
        """Events of a second at a table: a trick ends after its last card, and a hand has some sixteen besides."""
        return (self.seats + 1 + 16 / 13) / self.trick_s


USUAL: Final = Play()


class Needs(NamedTuple):
    """What a house needs for so many tables."""

    tables: int
    commands: float
    """A second, by persons."""
    appends: float
    """A second."""
    api: int | None
    """API processes of a core each; none where no number would do, for each of them hears of all appends."""
    store: int
    """Servers of the store, by CPU, memory and disk."""
    bots: int
    """Cores of bot workers."""
    projectors: int
    """Cores of projectors."""
    sweep: float
    """The part of a core that the one sweep is busy for."""
    listeners_gb: float
    """Memory of all API processes for those who listen."""
    memory_gb: float
    """Of all servers of the store."""
    disk_mb: float
    """A second, written by all of them."""


def needs(
    costs: Costs, tables: int, play: Play = USUAL, *, memory_gb: float = 32, disk_mb: float = 200
) -> Needs:
    """What a house of so many tables needs, from servers with so much memory and so fast a disk each."""
    commands = tables * play.persons / play.trick_s
    appends = tables * play.moves
    events = tables * play.events
    told = events * play.listeners * costs.told
    a_process = 1e6 * BUSY - appends * costs.elsewhere
    hears = appends * costs.elsewhere <= 1e6 * LINES
    in_store = commands * costs.append + (appends - commands) * costs.bot_store + events * costs.folded_store
    memory, disk = tables * costs.live_kb / 1e6, appends * costs.append_bytes / 1e6
    return Needs(
        tables=tables,
        commands=commands,
        appends=appends,
        api=_ceil((commands * costs.command + told) / a_process) if hears else None,
        store=max(
            _ceil(in_store / 1e6 / BUSY), _ceil(memory / memory_gb / BUSY), _ceil(disk / disk_mb / BUSY)
        ),
        bots=_ceil((appends - commands) * costs.bot_move / 1e6 / BUSY),
        projectors=_ceil(events * costs.folded / 1e6 / BUSY),
        sweep=appends * costs.sweep / 1e6,
        listeners_gb=tables * play.listeners * costs.listener_kb / 1e6,
        memory_gb=memory,
        disk_mb=disk,
    )


def most_tables(costs: Costs, play: Play = USUAL) -> tuple[int, str]:
    """The most tables that one house can have, however many machines it is given, and what stands in the way."""
    walls = {
        "every API process hears of every append": 1e6 * LINES / costs.elsewhere,
        "one sweep hears of every append": 1e6 * BUSY / costs.sweep,
    }
    wall = min(walls, key=walls.__getitem__)
    return int(walls[wall] / play.moves), wall


def waits_ms(costs: Costs, play: Play, found: Needs, seed: int = 1) -> list[float]:
    """How long some persons wait for the answer to a move, ms; of API processes and servers there are so many as are needed.

    They move at random moments. A process and a server do one thing at a time; a server writes to disk once for all that has
    come, and answers them then. What else each has to do, tell listeners or store for bots, is done in between.

    Raises ValueError where no number of API processes would do.
    """
    if found.api is None:
        raise ValueError("no number of API processes can serve so many tables")
    draw = random.Random(seed)
    telling = play.events * play.listeners * found.tables * costs.told / found.commands
    hearing = found.appends * costs.elsewhere * found.api / found.commands
    served = _in_line(_moments(draw, found.commands / found.api), costs.command, telling + hearing, draw)
    others = found.appends - found.commands
    besides = others * costs.bot_store + play.events * found.tables * costs.folded_store
    free = 1 - besides / found.store / 1e6
    stored = _together(_moments(draw, found.commands / found.store), costs.append / free, costs.sync_ms * 1e3)
    return [(one + other) / 1e3 for one, other in zip(served, stored, strict=True)]


def _moments(draw: random.Random, a_second: float) -> list[float]:
    """Random moments, us, so many a second."""
    moment, found = 0.0, []
    for _ in range(CALLS):
        moment += draw.expovariate(a_second) * 1e6
        found.append(moment)
    return found


def _in_line(moments: Sequence[float], each: float, besides: float, draw: random.Random) -> list[float]:
    """Waits, us, at one who serves one after the other, and after each does other work, for so long on average."""
    waits, free = [], 0.0
    for moment in moments:
        free = max(moment, free) + each
        waits.append(free - moment)
        free += draw.expovariate(1 / besides) if besides else 0
    return waits


def _together(moments: Sequence[float], each: float, sync: float) -> list[float]:
    """Waits, us, at a server that takes all that has come, writes to disk once, and answers them."""
    waits: list[float] = []
    now, at = 0.0, 0
    while at < len(moments):
        now, end = max(now, moments[at]), at
        while end < len(moments) and moments[end] <= now:
            end += 1
        now += (end - at) * each + sync
        waits += [now - moment for moment in moments[at:end]]
        at = end
    return waits


def _ceil(value: float) -> int:
    return max(1, math.ceil(value))


def told_costs(costs: Costs) -> str:
    """The costs as a table in Markdown, which `read_costs` reads."""
    rows = [f"| `{name}` | {value:,.2f} |" for name, value in costs._asdict().items()]
    return "\n".join(["| cost | measured |", "| --- | ---: |", *rows])


def read_costs(text: str) -> Costs:
    """The costs of a text that has that table. Raises KeyError where one is missing."""
    found = dict(re.findall(r"^\| `(\w+)` \| ([\d,.]+) \|$", text, re.MULTILINE))
    return Costs(**{name: float(found[name].replace(",", "")) for name in Costs._fields})


def told_needs(costs: Costs, play: Play = USUAL) -> str:
    """What the model makes of them, as a table in Markdown and a sentence on the wall."""
    columns = [needs(costs, tables, play) for tables in TABLES]
    rows = {
        "persons' moves a second": [f"{one.commands:,.0f}" for one in columns],
        "appends a second": [f"{one.appends:,.0f}" for one in columns],
        "API processes, a core each": [
            "none would do" if one.api is None else f"{one.api:,}" for one in columns
        ],
        "their memory for listeners, GB": [f"{one.listeners_gb:,.1f}" for one in columns],
        "servers of the store": [f"{one.store:,}" for one in columns],
        "their memory, GB": [f"{one.memory_gb:,.1f}" for one in columns],
        "their disks, MB a second": [f"{one.disk_mb:,.1f}" for one in columns],
        "cores of bot workers": [f"{one.bots:,}" for one in columns],
        "cores of projectors": [f"{one.projectors:,}" for one in columns],
        "the sweep, of a core": [f"{one.sweep:.2f}" for one in columns],
        "a move's answer, ms: half, 99 %": [_told_waits(costs, play, one) for one in columns],
    }
    lines = [" | ".join(["| tables at a time", *(f"{tables:,}" for tables in TABLES)]) + " |"]
    lines.append("| --- |" + " ---: |" * len(TABLES))
    lines += [" | ".join([f"| {name}", *cells]) + " |" for name, cells in rows.items()]
    most, wall = most_tables(costs, play)
    houses = _ceil(TABLES[-1] / most)
    lines += [
        "",
        f"One house has {most:,} tables at most: {wall}. So {TABLES[-1]:,} tables are {houses} houses, each of them:",
        "",
    ]
    lines += [f"* {line}" for line in _a_house(needs(costs, math.ceil(TABLES[-1] / houses), play))]
    return "\n".join(lines)


def _a_house(one: Needs) -> Iterable[str]:
    yield f"{one.tables:,} tables, {one.commands:,.0f} moves of persons and {one.appends:,.0f} appends a second"
    yield f"{one.api or 0:,} API processes, {one.bots:,} cores of bot workers, {one.projectors:,} of projectors, one sweep"
    yield f"{one.store:,} servers of the store with {one.memory_gb:,.0f} GB and {one.disk_mb:,.0f} MB a second between them"


def _told_waits(costs: Costs, play: Play, one: Needs) -> str:
    if one.api is None:
        return "-"
    cuts = quantiles(waits_ms(costs, play, one), n=100)
    return f"{cuts[49]:.1f}, {cuts[98]:.1f}"
