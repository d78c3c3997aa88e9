"""The embedded store: one server a folder, owned, attached to and taken over; nothing acknowledged is lost."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import redis

from services.embedded import EmbeddedStore, EmbeddedStoreError, process_began, store_socket_url
from services.keys import Keys
from services.store import Appended, StoreUnavailable, connect
from tests.support.embedded import add, began, is_gone, log, owner, server


def test_the_store_is_there_again_after_stop_and_start(data: Path) -> None:
    """What was stored is on disk; while it is stopped, nothing of it runs."""
    with EmbeddedStore(data) as store:
        assert store.owned
        assert store.poll()
        assert Appended(3) == add(log(store), 0, 3)
        pid, url = server(store), store.url
    assert (False, True) == (store.poll(), is_gone(pid))
    assert url == store_socket_url(data)
    with pytest.raises(StoreUnavailable):
        log(store).read("g")
    with EmbeddedStore(data) as again:
        assert (url, 3) == (again.url, log(again).last("g"))


def test_the_server_is_set_up_to_keep_its_word(data: Path) -> None:
    """It writes to disk before it answers, forgets nothing, and listens to its user alone."""
    with EmbeddedStore(data) as store, connect(store.url) as client:
        told = client.config_get("*")
        expected = {
            "port": "0",
            "appendonly": "yes",
            "appendfsync": "always",
            "no-appendfsync-on-rewrite": "no",
            "aof-load-truncated": "yes",
            "save": "",
            "maxmemory": "0",
            "maxmemory-policy": "noeviction",
            "stream-node-max-bytes": "2048",
        }
        assert expected == {name: told[name] for name in expected}
        assert {0o700} == {path.stat().st_mode & 0o777 for path in (store.folder, store.socket)}
        files = {"appendonlydir", "store.sock", "store.log", "starting.lock", "serving.lock", "owner.json"}
        assert files == {path.name for path in store.folder.iterdir()}


def test_fsync_is_a_setting(data: Path) -> None:
    """The faster, weaker promise can be chosen."""
    with EmbeddedStore(data, fsync="everysec") as store, connect(store.url) as client:
        assert {"appendfsync": "everysec"} == client.config_get("appendfsync")


@pytest.mark.parametrize(
    "name", ["with spaces", "tab\there", "a=b", "ünï çödé", "x" * 200, 'quo"te\\d', "100%"]
)
def test_any_folder_will_do(tmp_path: Path, name: str) -> None:
    """Spaces, signs and paths longer than a socket may have are no matter."""
    data = tmp_path / name / "data"
    with EmbeddedStore(data) as store:
        assert store.url == store_socket_url(data)
        assert len(os.fsencode(store.socket)) < 104
        assert Appended(1) == add(log(store), 0)
        assert (data / "store" / "appendonlydir").is_dir()
        assert 0o700 == store.socket.parent.stat().st_mode & 0o777
        socket = store.socket
    assert not socket.exists()


def test_the_folder_is_the_same_by_any_of_its_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A link or a relative path to the folder leads to the same server."""
    with EmbeddedStore(tmp_path / "data") as store:
        (tmp_path / "link").symlink_to(tmp_path / "data")
        monkeypatch.chdir(tmp_path)
        for name in ("link", "data", "./data/../link"):
            with EmbeddedStore(Path(name)) as other:
                assert (server(store), False) == (server(other), other.owned)
        assert store.poll()


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    """A file in the folder's place is an error with its reason, not a server that fails."""
    (tmp_path / "data").write_text("")
    with pytest.raises(EmbeddedStoreError, match=r"cannot keep a store in .*: File exists"):
        EmbeddedStore(tmp_path / "data").start()


def test_a_second_starter_attaches(data: Path) -> None:
    """While the owner lives there is one server; who came second leaves it running, the owner stops it."""
    with owner(data) as first:
        assert "True" == began(first)
        second = EmbeddedStore(data)
        second.start()
        assert (False, Appended(1)) == (second.owned, add(log(second), 0))
        pid = server(second)
        second.stop()
        second.stop()
        assert (True, pid) == (second.poll(), server(second))
        first.communicate()
        assert (True, False) == (is_gone(pid), second.poll())


def test_many_starters_at_once_get_one_server(data: Path) -> None:
    """Of three that start together one owns the server and the others attach."""
    with owner(data) as a, owner(data) as b, owner(data) as c:
        assert ["False", "False", "True"] == sorted(began(process) for process in (a, b, c))
        store = EmbeddedStore(data)
        store.start()
        assert server(store) == json.loads((store.folder / "owner.json").read_text())["server"]
        assert 1 == (store.folder / "store.log").read_text().count("Ready to accept connections")
        for process in (a, b, c):
            process.communicate()
    assert not store.poll()


