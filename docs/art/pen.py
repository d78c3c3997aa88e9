"""The pen of the card sprite: numbers, elements, mirrored outlines, the colours and the four suit signs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Final

WIDTH: Final = 250
HEIGHT: Final = 350
TURN: Final = "rotate(180 125 175)"
"""The half turn that brings the upper half of a card to the lower."""

PAPER: Final = "var(--paper,#fcf8ec)"
INK: Final = "var(--ink,#22252f)"
GOLD: Final = "var(--gold,#dca53a)"
SUITS: Final = {
    "C": "var(--club,#1d7443)",
    "D": "var(--diamond,#1d5fa8)",
    "S": "var(--spade,#1d1f29)",
    "H": "var(--heart,#b8262f)",
}
"""The colour of each suit, which a page may choose."""
OWN: Final = "currentColor"
"""On a card, the colour of its suit."""

SIGNS: Final = {
    "C": "M0-22a10.400 10.400 0 0 1 8.200 16.800a10.400 10.400 0 1 1-4.700 14.400c.300 5.800 2.400 9.800 7 12.800h-21c4.600-3 6.700-7 7-12.800a10.400 10.400 0 1 1-4.700-14.400a10.400 10.400 0 0 1 8.200-16.800z",
    "D": "M0-25C5-15 11-7 19 0C11 7 5 15 0 25C-5 15-11 7-19 0C-11-7-5-15 0-25z",
    "S": "M0-24C4-13 21-6 21 6C21 13 16 16.500 11 16.500C7.500 16.500 4.500 14.800 2.800 12C3.200 17 5.500 20 9.500 22.500H-9.500C-5.500 20-3.200 17-2.800 12C-4.500 14.800-7.500 16.500-11 16.500C-16 16.500-21 13-21 6C-21-6-4-13 0-24z",
    "H": "M0 23C-4 13-21 4-21-9C-21-17-15.500-21-10.500-21C-5.500-21-1.500-18 0-13C1.500-18 5.500-21 10.500-21C15.500-21 21-17 21-9C21 4 4 13 0 23z",
}
"""Each suit sign about the origin, 42 wide: the pip itself; all other sizes are scaled from it."""

_TOKEN: Final = re.compile(r"[A-Za-z]|-?\d*\.?\d+")
_COUNT: Final = {"M": 1, "L": 1, "Q": 2, "C": 3}

Point = tuple[float, float]
Segment = tuple[str, list[Point]]


def num(value: float) -> str:
    """A number to one decimal, as short as SVG reads it."""
    text = f"{value:.1f}".rstrip("0").rstrip(".")
    text = text.replace("-0.", "-.") if text.startswith("-0.") else text
    return "0" if text in ("-0", "") else text.removeprefix("0") if text.startswith("0.") else text


def tight(d: str) -> str:
    """A path as short as it gets at one decimal: each stretch absolute or relative, as suits it."""
    if re.search("[Aa]", d):
        return _trimmed(re.sub(r"-?\d*\.?\d+", lambda found: num(float(found[0])), d))
    out: list[str] = []
    start = here = (0.0, 0.0)
    last = ""
    for command, given in segments(d):
        if command == "Z":
            out.append("z")
            here, last = start, "z"
            continue
        points = [(round(x, 1), round(y, 1)) for x, y in given]
        last, text = _shortest(command, points, here, last)
        out.append(text)
        here = points[-1]
        start = here if command == "M" else start
    return "".join(out)


def _shortest(command: str, points: list[Point], here: Point, last: str) -> tuple[str, str]:
    """A stretch in fewest signs, with the letter it leaves in force; a letter that holds already is left out."""
    (x, y), (to_x, to_y) = here, points[-1]
    ways = [(command, [one for point in points for one in point])]
    ways.append((command.lower(), [one - (y if k % 2 else x) for k, one in enumerate(ways[0][1])]))
    if command == "L" and to_y == y:
        ways += [("H", [to_x]), ("h", [to_x - x])]
    if command == "L" and to_x == x:
        ways += [("V", [to_y]), ("v", [to_y - y])]
    written = []
    for letter, numbers in ways:
        joined = " ".join(num(one) for one in numbers)
        holds = letter == last
        written.append((letter, (" " if holds else letter) + joined))
    letter, text = min(written, key=lambda one: len(_trimmed(one[1])))
    return {"M": "L", "m": "l"}.get(letter, letter), _trimmed(text)


def _trimmed(d: str) -> str:
    """Without needless blanks."""
    d = re.sub(r"[\s,]+", " ", d)
    return re.sub(r" ?([A-Za-z]) ?", r"\1", d).replace(" -", "-")


def tag(name: str, inner: str = "", /, **attributes: object) -> str:
    """One element; ``_`` in a keyword stands for a hyphen, a trailing one is dropped."""
    text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{num(value) if isinstance(value, float) else value}"'
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{text}>{inner}</{name}>" if inner else f"<{name}{text}/>"


def path(d: str, fill: str | None = None, **more: object) -> str:
    """A filled path; without ``fill`` it takes what it stands in."""
    return tag("path", fill=fill, d=tight(d), **more)


def line(d: str, stroke: str, width: float, **more: object) -> str:
    """A stroked path."""
    return tag("path", fill="none", stroke=stroke, stroke_width=num(width), d=tight(d), **more)


def dot(x: float, y: float, r: float, fill: str | None = None, **more: object) -> str:
    """A disc."""
    return tag("circle", cx=num(x), cy=num(y), r=num(r), fill=fill, **more)


def dots(places: Iterable[Point], width: float, stroke: str | None, **more: object) -> str:
    """Many discs of one size: the round ends of lines without length."""
    d = "".join(f"M{x:.2f} {y:.2f}h0" for x, y in places)
    return tag(
        "path",
        fill="none",
        stroke=stroke,
        stroke_width=num(width),
        stroke_linecap="round",
        d=tight(d),
        **more,
    )


def disc(x: float, y: float, r: float) -> str:
    """A disc as path data, so that many of them are one element."""
    return f"M{x - r:.2f} {y:.2f}a{r:.2f} {r:.2f} 0 1 0 {2 * r:.2f} 0a{r:.2f} {r:.2f} 0 1 0 {-2 * r:.2f} 0z"


def use(name: str, x: float = 0, y: float = 0, scale: float = 1, **more: object) -> str:
    """Something drawn elsewhere in the sprite, put at a place."""
    if scale == 1:
        return tag("use", href=f"#{name}", x=num(x) if x else None, y=num(y) if y else None, **more)
    size = f"{scale:.2f}".rstrip("0").rstrip(".").replace("0.", ".")
    return tag("use", href=f"#{name}", transform=f"translate({num(x)} {num(y)})scale({size})", **more)


def group(parts: Iterable[str], **attributes: object) -> str:
    """Parts that share attributes."""
    return tag("g", "".join(parts), **attributes)


def segments(d: str) -> list[Segment]:
    """A path of M, L, H, V, Q, C and Z, and of their relative forms, as absolute M, L, Q, C and Z."""
    tokens = _TOKEN.findall(d)
    found: list[Segment] = []
    at, command, place = 0, "M", (0.0, 0.0)
    while at < len(tokens):
        if tokens[at].isalpha():
            command = tokens[at]
            at += 1
        kind, (x, y) = command.upper(), place if command.islower() else (0.0, 0.0)
        if kind == "Z":
            found.append(("Z", []))
        elif kind in "HV":
            value = float(tokens[at])
            at += 1
            place = (x + value, place[1]) if kind == "H" else (place[0], y + value)
            found.append(("L", [place]))
        else:
            numbers = [float(one) for one in tokens[at : at + 2 * _COUNT[kind]]]
            at += 2 * _COUNT[kind]
            points = [(x + a, y + b) for a, b in zip(numbers[::2], numbers[1::2], strict=True)]
            place = points[-1]
            found.append((kind, points))
            command = {"M": "L", "m": "l"}.get(command, command)
    return found


def _text(found: Iterable[Segment]) -> str:
    return "".join(command + " ".join(f"{x:.2f} {y:.2f}" for x, y in points) for command, points in found)


def mirrored(d: str) -> str:
    """A path seen in the mirror of the line x = 0."""
    return _text((command, [(-x, y) for x, y in points]) for command, points in segments(d))


def both(d: str) -> str:
    """A path and its mirror image."""
    return d + mirrored(d)


def whole(d: str) -> str:
    """The closed outline whose right half, from the axis to the axis, is ``d``."""
    right = [one for one in segments(d) if one[1]]
    back: list[Segment] = []
    for place in range(len(right) - 1, 0, -1):
        command, points = right[place]
        start = right[place - 1][1][-1]
        turned = [*reversed(points[:-1]), start]
        back.append((command, [(-x, y) for x, y in turned]))
    return _text([*right, *back]) + "Z"


def flattened(d: str, steps: int = 12) -> list[Point]:
    """The points of a path, curves cut into ``steps``."""
    points: list[Point] = []
    for command, given in segments(d):
        if command in "ML":
            points.append(given[0])
            continue
        ends = [points[-1], *given]
        for step in range(1, steps + 1):
            level = ends
            t = step / steps
            while len(level) > 1:
                level = [(a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t) for a, b in pairwise(level)]
            points.append(level[0])
    return points


def inside(x: float, y: float, outline: list[Point], margin: float = 0) -> bool:
    """Whether a point, and those ``margin`` around it, lie within an outline."""
    around = [(x, y), (x + margin, y), (x - margin, y), (x, y + margin), (x, y - margin)]
    return all(_within(place, outline) for place in (around if margin else around[:1]))


def _within(place: Point, outline: list[Point]) -> bool:
    x, y = place
    odd = False
    for (ax, ay), (bx, by) in zip(outline, outline[1:] + outline[:1], strict=True):
        if (ay > y) != (by > y) and x < ax + (y - ay) * (bx - ax) / (by - ay):
            odd = not odd
    return odd
