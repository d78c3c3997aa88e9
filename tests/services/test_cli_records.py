"""`hearts verify` and `hearts legal`: exit status, text and JSON for every kind of file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from domain.record import Verdict, parse_record, record_of
from domain.variants import ruleset_of
from services import record_files
from services.audit import ServerKey
from services.cli_records import legal, verify
from services.proof import proof_lines
from tests.support.games import play_game

KEY = ServerKey(bytes(range(32)))
GAME = play_game(ruleset_of({"variant": "basic", "hand_limit": 1}), 3, kinds="ppbb", server_key=KEY.public)
RECORD: dict[str, Any] = record_of(GAME.events, ["Anna", "Bo", "Cy", "Di"])  # type: ignore[arg-type]
PROOF = b"".join(proof_lines(GAME.entries(), KEY))
HAND: dict[str, Any] = RECORD["hands"][0]


def record(**changes: Any) -> dict[str, Any]:
    """The record of a finished hand with changes of that hand; ``None`` takes a field out."""
    hand = {key: value for key, value in (HAND | changes).items() if value is not None}
    return RECORD | {"hands": [hand]}


OVER = RECORD
UNFINISHED = record(plays=HAND["plays"][:1], points=None, totals=None) | {"winners": []}
BEFORE_PASS = record(**{"pass": None, "plays": [], "points": None, "totals": None}) | {"winners": []}
FAULTY = record(points=[1, 1, 1, 1])
REVOKE = record(plays=[HAND["plays"][4], *HAND["plays"][1:]])


@pytest.fixture
def run(tmp_path: Path) -> Any:
    """Run a command on files of these contents."""

    def call(command: Any, *contents: bytes, options: tuple[str, ...] = ()) -> Result:
        paths = []
        for at, content in enumerate(contents):
            path = tmp_path / f"file-{at}"
            path.write_bytes(content)
            paths.append(str(path))
        return CliRunner().invoke(command, [*options, *paths])

    return call


def line(data: dict[str, Any]) -> bytes:
    """A record on one line."""
    return json.dumps(data).encode() + b"\n"


def test_a_record_that_holds_is_status_0(run: Any) -> None:
    """A finished game prints its totals and winners by name."""
    result = run(verify, line(OVER))
    assert result.exit_code == 0
    winners = ", ".join(f"{RECORD['seats'][seat]} (seat {seat})" for seat in RECORD["winners"])
    assert result.stdout.endswith(
        f"file-0:1: holds; over after 1 hand, totals {HAND['totals']}, won by {winners}\n"
    )
    assert result.stderr == ""


def test_a_record_of_a_hand_in_play_says_who_is_to_play_what(run: Any) -> None:
    """The seat, its name and its legal cards stand in the text of both commands."""
    result = run(verify, line(UNFINISHED))
    shown = run(legal, line(UNFINISHED))
    data = json.loads(run(verify, line(UNFINISHED), options=("--json",)).stdout)
    seat, cards = data["turn"], " ".join(data["legal"])
    assert (result.exit_code, shown.exit_code) == (0, 0)
    waiting = f"hand 1: seat {seat} ({RECORD['seats'][seat]}) to play {cards}"
    assert f"holds; {waiting}, totals [0, 0, 0, 0]" in result.stdout
    assert shown.stdout.endswith(f"file-0:1: {waiting}\n")


def test_a_faulty_record_is_status_1(run: Any) -> None:
    """The fault is told with its place, code and the legal cards."""
    result = run(verify, line(FAULTY))
    assert result.exit_code == 1
    assert "hand 1: score/points: points should be" in result.stdout
    revoke = run(verify, line(REVOKE))
    assert revoke.exit_code == 1
    assert "hand 1, play 1: play/" in revoke.stdout
    assert "(legal: " in revoke.stdout
    assert result.stderr == revoke.stderr == ""


def test_json_of_a_record_that_holds(run: Any) -> None:
    """The object has the documented fields, and no others."""
    over = json.loads(run(verify, line(OVER), options=("--json",)).stdout)
    assert over == {
        "ok": True,
        "phase": "over",
        "hand": 1,
        "points": [HAND["points"]],
        "totals": HAND["totals"],
        "winners": RECORD["winners"],
    }
    playing = json.loads(run(verify, line(UNFINISHED), options=("--json",)).stdout)
    assert set(playing) == {"ok", "phase", "hand", "turn", "legal", "points", "totals", "winners"}
    assert (playing["phase"], playing["points"], playing["winners"]) == ("play", [], [])
    assert playing["legal"]
    waiting = json.loads(run(verify, line(BEFORE_PASS), options=("--json",)).stdout)
    assert set(waiting) == {"ok", "phase", "hand", "points", "totals", "winners"}
    assert waiting["phase"] == "pass"


def test_json_of_a_faulty_record(run: Any) -> None:
    """A fault has its code and place, and what would have been right."""
    fault = json.loads(run(verify, line(FAULTY), options=("--json",)).stdout)
    assert fault == {
        "ok": False,
        "code": "score/points",
        "hand": 1,
        "detail": f"points should be {HAND['points']}",
        "right": HAND["points"],
    }
    revoke = json.loads(run(verify, line(REVOKE), options=("--json",)).stdout)
    assert set(revoke) == {"ok", "code", "hand", "play", "seat", "detail", "legal"}
    assert (revoke["hand"], revoke["play"]) == (1, 0)


def test_a_pretty_printed_record_is_read_whole(run: Any) -> None:
    """One record over many lines is one record, whatever its indentation."""
    for indent in (1, 2, "\t"):
        result = run(verify, json.dumps(OVER, indent=indent).encode())
        assert (result.exit_code, result.stderr) == (0, "")
        assert len(result.stdout.splitlines()) == 1


def test_a_fault_of_form_in_a_pretty_printed_record_names_its_line(run: Any) -> None:
    """JSON that breaks on line 5 is said to break there."""
    lines = json.dumps(OVER, indent=1).splitlines()
    lines[4] = lines[4] + " oops"
    result = run(verify, "\n".join(lines).encode())
    assert result.exit_code == 2
    assert "file-0: line 5: no JSON" in result.stderr


@pytest.mark.parametrize(
    "bad",
    [
        b"garbage\n",
        b'{"format":"hearts-record/1"}\n',
        b"[]\n",
        b"\xff\xfe\n",
        b'{"a":\n',
        b"{} {}\n",
        b"17\n",
    ],
)
def test_a_bad_line_does_not_keep_the_others_from_being_judged(run: Any, bad: bytes) -> None:
    """The line is named on standard error, the rest is judged, and the status is 2."""
    result = run(verify, line(OVER) + line(FAULTY) + bad + line(OVER) + line(UNFINISHED))
    assert result.exit_code == 2
    assert "file-0: line 3: " in result.stderr
    assert len(result.stderr.splitlines()) == 1
    said = result.stdout.splitlines()
    assert [text.rpartition("file-0:")[2].split(":")[0] for text in said] == ["1", "2", "4", "5"]
    data = run(verify, line(OVER) + bad + line(FAULTY), options=("--json",))
    assert [json.loads(text)["ok"] for text in data.stdout.splitlines()] == [True, False]
    assert data.exit_code == 2


def test_blank_lines_between_records_count_but_are_no_records(run: Any) -> None:
    """Blank lines are passed over, and the numbers of the lines stay right."""
    result = run(verify, line(OVER) + b"\n  \n" + line(OVER) + b"garbage\n\n")
    assert "file-0: line 5: " in result.stderr
    assert [text.rpartition("file-0:")[2].split(":")[0] for text in result.stdout.splitlines()] == ["1", "4"]


def test_blank_lines_at_the_top_count(run: Any) -> None:
    """Blank lines before the first record do not shift the numbers of the lines."""
    result = run(verify, b"\n\n" + line(OVER) + b"garbage\n")
    assert "file-0:3: holds" in result.stdout
    assert "file-0: line 4: " in result.stderr
    pretty = b"\n\n" + json.dumps(OVER, indent=1).encode().replace(b'"seats"', b"oops")
    oops = pretty.count(b"\n", 0, pretty.index(b"oops")) + 1
    assert f"file-0: line {oops}: no JSON" in run(verify, pretty).stderr


@pytest.mark.parametrize("content", [b"", b"\n", b"  \n\n \n"])
def test_an_empty_file_is_status_2(run: Any, content: bytes) -> None:
    """Nothing in a file is told as such."""
    for command in (verify, legal):
        result = run(command, content)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "line 1: the file is empty" in result.stderr


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (json.dumps(OVER).encode().replace(b"Anna", b"\xff\xfe"), "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b'{"format": "hearts-record/2"}', "hearts-record/2"),
        (line(OVER | {"rules": {"variant": "bridge"}}), "bridge"),
        (line(OVER | {"rules": {"variant": "basic", "hand": 40}}), "hand must be"),
        (line(OVER | {"mood": 1}), "mood"),
        (line(record(deal=["XX"])), "hand 1"),
        (b"\x00\x01\x02", "no JSON"),
        (json.dumps(OVER).encode("utf-16"), "the file is UTF-16, and records and proof files are UTF-8"),
        (line({key: value for key, value in OVER.items() if key != "seats"}), "the record has no 'seats'\n"),
        (b"{}", "the record has no 'format' and no 'rules' and no 'seats' and no 'hands'\n"),
    ],
)
def test_what_is_no_record_is_status_2_with_a_reason(run: Any, content: bytes, words: str) -> None:
    """Bytes that are no UTF-8, no JSON, no record or no playable rules are told with line and reason."""
    for command in (verify, legal):
        result = run(command, content)
        assert result.exit_code == 2, result
        assert "file-0: line 1: " in result.stderr
        assert words in result.stderr
        assert result.stdout == ""
        assert result.exception is None or isinstance(result.exception, SystemExit)


def test_the_worst_of_several_files_is_the_status(run: Any) -> None:
    """0 only if all hold, 2 if anything could not be read, whatever the order."""
    assert run(verify, line(OVER), line(UNFINISHED)).exit_code == 0
    assert run(verify, line(FAULTY), line(OVER)).exit_code == 1
    assert run(verify, b"garbage", line(FAULTY)).exit_code == 2
    assert run(verify, line(FAULTY), b"garbage", line(OVER)).exit_code == 2
    assert run(legal, line(OVER), line(FAULTY)).exit_code == 1
    assert run(legal, b"garbage", line(FAULTY)).exit_code == 2


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    """A file that is not there is told by click, with status 2."""
    result = CliRunner().invoke(verify, [str(tmp_path / "nowhere")])
    assert result.exit_code == 2
    assert "nowhere" in result.stderr
    assert CliRunner().invoke(verify, []).exit_code == 2


@pytest.mark.parametrize("command", ["verify", "legal"])
def test_standard_input_is_read_as_a_file(command: str) -> None:
    """`-` is standard input, and its lines are named so."""
    program = f"from services.cli_records import {command}; {command}()"
    done = subprocess.run(
        [sys.executable, "-c", program, "-"],
        input=line(UNFINISHED) + b"garbage\n" + line(FAULTY),
        capture_output=True,
        cwd=Path(__file__).parents[2],
        timeout=60,
    )
    assert done.returncode == 2
    assert done.stdout.startswith(b"<stdin>:1: ")
    assert b"\n<stdin>:3: " in done.stdout
    assert done.stderr.startswith(b"<stdin>: line 2: no JSON")


def test_legal_of_a_finished_or_faulty_game_says_so(run: Any) -> None:
    """Where nobody is to act the verdict is shown instead."""
    over = run(legal, line(OVER))
    assert over.exit_code == 0
    assert "holds; over after 1 hand," in over.stdout
    faulty = run(legal, line(FAULTY))
    assert faulty.exit_code == 1
    assert "score/points" in faulty.stdout
    assert "hand 1: waiting for the pass" in run(legal, line(BEFORE_PASS)).stdout
    goes_on = OVER | {"rules": {"variant": "basic"}, "winners": []}
    assert "hand 2: to be dealt" in run(legal, line(goes_on)).stdout


def test_a_pending_moon_is_told(run: Any, tmp_path: Path) -> None:
    """A moon that waits for its choice names who shot it."""
    rules = ruleset_of({"variant": "standard", "hand_limit": 1, "points": {"QS": 13}})
    game = play_game(rules, 4, kinds="bbbb")
    data: dict[str, Any] = record_of(game.events, ["A", "B", "C", "D"])  # type: ignore[arg-type]
    hand = {key: value for key, value in data["hands"][0].items() if key in ("deal", "pass", "plays")}
    text = line(data | {"hands": [hand], "winners": []})
    verdict = json.loads(run(verify, text, options=("--json",)).stdout)
    assert verdict["phase"] == "moon"
    assert "legal" not in verdict
    name = data["seats"][verdict["turn"]]
    expected = f"hand 1: seat {verdict['turn']} ({name}) shot the moon and chooses: add or subtract"
    assert expected in run(legal, text).stdout


# --- proof files


def test_a_proof_file_prints_a_line_a_claim(run: Any) -> None:
    """The game, then F, I, R and B, each with what it says."""
    result = run(verify, PROOF)
    assert result.exit_code == 0
    first, *claims = result.stdout.splitlines()
    assert first.endswith(f"file-0: game g-test, {len(GAME.events)} events")
    assert [text.split(" ")[2] for text in claims] == ["F", "I", "R", "B"]
    assert claims[0].startswith(
        "  F (fair deals) holds: for seats 0, 1, which contributed to the deals. Level 2 of 2"
    )
    assert claims[1].startswith("  I (nothing altered) holds only by the word of this file's own server: ")
    assert "; key not pinned. Level 1 of 3; to show more, add a receipt" in claims[1]


def test_a_proof_file_with_a_fault_is_status_1(run: Any) -> None:
    """A changed byte in an event makes claim I name the event."""
    lines = PROOF.splitlines(keepends=True)
    lines[20] = lines[20].replace(b'"at":', b'"at":1', 1)
    result = run(verify, b"".join(lines))
    assert result.exit_code == 1
    assert "I (nothing altered) FAILS at event 20: " in result.stdout
    data = json.loads(run(verify, b"".join(lines), options=("--json",)).stdout)
    assert data["ok"] is False
    assert {"name": "I", "status": "fails", "event": 20}.items() <= data["claims"][1].items()


def test_json_of_a_proof_file(run: Any) -> None:
    """One object with the game, its last head and the claims."""
    data = json.loads(run(verify, PROOF, options=("--json",)).stdout)
    assert set(data) == {"ok", "game", "events", "head", "claims", "key_pinned"}
    assert (data["ok"], data["game"], data["key_pinned"]) == (True, "g-test", False)
    assert [claim["name"] for claim in data["claims"]] == ["F", "I", "R", "B"]


def test_the_servers_key_is_pinned_by_option(run: Any) -> None:
    """`--server-key` is compared with the file's."""
    right = run(verify, PROOF, options=("--server-key", KEY.public))
    assert (right.exit_code, "not pinned" in right.stdout) == (0, False)
    wrong = run(verify, PROOF, options=("--server-key", "00" * 32))
    assert wrong.exit_code == 1
    assert "another server key" in wrong.stdout


