"""`hearts play` in plain lines on the application: whole games, wrong answers, leaving and coming back."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from api import play as command
from api.client import Client, Table
from api.purse import Purse
from services.wiring import Services
from tests.api.guests import Guest
from tests.api.wires import Play, Wire


def purse(tmp_path: Path) -> Purse:
    """The file of the command."""
    return Purse(tmp_path / "home" / "hearts" / "players.json")


def table_of(wire: Wire, tmp_path: Path) -> Table:
    """The table that was played last, as its player sees it."""
    kept = purse(tmp_path)
    with Client(command.DEFAULT_URL, kept.players(command.DEFAULT_URL)[0].token, transport=wire) as client:
        return client.table(kept.game(command.DEFAULT_URL) or "")


# --- games


@pytest.mark.parametrize(
    ("variant", "players"),
    [("basic", 4), ("standard", 3), ("special", 4), ("omnibus", 4), ("cancellation", 8)],
)
def test_a_whole_game_is_typed(play: Play, wire: Wire, tmp_path: Path, variant: str, players: int) -> None:
    """Line by line to the end page, with the winner, every score and how to check it."""
    words = [variant, "--players", str(players), "--set", "target=20", "--set", "pass_count=0"]
    done = play(*words, "--name", "Anna", typed="1\n" * 800)
    assert 0 == done.exit_code, done.output
    assert re.search(r"(?m)^.*(win|wins|share the win) with -?\d+ points\.", done.output)
    table = table_of(wire, tmp_path)
    assert ("over", "Anna") == (table.status, table.seats[0].name)
    totals = re.findall(r"(?m)^total +(.*)$", done.output)[-1]
    assert table.totals == [int(total) for total in totals.split()]
    assert f"/verify?game={table.id}\n" in done.output
    assert f"All {table.seq} events fit one chain." in done.output


def test_plain_lines_hold_no_signs_and_no_colours(play: Play) -> None:
    """What is piped is ASCII, a whole game long."""
    done = play("basic", "--demo", "--set", "target=10")
    assert 0 == done.exit_code, done.output
    assert done.output.isascii()
    assert "\x1b" not in done.output


def test_entropy_is_contributed(play: Play, services: Services, wire: Wire, tmp_path: Path) -> None:
    """The deal holds for the player's seat: it committed to bytes of its own and opened them."""
    play("basic", typed="quit\n")
    opened = services.tables.load(table_of(wire, tmp_path).id).state.seats[0]
    assert opened.entropy_commit
    assert 64 == len(opened.entropy)


def test_wrong_answers_are_explained_and_asked_again(play: Play) -> None:
    """What cannot be read here, and what the server refuses in its own words; nothing is played by it."""
    typed = "sparrow\n99\n1 1 2\n1 2\n1 2 3\n"
    done = play("basic", typed=typed)
    for told in (
        "not a card: 'sparrow'; write qs, 10s or its number",
        "there is no number 99; cards are numbered 1 to 13",
        "number 1 is there twice",
        "a pass is 3 of the cards held, each copy once",
        "pass exactly 3 cards of your hand",
    ):
        assert told in done.output
    assert 1 == done.output.count("you got")
    assert 0 == done.exit_code


def test_a_card_that_may_not_be_played_is_refused_in_the_servers_words(play: Play) -> None:
    """Its detail and its hint; one card at a time; then a legal one is taken, by name in any case."""
    opened = play("basic", "--set", "pass_count=0", typed="quit\n")
    hand = re.findall(r"Your hand: (.*)", opened.output)[-1].split()
    legal = re.findall(r"You may play: (.*)", opened.output)[-1]
    wrong = next(card for card in hand if card not in legal)
    right = legal.split(",")[0].split()[1]
    done = play("--game", "last", typed=f"{wrong}\n{hand[0]} {hand[1]}\n{right.lower()}\nquit\n")
    assert f"{wrong}: seat 0" in done.output
    assert f"play one of {' '.join(one.split()[1] for one in legal.split(', '))}" in done.output
    assert "one card is played at a time" in done.output
    assert re.search(rf"You (lead|play) {right}", done.output)


