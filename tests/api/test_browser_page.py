"""The page that checks proof files, as a player sees it: served by the application, used in a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from flask import Flask
from playwright.sync_api import Browser, Page, expect

from services.wiring import Services
from tests.api.guests import Guest, play_on, seat_all
from tests.support.browser import ORIGIN, Answer, Server, open_page
from tests.support.proofs import changed, file_of, played


def served(app: Flask) -> Server:
    """The application as a server."""
    client = app.test_client()

    def answer(method: str, address: str) -> Answer:
        found = client.open(address, method=method)
        return Answer(found.status_code, dict(found.headers), found.data)

    return answer


@contextmanager
def verify_page(browser: Browser, app: Flask, query: str = "", **looks: Any) -> Iterator[Page]:
    """The page, loaded."""
    with open_page(browser, served(app), **looks) as page:
        page.goto(f"{ORIGIN}/verify{query}")
        yield page


def game_of(four: list[Guest]) -> str:
    """A game of four that is over after one short hand."""
    game = seat_all(four, hand=3, hand_limit=1)
    while play_on(four, game)["phase"] != "over":
        pass
    return game


def upload(page: Page, data: bytes, name: str = "game.ndjson") -> None:
    """Choose a file."""
    page.set_input_files("#file", {"name": name, "mimeType": "application/x-ndjson", "buffer": data})


def test_a_game_of_the_server_is_checked_by_its_id(browser: Browser, app: Flask, four: list[Guest]) -> None:
    """Given a game, when its id is sent, then the page tells each claim in words, with its level."""
    game = game_of(four)
    with verify_page(browser, app) as page:
        page.fill("#game", game)
        page.press("#game", "Enter")
        expect(page.locator(".verdict.holds h2")).to_have_text("Nothing is wrong with what can be shown")
        assert ["F", "I", "R", "B"] == [
            one.get_attribute("data-claim") for one in page.locator(".claim").all()
        ]
        assert ["its server says so", "not shown"] == [
            page.locator(f"[data-claim={name}] .badge").inner_text() for name in "IR"
        ]
        expect(page.locator("[data-claim=I] .level")).to_contain_text("Level 1 of 3")
        expect(page.locator("[data-claim=I] .said")).to_contain_text(
            "I (nothing altered) holds only by the word of this file's own server: up to event"
        )


def test_a_link_names_the_game(browser: Browser, app: Flask, four: list[Guest]) -> None:
    """`/verify?game=ID` checks at once."""
    game = game_of(four)
    with verify_page(browser, app, f"?game={game}") as page:
        expect(page.locator(".verdict p")).to_contain_text(f"Game {game}, ")
        assert game == page.input_value("#game")


def test_what_was_kept_raises_the_level(
    browser: Browser, app: Flask, four: list[Guest], services: Services
) -> None:
    """Given a receipt that was kept, then the level is 2; with the server's key from elsewhere 3."""
    game = game_of(four)
    data = four[0].get(f"/v1/games/{game}/proof").data
    receipt = next(line for line in data.decode().splitlines() if line.startswith('{"receipt"'))
    with verify_page(browser, app) as page:
        page.click("#kept summary")
        page.fill("#receipt", receipt)
        upload(page, data)
        expect(page.locator("[data-claim=I] .level")).to_contain_text("Level 2 of 3")
        page.fill("#key", services.key.public.upper())
        page.click("#go")
        expect(page.locator("[data-claim=I] .level")).to_contain_text("Level 3 of 3")
        expect(page.locator("[data-claim=I]")).to_contain_text("Nothing more can be shown than this")
        page.fill("#key", "12" * 32)
        page.click("#go")
        expect(page.locator(".verdict.fails h2")).to_contain_text("event 1")
        page.fill("#receipt", "garbage")
        page.click("#go")
        expect(page.locator(".problem")).to_contain_text("the receipt cannot be read")


def test_a_key_from_before_a_rotation_counts_with_the_list(
    browser: Browser, app: Flask, four: list[Guest], services: Services
) -> None:
    """Given the key from an earlier visit, then the page says what may be, and takes the server's list of keys for an answer."""
    first = services.key.first.public
    services.key.turn_to(services.key.add(Random(5).randbytes))
    game = game_of(four)
    with verify_page(browser, app) as page:
        page.click("#kept summary")
        page.fill("#key", first)
        page.fill("#game", game)
        page.click("#go")
        expect(page.locator("[data-claim=I] .said")).to_contain_text("or the key was changed in between")
        page.fill("#keys", four[0].get("/v1/log/keys").text)
        page.click("#go")
        expect(page.locator("[data-claim=I] .level")).to_contain_text("Level 2 of 3")


def test_what_was_kept_counts_as_far_as_it_goes(browser: Browser, app: Flask, four: list[Guest]) -> None:
    """Given an early receipt, the page tells up to where it shows; a checkpoint that shows nothing raises no level."""
    game = seat_all(four, hand=3, hand_limit=1)
    early = four[0].get(f"/v1/games/{game}/proof").data.decode().splitlines()
    seq = json.loads(next(line for line in early if line.startswith('{"receipt"')))["receipt"]["seq"]
    while play_on(four, game)["phase"] != "over":
        pass
    with verify_page(browser, app) as page:
        page.click("#kept summary")
        page.fill("#receipt", next(line for line in early if line.startswith('{"receipt"')))
        page.fill("#game", game)
        page.click("#go")
        expect(page.locator("[data-claim=I] .level")).to_contain_text(
            f"Level 2 of 3: by what you kept, up to event {seq}."
        )
        expect(page.locator("[data-claim=I]")).to_contain_text(f"a receipt of a later event than {seq}")
        page.fill("#receipt", "")
        page.fill("#checkpoint", four[0].get("/v1/log/checkpoint").text)
        page.click("#go")
        expect(page.locator("[data-claim=I] .level")).to_contain_text("Level 1 of 3")
        text = page.locator("[data-claim=I]").inner_text()
        assert "the field A receipt, A checkpoint of the log" in text
        assert "the field The server's key" in text
        assert "--" not in text


