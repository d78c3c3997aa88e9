"""``hearts log``: the transparency log of the store, looked at, signed, checked and completed."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import click
import msgspec

from services.cli_games import open_house
from services.cli_records import CouldNotRun, Evidence, public_key
from services.integrity import KeptCheckpoint, read_kept_checkpoint
from services.logcheck import GamesCheck, check_checkpoint, check_log, check_signed, check_tree
from services.outputs import require_output, try_to_write
from services.printable import printable, printable_line
from services.record_files import FAULTY, HOLDS, UNREADABLE
from services.store import StoreError
from services.translog import CorruptTransparencyLog
from services.whole_files import ANYBODYS, beside, put_whole
from services.wiring import Services

if TYPE_CHECKING:
    from services.logwatch import Watch


@click.group(name="log")
def log_group() -> None:
    """Look at the transparency log: one leaf for the lock and one for the end of each game.

    `check` watches that of any server over HTTP; the others work on the store of the settings.

    Exit status 0: all is in order; 1: something is not; 2: the log could not be looked at, or the output cannot be written.
    """
    require_output()


@contextmanager
def house_or_status_2(*, known: bool = False) -> Iterator[Services]:
    """The services, as `open_house` gives them; what keeps them from working ends the command with status 2."""
    try:
        with open_house(known=known) as house:
            yield house
    except StoreError as error:
        raise CouldNotRun(printable_line(str(error))) from error
    except click.UsageError:
        raise
    except click.ClickException as error:
        raise CouldNotRun(error.message) from error


@log_group.command()
@click.option(
    "--anew",
    is_flag=True,
    help="Sign the log as it is, though it does not continue what was signed before and cannot be restored. Whoever watches it "
    "will tell of a fork. Servers that run must be started again.",
)
def checkpoint(anew: bool) -> None:
    """Print the signed checkpoint of the log as it is now: keep it, and `hearts log verify` can compare later."""
    with house_or_status_2() as house:
        _refuse_damaged(house, anew=anew)
        if anew:
            house.log.forget_signed()
        click.echo(house.log.checkpoint(), nl=False)


@log_group.command()
@click.option("--start", type=click.IntRange(0), default=0, show_default=True, help="Index of the first.")
@click.option("--limit", type=click.IntRange(1), help="How many; all unless you say so.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object an entry, on one line.")
def show(start: int, limit: int | None, as_json: bool) -> None:
    """List the log's entries, oldest first."""
    with house_or_status_2() as house:
        tree = house.log.tree
        size = tree.size()
        if not as_json:
            click.echo(f"origin {house.log.origin}\nkey {house.log.verifier_key}\nleaves {size}", err=True)
        end = size if limit is None else min(size, start + limit)
        try:
            for index, leaf in islice(tree.every_leaf(start), max(0, end - start)):
                if as_json:
                    fields = {**leaf._asdict(), "head": leaf.head.hex()}
                    click.echo(msgspec.json.encode({"index": index, "leaf": leaf.hash.hex(), **fields}))
                else:
                    click.echo(f"{index} {leaf.kind} {printable(leaf.game, 64)} {leaf.seq} {leaf.head.hex()}")
        except CorruptTransparencyLog as error:
            click.echo(printable_line(f"{error}; `hearts log verify` tells more"), err=True)
            raise SystemExit(FAULTY) from error


