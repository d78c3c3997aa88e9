"""The pages of the terminal game that stand beside the table: scores, rules in words, the moon, the end, help.

Pure functions like those of `api.playview`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from api.client import Problem, VariantInfo
from api.playview import Look, who
from api.scene import Outcome, Scene, Scored
from domain.cards import Seat
from domain.ruleset import RuleSet
from services.printable import printable, printable_line
from services.rules_cards import without_signs
from services.rules_text import tell_rules, tell_title

_SHEET_ROWS: Final = 8
"""Lines of a score sheet besides its hands."""


# --- scores


def score_sheet(scene: Scene, look: Look) -> RenderableType:
    """Points by hand and seat with their totals, the latest hands where not all fit; moons are marked."""
    grid = Grid(box=None, padding=(0, 1), pad_edge=False, collapse_padding=True, show_footer=True)
    grid.add_column("hand", "total", justify="right", no_wrap=True)
    room = max(3, (look.width - 7) // scene.players - 1)
    best = min(scene.totals)
    for seat in range(scene.players):
        name = scene.names[seat] if len(scene.names[seat]) <= room else scene.names[seat][: room - 1] + "."
        total = str(scene.totals[seat])
        style = "bold reverse" if scene.totals[seat] == best and scene.scored else "bold"
        heading = Text(name, "bold underline" if seat == scene.you else "bold")
        grid.add_column(heading, Text(total, style), justify="right", no_wrap=True, min_width=min(5, room))
    fit = max(1, look.height - _SHEET_ROWS)
    for scored in scene.scored[-fit:]:
        grid.add_row(str(scored.hand), *(_points(scored, seat, look) for seat in range(scene.players)))
    parts: list[RenderableType] = [grid]
    if len(scene.scored) > fit:
        parts.insert(0, Text(f"the last {fit} of {len(scene.scored)} hands", "dim"))
    if any(scored.shooter is not None for scored in scene.scored):
        parts.append(Text(f"{look.moon_mark} shot the moon", "dim"))
    return Group(*parts)


def _points(scored: Scored, seat: Seat, look: Look) -> Text:
    points = str(scored.points[seat])
    return Text(f"{look.moon_mark} {points}", "bold") if seat == scored.shooter else Text(points)


def hand_result(scene: Scene) -> Text:
    """The hand just scored in a sentence."""
    scored = scene.scored[-1]
    if scored.shooter is not None:
        name = who(scene, scored.shooter)
        return Text(f"{name[:1].upper()}{name[1:]} shot the moon in hand {scored.hand}!", "bold")
    best, worst = min(scored.points), max(scored.points)
    clean = [who(scene, seat) for seat, points in enumerate(scored.points) if points == best]
    hit = [who(scene, seat) for seat, points in enumerate(scored.points) if points == worst]
    return Text(f"Hand {scored.hand}: {worst} to {listed(hit)}, {best} to {listed(clean)}.", "bold")


# --- the moon


def moon_page(scene: Scene, look: Look, add: Outcome, subtract: Outcome) -> RenderableType:
    """Both effects of the moon side by side: what every seat would stand at, and whether the game would end."""
    x = scene.terms.rules.moon_x
    grid = Grid(box=None, padding=(0, 2), pad_edge=False, collapse_padding=True)
    grid.add_column("", no_wrap=True)
    grid.add_column("now", justify="right")
    grid.add_column("1 add", justify="right")
    grid.add_column("2 subtract", justify="right")
    for seat in range(scene.players):
        style = "bold" if seat == scene.you else ""
        row = (scene.names[seat], *(str(n[seat]) for n in (scene.totals, add.totals, subtract.totals)))
        grid.add_row(*(Text(cell, style) for cell in row))
    lines = [
        Text(f"{look.moon_mark} You shot the moon!", "bold"),
        Text(f"1 add: {x} to everybody else; then {_then(scene, add)}."),
        Text(f"2 subtract: {x} from your own total; then {_then(scene, subtract)}."),
    ]
    if scene.terms.kitty and scene.terms.bonus_cards > sum(scene.tally.bonus_taken):
        lines.append(Text("Cards of negative points that lie in the kitty are not counted here.", "dim"))
    return Group(lines[0], grid, *lines[1:])


def _then(scene: Scene, outcome: Outcome) -> str:
    if outcome.end is None:
        return "the game goes on"
    winners = [who(scene, seat) for seat in outcome.end.winners]
    return f"the game is over and {listed(winners)} {'win' if winners[1:] or winners == ['you'] else 'wins'}"


# --- the end


def end_page(scene: Scene, look: Look) -> RenderableType:
    """Who won, and where everybody stands."""
    winners = scene.table.winners
    if not winners:
        headline = Text("The game was abandoned; nobody wins.", "bold")
    elif len(winners) == 1:
        name = who(scene, winners[0])
        verb = "win" if name == "you" else "wins"
        headline = Text(
            f"{name[:1].upper()}{name[1:]} {verb} with {scene.totals[winners[0]]} points.", "bold"
        )
    else:
        names = listed([who(scene, seat) for seat in winners])
        headline = Text(
            f"{names[:1].upper()}{names[1:]} share the win with {scene.totals[winners[0]]} points.", "bold"
        )
    if scene.table.reason == "limit":
        headline.append(" No more hands can be dealt.", "default")
    order = sorted(range(scene.players), key=lambda seat: (scene.totals[seat], seat))
    grid = Grid(box=None, padding=(0, 1), pad_edge=False, collapse_padding=True, show_header=False)
    for seat in order:
        place = 1 + sum(total < scene.totals[seat] for total in scene.totals)
        style = "bold" if seat in winners else ""
        cells = (
            f"{place}.",
            scene.names[seat] + (" (you)" if seat == scene.you else ""),
            str(scene.totals[seat]),
        )
        grid.add_row(
            *(Text(cell, style, justify="right" if at == 2 else "left") for at, cell in enumerate(cells))
        )
    return Group(headline, Text(""), grid, Text(""), score_sheet(scene, look))


# --- words


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: ``Bo, Cleo and you``."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def problem_text(problem: Problem) -> list[Text]:
    """A refusal in the server's words: what is wrong, and what would be accepted."""
    told = problem.errors if len(problem.errors) > 1 else [problem.detail]
    lines = [Text(printable_line(line), "bold") for line in told]
    if problem.hint:
        lines.append(Text(printable_line(problem.hint), "default"))
    return lines


