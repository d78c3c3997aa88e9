"""Standings: how good everybody is, and who leads; a read model of the finished games.

`services.standings_fold` makes them of the games, this module reads them. What is rated and how the figures are made is
told to players in docs/standings.md. Every method raises `StoreUnavailable` when the server does not answer.
"""

from __future__ import annotations

import math
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from domain.events import BotName
from domain.refusals import Malformed
from services.cluster import Client, wire_of
from services.keys import Keys
from services.ratings import Skill

RECENT: Final = 10
"""Last games that a standing lists."""
BOT_MARK: Final = "bot:"
"""What the id of a house bot begins with; no player's does."""
Z95: Final = 1.959963984540054
"""The 0.975 quantile of the normal distribution."""


def bot_id(bot: BotName) -> str:
    """The id that a house bot is rated under: `bot:rules@1`, with its playouts where it has some, `bot:search@1~500`."""
    return f"{BOT_MARK}{bot.name}@{bot.version}" + (f"~{bot.budget}" if bot.budget else "")


class Hands(msgspec.Struct, frozen=True, array_like=True):
    """Points of all hands of somebody, summed so that mean and interval can be told: exact, in any order."""

    games: int = 0
    hands: int = 0
    points: int = 0
    points_squared: int = 0
    """Sum over games of the square of a game's points; likewise the next two."""
    points_by_hands: int = 0
    hands_squared: int = 0

    def add(self, hands: int, points: int) -> Hands:
        """With another game, of so many hands (two seats' hands are twice as many) and points."""
        return Hands(
            self.games + 1,
            self.hands + hands,
            self.points + points,
            self.points_squared + points * points,
            self.points_by_hands + points * hands,
            self.hands_squared + hands * hands,
        )

    @property
    def mean(self) -> float | None:
        """Points a hand; none where there is no hand."""
        return self.points / self.hands if self.hands else None

    @property
    def half_width(self) -> float | None:
        """How far the ends of the 95 percent interval are from the mean; none where there are fewer than two games.

        The hands of a game are no sample of their own: they have the table in common, and their number depends on the
        points. So the games are the sample, and the mean is a ratio of two sums over them. Its variance is that of a
        cluster sample with the residual of each game as if the game were left out (Bell and McCaffrey 2002), and the
        quantile is Student's with one degree of freedom less than there are games.
        """
        if self.games < 2 or not self.hands:
            return None
        # N^2 times the sum of (points - mean * hands)^2 over games, in whole numbers, so that nothing cancels
        residuals = (
            self.hands**2 * self.points_squared
            - 2 * self.hands * self.points * self.points_by_hands
            + self.points**2 * self.hands_squared
        )
        left_out = self.games / (self.games - 1)
        variance = residuals / self.hands**4 * left_out**3
        return student(self.games - 1) * math.sqrt(variance)


def student(degrees: int) -> float:
    """The 0.975 quantile of Student's t with so many degrees of freedom, to 0.002.

    From six on by the expansion of Abramowitz and Stegun 26.7.5.
    """
    if degrees <= len(_STUDENT):
        return _STUDENT[degrees - 1]
    z, v = Z95, degrees
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
    )


_STUDENT: Final = (12.7062, 4.30265, 3.18245, 2.77645, 2.57058)


