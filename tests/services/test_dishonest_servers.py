"""Servers, and players who conspire with them, that cheat whole games: each attack ends as `docs/spec/audit.md` says.

Here an attack is carried out from end to end, with a chain, heads and a signature made to fit, and held against what an
honest player has. What is tried piece by piece stands elsewhere: every way to bend openings, commitments, deals and plays
in `test_proof_forged.py`; every way to bend a signature, an old one used again among them, in `test_signatures.py`;
every bot that decides otherwise in `test_rerun.py`; receipts and checkpoints one by one in `test_proof_log.py`; what tells nobody the cards of a pass before the hand is over
in `tests/api/test_signed_moves.py` and `tests/domain/test_hidden.py`.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from itertools import count
from random import Random
from typing import Any

import msgspec
import pytest

from domain import commands as c
from domain import events as e
from domain.bots import BOTS, house_action
from domain.cards import AS, parse_cards
from domain.game import is_over
from domain.refusals import Refused
from domain.shuffle import bot_seed, commit_entropy, deal_cards
from domain.variants import ruleset_of
from domain.view import private_part
from services.audit import Receipt
from services.checkpoints import PublicLog
from services.integrity import Kept, KeptCheckpoint
from services.leaves import find_leaves
from services.logcheck import leaf_problems
from services.notes import read_checkpoint
from services.proof import Claim, proof_lines, read_proof
from services.verdicts import verify_proof
from tests.support.games import Game, clock, random_move, stored
from tests.support.games import hand_of as hand_in
from tests.support.log_server import log_of as log_with
from tests.support.log_server import watched
from tests.support.proofs import KEY, Events, at_of, changed, claim
from tests.support.signing import heads_of, signed_game

OPENINGS = [bytes([seat + 1]) * 32 for seat in range(3)]
"""What the players of seats 0 to 2 contribute; a house bot sits at seat 3."""
READY_MS = 60_000


def seated(secret: bytes = bytes(32), openings: Sequence[bytes | None] = OPENINGS) -> Game:
    """A table of one hand that is full, its players committed to their openings."""
    rules = ruleset_of({"variant": "basic", "hand_limit": 1})
    game, ticks = Game(rules), clock()
    commits = [None if one is None else commit_entropy(one).hex() for one in openings]
    game.do(
        c.OpenTable(
            at=next(ticks),
            game="g-test",
            rules=rules,
            secret=secret,
            seats=(*[c.SeatPlan(kind="open")] * 3, c.SeatPlan(kind="bot", bot=BOTS["random"].id)),
            server_key=KEY.public,
            stand_in=BOTS["rules"].id,
        )
    )
    for seat, commit in enumerate(commits):
        game.do(c.SitDown(at=next(ticks), player=f"p{seat}", seat=seat, entropy_commit=commit))
    return game


def locked(game: Game, ready: Sequence[int] = (0, 1, 2), openings: Sequence[bytes | None] = OPENINGS) -> Game:
    """The table dealt: by the last of those who open, or after the time for it, without the others' openings."""
    ticks = clock(game.events[-1].at)
    for seat in ready:
        opening = openings[seat]
        entropy = "" if opening is None else opening.hex()
        game.do(c.GetReady(at=next(ticks), player=f"p{seat}", entropy=entropy))
    if len(ready) < 3:
        game.do(c.LockTable(at=next(ticks) + READY_MS))
    return game


def played(game: Game, seed: int = 1, moves: int | None = None) -> Events:
    """The events of the game, played on to its end or for so many moves."""
    rng, ticks = Random(seed), clock(game.events[-1].at)
    while not is_over(game.state) and moves != 0:
        game.do(random_move(game.end, rng, next(ticks)))
        moves = None if moves is None else moves - 1
    return list(game.events)


def told(events: Events, kept: Kept = Kept()) -> dict[str, Claim]:  # noqa: B008 (a value)
    """What the file of these events shows, its heads and its receipt made by the server for just these."""
    report = verify_proof(read_proof(b"".join(proof_lines(stored(events), KEY))), KEY.public, kept)
    return {name: claim(report, name) for name in "FIR"}


def receipt_of(events: Events) -> Kept:
    """What a player has who was answered with the last of these events."""
    line = list(proof_lines(stored(events), KEY))[-1]
    return Kept((Receipt(**json.loads(line)["receipt"]),))


