"""Proof files: what the claims say of honest games, and of a server that forges one with a chain that fits."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import msgspec
import pytest

from domain import commands as c
from domain import events as e
from domain.cards import CARDS, parse_cards
from domain.refusals import CorruptLog, Malformed
from domain.ruleset import Terms
from domain.shuffle import (
    commit_cards,
    commit_entropy,
    deal_cards,
    deal_seed,
    entropy_root,
    hash_parts,
    hiding_key,
)
from domain.variants import ruleset_of
from services.audit import ServerKey
from services.codec import CODEC
from services.proof import Claim, Report, proof_lines, read_proof, verify_proof
from tests.support.games import Game, play_game, stored

KEY = ServerKey(bytes(range(32)))
OTHER_KEY = ServerKey(bytes(32))
Events = list[Any]


@cache
def played(kinds: str = "ppnb", moves: int | None = None, **rules: Any) -> Game:
    """A game of two hands of four, by players with and without entropy and a bot."""
    given = {"variant": "standard", "players": 4, "hand_limit": 2} | rules
    return play_game(ruleset_of(given), 7, moves=moves, kinds=kinds, server_key=KEY.public)


def file_of(events: Iterable[e.Event], key: ServerKey | None = KEY) -> bytes:
    """The proof file of events, its chain and receipt made for just these."""
    return b"".join(proof_lines(stored(list(events)), key))


def report_of(data: bytes, server_key: str | None = None) -> Report:
    """What a proof file shows."""
    return verify_proof(read_proof(data), server_key)


def claim(report: Report, name: str) -> Claim:
    """One claim of a report."""
    return next(one for one in report.claims if one.name == name)


def statuses(report: Report) -> dict[str, str]:
    """Every claim's status by its name."""
    return {one.name: one.status for one in report.claims}


# --- honest games


def test_a_game_with_entropy_is_shown_fair_for_those_that_contributed() -> None:
    """All claims hold; F names the seats that contributed and none else."""
    report = report_of(file_of(played().events))
    assert report.ok
    assert statuses(report) == {"F": "holds", "I": "holds", "R": "holds", "B": "not shown"}
    assert claim(report, "F").detail.startswith("for seats 0, 1,")
    assert claim(report, "R").detail == "2 hands checked to the last card"
    assert "key not pinned" in claim(report, "I").detail
    assert report.events == len(played().events)
    assert report.game == "g-test"


@pytest.mark.parametrize("kinds", ["bbbb", "nnnn", "nbbn"])
def test_without_a_contribution_fairness_is_not_shown(kinds: str) -> None:
    """Where no seat contributed the server alone decided the deals, and F says so; nothing fails."""
    report = report_of(file_of(played(kinds).events))
    assert report.ok
    assert statuses(report)["F"] == "not shown"
    assert "no seat contributed" in claim(report, "F").detail
    assert statuses(report)["R"] == "holds"


def test_of_a_game_before_its_first_score_nothing_but_integrity_is_shown() -> None:
    """In the middle of the first hand F and R are not shown, and I holds by the receipt."""
    report = report_of(file_of(played(moves=20).events))
    assert report.ok
    assert statuses(report) == {"F": "not shown", "I": "holds", "R": "not shown", "B": "not shown"}


def test_of_a_hand_in_play_the_order_of_play_is_shown() -> None:
    """A game that goes on is checked whole for its finished hands, and for the order of play in the open one."""
    game = play_game(ruleset_of({"variant": "standard", "players": 4}), 7, kinds="ppnb", moves=75)
    report = report_of(file_of(game.events, None))
    assert report.ok
    assert (
        claim(report, "R").detail
        == "1 hand checked to the last card; of the hand in play the order of play is"
    )
    assert statuses(report)["I"] == "not shown"
    swapped = list(game.events)
    at = max(at for at, event in enumerate(swapped) if isinstance(event, e.CardPlayed))
    swapped[at] = msgspec.structs.replace(swapped[at], seat=(swapped[at].seat + 1) % 4)
    refuted = claim(report_of(file_of(swapped)), "R")
    assert (refuted.status, refuted.event) == ("fails", at + 1)


