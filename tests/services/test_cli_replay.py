"""`hearts replay`: a game event by event, from the store and from a proof file, and the table as each seat knew it."""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from domain.cards import NAMES, cards_of, parse_card
from domain.events import CardPlayed, CardsPassed, HandDealt
from domain.rules import legal_plays
from domain.view import view
from services.cli_replay import replay
from services.codec import CODEC
from services.proof import proof_lines
from services.retold import STATION, NotShown, Retold
from tests.golden.test_golden import FOLDER, recorded
from tests.support.records import cut, moon_record, small_record, spoil

GAMES = sorted(path.name.split(".")[0] for path in FOLDER.glob("*.ndjson.z"))


def run(*words: str, given: str = "") -> Result:
    """The command, as on a command line."""
    return CliRunner().invoke(replay, list(words), input=given)


@pytest.fixture
def proof(tmp_path: Path) -> Callable[[str], str]:
    """The proof file of a recorded game, perhaps broken off after some events."""

    def write(name: str, upto: int | None = None) -> str:
        path = tmp_path / f"{name}.ndjson"
        path.write_bytes(b"".join(proof_lines(recorded(name)[1][:upto])))
        return str(path)

    return write


def retold(name: str, upto: int | None = None) -> Retold:
    """A recorded game, as the store has it."""
    events = CODEC.decode_all(recorded(name)[1][:upto])
    return Retold(events, lambda state: [f"S{seat}" for seat in range(len(state.seats))])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", GAMES)
def test_every_event_of_every_family_is_told(proof: Callable[[str], str], name: str) -> None:
    """A line an event, in order; and with all cards open the table after each has as many cards as it should."""
    lines = run(proof(name)).output.splitlines()
    entries = recorded(name)[1]
    assert [seq for seq, _, _ in entries] == [int(line.split()[0]) for line in lines]
    assert not [line for line in lines if re.search(r"\b[A-Z][a-z]+[A-Z]", line)], (
        "an event is told by its class"
    )
    story = retold(name)
    for seq in range(1, len(story) + 1, 17):
        shown = story.board(seq, None, everybody=True)
        assert shown[0].startswith(f"event {seq}, ")


def test_what_a_seat_knew_is_its_view(proof: Callable[[str], str]) -> None:
    """Its own cards and no others, and what it might play."""
    story = retold("standard-5")
    for seq in range(STATION - 20, STATION + 20):
        state = story._state(seq)
        for seat in range(5):
            text = "\n".join(story.board(seq, seat))
            own = view(state, seat).own
            held = {NAMES[card] for card in cards_of(own.hand)} if own else set()
            others = {
                NAMES[card]
                for other in range(5)
                if other != seat and state.hand
                for card in cards_of(state.hand.held[other])
            }
            shown = set(re.findall(r"\b(?:[2-9TJQKA])[CDSH]\b", text))
            assert held <= shown
            assert not shown & (others - held)


def test_the_rule_is_named_for_every_card() -> None:
    """Each card of the seat to play is told to be allowed, or not, and by which rule."""
    story = retold("classic-4")
    codes = set()
    for seq in range(1, len(story) + 1):
        state = story._state(seq)
        if state.phase != "play" or state.hand is None or state.hand.turn < 0:
            continue
        legal = legal_plays(state.terms, state.hand)
        played = story._events[seq - 1]
        for card in cards_of(state.hand.held[state.hand.turn]):
            if getattr(played, "card", "") == NAMES[card]:
                continue  # of two decks: then it is that play which is explained
            told = story.why(seq, card)
            assert (" may: " in told) == bool(legal & 1 << card)
            codes.update(re.findall(r"\(((?:play|may)/\w+)", told))
    assert {"play/must_follow_suit", "play/hearts_not_broken", "may/follow_suit", "may/discard"} <= codes


