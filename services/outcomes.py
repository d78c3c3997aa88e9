"""What comes of a command at a table: its outcome, and that there is no such table, or not as it was meant."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from domain import events as e
from domain.refusals import HeartsError
from services.audit import Receipt, Signer
from services.folded import Table


class UnknownGame(HeartsError):
    """There is no game of this id."""


class StaleVersion(HeartsError):
    """The table has moved on from the version that the command was meant for."""

    def __init__(self, table: Table) -> None:
        super().__init__(f"the table is at {table.etag}")
        self.table = table


class Outcome(NamedTuple):
    """An accepted command: the table after it."""

    table: Table
    events: Sequence[e.Event]
    """What happened; empty where the answer was given before."""
    key: Signer
    """Who signs for it."""
    replayed: bool = False

    @property
    def receipt(self) -> Receipt:
        """The receipt of the last event that the command caused; signed when it is asked for."""
        return self.key.of(self.table.signer).receipt(self.table.state.game, self.table.seq, self.table.head)
