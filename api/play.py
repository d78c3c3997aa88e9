"""``hearts play``: a game in the terminal, through the HTTP API like any other client."""

from __future__ import annotations

import secrets
import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource
from rich.console import Console
from rich.text import Text

from api.client import (
    DEFAULT_URL,
    PATIENT,
    Client,
    ClientError,
    Problem,
    Table,
    Unreachable,
    VariantInfo,
)
from api.playoptions import read_address, read_link, read_pace, read_table_changes, read_token, read_words
from api.playpages import end_page, problem_text, variants_page
from api.playtable import Game, Left
from api.purse import Purse
from api.scene import Scene
from api.signer import SigningClient
from api.terminals import Lines, Screen, Terminal
from domain.knobs import MOST_SEATS
from domain.variants import CUSTOM, VARIANTS
from services.printable import printable, printable_line

PACE: Final = 0.5
"""Seconds that a card stands before the next one is laid."""
TRICK: Final = 2.5
"""Seconds that a trick takes at most, however many seats there are."""
LONGEST_ID: Final = 64
"""Characters of a game's id."""
NAMELESS: Final = "Player"
LAST: Final = "last"
USUAL: Final = "basic"
HELP: Final = f"""Play Hearts in the terminal, against bots and people.

VARIANT is one that the server has: {", ".join(VARIANTS)}; or {CUSTOM}, for rules that you --set. At the table ? tells what
can be typed.
"""
_OF_A_NEW_TABLE: Final = {
    "variant": "VARIANT",
    "players": "--players",
    "open_seats": "--open",
    "bot": "--bot",
    "pairs": "--set",
}
"""What is said of a table that is opened, and has no meaning for one that is there."""


@dataclass(frozen=True)
class Wish:
    """What the command line asks for."""

    variant: str
    players: int | None
    open_seats: int
    bot: str
    changes: Mapping[str, Any]
    name: str | None
    asks: bool
    """Whether there is somebody to ask for a name."""


@dataclass
class Sitting:
    """A seat that was found: the table, the entropy committed to for it, and what the server says of its variant."""

    table: Table
    opening: bytes | None = field(default=None, repr=False)
    about: VariantInfo | None = None


@click.command(help=HELP)
@click.argument("variant", callback=read_words, default=USUAL)
@click.option(
    "--players",
    type=click.IntRange(3, MOST_SEATS),
    help="Seats; the variant's usual number where it is left out.",
)
@click.option(
    "--url", callback=read_address, default=DEFAULT_URL, show_default=True, help="Address of the server."
)
@click.option(
    "--name",
    callback=read_words,
    help="Your name at the table. Each name is a player of its own, and is remembered.",
)
@click.option(
    "--bot",
    callback=read_words,
    default="rules",
    show_default=True,
    help="The bot in the other seats: rules or random.",
)
@click.option(
    "--open",
    "open_seats",
    type=click.IntRange(0, MOST_SEATS - 1),
    default=0,
    metavar="N",
    help="Leave N seats to other people, who come with --game.",
)
@click.option(
    "--set",
    "pairs",
    callback=read_words,
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a rule; may be repeated.",
)
@click.option(
    "--game",
    callback=read_words,
    metavar="ID",
    help="Come (back) to a game, or by the link of an invitation; `last` is the one you were in last.",
)
@click.option(
    "--token", callback=read_token, help="Your player's token; else the one kept for this server is used."
)
@click.option(
    "--pace",
    type=click.FloatRange(0, 10),
    callback=read_pace,
    help="Seconds that a card stands; about 0.5, or 0 with --plain.",
)
@click.option("--sign", is_flag=True, help="Sign your moves with a key of your own, kept on this machine.")
@click.option("--plain", is_flag=True, help="Plain lines, as where input or output is no terminal.")
@click.option("--demo", is_flag=True, help="Watch: your cards are played too, the first legal one each time.")
def play(
    variant: str,
    players: int | None,
    url: str,
    name: str | None,
    bot: str,
    open_seats: int,
    pairs: tuple[str, ...],
    game: str | None,
    token: str | None,
    pace: float | None,
    sign: bool,
    plain: bool,
    demo: bool,
) -> None:
    """Play in the terminal, as `HELP` says."""
    for stream in (sys.stdout, sys.stdin):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # what cannot be written or read is no reason to end
    if game is not None and not game.strip():
        raise click.BadParameter("a game has an id; `last` is the one you were in last", param_hint="--game")
    if game is not None:
        _check_alone(click.get_current_context())
    link = read_link(game or "")
    url = link.server or url
    console = Console(highlight=False)
    plain = plain or not (console.is_terminal and sys.stdin.isatty()) or console.is_dumb_terminal
    wish = Wish(variant, players, open_seats, bot, read_table_changes(pairs), name, not (plain or demo))
    purse = Purse(Path(click.get_app_dir("hearts")) / "players.json")
    try:
        client = SigningClient(url, token, secrets_of=purse.move_key, signs=sign)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--url") from error
    try:
        with client:
            if game is None:
                sitting = _open(client, purse, wish, console)
            else:
                sitting = _come(client, purse, wish, link.game, link.invitation)
            purse.note_game(client.url, sitting.table.id)
            _play(client, sitting, _terminal(console, sitting, plain, pace, demo), console, demo)
    except Problem as problem:
        Console(stderr=True, highlight=False).print(*problem_text(problem), sep="\n")
        raise SystemExit(1) from problem
    except Unreachable as error:
        hint = "Start a server with `make run` (or `hearts up`), or name another with --url."
        raise click.ClickException(f"{printable_line(str(error))}\n{hint}") from error
    except ClientError as error:
        raise click.ClickException(printable_line(str(error))) from error


