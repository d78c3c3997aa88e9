"""What every court figure is made of: panel, ground, sash, faces, hands, and patterned cloth.

A figure is drawn once, for the upper right of its panel, about an axis at x = 145; the half turn brings it to the lower left. A sash
on the slope of ``sash_y`` hides where the two meet. The panel leaves its own two corners to the indices.
"""

from __future__ import annotations

import math
from typing import Final

from motifs import Motif, chevron, leaf, light, lozenge, scattered, shade, small_heart, star
from pen import GOLD, INK, OWN, PAPER, Point, both, dots, flattened, group, inside, line, path, use, whole

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


GROUND: Final[list[Point]] = [
    (-91, 16), (89, 16), (89, sash_y(89) - 8), (-129, sash_y(-129) - 8), (-129, 120), (-91, 116),
]  # fmt: skip
"""What the upper figure stands before."""
CLOTH: Final = (
    "M0 116L13 119C36 127 60 128 70 146C76 158 80 184 82 207.600L-86 153.900C-84 140-50 128-13 119z"
)
_CLOTH_POINTS: Final = flattened(CLOTH)

_MOTIFS: Final[dict[str, tuple[Motif, int, int, float]]] = {
    "H": (small_heart, 18, 10, 5),
    "D": (lozenge(6, 9), 14, 10, 5),
    "C": (leaf(12, 35, whole=True), 16, 9, 4),
    "S": (chevron(9, 6, 3), 18, 10, 4),
}
"""What is woven into the cloth: the motif, how far apart, how far from the hem."""


def woven(suit: str) -> str:
    """The dress, woven with its suit's motif, for all three of the suit."""
    motif, dx, dy, margin = _MOTIFS[suit]
    return group([path(CLOTH), light(scattered(_CLOTH_POINTS, motif, dx, dy, margin), 0.45)], id=f"w{suit}")


def cloth(suit: str) -> str:
    """The dress of a suit."""
    return use(f"w{suit}")


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


def scene(suit: str) -> str:
    """What is behind the figures of a suit."""
    return path(rays() if suit == "H" else _strewn(suit), id=f"g{suit}")


def _strewn(suit: str) -> str:
    motif, dx, dy, margin = {
        "D": (lozenge(7, 10), 22, 15, 6),
        "C": (leaf(16, 30, whole=True), 24, 16, 6),
        "S": (star(6), 26, 17, 6),
    }[suit]
    return scattered(GROUND, motif, dx, dy, margin)


_HAND: Final = (65, 158)
"""Where the fist closes about what is carried, beside the axis."""


def hand() -> str:
    """A fist about something upright, its sleeve coming from the right below; it is filled with the skin."""
    x, y = _HAND
    sleeve = path(
        f"M{x - 15} {y + 14}L{x + 14} {y + 14}C{x + 19} {y + 28} {x + 18} {y + 40} {x + 17} {y + 50}L{x - 24} {y + 38}z",
        OWN,
    )
    folds = shade(f"M{x - 15} {y + 14}L{x - 6} {y + 14}L{x - 10} {y + 42}L{x - 24} {y + 38}z", 0.25)
    fist = path(
        f"M{x - 9} {y - 9}H{x + 6}Q{x + 12} {y - 9} {x + 12} {y - 3}V{y + 10}H{x - 10}Q{x - 14} {y - 4} {x - 9} {y - 9}z",
    )
    fingers = line(f"M{x - 3} {y - 4}H{x + 12}M{x - 3} {y + 1}H{x + 12}M{x - 3} {y + 6}H{x + 11}", INK, 1.3)
    band = path(f"M{x - 17} {y + 9}H{x + 16}V{y + 17}H{x - 17}z", GOLD)
    return group([sleeve, folds, fist, fingers, band], id="hand")


# Faces: filled with the skin they are used with.
_FACE: Final = whole("M0 56L24 58C26 76 25 90 21 100C17 110 8 117 0 117")
_SHADOW: Final = "M-24 58L-3 58L-3 82L-6 99L0 117C-8 117-17 110-21 100C-25 90-26 76-24 58z"


def _eyes(lid: str, pupil: float, shift: float) -> str:
    pupils = dots([(shift - 11, 86.6), (shift + 11, 86.6)], 2 * pupil, INK)
    return pupils + line(both(lid), INK, 1.8)


def faces() -> list[str]:
    """The three faces, used by all suits with their own skin."""
    head = path(_FACE) + shade(_SHADOW, 0.13) + path(both("M4.500 87Q11 81 18 87Q11 91 4.500 87z"), PAPER)
    neck = path(whole("M0 100H12V122Q6 130 0 131")) + shade(whole("M0 112L12 106V112Q6 121 0 121"), 0.25)
    nose = "M18 79Q9 73 4 79L6.500 98H0"
    brow = "M-18 79Q-9 73-4 79"
    king = _eyes("M4 87Q11 80 19 87", 3, 1) + line(nose + brow, INK, 3, stroke_linejoin="round")
    queen = (
        _eyes("M3.500 88Q11 80 20 84.500", 3, 0)
        + line("M18 78Q10 72 5 78L6 97.500H1M-18 78Q-10 72-5 78", INK, 1.8, stroke_linejoin="round")
        + path("M-6.500 105Q-3 102 0 104Q3 102 6.500 105Q0 112-6.500 105z", RED)
        + dots([(-16, 98), (16, 98)], 8, RED, stroke_opacity=".25")
    )
    jack = (
        _eyes("M4 87Q11 80 19 87", 3, 3)
        + line(nose + brow, INK, 2.2, stroke_linejoin="round")
        + line("M-6 105.500Q1 109 8 104", RED, 2.4, stroke_linecap="round")
    )
    return [
        group([neck, head], id="head"),
        *(
            group([use("head"), features], id=f"f{rank}", stroke="none")
            for rank, features in (("K", king), ("Q", queen), ("J", jack))
        ),
    ]


def face(rank: str, suit: str) -> str:
    """The face of a rank in a suit's skin."""
    return use(f"f{rank}", fill=SKIN[suit])


def sash(rank: str) -> str:
    """The band between the two halves, which the half turn brings onto itself; each rank has its own studs."""
    left, right = 14, 236
    low, high = (sash_y(x - AXIS) for x in (left, right))
    strip = f"M{left} {low - BREADTH}L{right} {high - BREADTH}V{high + BREADTH}L{left} {low + BREADTH}z"
    edges = "".join(f"M{left} {low + off:.2f}L{right} {high + off:.2f}" for off in (-BREADTH, BREADTH))
    step = 18.5 if rank == "K" else 11.1
    places = [(x, sash_y(x - AXIS)) for x in (125 + step * k for k in range(-9, 10)) if 26 < x < 224]
    if rank == "Q":
        studs = dots(places, 6, GOLD)
    else:
        stud = lozenge(6, 4.5) if rank == "K" else lozenge(2, 8)
        studs = path("".join(stud(x, y) for x, y in places), GOLD)
    return group([path(strip), studs, line(edges, GOLD, 2.5)], id=f"b{rank}")


def panel() -> str:
    """The field that the figures stand in."""
    return path(PANEL, id="panel")
