"""What may happen to a page during a game: a reload, a second tab, a lost connection, another seat, a stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import APIResponse, Browser, Page, Route, expect

from tests.support.frames import play_watched, watch
from tests.support.playing import (
    DESK,
    PHONE,
    POLL,
    act,
    clear_cards,
    pass_three,
    play_first,
    seq_of,
    sit,
    visitor,
    wait_for_me,
    wait_past,
    wait_until_passed,
)
from tests.support.running import running_house

_LAID = "[...document.querySelectorAll('.seat')].map((one) => [one.dataset.seat, one.querySelector('[data-card]')?.dataset.card])"
_HAND = "[...document.querySelectorAll('.hand .card')].map((one) => one.dataset.card)"
_TOLD = "[...document.querySelectorAll('.seat .unseen')].map((one) => one.textContent)"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a house."""
    with running_house(tmp_path_factory.mktemp("house") / "data") as url:
        yield url


def shown(page: Page) -> tuple[Any, Any, Any]:
    """What lies on the table, the hand, and what is told of the seats."""
    return page.evaluate(_LAID), page.evaluate(_HAND), page.evaluate(_TOLD)


def test_a_reload_in_mid_trick_loses_nothing(browser: Browser, house: str) -> None:
    """Given cards in the trick, when the page is loaded again, then it shows the same table, and the game goes on."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        pass_three(page)
        play_first(page)
        while page.locator(".cloth.done").count() or not page.locator(".laid [data-card]").count():
            play_first(page)
        before = shown(page)
        page.reload()
        wait_for_me(page)
        expect(page.locator(".laid [data-card]").first).to_be_visible()
        page.wait_for_function(
            f"told => JSON.stringify({_TOLD}) === told", arg=_json(page, before[2]), polling=POLL
        )
        assert before == shown(page)
        play_first(page)


def _json(page: Page, value: object) -> str:
    """A value as the browser spells it."""
    return str(page.evaluate("value => JSON.stringify(value)", value))


def test_two_tabs_agree(browser: Browser, house: str) -> None:
    """Given the table in two tabs, when a card is played in one, then the other shows it, and may play the next."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        pass_three(page)
        other = person.new_page()
        other.goto(page.url)
        wait_for_me(other)
        for one, mirror in ((page, other), (other, page)):
            one.bring_to_front()  # the one behind draws next to no frames, without which it cannot be clicked on
            play_first(one)
            expect(mirror.locator(".game")).to_have_attribute("data-seq", str(seq_of(one)))
            wait_for_me(mirror)
            mirror.wait_for_function(
                f"told => JSON.stringify({_TOLD}) === told", arg=_json(one, shown(one)[2]), polling=POLL
            )
            assert shown(one) == shown(mirror)


