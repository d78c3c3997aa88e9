"""``hearts backup`` and ``hearts restore``: all of a house in one file, and an empty house filled from it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click
import redis

from domain.refusals import HeartsError
from services.archive import ArchiveUnavailable
from services.backup import write_backup
from services.backup_file import BadBackup, Summary, check_backup
from services.cli import read_settings
from services.cli_games import open_house
from services.cluster import connect_store
from services.embedded import EmbeddedStore, EmbeddedStoreError
from services.printable import file_name, printable_line
from services.record_files import FAULTY, UNREADABLE
from services.restore import restore_backup
from services.store import StoreError, StoreUnavailable
from services.wiring import now_ms, store_url

FILE: Final = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))


@click.command()
@FILE
@click.option(
    "--check", is_flag=True, help="Write nothing: read a backup to its end, and tell what is in it."
)
def backup(file: Path, check: bool) -> None:
    """Write all of a house to a new FILE while it runs: games, archive, log, players, server keys.

    The file is read again before it has its name, and is for its user alone: it holds the server's secret keys and every
    hidden card. Read models, snapshots and queues are not in it; they follow from the rest. Exit status 1: something of the
    store is damaged, which is named, and is in the backup as it is; 2: there is no backup.
    """
    if check:
        click.echo(_told(_checked(file), file))
        return
    if file.exists():
        raise _Failed(f"{file_name(file)} is there already")
    told = _Told()
    with _refusals(), open_house(known=True) as house:
        summary = write_backup(house, file, told)
    click.echo(_told(summary, file))
    if told.count:
        raise SystemExit(FAULTY)


@click.command()
@FILE
def restore(file: Path) -> None:
    """Fill an empty house from a backup, with its server keys and its archive; then start it with `hearts up`.

    The settings say where, as for `hearts up`; a store that is not empty, another key file or another store's archive is left
    alone. Broken off, call it again with the same file: no house starts on half a restore. Players may go on where the backup
    was begun; what was acknowledged after that is not in it. Exit status 1: something was damaged, or is missing, which is
    named; 2: nothing was restored.
    """
    settings, told = read_settings(), _Told()
    with _refusals(), ExitStack() as stack:
        _checked(file)
        if not settings.store_url:
            stack.enter_context(EmbeddedStore(settings.data, settings.fsync))
        client = stack.enter_context(connect_store(store_url(settings)))
        summary = restore_backup(settings, client, file, now_ms, told)
    click.echo(_told(summary, file))
    click.echo(f"restored; what was acknowledged after {_time(summary.head.at)} is not in it")
    if told.count:
        raise SystemExit(FAULTY)


class _Failed(click.ClickException):
    """There is no backup, or nothing was restored."""

    exit_code = UNREADABLE


class _Told:
    """Tells what is wrong as it is found, and counts it."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, what: str) -> None:
        self.count += 1
        click.echo(printable_line(what), err=True)


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except FileExistsError as error:
        raise _Failed(f"{file_name(error.filename2 or error.filename)} is there already") from error
    except OSError as error:
        raise _Failed(printable_line(f"{error.strerror or error}")) from error
    except (StoreUnavailable, ArchiveUnavailable) as error:
        raise _Failed(f"broken off, call it again: {printable_line(str(error))}") from error
    except (StoreError, redis.RedisError, HeartsError, EmbeddedStoreError) as error:
        raise _Failed(printable_line(str(error))) from error
    except click.ClickException as error:
        raise _Failed(error.message) from error


def _checked(file: Path) -> Summary:
    try:
        return check_backup(file)
    except BadBackup as error:
        raise _Failed(printable_line(str(error))) from error
    except OSError as error:
        raise _Failed(f"{file_name(file)}: {error.strerror or error}") from error


def _told(summary: Summary, file: Path) -> str:
    head, end = summary
    return (
        f"{file_name(file)}: {end.games:,} games ({end.archived:,} of them archived), {end.events:,} events, "
        f"{end.leaves:,} entries of the log, {end.players:,} players, begun at {_time(head.at)}; "
        f"server key {head.server_key[:16]}..., {head.partitions} partitions"
    )


def _time(ms: int) -> str:
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
