"""The client that signs, and `hearts play --sign`."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import msgspec
import pytest
from click.testing import CliRunner, Result
from flask import Flask

from api import play as command
from api.client import Client, ClientError, Events, Problem, Strange
from api.purse import Purse
from api.signer import KeyNotKept, SigningClient
from domain.events import CardPlayed, CardsPassed, SeatTaken
from domain.signing import signed_move
from services.codec import CODEC
from services.signing import MoveKey
from services.wiring import Services
from tests.api.guests import Guest
from tests.api.wires import Wire

URL = "http://hearts.test"
BOTS: list[Any] = ["me", {"bot": "rules"}, {"bot": "rules"}, {"bot": "rules"}]
SECRET = bytes(range(32))


@pytest.fixture
def wire(app: Flask, services: Services) -> Wire:
    """A connection on which bots move at once."""
    return Wire(app, services.tables)


@pytest.fixture
def client(wire: Wire) -> SigningClient:
    """A player who signs."""
    made = SigningClient(URL, transport=wire, secrets_of=lambda *_: SECRET, signs=True)
    made.new_player("Anna")
    return made


def events_of(services: Services, game: str) -> list[Any]:
    """All events of a game, hidden parts included."""
    return [CODEC.decode(public, hidden) for _, public, hidden in services.tables.entries(game)]


def own_moves(services: Services, game: str) -> list[Any]:
    """The moves of seat 0."""
    kinds = (CardPlayed, CardsPassed)
    return [one for one in events_of(services, game) if isinstance(one, kinds) and one.seat == 0]


def play_some(client: Client, game: str, cards: int) -> None:
    """Pass, and play so many cards."""
    table = client.table(game)
    if table.phase == "pass":
        client.pass_cards(game, table.hand.split()[:3])
    for _ in range(cards):
        client.play(game, client.table(game).legal.split()[0])


def test_every_move_of_a_signing_client_is_signed(client: SigningClient, services: Services) -> None:
    """It registers its key with the seat and signs the pass and each play."""
    game = client.open_table("basic", BOTS).id
    client.ready(game)
    play_some(client, game, 5)
    taken = next(one for one in events_of(services, game) if isinstance(one, SeatTaken))
    assert MoveKey(SECRET).public == taken.public_key == client.key.public
    moves = own_moves(services, game)
    assert 6 == len(moves)
    assert all(signed_move(move) is not None for move in moves)


def test_a_seat_taken_by_an_earlier_process_is_signed_for(
    client: SigningClient, services: Services, wire: Wire
) -> None:
    """Given a table that its player signed at, when another process goes on without being told so, then it signs too."""
    game = client.open_table("basic", BOTS).id
    client.ready(game)
    play_some(client, game, 1)
    other = SigningClient(URL, client.token, transport=wire, secrets_of=lambda *_: SECRET)
    play_some(other, game, 2)
    assert [True] * 4 == [signed_move(move) is not None for move in own_moves(services, game)]


def test_a_client_that_does_not_sign_registers_nothing(wire: Wire, services: Services) -> None:
    """Unless it is asked to, no key is drawn, registered or used."""

    def unasked(*_: Any) -> bytes:
        raise AssertionError("nobody asked for a key")

    client = SigningClient(URL, transport=wire, secrets_of=unasked)
    client.new_player("Anna")
    game = client.open_table("basic", BOTS).id
    client.ready(game)
    play_some(client, game, 2)
    assert [False] * 3 == [signed_move(move) is not None for move in own_moves(services, game)]


def test_a_key_that_is_another_is_told(client: SigningClient, wire: Wire) -> None:
    """Given a machine with another key, then the server's refusal comes through."""
    game = client.open_table("basic", BOTS).id
    client.ready(game)
    other = SigningClient(URL, client.token, transport=wire, secrets_of=lambda *_: bytes(32))
    with pytest.raises(Problem) as caught:
        play_some(other, game, 1)
    assert "move/wrong_signature" == caught.value.code


def test_a_refusal_for_another_reason_is_not_tried_again(client: SigningClient, wire: Wire) -> None:
    """Only `move/unsigned` is answered by signing."""
    game = client.open_table("basic", BOTS).id
    other = SigningClient(URL, client.token, transport=wire, secrets_of=lambda *_: SECRET)
    with pytest.raises(Problem) as caught:
        other.play(game, "2C")
    assert "game/not_started" == caught.value.code


def test_a_key_that_cannot_be_kept_takes_no_seat(wire: Wire) -> None:
    """A seat whose key is lost could not be played, so none is registered."""

    def full(*_: Any) -> bytes:
        raise OSError("no space left")

    client = SigningClient(URL, transport=wire, secrets_of=full, signs=True)
    client.new_player("Anna")
    with pytest.raises(KeyNotKept, match="no space left"):
        client.open_table("basic", BOTS)
    assert issubclass(KeyNotKept, ClientError)


