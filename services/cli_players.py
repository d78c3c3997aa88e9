"""`hearts players`: who plays here, their tokens, and forgetting them, for the operator of a house."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import click

from domain.refusals import Malformed
from services.cli_games import open_house
from services.erasure import erase_player
from services.players import clean_label
from services.printable import printable_line
from services.token_forms import FIRST_SCOPES, LONGEST_LIFE, SCOPES, TokenInfo, TooManyTokens, told
from services.tokens import BELIEVED_MS
from services.wiring import Services

_PLAYER = click.argument("player")
_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON array, for programs.")


@click.group()
def players() -> None:
    """See the players of the store, give out and end their tokens, forget them.

    A running server believes a token for a few seconds after it was ended from here.
    """


@players.command(name="list")
@_JSON
def list_players(as_json: bool) -> None:
    """List the players that have a token or once had one, by name."""
    with open_house() as house:
        found = sorted(
            (one for one in house.players.all() if one.scopes), key=lambda one: (one.name.casefold(), one.id)
        )
    if as_json:
        click.echo(json.dumps([{"id": one.id, "name": one.name} for one in found], indent=2))
        return
    for one in found:
        click.echo(f"{one.id}  {printable_line(one.name)}")


@players.command()
@_PLAYER
@_JSON
def tokens(player: str, as_json: bool) -> None:
    """List the tokens of a player, never what they are."""
    with open_house() as house:
        _check(house, player)
        found = house.players.tokens.all_of(player)
    if as_json:
        click.echo(json.dumps([told(one) for one in found], indent=2))
        return
    for one in found:
        click.echo(_line(one))


@players.command()
@_PLAYER
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(SCOPES),
    multiple=True,
    help="What it is good for; several may be named. play and watch, unless you say so.",
)
@click.option("--label", default="", help="What it is for.")
@click.option(
    "--expires-in", type=click.IntRange(1, LONGEST_LIFE), help="Seconds after which it ends by itself."
)
def token(player: str, scopes: Sequence[str], label: str, expires_in: int | None) -> None:
    """Make a further token for a player and print it, this once.

    The scopes admin and audit are given out here alone. It goes to standard output, so that it can be piped to where
    it is kept: hearts players token PLAYER --scope admin > admin.token
    """
    try:
        name = clean_label(label) if label else ""
    except Malformed as error:
        raise click.BadParameter(str(error).replace("a name", "a label"), param_hint="--label") from error
    with open_house() as house:
        _check(house, player)
        expires = None if expires_in is None else house.clock() + expires_in * 1000
        try:
            made = house.players.tokens.issue(player, scopes or FIRST_SCOPES, label=name, expires=expires)
        except TooManyTokens as error:
            raise click.ClickException(f"{error}; end one first: hearts players revoke") from error
    click.echo(_line(made.info), err=True)
    click.echo(made.token)


@players.command()
@_PLAYER
@click.argument("token_id")
def revoke(player: str, token_id: str) -> None:
    """End a token of a player, by its id."""
    with open_house() as house:
        _check(house, player)
        if house.players.tokens.end(player, token_id) is None:
            raise click.ClickException(
                f"{player} has no token {printable_line(token_id)!r}; see: hearts players tokens {player}"
            )
    click.echo(
        f"{token_id} has ended; a running server stops believing it within {BELIEVED_MS // 1000} seconds"
    )


@players.command()
@_PLAYER
@click.confirmation_option(prompt="It cannot be undone. Forget this player?")
def erase(player: str) -> None:
    """Forget who a player is: the name, and every token.

    Seats in games that are not over are given up, to the stand-in bot where the cards are dealt. The games stay, with
    the id alone.
    """
    with open_house() as house:
        if not house.players.exists(player):
            raise click.ClickException(f"there is no player {printable_line(player)!r}")
        left = erase_player(house, player)
    click.echo(
        f"{player} is forgotten, {left} seats were given up; a running server may show the name for another minute"
    )


def _check(house: Services, player: str) -> None:
    if house.players.get(player) is None:
        raise click.ClickException(f"there is no player {printable_line(player)!r}; see: hearts players list")


def _line(one: TokenInfo) -> str:
    ends = "" if one.expires is None else f"  ends {_day(one.expires)}"
    used = "never used" if one.used is None else f"used {one.used}"
    scopes = "+".join(scope for scope in SCOPES if scope in one.scopes)
    return f"{one.id}  {scopes}  {used}{ends}  {one.label}".rstrip()


def _day(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
