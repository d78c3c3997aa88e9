"""Snapshots that say something else than the events."""

from __future__ import annotations

from typing import Any

import msgspec

from services.snapshot import read_snapshot, seal
from services.store import Store


def let_snapshot_lie(store: Store, game: str, **fields: Any) -> None:
    """Change fields of the snapshot of a game, which stays one that can be read."""
    key = store.keys.snapshot(game)
    seq, _, data = store.client.get(key).partition(b":")
    kept = read_snapshot(data)
    assert kept is not None
    lying = seal(msgspec.structs.replace(kept, **fields))
    assert read_snapshot(lying) is not None
    store.client.set(key, seq + b":" + lying)
