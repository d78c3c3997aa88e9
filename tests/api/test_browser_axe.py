"""axe-core finds nothing wrong with any page, in any state, on a desk or a phone, by day or by night."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.api.test_browser_play_claims import to_claim
from tests.api.test_browser_play_games import to_moon
from tests.api.test_browser_play_live import two_at_a_table
from tests.api.test_browser_replay import bots_play, look
from tests.support.axe import findings_everywhere
from tests.support.playing import act, pass_three, play_out, sit, visitor
from tests.support.running import operator_token, running_house


class House(NamedTuple):
    """A house with a finished game of bots."""

    url: str
    folder: Path
    game: str


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A whole house."""
    folder = tmp_path_factory.mktemp("house") / "data"
    with running_house(folder) as url:
        yield House(url, folder, bots_play(url, hand_limit=3))


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a visitor's browser."""
    with visitor(browser) as person:
        yield person.new_page()


def check(page: Page, state: str) -> None:
    """Nothing is found in what is shown."""
    assert [] == findings_everywhere(page), state


def test_it_finds_what_is_wrong(page: Page, house: House) -> None:
    """A picture without words and a faint text are found, in each size and colour."""
    page.goto(f"{house.url}/")
    expect(page.locator("#sit")).to_be_visible()
    page.evaluate("document.querySelector('main').insertAdjacentHTML('beforeend', '<img src=/icon.svg>')")
    found = findings_everywhere(page)
    assert ["desk, light", "desk, dark", "phone, light", "phone, dark"] == [
        one.partition(":")[0] for one in found if "image-alt" in one
    ]


def test_the_lobby(browser: Browser, page: Page, house: House) -> None:
    """Empty, with tables of others and of one's own, and where the server cannot be had."""
    page.goto(f"{house.url}/")
    expect(page.locator("#sit")).to_be_visible()
    expect(page.locator(".tables .quiet")).to_be_visible()
    check(page, "empty")
    page.click(".opening summary")
    check(page, "more choices")
    sit(page, house.url)
    with visitor(browser) as friend:
        other = friend.new_page()
        other.goto(f"{house.url}/")
        other.click(".opening summary")
        other.select_option("#others", "1")
        other.click("#sit")
        expect(other.locator(".game")).to_have_attribute("data-phase", "seats")
        check(other, "a free seat")
        page.goto(f"{house.url}/")
        expect(page.locator(".tables a")).to_be_visible()
        expect(page.locator(".mine a")).to_be_visible()
        check(page, "tables")
        page.goto(other.url)
        expect(page.locator("[data-act=sit]")).to_be_visible()
        check(page, "a free seat, as a stranger sees it")
    page.route("**/v1/games?*", lambda route: route.fulfill(status=400, body="no"))
    page.goto(f"{house.url}/")
    expect(page.locator(".problem")).to_be_visible()
    check(page, "refused")


@pytest.mark.parametrize(
    ("family", "seats"), [("standard", 3), ("standard", 4), ("standard", 7), ("cancellation", 11)]
)
def test_a_table(page: Page, house: House, family: str, seats: int) -> None:
    """Passing, with cards raised, in play with a hint and a reason, with what has been taken, and at its end."""
    sit(page, house.url, family, seats)
    page.locator(".hand .card").first.click()
    check(page, "passing")
    page.locator(".hand .card").first.click()
    pass_three(page)
    check(page, "in play")
    while not page.locator(".card.barred").count():
        act(page)
    page.locator(".card.barred").first.click(force=True)
    expect(page.locator(".says")).to_contain_text(": ")
    page.click("[data-act=hint]")
    expect(page.locator(".card.hinted")).not_to_have_count(0)
    page.click(".tools summary")
    check(page, "a hint, and all tools")
    play_out(page)
    check(page, "the end")
    page.click("[data-act=scores]")
    check(page, "scores")


def test_the_dialogs(page: Page, house: House) -> None:
    """Rules, keys, scores over hands, and the last trick looked at again."""
    sit(page, house.url, hands="4")
    pass_three(page)
    act(page)
    page.keyboard.press("l")
    check(page, "the last trick")
    for key, name in (("x", "rules"), ("?", "keys")):
        page.keyboard.press(key)
        expect(page.locator(f"dialog[data-name={name}]")).to_be_visible()
        check(page, name)
        page.keyboard.press("Escape")
    play_out(page)
    page.keyboard.press("g")
    expect(page.locator(".chart")).to_be_visible()
    check(page, "scores over hands")


