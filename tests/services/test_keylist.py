"""The list of a server's keys: what it links, what it refuses, and what claim I of a game makes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from domain.refusals import Malformed
from domain.shuffle import hash_parts
from services.audit import ServerKey
from services.cli_records import verify
from services.integrity import Kept, KeptCheckpoint, WrongEvidence
from services.keylist import MOST_KEYS, key_links, read_key_list
from services.leaves import find_leaves
from services.notes import LONGEST_NOTE, Checkpoint, read_checkpoint, sign_checkpoint
from services.proof import Claim, proof_lines, read_proof
from services.settings import LONGEST_ORIGIN
from services.verdicts import verify_proof
from tests.support.log_server import log_of
from tests.support.proofs import KEY, OTHER_KEY, THIRD_KEY, Ring, claim, played

EARLIER, LATER = OTHER_KEY, THIRD_KEY
"""The keys of the server before and after the one that the game names, `KEY`."""
RING = Ring(EARLIER, KEY, LATER)
ENTRIES = played().entries()
LEAVES = find_leaves("g-test", ENTRIES)
Body = dict[str, Any]


def listed(*keys: ServerKey) -> bytes:
    """The list of these keys as it is published."""
    return json.dumps({"origin": "example.org/hearts", "keys": key_links(keys)}).encode()


# --- the list


def test_each_key_vouches_for_those_behind_it() -> None:
    """Given the list, then from each key on the later ones follow, and from a stranger nothing."""
    read = read_key_list(listed(EARLIER, KEY, LATER))
    assert (EARLIER.public, KEY.public, LATER.public) == read.keys
    assert (KEY.public, LATER.public) == read.since(KEY.public)
    assert () == read.since(ServerKey(bytes([9]) * 32).public)
    assert (KEY.public,) == read_key_list(listed(KEY)).keys


def test_the_signature_is_of_the_published_form() -> None:
    """By the key before, over the list's first key, the place and the new key."""
    entry = key_links([EARLIER, KEY, LATER])[2]
    first, new = bytes.fromhex(EARLIER.public), bytes.fromhex(LATER.public)
    assert KEY.sign(hash_parts("hearts/v1/next-key", first, b"3", new)).hex() == entry["signature"]


def swapped(body: Body) -> None:
    """The keys in another order."""
    body["keys"][1:] = body["keys"][:0:-1]


def left_out(body: Body) -> None:
    """A key taken out of the middle."""
    del body["keys"][1]


def without_its_beginning(body: Body) -> None:
    """The first key taken away."""
    del body["keys"][0]
    body["keys"][0]["signature"] = None


def another_last(body: Body) -> None:
    """Another key in the place of the last, under its signature."""
    body["keys"][-1]["server_key"] = ServerKey(bytes([9]) * 32).public


def vouching_for_itself(body: Body) -> None:
    """A last key that signed for itself."""
    last = ServerKey(bytes([9]) * 32)
    message = hash_parts(
        "hearts/v1/next-key", bytes.fromhex(EARLIER.public), b"3", bytes.fromhex(last.public)
    )
    body["keys"][-1] = {"server_key": last.public, "signature": last.sign(message).hex()}


def signed_for_a_game(body: Body) -> None:
    """The signature of a rotation within a game in the place of the link's."""
    message = hash_parts("hearts/v1/rotate", b"g-test", b"3", bytes.fromhex(LATER.public))
    body["keys"][-1]["signature"] = KEY.sign(message).hex()


CHANGES: dict[str, tuple[Callable[[Body], Any], str]] = {
    "swapped": (swapped, "key 2 is not signed"),
    "left out": (left_out, "key 2 is not signed"),
    "without its beginning": (without_its_beginning, "key 2 is not signed"),
    "another last": (another_last, "key 3 is not signed"),
    "vouching for itself": (vouching_for_itself, "key 3 is not signed"),
    "signed for a game": (signed_for_a_game, "key 3 is not signed"),
    "unsigned": (lambda body: body["keys"][2].update(signature=None), "key 3 is not signed"),
    "no hex": (lambda body: body["keys"][2].update(signature="zz" * 64), "key 3 is not signed"),
    "a signed first": (lambda body: body["keys"][0].update(signature="00" * 64), "nobody before it"),
    "a key twice": (lambda body: body["keys"][2].update(server_key=KEY.public), "different keys"),
    "upper case": (lambda body: body["keys"][2].update(server_key="AB" * 32), "lower-case hex"),
    "empty": (lambda body: body.update(keys=[]), "no list of 1 to"),
    "a number": (lambda body: body.update(keys=7), "no list of keys"),
    "without a key": (lambda body: body["keys"][0].pop("server_key"), "no list of keys"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_list_that_was_changed_is_refused(name: str) -> None:
    """With the first place that is wrong."""
    change, words = CHANGES[name]
    body = json.loads(listed(EARLIER, KEY, LATER))
    change(body)
    with pytest.raises(Malformed, match=words):
        read_key_list(json.dumps(body).encode())


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "a list of keys is JSON, and this is none"),
        (b"\xff", "a list of keys is JSON, and this is none"),
        (b"[]", "no list of keys: the whole"),
        (b"[" * 10_000, "a list of keys is JSON, and it is nested more than 64 deep"),
        (b"null", "no list of keys: the whole"),
        (b'{"keys":[],"keys":[]}', "a list of keys is JSON, and a key stands twice in an object in it"),
    ],
    ids=range(6),
)
def test_what_is_no_list_is_refused(data: bytes, words: str) -> None:
    """In a sentence."""
    with pytest.raises(Malformed, match=words):
        read_key_list(data)