@log_group.command()
@click.option(
    "--checkpoint",
    "checkpoints",
    type=Evidence("checkpoint", read_kept_checkpoint),
    multiple=True,
    help="A checkpoint that was kept, of which the log must be a continuation.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def verify(checkpoints: tuple[KeptCheckpoint, ...], as_json: bool) -> None:
    """Rebuild every hash from the leaves, and hold the leaves to the games in the store."""
    with house_or_status_2() as house:
        tree, lag = house.log.tree, house.projections.lag()
        places, problems = check_tree(tree)
        if not problems:
            problems += check_signed(house.log, len(places), house.key.held)
            told = (
                check_checkpoint(tree, one, len(places), house.log.origin, house.key.held)
                for one in checkpoints
            )
            problems += [one for one in told if one is not None]
        check = GamesCheck(house.store, tree, places)
        problems += check.run()
        missing = [
            f"the {one.kind} of game {one.game}, event {one.seq}, has no leaf" for one in check.missing
        ]
        if not lag:  # else the projector is about to add them
            problems += missing
        if as_json:
            body = {"ok": not problems, "leaves": len(places), "missing": len(missing), "problems": problems}
            click.echo(msgspec.json.encode(body))
        else:
            for problem in problems:
                click.echo(printable_line(problem))
            waiting = f"; {len(missing)} leaves are still to come" if lag and missing else ""
            fault = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
            click.echo(f"{len(places)} leaves, {fault if problems else 'all in order'}{waiting}")
    sys.exit(FAULTY if problems else HOLDS)


def _refuse_damaged(house: Services, *, anew: bool = False) -> None:
    """End with status 1 where the log is not what was written there: to add to it, or to sign it, would make it worse."""
    log = house.log
    problems = check_tree(log.tree)[1] if anew else check_log(log, house.key.held).problems
    for problem in problems:
        click.echo(printable_line(problem), err=True)
    if problems:
        click.echo("the log was changed; restore it from a copy (`hearts log verify` tells more)", err=True)
        raise SystemExit(FAULTY)


@log_group.command()
def fill() -> None:
    """Add the leaves that games in the store should have: those from before there was a log, say."""
    with house_or_status_2() as house:
        _refuse_damaged(house)
        check = GamesCheck(house.store, house.log.tree, list(house.log.tree.every_leaf()))
        for problem in check.run():
            click.echo(printable_line(problem), err=True)
        click.echo(f"{check.fill()} leaves added")


def _regular(_context: click.Context, _parameter: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.exists() and not path.is_file():
        raise click.BadParameter(
            printable_line(f"{str(path)!r} is no regular file, so nothing can be kept in it")
        )
    if path is not None:
        try:
            try_to_write(beside(path))
        except OSError as error:
            raise click.BadParameter(
                printable_line(f"the checkpoint cannot be kept in {str(path)!r}: {error.strerror}")
            ) from error
    return path


def _address(_context: click.Context, _parameter: click.Parameter, text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise click.BadParameter(f"{text!r:.80} is no address: it begins with https:// or http://")
    return text


@log_group.command()
@click.option(
    "--url", required=True, callback=_address, metavar="URL", help="The server, as https://example.org."
)
@click.option(
    "--checkpoint",
    "kept",
    type=Evidence("checkpoint", read_kept_checkpoint),
    help="The checkpoint from an earlier time, as --save wrote it or /v1/log/checkpoint answered, of which the log must be a continuation.",
)
@click.option(
    "--server-key",
    metavar="HEX",
    callback=public_key,
    help="A public key of the server, as you got it elsewhere; any one of its list.",
)
@click.option(
    "--save",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=_regular,
    metavar="FILE",
    help="Where the checkpoint of now is kept for the next time; where it contradicts the one of before, in FILE.contradicts: the "
    "two prove it.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(1, 86_400),
    default=600,
    show_default=True,
    help="Seconds that all of it may take.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def check(
    url: str,
    kept: KeptCheckpoint | None,
    server_key: str | None,
    save: Path | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Watch the log of a server from outside, by its public answers alone.

    The transparency log has an entry for the lock and one for the end of every game; its checkpoint is its size and hash,
    signed. The first time, give --save FILE; from then on --checkpoint FILE --save FILE, the same one.

    The server's keys must follow from --server-key, or from those that signed --checkpoint; without either they are told as
    seen for the first time. Each of them must have signed the checkpoint of now; the log must have grown from the one of
    before, which without --checkpoint is not looked at; its entries must make the root that was signed, and have no two of a
    kind for one game, which would be a fork.

    Exit status 0: all holds; 1: something does not; 2: the log could not be looked at.
    """
    # not at the top: nothing else here speaks HTTP, and it takes long to load
    import httpx

    from services.logwatch import Had, LogClient, Unanswered, Watch

    unanswered = False
    with httpx.Client() as client:
        watch = Watch(LogClient(client, url, timeout), Had(server_key, kept.signed if kept else None))
        try:
            watch.run()
        except Unanswered as error:
            unanswered = True
            watch.notices.append(str(error))
    try:
        if save is not None:
            _save(watch, save)
    except OSError as error:
        unanswered = True
        watch.notices.append(f"the checkpoint cannot be kept in {save}: {error.strerror}")
    _tell_watch(watch, unanswered, as_json)
    sys.exit(FAULTY if watch.problems else UNREADABLE if unanswered else HOLDS)


def _tell_watch(watch: Watch, unanswered: bool, as_json: bool) -> None:
    if as_json:
        click.echo(
            msgspec.json.encode(
                {"ok": not (watch.problems or unanswered), "holds": watch.held, "problems": watch.problems}
                | {"notices": watch.notices, "checkpoint": watch.note}
            )
        )
        return
    for line in watch.held:
        click.echo(f"holds: {printable_line(line)}")
    for line in watch.problems:
        click.echo(f"FAILS: {printable_line(line)}")
    for line in watch.notices:
        click.echo(printable_line(line), err=True)


def _save(watch: Watch, path: Path) -> None:
    """Keep the checkpoint of now.

    One that contradicts the earlier one is kept beside it: the two together are the proof.
    """
    if watch.goes_on is None:
        return
    target = path if watch.goes_on else path.with_name(f"{path.name}.contradicts")
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "no regular file")
    put_whole(target, watch.note.encode(), ANYBODYS)
    if not watch.goes_on:
        watch.notices.append(f"the checkpoint of now is kept in {target}: it and yours together prove it")
