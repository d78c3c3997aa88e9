"""Finished games sealed in one block, and their hidden parts put back from the reveal."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import events as e
from domain.game import fold
from domain.refusals import CorruptLog
from domain.ruleset import RuleSet
from domain.variants import ruleset_of
from services import sealed
from services.codec import CODEC
from services.proof import proof_lines, read_proof
from services.revealed import restore_hidden
from services.sealed import proof_text, seal, unpack, unseal
from services.verdicts import verify_proof
from tests.support.games import Game, picture, play_game, rule_sets, steady


def short_game() -> Game:
    """A game of one hand."""
    return play_game(ruleset_of({"variant": "standard", "hand_limit": 1}), 5, kinds="ppbb")


@steady(60)
@given(rule_sets(), st.integers(0, 2**32))
def test_a_sealed_game_folds_to_the_same_end(rules: RuleSet, seed: int) -> None:
    """Every event comes back with its hidden part, and every entry as it was stored."""
    game = play_game(rules, seed)
    block = seal(game.entries())
    events = unseal(block)
    assert events == game.events
    assert picture(fold(None, events)) == picture(game.end)
    assert unpack(block) == game.entries()


def test_the_proof_file_in_a_block_reveals_no_more_than_another() -> None:
    """The secret of the chain stands behind it, and not in it."""
    game = short_game()
    data = proof_text(seal(game.entries()))
    assert data == b"".join(proof_lines(game.entries()))
    assert game.end.chain_secret.encode() not in data
    hidden = game.entries()[0][2]
    assert hidden
    assert hidden not in data


def test_a_sealed_game_is_its_proof_file() -> None:
    """Unpacked, the block is a proof file that holds, without a receipt."""
    data = proof_text(seal(short_game().entries()))
    report = verify_proof(read_proof(data))
    assert report.ok
    assert {claim.name: claim.status for claim in report.claims}["R"] == "holds"
    assert len(seal(short_game().entries())) < len(data) * 2 // 3


def test_an_unfinished_hand_is_kept_behind_the_proof() -> None:
    """What no score has revealed yet comes back from there."""
    game = play_game(ruleset_of({"variant": "basic"}), 5, moves=75)
    block = seal(game.entries())
    assert unpack(block) == game.entries()
    public = restore_hidden(CODEC.decode_lines(b"\n".join(line for _, line, _ in game.entries())))
    deals = [event for event in public if isinstance(event, e.HandDealt)]
    assert [isinstance(deal.hidden, e.DealtSecret) for deal in deals] == [True, False]
    assert unseal(block) == game.events


def test_nothing_is_put_back_where_no_reveal_came() -> None:
    """Events without a score come back as they were."""
    public = [e.HandDealt(hand=1, hands=("aa",), kitty=None), e.CardsPassed(seat=0, cards="bb", by="bot")]
    assert restore_hidden(list(public)) == public


def test_a_block_that_is_damaged_is_refused() -> None:
    """Garbage, a cut block and a block of something else are a corrupt log."""
    block = seal(short_game().entries())
    for damaged in (
        b"",
        b"garbage",
        block[: len(block) // 2],
        block[:-1],
        gzip.compress(b""),
        gzip.compress(b"no lines at all"),
        gzip.compress(b"{}\n{}\n{}\n"),
        gzip.compress(b"{}\n\xff\n{}\n"),
        block + b"more",
        block + gzip.compress(b"{}"),
    ):
        for read in (unseal, unpack):
            with pytest.raises(CorruptLog, match="a sealed game"):
                read(damaged)


def test_a_changed_byte_is_refused() -> None:
    """A flipped bit anywhere is found, unless it says nothing of the game, as in the headers."""
    entries = short_game().entries()
    block = seal(entries)
    found = 0
    for at in range(len(block)):
        try:
            assert unpack(block[:at] + bytes([block[at] ^ 1]) + block[at + 1 :]) == entries
        except CorruptLog:
            found += 1
    assert len(block) - 20 < found < len(block)


def test_a_block_does_not_unpack_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small block of a huge text is refused and never unpacked whole."""
    block = seal(short_game().entries())
    monkeypatch.setattr(sealed, "LARGEST", 1000)
    with pytest.raises(CorruptLog, match="too large"):
        unseal(block)


def test_a_log_without_its_beginning_is_not_sealed() -> None:
    """Only a whole game is sealed."""
    with pytest.raises(CorruptLog):
        seal(short_game().entries()[1:])
