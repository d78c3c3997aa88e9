"""``hearts bot``: house bots and plug-ins by the line protocol, and new bots."""

from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import click

from domain.bots import BOTS
from domain.refusals import Malformed
from services.bot_child import BotFailed, bare_environ, killed_on_interrupt
from services.bot_plugins import Plugin, describe_plugin, plugin_command, plugin_names
from services.bot_templates import LANGUAGES, write_bot, wrong_name
from services.printable import file_name, printable_line


class _Bots(click.Group):
    """A group in which the name of a bot is a command too."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The house bots among them; plug-ins are told by `list`."""
        return [*super().list_commands(ctx), *BOTS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """What serves a bot, where no other command is called so."""
        known = super().get_command(ctx, cmd_name)
        if known is not None:
            return known
        if cmd_name in BOTS:
            summary = f"Speak for {cmd_name}: {BOTS[cmd_name].summary}."
            return click.Command(cmd_name, callback=lambda: _serve(cmd_name), help=summary)
        if cmd_name in plugin_names():
            return click.Command(cmd_name, callback=lambda: _become(cmd_name), help="Speak for a plug-in.")
        return None


@click.group(cls=_Bots)
def bot() -> None:
    """Let a bot speak by lines, or write a new one.

    `hearts bot NAME` speaks the protocol hearts-bot/1 on standard input and output for a house bot or a plug-in, so that
    other programs can play it.
    """


def _serve(name: str) -> None:
    from services.bot_desk import serve_bot

    serve_bot(BOTS[name])


def _become(name: str) -> None:
    """Go on as the plug-in's process, which has nothing of our environment."""
    sys.stdout.flush()
    os.execve(sys.executable, plugin_command(name), bare_environ(ours=True))


@bot.command("list")
@click.option("--json", "as_json", is_flag=True, help="One JSON array, for programs.")
def list_bots(as_json: bool) -> None:
    """Show house bots and plug-ins: name, version, budget, summary.

    Of a plug-in that cannot be loaded it says why. Plug-ins are loaded for this, each in a process of its own.
    """
    house = [Plugin(one.name, one.version, one.budget, one.summary) for one in BOTS.values()]
    rows = [("house", one) for one in house]
    rows += [("plug-in", describe_plugin(name)) for name in plugin_names()]
    if as_json:
        fields = ("name", "version", "budget", "summary", "problem")
        listed = [{"kind": kind, **{key: getattr(one, key) for key in fields}} for kind, one in rows]
        click.echo(json.dumps(listed, indent=2))
        return
    for kind, one in rows:
        budget = f"{one.budget} playouts" if one.budget else "no budget"
        told = f"cannot be loaded: {one.problem}" if one.problem else f"{budget}; {one.summary}"
        click.echo(printable_line(f"{one.name}{'@' if one.version else ''}{one.version}  ({kind})  {told}"))


@bot.command("new")
@click.argument("name")
@click.option(
    "--language",
    type=click.Choice(LANGUAGES),
    default=LANGUAGES[0],
    show_default=True,
    help="python: with this package, a plug-in too. plain: a program that needs nothing, to be written anew in any language.",
)
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where to; a folder of that name unless given."
)
def new(name: str, language: str, folder: Path | None) -> None:
    """Write a bot that plays, and its test, into a new folder."""
    if problem := wrong_name(name):
        raise click.BadParameter(problem, param_hint="NAME")
    folder = Path(name) if folder is None else folder
    try:
        written = write_bot(name, language, folder)
    except FileExistsError as error:
        raise click.ClickException(f"{file_name(folder)} is there already") from error
    for path in written:
        click.echo(file_name(path))
    python = shlex.quote(sys.executable) if language == LANGUAGES[0] else "python3"
    click.echo(f"Try it: cd {shlex.quote(str(folder))} && {python} -m unittest")


@bot.command("try")
@click.argument("name", metavar="COMMAND|PLUGIN")
def try_out(name: str) -> None:
    """Let a program, or a plug-in, play a hand of every variant with every number of seats, in all of them.

    Tells how many decisions it lost, and why the last one. Exit status 1 if there are any.
    """
    from services.bot_trial import try_bot
    from services.interrupts import interruptible
    from services.outside_bot import STDIO, outside_bot

    if name in BOTS and name not in plugin_names():
        raise click.BadParameter(f"{name} is a house bot; a program or a plug-in is tried")
    try:
        found = outside_bot(name if name in plugin_names() or name.startswith(STDIO) else STDIO + name)
    except Malformed as error:
        raise click.BadParameter(str(error)) from error
    with interruptible(), found, killed_on_interrupt():
        try:
            found.start()
        except BotFailed as error:
            raise click.ClickException(printable_line(f"{name} cannot play: {error}")) from error
        try_bot(found)
    lost = sum(found.failures.values())
    click.echo(f"{found.name or name}: {found.decisions} decisions, {lost} lost")
    if lost:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(found.failures.items()))
        raise click.ClickException(f"{kinds}; the last one: {found.last_failure}")
