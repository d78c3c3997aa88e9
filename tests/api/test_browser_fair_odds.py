"""The player's part in the deals where something is in the way: who looks on, lost numbers, servers that forget."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.support.playing import PHONE, act, play_out, seq_of, sit, visitor
from tests.support.running import running_house

_SHARES = "Object.keys(localStorage).filter((name) => name.startsWith('hearts.share.'))"
_FORGET = f"{_SHARES}.forEach((name) => localStorage.removeItem(name))"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a house."""
    with running_house(tmp_path_factory.mktemp("house") / "data") as url:
        yield url


def game_of(page: Page) -> str:
    """The id of the table that is shown."""
    return page.url.rsplit("/table/", 1)[1].split("/")[0]


def told(house: str, game: str, name: str) -> list[Any]:
    """The events of a kind, as the house tells them to anybody."""
    found = httpx.get(f"{house}/v1/games/{game}/events").json()["events"]
    return [event for one in found if (event := json.loads(one["event"]))["t"] == name]


def claim(page: Page, name: str) -> Any:
    """What is told of a claim."""
    return page.locator(f"[data-claim={name}]")


@contextmanager
def two_sitting(browser: Browser, house: str, **looks: Any) -> Iterator[tuple[Page, Page]]:
    """Anna, and Berta who came by the link; nobody is ready. The cards are dealt fifteen seconds after the first one is."""
    with visitor(browser, **looks) as host, visitor(browser) as friend:
        page, other = host.new_page(), friend.new_page()
        page.goto(f"{house}/")
        game = page.evaluate(
            """async () => {
                const { bePlayer } = await import("/play/client.js");
                const { takeSeat } = await import("/play/sitting.js");
                await bePlayer("Anna");
                const seats = ["me", "invited", { bot: "rules" }, { bot: "rules" }];
                const table = await takeSeat("/v1/games", { variant: "standard", seats, hand_limit: 1, ready_seconds: 15 });
                return `${table.id}/${table.invitations[0].code}`;
            }"""
        )
        page.goto(f"{house}/#/table/{game.split('/')[0]}")
        other.goto(f"{house}/#/table/{game}")
        other.fill("#name", "Berta")
        other.click("[data-act=sit]")
        expect(page.locator("[data-act=ready]")).to_be_visible()
        expect(other.locator("[data-act=ready]")).to_be_visible()
        yield page, other


def test_before_the_deal_all_is_sealed(browser: Browser, house: str) -> None:
    """Seals first, then openings one by one; the number is shown to its player alone."""
    with two_sitting(browser, house) as (page, other):
        page.click(".ask [data-act=fair]")
        rows = page.locator(".throwers li")
        expect(rows.nth(0)).to_contain_text("its secret is sealed, for 64 hands")
        expect(rows.filter(has_text="You")).to_contain_text("number sealed")
        expect(rows.filter(has_text="Berta")).to_contain_text("number sealed")
        expect(rows.filter(has_text="a house bot throws nothing in")).to_have_count(2)
        number, seal = page.locator(".digits").all_inner_texts()
        assert seal == told(house, game_of(page), "seat_taken")[0]["entropy_commit"]
        page.route("**/ready", lambda route: route.abort())
        other.click("[data-act=ready]")
        expect(rows.filter(has_text="Berta")).to_contain_text("number opened")
        other.keyboard.press("f")
        expect(other.locator("dialog")).to_be_visible()
        assert number not in other.content()


def test_the_number_is_opened_before_the_deal_whoever_looks_on(browser: Browser, house: str) -> None:
    """Given one who is ready, when the other does nothing in its two tabs, then its page opens its number in time, once."""
    with two_sitting(browser, house) as (page, other):
        second = page.context.new_page()
        second.goto(page.url)
        other.click("[data-act=ready]")
        for one in (page, second, other):
            expect(one.locator(".game")).to_have_attribute("data-phase", "pass")
            expect(one.locator("#live")).not_to_contain_text("ready already")
        entropy = told(house, game_of(page), "game_locked")[0]["entropy"]
        assert [True, True, False, False] == [bool(value) for _, _, value in entropy]


def test_a_number_that_cannot_be_opened_holds_nothing_up(browser: Browser, house: str) -> None:
    """Given openings that do not get through, then the cards are dealt without the number, and the page says so."""
    with two_sitting(browser, house) as (page, other):
        page.route("**/ready", lambda route: route.abort())
        other.click("[data-act=ready]")
        expect(page.locator("#live")).to_contain_text("dealt without your number", timeout=60_000)
        page.keyboard.press("f")
        expect(page.locator("dialog .problem")).to_contain_text("it was not opened in time")
        page.click("[data-act=verify]")
        expect(claim(page, "own")).to_contain_text("it was not opened in time")
        page.keyboard.press("Escape")
        expect(page.locator(".hand.passing")).to_be_visible()


