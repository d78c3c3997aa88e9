"""A finished game looked at again in the browser: by steps, by anybody's eyes, with what the bot says, and as a link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.playing import PHONE, visitor
from tests.support.running import running_house

_CARDS = "[...document.querySelectorAll('.replay .hand .card')].map((one) => one.dataset.card).join(' ')"
_ROWS = "[...document.querySelectorAll('.hands li')].map((row) => [...row.querySelectorAll('[data-card]')].map((one) => one.dataset.card).join(' '))"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a house."""
    with running_house(tmp_path_factory.mktemp("house") / "data") as url:
        yield url


@pytest.fixture(scope="module")
def game(house: str) -> str:
    """A finished game of three hands among bots."""
    return bots_play(house, hand_limit=3)


def bots_play(house: str, **rules: Any) -> str:
    """Let bots play a game to its end."""
    who = httpx.post(f"{house}/v1/players", json={"name": "Anna"}).json()
    body = {"variant": "standard", "seats": [{"bot": "rules"}] * 4, **rules}
    auth = {"Authorization": f"Bearer {who['token']}"}
    game: str = httpx.post(f"{house}/v1/games", json=body, headers=auth).json()["id"]
    after = 0
    while httpx.get(f"{house}/v1/games/{game}").json()["status"] != "over":
        after = httpx.get(f"{house}/v1/games/{game}/events?after={after}&wait=10", timeout=30).json()["next"]
    return game


def events(house: str, game: str, name: str) -> list[Any]:
    """The events of a kind."""
    found = httpx.get(f"{house}/v1/games/{game}/events").json()["events"]
    return [one["seq"] for one in found if f'"t":"{name}"' in one["event"]]


def follows_suit(house: str, game: str) -> tuple[str, Any]:
    """A moment at which somebody may play some cards and not others: its address, and the table as that seat sees it."""
    for seq in events(house, game, "card_played"):
        table = f"{house}/v1/games/{game}?at={seq}"
        turn = httpx.get(table).json()["turn"]
        seen = httpx.get(f"{table}&as={turn}").json() if turn is not None else {}
        if seen and len(seen["legal"]) < len(seen["hand"]):
            return table, seen
    raise AssertionError("nobody ever follows suit")


def look(page: Page, house: str, game: str, asked: str = "") -> None:
    """Open a moment."""
    page.goto(f"{house}/#/replay/{game}{asked}")
    page.wait_for_selector(".replay[data-seq]")


def at(page: Page, seq: int) -> None:
    """Wait until a moment is shown."""
    expect(page.locator(".replay")).to_have_attribute("data-seq", str(seq))


def test_step_by_step(browser: Browser, house: str, game: str) -> None:
    """By card, trick and hand, by button and by key; the borders of the game are borders."""
    deals, plays = events(house, game, "hand_dealt"), events(house, game, "card_played")
    tricks, last = events(house, game, "trick_ended"), events(house, game, "game_ended")[0]
    with visitor(browser) as person:
        page = person.new_page()
        look(page, house, game)
        at(page, deals[0])
        expect(page.locator(".replay .where")).to_have_text("Hand 1: the deal")
        page.click("[data-step=last-card]")
        at(page, deals[0])
        page.click("[data-step=next-trick]")  # the pass
        page.click("[data-step=next-card]")
        at(page, plays[0])
        expect(page.locator(".replay .laid [data-card]")).to_have_count(1)
        expect(page.locator(".replay .says")).to_contain_text("leads the 2 of clubs")
        page.click("[data-step=next-trick]")
        at(page, tricks[0])
        page.keyboard.press("ArrowDown")
        at(page, tricks[1])
        page.keyboard.press("ArrowLeft")
        at(page, plays[7])
        page.keyboard.press("ArrowUp")
        at(page, tricks[0])
        page.keyboard.press("End")
        at(page, last)
        expect(page.locator(".replay .says")).to_contain_text("with")
        page.click("[data-step=next-hand]")
        at(page, last)
        page.keyboard.press("Home")
        at(page, deals[0])


def test_the_link_leads_to_the_moment(browser: Browser, house: str, game: str) -> None:
    """Given an address that was copied, then it shows the same event by the same eyes."""
    seq = events(house, game, "card_played")[30]
    with visitor(browser) as person:
        page = person.new_page()
        look(page, house, game, f"?at={seq}&as=2")
        at(page, seq)
        page.click("[data-step=next-card]")
        expect(page).not_to_have_url(f"{house}/#/replay/{game}?at={seq}&as=2")
        shown, address = page.get_attribute(".replay", "data-seq"), page.url
        page.goto("about:blank")
        page.goto(address)
        at(page, int(shown or 0))
        expect(page.locator("#eyes")).to_have_value("2")


