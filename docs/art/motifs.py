"""Small shapes strewn over cloth and ground, and the two veils, shadow and light, that make a suit's shades of one colour."""

from __future__ import annotations

import math
from collections.abc import Callable

from pen import INK, PAPER, Point, inside, path


def shade(d: str, amount: float = 0.16) -> str:
    """A shadow of ink on what lies below."""
    return path(d, INK, fill_opacity=f"{amount:.2f}".lstrip("0"), stroke="none")


def light(d: str, amount: float = 0.5) -> str:
    """A tint of paper on what lies below: a suit's lighter colour, whatever the page chose."""
    return path(d, PAPER, fill_opacity=f"{amount:.2f}".lstrip("0"), stroke="none")


Motif = Callable[[float, float], str]


def lozenge(w: float, h: float) -> Motif:
    """A lozenge about a point."""
    return lambda x, y: f"M{x:.2f} {y - h:.2f}l{w} {h} {-w} {h} {-w} {-h}z"


def star(r: int) -> Motif:
    """A star of four curved rays about a point."""
    n = r - 1
    rays = f"q1 {n} {r} {r} -{n} 1 -{r} {r} -1 -{n} -{r} -{r} {n} -1 {r} -{r}z"
    return lambda x, y: f"M{x:.2f} {y - r:.2f}{rays}"


def leaf(length: float, turn: float, whole: bool = False) -> Motif:
    """A leaf about a point, ``turn`` degrees from upright; ``whole`` keeps to whole numbers, for leaves by the dozen."""
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    h, w = length / 2, length * 0.42
    dx, dy = -h * s, h * c
    across = [dx + w * c, dy + w * s, 2 * dx, 2 * dy]
    places = 0 if whole else 2
    way = " ".join(f"{value:.{places}f}" for value in (*across, *(-value for value in across)))
    return lambda x, y: f"M{x - dx:.{places}f} {y - dy:.{places}f}q{way}z"


def small_heart(x: float, y: float) -> str:
    """A heart about a point."""
    return f"M{x:.2f} {y + 5:.2f}l-5 -6q0 -5 5 -3 5 -2 5 3z"


def chevron(w: float, h: float, thick: float) -> Motif:
    """A chevron about a point."""
    return lambda x, y: f"M{x - w:.2f} {y + h / 2:.2f}l{w} {-h} {w} {h}v{thick}l{-w} {-h} {-w} {h}z"


def scattered(outline: list[Point], motif: Motif, dx: int, dy: int, margin: float) -> str:
    """A motif in a staggered grid, wherever it lies wholly within an outline."""
    xs, ys = [x for x, _ in outline], [y for _, y in outline]
    found = []
    for row in range(math.floor(min(ys) / dy), math.ceil(max(ys) / dy) + 1):
        for column in range(math.floor(min(xs) / dx) - 1, math.ceil(max(xs) / dx) + 1):
            x, y = (column + (row % 2) / 2) * dx, row * dy
            if inside(x, y, outline, margin):
                found.append(motif(x, y))
    return "".join(found)