def help_page(look: Look) -> RenderableType:
    """What can be typed."""
    queen = "qs, QS or Q♠" if look.signs else "qs or QS"
    rows = (
        ("a card", f"its name ({queen}; 10s or ts) or its number in your hand"),
        ("a pass", "all its cards on one line, as in: as ks 3"),
        ("Enter", "plays the card, where only one may be played"),
        ("claim", "take every trick that is left, where your cards show that you do"),
        ("score", "the score sheet"),
        ("last", "the last trick, card by card"),
        ("hand", "the table and your hand again"),
        ("rules", "the rules of this table"),
        ("quit or q", "leave; the game stays on the server, and you are told how to come back"),
    )
    grid = Grid(box=None, padding=(0, 1), pad_edge=False, show_header=False)
    grid.add_column(style="bold", no_wrap=True, min_width=9)
    for name, words in rows:
        grid.add_row(name, words)
    notes = "Numbered cards may be played, dim ones may not. House bots are given names at this table."
    return Group(Text("What you can type", "bold"), grid, Text(""), Text(notes, "dim"))


def variants_page(variants: Sequence[VariantInfo]) -> RenderableType:
    """The published variants with what sets each apart."""
    grid = Grid(box=None, padding=(0, 1), pad_edge=False, collapse_padding=True)
    for name in ("variant", "seats", "what sets it apart"):
        grid.add_column(name)
    for variant in variants:
        seats = variant.players
        span = f"{min(seats)}-{max(seats)}" if len(seats) > 1 else "".join(map(str, seats))
        grid.add_row(Text(printable(variant.name), "bold"), span, Text(printable_line(variant.summary)))
    return grid


def rules_page(rules: RuleSet, look: Look) -> RenderableType:
    """A rule set in sentences, every knob of it."""
    grid = Grid(box=None, padding=(0, 1), pad_edge=False, show_header=False)
    grid.add_column(style="bold", max_width=12)
    for heading, sentences in tell_rules(rules):
        words = " ".join(sentences)
        grid.add_row(heading, Text(words if look.signs else without_signs(words)))
    return Group(Text(tell_title(rules), "bold"), grid)
