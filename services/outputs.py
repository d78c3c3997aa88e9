"""Standard output and standard error of a command, either of which may be closed."""

from __future__ import annotations

import sys
from typing import Any

import click

UNWRITTEN = 2
"""The exit status where the output cannot be written; 1 would say that what was checked does not hold."""


class NoOutput(click.ClickException):
    """There is nowhere to write to what was asked for."""

    exit_code = UNWRITTEN


def is_terminal(stream: Any) -> bool:
    """Whether a stream is a terminal; ``sys.stdout`` and ``sys.stderr`` are none where they were closed at the start."""
    return stream is not None and bool(stream.isatty())


def require_output() -> None:
    """Raise `NoOutput` where standard output was closed at the start: what is written to it would be lost without a word."""
    if sys.stdout is None:
        raise NoOutput("standard output is closed")
