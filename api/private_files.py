"""Files that their user alone may read, each at any moment the old or the new one whole."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_privately(path: Path, data: bytes) -> None:
    """Put ``data`` in the place of a file in a folder of the user's own, which is made where there is none. Raises `OSError`."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp makes the file readable by its user alone before anything is in it
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
