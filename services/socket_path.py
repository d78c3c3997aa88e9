"""Where the socket of an embedded store is: in its folder, or, where its path cannot be a socket's, in one of this user's."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

_SOCKET_BYTES = 100
"""A socket's path has at most 107 bytes on Linux and 103 on macOS, its end mark not counted."""


class NotPrivate(Exception):
    """The folder for sockets is not this user's alone."""


def socket_path(folder: Path) -> Path:
    """`store.sock` in the folder, or where that cannot be a socket's, a short path that stands for it."""
    inside = folder / "store.sock"
    if _is_plain(inside):
        return inside
    name = f"{hashlib.sha256(os.fsencode(folder.resolve())).hexdigest()[:16]}.sock"
    private = Path(tempfile.gettempdir()) / f"hearts-{os.getuid()}"
    if not _is_plain(private / name):
        private = Path("/tmp") / private.name
    private.mkdir(mode=0o700, exist_ok=True)
    found = private.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077 or not private.is_dir() or private.is_symlink():
        raise NotPrivate(f"{private} must be a folder of this user alone (mode 0700)")
    return private / name


def _is_plain(path: Path) -> bool:
    """Whether a socket may have this path.

    The server tells it in CLIENT LIST, which clients split at white space and `=`: RQ's workers die of either.
    """
    text = str(path)
    return len(os.fsencode(path)) <= _SOCKET_BYTES and "=" not in text and len(text.split()) == 1
