"""The append-only file of an embedded store, as the log of its server tells of it: in words for people."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

_CUT: Final = re.compile(r"!!! Truncating the AOF (\S+) at offset (\d+) !!!")
_DAMAGED: Final = re.compile(
    r"(?:Bad file format|Error|Unrecoverable error|Unexpected end of file) reading the append only file (\S+?)(?:[:,]|\. )"
    r"|Error reading the RDB (?:base file|preamble of the AOF file) (\S+?),"
    r"|Checking RDB file (\S+)"
)
FOLDER: Final = "appendonlydir"
"""Where the server keeps its files, in the folder of the store."""


def sizes(folder: Path) -> dict[str, int]:
    """The bytes of each file of a store's ``folder`` that is appended to, by name; none where there are none yet."""
    with suppress(OSError):
        return {file.name: file.stat().st_size for file in (folder / FOLDER).iterdir()}
    return {}


def cut_off(log: Sequence[str], before: Mapping[str, int]) -> str:
    """A sentence on what a server has cut off as it started, by the lines it has logged and the sizes before.

    Empty where it has cut off nothing. It does so where a file ends in the middle of a write, as after a power cut.
    """
    for line in log:
        if found := _CUT.search(line):
            name, kept = found[1], int(found[2])
            return (
                f"the append-only file {name} ended in the middle of a write, of which {before.get(name, kept) - kept} bytes "
                "were cut off; with HEARTS_FSYNC=always nobody was told that this write is done, unless the disk has lost or "
                "changed what it had: `hearts audit --all` looks at what is there"
            )
    return ""


def damage(log: Sequence[str], folder: Path) -> str:
    """Why a server has not started, and what to do, where that is a damaged file of the store's ``folder``; else empty."""
    for line in log:
        if found := _DAMAGED.search(line):
            file = folder / FOLDER / next(filter(None, found.groups()))
            return (
                f"the store's append-only file is damaged, and nothing was changed: {file}; put back the folder "
                f"{folder} from a backup, or cut the file off before the damage (docs/operating.md, A damaged file)"
            )
    return ""


def lines_since(log: Path, start: int) -> list[str]:
    """The lines of a server's log behind its first ``start`` bytes; none where it cannot be read."""
    with suppress(OSError), log.open("rb") as file:
        file.seek(start)
        return file.read().decode(errors="replace").splitlines()
    return []
