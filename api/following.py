"""One stream for all games of a player, followed through broken connections and restarts of the server."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterator
from enum import Enum
from typing import Any, Final

import httpx
import msgspec

from api.answered import Table
from api.client import Client, Problem, Strange, Unreachable, problem_of, retry_after

FIRST_PAUSE: Final = 0.2
LONGEST_PAUSE: Final = 15.0
"""Seconds before a stream is opened again: doubled each time that nothing came of it, and shortened by up to half, by
chance, so that the bots of a restarted server do not all come back at once."""
_PASSING: Final = frozenset((429, 500, 502, 503, 504))
"""Statuses after which it is tried again."""
_ENDS_PASSING: Final = frozenset(("stream/too_slow", "server/error", "server/stopping"))
"""Codes of problems in a stream after which it is opened again at the cursor."""
_CUT: Final = "log/cut"


class Beat(Enum):
    """What a stream says that is no item."""

    OPENED = "opened"
    """It was opened, for the first time or again."""
    ALIVE = "alive"


class MyItem(msgspec.Struct, frozen=True):
    """What has happened in one game: an event as JSON text, or to begin with the table as it is after event ``seq``."""

    game: str
    seq: int
    event: str = ""
    private: dict[str, str] | None = None
    table: Table | None = None


class _Refusal(msgspec.Struct, frozen=True):
    status: int = 0
    code: str = ""
    title: str = ""
    detail: str = ""


class Follower:
    """Reads the stream of a client's player, from a cursor on. ``cursor`` may be kept, for another process to go on from."""

    def __init__(
        self,
        client: Client,
        cursor: str | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.client, self.cursor = client, cursor
        self._sleep, self._chance = sleep, chance
        self._failed = 0

    def items(self) -> Generator[MyItem | Beat, None, None]:
        """What happens, for ever, each item once. Raises `Problem` where the player may not read, and `Strange`."""
        while True:
            wait = 0.0
            try:
                with self.client.my_stream(self.cursor) as response:
                    if response.status_code == 200:
                        yield Beat.OPENED
                        yield from self._read(response)
                    else:
                        wait = self._refused(response)
            except Unreachable:
                pass
            self._sleep(max(wait, self._pause()))

    def _pause(self) -> float:
        longest = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(self._failed, 16))
        self._failed += 1
        return longest * (1 - self._chance() / 2)

    def _refused(self, response: httpx.Response) -> float:
        """Seconds that the server asks to wait. Raises where coming again would not help."""
        response.read()
        if response.status_code not in _PASSING:
            raise problem_of(self.client.url, response)
        return retry_after(response)

    def _read(self, response: httpx.Response) -> Iterator[MyItem | Beat]:
        fields: dict[str, str] = {}
        for line in response.iter_lines():
            if line:
                name, _, value = line.partition(":")
                fields[name] = value.removeprefix(" ")
                continue
            if "data" not in fields:
                if "" in fields:  # a comment: it has stood for a while
                    self._failed = 0
                yield Beat.ALIVE
            elif fields.get("event") == "problem":
                self._end(fields["data"])
                return
            else:
                item = _decode(self.client.url, fields["data"], MyItem)
                self._failed = 0
                yield item
                # whoever took it has dealt with it
                self.cursor = fields.get("id", self.cursor)
            fields = {}

    def _end(self, data: str) -> None:
        told = _decode(self.client.url, data, _Refusal)
        if told.code == _CUT:
            self.cursor = None
        elif told.code not in _ENDS_PASSING:
            raise Problem(told.status, told.code, told.detail or told.title)


def _decode(url: str, text: str, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        raise Strange(f"{url} is no Hearts server of this version: {error}") from error