def test_a_play_is_explained_at_its_own_event() -> None:
    """Given the line of a card that was played, `why` at its number tells by which rule it was; with its seat or without."""
    story = retold("basic-4")
    seq, event = next((at, one) for at, one in enumerate(story._events, 1) if isinstance(one, CardPlayed))
    told = story.why(seq, parse_card(event.card))
    assert told.startswith(f"S{event.seat} ({event.seat}) may: {event.card}: seat {event.seat} ")
    assert told == story.why(seq, parse_card(event.card), event.seat)


def test_a_pass_is_explained() -> None:
    """At its own event, and before it for a seat that is named: what it holds it may pass, until it has."""
    story = retold("basic-4")
    passes = [at for at, one in enumerate(story._events, 1) if isinstance(one, CardsPassed)]
    event = story._events[passes[0] - 1]
    assert isinstance(event, CardsPassed)
    card = parse_card(event.text.split()[0])
    told = story.why(passes[0], card)
    assert f"S{event.seat} ({event.seat}) may: {NAMES[card]}: seat {event.seat} passes 3 of its cards" in told
    assert "(may/pass)" in told
    before = passes[0] - 1
    assert told == story.why(before, card, event.seat)
    other = (event.seat + 1) % 4
    assert "does not hold it (pass/wrong_cards" in story.why(before, card, other)
    assert "has passed already" in story.why(passes[1], parse_card("2C"), event.seat)
    with pytest.raises(NotShown, match="--seat says by whom"):
        story.why(before, card)


def test_without_an_event_each_time_is_explained(proof: Callable[[str], str]) -> None:
    """Given a finished game, `--why QS` tells every play and pass of the queen, of one seat alone where it is named."""
    file = proof("basic-4")
    lines = run(file, "--why", "QS").output.splitlines()
    whole = CODEC.decode_all(recorded("basic-4")[1])
    moved = [
        at
        for at, one in enumerate(whole, 1)
        if getattr(one, "card", "") == "QS" or (isinstance(one, CardsPassed) and "QS" in one.text)
    ]
    assert moved == [int(line.split()[0]) for line in lines]
    assert all("may: QS: seat" in line for line in lines)
    (seat, *_) = [int(re.findall(r"seat (\d)", line)[0]) for line in lines]
    own = run(file, "--why", "QS", "--seat", str(seat)).output.splitlines()
    assert own == [line for line in lines if f"QS: seat {seat} " in line]


def test_a_secret_pass_changes_no_word() -> None:
    """Given a pass of a hand in play, then what is said of a card is the same whether it was passed or not."""
    whole = CODEC.decode_all(recorded("basic-4")[1])
    second = [at for at, event in enumerate(whole, 1) if isinstance(event, HandDealt)][1]
    story = retold("basic-4", second + 9)
    at = next(at for at, one in enumerate(story._events, 1) if at > second and isinstance(one, CardsPassed))
    told = set()
    for card in range(52):
        with pytest.raises(NotShown) as caught:
            story.why(at, card)
        told.add(str(caught.value))
        assert all(seq < second for seq, _ in story.whys(card))
    assert 1 == len(told)


def test_differences_name_the_players() -> None:
    """As they are called, not by ids alone: in the trick, the turn, the totals and the seats."""
    story = retold("basic-4")
    first = next(at for at, one in enumerate(story._events, 1) if isinstance(one, CardPlayed))
    changed = dict(line.split(": ", 1) for line in story.changes(first - 1, first, None))
    event = story._events[first - 1]
    assert isinstance(event, CardPlayed)
    assert changed["trick"] == f"- -> S{event.seat} ({event.seat}) {event.card}"
    assert f"S{event.seat} ({event.seat}) -> S" in changed["turn"]
    assert changed[f"seat {event.seat}"].startswith(f"S{event.seat}, bot, ready, ")


def test_a_file_that_does_not_hold_is_warned_of(proof: Callable[[str], str]) -> None:
    """Given a byte is changed, then one line says so, where `hearts verify` would fail; a file that holds has none."""
    file = Path(proof("basic-4"))
    assert "" == run(str(file)).stderr
    data = file.read_bytes()
    file.write_bytes(data.replace(b'"by":"bot"', b'"by":"clock"', 1))
    done = run(str(file), "--at", "20")
    assert 1 == done.stderr.count("\n")
    assert "warning: this file does not hold" in done.stderr
    assert "FAILS at event" in done.stderr
    assert "event 20" in done.stdout


