"""Cheats with the server's keys: a rotation as an excuse, and whoever stole a key that was rotated away.

What a stolen old key is still worth is in `docs/audit.md`, and each of its sentences is held here.
"""

from __future__ import annotations

import json
from typing import Any

import httpx
import msgspec
import pytest

from domain import events as e
from services.audit import Receipt, ServerKey
from services.integrity import Kept, KeptCheckpoint, WrongEvidence
from services.keylist import key_links, read_key_list
from services.leaves import find_leaves
from services.notes import read_checkpoint
from services.proof import Claim, proof_lines, read_proof
from services.verdicts import verify_proof
from tests.services.test_proof_rotated import rotated
from tests.support.games import stored
from tests.support.log_server import json_answer, log_of, watched
from tests.support.proofs import KEY, OTHER_KEY, THIRD_KEY, Events, Ring, claim, file_of, played
from tests.support.signing import heads_of

OLD, NEW, THIEF = KEY, OTHER_KEY, THIRD_KEY
"""The key that was stolen, the one that the server turned to, and a key of the thief's own."""
AT = 20
"""Events before the rotation."""


def turned() -> Events:
    """A game that was in progress when the server turned to the new key."""
    events = list(played().events)
    rotated(events, AT, OLD, NEW)
    return events


def rewritten(events: Events, at: int) -> Events:
    """The events with another course from index ``at`` on: all of it a moment later, which no rule minds."""
    return [*events[:at], *(msgspec.structs.replace(one, at=one.at + 1) for one in events[at:])]


def receipt(events: Events, seq: int, by: ServerKey) -> Receipt:
    """The receipt for an event, by a key."""
    return by.receipt("g-test", seq, heads_of(events)[seq])


def with_receipt(events: Events, given: Receipt) -> bytes:
    """A file with another receipt than it would have."""
    return file_of(events, None) + msgspec.json.encode({"receipt": given._asdict()}) + b"\n"


def integrity(data: bytes, kept: Kept = Kept(), pinned: str = OLD.public) -> Claim:  # noqa: B008 (a value)
    """Claim I of a file."""
    return claim(verify_proof(read_proof(data), pinned, kept), "I")


def leaves(events: Events) -> list[Any]:
    """The leaves of a game."""
    return list(find_leaves("g-test", stored(events)))


# --- a rotation as an excuse


def test_a_log_that_is_written_anew_under_a_new_key_is_found_by_the_checkpoint_of_before() -> None:
    """Given a checkpoint by the old key, when the server turns to a new one and forks its log, then the watcher sees it.

    A reader with the old key and the list of keys is told of the fork too; without them, that nothing is shown.
    """
    events = [msgspec.structs.replace(played().events[0], server_key=NEW.public), *played().events[1:]]
    others = [leaves(events)[0]._replace(game=f"other-{number}") for number in range(2)]
    before = log_of(*others, *leaves(events), key=OLD).checkpoint()
    anew = log_of(*leaves(events), *others, key=Ring(OLD, NEW))
    assert ["two logs of 4 leaves were signed that differ: the log was forked"] == watched(
        anew, before
    ).problems
    data = b"".join(proof_lines(stored(events), None, None, anew.prove))
    kept = KeptCheckpoint(read_checkpoint(before))
    keys = read_key_list(json.dumps({"keys": anew.keys()}).encode())
    found = integrity(data, Kept((), (kept,), keys), OLD.public)
    assert ("fails", True) == (found.status, "the log was forked" in found.detail)
    unlisted = integrity(data, Kept((), (kept,)), NEW.public)
    assert ("not shown", True) == (unlisted.status, "signed by another key" in unlisted.detail)


def test_a_checkpoint_that_was_kept_across_a_rotation_still_finds_a_change() -> None:
    """Given an honest game and a checkpoint from before the rotation, when the game is changed after it, then I fails."""
    events = list(played().events)
    kept = log_of(*leaves(events), key=OLD)
    proof = kept.prove(leaves(events)[1:])
    assert proof is not None
    end = KeptCheckpoint(read_checkpoint(proof.checkpoint), leaves(events)[1], proof.inclusions[0])
    ring = Ring(OLD, NEW)
    for course, status in ((events, "holds"), (rewritten(events, 40), "fails")):
        log = log_of(*leaves(course), key=ring)
        data = b"".join(proof_lines(stored(course), OLD, None, log.prove))
        assert status == integrity(data, Kept((), (end,))).status


def test_a_key_is_not_left_out_of_the_list_afterwards() -> None:
    """Given a checkpoint by both keys, when the list forgets one or puts another in its place, then the watcher is told."""
    events = list(played().events)
    kept = log_of(*leaves(events), key=Ring(OLD, NEW)).checkpoint()
    for keys in ((OLD,), (OLD, THIEF), (NEW,)):
        watch = watched(log_of(*leaves(events), key=Ring(*keys)), kept)
        assert ["your checkpoint is signed by a key that the server's list does not have"] == [
            one.partition(":")[0] for one in watch.problems
        ]


