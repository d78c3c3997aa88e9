"""All that a reader may ask of a server, and what it gets: every channel by which a card could come out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, Final, NamedTuple

from flask import Flask

from domain import commands as c
from domain.cards import NAMES, cards_of
from domain.game import advance
from domain.refusals import HeartsError
from domain.state import State
from tests.hidden.worlds import timeless

NDJSON: Final = "application/x-ndjson"
SSE: Final = "text/event-stream"
Headers = dict[str, str]


class Reader(NamedTuple):
    """Somebody who looks at a game."""

    name: str
    seat: int | None
    """Whose cards it may know."""
    player: str
    """``""`` for who has no token."""
    token: str

    @property
    def headers(self) -> Headers:
        """With which it calls."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}


class Ask(NamedTuple):
    """A request."""

    method: str
    path: str
    body: Any = None
    headers: Headers = {}  # noqa: RUF012 (it is never changed)

    def __str__(self) -> str:
        return " ".join([self.method, self.path, *([json.dumps(self.body)] if self.body is not None else [])])


class Told(NamedTuple):
    """An answer to the last byte, but for the time of day."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def send(app: Flask, reader: Reader, ask: Ask) -> Told:
    """Let ``reader`` ask."""
    options: dict[str, Any] = {} if ask.body is None else {"json": ask.body}
    answer = app.test_client().open(
        ask.path, method=ask.method, headers=reader.headers | ask.headers, **options
    )
    fields = tuple(sorted((name, value) for name, value in answer.headers.items() if name != "Date"))
    return Told(answer.status_code, fields, timeless(answer.data))


# --- what is asked


def looks(game: str, reader: Reader, seats: Sequence[str], upto: int, rng: Random, few: int) -> list[Ask]:
    """Reading the game in every way; of what there is one for each event, ``few``."""
    here, get = f"/v1/games/{game}", "GET"
    back = sorted({*rng.sample(range(1, upto + 1), min(few, upto)), upto})
    asks = [Ask(get, here), Ask("HEAD", here), Ask(get, here, headers={"If-None-Match": "*"})]
    asks += [Ask(get, f"{here}?at={at}") for at in back]
    asks += [Ask(get, f"{here}?as={seat}") for seat in range(len(seats))]
    asks += [Ask(get, f"{here}?at={at}&as={rng.randrange(len(seats))}") for at in back]
    asks += [Ask(get, f"{here}?open=1"), *[Ask(get, f"{here}?at={at}&open=1") for at in back]]
    for at in back:
        card = NAMES[rng.randrange(52)]
        asks += [
            Ask(get, f"{here}/why?card={card}&at={at}{seat}")
            for seat in ("", f"&seat={rng.randrange(len(seats))}")
        ]
        asks += [Ask(get, f"{here}/diff?before={rng.choice(back)}&at={at}{eyes}") for eyes in ("", "&as=0")]
    asks += [Ask(get, f"{here}/why?card={NAMES[card]}") for card in rng.sample(range(52), 6)]
    asks += [Ask(get, f"{here}/{what}") for what in ("proof", "record", "audit", "hint", "events")]
    asks += [Ask(get, f"{here}/events?after={at}&limit={rng.randint(1, 40)}") for at in back]
    asks += [Ask(get, f"{here}/events?after={upto}&wait=0"), Ask(get, f"{here}/events?after={upto + 1}")]
    asks += [Ask(get, f"/v1/games?{query}") for query in ("", "status=open", "status=playing", "status=over")]
    for player in sorted({*[one for one in seats if one], "bot:rules@1"}):
        asks += [Ask(get, f"/v1/games?player={player}"), Ask(get, f"/v1/players/{player}")]
    asks += [Ask(get, "/v1/leaderboard"), Ask(get, "/v1/log/checkpoint"), Ask(get, "/v1/log/entries")]
    asks += [Ask(get, "/v1/log/keys")]
    asks += [Ask(get, f"/v1/log/proof?game={game}&kind={kind}") for kind in ("lock", "end")]
    asks += [Ask(get, f"/v1/me{what}") for what in ("", "/tokens", "/turns")]
    if rng.random() < 0.2:  # it costs a thread, and the end of it some time
        asks.append(Ask(get, "/v1/me/events"))
    return asks


def refusals(game: str, reader: Reader, state: State, rng: Random, few: int) -> list[Ask]:
    """Everything that ``reader`` may ask the table to do and that is refused, of moves ``few`` of each kind.

    What would be accepted is left out, as far as that can be told beforehand.
    """
    here, post = f"/v1/games/{game}", "POST"
    count = state.terms.rules.pass_count or 3
    deck = sorted(set(state.terms.deck))
    own = cards_of(state.hand.held[reader.seat]) if state.hand and reader.seat is not None else []
    moves: list[Any] = [{"play": NAMES[card]} for card in rng.sample(deck, min(few, len(deck)))]
    for card in rng.sample(deck, min(few, len(deck))):
        rest = rng.sample(own if len(own) >= count else deck, count - 1)
        moves.append({"pass": [NAMES[card], *[NAMES[one] for one in rest]]})
    moves += [{"pass": []}, {"moon": "add"}, {"moon": "subtract"}, {"play": "1X"}, {}]
    moves.append({"play": NAMES[rng.choice(deck)], "pass": [NAMES[deck[0]]]})
    asks = [Ask(post, f"{here}/moves", move) for move in moves if _is_refused(state, reader, move)]
    asks.append(Ask(post, f"{here}/moves", {"play": NAMES[rng.choice(deck)]}, {"If-Match": '"1-0"'}))
    asks += [
        Ask(post, f"{here}/ready", {}),
        Ask(post, f"{here}/seats", {}),
        Ask(post, f"{here}/branch", {"at": rng.randint(1, 60), "seat": 0}),
        Ask(post, f"{here}/rematch", {}),
    ]
    others = [seat for seat in range(len(state.seats)) if seat != reader.seat]
    asks.append(Ask("DELETE", f"{here}/seats/{rng.choice(others)}"))
    asks.append(Ask(post, f"{here}/seats/{rng.choice(others)}/back"))
    if _is_refused(state, reader, {"claim": True}):
        asks.append(Ask(post, f"{here}/claim"))
    if state.phase == "over":
        # there are no hidden cards any more, and these would make new tables
        asks = [ask for ask in asks if not ask.path.endswith(("/branch", "/rematch"))]
    return asks


def _is_refused(state: State, reader: Reader, move: dict[str, Any]) -> bool:
    """Whether the table refuses a move, for whatever reason."""
    command: c.AnyCommand
    numbers = {name: card for card, name in enumerate(NAMES)}
    if len(move) != 1 or move.get("play") == "1X":
        return True
    if "claim" in move:
        command = c.ClaimRest(who=reader.player, at=state.last_at)
    elif "play" in move:
        command = c.PlayCard(who=reader.player, card=numbers[move["play"]], at=state.last_at)
    elif "pass" in move:
        cards = tuple(numbers[name] for name in move["pass"])
        command = c.PassCards(who=reader.player, cards=cards, at=state.last_at)
    else:
        command = c.ChooseMoon(who=reader.player, choice=move["moon"], at=state.last_at)
    try:
        advance(state, command)
    except HeartsError:
        return True
    return False


# --- streams


class Follow:
    """A stream of a game, or of all games of a player, that is read as it goes on."""

    def __init__(self, app: Flask, reader: Reader, path: str, accept: str) -> None:
        self.answer = app.test_client().open(
            path, headers=reader.headers | {"Accept": accept}, buffered=False
        )
        fields = tuple(sorted((name, value) for name, value in self.answer.headers.items() if name != "Date"))
        self.head = (self.answer.status_code, fields)
        self._chunks: Iterator[bytes] = iter(self.answer.iter_encoded())
        self._read = b""

    def upto(self, seq: int) -> bytes:
        """All that has come when event ``seq`` has; what it says to be still there is a sign that nothing comes."""
        if self.head[0] != 200:
            return self.answer.data
        wanted, alive = b'"seq":%d,' % seq, b": \n\n"
        while wanted not in self._read:
            chunk = next(self._chunks, alive)
            if chunk in (alive, b"\n") and self._read:
                raise AssertionError(f"event {seq} does not come: {self._read[-200:]!r}")
            self._read += chunk
        return timeless(self._read)

    def close(self) -> None:
        """Read no more."""
        self.answer.close()
