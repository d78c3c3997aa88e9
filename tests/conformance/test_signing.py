"""The published vectors of signed moves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from domain.refusals import Malformed
from domain.signing import move_message
from services.signing import MoveKey, check_public_key, is_signed

FILE = Path(__file__).with_name("signing.ndjson")
CASES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
MOVES = [case for case in CASES if "signature" in case]
KEYS = [case for case in CASES if "acceptable" in case]


def test_no_line_is_of_neither_kind() -> None:
    """Every line is judged by one of the tests below, and both kinds are there, right and wrong."""
    assert len(CASES) == len(MOVES) + len(KEYS)
    assert {True, False} == {case["valid"] for case in MOVES} == {case["acceptable"] for case in KEYS}


@pytest.mark.parametrize("case", MOVES, ids=lambda case: str(case["name"]))
def test_a_signed_move_is_judged_as_it_should_be(case: dict[str, Any]) -> None:
    """Message and verdict are those of the line; where it has the secret, we make the same signature."""
    head = bytes.fromhex(case["head"])
    message = move_message(case["game"], case["seq"], head, case["action"])
    assert case["message"] == message.hex()
    assert case["valid"] is is_signed(case["public_key"], case["signature"], message)
    if "secret" in case:
        key = MoveKey(bytes.fromhex(case["secret"]))
        assert case["public_key"] == key.public
        assert (case["seq"], case["signature"]) == key.sign(case["game"], case["seq"], head, case["action"])


@pytest.mark.parametrize("case", KEYS, ids=lambda case: str(case["name"]))
def test_a_key_is_registered_or_not(case: dict[str, Any]) -> None:
    """Keys that nobody can sign for, or anybody, are refused."""
    if case["acceptable"]:
        check_public_key(case["public_key"])
    else:
        with pytest.raises(Malformed, match="Ed25519"):
            check_public_key(case["public_key"])
