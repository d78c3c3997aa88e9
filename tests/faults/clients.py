"""The load: players in pairs, each with a program of its own, who play real games over HTTP and note every answer.

Whoever is not answered asks again under the same key, after a pause that differs from caller to caller. Now and then one
gives up an answer before it can have come, repeats what was done long ago, or asks for what the rules do not allow.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from queue import Empty, SimpleQueue
from random import Random
from threading import Event, Thread
from typing import Any, Final, NamedTuple

import httpx

from domain.cards import format_cards, parse_cards
from services.audit import Receipt
from tests.faults.history import MOON, OPEN, PASS, PLAY, READ, READY, SIT, Call, History
from tests.support.house import PATIENCE

ANSWER_SECONDS: Final = 2.0
"""How long a client waits for an answer before it asks again."""
HASTY_SECONDS: Final = 0.002
"""The same for one that gives up too early, so that answers are lost without any fault."""
PAUSE_SECONDS: Final = (0.02, 0.3)
"""Least and longest pause before a call is repeated."""
RULES: Final[tuple[Mapping[str, Any], ...]] = (
    {"variant": "standard", "hand_limit": 1},
    # the twin of a card is played where a repeat is taken for a new command
    {"variant": "custom", "decks": 2, "hand": 26, "pass_count": 0, "hand_limit": 1},
)
HASTY, AGAIN, WRONG = 0.04, 0.04, 0.04
"""How often a client gives up early, repeats something old, and asks for what is not allowed."""

Connect = Callable[[], httpx.Client]
"""Makes a connection to the house, without a token."""


class Command(NamedTuple):
    """What is asked for under a key."""

    kind: str
    game: str
    path: str
    body: Mapping[str, Any]
    key: str
    what: str = ""


class Player:
    """One program of a player. ``give_up`` ends it where the house cannot be brought to answer."""

    def __init__(self, name: str, connect: Connect, history: History, rng: Random, give_up: Event) -> None:
        self.name = name
        self._connect, self._history, self._rng, self.give_up = connect, history, rng, give_up
        self._http = connect()
        made = self._http.post("/v1/players", json={"name": name}, timeout=PATIENCE)
        assert 201 == made.status_code, made.text
        self.id, token = made.json()["id"], made.json()["token"]
        self._headers = {"Authorization": f"Bearer {token}"}
        self._done: list[Command] = []

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def command(self, kind: str, path: str, body: Mapping[str, Any], game: str = "", what: str = "") -> Call:
        """Ask for something until it is done or refused. The last try."""
        asked = Command(kind, game, path, body, f"{self._rng.getrandbits(64):016x}", what)
        last = self._ask(asked, hasty=self._rng.random() < HASTY)
        while last.unknown and not self.give_up.wait(self._rng.uniform(*PAUSE_SECONDS)):
            last = self._ask(asked)
        if last.done:
            self._done.append(asked._replace(game=last.game))
        return last

    def repeat(self) -> None:
        """Ask once more for something that was done."""
        if self._done:
            self._ask(self._rng.choice(self._done[-20:]))

    def read(self, game: str, after: int | None = None) -> dict[str, Any] | None:
        """The table, or what has happened behind an event, waited for; none where the house does not answer."""
        path = f"/v1/games/{game}" if after is None else f"/v1/games/{game}/events?after={after}&wait=1"
        began = time.monotonic()
        body: dict[str, Any] | None = None
        try:
            answer = self._http.get(path, headers=self._headers, timeout=ANSWER_SECONDS + 1)
            status, body = answer.status_code, answer.json() if answer.is_success else None
        except (httpx.HTTPError, ValueError):
            status = 0
        latest = (body or {}) if after is None else ((body or {}).get("events") or [{}])[-1]
        seq, head = latest.get("seq", 0), latest.get("head", "")
        self._note(Command(READ, game, path, {}, ""), began, status, seq=seq, head=head)
        if body is None:
            self.give_up.wait(self._rng.uniform(*PAUSE_SECONDS))
        return body

    def _ask(self, asked: Command, *, hasty: bool = False) -> Call:
        headers = {**self._headers, "Idempotency-Key": asked.key}
        timeout = httpx.Timeout(ANSWER_SECONDS, read=HASTY_SECONDS if hasty else ANSWER_SECONDS)
        began = time.monotonic()
        try:
            answer = self._http.post(asked.path, json=asked.body, headers=headers, timeout=timeout)
            body: dict[str, Any] = answer.json()
        except (httpx.HTTPError, ValueError):
            return self._note(asked, began, 0)
        if not answer.is_success:
            status = answer.status_code if answer.status_code != 429 else 503  # it was not looked at
            return self._note(asked, began, status, code=body.get("code", ""))
        signed = body.get("receipt")
        return self._note(
            asked._replace(game=asked.game or body["id"]),
            began,
            answer.status_code,
            seq=body["seq"],
            head=body["head"],
            replayed="Idempotency-Replayed" in answer.headers,
            receipt=None if signed is None else Receipt(**signed),
        )

    def _note(self, asked: Command, began: float, status: int, **more: Any) -> Call:
        call = Call(
            client=self.name,
            player=self.id,
            kind=asked.kind,
            game=asked.game,
            what=asked.what,
            key=asked.key,
            began=began,
            ended=time.monotonic(),
            status=status,
            **more,
        )
        self._history.add(call)
        return call

    def play(self, game: str) -> None:
        """Play a game to its end."""
        while not self.give_up.is_set():
            table = self.read(game)
            if table is None:
                continue
            if table["status"] == "over":
                return
            if not self._act(game, table):
                self.read(game, table["seq"])

    def _act(self, game: str, table: Mapping[str, Any]) -> bool:
        """Do what the table waits for, if that is something of ours."""
        move = self._move_of(table)
        chance = self._rng.random()
        if chance < AGAIN:
            self.repeat()
        elif chance < AGAIN + WRONG and table["phase"] == "play":
            self._move(game, PLAY, {"play": "2C" if table["turn"] != table["you"] else "XX"}, "2C")
        if move is None:
            return False
        kind, body, what = move
        self._move(game, kind, body, what)
        return True

    def _move(self, game: str, kind: str, body: Mapping[str, Any], what: str) -> None:
        self.command(kind, f"/v1/games/{game}/moves", body, game, what)

    def _move_of(self, table: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], str] | None:
        me = table["seats"][table["you"]]
        if table["phase"] == "pass" and not me["passed"]:
            cards = self._rng.sample(table["hand"].split(), table["rules"]["pass_count"])
            return PASS, {"pass": cards}, format_cards(parse_cards(" ".join(cards)))
        if table["phase"] == "play" and table.get("legal"):
            card = self._rng.choice(table["legal"].split())
            return PLAY, {"play": card}, card
        if table["phase"] == "moon" and table["turn"] == table["you"]:
            return MOON, {"moon": "add"}, "add"
        return None


class Pair:
    """Two players who meet at one table after another, with two bots."""

    def __init__(self, first: Player, second: Player, rng: Random, stop: Event) -> None:
        self._first, self._second, self._rng, self._stop = first, second, rng, stop
        self._opened: SimpleQueue[str] = SimpleQueue()
        self._seated: SimpleQueue[str] = SimpleQueue()
        self.games: list[str] = []

    def host(self) -> None:
        """Open tables, and play at each to its end."""
        me = self._first
        while not self._stop.is_set() and not me.give_up.is_set():
            body = {**self._rng.choice(RULES), "seats": ["me", "open", {"bot": "rules"}, {"bot": "random"}]}
            opened = me.command(OPEN, "/v1/games", body)
            if not opened.done:
                assert not opened.refused, opened
                continue
            self.games.append(opened.game)
            self._opened.put(opened.game)
            self._next(self._seated)  # nobody is ready before all sit
            me.command(READY, f"/v1/games/{opened.game}/ready", {}, opened.game)
            me.play(opened.game)
        self._opened.put("")

    def guest(self) -> None:
        """Sit down at those tables, and play."""
        me = self._second
        while (game := self._next(self._opened)) and not me.give_up.is_set():
            me.command(SIT, f"/v1/games/{game}/seats", {}, game)
            self._seated.put(game)
            me.command(READY, f"/v1/games/{game}/ready", {}, game)
            me.play(game)

    def _next(self, games: SimpleQueue[str]) -> str:
        while not self._second.give_up.is_set():
            try:
                return games.get(timeout=0.5)
            except Empty:
                continue
        return ""


class Load:
    """Some pairs at a house, from `start` until `finish`."""

    def __init__(self, connect: Connect, seed: int, pairs: int, history: History) -> None:
        self.history = history
        self.give_up, self._stop = Event(), Event()
        rng = Random(seed)
        self.players: list[Player] = []
        self._pairs: list[Pair] = []
        for number in range(pairs):
            two = [
                Player(f"{side}{number}", connect, self.history, Random(rng.random()), self.give_up)
                for side in ("host", "guest")
            ]
            self.players += two
            self._pairs.append(Pair(*two, Random(rng.random()), self._stop))
        self._threads = [
            Thread(target=work, name=f"load-{number}", daemon=True)
            for number, work in enumerate(work for pair in self._pairs for work in (pair.host, pair.guest))
        ]

    def start(self) -> None:
        """Let everybody play."""
        for thread in self._threads:
            thread.start()

    def games(self) -> Iterator[str]:
        """The tables that were opened."""
        for pair in self._pairs:
            yield from pair.games

    def is_playing(self) -> bool:
        """Whether somebody still plays; nobody does once `finish` has let all games end."""
        return any(thread.is_alive() for thread in self._threads)

    def finish(self, seconds: float = PATIENCE) -> None:
        """Open no more tables and play to their end those that are there; give up after so many seconds."""
        self._stop.set()
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self.give_up.set()
        for thread in self._threads:
            thread.join(PATIENCE)
        for player in self.players:
            player.close()