# --- a stolen old key


def test_a_stolen_old_key_signs_nothing_after_the_rotation_of_a_game() -> None:
    """Given the event of the rotation, when the thief signs for a later one, then I fails there."""
    events = turned()
    for seq in (AT + 2, len(events)):
        found = integrity(with_receipt(events, receipt(events, seq, OLD)))
        assert ("fails", seq) == (found.status, found.event)
    assert "holds" == integrity(with_receipt(events, receipt(events, AT + 1, OLD))).status


def test_a_stolen_old_key_can_tell_a_game_of_its_own_without_the_rotation() -> None:
    """Given a forged course that never turned, then its file holds by the old key alone: this is what the theft is worth.

    Whoever has a receipt from after the rotation is told that the file has not its key, and with the list of keys that the
    file is wrong; whoever has a checkpoint that the new key has signed, too, is not taken in.
    """
    honest, forged = turned(), rewritten(list(played().events), AT + 5)
    data = file_of(forged, OLD)
    assert "holds" == integrity(data).status
    late = Kept((receipt(honest, AT + 3, NEW),))
    with pytest.raises(WrongEvidence):
        integrity(data, late)
    keys = read_key_list(msgspec.json.encode({"keys": key_links((OLD, NEW))}))
    found = integrity(data, late._replace(keys=keys))
    assert ("fails", AT + 3) == (found.status, found.event)
    proof = log_of(*leaves(honest), key=Ring(OLD, NEW)).prove(leaves(honest)[1:])
    assert proof is not None
    end = KeptCheckpoint(read_checkpoint(proof.checkpoint), leaves(honest)[1], proof.inclusions[0])
    assert "fails" == integrity(data, Kept((), (end,))).status


def test_a_stolen_old_key_signs_no_log_for_who_has_seen_the_new_one() -> None:
    """Given a checkpoint by both keys, or the new key, when the thief puts up a log, then the watcher is not taken in."""
    events = list(played().events)
    kept = log_of(*leaves(events), key=Ring(OLD, NEW)).checkpoint()
    forged = log_of(*leaves(events), leaves(events)[0]._replace(game="g-false"), key=OLD)
    genuine = {"keys": key_links((OLD, NEW))}
    with_list = {"/v1/log/keys": lambda _: json_answer(genuine)}
    assert [f"the checkpoint is not signed by the server key {NEW.public}"] == watched(
        forged, kept, cheats=with_list
    ).problems
    assert watched(forged, kept).problems
    assert watched(forged, server_key=NEW.public).problems


def inserted() -> list[dict[str, Any]]:
    """A list in which the thief has put a key of its own between the two, as the old key lets it."""
    return key_links((OLD, THIEF, NEW))


@pytest.mark.parametrize("links", [key_links((OLD, THIEF)), inserted()], ids=["in its place", "between"])
def test_a_stolen_old_key_can_name_another_successor_and_two_lists_prove_it(links: list[Any]) -> None:
    """Given only the old key, then the thief's list is as good as the server's; who has seen the new one sees that they differ.

    It cannot sign for the new key, so a watcher that knows it is not followed into the thief's log.
    """
    events = [msgspec.structs.replace(played().events[0], server_key=THIEF.public), *played().events[1:]]
    data = file_of(events, THIEF)
    stolen = read_key_list(json.dumps({"keys": links}).encode())
    genuine = read_key_list(json.dumps({"keys": key_links((OLD, NEW))}).encode())
    assert "holds" == integrity(data, Kept(keys=stolen)).status
    assert "fails" == integrity(data, Kept(keys=genuine)).status
    assert "fails" == integrity(data, pinned=NEW.public).status
    kept = log_of(*leaves(events), key=Ring(OLD, NEW)).checkpoint()
    thiefs = log_of(*leaves(events), key=Ring(OLD, THIEF))

    def list_of_the_thief(_: httpx.Request) -> httpx.Response:
        return json_answer({"keys": links})

    watch = watched(thiefs, kept, cheats={"/v1/log/keys": list_of_the_thief})
    assert not watch.is_signed
    assert watch.problems


def test_a_rotation_is_worth_nothing_that_the_old_key_did_not_sign() -> None:
    """Given a thief without any key of the server, then its list is none, and its log another server's."""
    events = list(played().events)
    links = key_links((OLD, NEW))
    links[1]["server_key"] = THIEF.public
    watch = watched(
        log_of(*leaves(events), key=THIEF),
        server_key=OLD.public,
        cheats={"/v1/log/keys": lambda _: json_answer({"keys": links})},
    )
    assert not watch.is_signed
    assert "key 2 is not signed by the one before it" in watch.notices[-1]
    assert ["the server's list of keys does not have the one that you named"] == watched(
        log_of(*leaves(events), key=THIEF), server_key=OLD.public
    ).problems


def test_there_is_a_rotation_in_the_game() -> None:
    """The game of these tests has turned where they say."""
    assert isinstance(turned()[AT], e.KeyRotated)
