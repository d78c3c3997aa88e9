"""``hearts play``: a game in the terminal, through the HTTP API like any other client."""

from __future__ import annotations

import getpass
import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec
from rich.console import Console

from api.client import DEFAULT_URL, PATIENT, Client, ClientError, Problem, Table, Unreachable, VariantInfo
from api.playpages import end_page, problem_text, variants_page
from api.playtable import Game, Left
from api.scene import Scene
from api.terminals import Lines, Screen, Terminal

PACE: Final = 0.5


class Purse:
    """The tokens of the player of this machine, by server, in a file that only its user can read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def token(self, url: str) -> str | None:
        """The token for a server, none where there is none or the file cannot be read."""
        found = self._read().get(url)
        return found if isinstance(found, str) else None

    def keep(self, url: str, token: str) -> None:
        """Keep a token; a folder that cannot be written is no reason not to play."""
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._path.touch(mode=0o600)
            self._path.chmod(0o600)
            self._path.write_text(json.dumps(self._read() | {url: token}), encoding="utf-8")
        except OSError as error:
            click.echo(f"your token is not kept, so this game cannot be come back to: {error}", err=True)

    def _read(self) -> dict[str, Any]:
        try:
            found = msgspec.json.decode(self._path.read_bytes())
        except (OSError, msgspec.MsgspecError):
            return {}
        return found if isinstance(found, dict) else {}


def read_changes(pairs: Sequence[str]) -> dict[str, Any]:
    """``key=value`` pairs as changes of a rule set; a value is JSON, or else a text as it stands."""
    changes: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise click.BadParameter(f"{pair!r} is not key=value, as in target=50", param_hint="--set")
        try:
            changes[key] = json.loads(value)
        except ValueError:
            changes[key] = value
    return changes


@click.command()
@click.argument("variant", default="basic")
@click.option("--players", type=int, help="Seats; the variant's usual number where it is left out.")
@click.option("--url", default=DEFAULT_URL, show_default=True, help="Address of the server.")
@click.option("--name", help="Your name at the table.")
@click.option("--bot", default="rules", show_default=True, help="The bot in the other seats.")
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="Change a rule; may be repeated.")
@click.option("--game", metavar="ID", help="Come back to a game you left.")
@click.option("--token", help="Your player's token; else the one kept for this server is used.")
@click.option(
    "--pace", type=click.FloatRange(0, 10), help="Seconds that a move stands; 0.5, or 0 with --plain."
)
@click.option("--plain", is_flag=True, help="Plain lines, as where the output is no terminal.")
@click.option("--demo", is_flag=True, help="Watch: your cards are played too, the first legal one each time.")
def play(
    variant: str,
    players: int | None,
    url: str,
    name: str | None,
    bot: str,
    pairs: tuple[str, ...],
    game: str | None,
    token: str | None,
    pace: float | None,
    plain: bool,
    demo: bool,
) -> None:
    """Play Hearts in the terminal, against bots.

    VARIANT is one of the server's rule families: basic, classic, special, standard, cancellation, omnibus.
    """
    console = Console(highlight=False)
    plain = plain or not (console.is_terminal and sys.stdin.isatty())
    terminal: Terminal = (
        Lines(console, pace=pace or 0)
        if plain
        else Screen(console, pace=PACE if pace is None else pace, watching=demo)
    )
    purse = Purse(Path(click.get_app_dir("hearts")) / "players.json")
    try:
        with Client(url, token) as client:
            client.token = token or purse.token(client.url)
            about = None if game else _about(client, variant, players, console)
            opening = None if game else secrets.token_bytes(32)
            if game is not None:
                table = _come_back(client, game)
            else:
                table = _open(client, purse, name, about, bot, read_changes(pairs), opening)
            _play(client, table, terminal, console, opening, about, demo)
    except Problem as problem:
        for line in problem_text(problem):
            console.print(line)
        raise SystemExit(1) from problem
    except Unreachable as error:
        raise click.ClickException(f"{error}\nStart a server with `hearts up` (or `make run`).") from error
    except ClientError as error:
        raise click.ClickException(str(error)) from error


def _about(client: Client, variant: str, players: int | None, console: Console) -> VariantInfo:
    """The variant that was asked for. Ends with the list of variants where the server has no such."""
    try:
        return client.variant(variant, players)
    except Problem as problem:
        if problem.status != 404:
            raise
        console.print(f"This server has no {variant}. It has:")
        console.print(variants_page(client.variants()))
        raise SystemExit(1) from problem


def _open(
    client: Client,
    purse: Purse,
    name: str | None,
    about: VariantInfo | None,
    bot: str,
    changes: Mapping[str, Any],
    opening: bytes | None,
) -> Table:
    """A new table with bots in the other seats. A token that the server does not know (any more) is replaced."""
    assert about is not None
    seats: list[Any] = ["me", *[{"bot": bot}] * (int(changes.get("players", about.rules["players"])) - 1)]
    settings = {"players": len(seats), **changes}
    if client.token is not None and name is None:
        try:
            return client.open_table(about.name, seats, settings, opening)
        except Problem as problem:
            if problem.status != 401:
                raise
    client.token = None
    player = client.new_player(name or _user_name())
    purse.keep(client.url, player.token)
    return client.open_table(about.name, seats, settings, opening)


def _user_name() -> str:
    try:
        return getpass.getuser()[:40] or "You"
    except (OSError, KeyError):
        return "You"


def _come_back(client: Client, game: str) -> Table:
    table = client.table(game)
    if table.you is None:
        raise click.ClickException(
            "you have no seat in this game; --token names the player who has one, if you play from another machine"
        )
    return table


def _play(
    client: Client,
    table: Table,
    terminal: Terminal,
    console: Console,
    opening: bytes | None,
    about: VariantInfo | None,
    demo: bool,
) -> None:
    scene = Scene(table)
    client.waits = PATIENT
    client.on_wait = lambda seconds, why: terminal.say(f"{why}; trying again in {seconds:g} s")
    try:
        Game(client, scene, terminal, opening=opening, about=about, auto=demo).run()
    except (Left, KeyboardInterrupt):
        console.print(
            f"\nThe game stays on the server. Come back with: hearts play --url {client.url} --game {table.id}",
            soft_wrap=True,
        )
        return
    console.print(end_page(scene, terminal.look))
    console.print(
        f"Check it: curl -s {client.url}/v1/games/{table.id}/proof | hearts verify -", soft_wrap=True
    )
