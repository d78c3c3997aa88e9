"""Fairness on the page: a number of one's own in the deals, receipts that are kept, and the game checked in the browser."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from services.proof import read_proof
from services.verdicts import verify_proof
from tests.support.playing import (
    DESK,
    PHONE,
    Loads,
    pass_three,
    play_first,
    play_out,
    sit,
    visitor,
    wait_for_me,
)
from tests.support.proofs import claim
from tests.support.running import running_house

DIALOG = "dialog[data-name=fair]"


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a house."""
    with running_house(tmp_path_factory.mktemp("house") / "data") as url:
        yield url


def sit_with_a_friend(page: Page, house: str) -> None:
    """Open a table with a seat for a friend, so that it waits."""
    page.goto(f"{house}/")
    page.select_option("#family", "standard")
    page.select_option("#seats", "4")
    page.select_option("#level", "rules")
    page.click(".opening summary")
    page.select_option("#friends", "1")
    page.select_option("#length", "1")
    page.click("#sit")
    expect(page.locator("[data-act=invite]")).to_be_visible()


def open_fair(page: Page) -> Locator:
    """The dialog on the deals, opened by its key."""
    page.keyboard.press("f")
    dialog = page.locator(DIALOG)
    expect(dialog).to_be_visible()
    return dialog


def check(page: Page) -> Locator:
    """Check the game at its end, and wait until all is told."""
    page.click("[data-act=check]")
    dialog = page.locator(DIALOG)
    expect(dialog.locator(".verdict")).to_have_class(re.compile("holds|fails|open"))
    return dialog


def verdicts(dialog: Locator) -> dict[str, str]:
    """What is said of each claim: ``holds``, ``fails`` or ``open``."""
    found = dialog.locator(".claim").evaluate_all(
        "all => all.map(one => [one.dataset.claim, one.classList[1]])"
    )
    return dict(found)


def kept(page: Page, prefix: str) -> list[Any]:
    """What the browser keeps under names that begin so."""
    found = page.evaluate(
        "prefix => Object.entries(localStorage).filter(([name]) => name.startsWith(prefix)).map(([, value]) => value)",
        prefix,
    )
    return [json.loads(one) for one in found]


def test_a_number_of_ones_own_is_in_the_deals(browser: Browser, house: str, tmp_path: Path) -> None:
    """Given a game played in the page, then the browser shows that its number is in every deal, and the proof file does."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        play_out(page)
        dialog = check(page)
        assert {"F": "holds", "own": "holds", "I": "holds", "R": "open", "B": "open"} == verdicts(dialog)
        assert "every player had a part in them" in dialog.locator("[data-claim=F]").inner_text()
        with page.expect_download() as download:
            dialog.locator("[data-act=proof]").click()
        file = tmp_path / "proof"
        download.value.save_as(file)
        assert download.value.suggested_filename.endswith(".ndjson")
        report = verify_proof(read_proof(file.read_bytes()), None)
        assert ("holds", 2) == (claim(report, "F").status, claim(report, "F").level)
        (share,) = kept(page, "hearts.share.")
        assert share["number"] in file.read_text()


def test_what_is_kept_survives_a_reload_and_serves_another_tab(browser: Browser, house: str) -> None:
    """Given a table that waits, then its number is there after a reload and in a second tab, which opens it for the deal."""
    with visitor(browser) as person, visitor(browser) as other:
        page = person.new_page()
        sit_with_a_friend(page, house)
        dialog = open_fair(page)
        number = dialog.locator(".facts-of-deal > p .digits").first.inner_text()
        assert "number sealed" in dialog.inner_text()
        page.reload()
        expect(page.locator("[data-act=invite]")).to_be_visible()
        link = page.locator("[data-act=invite]").get_attribute("data-link") or ""
        assert number == open_fair(page).locator(".facts-of-deal > p .digits").first.inner_text()
        second = person.new_page()
        second.goto(page.url)
        friend = other.new_page()
        friend.goto(link)
        friend.locator("[data-act=sit]").click()
        friend.locator("[data-act=ready]").click()
        second.bring_to_front()
        second.locator("[data-act=ready]").click()
        wait_for_me(second)
        page.bring_to_front()
        wait_for_me(page)
        told = open_fair(page)
        assert 2 == told.get_by_text("number opened, in every deal").count()
        assert number in told.inner_text()


def test_receipts_are_kept_and_count(browser: Browser, house: str) -> None:
    """Given moves, then the newest receipt is kept over a reload, and shows the events up to its own in mid-game."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        pass_three(page)
        play_first(page)
        page.reload()
        wait_for_me(page)
        dialog = open_fair(page)
        dialog.locator("[data-act=verify]").click()
        expect(dialog.locator(".verdict")).to_have_class(re.compile("holds"))
        (game,) = kept(page, "hearts.kept.")
        assert 3 <= game["count"]
        assert [] == game["pending"]
        assert f"up to event {game['receipt']['seq']} of" in dialog.locator("[data-claim=I]").inner_text()
        assert (
            "open" == verdicts(dialog)["F"]
            or "No hand is over yet" in dialog.locator("[data-claim=F]").inner_text()
        )
        with page.expect_download() as download:
            dialog.get_by_text("Download the receipt").click()
        assert {"receipt": game["receipt"]} == json.loads(Path(download.value.path()).read_text())


