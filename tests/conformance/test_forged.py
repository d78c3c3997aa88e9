"""The published honest and forged proof files, judged by the house; `tests/api/test_browser_vectors.py` has the page judge them."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from domain.events import EVENTS
from domain.refusals import Malformed
from services.codec import CODEC
from services.proof import read_proof
from services.verdicts import verify_proof

CASES: list[dict[str, Any]] = [
    json.loads(line)
    for line in lzma.decompress((Path(__file__).parent / "forged.ndjson.xz").read_bytes()).splitlines()
]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_every_claim_of_a_file_is_judged_as_published(case: dict[str, Any]) -> None:
    """Each claim's status, and the event that is named where it fails; the line of what is no proof file."""
    if "line" in case["expected"]:
        with pytest.raises(Malformed, match=rf"^line {case['expected']['line']}: "):
            read_proof(case["file"].encode())
        return
    report = verify_proof(read_proof(case["file"].encode()), rerun_bots=case["rerun_bots"])
    assert case["expected"] == {one.name: [one.status, one.event] for one in report.claims}


def test_the_files_show_every_kind_of_event_and_fault() -> None:
    """Each event is in some file, each claim holds in one and fails in another, and most files are forged."""
    made = [case for case in CASES if not case["name"].startswith(("ambiguous", "no proof file"))]
    seen = {
        type(CODEC.decode(line)) for case in made for line in read_proof(case["file"].encode()).lines[:200]
    }
    assert set(EVENTS) == seen
    for name in "FIRB":
        found = {case["expected"][name][0] for case in made}
        assert {"holds", "fails"} <= found
    assert 90 < sum(any(status == "fails" for status, _ in case["expected"].values()) for case in made)