def test_everything_can_be_looked_at(play: Play) -> None:
    """Help, scores, rules with the server's summary, the last trick and the hand; then the same question."""
    typed = "?\nscore\nrules\nlast\nhand\n" + "1\n" * 3 + "last\n"
    done = play("standard", "--set", "pass_count=0", "--set", "target=61", typed=typed)
    for told in (
        "What you can type",
        "total",
        "Standard Hearts (standard)",
        "has 61 points",
        "No trick of this hand",
    ):
        assert told in done.output
    assert "Last trick: " in done.output
    assert done.output.count("Your hand: ") >= 6


# --- leaving and coming back


@pytest.mark.parametrize("typed", ["quit\n", "q\n", "", "1 2 3\n1\n"])
def test_a_game_that_was_left_is_come_back_to(play: Play, wire: Wire, tmp_path: Path, typed: str) -> None:
    """The line that is printed leads back, into the same seat of the same hand; so does `last`."""
    left = play("standard", "--name", "Bea", typed=typed)
    assert 0 == left.exit_code
    back = re.search(r"Come back with: hearts play (--game [0-9a-f]{24})\n", left.output)
    assert back is not None
    for words in (back[1].split(), ["--game", "last"]):
        again = play(*words, typed="rules\nquit\n")
        assert "You are back at the table, in hand 1." in again.output
        assert "Standard Hearts (standard)" in again.output
    assert "Bea" == table_of(wire, tmp_path).seats[0].name


