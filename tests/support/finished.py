"""Finished games as the standings know them, without a game that was played."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from services.standings_fold import Finished, Sat


def finished(
    game: str,
    totals: Sequence[int],
    *,
    who: Sequence[str] = (),
    left: Sequence[int] = (),
    at: int = 1,
    variant: str = "standard",
    rated: bool = True,
    counted: bool = True,
    hands: int = 8,
    withheld: Sequence[int] = (),
) -> Finished:
    """A game that ended with ``totals``, of players a, b, c, ... unless ``who`` names them."""
    names = who or [chr(97 + seat) for seat in range(len(totals))]
    seats = [
        Sat(name, total, total, seat in left, -1, seat in withheld)
        for seat, (name, total) in enumerate(zip(names, totals, strict=True))
    ]
    return Finished(
        game=game,
        at=at,
        variant=variant,
        rated=rated,
        counted=counted,
        hands=hands,
        winners=tuple(seat for seat, total in enumerate(totals) if total == min(totals)),
        seats=tuple(seats),
    )


def many(count: int, seed: int = 1) -> list[Finished]:
    """So many games of ten players and a bot, in families and of sizes in turn."""
    chance = Random(seed)
    found = []
    for number in range(count):
        variant = chance.choice(["basic", "standard", "cancellation"])
        seats = {"basic": 4, "standard": chance.randint(3, 7), "cancellation": chance.randint(6, 11)}[variant]
        who = ["bot:rules@1", *chance.sample([f"p{n:016x}" for n in range(10)], seats - 1)]
        found.append(
            finished(
                f"g{number}",
                [chance.randint(0, 60) for _ in who],
                who=who,
                left=[1] if chance.random() < 0.1 else [],
                at=number,
                variant=variant,
                rated=chance.random() < 0.8,
                hands=chance.randint(4, 12),
            )
        )
    return found
