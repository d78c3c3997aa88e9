"""What a reader kept: only what the game's server has signed can speak against it."""

from __future__ import annotations

import json
import re

import msgspec
import pytest

from domain.refusals import Malformed
from services.integrity import Kept, KeptCheckpoint, WrongEvidence, read_kept_checkpoint, read_kept_receipt
from services.notes import read_checkpoint
from services.plain_json import HALF_PAIR, ODD_NUMBER, TWICE
from services.proof import read_proof
from services.verdicts import verify_proof
from tests.services.test_proof_log import END, EVENTS, LOG, OTHERS, file_of, found, kept_leaf, receipt_at
from tests.support.proofs import KEY, OTHER_KEY, claim


def test_receipts_that_the_server_has_not_signed_accuse_nobody() -> None:
    """Given a receipt that was changed or is another server's, then it is no evidence, whatever it says of whichever event."""
    receipt = receipt_at(40)
    head = receipt.head.replace(receipt.head[0], "0" if receipt.head[0] != "0" else "1", 1)
    for wrong in (
        receipt._replace(signature="00" * 64),
        receipt._replace(head=head),
        receipt._replace(seq=41),
        receipt._replace(seq=10**15),
        OTHER_KEY.receipt("g-test", 40, bytes(32)),
        OTHER_KEY.receipt("g-test", EVENTS + 1, bytes(32)),
    ):
        with pytest.raises(WrongEvidence, match="your receipt is not signed by this game's server"):
            found(file_of(), Kept((receipt, wrong)))
    for right, words in (
        (KEY.receipt("g-test", 40, bytes(32)), "your receipt was given for other events"),
        (KEY.receipt("g-test", EVENTS + 1, bytes(32)), "it was cut off"),
    ):
        assert ("fails", True) == (
            found(file_of(), Kept((right,))).status,
            words in str(found(file_of(), Kept((right,)))),
        )


@pytest.mark.parametrize("seq", [-1, 0])
def test_a_receipt_of_no_event_is_none(seq: int) -> None:
    """The events of a game have numbers from 1 on."""
    with pytest.raises(Malformed, match=r"^no receipt: seq is not a number from 1 to 2\^53$"):
        read_kept_receipt(json.dumps(receipt_at(40)._replace(seq=seq)._asdict()).encode())
    with pytest.raises(Malformed, match=r"^no receipt: signature is not 64 bytes in lower-case hex$"):
        read_kept_receipt(json.dumps(receipt_at(40)._replace(signature="C0")._asdict()).encode())


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ('"seq":40', TWICE),
        (f'"more":{2**53}', ODD_NUMBER),
        ('"more":1.0', ODD_NUMBER),
        ('"more":"\\ud800"', HALF_PAIR),
    ],
)
def test_what_readers_could_see_differently_is_no_evidence(more: str, why: str) -> None:
    """A key twice, a number that some readers change, half a surrogate pair: in a receipt, in an answer around it, in a leaf."""
    receipt = json.dumps(receipt_at(40)._asdict())
    doubled = f"{receipt[:-1]},{more}}}"
    for text in (
        doubled,
        f'{{"receipt":{doubled}}}',
        f'{{"receipt":{receipt},"more":[{{"seq":1,{more}}}],"receipt":1}}',
    ):
        with pytest.raises(Malformed, match=r"^a receipt is JSON, and "):
            read_kept_receipt(text.encode())
    with pytest.raises(Malformed, match=f"^a receipt is JSON, and {re.escape(why)}$"):
        read_kept_receipt(doubled.encode())
    with pytest.raises(Malformed, match=r"^a checkpoint is JSON, and "):
        read_kept_checkpoint(f'{{"checkpoint":"","checkpoint":"",{more}}}'.encode())


def test_a_receipt_by_a_key_that_cannot_be_read_is_let_be() -> None:
    """Given events that cannot be read, among which a key may be named, then R fails, and the receipt is not judged."""
    lines = file_of(None).replace(b'"t":"hand_dealt"', b'"t":"hand_eaten"')
    spoilt = [(n, line, b"") for n, line in enumerate(lines.splitlines()[1:-1], 1)]
    report = verify_proof(
        read_proof(file_of(None, entries=spoilt)), None, Kept((OTHER_KEY.receipt("g-test", 40, bytes(32)),))
    )
    assert ("not shown", "fails") == (claim(report, "I").status, claim(report, "R").status)
    assert "not signed by this game's server" in claim(report, "I").detail


def test_a_checkpoint_that_came_with_the_leaf_of_another_game_is_one() -> None:
    """Given what `/v1/log/proof` answers of another game, then the checkpoint counts, and its leaf does not."""
    other = Kept((), (kept_leaf(LOG, OTHERS[0]),))
    assert found(file_of(), Kept((), (KeptCheckpoint(read_checkpoint(LOG.checkpoint())),))) == found(
        file_of(), other
    )
    assert "holds" == found(file_of(), other).status
    bare = found(file_of(None), other)
    assert ("not shown", True) == (bare.status, "/v1/games/g-test/proof?size=7" in bare.detail)


def test_a_kept_path_that_leads_nowhere_accuses_nobody() -> None:
    """Given a leaf whose path was changed, then it is no evidence."""
    kept = kept_leaf(LOG, END)
    assert kept.inclusion is not None
    for more in ({"index": 2}, {"size": 6}):
        spoilt = kept._replace(inclusion=msgspec.structs.replace(kept.inclusion, **more))
        with pytest.raises(
            WrongEvidence, match=r"the inclusion (does not lead to|is of a log of 6, and) your checkpoint"
        ):
            found(file_of(), Kept((), (spoilt,)))
