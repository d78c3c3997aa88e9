"""What is said of an append-only file that was cut off, or is damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from services import aof
from services.embedded import EmbeddedStore, EmbeddedStoreError
from services.keys import Keys
from tests.support.embedded import add, log


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The file of a store that has some appends and was stopped."""
    with EmbeddedStore(tmp_path) as store:
        for seq in range(0, 30, 3):
            add(log(store), seq, 3)
        assert "" == store.notice
    (found,) = (store.folder / aof.FOLDER).glob("*.incr.aof")
    return found


def test_half_a_write_is_cut_off_and_told(tmp_path: Path, file: Path) -> None:
    """Of an append that was cut off there is no part, all before it is there, and once it is told how much that was."""
    whole = file.stat().st_size
    with file.open("ab") as tail:
        added = tail.write(b"*1\r\n$5\r\nMULTI\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\nv\r\n*3\r\n$3\r\nSE")
    with EmbeddedStore(tmp_path) as store:
        assert f"ended in the middle of a write, of which {added} bytes were cut off" in store.notice
        assert file.name in store.notice
        assert 30 == log(store).last("g")
        assert not log(store).client.exists("k")
        store.start()
        assert "" == store.notice, "it was told"
    assert whole == file.stat().st_size
    with EmbeddedStore(tmp_path) as store:
        assert "" == store.notice


def put(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """Puts something else in the place of the first bytes like these in the second half of a file."""

    def change(content: bytes) -> bytes:
        at = content.index(old, len(content) // 2)
        return content[:at] + new + content[at + len(old) :]

    return change


@pytest.mark.parametrize(
    "change",
    [put(b"\r\n*", b"\r\n?"), put(b"XADD", b"YADD"), put(b"\r\n$", b"\r\n$9")],
    ids=["sign", "name", "length"],
)
def test_a_damaged_file_is_told_with_what_to_do(
    tmp_path: Path, file: Path, change: Callable[[bytes], bytes]
) -> None:
    """It is named, nothing is changed, and what can be done is said; as it was before, it is served."""
    content = file.read_bytes()
    file.write_bytes(change(content))
    with pytest.raises(EmbeddedStoreError) as caught:
        EmbeddedStore(tmp_path).start()
    told = str(caught.value)
    assert told.startswith("the store's append-only file is damaged, and nothing was changed: ")
    assert str(file) in told
    assert "from a backup" in told
    assert change(content) == file.read_bytes()
    file.write_bytes(content)
    with EmbeddedStore(tmp_path) as store:
        assert 30 == log(store).last("g")


def test_a_damaged_base_file(tmp_path: Path, file: Path) -> None:
    """What the server has rewritten has a checksum."""
    with EmbeddedStore(tmp_path) as store:
        client = log(store).client
        client.config_set("aof-use-rdb-preamble", "yes")
        client.bgrewriteaof()
        while client.info("persistence")["aof_rewrite_in_progress"] or not client.xlen(Keys(4).stream("g")):
            client.blpop("nothing", 0.05)
    base = max((store.folder / aof.FOLDER).glob("*.base.rdb"))
    content = base.read_bytes()
    base.write_bytes(content[: len(content) // 2] + b"?" + content[len(content) // 2 + 1 :])
    with pytest.raises(
        EmbeddedStoreError, match=f"append-only file is damaged, and nothing was changed: .*{base.name}"
    ):
        EmbeddedStore(tmp_path).start()


def test_other_ends_of_a_server_are_no_damage(tmp_path: Path) -> None:
    """Nothing is said of a file where the log says nothing of one."""
    assert "" == aof.damage(["# Failed opening Unix socket: bind: Permission denied"], tmp_path)
    assert ([], {}) == (aof.lines_since(tmp_path / "none", 0), aof.sizes(tmp_path))
