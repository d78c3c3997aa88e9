"""What every court figure is made of: panel, ground, sash, faces, hands, and patterned cloth.

A figure is drawn once, for the upper right of its panel, about an axis at x = 145; the half turn brings it to the lower left. A sash
on the slope of ``sash_y`` hides where the two meet. The panel leaves its own two corners to the indices.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from pen import GOLD, INK, PAPER, SUITS, Point, both, disc, dot, flattened, group, inside, line, path, use, whole

AXIS: Final = 145
SKIN: Final = {"H": "#f2c7a2", "D": "#dda873", "C": "#9c643d", "S": "#f1e6d8"}
HAIR: Final = {"H": "#8c3b1c", "D": "#2f2320", "C": "#2a1d18", "S": "#8d8f9c"}
RED: Final = "#b23a35"
SILVER: Final = "#c5cad4"

PANEL: Final = (
    "M62 14H226Q236 14 236 24V222Q236 232 226 232H208Q198 232 198 242V326Q198 336 188 336"
    "H24Q14 336 14 326V128Q14 118 24 118H42Q52 118 52 108V24Q52 14 62 14z"
)
SLOPE: Final = 0.32
BREADTH: Final = 10.5
"""Half of the sash, measured upright."""


def sash_y(x: float) -> float:
    """Where the middle of the sash is, in the figure's own coordinates."""
    return 175 + SLOPE * (x + AXIS - 125)


def shade(d: str, amount: float = 0.16) -> str:
    """A shadow of ink on what lies below."""
    return path(d, INK, fill_opacity=f"{amount:.2f}".lstrip("0"), stroke="none")


def light(d: str, amount: float = 0.5) -> str:
    """A tint of paper on what lies below: a suit's lighter colour, whatever the page chose."""
    return path(d, PAPER, fill_opacity=f"{amount:.2f}".lstrip("0"), stroke="none")


Motif = Callable[[float, float], str]


def lozenge(w: float, h: float) -> Motif:
    """A lozenge about a point."""
    return lambda x, y: f"M{x:.2f} {y - h:.2f}L{x + w:.2f} {y:.2f}L{x:.2f} {y + h:.2f}L{x - w:.2f} {y:.2f}z"


def star(r: float, waist: float = 0.24) -> Motif:
    """A star of four rays about a point."""
    k = r * waist
    return lambda x, y: (
        f"M{x:.2f} {y - r:.2f}L{x + k:.2f} {y - k:.2f}L{x + r:.2f} {y:.2f}L{x + k:.2f} {y + k:.2f}"
        f"L{x:.2f} {y + r:.2f}L{x - k:.2f} {y + k:.2f}L{x - r:.2f} {y:.2f}L{x - k:.2f} {y - k:.2f}z"
    )


def leaf(length: float, turn: float) -> Motif:
    """A leaf about a point, ``turn`` degrees from upright."""
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))

    def at(x: float, y: float) -> str:
        def put(px: float, py: float) -> str:
            return f"{x + px * c - py * s:.2f} {y + px * s + py * c:.2f}"

        h, w = length / 2, length * 0.42
        return f"M{put(0, -h)}Q{put(w, 0)} {put(0, h)}Q{put(-w, 0)} {put(0, -h)}z"

    return at


def small_heart(r: float) -> Motif:
    """A heart about a point."""
    return lambda x, y: (
        f"M{x:.2f} {y + r:.2f}L{x - r:.2f} {y - 0.1 * r:.2f}Q{x - 0.9 * r:.2f} {y - 1.1 * r:.2f} {x:.2f} {y - 0.4 * r:.2f}"
        f"Q{x + 0.9 * r:.2f} {y - 1.1 * r:.2f} {x + r:.2f} {y - 0.1 * r:.2f}z"
    )


def chevron(w: float, h: float, thick: float) -> Motif:
    """A chevron about a point."""
    return lambda x, y: (
        f"M{x - w:.2f} {y + h / 2:.2f}L{x:.2f} {y - h / 2:.2f}L{x + w:.2f} {y + h / 2:.2f}"
        f"V{y + h / 2 + thick:.2f}L{x:.2f} {y - h / 2 + thick:.2f}L{x - w:.2f} {y + h / 2 + thick:.2f}z"
    )


