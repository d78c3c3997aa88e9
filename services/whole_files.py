"""Files that are at any moment the old one whole or the new one whole, whatever breaks off."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_ident
from typing import BinaryIO, Final

OWN: Final = 0o600
"""The mode of a file that its user alone may read."""
ANYBODYS: Final = 0o666
"""That of a file that the user's umask decides on."""


@contextmanager
def written_whole(
    path: Path, mode: int = OWN, place: Callable[[Path, Path], None] = os.replace
) -> Iterator[BinaryIO]:
    """A file to write, which takes the place of ``path``, or of that to which a link leads, when the block ends.

    It has the mode of the file that was there, else ``mode``. Before that it is on the disk. Where the block raises, or the machine stops, the old file stays as it is. ``place`` is
    `os.link` where a file that is there already is to stay; it raises `FileExistsError` then. The folder must be there.
    Raises `OSError`.
    """
    target = Path(os.path.realpath(path))
    fresh = beside(target)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if target.exists():
                os.fchmod(descriptor, target.stat().st_mode & 0o777)
            yield file
            file.flush()
            os.fsync(file.fileno())
        place(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)
    sync_folder(target.parent)


def place_new(fresh: Path, target: Path) -> None:
    """Give a file its name where there is none of that name yet; else raise `FileExistsError`.

    Of several that try at once one wins, except in file systems without links, where the last one might.
    """
    try:
        os.link(fresh, target)
    except FileExistsError:
        raise
    except OSError:
        if target.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target)) from None
        fresh.replace(target)


def put_whole(path: Path, data: bytes, mode: int = OWN) -> None:
    """Put ``data`` in the place of a file, as `written_whole` does."""
    with written_whole(path, mode) as file:
        file.write(data)


def create_whole(path: Path, data: bytes) -> None:
    """Make a file for its user alone where there is none; else do nothing. Of several that try, one wins. Raises `OSError`."""
    with suppress(FileExistsError), written_whole(path, place=os.link) as file:
        file.write(data)


def beside(path: Path) -> Path:
    """The name under which this thread writes what is to become the file, or that to which a link leads."""
    target = Path(os.path.realpath(path))
    return target.with_name(f".{target.name}.{os.getpid()}.{get_ident()}")


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk. Raises `OSError`."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
