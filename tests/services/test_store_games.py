"""All games of a store, whatever else is in it."""

from __future__ import annotations

from services.keys import Keys
from services.leaves import Leaf
from services.store import Store
from services.translog import TransparencyLog


def test_every_game_is_told_once(store: Store, keys: Keys) -> None:
    """Of many games, more than one look finds; and no other key of the store is taken for one."""
    assert [] == list(store.games())
    games = [f"g{number}:x" if number % 7 == 0 else f"g{number}" for number in range(1500)]
    for game in games:
        store.append(game, 0, [(b"e", b"")], now=1, due=5, snapshot=b"s")
    TransparencyLog(store.wire).add([Leaf("g1", "lock", 1, bytes(32))])
    store.client.hset(keys.table("g1"), "seq", 1)
    assert sorted(games) == sorted(store.games())
