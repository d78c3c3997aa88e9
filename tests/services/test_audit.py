"""The server's key: one a store, for life, and never replaced in silence."""

from pathlib import Path

import pytest

from services.audit import KeyFileError, ServerKeyMismatch, exposure, server_key
from services.cluster import Client, wire_of
from services.keys import Keys
from services.settings import Settings
from services.wire import Wire
from services.wiring import build

SEEDS = [bytes([number]) * 32 for number in range(3)]


def draw(number: int):
    """Entropy of a machine."""
    return lambda count: SEEDS[number][:count]


@pytest.fixture
def wire(client: Client) -> Wire:
    """A line to an empty store of each kind in turn."""
    return wire_of(client)


def test_the_first_start_makes_the_key_and_tells_the_store(wire: Wire, tmp_path: Path) -> None:
    """Given an empty store and no file, then both are there afterwards, and the same key is found again."""
    path = tmp_path / "server.key"
    key = server_key(wire, path, draw(0))
    assert key.public.encode() == wire.call("GET", Keys.server_key)
    assert 0o600 == path.stat().st_mode & 0o777
    assert key.public == server_key(wire, path, draw(1)).public


def test_a_store_from_before_is_told_the_key(wire: Wire, tmp_path: Path) -> None:
    """Given a key file and a store that knows of none, then the first start writes it there."""
    path = tmp_path / "server.key"
    path.write_text(SEEDS[2].hex())
    key = server_key(wire, path, draw(0))
    assert (SEEDS[2].hex(), key.public.encode()) == (path.read_text(), wire.call("GET", Keys.server_key))


def test_a_lost_file_is_not_replaced(wire: Wire, tmp_path: Path) -> None:
    """Given a store with a key, when its file is gone, then the start is refused, and no file is made."""
    path = tmp_path / "keys" / "server.key"
    public = server_key(wire, path, draw(0)).public
    lost = path.rename(tmp_path / "lost")
    with pytest.raises(ServerKeyMismatch) as caught:
        server_key(wire, path, draw(1))
    assert all(
        word in str(caught.value)
        for word in (public, str(path), "HEARTS_KEY_FILE", "put the right file back")
    )
    assert [] == list(path.parent.iterdir())
    assert public.encode() == wire.call("GET", Keys.server_key)
    lost.rename(path)
    assert public == server_key(wire, path, draw(1)).public


def test_another_key_is_refused(wire: Wire, tmp_path: Path) -> None:
    """Both keys are named, and the file."""
    public = server_key(wire, tmp_path / "a", draw(0)).public
    (tmp_path / "b").write_text(SEEDS[1].hex())
    with pytest.raises(ServerKeyMismatch) as caught:
        server_key(wire, tmp_path / "b", draw(2))
    assert caught.value.found is not None
    assert caught.value.found in str(caught.value)
    assert public in str(caught.value)


def test_a_file_that_cannot_be_read_is_told_as_such(wire: Wire, tmp_path: Path) -> None:
    """A folder in its place, a path that is too long, and what is no key are no lost files."""
    server_key(wire, tmp_path / "a", draw(0))
    (tmp_path / "b").write_text("no key")
    for path in (tmp_path, tmp_path / "b", tmp_path / ("x" * 300)):
        with pytest.raises(KeyFileError, match="cannot be used"):
            server_key(wire, path, draw(0))


def test_services_are_not_built_with_another_key(client: Client, tmp_path: Path) -> None:
    """Whatever process starts is held to it."""
    settings = Settings(data=tmp_path / "a", partitions=4)
    build(settings, store=client)
    with pytest.raises(ServerKeyMismatch):
        build(Settings(data=tmp_path / "b", partitions=4), store=client)
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"zz" * 32, "something else than the 64 digits of hex"),
        (b"\xff\xfe", "something else than the 64 digits of hex"),
        ("é".encode() * 32, "something else than the 64 digits of hex"),
        (b"00 " * 32, "something else than the 64 digits of hex"),
        (b"00" * 31, "has 62 digits of hex and should have 64"),
        (b"", "has 0 digits of hex and should have 64"),
        (None, "cannot be used: Is a directory"),
    ],
)
def test_a_bad_key_file_is_told_in_plain_words(
    wire: Wire, tmp_path: Path, content: bytes | None, told: str
) -> None:
    """Not in those of the machine."""
    path = tmp_path if content is None else tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(KeyFileError) as caught:
        server_key(wire, path, draw(0))
    assert str(caught.value).endswith(told) or told in str(caught.value)
    assert not any(word in str(caught.value) for word in ("Errno", "codec", "fromhex"))


@pytest.mark.parametrize(
    ("mode", "may"),
    [(0o666, "read and write"), (0o644, "read"), (0o622, "write"), (0o640, "read"), (0o600, ""), (0o400, "")],
)
def test_a_key_that_others_may_use_is_warned_of(tmp_path: Path, mode: int, may: str) -> None:
    """In a sentence that says what to do; of one that is its owner's alone nothing is said."""
    path = tmp_path / "key"
    assert exposure(path) is None
    path.touch()
    path.chmod(mode)
    told = exposure(path)
    assert told == (
        f"others may {may} the server key in {path}: make it yours alone (chmod 600)" if may else None
    )
