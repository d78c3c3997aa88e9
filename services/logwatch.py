"""A server's transparency log as an outsider watches it: its public answers, held to one another and to an earlier checkpoint.

Nothing that is answered is believed for its own sake. The keys follow from one that the watcher had before, the checkpoint
is signed by each of them, the log of before is the beginning of this one, and the entries make the root that was signed.
"""

from __future__ import annotations

import time
from base64 import b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from typing import Final, Literal, NamedTuple, TypeVar

import httpx
import msgspec

from domain.refusals import Malformed
from services.integrity import check_hex
from services.keylist import KeyList, read_key_list
from services.leaves import Leaf
from services.merkle import join, node_hash, verify_consistency
from services.notes import SignedCheckpoint, read_checkpoint
from services.plain_json import read_plain

ANSWER_SECONDS: Final = 30.0
"""A server that is silent for so long does not answer."""
LONGEST_ANSWER: Final = 4 * 1024 * 1024
"""Bytes of an answer that are read; a page of entries has some 400 KB."""
MOST_LEAVES: Final = 4 * 1024 * 1024
"""Leaves that are looked through; each costs some 100 bytes of memory."""
PAGE: Final = 1000
TOLD_FORKS: Final = 20

T = TypeVar("T")


class Unanswered(Exception):
    """What was to be looked at could not be; the text is for people."""


class Entry(msgspec.Struct, frozen=True):
    """An entry of the log as `/v1/log/entries` tells it."""

    index: int
    game: str
    kind: Literal["lock", "end"]
    seq: int
    head: str


class _Entries(msgspec.Struct, frozen=True):
    entries: tuple[Entry, ...]


class _Consistency(msgspec.Struct, frozen=True):
    path: tuple[str, ...]