def log_of(*leaves: object, key: Any = KEY) -> PublicLog:
    """A transparency log of the server."""
    return log_with(*leaves, key=key)


def leaves_of(events: Events) -> list[object]:
    """The leaves of a game at its lock and at its end."""
    return list(find_leaves("g-test", stored(events)))


def deal_of(game: Game) -> e.DealtSecret:
    """The first deal, as only the server knows it."""
    deal = next(one for one in game.events if isinstance(one, e.HandDealt)).hidden
    assert isinstance(deal, e.DealtSecret)
    return deal


def hand_of_bot(game: Game) -> list[int]:
    """The first hand of the server's own seat."""
    return parse_cards(deal_of(game).deal[3])


# --- grinding


def ground() -> Game:
    """The game that a server deals which has tried secrets, the openings known, until its seat has a good hand."""
    for number in count(1):
        game = locked(seated(number.to_bytes(32, "big")))
        if AS in hand_of_bot(game) and len([card for card in hand_of_bot(game) if card >= 39]) <= 1:
            return game
    raise AssertionError


def test_a_secret_that_is_ground_does_not_fit_the_anchor() -> None:
    """Given the anchor that was published first, when a better secret is revealed, then F fails where it is."""
    events = played(ground())
    anchor = seated().events[0].anchor
    assert "holds" == told(events)["F"].status
    changed(events, 0, anchor=anchor)
    found = told(events)["F"]
    assert ("fails", at_of(events, e.HandScored) + 1) == (found.status, found.event)
    assert "anchor" in found.detail


def test_an_anchor_that_is_changed_to_fit_is_found_by_a_receipt_from_before() -> None:
    """Given the receipt for sitting down, when the anchor is made to fit the ground secret, then I fails."""
    honest = seated()
    kept = receipt_of(honest.events)
    assert "holds" == told(played(locked(honest)), kept)["I"].status
    found = told(played(ground()), kept)
    assert {"F": "holds", "I": "fails", "R": "holds"} == {name: one.status for name, one in found.items()}
    assert len(seated().events) == found["I"].event


# --- withholding, and seats that conspire


def test_an_opening_that_is_withheld_is_recorded_and_shows_nothing_for_its_seat() -> None:
    """Given a conspiring seat that opens only if it likes the deal, then its choice of two deals is there to be seen."""
    honest, withheld = locked(seated()), locked(seated(), ready=(0, 1))
    assert hand_of_bot(honest) != hand_of_bot(withheld)
    events = played(withheld)
    found = told(events)
    assert ("holds", "for seats 0, 1, which contributed to the deals") == (
        found["F"].status,
        found["F"].detail,
    )
    lock = events[at_of(events, e.GameLocked)]
    assert (2, "player", "") == lock.entropy[2]
    assert events[at_of(events, e.SeatTaken, 3)].entropy_commit is not None


def test_nobody_is_locked_out_before_the_time_is_over() -> None:
    """Given the seat that withholds, when the table is locked before the time that others have, then F fails."""
    events = played(locked(seated(), ready=(0, 1)))
    at = at_of(events, e.GameLocked)
    early = events[at].at - READY_MS
    events[at:] = [msgspec.structs.replace(one, at=max(early, events[at - 1].at)) for one in events[at:]]
    found = told(events)["F"]
    assert ("fails", at + 1) == (found.status, found.event)


def test_an_opening_that_the_server_says_never_came_is_shown_by_its_receipt() -> None:
    """Given the receipt for an opening, when the server deals without it, then I fails at the opening."""
    honest = locked(seated())
    opened = at_of(list(honest.events), e.SeatReady, 2)
    found = told(played(locked(seated(), ready=(0, 1))), receipt_of(list(honest.events[: opened + 1])))
    assert {"F": "holds", "I": "fails", "R": "holds"} == {name: one.status for name, one in found.items()}
    assert opened + 1 == found["I"].event
    assert "2" not in found["F"].detail