def _check_alone(context: click.Context) -> None:
    """Raise `click.UsageError` where a game is come to with words that only a new table takes."""
    given = [
        word
        for name, word in _OF_A_NEW_TABLE.items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(
            f"a game that is there keeps its table: leave out {', '.join(given)}, or --game"
        )


def _terminal(console: Console, sitting: Sitting, plain: bool, pace: float | None, demo: bool) -> Terminal:
    if plain:
        return Lines(console, pace=pace or 0)
    title = printable_line(sitting.about.title) if sitting.about is not None else ""
    usual = min(PACE, TRICK / len(sitting.table.seats))
    return Screen(console, title=title, pace=usual if pace is None else pace, watching=demo)


# --- a new table


def _open(client: Client, purse: Purse, wish: Wish, console: Console) -> Sitting:
    """A new table. A kept token that the server does not know (any more) is replaced by a new player's."""
    about = _about(client, wish, console)
    seats = _seats(wish, about)
    opening = secrets.token_bytes(32)
    settings = {**wish.changes, "players": len(seats)}
    given = client.token is not None
    for token in _tokens(client, purse, wish):
        client.token = token
        try:
            return Sitting(client.open_table(wish.variant, seats, settings, opening), opening, about)
        except Problem as problem:
            if problem.status != 401 or given:
                raise
            purse.forget(client.url, token)
    _new_player(client, purse, wish)
    return Sitting(client.open_table(wish.variant, seats, settings, opening), opening, about)


def _about(client: Client, wish: Wish, console: Console) -> VariantInfo | None:
    """The variant that was asked for. Ends with the list of variants where the server has no such."""
    if wish.variant == CUSTOM:
        return None
    try:
        return client.variant(wish.variant, wish.players)
    except Problem as problem:
        if problem.status != 404:
            raise
        console.print(Text(f"This server has no variant {wish.variant!r:.60}. It has:"))
        console.print(variants_page(client.variants()))
        raise SystemExit(2) from problem


def _seats(wish: Wish, about: VariantInfo | None) -> list[str | dict[str, str]]:
    usual = 4 if about is None else int(about.rules["players"])
    count = wish.players or wish.changes.get("players", usual)
    bots = count - 1 - wish.open_seats
    if bots < 0:
        raise click.BadParameter(f"{count} seats are yours and {count - 1} more", param_hint="--open")
    return ["me", *["open"] * wish.open_seats, *[{"bot": wish.bot} for _ in range(bots)]]


# --- players


def _tokens(client: Client, purse: Purse, wish: Wish) -> Iterator[str]:
    """The tokens to be tried: the one that was given alone, or the kept ones of the name that was given."""
    if client.token is not None:
        yield client.token
        return
    for kept in purse.players(client.url):
        if wish.name is None or kept.name == wish.name:
            yield kept.token


def _new_player(client: Client, purse: Purse, wish: Wish) -> None:
    name = wish.name
    if name is None:
        name = click.prompt("Your name", default=NAMELESS) if wish.asks else NAMELESS
    client.token = None
    player = client.new_player(name)
    try:
        purse.keep(client.url, name, player.token)
    except OSError as error:
        click.echo(f"Your token is not kept, so you cannot come back to this game: {error}", err=True)


# --- a game that is there


def _come(client: Client, purse: Purse, wish: Wish, game: str, invitation: str | None) -> Sitting:
    """A seat at a table that is there: one's own, or a free one where the table has not begun."""
    if game == LAST:
        game = purse.game(client.url) or ""
        if not game:
            raise click.ClickException("no game at this server is remembered; --game takes the id of one")
    table = _own_table(client, purse, wish, game)
    about = None
    if table.variant != CUSTOM:
        about = client.variant(table.variant, len(table.seats))
    if table.you is None:
        if table.status != "open":
            raise click.ClickException(
                "you have no seat in this game, and it has begun; --token or --name tell which player you are"
            )
        if client.token is None:
            _new_player(client, purse, wish)
        opening = secrets.token_bytes(32)
        return Sitting(client.sit(game, None, opening, invitation), opening, about)
    if table.phase == "seats" and not table.seats[table.you].ready:
        return _sit_anew(client, table, about)
    if table.seats[table.you].away and table.phase != "over":
        table = client.take_back(game, table.you)
    return Sitting(table, None, about)


def _own_table(client: Client, purse: Purse, wish: Wish, game: str) -> Table:
    """The table as the player sees it that has a seat there, of those that are kept; else as the first of them."""
    seen: list[tuple[str, Table]] = []
    given = client.token is not None
    for token in _tokens(client, purse, wish):
        client.token = token
        try:
            table = client.table(game)
        except Problem as problem:
            if problem.status != 401 or given:
                raise
            continue
        if table.you is not None:
            return table
        seen.append((token, table))
    client.token = seen[0][0] if seen else None
    return seen[0][1] if seen else client.table(game)


def _sit_anew(client: Client, table: Table, about: VariantInfo | None) -> Sitting:
    """Commit again to entropy: what was committed to when sitting down ended with the process that knew it."""
    opening = secrets.token_bytes(32)
    try:
        client.stand(table.id, table.you or 0)
        return Sitting(client.sit(table.id, table.you, opening), opening, about)
    except Problem as problem:
        if problem.status != 409:
            raise
        return Sitting(table, None, about)  # somebody is ready, so the deal comes without our entropy


# --- the game


def _play(client: SigningClient, sitting: Sitting, terminal: Terminal, console: Console, demo: bool) -> None:
    game = shlex.quote(
        printable(sitting.table.id, LONGEST_ID)
    )  # it stands in lines that people paste into a shell
    url = "" if client.url == DEFAULT_URL else f" --url {client.url}"
    come = f"hearts play --game {game}{url}"
    back = f"{come} --sign" if client.signs else come
    scene = Scene(sitting.table)
    client.waits = PATIENT
    client.on_wait = lambda seconds, why: _tell_wait(terminal, seconds, why)
    left = False
    try:
        with terminal:
            Game(
                client,
                scene,
                terminal,
                opening=sitting.opening,
                auto=demo,
                invitation=f"They come with: {come}",
            ).run()
    except Left:
        left = True
    except KeyboardInterrupt as error:
        console.print(f"\nThe game stays on the server. Come back with: {back}", soft_wrap=True)
        raise SystemExit(130) from error
    except Unreachable:
        console.print(f"The game stays on the server. Once it is up again: {back}", soft_wrap=True)
        raise
    if left:
        console.print(f"\nThe game stays on the server. Come back with: {back}", soft_wrap=True)
        return
    console.print(end_page(scene, terminal.look))
    console.print(
        f"\nAll {scene.seq} events fit one chain. Check deals and scores too:\n"
        f"curl -s {client.url}/v1/games/{game}/proof | hearts verify -",
        soft_wrap=True,
    )


def _tell_wait(terminal: Terminal, seconds: float, why: str) -> None:
    if seconds >= 1:
        terminal.say(
            f"No answer from the server ({why}). Trying again in {seconds:g} s; Ctrl-C leaves the table."
        )
