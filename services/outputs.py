"""Where a command writes to: standard output and standard error, either of which may be closed, and files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

import click

from services.printable import printable_line
from services.whole_files import ANYBODYS, written_whole

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


STDOUT: Final = Path("-")


class Output(click.Path):
    """A file to be written at the end, or `STDOUT`: what is wrong with its place is told before there is any work done."""

    def __init__(self) -> None:
        super().__init__(dir_okay=False, writable=True, allow_dash=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See click."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if not path.parent.is_dir():
            self.fail(printable_line(f"there is no folder {str(path.parent)!r}"), param, ctx)
        if path != STDOUT:
            try:
                try_to_write(path)
            except OSError as error:
                self.fail(printable_line(f"{str(path)!r} cannot be written: {error.strerror}"), param, ctx)
        return path


@contextmanager
def opened_output(path: Path) -> Iterator[BinaryIO]:
    """Standard output for `STDOUT`, or a file that is there whole at the end or not at all; a device or a pipe is written as it goes."""
    if path == STDOUT:
        require_output()
        with click.open_file(str(STDOUT), "wb") as file:
            yield cast("BinaryIO", file)
    elif path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
    else:
        with written_whole(path, ANYBODYS) as file:
            yield file


def try_to_write(path: Path) -> None:
    """Raise `OSError` where a file cannot be written, and change nothing: one that is there stays as it is, and else there is none."""
    if not path.exists():
        path = Path(os.path.realpath(path))  # a link may lead to where there is nothing yet
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        path.unlink()
    elif path.is_file():  # to open a pipe would wait for its reader
        os.close(os.open(path, os.O_WRONLY))
