"""The signatures of a hand are checked together, by as many threads as there are cores: the first wrong one is told."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from domain.signing import signed_move
from tests.services.test_signatures import own_play, rules_of
from tests.support.proofs import changed
from tests.support.signing import signed_game


@pytest.mark.parametrize("cores", [None, 1, 2, 7])
def test_any_number_of_cores_finds_the_first_wrong_signature(
    monkeypatch: pytest.MonkeyPatch, cores: int | None
) -> None:
    """Given signatures of a hand that are checked together, then the first wrong one is told, and how many are right."""
    monkeypatch.setattr("services.signatures._SHARE", 1)
    monkeypatch.setattr("services.signatures.os.cpu_count", lambda: cores)
    events = list(signed_game().events)
    signed = sum(signed_move(event) is not None for event in events)
    assert f"; {signed} moves signed by seats" in rules_of(events).detail
    third, fifth = own_play(events, which=2), own_play(events, which=4)
    changed(events, fifth, signature="00" * 64)
    assert rules_of(events).event == fifth + 1
    changed(events, third, signature="00" * 64)
    assert rules_of(events).event == third + 1
    unsigned = own_play(events, which=3)
    changed(events, unsigned, signed_seq=UNSET, signature=UNSET)
    assert rules_of(events).event == third + 1, "what is not signed at all comes after it"
