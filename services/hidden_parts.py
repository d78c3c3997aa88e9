"""The hidden parts of a game's events, which only who has the store can see, held to what was published of them.

Every hidden deal and pass can be checked at once, long before it is revealed: the commitments stand in the public parts,
and the secret of each hand follows from the end of the seed chain, which stands in the hidden part of the first event.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import UNSET

from domain import events as e
from domain.cards import format_cards
from domain.ruleset import MOST_HANDS, terms_of
from domain.shuffle import chain_link, commit_cards, deal_cards, deal_seed, hiding_key
from services.groups import group_of
from services.revealed import restore_hidden


def secret_problems(events: list[Any], bare: list[Any]) -> Iterator[tuple[int, str]]:
    """What is wrong with what is hidden in ``events``, each with its event; ``bare`` is the same without hidden parts."""
    first = events[0] if events else None
    found: dict[int, str] = {}
    if isinstance(first, e.GameCreated) and first.anchor is not None:
        check = _Commitments(first)
        if check.chain is None:
            found[1] = "its secret is not the end of the chain that the anchor commits to"
        found |= check.run(events)
    found |= dict(_unlike_reveals(events, bare))
    yield from sorted(found.items())


def _unlike_reveals(events: list[Any], bare: list[Any]) -> Iterator[tuple[int, str]]:
    try:
        revealed: list[Any] = list(restore_hidden(bare))
    except LookupError:
        return  # a reveal that does not fit its hand, which the claims tell
    for seq, (event, told) in enumerate(zip(events, revealed, strict=True), 1):
        if isinstance(event, e.CardsPassed) and told.hidden not in (UNSET, event.hidden):
            yield seq, f"the secret pass of seat {event.seat} is not the one that was revealed"
        elif isinstance(event, e.HandDealt) and told.hidden not in (UNSET, event.hidden):
            yield seq, f"the secret deal of hand {event.hand} is not the one that was revealed"


class _Commitments:
    """The hidden deals and passes of a game that has an anchor, held to chain, entropy and commitments."""

    def __init__(self, first: e.GameCreated) -> None:
        self._first, self._terms = first, terms_of(first.rules)
        self._name = group_of(first) or first.game
        self._links = min(first.chain, MOST_HANDS)
        self._root: bytes | None = None
        self._secret: bytes | None = None
        """The secret of the hand that is played, as far as it is known."""
        secret = first.hidden.chain if isinstance(first.hidden, e.OpenedSecret) else ""
        self.chain = _bytes(secret)
        """The end of the seed chain; none where it is not the one that the anchor commits to."""
        if self.chain is not None and chain_link(self.chain, self._links, 0).hex() != first.anchor:
            self.chain = None

    def run(self, events: list[Any]) -> dict[int, str]:
        """What is wrong, by event."""
        found: dict[int, str] = {}
        for seq, event in enumerate(events, 1):
            why = None
            if isinstance(event, e.GameLocked):
                self._root = _bytes(event.root)
            elif isinstance(event, e.HandDealt):
                why = self._deal_fault(event)
            elif isinstance(event, e.CardsPassed):
                why = self._pass_fault(event)
            if why is not None:
                found[seq] = why
        return found

    def _deal_fault(self, event: e.HandDealt) -> str | None:
        self._secret = None
        hidden = event.hidden
        if hidden is UNSET:
            return f"the secret deal of hand {event.hand} is not there"
        told = _bytes(hidden.secret)
        secret = self._secret = self._link(event.hand) if self.chain is not None else told
        if secret is None or told != secret:
            return f"the secret of hand {event.hand} is not the link of the chain that the anchor commits to"
        if self._root is None:
            return None  # which the claims tell
        terms = self._terms
        seed = deal_seed(secret, self._name, event.hand, self._root)
        hands, extras = deal_cards(terms.deck, terms.players, terms.hand, seed)
        deal, kitty = tuple(format_cards(hand) for hand in hands), format_cards(extras)
        if (hidden.deal, hidden.kitty) != (deal, kitty):
            return f"the secret deal of hand {event.hand} does not follow from its secret and the entropy"
        right_hands = tuple(_commitment(secret, str(seat), "hand", text) for seat, text in enumerate(deal))
        right_kitty = _commitment(secret, "kitty", "kitty", kitty) if kitty else None
        if (event.hands, event.kitty) != (right_hands, right_kitty):
            return f"the secret deal of hand {event.hand} is not the one that was committed to"
        return None

    def _pass_fault(self, event: e.CardsPassed) -> str | None:
        if self._secret is None:
            return None  # of a hand whose secret is told as wrong
        if event.hidden is UNSET:
            return f"the secret pass of seat {event.seat} is not there"
        if _commitment(self._secret, str(event.seat), "pass", event.text) != event.cards:
            return f"the secret pass of seat {event.seat} is not the one that was committed to"
        return None

    def _link(self, hand: int) -> bytes | None:
        if self.chain is None or not 1 <= hand <= self._links:
            return None
        return chain_link(self.chain, self._links, hand)


def _bytes(text: str) -> bytes | None:
    """The 32 bytes that are written as lower-case hex; none where they are not."""
    try:
        raw = bytes.fromhex(text)
    except ValueError:
        return None
    return raw if len(raw) == 32 and raw.hex() == text else None


def _commitment(secret: bytes, who: str, what: Literal["hand", "pass", "kitty"], text: str) -> str:
    return commit_cards(hiding_key(secret, who, what), text).hex()