def test_a_commitment_that_is_copied_is_refused_and_found() -> None:
    """Given a seat that copies another's commitment to undo it, then no honest server takes it, and F fails where one did."""
    with pytest.raises(Refused):
        seated(openings=[OPENINGS[0], OPENINGS[1], OPENINGS[0]])
    events = played(locked(seated()))
    first, copy = (at_of(events, e.SeatTaken, which) for which in (1, 3))
    changed(events, copy, entropy_commit=events[first].entropy_commit)
    found = told(events)["F"]
    assert ("fails", copy + 1) == (found.status, found.event)


def test_a_seat_that_commits_again_after_an_opening_is_refused_and_found() -> None:
    """Given the first opening, when a seat stands up to commit to something better, then it cannot; where it could F fails."""
    game = seated()
    ticks = clock(game.events[-1].at)
    game.do(c.GetReady(at=next(ticks), player="p0", entropy=OPENINGS[0].hex()))
    with pytest.raises(Refused):
        game.do(c.StandUp(at=next(ticks), player="p2", seat=2))
    events = list(seated().events)
    again = commit_entropy(bytes(32)).hex()
    taken = next(one for one in events if isinstance(one, e.SeatTaken) and one.seat == 2)
    cheat = [
        *game.events,
        e.SeatLeft(at=next(ticks), seat=2),
        msgspec.structs.replace(taken, at=next(ticks), entropy_commit=again),
    ]
    found = told(cheat)["F"]
    assert ("fails", len(game.events) + 1) == (found.status, found.event)


# --- forks


def test_a_log_that_is_forked_is_found_by_either_players_receipt() -> None:
    """Given one deal played in two ways, one for each player, then the receipt of one fails the file of the other."""
    one, other = (played(locked(seated()), seed) for seed in (1, 2))
    assert one != other
    assert one[: at_of(one, e.HandDealt) + 1] == other[: at_of(other, e.HandDealt) + 1]
    for mine, theirs in ((one, other), (other, one)):
        assert all("holds" == found.status for found in told(mine, receipt_of(mine)).values())
        assert "fails" == told(theirs, receipt_of(mine))["I"].status
        assert "fails" == told(theirs, receipt_of(mine[:-20]))["I"].status


def test_both_ends_of_a_fork_in_one_log_prove_it() -> None:
    """Given a server that logs both courses, then whoever reads the log sees two ends of one game."""
    one, other = (played(locked(seated()), seed) for seed in (1, 2))
    log = log_of(*leaves_of(one), leaves_of(other)[1])
    told_by_log = list(leaf_problems("g-test", log.tree.of_game("g-test"), leaves_of(one)))  # type: ignore[arg-type]
    assert any("a second end of game g-test: a fork" in problem for problem in told_by_log)
    outside = watched(log, log_of(*leaves_of(one)).checkpoint())
    assert ["leaf 2 is a second end of game g-test: the game was forked"] == outside.problems


def test_two_logs_differ_at_one_size() -> None:
    """Given a server with a log for each player, then a checkpoint that was kept of one is not that of the other's file."""
    one, other = (played(locked(seated()), seed) for seed in (1, 2))
    mine, theirs = log_of(*leaves_of(one)), log_of(*leaves_of(other))
    kept = Kept((), (KeptCheckpoint(read_checkpoint(mine.checkpoint())),))
    for events, log, status in ((one, mine, "holds"), (other, theirs, "fails")):
        data = b"".join(proof_lines(stored(events), None, None, log.prove))
        found = claim(verify_proof(read_proof(data), KEY.public, kept), "I")
        assert status == found.status
    assert "the log was forked" in found.detail


# --- truncation


def test_a_tail_that_is_cut_off_is_found_by_who_kept_something_of_it() -> None:
    """Given a receipt or the logged end of a game, when its tail is cut off, then I fails; without, it says how far it goes."""
    events = played(locked(seated()))
    short = events[:-30]
    (end,) = leaves_of(events)[1:]
    log = log_of(*leaves_of(events))
    proof = log.prove([end])  # type: ignore[list-item]
    assert proof is not None
    leaf = KeptCheckpoint(read_checkpoint(proof.checkpoint), end, proof.inclusions[0])  # type: ignore[arg-type]
    for kept in (receipt_of(events), receipt_of(events[:-5]), Kept((), (leaf,))):
        assert "holds" == told(events, kept)["I"].status
        found = told(short, kept)["I"]
        assert ("fails", len(short) + 1) == (found.status, found.event)
        assert "it was cut off" in found.detail
    alone = told(short)["I"]
    assert "holds" == alone.status
    assert f"up to event {len(short)} of {len(short)}" in alone.detail