def test_a_number_that_is_gone_when_others_are_ready(browser: Browser, house: str) -> None:
    """Seats are fixed then: the page says that the cards come without the number, and so they do."""
    with two_sitting(browser, house) as (page, other):
        page.evaluate(_FORGET)
        other.click("[data-act=ready]")
        expect(page.locator(".ask")).to_contain_text("the cards are dealt without it")
        expect(page.locator("[data-act=anew]")).to_have_count(0)
        expect(page.locator(".game")).to_have_attribute("data-phase", "pass", timeout=40_000)


def _cut(route: Route) -> None:
    """A server that forgets the end of the game, and says nothing of what it has signed."""
    answer = route.fetch()
    lines = answer.text().splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if '"t":"trick_ended"' in line)
    heads = json.loads(next(line for line in lines if line.startswith('{"heads"')))["heads"]
    route.fulfill(
        response=answer, body="".join(lines[:at]) + json.dumps({"heads": heads[: 16 * (at - 1)]}) + "\n"
    )


def test_a_game_that_was_cut_off_is_found_out(browser: Browser, house: str) -> None:
    """Given a server that forgets what it has signed, then the kept receipt shows it, and nothing else is made of the file."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        while page.locator(".cloth.done").count() == 0:
            act(page)
        act(page)
        page.route("**/proof", _cut)
        page.keyboard.press("f")
        page.click("[data-act=verify]")
        expect(page.locator(".verdict.fails")).to_contain_text("Something is wrong: look at event")
        expect(claim(page, "I").locator(".badge")).to_have_text("FAILS")
        expect(claim(page, "I")).to_contain_text("it was cut off")
        expect(claim(page, "own").locator(".badge")).to_have_text("not shown")
        page.unroute("**/proof")
        page.click("[data-act=verify]")
        expect(page.locator(".verdict.fails")).to_have_count(0)


def test_a_hand_is_checked_when_it_is_over(browser: Browser, house: str) -> None:
    """Given a game that goes on, then its first hand is checked beside the pass of the second."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house, hands="4")
        while not page.locator("[data-act=check]").count():
            act(page)
        page.click("[data-act=check]")
        expect(claim(page, "F").locator(".badge")).to_have_text("holds")
        expect(claim(page, "F")).to_contain_text("1 hand was looked at.")


def test_a_server_key_that_is_not_the_known_one(browser: Browser, house: str) -> None:
    """Given another key that this browser first saw here, then the game fails by it until the player takes the new one."""
    with visitor(browser) as person:
        page = person.new_page()
        page.goto(f"{house}/")
        page.evaluate("key => localStorage.setItem('hearts.server-key', JSON.stringify({ key }))", "ab" * 32)
        sit(page, house)
        page.keyboard.press("f")
        page.click("[data-act=verify]")
        expect(claim(page, "I").locator(".badge")).to_have_text("FAILS")
        page.click("text=Take this key for the server's")
        expect(claim(page, "I").locator(".badge")).to_have_text("holds")


def test_the_server_s_log_counts_from_the_next_check_on(browser: Browser, house: str) -> None:
    """Given a game that is over, then its place in the log is kept with the first check, and covers its end in the next."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        play_out(page)
        end = seq_of(page)
        page.click("[data-act=check]")
        for _ in range(40):
            expect(page.locator(".verdict.holds")).to_be_visible()
            if f"up to event {end} of {end}" in claim(page, "I").inner_text():
                break
            page.click("[data-act=verify]")
        expect(claim(page, "I")).to_contain_text(f"up to event {end} of {end}")


def test_a_practice_table_says_what_it_is(browser: Browser, house: str) -> None:
    """Its cards were not dealt there: nothing is said of its deals."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        play_out(page)
        page.goto(f"{house}/#/replay/{game_of(page)}?at=20")
        page.locator(".replay[data-ready]").wait_for()
        page.click("[data-act=branch]")
        page.locator(".game[data-turn]").wait_for()
        page.keyboard.press("f")
        expect(page.locator(".facts-of-deal")).to_contain_text("were not dealt here")
        page.click("[data-act=verify]")
        expect(claim(page, "F")).to_contain_text("were not dealt here")


def test_on_a_phone(browser: Browser, house: str) -> None:
    """At 360 pixels nothing sticks out, and all of it can be touched."""
    with visitor(browser, viewport=PHONE, has_touch=True, is_mobile=True) as person:
        page = person.new_page()
        sit(page, house)
        page.click(".tools summary")
        page.click(".drawer [data-act=fair]")
        page.click("[data-act=verify]")
        expect(claim(page, "I")).to_be_visible()
        assert page.evaluate("document.querySelector('dialog').scrollWidth") <= PHONE["width"]
        assert [] == page.evaluate(
            """() => [...document.querySelectorAll("dialog button, dialog summary, dialog a")]
                .filter((one) => one.getBoundingClientRect().height < 43.9).map((one) => one.outerHTML)"""
        )
