"""Recorded games of every family: what was stored once is read, folded and written the same for ever."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from domain import events as e
from domain.game import fold
from domain.record import parse_record, record_of, replay
from domain.shuffle import genesis_head, next_head
from services.codec import CODEC, UPCASTERS
from services.proof import proof_lines, read_proof
from services.sealed import seal, unseal
from services.store import Entry
from services.verdicts import verify_proof

FOLDER = Path(__file__).parent
HEADS = {
    "basic-4": "0b05670f38d83500108f0a4c3170523605c474a269d53d646415babca56f90a5",
    "classic-4": "56d8996fb390df00e0fbd5647672b6261e9e96c7779bfa036a9196b509f312f4",
    "special-4": "69191f205e51ae1d74ab6ae047d94927e64d8477b61109acf953b58888a4a297",
    "standard-3": "51a04d9e4df893946c30e6fa04e754297678170a5274130369c078dabd344bed",
    "standard-5": "16050d39b99af805160815f44ce06a4e944660f4564c5adf129dd7f29ed786f9",
    "standard-7": "6a2e5a07e49299740f4069afbb7683d717245d1570024f09854de8a003256001",
    "cancellation-6": "c56bc03100319dd10a6d8753401cd8e9ba7a41ab5a37a907b555537afb0af010",
    "cancellation-11": "0793ab361b6c08445b8c38de764a706481534210651ddbc77e2b59af22987c58",
    "omnibus-4": "27231af01aa63c2685dbdc54461bf76e9f924336323ace9b6ee02396097c4fb7",
    "bicycle_omnibus-4": "7c11f3ccfa590fe18179d351bdfcae882024fd4169160d1508c4b775c7fc9f85",
    "bicycle_cancellation-7": "615b0e41fae0b92f01a9e8a429b86a8b4c3f6a60ca091ee129600d03465bca87",
    "black_maria-3": "cf1808edd1d2943b281c60ce797cc2b232d40193c541dc9bca8c3f7d24329e49",
    "greek-4": "1e3bd0025986d20ee95899d654eb55e72f0d813417926333bf8e77ffdb2ecc96",
    "partnership-4": "b75a18489bbaa84eed28f20802b09ba9f6b25ae3dd5ed62d1a4c2271c803a8c8",
    "sun-4": "d80ba328fc4d5deaf567d89fbfddeb0a66b744a28def82a50fe5cd3f5c846a9e",
}
"""The last head of each recording, also kept here so that no recording is replaced unnoticed."""
OTHERS = {
    "g-test": "baa4a65779107a29e012db14bffbd03878d06714c476e7152bc9826420f492df",
    "duplicate-4": "64a8f21ac1fb4a5a005ff412db30421817edbd111019d30bf58f1855e9f331a5",
}
"""Recordings with the events that those have not: seats left and taken back, keys turned, hands that were sealed."""
EVERY = HEADS | OTHERS
each_game = pytest.mark.parametrize("name", HEADS)
each_recording = pytest.mark.parametrize("name", EVERY)


def recorded(name: str) -> tuple[dict[str, Any], list[Entry]]:
    """What came of a recorded game, and its stored events."""
    first, *lines = zlib.decompress((FOLDER / f"{name}.ndjson.z").read_bytes()).splitlines()
    pairs = [msgspec.json.decode(line, type=tuple[str, str]) for line in lines]
    entries = [(seq, public.encode(), hidden.encode()) for seq, (public, hidden) in enumerate(pairs, 1)]
    return msgspec.json.decode(first), entries


def test_every_recording_is_known() -> None:
    """The folder holds these recordings and no others."""
    assert {path.name for path in FOLDER.glob("*.z")} == {f"{name}.ndjson.z" for name in EVERY}


@each_recording
def test_the_chain_of_a_recording_ends_in_its_head(name: str) -> None:
    """The heads over the stored bytes end where they did when the game was recorded."""
    result, entries = recorded(name)
    head = genesis_head(name)
    for _, public, _ in entries:
        head = next_head(head, public)
    assert head.hex() == result["head"] == EVERY[name]
    assert len(entries) == result["events"]


def version_of(public: bytes) -> tuple[str, int]:
    """The stored name of an event, and the version that it was stored under."""
    fields = msgspec.json.decode(public)
    return fields["t"], fields.get("v", 1)


@each_recording
def test_a_recording_is_read_and_written_again_to_the_same_bytes(name: str) -> None:
    """Every event is decoded, and encoded to the very bytes, public and hidden, that were stored.

    One of an older version is written as the newest instead, and that is read as the same event.
    """
    _, entries = recorded(name)
    events = CODEC.decode_all(entries)
    for (seq, public, hidden), event in zip(entries, events, strict=True):
        written = CODEC.encode(event, seq)
        kind, version = version_of(public)
        if version == CODEC.versions[kind]:
            assert (public, hidden) == written
        else:
            assert (event, CODEC.versions[kind]) == (CODEC.decode(*written), version_of(written[0])[1])


def test_every_version_of_every_event_is_recorded() -> None:
    """What any program has ever stored is in one of the games, so that nothing stored is read otherwise than it was.

    A new event, or a new version of one, is recorded before it is stored anywhere (`tests.golden.make`).
    """
    found = {version_of(public) for name in EVERY for _, public, _ in recorded(name)[1]}
    known = {(kind, version) for kind, newest in CODEC.versions.items() for version in range(1, newest + 1)}
    assert known == found


def test_each_step_from_a_version_to_the_next_is_there() -> None:
    """The table of upcasters has no gap, and none of an event that there is not."""
    steps = {(kind, version) for kind, newest in CODEC.versions.items() for version in range(1, newest)}
    assert steps == set(UPCASTERS)


@each_recording
def test_a_recording_folds_to_its_score(name: str) -> None:
    """Hands, totals, winners and the reason of the end come out as they did."""
    result, entries = recorded(name)
    state = fold(None, CODEC.decode_all(entries))
    assert state.phase == "over"
    assert state.totals == result["totals"]
    assert [list(points) for points in state.hands] == result["hands"]
    assert list(state.winners) == result["winners"]
    assert state.reason == result["reason"]


@each_game
def test_a_recording_still_follows_from_the_rules(name: str) -> None:
    """Its record replays to the same score, and its proof file shows fair deals and right play."""
    result, entries = recorded(name)
    verdict = replay(parse_record(record_of(CODEC.decode_all(entries))))  # type: ignore[arg-type]
    assert (verdict.ok, verdict.totals, verdict.winners) == (True, result["totals"], result["winners"])
    report = verify_proof(read_proof(b"".join(proof_lines(entries))))
    assert report.head == result["head"]
    statuses = {claim.name: claim.status for claim in report.claims}
    assert (report.ok, statuses["F"], statuses["R"]) == (True, "holds", "holds")


@each_game
def test_a_recording_is_sealed_and_unsealed(name: str) -> None:
    """Sealed and unpacked again it folds to the same score."""
    result, entries = recorded(name)
    state = fold(None, unseal(seal(entries)))
    assert state.totals == result["totals"]


def test_the_recordings_have_every_kind_of_move() -> None:
    """Passes, holds, kitties, dead tricks, moon choices and moves by players and bots are all recorded somewhere."""
    events = [event for name in HEADS for event in CODEC.decode_all(recorded(name)[1])]
    assert any(isinstance(one, e.TrickEnded) and one.seat is None for one in events)
    assert any(isinstance(one, e.HandScored) and one.passes is None for one in events)
    assert any(isinstance(one, e.HandScored) and one.kitty for one in events)
    assert {one.by for one in events if isinstance(one, e.CardPlayed)} == {"player", "bot"}
