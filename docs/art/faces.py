"""Number cards and aces: the corner indices, the letters drawn as strokes, the pips where players look for them."""

from __future__ import annotations

import math
from typing import Final

from motifs import star
from pen import GOLD, HEIGHT, PAPER, SIGNS, SUITS, TURN, group, line, path, tag, use

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

# How high the pairs of pips of a rank stand, and its single ones.
_CORNERS: Final = (_TOP, _FOOT)
_THREE: Final = (_TOP, _CENTRE, _FOOT)
_FOUR: Final = (_TOP, _TOP + _THIRD, _FOOT - _THIRD, _FOOT)
PIPS: Final[dict[str, tuple[tuple[float, ...], tuple[float, ...]]]] = {
    "2": ((), _CORNERS),
    "3": ((), _THREE),
    "4": (_CORNERS, ()),
    "5": (_CORNERS, (_CENTRE,)),
    "6": (_THREE, ()),
    "7": (_THREE, (117.5,)),
    "8": (_THREE, (117.5, 232.5)),
    "9": (_FOUR, (_CENTRE,)),
    "T": (_FOUR, (_TOP + _THIRD / 2, _FOOT - _THIRD / 2)),
}


def shared() -> list[str]:
    """What cards are made of: the sheet, the letters and the suit signs."""
    sheet = tag(
        "rect", id="sheet", x=1.5, y=1.5, width=247, height=347, rx=17,
        fill=PAPER, stroke="var(--edge,#c9bfa6)", stroke_width=1.5,
    )  # fmt: skip
    letters = [
        line(d, "currentColor", 8, id=f"r{rank}", transform="translate(10 15)", stroke_linejoin="round") for rank, d in LETTERS.items()
    ]
    signs = [path(d, id=f"s{suit}", transform="scale(1.1)") for suit, d in SIGNS.items()]
    corners = [use(f"s{suit}", 28, 91, SMALL, id=f"i{suit}") for suit in SIGNS]
    pairs = [group([use(f"s{suit}", _LEFT), use(f"s{suit}", _RIGHT)], id=f"p{suit}") for suit in SIGNS]
    return [sheet, *letters, *signs, *corners, *pairs]


def index(rank: str, suit: str) -> str:
    """The letter above the suit sign, for the upper left corner."""
    return use(f"r{rank}") + use(f"i{suit}")


def card(rank: str, suit: str, upper: str, lower: str = "") -> str:
    """A card: ``upper`` as it stands and ``lower`` turned by half, each under its index."""
    corner = index(rank, suit)
    inner = use("sheet") + corner + upper + group([corner, lower], transform=TURN)
    return tag("symbol", inner, id=rank + suit, viewBox="0 0 250 350", fill=SUITS[suit], color=SUITS[suit])


def number(rank: str, suit: str) -> str:
    """A card from 2 to 10."""
    halves = ["", ""]
    for name, x, heights in ((f"p{suit}", 0, PIPS[rank][0]), (f"s{suit}", _MIDDLE, PIPS[rank][1])):
        for y in heights:
            halves[y > _CENTRE] += use(name, x, y if y <= _CENTRE else HEIGHT - y)
    return card(rank, suit, *halves)


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