def test_a_history_that_was_changed_is_not_signed(
    client: SigningClient, services: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a server that tells a later event by another chain than the one it told before, then no move is sent."""
    game = client.open_table("basic", BOTS).id
    client.ready(game)
    play_some(client, game, 1)
    before = client.table(game).seq
    told = client.events

    def forked(*words: Any) -> Events:
        items = [msgspec.structs.replace(item, head="ab" * 32) for item in told(*words).events]
        return Events(items, 0)

    monkeypatch.setattr(client, "events", forked)
    with pytest.raises(Strange, match="another history"):
        client.play(game, client.table(game).legal.split()[0])
    assert before == services.tables.load(game).seq


def test_a_purse_keeps_one_key_for_each_player(tmp_path: Path) -> None:
    """By server and token; the token itself is not written down for it."""
    purse = Purse(tmp_path / "players.json")
    drawn = iter([bytes([1] * 32), bytes([2] * 32), bytes([3] * 32)])

    def draw(size: int) -> bytes:
        assert size == 32
        return next(drawn)

    first = purse.move_key("a", "token-1", draw)
    assert [first, bytes([2] * 32), bytes([3] * 32)] == [
        purse.move_key(url, token, draw)
        for url, token in (("a", "token-1"), ("a", "token-2"), ("b", "token-1"))
    ]
    assert "token" not in re.sub('"players"', "", (tmp_path / "players.json").read_text())
    assert first == Purse(tmp_path / "players.json").move_key("a", "token-1", draw)


# --- the command


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wire: Wire) -> Callable[..., Result]:
    """Runs the command, its files under a folder of the test."""
    monkeypatch.setattr(click, "get_app_dir", lambda name: str(tmp_path / "home" / name))
    made = functools.partial(SigningClient, transport=wire, sleep=lambda _: None)
    monkeypatch.setattr(command, "SigningClient", made)
    return lambda *words, typed="": CliRunner().invoke(command.play, [*words], input=typed)


def last_game(tmp_path: Path) -> str:
    """The game that was played last."""
    return Purse(tmp_path / "home" / "hearts" / "players.json").game(command.DEFAULT_URL) or ""


def test_a_game_is_played_with_signatures(
    play: Callable[..., Result], services: Services, tmp_path: Path
) -> None:
    """Without a word of it, and so it is when the player comes back."""
    left = play("basic", typed="1 2 3\nquit\n")
    assert 0 == left.exit_code, left.output
    assert "Come back with: hearts play --game" in left.output
    back = play("--game", "last", typed="1\n1\nquit\n")
    assert 0 == back.exit_code, back.output
    moves = own_moves(services, last_game(tmp_path))
    assert 3 == len(moves)
    assert all(signed_move(move) is not None for move in moves)


def test_a_game_is_played_without_signatures(
    play: Callable[..., Result], services: Services, guest: Callable[[], Guest], tmp_path: Path
) -> None:
    """Given `--no-sign`, or a token that may be used on machines without the key; unless it is asked for all the same."""
    token = guest().token
    for words, signs in (
        (["--no-sign"], False),
        (["--token", token], False),
        (["--token", token, "--sign"], True),
    ):
        done = play("basic", *words, typed="1 2 3\nquit\n")
        assert 0 == done.exit_code, done.output
        assert [signs] == [signed_move(move) is not None for move in own_moves(services, last_game(tmp_path))]


def test_a_key_that_must_sign_and_cannot_be_kept_is_told(play: Callable[..., Result], tmp_path: Path) -> None:
    """Given `--sign` in so many words, then no seat is taken without."""
    (tmp_path / "home").write_text("a file in the place of the folder")
    done = play("basic", "--sign")
    assert (1, True) == (done.exit_code, "the key that signs your moves cannot be kept" in done.output)


def test_friends_are_invited_without_it(
    play: Callable[..., Result], wire: Wire, guest: Callable[[], Guest], tmp_path: Path
) -> None:
    """Whether somebody else signs is for them to say."""
    other = guest()

    def come() -> None:
        game = f"/v1/games/{last_game(tmp_path)}"
        assert 200 == other.post(f"{game}/seats").status_code
        assert 200 == other.post(f"{game}/ready").status_code
        assert 200 == other.delete(f"{game}/seats/{other.get(game).json['you']}").status_code

    wire.meanwhile = [come]
    seen = play("basic", "--sign", "--open", "1", typed="quit\n")
    invitations = re.findall("They come with: (.*)", seen.output)
    assert invitations
    assert all("--sign" not in line for line in invitations)
