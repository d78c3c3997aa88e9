"""What may be asked of a table.

Commands arrive enriched: ``at`` is the time in milliseconds since 1970 UTC, secrets come from the caller's entropy, so
that deciding is a pure function. ``who`` is a player's id, or the number of a seat that the house moves for.
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from domain.cards import Card, Seat
from domain.events import BotName, Choice
from domain.ruleset import RuleSet
from domain.signing import Signed

FULL_CHAIN: Final = 64
"""`OpenTable.chain` unless a table says otherwise: more hands than any game of a published variant lasts."""
READY_SECONDS: Final = (15, 3600)
"""The least and the most `OpenTable.ready_seconds`, ``docs/spec/audit.md`` 2."""
LONGEST_CLOCK: Final = 14 * 24 * 60 * 60
"""The most seconds that `OpenTable.clock` may give for a move: two weeks, for games by post."""
ABANDON_SECONDS: Final = (60 * 60, 30 * 24 * 60 * 60)
"""The least and the most `OpenTable.abandon_seconds`: an hour and thirty days."""
ABANDONED_AFTER: Final = 7 * 24 * 60 * 60
"""`OpenTable.abandon_seconds` unless a table says otherwise: a week."""
Who = str | Seat
"""A player's id (text), or the number of a seat that the house moves for."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """The root of all commands."""

    at: int = 0


class SeatPlan(msgspec.Struct, frozen=True, kw_only=True):
    """How a seat of a new table is filled: open to all, or to who is invited, by a player at once, by a bot, or kept."""

    kind: Literal["open", "invited", "player", "bot", "reserved"]
    player: str = ""
    bot: BotName | None = None
    entropy_commit: str | None = None
    public_key: str | None = None


class OpenTable(Command, frozen=True, kw_only=True):
    """Open a table. ``secret`` is ``s_L``, 32 random bytes; ``chain`` is L.

    ``ready_seconds`` lies in `READY_SECONDS`; ``clock`` is the seconds for a move, 1 to `LONGEST_CLOCK`, or none;
    ``abandon_seconds`` of waiting for persons end the table, a number in `ABANDON_SECONDS`.
    """

    game: str
    rules: RuleSet
    secret: bytes
    seats: tuple[SeatPlan, ...]
    server_key: str
    stand_in: BotName
    chain: int = FULL_CHAIN
    ready_seconds: int = 60
    rated: bool = False
    hints: bool = True
    clock: int | None = None
    abandon_seconds: int = ABANDONED_AFTER
    deal_group: str = ""
    """The id of the tables that are dealt the same hands as this one, where it is a duplicate table."""


class SitDown(Command, frozen=True, kw_only=True):
    """Take a seat: ``seat``, or the first that is free for this player."""

    player: str
    seat: Seat | None = None
    entropy_commit: str | None = None
    public_key: str | None = None
    invited: bool = False
    """Whether the player has been invited to ``seat``; a seat for who is invited takes nobody else."""


class StandUp(Command, frozen=True, kw_only=True):
    """Leave a seat: free again before the first `GetReady`, handed to the stand-in bot after the lock."""

    player: str
    seat: Seat


class TakeBack(Command, frozen=True, kw_only=True):
    """Come back to a seat that the stand-in bot plays."""

    player: str
    seat: Seat


class GetReady(Command, frozen=True, kw_only=True):
    """Be ready, and open the entropy committed to when sitting down (hex), ``""`` where none was."""

    player: str
    entropy: str = ""


class LockTable(Command, frozen=True, kw_only=True):
    """Lock and deal without the missing openings: the deadline has passed."""


class AbandonTable(Command, frozen=True, kw_only=True):
    """End the table: nobody it waits for has come for as long as it waits. Nothing is decided for anybody."""


class PassCards(Command, frozen=True, kw_only=True):
    """Pass ``cards``, chosen before anything is seen of what comes."""

    who: Who
    cards: tuple[Card, ...]
    by: Literal["bot", "clock"] = "bot"
    signed: Signed | None = None


class PlayCard(Command, frozen=True, kw_only=True):
    """Play ``card`` to the trick."""

    who: Who
    card: Card
    by: Literal["bot", "clock"] = "bot"
    signed: Signed | None = None


class ChooseMoon(Command, frozen=True, kw_only=True):
    """Choose the effect of the moon one has shot."""

    who: Who
    choice: Choice
    by: Literal["bot", "clock"] = "bot"
    signed: Signed | None = None


class RotateKey(Command, frozen=True, kw_only=True):
    """Let the server sign with the public key ``server_key`` from the next event on; ``signature`` is by the one before."""

    server_key: str
    signature: str


class RevealHand(Command, frozen=True, kw_only=True):
    """Show the cards of hand ``hand`` of a duplicate table, which every table of its group has finished."""

    hand: int


class ClaimRest(Command, frozen=True, kw_only=True):
    """Claim every trick that is left; ``who`` is the player who is to play."""

    who: str


AnyCommand = (
    OpenTable
    | SitDown
    | StandUp
    | TakeBack
    | GetReady
    | LockTable
    | AbandonTable
    | PassCards
    | PlayCard
    | ChooseMoon
    | ClaimRest
    | RotateKey
    | RevealHand
)
