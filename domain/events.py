"""What happened at a table: the events of a game.

The tags and field names below are stored and published (``docs/spec/audit.md``, public events): they are never
renamed, and fields are only ever added at the end. ``at`` is milliseconds since 1970 UTC. ``hidden`` is the part that
goes to the secret bytes; it is left out of the public ones. Hashes and secrets are lower-case hex, cards are texts.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec import UNSET, UnsetType

from domain.ruleset import RuleSet

By = Literal["player", "bot", "clock", "claim"]
Choice = Literal["add", "subtract"]
Reason = Literal["target", "limit", "abandoned"]
Kind = Literal["player", "bot"]


class BotName(msgspec.Struct, frozen=True):
    """A house bot as events name it; ``budget`` counts playouts a decision, 0 for bots that use none."""

    name: str
    version: str
    budget: int


class Event(msgspec.Struct, frozen=True, kw_only=True, tag_field="t"):
    """The root of all events.

    Field order is the order in the stored bytes, which is why every event declares ``at`` again: inherited
    keyword fields would come last. The two that most events are hold nothing that could lead back to them, so the
    garbage collector need not look at them (``gc=False``), which is a tenth of what reading them takes.
    """

    at: int = 0


class OpenedSecret(msgspec.Struct, frozen=True):
    """What only the server knows of a new table: the last link of its seed chain, and who may take which seat."""

    chain: str
    reserved: dict[int, str] = {}


class Branch(msgspec.Struct, frozen=True):
    """Where a practice table comes from: the finished game, its event, and the seat of who practises."""

    game: str
    at: int
    seat: int


class GameCreated(Event, frozen=True, kw_only=True, tag="game_created"):
    """A table was opened. ``rules`` is the whole rule set; ``anchor`` is ``s_0`` of a chain of ``chain`` links."""

    at: int = 0
    game: str
    rules: RuleSet
    anchor: str | None
    chain: int
    server_key: str
    ready_seconds: int
    stand_in: BotName
    rated: bool
    hints: bool
    clock: int | None
    imported: Literal[True] | UnsetType = UNSET
    """Stands where the game was played elsewhere and came as a record: it has no anchor, commitments or secrets."""
    hidden: OpenedSecret | UnsetType = UNSET
    branch: Branch | UnsetType = UNSET
    """Stands at a practice table, which has no anchor, commitments or secrets either."""
    abandon_seconds: int | UnsetType = UNSET
    """After so many seconds of waiting for persons alone the table ends; where it is left out it waits for ever."""
    deal_group: str | UnsetType = UNSET
    """Stands at a duplicate table: the group of tables that are dealt the same hands, by an id instead of ``game``."""


class SeatTaken(Event, frozen=True, kw_only=True, tag="seat_taken"):
    """A player or a house bot sat down; ``player`` is an opaque id, null for a bot."""

    at: int = 0
    seat: int
    kind: Kind
    player: str | None
    bot: BotName | None
    entropy_commit: str | None
    public_key: str | None


class SeatLeft(Event, frozen=True, kw_only=True, tag="seat_left"):
    """A player stood up before anyone was ready."""

    at: int = 0
    seat: int


class SeatReady(Event, frozen=True, kw_only=True, tag="seat_ready"):
    """A person is ready and opened its entropy, ``""`` where it committed to none."""

    at: int = 0
    seat: int
    entropy: str


class GameLocked(Event, frozen=True, kw_only=True, tag="game_locked"):
    """The seats and the entropy of the deals are fixed. ``root`` is E."""

    at: int = 0
    entropy: tuple[tuple[int, str, str], ...]
    root: str


class DealtSecret(msgspec.Struct, frozen=True):
    """The cards of a deal, a card list a seat, and the hand's secret ``s_r``."""

    secret: str
    deal: tuple[str, ...]
    kitty: str


class HandDealt(Event, frozen=True, kw_only=True, tag="hand_dealt"):
    """Hand ``hand`` (from 1) was dealt: a commitment a seat, and one to the kitty where there is one.

    An imported hand has nulls instead.
    """

    at: int = 0
    hand: int
    hands: tuple[str | None, ...]
    kitty: str | None
    hidden: DealtSecret | UnsetType = UNSET


class SignedPass(msgspec.Struct, frozen=True):
    """What is hidden of a pass that its seat has signed: the signature would tell which cards it is of."""

    cards: str
    signed_seq: int
    signature: str


