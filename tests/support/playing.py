"""The game in the browser, as a person plays it: at a whole house, by mouse, finger or keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

expect.set_options(timeout=20_000)  # a machine that runs other tests as well may take its time

DESK = {"width": 1280, "height": 800}
PHONE = {"width": 360, "height": 740}
POLL = 40
"""Milliseconds between two looks at a page: by the clock, for frames hardly come to a tab that lies behind another."""
MOST_STEPS = 120
"""Moves after which a short game has ended."""
_MOVED = "seq => Number(document.querySelector('.game').dataset.seq) > seq"
_WAITS = "() => ['mine'].includes(document.querySelector('.game')?.dataset.turn) || document.querySelector('.game')?.dataset.phase === 'over'"


@contextmanager
def visitor(browser: Browser, speed: str = "instant", **looks: Any) -> Iterator[BrowserContext]:
    """A person's browser, in which the table is shown at ``speed``. What its pages throw fails the test at the end."""
    looks.setdefault("viewport", DESK)
    context = browser.new_context(**looks)
    faults: list[str] = []
    context.on("weberror", lambda told: faults.append(str(told.error)))
    context.add_init_script(f"if (origin !== 'null') localStorage.setItem('hearts.speed', '{speed}')")
    try:
        yield context
        assert [] == faults
    finally:
        context.close()


class Loads:
    """What the browser is sent for a page from now on, headers and compression included, as it counts that itself."""

    def __init__(self, page: Page) -> None:
        self._paths: dict[str, str] = {}
        self._sizes: list[tuple[str, int]] = []
        told = page.context.new_cdp_session(page)
        told.send("Network.enable")
        told.on("Network.requestWillBeSent", self._begin)
        told.on("Network.loadingFinished", self._end)

    def _begin(self, event: dict[str, Any]) -> None:
        self._paths[event["requestId"]] = urlsplit(event["request"]["url"]).path

    def _end(self, event: dict[str, Any]) -> None:
        self._sizes.append((self._paths[event["requestId"]], int(event["encodedDataLength"])))

    def sizes(self) -> list[tuple[str, int]]:
        """Path and bytes of each answer that has come whole."""
        return self._sizes


def sit(page: Page, house: str, family: str = "standard", seats: int = 4, hands: str = "1") -> None:
    """Open a table of bots in the lobby and wait until there is something to do."""
    page.goto(f"{house}/")
    page.select_option("#family", family)
    page.select_option("#seats", str(seats))
    page.select_option("#level", "rules")
    page.click(".opening summary")
    page.select_option("#length", hands)
    page.click("#sit")
    wait_for_me(page)


def wait_for_me(page: Page) -> None:
    """Wait until the player is to act, or the game is over."""
    page.wait_for_function(_WAITS, polling=POLL)


def seq_of(page: Page) -> int:
    """The event that is shown."""
    return int(page.get_attribute(".game", "data-seq") or 0)


def wait_past(page: Page, seq: int) -> None:
    """Wait until a later event than ``seq`` is shown."""
    page.wait_for_function(_MOVED, arg=seq, polling=POLL)


def is_over(page: Page) -> bool:
    """Whether the game has ended."""
    return page.get_attribute(".game", "data-phase") == "over"


def is_passing(page: Page) -> bool:
    """Whether cards are to be passed."""
    return page.locator(".hand.passing").count() == 1


def clear_cards(page: Page) -> Locator:
    """The cards that may be played."""
    return page.locator(".hand .card.clear")


def pass_three(page: Page) -> None:
    """Raise the first three cards, and pass them."""
    for at in range(3):
        page.locator(".hand .card").nth(at).click()
    page.click("[data-act=pass]")
    wait_until_passed(page)
    wait_for_me(page)


def wait_until_passed(page: Page) -> None:
    """Wait until the player's own pass is shown; an event that comes before may be the pass of another seat."""
    expect(page.locator(".hand.passing")).to_have_count(0)


def play_first(page: Page) -> None:
    """Play the first card that may be played, and wait for the next turn."""
    seq = seq_of(page)
    clear_cards(page).first.click()
    wait_past(page, seq)
    wait_for_me(page)


def act(page: Page) -> None:
    """Do what the table waits for, by mouse."""
    if page.locator("dialog[data-name=moon]").count():
        seq = seq_of(page)
        page.click("[data-moon=add]")
        wait_past(page, seq)
        wait_for_me(page)
    elif is_passing(page):
        pass_three(page)
    else:
        play_first(page)


def play_out(page: Page) -> None:
    """Play to the end of the game, by mouse."""
    for _ in range(MOST_STEPS):
        if is_over(page):
            return
        act(page)
    raise AssertionError("the game does not end")
