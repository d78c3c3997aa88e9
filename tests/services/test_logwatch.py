"""`hearts log check`: what an outsider finds of an honest log, of one that cheats, and of a server that does not answer."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from services import logwatch
from services.cli_log import log_group
from services.integrity import read_kept_checkpoint
from services.leaves import Leaf
from services.logwatch import Had, LogClient, Unanswered, Watch
from services.notes import read_checkpoint
from tests.support.log_server import URL, Cheat, json_answer, log_of, served, watched
from tests.support.proofs import KEY, OTHER_KEY, THIRD_KEY, Ring

LEAVES = [
    Leaf(f"g-{number}", kind, seq, bytes([number] * 32))
    for number in range(9)
    for kind, seq in (("lock", 9), ("end", 99))
]
LOG = log_of(*LEAVES, key=KEY)
TURNED = log_of(*LEAVES, key=Ring(KEY, OTHER_KEY))
SIZE = len(LEAVES)


# --- an honest log


def test_a_log_seen_for_the_first_time_holds() -> None:
    """Its keys, its signature and its entries; and it is told what was not compared."""
    watch = watched(LOG)
    assert [] == watch.problems
    assert (
        f"the checkpoint of {SIZE} leaves of example.org/hearts is signed by keys seen for the first"
        in watch.held[0]
    )
    assert "its entries make the root that was signed, and no game has two of a kind" == watch.held[1]
    assert ["no checkpoint from before was given (--checkpoint)"] == [
        one.partition(", so")[0] for one in watch.notices
    ]


@pytest.mark.parametrize("old", [0, 1, 2, 7, 8, SIZE])
def test_a_log_that_has_grown_holds_by_the_checkpoint_of_before(old: int) -> None:
    """From whatever size it was."""
    watch = watched(LOG, LOG.checkpoint(old))
    assert [] == watch.problems
    assert f"the log of {old} leaves that you have is its beginning" in watch.held
    assert "1 key that follows from those of your checkpoint" in watch.held[0]


def test_pages_of_entries_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a page has room for."""
    for page in (1, 5, SIZE - 1):
        monkeypatch.setattr(logwatch, "PAGE", page)
        assert [] == watched(LOG).problems


def test_a_rotation_is_followed_from_either_side() -> None:
    """Given a key or a checkpoint from before it, or the new key, then both keys, or the new one, must have signed."""
    for watch, keys in (
        (watched(TURNED, LOG.checkpoint(4)), "2 keys that follow from those of your checkpoint"),
        (watched(TURNED, server_key=KEY.public), "2 keys that follow from the one that you named"),
        (watched(TURNED, server_key=OTHER_KEY.public), "1 key that follows from the one that you named"),
        (watched(TURNED, TURNED.checkpoint(4), KEY.public), "2 keys that follow from the one that you named"),
    ):
        assert ([], True) == (watch.problems, keys in watch.held[0])


# --- one that cheats


def test_a_log_that_was_written_anew_is_found() -> None:
    """Given the same number of leaves, or more, in another order, then the one that the watcher had contradicts it."""
    other = log_of(*LEAVES[::-1], key=KEY)
    same = watched(other, LOG.checkpoint())
    assert [f"two logs of {SIZE} leaves were signed that differ: the log was forked"] == same.problems
    grown = watched(other, LOG.checkpoint(7))
    assert [
        "nothing shows that the log of 7 leaves that you have is the beginning of this one"
    ] == grown.problems
    assert (True, False) == (grown.is_signed, grown.goes_on)
    shrunk = watched(log_of(*LEAVES[:4], key=KEY), LOG.checkpoint())
    assert [f"the log had {SIZE} leaves, and has 4"] == shrunk.problems
    renamed = watched(log_of(*LEAVES, key=KEY, origin="example.org/new"), LOG.checkpoint(3))
    assert [
        "the log calls itself example.org/new, and your checkpoint is of example.org/hearts"
    ] == renamed.problems


def test_two_leaves_of_a_kind_are_a_fork() -> None:
    """Whatever else is in order; and it is told of which game."""
    forked = log_of(*LEAVES, LEAVES[5]._replace(head=bytes(32)), key=KEY)
    watch = watched(forked, LOG.checkpoint())
    assert [f"leaf {SIZE} is a second end of game g-2: the game was forked"] == watch.problems
    assert watch.goes_on
    many = log_of(*LEAVES, *[LEAVES[0]._replace(seq=seq) for seq in range(100, 130)], key=KEY)
    told = watched(many).problems
    assert (21, "and 10 leaves more are a second one") == (len(told), told[-1])


def test_entries_that_are_not_those_that_were_signed_are_found() -> None:
    """Given a fork that is signed and not told among the entries, then they do not make the root."""
    forked = log_of(*LEAVES, LEAVES[5]._replace(head=bytes(32)), key=KEY)
    shown = log_of(*LEAVES, LEAVES[5]._replace(game="g-99"), key=KEY)
    watch = watched(forked, cheats={"/v1/log/entries": lambda request: served(shown).send(request)})
    assert ["the entries do not make the root"] == [one[:32] for one in watch.problems]


