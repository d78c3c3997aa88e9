"""What a server might do to plays and scores before it builds a chain that fits.

Each changes a game's events in place and gives the number of the event that must be named.
"""

from __future__ import annotations

from collections.abc import Callable

from domain import events as e
from tests.support.proofs import (
    Events,
    at_of,
    changed,
    dropped,
    repeated,
    replaced,
)


def change_points(events: Events) -> int:
    """Points other than those of the cards taken, the totals to match."""
    at = at_of(events, e.HandScored)
    points, totals = events[at].points, events[at].totals
    return changed(
        events,
        at,
        points=(points[0] - 1, points[1] + 1, *points[2:]),
        totals=(totals[0] - 1, totals[1] + 1, *totals[2:]),
    )


def change_totals(events: Events) -> int:
    """Totals that are not the sums."""
    at = at_of(events, e.HandScored, 1)
    return changed(events, at, totals=replaced(events[at].totals, 2, 0))


def change_winners(events: Events) -> int:
    """Another winner."""
    at = at_of(events, e.GameEnded)
    return changed(events, at, winners=tuple(seat for seat in range(4) if seat not in events[at].winners))


def change_final_totals(events: Events) -> int:
    """Other totals at the end than after the last hand."""
    return changed(events, at_of(events, e.GameEnded), totals=(0, 0, 0, 0))


def change_reason(events: Events) -> int:
    """An end by a target that nobody has reached."""
    return changed(events, at_of(events, e.GameEnded), reason="target")


def abandon_with_winners(events: Events) -> int:
    """An abandoned game that somebody wins."""
    return changed(events, at_of(events, e.GameEnded), reason="abandoned")


def card_not_held(events: Events) -> int:
    """A card that another seat holds, and plays later."""
    at = at_of(events, e.CardPlayed, 5)
    later = [one for one in events[at:] if isinstance(one, e.CardPlayed) and one.seat != events[at].seat]
    return changed(events, at, card=later[-1].card)


def card_out_of_turn(events: Events) -> int:
    """A card by the seat after the one whose turn it is."""
    at = at_of(events, e.CardPlayed, 6)
    return changed(events, at, seat=(events[at].seat + 1) % 4)


def swap_plays(events: Events) -> int:
    """Two plays of a trick in the wrong order."""
    at = at_of(events, e.CardPlayed, 1)
    events[at], events[at + 1] = events[at + 1], events[at]
    return at + 1


def wrong_trick_winner(events: Events) -> int:
    """A trick for the seat that came second."""
    at = at_of(events, e.TrickEnded, 3)
    return changed(events, at, seat=(events[at].seat + 1) % 4)


def dead_trick(events: Events) -> int:
    """A trick for nobody that has a winner."""
    return changed(events, at_of(events, e.TrickEnded, 3), seat=None)


def drop_play(events: Events) -> int:
    """A play left out: the next one is out of turn."""
    return dropped(events, e.CardPlayed, 1)


def drop_trick_end(events: Events) -> int:
    """The end of a trick left out."""
    return dropped(events, e.TrickEnded)


def drop_score(events: Events) -> int:
    """A hand without its score: nothing of it can be checked any more, and the next may not be dealt."""
    return dropped(events, e.HandScored)


def drop_exchange(events: Events) -> int:
    """Passes that are never exchanged."""
    return dropped(events, e.PassesExchanged)


def drop_pass(events: Events) -> int:
    """A pass left out: the exchange comes before every seat has passed."""
    del events[at_of(events, e.CardsPassed)]
    return at_of(events, e.PassesExchanged) + 1


def repeat_pass(events: Events) -> int:
    """A seat that passes twice."""
    return repeated(events, e.CardsPassed)


def repeat_score(events: Events) -> int:
    """A hand that is scored twice."""
    return repeated(events, e.HandScored)


def repeat_deal(events: Events) -> int:
    """A hand that is dealt anew while it is played."""
    at = at_of(events, e.CardPlayed, 3)
    events.insert(at, events[at_of(events, e.HandDealt)])
    return at + 1


def go_on_after_the_end(events: Events) -> int:
    """An event after the game has ended."""
    events.append(e.SeatToBot(seat=0))
    return len(events)


def create_again(events: Events) -> int:
    """A second beginning, with easier rules."""
    events.insert(5, events[0])
    return 6


def bot_moves_as_player(events: Events) -> int:
    """A bot's play in the name of a player."""
    at = next(at for at, event in enumerate(events) if isinstance(event, e.CardPlayed) and event.seat == 3)
    return changed(events, at, by="player")


def player_moves_as_bot(events: Events) -> int:
    """A player's pass by a bot, without its handing over."""
    at = next(at for at, event in enumerate(events) if isinstance(event, e.CardsPassed) and event.seat == 1)
    return changed(events, at, by="bot")


def choose_no_moon(events: Events) -> int:
    """A choice of a moon that nobody has shot."""
    at = at_of(events, e.HandScored)
    events.insert(at, e.MoonChosen(seat=0, choice="add", by="player"))
    return at + 1


RULES: list[Callable[[Events], int]] = [
    change_points,
    change_totals,
    change_winners,
    change_final_totals,
    change_reason,
    abandon_with_winners,
    card_not_held,
    card_out_of_turn,
    swap_plays,
    wrong_trick_winner,
    dead_trick,
    drop_play,
    drop_trick_end,
    drop_score,
    drop_exchange,
    drop_pass,
    repeat_pass,
    repeat_score,
    repeat_deal,
    go_on_after_the_end,
    create_again,
    bot_moves_as_player,
    player_moves_as_bot,
    choose_no_moon,
]
