"""Draws the sprite of the playing cards: ``python docs/art/cards.py > api/web/cards.svg``.

52 faces and a back as symbols of 250 by 350, whose ids are rank and suit (``TD``, ``QS``) and ``back``. The page chooses
colours by custom properties: ``--club``, ``--diamond``, ``--spade``, ``--heart``, ``--paper``, ``--edge``, ``--ink``,
``--gold``, ``--back``, ``--back-line``; figures are drawn for a light paper, which may be dimmed. The same script
writes the same bytes. Other files use a card as ``<use href="/cards.svg#QS"/>``, so nothing here refers to ``url(#...)``,
which browsers do not all find from there.
"""

from __future__ import annotations

import sys

from back import back
from courts import court, court_parts
from faces import ace, number, shared

NOTE = "<!-- Drawn by docs/art/cards.py; change it there. MIT. -->"


def sprite() -> str:
    """The whole file."""
    lines = ['<svg xmlns="http://www.w3.org/2000/svg">', NOTE, "<defs>", *shared(), *court_parts(), "</defs>"]
    for suit in "CDSH":
        lines += [number(rank, suit) for rank in "23456789T"]
        lines += [court(rank, suit) for rank in "JQK"]
        lines.append(ace(suit))
    return "\n".join([*lines, *back(), "</svg>", ""])


if __name__ == "__main__":
    sys.stdout.write(sprite())