def test_a_server_whose_owner_was_killed_is_taken_over(data: Path) -> None:
    """It goes on serving, the next starter becomes its owner, and stops it in the end."""
    with owner(data) as first:
        assert "True" == began(first)
        pid = server(EmbeddedStore(data))
        add(log(EmbeddedStore(data)), 0, 2)
        first.kill()
        first.wait()
    with EmbeddedStore(data, fsync="everysec") as second, connect(second.url) as client:
        assert (True, pid, 2) == (second.owned, server(second), log(second).last("g"))
        assert {"appendfsync": "everysec"} == client.config_get("appendfsync")
    assert is_gone(pid)


def test_who_is_attached_when_the_owner_is_killed_stops_the_server(data: Path) -> None:
    """Nothing is left running when the last one leaves."""
    with owner(data) as first:
        began(first)
        second = EmbeddedStore(data)
        second.start()
        assert not second.owned
        pid = server(second)
        first.kill()
        first.wait()
        assert second.owned
        second.stop()
    assert is_gone(pid)


def test_an_attached_store_asks_for_the_stricter_promise(data: Path) -> None:
    """Where one of two wants every answer on disk, it is; the weaker wish of the other changes nothing."""
    with EmbeddedStore(data, fsync="everysec") as weak, connect(weak.url) as client:
        for fsync, expected in (("everysec", "everysec"), ("always", "always"), ("everysec", "always")):
            with EmbeddedStore(data, fsync):
                assert {"appendfsync": expected} == client.config_get("appendfsync")


def test_an_owner_is_known_by_more_than_its_process_id(data: Path) -> None:
    """A later process that has the dead owner's id is not taken for the owner."""
    with owner(data) as first:
        began(first)
        first.kill()
        first.wait()
    record = EmbeddedStore(data).folder / "owner.json"
    record.write_text(record.read_text().replace(f'"owner": {first.pid}', f'"owner": {os.getppid()}'))
    with EmbeddedStore(data) as store:
        assert store.owned
    assert not store.poll()


@pytest.mark.parametrize("record", ["", "[]", "{}", '{"owner": "x", "server": null}'])
def test_a_lost_or_damaged_record_is_no_matter(data: Path, record: str) -> None:
    """The server is found by its lock and its socket, and belongs to who comes."""
    with owner(data) as first:
        began(first)
        first.kill()
        first.wait()
    (EmbeddedStore(data).folder / "owner.json").write_text(record)
    with EmbeddedStore(data) as store:
        assert store.owned
        pid = server(store)
    assert is_gone(pid)


def test_a_copy_of_a_folder_that_is_served_is_another_store(data: Path, tmp_path: Path) -> None:
    """Given a copy made while the server runs, then who reads or serves the copy has its own server, and the first loses nothing."""
    copy = tmp_path / "copy"
    with EmbeddedStore(data) as first:
        add(log(first), 0, 3)
        shutil.copytree(data, copy, ignore=shutil.ignore_patterns("*.sock"))
        assert store_socket_url(copy) != first.url
        with pytest.raises(StoreUnavailable):
            log(EmbeddedStore(copy)).last("g")
        with EmbeddedStore(copy) as second:
            assert second.owned
            assert (server(second), second.url) != (server(first), first.url)
            add(log(second), 3, 2)
            add(log(first), 3, 1)
            assert (4, 5) == (log(first).last("g"), log(second).last("g"))
        assert first.poll()
        with connect(first.url) as client:
            assert client.ping()
    with EmbeddedStore(data) as again:
        assert 4 == log(again).last("g")


def test_a_killed_server_is_brought_back_with_all_that_was_acknowledged(data: Path) -> None:
    """Every append that was answered before the SIGKILL is read after the restart, by the same client."""
    with EmbeddedStore(data) as store:
        writer_log, acknowledged, enough = log(store), [], threading.Event()

        def write() -> None:
            try:
                while True:
                    add(writer_log, len(acknowledged))
                    acknowledged.append(1)
                    if len(acknowledged) == 100:
                        enough.set()
            except StoreUnavailable:
                pass

        writer = threading.Thread(target=write)
        writer.start()
        assert enough.wait(60)
        pid = server(store)
        os.kill(pid, signal.SIGKILL)
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # its sockets close a little before it has ended
        writer.join(60)
        assert not store.poll()
        store.restart()
        assert store.poll()
        assert store.owned
        assert len(acknowledged) <= len(writer_log.read("g")) <= len(acknowledged) + 1
        assert isinstance(add(writer_log, writer_log.last("g")), Appended)