def altered(route: Route) -> None:
    """Another card in the place of the first that seat 2 played."""
    answer = route.fetch()
    text = re.sub(r'("t":"card_played","at":\d+,"seat":)2', r"\g<1>1", answer.text(), count=1)
    route.fulfill(response=answer, body=text)


def test_a_changed_proof_is_told_unmistakably(browser: Browser, house: str) -> None:
    """Given a server that gives another file, then the claim fails at the event, in red and in words, on a phone too."""
    with visitor(browser, viewport=PHONE) as person:
        page = person.new_page()
        sit(page, house)
        play_out(page)
        page.route("**/proof*", altered)
        dialog = check(page)
        assert ("fails", "fails") == (
            verdicts(dialog)["I"],
            dialog.locator(".verdict").get_attribute("class").split()[-1],
        )  # type: ignore[union-attr]
        assert re.match(r"Something is wrong: look at event \d+\.", dialog.locator(".verdict").inner_text())
        assert '"seat":1' in dialog.locator(".fault pre").inner_text()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        assert dialog.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_a_game_that_is_looked_at_again_is_checked(browser: Browser, house: str) -> None:
    """By anybody: without anything that was kept, only the server's word stands behind the events."""
    with visitor(browser) as person, visitor(browser) as stranger:
        page = person.new_page()
        sit(page, house)
        play_out(page)
        game = page.url.split("/")[-1]
        other = stranger.new_page()
        other.goto(f"{house}/#/replay/{game}?open=1")
        dialog = check(other)
        found = verdicts(dialog)
        assert ("holds", False) == (found["F"], "own" in found)
        assert "open" == found["I"]
        assert "Only the server that gave the file says so." in dialog.locator("[data-claim=I]").inner_text()


def test_it_is_loaded_only_when_it_is_wanted(browser: Browser, house: str) -> None:
    """The table itself needs none of the verifier."""
    with visitor(browser, viewport=DESK) as person:
        page = person.new_page()
        loads = Loads(page)
        sit(page, house)
        paths = {path for path, _ in loads.sizes()}
        assert not paths & {
            "/verify.js",
            "/play/fair.js",
            "/play/claims.js",
            "/play/checking.js",
            "/play/fair.css",
        }


def test_a_seat_without_its_number_is_taken_anew(browser: Browser, house: str) -> None:
    """Given a browser that lost what it kept of the seat, then the page says so, and the seat is taken with another number."""
    with visitor(browser) as person:
        page = person.new_page()
        sit_with_a_friend(page, house)
        page.evaluate(
            "() => Object.keys(localStorage).filter(one => one.startsWith('hearts.share.')).forEach(one => localStorage.removeItem(one))"
        )
        page.reload()
        expect(page.get_by_text("Your number is not in this browser")).to_be_visible()
        page.click("[data-act=anew]")
        expect(page.get_by_text("Your number is not in this browser")).to_have_count(0)
        assert 1 == len(kept(page, "hearts.share."))
        assert "number sealed" in open_fair(page).inner_text()
