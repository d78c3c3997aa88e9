"""Whole games in the browser, against the bots of a whole house: by mouse, by keyboard alone, on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.api.test_browser_page import FAINT
from tests.support.playing import (
    MOST_STEPS,
    PHONE,
    POLL,
    Loads,
    act,
    clear_cards,
    is_over,
    is_passing,
    pass_three,
    play_out,
    seq_of,
    sit,
    visitor,
    wait_for_me,
    wait_past,
    wait_until_passed,
)
from tests.support.running import running_house

MOST_BYTES = 150_000
"""What a browser may be sent for the lobby and a game together."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a house."""
    with running_house(tmp_path_factory.mktemp("house") / "data") as url:
        yield url


def test_a_game_by_mouse(browser: Browser, house: str) -> None:
    """Given a table of bots, when it is played by mouse to its end, then winner, scores and a rematch are there."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        expect(page.locator("#pill")).to_have_attribute("data-state", "live")
        play_out(page)
        expect(page.locator(".ending")).to_contain_text("win")
        expect(page.locator("#pill")).to_have_attribute("data-state", "ended")
        page.click("[data-act=scores]")
        expect(page.locator(".sheet tbody tr")).to_have_count(1)
        expect(page.locator(".sheet tbody td").first).to_have_text("left")
        page.keyboard.press("Escape")
        first = page.url
        page.click("[data-act=rematch]")
        expect(page.locator(".hand.passing")).to_be_visible()
        assert first != page.url


def test_a_pass_is_protected(browser: Browser, house: str) -> None:
    """Cards are raised and lowered; a fourth is not, and nothing is passed before three are raised."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        cards, button = page.locator(".hand .card"), page.locator("[data-act=pass]")
        for at in range(2):
            cards.nth(at).click()
        expect(button).to_have_text("2 of 3 raised")
        button.click(force=True)
        assert is_passing(page)
        for at in (2, 3):
            cards.nth(at).click()
        assert 3 == page.locator(".card.raised").count()
        expect(page.locator(".says")).to_contain_text("lower one")
        cards.nth(0).click()
        expect(button).to_have_text("2 of 3 raised")
        expect(button).to_have_attribute("aria-disabled", "true")


