"""The rebuild of the desks: of each player the games that it plays, as far as the inbox tells of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from services.desks import News, Place, news_of, place_or_none
from services.rebuild_kinds import Compared, Folded, How, Piece, ask, ask_at_once, pairs, slices
from services.refold import refold
from services.versions import DESKS, Fence
from services.wiring import Services

DONE_MS: Final = 3_600_000
"""For how long what a player is done with stays on its desk."""


class RebuildDesks:
    """See `services.rebuild_kinds.Kind`; an item is a player."""

    projection: str = DESKS
    marks: tuple[str, ...] = ("desk:",)

    def fold(self, house: Services, games: Sequence[str], fence: Fence) -> Folded:
        """See there."""
        done, now = refold(house.store, house.projections, games), house.clock()
        news = [
            one
            for game, table, _ in done.found
            for one in news_of(game, table.state, table.seq, None)
            if not one.done or table.at > now - DONE_MS
        ]
        house.desks.write_version(news, now, fence)
        return Folded(len(games), done.events, done.failed, frozenset(one.player for one in news))

    def carry(self, house: Services, failed: Mapping[str, str], kept: Sequence[str], fence: Fence) -> None:
        """See there."""
        for games in slices(failed):
            for players in slices(kept):
                commands = [("HMGET", house.keys.desk(player, fence[0]), *games) for player in players]
                replies = ask(house.store.wire, commands)
                house.desks.write_version(_carried(players, games, replies), house.clock(), fence)

    def compare(self, house: Services, piece: Piece, how: How) -> Compared:
        """See there."""
        found = Compared()
        for players in slices(piece[1]):
            groups = [
                [("HGETALL", house.keys.desk(player, version)) for version in how.fence] for player in players
            ]
            for player, replies in zip(players, ask_at_once(house.store.wire, groups), strict=True):
                old, new = (_places(pairs(reply)) for reply in replies)
                one = Compared()
                for game in {**old, **new}:
                    _compare_one(one, player, game, old, new)
                if one.tell and not how.final:
                    found.behind.append(player)
                else:
                    found.join(one)
        return found

    def before_switch(self, house: Services, compared: Compared, fence: Fence) -> None:
        """See there: the inboxes are told what the desks have not told them."""
        house.desks.write_version(compared.tell, house.clock(), fence, tell=True)

    def after_switch(self, house: Services, compared: Compared, version: int) -> None:
        """See there."""


def _compare_one(
    found: Compared, player: str, game: str, old: Mapping[str, Place | None], new: Mapping[str, Place | None]
) -> None:
    """Hold a player's game to the new desk."""
    before, now = old.get(game), new.get(game)
    differs = found.add(f"player {player}, game {game}", _shown(game, old), _shown(game, new))
    if differs and now is not None and (0 if before is None else before.seq) < now.seq:
        found.tell.append(News(player, game, now.seq, now.turn, now.done))


def _shown(game: str, places: Mapping[str, Place | None]) -> dict[str, Any]:
    """A game on a desk by names of fields; one that is done with is as good as none, for it goes after a while."""
    if game not in places:
        return {}
    place = places[game]
    if place is None:
        return {"place": "it cannot be read"}
    return {} if place.done else {"told up to": place.seq, "waits": place.turn}


def _places(desk: Mapping[bytes, bytes]) -> dict[str, Place | None]:
    return {game.decode(errors="replace"): place_or_none(value) for game, value in desk.items()}


def _carried(
    players: Sequence[str], games: Sequence[str], replies: Sequence[Sequence[bytes | None] | None]
) -> Iterator[News]:
    for player, reply in zip(players, replies, strict=True):
        for game, place in zip(games, _each(reply, len(games)), strict=True):
            if place is not None:
                yield News(player, game, place.seq, place.turn, place.done)


def _each(reply: Sequence[bytes | None] | None, count: int) -> Iterable[Place | None]:
    return [None if one is None else place_or_none(one) for one in reply or [None] * count]
