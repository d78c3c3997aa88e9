"""Following one stream through everything that can end it, and a bot that keeps to its bounds."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from queue import Queue
from threading import Barrier, Lock
from typing import Any

import httpx
import pytest

from api.answered import Table
from api.bot import HttpBot, is_due
from api.client import Client, Problem, Strange
from api.following import FIRST_PAUSE, LONGEST_PAUSE, Beat, Follower

Answer = Callable[[httpx.Request], httpx.Response]


def frame(cursor: str, **item: Any) -> bytes:
    """An item of a stream."""
    return f"id: {cursor}\ndata: {json.dumps(item)}\n\n".encode()


def item(cursor: str, game: str = "g", t: str = "card_played") -> bytes:
    """An event of a stream."""
    return frame(cursor, game=game, seq=1, event=json.dumps({"t": t}))


def problem(status: int, code: str) -> bytes:
    """The problem that ends a stream."""
    return (
        f"event: problem\ndata: {json.dumps({'status': status, 'code': code, 'detail': 'why'})}\n\n".encode()
    )


class Streams:
    """A server that answers with streams, one after another, and knows the cursors it was asked with."""

    def __init__(self, *answers: bytes | int | Exception) -> None:
        self.answers, self.cursors = list(answers), list[str | None]()
        self.naps: list[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer a request."""
        self.cursors.append(request.headers.get("Last-Event-ID"))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, int):
            return httpx.Response(
                answer, headers={"Retry-After": "7"}, json={"status": answer, "code": "x/y"}
            )
        return httpx.Response(200, content=answer)

    def follow(self, chance: float = 0.0) -> Follower:
        """Somebody who follows it."""
        client = Client("http://hearts.test", "token", transport=httpx.MockTransport(self))
        return Follower(client, sleep=self.naps.append, chance=lambda: chance)

    def take(self, count: int, chance: float = 0.0) -> list[Any]:
        """The first things that a follower hears."""
        return list(islice(self.follow(chance).items(), count))


def test_a_stream_is_opened_again_at_its_cursor() -> None:
    """After its end, an error of the connection, and a server that is away or too busy; each item comes once."""
    opened = b"retry: 500\n\n"
    streams = Streams(
        opened + item("1") + item("2"), httpx.ConnectError("gone"), 503, 429, b": \n\n" + item("3"), item("4")
    )
    heard = streams.take(8)
    assert [Beat.OPENED, Beat.ALIVE, "g", "g", Beat.OPENED, Beat.ALIVE, "g", Beat.OPENED] == [
        one if isinstance(one, Beat) else one.game for one in heard
    ]
    assert [None, "2", "2", "2", "2", "3"] == streams.cursors
    assert [FIRST_PAUSE, 2 * FIRST_PAUSE, 7.0, 7.0, FIRST_PAUSE] == streams.naps


def test_pauses_grow_to_a_bound_and_are_shortened_by_chance() -> None:
    """Doubled while nothing comes of it; up to half less."""
    for chance, share in ((0.0, 1.0), (1.0, 0.5)):
        streams = Streams(*[httpx.ConnectError("gone")] * 12, item("1"))
        streams.take(1, chance)
        assert [share * min(LONGEST_PAUSE, FIRST_PAUSE * 2**n) for n in range(12)] == streams.naps


def test_a_piece_of_an_item_is_none() -> None:
    """What broke off in the middle of an item comes again."""
    streams = Streams(item("1") + item("2")[:-5], item("2"))
    heard = [one for one in streams.take(4) if not isinstance(one, Beat)]
    assert (2, [None, "1"]) == (len(heard), streams.cursors)


def test_a_problem_in_a_stream_is_dealt_with() -> None:
    """Too slow: again at the cursor. Events lost: again from the tables on. A token that has ended: told."""
    streams = Streams(
        item("1") + problem(503, "stream/too_slow"),
        item("2") + problem(409, "log/cut"),
        item("3") + problem(401, "auth/required"),
    )
    with pytest.raises(Problem, match="why"):
        streams.take(99)
    assert [None, "1", None] == streams.cursors


