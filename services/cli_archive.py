"""``hearts archive``: finished games moved out of the store into sealed files, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import click

from services.archiver import Archiver, NotArchived
from services.cli_games import open_house
from services.printable import printable_line
from services.record_files import FAULTY
from services.tables import UnknownGame
from services.wiring import Services


@click.group(name="archive")
def archive_group() -> None:
    """Move finished games out of the store's memory, into sealed files, and back.

    They are read, replayed and audited as before. HEARTS_ARCHIVE says where the files are, and HEARTS_ARCHIVE_HOURS after
    how long bot workers move games there by themselves. Whoever backs up the store must back up the archive too.
    """


@archive_group.command("run")
@click.argument("games", nargs=-1, metavar="[GAME]...")
@click.option(
    "--hours",
    type=click.IntRange(0),
    help="Those that have been over for so many hours.  [default: HEARTS_ARCHIVE_HOURS]",
)
def run(games: tuple[str, ...], hours: int | None) -> None:
    """Move finished games into the archive: these, or all that have been over for long enough.

    Each is judged as `hearts verify` would, and read back, before it leaves the store. Exit status 1: some could not be
    moved, which are named and stay.
    """
    if games and hours is not None:
        raise click.UsageError("--hours chooses games; name them or give the hours")
    with _archiver() as (house, archiver):
        archiver.check()
        found: Iterable[str] = games or (
            game for partition in range(house.keys.partitions) for game in archiver.games(partition, hours)
        )
        _each(found, archiver.archive, "moved into the archive", "there already")


@archive_group.command("restore")
@click.argument("games", nargs=-1, required=True, metavar="GAME...")
def restore(games: tuple[str, ...]) -> None:
    """Move games back into the store. Their files are dropped, and they count as finished now."""
    with _archiver() as (_, archiver):
        _each(games, archiver.restore, "moved back into the store", "there already")


@archive_group.command("status")
def status() -> None:
    """Tell where the archive is, and how many finished games are not in it. Exit status 1: it cannot be used."""
    with _archiver() as (house, archiver):
        hours = house.settings.archive_hours
        count = archiver.waiting()
        when = (
            f"after {hours} {'hour' if hours == 1 else 'hours'}" if hours else "only by `hearts archive run`"
        )
        click.echo(f"the archive is {printable_line(archiver.place)}; games go there {when}")
        click.echo(f"{count} finished {'game is' if count == 1 else 'games are'} in the store")
        archiver.check()


@archive_group.command("adopt")
def adopt() -> None:
    """Make the place that HEARTS_ARCHIVE names the store's archive, wherever that was.

    A store knows its archive by a mark in it. Where the files were copied elsewhere without it, or what was in the archive
    is lost for good, this writes it anew.
    """
    with _archiver() as (_, archiver):
        done = archiver.adopt()
        click.echo(
            f"{printable_line(archiver.place)} is {'now' if done else 'already'} the archive of this store"
        )


@contextmanager
def _archiver() -> Iterator[tuple[Services, Archiver]]:
    with open_house() as house:
        if house.archiver is None:
            raise click.ClickException("there is no archive: HEARTS_ARCHIVE says where it is to be")
        yield house, house.archiver


def _each(games: Iterable[str], move: Callable[[str], bool], moved: str, there: str) -> None:
    """Move games, and tell what came of it."""
    done = same = failed = 0
    for game in games:
        try:
            changed = move(game)
        except (NotArchived, UnknownGame) as error:
            failed += 1
            click.echo(printable_line(f"game {game}: {error}"), err=True)
        else:
            done += changed
            same += not changed
    told = [f"{done} {moved}"]
    told += [f"{same} {there}"] * bool(same)
    told += [f"{failed} could not be"] * bool(failed)
    click.echo(", ".join(told))
    if failed:
        raise SystemExit(FAULTY)
