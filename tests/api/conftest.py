"""The API on a real store, with a clock that stands still and chance from a seed."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from threading import Event

import click
import pytest
import redis
from click.testing import CliRunner
from flask import Flask
from playwright.sync_api import Browser

from api import play as command
from api.app import create_app
from api.signer import SigningClient
from services.settings import Settings
from services.wiring import Services, build
from tests.api.contract import ContractClient
from tests.api.guests import Guest
from tests.api.wires import Play, Wire
from tests.support.browser import running_browser
from tests.support.clock import Clock
from tests.support.unlimited import UNLIMITED
from workers.projector import Projector


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for the tests of a module."""
    with running_browser() as browser:
        yield browser


@pytest.fixture
def clock() -> Clock:
    """The clock of the services."""
    return Clock(1_700_000_000_000)


@pytest.fixture
def services(valkey: redis.Redis, tmp_path: Path, clock: Clock) -> Services:
    """Services on an empty Valkey."""
    settings = Settings(data=tmp_path, partitions=4, api_threads=8, **UNLIMITED)
    return build(settings, store=valkey, clock=clock, entropy=Random(7).randbytes)


@pytest.fixture
def app(services: Services) -> Iterator[Flask]:
    """The application, whose clients hold every answer against the OpenAPI document; listeners are let go in the end."""
    stopping = Event()
    app = create_app(services, stopping=stopping.is_set)
    app.test_client_class = ContractClient
    yield app
    stopping.set()


@pytest.fixture
def guest(app: Flask) -> Callable[[], Guest]:
    """A maker of players."""
    numbers = itertools.count(1)
    return lambda: Guest(app, f"Player {next(numbers)}")


@pytest.fixture
def four(guest: Callable[[], Guest]) -> list[Guest]:
    """Four players."""
    return [guest() for _ in range(4)]


@pytest.fixture
def stranger(app: Flask) -> Guest:
    """Somebody without a token."""
    return Guest(app)


@pytest.fixture
def projector(services: Services) -> Projector:
    """What keeps the read models, the desks and the transparency log."""
    one = Projector(services.store, services.feed, services.projections, services.clock, block_ms=0)
    one.begin()
    return one


@pytest.fixture
def wire(app: Flask, services: Services) -> Wire:
    """The connection of the command."""
    return Wire(app, services.tables)


@pytest.fixture
def naps() -> list[float]:
    """The waits of the command's client, which take no time."""
    return []


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wire: Wire, naps: list[float]) -> Play:
    """Runs the command with words and typed lines, its files under a folder of the test."""
    monkeypatch.setattr(click, "get_app_dir", lambda name: str(tmp_path / "home" / name))
    made = functools.partial(SigningClient, transport=wire, sleep=naps.append)
    monkeypatch.setattr(command, "SigningClient", made)
    return lambda *words, typed="": CliRunner().invoke(command.play, [*words], input=typed)
