"""Text from files and servers, made fit to stand on a terminal: the one place that does it."""

from __future__ import annotations

import os
import unicodedata
from typing import Final

import click

LONGEST: Final = 40
"""Characters of a name that are shown."""
LONGEST_LINE: Final = 4000
"""Characters of a line that are shown: more than any verdict needs, and few enough for a terminal."""
STAND_IN: Final = "\N{REPLACEMENT CHARACTER}"
"""What is shown in place of a character that cannot stand on a terminal."""
_JOINERS: Final = "\u200c\u200d"
_CUT: Final = "\N{HORIZONTAL ELLIPSIS}"


def printable(text: str, most: int = LONGEST) -> str:
    """``text`` in ``most`` characters at most, and nothing in it that steers a terminal or begins a line.

    Control and format characters, line breaks and what Unicode has not assigned become `STAND_IN`, other spaces a space;
    joiners, which some names have, are left out.
    """
    if len(text) > most:
        text = text[: most - 1] + _CUT
    return text if text.isprintable() else "".join(map(_shown, text))


def printable_line(text: str) -> str:
    """A line of text for people, whatever it quotes."""
    return printable(text, LONGEST_LINE)


def file_name(name: str | bytes | os.PathLike[str]) -> str:
    """The name of a file for people."""
    return printable(click.format_filename(name), LONGEST_LINE)


def _shown(one: str) -> str:
    if one.isprintable():
        return one
    if one in _JOINERS:
        return ""
    return " " if unicodedata.category(one) == "Zs" else STAND_IN
