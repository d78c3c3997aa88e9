"""``hearts replay``: a game of the store, of a proof file or of a record, event by event."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Final, cast

import click

from domain.cards import NAMES, Card, parse_card
from domain.events import AnyEvent
from domain.record import Record
from domain.record import replay as judge_record
from domain.refusals import HeartsError, Malformed
from domain.state import State
from services.cli_games import open_house
from services.codec import CODEC
from services.imported import events_of
from services.paging import EventPages
from services.printable import printable, printable_line
from services.proof import Proof, read_proof
from services.published import read_all_published, read_published
from services.record_files import open_file, read_file, verdict_line
from services.retold import NotShown, Retold
from services.revealed import restore_hidden
from services.verdicts import verify_proof

_GAME: Final = re.compile("[A-Za-z0-9_-]{1,64}")
"""The id of a game."""


class CardParam(click.ParamType[Card]):
    """A card as players say it."""

    name = "card"

    def convert(self, value: str | Card, param: click.Parameter | None, ctx: click.Context | None) -> Card:
        """See click."""
        if isinstance(value, int):
            return value
        try:
            return parse_card(value)
        except Malformed as error:
            self.fail(str(error), param, ctx)


@click.command()
@click.argument("game")
@click.option(
    "--at",
    type=click.IntRange(1),
    metavar="EVENT",
    help="The table after this event; after the last one unless you say so.",
)
@click.option(
    "--seat",
    type=click.IntRange(0),
    metavar="SEAT",
    help="The table as this seat, from 0 on, could see it; with --why, what it might do.",
)
@click.option("--open", "everybody", is_flag=True, help="The table with the cards of all seats.")
@click.option(
    "--why",
    type=CardParam(),
    metavar="CARD",
    help="QS, TH, ...: by which rule this card might be played or passed, or not: at event --at, or each time that it was.",
)
@click.option(
    "--diff",
    type=click.IntRange(1),
    metavar="EVENT",
    help="What has changed from this event to --at, or to the last one; with --seat, what that seat could see of it.",
)
@click.option("--step", is_flag=True, help="Event by event, from --at on; Enter goes on, q ends.")
def replay(
    game: str,
    at: int | None,
    seat: int | None,
    everybody: bool,
    why: Card | None,
    diff: int | None,
    step: bool,
) -> None:
    """Tell a game event by event, or show the table as it was.

    GAME is the id of a game of the store, or a file: a proof file (hearts-audit/1) or one game record (hearts-record/1), of
    which each hand is told move by move; - is standard input. Without options every event is told in a line, with its
    number before it: that is the EVENT of the options. Cards of a hand are shown when it is over, to nobody before.
    """
    if step and game == "-":
        raise click.UsageError("--step waits for Enter on standard input, and - reads the game from there")
    _check_together({"--step": step, "--why": why is not None, "--diff": diff is not None})
    for word, given in (("--why", why), ("--diff", diff), ("--seat", seat)):
        if everybody and given is not None:
            raise click.UsageError(f"--open shows all seats, and {word} is about one: choose")
    retold = _read(game)
    try:
        if step:
            _step(retold, at or 1, seat, everybody)
        elif why is not None:
            _explain(retold, at, why, seat)
        elif diff is not None:
            _show(retold.changes(diff, at or retold.known, seat))
        elif at is not None or seat is not None or everybody:
            _show(retold.board(at or retold.known, seat, everybody=everybody))
        else:
            for seq, line in retold.lines():
                click.echo(printable_line(f"{seq:>5}  {line}"))
    except NotShown as error:
        raise click.ClickException(printable_line(str(error))) from error


def _check_together(given: Mapping[str, bool]) -> None:
    """Raise `click.UsageError` where more than one of the options that show something of their own is given."""
    words = [word for word, is_given in given.items() if is_given]
    if len(words) > 1:
        raise click.UsageError(f"{' and '.join(words)} show different things: choose one")


def _explain(retold: Retold, at: int | None, card: Card, seat: int | None) -> None:
    """Why a card might be played or passed at an event; without one, each time that it was, by ``seat`` alone if named."""
    if at is not None:
        click.echo(printable_line(retold.why(at, card, seat)))
        return
    found = [(seq, told) for seq, told in retold.whys(card, seat)]
    for seq, told in found:
        click.echo(printable_line(f"{seq:>5}  {told}"))
    if not found:
        raise NotShown(
            f"{NAMES[card]} was not played or passed in any hand that is over; --at names a moment to ask about"
        )


def _read(game: str) -> Retold:
    try:
        if game == "-":
            return _read_file(_standard_input())
        if (
            path := Path(game)
        ).exists() and not path.is_dir():  # a pipe of the shell, as in <(...), is no regular file
            return _read_file(path.read_bytes())
        if not _GAME.fullmatch(game):
            raise Malformed(f"there is no file {printable(game, 200)}, and no game can have that id")
        with open_house() as house:
            table = house.tables.load(game)
            events = cast(
                "list[AnyEvent]", CODEC.decode_all(list(EventPages(house.store).entries(game, table.seq)))
            )
            names = house.players.seat_names(table.state)
            return Retold(events, lambda state: _names_of(state, names))
    except click.ClickException as error:  # of the store
        raise click.ClickException(f"{error.message} (and there is no file {printable(game)})") from error
    except (HeartsError, OSError) as error:
        raise click.ClickException(printable_line(str(error))) from error


def _standard_input() -> bytes:
    try:
        with click.open_file("-", "rb") as file:
            return cast("bytes", file.read())
    except RuntimeError as error:
        raise Malformed("standard input is closed") from error


def _read_file(data: bytes) -> Retold:
    """The game of a proof file or of a record. Raises `HeartsError`."""
    opened = open_file(BytesIO(data))
    opened.file.seek(0)
    data = opened.file.read()  # what was in it where that is compressed
    if opened.kind == "proof":
        proof = read_proof(data)
        _warn_of(proof)
        return Retold(restore_hidden(_events_of(proof)), _ids)
    record: Record | None = None
    for _, found in read_file(BytesIO(data)):
        if isinstance(found, HeartsError):
            raise found
        if record is not None:
            raise Malformed(
                "the file holds several game records, and one can be told: give it alone, or as -"
            )
        record = found
    assert record is not None, "a file without a record is refused"
    return _of_record(record)


def _events_of(proof: Proof) -> list[AnyEvent]:
    """The events of a proof file, read as strictly as `hearts verify` reads them. Raises `CorruptLog`."""
    found = read_all_published(1, proof.lines, b"\n".join(proof.lines))
    return cast("list[AnyEvent]", [read_published(line) for line in proof.lines] if found is None else found)


def _of_record(record: Record) -> Retold:
    """The game of a record, as far as it was played. Raises `Malformed` where the record does not hold."""
    verdict = judge_record(record)
    if not verdict.ok:
        raise Malformed(
            f"this game record does not hold, so it cannot be told: {verdict_line(verdict, record.seats)}"
        )
    # no times, server or players stand in a record, and none of them is told
    events = events_of(record, "record", record.seats, "", 0)
    return Retold(cast("list[AnyEvent]", events), lambda state: _names_of(state, record.seats))


def _warn_of(proof: Proof) -> None:
    """One line where `hearts verify` would not let the file pass: what is told may never have happened."""
    wrong = next((one for one in verify_proof(proof).claims if one.status == "fails"), None)
    if wrong is not None:
        told = printable_line(
            f"warning: this file does not hold, so nothing in it can be relied on: {wrong.line}"
        )
        click.echo(told, err=True)


def _ids(state: State) -> Sequence[str]:
    return [one.bot.name if one.bot is not None else printable(one.player) for one in state.seats]


def _names_of(state: State, names: Sequence[str]) -> Sequence[str]:
    """The names that the seats have at the end, of those who sit there already."""
    return [
        printable(name) if one.kind != "open" else "" for one, name in zip(state.seats, names, strict=True)
    ]


def _show(lines: Sequence[str]) -> None:
    for line in lines or ["nothing"]:
        click.echo(printable_line(line))


def _step(retold: Retold, first: int, seat: int | None, everybody: bool) -> None:
    for seq, line in retold.lines(first):
        click.echo(printable_line(f"{seq:>5}  {line}"))
        if seq <= retold.known:
            try:
                _show(retold.board(seq, seat, everybody=everybody))
            except NotShown as error:
                click.echo(printable_line(str(error)))
        if seq < len(retold):
            click.echo("Enter: next, q: end ", nl=False)
            if sys.stdin.readline().strip().lower().startswith("q"):
                return
            click.echo()