def test_a_lost_connection_comes_back(browser: Browser, house: str) -> None:
    """While nothing gets through the pill says so; a card pressed meanwhile is played once, when the line is back."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        pass_three(page)
        expect(page.locator("#pill")).to_have_attribute("data-state", "live")
        seq, cards = seq_of(page), page.locator(".hand .card").count()
        person.route("**/v1/**", lambda route: route.abort())
        person.set_offline(True)
        with page.expect_event("requestfailed"):
            clear_cards(page).first.click()
        expect(page.locator("#pill")).to_have_attribute("data-state", "lost", timeout=60_000)
        assert seq == seq_of(page)
        person.unroute("**/v1/**")
        person.set_offline(False)
        wait_past(page, seq)
        wait_for_me(page)
        expect(page.locator("#pill")).to_have_attribute("data-state", "live")
        assert cards - 1 == page.locator(".hand .card").count()
        play_first(page)


def test_a_server_that_comes_back(browser: Browser, tmp_path: Path) -> None:
    """Given a trick with cards in it, when the server goes and comes back, then all lies there still, and what was pressed is played once.

    Meanwhile the pill says that there is no connection, and the table stands as it stood.
    """
    with visitor(browser) as person:
        page = person.new_page()
        with running_house(tmp_path / "data") as house:
            sit(page, house)
            pass_three(page)
            play_first(page)
            while page.locator(".cloth.done").count() or not page.locator(".laid [data-card]").count():
                play_first(page)
            before, seq = shown(page), seq_of(page)
        expect(page.locator("#pill")).to_have_attribute("data-state", "lost")
        expect(page.locator("#pill")).to_have_text("no connection")
        assert before == shown(page)
        clear_cards(page).first.click()
        expect(page.locator(".game.busy")).to_have_count(1)
        with running_house(tmp_path / "data", port=urlsplit(house).port or 0) as again:
            assert house == again
            wait_past(page, seq)
            wait_for_me(page)
            expect(page.locator("#pill")).to_have_attribute("data-state", "live")
            expect(page.locator(".hand .card")).to_have_count(len(before[1]) - 1)
            play_first(page)


def test_a_slow_line(browser: Browser, house: str) -> None:
    """Given half a second to the server and back, and 30 KB a second, then a card pressed twice is played once, and nothing fails."""
    with visitor(browser) as person:
        page = person.new_page()
        line = person.new_cdp_session(page)
        line.send("Network.enable")
        slow = {"offline": False, "latency": 500, "downloadThroughput": 30_000, "uploadThroughput": 30_000}
        line.send("Network.emulateNetworkConditions", slow)
        sit(page, house)
        pass_three(page)
        for _ in range(2):
            cards, seq = page.locator(".hand .card").count(), seq_of(page)
            clear_cards(page).first.dblclick()
            expect(page.locator(".game.busy")).to_have_count(1)
            wait_past(page, seq)
            wait_for_me(page)
            expect(page.locator(".hand .card")).to_have_count(cards - 1)
        expect(page.locator("#pill")).to_have_attribute("data-state", "live")


def test_an_answer_may_come_after_its_events(browser: Browser, house: str) -> None:
    """Given a move whose answer is late, when the table waits for me again, then the next card is played at once."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        pass_three(page)
        late: list[tuple[Route, APIResponse]] = []
        page.route("**/moves", lambda route: late.append((route, route.fetch())))
        play_first(page)
        play_first(page)
        assert 2 == len(late)
        seq = seq_of(page)
        for route, answer in reversed(late):
            route.fulfill(response=answer)
        page.unroute("**/moves")
        play_first(page)
        assert seq < seq_of(page)


