"""Every command of the API at a moment when it is accepted, for tests of what all commands have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from flask import Flask
from werkzeug.test import TestResponse

from domain.shuffle import commit_entropy
from services.wiring import Services
from tests.api.guests import Guest, open_table, play_on, seat_all
from tests.api.test_claims import play_to_claim

NO_PASS: Final = {"pass_count": 0}
COMMIT: Final = commit_entropy(b"a" * 32).hex()
TABLE: Final = {"variant": "basic", "seats": ["me", "open", "open", "open"]}
KEYLESS: Final = {("POST", "/v1/players")}
"""Commands that take no idempotency key, by the contract."""
ACCOUNT: Final = {
    ("PATCH", "/v1/me"),
    ("DELETE", "/v1/me"),
    ("POST", "/v1/me/token"),
    ("POST", "/v1/me/tokens"),
    ("DELETE", "/v1/me/tokens/<token>"),
    ("DELETE", "/v1/players/<player>"),
    ("POST", "/v1/admin/parked/<game>/retry"),
    ("POST", "/v1/admin/parked/<game>/skip"),
}
"""What changes an account and is about no game; `test_tokens` and `test_account_keys` hold these to their promises."""


@dataclass
class Command:
    """A command that would be accepted now."""

    who: Guest
    method: str
    path: str
    body: Any = None
    other: Any = None
    """Another body that can be read; none where there is no other."""
    go_on: Callable[[], object] = lambda: None
    """Lets more happen at the table, after the command."""
    game: str = ""
    """The table that the command is for."""
    accepted: int = 200
    versioned: bool = True
    """Whether it may name the version that it is meant for."""
    guests: list[Guest] = field(default_factory=list)

    def send(self, who: Guest | None = None, body: Any = ..., **headers: str) -> TestResponse:
        """The command, by somebody else or with another body where they are named."""
        body = self.body if body is ... else body
        return (who or self.who).call(self.method, self.path, body, **headers)


def opening(services: Services, four: list[Guest]) -> Command:
    """A new table; somebody sits down at it."""

    def go_on() -> None:
        found = next(services.store.games())
        assert 200 == four[1].post(f"/v1/games/{found}/seats").status_code

    other = TABLE | {"target": 50}
    return Command(four[0], "POST", "/v1/games", TABLE, other, go_on, accepted=201, versioned=False)


def sitting(_services: Services, four: list[Guest]) -> Command:
    """A seat at a table; the next one sits down, and the first gets up."""
    game = open_table(four[0], TABLE["seats"])
    path = f"/v1/games/{game}/seats"

    def go_on() -> None:
        four[2].post(path)
        assert 200 == four[1].delete(f"{path}/1").status_code

    return Command(four[1], "POST", path, {"seat": 1}, {"seat": 3}, go_on, game)


def standing_up(_services: Services, four: list[Guest]) -> Command:
    """A seat that is handed to the stand-in; it is taken back."""
    game = seat_all(four, **NO_PASS)
    path = f"/v1/games/{game}/seats/1"
    return Command(four[1], "DELETE", path, go_on=lambda: four[1].post(f"{path}/back"), game=game)


def coming_back(_services: Services, four: list[Guest]) -> Command:
    """A seat that is taken back from the stand-in; it is handed over again."""
    game = seat_all(four, **NO_PASS)
    path = f"/v1/games/{game}/seats/1"
    assert 200 == four[1].delete(path).status_code
    return Command(four[1], "POST", f"{path}/back", go_on=lambda: four[1].delete(path), game=game)


def readiness(_services: Services, four: list[Guest]) -> Command:
    """The last to be ready, which deals; two cards are played."""
    game = open_table(four[0], TABLE["seats"], **NO_PASS)
    for one in four[1:]:
        one.post(f"/v1/games/{game}/seats")
    for one in four[:3]:
        one.post(f"/v1/games/{game}/ready")
    other = {"entropy": "00" * 32}
    return Command(four[3], "POST", f"/v1/games/{game}/ready", {}, other, lambda: play_on(four, game), game)


def moving(_services: Services, four: list[Guest]) -> Command:
    """The first lead of two decks, of a seat that holds the card twice where one does; a trick is played."""
    game = seat_all(four, decks=2, hand=26, **NO_PASS)
    mover = four[four[0].table(game)["turn"]]
    card, hand = mover.table(game)["legal"].split()[0], mover.table(game)["hand"].split()
    other = next(one for one in hand if one != card)

    def go_on() -> None:
        play_on(four, game)
        while four[four[0].table(game)["turn"]] is not mover:
            play_on(four, game)

    return Command(mover, "POST", f"/v1/games/{game}/moves", {"play": card}, {"play": other}, go_on, game)


def claiming(services: Services, four: list[Guest]) -> Command:
    """A claim that holds; the next hand is begun."""
    game = seat_all(four, hand_limit=2, **NO_PASS)
    mine = play_to_claim(services, four, game)
    return Command(mine, "POST", f"/v1/games/{game}/claim", go_on=lambda: play_on(four, game), game=game)


def over(services: Services, four: list[Guest]) -> str:
    """A finished game of one hand, of two persons and bots."""
    game = open_table(four[0], ["me", "open", {"bot": "rules"}, {"bot": "rules"}], hand_limit=1, **NO_PASS)
    four[1].post(f"/v1/games/{game}/seats")
    for one in four[:2]:
        one.post(f"/v1/games/{game}/ready")
    for seat, one in enumerate(four[:2]):
        one.delete(f"/v1/games/{game}/seats/{seat}")
    services.tables.act_for_house(game)
    return game


def again(services: Services, four: list[Guest]) -> Command:
    """A rematch; the other person comes, and this one goes."""
    game = over(services, four)

    def go_on() -> None:
        met = four[1].post(f"/v1/games/{game}/rematch")
        assert 200 == four[0].delete(f"/v1/games/{met.json['id']}/seats/0").status_code

    path, other = f"/v1/games/{game}/rematch", {"entropy_commit": COMMIT}
    return Command(four[0], "POST", path, {}, other, go_on, game, accepted=201, versioned=False)


def practice(services: Services, four: list[Guest]) -> Command:
    """A practice table; its seat is handed to the stand-in, and the hand is played out."""
    game = over(services, four)
    path = f"/v1/games/{game}/branch"

    def go_on() -> None:
        (found,) = {*services.store.games()} - {game}
        assert 200 == four[0].delete(f"/v1/games/{found}/seats/0").status_code
        services.tables.act_for_house(found)

    return Command(
        four[0],
        "POST",
        path,
        {"at": 12, "seat": 0},
        {"at": 12, "seat": 1},
        go_on,
        game,
        accepted=201,
        versioned=False,
    )


SCENES: Final[dict[tuple[str, str], Callable[[Services, list[Guest]], Command]]] = {
    ("POST", "/v1/games"): opening,
    ("POST", "/v1/games/<game>/seats"): sitting,
    ("DELETE", "/v1/games/<game>/seats/<seat:seat>"): standing_up,
    ("POST", "/v1/games/<game>/seats/<seat:seat>/back"): coming_back,
    ("POST", "/v1/games/<game>/ready"): readiness,
    ("POST", "/v1/games/<game>/moves"): moving,
    ("POST", "/v1/games/<game>/claim"): claiming,
    ("POST", "/v1/games/<game>/rematch"): again,
    ("POST", "/v1/games/<game>/branch"): practice,
}
"""A scene of every command, by method and route."""


def routes(app: Flask) -> set[tuple[str, str]]:
    """Method and route of everything that changes something."""
    return {
        (method, rule.rule)
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) - {"GET", "HEAD", "OPTIONS"}
    }
