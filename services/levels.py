"""How far a claim of the audit is shown, in steps that a reader can climb: the level, what it means, and what the next takes.

In the words of the page `/verify`, whose twin is ``api/web/verify-levels.js``; ``tests/api/test_browser_verdicts.py`` holds the two
together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Level(NamedTuple):
    """Where a claim stands."""

    level: int | None = None
    """From 0; none where there are no steps to climb."""
    top: int | None = None
    """The highest that there is of this claim."""
    reached: str = ""
    """What is shown, in words a player understands."""
    next: str = ""
    """What the next level takes; empty where nothing more can be shown."""


NO_LEVEL = Level()
_LATER = "check again when a hand is over"
SEALED_NEXT = "to show more, check again when every table of the group has finished the hand"


def _to_show_more(steps: Iterable[str]) -> str:
    told = "; and ".join(steps)
    return f"to show more, {told}" if told else ""


def integrity_level(*, holds: bool, kept_to: int, pinned: bool, events: int, audit: bool = False) -> Level:
    """Of claim I. ``kept_to`` is the last event that something shows which the reader kept, 0 where nothing does.

    In an ``audit``, which takes no checkpoints, nothing is said of adding them.
    """
    steps = []
    if not kept_to and audit:
        steps.append(
            "hold it to a receipt that a player kept (hearts audit --receipt): a server can sign changed events anew, but"
            " not take that back"
        )
    elif not kept_to:
        steps.append(
            "add a receipt or checkpoint that you kept (--receipt, --checkpoint): a server can sign a changed file anew,"
            " but not take yours back"
        )
    if not pinned:
        steps.append(
            "add the server's key from elsewhere (--server-key): then nobody can put up another server in its place"
        )
    if 0 < kept_to < events:
        steps.append(
            f"add a receipt of a later event than {kept_to}: what came after it stands in this file alone"
        )
    following = _to_show_more(steps)
    if not holds:
        return Level(
            0,
            3,
            "the events fit together, and nothing signed shows that they are the ones that were played",
            following,
        )
    own = f"by what you kept, up to event {kept_to}"
    if kept_to:
        known = Level(3, 3, f"{own}, under a key that you know", following)
        return known if pinned else Level(2, 3, own, following)
    if pinned:
        return Level(2, 3, "by the word, in this file, of a server whose key you know", following)
    return Level(1, 3, "only this file's own server says so", following)


def fairness_level(persons: Sequence[int], contributed: Sequence[int], *, hands: int) -> Level:
    """Of claim F: the seats of persons, and those of them that put something into the deals."""
    if not hands:
        return Level(0, 2, "nothing shows yet how the deals came about", _to_show_more([_LATER]))
    others = [seat for seat in persons if seat not in contributed]
    join = "have to contribute when they sit down at the next table, as hearts play does"
    if not contributed:
        return Level(
            0, 2, "the server alone decided the deals", _to_show_more([f"the players' clients {join}"])
        )
    if others:
        seats = _seats(others)
        return Level(
            1,
            2,
            f"the deals were fixed before play, and {seats} had no part in them: there it is the others' word",
            _to_show_more([f"the clients of {seats} {join}"]),
        )
    return Level(
        2,
        2,
        "the deals were fixed before play, and every person had a part in them that nobody could foresee",
    )


def rules_level(
    signing: Sequence[int], pinned: Sequence[int], *, hands: int, sealed: bool = False, audit: bool = False
) -> Level:
    """Of claim R: the seats that sign their moves, and those of them whose keys the reader has.

    In an ``audit``, which takes no keys, nothing is said of adding them.
    """
    if sealed:
        return Level(0, 3, "the cards are sealed", SEALED_NEXT)
    if not hands:
        return Level(0, 3, "no hand is over, so that no card can be checked yet", _to_show_more([_LATER]))
    if not signing:
        return Level(
            1,
            3,
            "the moves follow the rules, and nobody signs them: that they are their players' own is the server's word",
            _to_show_more(["let the players sign their moves at the next table, as hearts play does"]),
        )
    missing = [seat for seat in signing if seat not in pinned]
    if missing:
        seats = _seats(missing)
        return Level(
            2,
            3,
            f"the moves follow the rules, and those of {_seats(signing)} are signed, {seats} by keys that this file names",
            _to_show_more(
                [] if audit else [f"add the keys of {seats}, each from its player (--seat-key SEAT=HEX)"]
            ),
        )
    return Level(
        3, 3, f"the moves follow the rules, and those of {_seats(signing)} are signed by keys that you know"
    )


def bots_level(*, made: bool, rest: str) -> Level:
    """Of claim B: whether the bots' decisions were made again, and what would show the ``rest``, ``""`` where there is none."""
    reached = "the house bots decided from what their own seat may see" if made else "not looked at"
    return Level(int(made), 1, reached, _to_show_more([rest]) if rest else "")


def _seats(seats: Sequence[int]) -> str:
    return f"{'seat' if len(seats) == 1 else 'seats'} {', '.join(map(str, seats))}"