def test_a_game_is_not_called_imported_afterwards() -> None:
    """Given the receipt for sitting down, when the game is said to have come from elsewhere to be spared F, then I fails."""
    honest = played(locked(seated()))
    kept = receipt_of(honest[: at_of(honest, e.SeatReady) + 1])
    cheat = list(honest)
    changed(cheat, 0, anchor=None, imported=True)
    assert ("not shown", "imported") == (told(cheat)["F"].status, told(cheat)["F"].detail)
    assert "not shown" == told(cheat)["I"].status
    found = told(cheat, kept)
    assert {"F": "not shown", "I": "fails", "R": "holds"} == {name: one.status for name, one in found.items()}
    assert kept.receipts[0].seq == found["I"].event


# --- deals and moves


def test_a_deal_that_is_swapped_is_found_whatever_fits_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a server that gives its seat another's hand and plays by that, commitments to fit, then F fails at the reveal."""

    def swapped(*given: Any) -> tuple[list[list[int]], list[int]]:
        (first, *others, last), kitty = deal_cards(*given)
        return [last, *others, first], kitty

    honest = locked(seated())
    monkeypatch.setattr("domain.seating.deal_cards", swapped)
    cheat = locked(seated())
    assert sorted(parse_cards(deal_of(honest).deal[0])) == hand_of_bot(cheat)
    events = played(cheat)
    found = told(events)
    assert ("fails", at_of(events, e.HandScored) + 1) == (found["F"].status, found["F"].event)
    assert "holds" == found["R"].status


def test_a_bots_seed_would_let_others_test_hands_and_is_told_to_nobody() -> None:
    """Given a bot's seed, a conspirator could ask what the bot would do with each hand it may have; so none is told before the reveal.

    A server that decides by another seed than that of the reveal is found by claim B, whatever it told to whom.
    """
    game = locked(seated())
    played(game)
    step = next(one for one in game.steps if isinstance(one.command, c.PassCards) and one.command.who == 3)
    table = step.before
    assert table is not None
    # the attack: by the seed of the deal the bot's choice differs with its hand
    guessed = table.copy()
    hand = hand_in(guessed)
    hand.held[3], hand.held[0] = hand.held[0], hand.held[3]
    assert house_action(table, 3) != house_action(guessed, 3)
    scored = at_of(list(game.events), e.HandScored)
    lines = b"".join(public for _, public, _ in stored(game.events)[:scored])
    secret = bytes.fromhex(hand.secret)
    told_to = [
        private_part(one.after, event, seat)
        for one in game.steps
        for event in one.events
        for seat in range(4)
    ]
    known = lines + json.dumps(told_to).encode()
    for decision in range(15):
        seed = bot_seed(secret, 3, decision)
        assert not any(form in known for form in (seed.hex().encode(), seed, b64encode(seed)))
    assert hand.secret.encode() not in known
    events = list(game.events)
    report = verify_proof(read_proof(b"".join(proof_lines(stored(events), KEY))), KEY.public, rerun_bots=True)
    assert "fails" == claim(report, "B").status, "its moves here are not those of its seed"


def test_an_old_signed_move_counts_once() -> None:
    """Given a card that a seat signed in the first hand, when it is played for it in the second with that signature, R fails."""
    events = list(signed_game().events)
    dealt = at_of(events, e.HandDealt, 1)
    old = {
        (one.seat, one.card): one
        for one in events[:dealt]
        if isinstance(one, e.CardPlayed) and one.by == "player" and one.signature is not msgspec.UNSET
    }
    at, again = next(
        (at, old[one.seat, one.card])
        for at, one in enumerate(events)
        if at > dealt and isinstance(one, e.CardPlayed) and (one.seat, one.card) in old
    )
    changed(events, at, signed_seq=again.signed_seq, signature=again.signature)
    assert again.signed_seq < len(heads_of(events))
    found = told(events)["R"]
    assert ("fails", at + 1) == (found.status, found.event)
    assert "which is not from" in found.detail
