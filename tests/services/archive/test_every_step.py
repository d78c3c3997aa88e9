"""Given a death before or after any step of moving a game, to the store or to the archive, then nothing is lost or doubled."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from services.archive import Archive, Folder, Remote, file_name
from services.archiver import Archiver
from services.sealed import unpack
from services.store import Store
from services.wire import Wire
from services.wiring import Services
from tests.support.archived import HOURS

STEPS = [(Wire, "call"), (Wire, "pipeline")] + [
    (kind, name) for kind in (Folder, Remote) for name in ("write", "create", "read", "drop")
]
MOST_STEPS = 200


class Death(BaseException):
    """The process ends here; nothing of it may catch this."""


class Dying:
    """Ends the process at one of its steps."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int, *, after: bool) -> None:
        self._left, self._after = at, after
        for kind, name in STEPS:
            patch.setattr(kind, name, self._step(getattr(kind, name)))

    def _step(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **options: Any) -> Any:
            self._left -= 1
            if self._left < 0 and not self._after:
                raise Death
            done = real(*args, **options)
            if self._left < 0:
                raise Death
            return done

        return step


@pytest.fixture(params=["folder", "file://", "memory://"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where the archive is; an address in memory stands for those of other machines, and is each test's own."""
    return f"{'' if request.param == 'folder' else request.param}{tmp_path}/elsewhere"


def process(services: Services, place: str) -> tuple[Store, Archiver]:
    """Store and archive as another process has them."""
    archive = Archive(place, Wire(services.client))
    store = Store(services.client, services.keys, archive)
    return store, Archiver(store, archive, services.log.tree, HOURS, services.clock)


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("way", ["archive", "restore"])
def test_a_death_at_any_step(
    services: Services, game: str, place: str, way: str, after: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The game reads as before at once, and whoever comes next finishes the work."""
    entries = services.store.read(game)
    other = "restore" if way == "archive" else "archive"
    if way == "restore":
        process(services, place)[1].archive(game)
    for at in range(MOST_STEPS):
        _, archiver = process(services, place)
        done = False
        with monkeypatch.context() as patch, suppress(Death):
            Dying(patch, at, after=after)
            getattr(archiver, way)(game)
            done = True
        store, archiver = process(services, place)
        assert entries == store.read(game, fresh=True)
        getattr(archiver, way)(game)
        store, archiver = process(services, place)
        assert (len(entries) if way == "archive" else 1) == store.first(game)
        assert entries == store.read(game, fresh=True)
        assert (0 if way == "archive" else 1) == archiver.waiting()
        if way == "archive":
            archive = Archive(place, Wire(services.client))
            assert entries == unpack(archive.block(game, len(entries)))
        if done:
            assert at > 5
            return
        assert getattr(archiver, other)(game)
    raise AssertionError("it never came to its end")


def test_a_file_left_behind_is_no_game(services: Services, game: str, place: str) -> None:
    """Given a game that was moved back by who died before its file was dropped, then the store's events count."""
    store, archiver = process(services, place)
    entries = store.read(game)
    assert archiver.archive(game)
    block = Archive(place, Wire(services.client)).block(game, len(entries))
    assert archiver.restore(game)
    Archive(place, Wire(services.client)).write(game, len(entries), block)
    assert entries == process(services, place)[0].read(game, fresh=True)
    assert file_name(game, len(entries)).endswith(f"{len(entries)}.ndjson.gz")
    assert process(services, place)[1].archive(game)


def test_an_archived_game_takes_little(services: Services, archiver: Archiver, game: str) -> None:
    """Its last event alone is in the store, in a stream that has no room to spare."""
    key = services.keys.stream(game)
    assert archiver.archive(game)
    assert services.client.memory_usage(key, samples=0) < 700
    assert 1 == services.client.xlen(key)
