"""The page in every language: chosen by the browser or on the page, remembered, with the rules of the table one tap away."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from services.languages import ENGLISH, LANGUAGES
from tests.api.test_browser_page import FAINT
from tests.support.playing import DESK, PHONE, play_out, sit, visitor
from tests.support.running import running_house

FOREIGN = [one for one in LANGUAGES if one != ENGLISH]
SIT = {"el": "Κάθισε", "en": "Sit down", "fi": "Istu pöytään", "is": "Setjast", "sv": "Slå dig ner"}
ENGLISH_WORDS = re.compile(
    r"\b(the|of|your|you|card|cards|trick|tricks|pass|passed|play|plays|takes)\b", re.I
)
CUT = """() => [...document.querySelectorAll("button, summary, .plate, .choice label, h1, h2")]
    .filter((one) => one.offsetParent && !one.matches(".unseen, .card") && one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent)"""
"""Whose text sticks out."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a house."""
    with running_house(tmp_path_factory.mktemp("house") / "data") as url:
        yield url


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
@pytest.mark.parametrize("language", FOREIGN)
def test_a_game_in_the_browser_s_language(
    browser: Browser, house: str, language: str, viewport: dict[str, int]
) -> None:
    """Given a browser of that language, then lobby, table, rules, scores and what is told are in it, and fit."""
    with visitor(browser, locale=language, viewport=viewport) as person:
        page = person.new_page()
        page.goto(f"{house}/")
        expect(page.locator("#sit")).to_have_text(SIT[language])
        assert language == page.get_attribute("html", "lang")
        _check(page, viewport)
        sit(page, house)
        _check(page, viewport)
        page.click("[data-act=rules]")
        expect(page.locator("dialog h3")).not_to_have_count(0)
        _check(page, viewport)
        page.keyboard.press("Escape")
        play_out(page)
        page.keyboard.press("w")
        page.click("[data-act=scores]")
        _check(page, viewport)
        page.keyboard.press("Escape")
        page.click("[data-act=check]")
        expect(page.locator(".verdict.holds")).to_be_visible()
        _check(page, viewport)


def _check(page: Page, viewport: dict[str, int]) -> None:
    """Nothing in English, nothing that sticks out, nothing too faint."""
    assert [] == page.evaluate(CUT)
    assert [] == page.evaluate(FAINT)
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    seen = page.locator("body").inner_text() + " ".join(
        page.locator("[aria-label]").evaluate_all("all => all.map((one) => one.getAttribute('aria-label'))")
    )
    assert [] == ENGLISH_WORDS.findall(seen)


def test_a_language_is_chosen_and_remembered(browser: Browser, house: str) -> None:
    """Given an English browser, when another language is chosen, then page and game go on in it, after a reload too."""
    with visitor(browser, locale="en-GB") as person:
        page = person.new_page()
        sit(page, house)
        page.select_option("#language", "fi")
        expect(page.locator("[data-act=rules]")).to_have_text("Säännöt")
        assert "fi" == page.get_attribute("html", "lang")
        expect(page.locator("#language")).to_be_focused()
        page.reload()
        expect(page.locator("[data-act=rules]")).to_have_text("Säännöt")
        page.select_option("#language", "en")
        expect(page.locator("[data-act=rules]")).to_have_text("Rules")


@pytest.mark.parametrize("asked", ["de-DE", "sv-FI"])
def test_a_language_of_another_country(browser: Browser, house: str, asked: str) -> None:
    """The language counts, not the country; English where it is none of ours."""
    with visitor(browser, locale=asked) as person:
        page = person.new_page()
        page.goto(f"{house}/")
        expect(page.locator("#sit")).to_have_text(SIT["sv" if asked == "sv-FI" else "en"])


def test_without_its_texts_the_page_speaks_english(browser: Browser, house: str) -> None:
    """Where the texts of a language do not come, the game does."""
    with visitor(browser, locale="is") as person:
        page = person.new_page()
        page.route("**/texts/*", lambda route: route.fulfill(status=503, body="no"))
        page.goto(f"{house}/")
        expect(page.locator("#sit")).to_have_text("Sit down")


def test_the_rules_are_those_of_the_table(browser: Browser, house: str) -> None:
    """One tap, or one key, away; with the house rules of the table."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house, "spot")
        page.keyboard.press("x")
        expect(page.locator("dialog[data-name=rules] .rule-title")).to_contain_text(
            "Spot Hearts with house rules"
        )
        expect(page.locator("dialog[data-name=rules]")).to_contain_text("After 1 hand the game ends")
        page.keyboard.press("Escape")
        expect(page.locator("dialog")).to_have_count(0)
        page.click("[data-act=rules]")
        expect(page.locator("dialog[data-name=rules] h3").first).to_have_text("Players and cards")


def test_numbers_have_their_form(browser: Browser, house: str) -> None:
    """Icelandic counts 21 like one."""
    with visitor(browser, locale="is") as person:
        page = person.new_page()
        sit(page, house)
        said = page.evaluate(
            "async () => { const { counted } = await import('/play/words.js'); return [1, 2, 11, 21].map((n) => counted(n, '{n} trick', '{n} tricks')); }"
        )
        assert ["1 slagur", "2 slagir", "11 slagir", "21 slagur"] == said
        assert (
            page.evaluate("async () => (await import('/play/words.js')).cardName('QS')") == "spaðadrottning"
        )
