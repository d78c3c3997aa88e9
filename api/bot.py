"""A bot that plays over HTTP, at as many tables as it likes, by one stream.

All of one::

    from api.bot import HttpBot
    from api.client import Client

    def choose(table):
        if table.phase == "moon":
            return "add"
        if table.phase == "pass":
            return table.hand.split()[: table.rules["pass_count"]]
        return table.legal.split()[0]

    with Client("http://127.0.0.1:8000") as client:
        client.new_player("My bot")
        client.open_table("basic", ["me", {"bot": "rules"}, {"bot": "rules"}, {"bot": "rules"}])
        HttpBot(client, choose).play(games=1)

Nothing of the server is imported. A plain `api.client.Client` signs nothing; give it an `api.signer.SigningClient` and
the moves are signed.
"""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Final, TypeVar

import msgspec

from api.answered import Table
from api.client import Client, ClientError, Problem
from api.following import Beat, Follower, MyItem

Choose = Callable[[Table], str | Sequence[str]]
"""Decides at a table that waits for its seat: a card to play, the cards to pass, ``add`` or ``subtract`` for a moon."""
MOST_GAMES: Final = 16
AT_ONCE: Final = 2
OWED_SECONDS: Final = 3.0
"""After which a game is looked at again that the server could not be asked about."""
T = TypeVar("T")
_LOG: Final = logging.getLogger(__name__)


