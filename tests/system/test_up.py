"""`hearts up`: real processes on a real folder, killed one after the other while a game is played over HTTP."""

import json
import socket
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from domain.shuffle import genesis_head, next_head
from services.embedded import EmbeddedStore
from services.proof import read_proof
from services.store import connect, fix_partitions
from services.verdicts import verify_proof
from tests.support.house import PATIENCE, Up, refused, until, up

BOTS = [{"bot": "rules"}, {"bot": "random"}, {"bot": "rules"}]


@pytest.fixture
def join() -> Iterator[Callable[[str], "Person"]]:
    """Makes persons at an address; their connections are closed when the test is over."""
    persons: list[Person] = []

    def make(url: str) -> Person:
        persons.append(Person(url))
        return persons[-1]

    yield make
    for person in persons:
        person.http.close()


class Person:
    """A player who insists: what is not answered is sent again, under the same idempotency key."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, timeout=10, trust_env=False)
        self.acks: list[dict[str, Any]] = []
        self.cards: list[str] = []
        self._told = threading.Condition()
        self._may = 0
        answer = self.ask("POST", "/v1/players", {"name": "Anna"})
        self.http.headers["Authorization"] = f"Bearer {answer['token']}"

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """The answer to a request, however often it must be sent."""
        headers = {} if method == "GET" or path == "/v1/players" else {"Idempotency-Key": uuid.uuid4().hex}

        def answer() -> httpx.Response | None:
            try:
                got = self.http.request(method, path, json=body, params=query, headers=headers)
            except httpx.TransportError:
                return None
            return None if got.status_code in (502, 503) else got

        got = until(answer)
        assert got.status_code < 300, got.text
        return got.json() if got.headers["content-type"] == "application/json" else got.content

    def open(self, **rules: Any) -> str:
        """A table of this person and three bots, locked and dealt. Returns its id."""
        game = self.ask("POST", "/v1/games", {"variant": "standard", "seats": ["me", *BOTS], **rules})["id"]
        self.ask("POST", f"/v1/games/{game}/ready", {})
        return game

    def play(self, game: str, count: int) -> None:
        """Make so many moves, or all until the game is over."""
        table = self.ask("GET", f"/v1/games/{game}")
        while table["status"] != "over" and count > 0:
            move = self.move(table)
            if move is None:
                self.ask("GET", f"/v1/games/{game}/events", after=table["seq"], wait=2)
                table = self.ask("GET", f"/v1/games/{game}")
                continue
            table = self.ask("POST", f"/v1/games/{game}/moves", move)
            count -= 1
            with self._told:
                self.acks.append(table["receipt"])
                self.cards += [move["play"]] if "play" in move else []
                self._told.notify_all()

    @staticmethod
    def move(table: dict[str, Any]) -> dict[str, Any] | None:
        """A move that is owed now, none where it is others' turn."""
        you = table["you"]
        if table["phase"] == "pass":
            cards = table["hand"].split()
            count = table["rules"]["pass_count"]
            return None if table["seats"][you]["passed"] else {"pass": cards[:count]}
        if table["turn"] != you:
            return None
        return {"moon": "add"} if table["phase"] == "moon" else {"play": table["legal"].split()[0]}

    def wait_for_acks(self, count: int) -> None:
        """Wait until so many moves have been acknowledged."""
        with self._told:
            assert self._told.wait_for(lambda: len(self.acks) >= count, PATIENCE)


def check_events(person: Person, game: str) -> list[dict[str, Any]]:
    """The public events of a game, after seeing that the chain holds and everything acknowledged is in it once."""
    events: list[dict[str, Any]] = []
    heads = [genesis_head(game)]
    while page := person.ask("GET", f"/v1/games/{game}/events", after=len(events))["events"]:
        for item in page:
            assert len(events) + 1 == item["seq"]
            text = item["event"] if isinstance(item["event"], str) else json.dumps(item["event"])
            heads.append(next_head(heads[-1], text.encode()))
            assert item["head"] == heads[-1].hex()
            events.append(json.loads(text))
    for ack in person.acks:
        assert ack["head"] == heads[ack["seq"]].hex()
    mine = [
        event["card"]
        for event in events
        if event["t"] == "card_played" and event["seat"] == 0 and event["by"] == "player"
    ]
    assert person.cards == mine
    return events


def kill(processes: list[psutil.Process]) -> None:
    """Kill processes, and wait until they are gone."""
    assert processes
    for process in processes:
        process.kill()
    psutil.wait_procs(processes, timeout=PATIENCE)


