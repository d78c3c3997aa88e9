"""How an embedded store ends where something is wrong: its folder gone, its owner killed, its server hanging."""

import json
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

from services.embedded import EmbeddedStore, EmbeddedStoreError
from services.store import Appended
from tests.support.embedded import add, began, is_gone, log, owner, server


def test_a_server_whose_owner_and_folder_are_gone_is_ended(data: Path) -> None:
    """Given an owner that is killed while the folder is moved away, then the server does not go on for ever."""
    with owner(data) as first:
        assert "True" == began(first)
        record = json.loads((EmbeddedStore(data).folder / "owner.json").read_text())
        shutil.move(data, data.with_name("away"))
        first.kill()
        first.wait()
    pause, deadline = threading.Event(), time.monotonic() + 60
    while not is_gone(record["server"]):
        assert time.monotonic() < deadline
        pause.wait(0.05)


def test_the_watchdog_ends_with_the_server(data: Path) -> None:
    """Nothing is left beside a store that was stopped, deleted or not."""
    for delete in (False, True):
        store = EmbeddedStore(data)
        store.start()
        assert store._watchdog is not None
        pid = store._watchdog.pid
        assert not is_gone(pid)
        if delete:
            shutil.rmtree(data)
        store.stop()
        assert is_gone(pid)


def test_who_is_attached_to_a_deleted_folder_can_look(data: Path) -> None:
    """Whether the server lives can be told without its folder."""
    with owner(data) as first:
        began(first)
        second = EmbeddedStore(data)
        second.start()
        shutil.rmtree(data)
        assert second.poll()
        second.stop()
        first.communicate()
        assert not second.poll()


def test_a_server_that_hangs_is_stopped_all_the_same(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is killed after a short while, and what it has acknowledged is on disk."""
    monkeypatch.setattr("services.embedded.HANG_SECONDS", 0.1)
    with EmbeddedStore(data) as store:
        assert Appended(1) == add(log(store), 0)
        pid = server(store)
        os.kill(pid, signal.SIGSTOP)
    assert is_gone(pid)
    with EmbeddedStore(data) as again:
        assert 1 == log(again).last("g")


def test_a_link_that_goes_round_is_told(tmp_path: Path) -> None:
    """Like any folder that cannot be used."""
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(EmbeddedStoreError, match="cannot keep a store in"):
        EmbeddedStore(tmp_path / "loop" / "data").start()
