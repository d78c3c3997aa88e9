"""The command handler: the only way in which anything happens at a table.

A command is enriched with time and entropy, judged by `domain.game` against the folded log, and appended. A writer
that is behind is answered with the events it missed, folds them and decides again, so a command is always judged
against the table as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import msgspec
import redis

from domain import events as e
from domain.bots import BOTS, STAND_IN
from domain.commands import ABANDONED_AFTER, AnyCommand, OpenTable, SeatPlan, SitDown
from domain.game import advance, fold
from domain.record import Record, print_record
from domain.refusals import Refused
from domain.rematch import open_again, sits_so
from domain.ruleset import RuleSet
from domain.state import State
from services.audit import Signer
from services.folded import Table, TableCache, follow, resume
from services.imported import check_record, events_of
from services.once import Key
from services.outcomes import Outcome, StaleVersion, UnknownGame
from services.owed import Decide, Turn, owed
from services.paging import EventPages
from services.signing import check_signed
from services.snapshot import EVERY
from services.steps import step
from services.store import Appended, CorruptStream, Entry, Gap, Replayed, Store, StoreUnavailable

__all__ = ["MOST_EVENTS", "MOST_TRIES", "Begun", "Outcome", "StaleVersion", "Tables", "UnknownGame"]

MOST_TRIES = 256
"""Conflicts after which a command gives up: each means that another writer got through."""
MOST_EVENTS = 512
"""Events that one append of bot moves may carry, so that a game of bots alone is stored in steps."""
Begun = tuple[list[e.Event], State]
"""The first events of a game and the state after them."""


class Tables:
    """All tables of a store; ``pages`` has their events, and what they were, for all readers of this process."""

    def __init__(
        self, store: Store, key: Signer, clock: Callable[[], int], entropy: Callable[[int], bytes]
    ) -> None:
        self._store = store
        self._key = key
        self._clock = clock
        self._entropy = entropy
        self._cache = TableCache()
        self.pages = EventPages(store)

    # --- reading

    def load(self, game: str) -> Table:
        """The table as it is now. Raises `UnknownGame`, `CorruptLog`, `StoreUnavailable`."""
        known = self._cache.get(game)
        if known is None:
            return self._load(game)
        # its own last event is read again: where that is gone, the store has lost a tail that was in this cache
        entries = self._store.read(game, known.seq - 1)
        if not entries:
            self._cache.drop(game)
            return self.load(game)
        return self._follow(game, known, entries[1:]) if len(entries) > 1 else known

    def fold_anew(self, game: str) -> Table:
        """The table by its events alone, whatever its snapshot says. Raises as `load` does."""
        self._cache.drop(game)
        return self._follow(game, None, self.entries(game))

    def load_each(self, games: Sequence[str]) -> dict[str, Table]:
        """Several tables as they are now, in one round trip; without those that `load` needs more for, or cannot load."""
        found: dict[str, Table] = {}
        for game, loaded in zip(games, self._store.load_each(games, EVERY), strict=True):
            snapshot, entries = loaded or (b"", [])
            known = resume(snapshot)
            if known is not None or (entries and not snapshot):
                with suppress(CorruptStream):
                    found[game] = follow(game, known, entries)
        return found

    def at(self, game: str, seq: int) -> Table:
        """The table as it was after event ``seq``. Raises `UnknownGame` where it has not got so far."""
        now = self.load(game) if seq > 0 else None
        if now is None or now.seq < seq:
            raise UnknownGame(f"game {game:.60} has no event {seq}")
        return now if now.seq == seq else self.pages.table(game, seq)

    def entries(self, game: str) -> list[Entry]:
        """The whole stream of a game as it is stored. Raises `UnknownGame`."""
        entries = self._store.read(game)
        if not entries:
            raise UnknownGame(f"there is no game {game:.60}")
        return entries

    def recall(self, game: str, key: Key) -> Outcome | None:
        """The outcome of an earlier request under ``key``. Raises `KeyReused` where that was another request."""
        answer = self._store.recall(game, key.place, self._clock())
        return None if answer is None else self._replay(game, key, answer)

    # --- commands

    def open(
        self,
        rules: RuleSet,
        seats: Sequence[SeatPlan],
        *,
        chain: int = 64,
        ready_seconds: int = 60,
        rated: bool = False,
        hints: bool = True,
        clock: int | None = None,
        abandon_seconds: int = ABANDONED_AFTER,
        key: Key | None = None,
    ) -> Outcome:
        """Open a table; see `OpenTable`, and `create` for the key."""

        def opened(game: str, at: int) -> Begun:
            command = OpenTable(
                at=at,
                game=game,
                rules=rules,
                secret=self._entropy(32),
                seats=tuple(seats),
                server_key=self._key.public,
                stand_in=BOTS[STAND_IN].id,
                chain=chain,
                ready_seconds=ready_seconds,
                rated=rated,
                hints=hints,
                clock=clock,
                abandon_seconds=abandon_seconds,
            )
            return advance(None, command)

        return self.create(opened, key)

    def create(self, begin: Callable[[str, int], Begun], key: Key | None = None) -> Outcome:
        """Keep a new game; ``begin`` makes its first events, and the state after them, of an id and a time in ms.

        Under a key the id follows from caller and key, so that a repeat finds the same table. Raises what ``begin``
        raises, `KeyReused`, `StoreUnavailable`.
        """
        for attempt in range(MOST_TRIES):
            game, at = self._new_id(key, attempt), self._clock()
            outcome = self._append(game, None, *begin(game, at), at, key)
            if isinstance(outcome, Outcome):
                return outcome
        raise StoreUnavailable("no free id for a table was found")

    def has_opened(self, key: Key) -> bool:
        """Whether a table was opened under ``key``. Raises `KeyReused` where that was another request."""
        return self.recall(self._new_id(key, 0), key) is not None

    def has_rematch(self, game: str) -> bool:
        """Whether the rematch of a game has been opened."""
        return bool(self._store.last(self._rematch_id(game)))

    def rematch(self, old: State, sit: SitDown, key: Key | None = None) -> Outcome:
        """Let a player who has a seat in the finished game ``old`` sit down in that seat of its rematch.

        The first who asks opens the table, with the rules, settings and bots of the old one and each person's seat kept
        for that person. Its id follows from the old game's, so that all who ask meet there, also those who ask at the
        same moment; who has sat down already finds the table as it is. Raises as `handle` does.
        """
        game = self._rematch_id(old.game)
        sit = msgspec.structs.replace(sit, seat=old.seat_of(sit.player))
        for _ in range(MOST_TRIES):
            try:
                return self._join(game, sit, key)
            except UnknownGame:
                command = open_again(old, game, self._clock(), self._entropy(32), self._key.public)
                outcome = self._begin(command, key, sit)
                if isinstance(outcome, Outcome):
                    return outcome
        raise StoreUnavailable(f"game {game:.60} is too busy")

    def import_record(self, record: Record, players: Callable[[], Sequence[str]]) -> tuple[Table, bool]:
        """Keep a finished game that was played elsewhere. Its table, and whether it is new.

        Its id follows from what it says, so that a record imported again is the same game. ``players`` gives the ids of
        those who sat there, asked for only where it is new. Raises `NotImportable`, `StoreUnavailable`.
        """
        check_record(record)
        game = self._key.derive("import", print_record(record).hex())[:12].hex()
        if not self._store.last(game):
            at = self._clock()
            events = events_of(record, game, players(), self._key.public, at)
            outcome = self._append(game, None, events, fold(None, events), at, None)
            if isinstance(outcome, Outcome):
                return outcome.table, True
        self._store.hold(game, (table := self.load(game)).seq)
        return table, False

    def handle(
        self,
        game: str,
        command: AnyCommand,
        *,
        key: Key | None = None,
        if_match: tuple[str, ...] | None = None,
    ) -> Outcome:
        """Let ``command`` happen at the table as it is now, or refuse it.

        ``if_match`` has the only versions, as etags, that it may be judged against. The key is looked up before that, and
        a refused command burns none. Raises `Refused`, `StaleVersion`, `KeyReused`, `UnknownGame`, `StoreUnavailable`.
        """
        known = self._cache.get(game)
        table, fresh = (self.load(game), True) if known is None else (known, False)
        for _ in range(MOST_TRIES):
            at = max(self._clock(), table.at)
            try:
                if if_match is not None and table.etag not in if_match:
                    raise StaleVersion(table)
                events, state = advance(table.state, msgspec.structs.replace(command, at=at))
                check_signed(table, events[0], self._store.read)
                self._key.of(state.server_key)  # what cannot be signed for does not happen
            except (Refused, StaleVersion):
                if not fresh:
                    # a refusal counts only against the table as it is now, not as this process last saw it
                    table, fresh = self.load(game), True
                    continue
                earlier = None if key is None else self.recall(game, key)
                if earlier is None:
                    raise
                return earlier
            outcome = self._append(game, table, events, state, at, key)
            if isinstance(outcome, Outcome):
                return outcome
            table, fresh = self._catch_up(game, table, outcome), True
        raise StoreUnavailable(f"game {game:.60} is too busy")

    def act_for_house(self, game: str, most: int = MOST_EVENTS) -> Table:
        """Make the moves that the house owes at a table now: its bots', and those of deadlines that have passed.

        Plays on until a person must act, at most about ``most`` events; they are one append, so nobody sees half of
        them. Returns the table after them. Raises as `handle` does.
        """
        return self.keep_for_house(self.plan_for_house(self.load(game), most), most)

    def plan_for_house(self, table: Table, most: int = MOST_EVENTS) -> Turn:
        """What `act_for_house` would do now at a table that was loaded; nobody sees it before `keep_for_house`."""
        return self._plan(table, owed(most))

    def keep_for_house(self, turn: Turn, most: int = MOST_EVENTS) -> Table:
        """Do what was planned, planned anew where somebody has moved meanwhile. The table after it."""
        return self._keep(turn, owed(most))

    def keep_each(self, turns: Sequence[Turn]) -> list[Table | None]:
        """Do what was planned at several tables, where there are events, with one write to disk. The tables after it.

        None where that has not happened, or it is not known: `keep_for_house` does it, or finds that it is done. For a
        single table it is always none: that is asked at once for what it may have missed.
        """
        if len(turns) < 2:
            return [None] * len(turns)
        now = self._clock()
        steps = [step(turn.state.game, turn.table, *turn[1:], now) for turn in turns]
        done = self._store.append_each([wanted for _, wanted in steps])
        for kept, (table, wanted) in zip(done, steps, strict=True):
            if kept:
                self._cache.put(wanted.game, table)
        return [table if kept else None for kept, (table, _) in zip(done, steps, strict=True)]

    def act(self, game: str, decide: Decide) -> Table:
        """Let the house do what ``decide`` finds right at a table as it is at a time (ms). Raises as `handle` does."""
        return self._keep(self._plan(self.load(game), decide), decide)

    # --- inside

    def _plan(self, table: Table, decide: Decide) -> Turn:
        at = max(self._clock(), table.at)
        return Turn(table, *decide(table, at), at)

    def _keep(self, turn: Turn, decide: Decide) -> Table:
        for _ in range(MOST_TRIES):
            table, events, state, at = turn
            if not events:
                return table
            outcome = self._append(state.game, table, events, state, at, None)
            if isinstance(outcome, Outcome):
                return outcome.table
            turn = self._plan(self._catch_up(state.game, table, outcome), decide)
        raise StoreUnavailable(f"game {turn.state.game:.60} is too busy")

    def _begin(self, command: OpenTable, key: Key | None, sit: SitDown) -> Outcome | list[Entry]:
        """Open a table at which somebody sits down at once; what is there already where its id is taken."""
        events, state = advance(None, command)
        more, state = advance(state, msgspec.structs.replace(sit, at=command.at))
        return self._append(command.game, None, events + more, state, command.at, key)

    def _join(self, game: str, sit: SitDown, key: Key | None) -> Outcome:
        """Sit down at a table, or find that one sits there, with the same commitment and key where they are named."""
        try:
            return self.handle(game, sit, key=key)
        except Refused:
            table = self.load(game)
            own = table.state.seat_of(sit.player)
            if own is None or not sits_so(table.state.seats[own], sit):
                raise
            self._store.hold(game, table.seq)
            return Outcome(table, [], self._key)

    def _append(
        self,
        game: str,
        table: Table | None,
        events: list[e.Event],
        state: State,
        at: int,
        key: Key | None,
    ) -> Outcome | list[Entry]:
        """The outcome; or the events that came first, none where the store has lost what ``table`` knows."""
        done, wanted = step(game, table, events, state, at, self._clock())
        once = None if key is None else key.once(done.seq)
        try:
            result = self._store.append(
                game,
                wanted.expected,
                wanted.entries,
                now=at,
                due=wanted.due,
                once=once,
                snapshot=wanted.snapshot,
                of_bots=wanted.of_bots,
            )
        except Gap:
            return []
        except StoreUnavailable as lost:
            earlier = self._look_up(game, key, lost)
            if earlier.table.head != done.head:
                return earlier
            result = Appended(done.seq)
        if isinstance(result, Appended):
            self._cache.put(game, done)
            return Outcome(done, events, self._key)
        if isinstance(result, Replayed):
            assert key is not None
            return self._replay(game, key, result.answer)
        return result.entries

    def _look_up(self, game: str, key: Key | None, lost: StoreUnavailable) -> Outcome:
        """What became of an append whose answer was lost, as its key tells; raises ``lost`` where that is not known.

        A store that hangs is not waited for once more.
        """
        broken = isinstance(lost.__cause__, redis.ConnectionError)
        earlier = self.recall(game, key) if key is not None and broken else None
        if earlier is None:
            raise lost
        return earlier

    def _load(self, game: str) -> Table:
        snapshot, entries = self._store.load(game, EVERY)
        known = resume(snapshot)
        if known is not None or (entries and not snapshot):
            with suppress(CorruptStream):  # where that is not for a damaged snapshot, it is told below
                return self._follow(game, known, entries)
        return self.fold_anew(game)

    def _catch_up(self, game: str, table: Table, missed: list[Entry]) -> Table:
        if missed:
            return self._follow(game, table, missed)
        # the store came back without a tail that this process had seen: believe the store
        self._cache.drop(game)
        return self.load(game)

    def _follow(self, game: str, known: Table | None, entries: Sequence[Entry]) -> Table:
        table = follow(game, known, entries)
        self._cache.put(game, table)
        return table

    def _replay(self, game: str, key: Key, answer: bytes) -> Outcome:
        self._store.hold(game, key.last(answer))
        return Outcome(self.at(game, key.last(answer)), [], self._key, replayed=True)

    def _rematch_id(self, game: str) -> str:
        return self._key.derive("rematch", game)[:12].hex()

    def _new_id(self, key: Key | None, attempt: int) -> str:
        """Twelve bytes in hex: random, or from caller and key; later attempts are for ids that have expired."""
        if key is None:
            return self._entropy(12).hex()
        return self._key.derive("game-id", key.caller, key.key, str(attempt))[:12].hex()
