"""Claim F of a proof: the deals were fixed before play and not chosen by the server (``docs/spec/audit.md`` 1 to 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, Final, Literal

from msgspec import UNSET

from domain import events as e
from domain.cards import format_cards, parse_cards
from domain.commands import READY_SECONDS
from domain.ruleset import MOST_HANDS, terms_of
from domain.shuffle import (
    Opening,
    commit_cards,
    commit_entropy,
    deal_cards,
    deal_seed,
    entropy_root,
    hash_parts,
    hiding_key,
)
from services.faults import Failed, Shown


def unshown(first: e.GameCreated) -> str:
    """Why claims about how a game came about cannot be shown; ``""`` where they can."""
    branch = first.branch
    if branch is not UNSET:
        return f"practice table branched from game {branch.game:.64} at {branch.at}"
    return "imported" if first.imported is True else ""


class FairnessCheck:
    """Checks commitments, openings, the lock, and every revealed deal of a game, which it is fed bit by bit."""

    def __init__(self) -> None:
        self._number = 0
        self._checks: _Checks = {}
        self._unshown = ""
        """Why nothing is shown of the game; empty where something is."""
        self._seats: dict[int, e.SeatTaken] = {}
        self._openings: dict[int, str] = {}
        self._root = b""
        self._link = b""
        """The last revealed link of the seed chain, the anchor at first."""
        self._dealt: e.HandDealt | None = None
        self._passed: dict[int, str | None] = {}
        self._hands = 0
        self._first_ready: int | None = None
        """When the first entropy was opened, in ms."""
        self._late: list[int] = []
        """Seats that opened something when the time for it was over, which a house no longer lets them."""
        self.broken_off: Shown | None = None
        """The hand that was broken off by the end of the game, where the secret revealed then shows it."""

    def run(self, events: Sequence[e.AnyEvent]) -> tuple[Literal["holds", "not shown"], str]:
        """How far the claim holds of a whole game. Raises `Failed`."""
        self.feed(events)
        return self.result()

    def feed(self, events: Sequence[e.AnyEvent]) -> None:
        """Check what comes next of the game. Raises `Failed`, after which it must not be fed again."""
        number = self._number
        if not number:
            self._number = 1
            self._begin(events[0])
        checks = self._checks
        for number, event in enumerate(events, number + 1):  # noqa: B020 (it counts on from where it was)
            check = checks.get(type(event))
            if check is not None:
                self._number = number
                check(self, event)
        self._number = number

    def result(self) -> tuple[Literal["holds", "not shown"], str]:
        """How far the claim holds of all that it was fed."""
        if self._unshown:
            return "not shown", self._unshown
        if not self._hands:
            return "not shown", "no hand is over yet"
        seats = [str(seat) for seat in sorted(self._openings) if self._openings[seat]]
        if not seats:
            return "not shown", "no seat contributed, so the server alone decided the deals"
        late = ", ".join(map(str, sorted(self._late)))
        opened_late = f"; seat{'s' * (len(self._late) > 1)} {late} opened late" if late else ""
        return "holds", f"for seats {', '.join(seats)}, which contributed to the deals{opened_late}"

    def _begin(self, first: e.AnyEvent) -> None:
        assert isinstance(first, e.GameCreated)
        self._unshown = unshown(first)
        if first.branch is not UNSET:
            if first.anchor is not None:
                self._fail("a practice table has no anchor")
            self._checks = _PRACTICE
            return
        if first.anchor is None:
            if first.imported is not True:
                self._fail("there is no anchor, and the game was not imported")
            return
        self._unshown = ""
        if not 1 <= first.chain <= MOST_HANDS:
            self._fail(f"a seed chain has 1 to {MOST_HANDS} links")
        self._game, self._terms = first.game, terms_of(first.rules)
        self._link = self._bytes(first.anchor)
        if first.rules.hand_limit is None or first.rules.hand_limit > first.chain:
            self._fail("the rules allow more hands than the seed chain has secrets")
        low, high = READY_SECONDS
        if not low <= first.ready_seconds <= high:
            self._fail(f"the time to get ready is not {low} to {high} seconds")
        self._ready_ms = first.ready_seconds * 1000
        self._checks = _CHECKS

    def _practice(self, event: e.HandDealt | e.CardsPassed | e.HandScored | e.GameEnded) -> None:
        """Nothing is shown of a practice table, which commits to nothing."""
        if isinstance(event, e.HandDealt):
            hidden = [*event.hands, event.kitty]
        elif isinstance(event, e.CardsPassed):
            hidden = [event.cards]
        else:
            hidden = [event.secret]
        if any(one is not None for one in hidden):
            self._fail("a practice table has no commitments and secrets")

    def _fail(self, why: str) -> None:
        raise Failed(self._number, why)

    def _bytes(self, text: str | None) -> bytes:
        try:
            raw = bytes.fromhex(text or "")
        except ValueError:
            raw = b""
        if len(raw) != 32 or raw.hex() != text:
            raise Failed(self._number, "a hash or secret is not 32 bytes in lower-case hex")
        return raw

    def _seat_left(self, event: e.SeatLeft) -> None:
        if self._openings or self._root:
            self._fail("a seat changed after the first opening")
        self._seats.pop(event.seat, None)

    def _hand_dealt(self, event: e.HandDealt) -> None:
        if not self._root:
            self._fail("a hand was dealt before the players' entropy was frozen")
        if self._dealt is not None:
            self._fail("the hand before it was never revealed")
        self._dealt, self._passed = event, {}

    def _cards_passed(self, event: e.CardsPassed) -> None:
        self._passed[event.seat] = event.cards

    def _seat_taken(self, event: e.SeatTaken) -> None:
        if self._openings or self._root:
            self._fail("a seat was taken after the first opening")
        if event.seat in self._seats:
            self._fail("the seat was taken already")
        commit = event.entropy_commit
        if event.kind == "bot" and commit is not None:
            self._fail("a house bot contributes nothing")
        if commit is not None and any(seat.entropy_commit == commit for seat in self._seats.values()):
            self._fail("the commitment is at the table already")
        self._seats[event.seat] = event

    def _ready(self, event: e.SeatReady) -> None:
        if self._root:
            self._fail("it was opened after the lock")
        seat = self._seats.get(event.seat)
        if seat is None or seat.kind != "player" or event.seat in self._openings:
            self._fail("this seat has nothing to open")
        elif seat.entropy_commit is None:
            if event.entropy:
                self._fail("it opens a commitment that was never made")
        elif commit_entropy(self._bytes(event.entropy)).hex() != seat.entropy_commit:
            self._fail("it does not open the seat's commitment")
        if len(self._seats) != self._terms.players:
            self._fail("a seat was still open")
        self._openings[event.seat] = event.entropy
        if self._first_ready is None:
            self._first_ready = event.at
        elif event.entropy and event.at >= self._first_ready + self._ready_ms:
            self._late.append(event.seat)

    def _locked(self, event: e.GameLocked) -> None:
        if self._root:
            self._fail("the entropy was frozen before")
        right: list[Opening] = [
            (seat, self._seats[seat].kind, self._openings.get(seat, "")) for seat in sorted(self._seats)
        ]
        if len(right) != self._terms.players or list(event.entropy) != right:
            self._fail("the frozen entropy is not what the seats opened")
        persons = [seat for seat, kind, _ in right if kind == "player"]
        if any(seat not in self._openings for seat in persons) and (
            self._first_ready is None or event.at < self._first_ready + self._ready_ms
        ):
            self._fail("a seat was locked out before its time to get ready was over")
        self._root = entropy_root(self._game, right)
        if event.root != self._root.hex():
            self._fail("the root is not the hash of the openings")

    def _reveal(self, text: str | None) -> bytes:
        secret = self._bytes(text)
        if hash_parts("hearts/v1/seed-chain", secret) != self._link:
            self._fail("the secret is not the next link of the chain that the anchor commits to")
        self._link = secret
        return secret

    def _scored(self, event: e.HandScored) -> None:
        dealt = self._dealt
        if dealt is None or dealt.hand != event.hand:
            raise Failed(self._number, "no such hand was dealt")
        secret = self._reveal(event.secret)
        if self._open_deal(dealt, secret) != (event.deal, event.kitty):
            self._fail("the deal does not follow from the secret and the players' entropy")
        for seat, text in enumerate(event.passes or ()):
            if self._passed.get(seat) != _commitment(secret, str(seat), "pass", text):
                self._fail(f"the commitment to the pass of seat {seat} does not open")
        self._dealt = None
        self._hands += 1

    def _open_deal(self, dealt: e.HandDealt, secret: bytes) -> tuple[tuple[str, ...], str]:
        """The hands and the kitty that follow from the secret, which the commitments must be to."""
        terms = self._terms
        seed = deal_seed(secret, self._game, dealt.hand, self._root)
        hands, extras = deal_cards(terms.deck, terms.players, terms.hand, seed)
        deal, kitty = tuple(format_cards(hand) for hand in hands), format_cards(extras)
        for seat, text in enumerate(deal):
            if dealt.hands[seat : seat + 1] != (_commitment(secret, str(seat), "hand", text),):
                self._fail(f"the commitment to the hand of seat {seat} does not open")
        if len(dealt.hands) != len(deal):
            self._fail("there is a commitment too many")
        if dealt.kitty != (_commitment(secret, "kitty", "kitty", kitty) if kitty else None):
            self._fail("the commitment to the kitty does not open")
        return deal, kitty

    def _ended(self, event: e.GameEnded) -> None:
        dealt = self._dealt
        if dealt is None:
            if event.secret is not None:
                self._fail("every hand was revealed already")
            return
        if event.secret is None:
            self._fail("the secret of the hand that was broken off is not revealed")
        secret = self._reveal(event.secret)
        deal, kitty = self._open_deal(dealt, secret)
        passes = {seat: self._open_pass(seat, deal, secret) for seat in sorted(self._passed)}
        everyone = tuple(passes.values()) if len(passes) == len(deal) else None
        self.broken_off = Shown(dealt.hand, deal, kitty, everyone, passes)
        self._dealt = None
        self._hands += 1

    def _open_pass(self, seat: int, deal: tuple[str, ...], secret: bytes) -> str:
        """The pass that a seat's commitment is to. `game_ended` does not name it, so all passes of its hand are tried."""
        if not 0 <= seat < len(deal):
            self._fail(f"there is no seat {seat} that could have passed")
        key = hiding_key(secret, str(seat), "pass")
        for cards in combinations(parse_cards(deal[seat]), self._terms.rules.pass_count):
            text = format_cards(cards)
            if commit_cards(key, text).hex() == self._passed[seat]:
                return text
        raise Failed(self._number, f"the commitment to the pass of seat {seat} opens to no cards of its hand")


_Checks = dict[type[e.Event], Callable[[FairnessCheck, Any], None]]
_CHECKS: Final[_Checks] = {
    e.SeatTaken: FairnessCheck._seat_taken,
    e.SeatLeft: FairnessCheck._seat_left,
    e.SeatReady: FairnessCheck._ready,
    e.GameLocked: FairnessCheck._locked,
    e.HandDealt: FairnessCheck._hand_dealt,
    e.CardsPassed: FairnessCheck._cards_passed,
    e.HandScored: FairnessCheck._scored,
    e.GameEnded: FairnessCheck._ended,
}
_PRACTICE: Final[_Checks] = dict.fromkeys(
    (e.HandDealt, e.CardsPassed, e.HandScored, e.GameEnded), FairnessCheck._practice
)


def _commitment(secret: bytes, who: str, what: Literal["hand", "pass", "kitty"], text: str) -> str:
    return commit_cards(hiding_key(secret, who, what), text).hex()