def scattered(outline: list[Point], motif: Motif, dx: float, dy: float, margin: float) -> str:
    """A motif in a staggered grid, wherever it lies wholly within an outline."""
    xs, ys = [x for x, _ in outline], [y for _, y in outline]
    found = []
    for row in range(math.floor(min(ys) / dy), math.ceil(max(ys) / dy) + 1):
        for column in range(math.floor(min(xs) / dx) - 1, math.ceil(max(xs) / dx) + 1):
            x, y = (column + (row % 2) / 2) * dx, row * dy
            if inside(x, y, outline, margin):
                found.append(motif(x, y))
    return "".join(found)


GROUND: Final[list[Point]] = [
    (-91, 16), (89, 16), (89, sash_y(89) - 8), (-129, sash_y(-129) - 8), (-129, 120), (-91, 116),
]  # fmt: skip
"""What the upper figure stands before."""
CLOTH: Final = "M0 116L13 119C36 127 60 128 70 146C76 158 80 184 82 207.600L-86 153.900C-84 140-50 128-13 119z"
_CLOTH_POINTS: Final = flattened(CLOTH)

_MOTIFS: Final[dict[str, tuple[Motif, float, float, float]]] = {
    "H": (small_heart(4.6), 17, 9.5, 4.5),
    "D": (lozenge(6, 9.5), 14, 10.5, 5),
    "C": (leaf(12, 35), 15, 9, 4),
    "S": (chevron(8, 6, 3), 16, 9, 3),
}


def cloth(suit: str) -> str:
    """The dress, woven with its suit's motif."""
    motif, dx, dy, margin = _MOTIFS[suit]
    return path(CLOTH, SUITS[suit]) + light(scattered(_CLOTH_POINTS, motif, dx, dy, margin), 0.45)


def rays() -> str:
    """Beams from behind the head to the edges of the ground."""
    found = []
    for beam in range(28):
        edge = []
        for part in range(4):
            turn = 2 * math.pi * (beam + part / 6) / 28
            reach = 40.0
            while inside(reach * math.sin(turn), 84 - reach * math.cos(turn), GROUND) and reach < 190:
                reach += 0.5
            edge.append(f"{reach * math.sin(turn):.2f} {84 - reach * math.cos(turn):.2f}")
        found.append("M0 84L" + " ".join(edge) + "z")
    return "".join(found)


def ground(suit: str) -> str:
    """What is behind a figure of a suit, as path data."""
    if suit == "H":
        return rays()
    motif, dx, dy, margin = {
        "D": (lozenge(7, 10), 20.0, 14.0, 6.0),
        "C": (leaf(15, 30), 20.0, 13.0, 6.0),
        "S": (star(6), 22.0, 14.0, 6.0),
    }[suit]
    return scattered(GROUND, motif, dx, dy, margin)


def hand(suit: str, cuff: str, x: float = 65, y: float = 158) -> str:
    """A fist about something upright, its sleeve coming from the right below."""
    sleeve = path(
        f"M{x - 15} {y + 14}L{x + 14} {y + 14}C{x + 19} {y + 28} {x + 18} {y + 40} {x + 17} {y + 50}L{x - 24} {y + 38}z",
        SUITS[suit],
    )
    folds = shade(f"M{x - 15} {y + 14}L{x - 6} {y + 14}L{x - 10} {y + 42}L{x - 24} {y + 38}z", 0.25)
    fist = path(
        f"M{x - 9} {y - 9}H{x + 6}Q{x + 12} {y - 9} {x + 12} {y - 3}V{y + 10}H{x - 10}Q{x - 14} {y - 4} {x - 9} {y - 9}z",
        SKIN[suit],
    )
    fingers = line(f"M{x - 3} {y - 4}H{x + 12}M{x - 3} {y + 1}H{x + 12}M{x - 3} {y + 6}H{x + 11}", INK, 1.3)
    band = path(f"M{x - 17} {y + 9}H{x + 16}V{y + 17}H{x - 17}z", cuff)
    return sleeve + folds + fist + fingers + band


