"""`hearts serve` as a process: it listens, says what is wrong, and stops when it should."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import httpx
import psutil
import pytest
import redis
from click.testing import CliRunner

from api.cli import serve
from services.keys import Keys
from services.wire import connect
from tests.support.ports import free_ports

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-c", "from api.cli import serve; serve()"]


@pytest.fixture
def environ(valkey: object, valkey_url: str, tmp_path: Path) -> dict[str, str]:
    """The environment of a server on the test's store."""
    return {
        **os.environ,
        "HEARTS_STORE_URL": valkey_url,
        "HEARTS_DATA": str(tmp_path),
        "PYTHONPATH": str(ROOT),
    }


class Server:
    """A running server."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process, self.url = process, url
        self.http = httpx.Client(base_url=url, transport=httpx.HTTPTransport(retries=8), timeout=30)

    def close(self) -> None:
        """Drop the connections."""
        self.http.close()

    def is_ready(self) -> bool:
        """Whether it answers; connections are tried again for some seconds."""
        return self.http.get("/readyz").status_code == 200


@contextmanager
def serving(environ: dict[str, str], *options: str) -> Iterator[Server]:
    """A server with these options, ended whatever happens, its worker processes too."""
    process = subprocess.Popen(
        [*COMMAND, *options], env=environ, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr
    assert process.stdin
    workers: list[psutil.Process] = []
    stack = ExitStack()
    try:
        line = process.stderr.readline()
        assert "listens on http://" in line, line
        server = stack.enter_context(closing(Server(process, line.split()[-1])))
        assert server.is_ready()
        workers = psutil.Process(process.pid).children(recursive=True)
        yield server
    finally:
        stack.close()
        process.kill()
        process.wait()
        process.stdin.close()
        process.stderr.close()
        _, alive = psutil.wait_procs(workers, timeout=15)
        for worker in alive:
            worker.kill()
    assert [] == alive, "worker processes have outlived their server"


def blocked(client: redis.Redis) -> set[str]:
    """Who waits at the store for something to happen."""
    return {one["id"] for one in client.client_list() if "b" in one["flags"]}


def test_a_table_is_served_and_sigterm_stops_in_order(environ: dict[str, str]) -> None:
    """Requests are answered over a socket; SIGTERM ends a waiting call with an answer, and the process with 0."""
    with serving(environ, "--port", "0") as server, ThreadPoolExecutor(1) as pool:
        token = server.http.post("/v1/players", json={"name": "Änne"}).json()["token"]
        who = {"Authorization": f"Bearer {token}"}
        table = {"variant": "basic", "seats": ["me", "open", "open", "open"]}
        made = server.http.post("/v1/games", json=table, headers=who)
        assert (201, "Änne") == (made.status_code, made.json()["seats"][0]["name"])
        game = made.json()["id"]
        with connect(environ["HEARTS_STORE_URL"]) as client:
            before = blocked(client)
        waiting = pool.submit(httpx.get, f"{server.url}/v1/games/{game}/events?after=2&wait=30", timeout=40)
        with connect(environ["HEARTS_STORE_URL"]) as client:
            while not blocked(client) - before:
                assert not waiting.done()
        server.process.send_signal(signal.SIGTERM)
        assert 0 == server.process.wait(20)
        assert {"events": [], "next": 2} == waiting.result(20).json()


def test_bodies_of_any_framing_are_read(environ: dict[str, str]) -> None:
    """With and without Content-Length; too large ones are refused either way, and odd addresses are no harm."""
    with serving(environ, "--port", "0", "--threads", "4") as server:
        json_type = {"Content-Type": "application/json"}
        chunks = server.http.post("/v1/players", content=iter([b'{"name":', b' "Bo"}']), headers=json_type)
        assert (201, "Bo") == (chunks.status_code, chunks.json()["name"])
        for content in (b" " * 70_000, iter([b" " * 35_000] * 2)):
            large = server.http.post("/v1/players", content=content, headers=json_type)
            assert (413, "request/too_large") == (large.status_code, large.json()["code"])
        for path in ("/v1/variants/%FF%00%C3%28", "/v1/games/%2e%2e%2f", "/v1/games?after=%FF"):
            assert server.http.get(path).status_code in (404, 422)


def test_a_port_in_use_is_one_clear_sentence(environ: dict[str, str]) -> None:
    """Exit code 1, and what to do about it; the port is not shared with whoever has it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run([*COMMAND, "--port", str(port)], env=environ, capture_output=True, text=True)
    told = (
        f"Error: port {port} of 127.0.0.1 is in use; choose another with "
        "--port, or HEARTS_PORT as in HEARTS_PORT=8001 make run\n"
    )
    assert (1, told) == (done.returncode, done.stderr)