def test_another_server_is_found() -> None:
    """Given a key or a checkpoint, then a server of other keys is none, whatever it signs."""
    stranger = log_of(*LEAVES, key=Ring(OTHER_KEY, THIRD_KEY))
    by_key = watched(stranger, server_key=KEY.public)
    assert ["the server's list of keys does not have the one that you named"] == by_key.problems
    by_note = watched(stranger, LOG.checkpoint())
    assert ["your checkpoint is signed by a key that the server's list does not have"] == [
        one.partition(":")[0] for one in by_note.problems
    ]
    assert (False, None) == (by_note.is_signed, by_note.goes_on)


def test_every_key_of_the_list_must_have_signed() -> None:
    """Given the list of two keys, then a checkpoint by the old one alone is not the server's."""
    watch = watched(TURNED, LOG.checkpoint(4), cheats={"/v1/log/checkpoint": lambda r: served(LOG).send(r)})
    assert [f"the checkpoint is not signed by the server key {OTHER_KEY.public}"] == watch.problems


def test_a_checkpoint_of_before_that_was_changed_is_told() -> None:
    """It is no evidence of anything."""
    watch = watched(LOG, LOG.checkpoint(4).replace("\n4\n", "\n5\n"))
    assert ["the signature of your checkpoint is not the server's"] == watch.problems


# --- one that does not answer


@pytest.mark.parametrize(
    ("path", "cheat", "words"),
    [
        ("/v1/log/keys", lambda _: httpx.Response(404), "/v1/log/keys answers 404"),
        ("/v1/log/keys", lambda _: json_answer({}), "cannot be read"),
        ("/v1/log/keys", lambda _: httpx.Response(301, headers={"Location": "/x"}), "answers 301"),
        ("/v1/log/checkpoint", lambda _: httpx.Response(200, content=b"\xff"), "cannot be read"),
        ("/v1/log/checkpoint", lambda _: httpx.Response(200, content=b"x"), "cannot be read"),
        ("/v1/log/checkpoint", lambda _: httpx.Response(503), "answers 503"),
        ("/v1/log/proof", lambda _: json_answer({"path": ["zz"]}), "cannot be read"),
        ("/v1/log/proof", lambda _: httpx.Response(200, content=b"[" * 100_000), "cannot be read"),
        ("/v1/log/entries", lambda _: json_answer({"entries": []}), "no entries in order from 0 on"),
        ("/v1/log/entries", lambda _: json_answer({"entries": [{"index": 0}]}), "cannot be read"),
    ],
    ids=count(),
)
def test_what_cannot_be_looked_at_is_no_verdict(path: str, cheat: Cheat, words: str) -> None:
    """Given an answer that is none, then it is told, and neither holds nor fails."""
    watch = watched(LOG, LOG.checkpoint(4), cheats={path: cheat})
    assert [] == watch.problems
    assert words in watch.notices[-1]


def test_entries_out_of_order_are_no_entries() -> None:
    """A page again and again, or with holes."""
    first = {"index": 0, "game": "g", "kind": "lock", "seq": 1, "head": "00" * 32}
    again = watched(LOG, cheats={"/v1/log/entries": lambda _: json_answer({"entries": [first]})})
    assert f"no entries in order from 1 on, of a log of {SIZE}" in again.notices[-1]


def test_answers_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """In bytes, packed or not, in seconds, and in leaves."""
    monkeypatch.setattr(logwatch, "LONGEST_ANSWER", 1000)
    long = watched(LOG, cheats={"/v1/log/keys": lambda _: httpx.Response(200, content=b" " * 1001)})
    assert "answers more than 1000 bytes" in long.notices[-1]
    monkeypatch.undo()
    packed = httpx.Response(200, headers={"Content-Encoding": "gzip"}, content=b"")
    assert (
        "nothing that can be checked" in watched(LOG, cheats={"/v1/log/keys": lambda _: packed}).notices[-1]
    )
    monkeypatch.setattr(logwatch, "MOST_LEAVES", SIZE - 1)
    assert f"only {SIZE - 1} are looked through" in watched(LOG).notices[-1]


def test_a_server_that_takes_its_time_is_left() -> None:
    """Given a byte now and then, when the time for all of it is over, then nobody waits on."""
    ticks = count()

    def dripping(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=iter([b" "] * 100))

    with served(LOG, {"/v1/log/keys": dripping}) as client:
        watch = Watch(LogClient(client, URL, 20, lambda: float(next(ticks))), Had())
        with pytest.raises(Unanswered, match="more than the 20 seconds"):
            watch.run()
    assert next(ticks) < 30


