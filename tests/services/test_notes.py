"""Checkpoints as signed notes: the form of C2SP, to the letter, and how strictly one is read."""

from __future__ import annotations

import base64
import hashlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from domain.refusals import Malformed
from services.notes import Checkpoint, read_checkpoint, sign_checkpoint, verifier_key
from tests.support.proofs import KEY, OTHER_KEY

ROOT = bytes(range(32))
CHECKPOINT = Checkpoint("example.org/hearts", 12, ROOT)
NOTE = sign_checkpoint(CHECKPOINT, [KEY])


def test_a_note_is_of_the_published_form() -> None:
    """Three lines, an empty one, a dash, the name, and base64 of 4 bytes of the key's hash and the signature of the text."""
    origin, size, root, empty, signature, end = NOTE.split("\n")
    assert ("example.org/hearts", "12", "", "") == (origin, size, empty, end)
    assert ROOT == base64.b64decode(root)
    dash, name, value = signature.split(" ")
    assert ("\u2014", origin) == (dash, name)
    raw = base64.b64decode(value)
    public = bytes.fromhex(KEY.public)
    assert raw[:4] == hashlib.sha256(b"example.org/hearts\n\x01" + public).digest()[:4]
    text = NOTE.partition("\n\n")[0] + "\n"
    Ed25519PublicKey.from_public_bytes(public).verify(raw[4:], text.encode())
    name, key_hash, key = verifier_key(origin, KEY.public).split("+", 2)
    assert (origin, raw[:4].hex(), b"\x01" + public) == (name, key_hash, base64.b64decode(key))


def test_the_example_of_go_verifies() -> None:
    """The note and the key that the documentation of golang.org/x/mod/sumdb/note shows agree with this reading of both."""
    name, key_hash, key = "PeterNeumann", "c74f20a3", "ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    public = base64.b64decode(key)[1:].hex()
    assert f"{name}+{key_hash}+{key}" == verifier_key(name, public)


def test_a_note_is_read_as_it_was_written() -> None:
    """All of it comes back, and it was signed by its key and by no other."""
    read = read_checkpoint(NOTE)
    assert CHECKPOINT == read.checkpoint
    assert read.is_signed_by(KEY.public)
    assert not read.is_signed_by(OTHER_KEY.public)
    assert not read.is_signed_by("nonsense")


def test_signatures_of_witnesses_are_let_be() -> None:
    """Further signatures and further lines of the text are no faults, and the text is signed with them."""
    more = NOTE + "\u2014 witness.example " + base64.b64encode(bytes(80)).decode() + "\n"
    assert read_checkpoint(more).is_signed_by(KEY.public)
    longer = CHECKPOINT.text + "more to come\n"
    value = base64.b64decode(NOTE.split(" ")[-1])[:4] + KEY.sign(longer.encode())
    note = f"{longer}\n\u2014 example.org/hearts {base64.b64encode(value).decode()}\n"
    assert CHECKPOINT == read_checkpoint(note).checkpoint
    assert read_checkpoint(note).is_signed_by(KEY.public)


@pytest.mark.parametrize("changed", ["example.org/heart", "x"])
def test_another_origin_is_another_log(changed: str) -> None:
    """A signature is worth nothing under another origin."""
    note = NOTE.replace("example.org/hearts\n", f"{changed}\n", 1)
    assert not read_checkpoint(note).is_signed_by(KEY.public)
    assert not read_checkpoint(note.replace("\u2014 example.org/hearts", f"\u2014 {changed}")).is_signed_by(
        KEY.public
    )


@pytest.mark.parametrize(
    ("note", "words"),
    [
        ("", "an empty line and signatures"),
        (NOTE[:-1], "each line ended"),
        (NOTE.replace("\n\n", "\n"), "an empty line"),
        (NOTE.replace("12\n", ""), "an origin, a size and a root"),
        (NOTE.replace("\n12\n", "\n\n12\n"), "signature|origin"),
        (NOTE.replace("\n12\n", "\n012\n"), "number of leaves"),
        (NOTE.replace("\n12\n", "\n-1\n"), "number of leaves"),
        (NOTE.replace("\n12\n", "\n9999999999999999\n"), "number of leaves"),
        (NOTE.replace("AAEC", "A*EC"), "no base64"),
        (NOTE.replace("Hh8=", "Hh9="), "something left over"),
        (NOTE.replace("Hh8=", "Hg=="), "31 bytes"),
        (NOTE.replace("\u2014", "-"), "no base64"),
        (NOTE.replace("\u2014 example.org/hearts", "\u2014 a+b"), "a dash"),
        (NOTE.replace("example.org/hearts", "my log"), "no origin|a dash"),
        ("x" * 70_000, "at most"),
    ],
)
def test_what_is_no_note_is_refused(note: str, words: str) -> None:
    """Each with what is wrong."""
    with pytest.raises(Malformed, match=words):
        read_checkpoint(note)
