"""Makes the recorded games of this folder, once and for ever: they are what earlier programs have stored.

Run from the project's root as ``python -m tests.golden.make``. A file that exists is never written again: a change of
the program that makes other games is no reason to make other recordings.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import msgspec

from domain.shuffle import genesis_head, next_head
from domain.variants import ruleset_of
from tests.support.all_events import all_events
from tests.support.duplicates import begin, play_on, reveal
from tests.support.games import Game, play_game

FOLDER = Path(__file__).parent
GAMES: dict[str, tuple[dict[str, Any], str]] = {
    "basic-4": ({"variant": "basic"}, "pbbn"),
    "classic-4": ({"variant": "classic"}, "bppb"),
    "special-4": ({"variant": "special"}, "pbpb"),
    "standard-3": ({"variant": "standard", "players": 3}, "pbs"),
    "standard-5": ({"variant": "standard", "players": 5}, "pbpbn"),
    "standard-7": ({"variant": "standard", "players": 7}, "pbbbpbb"),
    "cancellation-6": ({"variant": "cancellation", "players": 6}, "pbsbpb"),
    "cancellation-11": ({"variant": "cancellation", "players": 11}, "pbbbbpbbbnb"),
    "omnibus-4": ({"variant": "omnibus"}, "bpbp"),
    "bicycle_omnibus-4": ({"variant": "bicycle_omnibus"}, "bpbp"),
    "bicycle_cancellation-7": ({"variant": "bicycle_cancellation", "players": 7}, "pbbbpbb"),
    "black_maria-3": ({"variant": "black_maria", "players": 3}, "pbs"),
    "greek-4": ({"variant": "greek"}, "pbbn"),
    "partnership-4": ({"variant": "partnership"}, "pbpb"),
    "sun-4": (
        {"variant": "standard", "sun_effect": "punish", "no_trick_points": -5, "hand_floor": 0},
        "bbpb",
    ),
}
"""The games by their names: the rules, and who sits where (see `tests.support.games.open_game`)."""


def others() -> dict[str, Game]:
    """Games with the events that none of these has, by their ids."""
    sealed = begin("ppnb", "duplicate-4")
    play_on(sealed)
    while sealed.end.sealed:
        reveal(sealed)
    return {"g-test": all_events(), "duplicate-4": sealed}


def lines_of(game: Game, name: str) -> list[bytes]:
    """A recording: a line of what came of the game, then the stored public and hidden text of each event."""
    entries = game.entries()
    head = genesis_head(name)
    for _, public, _ in entries:
        head = next_head(head, public)
    end = game.end
    result = {
        "events": len(entries),
        "head": head.hex(),
        "totals": end.totals,
        "winners": end.winners,
        "hands": end.hands,
        "reason": end.reason,
    }
    texts = [msgspec.json.encode([public.decode(), hidden.decode()]) for _, public, hidden in entries]
    return [msgspec.json.encode(result), *texts]


def main() -> None:
    """Write the recordings that are not there yet."""
    for name, (rules, kinds) in GAMES.items():
        path = FOLDER / f"{name}.ndjson.z"
        if path.exists():
            continue
        bot = "random" if "cancellation" in name else "rules"
        write(path, name, play_game(ruleset_of(rules), name, kinds=kinds, house=True, name=name, bot=bot))
    for name, game in others().items():
        path = FOLDER / f"{name}.ndjson.z"
        if not path.exists():
            write(path, name, game)


def write(path: Path, name: str, game: Game) -> None:
    """Write a recording."""
    path.write_bytes(zlib.compress(b"\n".join(lines_of(game, name)) + b"\n", 9))
    print(path.name, path.stat().st_size, game.end.totals, game.end.winners, game.end.reason)


if __name__ == "__main__":
    main()