def test_ctrl_c_tells_the_way_back(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the exit status of an interrupt."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("api.playrun.Game.run", interrupt)
    done = play("basic")
    assert (130, True) == (done.exit_code, "Come back with: hearts play --game" in done.output)


def test_each_name_is_a_player_of_its_own(play: Play, wire: Wire, tmp_path: Path) -> None:
    """A name that is known is taken again; a game finds the one who sits there."""
    first = play("basic", "--name", "Anna", typed="quit\n")
    game = re.findall(r"--game ([0-9a-f]+)", first.output)[0]
    play("basic", "--name", "Bea", typed="quit\n")
    play("basic", "--name", "Anna", typed="quit\n")
    kept = purse(tmp_path).players(command.DEFAULT_URL)
    assert ["Bea", "Anna"] == [one.name for one in kept]
    back = play("--game", game, typed="quit\n")
    assert "You are back at the table" in back.output
    assert "Anna" == table_of(wire, tmp_path).seats[0].name


def test_a_seat_before_the_deal_is_taken_anew(play: Play, wire: Wire, tmp_path: Path) -> None:
    """Entropy that a lost process had committed to is replaced, and the game begins."""
    play("basic", typed="quit\n")
    token = purse(tmp_path).players(command.DEFAULT_URL)[0].token
    with Client(command.DEFAULT_URL, token, transport=wire) as client:
        game = client.open_table("basic", ["me", *[{"bot": "rules"}] * 3], None, secrets.token_bytes(32)).id
    done = play("--game", game, "--demo")
    assert 0 == done.exit_code, done.output
    assert "\nhearts verify " in done.output


def test_a_seat_that_a_bot_keeps_is_taken_back(play: Play, wire: Wire, tmp_path: Path) -> None:
    """Who comes back plays again itself."""
    play("basic", typed="quit\n")
    table = table_of(wire, tmp_path)
    token = purse(tmp_path).players(command.DEFAULT_URL)[0].token
    with Client(command.DEFAULT_URL, token, transport=Wire(wire.app)) as client:
        client.stand(table.id, 0)
    done = play("--game", "last", typed="quit\n")
    assert "Your hand: " in done.output
    assert not table_of(wire, tmp_path).seats[0].away


def test_people_come_to_open_seats(
    play: Play, wire: Wire, guest: Callable[[], Guest], tmp_path: Path
) -> None:
    """The table waits for them, says how they come, and begins when the last is ready."""
    other = guest()

    def sit() -> None:
        assert 200 == other.post(f"/v1/games/{purse(tmp_path).game(command.DEFAULT_URL)}/seats").status_code

    def get_ready() -> None:
        assert 200 == other.post(f"/v1/games/{purse(tmp_path).game(command.DEFAULT_URL)}/ready").status_code

    def hand_over() -> None:
        # where the cards give the other the turn before ours, the stand-in must move for it
        path = f"/v1/games/{purse(tmp_path).game(command.DEFAULT_URL)}"
        seat = other.get(path).json["you"]
        assert 200 == other.delete(f"{path}/seats/{seat}").status_code

    wire.meanwhile = [sit, get_ready, hand_over]
    done = play("basic", "--open", "1", "--set", "pass_count=0", typed="quit\n")
    assert re.search(
        r"Waiting for 1 more player. They come with: hearts play --game [0-9a-f]{24}", done.output
    )
    assert "Waiting for Player 1" in done.output
    assert "Hand 1." in done.output


def test_a_stranger_sits_down_at_an_open_table(play: Play, wire: Wire, guest: Callable[[], Guest]) -> None:
    """With --game, where the table has not begun; a table that has is not theirs."""
    host = guest()
    seats = ["me", "open", {"bot": "rules"}, {"bot": "rules"}]
    game = host.post("/v1/games", {"variant": "basic", "seats": seats}).json["id"]
    path = f"/v1/games/{game}"
    wire.meanwhile = [lambda: host.post(f"{path}/ready"), lambda: host.delete(f"{path}/seats/0")]
    came = play("--game", game, "--name", "Bea", typed="quit\n")
    assert "Hand 1." in came.output
    late = play("--game", game, "--name", "Cleo")
    assert (1, True) == (late.exit_code, "you have no seat in this game" in late.output)


# --- a server that goes away


def test_a_server_that_goes_away_is_waited_for(
    play: Play, wire: Wire, naps: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The player is told, the move is sent again, and the game goes on."""
    answers = iter(["break", "1", "quit"])

    def read(_: str = "") -> str:
        answer = next(answers)
        if answer == "break":
            wire.faults = ["dropped", *["refused"] * 4]
            return "1"
        return answer

    monkeypatch.setattr(
        command.Lines.__init__, "__kwdefaults__", {**command.Lines.__init__.__kwdefaults__, "read": read}
    )
    done = play("basic", "--set", "pass_count=0")
    assert 0 == done.exit_code, done.output
    assert re.search(
        r"No answer from the server \(connection refused\)\. Trying again in [45] s", done.output
    )
    planned = [0.2, 0.5, 1, 2, 4]
    assert [True] * 5 == [least <= nap <= 1.25 * least for least, nap in zip(planned, naps, strict=True)]
    assert 2 == len(set(re.findall(r"You (?:lead|play) (..)", done.output)))


def test_a_silent_server_is_told_with_how_to_start_one(play: Play, wire: Wire) -> None:
    """Before anything else, and after some tries."""
    wire.faults = ["refused"] * 9
    done = play("basic")
    assert 1 == done.exit_code
    assert "no answer from http://127.0.0.1:8000" in done.output
    assert "make run" in done.output


def test_bytes_that_are_no_text_are_a_wrong_answer(play: Play) -> None:
    """What is typed in another encoding is asked again."""
    done = CliRunner().invoke(command.play, ["basic"], input=b"\xff\xfe\nquit\n")
    assert 0 == done.exit_code, done.output
    assert "not a card" in done.output


def test_the_short_word_for_quitting_is_told(play: Play) -> None:
    """Where help tells what can be typed."""
    assert "quit or q" in play("basic", typed="?\nq\n").output


def test_a_token_the_server_forgot_is_replaced(play: Play, tmp_path: Path) -> None:
    """A new data folder knows nobody: the player is made anew; a token that was given is not."""
    purse(tmp_path).keep(command.DEFAULT_URL, "Anna", "hearts_" + "x" * 43)
    done = play("basic", typed="quit\n")
    assert 0 == done.exit_code, done.output
    kept = purse(tmp_path).players(command.DEFAULT_URL)
    assert [("Player", 50)] == [(one.name, len(one.token)) for one in kept]
    given = play("basic", "--token", "hearts_wrong")
    assert (1, True) == (given.exit_code, "token" in given.output)
    for words in (("basic",), ("--game", "last"), ("--name", "Bea")):
        assert 1 == play("--token", "hearts_wrong", *words).exit_code
    assert kept == purse(tmp_path).players(command.DEFAULT_URL)


def test_a_kept_token_that_cannot_be_sent_counts_as_unknown(play: Play, tmp_path: Path) -> None:
    """A file that somebody has edited is no reason not to play."""
    purse(tmp_path).keep(command.DEFAULT_URL, "Anna", "é")
    done = play("basic", typed="quit\n")
    assert 0 == done.exit_code, done.output
    assert "é" not in [one.token for one in purse(tmp_path).players(command.DEFAULT_URL)]


# --- the command line


@pytest.mark.parametrize(
    ("words", "told"), [(["bridge"], "cancellation"), (["basic", "--open", "4"], "--open")]
)
def test_what_does_not_fit_the_variants_is_wrong_usage(play: Play, words: list[str], told: str) -> None:
    """A variant that the server has not, told with its list, and more open seats than there are."""
    done = play(*words)
    assert (2, True) == (done.exit_code, told in done.output), done.output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["basic", "--players", "5"], "basic is not played with 5 seats"),
        (["basic", "--set", "targt=3"], "did you mean target?"),
        (["basic", "--set", "target=0", "--set", "tie=never"], "tie must be"),
        (["basic", "--set", "target=NaN"], "target"),
        (["basic", "--set", "target=1e999"], "target"),
        (["basic", "--set", "target=" + "[" * 5000], "target"),
        (["basic", "--bot", "nobody"], "there are random, rules"),
        (["basic", "--name", "x" * 41], "1 to 40 characters"),
        (["--game", "nothing"], "there is no game"),
        (["--game", "last"], "no game at this server is remembered"),
    ],
)
def test_what_the_server_refuses_is_told_in_its_words(play: Play, words: list[str], told: str) -> None:
    """With exit status 1, and no traceback."""
    done = play(*words)
    assert (1, True) == (done.exit_code, told in done.output), done.output
    assert isinstance(done.exception, SystemExit)


def test_rules_are_set_by_value(play: Play, wire: Wire, tmp_path: Path) -> None:
    """Numbers, texts, lists and objects; custom is no variant of the list and can be played."""
    pairs = [
        "target=7",
        "removed=2D",
        "pass_cycle=[1,-1]",
        'points={"H":2}',
        "players=3",
        "hand=17",
        "floor=null",
    ]
    words = [word for pair in pairs for word in ("--set", pair)]
    assert 0 == play("custom", *words, typed="quit\n").exit_code
    rules = table_of(wire, tmp_path).rules
    assert (7, "2D", [1, -1], {"H": 2}, 3, "custom") == tuple(
        rules[key] for key in ("target", "removed", "pass_cycle", "points", "players", "variant")
    )


# --- what is kept


def test_tokens_are_for_their_user_alone(play: Play, tmp_path: Path) -> None:
    """Files and folders cannot be read by others, also after they are written again."""
    home = tmp_path / "home" / "hearts"
    for _ in range(2):
        play("basic", typed="quit\n")
        for path in (home, *home.rglob("*")):
            assert (0o700 if path.is_dir() else 0o600) == path.stat().st_mode & 0o777
    assert ["games", "players.json"] == sorted(one.name for one in home.iterdir())


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"http://127.0.0.1:8000": 7}', "\udcff"])
def test_a_spoilt_file_of_tokens_counts_as_none(play: Play, tmp_path: Path, text: str) -> None:
    """A game can be played all the same, and the file is whole afterwards."""
    path = tmp_path / "home" / "hearts" / "players.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert 0 == play("basic", typed="quit\n").exit_code
    assert ["players", "game", "move_keys", "server_keys", "given_key"] == list(
        json.loads(path.read_text())[command.DEFAULT_URL]
    )


def test_a_folder_that_cannot_be_written_is_no_reason_not_to_play(play: Play, tmp_path: Path) -> None:
    """The player is told that there is no way back."""
    (tmp_path / "home").write_text("a file in the place of the folder")
    done = play("basic", typed="1 2 3\nquit\n")
    assert 0 == done.exit_code, done.output
    assert "Your token is not kept" in done.output
    assert "Your moves are not signed" in done.output
    assert 1 == done.output.count("Receipts are not kept")
    assert "you got" in done.output
