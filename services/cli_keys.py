"""``hearts keys``: the server's keys, and turning to a new one."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator

import click
import redis

from domain.refusals import HeartsError
from services.cli_games import open_house
from services.keyring import rotate_game
from services.printable import printable_line
from services.store import StoreError, StoreUnavailable
from services.tables import UnknownGame
from services.wiring import Services


@click.group()
def keys() -> None:
    """Show and rotate the keys that sign receipts."""


@keys.command()
def show() -> None:
    """Show the server's public keys, in the order they came, and what signs where.

    Players compare the first one with what a proof file names (`hearts verify --server-key`); `/v1/log/keys` shows them those up
    to the current one.
    """
    with open_house() as house:
        ring = house.key
        current = ring.public
        for number, public in enumerate(ring.held, 1):
            marks = ["first"] if number == 1 else []
            marks += ["current: new games name it"] if public == current else []
            click.echo(f"{public}{'  ' if marks else ''}{', '.join(marks)}")
        games = _Each()
        behind = games.count(house, lambda game: house.tables.load(game).state.server_key != current)
        if behind:
            told = "is signed for by an older key" if behind == 1 else "are signed for by older keys"
            click.echo(f"{_games(behind)} in progress {told}: `hearts keys rotate --resume`")
    if games.faults:
        raise click.ClickException(games.faults)


@keys.command()
def add() -> None:
    """Put a new key into the key file, for a later rotation, and print its public half.

    Where several machines share a store, copy the file to all of them before you rotate.
    """
    with open_house() as house:
        click.echo(house.key.add(secrets.token_bytes))


@keys.command()
@click.option(
    "--resume", is_flag=True, help="No new key: let games that were left behind follow to the current one."
)
def rotate(resume: bool) -> None:
    """Turn to a new key: for new games at once, and for each game that is not over by an event of its own.

    It is the one that `hearts keys add` made, or a new one. Running processes need no restart. Old keys stay in the file, for
    they sign for games that ended under them.
    """
    with open_house() as house:
        ring = house.key
        if not resume:
            ring.turn_to(ring.add(secrets.token_bytes))
        games = _Each()
        count = games.count(house, lambda game: rotate_game(house.tables, ring, game))
        click.echo(f"{ring.public} is the current key; {_games(count)} went over to it")
        lag = house.projections.lag()
    problems = [games.faults] if games.faults else []
    if lag:
        problems.append(
            f"{lag} moves are not in the lists of games yet, so games may be left behind;"
            " run `hearts keys rotate --resume` in a moment"
        )
    if problems:
        raise click.ClickException("\n".join(problems))


class _Each:
    """All games that are not over, one after another: what is wrong with one is told, and the others go on."""

    def __init__(self) -> None:
        self._faulty = 0

    def count(self, house: Services, asked: Callable[[str], bool]) -> int:
        """Of how many games something is so."""
        return sum(self._is_so(game, asked) for game in _unfinished(house))

    @property
    def faults(self) -> str:
        """Of how many games nothing could be said, in words; empty where there are none."""
        if not self._faulty:
            return ""
        told = "game could not be looked at" if self._faulty == 1 else "games could not be looked at"
        return f"{self._faulty} {told}; `hearts audit GAME` tells more"

    def _is_so(self, game: str, asked: Callable[[str], bool]) -> bool:
        try:
            return asked(game)
        except UnknownGame:  # the lists of games may know one that a restored store does not
            return False
        except StoreUnavailable:
            raise
        except (HeartsError, StoreError, redis.ResponseError) as error:
            self._faulty += 1
            click.echo(printable_line(f"game {game:.60}: {error}"), err=True)
            return False


def _unfinished(house: Services) -> Iterator[str]:
    """The games that are not over, as the lists of games have them."""
    for status in ("open", "playing"):
        cursor: str | None = None
        while True:
            found, cursor = house.projections.list_games(status=status, after=cursor, limit=100)
            yield from [one["id"] for one in found]
            if cursor is None:
                break


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count} games"