def test_a_seat_handed_to_the_bot_and_taken_back_holds() -> None:
    """A person's moves, the stand-in's and the person's again are all told apart."""
    game = play_game(
        ruleset_of({"variant": "basic", "hand_limit": 1}), 3, kinds="pppp", moves=6, server_key=KEY.public
    )
    game = Game(game.rules, list(game.steps), game.state)
    game.do(c.StandUp(player="p2", seat=2))
    game.do(c.TakeBack(player="p2", seat=2))
    report = report_of(file_of(game.events))
    assert report.ok


def test_a_kitty_and_two_decks_are_checked_too() -> None:
    """Cancellation with extras and omnibus hold like the rest."""
    for rules in ({"variant": "cancellation", "players": 7}, {"variant": "omnibus", "players": 4}):
        kinds = "p" * rules["players"]  # type: ignore[operator]
        game = play_game(ruleset_of(rules | {"hand_limit": 2}), 3, kinds=kinds, server_key=KEY.public)
        assert statuses(report_of(file_of(game.events))) == {
            "F": "holds",
            "I": "holds",
            "R": "holds",
            "B": "not shown",
        }


# --- the server's key


def test_a_pinned_key_is_compared_with_the_files() -> None:
    """With the right key elsewhere I holds and no longer asks for it; with another it fails."""
    data = file_of(played().events)
    right = report_of(data, KEY.public)
    assert right.key_pinned
    assert claim(right, "I").status == "holds"
    assert "not pinned" not in claim(right, "I").detail
    wrong = report_of(data, OTHER_KEY.public)
    assert (claim(wrong, "I").status, claim(wrong, "I").event) == ("fails", 1)
    assert not wrong.ok


def test_a_receipt_by_another_key_fails() -> None:
    """A receipt that the named key did not sign shows nothing."""
    report = report_of(file_of(played().events, OTHER_KEY))
    assert claim(report, "I").status == "fails"
    assert claim(report, "I").event == len(played().events)


def test_without_a_receipt_integrity_is_not_shown() -> None:
    """I says what would show it."""
    report = report_of(file_of(played().events, None))
    assert report.ok
    assert claim(report, "I").status == "not shown"
    assert "receipt" in claim(report, "I").detail


# --- a server that cheats, and builds chain, heads and receipt anew


def at_of(events: Events, kind: type[e.Event], which: int = 0) -> int:
    """The index of an event of a kind."""
    return [at for at, event in enumerate(events) if type(event) is kind][which]


def changed(events: Events, at: int, **fields: Any) -> int:
    """Change fields of an event in place; its number."""
    events[at] = msgspec.structs.replace(events[at], **fields)
    return at + 1


def replaced(values: tuple[Any, ...], at: int, value: Any) -> tuple[Any, ...]:
    """A tuple with one entry changed."""
    return (*values[:at], value, *values[at + 1 :])


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
    changed(events, locked - 1, entropy=entropy, root=entropy_root("g-test", list(entropy)).hex())
    events.insert(locked, event)
    return locked + 1


def no_lock(events: Events) -> int:
    """Hands dealt without any frozen entropy: the openings do not enter the deals."""
    at = at_of(events, e.GameLocked)
    del events[at]
    return at + 1


def lock_twice(events: Events) -> int:
    """A second lock."""
    at = at_of(events, e.GameLocked)
    events.insert(at + 1, events[at])
    return at + 2


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


def first_opening(events: Events) -> int:
    """The index of the first opening of real entropy."""
    return next(at for at, event in enumerate(events) if isinstance(event, e.SeatReady) and event.entropy)


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
    """A card that another seat holds."""
    at = at_of(events, e.CardPlayed, 5)
    held = {card for event in events[: at + 1] if isinstance(event, e.CardPlayed) for card in [event.card]}
    card = next(
        name for name in CARDS if name not in held and name != events[at_of(events, e.CardPlayed, 9)].card
    )
    scored = events[at_of(events, e.HandScored)]
    owner = next(seat for seat, text in enumerate(scored.deal) if card in text.split())
    assert owner in range(4)
    later = [
        event for event in events[at:] if isinstance(event, e.CardPlayed) and event.seat != events[at].seat
    ]
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
    at = at_of(events, e.CardPlayed, 1)
    del events[at]
    return at + 1