def test_a_server_that_is_not_there_is_told() -> None:
    """With its address."""

    def refuse(_: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    watch = watched(LOG, cheats={"/v1/log/keys": refuse})
    assert [f"no answer from {URL}: refused"] == watch.notices


# --- on the command line


@pytest.fixture
def run() -> Callable[..., Result]:
    """Runs `hearts log check` on a log that is served."""

    def call(log: Any, *words: str, cheats: dict[str, Cheat] | None = None) -> Result:
        client = served(log, cheats)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(httpx, "Client", lambda: client)
            return CliRunner().invoke(log_group, ["check", "--url", f"{URL}/", *words])

    return call


def test_a_watcher_keeps_what_it_saw_for_the_next_time(run: Callable[..., Result], tmp_path: Path) -> None:
    """Given the first look with the key, when the log and the keys have grown, then the saved file is enough."""
    kept = tmp_path / "hearts.note"
    first = run(log_of(*LEAVES[:6], key=KEY), "--server-key", KEY.public, "--save", str(kept))
    assert 0 == first.exit_code, first.output
    again = run(TURNED, "--checkpoint", str(kept), "--save", str(kept))
    assert 0 == again.exit_code, again.output
    assert "holds: the log of 6 leaves that you have is its beginning" in again.stdout
    assert TURNED.checkpoint() == kept.read_text(encoding="utf-8")
    assert [kept] == list(tmp_path.iterdir())
    assert read_checkpoint(TURNED.checkpoint()) == read_kept_checkpoint(kept.read_bytes()).signed


def test_a_contradiction_is_kept_and_the_checkpoint_of_before_too(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    """Given a log that was written anew, then exit status 1, and both notes are there to prove it."""
    kept, other = tmp_path / "hearts.note", log_of(*LEAVES[::-1], key=KEY)
    kept.write_text(LOG.checkpoint(6), encoding="utf-8")
    done = run(other, "--checkpoint", str(kept), "--save", str(kept))
    assert (1, True) == (done.exit_code, "FAILS: nothing shows that the log of 6" in done.stdout)
    assert LOG.checkpoint(6) == kept.read_text(encoding="utf-8")
    assert other.checkpoint() == (tmp_path / "hearts.note.contradicts").read_text(encoding="utf-8")
    assert "it and yours together prove it" in done.stderr


def test_what_could_not_be_looked_at_is_status_2_and_changes_nothing(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    """Of a server that is silent; and of a file that cannot be written, of which is told before the server is asked."""
    kept = tmp_path / "hearts.note"
    kept.write_text(LOG.checkpoint(6), encoding="utf-8")
    words = ("--checkpoint", str(kept), "--save", str(kept))
    done = run(LOG, *words, cheats={"/v1/log/proof": lambda _: httpx.Response(503)})
    assert (2, True) == (done.exit_code, "answers 503" in done.stderr)
    assert LOG.checkpoint(6) == kept.read_text(encoding="utf-8")
    assert [kept] == list(tmp_path.iterdir())
    done = run(LOG, "--save", str(tmp_path / "nowhere/note"))
    assert (2, True, "") == (done.exit_code, "the checkpoint cannot be kept in" in done.stderr, done.stdout)


def test_a_link_stays_one_and_what_is_no_file_is_refused(run: Callable[..., Result], tmp_path: Path) -> None:
    """Given a symbolic link, then the file that it leads to is written; a pipe and a folder are refused before all else."""
    kept, link, pipe = tmp_path / "kept/note", tmp_path / "note", tmp_path / "pipe"
    kept.parent.mkdir()
    link.symlink_to(kept)
    for _ in range(2):  # at first it leads nowhere
        assert 0 == run(LOG, "--save", str(link)).exit_code
        assert (True, LOG.checkpoint()) == (link.is_symlink(), kept.read_text(encoding="utf-8"))
    os.mkfifo(pipe)
    (tmp_path / "link-to-pipe").symlink_to(pipe)
    for name in ("pipe", "link-to-pipe", "kept"):
        done = run(LOG, "--save", str(tmp_path / name))
        assert (2, "") == (done.exit_code, done.stdout)
    assert "is no regular file" in run(LOG, "--save", str(pipe)).stderr
    assert pipe.is_fifo()


def test_a_contradiction_replaces_no_pipe(run: Callable[..., Result], tmp_path: Path) -> None:
    """What stands where the second checkpoint would be kept is left as it is."""
    kept, pipe = tmp_path / "note", tmp_path / "note.contradicts"
    kept.write_text(LOG.checkpoint(6), encoding="utf-8")
    os.mkfifo(pipe)
    done = run(log_of(*LEAVES[::-1], key=KEY), "--checkpoint", str(kept), "--save", str(kept))
    assert (1, True) == (done.exit_code, "cannot be kept in" in done.stderr)
    assert pipe.is_fifo()


def test_it_is_told_to_programs_too(run: Callable[..., Result]) -> None:
    """One object, with everything."""
    done = run(LOG, "--json")
    body = json.loads(done.stdout)
    assert (0, True, [], LOG.checkpoint()) == (
        done.exit_code,
        body["ok"],
        body["problems"],
        body["checkpoint"],
    )
    assert 2 == len(body["holds"])


@pytest.mark.parametrize(
    "words", [["--url", "hearts.example"], ["--url", URL, "--server-key", "zz"], [], ["--url", URL, "--timeout", "0"]],
    ids=count(),
)  # fmt: skip
def test_what_cannot_be_meant_is_status_2(words: list[str]) -> None:
    """In a sentence."""
    assert 2 == CliRunner().invoke(log_group, ["check", *words]).exit_code
