"""The differences of an arena as a picture: SVG, a row a pair, readable on light and dark paper."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final, NamedTuple
from xml.sax.saxutils import escape

from workers.arena.figures import Figure
from workers.arena.report import Report, heading, label, signed

WIDTH: Final = 760
ROW: Final = 30
LEFT, RIGHT, TOP, FOOT = 250, 130, 56, 52
TICKS: Final = 7
"""About as many marks on the axis."""
_STYLE: Final = """
svg { background: #fff; color: #1d1d1f; font: 13px system-ui, sans-serif; --rule: #d5d5da; --soft: #5f5f66; --bar: #0b62a8 }
@media (prefers-color-scheme: dark) {
  svg { background: #17181b; color: #ececf0; --rule: #3a3b41; --soft: #a4a5ad; --bar: #79bdf5 } }
text { fill: currentColor } .soft { fill: var(--soft) } .title { font-weight: 600; font-size: 14px }
.rule { stroke: var(--rule) } .zero { stroke: currentColor; stroke-width: 1.5 }
.bar { stroke: var(--bar); stroke-width: 2 } .dot { fill: var(--bar) }
"""


class _Axis(NamedTuple):
    """Figures from ``low`` to ``high``, marked every ``step``."""

    low: float
    high: float
    step: float

    def x(self, value: float) -> float:
        """Where a figure is, in units of the picture."""
        return LEFT + (value - self.low) / (self.high - self.low) * (WIDTH - LEFT - RIGHT)

    def marks(self) -> Iterator[float]:
        """The marked figures."""
        first, last = round(self.low / self.step), round(self.high / self.step)
        yield from (place * self.step for place in range(first, last + 1))


def draw(report: Report) -> str:
    """The picture: of each pair of bots the difference in points a hand, with its interval."""
    names = {one.slot: label(one) for one in report.bots}
    axis = _axis([one.points for one in report.pairs])
    bottom = TOP + ROW * len(report.pairs)
    height = bottom + FOOT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
        f"<title>{escape(heading(report))}</title>",
        f"<style>{_STYLE}</style>",
        _text(16, 24, "Points a hand: difference, and its 95 % interval over deals", "title"),
        _text(16, 42, heading(report), "soft"),
        *_grid(axis, bottom),
    ]
    for place, pair in enumerate(report.pairs):
        one, other = pair.slots
        parts += _row(TOP + ROW * place + ROW / 2, axis, pair.points, f"{names[one]} less {names[other]}")
    better = "left of 0 the first named is better, with fewer points"
    parts += [_text(axis.x(axis.low), bottom + 40, better, "soft"), "</svg>"]
    return "\n".join(parts) + "\n"


def _axis(figures: list[Figure]) -> _Axis:
    """An axis with 0 and all intervals on it."""
    ends = [0.0]
    for figure in figures:
        half = figure.half_width or 0.0
        ends += [figure.mean - half, figure.mean + half]
    low, high = min(ends), max(ends)
    span = (high - low) or 1.0
    rough = span / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * by for by in (1, 2, 5, 10) if power * by >= rough)
    return _Axis((math.floor(low / step - 0.25)) * step, (math.ceil(high / step + 0.25)) * step, step)


def _grid(axis: _Axis, bottom: float) -> Iterator[str]:
    decimals = max(0, -math.floor(math.log10(axis.step)))
    for value in axis.marks():
        x = axis.x(value)
        is_zero = abs(value) < axis.step / 2
        yield _line(x, TOP, x, bottom, "zero" if is_zero else "rule")
        written = "0" if is_zero else f"{value:+.{decimals}f}".replace("-", "\N{MINUS SIGN}")
        yield _text(x, bottom + 18, written, "soft", "middle")


def _row(y: float, axis: _Axis, figure: Figure, name: str) -> Iterator[str]:
    shown = name if len(name) <= 34 else f"{name[:33]}\N{HORIZONTAL ELLIPSIS}"
    yield f"<g><title>{escape(f'{name}: {signed(figure)}')}</title>"
    yield _text(16, y + 4, shown)
    if figure.half_width is not None:
        low, high = axis.x(figure.mean - figure.half_width), axis.x(figure.mean + figure.half_width)
        yield _line(low, y, high, y, "bar")
        for end in (low, high):
            yield _line(end, y - 5, end, y + 5, "bar")
    yield f'<circle cx="{axis.x(figure.mean):.1f}" cy="{y:.1f}" r="4" class="dot"/>'
    yield _text(WIDTH - 16, y + 4, signed(figure), "", "end") + "</g>"


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'
