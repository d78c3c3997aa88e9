"""Claim I by the transparency log, and by what a reader kept: what holds, and what each way to cheat ends in."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from domain.refusals import Malformed
from services.audit import Receipt
from services.checkpoints import PublicLog
from services.cli_records import verify
from services.integrity import Kept, KeptCheckpoint, WrongEvidence, read_kept_checkpoint, read_kept_receipt
from services.leaves import find_leaves
from services.notes import read_checkpoint
from services.proof import Claim, proof_lines, read_proof
from services.verdicts import verify_proof
from tests.support.games import Game
from tests.support.log_server import log_of as log_with
from tests.support.proofs import KEY, OTHER_KEY, Ring, claim, played

GAME = played()
ENTRIES = GAME.entries()
EVENTS = len(ENTRIES)
LOCK, END = find_leaves("g-test", ENTRIES)
OTHERS = [LOCK._replace(game=f"other-{number}") for number in range(5)]


def log_of(*leaves: Any, key: Any = KEY, **more: Any) -> PublicLog:
    """A log with these leaves."""
    return log_with(*leaves, key=key, **more)


LOG = log_of(*OTHERS[:3], LOCK, END, *OTHERS[3:])


def file_of(log: PublicLog | None = LOG, *, key: Any = None, entries: Any = ENTRIES) -> bytes:
    """The proof file of the game with what the log has of it, without a receipt unless there is a key."""
    return b"".join(proof_lines(entries, key, None, None if log is None else log.prove))


def found(data: bytes, kept: Kept = Kept(), pinned: str | None = KEY.public) -> Claim:  # noqa: B008
    """Claim I of a file."""
    return claim(verify_proof(read_proof(data), pinned, kept), "I")


def receipt_at(seq: int, game: Game = GAME) -> Receipt:
    """The receipt that was answered for an event."""
    line = list(proof_lines(game.entries()[:seq], KEY))[-1]
    return Receipt(**json.loads(line)["receipt"])


def kept_leaf(log: PublicLog, leaf: Any) -> KeptCheckpoint:
    """What `/v1/log/proof` answers of a leaf, as a reader keeps it."""
    proof = log.prove([leaf])
    assert proof is not None
    fields = {"game": leaf.game, "kind": leaf.kind, "seq": leaf.seq, "head": leaf.head.hex()}
    body = msgspec.structs.asdict(proof.inclusions[0]) | fields | {"checkpoint": proof.checkpoint}
    return read_kept_checkpoint(msgspec.json.encode(body))


def cut(data: bytes, events: int) -> bytes:
    """A file whose last events, with their heads, were cut off; what stands behind the heads is kept."""
    lines = data.splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if line.startswith(b'{"heads"'))
    heads = json.loads(lines[at])["heads"][: 16 * events]
    line = json.dumps({"heads": heads}, separators=(",", ":")).encode() + b"\n"
    return b"".join([*lines[: events + 1], line, *lines[at + 1 :]])


def test_i_holds_by_the_log_alone() -> None:
    """Both leaves are in the file, the end among them covers every event, and nothing else is needed."""
    proof = read_proof(file_of())
    assert proof.receipt is None
    assert [LOCK.hash.hex(), END.hash.hex()] == [one.leaf for one in proof.inclusions]
    held = found(file_of())
    assert held.status == "holds"
    assert (
        held.detail
        == f"up to event {EVENTS} of {EVENTS}, by a log of 7 that has the game's end, event {EVENTS}"
    )
    assert "key not pinned" in found(file_of(), pinned=None).detail


def test_of_a_game_that_goes_on_the_lock_is_shown() -> None:
    """I holds as far as the lock, and says so."""
    lock = LOCK.seq
    held = found(file_of(entries=ENTRIES[: lock + 10]))
    assert (
        held.detail
        == f"up to event {lock} of {lock + 10}, by a log of 7 that has the game's lock, event {lock}"
    )
    before = file_of(entries=ENTRIES[: LOCK.seq - 1])
    assert read_proof(before).checkpoint is None
    assert found(before).status == "not shown"
    assert read_proof(file_of(log_of(*OTHERS))).checkpoint is None


def test_a_file_that_was_cut_behind_a_leaf_fails() -> None:
    """The leaf of the end is of none of the events that are left."""
    fails = found(cut(file_of(), EVENTS - 1))
    assert (fails.status, fails.event) == ("fails", EVENTS - 1)
    assert "changed or cut off" in fails.detail


def test_changed_events_with_a_fitting_chain_fail() -> None:
    """A server that rewrote its events, chain and all, cannot show them in the log that it published."""
    changed = [(seq, public.replace(b'"by":"bot"', b'"by":"clock"'), b"") for seq, public, _ in ENTRIES]
    tail = file_of().splitlines(keepends=True)[-3:]
    forged = b"".join([*proof_lines(changed), *tail])
    assert found(forged).status == "fails"
    assert read_proof(file_of(entries=changed)).checkpoint is not None, "the lock is still in the log"


@pytest.mark.parametrize("keys", [KEY, Ring(KEY, OTHER_KEY)], ids=["one", "two"])
def test_every_byte_behind_the_heads_counts(keys: Any) -> None:
    """Given any one byte of checkpoint or inclusions changed, then the file is none or I fails; of a rotated server's too."""
    data = file_of(log_of(*OTHERS[:3], LOCK, END, *OTHERS[3:], key=keys))
    assert found(data).status == "holds"
    start = data.index(b'{"checkpoint"')
    for at in range(start, len(data) - 1):
        other = bytes([data[at] ^ 1])
        try:
            status = found(data[:at] + other + data[at + 1 :]).status
        except Malformed:
            continue
        assert status == "fails", data[at - 20 : at + 20]