def test_a_barred_card_says_why(browser: Browser, house: str) -> None:
    """A card that may not be played stays, and the server's reason is told; a hint names one that may."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        pass_three(page)
        while not page.locator(".card.barred").count():
            act(page)
        held = page.locator(".hand .card").count()
        page.locator(".card.barred").first.click(force=True)
        expect(page.locator(".says")).to_contain_text(": ")
        expect(page.locator("#live p", has_text=page.locator(".says").inner_text())).to_have_count(1)
        assert held == page.locator(".hand .card").count()
        page.click("[data-act=hint]")
        expect(page.locator(".card.hinted.clear")).to_have_count(1)


def test_a_game_by_keyboard_alone(browser: Browser, house: str) -> None:
    """From the lobby to the end without a mouse: Tab and Enter, then arrows, letters and Enter."""
    with visitor(browser) as person:
        page = person.new_page()
        page.goto(f"{house}/")
        page.locator("#length").wait_for(state="attached")
        page.focus(".opening summary")
        page.keyboard.press("Enter")
        page.focus("#length")
        page.keyboard.press("ArrowDown")
        page.focus("#name")
        page.keyboard.press("Enter")
        wait_for_me(page)
        page.keyboard.press("r")
        expect(page.locator("#live p", has_text="Clubs: ")).to_have_count(1)
        for _ in range(MOST_STEPS):
            if is_over(page):
                break
            _step_by_keys(page)
        page.keyboard.press("g")
        expect(page.locator("dialog[data-name=scores]")).to_be_visible()


def _step_by_keys(page: Page) -> None:
    """Do what the table waits for, by keys."""
    seq = seq_of(page)
    if page.locator("dialog[data-name=moon]").count():
        page.focus("[data-moon=add]")
        page.keyboard.press("Enter")
    elif is_passing(page):
        for at in range(3):
            page.keyboard.press("ArrowRight")
            page.keyboard.press("Enter")
            expect(page.locator(".card.raised")).to_have_count(at + 1)
        page.keyboard.press("p")
        wait_until_passed(page)
        wait_for_me(page)
        return
    else:
        card = clear_cards(page).last.get_attribute("data-card") or ""
        page.keyboard.press(card[0])
        page.keyboard.press(card[1])
        expect(page.locator(f".card[data-card='{card}']").first).to_be_focused()
        page.keyboard.press("Enter")
    wait_past(page, seq)
    wait_for_me(page)


def test_a_game_on_a_phone(browser: Browser, house: str) -> None:
    """Three seats and 17 cards at 360 x 740, by finger: nothing sticks out, and each card shows 44 pixels to touch."""
    with visitor(browser, viewport=PHONE, has_touch=True, is_mobile=True) as person:
        page = person.new_page()
        sit(page, house, seats=3)
        assert 17 == page.locator(".hand .card").count()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert page.evaluate("document.documentElement.scrollHeight") <= PHONE["height"]
        small = page.evaluate(
            """() => [...document.querySelectorAll("button, summary, .card, .top a")].filter((one) => one.offsetParent)
                .filter((one) => { const box = one.getBoundingClientRect(); return box.height < 43.9 || box.width < 43.9; }).map((one) => one.outerHTML)"""
        )
        assert [] == small
        hidden = page.evaluate(
            """() => [...document.querySelectorAll(".hand .card")].filter((one) => {
                const box = one.getBoundingClientRect();
                return document.elementFromPoint(box.left + 22, box.top + 22)?.closest(".card") !== one;
            }).length"""
        )
        assert 0 == hidden
        play_out(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        expect(page.locator("[data-act=rematch]")).to_be_visible()


_OPEN_MOON = """async () => {
    const send = async (path, body) => (await fetch(path, {
        method: "POST", body: JSON.stringify(body),
        headers: {"Content-Type": "application/json", Authorization: `Bearer ${JSON.parse(localStorage["hearts.player"]).token}`},
    })).json();
    for (;;) {
        const rules = {variant: "custom", pass_count: 0, points: {"2C": 1}, moon_effect: "choice", hand_limit: 1};
        const {id} = await send("/v1/games", {...rules, seats: ["me", {bot: "rules"}, {bot: "rules"}, {bot: "rules"}]});
        const table = await send(`/v1/games/${id}/ready`, {});
        if (table.hand.includes("AC") && !table.hand.includes("2C")) return id;
    }
}"""
"""Opens tables at which whoever takes the two of clubs shoots the moon, until the player's ace is sure to take it: it is led by who has it."""


def to_moon(page: Page, house: str) -> None:
    """Go to a table of one hand, and shoot the moon there."""
    sit(page, house)
    game = page.evaluate(_OPEN_MOON)
    page.goto(f"{house}/#/table/{game}")
    page.wait_for_function(
        "game => document.title.includes('custom') && document.querySelector('.game').dataset.turn",
        arg=game,
        polling=POLL,
    )
    while not page.locator("dialog[data-name=moon]").count():
        seq = seq_of(page)
        ace = page.locator(".hand .card.clear[data-card=AC]")
        (ace if ace.count() else clear_cards(page).first).click()
        wait_past(page, seq)
        wait_for_me(page)


def test_a_moon_is_chosen_by_what_it_leads_to(browser: Browser, house: str) -> None:
    """Given a moon, then both outcomes are shown as the server tells them, and the choice ends the hand."""
    with visitor(browser) as person:
        page = person.new_page()
        to_moon(page, house)
        expect(page.locator(".way")).to_have_count(2)
        expect(page.locator(".way").first.locator("tr").nth(1)).to_contain_text("0→26")
        expect(page.locator(".way").last.locator("tr").first).to_contain_text("0→-26")
        expect(page.locator(".way").last).to_contain_text("Then the game is over. Winning: you.")
        page.click("[data-moon=subtract]")
        expect(page.locator(".ending")).to_have_text("You win with -26 points.")
        page.click("[data-act=scores]")
        expect(page.locator(".sheet tbody")).to_contain_text("☾ -26")
        expect(page.locator(".sheet tbody td").first).to_have_text("no pass")


