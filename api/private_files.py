"""Files that their user alone may read, in a folder of the user's own."""

from __future__ import annotations

from pathlib import Path

from services.whole_files import put_whole


def write_privately(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of a file, whose folder is made where there is none. Raises `OSError`."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    put_whole(path, data)
