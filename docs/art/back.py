"""The back: rows of hearts and rows of turned hearts, woven over and under, the same whichever way a card lies."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

from pen import GOLD, TURN, Point, flattened, group, line, tag, use

CLOTH: Final = "var(--back,#7a1d2d)"
THREAD: Final = "var(--back-line,#f4e2c4)"

HEART: Final = "M0 19C-3 11-19 4-19-8C-19-14.500-14-18-9-18C-4.500-18-1.500-15 0-11C1.500-15 4.500-18 9-18C14-18 19-14.500 19-8C19 4 3 11 0 19"
REACH: Final = 19
"""How far a heart reaches from its middle."""
WIDE: Final = 53
"""From heart to heart in a row."""
HIGH: Final = 46
"""From row to row; the turned rows lie half way between."""
_CASING: Final = 6.5
_THREAD: Final = 2.8
_LEFT, _TOP, _RIGHT, _FOOT = 24, 24, 226, 326


def _crossing(a: Point, b: Point, c: Point, d: Point) -> float | None:
    """How far along ab it meets cd, if it does."""
    (ax, ay), (bx, by), (cx, cy), (dx, dy) = a, b, c, d
    turn = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
    if abs(turn) < 1e-9:
        return None
    t = ((cx - ax) * (dy - cy) - (cy - ay) * (dx - cx)) / turn
    u = ((cx - ax) * (by - ay) - (cy - ay) * (bx - ax)) / turn
    return t if 0 <= t < 1 and 0 <= u < 1 else None


def _turned_neighbours() -> list[Point]:
    """Where, seen from a heart, the turned hearts are that it may meet."""
    return [
        (column * WIDE / 2, row * HIGH / 2)
        for row in (-3, -1, 1, 3)
        for column in range(-3, 4)
        if (column + (row - 1) // 2) % 2 == 0
    ]


def _crossings(outline: list[Point]) -> list[float]:
    """Where, counted in points along its outline, a heart crosses turned hearts."""
    found = []
    for x, y in _turned_neighbours():
        other = [(x - px, y - py) for px, py in outline]
        for place, (a, b) in enumerate(pairwise(outline)):
            for c, d in pairwise(other):
                t = _crossing(a, b, c, d)
                if t is not None:
                    found.append(place + t)
    return sorted(found)


def _bridge(outline: list[Point], at: float, reach: float = 4) -> str:
    """The stretch of an outline about a crossing, as a path."""
    whole = outline[:-1]
    middle = round(at)
    ends = [middle, middle]
    for side, step in ((0, -1), (1, 1)):
        gone = 0.0
        while gone < reach:
            here = whole[ends[side] % len(whole)]
            ends[side] += step
            gone += math.dist(here, whole[ends[side] % len(whole)])
    points = [whole[k % len(whole)] for k in range(ends[0], ends[1] + 1, 2)]
    return "M" + " ".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _places() -> list[Point]:
    """The hearts that lie wholly in the field, about the middle of the card."""
    found = []
    for row in range(-5, 6):
        for column in range(-5, 6):
            x = 125 + (column + (row % 2) / 2) * WIDE
            y = 175 + row * HIGH - HIGH / 4
            if _LEFT + REACH <= x <= _RIGHT - REACH and _TOP + REACH <= y <= _FOOT - REACH:
                found.append((x, y))
    return found


def back() -> list[str]:
    """The back and what it is woven of."""
    outline = flattened(HEART, 40)
    over = "".join(_bridge(outline, at) for at in _crossings(outline)[::2])
    heart = [line(HEART + "Z", colour, width) for colour, width in ((CLOTH, _CASING), (THREAD, _THREAD))]
    bridge = [
        line(over, colour, width, stroke_linecap=cap)
        for colour, width, cap in ((CLOTH, _CASING, None), (THREAD, _THREAD, "round"))
    ]
    places = _places()
    row = group((use("bh", x, y) for x, y in places), id="br")
    field = tag("rect", x=13, y=13, width=224, height=324, rx=9, fill=CLOTH)
    border = tag("rect", x=18, y=18, width=214, height=314, rx=5, fill="none", stroke=GOLD, stroke_width=1.6)
    inner = (
        use("sheet") + field + border + row + use("br", transform=TURN)
        + "".join(use("bo", x, y) for x, y in places)
    )  # fmt: skip
    return [
        "<defs>", group(heart, id="bh"), group(bridge, id="bo"), "</defs>",
        tag("symbol", inner, id="back", viewBox="0 0 250 350"),
    ]  # fmt: skip