class LogClient:
    """The public answers of one server, each within bounds, all of them within ``seconds``. Methods raise `Unanswered`."""

    def __init__(
        self,
        client: httpx.Client,
        url: str,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client, self._url, self._clock = client, url.rstrip("/"), clock
        self._seconds, self._end = seconds, clock() + seconds

    def keys(self) -> KeyList:
        """The list of the server's keys."""
        return self._read("/v1/log/keys", read_key_list)

    def checkpoint(self) -> tuple[str, SignedCheckpoint]:
        """The checkpoint of now, as text and as it is read."""

        def read(data: bytes) -> tuple[str, SignedCheckpoint]:
            note = data.decode()
            return note, read_checkpoint(note)

        return self._read("/v1/log/checkpoint", read)

    def consistency(self, first: int, second: int) -> list[bytes]:
        """The path from one size of the log to a later one."""

        def read(data: bytes) -> list[bytes]:
            path = msgspec.convert(read_plain(data), _Consistency).path
            check_hex(path)
            return [bytes.fromhex(one) for one in path]

        return self._read(f"/v1/log/proof?first={first}&second={second}", read)

    def leaves(self, size: int) -> Iterator[Leaf]:
        """The first ``size`` leaves, in order."""
        at = 0
        while at < size:
            page = self._read(f"/v1/log/entries?start={at}&limit={min(PAGE, size - at)}", _read_entries)
            if [one.index for one in page] != list(range(at, at + len(page))) or not page:
                raise Unanswered(f"the server gives no entries in order from {at} on, of a log of {size}")
            for one in page[: size - at]:
                yield Leaf(one.game, one.kind, one.seq, bytes.fromhex(one.head))
            at += len(page)

    def _read(self, path: str, read: Callable[[bytes], T]) -> T:
        try:
            return read(self._get(path))
        except (Malformed, msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise Unanswered(f"{path} answers what cannot be read: {error}") from error

    def _get(self, path: str) -> bytes:
        headers = {"Accept-Encoding": "identity"}  # what is packed could become any length
        try:
            with self._client.stream(
                "GET", self._url + path, headers=headers, timeout=min(ANSWER_SECONDS, self._left())
            ) as answer:
                if answer.status_code != 200 or "Content-Encoding" in answer.headers:
                    raise Unanswered(f"{path} answers {answer.status_code}, and nothing that can be checked")
                return self._body(path, answer)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise Unanswered(f"no answer from {self._url}: {str(error) or type(error).__name__}") from error

    def _body(self, path: str, answer: httpx.Response) -> bytes:
        data = bytearray()
        for piece in answer.iter_raw():
            data += piece
            if len(data) > LONGEST_ANSWER:
                raise Unanswered(f"{path} answers more than {LONGEST_ANSWER} bytes")
            self._left()  # a server that sends a byte now and then is never silent
        return bytes(data)

    def _left(self) -> float:
        left = self._end - self._clock()
        if left <= 0:
            raise Unanswered(f"the server took more than the {self._seconds:g} seconds for all of it")
        return left


def _read_entries(data: bytes) -> tuple[Entry, ...]:
    found = msgspec.convert(read_plain(data), _Entries).entries
    check_hex(one.head for one in found)
    return found


class Had(NamedTuple):
    """What the watcher had before."""

    server_key: str | None = None
    checkpoint: SignedCheckpoint | None = None


class Watch:
    """One look at a log: what holds and what does not, in words."""

    def __init__(self, log: LogClient, had: Had) -> None:
        self._log, self._had = log, had
        self.held: list[str] = []
        self.problems: list[str] = []
        self.notices: list[str] = []
        self.note = ""
        """The checkpoint that was answered; empty until then."""
        self.is_signed = False
        """Whether it is the server's, by the keys that follow from what the watcher had."""
        self.goes_on: bool | None = None
        """Whether it is then a continuation of the log that the watcher had; none where that could not be looked at."""

    def run(self) -> None:
        """Look. Raises `Unanswered` where that cannot be brought to its end; what was found until then is kept."""
        keys = self._log.keys()  # first: a key that comes between the two is then only in the checkpoint
        self.note, signed = self._log.checkpoint()
        self._check_keys(keys, signed)
        if self.is_signed:
            self._check_growth(signed)
            self._check_leaves(signed)

    # --- whose it is

    def _check_keys(self, keys: KeyList, signed: SignedCheckpoint) -> None:
        old, pinned, before = self._had.checkpoint, self._had.server_key, len(self.problems)
        anchor = keys.keys[0]
        if old is not None:
            signers = old.signers(keys.keys)
            if old.strangers(keys.keys):
                self.problems.append(
                    "your checkpoint is signed by a key that the server's list does not have: another server, or another list"
                )
            elif not old.judge(keys.keys):
                self.problems.append("the signature of your checkpoint is not the server's")
            anchor = signers[0] if signers else anchor
        if pinned is not None and pinned not in keys.keys:
            self.problems.append("the server's list of keys does not have the one that you named")
        anchor = pinned if pinned in keys.keys else anchor
        missing = [key for key in keys.since(anchor) if not signed.is_signed_by(key)]
        self.problems += [f"the checkpoint is not signed by the server key {key}" for key in missing]
        if len(self.problems) > before:
            return
        self.is_signed = True
        by = "the one that you named" if pinned else "those of your checkpoint" if old is not None else ""
        count = len(keys.since(anchor))
        origin, size, _ = signed.checkpoint
        names = "1 key that follows" if count == 1 else f"{count} keys that follow"
        told = (
            f"{names} from {by}"
            if by
            else f"keys seen for the first time, {count}: compare them (--server-key)"
        )
        self.held.append(f"the checkpoint of {size} leaves of {origin} is signed by {told}")

    # --- that nothing was taken back

    def _check_growth(self, signed: SignedCheckpoint) -> None:
        if self._had.checkpoint is None:
            self.goes_on = True
            self.notices.append(
                "no checkpoint from before was given (--checkpoint), so nothing is said of what was there before"
            )
            return
        (was, old, old_root), (origin, size, root) = self._had.checkpoint.checkpoint, signed.checkpoint
        before = len(self.problems)
        if origin != was:
            self.problems.append(f"the log calls itself {origin}, and your checkpoint is of {was}")
        elif old > size:
            self.problems.append(f"the log had {old} leaves, and has {size}")
        elif old == size and root != old_root:
            self.problems.append(f"two logs of {size} leaves were signed that differ: the log was forked")
        elif 0 < old < size and not verify_consistency(
            old, size, self._log.consistency(old, size), old_root, root
        ):
            self.problems.append(
                f"nothing shows that the log of {old} leaves that you have is the beginning of this one"
            )
        else:
            self.held.append(f"the log of {old} leaves that you have is its beginning")

        self.goes_on = len(self.problems) == before

    # --- what is in it

    def _check_leaves(self, signed: SignedCheckpoint) -> None:
        _, size, root = signed.checkpoint
        if size > MOST_LEAVES:
            raise Unanswered(f"the log has {size} leaves, and only {MOST_LEAVES} are looked through")
        tree, forks, seen = _Growing(), list[str](), set[bytes]()
        for index, leaf in enumerate(self._log.leaves(size)):
            tree.add(leaf.hash)
            mark = sha256(f"{leaf.kind} {leaf.game}".encode(errors="surrogatepass")).digest()[:16]
            if mark in seen:
                forks.append(
                    f"leaf {index} is a second {leaf.kind} of game {leaf.game:.64}: the game was forked"
                )
            seen.add(mark)
        if tree.root() != root:
            self.problems.append(
                f"the entries do not make the root that was signed, {b64encode(root).decode()}: they are others"
            )
            return
        self.problems += forks[:TOLD_FORKS]
        if len(forks) > TOLD_FORKS:
            self.problems.append(f"and {len(forks) - TOLD_FORKS} leaves more are a second one")
        if not forks:
            self.held.append("its entries make the root that was signed, and no game has two of a kind")


class _Growing:
    """The root over leaves that come one at a time."""

    def __init__(self) -> None:
        self._edge: list[tuple[int, bytes]] = []

    def add(self, value: bytes) -> None:
        """One more leaf, by its hash."""
        level = 0
        while self._edge and self._edge[-1][0] == level:
            value, level = node_hash(self._edge.pop()[1], value), level + 1
        self._edge.append((level, value))

    def root(self) -> bytes:
        """The root over all of them."""
        return join([value for _, value in self._edge])
