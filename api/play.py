"""``hearts play``: a game in the terminal, through the HTTP API like any other client."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource
from rich.console import Console
from rich.text import Text

from api.client import DEFAULT_URL, Client, ClientError, Problem, Table, Unreachable, VariantInfo
from api.keepsakes import Keepsakes
from api.playoptions import (
    read_address,
    read_key,
    read_link,
    read_pace,
    read_table_changes,
    read_token,
    read_words,
)
from api.playpages import problem_text, variants_page
from api.playrun import Kept, Sitting, run_game
from api.purse import Purse
from api.signer import KeyNotKept, SigningClient
from api.terminals import Lines, Screen, Terminal
from domain.knobs import MOST_SEATS
from domain.variants import CUSTOM, VARIANTS
from services.printable import printable_line

PACE: Final = 0.5
"""Seconds that a card stands before the next one is laid."""
TRICK: Final = 2.5
"""Seconds that a trick takes at most, however many seats there are."""
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
    help="The bot in the other seats: level1 (a beginner) to level7, rules, search (the strongest) or random.",
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
@click.option(
    "--sign/--no-sign",
    default=None,
    help="Sign your moves with a key of your own, kept on this machine, or not; signed unless you give a --token.",
)
@click.option(
    "--server-key",
    metavar="HEX",
    callback=read_key,
    help="The server's key as you know it, from /version or a friend, expected from then on; else the one first seen there.",
)
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
    sign: bool | None,
    server_key: str | None,
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
    folder = Path(click.get_app_dir("hearts"))
    purse = Purse(folder / "players.json")
    # a token that is given may be used on other machines, which have not got the key that is kept here
    signs = token is None if sign is None else sign
    unsigned = _play_unsigned if sign is None else None
    try:
        client = SigningClient(url, token, secrets_of=purse.move_key, signs=signs, on_no_key=unsigned)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--url") from error
    try:
        with client:
            if game is None:
                sitting = _open(client, purse, wish, console)
            else:
                sitting = _come(client, purse, wish, link.game, link.invitation)
            purse.note_game(client.url, sitting.table.id)
            if server_key is not None:
                purse.give_key(client.url, server_key)
            pinned = server_key or purse.given_key(client.url)
            kept = Kept(purse, Keepsakes(folder / "games"), pinned)
            terminal = _terminal(console, sitting, plain, pace, demo)
            run_game(client, sitting, terminal, console, kept, demo=demo)
    except Problem as problem:
        Console(stderr=True, highlight=False).print(*problem_text(problem), sep="\n")
        raise SystemExit(1) from problem
    except Unreachable as error:
        hint = "Start a server with `make run` (or `hearts up`), or name another with --url."
        raise click.ClickException(f"{printable_line(str(error))}\n{hint}") from error
    except ClientError as error:
        raise click.ClickException(printable_line(str(error))) from error


def _play_unsigned(error: KeyNotKept) -> None:
    click.echo(f"Your moves are not signed: {error}", err=True)


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
            return Sitting(client.open_table(wish.variant, seats, settings, opening), opening, about, True)
        except Problem as problem:
            if problem.status != 401 or given:
                raise
            purse.forget(client.url, token)
    _new_player(client, purse, wish)
    return Sitting(client.open_table(wish.variant, seats, settings, opening), opening, about, True)


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
        return Sitting(client.sit(game, None, opening, invitation), opening, about, True)
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
        return Sitting(client.sit(table.id, table.you, opening), opening, about, True)
    except Problem as problem:
        if problem.status != 409:
            raise
        return Sitting(table, None, about)  # somebody is ready, so the deal comes without our entropy
