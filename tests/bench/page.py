"""The page in the browser: bytes for the lobby and a game, the first paint, and how soon a played card lies there."""

from __future__ import annotations

import statistics
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.support.browser import running_browser
from tests.support.frames import Played, play_watched, watch
from tests.support.playing import PHONE, Loads, is_over, pass_three, sit, visitor, wait_for_me
from tests.support.running import running_house

ROUNDS = 5
FRAME = 1000 / 60
"""ms"""
_PAINTED = """async () => (await new Promise((done) => new PerformanceObserver((list) => {
    const first = list.getEntriesByName("first-contentful-paint")[0];
    if (first) done(first);
}).observe({type: "paint", buffered: true}))).startTime"""


def bench_page(folder: Path) -> None:
    """Print what a browser is sent and shows, by a house of one's own on this machine."""
    with running_house(folder / "data") as house, running_browser() as browser:
        print("\nThe page in Chromium, house and browser on this machine")
        for name, looks in (
            ("desk", {}),
            ("phone", {"viewport": PHONE, "is_mobile": True, "has_touch": True}),
        ):
            first, again = zip(*(_lobby(browser, house, looks) for _ in range(ROUNDS)), strict=True)
            print(f"  lobby, {name}, first time: {_told(first)}")
            print(f"  lobby, {name}, again:      {_told(again)}")
        game, opened, played = _game(browser, house)
        print(f"  a game of one hand, from the lobby to its end: {game:,} bytes of what the server tells")
        print(f"  its table, opened by its link: first paint after {opened:.0f} ms")
        for what, values in (
            ("its answer came", [one.after_answer for one in played]),
            ("it was pressed", [one.after_press for one in played]),
        ):
            print(
                f"  a card lies there {statistics.median(values):.1f} ms after {what} (at most {max(values):.1f}; "
                f"a frame is {FRAME:.1f})"
            )
        late = sum(one.frames > 0 for one in played)
        print(f"  of {len(played)} cards {late} were shown in a later frame than that of the answer (aim: 0)")


def _told(rounds: tuple[tuple[int, float], ...]) -> str:
    size = max(one[0] for one in rounds)
    return f"{size:>7,} bytes, first paint after {statistics.median(one[1] for one in rounds):.0f} ms"


def _lobby(
    browser: Browser, house: str, looks: dict[str, object]
) -> tuple[tuple[int, float], tuple[int, float]]:
    """Bytes and first paint in ms of the lobby, in a new browser and when it is loaded again."""
    with visitor(browser, **looks) as person:
        page = person.new_page()
        loads = Loads(page)
        page.goto(f"{house}/")
        first = _painted(page, loads, 0)
        page.reload()
        return first, _painted(page, loads, first[0])


def _painted(page: Page, loads: Loads, before: int) -> tuple[int, float]:
    expect(page.locator("#sit")).to_be_visible()
    page.wait_for_load_state("networkidle")
    painted: float = page.evaluate(_PAINTED)
    return sum(size for _, size in loads.sizes()) - before, painted


def _game(browser: Browser, house: str) -> tuple[int, float, list[Played]]:
    """Bytes of the calls of a game, the first paint of its table in ms, and the cards played."""
    with visitor(browser) as person:
        page = person.new_page()
        loads = Loads(page)
        sit(page, house)
        page.reload()
        wait_for_me(page)
        opened: float = page.evaluate(_PAINTED)
        pass_three(page)
        watch(page)
        played = []
        while not is_over(page):
            played.append(play_watched(page))
            wait_for_me(page)
        return sum(size for path, size in loads.sizes() if path.startswith("/v1/games/")), opened, played