def test_starting_what_runs_changes_nothing(data: Path) -> None:
    """A second start of the same store keeps the server and its owner."""
    with EmbeddedStore(data) as store:
        pid = server(store)
        store.start()
        assert (pid, True) == (server(store), store.owned)
    assert is_gone(pid)


def test_a_file_whose_end_was_lost_is_read_up_to_there(data: Path) -> None:
    """After a power cut the server starts, and of an append that was cut there is no part."""
    with EmbeddedStore(data) as store:
        for seq in range(0, 30, 3):
            add(log(store), seq, 3)
    (tail,) = store.folder.glob("appendonlydir/*.incr.aof")
    os.truncate(tail, tail.stat().st_size - 7)
    with EmbeddedStore(data) as store:
        assert 27 == log(store).last("g")
        assert 9 == log(store).client.xlen(Keys(4).feed(Keys(4).partition("g")))
        assert Appended(30) == add(log(store), 27, 3)


def test_a_file_that_is_damaged_in_the_middle_is_told_with_the_log(data: Path) -> None:
    """The store does not start on what it cannot read, and says why in the server's own words."""
    with EmbeddedStore(data) as store:
        add(log(store), 0, 3)
    (tail,) = store.folder.glob("appendonlydir/*.incr.aof")
    content = tail.read_bytes()
    tail.write_bytes(b"?" * 20 + content[20:])
    with pytest.raises(EmbeddedStoreError, match="Bad file format reading the append only file"):
        EmbeddedStore(data).start()
    assert not store.poll()
    tail.write_bytes(content)
    with EmbeddedStore(data) as again:
        assert 3 == log(again).last("g")


def test_a_server_that_holds_the_folder_and_does_not_answer_is_told(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody waits for ever for a server that hangs, and no second one is started beside it."""
    with EmbeddedStore(data) as store:
        socket = store.socket.rename(store.socket.with_name("hidden"))
        monkeypatch.setattr("services.embedded.START_SECONDS", 0.05)
        with pytest.raises(EmbeddedStoreError, match="does not answer"):
            EmbeddedStore(data).start()
        socket.rename(store.socket)


def test_ctrl_c_does_not_reach_the_server(data: Path) -> None:
    """The terminal's signals go to the owner alone, which stops the server in order."""
    with EmbeddedStore(data) as store:
        assert os.getsid(0) != os.getsid(server(store))


def test_a_long_log_is_put_aside(data: Path) -> None:
    """The server's log does not grow without end over many starts."""
    with EmbeddedStore(data) as store:
        pass
    (store.folder / "store.log").write_bytes(b"x" * 1_000_001)
    with EmbeddedStore(data):
        assert (store.folder / "store.log").stat().st_size < 100_000
    assert 1_000_001 == (store.folder / "store.log.1").stat().st_size


def test_a_server_that_cannot_write_is_unavailable(data: Path) -> None:
    """Full memory is the server's condition, not the command's fault; nothing is written."""
    with EmbeddedStore(data) as store:
        events = log(store)
        add(events, 0)
        events.client.config_set("maxmemory", 1)
        with pytest.raises(StoreUnavailable):
            add(events, 1)
        events.client.config_set("maxmemory", 0)
        assert 1 == events.last("g")


def test_a_process_is_told_from_a_later_one() -> None:
    """The mark of a process stays the same while it lives, and ends with it, waited for or not."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        mark = process_began(process.pid)
        assert mark == process_began(process.pid) != process_began(os.getpid())
        assert mark is not None
        process.kill()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert process_began(process.pid) is None
    assert process_began(process.pid) is None


@pytest.mark.parametrize("name", ["with spaces", "a=b"])
def test_clients_can_read_what_the_server_tells_of_them(tmp_path: Path, name: str) -> None:
    """The socket's path stands in CLIENT INFO, which redis-py splits at spaces and equals signs, as RQ's workers do."""
    with EmbeddedStore(tmp_path / name) as store, connect(store.url) as client:
        assert client.client_info()["flags"]


def test_a_deleted_folder_leaves_no_server_behind(data: Path) -> None:
    """Who deletes the folder of a running store still gets its server stopped."""
    store = EmbeddedStore(data)
    store.start()
    pid = server(store)
    shutil.rmtree(data)
    store.stop()
    assert is_gone(pid)


def test_a_fork_does_not_stop_what_its_parent_started(data: Path) -> None:
    """Only the process that started the store stops it."""
    with EmbeddedStore(data) as store:
        child = os.fork()
        if child == 0:
            store.stop()
            os._exit(0)
        os.waitpid(child, 0)
        with connect(store.url) as client:
            assert isinstance(client, redis.Redis)
            assert client.ping()
