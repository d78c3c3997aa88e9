"""What a player can show of a game afterwards, gathered while it is played, and held to what the server says now.

A witness is told every event and every receipt. It has something to say where the server breaks its word: a receipt that
is of another history or by another key, a table locked without what its seat has opened, a seat taken with another key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from api.answered import Item, SignedHead
from api.client import Strange
from domain.cards import Seat
from domain.shuffle import commit_entropy
from services.audit import Receipt, is_signed, rotation_message, verify_receipt
from services.keylist import KeyList

PINNING: Final = "compare the key with a friend's, and give the right one with --server-key"


class Keepsake(msgspec.Struct, kw_only=True):
    """What is kept of a game. With its ``receipt`` inside, it is a file that ``hearts verify --receipt`` takes."""

    url: str
    game: str
    seat: Seat
    server_key: str = ""
    """The game's first key as it was when the player first saw the table, hex."""
    receipt: SignedHead | None = None
    """The last one that was right; one of another history, where there was such."""
    seat_key: str = ""
    """What the seat signs its moves with, public half in hex; empty where it does not."""


class Witness:
    """The player in ``seat`` of a game, who committed to ``opening`` and signs by ``seat_key`` (public, hex; none: not).

    ``kept`` is what is known of the game from before, ``known_keys`` the server's keys that it showed to the player, the
    first-seen one first, and ``pinned`` the one that the player said to expect; ``list_keys`` asks the server which keys its keys vouch for. ``keep`` is called with what is to be kept
    whenever it has changed, ``learn`` with a server key that is new and to be trusted.
    """

    def __init__(
        self,
        kept: Keepsake,
        known_keys: list[str],
        *,
        opening: bytes | None = None,
        pinned: str | None = None,
        list_keys: Callable[[], KeyList | None] = lambda: None,
        keep: Callable[[Keepsake], None] = lambda _: None,
        learn: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.kept = kept
        self.opened = False
        """Whether the server has taken what the seat has opened."""
        self.warnings: list[str] = []
        """All that was wrong so far."""
        self.pinned, self.is_foreign = pinned, False
        """Whether nothing that the player knows vouches for the key that the game began under."""
        self._known = list(dict.fromkeys([*([pinned] if pinned else []), *known_keys]))
        self._opening, self._keep, self._learn, self._list_keys = opening, keep, learn, list_keys
        self._keys: list[tuple[int, str]] = []
        """The keys that the game names, each with the event after which it is valid."""
        self._heads: list[str] = []
        self._pending = [] if kept.receipt is None else [kept.receipt]
        """Receipts of events that were not told yet."""
        self._forked = False
        """Whether a receipt is kept that shows another history, which no later one may replace."""
        self._taken: Mapping[str, Any] = {}
        """The event by which the seat was taken."""

    def hear(self, receipt: SignedHead) -> None:
        """Take a receipt; it is judged when its event is told."""
        self._pending.append(receipt)

    def see(self, item: Item, event: Mapping[str, Any]) -> list[str]:
        """Take the next event, which fits the chain. Returns what is wrong, in sentences. Raises `Strange`."""
        try:
            return self._see(item, event)
        except (LookupError, TypeError, ValueError) as error:
            raise Strange(f"event {item.seq} cannot be read: {error}") from error

    @property
    def anchor(self) -> str:
        """The server's key that the player has believed longest: the one it was given, else the first seen; or none."""
        return self._known[0] if self._known else ""

    # --- inside

    def _see(self, item: Item, event: Mapping[str, Any]) -> list[str]:
        self._heads.append(item.head)
        before = len(self.warnings)
        match event["t"]:
            case "game_created":
                self._begin(str(event["server_key"]))
            case "key_rotated":
                self._turn(item.seq, str(event["server_key"]), str(event["signature"]))
            case "seat_taken" if event["seat"] == self.kept.seat:
                self._taken = event
            case "seat_ready" if event["seat"] == self.kept.seat:
                self.opened = self.opened or bool(event["entropy"])
            case "game_locked":
                self._lock(event["entropy"])
        due = [one for one in self._pending if one.seq <= item.seq]
        self._pending = [one for one in self._pending if one.seq > item.seq]
        for receipt in due:
            self._judge(receipt)
        return self.warnings[before:]

    def _warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)

    def _begin(self, key: str) -> None:
        if self.kept.server_key not in ("", key):
            self._warn(
                f"The server says that this game began under key {key:.16}..., and said another before."
            )
        if not self.kept.server_key:
            self.kept.server_key = key
            self._keep(self.kept)
            if not self._known:
                self._learn(key)
        key = self.kept.server_key
        self._keys = [(0, key)]
        if not self._known:
            self._known.append(key)
        elif key not in self._known and not self._is_vouched_for(key):
            self.is_foreign = True
            first = "the one that you gave" if self.pinned else "the one first seen at this address"
            self._warn(
                f"The server's key {key:.16}... is not {first}, {self._known[0]:.16}..., which does not vouch for it: "
                f"it may be another server; {PINNING}."
            )

    def _is_vouched_for(self, key: str) -> bool:
        """Whether a key that is known vouches for another one, by the list that the server gives out; then it is known, too."""
        listed = self._list_keys()
        if listed is None:
            return False
        for since in map(listed.since, self._known):
            if key in since:
                for one in since[1:]:
                    self._learn(one)
                self._known.extend(since[1:])
                return True
        return False

    def _turn(self, seq: int, key: str, signature: str) -> None:
        """The server names its next key, for which the one before must vouch."""
        old = self._keys[-1][1]
        try:
            signed = is_signed(old, rotation_message(self.kept.game, seq, key), bytes.fromhex(signature))
        except ValueError:
            signed = False
        if not signed:
            self._warn(
                f"The server turned to key {key:.16}... at event {seq}, and its old key does not vouch for it."
            )
            return
        self._keys.append((seq, key))
        if old in self._known and key not in self._known:
            self._learn(key)
            self._known.append(key)

    def _lock(self, entropy: list[list[Any]]) -> None:
        """The deals are fixed: the seat must be in them as it took part."""
        commit = self._taken.get("entropy_commit")
        if self._opening is not None and commit != commit_entropy(self._opening).hex():
            self._warn("The server has written another commitment for your seat than the one that you sent.")
        if (self._taken.get("public_key") or "") != self.kept.seat_key and self.kept.seat_key:
            self._warn("The server has written another key for your seat than the one that you sign with.")
        locked = next((value for seat, _, value in entropy if seat == self.kept.seat), "")
        if locked or not commit:
            return
        if self.opened:
            self._warn(
                "The table was locked without the randomness that you have opened, though the server had taken it: you have no "
                "part in these deals. Do not play on; what you kept proves it."
            )
        else:
            self._warn("The cards are dealt without randomness of yours: it was not opened in time.")

    def _judge(self, receipt: SignedHead) -> None:
        key = next((key for since, key in reversed(self._keys) if since < receipt.seq), "")
        signed = Receipt(receipt.game, receipt.seq, receipt.head, receipt.signature)
        if receipt.game != self.kept.game or receipt.seq < 1 or not verify_receipt(signed, key):
            self._warn(
                "A receipt of the server is not signed by the key that the game names: it shows nothing."
            )
        elif receipt.head != self._heads[receipt.seq - 1]:
            self._warn(
                f"The server signed another history up to event {receipt.seq} than the one that it tells now. The receipt "
                "that proves it is kept."
            )
            self.kept.receipt, self._forked = receipt, True
            self._keep(self.kept)
        elif not self._forked and (self.kept.receipt is None or self.kept.receipt.seq < receipt.seq):
            self.kept.receipt = receipt
            self._keep(self.kept)