def test_cards_of_a_hand_in_play_stay_secret() -> None:
    """Given a game that goes on, then neither a seat's table nor a reason is told, and no pass; of hands that are over all is."""
    whole = CODEC.decode_all(recorded("basic-4")[1])
    second = [at for at, event in enumerate(whole, 1) if type(event).__name__ == "HandDealt"][1]
    story = retold("basic-4", second + 9)
    for ask in (
        lambda: story.board(second + 2, 0),
        lambda: story.board(second + 2, None, everybody=True),
        lambda: story.why(second + 9, 0),
        lambda: story.changes(second + 1, second + 3, 1),
    ):
        with pytest.raises(NotShown, match=r"when it is over|nobody is to play"):
            ask()
    assert story.board(second + 2, None)
    assert story.board(second - 1, 2)
    passes = [line for seq, line in story.lines() if " passes" in line]
    assert [True] * 4 == [":" in line for line in passes[:4]]
    assert not any(":" in line for line in passes[4:])


def test_a_proof_file_of_a_game_that_goes_on(proof: Callable[[str], str]) -> None:
    """Every event is told; the tables of the hand whose cards are not revealed yet are not known."""
    whole = CODEC.decode_all(recorded("basic-4")[1])
    second = [at for at, event in enumerate(whole, 1) if type(event).__name__ == "HandDealt"][1]
    file = proof("basic-4", second + 9)
    assert second + 9 == len(run(file).output.splitlines())
    assert run(file, "--at", str(second - 1), "--open").exit_code == 0
    refused = run(file, "--at", str(second + 5))
    assert (1, True) == (refused.exit_code, f"the table is known up to event {second - 1}" in refused.output)


def test_changes_between_two_moments() -> None:
    """What is the same is left out; from an event to itself nothing changes."""
    story = retold("basic-4")
    dealt = next(at for at, (_, line) in enumerate(story.lines(), 1) if "is dealt" in line)
    changed = story.changes(dealt - 1, dealt, 2)
    assert "hand: 0 -> 1" in changed
    assert any(line.startswith("cards held: - -> ") for line in changed)
    assert [] == story.changes(dealt, dealt, 2)


def test_step_by_step(proof: Callable[[str], str]) -> None:
    """Enter goes on, q ends; so does the end of the input."""
    file = proof("basic-4")
    done = run(file, "--step", "--at", "8", "--open", given="\n\nq\n")
    assert 0 == done.exit_code
    assert ["8", "9", "10"] == re.findall(r"^ +(\d+)  ", done.output, re.MULTILINE)


