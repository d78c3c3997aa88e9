"""A step of a game: events that have been decided on, as the store is asked to keep them, and the table after them."""

from __future__ import annotations

from domain import events as e
from domain.shuffle import genesis_head, next_head
from domain.signing import HISTORY_MARKS
from domain.state import State
from services.codec import CODEC, Stored
from services.folded import Table, signer_of
from services.owed import next_due, of_bots
from services.snapshot import EVERY, take_snapshot
from services.store import Append


def step(
    game: str, table: Table | None, events: list[e.Event], state: State, at: int, now: int
) -> tuple[Table, Append]:
    """The table after more events, and what the store is asked for to get there.

    They happen ``at`` a time in ms that is no earlier than the event before them. It is later than ``now`` where the clock
    was set back since; bots are not to wait until it has caught up.
    """
    seq, head = (0, genesis_head(game)) if table is None else (table.seq, table.head)
    mark = (0, b"") if table is None else table.mark
    stored: list[Stored] = []
    for number, event in enumerate(events, seq + 1):
        pair = CODEC.encode(event, number)
        head = next_head(head, pair[0])
        mark = (number, head) if type(event) in HISTORY_MARKS else mark
        stored.append(pair)
    last = seq + len(events)
    keep = last // EVERY > seq // EVERY or state.phase == "over"
    signer = signer_of(None if table is None else table.state, events, state)
    done = Table(state, last, head, at, mark, signer)
    snapshot = take_snapshot(*done) if keep else b""
    due = next_due(state, min(at, now))
    return done, Append(game, seq, stored, at, due, snapshot=snapshot, of_bots=of_bots(state))
