"""A client of the ``/v1`` contract of ``docs/spec/http.md``, for programs that play or watch.

Answers are typed by what the contract promises; further members are ignored, so that a newer server can be asked.
Every POST and DELETE but the first carries an idempotency key, and a request is only ever repeated under the key it was
first sent with, so a connection that breaks in the middle of a move plays one card.
"""

from __future__ import annotations

import random
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from api.answered import (
    Events,
    HandPoints,
    Item,
    Laid,
    NewPlayer,
    SeatInfo,
    SignedHead,
    Table,
    VariantInfo,
)
from domain.cards import Seat
from domain.shuffle import commit_entropy

__all__ = [
    "DEFAULT_URL",
    "LONGEST_WAIT",
    "PATIENT",
    "QUICK",
    "Client",
    "ClientError",
    "Events",
    "HandPoints",
    "Item",
    "Laid",
    "NewPlayer",
    "Problem",
    "SeatInfo",
    "SignedHead",
    "Strange",
    "Table",
    "Unreachable",
    "VariantInfo",
    "is_token",
    "server_url",
]

DEFAULT_URL: Final = "http://127.0.0.1:8000"
LONGEST_WAIT: Final = 25
"""Seconds that `Client.events` asks the server to wait; the contract allows 30."""
QUICK: Final = (0.2, 0.5)
"""Seconds between the tries of a request before the server is said to be away."""
PATIENT: Final = (0.2, 0.5, 1, 2, 4, 8, *[15] * 20)
"""The same for a game in progress: some five minutes."""
STREAM_SILENCE: Final = 45.0
"""Seconds after which a stream that says nothing is taken for broken; servers say something every 15."""
_LONGEST_RETRY_AFTER: Final = 30.0
_AGAIN: Final = frozenset((429, 502, 503, 504))
"""Statuses that say nothing about the request itself."""

T = TypeVar("T")


class ClientError(Exception):
    """Something between us and the server went wrong; the text is for people."""


class Unreachable(ClientError):
    """The server does not answer, or breaks off. ``url`` is its address."""

    def __init__(self, url: str, why: str) -> None:
        super().__init__(f"no answer from {url}: {why}")
        self.url, self.why = url, why


class Strange(ClientError):
    """What answers is not a Hearts server of this version: the answer cannot be read."""


class Problem(ClientError):
    """A refusal, as the server tells it (RFC 9457). It changed nothing.

    ``code`` is the stable ``area/reason``, ``legal`` the cards that may be played instead, ``errors`` a sentence for each
    thing that is wrong where there may be several.
    """

    def __init__(
        self, status: int, code: str, detail: str, hint: str = "", legal: str = "", errors: Sequence[str] = ()
    ) -> None:
        super().__init__(f"{detail} ({hint})" if hint else detail)
        self.status, self.code, self.detail, self.hint = status, code, detail, hint
        self.legal, self.errors = legal, list(errors)


class _Variants(msgspec.Struct, frozen=True):
    variants: list[VariantInfo]


class _Told(msgspec.Struct, frozen=True):
    """The members of a problem; anything may be missing where a proxy made it."""

    status: int = 0
    title: str = ""
    code: str = ""
    detail: str = ""
    hint: str = ""
    legal: str = ""
    errors: list[dict[str, Any]] = []


def is_token(text: str) -> bool:
    """Whether a header can carry it: a token is visible ASCII."""
    return re.fullmatch("[!-~]+", text) is not None


def server_url(text: str) -> str:
    """The address of a server as it is asked: with a scheme, without a slash at the end.

    Raises `ValueError` for what is none.
    """
    text = text.strip()
    text = text if "://" in text else f"http://{text}"
    try:
        url = httpx.URL(text)
    except httpx.InvalidURL as error:
        raise ValueError(str(error)) from error
    if url.scheme not in ("http", "https") or not url.host or url.userinfo or url.query or url.fragment:
        raise ValueError(f"{text:.80} is no address like {DEFAULT_URL}")
    return text.rstrip("/")