def test_a_card_is_shown_with_its_answer(browser: Browser, house: str) -> None:
    """Given a stream that tells nothing, when the answer to a card comes, then the card lies there in the same frame."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        pass_three(page)
        held: list[Route] = []
        page.route(
            "**/events?*",
            lambda route: (
                held.append(route) if "event-stream" in route.request.headers["accept"] else route.continue_()
            ),
        )
        page.reload()
        wait_for_me(page)
        watch(page)
        cards = page.locator(".hand .card").count()
        played = play_watched(page)
        assert (0, 1) == (played.frames, len(held))
        assert cards - 1 == page.locator(".hand .card").count()
        # without the stream the page asks how the table stands, and goes on
        wait_for_me(page)
        assert 0 == play_watched(page).frames


@contextmanager
def two_at_a_table(browser: Browser, house: str) -> Iterator[tuple[Page, Page]]:
    """Anna, and Berta on a phone who came by the link of an invitation; cards are to be passed."""
    with visitor(browser) as host, visitor(browser, viewport=PHONE) as friend:
        page, other = host.new_page(), friend.new_page()
        page.goto(f"{house}/")
        page.fill("#name", "Anna")
        page.click(".opening summary")
        page.select_option("#friends", "1")
        page.click("#sit")
        link = page.locator("[data-act=invite]").get_attribute("data-link") or ""
        other.goto(link)
        other.fill("#name", "Berta")
        other.click("[data-act=sit]")
        for one in (page, other):
            one.click("[data-act=ready]")
        for one in (page, other):
            wait_for_me(one)
        yield page, other


def test_a_friend_comes_by_the_link(browser: Browser, house: str) -> None:
    """Given a seat kept for a friend, when the link is opened elsewhere, then both sit at one table and play."""
    with two_at_a_table(browser, house) as (page, other):
        for one in (page, other):
            pass_beside_others(one)
        expect(page.locator(".seat .name", has_text="Berta")).to_be_visible()
        expect(other.locator(".seat .name", has_text="Anna")).to_be_visible()
        expect(page.locator(".game")).to_have_attribute("data-phase", "play")


def test_a_name_that_is_typed_stays(browser: Browser, house: str) -> None:
    """Given who types a name at a table, when the table is shown anew meanwhile, then name and keyboard are where they were."""
    with visitor(browser) as host, visitor(browser) as friend:
        page, other = host.new_page(), friend.new_page()
        page.goto(f"{house}/")
        page.click(".opening summary")
        page.select_option("#friends", "1")
        page.click("#sit")
        other.goto(page.locator("[data-act=invite]").get_attribute("data-link") or "")
        other.fill("#name", "Berta")
        other.evaluate("document.querySelector('[data-act=sit]').dataset.old = 'true'")
        other.evaluate("dispatchEvent(new Event('hearts-trouble'))")
        expect(other.locator("[data-act=sit]:not([data-old])")).to_be_visible()
        expect(other.locator("#name")).to_have_value("Berta")
        expect(other.locator("#name")).to_be_focused()


def test_a_seat_is_handed_over_and_taken_back(browser: Browser, house: str) -> None:
    """The stand-in passes meanwhile, as all can see; who comes back plays on."""
    with two_at_a_table(browser, house) as (page, other):
        page.click(".tools summary")
        page.click("[data-act=leave]")
        expect(page.locator(".seat.me .chip", has_text="bot plays")).to_be_visible()
        expect(other.locator(".seat .chip", has_text="bot plays")).to_be_visible()
        expect(page.locator(".seat.me .chip", has_text="passed")).to_be_visible()
        page.click("[data-act=back]")
        expect(page.locator(".chip", has_text="bot plays")).to_have_count(0)
        pass_beside_others(other)
        expect(page.locator(".game")).to_have_attribute("data-phase", "play")
        page.keyboard.press("w")
        expect(page.locator("#live p", has_text="Totals: ")).to_have_count(1)


def pass_beside_others(page: Page) -> None:
    """Pass, without waiting for the turn, which may be another person's."""
    for at in range(3):
        page.locator(".hand .card").nth(at).click()
    page.click("[data-act=pass]")
    wait_until_passed(page)


def test_the_last_trick_is_one_key_away(browser: Browser, house: str) -> None:
    """After a trick L shows and tells it again, and once more puts it away."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        while page.locator(".cloth.done").count() or not page.locator(".laid [data-card]").count():
            act(page)
        act(page)
        wait_for_me(page)
        page.keyboard.press("l")
        expect(page.locator("#live p", has_text="Last trick. ")).to_have_count(1)
        expect(page.locator(".laid [data-card]")).to_have_count(4)


@pytest.mark.parametrize("seats", [3, 7, 11])
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_every_table_fits(browser: Browser, house: str, seats: int, viewport: dict[str, int]) -> None:
    """No seat sticks out, and none lies on another."""
    family = "cancellation" if seats > 7 else "standard"
    with visitor(browser, viewport=viewport) as person:
        page = person.new_page()
        sit(page, house, family, seats)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        touching = page.evaluate(
            """() => {
                const boxes = [...document.querySelectorAll(".plate")].map((one) => one.getBoundingClientRect());
                return boxes.filter((one, at) => boxes.slice(at + 1).some((other) =>
                    one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom)).length;
            }"""
        )
        assert 0 == touching
