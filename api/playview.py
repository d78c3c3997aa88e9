"""How a table looks in a terminal: pure functions from a `Scene` to what rich can print.

A card is its rank and the sign of its suit, or the letter where signs are not to be had; colour only repeats what rank,
sign, number and word say already. Four colours that can be read on dark and on light grounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from api.scene import Scene
from domain.cards import NAMES, QS, RANKS, SUIT_OF, SUITS, Card, Mask, Seat, cards_of, iter_suits, parse_card
from domain.rules import SUIT_NAMES
from services.printable import printable

SIGNS: Final = "♣♦♠♥"
COLOURS: Final = ("color(28)", "color(32)", "default", "color(196)")
"""Of clubs, diamonds, spades, hearts: green and blue beside black and red, each at least 3.8 to 1 on black and on white."""
_LABEL: Final = 13
"""Columns of the name of a suit."""
_CELL: Final = 7
"""Columns of a card with its number."""
_BESIDE_NAMES: Final = 58
"""Columns of a seat beside its name, the widest that a trick can need."""


@dataclass(frozen=True)
class Look:
    """What a terminal can show: its width and height in characters, and whether it has signs for suits."""

    width: int = 80
    height: int = 24
    signs: bool = True

    @property
    def turn_mark(self) -> str:
        """What stands before the seat whose turn it is."""
        return "▶" if self.signs else ">"

    @property
    def moon_mark(self) -> str:
        """What stands beside the points of who shot the moon."""
        return "☾" if self.signs else "(moon)"


def card_name(card: Card, look: Look) -> str:
    """A card as it is shown: ``10♣``, or ``TC`` without signs."""
    if not look.signs:
        return NAMES[card]
    return RANKS[card % 13].replace("T", "10") + SIGNS[SUIT_OF[card]]


def card_text(card: Card, look: Look, style: str = "bold") -> Text:
    """A card in the colour of its suit; ``style`` is added to it."""
    return Text(card_name(card, look), f"{style} {COLOURS[SUIT_OF[card]]}".strip())


def cards_text(cards: Iterable[Card], look: Look, style: str = "bold") -> Text:
    """Cards beside one another."""
    return Text(" ").join([card_text(card, look, style) for card in cards])


def read_card(word: str) -> Card:
    """The card that a player wrote: either case, ``10`` or ``T``, signs or letters. Raises `Malformed`."""
    for sign, letter in zip(SIGNS, SUITS, strict=True):
        word = word.replace(sign, letter)
    # the second shapes of the signs, and what turns the first ones into coloured pictures
    return parse_card(word.translate(str.maketrans("♧♢♤♡", SUITS, "\ufe0e\ufe0f")))


# --- the hand


def numbered(hand: Mask, allowed: Iterable[Card]) -> list[Card]:
    """The cards of ``hand`` that may be chosen, in the order in which they are numbered from 1, copies apart."""
    allowed = frozenset(allowed)
    return [card for card in cards_of(hand) if card in allowed]


def hand_view(
    hand: Mask, look: Look, choices: Sequence[Card] | None = None, fresh: Mask = 0
) -> RenderableType:
    """A hand by suits. With ``choices`` these are numbered and the others dim; ``fresh`` cards are underlined."""
    lines: list[Text] = []
    number = 0
    new = cards_of(fresh)
    for suit, cards in iter_suits(hand):
        cells: list[Text] = []
        for card in cards:
            choice = choices is not None and card in choices
            number += choice
            name = card_text(card, look)
            if choices is not None and not choice:
                name = Text(
                    name.plain, "dim"
                )  # grey: a dim colour is hard to read, and looks like a bright one
            if card in new:
                name.stylize("underline")
                new.remove(card)
            cells.append(_cell(number if choice else None, name))
        lines += _suit_lines(suit, cells, look)
    return Group(*lines)


def _cell(number: int | None, card: Text) -> Text:
    cell = Text.assemble(f"{number or '':>2} ", card)
    cell.append(" " * max(1, _CELL - cell.cell_len))
    return cell


def _suit_lines(suit: int, cells: list[Text], look: Look) -> list[Text]:
    """The cards of a suit behind its name, on as many lines as they need."""
    name = f" {SIGNS[suit]} {SUIT_NAMES[suit]}" if look.signs else f" {SUITS[suit]} {SUIT_NAMES[suit]}"
    if not cells:
        return [Text(f"{name.ljust(_LABEL)}   -", "dim")]
    room = max(1, (look.width - _LABEL) // _CELL)
    rows = [cells[at : at + room] for at in range(0, len(cells), room)]
    label = (name.ljust(_LABEL), COLOURS[suit])
    return [Text.assemble(" " * _LABEL if at else label, *row) for at, row in enumerate(rows)]


# --- the table


def title_line(scene: Scene, look: Look, title: str = "") -> Text:
    """Which game this is and how far it has got, on one line."""
    rules = scene.terms.rules
    tally = scene.tally
    right = "waiting for the deal"
    if tally.number:
        trick = min(len(tally.history) + 1, scene.terms.hand)
        right = f"hand {tally.number}, " + (
            "passing" if scene.passing else f"trick {trick} of {scene.terms.hand}"
        )
    left = [Text(f" {title or printable(rules.variant).capitalize()}", "bold")]
    left += [
        left[0] + Text(more, "not bold")
        for more in (f", to {rules.target}", f", {rules.players} seats, to {rules.target}")
    ]
    # what does not fit beside the right half is left out, and the title itself cut, not how far the game has got
    room = max(1, look.width - cell_len(right) - 3)
    line = next((text for text in reversed(left) if text.cell_len <= room), left[0])
    line.truncate(room, overflow="ellipsis")
    line.append(" " * max(2, look.width - line.cell_len - len(right) - 1)).append(f"{right} ", "not bold")
    line.stylize("reverse")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def seats_view(scene: Scene, look: Look) -> Grid:
    """Every seat on a line: what it laid, what it has taken, what it stands at."""
    grid = Grid(box=None, padding=(0, 1), header_style="dim", pad_edge=False, collapse_padding=True)
    grid.add_column("", width=1)
    names = max(8, min(20, look.width - _BESIDE_NAMES))
    grid.add_column("seat", min_width=min(12, names), max_width=names, no_wrap=True, overflow="ellipsis")
    grid.add_column("trick", min_width=16, no_wrap=True)
    grid.add_column("last trick", min_width=11, no_wrap=True)
    for name in ("tricks", "hand", "total", "cards"):
        grid.add_column(name, justify="right", no_wrap=True)
    taken = scene.tally.tricks_taken()
    for seat in range(scene.players):
        grid.add_row(
            Text(look.turn_mark if _acts(scene, seat) else "", "bold"),
            _seat_name(scene, seat),
            _laid_text(scene, seat, look),
            _last_text(scene, seat, look),
            str(taken[seat]),
            str(scene.points_so_far(seat)),
            Text(str(scene.totals[seat]), "bold"),
            str(scene.cards_left(seat)),
        )
    return grid


def _acts(scene: Scene, seat: Seat) -> bool:
    """Whether the table waits for ``seat``, as far as the last view of the server says."""
    table = scene.table
    if scene.seq != table.seq:
        return False
    return seat not in scene.passed if table.phase == "pass" else seat == table.turn


def _seat_name(scene: Scene, seat: Seat) -> Text:
    name = Text(scene.names[seat], "bold" if seat == scene.you else "default")
    info = scene.table.seats[seat]
    if seat == scene.you:
        name.append(" (you)", "default")
    elif info.kind == "bot" or info.away:
        name.append(" (bot)", "dim")
    return name


def _laid_text(scene: Scene, seat: Seat, look: Look) -> Text:
    trick = scene.trick
    if seat not in trick:
        passing = scene.passing
        return Text(
            "has passed" if passing and seat in scene.passed else "choosing" if passing else "", "dim"
        )
    card, cards = trick[seat], [*trick.values()]
    says = {
        "led": seat == scene.tally.leader,
        "high": seat == scene.winning(),
        "cancelled": scene.terms.rules.cancel and cards.count(card) > 1,
    }
    words = [word for word, said in says.items() if said]
    return Text.assemble(card_text(card, look), f" {', '.join(words)}" if words else "")


def _last_text(scene: Scene, seat: Seat, look: Look) -> Text:
    last = scene.last_trick
    if last is None:
        return Text("")
    return Text.assemble(card_text(scene.last_laid()[seat], look, ""), " took" if seat == last[2] else "")


def news_line(scene: Scene, look: Look) -> Text:
    """Whether hearts are broken, where the queen of spades is, and what lies waiting."""
    rules, tally = scene.terms.rules, scene.tally
    if not tally.number or scene.passing:
        return Text("")
    says = []
    if rules.breakers:
        says.append("hearts are broken" if tally.broken else "hearts are not broken")
    if QS in scene.terms.deck:
        says.append(_queens(scene, look))
    if tally.pile:
        says.append(f"{len(tally.pile)} cards of dead tricks wait for the next taker")
    if scene.terms.kitty and len(tally.history) < (1 if rules.kitty_to == "first" else scene.terms.hand):
        says.append(f"{rules.kitty_to} trick takes the kitty of {scene.terms.kitty}")
    line = "; ".join(says)
    return Text(" " + line[:1].upper() + line[1:])


def _queens(scene: Scene, look: Look) -> str:
    name, seen = card_name(QS, look), scene.seen(QS)
    if not seen:
        return f"{name} not seen yet"
    takers = [who(scene, taker) for taker in seen if taker is not None]
    words = [f"{' and '.join(dict.fromkeys(takers))} took {name}"] if takers else []
    if len(seen) > len(takers):
        words.append(f"{name} is on the table")
    if scene.terms.rules.decks == 2:
        words.append(f"{len(seen)} of 2 seen")
    return ", ".join(words)


def frame(
    scene: Scene,
    look: Look,
    *,
    title: str = "",
    notes: Sequence[Text] = (),
    choices: Sequence[Card] | None = None,
    prompt: Text | None = None,
) -> Group:
    """The whole screen: the table, what happened last, one's hand, and what is asked."""
    parts: list[RenderableType] = [
        title_line(scene, look, title),
        seats_view(scene, look),
        news_line(scene, look),
    ]
    hand = hand_view(scene.own, look, choices, scene.received if not scene.tally.history else 0)
    asked = [] if prompt is None else _wrapped(prompt, look.width - 1)
    # what is left of the height goes to the notes, the latest last
    used = 4 + scene.players + _height(hand) + max(1, len(asked)) + 1
    room = max(1, min(6, look.height - used))
    shown = [line for note in notes for line in _wrapped(note, look.width - 1)][-room:]
    if look.height > used + room:
        parts.append(Text(""))
    parts += [_indented(note) for note in shown]
    parts += [Text("")] * (room - len(shown))
    parts.append(hand)
    parts += [_indented(line) for line in asked]
    return Group(*parts)


def _height(hand: RenderableType) -> int:
    return len(hand.renderables) if isinstance(hand, Group) else 1


def _wrapped(note: Text, width: int) -> list[Text]:
    """A note on as many lines as it needs, broken between words."""
    lines, rest = [], note
    while rest.cell_len > width:
        words = rest.plain.split(" ")
        fits = [at for at in range(1, len(words)) if cell_len(" ".join(words[:at])) <= width]
        if not fits:
            break
        cut = len(" ".join(words[: fits[-1]]))
        lines.append(rest[:cut])
        rest = rest[cut + 1 :]
    return [*lines, rest]


def _indented(note: Text) -> Text:
    line = Text(" ") + note
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def who(scene: Scene, seat: Seat | None) -> str:
    """What a seat is called in a sentence."""
    if seat is None:
        return "nobody"
    return "you" if seat == scene.you else scene.names[seat]