# Faces: filled with the skin they are used with.
_FACE: Final = whole("M0 56L24 58C26 76 25 90 21 100C17 110 8 117 0 117")
_SHADOW: Final = "M-24 58L-3 58L-3 82L-6 99L0 117C-8 117-17 110-21 100C-25 90-26 76-24 58z"


def _eyes(lid: str, pupil: float, shift: float) -> str:
    white = path(both("M4.500 87Q11 81 18 87Q11 91 4.500 87z"), PAPER)
    pupils = path(disc(11 + shift, 86.6, pupil) + disc(-11 + shift, 86.6, pupil), INK)
    return white + pupils + line(both(lid), INK, 1.8)


def faces() -> list[str]:
    """The three faces, used by all suits with their own skin."""
    head = path(_FACE) + shade(_SHADOW, 0.13)
    neck = path(whole("M0 100H12V122Q6 130 0 131")) + shade(whole("M0 112L12 106V112Q6 121 0 121"), 0.25)
    nose = "M18 79Q9 73 4 79L6.500 98H0"
    brow = "M-18 79Q-9 73-4 79"
    king = _eyes("M4 87Q11 80 19 87", 3, 1) + line(nose + brow, INK, 3, stroke_linejoin="round")
    queen = (
        _eyes("M3.500 88Q11 80 20 84.500", 3, 0)
        + light(both("M5 86Q11 80 18 86z"), 0)
        + line("M18 78Q10 72 5 78L6 97.500H1M-18 78Q-10 72-5 78", INK, 1.8, stroke_linejoin="round")
        + path("M-6.500 105Q-3 102 0 104Q3 102 6.500 105Q0 112-6.500 105z", RED)
        + path(disc(16, 98, 4) + disc(-16, 98, 4), RED, fill_opacity=".25")
    )
    jack = (
        _eyes("M4 87Q11 80 19 87", 3, 3)
        + line(nose + brow, INK, 2.2, stroke_linejoin="round")
        + line("M-6 105.500Q1 109 8 104", RED, 2.4, stroke_linecap="round")
    )
    return [
        group([neck, head, features], id=f"f{rank}", stroke="none")
        for rank, features in (("K", king), ("Q", queen), ("J", jack))
    ]


def face(rank: str, suit: str) -> str:
    """The face of a rank in a suit's skin."""
    return use(f"f{rank}", fill=SKIN[suit])


def sash(rank: str, suit: str) -> str:
    """The band between the two halves, which the half turn brings onto itself."""
    left, right = 14, 236
    low, high = (sash_y(x - AXIS) for x in (left, right))
    strip = f"M{left} {low - BREADTH}L{right} {high - BREADTH}V{high + BREADTH}L{left} {low + BREADTH}z"
    edges = "".join(
        f"M{left} {low + off:.2f}L{right} {high + off:.2f}" for off in (-BREADTH, BREADTH)
    )
    marks = {"K": lozenge(6, 4.5), "Q": lambda x, y: disc(x, y, 3), "J": lozenge(2, 8)}[rank]
    step = {"K": 18.5, "Q": 11.1, "J": 11.1}[rank]
    places = [125 + step * k for k in range(-9, 10) if 26 < 125 + step * k < 224]
    beads = "".join(marks(x, sash_y(x - AXIS)) for x in places)
    return path(strip, SUITS[suit]) + path(beads, GOLD) + line(edges, GOLD, 2.5)


def framed(rank: str, suit: str, figure: str, night: bool = False) -> tuple[str, str]:
    """The panel with the upper figure, and what comes above both figures."""
    tint = "1" if night else ".1"
    back = path(PANEL, SUITS[suit], fill_opacity=tint)
    return back, figure + ("" if night else "") + sash(rank, suit)


def frame(suit: str) -> str:
    """The line about the panel, laid over whatever touches it."""
    return line(PANEL, SUITS[suit], 3)


__all__ = ["dot"]
