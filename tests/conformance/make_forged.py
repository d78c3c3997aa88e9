"""Writes ``forged.ndjson.xz``: honest and forged proof files for other programs, each with what must be said of every claim.

    PYTHONPATH=. python tests/conformance/make_forged.py

The games and forgeries are those of the tests of the house, in short games; what a forgery must be found by, and at which event,
is the forger's own word, and this program stops where the house says otherwise. What is said of the other claims is the house's.
"""

from __future__ import annotations

import json
import lzma
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from domain import commands as c
from domain.refusals import Malformed
from domain.variants import ruleset_of
from services.proof import read_proof
from services.verdicts import verify_proof
from tests.services import test_dishonest_servers as cheats
from tests.services.test_proof_broken_off import FORGED as FORGED_ENDS
from tests.services.test_proof_broken_off import broken_off, game_of
from tests.services.test_proof_rotated import rotated
from tests.services.test_signatures import FORGERIES
from tests.support import duplicates
from tests.support.all_events import whole_file
from tests.support.bot_games import Cheat, bot_game, number_of
from tests.support.forged_claims import CLAIMS, claimed
from tests.support.forged_deals import FAIRNESS
from tests.support.forged_plays import RULES
from tests.support.games import play_game
from tests.support.lexical import FIRST, LINES, NUMBER, READ, REFUSED, relined, rewritten
from tests.support.practice import finish, practice
from tests.support.proofs import KEY, OTHER_KEY, changed, file_of, played
from tests.support.signing import signed_game

FILE = Path(__file__).with_name("forged.ndjson.xz")
SHORT = {"hand": 5}
"""Cards of a hand: enough for every forgery."""


class Made(NamedTuple):
    """A file, what it is, and the claim and event that must be named where it is forged; ``line`` and its number where it is none."""

    name: str
    file: bytes
    claim: str = ""
    event: int | None = None

    @property
    def reruns_bots(self) -> bool:
        """Whether the bots are asked again: in most of the games they did not move by their own policy."""
        return self.name.startswith(("all events", "bot", "duplicate", "reveal"))


def honest() -> Iterator[Made]:
    """Files of which nothing fails."""
    yield Made("all events: rotation, signatures, claim, moon, seats left and handed over, log", whole_file())
    turned = list(played(**SHORT).events)
    rotated(turned, 20)
    yield Made("key rotated", file_of(turned, OTHER_KEY))
    yield Made("signed moves", file_of(signed_game(**SHORT).events))
    yield Made("no seat contributed", file_of(played("nnbb", **SHORT).events))
    yield Made("an opening withheld", file_of(cheats.played(cheats.locked(cheats.seated(), ready=(0, 1)))))
    yield Made("unfinished, in a hand", file_of(played(moves=30, **SHORT).events))
    yield Made("without a receipt", file_of(played(**SHORT).events, None))
    for moves in (2, 4, 14, 26):
        yield Made(f"abandoned after {moves} moves", file_of(broken_off(game_of(moves, **SHORT))))
    yield Made("claims", file_of(claimed().events))
    yield Made("claims and moons to choose for", file_of(claimed(moon=True).events))
    begun, state = practice(list(played(**SHORT).events), 30)
    yield Made("practice table", file_of(finish(begun, state, Random(1))[0]))
    events = list(played(**SHORT).events)
    changed(events, 0, anchor=None, imported=True)
    yield Made("imported", file_of(events))
    rules = ruleset_of({"variant": "cancellation", "players": 7, "hand": 5, "hand_limit": 2})
    yield Made(
        "two decks and a kitty", file_of(play_game(rules, 7, kinds="p" * 7, server_key=KEY.public).events)
    )
    bots = bot_game(
        ruleset_of({"variant": "standard", "players": 4, "hand": 5, "hand_limit": 1}), 3, "bpbp", seconds=10
    )
    yield Made("bots and the clock", file_of(bots.events))
    for when in (*duplicates.WHENS, "never"):
        yield Made(f"duplicate, revealed {when}", file_of(duplicates.duplicate(when, **SHORT).events))
    for shown in (True, False):
        yield Made(
            f"duplicate, broken off, {'revealed' if shown else 'sealed'}",
            file_of(duplicates.broken_off(30, shown=shown).events),
        )


