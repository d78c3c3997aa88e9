"""One short game that has every event a table of persons can have, and its file with every line that a file can have."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Any

import fakeredis

from domain import commands as c
from domain import events as e
from domain.bots import BOTS, house_move
from domain.claim import proving_order
from domain.game import is_over, to_act
from domain.shuffle import commit_entropy
from domain.variants import ruleset_of
from domain.view import view
from services.audit import rotation_message
from services.checkpoints import PublicLog
from services.integrity import Kept, KeptCheckpoint, read_kept_receipt
from services.leaves import Leaf, find_leaves
from services.notes import read_checkpoint
from services.proof import proof_lines
from services.translog import TransparencyLog
from services.wire import Wire
from tests.support.games import Game, clock, move_key, random_move, stored
from tests.support.proofs import KEY, OTHER_KEY, Ring
from tests.support.signing import seat_of, sign

RULES = {
    "variant": "standard",
    "players": 4,
    "hand": 3,
    "pass_count": 1,
    "hand_limit": 1,
    "points": {"2C": 1, "3C": 1},
    "moon_effect": "choice",
}


def _opened(rng: Random, ticks: Any) -> Game:
    """A table at which somebody sat down, left and came back; the server turned to another key meanwhile."""
    game = Game(ruleset_of(RULES))
    openings = [rng.randbytes(32) for _ in range(3)]
    commits = [commit_entropy(one).hex() for one in openings]
    plans = [
        c.SeatPlan(kind="player", player="p0", entropy_commit=commits[0], public_key=move_key(0).public),
        c.SeatPlan(kind="open"),
        c.SeatPlan(kind="player", player="p2"),
        c.SeatPlan(kind="bot", bot=BOTS["rules"].id),
    ]
    game.do(
        c.OpenTable(
            at=next(ticks),
            game="g-test",
            rules=game.rules,
            secret=rng.randbytes(32),
            seats=tuple(plans),
            server_key=KEY.public,
            stand_in=BOTS["rules"].id,
        )
    )
    game.do(c.SitDown(at=next(ticks), player="p1", seat=1))
    game.do(c.StandUp(at=next(ticks), player="p1", seat=1))
    game.do(c.SitDown(at=next(ticks), player="p1", seat=1, entropy_commit=commits[1]))
    number = len(game.events) + 1
    signature = KEY.sign(rotation_message("g-test", number, OTHER_KEY.public)).hex()
    game.do(c.RotateKey(at=next(ticks), server_key=OTHER_KEY.public, signature=signature))
    for seat, entropy in ((0, openings[0].hex()), (2, ""), (1, openings[1].hex())):
        game.do(c.GetReady(at=next(ticks), player=f"p{seat}", entropy=entropy))
    game.do(c.StandUp(at=next(ticks), player="p2", seat=2))
    game.do(c.TakeBack(at=next(ticks), player="p2", seat=2))
    return game


def _played(seed: int) -> Game:
    rng, ticks = Random(seed), clock()
    game = _opened(rng, ticks)
    while not is_over(game.state):
        seat, at = to_act(game.end)[0], next(ticks)
        if game.end.seats[seat].house_plays:
            game.do(house_move(game.end, seat, at))
        elif game.end.phase == "play" and proving_order(view(game.end, seat)) is not None:
            game.do(c.ClaimRest(at=at, who=f"p{seat}"))
        else:
            command: Any = random_move(game.end, rng, at, [seat])
            game.do(sign(game.events, seat, command) if seat_of(game, command) == 0 else command)
    return game


@cache
def all_events() -> Game:
    """The game: with signed moves and passes, a claim of more than its last card, and a moon that was chosen for."""
    for seed in range(5000):
        game = _played(seed)
        claims = [one for one in game.events if isinstance(one, e.CardPlayed) and one.by == "claim"]
        signed = [
            one for one in game.events if isinstance(one, e.CardPlayed) and isinstance(one.signature, str)
        ]
        if any(isinstance(one, e.MoonChosen) for one in game.events) and len(claims) > 4 and signed:
            return game
    raise AssertionError("no game has all of it")


@cache
def leaves() -> tuple[Leaf, ...]:
    """Those of the game at its lock and at its end."""
    return tuple(find_leaves("g-test", stored(all_events().events)))


@cache
def log() -> PublicLog:
    """A log that has the game's leaves, among those of others."""
    client = fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2, version=(7, 0))
    tree = TransparencyLog(Wire(client))
    tree.add([leaves()[0]._replace(game="g-other"), *leaves(), leaves()[1]._replace(game="g-other")])
    return PublicLog(tree, Ring(KEY, OTHER_KEY), "example.org/hearts")


@cache
def whole_file() -> bytes:
    """The proof file of the game, with a receipt by the newer key, a checkpoint and two inclusions."""
    return b"".join(proof_lines(stored(all_events().events), OTHER_KEY, None, log().prove))


def kept_receipt() -> Kept:
    """What a player has who was answered with the last event."""
    line = next(line for line in whole_file().splitlines() if line.startswith(b'{"receipt"'))
    return Kept((read_kept_receipt(line),))


def kept_checkpoint() -> Kept:
    """A checkpoint of the log, with the leaf of the game's end."""
    proof = log().prove(leaves()[1:])
    assert proof is not None
    return Kept((), (KeptCheckpoint(read_checkpoint(proof.checkpoint), leaves()[1], proof.inclusions[0]),))
