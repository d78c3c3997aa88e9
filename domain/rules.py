"""The rules of Hearts, as questions about a table. The one place where they are written.

The decider, records, bots, views and verifiers all ask here; ``docs/rules.md`` has the reasons for every answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from domain.cards import (
    BITS,
    FIRST_COPIES,
    HEARTS_MASK,
    NAMES,
    QS,
    SUIT_MASKS,
    SUIT_OF,
    Card,
    Mask,
    Seat,
    contains,
    distinct_cards,
    mask_of,
)
from domain.refusals import Malformed, Refused
from domain.ruleset import Terms
from domain.state import HandState

MOON_CHOICES: Final = ("choice", "choice_if_lost")
"""The moon effects under which a shooter may have to choose."""
SUIT_NAMES = ("clubs", "diamonds", "spades", "hearts")


def legal_plays(terms: Terms, hand: HandState) -> Mask:
    """The cards that the seat to play may play, each once; never empty while it is somebody's turn."""
    held = hand.held[hand.turn] & FIRST_COPIES
    first_trick = not hand.history
    if hand.trick:
        return _legal_to_follow(terms, held, hand.trick[0], first_trick)
    if first_trick:
        return _legal_to_open(terms, held, hand.forced)
    return _legal_to_lead(terms, held, hand.broken)


def _legal_to_follow(terms: Terms, held: Mask, led: Card, first_trick: bool) -> Mask:
    in_suit = held & SUIT_MASKS[SUIT_OF[led]]
    if in_suit or not first_trick:
        return in_suit or held
    if allowed := held & ~terms.trick1_ban:
        return allowed
    return held & BITS[QS] if terms.must_qs and held & BITS[QS] else held


def _legal_to_open(terms: Terms, held: Mask, forced: Card) -> Mask:
    if forced >= 0:
        return BITS[forced]
    return held & ~terms.opening_ban or held


def _legal_to_lead(terms: Terms, held: Mask, broken: bool) -> Mask:
    if broken or not terms.breakers:
        return held
    others = held & ~HEARTS_MASK
    if others == BITS[QS] and terms.hearts_beside_qs:
        return held
    return others or held


def why_not(terms: Terms, hand: HandState, card: Card) -> str | None:
    """The code of the first reason why the seat to play may not play ``card``; none where it may.

    Where several reasons apply their order is that of ``docs/spec/record.md``.
    """
    if hand.turn < 0:
        return "play/hand_over"
    if not hand.held[hand.turn] & BITS[card]:
        return "play/not_in_hand"
    if legal_plays(terms, hand) & BITS[card]:
        return None
    if hand.trick:
        void = not hand.held[hand.turn] & SUIT_MASKS[SUIT_OF[hand.trick[0]]]
        return "play/penalty_on_first_trick" if void else "play/must_follow_suit"
    if hand.history:
        return "play/hearts_not_broken"
    return "play/must_open_with" if hand.forced >= 0 else "play/penalty_opening_lead"


def check_play(terms: Terms, hand: HandState, card: Card) -> None:
    """Raise `Refused` where the seat to play may not play ``card``; the error speaks of its own hand alone."""
    code = why_not(terms, hand, card)
    if code is None:
        return
    legal = [] if hand.turn < 0 else [NAMES[one] for one in distinct_cards(legal_plays(terms, hand))]
    detail = f"{NAMES[card]}: {_reason(code, hand)}"
    hint = f"play one of {' '.join(legal)}" if legal else "wait for the next hand"
    raise Refused(code, detail, hint=hint, legal=legal)


def _reason(code: str, hand: HandState) -> str:
    seat = f"seat {hand.turn}"
    match code:
        case "play/hand_over":
            return "every card of the hand has been played"
        case "play/not_in_hand":
            return f"{seat} does not hold it"
        case "play/must_open_with":
            return f"{seat} must open the hand with {NAMES[hand.forced]}"
        case "play/penalty_opening_lead":
            return f"{seat} may not open the hand with it while it holds another card"
        case "play/must_follow_suit":
            return f"{seat} holds {SUIT_NAMES[SUIT_OF[hand.trick[0]]]}"
        case "play/penalty_on_first_trick":
            return f"{seat} may not discard it on the first trick"
        case _:
            return f"{seat} may not lead hearts before they are broken"


def find_opener(terms: Terms, hand: HandState) -> tuple[Seat, Card]:
    """Who leads to the first trick, after the pass, and the card it must play (-1: any)."""
    if terms.rules.opener == "forced":
        together = 0
        for held in hand.held:
            together |= held
        clubs = together & SUIT_MASKS[0]
        if clubs:
            lowest = clubs & -clubs
            seats = len(hand.held)
            for step in range(seats):
                seat = (hand.opener + step) % seats
                if hand.held[seat] & lowest:
                    return seat, lowest.bit_length() - 1
    return hand.opener, -1


