"""What passes between a command that audits and the workers that help it, beside the jobs: who waits, and what was found.

It goes over the queue's server, as the jobs do, and is worth as little: what is lost there the command does itself.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Final

import msgspec

from services.keys import Keys
from services.wire import Script, Wire

WAITS_SECONDS: Final = 60
"""For how long a command counts as waiting without another word of it."""
KEPT_SECONDS: Final = 600
"""For how long reports are kept that nobody takes."""

GIVE: Final = Script("""
-- KEYS[1] that somebody waits   KEYS[2] reports   ARGV[1] a reply   ARGV[2] for how long it is kept, seconds
-- Returns 1, or 0 where nobody waits for it any more.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('RPUSH', KEYS[2], ARGV[1])
redis.call('EXPIRE', KEYS[2], ARGV[2])
return 1
""")


class Reply(msgspec.Struct, frozen=True):
    """What a worker says of a batch. That it is of another version can be read whatever the outcomes look like."""

    batch: int
    attempt: int
    version: str
    """Of the worker; where it is not the one that was asked for, there are no outcomes."""
    seconds: float
    """What it took."""
    outcomes: msgspec.Raw
    """JSON of a list of `Outcome`, of the first games of the batch."""


class Channel:
    """The channel of one audit, for both sides. Methods raise `StoreUnavailable` where the queue's server does not answer."""

    def __init__(self, wire: Wire, run: str) -> None:
        self._wire = wire
        self._waits, self._reports = Keys.audit_run(run), Keys.audit_reports(run)

    # --- the command's side

    def wait(self) -> None:
        """Say that the reports are waited for, for another while."""
        self._wire.call("SET", self._waits, "1", "EX", WAITS_SECONDS)

    def take(self, seconds: float) -> list[Reply]:
        """The replies that are there; where there are none, the first to come within the time, 0 for no time."""
        found = self._wire.call("LPOP", self._reports, 100) or []
        if not found and seconds:
            wait_ms = int(seconds * 1000)
            came = self._wire.call("BLPOP", self._reports, seconds, wait_ms=wait_ms)
            found = came[1:] if came else []
        replies: list[Reply] = []
        for one in found:
            with suppress(
                msgspec.MsgspecError
            ):  # of a version that writes them otherwise: as if there were none
                replies.append(msgspec.json.decode(one, type=Reply))
        return replies

    def close(self) -> None:
        """Nobody waits any more."""
        self._wire.call("DEL", self._waits, self._reports)

    # --- the worker's side

    def is_waited_for(self) -> bool:
        """Whether the command still wants to know."""
        return bool(self._wire.call("EXISTS", self._waits))

    def give(self, batch: int, attempt: int, version: str, seconds: float, outcomes: Any) -> bool:
        """Tell what was found in a batch. Whether somebody waits for it."""
        reply = Reply(batch, attempt, version, seconds, msgspec.Raw(msgspec.json.encode(outcomes)))
        encoded = msgspec.json.encode(reply)
        return bool(self._wire.run(GIVE, (self._waits, self._reports), (encoded, KEPT_SECONDS)))