class Family(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of somebody in one family of rules."""

    skill: Skill | None = None
    """None before the first rated game."""
    games: int = 0
    """Rated ones, like those that were won."""
    wins: int = 0
    hands: Hands = Hands()


class Recent(msgspec.Struct, frozen=True, omit_defaults=True):
    """A finished game as its player sees it."""

    game: str
    at: int
    """When it ended, in ms since 1970 UTC."""
    variant: str
    seat: int
    """The first of its seats, where a bot had several."""
    total: int
    won: bool = False
    left: bool = False
    """Whether the seat was handed over."""
    skill: Skill | None = None
    """After the game, where it was rated."""
    withheld: bool = False
    """Whether it committed to entropy and did not open it."""


class Standing(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the finished games say of a player or a bot."""

    families: dict[str, Family] = {}
    finished: int = 0
    rated: int = 0
    won: int = 0
    """Shared wins included."""
    left: int = 0
    """Games whose seat was handed over and not taken back."""
    withheld: int = 0
    """Games for whose deals it committed to entropy and did not open it, whatever the reason."""
    recent: tuple[Recent, ...] = ()
    """The last ones that were finished, newest first."""


class Place(NamedTuple):
    """A line of a leaderboard."""

    place: int
    """From 1; who has the same score has the same place."""
    who: str
    score: float
    standing: Standing


class Standings:
    """The standings of a store."""

    def __init__(self, client: Client, keys: Keys) -> None:
        self._wire = wire_of(client)
        self._keys = keys

    def fold(self) -> int:
        """The fold that is read; 0 where there is none yet."""
        return int(self._wire.call("HGET", self._keys.standings_state, "live") or 0)

    def standing(self, who: str) -> Standing | None:
        """What the games say of a player or a bot; none where it has not finished any."""
        return self._standings(self.fold(), [who])[0]

    def board(
        self, family: str, *, after: str | None = None, limit: int = 20
    ) -> tuple[list[Place], str | None]:
        """At most ``limit`` places, the best first, and the cursor of what follows, none at the end.

        A cursor names a place between two scores, so what happens meanwhile above it repeats nothing below. Raises
        `Malformed` for what is no cursor.
        """
        fold = self.fold()
        board = self._keys.standings_board(fold, family)
        start, before = self._start(board, after)
        found: list[tuple[float, str]] = []
        at = start
        while len(found) <= limit:
            page = self._page(board, at, limit + 1)
            at += len(page)
            found += [one for one in page if before is None or one < before]
            if len(page) <= limit:
                break
        more = len(found) > limit
        found = found[:limit]
        standings = self._standings(fold, [who for _, who in found])
        places = self._places(board, [score for score, _ in found])
        lines = [
            Place(place, who, score, standing or Standing())
            for place, (score, who), standing in zip(places, found, standings, strict=True)
        ]
        return lines, _write_cursor(found[-1]) if more else None

    # --- inside

    def _start(self, board: str, after: str | None) -> tuple[int, tuple[float, str] | None]:
        """From where in a board to read, and below what: of equal scores the later id stands first."""
        if after is None:
            return 0, None
        before = _read_cursor(after)
        rank, score = self._wire.pipeline([("ZREVRANK", board, before[1]), ("ZSCORE", board, before[1])])
        if rank is not None and float(score) == before[0]:
            return int(rank) + 1, before
        return int(self._wire.call("ZCOUNT", board, f"({before[0]!r}", "+inf")), before

    def _page(self, board: str, start: int, count: int) -> list[tuple[float, str]]:
        flat = self._wire.call("ZREVRANGE", board, start, start + count - 1, "WITHSCORES")
        return [(float(score), who.decode()) for who, score in zip(flat[::2], flat[1::2], strict=True)]

    def _places(self, board: str, scores: Sequence[float]) -> list[int]:
        each = list(dict.fromkeys(scores))
        above = self._wire.pipeline([("ZCOUNT", board, f"({score!r}", "+inf") for score in each])
        place = {score: int(count) + 1 for score, count in zip(each, above, strict=True)}
        return [place[score] for score in scores]

    def _standings(self, fold: int, ids: Sequence[str]) -> list[Standing | None]:
        if not ids:
            return []
        found = self._wire.call("HMGET", self._keys.standings_players(fold), *ids)
        return [None if one is None else msgspec.json.decode(one, type=Standing) for one in found]


def _write_cursor(place: tuple[float, str]) -> str:
    return urlsafe_b64encode(f"{place[0]!r} {place[1]}".encode()).decode().rstrip("=")


def _read_cursor(cursor: str) -> tuple[float, str]:
    try:
        text = urlsafe_b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4)).decode()
        score, _, who = text.partition(" ")
        place = float(score), who
    except ValueError:
        place = math.nan, ""
    if not math.isfinite(place[0]) or not place[1] or _write_cursor(place) != cursor:
        raise Malformed(f"{cursor!r:.60} is no cursor of this list")
    return place
