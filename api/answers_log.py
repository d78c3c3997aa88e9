"""The marshmallow schemas of the transparency log: what its calls take and send."""

from __future__ import annotations

from typing import Any, Final

from marshmallow import Schema, fields, validate

from api.numbers import LARGEST_COUNT, count
from api.schemas import Commitment, QueryWhole, Request
from services.leaves import KINDS

MOST_ENTRIES: Final = 1000
"""Entries of an answer."""
_HASH: Final = {"pattern": "^[0-9a-f]{64}$"}
_NOTE: Final = (
    "signed note: origin, size, root, and a signature by each of the server's keys (C2SP tlog-checkpoint)"
)


def _query_size(description: str, low: int = 0) -> QueryWhole:
    return QueryWhole(
        load_default=None,
        validate=validate.Range(low, LARGEST_COUNT),
        metadata={"description": description},
    )


def _hash(description: str, *, required: bool = True) -> fields.String:
    return fields.String(required=required, metadata={"description": description, **_HASH})


def _kind(*, required: bool = True) -> fields.String:
    return fields.String(
        required=required,
        validate=validate.OneOf(KINDS),
        metadata={"description": "lock: the deal is fixed; end: the game is over"},
    )


class LogProofQuery(Request):
    """A leaf by its hash or by game and kind, or two sizes of the log."""

    leaf = Commitment(load_default=None, metadata={"description": "the hash of a leaf", **_HASH})
    game = fields.String(
        load_default=None,
        validate=validate.Length(1, 64),
        metadata={"description": "a game's id, with `kind`; of a fork the first leaf"},
    )
    kind = fields.String(load_default=None, validate=validate.OneOf(KINDS))
    size = _query_size("of the log that the leaf is to be shown in; as it is now unless you say so")
    first = _query_size("of the checkpoint that you have: is it the beginning of the log?", 1)
    second = _query_size("of the later log; as it is now unless you say so", 1)


class LogEntriesQuery(Request):
    """Which entries."""

    start = QueryWhole(
        load_default=0,
        validate=validate.Range(0, LARGEST_COUNT),
        metadata={"description": "index of the first; `next` of before"},
    )
    limit = QueryWhole(
        load_default=MOST_ENTRIES,
        validate=validate.Range(1, MOST_ENTRIES),
        metadata={"description": "entries that an answer has at most"},
    )


class ProofQuery(Request):
    """Which checkpoint the proof file is to have."""

    size = _query_size("of the log whose checkpoint you have; as it is now unless you say so")


class KeyEntry(Schema):
    """A server key."""

    server_key = _hash("the public key, Ed25519")
    signature = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "by the key before it, docs/audit.md, hex; null of the first",
            "pattern": "^[0-9a-f]{128}$",
        },
    )


class LogKeysAnswer(Schema):
    """The server's keys in the order in which they came; the last one is that which new games name."""

    origin = fields.String(required=True, metadata={"description": "of the log, as in its checkpoints"})
    keys = fields.List(fields.Nested(KeyEntry), required=True)


class LogEntry(Schema):
    """An entry of the log: the fields that its leaf is the hash of, docs/spec/audit.md 10."""

    index = count("from 0")
    leaf = _hash("the leaf's hash")
    game = fields.String(required=True, metadata={"description": "the game's id"})
    kind = _kind()
    seq = count("of the event that locked or ended the game", low=1)
    head = _hash("of the game's chain at that event")


class LogEntriesAnswer(Schema):
    """Entries of the log, oldest first."""

    size = count("entries of the whole log")
    entries = fields.List(fields.Nested(LogEntry), required=True)
    next = count("index behind these entries: the next `start`, now or once there are more")


class LogProofAnswer(Schema):
    """The path to a leaf, with the fields of its entry; or from one size to another. Each with a checkpoint to end in."""

    leaf = _hash("the leaf's hash", required=False)
    index = count("of the leaf", required=False)
    size = count("of the log that the path is in", low=1, required=False)
    game = fields.String(metadata={"description": "the game's id"})
    kind = _kind(required=False)
    seq = count("of the event that locked or ended the game", low=1, required=False)
    head = _hash("of the game's chain at that event", required=False)
    first = count("size of the earlier log", low=1, required=False)
    second = count("size of the later log", low=1, required=False)
    path: Any = fields.List(
        fields.String(metadata=_HASH),
        required=True,
        metadata={"description": "hashes as RFC 9162 verifies them, 2.1.3.2 and 2.1.4.2"},
    )
    checkpoint = fields.String(required=True, metadata={"description": f"of `size` or `second`: {_NOTE}"})