def test_a_checkpoint_of_another_key_fails() -> None:
    """Whoever cannot sign for the server shows nothing, even where the paths are right."""
    note = log_of(LOCK, END, key=OTHER_KEY).checkpoint()
    line = next(line for line in file_of().splitlines() if line.startswith(b'{"checkpoint"'))
    stranger = file_of().replace(line, msgspec.json.encode({"checkpoint": note}))
    with pytest.raises(Malformed, match=r"^line \d+: .* not by the server key of line 1"):
        read_proof(stranger)
    forged = note.replace(note.split()[-1], LOG.checkpoint().split()[-1])  # the right name of the key
    fails = found(file_of().replace(line, msgspec.json.encode({"checkpoint": forged})))
    assert (fails.status, fails.detail) == ("fails", "the signature of the checkpoint is not the server's")
    assert read_proof(file_of(log_of(LOCK, END, key=OTHER_KEY))).checkpoint is None, "it has not got the key"


@pytest.mark.parametrize("field", ["index", "size"])
def test_an_inclusion_elsewhere_fails(field: str) -> None:
    """At another index, or for another size than the checkpoint's."""
    lines = file_of().splitlines()
    inclusion = json.loads(lines[-1])
    inclusion["inclusion"][field] += 1
    lines[-1] = json.dumps(inclusion, separators=(",", ":")).encode()
    assert found(b"\n".join(lines)).status == "fails"


def test_order_and_number_of_lines_behind_the_heads() -> None:
    """Receipt, checkpoint, inclusions; each at most once, and two inclusions."""
    *events, receipt, checkpoint, first, second = file_of(key=KEY).splitlines(keepends=True)
    whole = b"".join(events)
    read_proof(whole + checkpoint + first)
    for alone in (first, first + second, receipt + first):
        number = len(events) + 1 + alone.startswith(receipt)
        with pytest.raises(Malformed, match=f"^line {number}: an inclusion, and no checkpoint"):
            read_proof(whole + alone)
    for order in (
        [checkpoint, receipt],
        [first, checkpoint],
        [first, second, first],
        [checkpoint, checkpoint],
        [receipt, receipt],
        [first, receipt],
        [receipt, b"{}\n"],
    ):
        with pytest.raises(Malformed, match="nothing may follow the heads but"):
            read_proof(whole + b"".join(order))
    for line, words in (
        (b'{"checkpoint":"x"}\n', "an empty line and signatures"),
        (b'{"checkpoint":7}\n', "checkpoint is missing or not as it should be"),
        (first.replace(b'"leaf":"', b'"leaf":"0'), "hex"),
        (first.replace(b'"index":3', b'"index":"3"'), "inclusion is missing or not"),
        (first.replace(b'"path":["', b'"path":["G'), "hex"),
    ):
        with pytest.raises(Malformed, match=rf"^line {len(events) + 1}: .*{words}"):
            read_proof(whole + line)


