"""Files that are to be written in the end: it is tried before, and changes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from services.outputs import try_to_write


def test_to_try_leaves_what_is_there(tmp_path: Path) -> None:
    """A file, a link to one, a pipe that nobody reads: all as they were."""
    file, link, pipe = tmp_path / "file", tmp_path / "link", tmp_path / "pipe"
    file.write_text("of before")
    link.symlink_to(file)
    os.mkfifo(pipe)
    before = file.stat()
    for path in (file, link, pipe, Path("/dev/stdout"), Path("/dev/null")):
        try_to_write(path)
    assert ("of before", before.st_mtime_ns) == (file.read_text(), file.stat().st_mtime_ns)
    assert {file, link, pipe} == set(tmp_path.iterdir())


def test_to_try_leaves_nothing_where_nothing_is(tmp_path: Path) -> None:
    """Also where a link leads to it."""
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "not yet")
    for path in (tmp_path / "new", link):
        try_to_write(path)
    assert [link] == list(tmp_path.iterdir())


def test_what_cannot_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that is too long, a folder that is not there, a link to itself, and a file that is not ours."""
    loop, file = tmp_path / "loop", tmp_path / "file"
    loop.symlink_to(loop)
    for path in (tmp_path / ("x" * 300), tmp_path / "no" / "folder", loop):
        with pytest.raises(OSError, match=r"File name too long|No such file|File exists|symbolic links"):
            try_to_write(path)
    file.touch()
    # nothing is forbidden to whoever may run the tests as root
    monkeypatch.setattr(
        os, "open", lambda *_: (_ for _ in ()).throw(PermissionError(13, "Permission denied"))
    )
    with pytest.raises(PermissionError):
        try_to_write(file)
