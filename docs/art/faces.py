"""Number cards and aces: the corner indices, the letters drawn as strokes, the pips where players look for them."""

from __future__ import annotations

import math
from typing import Final

from motifs import star
from pen import GOLD, HEIGHT, OWN, PAPER, SIGNS, SUITS, TURN, group, line, path, tag, use

# Each rank in a box 36 wide and 48 high, drawn with a broad pen.
LETTERS: Final = {
    "2": "M5 15C5-1 32-1 32 14C32 25 8 33 5 44H34",
    "3": "M5 4H31L17 19C29 18 33 26 33 32C33 40 27 45 19 45C12 45 7 42 4 37",
    "4": "M26 48V5L4 34H36",
    "5": "M31 4H9L7 22C10 19 14 18 18 18C27 18 33 23 33 31C33 40 27 45 18 45C12 45 7 42 4 38",
    "6": "M28 3C14 8 5 19 5 31C5 39 11 44.500 19 44.500C27 44.500 33 39 33 31.500C33 24 27 19 19 19C12 19 7 23 5 29",
    "7": "M3 4H33C23 17 16 31 15 48",
    "8": "M18 21C11 21 6 17.500 6 12.500C6 7 11 3.500 18 3.500C25 3.500 30 7 30 12.500C30 17.500 25 21 18 21C9 21 4 26 4 32.500C4 40 10 44.500 18 44.500C26 44.500 32 40 32 32.500C32 26 27 21 18 21Z",
    "9": "M8 45C22 40 31 29 31 17C31 9 25 3.500 17 3.500C9 3.500 3 9 3 16.500C3 24 9 29 17 29C24 29 29 25 31 19",
    "T": "M-1 10L5.500 4.500V48M27.500 3.500C34 3.500 36 13 36 24C36 35 34 44.500 27.500 44.500C21 44.500 19 35 19 24C19 13 21 3.500 27.500 3.500Z",
    "J": "M13 4H33M26 4V32C26 40 22 44.500 15.500 44.500C9 44.500 5 41 4 35",
    "Q": "M18 3.500C27 3.500 33 11 33 23C33 36 27 43 18 43C9 43 3 36 3 23C3 11 9 3.500 18 3.500ZM17 31L35 49",
    "K": "M7 0V48M33 1L8 30M16 21L34 48M1 2.500H13M1 45.500H13",
    "A": "M4 47L18 3L32 47M9 31H27M-2 45.500H11M25 45.500H38",
}
SMALL: Final = 0.8
"""The suit sign under the letter, against a pip."""

_LEFT, _MIDDLE, _RIGHT = 83, 125, 167
_TOP, _FOOT, _CENTRE = 60, 290, 175
_THIRD = (_FOOT - _TOP) / 3

# How high the pairs of pips of a rank stand beside the four in the corners, and its single ones.
_INNER: Final = (_TOP + _THIRD, _FOOT - _THIRD)
_SINGLE: Final = (117.5, 232.5)
PIPS: Final[dict[str, tuple[tuple[float, ...], tuple[float, ...]]]] = {
    "2": ((), (_TOP, _FOOT)),
    "3": ((), (_TOP, _CENTRE, _FOOT)),
    "4": ((), ()),
    "5": ((), (_CENTRE,)),
    "6": ((_CENTRE,), ()),
    "7": ((_CENTRE,), (117.5,)),
    "8": ((_CENTRE,), _SINGLE),
    "9": (_INNER, (_CENTRE,)),
    "T": (_INNER, (_TOP + _THIRD / 2, _FOOT - _THIRD / 2)),
}


def shared() -> list[str]:
    """What cards are made of: the sheet, the letters and suit signs in both corners, pips, and pips by two and four."""
    sheet = tag(
        "rect", id="sheet", x=1.5, y=1.5, width=247, height=347, rx=17,
        fill=PAPER, stroke="var(--edge,#c9bfa6)", stroke_width=1.5,
    )  # fmt: skip
    parts = [sheet]
    for rank, d in LETTERS.items():
        letter = line(d, OWN, 8, id=f"l{rank}", transform="translate(10 15)", stroke_linejoin="round")
        parts.append(group([letter, use(f"l{rank}", transform=TURN)], id=f"r{rank}"))
    for suit, d in SIGNS.items():
        sign = path(d, id=f"s{suit}", transform="scale(1.1)")
        corner = use(f"s{suit}", 28, 91, SMALL, id=f"c{suit}")
        pair = group([use(f"s{suit}", _LEFT), use(f"s{suit}", _RIGHT)], id=f"p{suit}")
        top = use(f"s{suit}", _LEFT, _TOP) + use(f"s{suit}", _RIGHT, _TOP)
        corners = group([corner, use(f"c{suit}", transform=TURN)], id=f"i{suit}")
        four = group([top, group([top], transform=TURN)], id=f"q{suit}")
        parts += [sign, corners, pair, four]
    return parts


def card(rank: str, suit: str, face: str) -> str:
    """A card with its indices."""
    inner = use("sheet") + use(f"r{rank}") + use(f"i{suit}") + face
    return tag("symbol", inner, id=rank + suit, viewBox="0 0 250 350", fill=OWN, color=SUITS[suit])


def number(rank: str, suit: str) -> str:
    """A card from 2 to 10."""
    halves = ["", ""]
    for name, x, heights in ((f"p{suit}", 0, PIPS[rank][0]), (f"s{suit}", _MIDDLE, PIPS[rank][1])):
        for y in heights:
            halves[y > _CENTRE] += use(name, x, y if y <= _CENTRE else HEIGHT - y)
    upper, lower = halves
    four = use(f"q{suit}") if rank in "456789T" else ""
    return card(rank, suit, four + upper + (group([lower], transform=TURN) if lower else ""))


def ace(suit: str) -> str:
    """One great sign, cut like a wood block."""
    return card("A", suit, _SPADE_ACE if suit == "S" else _plain_ace(suit))


def _plain_ace(suit: str) -> str:
    sign = use(f"s{suit}", 125, 175, 3.2)
    inner = use(f"s{suit}", 125, 175, 2.5, fill="none", stroke=PAPER, stroke_width=1)
    heart = use(f"s{suit}", 125, 175, 0.7, fill=GOLD)
    return sign + inner + heart


def _spade_ace() -> str:
    """The ace of spades: the night that a moon is shot in, with a ring of thirteen stars."""
    sign = use("sS", 125, 172, 3.7)
    inner = use("sS", 125, 172, 3.2, fill="none", stroke=PAPER, stroke_width=0.8)
    moon = tag("path", fill=GOLD, d="M131 152A29 29 0 1 0 152 199A24 24 0 0 1 131 152z")
    ring = "".join(
        star(5)(125 + 45 * math.sin(turn), 180 - 45 * math.cos(turn))
        for turn in (math.radians(21 * (place - 6)) for place in range(13))
    )
    return sign + inner + moon + path(ring, PAPER)


_SPADE_ACE = _spade_ace()
