"""What the event log is told and answers: entries, appends, and what may be wrong with a stream. `services.store` works with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

from services.short import lengthened, shortened
from services.wire import StoreError

Seq: TypeAlias = int
"""Place of an event in its game, from 1; 0 is the place before the first."""

Entry: TypeAlias = tuple[Seq, bytes, bytes]
"""Seq, public bytes, secret bytes (empty where an event has no secret).

A plain tuple: a named one costs 400 ns an entry more, and loading a game reads hundreds.
"""


class Archived(Protocol):
    """Gives the events of a game from the first up to a seq; raises CorruptStream where it does not have them."""

    def __call__(self, game: str, last: Seq) -> list[Entry]:
        """As they are, or were a moment ago."""

    def fetch(self, game: str, last: Seq) -> list[Entry]:
        """As they are now."""


PAGE = 1000
"""Entries that one command reads at most; also the most that a stale writer is answered with at once."""

DAY_MS = 24 * 60 * 60 * 1000
"""How long an idempotency key is remembered (docs/spec/http.md)."""


class CorruptStream(StoreError):
    """A game's stream holds what this module never writes. `seq` is the first entry that is wrong."""

    def __init__(self, game: str, seq: Seq, why: str) -> None:
        self.game, self.seq, self.why = game, seq, why
        super().__init__(f"game {game}, event {seq}: {why}")


class Gap(StoreError):
    """A writer expects an event that the stream does not hold: the writer knows more than the store.

    Its state comes from a lost tail or another store; it must forget it and load the game anew.
    """

    def __init__(self, game: str, expected: Seq, last: Seq) -> None:
        self.game, self.expected, self.last = game, expected, last
        super().__init__(f"game {game}: event {expected} is not in the store, whose last is {last}")


class Once(NamedTuple):
    """An idempotency key (`field`, one game's) and the answer to keep under it for 24 hours."""

    field: bytes
    answer: bytes


class Append(NamedTuple):
    """Events to be added to a game, as `Store.append` takes them."""

    game: str
    expected: Seq
    entries: Sequence[tuple[bytes, bytes]]
    now: int
    due: int | None
    once: Once | None = None
    snapshot: bytes = b""
    of_bots: bool = False


class Appended(NamedTuple):
    """The events are in the log; `last` is the seq of the last one."""

    last: Seq


class Missed(NamedTuple):
    """Nothing was written: these entries follow the expected one, at most PAGE of them, oldest first."""

    entries: list[Entry]


class Replayed(NamedTuple):
    """Nothing was written: the idempotency key was used before, and this was kept under it."""

    answer: bytes


def append_args(wanted: Append) -> list[Any]:
    """What the script of an append is given. Raises ValueError where there is nothing to append."""
    game, expected, entries, now, due, once, snapshot, of_bots = wanted
    if not entries or expected < 0:
        raise ValueError(f"an append takes at least one event and a seq from 0, not {expected}")
    field, answer = once or (b"", b"")
    args: list[Any] = [game, expected, now, "" if due is None else due, field]
    args.append(_expiry(now) + answer)
    args.append(b"%d:%b" % (expected + len(entries), snapshot) if snapshot else b"")
    args.append("1" if of_bots else "")
    for seq, (public, hidden) in enumerate(entries, expected + 1):
        args += shortened(seq, public), hidden
    return args


_EXPIRY_BYTES: Final = 4


def _expiry(now: int) -> bytes:
    """When an answer that is kept at ``now`` (Unix ms) is kept no longer: the full second, in four bytes."""
    return (-(-(now + DAY_MS) // 1000)).to_bytes(_EXPIRY_BYTES)


def live_answer(kept: bytes | None, now: int) -> bytes | None:
    """The answer in what is kept under an idempotency key, none where there is none or it has expired (Unix ms)."""
    if kept is None or int.from_bytes(kept[:_EXPIRY_BYTES]) * 1000 <= now:
        return None
    return kept[_EXPIRY_BYTES:]


def loaded(game: str, newest: list[Any], snapshot: bytes | None) -> tuple[bytes, list[Entry]] | None:
    """What `Store.load` returns, by the last entries, newest first; None where all entries are needed."""
    if not newest:
        return b"", []
    newest = newest[::-1]
    seq, _, data = (snapshot or b"0:").partition(b":")
    for place, (entry, _) in enumerate(newest):
        if data and entry == seq + b"-0":
            return data, entries_of(game, int(seq), newest[place + 1 :])
    return (b"", entries_of(game, 0, newest)) if newest[0][0] == b"1-0" else None


_IDS = [b"%d-0" % seq for seq in range(2048)]
"""Entry ids by seq. Comparing a page with a slice of it is the cheapest way to check every id."""


def seq_of(game: str, entry: bytes) -> Seq:
    """The seq that an entry's id stands for."""
    seq, _, rest = entry.partition(b"-")
    if rest != b"0":
        raise CorruptStream(game, 1, f"the stream has entry {entry.decode()} here")
    return int(seq)


def entries_of(game: str, after: Seq, reply: list[Any]) -> list[Entry]:
    """A reply's entries, which must be those from `after` + 1 on without a hole."""
    end = after + 1 + len(reply)
    ids = _IDS[after + 1 : end] if end <= len(_IDS) else [b"%d-0" % seq for seq in range(after + 1, end)]
    got = [entry for entry, _ in reply]
    if got != ids:
        wrong = next(i for i, (entry, wanted) in enumerate(zip(got, ids, strict=True)) if entry != wanted)
        why = f"the stream has entry {got[wrong].decode()} here"
        if not wrong and after == 0:
            why += ", as of a game in the archive, and HEARTS_ARCHIVE does not say where that is"
        raise CorruptStream(game, after + 1 + wrong, why)
    try:
        public = [
            lengthened(seq, fields[1]) for seq, (_, fields) in zip(range(after + 1, end), reply, strict=True)
        ]
        hidden = [fields[3] if len(fields) == 4 else b"" for _, fields in reply]
    except IndexError:
        public, hidden = [], []
    if len(public) != len(reply) or not {fields[0] for _, fields in reply} <= {b"p"}:
        wrong = next(i for i, (_, fields) in enumerate(reply) if fields[0] != b"p")
        raise CorruptStream(game, after + 1 + wrong, f"unknown field {reply[wrong][1][0].decode()}")
    return list(zip(range(after + 1, end), public, hidden, strict=True))
