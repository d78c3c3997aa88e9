"""Events as the bytes that are stored: public ones, which are chained and published, and hidden ones.

The public bytes are compact JSON as ``docs/spec/audit.md`` has it (``n``, ``t``, ``at``, then the event's own fields); they
are written once and never serialised again. The stored name ``t`` tells the kind; an unknown one is an error, never
skipped. An event that was stored under an older version of its fields is brought up to date by the upcaster table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, get_args

import msgspec
from msgspec import UNSET

from domain import events as e
from domain.refusals import CorruptLog

Stored = tuple[bytes, bytes]
"""Public and hidden bytes of an event; hidden is empty where there is nothing to hide."""
Upcaster = Callable[[dict[str, Any]], dict[str, Any]]
"""Fields of an event as stored under version v -> its fields under version v + 1."""

UPCASTERS: Final[Mapping[tuple[str, int], Upcaster]] = {}
"""By stored name and the version it was stored under: the one place where what was stored before is brought up to date.

Version 1 is not written; a later one stands last, as ``v``. Who changes the fields of an event, other than by adding one
at the end that may be missing, adds its upcaster here and a recording of the new version to `tests/golden`, which hold
this table: every version that was ever stored is in a game there, and folds as it did.
"""

_VERSION_MARK: Final = b',"v":'
_HIDDEN: Final[dict[type[e.Event], Any]] = {
    e.GameCreated: e.OpenedSecret,
    e.HandDealt: e.DealtSecret,
    e.CardsPassed: str | e.SignedPass,
}


class UnknownEvent(CorruptLog):
    """A stored event of a name or version that this program does not know: it is older than the log."""


class Codec:
    """Events to stored bytes and back, with a table of upcasters."""

    def __init__(self, upcasters: Mapping[tuple[str, int], Upcaster] = UPCASTERS) -> None:
        self._upcasters = dict(upcasters)
        self._encode = msgspec.json.Encoder().encode
        self._decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(e.AnyEvent)
        self._hidden = {kind: msgspec.json.Decoder(what).decode for kind, what in _HIDDEN.items()}
        self.names: dict[str, type[e.Event]] = {
            str(kind.__struct_config__.tag): kind for kind in get_args(e.AnyEvent)
        }
        """Every event kind by its stored name."""
        self._latest: dict[str, int] = {}
        for name, version in self._upcasters:
            self._latest[name] = max(self._latest.get(name, 1), version + 1)
        self.versions = {name: self._latest.get(name, 1) for name in self.names}
        """The version that each kind is written under, by its stored name; all before it are read."""

    def encode(self, event: e.Event, seq: int) -> Stored:
        """``event`` as number ``seq`` of its game."""
        hidden = self.encode_hidden(event)
        if hidden:
            event = msgspec.structs.replace(event, hidden=UNSET)
        public = b'{"n":%d,' % seq + self._encode(event)[1:]
        latest = self._latest.get(str(type(event).__struct_config__.tag), 1)
        if latest > 1:
            public = public[:-1] + _VERSION_MARK + b"%d}" % latest
        return public, hidden

    def encode_hidden(self, event: e.Event) -> bytes:
        """The hidden bytes of ``event``, b"" where it has nothing to hide."""
        if type(event) not in self._hidden:
            return b""
        secret = event.hidden  # type: ignore[attr-defined]
        return b"" if secret is UNSET else self._encode(secret)

    def decode(self, public: bytes, hidden: bytes = b"") -> e.Event:
        """The event that was stored as these bytes.

        Raises `UnknownEvent` for a name or version it does not know, `CorruptLog` for bytes that are no event.
        """
        try:
            if self._latest or _VERSION_MARK in public:
                event: e.Event = self._decode_versioned(public)
            else:
                event = self._decoder.decode(public)
            if hidden:
                decode_hidden = self._hidden.get(type(event))
                if decode_hidden is None:
                    raise CorruptLog(f"{type(event).__name__} has nothing to hide")
                event = msgspec.structs.replace(event, hidden=decode_hidden(hidden))
        except msgspec.MsgspecError as error:
            raise self._explain(public, error) from error
        except UnicodeDecodeError as error:
            raise CorruptLog(f"an event is no UTF-8: {error}") from error
        except RecursionError as error:
            raise CorruptLog("an event is nested too deeply") from error
        return event

    def decode_all(self, entries: Sequence[tuple[int, bytes, bytes]]) -> list[e.Event]:
        """The events of stored entries ``(seq, public, hidden)``, in order. Raises as `decode` does."""
        try:
            events = self.decode_lines(b"\n".join([public for _, public, _ in entries]))
            if len(events) != len(entries):
                return self._decode_each(entries)
            for at, (_, _, hidden) in enumerate(entries):
                if hidden:
                    event = events[at]
                    secret = self._hidden[type(event)](hidden)
                    events[at] = msgspec.structs.replace(event, hidden=secret)
        except (CorruptLog, msgspec.MsgspecError, UnicodeDecodeError, KeyError, RecursionError):
            # once more, one by one, for an error that names its event
            return self._decode_each(entries)
        return events

    def decode_lines(self, lines: bytes) -> list[e.Event]:
        """The events whose public bytes are ``lines``, one a line; nothing hidden. Raises as `decode` does."""
        if not self._latest and _VERSION_MARK not in lines:
            try:
                events: list[e.Event] = self._decoder.decode_lines(lines)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                pass  # once more, line by line, for an error that tells more
            else:
                return events
        return [self.decode(line) for line in lines.split(b"\n") if line]

    def _decode_each(self, entries: Iterable[tuple[int, bytes, bytes]]) -> list[e.Event]:
        return [self.decode(public, hidden) for _, public, hidden in entries]

    def _decode_versioned(self, public: bytes) -> e.Event:
        fields = msgspec.json.decode(public)
        if not isinstance(fields, dict):
            raise CorruptLog("an event is an object")
        return self.decode_fields(fields)

    def decode_fields(self, fields: dict[str, Any]) -> e.Event:
        """The event with these fields, its name and version among them; they are not left as they were.

        Raises `UnknownEvent` for a version it does not know, msgspec's ValidationError for fields that are of no event.
        """
        name, version = str(fields.get("t")), fields.pop("v", 1)
        if type(version) is not int or not 1 <= version <= self._latest.get(name, 1):
            raise UnknownEvent(
                f"{name} of version {version!r:.20}, and this program knows {self._latest.get(name, 1)}"
            )
        for step in range(version, self._latest.get(name, 1)):
            fields = self._upcasters[name, step](fields)
        event: e.Event = msgspec.convert(fields, e.AnyEvent)
        return event

    def _explain(self, public: bytes, error: Exception) -> CorruptLog:
        try:
            name = msgspec.json.decode(public).get("t")
        except (msgspec.MsgspecError, AttributeError, UnicodeDecodeError, RecursionError):
            return CorruptLog(f"an event cannot be read: {error}")
        if not isinstance(name, str) or name not in self.names:
            return UnknownEvent(f"no event is called {name!r:.60}")
        return CorruptLog(f"{name} cannot be read: {error}")


CODEC: Final = Codec()
"""The codec of the log."""
