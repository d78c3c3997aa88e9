"""Many games audited: a batch at a time, in this process or in several of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from functools import cache, partial
from importlib.metadata import version
from itertools import islice
from typing import Final

import msgspec
from rq.timeouts import BaseTimeoutException

from services.archive import ArchiveUnavailable
from services.audit import Receipt
from services.auditor import Auditor
from services.inspection import AuditReport
from services.pool import in_processes
from services.settings import Settings
from services.store import StoreUnavailable
from services.tables import UnknownGame
from services.wiring import Services, build

CHECKS: Final = 2
"""Raise it with every change of what an audit looks at or how a report is written."""
VERSION: Final = f"{version('hearts-house')}/{CHECKS}"
"""Of a program that audits: reports of another are not taken for one's own."""
LOCAL_GAMES: Final = 16
"""Games that a process of `audit_in_processes` is given at a time."""


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What has become of a game that was to be audited."""

    game: str
    ok: bool = False
    """Whether nothing is wrong with it."""
    report: AuditReport | None = None
    """None where it could not be looked at, and where it holds and nobody wants to read so."""
    why: str = ""
    """Why it could not be looked at; empty where it was."""


def audit_game(
    auditor: Auditor, game: str, receipts: Sequence[Receipt] = (), *, brief: bool = False
) -> Outcome:
    """The outcome of one game, held to ``receipts`` of it too; where it is to be ``brief``, without the report on one that holds.

    Raises `StoreUnavailable`: of a store that does not answer nothing can be said. Whatever else keeps one game from being
    looked at is told of that game, and the others go on.
    """
    try:
        report = auditor.audit(game, receipts)
    except ArchiveUnavailable as error:  # others may be in the store
        return Outcome(game, why=f"game {game} could not be looked at: {error}")
    except (StoreUnavailable, BaseTimeoutException):
        raise
    except UnknownGame as error:
        return Outcome(game, why=str(error))
    except Exception as error:  # noqa: BLE001 (one game that cannot be looked at, whatever the reason)
        return Outcome(game, why=f"game {game} could not be looked at: {type(error).__name__}: {error}")
    return Outcome(game, report.ok, None if brief and report.ok else report)


def audit_batch(
    auditor: Auditor, games: Iterable[str], *, brief: bool, seconds: float, wanted: Callable[[], bool]
) -> list[Outcome]:
    """The outcomes of the first of ``games``: of one at least, and of no more when the time is over.

    Of none more, either, when ``wanted``, which is asked before each, says no. Raises as `audit_game` does.
    """
    until = time.monotonic() + seconds
    found: list[Outcome] = []
    for game in games:
        if not wanted():
            break
        found.append(audit_game(auditor, game, brief=brief))
        if time.monotonic() >= until:
            break
    return found


def audit_in_processes(games: Iterable[str], jobs: int, *, brief: bool) -> Generator[Outcome]:
    """The outcomes of games in their order, worked out by so many processes of this machine.

    Each opens the store of the settings for itself. To be closed. Raises `StoreUnavailable`, and `BrokenProcessPool`
    where one of them was ended.
    """
    with closing(in_processes(batches(games), partial(_audit_here, brief=brief), jobs)) as done:
        for outcomes in done:
            yield from msgspec.json.decode(outcomes, type=list[Outcome])


def batches(games: Iterable[str]) -> Iterator[list[str]]:
    """Games in batches for local processes."""
    games = iter(games)
    while batch := list(islice(games, LOCAL_GAMES)):
        yield batch


@cache
def _services() -> Services:
    return build(Settings.from_environ())


def _audit_here(games: Sequence[str], brief: bool) -> bytes:
    return msgspec.json.encode([audit_game(_services().auditor, game, brief=brief) for game in games])
