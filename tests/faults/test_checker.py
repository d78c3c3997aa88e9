"""The checker: of a history and a log that agree it says nothing, and of each way in which they do not, just that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.faults.checker import (
    AUDIT,
    BACKWARDS,
    CHANGED,
    FORKED,
    LOST,
    SHARED,
    STUCK,
    SURE,
    TWICE,
    Final,
    Logged,
    check,
)
from tests.faults.history import OPEN, PLAY, READ, SIT, Call

ANNA, BELA = "anna", "bela"


def call(
    kind: str, key: str = "", *, at: float = 0.0, player: str = ANNA, status: int = 200, **more: Any
) -> Call:
    """A call that took a second."""
    made = {"game": "g", "what": "", **more}
    ended = at + 1
    return Call(
        client=player, player=player, kind=kind, key=key, began=at, ended=ended, status=status, **made
    )


def play(key: str, card: str, seq: int = 0, **more: Any) -> Call:
    """A card that was played, told as event ``seq``."""
    return call(PLAY, key, what=card, seq=seq, head=f"h{seq}" if seq else "", **more)


def log(*events: tuple[str, str, str]) -> list[Logged]:
    """A log of kinds, players and what for, from event 1 on."""
    return [Logged(seq, f"h{seq}", *one) for seq, one in enumerate(events, 1)]


FOLLOWS = ("", "", "")
BEGUN = [(OPEN, ANNA, ""), FOLLOWS, (SIT, BELA, ""), FOLLOWS]
OPENED = [
    call(OPEN, "k1", at=0, status=201, seq=2, head="h2"),
    call(SIT, "k2", at=2, player=BELA, seq=3, head="h3"),
]


def kinds(calls: Sequence[Call], *events: tuple[str, str, str], **final: Any) -> list[str]:
    """What kinds of violations there are, after the table was opened."""
    found = check([*OPENED, *calls], Final({"g": log(*BEGUN, *events)}, **final))
    return sorted({one.kind for one in found})


def test_what_agrees() -> None:
    """Commands that are done, refused, repeated, unknown and done, or unknown and not done; and what others read."""
    calls = [
        play("k3", "2C", 6, at=4),
        play("k4", "3C", at=6, player=BELA, status=409),
        play("k5", "3C", at=8, player=BELA, status=0),
        play("k5", "3C", 7, at=10, player=BELA, replayed=True),
        play("k3", "2C", 6, at=12, replayed=True),
        play("k6", "9D", at=14, status=503),
        play("k7", "QS", at=16, player=BELA, status=0),
        call(READ, at=18, seq=8, head="h8"),
        call(READ, at=20, status=0),
    ]
    assert [] == kinds(calls, (PLAY, ANNA, "2C"), FOLLOWS, (PLAY, BELA, "3C"), (PLAY, BELA, "QS"))


def test_what_agrees_of_an_answer_with_consequences() -> None:
    """A command is answered with the last event that follows from it."""
    assert [] == kinds([play("k3", "2C", 7, at=4)], (PLAY, ANNA, "2C"), FOLLOWS, FOLLOWS)


def test_an_acknowledged_command_that_is_lost() -> None:
    """The log ends before it, or has something else there."""
    assert [LOST, FORKED] == sorted(kinds([play("k3", "2C", 5, at=4)]), key=[LOST, FORKED].index)
    assert LOST in kinds([play("k3", "2C", 5, at=4)], (PLAY, ANNA, "3C"))
    assert LOST in kinds([play("k3", "2C", 5, at=4)], (PLAY, BELA, "2C"))


def test_a_command_that_is_there_twice() -> None:
    """A twin card was played by the repeat."""
    calls = [play("k3", "2C", at=4, status=0), play("k3", "2C", 6, at=6)]
    assert [TWICE] == kinds(calls, (PLAY, ANNA, "2C"), (PLAY, ANNA, "2C"))


def test_an_unknown_command_that_is_there_twice() -> None:
    """Once is right, twice is not."""
    calls = [play("k3", "2C", at=4, status=0)]
    assert [] == kinds(calls, (PLAY, ANNA, "2C"))
    assert [TWICE] == kinds(calls, (PLAY, ANNA, "2C"), (PLAY, ANNA, "2C"))


def test_a_refused_command_that_is_there() -> None:
    """It was said to change nothing."""
    assert [SURE] == kinds([play("k3", "2C", at=4, status=409)], (PLAY, ANNA, "2C"))


def test_a_refused_command_that_had_a_try_without_an_answer() -> None:
    """That try may have been on its way when the other was refused."""
    calls = [play("k3", "2C", at=4, status=0), play("k3", "2C", at=6, status=409)]
    assert [] == kinds(calls, (PLAY, ANNA, "2C"))
    assert [] == kinds(calls)


def test_two_commands_that_are_told_the_same_event() -> None:
    """One of them was not done."""
    assert [SHARED] == kinds([play("k3", "2C", 5, at=4), play("k4", "2C", 5, at=6)], (PLAY, ANNA, "2C"))


def test_a_head_that_is_not_the_logs() -> None:
    """Whoever reads it, and shortened as in an ETag."""
    assert [] == kinds([call(READ, at=4, seq=4, head="h")])
    assert [FORKED] == kinds([call(READ, at=4, seq=4, head="other")])


def test_who_comes_later_is_told_less() -> None:
    """Among all who ask; not where both asked at the same time, and not by a repeat."""
    before = call(READ, at=4, seq=4, head="h4")
    assert [BACKWARDS] == kinds([before, call(READ, at=6, player=BELA, seq=3, head="h3")])
    assert [] == kinds([before, call(READ, at=4.5, player=BELA, seq=3, head="h3")])
    assert [] == kinds([before, call(SIT, "k2", at=6, player=BELA, seq=3, head="h3", replayed=True)])


@pytest.mark.parametrize(
    "again",
    [
        play("k3", "2C", 6, at=6, replayed=True),
        play("k3", "2C", 5, at=6),
        play("k3", "2C", at=6, status=409),
    ],
    ids=["another event", "carried out again", "refused"],
)
def test_a_repeat_that_is_answered_otherwise(again: Call) -> None:
    """The same key, and not the same outcome."""
    assert [CHANGED] == kinds([play("k3", "2C", 5, at=4), again], (PLAY, ANNA, "2C"), FOLLOWS)


def test_a_table_that_nobody_asked_for() -> None:
    """A second one under a key; where its opening was never answered it is right."""
    second = {"g": log(*BEGUN), "g2": log((OPEN, ANNA, ""))}
    assert [TWICE] == [one.kind for one in check(OPENED, Final(second))]
    unknown = call(OPEN, "k9", at=4, status=0, game="")
    assert [] == check([*OPENED, unknown], Final(second))


def test_what_is_found_otherwise() -> None:
    """Tables that cannot be played on, and what the audits say."""
    assert [AUDIT, STUCK] == sorted(
        kinds([], unfinished=["g"], problems=["its deal"]), key=[AUDIT, STUCK].index
    )