def trick_winner(terms: Terms, leader: Seat, trick: Sequence[Card]) -> Seat | None:
    """Who wins a full trick, its cards in the order played from ``leader``; none where it is dead."""
    suit = SUIT_OF[trick[0]]
    best, best_at = -1, -1
    if terms.rules.cancel:
        pairs = len(trick) - len(set(trick))
        if pairs >= 2 and terms.rules.dead_trick == "two_pairs":
            return None
        for at, card in enumerate(trick):
            if SUIT_OF[card] == suit and card > best and (not pairs or trick.count(card) == 1):
                best, best_at = card, at
    else:
        for at, card in enumerate(trick):
            if SUIT_OF[card] == suit and card >= best:
                best, best_at = card, at
    return None if best_at < 0 else (leader + best_at) % len(trick)


def trick_taker(terms: Terms, hand: HandState) -> Seat | None:
    """Who takes the full trick on the table: its winner, or the leader of a dead last trick where the rules say so."""
    winner = trick_winner(terms, hand.leader, hand.trick)
    if winner is None and len(hand.history) + 1 == terms.hand and terms.rules.dead_last == "leader":
        return hand.leader
    return winner


def kitty_in_trick(terms: Terms, hand: HandState) -> bool:
    """Whether the kitty joins the pile with the full trick on the table."""
    number = len(hand.history) + 1
    return bool(hand.kitty) and number == (1 if terms.rules.kitty_to == "first" else terms.hand)


def moon_shooter(terms: Terms, hand: HandState) -> Seat | None:
    """Who took every penalty card of the deck in a hand that is played out; none where nobody did.

    Cards are counted, never points, so that cards lost in a dead last trick prevent a moon. Of partners who shot it
    together it is the one that took most of them.
    """
    if not terms.penalty_cards or terms.rules.moon_effect == "none":
        return None
    taken, bonus = hand.penalties_taken, hand.bonus_taken
    for team in terms.teams:
        if sum([taken[seat] for seat in team]) == terms.penalty_cards:
            needed = terms.bonus_cards if terms.rules.moon_needs_bonus else 0
            enough = sum([bonus[seat] for seat in team]) >= needed
            return max(team, key=lambda seat: taken[seat]) if enough else None
    return None


def sun_shooter(terms: Terms, hand: HandState) -> Seat | None:
    """Who took every trick that counts for a sun in a hand that is played out; none where nobody did, or there is none."""
    if terms.sun_effect == "none":
        return None
    takers = [taker for _, _, taker in hand.history[terms.rules.get("sun_from") - 1 :]]
    first = takers[0]
    if first is None or not all(taker in terms.teams[first] for taker in takers):
        return None
    return max(terms.teams[first], key=takers.count)


def moon_chooser(terms: Terms, hand: HandState, totals: Sequence[int]) -> Seat | None:
    """Who has to choose what its moon does in a hand that is played out; none where nobody has.

    ``totals`` are those before the hand.
    """
    effect = terms.rules.moon_effect
    if effect not in MOON_CHOICES or sun_shooter(terms, hand) is not None:
        return None
    shooter = moon_shooter(terms, hand)
    if shooter is None or (effect == "choice_if_lost" and not _add_loses(terms, hand, totals, shooter)):
        return None
    least = terms.moon_choice_from
    return shooter if least is None or totals[shooter] >= least else None


def hand_points(
    terms: Terms, hand: HandState, totals: Sequence[int], choice: Literal["add", "subtract"] | None
) -> list[int]:
    """What a played-out hand adds to each total, moon and sun applied; ``choice`` counts where the rules ask for one.

    Partners are both given what they have scored together.
    """
    shooter = sun_shooter(terms, hand)
    if shooter is not None:
        return _together(terms, _sun_points(terms, hand, totals, shooter))
    shooter = moon_shooter(terms, hand)
    if shooter is None:
        return _together(terms, _card_points(terms, hand))
    effect = terms.rules.moon_effect
    if effect in MOON_CHOICES:
        asked = moon_chooser(terms, hand, totals) is not None
        effect = choice if asked and choice else "add"
    elif effect == "auto":
        effect = "subtract" if _add_loses(terms, hand, totals, shooter) else "add"
    return moon_points(terms, hand.bonus, shooter, effect)


def _card_points(terms: Terms, hand: HandState) -> list[int]:
    points = _bounded(
        terms, [penalty + bonus for penalty, bonus in zip(hand.penalty, hand.bonus, strict=True)]
    )
    if terms.no_trick_points:
        taken = hand.tricks_taken()
        points = [
            point if tricks else point + terms.no_trick_points
            for point, tricks in zip(points, taken, strict=True)
        ]
    return points


def _bounded(terms: Terms, points: list[int]) -> list[int]:
    floor = terms.hand_floor
    return points if floor is None else [max(floor, point) for point in points]


