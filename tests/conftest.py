"""Stores for the tests: an in-memory fake, a real Valkey, and Debian's redis-server where it is installed.

Servers are started once a test process and emptied before each test. `HEARTS_TEST_REQUIRE=redis-server,compiler,chromium`
makes it an error that the server, what compiles the kernel, or the browser is not installed; without it, its tests are
simply not there.
"""

import os
import shutil
import signal
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import fakeredis
import pytest
import redis

from services import owed
from services.cluster import Client, connect_store
from services.embedded import EmbeddedStore
from services.keys import Keys
from services.store import Store, connect
from tests.support.servers import Nodes, servers

REDIS_SERVER = shutil.which("redis-server")
BACKENDS = ["fake", "valkey", *(["redis-server"] if REDIS_SERVER else []), "cluster"]
COMPILER = shutil.which((os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()[0])
"""What setuptools compiles with, where Python's headers are there for it, too."""
if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
    COMPILER = None
CHROMIUM = shutil.which("chromium")
collect_ignore_glob = [
    *([] if COMPILER else ["domain/test_kernel*.py"]),
    *([] if CHROMIUM else ["api/test_browser*.py"]),
]
THERE = [*BACKENDS, *(["compiler"] if COMPILER else []), *(["chromium"] if CHROMIUM else [])]
REQUIRED = [name for name in os.environ.get("HEARTS_TEST_REQUIRE", "").split(",") if name]


def pytest_configure() -> None:
    """Refuse to run where something is missing that must be tested; a run by nohup hands none of that on to what it starts."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    missing = [name for name in REQUIRED if name not in THERE]
    if missing:
        raise pytest.UsageError(f"HEARTS_TEST_REQUIRE names what is not installed: {', '.join(missing)}")


@pytest.fixture(scope="session")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a Valkey that this test process shares; its disk may lag a second behind, for speed."""
    with EmbeddedStore(tmp_path_factory.mktemp("valkey"), fsync="everysec") as store:
        yield store.url


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of Debian's redis-server, shared likewise."""
    folder = tmp_path_factory.mktemp("redis")
    command = [
        str(REDIS_SERVER),
        "--port",
        "0",
        "--unixsocket",
        f"{folder}/s",
        "--save",
        "",
        "--dir",
        f"{folder}",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout
        try:
            assert any("eady to accept connections" in line for line in server.stdout)
            yield f"unix://{folder}/s"
        finally:
            server.terminate()
            server.stdout.read()


@pytest.fixture(scope="session", autouse=True)
def _no_rest() -> Iterator[None]:
    """Bots whom all persons at a table have left go on at once: nobody watches them in most tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(owed, "TRICK_MS", 0)
        yield


@pytest.fixture(scope="session")
def cluster_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Address of a cluster of three primaries, shared likewise."""
    with servers(tmp_path_factory.mktemp("cluster") / "servers") as some:
        yield Nodes(some, primaries=3, replicas=0).url


@pytest.fixture
def valkey(valkey_url: str) -> Iterator[redis.Redis]:
    """A client of an empty, real Valkey."""
    with connect(valkey_url) as client:
        client.flushall()
        yield client


@pytest.fixture(params=BACKENDS)
def client(request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client of an empty store of each kind in turn."""
    if request.param == "fake":
        with fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2, version=(7, 0)) as fake:
            yield fake
        return
    kind = "redis" if request.param == "redis-server" else request.param
    with connect_store(request.getfixturevalue(f"{kind}_url")) as client:
        client.flushall()
        yield client


@pytest.fixture
def keys() -> Keys:
    """The keys of a small store."""
    return Keys(8)


@pytest.fixture
def store(client: Client, keys: Keys) -> Store:
    """An empty log on a store of each kind in turn."""
    return Store(client, keys)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data folder that does not exist yet."""
    return tmp_path / "data"