def test_a_changed_file_is_told_with_the_event(browser: Browser, app: Flask, four: list[Guest]) -> None:
    """Given a file with one card changed, then the page names the event, and shows it."""
    data = four[0].get(f"/v1/games/{game_of(four)}/proof").data
    lines = data.split(b"\n")
    at = next(at for at, line in enumerate(lines) if b'"card_played"' in line)
    card = json.loads(lines[at])["card"]
    lines[at] = lines[at].replace(card.encode(), b"QS" if card != "QS" else b"KS")
    with verify_page(browser, app) as page:
        upload(page, b"\n".join(lines))
        expect(page.locator(".verdict.fails h2")).to_have_text(f"Something is wrong: look at event {at}")
        assert "fails" == page.locator("[data-claim=I] .badge").inner_text()
        assert lines[at].decode() == page.locator(".fault pre").inner_text()
        assert page.evaluate("!!document.querySelector('.claim:last-of-type ~ .fault')")
        lines[at] = lines[at][:-1] + b',"x":"' + b"y" * 100_000 + b'"}'
        upload(page, b"\n".join(lines), "long.ndjson")
        expect(page.locator(".fault p")).to_have_text(f"The first 2000 of {len(lines[at])} characters.")
        assert 2001 == len(page.locator(".fault pre").inner_text())


def test_of_an_imported_game_the_page_says_what_it_cannot_know(browser: Browser, app: Flask) -> None:
    """A game that was kept here and played elsewhere has no level of its own, and nothing is wrong with it."""
    events = list(played().events)
    changed(events, 0, anchor=None, imported=True)
    with verify_page(browser, app) as page:
        upload(page, file_of(events))
        expect(page.locator(".verdict h2")).to_have_text("Nothing is wrong with what can be seen")
        expect(page.locator("[data-claim=I] .level")).to_contain_text("cannot be shown")
        expect(page.locator("[data-claim=I] .said")).to_contain_text("imported; since then it holds up to")


def test_what_cannot_be_checked_is_told(browser: Browser, app: Flask, four: list[Guest]) -> None:
    """Nothing chosen, a game that there is not, a file that is none: each in words, and the page can be used on."""
    with verify_page(browser, app) as page:
        page.click("#go")
        expect(page.locator(".problem")).to_contain_text("Give the id of a game, or choose a proof file")
        upload(page, b'{"format":"hearts-record/1"}', "<b>record</b>.json")
        expect(page.locator(".problem")).to_contain_text("line 1:")
        page.fill("#game", game_of(four))
        page.click("#go")
        expect(page.locator(".verdict")).to_be_visible()


def test_a_game_that_there_is_not_is_told(browser: Browser, app: Flask) -> None:
    """An id that is nobody's, and one that no address can hold, are told; the page throws nothing."""
    with verify_page(browser, app) as page:
        for wrong in ("g-nothing", "../me", "%"):
            page.fill("#game", wrong)
            page.click("#go")
            expect(page.locator(".problem")).to_have_text("This server has no such game.")


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_it_fits_every_screen(
    browser: Browser, app: Flask, four: list[Guest], width: int, colours: Any
) -> None:
    """On a phone and on a desk, by day and by night: nothing sticks out, and text can be read against its ground."""
    looks = {"viewport": {"width": width, "height": 800}, "color_scheme": colours}
    with verify_page(browser, app, f"?game={game_of(four)}", **looks) as page:
        expect(page.locator(".verdict")).to_be_visible()
        page.click("#kept summary")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        small = page.evaluate(
            """() => [...document.querySelectorAll("button, input, textarea")]
                .filter((one) => one.getBoundingClientRect().height < 44).map((one) => one.id)"""
        )
        assert [] == small
        faint = page.evaluate(FAINT)
        assert [] == faint


FAINT = """() => {
    const rgb = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const light = (text) => {
        const [r, g, b] = rgb(text).map((one) => one / 255).map((one) => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (node) => {
        for (; node; node = node.parentElement) {
            const colour = getComputedStyle(node).backgroundColor;
            if (!/, 0\\)$/.test(colour)) return colour;
        }
        return "rgb(255, 255, 255)";
    };
    return [...document.querySelectorAll("main *")].filter((one) => [...one.childNodes].some((inner) => inner.nodeType === 3 && inner.data.trim())).filter((one) => {
        const [dark, bright] = [light(getComputedStyle(one).color), light(ground(one))].sort((x, y) => x - y);
        return (bright + 0.05) / (dark + 0.05) < 4.5;
    }).map((one) => one.textContent.trim().slice(0, 40));
}"""
"""Texts whose contrast with what is behind them is less than 4.5, what WCAG 2 asks at level AA."""
