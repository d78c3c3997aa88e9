"""`hearts up` where something is wrong: what it says, that it does not wait, and that it leaves nothing behind."""

import dataclasses
import os
import secrets
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import httpx
import psutil
import pytest

from services.audit import server_key
from services.cli_up import House, HouseError
from services.embedded import EmbeddedStore
from services.settings import Settings
from services.store import connect
from services.supervise import Program, Stop
from services.wire import Wire
from tests.support.house import HEARTS, PATIENCE, refused, up
from tests.support.own_store import OwnStore


def test_a_key_that_cannot_be_used(tmp_path: Path) -> None:
    """It is told at once, before any process is started."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "server.key").write_text("no key")
    told = refused("--data", data, "--port", "0")
    assert told.startswith(f"Error: the server key in {data / 'server.key'} cannot be used")
    assert not list((data / "logs").glob("*.log"))


def test_a_key_that_was_lost(tmp_path: Path) -> None:
    """Given a store with a key, when its file is gone, then nothing is served, and no other key is made."""
    data = tmp_path / "data"
    with EmbeddedStore(data) as store, connect(store.url) as client:
        public = server_key(Wire(client), data / "server.key", secrets.token_bytes).public
    kept = (data / "server.key").rename(tmp_path / "kept")
    told = refused("--data", data, "--port", "0")
    assert f"proved by the server key {public}, which is not there ({data / 'server.key'})" in told
    assert not (data / "server.key").exists()
    kept.rename(data / "server.key")
    with up(data) as house:
        with httpx.Client(trust_env=False) as http:
            assert public == http.get(f"{house.url}/version").json()["server_key"]
        assert 0 == house.stop()


@pytest.mark.parametrize("victim", ["api", "projector", "bots-2"])
def test_a_process_that_cannot_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victim: str) -> None:
    """Given one process that dies each time it starts, then the house is not said to be served: its log is shown."""
    told: list[str] = []
    settings = Settings(data=tmp_path / "data", port=0)
    house = House(settings, Stop(), told.append)
    programs = house._programs

    def spoilt() -> list[Program]:
        dying = [sys.executable, "-c", "import sys; sys.exit('it cannot work')"]
        return [
            dataclasses.replace(program, command=dying) if program.name == victim else program
            for program in programs()
        ]

    monkeypatch.setattr(house, "_programs", spoilt)
    try:
        house.open()
        with pytest.raises(HouseError) as caught:
            house.wait_until_ready()
    finally:
        house.close()
    assert str(caught.value).startswith(f"{victim} has ended 5 times as it started; its log, ")
    assert str(caught.value).endswith("it cannot work")
    assert [f"{victim} ended with exit code 1", f"{victim} has ended 3 times in a row"] == [
        sentence.partition(" and is ")[0].partition(" (")[0] for sentence in told
    ]


def test_two_on_one_folder_have_logs_of_their_own(tmp_path: Path) -> None:
    """The second names its logs by its port, and tells so; the usual names are free again when the first has gone."""
    data = tmp_path / "data"
    with up(data) as first, up(data, 0) as second:
        names = {path.name for path in (data / "logs").glob("*.log")}
        own = {f"{name}-{second.port}.log" for name in ("api", "projector", "bots-1", "bots-2", "audits-1")}
        assert {"api.log", "projector.log", "bots-1.log", "bots-2.log", "audits-1.log"} | own == names
        assert "listens" in (data / "logs" / f"api-{second.port}.log").read_text()
        assert [0, 0] == [second.stop(), first.stop()]
    with up(data) as third:
        assert not (data / "logs" / f"api-{third.port}.log").exists()
        assert 0 == third.stop()


@pytest.mark.parametrize("option", ["--data", "--host"])
def test_an_empty_option_is_wrong_usage(option: str, tmp_path: Path) -> None:
    """Nothing is spread in the current folder."""
    done = subprocess.run([HEARTS, "up", option, ""], cwd=tmp_path, capture_output=True, text=True)
    assert (2, "", []) == (done.returncode, done.stdout, list(tmp_path.iterdir()))
    assert f"Invalid value for '{option}': '': " in done.stderr


def test_options_that_cannot_be_used(tmp_path: Path) -> None:
    """A name that is too long, a link that goes round, a host that is none: a sentence each."""
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name, why in (("x" * 300, "File name too long"), ("loop/data", "symbolic links")):
        told = refused("--data", tmp_path / name, "--port", "0")
        assert told.startswith(f"Error: games cannot be kept in {tmp_path / name}: ")
        assert why in told
    told = refused("--data", tmp_path / "data", "--port", "0", "--host", "a..b")
    assert told.startswith("Error: a..b is no address of this machine: ")
    assert not (tmp_path / "data").exists()


def test_a_store_of_ones_own_is_looked_at(tmp_path: Path) -> None:
    """Given a server that keeps no file and may drop keys, no bot workers and a queue that is away, then each is a
    warning at the start, once, and what concerns the store stands in /readyz.
    """
    with closing(OwnStore(tmp_path, "--maxmemory-policy", "allkeys-lru")) as store:
        environment = {
            "HEARTS_STORE_URL": store.url,
            "HEARTS_QUEUE_URL": "redis://127.0.0.1:1/0",
            "HEARTS_BOT_WORKERS": "0",
        }
        with up(tmp_path / "data", **environment) as house:
            with httpx.Client(trust_env=False) as http:
                ready = http.get(f"{house.url}/readyz")
            assert 200 == ready.status_code
            assert 2 == len(ready.json()["warnings"])
            told = house.told().splitlines()
            assert 3 == len(told), told
            assert told[0] == f"warning: {'; '.join(ready.json()['warnings'])}"
            assert "allkeys-lru" in told[0]
            assert "no append-only file" in told[0]
            assert "HEARTS_BOT_WORKERS=0" in told[1]
            assert "HEARTS_QUEUE_URL" in told[2]
            assert 0 == house.stop()


def test_a_database_that_the_server_has_not(tmp_path: Path) -> None:
    """One sentence, and no traceback."""
    with closing(OwnStore(tmp_path)) as store:
        url = store.url.replace("/0", "/99")
        for words in (["up", "--data", str(tmp_path / "data"), "--port", "0"], ["serve"], ["worker", "bots"]):
            done = subprocess.run(
                [HEARTS, *words],
                env=os.environ | {"HEARTS_STORE_URL": url, "HEARTS_PORT": "0", "HEARTS_DATA": str(tmp_path)},
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
            assert (1, "") == (done.returncode, done.stdout)
            assert done.stderr == "Error: the store cannot be worked with: DB index is out of range\n"


def test_it_stops_at_once_while_the_store_does_not_answer(tmp_path: Path) -> None:
    """Given a store that hangs, and requests that wait for it, then no process is waited for."""
    with (
        closing(OwnStore(tmp_path)) as store,
        up(tmp_path / "data", HEARTS_STORE_URL=store.url) as house,
        ThreadPoolExecutor(4) as pool,
    ):
        store.process.send_signal(signal.SIGSTOP)
        waiting = [pool.submit(lost, f"{house.url}/v1/games") for _ in range(4)]
        began = time.monotonic()
        assert 0 == house.stop()
        assert time.monotonic() - began < 8, "the processes were waited for"
        assert all(one.result(PATIENCE) for one in waiting)


def lost(url: str) -> bool:
    """Ask for something that will not be answered."""
    with httpx.Client(trust_env=False, timeout=PATIENCE) as http:
        try:
            return http.get(url).status_code >= 500
        except httpx.TransportError:
            return True


def test_it_stops_at_once_when_the_folder_was_moved(tmp_path: Path) -> None:
    """Given a folder that somebody has moved away, then nothing is waited for, and nothing is left."""
    data = tmp_path / "data"
    with up(data) as house:
        family = house.family()
        data.rename(tmp_path / "away")
        began = time.monotonic()
        assert 0 == house.stop()
        assert time.monotonic() - began < 8, "the processes were waited for"
        assert [] == [process for process in family if process.is_running()]


def test_nothing_is_left_of_a_killed_house_whose_folder_is_gone(tmp_path: Path) -> None:
    """Given a folder that was moved away, when `hearts up` is killed, then its server does not go on for ever."""
    data = tmp_path / "data"
    with up(data) as house:
        left = house.family()[1:]
        assert any("valkey" in process.name() for process in left)
        data.rename(tmp_path / "away")
        house.process.kill()
        house.process.wait(PATIENCE)
        _, alive = psutil.wait_procs(left, timeout=PATIENCE)
        assert [] == alive
