"""The page that shows the server's own report, as people see it: of a game that is over, one that goes on, one that is spoilt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Semaphore
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect

from services.wiring import Services
from tests.api.guests import Guest, open_table, play_on, seat_all
from tests.api.test_browser_page import FAINT, served
from tests.support.browser import ORIGIN, open_page
from tests.support.tampering import change
from workers.projector import Projector


@contextmanager
def audit_page(browser: Browser, app: Flask, query: str = "", **looks: Any) -> Iterator[Page]:
    """The page, loaded."""
    with open_page(browser, served(app), **looks) as page:
        page.goto(f"{ORIGIN}/audit{query}")
        yield page


@pytest.fixture
def game(services: Services, four: list[Guest], projector: Projector) -> str:
    """A finished game of bots, projected."""
    game = open_table(four[0], [{"bot": "rules"}] * 4, hand_limit=1)
    services.tables.act_for_house(game)
    while projector.round():
        pass
    return game


def badges(page: Page) -> dict[str, str]:
    """The status of each claim that is shown."""
    return {
        str(one.get_attribute("data-claim")): one.locator(".badge").inner_text()
        for one in page.locator(".claim").all()
    }


def test_a_report_is_shown_in_words(browser: Browser, app: Flask, game: str) -> None:
    """Given a game that is over, then the verdict and all four claims, and the way to check it oneself."""
    with audit_page(browser, app) as page:
        page.fill("#game", game)
        page.press("#game", "Enter")
        expect(page.locator(".verdict.holds h2")).to_have_text("The server finds nothing wrong")
        assert {"F": "not shown", "I": "holds", "R": "holds", "B": "holds"} == badges(page)
        expect(page.locator("[data-claim=B] .level")).to_contain_text("The bots decided again")
        expect(page.locator("[data-claim=B] .said")).to_contain_text("B (honest bots) holds: ")
        expect(page.locator("[data-claim=B] .said")).to_contain_text(re.compile("Level 1 of 1$"))
        assert 2 == page.locator(f"a[href='/verify?game={game}']").count()


def test_a_link_names_the_game_and_leads_on(browser: Browser, app: Flask, game: str) -> None:
    """`/audit?game=ID` shows it at once; from there to /verify of the game, and from there back."""
    with audit_page(browser, app, f"?game={game}") as page:
        page.click("#result a")
        expect(page.locator("[data-claim=I] .badge")).to_have_text("its server says so")
        page.click("#result a")
        expect(page).to_have_url(f"{ORIGIN}/audit?game={game}")
        expect(page.locator(".verdict.holds")).to_be_visible()


def test_all_that_is_wrong_is_listed(browser: Browser, app: Flask, services: Services, game: str) -> None:
    """Given an event that was changed in the store, then each thing that does not fit any more, and where it was found."""
    seq = change(services, game, "card_played", lambda raw: raw.replace(b'"by":"bot"', b'"by":"clock"'))
    with audit_page(browser, app, f"?game={game}") as page:
        expect(page.locator(".verdict.fails h2")).to_have_text(re.compile(r"The server finds .* wrong"))
        listed = page.locator(".faults li").all_inner_texts()
        assert any(one.startswith(f"In rules and score, event {seq}: ") for one in listed)
        assert {"I": "fails", "R": "fails"}.items() <= badges(page).items()


def test_of_a_game_that_goes_on_it_is_told_what_there_is(
    browser: Browser, app: Flask, four: list[Guest]
) -> None:
    """Given a second hand in play, then why there is no report yet, when it ends, and what the first hand shows by now."""
    game = seat_all(four, hand=3, hand_limit=2)
    while play_on(four, game)["hand_number"] < 2:
        pass
    with audit_page(browser, app, f"?game={game}") as page:
        expect(page.locator("h2", has_text="What can be said by now")).to_be_visible()
        expect(page.locator(".verdict.open h2")).to_have_text("This game goes on")
        expect(page.locator(".verdict")).to_contain_text("Hand 2, event")
        expect(page.locator(".verdict")).to_contain_text("There is a report when it is over")
        expect(page.locator(".verdict")).to_contain_text("it ends by itself on")
        assert {"F", "I"} == badges(page).keys()
        assert "its server says so" == badges(page)["I"]


def test_what_cannot_be_shown_is_told(browser: Browser, app: Flask, game: str) -> None:
    """No id, one that is nobody's, one that no address can hold, and a server that is busy with other reports."""
    with audit_page(browser, app) as page:
        page.click("#go")
        expect(page.locator(".problem")).to_contain_text("Give the id of a game")
        for wrong in ("g-nothing", "../me", "%"):
            page.fill("#game", wrong)
            page.click("#go")
            expect(page.locator(".problem")).to_contain_text("This server has no such game")
        app.extensions["hearts"].reports = Semaphore(0)
        page.fill("#game", game)
        page.click("#go")
        expect(page.locator(".problem")).to_contain_text("report")


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 360, 1280])
def test_it_fits_every_screen(browser: Browser, app: Flask, game: str, width: int, colours: Any) -> None:
    """On a phone and on a desk, by day and by night: nothing sticks out, and text can be read against its ground."""
    looks = {"viewport": {"width": width, "height": 800}, "color_scheme": colours}
    with audit_page(browser, app, f"?game={game}", **looks) as page:
        expect(page.locator(".verdict.holds")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert [] == page.evaluate(FAINT)
