"""Streams of a running house: what a listener has heard when everything is killed under it, and come back."""

import json
import signal
import uuid
from pathlib import Path
from threading import Thread
from typing import Any

import httpx

from tests.support.house import PATIENCE, until, up


class Listener(Thread):
    """Somebody who listens to one stream of server-sent events, and comes back with the last id whenever it breaks."""

    def __init__(self, url: str, token: str) -> None:
        super().__init__(daemon=True)
        self._url, self._headers = url, {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
        self.items: list[dict[str, Any]] = []
        self.breaks = 0
        self.quit = False

    def run(self) -> None:
        """Listen until asked to quit."""
        last: dict[str, str] = {}
        with httpx.Client(trust_env=False, timeout=httpx.Timeout(PATIENCE, read=20)) as http:
            while not self.quit:
                try:
                    with http.stream("GET", self._url, headers=self._headers | last) as answer:
                        if answer.status_code == 204:
                            return
                        if answer.status_code == 200:
                            for line in answer.iter_lines():
                                self._hear(line, last)
                except httpx.HTTPError:
                    pass
                self.breaks += 1

    def _hear(self, line: str, last: dict[str, str]) -> None:
        name, _, value = line.partition(": ")
        if name == "id":
            last["Last-Event-ID"] = value
        elif name == "data":
            self.items.append(json.loads(value))


def test_listeners_miss_nothing_when_processes_are_killed(tmp_path: Path) -> None:
    """Given games of a person with bots, when API and projector are killed now and then, then one stream of the game and
    one of all games have each event once, in order, and the chain of the game's proof.
    """
    with (
        up(tmp_path / "data") as house,
        httpx.Client(base_url=house.url, trust_env=False, timeout=30) as http,
    ):
        token = http.post("/v1/players", json={"name": "Anna"}).json()["token"]
        who = {"Authorization": f"Bearer {token}"}
        table = {"variant": "basic", "seats": ["me", *[{"bot": "rules"}] * 3], "hand_limit": 2}
        game = http.post("/v1/games", json=table, headers=who).json()["id"]
        listeners = [
            Listener(f"{house.url}/v1/{path}", token) for path in (f"games/{game}/events", "me/events")
        ]
        for one in listeners:
            one.start()
        until(lambda: all(one.items for one in listeners))
        ask(http, "POST", f"/v1/games/{game}/ready", who, {})
        moves = 0
        while (seen := ask(http, "GET", f"/v1/games/{game}", who))["phase"] != "over":
            if seen["phase"] == "pass" and not seen["seats"][0]["passed"]:
                body: dict[str, Any] = {"pass": seen["hand"].split()[:3]}
            elif "legal" in seen:
                body = {"play": seen["legal"].split()[0]}
            else:
                continue
            ask(http, "POST", f"/v1/games/{game}/moves", who, body)
            moves += 1
            if moves in (4, 17):
                for words in (("serve",), ("worker", "projector")):
                    for process in house.find(*words):
                        process.send_signal(signal.SIGKILL)
        last = ask(http, "GET", f"/v1/games/{game}", who)["seq"]
        until(lambda: all(one.items[-1]["seq"] == last for one in listeners))
        for one in listeners:
            one.quit = True
        of_game, of_all = ([item for item in one.items if "event" in item] for one in listeners)
        assert [item["seq"] for item in of_game] == list(range(1, last + 1))
        # whether the table is shown first depends on how soon the read models have it
        shown = listeners[1].items[0]
        before = shown["seq"] if "table" in shown else 0
        assert [{"game": game, **item} for item in of_game[before:]] == of_all
        assert all(one.breaks >= 2 for one in listeners)


def ask(http: httpx.Client, method: str, path: str, who: dict[str, str], body: Any = None) -> Any:
    """The answer of a house whose API may be away for a moment; a repeat of a move is one by its key."""
    key = {"Idempotency-Key": uuid.uuid4().hex} if body is not None else {}

    def once() -> Any:
        try:
            return http.request(method, path, headers=who | key, json=body)
        except httpx.HTTPError:
            return None

    answer = until(lambda: (found := once()) is not None and found.status_code == 200 and found)
    return answer.json()
