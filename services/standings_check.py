"""The standings held to the games they are made of: each entry to its game, and what is read to a fold of all entries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
import redis

from domain.refusals import CorruptLog
from domain.variants import FAMILIES
from services.archive import ArchiveUnavailable
from services.folded import Table
from services.key_types import wrong_types
from services.keys import Keys
from services.standings import Standing
from services.standings_fold import VERSION, Finished, finished_of, fold_game, lines_of
from services.store import CorruptStream
from services.tables import UnknownGame
from services.wire import Wire

_PAGE: Final = 1000
_TRIES: Final = 5
"""How often what moves on while it is compared is compared again."""


class StandingsReport(msgspec.Struct, frozen=True):
    """What an audit of the standings has found."""

    ok: bool
    games: int
    """Finished games that are entered."""
    players: int
    """Players and bots of whom something is known by them."""
    problems: tuple[str, ...]


class StandingsCheck:
    """One check of the standings of a store; ``load`` gives a game's table, as `services.tables.Tables.load` does."""

    def __init__(self, wire: Wire, keys: Keys, load: Callable[[str], Table]) -> None:
        self._wire, self._keys, self._load = wire, keys, load
        self._problems: list[str] = []
        self._games: set[str] = set()
        self._standings: dict[str, Standing] = {}
        self._entries: list[tuple[bytes, Finished | None]] = []
        """What was read and not folded yet, oldest first."""
        self._read_upto = b""
        self._fold_read = 0

    def run(self) -> StandingsReport:
        """Everything that is wrong. Raises `StoreUnavailable`."""
        try:
            self._run()
        except (redis.ResponseError, ValueError, TypeError) as error:
            wrong = wrong_types(self._wire.pipeline, self._keys_read())
            self._problems += [*wrong.values()] or [f"they cannot be read: {error}"]
        return StandingsReport(
            not self._problems, len(self._games), len(self._standings), tuple(self._problems)
        )

    def _keys_read(self) -> list[str]:
        """Each key of the standings that is read."""
        folds = range(1, 4 + self._fold_read)
        return [
            self._keys.standings_known,
            self._keys.standings_games,
            self._keys.standings_state,
            *(self._keys.standings_players(fold) for fold in folds),
            *(self._keys.standings_board(fold, family) for fold in folds for family in FAMILIES),
        ]

    def _run(self) -> None:
        known = {game.decode() for game in self._wire.call("SMEMBERS", self._keys.standings_known)}
        self._read()
        for game in sorted(known - self._games):
            self._problems.append(f"game {game} counts as entered, and is not among the finished games")
        self._compare()

    def _read(self) -> None:
        """Read the entries that were not read yet, and hold each to its game."""
        while True:
            after = b"(" + self._read_upto if self._read_upto else b"-"
            page = self._wire.call("XRANGE", self._keys.standings_games, after, "+", "COUNT", _PAGE)
            for entry, fields in page:
                self._entries.append((entry, self._judge(entry.decode(), fields)))
                self._read_upto = entry
            if len(page) < _PAGE:
                return

    def _judge(self, entry: str, fields: list[bytes]) -> Finished | None:
        """The game of an entry, none where it cannot be read."""
        try:
            game = msgspec.json.decode(fields[1], type=Finished)
        except (msgspec.MsgspecError, IndexError, UnicodeDecodeError) as error:
            self._problems.append(f"entry {entry} of the finished games cannot be read: {error}")
            return None
        if game.game in self._games:
            self._problems.append(f"game {game.game} is entered twice")
        self._games.add(game.game)
        try:
            right = finished_of(self._load(game.game))
        except UnknownGame:
            self._problems.append(f"game {game.game} is entered, and is not in the store")
        except (CorruptLog, CorruptStream, ArchiveUnavailable, redis.ResponseError):
            pass  # which the audit of that game tells
        else:
            if right is None:
                self._problems.append(f"game {game.game} is entered, and does not count")
            elif game != right:
                named = [
                    name for name in Finished.__struct_fields__ if getattr(game, name) != getattr(right, name)
                ]
                self._problems.append(
                    f"game {game.game} is entered with another {', '.join(named)} than its events say"
                )
        return game

    def _compare(self) -> None:
        """Hold what readers are given to the fold of the entries as far as it says that it is."""
        for _ in range(_TRIES):
            fold, version, at = self._place()
            self._fold_read = fold
            if fold and not version:
                self._problems.append(f"fold {fold} is read, and there is none of this number")
            if not fold or version != VERSION:
                return  # nothing is read yet, or by a program that folds in another way
            self._read()
            self._fold(at)
            found = self._differences(fold)
            if self._place() == (fold, version, at):
                self._problems += found
                return

    def _place(self) -> tuple[int, int, bytes]:
        """The fold that is read, its version, and up to which entry it goes."""
        state = self._keys.standings_state
        live = self._wire.call("HGET", state, "live") or b"0"
        version, at = self._wire.call("HMGET", state, b"v:" + live, b"at:" + live)
        return int(live), int(version or 0), at or b""

    def _fold(self, at: bytes) -> None:
        while self._entries and _order(self._entries[0][0]) <= _order(at):
            _, game = self._entries.pop(0)
            if game is not None:
                self._standings |= fold_game(self._standings, game)

    def _differences(self, fold: int) -> list[str]:
        keys = [self._keys.standings_board(fold, family) for family in FAMILIES]
        flat, *boards = self._wire.pipeline(
            [
                ("HGETALL", self._keys.standings_players(fold)),
                *(("ZRANGE", key, 0, -1, "WITHSCORES") for key in keys),
            ]
        )
        kept = dict(zip(flat[::2], flat[1::2], strict=True))
        wanted = {who.encode(): msgspec.json.encode(one) for who, one in self._standings.items()}
        found = [
            f"what is kept of {who.decode(errors='replace')} is not what the finished games come to"
            for who in sorted(kept.keys() | wanted.keys())
            if kept.get(who) != wanted.get(who)
        ]
        lines: list[dict[bytes, float]] = [{} for _ in FAMILIES]
        for number, score, who in lines_of(self._standings):
            lines[number - 1][who.encode()] = float(score)
        for family, board, right in zip(FAMILIES, boards, lines, strict=True):
            there = {who: float(score) for who, score in zip(board[::2], board[1::2], strict=True)}
            found += [
                f"the board of {family} has {who.decode(errors='replace')} at {there.get(who)}, and the games say {right.get(who)}"
                for who in sorted(there.keys() | right.keys())
                if there.get(who) != right.get(who)
            ]
        return found


def _order(entry: bytes) -> tuple[int, ...]:
    """By what entries of a stream are in order."""
    parts: list[Any] = entry.split(b"-") if entry else []
    return tuple(int(part) for part in parts)