def test_two_servers_do_not_share_a_port(environ: dict[str, str]) -> None:
    """Not even two of our own, though the server underneath would let them."""
    with serving(environ, "--port", "0") as server:
        port = server.url.rpartition(":")[2]
        done = subprocess.run([*COMMAND, "--port", port], env=environ, capture_output=True, text=True)
        assert (1, True) == (done.returncode, "in use" in done.stderr)


def test_it_ends_with_its_parent(environ: dict[str, str]) -> None:
    """With --exit-with-parent the end of standard input is the end of the server."""
    with serving(environ, "--port", "0", "--exit-with-parent") as server:
        assert server.process.stdin
        server.process.stdin.close()
        assert 0 == server.process.wait(20)


def test_a_weak_store_is_warned_of_once(environ: dict[str, str]) -> None:
    """The tests' store may lose a second at a power cut: one line of the log and /readyz tell so."""
    with serving(environ, "--port", "0", "--workers", "2") as server:
        (warning,) = server.http.get("/readyz").json()["warnings"]
        assert "appendfsync everysec" in warning
        assert server.process.stderr
        assert server.process.stderr.readline().endswith(f"WARNING hearts.api: {warning}\n")


def test_a_killed_server_leaves_nothing_behind(environ: dict[str, str]) -> None:
    """Its worker processes end by themselves, and the port is free for the next one."""
    with serving(environ, "--port", "0", "--workers", "2") as server:
        port = server.url.rpartition(":")[2]
        workers = psutil.Process(server.process.pid).children(recursive=True)
        assert 2 <= len(workers)
        server.process.kill()
        server.process.wait()
        assert [] == psutil.wait_procs(workers, timeout=15)[1]
    with serving(environ, "--port", port) as again:
        assert again.is_ready()


def test_a_store_that_is_not_ours_is_told(environ: dict[str, str]) -> None:
    """Another number of partitions is one sentence and exit code 1, before anything is served."""
    with connect(environ["HEARTS_STORE_URL"]) as client:
        client.set(Keys.partitions_key, 7)
    done = subprocess.run([*COMMAND, "--port", "0"], env=environ, capture_output=True, text=True)
    assert 1 == done.returncode
    assert "made with 7 partitions" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", [["--port", "65536"], ["--threads", "0"], ["--workers", "x"], ["--host"]])
def test_options_are_checked(option: list[str]) -> None:
    """Exit code 2 with the option's name."""
    done = CliRunner().invoke(serve, option)
    assert (2, True) == (done.exit_code, option[0] in done.output)


@pytest.mark.parametrize("host", ["no.such.host.invalid", "192.0.2.1"])
def test_an_address_of_another_machine_is_refused(environ: dict[str, str], host: str) -> None:
    """One sentence and exit code 1."""
    done = subprocess.run([*COMMAND, "--host", host], env=environ, capture_output=True, text=True)
    assert (1, 1) == (done.returncode, len(done.stderr.splitlines()))
    assert host in done.stderr


def test_metrics_have_ports_of_their_own(environ: dict[str, str]) -> None:
    """Each process counts what it has served, on one of the ports from the named one on; the API's own has none."""
    port = free_ports(2)
    told = environ | {"HEARTS_METRICS_PORT": str(port), "HEARTS_API_WORKERS": "2"}
    with serving(told, "--port", "0") as server:
        assert 200 == server.http.get("/livez").status_code
        assert 404 == server.http.get("/metrics").status_code
        with httpx.Client(transport=httpx.HTTPTransport(retries=8)) as client:
            pages = [client.get(f"http://127.0.0.1:{port + nth}/metrics").text for nth in (0, 1)]
    counted = [line for page in pages for line in page.splitlines() if 'route="/livez",status="200"' in line]
    assert 1 == sum(float(line.split()[-1]) for line in counted)
    assert all("\nhearts_store_up 1.0\n" in page for page in pages)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"HEARTS_METRICS_PORT": "TAKEN"}, "is in use; choose another with HEARTS_METRICS_PORT"),
        ({"HEARTS_METRICS_PORT": "65535", "HEARTS_API_WORKERS": "2"}, "there are not so many"),
        ({"HEARTS_METRICS_PORT": "9100", "HEARTS_METRICS_HOST": "192.0.2.1"}, "192.0.2.1"),
    ],
)
def test_metrics_that_cannot_be_served_are_one_clear_sentence(
    environ: dict[str, str], settings: dict[str, str], told: str
) -> None:
    """Exit code 1 before anything is served."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        given = {name: value.replace("TAKEN", port) for name, value in settings.items()}
        done = subprocess.run(
            [*COMMAND, "--port", "0"], env=environ | given, capture_output=True, text=True, timeout=60
        )
    assert (1, True, 1) == (done.returncode, told in done.stderr, done.stderr.count("\n")), done.stderr