def test_the_sheet_tells_passes_and_totals_over_the_hands(browser: Browser, house: str) -> None:
    """After four hands: which way each was passed, as the server tells it, and a line a seat to its total."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house, hands="4")
        play_out(page)
        page.click("[data-act=scores]")
        ways = page.locator(".sheet tbody td:nth-child(2)")
        expect(ways).to_have_text(["left", "right", "across", "no pass"])
        expect(page.locator(".chart polyline")).to_have_count(4)
        totals = page.locator(".sheet tfoot td").all_inner_texts()[1:]
        ends = page.locator(".chart .name").all_text_contents()
        assert [text.strip("★ ") for text in totals] == [text.rpartition(" ")[2] for text in ends]


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_cards_are_of_light_paper(browser: Browser, house: str, colours: Any) -> None:
    """By night too: the dark page around them has colours of the same names, and black suits would be lost on it."""
    with visitor(browser, color_scheme=colours) as person:
        page = person.new_page()
        sit(page, house)
        paper, ink = page.locator(".hand .face").first.evaluate(
            "one => ['--paper', '--ink'].map((name) => getComputedStyle(one).getPropertyValue(name))"
        )
        assert ("" if colours == "light" else "#e6dfcd", "") == (paper, ink)


def test_a_table_that_is_not_there(browser: Browser, house: str) -> None:
    """A link that leads nowhere says so, and leads to the lobby."""
    with visitor(browser) as person:
        page = person.new_page()
        page.goto(f"{house}/#/table/nowhere")
        expect(page.locator(".stuck [role=alert]")).to_contain_text("There is no such table")
        expect(page.locator(".cloth")).to_have_count(0)
        page.click(".stuck a")
        expect(page.locator("#sit")).to_be_visible()


def test_a_table_that_cannot_be_had_is_asked_for_again(browser: Browser, house: str) -> None:
    """Given a server that fails, then the page says so, and the table is there at the next try."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        page.route("**/v1/games/*", lambda route: route.fulfill(status=400, body="no"))
        page.reload()
        expect(page.locator(".stuck h1")).to_have_text("That did not work")
        page.unroute("**/v1/games/*")
        page.click(".stuck button")
        wait_for_me(page)
        pass_three(page)


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_all_texts_can_be_read(browser: Browser, house: str, colours: Any) -> None:
    """By day and by night, in the lobby, at the table and at its end: text stands out as level AA asks."""
    with visitor(browser, color_scheme=colours) as person:
        page = person.new_page()
        page.goto(f"{house}/")
        expect(page.locator("#sit")).to_be_visible()
        assert [] == page.evaluate(FAINT)
        sit(page, house)
        assert [] == page.evaluate(FAINT)
        play_out(page)
        assert [] == page.evaluate(FAINT)


def test_the_page_is_light(browser: Browser, house: str) -> None:
    """The lobby and a game to its end, with all cards and all that the server tells, come in less than 150 KB."""
    with visitor(browser) as person:
        page = person.new_page()
        loads = Loads(page)
        sit(page, house)
        play_out(page)
        expect(page.locator("[data-act=rematch]")).to_be_visible()
        files = {path: size for path, size in loads.sizes() if not path.startswith("/v1/")}
        assert {"/", "/cards.svg", "/play/play.css", "/play/main.js", "/play/game.js"} < files.keys()
        assert files["/cards.svg"] < 15_000
        assert sum(files.values()) < MOST_BYTES, files


def test_what_a_browser_has_is_not_sent_again(browser: Browser, house: str) -> None:
    """Given the page, when it is opened again, then nothing of it is sent."""
    with visitor(browser) as person:
        page = person.new_page()
        page.goto(f"{house}/")
        expect(page.locator("#sit")).to_be_visible()
        loads = Loads(page)
        page.reload()
        expect(page.locator("#sit")).to_be_visible()
        files = {path: size for path, size in loads.sizes() if not path.startswith("/v1/")}
        assert "/play/main.js" in files
        assert max(files.values()) < 1_500, files