@pytest.mark.parametrize("status", [401, 403, 404, 422])
def test_a_refusal_that_stays_one_is_told(status: int) -> None:
    """Coming again would not help."""
    with pytest.raises(Problem):
        Streams(status).take(1)


@pytest.mark.parametrize("data", ["{", "[]", '{"game": 1}'])
def test_another_server_is_told(data: str) -> None:
    """What cannot be read is no Hearts server of this version."""
    with pytest.raises(Strange):
        Streams(f"data: {data}\n\n".encode()).take(2)


class FakeHouse:
    """Games in which one seat has to play ``cards`` cards each; what it is told goes to the stream."""

    def __init__(self, games: int, cards: int = 3) -> None:
        self.left = dict.fromkeys([f"g{number}" for number in range(games)], cards)
        self.played: list[tuple[str, str]] = []
        self.bodies: list[bytes] = []
        self.news: Queue[bytes] = Queue()
        self.faults: list[Exception | httpx.Response] = []
        self._lock = Lock()
        for game in self.left:
            self.news.put(frame(game, game=game, seq=1, table=self.body(game)))

    def body(self, game: str) -> dict[str, Any]:
        """A table as its player sees it."""
        over = not self.left[game]
        told: dict[str, Any] = dict.fromkeys(("head", "reason"), "")
        told |= {"trick": [], "last_trick": [], "last_winner": None, "totals": [], "hands": [], "winners": []}
        told |= {"id": game, "seq": 1, "variant": "basic", "rules": {}, "hand_number": 1, "pass_offset": 0}
        told |= {"status": "over" if over else "playing", "phase": "over" if over else "play"}
        seat = {"seat": 0, "kind": "player", "name": "Bot", "ready": True}
        return told | {"turn": 0, "you": 0, "hearts_broken": False, "legal": "2C 3C", "seats": [seat]}

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answer a request."""
        if request.url.path == "/v1/me/events":
            return httpx.Response(200, content=self._stream())
        game = request.url.path.split("/")[3]
        with self._lock:
            if self.faults:
                fault = self.faults.pop(0)
                if isinstance(fault, Exception):
                    raise fault
                return fault
            if request.method == "POST":
                self._play(game, request.content)
            return httpx.Response(200, json=self.body(game))

    def _play(self, game: str, content: bytes) -> None:
        self.bodies.append(content)
        self.played.append((game, json.loads(content)["play"]))
        self.left[game] -= 1
        if not self.left[game]:
            self.news.put(item(f"{game}.end", game, "game_ended"))

    def _stream(self) -> Iterator[bytes]:
        while True:
            yield self.news.get(timeout=30)

    def bot(self, choose: Any, **more: Any) -> HttpBot:
        """A bot that plays here."""
        client = Client("http://hearts.test", "token", transport=httpx.MockTransport(self), waits=())
        return HttpBot(client, choose, **more)


def last(table: Table) -> str:
    """The last legal card."""
    return table.legal.split()[-1]


def test_so_many_games_are_played_at_a_time() -> None:
    """The others wait in the order in which they came."""
    house = FakeHouse(6)
    open_games: set[str] = set()

    def choose(table: Table) -> str:
        if house.left[table.id] == 3:
            open_games.add(table.id)
        assert sum(bool(house.left[game]) for game in open_games) <= 2
        return last(table)

    bot = house.bot(choose, most_games=2)
    bot.play(6)
    assert (18, 0, 6) == (bot.moves, bot.failures, bot.finished)
    order = [game for game, _ in house.played]
    for number in range(2, 6):
        before = order[: order.index(f"g{number}")]
        assert number - 1 <= sum(before.count(game) == 3 for game in house.left)
    assert {"3C"} == {card for _, card in house.played}


def test_a_game_without_a_seat_keeps_no_other_waiting() -> None:
    """Where the seat was given up, or is only kept for the player."""
    house = FakeHouse(3)
    body = house.body
    house.body = lambda game: body(game) | ({"you": None} if game == "g0" else {})  # type: ignore[method-assign]
    bot = house.bot(last, most_games=1)
    bot.play(2)
    assert ({"g1", "g2"}, 6) == ({game for game, _ in house.played}, bot.moves)


def test_so_many_decisions_are_made_at_a_time() -> None:
    """As many as are allowed, and not one more."""
    house, together, lock, now, most = FakeHouse(6), Barrier(3), Lock(), [0], [0]

    def choose(table: Table) -> str:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        if house.left[table.id] == 3 and table.id in ("g0", "g1", "g2"):
            together.wait(30)
        with lock:
            now[0] -= 1
        return last(table)

    house.bot(choose, at_once=3).play(6)
    assert 3 == most[0]


def test_a_bot_that_fails_loses_the_decision_and_no_game() -> None:
    """What it raises, and what is refused, costs the first legal card."""
    house = FakeHouse(2)

    def choose(table: Table) -> str:
        raise ZeroDivisionError

    bot = house.bot(choose)
    bot.play(2)
    assert (0, 6, {"2C"}) == (bot.moves, bot.failures, {card for _, card in house.played})
    house = FakeHouse(1)
    refusal = httpx.Response(422, json={"status": 422, "code": "play/must_follow_suit"})

    def refused(table: Table) -> str:
        if house.left["g0"] == 3:
            house.faults.append(refusal)
        return last(table)

    bot = house.bot(refused)
    bot.play(1)
    assert (2, 1, ["2C", "3C", "3C"]) == (bot.moves, bot.failures, [card for _, card in house.played])


class Beating(HttpBot):
    """A bot to whom the stream says that it is there each time that a game has been looked at."""

    house: FakeHouse

    def _look(self, game: str) -> None:
        super()._look(game)
        self.house.news.put(b": \n\n")


@pytest.mark.parametrize(
    "fault",
    [
        httpx.ConnectError("gone"),
        httpx.Response(503),
        httpx.Response(503, json={"status": 503}),
        httpx.Response(409, json={"status": 409}),
    ],
)
def test_a_game_is_looked_at_again(
    fault: Exception | httpx.Response, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the server was away, though nothing more is told of the game; and where somebody else had moved."""
    monkeypatch.setattr("api.bot.OWED_SECONDS", 0.0)
    house, faults = FakeHouse(1), [fault]

    def choose(table: Table) -> str:
        if faults and house.left["g0"] == 2:
            house.faults.append(faults.pop())
        return last(table)

    bot = Beating(
        Client("http://hearts.test", "token", transport=httpx.MockTransport(house), waits=()), choose
    )
    bot.house = house
    bot.play(1)
    assert ([], [], 3, 0) == (faults, house.faults, len(house.played), bot.failures)


def test_nothing_is_signed_unless_it_is_asked_for() -> None:
    """A move is a move and nothing else."""
    house = FakeHouse(1)
    house.bot(last).play(1)
    assert [{"play": "3C"}] * 3 == [json.loads(body) for body in house.bodies]


@pytest.mark.parametrize(
    ("changes", "due"),
    [
        ({}, True),
        ({"turn": 1}, False),
        ({"turn": None, "phase": "pass"}, True),
        ({"status": "over"}, False),
        ({"you": None}, False),
    ],
)
def test_only_what_waits_for_the_seat_is_decided(changes: dict[str, Any], due: bool) -> None:
    """Its turn, or a pass that it still owes; not for a spectator."""
    table = httpx.Response(200, json=FakeHouse(1).body("g0") | changes)
    transport = httpx.MockTransport(lambda _: table)
    assert due is is_due(Client("http://hearts.test", transport=transport).table("g0"))


def test_the_client_does_not_pull_the_server_in() -> None:
    """A bot's process has neither Flask nor a store's client."""
    seen = subprocess.run(
        [sys.executable, "-c", "import api.bot, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": ":".join(sys.path)},
    ).stdout.split()
    assert not {"flask", "redis", "rq", "marshmallow", "services", "granian"} & set(seen)
