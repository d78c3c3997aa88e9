"""What a server might do to deals, commitments and entropy before it builds a chain that fits.

Each changes a game's events in place and gives the number of the event that must be named.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from domain import events as e
from domain.cards import CARDS
from domain.shuffle import (
    commit_cards,
    entropy_root,
    hiding_key,
)
from tests.support.proofs import (
    Events,
    at_of,
    changed,
    dropped,
    first_opening,
    repeated,
    replaced,
)


def swap_cards(deal: tuple[str, ...]) -> tuple[str, ...]:
    """A deal in which seats 0 and 1 have changed their first cards."""
    first, second, *rest = [text.split() for text in deal]
    first[0], second[0] = second[0], first[0]
    return tuple(" ".join(sorted(cards, key=CARDS.__getitem__)) for cards in [first, second, *rest])


def change_deal(events: Events) -> int:
    """Another deal at the reveal."""
    at = at_of(events, e.HandScored)
    return changed(events, at, deal=swap_cards(events[at].deal))


def change_deal_and_commitments(events: Events) -> int:
    """Another deal from the start, committed to as it should be: a deal the server chose."""
    dealt, scored = at_of(events, e.HandDealt), at_of(events, e.HandScored)
    deal = swap_cards(events[scored].deal)
    secret = bytes.fromhex(events[scored].secret)
    hands = tuple(
        commit_cards(hiding_key(secret, str(seat), "hand"), text).hex() for seat, text in enumerate(deal)
    )
    changed(events, dealt, hands=hands)
    return changed(events, scored, deal=deal)


def change_hand_commitment(events: Events) -> int:
    """A hand's commitment that opens to nothing; found at the reveal."""
    at = at_of(events, e.HandDealt, 1)
    changed(events, at, hands=replaced(events[at].hands, 3, "00" * 32))
    return at_of(events, e.HandScored, 1) + 1


def drop_hand_commitment(events: Events) -> int:
    """A commitment too few; found at the reveal."""
    at = at_of(events, e.HandDealt)
    changed(events, at, hands=events[at].hands[:-1])
    return at_of(events, e.HandScored) + 1


def add_hand_commitment(events: Events) -> int:
    """A commitment too many; found at the reveal."""
    at = at_of(events, e.HandDealt)
    changed(events, at, hands=(*events[at].hands, "00" * 32))
    return at_of(events, e.HandScored) + 1


def invent_kitty(events: Events) -> int:
    """A commitment to a kitty where there is none."""
    changed(events, at_of(events, e.HandDealt), kitty="00" * 32)
    return at_of(events, e.HandScored) + 1


def change_pass_commitment(events: Events) -> int:
    """A pass other than the one committed to; found at the reveal."""
    changed(events, at_of(events, e.CardsPassed, 2), cards="00" * 32)
    return at_of(events, e.HandScored) + 1


def other_chain(events: Events) -> int:
    """The secret of another chain."""
    return changed(events, at_of(events, e.HandScored), secret="77" * 32)


def other_hands_secret(events: Events) -> int:
    """The first hand's secret once more in the second hand."""
    first = events[at_of(events, e.HandScored)].secret
    return changed(events, at_of(events, e.HandScored, 1), secret=first)


def no_secret(events: Events) -> int:
    """No secret at all."""
    return changed(events, at_of(events, e.HandScored), secret=None)


def other_anchor(events: Events) -> int:
    """An anchor of another chain; found when the first secret does not lead to it."""
    changed(events, 0, anchor="77" * 32)
    return at_of(events, e.HandScored) + 1


def commit_late(events: Events) -> int:
    """A commitment after the first opening: that opening came to a table with an open seat."""
    taken, ready = at_of(events, e.SeatTaken, 1), at_of(events, e.SeatReady)
    events.insert(ready, events.pop(taken))
    return ready


def take_a_seat_late(events: Events) -> int:
    """A seat taken anew after the first opening, with a commitment that could answer it."""
    at = at_of(events, e.SeatReady) + 1
    taken = next(one for one in events if isinstance(one, e.SeatTaken) and one.seat == 3)
    events.insert(
        at, msgspec.structs.replace(taken, kind="player", player="p9", bot=None, entropy_commit="77" * 32)
    )
    return at + 1


def leave_late(events: Events) -> int:
    """A seat left after the first opening."""
    at = at_of(events, e.SeatReady) + 1
    events.insert(at, e.SeatLeft(seat=2))
    return at + 1


def open_after_the_lock(events: Events) -> int:
    """An opening that the lock counted as missing and that comes afterwards, as if it had counted."""
    opened, locked = first_opening(events), at_of(events, e.GameLocked)
    event = events.pop(opened)
    entropy = tuple(
        (seat, kind, "" if seat == event.seat else value) for seat, kind, value in events[locked - 1].entropy
    )
    root = entropy_root("g-test", list(entropy)).hex()
    late = events[locked - 1].at + 60_000
    events[locked - 1] = msgspec.structs.replace(events[locked - 1], at=late, entropy=entropy, root=root)
    events.insert(locked, event)
    return locked + 1


def no_lock(events: Events) -> int:
    """Hands dealt without any frozen entropy: the openings do not enter the deals."""
    return dropped(events, e.GameLocked)


def lock_twice(events: Events) -> int:
    """A second lock."""
    return repeated(events, e.GameLocked)


def commit_twice(events: Events) -> int:
    """Two seats with one commitment, which undo each other's say."""
    first = events[at_of(events, e.SeatTaken)].entropy_commit
    return changed(events, at_of(events, e.SeatTaken, 1), entropy_commit=first)


def bot_commits(events: Events) -> int:
    """A house bot with entropy, which the server could choose last."""
    return changed(events, at_of(events, e.SeatTaken, 3), entropy_commit="77" * 32)


def wrong_opening(events: Events) -> int:
    """An opening that is not what was committed to."""
    return changed(events, first_opening(events), entropy="77" * 32)


def opening_without_commitment(events: Events) -> int:
    """Entropy from a seat that committed to none."""
    at = next(at for at, event in enumerate(events) if isinstance(event, e.SeatReady) and not event.entropy)
    return changed(events, at, entropy="77" * 32)


def lock_other_entropy(events: Events) -> int:
    """Frozen entropy that leaves out an opening that came, with the root that follows from it."""
    at = at_of(events, e.GameLocked)
    seat, kind, _ = events[at].entropy[0]
    entropy = replaced(events[at].entropy, 0, (seat, kind, ""))
    return changed(events, at, entropy=entropy, root=entropy_root("g-test", list(entropy)).hex())


def lock_other_kind(events: Events) -> int:
    """A bot written down as a player."""
    at = at_of(events, e.GameLocked)
    return changed(events, at, entropy=replaced(events[at].entropy, 3, (3, "player", "")))


def lock_other_root(events: Events) -> int:
    """A root that is not the hash of the openings."""
    return changed(events, at_of(events, e.GameLocked), root="77" * 32)


FAIRNESS: list[Callable[[Events], int]] = [
    change_deal,
    change_deal_and_commitments,
    change_hand_commitment,
    drop_hand_commitment,
    add_hand_commitment,
    invent_kitty,
    change_pass_commitment,
    other_chain,
    other_hands_secret,
    no_secret,
    other_anchor,
    commit_late,
    take_a_seat_late,
    leave_late,
    open_after_the_lock,
    no_lock,
    lock_twice,
    commit_twice,
    bot_commits,
    wrong_opening,
    opening_without_commitment,
    lock_other_entropy,
    lock_other_kind,
    lock_other_root,
]