@pytest.mark.parametrize(
    "words, told",
    [
        (["--at", "99999"], "there is no event 99999; the game has"),
        (["--seat", "9"], "there is no seat 9"),
        (["--at", "3", "--why", "QS"], "nobody is to play or pass a card"),
        (["--step", "--why", "QS"], "--step and --why show different things: choose one"),
        (["--step", "--diff", "3"], "--step and --diff show different things"),
        (["--why", "QS", "--diff", "3"], "--why and --diff show different things"),
        (["--open", "--why", "QS"], "choose"),
        (["--open", "--diff", "3"], "choose"),
        (["--why", "QS", "--seat", "9"], "there is no seat 9"),
        (["--why", "1X"], "Invalid value for '--why'"),
        (["--open", "--seat", "1"], "choose"),
        (["--at", "0"], "Invalid value for '--at'"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence(
    proof: Callable[[str], str], words: list[str], told: str
) -> None:
    """With an exit code, and no traceback."""
    done = run(proof("basic-4"), *words)
    assert done.exit_code in (1, 2)
    assert told in done.output


def test_a_file_that_is_none(tmp_path: Path) -> None:
    """It is said in which line."""
    path = tmp_path / "x"
    path.write_bytes(b"nonsense")
    done = run(str(path))
    assert (1, True) == (done.exit_code, "line 1" in done.output)


def test_a_hand_that_is_played_out_has_no_further_trick(proof: Callable[[str], str]) -> None:
    """Given 13 tricks, then the last one is named as such, and behind it there is none."""
    file = proof("basic-4")
    story = retold("basic-4")
    scored = next(seq for seq, line in story.lines() if "is scored" in line)
    told = [run(file, "--at", str(seq)).output.splitlines()[0] for seq in (scored - 2, scored)]
    assert [True, True] == ["trick 13" in told[0], "all 13 tricks played" in told[1]]
    assert not [seq for seq in range(1, len(story) + 1) if "trick 14" in story.board(seq, None)[0]]


def test_a_proof_file_comes_by_standard_input(proof: Callable[[str], str], tmp_path: Path) -> None:
    """As `-`, or as a pipe with a name, like any file; --step has its Enter from there, and is refused."""
    file = Path(proof("basic-4"))
    whole, text = run(str(file)).output, file.read_text()
    assert whole == run("-", given=text).output
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    assert whole == run(str(pipe)).output
    writer.join()
    done = run("-", "--step", given=text)
    assert (2, True) == (done.exit_code, "--step waits for Enter" in done.output)


@pytest.mark.parametrize(
    ("record", "lines", "last"),
    [
        (small_record(), 37, "hand 2 is scored: Anna +0 = 0; Bo +0 = 0; Cy +13 = 26"),
        (cut(small_record(), 4, 1), 29, "Cy (2) plays QS"),
        (
            spoil(
                spoil(small_record(), "hands.1", {"deal": small_record()["hands"][1]["deal"], "kitty": "5S"}),
                "winners",
                None,
            ),
            20,
            "hand 2 is dealt",
        ),
        (moon_record(), 27, "hand 2 is scored"),
        (spoil(moon_record(), "hands.1.moon", ...), 25, "takes the trick"),
    ],
    ids=["two hands", "in mid-trick", "before the pass", "moons", "a moon to choose"],
)
def test_a_record_is_told_move_by_move(record: dict[str, object], lines: int, last: str) -> None:
    """As far as it was played; with the table at each move, of hands that are over as each seat knew it."""
    text = json.dumps(record)
    done = run("-", given=text)
    assert (0, "") == (done.exit_code, done.stderr)
    told = done.output.splitlines()
    assert (lines, True) == (len(told), last in told[-1]), done.output
    first = next(int(line.split()[0]) for line in told if " plays " in line)
    assert "legal: " in run("-", "--at", str(first - 1), "--seat", "0", given=text).output
    assert f"event {len(told)}, " in run("-", "--at", str(len(told)), given=text).output


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            json.dumps(spoil(small_record(), "hands.0.plays.0", "6S")),
            "this game record does not hold, so it cannot be told: hand 1, play 1: ",
        ),
        (2 * f"{json.dumps(small_record())}\n", "the file holds several game records, and one can be told"),
        (json.dumps(spoil(small_record(), "seats", ...)), "line 1: the record has no 'seats'"),
        ("", "the file is empty"),
    ],
)
def test_a_record_that_cannot_be_told(text: str, told: str) -> None:
    """It is said why, in one sentence."""
    done = run("-", given=text)
    assert (1, 1, True) == (done.exit_code, done.output.count("\n"), told in done.output), done.output


@pytest.mark.parametrize("name", ["no.ndjson", "folder/no", "a b"])
def test_a_file_that_is_not_there(name: str) -> None:
    """Is not asked of the store, which has no such ids."""
    done = run(name)
    assert (1, True) == (done.exit_code, f"there is no file {name}, " in done.output)


def test_neither_a_game_nor_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given what could be either, then the store is asked, and both are told."""
    monkeypatch.setenv("HEARTS_STORE_URL", f"unix://{tmp_path}/nothing")
    done = run("game")
    assert 1 == done.exit_code
    assert "the store does not answer" in done.output
    assert "(and there is no file game)" in done.output