def _bonus_points(terms: Terms, bonus: Sequence[int]) -> list[int]:
    """What cards of negative points still score in a hand with a moon or sun."""
    return [0] * terms.players if terms.swallows else _bounded(terms, list(bonus))


def _add_loses(terms: Terms, hand: HandState, totals: Sequence[int], shooter: Seat) -> bool:
    """Whether the game would end with the shooter not among the lowest if its moon added to the others."""
    added = moon_points(terms, hand.bonus, shooter, "add")
    end = game_end(terms, add_points(terms, totals, added), added, hand.number)
    return end is not None and shooter not in end.winners


def moon_points(terms: Terms, bonus: Sequence[int], shooter: Seat, effect: str) -> list[int]:
    """What a moon adds to each total under an effect; ``bonus`` are the negative points that the seats took."""
    points, x = _bonus_points(terms, bonus), terms.rules.moon_x
    others = [seat for seat in range(terms.players) if seat not in terms.teams[shooter]]
    if effect in ("subtract", "collect"):
        points[shooter] -= x if effect == "subtract" else x * len(others)
    if effect in ("add", "collect"):
        for seat in others:
            points[seat] += x
    return _together(terms, points)


def _sun_points(terms: Terms, hand: HandState, totals: Sequence[int], shooter: Seat) -> list[int]:
    points, x = _bonus_points(terms, hand.bonus), terms.rules.get("sun_x")
    others = [seat for seat in range(terms.players) if seat not in terms.teams[shooter]]
    if terms.sun_effect == "subtract":
        points[shooter] -= x
    elif terms.sun_effect == "reset":
        points[shooter] = -totals[shooter]
    else:
        punished = hand.receives_from(shooter) if terms.sun_effect == "punish" else -1
        each = terms.rules.moon_x if terms.sun_effect == "punish" else x
        for seat in others:
            points[seat] += x if seat == punished else each
    return points


def _together(terms: Terms, points: list[int]) -> list[int]:
    """What each seat's team has scored."""
    if len(terms.teams[0]) == 1:
        return points
    return [sum([points[seat] for seat in team]) for team in terms.teams]


def add_points(terms: Terms, totals: Sequence[int], points: Sequence[int]) -> list[int]:
    """The totals after a hand; none falls below the floor where the rules have one."""
    sums = [total + point for total, point in zip(totals, points, strict=True)]
    floor = terms.rules.floor
    return sums if floor is None else [max(floor, total) for total in sums]


class End(NamedTuple):
    """How a game ended."""

    winners: tuple[Seat, ...]
    reason: Literal["target", "limit"]


def game_end(terms: Terms, totals: Sequence[int], points: Sequence[int], hands: int) -> End | None:
    """Whether the game is over after hand number ``hands``, which added ``points`` and led to ``totals``.

    None where another hand is played. ``target`` is judged before ``limit``; the condition is never sticky.
    """
    lowest = min(totals)
    lowest_seats = tuple(seat for seat, total in enumerate(totals) if total == lowest)
    if max(totals) >= terms.rules.target and not _goes_on(terms, lowest_seats, points):
        return End(lowest_seats, "target")
    if terms.rules.hand_limit is not None and hands >= terms.rules.hand_limit:
        return End(lowest_seats, "limit")
    return None


def _goes_on(terms: Terms, lowest_seats: tuple[Seat, ...], points: Sequence[int]) -> bool:
    """Whether a tie or a perfect hand keeps a game going that has reached its target."""
    if len({terms.teams[seat] for seat in lowest_seats}) > 1 and terms.rules.tie == "continue":
        return True
    if not terms.rules.perfect_hand:
        return False
    leader_perfect = any(points[seat] <= 0 for seat in lowest_seats)
    other_perfect = any(point == 0 for seat, point in enumerate(points) if seat not in lowest_seats)
    return other_perfect and not leader_perfect


def check_pass(terms: Terms, held: Mask, cards: Sequence[Card]) -> Mask:
    """The pass ``cards`` as a multiset. Raises `Refused` unless it is so many of the cards held, copies counted."""
    count = terms.rules.pass_count
    try:
        given = mask_of(cards)
    except Malformed:
        given = -1
    if len(cards) != count or given < 0 or not contains(held, given):
        raise Refused(
            "pass/wrong_cards",
            f"a pass is {count} of the cards held, each copy once",
            hint=f"pass exactly {count} cards of your hand",
        )
    return given


def check_deal(terms: Terms, hands: Sequence[Sequence[Card]], kitty: Sequence[Card]) -> bool:
    """Whether hands and kitty are the deck, as a multiset, in the right numbers."""
    if len(hands) != terms.players or any(len(hand) != terms.hand for hand in hands):
        return False
    every = sorted([card for hand in hands for card in hand] + list(kitty))
    return every == sorted(terms.deck)
