"""The `hearts` command, put together from the entry point group `hearts.commands`, and `hearts config`."""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import entry_points, version
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final

import click

from services.interrupts import Interrupted
from services.outputs import UNWRITTEN
from services.printable import file_name
from services.settings import InvalidSettings, Settings
from services.start import ended_at_once

COMMANDS: Final = "hearts.commands"
"""The entry point group: the name of a subcommand, and the click command that it is."""
_FULL: Final = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


class Commands(click.Group):
    """A group whose subcommands are entry points; one is loaded only when it is used, or for the list of all."""

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command line, telling in a sentence what the system refused, such as to write the output."""
        try:
            return super().main(*args, **options)
        except OSError as error:
            if not options.get("standalone_mode", True):
                raise
            _give_up_output()
            with suppress(OSError):
                click.echo(f"Error: {_refusal(error)}", err=True)
            sys.exit(UNWRITTEN)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand; one whose reader has gone away ends without a word, and not with click's own status 1.

        Nor does one that is interrupted: 1 would say that what was checked does not hold.
        """
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            _give_up_output()
            ctx.exit(UNWRITTEN)
        except KeyboardInterrupt as stopped:
            ctx.exit(_tell_interrupted(stopped))

    def make_context(self, *args: Any, **options: Any) -> click.Context:
        """Read a command line, with the same end where that is interrupted, as while the list of all commands is made."""
        try:
            return super().make_context(*args, **options)
        except KeyboardInterrupt as stopped:
            sys.exit(_tell_interrupted(stopped))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all subcommands."""
        return sorted({*super().list_commands(ctx), *(point.name for point in entry_points(group=COMMANDS))})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A subcommand, none where there is none of this name; a broken one tells so when it is run."""
        known = super().get_command(ctx, cmd_name)
        if known is not None:
            return known
        for point in entry_points(group=COMMANDS, name=cmd_name):
            try:
                with ended_at_once():
                    command = point.load()
            except Exception as error:  # noqa: BLE001 (whatever a plug-in raises, the others must go on)
                return _broken(cmd_name, f"{type(error).__name__}: {error}")
            if not isinstance(command, click.Command):
                return _broken(cmd_name, f"{point.value} is no click command")
            return command
        return None


def _tell_interrupted(stopped: KeyboardInterrupt) -> int:
    """The exit status of a command that was told to stop, which is said here."""
    with suppress(OSError):
        click.echo("\ninterrupted", err=True)
    return 128 + (stopped.signum if isinstance(stopped, Interrupted) else signal.SIGINT)


def _refusal(error: OSError) -> str:
    why = error.strerror or str(error) or type(error).__name__
    if error.errno in _FULL:
        return f"the disk is full: {why}"
    if error.filename is None:
        return why
    return f"{file_name(error.filename)}: {why}" if isinstance(error.filename, str | bytes) else why


def _give_up_output() -> None:
    """Let go of what could not be written: to try it again at the end would only fail again, and louder."""
    try:
        sys.stdout.flush()
    except OSError:
        sys.stdout = Path(os.devnull).open("w")  # noqa: SIM115 (for the rest of the process)


def _broken(name: str, why: str) -> click.Command:
    def fail(**_: Any) -> None:
        raise click.ClickException(f"the command {name} cannot be loaded: {why}")

    return click.Command(
        name,
        callback=fail,
        short_help=f"cannot be loaded: {why}",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True},
        params=[click.Argument(["args"], nargs=-1)],
    )


def _tell_version(context: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if not asked:
        return
    from domain import kernel  # not at the top: every other command starts sooner without it

    kind = (
        "with the compiled kernel"
        if kernel.AVAILABLE
        else "without the compiled kernel (it was not built: no C compiler, perhaps)"
    )
    click.echo(f"hearts {version('hearts-house')}, {kind}")
    context.exit()


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_tell_version,
    help="Tell the version.",
)
def main() -> None:
    """A house for the card game Hearts: tables, bots, and a log that anyone can check.

    `hearts up` serves a playable table; `hearts COMMAND --help` tells more about each command.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a name the terminal cannot write is no reason to end


def read_settings() -> Settings:
    """The settings of the environment. Raises `click.ClickException` that names everything wrong with them."""
    try:
        return Settings.from_environ()
    except InvalidSettings as error:
        raise click.ClickException(str(error)) from error


def setting(field_name: str) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    """A callback for an option that takes the place of a setting, and is read as its variable would be."""

    def callback(_context: click.Context, _parameter: click.Parameter, text: str | None) -> Any:
        try:
            return None if text is None else Settings.read(field_name, text)
        except ValueError as error:
            raise click.BadParameter(str(error)) from error

    return callback


@click.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON array, for programs.")
def config(as_json: bool) -> None:
    """Show every setting: its value, its default, what it means.

    Settings are environment variables. Passwords in addresses are masked.
    """
    try:
        settings, problems = Settings.from_environ(), ""
    except InvalidSettings as error:
        settings, problems = Settings(), str(error)  # what may be set is wanted all the more
    rows = settings.describe()
    if as_json:
        click.echo(json.dumps([row._asdict() for row in rows], indent=2))
    else:
        for row in rows:
            changed = "" if row.value == row.default else f"   (default: {row.default or 'empty'})"
            click.echo(f"{click.style(row.name, bold=True)}={row.value}{changed}\n    {row.meaning}")
    if problems:
        raise click.ClickException(f"{problems}\nshown are the defaults")


if __name__ == "__main__":
    main(prog_name="hearts")