# --- what a reader kept


def test_a_receipt_that_was_kept_holds() -> None:
    """Of any event; without it nothing shows I."""
    data = file_of(None)
    assert found(data).status == "not shown"
    for seq in (1, 40, EVENTS):
        held = found(data, Kept((receipt_at(seq), receipt_at(1))))
        assert (held.status, held.detail) == (
            "holds",
            f"up to event {seq} of {EVENTS}, by a receipt of event {seq}",
        )


def test_a_receipt_that_was_kept_finds_a_change_and_a_cut() -> None:
    """Events before it were changed: I fails at its event. It is of an event behind the end: at the first that is missing."""
    changed = [(seq, public.replace(b'"seat":2', b'"seat":3'), b"") for seq, public, _ in ENTRIES]
    fails = found(file_of(None, key=KEY, entries=changed), Kept((receipt_at(90),)))
    assert (fails.status, fails.event) == ("fails", 90)
    assert "your receipt was given for other events" in fails.detail
    fails = found(cut(file_of(None), 80), Kept((receipt_at(90),)))
    assert (fails.status, fails.event) == ("fails", 81)
    assert "ends with event 80: it was cut off" in fails.detail


def test_a_leaf_that_was_kept_finds_a_cut() -> None:
    """Given the log's word on the end, a file without its last events fails at the first event that is missing."""
    kept = Kept((), (kept_leaf(LOG, END),))
    assert found(file_of(None), kept).status == "holds"
    fails = found(cut(file_of(None), 60), kept)
    assert (fails.status, fails.event) == ("fails", 61)
    assert "the end of the game at event" in fails.detail
    changed = [(seq, public.replace(b'"seat":2', b'"seat":3'), b"") for seq, public, _ in ENTRIES]
    fails = found(file_of(None, entries=changed), kept)
    assert "other events up to the end" in fails.detail


def test_what_was_kept_of_another_game_is_a_mix_up() -> None:
    """Given a receipt of another game, then nothing is said of the file: the reader is told of the mix-up."""
    with pytest.raises(WrongEvidence, match="your receipt is of game g-other, and the file of game g-test"):
        found(file_of(), Kept((receipt_at(40)._replace(game="g-other"),)))


def test_a_checkpoint_that_was_kept_is_shown_by_the_files_paths() -> None:
    """Where the sizes are the same; else the claim says how to get there."""
    kept = Kept((), (KeptCheckpoint(read_checkpoint(LOG.checkpoint())),))
    assert found(file_of(), kept).status == "holds"
    earlier = Kept((), (KeptCheckpoint(read_checkpoint(LOG.checkpoint(5))),))
    held = found(file_of(), earlier)
    assert held.status == "holds"
    assert "no inclusion for your checkpoint, of a log of 5, which may be from before the game" in held.detail
    bare = found(file_of(None), earlier)
    assert bare.status == "not shown"
    assert "/v1/games/g-test/proof?size=5" in bare.detail


def test_a_log_that_was_forked_is_found() -> None:
    """Given a checkpoint of the log as it was told to one, then a file with another log of that size fails."""
    other = log_of(*OTHERS[:3], LOCK, OTHERS[4], OTHERS[3], END)
    fails = found(file_of(other), Kept((), (KeptCheckpoint(read_checkpoint(LOG.checkpoint())),)))
    assert fails.status == "fails"
    assert "the log was forked" in fails.detail
    stranger = KeptCheckpoint(read_checkpoint(log_of(*OTHERS, key=OTHER_KEY).checkpoint()))
    unjudged = found(file_of(), Kept((), (stranger,)))
    assert unjudged.status == "not shown"
    assert "signed by another key" in unjudged.detail
    assert "without it the claim would hold up to event" in unjudged.detail
    forged = LOG.checkpoint().replace("\n7\n", "\n6\n")
    with pytest.raises(WrongEvidence, match="your checkpoint is not signed by this game's server"):
        found(file_of(), Kept((), (KeptCheckpoint(read_checkpoint(forged)),)))
    renamed = KeptCheckpoint(
        read_checkpoint(log_of(*OTHERS, LOCK, END, origin="example.org/other").checkpoint())
    )
    unjudged = found(file_of(), Kept((), (renamed,)))
    assert unjudged.status == "not shown"
    assert "is of the log example.org/other, and the file's of example.org/hearts" in unjudged.detail