def test_a_note_has_room_for_every_key() -> None:
    """Given as many keys as a server may have and the longest origin, then its checkpoint can be read."""
    keys = [ServerKey(number.to_bytes(32, "big")) for number in range(MOST_KEYS)]
    note = sign_checkpoint(Checkpoint("x" * LONGEST_ORIGIN, 2**53 - 1, bytes(32)), keys)
    assert len(note) <= LONGEST_NOTE
    signed = read_checkpoint(note)
    assert signed.judge([key.public for key in keys])
    assert MOST_KEYS == len(signed.signatures)


# --- what claim I makes of it


def integrity(kept: Kept = Kept(), pinned: str | None = None, key: Any = RING) -> Claim:  # noqa: B008 (a value)
    """Claim I of the file of a game that names `KEY`, of a server whose key was changed before and after."""
    data = b"".join(proof_lines(ENTRIES, None, None, log_of(*LEAVES, key=key).prove))
    return claim(verify_proof(read_proof(data), pinned, kept), "I")


def checkpoint_by(*keys: ServerKey) -> KeptCheckpoint:
    """A checkpoint that a reader kept, from when the server had these keys; of the log as it still is."""
    return KeptCheckpoint(read_checkpoint(log_of(*LEAVES, key=Ring(*keys)).checkpoint()))


def test_a_game_is_proved_by_its_own_key_whatever_others_there_are() -> None:
    """The file's checkpoint has the signature of the key that the game names, and no other."""
    data = b"".join(proof_lines(ENTRIES, None, None, log_of(*LEAVES, key=RING).prove))
    checkpoint = read_proof(data).checkpoint
    assert checkpoint is not None
    assert 1 == len(checkpoint.signatures)
    assert "holds" == integrity(pinned=KEY.public).status


def test_a_game_from_after_a_rotation_is_the_same_servers_by_the_list() -> None:
    """Given the key from before, then without the list I fails in words that say what it may be; with it I holds."""
    alone = integrity(pinned=EARLIER.public)
    assert ("fails", 1) == (alone.status, alone.event)
    assert "another server, or the key was changed in between" in alone.detail
    assert "(--server-keys)" in alone.detail
    keys = read_key_list(listed(EARLIER, KEY, LATER))
    held = integrity(Kept(keys=keys), EARLIER.public)
    assert "holds" == held.status
    assert held.detail.endswith("; its server key follows from yours by your list of keys")


@pytest.mark.parametrize(
    ("keys", "pinned", "words"),
    [
        ((EARLIER, KEY, LATER), LATER, "from before yours"),
        ((EARLIER, LATER), EARLIER, "does not follow from yours"),
        ((KEY, LATER), EARLIER, "does not follow from yours"),
        ((LATER,), EARLIER, "does not follow from yours"),
    ],
    ids=["older", "foreign", "list without it", "list of another"],
)
def test_a_list_proves_forward_only(keys: tuple[ServerKey, ...], pinned: ServerKey, words: str) -> None:
    """Given a list that does not lead from the reader's key to the game's, then I fails and says which."""
    found = integrity(Kept(keys=read_key_list(listed(*keys))), pinned.public)
    assert ("fails", 1) == (found.status, found.event)
    assert words in found.detail


def test_a_checkpoint_from_before_a_rotation_is_no_forgery() -> None:
    """Given a checkpoint by the earlier key alone, then I is not shown, in words; with key and list it counts."""
    kept = checkpoint_by(EARLIER)
    found = integrity(Kept((), (kept,)))
    assert "not shown" == found.status
    assert found.detail.startswith("your checkpoint is signed by another key than the game's")
    assert "without it the claim would hold up to event" in found.detail
    keys = read_key_list(listed(EARLIER, KEY, LATER))
    held = integrity(Kept((), (kept,), keys), EARLIER.public)
    assert ("holds", True) == (held.status, f"by a log of {len(LEAVES)} that has" in held.detail)
    assert "holds" == integrity(Kept((), (checkpoint_by(EARLIER, KEY),))).status


def test_a_wrong_signature_is_no_evidence_whatever_the_list() -> None:
    """Given a checkpoint changed by a byte, then each of the keys that it should be by finds it."""
    keys = read_key_list(listed(EARLIER, KEY, LATER))
    for signer, pinned in ((EARLIER, EARLIER), (KEY, KEY), (LATER, EARLIER)):
        signed = checkpoint_by(signer).signed
        forged = signed._replace(text=signed.text.replace("\n2\n", "\n3\n"))
        with pytest.raises(WrongEvidence, match="your checkpoint is not signed by this game's server"):
            integrity(Kept((), (KeptCheckpoint(forged),), keys), pinned.public)


def test_verify_takes_the_list(tmp_path: Path) -> None:
    """Given the published document, then a key from before the rotation holds for a later game; alone it is refused."""
    game, keys = tmp_path / "game.ndjson", tmp_path / "keys.json"
    game.write_bytes(b"".join(proof_lines(ENTRIES, None, None, log_of(*LEAVES, key=RING).prove)))
    keys.write_bytes(listed(EARLIER, KEY))
    words = [str(game), "--server-keys", str(keys)]
    done = CliRunner().invoke(verify, [*words, "--server-key", EARLIER.public])
    assert (0, True) == (done.exit_code, "I (nothing altered) holds" in done.stdout), done.output
    alone = CliRunner().invoke(verify, words)
    assert (2, True) == (alone.exit_code, "shows nothing without" in alone.stderr)
    keys.write_bytes(b"{}")
    broken = CliRunner().invoke(verify, [*words, "--server-key", EARLIER.public])
    assert (2, True) == (broken.exit_code, "the list of keys cannot be read" in broken.stderr)
