"""``hearts replay``: a game of the store, or of a proof file, event by event."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

import click

from domain.cards import NAMES, Card, parse_card
from domain.events import AnyEvent
from domain.refusals import HeartsError, Malformed
from domain.state import State
from services.cli_games import open_house
from services.codec import CODEC
from services.paging import EventPages
from services.printable import printable, printable_line
from services.proof import Proof, read_proof
from services.retold import NotShown, Retold
from services.revealed import restore_hidden
from services.verdicts import verify_proof


class CardParam(click.ParamType[Card]):
    """A card as players say it."""

    name = "card"

    def convert(self, value: str | Card, param: click.Parameter | None, ctx: click.Context | None) -> Card:
        """See click."""
        if isinstance(value, int):
            return value
        try:
            return parse_card(value)
        except Malformed as error:
            self.fail(str(error), param, ctx)


@click.command()
@click.argument("game")
@click.option(
    "--at", type=click.IntRange(1), help="The table after this event; the last one unless you say so."
)
@click.option(
    "--seat", type=click.IntRange(0), help="As this seat could see it; with --why, what it might do."
)
@click.option("--open", "everybody", is_flag=True, help="With the cards of all.")
@click.option(
    "--why",
    type=CardParam(),
    metavar="CARD",
    help="By which rule this card might be played or passed, or not: at event --at, or each time that it was.",
)
@click.option(
    "--diff", type=click.IntRange(1), metavar="EVENT", help="What is seen otherwise than after this event."
)
@click.option("--step", is_flag=True, help="Event by event, from --at on; Enter goes on, q ends.")
def replay(
    game: str,
    at: int | None,
    seat: int | None,
    everybody: bool,
    why: Card | None,
    diff: int | None,
    step: bool,
) -> None:
    """Tell a game event by event, or show the table as it was.

    GAME is the id of a game of the store, or a proof file. Without options every event is told in a line. Cards of a hand
    are shown when it is over, to nobody before.
    """
    _check_together({"--step": step, "--why": why is not None, "--diff": diff is not None})
    for word, given in (("--why", why), ("--diff", diff), ("--seat", seat)):
        if everybody and given is not None:
            raise click.UsageError(f"--open shows all seats, and {word} is about one: choose")
    retold = _read(game)
    try:
        if step:
            _step(retold, at or 1, seat, everybody)
        elif why is not None:
            _explain(retold, at, why, seat)
        elif diff is not None:
            _show(retold.changes(diff, at or retold.known, seat))
        elif at is not None or seat is not None or everybody:
            _show(retold.board(at or retold.known, seat, everybody=everybody))
        else:
            for seq, line in retold.lines():
                click.echo(printable_line(f"{seq:>5}  {line}"))
    except NotShown as error:
        raise click.ClickException(printable_line(str(error))) from error


def _check_together(given: Mapping[str, bool]) -> None:
    """Raise `click.UsageError` where more than one of the options that show something of their own is given."""
    words = [word for word, is_given in given.items() if is_given]
    if len(words) > 1:
        raise click.UsageError(f"{' and '.join(words)} show different things: choose one")


def _explain(retold: Retold, at: int | None, card: Card, seat: int | None) -> None:
    """Why a card might be played or passed at an event; without one, each time that it was, by ``seat`` alone if named."""
    if at is not None:
        click.echo(printable_line(retold.why(at, card, seat)))
        return
    found = [(seq, told) for seq, told in retold.whys(card, seat)]
    for seq, told in found:
        click.echo(printable_line(f"{seq:>5}  {told}"))
    if not found:
        raise NotShown(
            f"{NAMES[card]} was not played or passed in any hand that is over; --at names a moment to ask about"
        )


def _read(game: str) -> Retold:
    try:
        if (path := Path(game)).is_file():
            proof = read_proof(path.read_bytes())
            _warn_of(proof)
            return Retold(restore_hidden([CODEC.decode(line) for line in proof.lines]), _ids)
        with open_house() as house:
            table = house.tables.load(game)
            events = cast(
                "list[AnyEvent]", CODEC.decode_all(list(EventPages(house.store).entries(game, table.seq)))
            )
            names = house.players.seat_names(table.state)
            return Retold(events, lambda state: _names_of(state, names))
    except (HeartsError, OSError) as error:
        raise click.ClickException(printable_line(str(error))) from error


def _warn_of(proof: Proof) -> None:
    """One line where `hearts verify` would not let the file pass: what is told may never have happened."""
    wrong = next((one for one in verify_proof(proof).claims if one.status == "fails"), None)
    if wrong is not None:
        told = printable_line(
            f"warning: this file does not hold, so nothing in it can be relied on: {wrong.line}"
        )
        click.echo(told, err=True)


def _ids(state: State) -> Sequence[str]:
    return [one.bot.name if one.bot is not None else printable(one.player) for one in state.seats]


def _names_of(state: State, names: Sequence[str]) -> Sequence[str]:
    """The names that the seats have at the end, of those who sit there already."""
    return [
        printable(name) if one.kind != "open" else "" for one, name in zip(state.seats, names, strict=True)
    ]


def _show(lines: Sequence[str]) -> None:
    for line in lines or ["nothing"]:
        click.echo(printable_line(line))


def _step(retold: Retold, first: int, seat: int | None, everybody: bool) -> None:
    for seq, line in retold.lines(first):
        click.echo(printable_line(f"{seq:>5}  {line}"))
        if seq <= retold.known:
            try:
                _show(retold.board(seq, seat, everybody=everybody))
            except NotShown as error:
                click.echo(printable_line(str(error)))
        if seq < len(retold):
            click.echo("Enter: next, q: end ", nl=False)
            if sys.stdin.readline().strip().lower().startswith("q"):
                return
            click.echo()
