"""The roots that a server signs: those of the leaves, and a continuation of what it has signed before."""

from __future__ import annotations

from pathlib import Path

import pytest

from services.checkpoints import PublicLog
from services.cluster import Client, wire_of
from services.keys import Keys
from services.leaves import Leaf
from services.merkle import EMPTY_ROOT, root_of, verify_inclusion
from services.notes import Checkpoint, SignedCheckpoint, read_checkpoint, sign_checkpoint
from services.store import StoreUnavailable
from services.translog import CorruptTransparencyLog, TransparencyLog
from services.wire import Wire
from tests.support.proofs import KEY, OTHER_KEY, Ring

ORIGIN = "example.org/hearts"


def leaf(number: int) -> Leaf:
    """A leaf of a game of this number."""
    return Leaf(f"game-{number}", "lock", number + 1, number.to_bytes(32, "big"))


def house(client: Client) -> PublicLog:
    """The log of the store as a process sees it that has just begun."""
    return PublicLog(TransparencyLog(wire_of(client)), Ring(KEY), ORIGIN)


def signed(log: PublicLog, size: int | None = None) -> SignedCheckpoint:
    """A checkpoint of the log."""
    return read_checkpoint(log.checkpoint(size))


def show_all(log: PublicLog, leaves: list[Leaf]) -> None:
    """All that is said of a log: no one path goes by every node."""
    log.checkpoint()
    for index, one in enumerate(leaves):
        log.inclusion(one.hash, index, len(leaves))
    for size in range(1, len(leaves)):
        log.consistency(size, len(leaves))


def forget(client: Client) -> None:
    """Take all of the log away, and leave what was signed."""
    client.delete(Keys.log_leaves, Keys.log_index, Keys.log_places, Keys.log_nodes(0, 0))
    for level in range(1, 8):
        client.delete(Keys.log_nodes(level, 0))


def remembers(client: Client, folder: Path) -> PublicLog:
    """The same, with a file beside its key."""
    return PublicLog(TransparencyLog(wire_of(client)), Ring(KEY), ORIGIN, folder / "key.signed")


@pytest.mark.parametrize("steps", [(1, 2, 3, 4, 5, 8, 13, 40), (40,), (7, 8, 9, 31, 32, 33)], ids=str)
def test_every_root_is_that_of_the_leaves(client: Client, steps: tuple[int, ...]) -> None:
    """However far a process follows at a time, and whether it began just now or before; earlier sizes too."""
    log, leaves = house(client), [leaf(number) for number in range(max(steps))]
    hashes = [one.hash for one in leaves]
    assert EMPTY_ROOT == signed(log).checkpoint.root
    for size in steps:
        log.tree.add(leaves[:size])
        for each in (log, house(client)):
            found = signed(each)
            assert (size, root_of(hashes[:size])) == found.checkpoint[1:]
            assert found.is_signed_by(KEY.public)
            for earlier in range(size):
                assert root_of(hashes[:earlier]) == signed(each, earlier).checkpoint.root
    assert max(steps) == read_checkpoint(client.get(Keys.log_signed).decode()).checkpoint.size


@pytest.mark.parametrize(("level", "at"), [(0, 0), (0, 4), (1, 1), (2, 0)])
def test_a_changed_hash_is_not_signed(client: Client, level: int, at: int) -> None:
    """Given a node of the tree that somebody changed, then no root, path or proof comes of it."""
    log = house(client)
    leaves = [leaf(number) for number in range(5)]
    log.tree.add(leaves)
    client.setrange(Keys.log_nodes(level, 0), at * 32, b"\0" * 32)
    with pytest.raises(CorruptTransparencyLog, match="was changed"):
        show_all(log, leaves)


def test_what_is_signed_stays_right_while_hashes_are_changed(client: Client) -> None:
    """Given a process that knows the log, when a node is changed, then it signs what it knows, and shows no path by the node."""
    log, leaves = house(client), [leaf(number) for number in range(4)]
    log.tree.add(leaves)
    before = log.checkpoint()
    client.setrange(Keys.log_nodes(1, 0), 32, b"\0" * 32)
    assert before == log.checkpoint()
    with pytest.raises(CorruptTransparencyLog, match="leaf 0"):
        log.inclusion(leaves[0].hash, 0, 4)
    assert leaves[3].hash.hex() == log.inclusion(leaves[2].hash, 2, 4).path[0]