class Client:
    """One caller of one server. Close it, or use it as a context.

    ``waits`` are the least seconds between tries while the server is away, by ``chance`` up to a quarter more, and ``on_wait`` is told of each: the seconds, and
    why. ``on_receipt`` is told the receipt of each command. Every method raises `Unreachable`, `Strange` and `Problem`.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        token: str | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        waits: Sequence[float] = QUICK,
        on_wait: Callable[[float, str], None] | None = None,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.url = server_url(url)
        self.token = token
        self.waits = waits
        self.on_wait = on_wait
        self.on_receipt: Callable[[SignedHead], None] | None = None
        self._sleep, self._chance = sleep, chance
        # no proxy of the environment may stand between a player and a server on the same machine
        self._http = httpx.Client(base_url=self.url, transport=transport, trust_env=False, timeout=10.0)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give back the connections."""
        self._http.close()

    # --- players and variants

    def new_player(self, name: str) -> NewPlayer:
        """Become a player; later calls carry its token."""
        player = self._call("POST", "/v1/players", NewPlayer, body={"name": name}, keyed=False)
        self.token = player.token
        return player

    def variants(self) -> list[VariantInfo]:
        """The published variants, each with its rules for the usual number of seats."""
        return self._call("GET", "/v1/variants", _Variants).variants

    def variant(self, name: str, players: int | None = None) -> VariantInfo:
        """One variant, with its rules for ``players`` seats."""
        query = {} if players is None else {"players": players}
        return self._call("GET", f"/v1/variants/{_quoted(name)}", VariantInfo, query=query)

    # --- a table

    def open_table(
        self,
        variant: str,
        seats: Sequence[str | Mapping[str, str]],
        changes: Mapping[str, Any] | None = None,
        opening: bytes | None = None,
    ) -> Table:
        """Open a table; a seat is ``open``, ``me``, ``{"bot": name}`` or ``{"player": id}``.

        ``changes`` are other values of rule set keys. ``opening``, 32 random bytes, is committed to for the seat ``me``
        and is what `ready` opens.
        """
        body = {**(changes or {}), "variant": variant, "seats": list(seats)}
        return self._take_seat("/v1/games", body, opening)

    def sit(
        self, game: str, seat: Seat | None = None, opening: bytes | None = None, invitation: str | None = None
    ) -> Table:
        """Take ``seat``, that of an invitation, or the first that is free, and commit to ``opening``."""
        named = {"seat": seat, "invitation": invitation}
        body = {name: value for name, value in named.items() if value is not None}
        return self._take_seat(f"{_game(game)}/seats", body, opening)

    def stand(self, game: str, seat: Seat) -> Table:
        """Leave one's seat: free again before anyone is ready, the stand-in bot's after the deal."""
        return self._call("DELETE", f"{_game(game)}/seats/{seat}", Table)

    def take_back(self, game: str, seat: Seat) -> Table:
        """Take one's seat back from the stand-in bot."""
        return self._call("POST", f"{_game(game)}/seats/{seat}/back", Table, body={})

    def ready(self, game: str, opening: bytes | None = None) -> Table:
        """Be ready, and open what was committed to."""
        body = {} if opening is None else {"entropy": opening.hex()}
        return self._call("POST", f"{_game(game)}/ready", Table, body=body)

    def pass_cards(self, game: str, cards: Sequence[str]) -> Table:
        """Pass cards."""
        return self._move(game, {"pass": list(cards)})

    def play(self, game: str, card: str) -> Table:
        """Play a card."""
        return self._move(game, {"play": card})

    def choose_moon(self, game: str, choice: str) -> Table:
        """Choose what the moon one has shot does: ``add`` or ``subtract``."""
        return self._move(game, {"moon": choice})

    def claim(self, game: str) -> Table:
        """Claim every trick that is left."""
        return self._call("POST", f"{_game(game)}/claim", Table, body={})

    def table(self, game: str) -> Table:
        """The table as it is now."""
        return self._call("GET", _game(game), Table)

    def events(self, game: str, after: int = 0, wait: int = 0) -> Events:
        """The events after ``after``; where there are none, those that come within ``wait`` seconds."""
        query = {"after": after, "wait": wait} if wait else {"after": after}
        return self._call("GET", f"{_game(game)}/events", Events, query=query, wait=wait)

    def proof(self, game: str) -> bytes:
        """The proof file of a game."""
        return self._bytes(f"{_game(game)}/proof")

    def key_list(self) -> bytes:
        """The server's keys, each signed by the one before it, as `services.keylist` reads them."""
        return self._bytes("/v1/log/keys")

    def _bytes(self, path: str) -> bytes:
        request = self._http.build_request("GET", path, headers={"Accept": "*/*"})
        response = self._send(request, repeatable=True)
        if not response.is_success:
            raise problem_of(self.url, response)
        return response.content

    def _move(self, game: str, move: Mapping[str, Any]) -> Table:
        return self._call("POST", f"{_game(game)}/moves", Table, body=move)

    # --- inside

    def _take_seat(self, path: str, body: Mapping[str, Any], opening: bytes | None, **more: str) -> Table:
        commit = {} if opening is None else {"entropy_commit": commit_entropy(opening).hex()}
        return self._call("POST", path, Table, body={**body, **commit, **more})

    def _call(
        self,
        method: str,
        path: str,
        kind: type[T],
        *,
        body: Mapping[str, Any] | None = None,
        query: Mapping[str, int] | None = None,
        keyed: bool = True,
        wait: int = 0,
    ) -> T:
        headers = {"Accept": "application/json, application/problem+json", **self._authorization()}
        if keyed and method != "GET":
            headers["Idempotency-Key"] = uuid.uuid4().hex
        timeout = httpx.Timeout(10.0, read=10.0 + wait)
        request = self._http.build_request(
            method, path, json=body, params=query, headers=headers, timeout=timeout
        )
        response = self._send(request, keyed or method == "GET")
        if response.is_success:
            try:
                answer = msgspec.json.decode(response.content, type=kind)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise Strange(f"{self.url} is no Hearts server of this version: {error}") from error
            if isinstance(answer, Table) and answer.receipt is not None and self.on_receipt is not None:
                self.on_receipt(answer.receipt)
            return answer
        raise problem_of(self.url, response)

    @contextmanager
    def my_stream(self, after: str | None = None) -> Iterator[httpx.Response]:
        """What happens in all games of the player, as server-sent events; `api.following` reads them.

        ``after`` is the cursor of the last one. The answer may be a refusal, too. Raises `Unreachable`.
        """
        headers = {"Accept": "text/event-stream", **self._authorization()}
        if after is not None:
            headers["Last-Event-ID"] = after
        timeout = httpx.Timeout(10.0, read=STREAM_SILENCE)
        try:
            with self._http.stream("GET", "/v1/me/events", headers=headers, timeout=timeout) as response:
                yield response
        except httpx.TransportError as error:
            raise Unreachable(self.url, str(error) or type(error).__name__) from error

    def _authorization(self) -> dict[str, str]:
        if self.token is None:
            return {}
        if not is_token(self.token):
            raise Problem(401, "auth/required", "this is no token: it has signs that none has")
        return {"Authorization": f"Bearer {self.token}"}

    def _send(self, request: httpx.Request, repeatable: bool) -> httpx.Response:
        """The answer to ``request``, sent again under the same key while the server is away."""
        for planned in (*self.waits, None):
            # all clients of a server that was away would come back at the same moment
            pause = (planned or 0.0) * (1 + self._chance() / 4)
            try:
                response = self._http.send(request)
            except httpx.TransportError as error:
                # a connection that never stood carried nothing, so that any request may be sent again
                unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
                why = str(error) or type(error).__name__
                if planned is None or not (repeatable or unsent):
                    raise Unreachable(self.url, why) from error
            else:
                if response.status_code not in _AGAIN or planned is None or not repeatable:
                    return response
                why = f"status {response.status_code}"
                pause = max(pause, retry_after(response))
            if self.on_wait is not None:
                self.on_wait(pause, why)
            self._sleep(pause)
        raise AssertionError("the last try returns or raises")


def retry_after(response: httpx.Response) -> float:
    """Seconds that the server asks to wait, within reason."""
    text = response.headers.get("Retry-After", "")
    return min(float(text), _LONGEST_RETRY_AFTER) if text.isascii() and text.isdecimal() else 0.0


def problem_of(url: str, response: httpx.Response) -> ClientError:
    """The refusal that an answer tells."""
    try:
        told = msgspec.json.decode(response.content, type=_Told)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Strange(
            f"{url} is no Hearts server: it answered {response.status_code} {response.reason_phrase}"
        )
    errors = [str(one["detail"]) for one in told.errors if "detail" in one]
    detail = told.detail or told.title or f"the server answered {response.status_code}"
    return Problem(response.status_code, told.code, detail, told.hint, told.legal, errors)


def _game(game: str) -> str:
    return f"/v1/games/{_quoted(game)}"


def _quoted(text: str) -> str:
    """``text`` as one part of a path; ``.`` and ``..`` alone would be folded away."""
    return "%2E" * len(text) if text in (".", "..") else quote(text, safe="")
