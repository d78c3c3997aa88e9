"""The transparency log held to its own leaves, to the games' streams, and to checkpoints that somebody kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from services.checkpoints import PublicLog
from services.integrity import KeptCheckpoint
from services.keys import Keys
from services.leaves import Leaf, find_leaves
from services.merkle import node_hash
from services.store import Store, StoreError, StoreUnavailable
from services.translog import CorruptTransparencyLog, Place, TransparencyLog

Advance = Callable[[], object]
"""Told of each game that has been looked at."""


class LogReport(msgspec.Struct, frozen=True):
    """What was found of the log itself."""

    ok: bool
    leaves: int
    problems: tuple[str, ...]


def check_log(log: PublicLog, server_keys: Sequence[str]) -> LogReport:
    """The log held to its own leaves, and to what the server with these keys (hex) signed of it last. Raises `StoreUnavailable`."""
    places, problems = check_tree(log.tree)
    if not problems:
        problems += check_signed(log, len(places), server_keys)
    return LogReport(not problems, len(places), tuple(problems))


def check_tree(tree: TransparencyLog) -> tuple[list[Place], list[str]]:
    """All leaves, and what is wrong with what is kept of them: hashes of any level, indexes. Raises `StoreUnavailable`."""
    places: list[Place] = []
    try:
        places.extend(tree.every_leaf())
        size = tree.size()
        if size != len(places):
            return places, [f"the log has {size} leaves, and those from {len(places)} on are not there"]
        return places, [*_check_hashes(tree, places), *_check_indexes(tree, places)]
    except CorruptTransparencyLog as error:
        return places, [str(error)]


def _check_hashes(tree: TransparencyLog, places: Sequence[Place]) -> Iterator[str]:
    level, right = 0, [leaf.hash for _, leaf in places]
    while right:
        for at, (kept, wanted) in enumerate(zip(tree.level(level, len(right)), right, strict=True)):
            if kept != wanted:
                what = f"leaf {at}" if level == 0 else f"the subtree over leaves {at << level} and on"
                yield f"the hash of {what} is not the one that follows from the leaves"
        level, right = level + 1, [node_hash(*pair) for pair in zip(right[::2], right[1::2], strict=False)]


def _check_indexes(tree: TransparencyLog, places: Sequence[Place]) -> Iterator[str]:
    for start in range(0, len(places), 1000):
        page = places[start : start + 1000]
        leaves = [leaf for _, leaf in page]
        by_hash, by_game = tree.find([leaf.hash for leaf in leaves]), tree.places(leaves)
        for (index, leaf), found, named in zip(page, by_hash, by_game, strict=True):
            if found != index:
                yield f"leaf {index} ({leaf.kind} of game {leaf.game}) is not found by its hash"
            if index not in named:
                yield f"leaf {index} ({leaf.kind} of game {leaf.game}) is not found by its game"


def check_checkpoint(
    tree: TransparencyLog, kept: KeptCheckpoint, size: int, origin: str, server_keys: Sequence[str]
) -> str | None:
    """What a kept checkpoint says against the log of ``size`` leaves, none where it is a beginning of it.

    It may be signed by any of the ``server_keys`` (hex), for the server may have turned to another one since.
    """
    checkpoint = kept.signed.checkpoint
    if not kept.signed.judge(server_keys):
        return f"the checkpoint of {checkpoint.size} leaves is not signed by this server"
    if checkpoint.origin != origin:
        return f"the checkpoint is of the log {checkpoint.origin}, and this is {origin}"
    if checkpoint.size > size:
        return f"the log had {checkpoint.size} leaves, and has {size}"
    if tree.root(checkpoint.size) != checkpoint.root:
        return f"the first {checkpoint.size} leaves are others than they were: the log was changed"
    return None


def check_signed(log: PublicLog, size: int, server_keys: Sequence[str]) -> Iterator[str]:
    """What the last checkpoints that the server has signed say against its log of ``size`` leaves."""
    try:
        signed = log.signed()
    except CorruptTransparencyLog as error:
        yield str(error)
        return
    if signed and Keys.log_signed not in [place for place, _ in signed]:
        yield f"what the server signed last is not in the store any more: {Keys.log_signed} is gone"
    for place, one in signed:
        kept = KeptCheckpoint(one)
        problem = check_checkpoint(log.tree, kept, size, one.checkpoint.origin, server_keys)
        if problem is not None:
            yield f"{problem} (as the server itself signed it last, by {place})"


class GamesCheck:
    """Holds the leaves of a log to the games that they are of."""

    def __init__(self, store: Store, tree: TransparencyLog, places: Sequence[Place]) -> None:
        self._store, self._tree = store, tree
        self._places: dict[str, list[Place]] = {}
        for place in places:
            self._places.setdefault(place[1].game, []).append(place)
        self.missing: list[Leaf] = []
        """Leaves that games in the store should have and have not, as far as the check has come."""

    def run(self, advance: Advance = lambda: None) -> Iterator[str]:
        """What is wrong, game by game; leaves that are missing are not told but noted. Raises `StoreUnavailable`."""
        for game in self._store.games():
            yield from self._check_game(game)
            self._places.pop(game, None)
            advance()
        for game, places in self._places.items():
            for index, leaf in places:
                yield f"leaf {index} is of the {leaf.kind} of game {game}, which is not in the store"

    def _check_game(self, game: str) -> Iterator[str]:
        try:
            wanted = find_leaves(game, self._store.read(game, fresh=True))
        except StoreUnavailable:
            raise
        except StoreError as error:
            yield f"game {game} cannot be read: {error}"
            return
        places = self._places.get(game, [])
        yield from leaf_problems(game, places, wanted)
        there = [leaf for _, leaf in places]
        self.missing += [leaf for leaf in wanted if leaf not in there]

    def fill(self) -> int:
        """Add the leaves that are missing. Returns how many."""
        return self._tree.add(self.missing)


def leaf_problems(game: str, places: Sequence[Place], wanted: Sequence[Leaf]) -> Iterator[str]:
    """What the log's leaves of a game say against those that its events add; missing ones are no contradiction."""
    kinds: set[str] = set()
    for index, leaf in places:
        if leaf.kind in kinds:
            yield f"leaf {index} is a second {leaf.kind} of game {game}: a fork"
        kinds.add(leaf.kind)
        if leaf not in wanted:
            yield (
                f"leaf {index} has the {leaf.kind} of game {game} at event {leaf.seq} with head "
                f"{leaf.head.hex()[:16]}, and its events say otherwise: they were changed, cut off or forked"
            )