class CardsPassed(Event, frozen=True, kw_only=True, tag="cards_passed"):
    """A seat chose the cards it passes; ``cards`` is the commitment, null where imported.

    ``hidden`` is the card list, with the signature where the seat signs its moves.
    """

    at: int = 0
    seat: int
    cards: str | None
    by: By
    hidden: str | SignedPass | UnsetType = UNSET

    @property
    def text(self) -> str:
        """The cards as a list, empty where the hidden part is not here."""
        hidden = self.hidden
        return hidden.cards if isinstance(hidden, SignedPass) else "" if hidden is UNSET else hidden


class PassesExchanged(Event, frozen=True, kw_only=True, tag="passes_exchanged"):
    """Every seat has passed, and the cards changed hands."""

    at: int = 0
    hand: int


class CardPlayed(Event, frozen=True, kw_only=True, tag="card_played", gc=False):
    """A seat played a card to the trick; signed where it registered a key and played itself."""

    at: int = 0
    seat: int
    card: str
    by: By
    signed_seq: int | UnsetType = UNSET
    signature: str | UnsetType = UNSET


class TrickEnded(Event, frozen=True, kw_only=True, tag="trick_ended", gc=False):
    """A trick is full; ``seat`` took the pile, null where it is dead and the pile stays."""

    at: int = 0
    seat: int | None


class MoonChosen(Event, frozen=True, kw_only=True, tag="moon_chosen"):
    """Who shot the moon chose its effect; signed as a play is."""

    at: int = 0
    seat: int
    choice: Choice
    by: By
    signed_seq: int | UnsetType = UNSET
    signature: str | UnsetType = UNSET


class HandScored(Event, frozen=True, kw_only=True, tag="hand_scored"):
    """A hand is over: its secret and its cards are public, ``points`` were added to ``totals``.

    ``passes`` is null in a hold hand, ``kitty`` is ``""`` where there was none. At a duplicate table ``secret``, ``deal``,
    ``kitty`` and ``passes`` are null, until `HandsRevealed` has them.
    ``pass_signatures`` has ``[signed_seq, signature]`` or null a seat, where cards were passed and a seat has a key.
    """

    at: int = 0
    hand: int
    secret: str | None
    deal: tuple[str, ...] | None
    kitty: str | None
    passes: tuple[str, ...] | None
    points: tuple[int, ...]
    totals: tuple[int, ...]
    pass_signatures: tuple[tuple[int, str] | None, ...] | UnsetType = UNSET


class HandsRevealed(Event, frozen=True, kw_only=True, tag="hands_revealed"):
    """Every table of a duplicate group has finished hand ``hand``: its cards are public now, at each of them.

    The fields are those of `HandScored`; ``passes`` is null also where a hand was broken off before all had passed.
    """

    at: int = 0
    hand: int
    secret: str
    deal: tuple[str, ...]
    kitty: str
    passes: tuple[str, ...] | None
    pass_signatures: tuple[tuple[int, str] | None, ...] | UnsetType = UNSET


class SeatToBot(Event, frozen=True, kw_only=True, tag="seat_to_bot"):
    """A person handed its seat to the stand-in bot."""

    at: int = 0
    seat: int


class SeatTakenBack(Event, frozen=True, kw_only=True, tag="seat_taken_back"):
    """A person came back to its seat: at once at a table with hints, else with the next hand."""

    at: int = 0
    seat: int


class KeyRotated(Event, frozen=True, kw_only=True, tag="key_rotated"):
    """The server signs later receipts with a new key; ``signature`` by the old one vouches for it."""

    at: int = 0
    server_key: str
    signature: str


class GameEnded(Event, frozen=True, kw_only=True, tag="game_ended"):
    """The game is over. ``secret`` reveals an unfinished hand, else null; ``pass_signatures`` as of a scored hand.

    At a duplicate table it reveals nothing: an unfinished hand waits for its `HandsRevealed` as a scored one does.
    """

    at: int = 0
    winners: tuple[int, ...]
    totals: tuple[int, ...]
    reason: Reason
    secret: str | None
    pass_signatures: tuple[tuple[int, str] | None, ...] | UnsetType = UNSET


AnyEvent = (
    GameCreated
    | SeatTaken
    | SeatLeft
    | SeatReady
    | GameLocked
    | HandDealt
    | CardsPassed
    | PassesExchanged
    | CardPlayed
    | TrickEnded
    | MoonChosen
    | HandScored
    | HandsRevealed
    | SeatToBot
    | SeatTakenBack
    | KeyRotated
    | GameEnded
)
EVENTS: tuple[type[Event], ...] = AnyEvent.__args__
"""Every kind of event."""