def test_a_log_that_was_written_anew_is_not_signed(client: Client) -> None:
    """Given a log with another leaf and all hashes right, then neither a process that runs nor one that begins signs it."""
    log = house(client)
    log.tree.add([leaf(number) for number in range(6)])
    log.checkpoint()
    forget(client)
    log.tree.add([leaf(number) for number in (0, 1, 9, 3, 4, 5, 6)])
    for each in (log, house(client)):
        with pytest.raises(CorruptTransparencyLog, match="was changed"):
            each.checkpoint()


def test_a_log_that_is_shorter_is_not_signed(client: Client) -> None:
    """Given a log that lost its last leaf and forgot it everywhere, then who begins anew sees that it was longer."""
    log = house(client)
    log.tree.add([leaf(number) for number in range(3)])
    log.checkpoint()
    forget(client)
    log.tree.add([leaf(0), leaf(1)])
    with pytest.raises(CorruptTransparencyLog, match="has 2 leaves, and had 3 when it was signed: cut off"):
        house(client).checkpoint()


def test_nobody_else_can_write_the_note(client: Client) -> None:
    """Given a note by another key, or none at all, then nothing is signed."""
    log = house(client)
    log.tree.add([leaf(0)])
    forged = sign_checkpoint(Checkpoint(ORIGIN, 1, log.tree.root(1)), (OTHER_KEY,))
    for note, why in (
        (forged, "is not signed by this server"),
        ("x", "holds no checkpoint"),
        (b"\xff", "holds no"),
    ):
        client.set(Keys.log_signed, note)
        with pytest.raises(CorruptTransparencyLog, match=why):
            house(client).checkpoint()
    client.delete(Keys.log_signed)
    client.rpush(Keys.log_signed, "x")
    with pytest.raises(CorruptTransparencyLog, match="should hold a"):
        house(client).checkpoint()


def test_without_the_note_all_leaves_are_read(client: Client) -> None:
    """Given a store from before there were notes, then the roots are the same, and a note is kept from then on."""
    log = house(client)
    log.tree.add([leaf(number) for number in range(9)])
    client.delete(Keys.log_signed)
    assert root_of([leaf(number).hash for number in range(9)]) == signed(house(client)).checkpoint.root
    assert 1 == client.exists(Keys.log_signed)


def test_a_leaf_that_was_changed_is_not_signed(client: Client) -> None:
    """Given an entry of the stream that was replaced, where the hashes are the old ones."""
    log = house(client)
    log.tree.add([leaf(number) for number in range(3)])
    rows = [row for _, row in client.xrange(Keys.log_leaves)]
    client.delete(Keys.log_leaves)
    for number, row in enumerate(rows, 1):
        client.xadd(Keys.log_leaves, row | ({b"s": b"77"} if number == 2 else {}), id=f"{number}-0")
    with pytest.raises(CorruptTransparencyLog, match="does not follow from them"):
        log.checkpoint()


