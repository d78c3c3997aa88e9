"""The pages of the terminal game that stand beside the table: scores, rules in words, the moon, the end, help.

Pure functions like those of `api.playview`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from api.client import Problem, VariantInfo
from api.playview import Look, card_name, who
from api.scene import Outcome, Scene, Scored, printable
from domain.cards import SUITS, Seat, parse_card, parse_cards
from domain.rules import SUIT_NAMES
from domain.ruleset import RuleSet

_WAYS: Final = {1: "left", -1: "right", 2: "across", 0: "none"}
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
    lines = [Text(printable(line), "bold") for line in told]
    if problem.hint:
        lines.append(Text(printable(problem.hint), "default"))
    return lines


def help_page(look: Look) -> RenderableType:
    """What can be typed."""
    queen = "qs, QS or Q♠" if look.signs else "qs or QS"
    rows = (
        ("a card", f"its name ({queen}; 10s or ts) or its number in your hand"),
        ("a pass", "all its cards on one line, as in: as ks 3"),
        ("Enter", "plays the card, where only one may be played"),
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
        grid.add_row(Text(printable(variant.name), "bold"), span, Text(printable(variant.summary)))
    return grid


def rules_page(rules: RuleSet, look: Look, about: VariantInfo | None = None) -> RenderableType:
    """A rule set in sentences, every knob of it, under what the server says of the variant."""
    parts: list[RenderableType] = []
    if about is not None:
        parts.append(Text(f"{printable(about.title)} ({rules.variant})", "bold"))
        parts.append(Text(printable(about.summary)))
    grid = Grid(box=None, padding=(0, 1), pad_edge=False, show_header=False)
    grid.add_column(style="bold", no_wrap=True)
    for name, words in (
        ("Cards", _cards(rules, look)),
        ("Pass", _pass(rules)),
        ("Lead", _lead(rules, look)),
        ("Trick", _trick(rules, look)),
        ("Points", _values(rules, look)),
        ("Moon", _moon(rules)),
        ("End", _end(rules)),
    ):
        grid.add_row(name, Text(words))
    return Group(*parts, grid)


def _cards(rules: RuleSet, look: Look) -> str:
    removed = parse_cards(rules.removed)
    deck = "two decks" if rules.decks == 2 else "one deck"
    if removed:
        deck += f" less {rule_cards(rules.removed.split(), look)}"
    kitty = rules.decks * 52 - len(removed) - rules.players * rules.hand
    extra = f" The other {kitty} go to who takes the {rules.kitty_to} trick." if kitty else ""
    return f"{rules.players} seats, {deck}, {rules.hand} cards each.{extra}"


def _pass(rules: RuleSet) -> str:
    if not rules.pass_count or not any(rules.pass_cycle):
        return "No cards are passed."
    ways = ", ".join(_WAYS[way] for way in rules.pass_cycle)
    return f"{rules.pass_count} cards a hand, by turns: {ways}."


def _lead(rules: RuleSet, look: Look) -> str:
    first = (
        "The lowest club opens the hand." if rules.opener == "forced" else "The dealer's left opens the hand."
    )
    if rules.opening_ban:
        banned = [_one(name, look) for name in rules.opening_ban]
        first += f" Not with {' or '.join(banned)}, if there is another card."
    if not rules.breakers:
        return f"{first} Hearts may be led at any time."
    breakers = " or ".join(_one(name, look) for name in rules.breakers)
    then = f"Hearts are led only once {breakers} has been played, or with nothing else."
    queen = rule_cards(["QS"], look)
    beside = " or a heart" if rules.qs_hearts_lead == "any" else ", which must be led"
    return f"{first} {then} With hearts and {queen} alone it is {queen}{beside}."


def _trick(rules: RuleSet, look: Look) -> str:
    words = "Follow suit if you can; the highest card of the suit led takes the trick."
    if rules.trick1_ban:
        banned = [_one(name, look) for name in rules.trick1_ban]
        words += f" On the first trick nobody throws {' or '.join(banned)}"
        words += ", unless there is nothing else" + (
            " (then the queen)." if rules.trick1_all_banned == "must_qs" else "."
        )
    if rules.cancel:
        words += (
            " Identical cards in a trick cancel each other. A trick without a winner waits for the next taker"
        )
        words += "; two pairs void a trick" if rules.dead_trick == "two_pairs" else ""
        words += f"; the last one is {'the leader' if rules.dead_last == 'leader' else 'nobody'}'s."
    return words


def _one(name: str, look: Look) -> str:
    """One card of a class: ``a heart``, or the card itself."""
    return f"a {rule_cards([name], look)[:-1]}" if name in SUITS else rule_cards([name], look)


def _values(rules: RuleSet, look: Look) -> str:
    parts = [f"{rule_cards([name], look)} {value}" for name, value in rules.points.items()]
    floor = "" if rules.floor is None else f"; no total falls below {rules.floor}"
    return f"{', '.join(parts)}{floor}."


def _moon(rules: RuleSet) -> str:
    x = rules.moon_x
    what = "all cards of positive points" + (" and of negative ones" if rules.moon_needs_bonus else "")
    effect = {
        "none": "",
        "add": f"gives {x} to everybody else",
        "subtract": f"takes {x} off your total",
        "choice": f"lets you choose: {x} to everybody else, or {x} off your total",
        "choice_if_lost": f"gives {x} to everybody else; where you would lose by that, you may take {x} off your total",
        "collect": f"takes {x} from each of the others, off your total and onto theirs",
        "auto": f"gives {x} to everybody else, or takes {x} off your total where you would lose by that",
    }[rules.moon_effect]
    return f"Taking {what} {effect}." if effect else "There is no moon."


def _end(rules: RuleSet) -> str:
    words = f"When somebody has {rules.target} points after a hand, the lowest total wins; "
    words += "a tie is played out." if rules.tie == "continue" else "a tie is shared."
    if rules.perfect_hand:
        words += " A hand without points for another than the leader, who has some, keeps the game going."
    if rules.hand_limit is not None:
        words += f" At most {rules.hand_limit} hands."
    return words


def rule_cards(classes: Iterable[str], look: Look) -> str:
    """Classes of a rule set in words: suits by name, cards as they are shown."""
    names = [
        SUIT_NAMES[SUITS.index(one)] if one in SUITS else card_name(parse_card(one), look) for one in classes
    ]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
