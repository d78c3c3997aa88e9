"""``hearts export`` and ``hearts import``: games of the store as files, and records as games of the store."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import click
import msgspec
import redis

from domain.events import AnyEvent
from domain.record import Record, record_of
from domain.refusals import HeartsError, Malformed
from services.archive import ArchiveUnavailable
from services.cli import read_settings
from services.cli_records import FILES
from services.cluster import connect_store, wire_of
from services.codec import CODEC
from services.imported import NotImportable
from services.keyscheck import require_marks
from services.outputs import Output, opened_output
from services.paging import EventPages
from services.players import LONGEST_NAME
from services.printable import file_name, printable_line
from services.proof import proof_lines
from services.record_files import FAULTY, HOLDS, UNREADABLE, Unreadable, read_file
from services.store import StoreError, StoreUnavailable
from services.tables import UnknownGame
from services.wiring import Services, build, store_url


@contextmanager
def open_house(*, known: bool = False) -> Iterator[Services]:
    """The services on the store of the settings. Raises `click.ClickException` where it cannot be worked with.

    A store that is to be ``known`` has to say by itself how it is divided and whose it is, unless it is empty.
    """
    logging.basicConfig(level=logging.ERROR)
    try:
        settings = read_settings()
        if known:
            with connect_store(store_url(settings)) as client:
                require_marks(wire_of(client))
        services = build(settings)
        try:
            yield services
        finally:
            services.client.close()
    except ArchiveUnavailable as error:
        raise click.ClickException(printable_line(str(error))) from error
    except StoreUnavailable as error:
        raise click.ClickException(
            f"the store does not answer: {printable_line(str(error)).rstrip('.')}; is `hearts up` running on this data folder?"
        ) from error
    except (StoreError, redis.RedisError, HeartsError) as error:
        raise click.ClickException(printable_line(str(error))) from error


@click.command()
@click.argument("game")
@click.option(
    "--as",
    "form",
    type=click.Choice(["proof", "record"]),
    default="proof",
    show_default=True,
    help="The proof file of all events so far, or the record of a finished game.",
)
@click.option("--out", type=Output(), default="-", help="Where to; standard output by default.")
def export(game: str, form: str, out: Path) -> None:
    """Write a game of the store as a proof file or as a record.

    Both are what the API gives out under /v1/games/GAME/proof and /record.
    """
    with open_house() as house:
        try:
            table = house.tables.load(game)
        except UnknownGame as error:
            raise click.ClickException(str(error)) from error
        entries = EventPages(house.store).entries(game, table.seq)
        if form == "proof":
            with opened_output(out) as file:
                file.writelines(proof_lines(entries, house.key, table.head, house.log.prove))
            return
        if table.state.phase != "over":
            raise click.ClickException("the game is not over; until then there is only its proof file")
        if table.state.sealed:
            raise click.ClickException(
                f"its cards are sealed until every table of group {table.state.deal_group} has finished its hands"
            )
        events = cast("list[AnyEvent]", CODEC.decode_all(list(entries)))
        record = record_of(events, house.players.seat_names(table.state))
        with opened_output(out) as file:
            file.write(msgspec.json.encode(record) + b"\n")


@click.command(name="import")
@FILES
def import_games(files: tuple[IO[bytes], ...]) -> None:
    """Load finished game records as games of the store; - is standard input.

    Each is checked to the last card first, and becomes a game that can be looked at, replayed and exported: marked as
    imported, never rated. The same record again is the same game. Exit status 0: all are there; 1: one does not hold or
    is not finished; 2: something could not be read as a record. What is in order is imported all the same.
    """
    status = HOLDS
    with open_house() as house:
        for file in files:
            name = file_name(file.name)
            for line, what in read_file(file):
                where = f"{name}:{line}"
                if isinstance(what, Unreadable):
                    click.echo(f"{name}: {what}", err=True)
                    status = UNREADABLE
                    continue
                try:
                    click.echo(f"{where}: {_import(house, what)}")
                except NotImportable as error:
                    click.echo(f"{where}: {printable_line(str(error))}", err=True)
                    status = max(status, FAULTY)
    sys.exit(status)


def _import(house: Services, record: Record) -> str:
    def players() -> list[str]:
        made = []
        for seat, name in enumerate(record.seats):
            try:
                made.append(house.players.name(name[:LONGEST_NAME]))
            except Malformed:  # a name that cannot be shown is no reason to refuse a game
                made.append(house.players.name(f"seat {seat}"))
        return made

    table, new = house.tables.import_record(record, players)
    return f"game {table.state.game}" + ("" if new else ", which was here already")
