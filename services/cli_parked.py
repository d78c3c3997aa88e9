"""``hearts parked``: games that the projector could not fold, and what an operator does about them."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from threading import Event
from typing import Final

import click
import msgspec

from services.cli_log import house_or_status_2
from services.folded import Table, follow
from services.overview import retry_parked, skip_parked
from services.printable import printable_line
from services.projections import Parked
from services.record_files import FAULTY
from services.store import CorruptStream, Entry
from services.summaries import update
from services.tables import UnknownGame
from services.wiring import Services

LONGEST_EVENT: Final = 400
"""Bytes of an event that are shown."""
_LOOK_SECONDS: Final = 0.1


class _Aside(msgspec.Struct, frozen=True):
    """A game that was set aside, as ``list --json`` prints it, one a line."""

    game: str
    projected: int
    """The last event that the read models have."""
    seq: int
    """The last event of the log when it was tried last."""
    last: int
    """The last event of the log now, 0 where its stream is gone or none."""
    times: int
    at: int
    """When that was, Unix ms."""
    ended: bool
    skipped: bool
    asked: bool
    """Whether `retry` has asked for a try that has not been made yet."""
    why: str


@click.group(name="parked")
def parked_group() -> None:
    """Look at games that could not be folded into the read models, and say what becomes of them.

    Such a game is set aside alone, with the reason; the others go on, and its log stays as it is: it can be played, audited
    and exported. It is tried again when it has new events, when a projector starts, and by `retry`; three times at most where the
    projector ended at it. A projector with another version of the fold tries each once more, in order, so an upgrade that
    mends the fold needs nothing else.
    """


@parked_group.command("list")
@click.option("--json", "as_json", is_flag=True, help="A JSON object a line.")
def list_parked(as_json: bool) -> None:
    """List them, the one that was tried last at the end.

    Exit status 0: there are none but skipped ones; 1: there are some; 2: the store cannot be worked with.
    """
    with house_or_status_2() as house:
        found = _all(house)
        for one in found:
            click.echo(msgspec.json.encode(one).decode() if as_json else printable_line(_line(one)))
        if not found and not as_json:
            click.echo("no game is set aside")
    sys.exit(FAULTY if any(not one.skipped for one in found) else 0)


@parked_group.command("show")
@click.argument("game")
def show(game: str) -> None:
    """Tell all about one: why it was set aside, the event at fault, and what can be done."""
    with house_or_status_2() as house:
        found = _told(house, house.projections.parked_among([game]))
        if not found:
            raise click.ClickException(f"game {printable_line(game):.60} is not set aside")
        (one,) = found
        lines = [
            _line(one),
            *_fault(house, one),
            f"to leave it as it is, out of the alarms: hearts parked skip {game}",
        ]
        for line in lines[: -1 if one.skipped else None]:
            click.echo(printable_line(line))


@parked_group.command("retry")
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option("--all", "every", is_flag=True, help="All of them, those that were skipped left out.")
@click.option(
    "--wait",
    type=click.FloatRange(0, 3600),
    help="Wait so many seconds for a projector to have tried, and tell what came of it.",
)
def retry(games: tuple[str, ...], every: bool, wait: float | None) -> None:
    """Have games tried again, skipped or not. Exit status 1: some are not set aside, or with --wait: are still."""
    if bool(games) == every:
        raise click.UsageError("name games, or say --all, one of the two")
    with house_or_status_2() as house:
        every_one = (one.game for one in _all(house) if not one.skipped)
        wanted = dict.fromkeys(games or every_one)
        known = [game for game in wanted if _asked(house, game)]
        left = _wait(house, known, wait) if wait is not None else []
    sys.exit(FAULTY if left or len(known) < len(wanted) else 0)


@parked_group.command("skip")
@click.argument("games", nargs=-1, required=True, metavar="GAME...")
def skip(games: tuple[str, ...]) -> None:
    """Leave games alone: no alarm counts them, and neither new events nor a restart have them tried; `retry` takes that back.

    They stay listed here, and in lobbies as they were projected last; they come into no standings and no archive, and `hearts
    audit` goes on to tell what is wrong with them. Exit status 1: some are not set aside.
    """
    with house_or_status_2() as house:
        known = [game for game in games if skip_parked(house, game)]
        for game in games:
            told = "is left alone" if game in known else "is not set aside"
            click.echo(f"game {printable_line(game):.60} {told}", err=game not in known)
    sys.exit(FAULTY if len(known) < len(games) else 0)


def _all(house: Services) -> list[_Aside]:
    return sorted(_told(house, house.projections.parked()), key=lambda one: (one.at, one.game))


def _told(house: Services, aside: dict[str, Parked]) -> list[_Aside]:
    projected = house.projections.seqs([*aside])
    return [
        _Aside(
            game=game,
            projected=projected[game],
            seq=one.seq,
            last=_last(house, game),
            times=one.times,
            at=one.at,
            ended=one.ended,
            skipped=one.skipped,
            asked=one.asked,
            why=one.why,
        )
        for game, one in aside.items()
    ]


def _last(house: Services, game: str) -> int:
    try:
        return house.store.last(game)
    except CorruptStream:
        return 0


def _line(one: _Aside) -> str:
    when = datetime.fromtimestamp(one.at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    often = "once" if one.times == 1 else f"{one.times} times"
    marks = (
        ", left alone" * one.skipped + ", the projector ended" * one.ended + ", to be tried again" * one.asked
    )
    return f"{one.game}  projected to {one.projected} of {one.last}, tried {often}, last {when}{marks}: {one.why}"


def _fault(house: Services, one: _Aside) -> list[str]:
    """What keeps a game from being folded here, event by event; one that ended the projector is not folded."""
    game = one.game
    try:
        entries: Sequence[Entry] = house.store.read(game, fresh=True)
    except CorruptStream as error:
        return [f"its stream cannot be read at event {error.seq}: {error.why}"]
    if not entries:
        return ["its stream is not in the store: restore it from a copy, or leave the game alone"]
    if one.ended:
        rest = [_stored(entry) for entry in entries if entry[0] == one.projected + 1]
        return [
            "the projector ended while it folded this game, so it is not folded here; the first event that it lacks:",
            *(rest or ["none: the read models have all of them"]),
            f"hearts audit {game} judges its events",
            f"to have it folded alone, which may end the projector once more: hearts parked retry {game}",
        ]
    known: Table | None = None
    for entry in entries:
        try:
            known = follow(game, known, [entry])
        except Exception as error:  # noqa: BLE001 (whatever kept it from being folded)
            why = error.why if isinstance(error, CorruptStream) else f"{type(error).__name__}: {error}"
            return [
                *_before(game, known),
                f"event {entry[0]} cannot be: {why}",
                _stored(entry),
                "an event of a newer version needs that version of the program, which folds it without being asked",
                f"one that was changed has to be restored from a copy, and then: hearts parked retry {game}",
            ]
    return [f"this version folds all of its {len(entries)} events: hearts parked retry {game}"]


def _before(game: str, known: Table | None) -> list[str]:
    """What was folded before the event at fault."""
    if known is None:
        return ["nothing of it can be folded"]
    told = update(game, known, known.at).summary
    where = f"phase {told['phase']}, hand {told['hand_number']}, totals {told['totals']}"
    return [f"events 1 to {known.seq} can be folded: {told['variant']} at {told['players']} seats, {where}"]


def _stored(entry: Entry) -> str:
    """An event as it is stored, bytes that are no text by their numbers."""
    cut = " ..." if len(entry[1]) > LONGEST_EVENT else ""
    return f"event {entry[0]} is stored as {entry[1][:LONGEST_EVENT].decode(errors='backslashreplace')}{cut}"


def _asked(house: Services, game: str) -> bool:
    try:
        asked = retry_parked(house, game)
    except (UnknownGame, CorruptStream) as error:
        click.echo(printable_line(str(error)), err=True)
        return False
    if not asked:
        click.echo(f"game {printable_line(game):.60} is not set aside", err=True)
    return asked


def _wait(house: Services, games: Sequence[str], seconds: float) -> list[str]:
    """Wait until each game was folded or tried once more; tell what came of each. Returns those that are still set aside."""
    end, now = time.monotonic() + seconds, house.projections.parked_among(games)
    # while a game is tried by itself it has the mark of one that ended the projector, which stays where that comes true
    while any(one.asked or one.ended for one in now.values()) and time.monotonic() < end:
        Event().wait(_LOOK_SECONDS)
        now = house.projections.parked_among(games)
    for game in games:
        told = "folded"
        if game in now:
            told = "no projector has tried it yet" if now[game].asked else f"set aside again: {now[game].why}"
        click.echo(printable_line(f"game {game}: {told}"))
    return [game for game in games if game in now]
