"""``hearts leaderboard``: who leads, and the standings made anew."""

from __future__ import annotations

from collections.abc import Iterator

import click

from domain.variants import FAMILIES
from services.cli_games import open_house
from services.printable import printable_line
from services.standings import BOT_MARK, Family, Place
from services.standings_fold import Finished, Ledger, finished_of
from services.store import CorruptStream
from services.wiring import Services


@click.command()
@click.option(
    "--family", type=click.Choice(FAMILIES), default="basic", show_default=True, help="Family of rules."
)
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=20, show_default=True, help="How many to show."
)
@click.option(
    "--rebuild",
    is_flag=True,
    help="Fold all finished games again instead; the old figures are read until the projector has done so.",
)
def leaderboard(family: str, limit: int, rebuild: bool) -> None:
    """Show who leads in a family of rules.

    The best first, by the rating less three deviations; then rating and deviation, rated games, wins, and mean points a
    hand with their 95 percent interval.
    """
    with open_house() as house:
        if rebuild:
            entered, fold = make_anew(house)
            click.echo(f"fold {fold} begins; {entered} finished games were not in the list before")
            return
        lines, _ = house.standings.board(family, limit=limit)
        if not lines:
            click.echo(f"nobody has finished a rated game of {family} yet")
            return
        names = house.players.names(line.who for line in lines if not line.who.startswith(BOT_MARK))
        for line in lines:
            known = line.standing.families.get(family, Family())
            click.echo(_line(line, known, names.get(line.who) or line.who))


def make_anew(house: Services) -> tuple[int, int]:
    """Have the standings folded again from the first game; finished games that are not entered yet are.

    Those stand behind the others, in the order in which they ended. Returns how many they were, and the new fold.
    """
    ledger = Ledger(house.client, house.keys)
    found = sorted(_finished(house), key=lambda game: (game.at, game.game))
    return ledger.enter(found), ledger.begin(anew=True)


def _finished(house: Services) -> Iterator[Finished]:
    after = None
    while True:
        games, after = house.projections.list_games(status="over", after=after, limit=100)
        for game in games:
            try:
                finished = finished_of(house.tables.load(game["id"]))
            except CorruptStream as error:
                click.echo(f"left out: {printable_line(str(error))}", err=True)
                continue
            if finished is not None:
                yield finished
        if after is None:
            return


def _line(line: Place, known: Family, name: str) -> str:
    skill, mean, half = known.skill, known.hands.mean, known.hands.half_width
    rating = "" if skill is None else f"{skill.mu:6.2f} ±{skill.sigma:5.2f}"
    points = "" if mean is None else f"{mean:6.2f} a hand"
    between = "" if mean is None or half is None else f" ({mean - half:.2f} to {mean + half:.2f})"
    return (
        f"{line.place:4}  {line.score:6.2f}  {rating}  {known.games:6} games {known.wins:6} won  "
        f"{points}{between}  {printable_line(name)}"
    )