def test_how_the_deals_come_about(page: Page, house: House) -> None:
    """Before the deal, in play, and the game checked: with all that holds, and with a claim that fails."""
    sit(page, house.url)
    page.keyboard.press("f")
    expect(page.locator(".throwers li").nth(4)).to_be_visible()
    check(page, "in play")
    page.keyboard.press("Escape")
    play_out(page)
    page.click("[data-act=check]")
    expect(page.locator(".claim.holds")).not_to_have_count(0)
    check(page, "checked")
    page.route(
        "**/proof*",
        lambda route: route.fulfill(
            response=(one := route.fetch()), body=one.text().replace(',"seat":2', ',"seat":1', 1)
        ),
    )
    page.click("[data-act=verify]")
    expect(page.locator(".claim.fails")).not_to_have_count(0)
    check(page, "a claim fails")


def test_what_is_asked(page: Page, house: House) -> None:
    """The choice of a moon, and a claim."""
    to_moon(page, house.url)
    check(page, "moon")
    to_claim(page, house.url)
    check(page, "a claim is offered")
    page.click("[data-act=claim]")
    check(page, "a claim is asked about")


def test_a_seat_that_a_bot_plays(browser: Browser, house: House) -> None:
    """Between persons: waiting for the other, handed over, watched."""
    with two_at_a_table(browser, house.url) as (page, other):
        page.click(".tools summary")
        page.click("[data-act=leave]")
        expect(page.locator(".seat.me .chip", has_text="bot plays")).to_be_visible()
        check(page, "handed over")
        with visitor(browser) as person:
            watching = person.new_page()
            watching.goto(page.url)
            expect(watching.locator(".prompt")).to_contain_text("You are watching.")
            check(watching, "watching")
        assert other.url.startswith(house.url)


def test_games_looked_at_again(page: Page, house: House) -> None:
    """As everybody saw it, with all hands open, and by a seat's eyes with a reason told."""
    for asked in ("", "?at=40&open=1", "?at=40&as=1"):
        look(page, house.url, house.game, asked)
        check(page, asked)
    page.click("[data-act=advice]")
    expect(page.locator(".says")).to_contain_text("bot would")
    page.check("#spoil")
    check(page, "advice")


def test_what_there_is_not(page: Page, house: House) -> None:
    """A table that is nowhere, and a server that fails."""
    page.goto(f"{house.url}/#/table/nowhere")
    expect(page.locator(".stuck")).to_be_visible()
    check(page, "unknown")
    page.route("**/v1/games/*", lambda route: route.fulfill(status=400, body="no"))
    page.goto(f"{house.url}/#/table/other")
    expect(page.locator(".stuck button")).to_be_visible()
    check(page, "failed")


def test_a_lost_connection(page: Page, house: House) -> None:
    """The pill that tells it, and what is said of a move that does not get through."""
    sit(page, house.url)
    page.context.set_offline(True)
    expect(page.locator("#pill")).to_have_attribute("data-state", "lost")
    check(page, "lost")
    page.context.set_offline(False)
    expect(page.locator("#pill")).to_have_attribute("data-state", "live")


def test_verify_and_the_report(page: Page, house: House) -> None:
    """Before a game is named, with one that holds, and with what cannot be read."""
    for address in ("verify", "audit"):
        page.goto(f"{house.url}/{address}")
        expect(page.locator("#game")).to_be_visible()
        check(page, address)
        page.goto(f"{house.url}/{address}?game={house.game}")
        expect(page.locator(".verdict")).to_be_visible()
        check(page, f"{address} of a game")
        page.goto(f"{house.url}/{address}?game=nowhere")
        expect(page.locator("[role=alert]:visible, .problem:visible").first).to_be_visible()
        check(page, f"{address} of none")


def test_the_operator_s_page(page: Page, house: House) -> None:
    """The door, a wrong token, and the figures."""
    page.goto(f"{house.url}/admin")
    check(page, "the door")
    page.fill("#token", "nonsense")
    page.keyboard.press("Enter")
    expect(page.locator(".problem")).to_be_visible()
    check(page, "a wrong token")
    page.fill("#token", operator_token(house.url, house.folder))
    page.keyboard.press("Enter")
    expect(page.locator(".picture svg")).to_have_count(4)
    check(page, "the figures")


@pytest.mark.parametrize("address", ["about", "docs"])
def test_pages_of_text(page: Page, house: House, address: str) -> None:
    """What this server is, and its calls."""
    page.goto(f"{house.url}/{address}")
    check(page, address)