@pytest.mark.parametrize(
    "form",
    [
        lambda receipt: receipt,
        lambda receipt: {"receipt": receipt},
        lambda receipt: {"id": "g-test", "seq": 40, "receipt": receipt},
    ],
    ids=["alone", "line", "answer"],
)
def test_a_receipt_is_read_in_each_form_that_it_is_answered_in(form: Callable[[Any], Any]) -> None:
    """Alone, as the line of a proof file, or in the whole answer to a command."""
    assert receipt_at(40) == read_kept_receipt(json.dumps(form(receipt_at(40)._asdict())).encode())


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b'{"receipt":7}', b'{"game":"g"}', b"\xff", b"[" * 10_000]
)
def test_what_is_no_receipt_and_no_checkpoint_is_refused(data: bytes) -> None:
    """In a sentence."""
    with pytest.raises(Malformed):
        read_kept_receipt(data)
    with pytest.raises(Malformed):
        read_kept_checkpoint(data)


def test_a_kept_leaf_must_be_that_of_its_fields() -> None:
    """Fields that say something else than the leaf are refused before anything is made of them."""
    proof = LOG.prove([END])
    assert proof is not None
    fields = {"game": "g-test", "kind": "end", "seq": END.seq - 1, "head": END.head.hex()}
    body = msgspec.structs.asdict(proof.inclusions[0]) | fields | {"checkpoint": proof.checkpoint}
    with pytest.raises(Malformed, match="not that of its fields"):
        read_kept_checkpoint(msgspec.json.encode(body))


# --- on the command line


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Result]:
    """Verifies a file, given other files by option."""

    def call(data: bytes, *more: bytes, **options: bytes) -> Result:
        words = []
        for at, content in enumerate((data, *more)):
            (tmp_path / f"file-{at}").write_bytes(content)
            words.append(str(tmp_path / f"file-{at}"))
        for name, content in options.items():
            (tmp_path / name).write_bytes(content)
            words += [f"--{name}", str(tmp_path / name)]
        return CliRunner().invoke(verify, words)

    return call


def test_verify_takes_what_was_kept(run: Callable[..., Result]) -> None:
    """A receipt and a checkpoint as the server answered them; a cut file has exit status 1 and the event."""
    receipt = json.dumps(receipt_at(90)._asdict()).encode()
    note = LOG.checkpoint().encode()
    held = run(file_of(), receipt=receipt, checkpoint=note)
    assert (0, "") == (held.exit_code, held.stderr)
    assert (
        f"I (nothing altered) holds: up to event {EVENTS} of {EVENTS}, by a receipt of event 90 and by a log"
        in held.stdout
    )
    fails = run(cut(file_of(None), 80), receipt=receipt)
    assert 1 == fails.exit_code
    assert "I (nothing altered) FAILS at event 81: your receipt is of event 90" in fails.stdout


def test_verify_refuses_what_cannot_be_meant(run: Callable[..., Result]) -> None:
    """Garbage, several files, a record: exit status 2 and a sentence."""
    receipt = json.dumps(receipt_at(90)._asdict()).encode()
    for done, words in (
        (run(file_of(), receipt=b"nonsense"), "the receipt cannot be read"),
        (run(file_of(), receipt=receipt.replace(b'"head": "', b'"head": "0')), "head is not 32 bytes"),
        (run(file_of(), receipt=receipt.replace(b"90", b"91")), "it was changed, or is another server's"),
        (run(file_of(), checkpoint=b"nonsense"), "the checkpoint cannot be read"),
        (run(file_of(), checkpoint=b"x" * 1_100_000), "not longer than"),
        (run(file_of(), file_of(), receipt=receipt), "go with one proof file"),
        (run(b'{"format":"hearts-record/1"}\n', receipt=receipt), "this is a record"),
    ):
        assert 2 == done.exit_code, done.output
        assert words in done.stderr