VICTIMS: list[tuple[str, Callable[[Up], list[psutil.Process]]]] = [
    ("the API", lambda house: house.find("services.cli serve")[:1]),
    ("the API's worker", lambda house: house.find("services.cli serve")[1:]),
    ("the projector", lambda house: house.find("worker projector")),
    ("a bot worker", lambda house: house.find("worker bots")[:1]),
    ("both bot workers", lambda house: house.find("worker bots")),
    ("who audits", lambda house: house.find("worker audits")),
    ("the store", lambda house: house.find("valkey-server")),
]


def test_a_game_outlives_every_process(tmp_path: Path, join: Callable[[str], Person]) -> None:
    """Given a game over HTTP, when each process is killed in turn in the middle of it, `hearts up` itself at last,
    then it goes on to the end with nothing acknowledged lost and nothing played twice.
    """
    data = tmp_path / "data"
    with up(data) as house:
        person = join(house.url)
        game = person.open(target=1000, hand_limit=6)
        for number, (_, victims) in enumerate(VICTIMS, 1):
            play = threading.Thread(target=person.play, args=(game, 5))
            play.start()
            person.wait_for_acks(5 * number - 3)
            kill(victims(house))
            person.wait_for_acks(5 * number)
            play.join(PATIENCE)
        left = house.family()[1:]
        house.process.kill()
        house.process.wait(PATIENCE)
        with up(data, house.port) as again:
            server = again.find("valkey-server")
            assert [] == server, "the server that survived was not taken over"
            person.play(game, 1000)
            events = check_events(person, game)
            assert "game_ended" == events[-1]["t"]
            assert len(person.acks) > 40
            report = verify_proof(read_proof(person.ask("GET", f"/v1/games/{game}/proof")))
            assert report.ok, report
            until(lambda: listed(person, game) == ("over", len(events)))
            assert 0 == again.stop()
        _, alive = psutil.wait_procs(left, timeout=PATIENCE)
        assert [] == alive
    for name in ("api", "projector", "bots-1", "bots-2", "audits-1", "the store"):
        assert name in house.told()


def listed(person: Person, game: str) -> tuple[str, int] | None:
    """Status and seq of a game as the list of games has it."""
    games = {one["id"]: one for one in person.ask("GET", "/v1/games", limit=50)["games"]}
    return (games[game]["status"], games[game]["seq"]) if game in games else None


def test_sigterm_leaves_nothing_and_the_folder_goes_on(tmp_path: Path, join: Callable[[str], Person]) -> None:
    """Given a table in mid-trick, when the house is stopped and started again, then the table is as it was."""
    data = tmp_path / "data"
    with up(data) as house:
        person = join(house.url)
        game = person.open()
        person.play(game, 3)
        until(lambda: Person.move(person.ask("GET", f"/v1/games/{game}")))
        before = person.ask("GET", f"/v1/games/{game}")
        family = house.family()
        assert len(family) >= 6
        assert 0 == house.stop()
        assert [] == [process for process in family if process.is_running()]
        assert "" == house.told()
        assert not (data / "store" / "store.sock").exists()
    with up(data, house.port):
        assert before == person.ask("GET", f"/v1/games/{game}")
        person.play(game, 5)
        check_events(person, game)


def test_two_share_a_folder(tmp_path: Path, join: Callable[[str], Person]) -> None:
    """A second `hearts up` on the same folder uses the store of the first, and goes on with it when that stops."""
    data = tmp_path / "data"
    with up(data) as first:
        person = join(first.url)
        game = person.open()
        with up(data, 0) as second:
            assert "shared" in second.told()
            assert [] == second.find("valkey-server")
            other = join(second.url)
            assert game == other.ask("GET", f"/v1/games/{game}")["id"]
            assert 0 == first.stop()
            until(lambda: second.find("valkey-server"))
            person.http.base_url = httpx.URL(second.url)
            person.play(game, 5)
            check_events(person, game)


def test_a_port_in_use(tmp_path: Path) -> None:
    """One clear sentence, and nothing is started or made."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = refused("--data", tmp_path / "data", "--port", port)
    assert (
        f"Error: port {port} of 127.0.0.1 is in use; choose another with "
        "--port, or HEARTS_PORT as in HEARTS_PORT=8001 make run\n"
    ) == told
    assert not (tmp_path / "data").exists()


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """The folder is named, and what to do."""
    (tmp_path / "file").touch()
    told = refused("--data", tmp_path / "file" / "data", "--port", "0")
    assert told.startswith(f"Error: games cannot be kept in {tmp_path / 'file' / 'data'}: ")
    assert "--data" in told


def test_a_store_of_another_number_of_partitions(tmp_path: Path) -> None:
    """A setting that does not fit the store is told at once, not by each process in its log."""
    data = tmp_path / "data"
    with EmbeddedStore(data) as store, connect(store.url) as client:
        fix_partitions(client, 4)
    told = refused("--data", data, "--port", "0")
    assert told.startswith("Error: this store was made with 4 partitions")