def test_a_store_that_takes_no_note(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a store that can be read alone, then checkpoints are signed all the same."""
    log = house(client)
    log.tree.add([leaf(0)])
    kind = type(log.tree.wire)
    call = kind.call

    def refuse(wire: Wire, *command: object, **more: object) -> object:
        if command[0] == "SET":
            raise StoreUnavailable("READONLY")
        return call(wire, *command, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(kind, "call", refuse)
    root = signed(log).checkpoint.root
    assert verify_inclusion(leaf(0).hash, 0, 1, [], root)
    assert 0 == client.exists(Keys.log_signed)


# --- the file beside the key


def test_a_store_that_was_put_back_is_not_signed(client: Client, tmp_path: Path) -> None:
    """Given log and note as they were earlier, and other leaves since, then the file tells, and a process that runs knows."""
    running = remembers(client, tmp_path)
    running.tree.add([leaf(number) for number in range(4)])
    early = running.checkpoint()
    running.tree.add([leaf(number) for number in range(6)])
    running.checkpoint()
    forget(client)
    running.tree.add([leaf(number) for number in range(4)])
    client.set(Keys.log_signed, early)
    for each in (running, remembers(client, tmp_path)):
        with pytest.raises(
            CorruptTransparencyLog, match="has 4 leaves, and had 6 when it was signed: cut off"
        ):
            each.checkpoint()
        with pytest.raises(CorruptTransparencyLog):
            each.show([leaf(0)])
    running.tree.add([leaf(number) for number in (0, 1, 2, 3, 7, 8, 9)])
    with pytest.raises(CorruptTransparencyLog, match="was changed"):
        remembers(client, tmp_path).checkpoint()


def test_a_log_that_was_wiped_is_not_signed(client: Client, tmp_path: Path) -> None:
    """Given that the log and its note are gone from the store."""
    running = remembers(client, tmp_path)
    running.tree.add([leaf(0), leaf(1)])
    running.checkpoint()
    forget(client)
    client.delete(Keys.log_signed)
    for each in (running, remembers(client, tmp_path)):
        with pytest.raises(CorruptTransparencyLog, match="has 0 leaves, and had 2"):
            each.checkpoint()


def test_without_the_note_in_the_store_the_file_leads(client: Client, tmp_path: Path) -> None:
    """It is kept in the store again with the next checkpoint, and the other way round."""
    log = remembers(client, tmp_path)
    log.tree.add([leaf(number) for number in range(3)])
    log.checkpoint()
    for lose in (lambda: client.delete(Keys.log_signed), (tmp_path / "key.signed").unlink):
        assert ["h:{log}:signed", str(tmp_path / "key.signed")] == [place for place, _ in log.signed()]
        lose()
        assert 1 == len(log.signed())
        remembers(client, tmp_path).checkpoint()
        assert [3, 3] == [one.checkpoint.size for _, one in log.signed()]


def test_the_file_of_another_log_does_not_count(client: Client, tmp_path: Path) -> None:
    """Given another name for the log, then it begins anew, as it does for its watchers."""
    log = remembers(client, tmp_path)
    log.tree.add([leaf(0), leaf(1)])
    log.checkpoint()
    client.flushall()
    other = PublicLog(
        TransparencyLog(wire_of(client)), Ring(KEY), "example.org/other", tmp_path / "key.signed"
    )
    other.tree.add([leaf(5)])
    assert 1 == signed(other).checkpoint.size


def test_a_file_that_cannot_be_believed(client: Client, tmp_path: Path) -> None:
    """One that is none, by another key, or cannot be read."""
    path = tmp_path / "key.signed"
    forged = sign_checkpoint(Checkpoint(ORIGIN, 0, EMPTY_ROOT), (OTHER_KEY,))
    for text, why in (("x", "holds no checkpoint"), (forged, "is not signed by this server")):
        path.write_text(text)
        with pytest.raises(CorruptTransparencyLog, match=why):
            remembers(client, tmp_path).checkpoint()
    path.unlink()
    path.mkdir()
    with pytest.raises(CorruptTransparencyLog, match="cannot be read"):
        remembers(client, tmp_path).checkpoint()


def test_a_place_that_takes_no_file(client: Client, tmp_path: Path) -> None:
    """Checkpoints are signed all the same."""
    log = remembers(client, tmp_path / "nowhere")
    log.tree.add([leaf(0)])
    assert 1 == signed(log).checkpoint.size


def test_what_was_signed_can_be_forgotten(client: Client, tmp_path: Path) -> None:
    """Given a log that lost its end for good, then it is signed again once that is asked for."""
    log = remembers(client, tmp_path)
    log.tree.add([leaf(0), leaf(1)])
    log.checkpoint()
    forget(client)
    log.tree.add([leaf(0)])
    log.forget_signed()
    assert 1 == signed(log).checkpoint.size == signed(remembers(client, tmp_path)).checkpoint.size
