"""Finished games sealed in one block, and their hidden parts put back from the reveal."""

from __future__ import annotations

import zlib

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from domain import events as e
from domain.game import fold
from domain.refusals import CorruptLog
from domain.ruleset import RuleSet
from domain.variants import ruleset_of
from services import sealed
from services.proof import read_proof
from services.revealed import restore_hidden
from services.sealed import seal, unseal
from services.verdicts import verify_proof
from tests.support.games import Game, picture, play_game, rule_sets, steady


def short_game() -> Game:
    """A game of one hand."""
    return play_game(ruleset_of({"variant": "standard", "hand_limit": 1}), 5, kinds="ppbb")


@steady(60)
@given(rule_sets(), st.integers(0, 2**32))
def test_a_sealed_game_folds_to_the_same_end(rules: RuleSet, seed: int) -> None:
    """Every event comes back with its hidden cards, but for the last secret of the chain, which stays secret."""
    game = play_game(rules, seed)
    events = unseal(seal(game.entries()))
    first = game.events[0]
    assert isinstance(first, e.GameCreated)
    assert events == [msgspec.structs.replace(first, hidden=UNSET), *game.events[1:]]
    end = picture(fold(None, events)) | {"chain_secret": game.end.chain_secret}
    assert end == picture(game.end)


def test_a_sealed_game_is_its_proof_file() -> None:
    """Unpacked, the block is a proof file that holds, without a receipt."""
    data = zlib.decompress(seal(short_game().entries()))
    report = verify_proof(read_proof(data))
    assert report.ok
    assert {claim.name: claim.status for claim in report.claims}["R"] == "holds"
    assert len(seal(short_game().entries())) < len(data) * 2 // 3


def test_an_unfinished_hand_stays_hidden() -> None:
    """Of a hand that was never scored nothing is put back, and what was scored before is."""
    game = play_game(ruleset_of({"variant": "basic"}), 5, moves=75)
    events = unseal(seal(game.entries()))
    deals = [event for event in events if isinstance(event, e.HandDealt)]
    assert len(deals) == 2
    assert isinstance(deals[0].hidden, e.DealtSecret)
    assert deals[1].hidden is UNSET
    last = events.index(deals[1])
    assert all(one.hidden is UNSET for one in events[last:] if isinstance(one, e.CardsPassed))
    assert all(one.hidden is not UNSET for one in events[:last] if isinstance(one, e.CardsPassed))


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
        zlib.compress(b""),
        zlib.compress(b"no lines at all"),
        zlib.compress(b"{}\n{}\n{}\n"),
        zlib.compress(b"{}\n\xff\n{}\n"),
    ):
        with pytest.raises(CorruptLog, match="a sealed game"):
            unseal(damaged)


def test_a_changed_byte_is_refused() -> None:
    """The block carries a checksum: a flipped bit anywhere is found."""
    block = seal(short_game().entries())
    for at in range(0, len(block), 97):
        with pytest.raises(CorruptLog):
            unseal(block[:at] + bytes([block[at] ^ 1]) + block[at + 1 :])


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
