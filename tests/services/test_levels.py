"""How far claims are shown: the level of each, and what the next takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from domain import events as e
from services.cli_records import verify
from services.integrity import Kept, WrongEvidence
from services.proof import Claim, read_proof
from services.verdicts import verify_proof
from tests.support.practice import practice
from tests.support.proofs import KEY, OTHER_KEY, at_of, changed, claim, file_of, played, report_of
from tests.support.signing import move_key, signed_game

EVENTS = len(played().events)


def kept(seq: int) -> Kept:
    """What a player has who was answered with event ``seq``."""
    receipt = read_proof(file_of(played().events[:seq])).receipt
    assert receipt is not None
    return Kept((receipt,))


def level_of(found: Claim) -> tuple[int | None, int | None]:
    """The level, and the highest."""
    return found.level, found.top


def integrity(data: bytes, key: str | None = None, kept: Kept = Kept()) -> Claim:  # noqa: B008 (a value)
    """Claim I of a file."""
    return claim(verify_proof(read_proof(data), key, kept), "I")


# --- I


@pytest.mark.parametrize(
    ("key", "seq", "level", "steps"),
    [
        (None, 0, 1, ["add a receipt or checkpoint that you kept", "add the server's key from elsewhere"]),
        (KEY.public, 0, 2, ["add a receipt or checkpoint that you kept"]),
        (None, EVENTS, 2, ["add the server's key from elsewhere"]),
        (None, 40, 2, ["add the server's key from elsewhere", "add a receipt of a later event than 40"]),
        (KEY.public, 40, 3, ["add a receipt of a later event than 40"]),
        (KEY.public, EVENTS, 3, []),
    ],
)
def test_what_a_reader_has_raises_the_level_of_i(
    key: str | None, seq: int, level: int, steps: list[str]
) -> None:
    """Given a key from elsewhere, a receipt that was kept, both or neither, then the level says so, and what is left to add."""
    found = integrity(file_of(played().events), key, kept(seq) if seq else Kept())
    assert ("holds", (level, 3)) == (found.status, level_of(found))
    told = found.next.removeprefix("to show more, ").split("; and ") if found.next else []
    assert [True] * len(steps) == [one.startswith(step) for one, step in zip(told, steps, strict=True)]


def test_without_anything_signed_i_is_at_level_0() -> None:
    """Given no receipt at all, then the events fit together and no more."""
    found = integrity(file_of(played().events, None))
    assert ("not shown", (0, 3)) == (found.status, level_of(found))
    assert "nothing signed" in found.reached


def test_a_game_that_was_signed_anew_is_not_told_as_one_that_holds() -> None:
    """Given a forger who puts his own key in the place of the server's, then I says that this server alone says so."""
    events = list(played().events)
    changed(events, 0, server_key=OTHER_KEY.public)
    forged = file_of(events, OTHER_KEY)
    found = integrity(forged)
    assert (1, 3) == level_of(found)
    assert found.line.startswith("I (nothing altered) holds only by the word of this file's own server: ")
    assert "key not pinned" in found.line
    assert "only this file's own server says so" == found.reached
    assert "fails" == integrity(forged, KEY.public).status
    with pytest.raises(WrongEvidence, match="it was changed, or is another server's"):
        integrity(forged, None, kept(40))
    assert "fails" == integrity(forged, KEY.public, kept(40)).status


# --- F


@pytest.mark.parametrize(
    ("kinds", "moves", "level", "words"),
    [
        ("pppb", None, 2, "every person had a part in them"),
        ("ppnb", None, 1, "seat 2 had no part in them"),
        ("pnnb", None, 1, "seats 1, 2 had no part in them"),
        ("nnnb", None, 0, "the server alone decided the deals"),
        ("pppp", 5, 0, "nothing shows yet"),
    ],
)
def test_f_says_what_it_means_for_the_others(kinds: str, moves: int | None, level: int, words: str) -> None:
    """Given seats that contributed, then the level tells whether all did, and what that means for who did not."""
    found = claim(report_of(file_of(played(kinds, moves=moves).events)), "F")
    assert (level, 2) == level_of(found)
    assert words in found.reached
    assert (level == 2) is (found.next == "")


# --- R


@pytest.mark.parametrize(("pins", "level"), [((), 2), ((0,), 2), ((0, 1), 3)])
def test_r_counts_keys_that_are_pinned(pins: tuple[int, ...], level: int) -> None:
    """Given seats that sign, then R asks for the keys of those that the reader does not have."""
    keys = {seat: move_key(seat).public for seat in pins}
    found = claim(verify_proof(read_proof(file_of(signed_game().events)), seat_keys=keys), "R")
    assert (level, 3) == level_of(found)
    assert (f"add the keys of seat{'s 0, 1' if not pins else ' 1'}" in found.next) is (level == 2)


def test_r_says_that_nobody_signs() -> None:
    """Given a game without keys, then the moves are their players' own by the server's word; before a score nothing is shown."""
    found = claim(report_of(file_of(played().events)), "R")
    assert (1, 3) == level_of(found)
    assert "nobody signs them" in found.reached
    assert (0, 3) == level_of(claim(report_of(file_of(played(moves=9).events)), "R"))


# --- B, and claims without a level


def test_b_asks_for_its_option() -> None:
    """Given a bot's moves, then the claim is at level 0 until its decisions are made again."""
    found = claim(report_of(file_of(played().events)), "B")
    assert (0, 1) == level_of(found)
    assert found.next == "to show more, let the bots decide again (--rerun-bots)"


def test_what_cannot_be_shown_or_fails_has_no_level() -> None:
    """A practice table, a game without bots, a fault: there is nothing to climb."""
    table = list(practice(list(played().events), 60)[0])
    report = report_of(file_of(table), rerun_bots=True)
    assert [(None, None)] * 3 == [level_of(claim(report, name)) for name in "FIB"]
    assert (None, None) == level_of(claim(report_of(file_of(played("pppp").events)), "B"))
    events: list[Any] = list(played().events)
    changed(events, at_of(events, e.HandScored), secret="77" * 32, points=(0, 0, 0, 0))
    report = report_of(file_of(events, OTHER_KEY))
    for name in "FIR":
        failed = claim(report, name)
        assert ("fails", (None, None), "") == (failed.status, level_of(failed), failed.next)


# --- the command


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A proof file."""
    path = tmp_path / "game.ndjson"
    path.write_bytes(file_of(played().events))
    return path


def test_json_of_a_proof_file_has_levels(file: Path) -> None:
    """Each claim has its level, the highest that there is, and what the next takes."""
    done = CliRunner().invoke(verify, ["--json", str(file)])
    told = {one["name"]: one for one in json.loads(done.stdout)["claims"]}
    assert {"F": (1, 2), "I": (1, 3), "R": (1, 3), "B": (0, 1)} == {
        name: (one["level"], one["top"]) for name, one in told.items()
    }
    assert "only this file's own server says so" == told["I"]["reached"]
    assert all(one["next"].startswith("to show more, ") for one in told.values())


def test_a_receipt_of_another_game_is_a_mix_up(file: Path, tmp_path: Path) -> None:
    """Given a receipt that the reader has from another game, then that is said, with exit status 2, and nothing fails."""
    (tmp_path / "receipt").write_bytes(file.read_bytes().splitlines()[-1].replace(b'"g-test"', b'"g-best"'))
    done = CliRunner().invoke(verify, [str(file), "--receipt", str(tmp_path / "receipt")])
    assert 2 == done.exit_code
    assert "your receipt is of game g-best, and the file of game g-test" in done.stderr
    assert "FAILS" not in done.output
