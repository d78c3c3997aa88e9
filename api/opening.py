"""Whether a table may be opened: there is room for it, and the player has not too many. For every call that opens one.

A call does `check_tables` before it opens a table and `note_table` after.
"""

from __future__ import annotations

from collections.abc import Callable

from api.errors import Problem
from api.house import House
from services.tables import Outcome


def check_tables(here: House, player: str, is_known: Callable[[], bool] = lambda: False) -> None:
    """Raise ``game/too_many`` where ``player`` has opened as many tables as it may have, ``server/busy`` where there is no room for any.

    ``is_known`` tells whether the call would only tell again what it has opened before, which is never refused.
    """
    full = here.services.pressure.why()
    if full and not is_known():
        raise Problem(
            "server/busy",
            f"no new tables are opened at the moment: {full}",
            hint="try again in a moment; games that have begun go on",
        )
    most = here.services.settings.most_tables
    if most and here.services.opened.count(player, most) >= most and not is_known():
        raise Problem(
            "game/too_many",
            f"you have opened {most} tables that are not over, and may have no more",
            hint="play them to their end, or leave those at which nobody else sits; such a one counts no longer in a moment",
        )


def note_table(here: House, player: str, outcome: Outcome) -> None:
    """Count a table as one that ``player`` has opened."""
    if here.services.settings.most_tables and not outcome.replayed:
        here.services.opened.note(player, outcome.table.state.game)