def test_by_the_eyes_of_a_seat_and_by_all(browser: Browser, house: str, game: str) -> None:
    """The cards are those that the server shows, and a tap on one tells by which rule it might be played or not."""
    table, seen = follows_suit(house, game)
    seq, turn = seen["seq"], seen["turn"]
    with visitor(browser) as person:
        page = person.new_page()
        look(page, house, game, f"?at={seq}")
        expect(page.locator(".replay .hand .card")).to_have_count(0)
        page.select_option("#eyes", str(turn))
        page.wait_for_function(f"cards => {_CARDS} === cards", arg=seen["hand"])
        expect(page.locator(".hand .card.clear")).to_have_count(len(seen["legal"].split()))
        barred = page.locator(".hand .card.barred").first
        barred.click(force=True)  # it says that it is disabled, and tells why all the same
        expect(page.locator(".replay .says")).to_contain_text("may not play the")
        page.locator(".hand .card.clear").first.click()
        expect(page.locator(".replay .says")).to_contain_text("may play the")
        page.select_option("#eyes", "open")
        hands = [one["hand"] for one in httpx.get(f"{table}&open=1").json()["open"]]
        page.wait_for_function(f"rows => JSON.stringify({_ROWS}) === JSON.stringify(rows)", arg=hands)


def test_scores_to_come_are_not_told(browser: Browser, house: str, game: str) -> None:
    """The chart has the hands that are over at the moment, all on demand, and leads to each of them."""
    deals = events(house, game, "hand_dealt")
    with visitor(browser) as person:
        page = person.new_page()
        look(page, house, game, f"?at={deals[1]}")
        expect(page.locator(".map .leap")).to_have_count(1)
        page.check("#spoil")
        expect(page.locator(".map .leap")).to_have_count(3)
        page.locator(".map .leap").nth(2).click()
        at(page, deals[2])
        page.uncheck("#spoil")
        expect(page.locator(".map .leap")).to_have_count(2)


def test_it_plays_by_itself(browser: Browser, house: str, game: str) -> None:
    """Until it is told to stand."""
    plays = events(house, game, "card_played")
    with visitor(browser) as person:
        page = person.new_page()
        look(page, house, game, f"?at={plays[0]}")
        page.click("[data-act=play]")
        page.wait_for_function(
            "seq => Number(document.querySelector('.replay').dataset.seq) >= seq", arg=plays[2]
        )
        page.click("[data-act=play]")
        expect(page.locator("[data-act=play]")).to_have_attribute("aria-label", "Play")
        page.keyboard.press("End")
        at(page, events(house, game, "game_ended")[0])


def test_what_the_bot_would_do(browser: Browser, house: str, game: str) -> None:
    """It is what the server says, beside the card that was played."""
    seq = events(house, game, "card_played")[9]
    told = httpx.get(f"{house}/v1/games/{game}/advice?at={seq}").json()
    with visitor(browser) as person:
        page = person.new_page()
        look(page, house, game, f"?at={seq}&open=1")
        page.click("[data-act=advice]")
        expect(page.locator(".replay .says")).to_contain_text("the bot would play the")
        expect(page.locator(".replay .says")).to_contain_text("played")
        assert told["bot"]["name"] == "rules"


def test_practice_from_here(browser: Browser, house: str, game: str) -> None:
    """A table of one's own, where that seat is to act."""
    seq = events(house, game, "card_played")[9]
    turn = httpx.get(f"{house}/v1/games/{game}?at={seq}").json()["turn"]
    cards = httpx.get(f"{house}/v1/games/{game}?at={seq}&as={turn}").json()["hand"]
    with visitor(browser) as person:
        page = person.new_page()
        look(page, house, game, f"?at={seq}&as={turn}")
        page.click("[data-act=branch]")
        page.wait_for_selector(".game[data-turn=mine]")
        assert f"{house}/#/table/" in page.url
        assert cards == page.evaluate(
            "[...document.querySelectorAll('.game .hand .card')].map((one) => one.dataset.card).join(' ')"
        )


def test_on_a_phone(browser: Browser, house: str, game: str) -> None:
    """Nothing runs over the edge, and every control can be touched."""
    seq = events(house, game, "hand_dealt")[0]
    with visitor(browser, viewport=PHONE) as person:
        page = person.new_page()
        look(page, house, game, f"?at={seq}&open=1")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        sizes = page.evaluate(
            "[...document.querySelectorAll('.steps button, .looks button, #eyes')].map((one) => one.getBoundingClientRect()).map((box) => Math.min(box.width, box.height))"
        )
        assert min(sizes) >= 44


def test_a_game_that_goes_on(browser: Browser, house: str) -> None:
    """What others hold is not shown of a hand that is played, and the page says so."""
    who = httpx.post(f"{house}/v1/players", json={"name": "Anna"}).json()
    auth = {"Authorization": f"Bearer {who['token']}"}
    body = {"variant": "standard", "seats": ["me", *[{"bot": "rules"}] * 3]}
    game = httpx.post(f"{house}/v1/games", json=body, headers=auth).json()["id"]
    httpx.post(f"{house}/v1/games/{game}/ready", headers=auth)
    with visitor(browser) as person:
        page = person.new_page()
        look(page, house, game)
        page.select_option("#eyes", "open")
        expect(page.locator(".replay .says")).to_contain_text("are shown when their hand is over")
        page.goto(f"{house}/#/replay/nothing")
        expect(page.locator(".stuck")).to_contain_text("There is no such table here")