def drop_trick_end(events: Events) -> int:
    """The end of a trick left out."""
    at = at_of(events, e.TrickEnded)
    del events[at]
    return at + 1


def drop_score(events: Events) -> int:
    """A hand without its score: nothing of it can be checked any more, and the next may not be dealt."""
    at = at_of(events, e.HandScored)
    del events[at]
    return at + 1


def drop_exchange(events: Events) -> int:
    """Passes that are never exchanged."""
    at = at_of(events, e.PassesExchanged)
    del events[at]
    return at + 1


def drop_pass(events: Events) -> int:
    """A pass left out: the exchange comes before every seat has passed."""
    del events[at_of(events, e.CardsPassed)]
    return at_of(events, e.PassesExchanged) + 1


def repeat_pass(events: Events) -> int:
    """A seat that passes twice."""
    at = at_of(events, e.CardsPassed)
    events.insert(at + 1, events[at])
    return at + 2


def repeat_score(events: Events) -> int:
    """A hand that is scored twice."""
    at = at_of(events, e.HandScored)
    events.insert(at + 1, events[at])
    return at + 2


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


def forged(forge: Callable[[Events], int]) -> tuple[Report, int]:
    """The report on a forged game, and the event that should be named."""
    events = list(played().events)
    number = forge(events)
    return report_of(file_of(events)), number


def named(forge: Callable[[Events], int]) -> str:
    """A test's id."""
    return forge.__name__


@pytest.mark.parametrize("forge", FAIRNESS, ids=named)
def test_a_forged_deal_or_lock_fails_fairness(forge: Callable[[Events], int]) -> None:
    """With a chain that fits, whatever is wrong with deals, commitments or entropy fails F at its event."""
    report, number = forged(forge)
    assert not report.ok
    assert claim(report, "I").status == "holds"
    assert (claim(report, "F").status, claim(report, "F").event) == ("fails", number)


@pytest.mark.parametrize("forge", RULES, ids=named)
def test_a_forged_play_or_score_fails_the_rules(forge: Callable[[Events], int]) -> None:
    """With a chain that fits, whatever is against the rules fails R at its event."""
    report, number = forged(forge)
    assert not report.ok
    assert claim(report, "I").status == "holds"
    assert (claim(report, "R").status, claim(report, "R").event) == ("fails", number)


def test_a_passed_card_that_was_not_held_fails_both() -> None:
    """Another pass at the reveal does not open its commitment, and is no pass of the hand."""
    events = list(played().events)
    at = at_of(events, e.HandScored)
    passes = events[at].passes
    changed(events, at, passes=(passes[1], *passes[1:]))
    report = report_of(file_of(events))
    assert statuses(report)["F"] == statuses(report)["R"] == "fails"
    assert claim(report, "R").event == at_of(events, e.PassesExchanged) + 1


