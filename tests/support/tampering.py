"""What somebody who can write to the store may do to a game there: its stream, changed by hand with plain commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from services.short import lengthened
from services.wiring import Services

Fields = dict[bytes, bytes]


def stream(services: Services, game: str) -> list[Fields]:
    """The entries of a game's stream, their public bytes whole."""
    found = enumerate(services.client.xrange(services.keys.stream(game)), 1)
    return [{**fields, b"p": lengthened(seq, fields[b"p"])} for seq, (_, fields) in found]


def rewrite(services: Services, game: str, entries: list[Fields], *, number: bool = True) -> None:
    """Put other entries in the place of a game's stream; their events numbered in order, unless told not to."""
    key = services.keys.stream(game)
    services.client.delete(key)
    for seq, fields in enumerate(entries, 1):
        public = fields[b"p"]
        if number:
            public = b'{"n":%d,' % seq + public.partition(b",")[2]
        services.client.xadd(key, {**fields, b"p": public}, id=f"{seq}-0")


def place(entries: list[Fields], name: str, which: int = 0) -> int:
    """The index of an event of this name."""
    mark = f'"t":"{name}"'.encode()
    return [at for at, fields in enumerate(entries) if mark in fields[b"p"]][which]


def change(
    services: Services,
    game: str,
    name: str,
    how: Callable[[bytes], bytes],
    *,
    part: bytes = b"p",
    which: int = 0,
) -> int:
    """Change the public bytes, or another part, of an event in place. Returns its seq."""
    entries = stream(services, game)
    at = place(entries, name, which)
    before: Any = entries[at][part]
    entries[at][part] = how(before)
    assert entries[at][part] != before, "nothing was changed"
    rewrite(services, game, entries)
    return at + 1
