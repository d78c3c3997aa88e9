"""What `hearts play` keeps of a game, the command that checks it, and when it holds something against the server."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import httpx
import pytest
from click.testing import CliRunner, Result

from api import play as command
from api.playrun import program
from api.purse import Purse
from domain.events import GameLocked
from domain.seating import lock_event
from services.cli import main
from services.keyring import rotate_game
from services.wiring import Services
from tests.api.guests import Guest
from tests.api.wires import Play, Wire
from tests.support.clock import Clock

URL = command.DEFAULT_URL
OTHER = "ab" * 32
SHORT = ("basic", "--demo", "--set", "target=10")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of the command."""
    return tmp_path / "home" / "hearts"


def purse(home: Path) -> Purse:
    """The file of tokens and keys."""
    return Purse(home / "players.json")


def kept(home: Path) -> dict[str, object]:
    """What is kept of the only game."""
    (path,) = (home / "games").glob("*.json")
    found: dict[str, object] = json.loads(path.read_text())
    return found


def line_of(done: Result) -> str:
    """The printed command."""
    assert 0 == done.exit_code, done.output
    return re.findall("(?m)^.*hearts verify .*$", done.output)[0]


def run(line: str) -> Result:
    """The command as it was printed."""
    program, *words = shlex.split(line)
    assert "hearts" == program
    return CliRunner().invoke(main, words)


# --- the command at the end


def test_the_command_at_the_end_works_as_printed(play: Play) -> None:
    """Given a game that was played to its end, when the line is run, then every claim holds and nothing is left to pin."""
    done = run(line_of(play(*SHORT)))
    assert 0 == done.exit_code, done.output
    for claim in ("F (fair deals)", "I (nothing altered)", "R (rules and score)", "B (honest bots)"):
        assert f"{claim} holds" in done.output
    assert "not pinned" not in done.output
    assert "for seats 0," in done.output


def test_the_command_finds_what_is_changed_afterwards(play: Play) -> None:
    """Given the file is another one later, then the receipt is of a history that it is not."""
    line = line_of(play(*SHORT))
    path = Path(shlex.split(line)[2])
    whole = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*whole[:5], whole[5].replace(b'"at":1', b'"at":2'), *whole[6:]]))
    done = run(line)
    assert (1, True) == (done.exit_code, "I (nothing altered) FAILS" in done.output)


def test_where_the_file_cannot_be_had_it_is_fetched_by_the_command(
    play: Play, wire: Wire, tmp_path: Path, stranger: Guest
) -> None:
    """Given the server does not give the file just then, then the line has curl, and works with what that fetches."""
    game = ""

    def note(request: httpx.Request) -> httpx.Response | None:
        nonlocal game
        if request.url.path.endswith("/proof"):
            game = request.url.path.split("/")[3]
            return httpx.Response(404, json={"status": 404, "code": "game/unknown", "detail": "gone"})
        return None

    wire.instead = note
    line = line_of(play(*SHORT))
    fetch, pipe, rest = line.partition(" | ")
    assert (f"curl -s {URL}/v1/games/{game}/proof", " | ") == (fetch, pipe)
    fetched = tmp_path / "game.ndjson"
    fetched.write_bytes(stranger.get(f"/v1/games/{game}/proof").data)
    done = run(rest.replace(" - ", f" {fetched} "))
    assert (0, True) == (done.exit_code, "I (nothing altered) holds" in done.output), done.output


@pytest.mark.parametrize(
    ("called", "found", "told"),
    [
        ("/opt/x/bin/hearts", "/opt/x/bin/hearts", "hearts"),
        ("/opt/x/bin/hearts", "/usr/bin/hearts", "/opt/x/bin/hearts"),
        (".venv/bin/hearts", None, ".venv/bin/hearts"),
        ("/my games/hearts", None, "'/my games/hearts'"),
        ("/usr/bin/pytest", None, "hearts"),
    ],
)
def test_the_program_is_told_as_the_shell_finds_it(
    monkeypatch: pytest.MonkeyPatch, called: str, found: str | None, told: str
) -> None:
    """By its name where that leads to it, else by the path that it was called by."""
    monkeypatch.setattr("sys.argv", [called])
    monkeypatch.setattr("shutil.which", lambda _: found)
    assert told == program()


# --- what is kept


def test_the_last_receipt_of_a_game_is_kept(play: Play, home: Path, services: Services) -> None:
    """With the key that it is by and what the seat signs with; also of a game that was only left."""
    play("basic", "--set", "pass_count=0", typed="1\nquit\n")
    before = kept(home)
    assert services.key.public == before["server_key"]
    play("--game", "last", typed="1\n1\nquit\n")
    after = kept(home)
    assert before["receipt"]["seq"] < after["receipt"]["seq"]  # type: ignore[index]
    state = services.tables.load(str(after["game"])).state
    assert (0, state.seats[0].public_key) == (after["seat"], after["seat_key"])


