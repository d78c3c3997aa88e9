"""What every version of every house bot decides in the recorded games, as digests in ``decisions.json``.

A bot of a version decides the same for ever, for games that name it must be checked by later programs. The bots are
asked at each move of the recordings, whoever made it. Run from the project's root as ``python -m tests.golden.decisions``
to print the digests; with ``--write`` those of bots and games that are not there yet are added, and none is changed.
"""

from __future__ import annotations

import hashlib
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from domain import events as e
from domain.bots import BOTS, OLDER, Action, Bot, decision_number
from domain.fold import apply, fold
from domain.shuffle import bot_seed
from domain.view import view
from services.codec import CODEC
from tests.golden.make import GAMES

FOLDER = Path(__file__).parent
PLAYOUTS = 40
"""At most so many, which a machine without the compiled kernel can do."""
KEPT = FOLDER / "decisions.json"
EVERY_BOT: dict[str, Bot] = {f"{bot.name}@{bot.version}": bot for bot in (*BOTS.values(), *OLDER)}
Digests = dict[str, dict[str, str]]
"""Half a SHA-256 in hex, by bot and recording."""


def recordings() -> list[str]:
    """The names of the recorded games."""
    return sorted(GAMES)


def recorded_events(name: str) -> list[e.AnyEvent]:
    """The events of a recorded game, hidden parts included."""
    _, *lines = zlib.decompress((FOLDER / f"{name}.ndjson.z").read_bytes()).splitlines()
    pairs = [msgspec.json.decode(line, type=tuple[str, str]) for line in lines]
    return CODEC.decode_all([(seq, one.encode(), two.encode()) for seq, (one, two) in enumerate(pairs, 1)])


def decisions(bot: Bot, name: str) -> Iterator[tuple[int, Action]]:
    """What ``bot`` would do at each move of a recorded game, with the seat that moved."""
    events = recorded_events(name)
    state = fold(None, events[:1])
    for event in events[1:]:
        if isinstance(event, e.CardsPassed | e.CardPlayed | e.MoonChosen):
            assert state.hand is not None
            secret, seat = bytes.fromhex(state.hand.secret), event.seat
            seed = bot_seed(secret, seat, decision_number(state, seat))
            yield seat, bot.policy(view(state, seat), seed, min(bot.budget, PLAYOUTS))
        apply(state, event)


def digest(bot: Bot, name: str) -> str:
    """The digest of a bot's decisions in a recorded game."""
    text = msgspec.json.encode(list(decisions(bot, name)))
    return hashlib.sha256(text).hexdigest()[:32]


def digests(names: list[str]) -> Digests:
    """The digests of every bot in these games."""
    return {which: {name: digest(bot, name) for name in names} for which, bot in EVERY_BOT.items()}


def kept() -> Digests:
    """The digests that are kept."""
    return msgspec.json.decode(KEPT.read_bytes(), type=Digests)


def main() -> None:
    """Print the digests, or add those that are missing."""
    if "--write" not in sys.argv:
        print(msgspec.json.encode(digests(sys.argv[1:] or recordings())).decode())
        return
    known = kept() if KEPT.exists() else {}
    for which, games in digests(recordings()).items():
        known[which] = games | known.get(which, {})
    KEPT.write_bytes(msgspec.json.format(msgspec.json.encode(known, order="sorted"), indent=1) + b"\n")


if __name__ == "__main__":
    main()
