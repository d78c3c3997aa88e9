"""The operator's page in the browser: who gets in, what it shows of a house, and games that are tried again or left alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
import redis
from playwright.sync_api import Browser, expect

from services.embedded import store_socket_url
from services.keys import Keys
from services.settings import Settings
from tests.support.playing import DESK, PHONE, visitor
from tests.support.running import operator_token, running_house


class Operated(NamedTuple):
    """A house, and the token of its operator."""

    url: str
    token: str
    folder: Path


@pytest.fixture(scope="module")
def operated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Operated]:
    """A whole house."""
    folder = tmp_path_factory.mktemp("house") / "data"
    with running_house(folder) as url:
        yield Operated(url, operator_token(url, folder), folder)


def test_the_door(browser: Browser, operated: Operated) -> None:
    """A wrong token is refused in words; a right one is kept until the tab is closed."""
    with visitor(browser) as person:
        page = person.new_page()
        page.goto(f"{operated.url}/admin")
        page.fill("#token", "nonsense")
        page.keyboard.press("Enter")
        expect(page.locator(".problem")).to_contain_text("not valid")
        page.fill("#token", operated.token)
        page.keyboard.press("Enter")
        expect(page.locator("#pill")).to_have_text("live")
        page.reload()
        expect(page.locator(".figures li").first).to_be_visible()
        other = person.new_page()
        other.goto(f"{operated.url}/admin")
        expect(other.locator("#token")).to_be_visible()


@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_what_it_shows(browser: Browser, operated: Operated, size: dict[str, int]) -> None:
    """Figures, pictures, both queues with their workers; on a phone nothing runs over the edge."""
    with visitor(browser, viewport=size) as person:
        page = person.new_page()
        page.goto(f"{operated.url}/admin")
        page.fill("#token", operated.token)
        page.keyboard.press("Enter")
        expect(page.locator(".picture svg")).to_have_count(4)
        expect(page.locator("main")).to_contain_text("hearts-audits")
        expect(page.locator(".figures")).to_contain_text("appends to project")
        expect(page.locator("main")).to_contain_text(re.compile("idle|busy|started"))
        assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]


def test_a_game_that_was_set_aside(browser: Browser, operated: Operated) -> None:
    """Given a mark that was left on a game, when it is left alone by a button, then nothing warns of it; tried again, it is gone."""
    made = httpx.post(f"{operated.url}/v1/players", json={"name": "Anna"}).json()
    auth = {"Authorization": f"Bearer {made['token']}"}
    body = {"variant": "standard", "seats": [{"bot": "rules"}] * 4, "hand_limit": 1}
    game = httpx.post(f"{operated.url}/v1/games", json=body, headers=auth).json()["id"]
    keys = Keys(Settings().partitions)
    mark = json.dumps({"seq": 3, "why": "CorruptStream: for a test", "times": 1, "at": 1, "ended": False})
    while not [
        one for one in httpx.get(f"{operated.url}/v1/games?status=over").json()["games"] if one["id"] == game
    ]:
        httpx.get(f"{operated.url}/v1/games/{game}/events?after=0&wait=1", timeout=30)
    with redis.Redis.from_url(store_socket_url(operated.folder)) as store:
        store.hset(keys.parked(keys.partition(game)), game, mark)
    with visitor(browser) as person:
        page = person.new_page()
        page.goto(f"{operated.url}/admin")
        page.fill("#token", operated.token)
        page.keyboard.press("Enter")
        expect(page.locator(".why")).to_have_text("CorruptStream: for a test")
        expect(page.locator(".warn")).to_contain_text("set aside")
        page.click(f"[data-asks='skip {game}']")
        expect(page.locator("main")).to_contain_text(re.compile("once, .* ago, left alone"))
        expect(page.locator(".warn", has_text="set aside")).to_have_count(0)
        expect(page.locator(f"[data-asks='skip {game}']")).to_have_count(0)
        page.click(f"[data-asks='retry {game}']")
        expect(page.locator("main")).to_contain_text("No game is set aside")