def forged() -> Iterator[Made]:
    """Files made by servers that cheat, with chain, heads and receipt to fit."""
    short: Callable[[], Sequence[Any]] = lambda: played(**SHORT).events  # noqa: E731
    lists: list[tuple[str, str, Sequence[Callable[..., int]], Callable[[], Sequence[Any]]]] = [
        ("deal", "F", FAIRNESS, short),
        ("play", "R", RULES, short),
        ("end", "F", FORGED_ENDS, lambda: broken_off(game_of(32, **SHORT))),
        ("claim", "R", CLAIMS, lambda: claimed().events),
        ("signature", "R", FORGERIES, lambda: signed_game().events),
        ("reveal", "F", duplicates.FORGED, lambda: duplicates.duplicate("late", **SHORT).events),
        (
            "sealed score",
            "R",
            [duplicates.sealed_points],
            lambda: duplicates.duplicate("late", **SHORT).events,
        ),
    ]
    for kind, claim, forgeries, game in lists:
        for forge in forgeries:
            name = f"{kind}: {forge.__name__.replace('_', ' ')}"
            made = _forge(name, claim, forge, game())
            # in a short game a forgery may come to nothing, or to another one
            yield made if _is_found(made) else _forge(name, claim, forge, played().events)
    events = list(short())
    number = rotated(events, 20)
    changed(events, number - 1, signature="00" * 64)
    yield Made("rotation: signed by nobody", file_of(events), "I", number)
    yield Made("receipt: by another key", file_of(short(), OTHER_KEY), "I", len(short()))
    lines = file_of(short()).splitlines(keepends=True)
    yield Made(
        "order: two events changed places",
        b"".join([*lines[:30], lines[31], lines[30], *lines[32:]]),
        "I",
        30,
    )
    cheat = Cheat(c.PlayCard, after=2)
    rules = ruleset_of({"variant": "standard", "players": 4, "hand": 5, "hand_limit": 1})
    game = bot_game(rules, 3, "bpbp", house=cheat)
    assert cheat.instead is not None
    yield Made("bot: another move than it decides", file_of(game.events), "B", number_of(game, cheat.instead))


def written_otherwise() -> Iterator[Made]:
    """Files of the same content in other letters: those that everybody reads alike hold, the others are refused."""
    for name, change in READ.items():
        yield Made(f"written otherwise: {name}", rewritten(NUMBER, change))
    for name, (change, _) in REFUSED.items():
        yield Made(f"ambiguous: {name}", rewritten(NUMBER, change), "R", NUMBER)
    for name, change in FIRST.items():
        yield Made(f"ambiguous: {name}", rewritten(1, change), "R", 1)
    for name in LINES:
        yield Made(f"no proof file: {name}", relined(name), "line", _line_of(name))


def _line_of(name: str) -> int:
    at, _ = LINES[name]
    return at % (relined(name).count(b"\n") + 1) + 1


def _forge(name: str, claim: str, forge: Callable[..., int], game: Sequence[Any]) -> Made:
    events = list(game)
    number = forge(events)
    return Made(name, file_of(events), claim, number)


def _is_found(made: Made) -> bool:
    report = verify_proof(read_proof(made.file))
    return any(
        (one.name, one.status, one.event) == (made.claim, "fails", made.event) for one in report.claims
    )


def _expected(made: Made) -> dict[str, Any]:
    """By claim its status and event; of what is no proof file the line."""
    try:
        report = verify_proof(read_proof(made.file), rerun_bots=made.reruns_bots)
    except Malformed as error:
        return {"line": int(str(error).partition(":")[0].removeprefix("line "))}
    return {one.name: [one.status, one.event] for one in report.claims}


def line_of(made: Made) -> dict[str, Any]:
    """What is published of a file."""
    expected = _expected(made)
    if made.claim == "line":
        assert expected == {"line": made.event}, (made.name, expected)
    elif made.claim:
        assert expected[made.claim] == ["fails", made.event], (made.name, expected, made[2:])
    else:
        assert "fails" not in [status for status, _ in expected.values()], (made.name, expected)
    return {
        "name": made.name,
        "rerun_bots": made.reruns_bots,
        "file": made.file.decode(),
        "expected": expected,
    }


def main() -> None:
    """Write the file, or to the path that is given."""
    lines = [line_of(made) for made in (*honest(), *forged(), *written_otherwise())]
    assert len({line["name"] for line in lines}) == len(lines)
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    target.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(len(lines), "files,", target.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
