"""Proof files checked offline: what an event costs, against hashing the same events and nothing more."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from io import BytesIO
from typing import NamedTuple

from domain import kernel
from domain.shuffle import genesis_head, next_head
from domain.variants import ruleset_of
from services.audit import ServerKey
from services.proof import proof_lines, read_proof
from services.proof_file import ProofFile
from services.verdicts import verify_file
from tests.support.games import play_game

ROUNDS = 9
HANDS = 30
"""Hands of each game, so that what a file costs once counts for little."""
AIM = 3.0
"""Microseconds an event on the compiled path, on one core of the machine that the aim was set on."""
FAMILIES = {"basic": 4, "classic": 4, "special": 4, "standard": 3, "cancellation": 6, "omnibus": 4}
"""Each family and the seats of its game."""
KEY = ServerKey(bytes(range(32)))


class Game(NamedTuple):
    """The proof file of a game."""

    family: str
    data: bytes
    name: str
    lines: tuple[bytes, ...]


def game_of(family: str, players: int) -> Game:
    """A game of random legal moves by a person and bots, played to its last hand."""
    rules = ruleset_of({"variant": family, "players": players, "hand_limit": HANDS, "target": 10**6})
    kinds = "p" + "b" * (players - 1)
    game = play_game(rules, family, kinds=kinds, server_key=KEY.public)
    data = b"".join(proof_lines(game.entries(), KEY))
    proof = read_proof(data)
    return Game(family, data, proof.game, proof.lines)


def check(game: Game) -> None:
    """Read a file and check its chain, deals, rules and score."""
    report = verify_file(ProofFile(BytesIO(game.data).read))
    assert report.ok, report.claims


def check_plain(game: Game) -> None:
    """The same where there is no compiler."""
    known, kernel.AVAILABLE = kernel.AVAILABLE, False
    try:
        check(game)
    finally:
        kernel.AVAILABLE = known


def hash_alone(game: Game) -> None:
    """The heads of a game's events."""
    head = genesis_head(game.name)
    for line in game.lines:
        head = next_head(head, line)


def microseconds(work: Callable[[Game], None], game: Game) -> float:
    """What an event takes of a core, however busy the machine is."""
    start = time.process_time()
    work(game)
    return (time.process_time() - start) / len(game.lines) * 1e6


def bench_proofs() -> None:
    """Measure each path in turn, round after round; ratios are to the hashing of the same events in that round."""
    paths: dict[str, Callable[[Game], None]] = {"plain path": check_plain}
    if kernel.AVAILABLE:
        paths = {"compiled": check, **paths}
    print(
        f"\nProof files: read, chain, deals, rules and score, one core   (aim: {AIM} µs an event, compiled)"
    )
    print(f"  {'family':14}{'events':>8}{'hashing alone':>16}", *(f"{name:>24}" for name in paths))
    for family, players in FAMILIES.items():
        game = game_of(family, players)
        hashing: list[float] = []
        figures: dict[str, list[float]] = {name: [] for name in paths}
        for _ in range(ROUNDS):
            hashing.append(microseconds(hash_alone, game))
            for name, path in paths.items():
                figures[name].append(microseconds(path, game))
        told = [
            f"{statistics.median(values):.2f} µs, "
            f"{statistics.median([one / other for one, other in zip(values, hashing, strict=True)]):.1f} times"
            for values in figures.values()
        ]
        alone = f"{statistics.median(hashing):.2f} µs"
        print(f"  {family:14}{len(game.lines):>8}{alone:>16}", *(f"{text:>24}" for text in told))
    if not kernel.AVAILABLE:
        print("  the kernel is not compiled here")