def test_two_players_of_one_machine_have_a_file_each(
    play: Play, home: Path, wire: Wire, guest: Callable[[], Guest]
) -> None:
    """Given Anna and Bea at one table, then neither's receipts take the place of the other's."""
    host = guest()
    seats = ["me", "open", "open", {"bot": "rules"}]
    game = host.post("/v1/games", {"variant": "basic", "seats": seats}).json["id"]

    def interrupt() -> None:
        raise KeyboardInterrupt

    for name in ("Anna", "Bea"):
        wire.meanwhile = [interrupt]
        assert 130 == play("--game", game, "--name", name).exit_code
    assert 2 == len(list((home / "games").glob(f"*-{game}-*.json")))


# --- the lock


def test_a_lock_without_what_was_opened_is_told_at_once(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a server that takes the opening and deals without it, then its player knows before the first card."""

    def without(game: str, openings: Sequence[tuple[int, str, str]], at: int) -> GameLocked:
        return lock_event(game, [(seat, kind, "") for seat, kind, _ in openings], at)

    monkeypatch.setattr("domain.seating.lock_event", without)
    done = play("basic", typed="quit\n")
    told = done.output.index("locked without the randomness that you have opened")
    assert told < done.output.index("Hand 1.")


def test_who_is_ready_too_late_plays_without_a_part_in_the_deal(
    play: Play, wire: Wire, clock: Clock, services: Services, guest: Callable[[], Guest]
) -> None:
    """Given the time is over when our opening comes, then it is sent once, and the game goes on without it."""
    host = guest()
    seats = ["me", "open", {"bot": "rules"}, {"bot": "rules"}]
    opened = {"variant": "basic", "seats": seats, "pass_count": 0, "ready_seconds": 15}
    game = host.post("/v1/games", opened).json["id"]
    path = f"/v1/games/{game}"

    def come_late() -> None:
        assert 200 == host.post(f"{path}/ready").status_code
        clock.now += 15_000

    wire.before = {f"{path}/ready": come_late}
    wire.meanwhile = [lambda: None, lambda: host.delete(f"{path}/seats/0")]
    came = play("--game", game, "--name", "Bea", typed="quit\n")
    assert 0 == came.exit_code, came.output
    assert 1 == [request.url.path for request in wire.seen].count(f"{path}/ready")
    assert "Hand 1." in came.output
    assert "not opened in time" in came.output
    assert "" == services.tables.load(game).state.seats[1].entropy


# --- keys of the server


def test_the_key_first_seen_is_expected_from_then_on(play: Play, home: Path, services: Services) -> None:
    """Nothing is said while it is the same."""
    for _ in range(2):
        assert "server's key" not in play("basic", typed="quit\n").output
    assert [services.key.public] == purse(home).server_keys(URL)


def test_another_key_at_the_address_is_warned_of(play: Play, home: Path, services: Services) -> None:
    """Each time, until the player says which one is right."""
    purse(home).learn_key(URL, OTHER)
    for _ in range(2):
        done = play("basic", typed="quit\n")
        assert (
            f"{services.key.public[:16]}... is not the one first seen at this address, {OTHER[:16]}"
            in done.output
        )
    assert "is not" not in play("basic", "--server-key", services.key.public, typed="quit\n").output
    assert "is not" not in play("basic", typed="quit\n").output
    done = play("basic", "--server-key", OTHER, typed="quit\n")
    assert "is not the one that you gave" in done.output


def pins(line: str) -> list[str]:
    """The words of the printed command that pin the server's key."""
    words = shlex.split(line)
    at = [place for place, word in enumerate(words) if word.startswith("--server-key")]
    return [word for place in at for word in words[place : place + 2]]


def test_the_command_pins_the_key_that_the_player_gave(play: Play) -> None:
    """Given the server has another one, then it is warned of, and the check fails as it should instead of pinning that."""
    done = play(*SHORT, "--server-key", OTHER)
    assert "is not the one that you gave" in done.output
    assert ["--server-key", OTHER] == pins(line_of(done))
    checked = run(line_of(done))
    assert (1, True) == (checked.exit_code, "another server key than you have" in checked.output)


def test_the_command_pins_no_key_that_was_warned_of(play: Play, home: Path) -> None:
    """Given another key than the one first seen, then none is pinned; neither when the player comes back to that game."""
    purse(home).learn_key(URL, OTHER)
    play(*SHORT[:1], *SHORT[2:], typed="quit\n")
    done = play("--game", "last", "--demo")
    assert f"is not the one first seen at this address, {OTHER[:16]}" in done.output
    assert [] == pins(line_of(done))


def test_a_key_is_given_for_a_game_that_goes_on(play: Play) -> None:
    """Given the game was begun without one, then it is held to the one that is given later."""
    play(*SHORT[:1], *SHORT[2:], typed="quit\n")
    done = play("--game", "last", "--demo", "--server-key", OTHER)
    assert "is not the one that you gave" in done.output
    assert ["--server-key", OTHER] == pins(line_of(done))


@pytest.mark.parametrize("given", [True, False])
def test_after_a_rotation_the_command_has_the_old_key_and_the_list(
    play: Play, home: Path, services: Services, given: bool
) -> None:
    """Given the player knows the key from before, then its list, saved beside the receipt, leads to the one of the game."""
    first = services.key.public
    if not given:
        play("basic", typed="quit\n")
    services.key.turn_to(services.key.add(Random(5).randbytes))
    for words in (["--server-key", first] if given else [], []):
        done = play(*SHORT, *words)
        assert "server's key" not in done.output
        _, key, _, listed = pins(line_of(done))
        assert (first, home / "games", ".keys") == (key, Path(listed).parent, Path(listed).suffix)
        checked = run(line_of(done))
        assert (0, True) == (checked.exit_code, "its server key follows from yours" in checked.output)


def test_a_mistyped_key_is_never_said_to_have_been_seen(play: Play, home: Path, services: Services) -> None:
    """It is remembered as given, and given up for the right one."""
    play("basic", "--server-key", OTHER, typed="quit\n")
    assert ([], OTHER) == (purse(home).server_keys(URL), purse(home).given_key(URL))
    told = play("basic", typed="quit\n").output
    assert ("is not the one that you gave" in told, "first seen" in told) == (True, False)
    play("basic", "--server-key", services.key.public, typed="quit\n")
    assert "server's key" not in play("basic", typed="quit\n").output


@pytest.mark.parametrize("key", ["", "ab", "x" * 64])
def test_what_is_no_key_is_wrong_usage(play: Play, key: str) -> None:
    """Before anything is sent."""
    done = play("basic", "--server-key", key)
    assert (2, True) == (done.exit_code, "is no public key" in done.output)


def test_a_key_that_the_old_one_vouches_for_is_learnt(play: Play, home: Path, services: Services) -> None:
    """Given the server turns to a new key in a game that is followed, then games under the new one are as good."""
    play("basic", "--set", "pass_count=0", typed="1\nquit\n")
    first = services.key.public
    new = services.key.add(Random(5).randbytes)
    services.key.turn_to(new)
    rotate_game(services.tables, services.key, str(kept(home)["game"]))
    assert "key" not in play("--game", "last", typed="1\nquit\n").output
    assert [first, new] == purse(home).server_keys(URL)
    assert "key" not in play("basic", typed="quit\n").output


def test_a_key_that_the_list_vouches_for_is_learnt(play: Play, home: Path, services: Services) -> None:
    """Given the server has turned to a new key between two games, then its list shows that the new one is its own, too."""
    play("basic", typed="quit\n")
    first = services.key.public
    new = services.key.add(Random(5).randbytes)
    services.key.turn_to(new)
    assert "key" not in play("basic", typed="quit\n").output
    assert [first, new] == purse(home).server_keys(URL)


@pytest.mark.parametrize("answer", [httpx.Response(404, json={}), httpx.Response(200, content=b"no list")])
def test_a_server_without_such_a_list_is_warned_of(
    play: Play, wire: Wire, services: Services, answer: httpx.Response
) -> None:
    """An older one, or one that is another."""
    play("basic", typed="quit\n")
    services.key.turn_to(services.key.add(Random(5).randbytes))
    wire.instead = lambda request: answer if request.url.path == "/v1/log/keys" else None
    assert "which does not vouch for it" in play("basic", typed="quit\n").output


# --- another history


def test_a_receipt_of_another_history_is_told_and_kept(play: Play, home: Path, services: Services) -> None:
    """Given the server has signed other events than it tells now, then its word from then is not written over."""
    play("basic", "--set", "pass_count=0", typed="1\nquit\n")
    (path,) = (home / "games").glob("*.json")
    told = kept(home)
    forked = services.key.first.receipt(str(told["game"]), 4, bytes(32))
    path.write_text(json.dumps(told | {"receipt": forked._asdict()}))
    for _ in range(2):
        done = play("--game", "last", typed="1\nquit\n")
        assert "signed another history up to event 4" in done.output
    assert forked._asdict() == kept(home)["receipt"]


def test_a_link_to_the_file_of_tokens_stays_one(tmp_path: Path) -> None:
    """Given a symbolic link, then the file that it leads to is written."""
    real = tmp_path / "elsewhere.json"
    (tmp_path / "players.json").symlink_to(real)
    for key in ("aa", "bb"):
        purse(tmp_path).learn_key("http://here", key)
    assert (True, ["aa", "bb"]) == (
        (tmp_path / "players.json").is_symlink(),
        purse(tmp_path).server_keys("http://here"),
    )
    assert real.is_file()