class HttpBot:
    """Plays all games of a client's player by ``choose``.

    At most ``most_games`` are played at a time; others wait, in the order in which they came, until one is over. At most
    ``at_once`` decisions are made at the same time, each in a thread. Where ``choose`` raises, or what it chooses is
    refused, the first legal card is played and ``failures`` counts it.
    """

    def __init__(
        self,
        client: Client,
        choose: Choose,
        *,
        most_games: int = MOST_GAMES,
        at_once: int = AT_ONCE,
        follower: Follower | None = None,
    ) -> None:
        self.client, self.choose = client, choose
        self.follower = Follower(client) if follower is None else follower
        self.moves, self.failures, self.finished = 0, 0, 0
        self._most, self._at_once = most_games, at_once
        self._games: OrderedDict[str, None] = OrderedDict()
        """Games that are not over, the first ``most_games`` of them played."""
        self._lock = Lock()
        self._aside: set[str] = set()
        """Those of them at which the player has no seat: it was given up, or is still kept."""
        self._busy: set[str] = set()
        self._again: set[str] = set()
        self._owed: dict[str, float] = {}
        """Games that could not be looked at, and when they are to be looked at again."""
        self._stopping = False

    def stop(self) -> None:
        """Let `play` return, from any thread, as soon as its stream says something."""
        self._stopping = True

    def play(self, games: int | None = None) -> None:
        """Play until so many further games are over, or until `stop`. Raises as `Follower.items` does."""
        self._stopping = False
        enough = None if games is None else self.finished + games
        with ThreadPoolExecutor(self._at_once, "hearts-bot") as workers:
            self._workers = workers
            items = self.follower.items()
            try:
                for item in items:
                    self._hear(item)
                    if self._stopping or (enough is not None and self.finished >= enough):
                        return
            finally:
                self._stopping = True
                items.close()

    def _hear(self, item: MyItem | Beat) -> None:
        if item is Beat.OPENED:
            # what a broken connection has kept from being done
            for game in self._with_lock(self._played):
                self._stir(game)
        self._stir_owed()
        if isinstance(item, Beat):
            return
        if item.table is not None:
            over = item.table.status == "over"
        else:
            over = msgspec.json.decode(item.event, type=_Event).t == "game_ended"
        if over:
            self._rearrange(lambda: self._forget(item.game))
            self.finished += 1
            return
        self._with_lock(lambda: self._games.setdefault(item.game))
        if item.game in self._with_lock(lambda: {*self._played(), *self._aside}):
            self._stir(item.game)

    def _forget(self, game: str) -> None:
        self._games.pop(game, None)
        self._aside.discard(game)

    def _with_lock(self, what: Callable[[], T]) -> T:
        with self._lock:
            return what()

    def _played(self) -> list[str]:
        """The games that are played, the lock being held."""
        seated = [game for game in self._games if game not in self._aside]
        return seated[: self._most]

    def _rearrange(self, change: Callable[[], object]) -> None:
        """Change which games there are, and begin with those whose turn it has become."""
        with self._lock:
            before = self._played()
            change()
            fresh = [game for game in self._played() if game not in before]
        for game in fresh:
            self._stir(game)

    def _stir_owed(self) -> None:
        now = time.monotonic()
        with self._lock:
            due = [game for game, at in self._owed.items() if at <= now]
            for game in due:
                del self._owed[game]
            due = [game for game in due if game in self._games]
        for game in due:
            self._stir(game)

    def _stir(self, game: str) -> None:
        """Have a game looked at, once more where somebody is at it."""
        with self._lock:
            if self._stopping:
                return
            if game in self._busy:
                self._again.add(game)
                return
            self._busy.add(game)
        self._workers.submit(self._look, game)

    def _look(self, game: str) -> None:
        while True:
            try:
                self._play(game)
            except ClientError as error:
                _LOG.warning("game %s: %s", game, error)
                if not isinstance(error, Problem) or error.status == 429 or error.status >= 500:
                    with self._lock:
                        self._owed[game] = time.monotonic() + OWED_SECONDS
            except Exception:  # noqa: BLE001 (a thread of a pool would keep it to itself)
                _LOG.exception("game %s", game)
            with self._lock:
                if game not in self._again or self._stopping:
                    self._busy.discard(game)
                    self._again.discard(game)
                    return
                self._again.discard(game)

    def _play(self, game: str) -> None:
        """Make the moves that a game waits for."""
        table = self.client.table(game)
        if (table.you is None) is not (game in self._aside):
            change = self._aside.add if table.you is None else self._aside.discard
            self._rearrange(lambda: change(game))
        if table.status == "open" and table.you is not None and not table.seats[table.you].ready:
            table = self.client.ready(game)
        conflicts = 0
        while is_due(table) and not self._stopping:
            try:
                table, conflicts = self._move(table), 0
            except Problem as problem:
                conflicts += 1
                if problem.status not in (409, 412) or conflicts > 1:
                    raise
                # somebody has moved for the seat: the clock, or another process of the same player
                table = self.client.table(game)

    def _move(self, table: Table) -> Table:
        choice = self._chosen(table)
        if choice is not None:
            try:
                answer = self._send(table, choice)
            except Problem as problem:
                if problem.status != 422:
                    raise
                _LOG.warning("game %s: %s", table.id, problem)
            else:
                self._count("moves")
                return answer
        self._count("failures")
        return self._send(table, _first(table))

    def _chosen(self, table: Table) -> str | Sequence[str] | None:
        try:
            return self.choose(table)
        except Exception:  # noqa: BLE001 (whatever an author's code raises, the other games go on)
            _LOG.exception("game %s: no decision", table.id)
            return None

    def _count(self, what: str) -> None:
        with self._lock:
            setattr(self, what, getattr(self, what) + 1)

    def _send(self, table: Table, choice: str | Sequence[str]) -> Table:
        if table.phase == "pass":
            return self.client.pass_cards(table.id, choice.split() if isinstance(choice, str) else choice)
        if table.phase == "moon":
            return self.client.choose_moon(table.id, str(choice))
        return self.client.play(table.id, str(choice))


class _Event(msgspec.Struct, frozen=True):
    t: str


def is_due(table: Table) -> bool:
    """Whether a table waits for the seat that sees it."""
    if table.you is None or table.status != "playing":
        return False
    seat = table.seats[table.you]
    if seat.away:
        return False
    return not seat.passed if table.phase == "pass" else table.turn == table.you


def _first(table: Table) -> str | list[str]:
    """The first thing that the rules allow."""
    if table.phase == "moon":
        return "add"
    return (
        table.hand.split()[: table.rules["pass_count"]] if table.phase == "pass" else table.legal.split()[0]
    )
