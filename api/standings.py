"""How good everybody is: a player's standing, and who leads."""

from __future__ import annotations

import hashlib
from typing import Any, Final
from urllib.parse import quote, urlencode

from flask import request

from api.answers import ReadHeaders
from api.answers_standings import BoardAnswer, BoardQuery, StandingAnswer
from api.errors import Problem
from api.house import House, house
from api.inputs import read_query, wsgi
from api.present import encode
from api.room import Room
from api.sent import JSON, Answer, Fields
from domain.bots import BOTS
from services.standings import BOT_MARK, Family, Hands, Recent, Standing, bot_id

standings: Final = Room("standings", __name__, url_prefix="/v1", description="How good everybody is")

BOARD: Final = BoardQuery()
_DECIMALS: Final = 2
_ETAG_DOC: Final = {
    "ETag": {
        "description": "changes with the answer",
        "schema": {"type": "string", "example": '"0123456789abcdef"'},
    }
}


@standings.view(
    "GET",
    "/players/<player>",
    StandingAnswer,
    headers=ReadHeaders,
    sends=_ETAG_DOC,
    refuses=(404, 503),
    unchanged=True,
)
def show_player(player: str) -> Answer:
    """See how good a player is.

    Ratings, mean points a hand and the last games, by families of rules; house bots are rated on the same scale, as
    `bot:rules@1`. It may lag behind the last game a little. Where the player's name was erased, it is empty.
    """
    here = house()
    found = here.services.standings.standing(player)
    if found is None and not _exists(here, player):
        raise Problem(
            "player/unknown",
            "there is no player of this id",
            hint="the seats of a table name its players; house bots are called like bot:rules@1",
        )
    body = _standing_body(player, _names(here, [player])[player], found or Standing())
    return _answer(encode(body), [])


@standings.view(
    "GET",
    "/leaderboard",
    BoardAnswer,
    query=BoardQuery,
    headers=ReadHeaders,
    sends=_ETAG_DOC | {"Link": {}},
    refuses=(503,),
    unchanged=True,
)
def show_leaderboard() -> Answer:
    """See who leads in a family of rules.

    The best first, by `score`: the rating less three deviations, so that nobody leads by a lucky game or two. `next` is
    null on the last page; `Link` with `rel="next"` has the address of the next one.
    """
    asked = read_query(BOARD)
    here = house()
    lines, cursor = here.services.standings.board(asked["family"], after=asked["after"], limit=asked["limit"])
    names = _names(here, [line.who for line in lines])
    players = []
    for line in lines:
        known = line.standing.families.get(asked["family"], Family())
        player = {"id": line.who, "name": names[line.who], "bot": _is_bot(line.who)}
        players.append(
            {"place": line.place, **player, "score": round(line.score, _DECIMALS), **_family_body(known)}
        )
    headers: Fields = []
    if cursor is not None:
        query = urlencode({**asked, "after": cursor})
        headers.append(("Link", f'<{request.path}?{query}>; rel="next"'))
    return _answer(encode({"family": asked["family"], "players": players, "next": cursor}), headers)


def _answer(body: bytes, headers: Fields) -> Answer:
    etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    headers = [("ETag", etag), ("Cache-Control", "no-cache"), *headers]
    if etag in wsgi().get("HTTP_IF_NONE_MATCH", ""):
        return Answer(b"", headers, 304)
    return Answer(body, [("Content-Type", JSON), *headers])


def _is_bot(who: str) -> bool:
    return who.startswith(BOT_MARK)


def _exists(here: House, who: str) -> bool:
    return any(bot_id(bot.id) == who for bot in BOTS.values()) if _is_bot(who) else here.players.exists(who)


def _names(here: House, ids: list[str]) -> dict[str, str]:
    """The name of each; a bot's stands in its id, and an erased one is empty."""
    persons = here.players.names([who for who in ids if not _is_bot(who)])
    return {
        who: who.removeprefix(BOT_MARK).partition("@")[0] if _is_bot(who) else persons.get(who, "")
        for who in ids
    }


def _standing_body(who: str, name: str, standing: Standing) -> dict[str, Any]:
    bot = _is_bot(who)
    return {
        "id": who,
        "name": name,
        "bot": bot,
        "ratings": {family: _family_body(known) for family, known in sorted(standing.families.items())},
        "games": {
            "finished": standing.finished,
            "rated": standing.rated,
            "won": standing.won,
            "left": standing.left,
            "withheld": standing.withheld,
        },
        "recent": [_recent_body(one) for one in standing.recent],
        "history": None if bot else f"/v1/games?player={quote(who)}&status=over",
    }


def _family_body(known: Family) -> dict[str, Any]:
    skill = known.skill
    return {
        "rating": None if skill is None else round(skill.mu, _DECIMALS),
        "deviation": None if skill is None else round(skill.sigma, _DECIMALS),
        "games": known.games,
        "wins": known.wins,
        "mean_points": _mean_body(known.hands),
    }


def _mean_body(hands: Hands) -> dict[str, Any] | None:
    mean, half = hands.mean, hands.half_width
    if mean is None:
        return None
    return {
        "mean": round(mean, _DECIMALS),
        "low": None if half is None else round(mean - half, _DECIMALS),
        "high": None if half is None else round(mean + half, _DECIMALS),
        "hands": hands.hands,
    }


def _recent_body(one: Recent) -> dict[str, Any]:
    skill = one.skill
    return {
        "game": one.game,
        "ended_at": one.at,
        "variant": one.variant,
        "seat": one.seat,
        "total": one.total,
        "won": one.won,
        "left": one.left,
        "withheld": one.withheld,
        "rating": None if skill is None else round(skill.mu, _DECIMALS),
        "deviation": None if skill is None else round(skill.sigma, _DECIMALS),
    }
