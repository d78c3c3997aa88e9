"""What the store has of a game beside its stream, and what is wrong with the lists that it stands in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from services import desks
from services.folded import Table
from services.owed import HOUSE_LEASE_MS, next_due
from services.standings_fold import finished_of
from services.summaries import Update, index_fields
from services.translog import Place

_SKEW_MS = 5_000
"""How far the clocks of the machines of a house may be apart."""


class Due(NamedTuple):
    """When the house must act in a game as it is after event ``seq``, in ms; none where it never must."""

    seq: int
    at: float | None


class Copies(NamedTuple):
    """What the store has of a game beside its stream, read before that."""

    snapshot: bytes
    projected: dict[str, Any] | None
    """The summary, where it is of this version."""
    misprint: str | None
    """Why there is a summary that cannot be read."""
    asked: list[str]
    """The players at the table, by the summary."""
    desks: dict[str, desks.Place | None]
    """How the game stands on the desk of each of them, of those that have it; none where that cannot be read."""
    kept_by: dict[str, bytes]
    """What is kept beside the summary, by which the lists are changed."""
    due: Due | None
    """When the house must act; none where the game went on meanwhile."""
    lobbies: dict[str, float]
    """When it was opened, by each lobby that it stands in."""
    unlisted: list[str]
    """Players at the table, by the summary, whose list of games lacks it."""
    ranked: bool
    """Whether the standings know it as a finished game."""
    finished: float | None
    """Since when it counts as finished, in ms, where it is among the games that are to be archived."""
    archived: bool
    """Whether the store has not all of its stream."""
    places: list[Place]
    log_fault: str | None

    @property
    def snapshot_seq(self) -> int:
        """The event that the snapshot is kept as of; 0 where there is none, or it does not tell."""
        seq = self.snapshot.partition(b":")[0]
        return int(seq) if seq.isdigit() and len(seq) <= 16 else 0

    @property
    def reach(self) -> int:
        """The last event of which there is something."""
        projected: int = (self.projected or {}).get("seq", 0)
        return max(self.snapshot_seq, projected, *(leaf.seq for _, leaf in self.places))


def due_problem(due: Due, table: Table, now: int) -> str | None:
    """What is wrong with the time, ``now`` in ms: there is none though the house must act, or it is too late.

    A worker that has taken the game to play it puts it off by its lease, and one that is early finds nothing to do.
    """
    wanted = next_due(table.state, table.at)
    if wanted is None:
        return None
    if due.at is None:
        return f"the house must act at {wanted}, and it is not among what is due: it waits for ever"
    if due.at > max(wanted, now + HOUSE_LEASE_MS + _SKEW_MS):
        return f"the house must act at {wanted}, and it is due only at {due.at:.0f}"
    return None


def list_problems(copies: Copies, table: Table, right: Update, now: int, *, ended: bool) -> Iterator[str]:
    """Where a game that is projected as of ``table`` is not, or not rightly, where it is looked for.

    ``right`` is its projection; ``now`` is in ms; ``ended`` says that no event comes after ``table``.
    """
    summary = right.summary
    for name, wanted in index_fields(right).items():
        kept = copies.kept_by.get(name, b"")
        if kept != wanted:
            told, should = kept.decode(errors="replace"), wanted.decode()
            yield f"its lists are kept by {name} {told!r:.80}, and the events say {should!r:.80}"
    status, opened = summary["status"], summary["created_at"]
    if copies.lobbies.keys() != {status}:
        yield f"it is listed as {', '.join(copies.lobbies) or 'nowhere'}, and it is {status}"
    elif copies.lobbies[status] != opened:
        yield f"it is listed as opened at {copies.lobbies[status]:.0f}, and it was at {opened}"
    for player in copies.unlisted:
        yield f"it is not in the list of games of {player}"
    yield from _desk_problems(copies, table)
    if ended and table.state.phase == "over" and not copies.archived:
        if copies.finished is None:
            yield "it is over, and it is not among the games that are to be archived"
        elif copies.finished > max(now, table.at) + _SKEW_MS:  # the clock may have been set back since
            yield f"it is to be archived as if it ended at {copies.finished:.0f}, which is yet to come"
        elif copies.finished < table.at:
            yield f"it is to be archived as if it ended at {copies.finished:.0f}, and it did at {table.at}"
    if ended and finished_of(table) is not None and not copies.ranked:
        yield "it is over, and the standings do not know it"


def _desk_problems(copies: Copies, table: Table) -> Iterator[str]:
    seq, waiting, over = table.seq, desks.waits_for(table.state), table.state.phase == "over"
    for player in desks.players_at(table.state):
        right = desks.Place(seq, turn=player in waiting and not over, done=over)
        place = copies.desks.get(player)
        if place is None and player in copies.desks:
            yield f"on the desk of {player} it cannot be read how it stands"
        elif place is None:
            if not over and player in copies.asked:
                yield f"on the desk of {player} it is missing"
        elif place.seq < seq:
            yield f"on the desk of {player} it stands as of event {place.seq}"
        elif place.seq == seq and place != right:
            yield f"on the desk of {player} it stands as {_standing(place)}"


def _standing(place: desks.Place) -> str:
    return "over" if place.done else "waiting for that player" if place.turn else "waiting for others"