def test_a_file_that_is_no_proof_after_its_header_is_status_2(run: Any) -> None:
    """The line at fault is named as in a record."""
    lines = PROOF.splitlines(keepends=True)
    cut = run(verify, b"".join(lines[:-2]))
    assert cut.exit_code == 2
    assert f"file-0: line {len(lines) - 1}: the line of heads is missing" in cut.stderr
    header = run(verify, lines[0])
    assert (header.exit_code, "line 2: there are no events" in header.stderr) == (2, True)


def test_a_proof_file_is_no_record_to_ask_for_legal_cards(run: Any) -> None:
    """`hearts legal` says what it got instead."""
    result = run(legal, PROOF)
    assert result.exit_code == 2
    assert "a proof file, not a record" in result.stderr


def test_a_proof_and_records_are_told_apart_by_their_content(run: Any) -> None:
    """Files of both kinds can be checked in one go."""
    result = run(verify, PROOF, line(OVER), options=("--json",))
    assert result.exit_code == 0
    assert [set(json.loads(text)) & {"claims", "phase"} for text in result.stdout.splitlines()] == [
        {"claims"},
        {"phase"},
    ]


def test_a_file_larger_than_allowed_is_refused(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line or record over the limit is status 2 and never read whole."""
    monkeypatch.setattr(record_files, "LARGEST_LINE", 500)
    for content in (line(OVER), json.dumps(OVER, indent=1).encode(), b"[" * 600):
        result = run(verify, content)
        assert result.exit_code == 2
        assert "longer than the 500 bytes" in result.stderr


@pytest.mark.parametrize("content", [line(OVER), line(OVER) * 2, json.dumps(OVER, indent=1).encode()])
def test_a_mark_of_utf_8_is_no_matter(run: Any, content: bytes) -> None:
    """Some editors begin every file with one."""
    marked, plain = run(verify, b"\xef\xbb\xbf" + content), run(verify, content)
    assert (0, plain.stdout) == (marked.exit_code, marked.stdout)


def test_a_count_of_hands_in_words(run: Any) -> None:
    """One hand, two hands."""
    assert "over after 1 hand, totals" in run(verify, line(OVER)).stdout
    verdict = Verdict(ok=True, phase="over", hand=2, points=[[0] * 4] * 2, totals=[0] * 4, winners=[0])
    assert "over after 2 hands, totals" in record_files.verdict_line(verdict, parse_record(OVER).seats)


@pytest.mark.parametrize("key", ["zz", "", "é" * 64, KEY.public[1:], KEY.public + "0", f" {KEY.public}"])
def test_what_is_no_public_key_is_wrong_usage(run: Any, key: str) -> None:
    """Nothing is said of the claims of the proof, which are not at fault."""
    result = run(verify, PROOF, options=("--server-key", key))
    assert (2, "") == (result.exit_code, result.stdout)
    assert "is no public key: that is 64 digits of hex" in result.stderr


def test_a_public_key_in_capitals_is_the_same(run: Any) -> None:
    """Hex is hex."""
    assert 0 == run(verify, PROOF, options=("--server-key", KEY.public.upper())).exit_code
