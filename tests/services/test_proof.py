"""Proof files: what the claims say of honest games, the heads and the receipt, and how strictly a file is read."""

from __future__ import annotations

import hashlib
import json

import msgspec
import pytest

from domain import commands as c
from domain import events as e
from domain.cards import parse_cards
from domain.refusals import CorruptLog, Malformed
from domain.ruleset import Terms
from domain.shuffle import (
    commit_entropy,
    deal_cards,
    deal_seed,
    genesis_head,
    hash_parts,
    next_head,
)
from domain.variants import ruleset_of
from services.codec import CODEC
from services.proof import Claim, proof_lines, read_proof
from tests.support.games import Game, play_game
from tests.support.proofs import (
    KEY,
    OTHER_KEY,
    at_of,
    claim,
    file_of,
    first_opening,
    played,
    report_of,
    statuses,
)

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
    now = game.events[-1].at
    game.do(c.StandUp(player="p2", seat=2, at=now))
    game.do(c.TakeBack(player="p2", seat=2, at=now))
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
        (b"\n", 1, "the header should stand there"),
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
        (_HEADER + _EVENT + _RECEIPT, 3, "heads is missing"),
        (_HEADER + _EVENT + _HEADS.replace(b"abc", b"ABC"), 3, "lower-case hex"),
        (_HEADER + _EVENT + b'{"heads":7}\n', 3, "heads"),
        (_HEADER + _EVENT + _HEADS + b"\n" + _RECEIPT, 4, ""),
        (_HEADER + _EVENT + _HEADS + _HEADS, 4, "heads"),
        (_HEADER + _EVENT + _HEADS + _RECEIPT.replace(b"seq", b"number"), 4, "receipt is missing or not"),
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


def test_nothing_is_signed_that_was_not_played() -> None:
    """Given stored events that do not lead to the head that was answered before, then there is no receipt of them."""
    entries = played().entries()
    head = genesis_head("g-test")
    for _, public, _ in entries:
        head = next_head(head, public)
    assert b'"receipt"' in b"".join(proof_lines(entries, KEY, head))
    changed = [*entries[:-1], (entries[-1][0], entries[-1][1].replace(b'"t"', b' "t"'), b"")]
    with pytest.raises(CorruptLog):
        list(proof_lines(changed, KEY, head))