def test_illegal_revoke_is_found_by_name() -> None:
    """A seat that could follow suit and did not is refused with the rule's own code."""
    game = played()
    events = list(game.events)
    first = at_of(events, e.CardPlayed)
    for step in game.steps:
        hand = None if step.before is None else step.before.hand
        if not isinstance(step.command, c.PlayCard) or hand is None or not hand.trick:
            continue
        led = hand.trick[0] // 13
        held = [card for card in range(52) if hand.held[hand.turn] >> card & 1]
        off = [card for card in held if card // 13 != led]
        if off and len(off) < len(held) and len(hand.history) > 2:
            at = events.index(step.events[0])
            name = next(name for name, card in CARDS.items() if card == off[0])
            number = changed(events, at, card=name)
            break
    assert at > first
    report = report_of(file_of(events))
    assert (claim(report, "R").status, claim(report, "R").event) == ("fails", number)
    assert "play/must_follow_suit" in claim(report, "R").detail


def test_the_deal_of_a_game_is_recomputed_from_the_protocols_text() -> None:
    """The checks above rest on a deal that follows from the revealed secret, step by step."""
    events = played().events
    scored = events[at_of(events, e.HandScored)]
    locked = events[at_of(events, e.GameLocked)]
    opened = events[first_opening(events)]
    taken = next(one for one in events if isinstance(one, e.SeatTaken) and one.seat == opened.seat)
    assert commit_entropy(bytes.fromhex(opened.entropy)).hex() == taken.entropy_commit
    secret = bytes.fromhex(scored.secret)
    assert hash_parts("hearts/v1/seed-chain", secret).hex() == events[0].anchor
    terms = Terms(played().rules)
    seed = deal_seed(secret, "g-test", 1, bytes.fromhex(locked.root))
    hands, _ = deal_cards(terms.deck, 4, 13, seed)
    assert [sorted(hand) for hand in hands] == [parse_cards(text) for text in scored.deal]


def test_heads_are_the_hashes_of_the_protocol() -> None:
    """The heads in a file are recomputed with nothing but SHA-256, and the report's head is the last one."""
    data = file_of(played().events)
    lines = data.splitlines()
    head = hashlib.sha256(b"hearts/v1/genesis\0" + (6).to_bytes(4, "big") + b"g-test").digest()
    digits = ""
    for line in lines[1:-2]:
        block = (32).to_bytes(4, "big") + head + len(line).to_bytes(4, "big") + line
        head = hashlib.sha256(b"hearts/v1/event\0" + block).digest()
        digits += head.hex()[:16]
    assert json.loads(lines[-2]) == {"heads": digits}
    assert report_of(data).head == head.hex()


def test_one_wrong_head_names_its_event() -> None:
    """Heads that are right but for one fail I there; heads too short or too long fail too."""
    lines = file_of(played().events).splitlines(keepends=True)
    heads = json.loads(lines[-2])["heads"]
    at = 16 * 40
    other = "0" if heads[at] != "0" else "1"
    for text, number in (
        (heads[:at] + other + heads[at + 1 :], 41),
        (heads[:-16], len(lines) - 3),
        (heads + "00" * 8, len(lines) - 3),
    ):
        line = json.dumps({"heads": text}, separators=(",", ":")).encode() + b"\n"
        found = claim(report_of(b"".join([*lines[:-2], line, lines[-1]])), "I")
        assert (found.status, found.event) == ("fails", number)


def test_a_swap_without_new_heads_names_the_first_event() -> None:
    """Events in another order, or left out, fail I at the first that is not in its place."""
    lines = file_of(played().events).splitlines(keepends=True)
    swapped = [*lines[:30], lines[31], lines[30], *lines[32:]]
    dropped = [*lines[:30], *lines[31:]]
    for cheat in (swapped, dropped):
        report = report_of(b"".join(cheat))
        assert (claim(report, "I").status, claim(report, "I").event) == ("fails", 30)
        assert (claim(report, "R").status, claim(report, "R").event) == ("fails", 30)


def test_an_event_of_another_form_with_heads_that_fit_fails_the_rules() -> None:
    """Numbers out of order, an unknown kind, a broken line: I holds by the server's own word, R names the event."""
    public = [entry[1] for entry in stored(played().events)]
    for line, words in (
        (public[9].replace(b'{"n":10,', b'{"n":11,'), "numbered"),
        (b'{"n":10,"t":"cards_eaten","at":0}', "cards_eaten"),
        (b'{"n":10,"t":"seat_left","at":0,"seat":1,"v":0}', "version"),
        (b'{"n":10,"t":[7],"at":0}', "called"),
        (b'{"n":10,"t":"seat_left"', "read"),
        (b'{"n":10,"t":"seat_left","at":0,"seat":1,"x":' + b"[" * 9000 + b"]" * 9000 + b"}", "deep"),
        (public[9] + b" ", "numbered"),
    ):
        lines = [*public[:9], line, *public[10:]]
        data = b"".join(proof_lines([(at, one, b"") for at, one in enumerate(lines, 1)], KEY))
        report = report_of(data)
        assert not report.ok
        assert (claim(report, "R").status, claim(report, "R").event) == ("fails", 10)
        assert words in claim(report, "R").detail
        assert claim(report, "F").status == "not shown"


ABSURD: list[e.Event] = [
    e.CardPlayed(seat=-1, card="2C", by="player"),
    e.CardPlayed(seat=99, card="2C", by="player"),
    e.CardPlayed(seat=0, card="XX", by="player"),
    e.SeatTaken(seat=99, kind="bot", player=None, bot=None, entropy_commit=None, public_key=None),
    e.SeatToBot(seat=99),
    e.TrickEnded(seat=99),
    e.HandScored(hand=1, secret=None, deal=(), kitty="", passes=None, points=(), totals=()),
    e.HandScored(hand=1, secret="zz", deal=("XX",), kitty="", passes=(), points=(), totals=()),
    e.HandDealt(hand=1, hands=(), kitty="zz"),
    e.GameEnded(winners=(), totals=(), reason="target", secret="zz"),
    e.GameEnded(winners=(0,), totals=(0, 0, 0, 0), reason="target", secret=None),
    e.HandDealt(hand=2, hands=("77" * 32,) * 4, kitty=None),
]


@pytest.mark.parametrize("event", ABSURD, ids=[f"{type(one).__name__}-{at}" for at, one in enumerate(ABSURD)])
def test_absurd_events_fail_claims_and_never_the_program(event: e.Event) -> None:
    """An event of impossible seats, cards or secrets anywhere in a file ends in a failed claim."""
    events = played().events
    for at in (1, 5, 9, 10, 12, 16, 30, len(events) - 1):
        report = report_of(file_of([*events[:at], event, *events[at:]]))
        assert not report.ok


def test_the_header_must_name_the_game_and_key_of_the_first_event() -> None:
    """A header of another game or key fails R at event 1, and the chain of another game does not fit."""
    lines = file_of(played().events).splitlines(keepends=True)
    header = json.loads(lines[0])
    for other in (header | {"game": "g-other"}, header | {"server_key": OTHER_KEY.public}):
        text = json.dumps(other, separators=(",", ":")).encode() + b"\n"
        report = report_of(b"".join([text, *lines[1:]]))
        assert (claim(report, "R").status, claim(report, "R").event) == ("fails", 1)
        assert claim(report, "I").status == "fails"


def test_rules_that_cannot_be_played_fail_at_event_one() -> None:
    """A game by an impossible rule set is refused before anything is dealt by it."""
    events = list(played().events)
    changed(events, 0, rules=msgspec.structs.replace(events[0].rules, hand=34))
    report = report_of(file_of(events))
    assert (claim(report, "R").status, claim(report, "R").event) == ("fails", 1)
    assert "cannot be played" in claim(report, "R").detail


def test_a_proof_begins_with_the_first_event() -> None:
    """A log without its beginning has no proof file."""
    with pytest.raises(CorruptLog, match="game_created"):
        list(proof_lines(played().entries()[1:]))


def test_deals_without_the_players_entropy_fail_though_they_follow_from_the_secrets(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that deals from its secrets alone, and leaves the lock out, is found before the first play."""
    monkeypatch.setattr("domain.seating.entropy_root", lambda *_: b"")
    game = play_game(
        ruleset_of({"variant": "basic", "hand_limit": 1}), 7, kinds="pppp", server_key=KEY.public
    )
    events = list(game.events)
    at = at_of(events, e.GameLocked)
    del events[at]
    found = claim(report_of(file_of(events)), "F")
    assert (found.status, found.event) == ("fails", at + 1)


def test_a_hand_may_not_be_left_unscored() -> None:
    """Leaving out the score of a bad hand, with later totals that ignore it, fails where the next one is dealt."""
    events = list(played().events)
    at = at_of(events, e.HandScored)
    del events[at]
    later = at_of(events, e.HandScored)
    changed(events, later, totals=events[later].points)
    changed(events, 0, anchor=None)
    found = claim(report_of(file_of(events)), "R")
    assert (found.status, found.event) == ("fails", at + 1)


def test_an_imported_game_shows_no_fairness() -> None:
    """Without an anchor there is nothing that the deals were fixed by."""
    events = list(played().events)
    changed(events, 0, anchor=None)
    found = claim(report_of(file_of(events)), "F")
    assert (found.status, found.detail) == ("not shown", "imported")


# --- reading


def test_a_file_is_read_as_it_was_written() -> None:
    """The stored bytes, the heads and the receipt come back to the letter."""
    data = file_of(played().events)
    proof = read_proof(data)
    assert list(proof.lines) == [CODEC.encode(event, at)[0] for at, event in enumerate(played().events, 1)]
    assert proof.receipt is not None
    assert proof.receipt.seq == len(proof.lines)
    assert (proof.game, proof.server_key) == ("g-test", KEY.public)
    assert read_proof(data.removesuffix(b"\n")) == proof


_HEADER = b'{"format":"hearts-audit/1","game":"g","server_key":"c0"}\n'
_EVENT = b'{"n":1,"t":"seat_left","at":0,"seat":1}\n'
_HEADS = b'{"heads":"0123456789abcdef"}\n'
_RECEIPT = b'{"receipt":{"game":"g","seq":1,"head":"c0","signature":"c0"}}\n'


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"", 1, "empty"),
        (b"\n", 1, ""),
        (b"garbage\n", 1, ""),
        (b"\xff\xfe\n", 1, ""),
        (_HEADER.replace(b"/1", b"/2"), 1, "hearts-audit/2"),
        (_HEADER.replace(b'"c0"', b'"C0"') + _EVENT, 1, "lower-case hex"),
        (_HEADER.replace(b'"c0"', b'"c"') + _EVENT, 1, "lower-case hex"),
        (_HEADER.replace(b'"c0"', b"7") + _EVENT, 1, "server_key"),
        (_HEADER.replace(b"}", b',"mood":1}') + _EVENT, 1, "mood"),
        (b" " + _HEADER + _EVENT, 1, "white space"),
        (_HEADER, 2, "no events"),
        (_HEADER + _HEADS, 2, "no events"),
        (_HEADER + _EVENT, 3, "heads is missing"),
        (_HEADER + _EVENT + b"\n" + _HEADS, 3, ""),
        (_HEADER + _EVENT + _RECEIPT, 3, "receipt"),
        (_HEADER + _EVENT + _HEADS.replace(b"abc", b"ABC"), 3, "lower-case hex"),
        (_HEADER + _EVENT + b'{"heads":7}\n', 3, "heads"),
        (_HEADER + _EVENT + _HEADS + b"\n" + _RECEIPT, 4, ""),
        (_HEADER + _EVENT + _HEADS + _HEADS, 4, "heads"),
        (_HEADER + _EVENT + _HEADS + _RECEIPT.replace(b"seq", b"number"), 4, "number"),
        (_HEADER + _EVENT + _HEADS + _RECEIPT.replace(b'"head":"c0"', b'"head":"X"'), 4, "head"),
        (_HEADER + _EVENT + _HEADS + _RECEIPT.replace(b'ture":"c0"', b'ture":""'), 4, "signature"),
        (_HEADER + _EVENT + _HEADS + _RECEIPT + _EVENT, 5, "nothing may follow"),
        (_HEADER + _EVENT + _HEADS + _RECEIPT + b"\n", 5, "nothing may follow"),
        (_HEADER.replace(b"\n", b"\r\n") + _EVENT + _HEADS, 1, "white space"),
    ],
)
def test_what_is_not_exactly_a_proof_file_is_refused_with_its_line(
    data: bytes, line: int, words: str
) -> None:
    """Reading is strict, and says in which line the file is something else."""
    with pytest.raises(Malformed, match=rf"^line {line}: .*{words}"):
        read_proof(data)


def test_a_claim_is_one_line_for_people() -> None:
    """A claim that fails says where, one that cannot be placed does not."""
    assert Claim("R", "rules", "fails", "why", 7).line == "R (rules) FAILS at event 7: why"
    assert Claim("R", "rules", "fails", "why").line == "R (rules) FAILS: why"
    assert Claim("R", "rules", "holds", "so").line == "R (rules) holds: so"
    assert Claim("F", "deals", "not shown", "no").line == "F (deals) not shown: no"
