"""Readers: the events of one game, or of all of a player's games, in order and each once, from a cursor on."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Final, NamedTuple

from domain.refusals import CorruptLog
from services.desks import Cursor, Entry, Place, players_at
from services.folded import Table
from services.hub import Bell, Cut, DeskTopic, GameTopic, Hub
from services.store import CorruptStream
from services.tables import UnknownGame

MOST_PIECES: Final = 1_000
"""Events that are taken at once."""
MOST_GAMES: Final = 256
"""Games that a reader of all listens to at a time; those of which it has heard least lately are read when there is news."""


class Piece(NamedTuple):
    """An event, or a table to begin with, as it goes out, and the cursor behind it."""

    seq: int
    head: bytes
    cursor: str
    data: bytes
    is_table: bool = False
    """Whether it is no event but a table as it is."""

    @property
    def etag(self) -> str:
        """The version of the game after it, as HTTP names it, quotes included."""
        return f'"{self.seq}-{self.head.hex()[:16]}"'


class GameReader:
    """One reader of a game, listening from the start; ``close`` it in the end.

    ``player`` is who reads, none where that is somebody without a seat. Raises as `Hub.join` does.
    """

    def __init__(self, hub: Hub, game: str, player: str | None, after: int, *, bell: Bell) -> None:
        self._hub, self._player, self._bell = hub, player, bell
        self.seq = after
        self.topic: GameTopic = hub.join(game, bell)

    def close(self) -> None:
        """Listen no more."""
        self._hub.leave(self.topic, self._bell)

    @property
    def done(self) -> bool:
        """Whether the game is over and all of it has been read."""
        table = self.topic.table
        return table.state.phase == "over" and not table.state.sealed and self.seq >= table.seq

    def take(self, most: int = MOST_PIECES) -> list[Piece]:
        """The next events, at most so many; none where there are none yet. Raises what has ended the topic."""
        found = [
            Piece(seq, head, str(seq), data)
            for seq, head, data in _read(self._hub, self.topic, self._player, self.seq, most)
        ]
        if found:
            self.seq = found[-1].seq
        return found


class DeskReader:
    """One reader of all games of a player, listening from the start; ``close`` it in the end.

    Without a cursor, and where the inbox no longer reaches back to it, it begins with the tables as they are, each once,
    made by ``show``; then come the events of each game behind what its table shows. Raises as `Hub.player` does.
    """

    def __init__(
        self,
        hub: Hub,
        player: str,
        cursor: Cursor | None,
        *,
        bell: Bell,
        show: Callable[[Table, int | None], bytes],
    ) -> None:
        self._hub, self._player, self._show = hub, player, show
        # events are awaited by the inbox alone: a game's bell would ring before there is news of it
        self._silent = Bell()
        self.cursor = cursor
        # what is in the inbox before the first listening may not have come to the hub yet
        self._caught_up = False
        self._shown: dict[str, int] = {}
        self._games: OrderedDict[str, GameTopic] = OrderedDict()
        self._rest: Iterator[Piece] = iter(())
        self._stack = ExitStack()
        self.topic: DeskTopic = self._stack.enter_context(hub.player(player, bell))

    @property
    def done(self) -> bool:
        """Never: a player may always begin another game."""
        return False

    def close(self) -> None:
        """Listen no more."""
        for topic in self._games.values():
            self._hub.leave(topic, self._silent)
        self._games.clear()
        self._stack.close()

    def take(self, most: int = MOST_PIECES) -> list[Piece]:
        """The next tables and events, at most so many; none where there are none yet."""
        found: list[Piece] = []
        # the tables to begin with have one cursor, so they are never parted
        while len(found) < most or found[-1].is_table:
            piece = next(self._rest, None)
            if piece is not None:
                found.append(piece)
                continue
            pieces = self._next()
            if pieces is None:
                break
            self._rest = pieces
        return found

    def _next(self) -> Iterator[Piece] | None:
        """The pieces of what comes next; none where nothing does."""
        if self.topic.error is not None:
            raise self.topic.error
        if self.cursor is None:
            return self._begin()
        entries = self.topic.behind(self.cursor) if self._caught_up else None
        if entries is None:
            page = self._hub.desks.behind(self._player, self.cursor)
            if page is None:
                self._shown.clear()
                self._caught_up = False
                return self._begin()
            entries, end = page
            if not entries:
                self.cursor, self._caught_up = end, True
        return self._tell(entries) if entries else None

    def _begin(self) -> Iterator[Piece]:
        self.cursor, desk = self._hub.desks.read(self._player)
        return self._tables(self.cursor, desk)

    def _tables(self, cursor: Cursor, desk: dict[str, Place]) -> Iterator[Piece]:
        for game, place in desk.items():
            if place.done:
                continue
            try:
                table = self._hub.tables.at(game, place.seq)
            except (UnknownGame, CorruptLog, CorruptStream):
                continue
            if self._player in players_at(table.state):
                self._shown[game] = place.seq
                seat = table.state.seat_of(self._player)
                yield Piece(table.seq, table.head, str(cursor), self._show(table, seat), True)

    def _tell(self, entries: list[Entry]) -> Iterator[Piece]:
        for entry in entries:
            assert self.cursor is not None
            after = max(entry.after, self._shown.get(entry.game, 0))
            if entry.id == self.cursor.id:
                after = max(after, self.cursor.seq)
            for seq, head, data in self._events(entry, after):
                self.cursor = Cursor(entry.id, seq if seq < entry.upto else 0)
                yield Piece(seq, head, str(self.cursor), _of_game(entry.game, data))
            self.cursor = Cursor(entry.id)

    def _events(self, entry: Entry, after: int) -> Iterator[tuple[int, bytes, bytes]]:
        try:
            topic = self._listen(entry.game)
            if topic.table.seq < entry.upto:
                self._hub.refresh([entry.game])
            while after < entry.upto:
                most = min(MOST_PIECES, entry.upto - after)
                found = _read(self._hub, topic, self._player, after, most)
                yield from found
                after = found[-1][0] if found else entry.upto
            if topic.table.state.phase == "over" and not topic.table.state.sealed:
                self._drop(entry.game)
        except (UnknownGame, CorruptLog, CorruptStream, Cut):
            pass  # it is that game's affair, and reading its own events tells
        if entry.upto >= self._shown.get(entry.game, 0):
            self._shown.pop(entry.game, None)

    def _listen(self, game: str) -> GameTopic:
        topic = self._games.get(game)
        if topic is None or topic.error is not None:
            self._drop(game)
            topic = self._games[game] = self._hub.join(game, self._silent)
        self._games.move_to_end(game)
        if len(self._games) > MOST_GAMES:
            self._drop(next(iter(self._games)))
        return topic

    def _drop(self, game: str) -> None:
        topic = self._games.pop(game, None)
        if topic is not None:
            self._hub.leave(topic, self._silent)


def _read(
    hub: Hub, topic: GameTopic, player: str | None, after: int, most: int
) -> list[tuple[int, bytes, bytes]]:
    """Seq, head and rendering of the events behind ``after``, at most so many, as ``player`` may read them."""
    if topic.error is not None:
        raise topic.error
    state = topic.table.state
    seat = None if player is None else state.seat_of(player)
    recent = topic.behind(after)
    if recent is None:
        items = hub.in_turn(hub.pages.read, topic.game, after, most, seat)
        return [(item.seq, item.head, hub.render(item)) for item in items]
    found = []
    for told in recent[:most]:
        to = seat if seat in told.private else None
        data = told.rendered.get(to)
        if data is None:
            data = told.rendered[to] = hub.render(told.to(to))
        found.append((told.seq, told.head, data))
    return found


def _of_game(game: str, data: bytes) -> bytes:
    """An event with the game that it is of."""
    return b'{"game":"%b",' % game.encode() + data[1:]
