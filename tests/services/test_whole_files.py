"""Files that are the old one whole or the new one whole."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from services.outputs import opened_output
from services.whole_files import ANYBODYS, create_whole, put_whole, written_whole


def mode(path: Path) -> int:
    """The permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_file_takes_the_place_of_the_old_one_at_the_end(tmp_path: Path) -> None:
    """Given one, when another is written, then it stays until all is written, and nothing else is left in the folder."""
    path = tmp_path / "it"
    put_whole(path, b"old")
    with written_whole(path) as file:
        file.write(b"new")
        file.flush()
        assert b"old" == path.read_bytes()
    assert b"new" == path.read_bytes()
    assert [path] == list(tmp_path.iterdir())


def test_what_breaks_off_changes_nothing(tmp_path: Path) -> None:
    """Whether there was a file or not."""
    old = tmp_path / "old"
    put_whole(old, b"old")
    for path in (old, tmp_path / "new"):
        with pytest.raises(ZeroDivisionError), written_whole(path) as file:
            file.write(b"1" * (1 // 0))
    assert [old] == list(tmp_path.iterdir())
    assert b"old" == old.read_bytes()


def test_a_file_has_the_mode_of_the_one_before_it(tmp_path: Path) -> None:
    """A new one is for its user alone, or as the umask has it."""
    path, other = tmp_path / "mine", tmp_path / "other"
    umask = os.umask(0o027)
    try:
        put_whole(path, b"1")
        put_whole(other, b"1", ANYBODYS)
    finally:
        os.umask(umask)
    assert (0o600, 0o640) == (mode(path), mode(other))
    path.chmod(0o604)
    put_whole(path, b"2", ANYBODYS)
    assert 0o604 == mode(path)


def test_a_link_stays_one(tmp_path: Path) -> None:
    """What it leads to is replaced, also where there is nothing yet."""
    (tmp_path / "there").mkdir()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "there" / "it")
    for data in (b"1", b"2"):
        put_whole(link, data)
        assert (True, data) == (link.is_symlink(), (tmp_path / "there" / "it").read_bytes())


def test_one_of_many_makes_a_file(tmp_path: Path) -> None:
    """And the others let it be."""
    path = tmp_path / "it"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: create_whole(path, b"%d" % number * 1000), range(8)))
    assert path.read_bytes() in {b"%d" % number * 1000 for number in range(8)}
    before = path.read_bytes()
    create_whole(path, b"late")
    assert (before, [path]) == (path.read_bytes(), list(tmp_path.iterdir()))


def test_a_pipe_is_written_as_it_goes(tmp_path: Path) -> None:
    """What is no regular file is not replaced."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        with opened_output(pipe) as file:
            file.write(b"told")
        assert b"told" == read.result(30)
    assert pipe.is_fifo()
