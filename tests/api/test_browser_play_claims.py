"""A claim in the browser: offered where the server has proved it, with what it brings, before it is made."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.playing import PHONE, POLL, pass_three, seq_of, sit, visitor, wait_for_me, wait_past
from tests.support.running import running_house

_OPEN = """async () => {
    const send = async (path, body) => (await fetch(path, {
        method: "POST", body: JSON.stringify(body),
        headers: {"Content-Type": "application/json", Authorization: `Bearer ${JSON.parse(localStorage["hearts.player"]).token}`},
    })).json();
    const removed = [..."CDSH"].flatMap((suit) => [..."23456789TJQ"].map((rank) => rank + suit)).join(" ");
    const rules = {variant: "custom", hand: 2, removed, pass_count: 0, opener: "left", breakers: [], trick1_ban: [], moon_effect: "none", hand_limit: 1};
    for (;;) {
        const {id} = await send("/v1/games", {...rules, seats: ["me", {bot: "rules"}, {bot: "rules"}, {bot: "rules"}]});
        const table = await send(`/v1/games/${id}/ready`, {});
        if (table.claim) return id;
    }
}"""
"""Opens tables of aces and kings, two cards a seat, until the player, who leads, is sure of both tricks."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a house."""
    with running_house(tmp_path_factory.mktemp("house") / "data") as url:
        yield url


def to_claim(page: Page, house: str) -> None:
    """Go to a table at which a claim is certain."""
    sit(page, house)
    game = page.evaluate(_OPEN)
    page.goto(f"{house}/#/table/{game}")
    page.wait_for_function(
        "game => location.hash.endsWith(game) && document.querySelector('.hand')?.childElementCount === 2",
        arg=game,
        polling=POLL,
    )


@pytest.mark.parametrize("on", ["desk", "phone"])
def test_a_claim_tells_first_what_it_brings(browser: Browser, house: str, on: str) -> None:
    """Given a proved claim, then tricks and points are told before it is made; made, they are what was told."""
    looks = {"viewport": PHONE, "has_touch": True, "is_mobile": True} if on == "phone" else {}
    with visitor(browser, **looks) as person:
        page = person.new_page()
        to_claim(page, house)
        expect(page.locator(".ask [data-act=claim]")).to_have_text("Claim the last 2 tricks")
        page.click("[data-act=claim]")
        dialog = page.locator("dialog[data-name=claim]")
        expect(dialog).to_contain_text("The last 2 tricks are yours, whatever the others play.")
        expect(dialog.locator("tr")).to_have_text(["You+2", "Bo+0", "Cleo+0", "Dag+0"])
        page.click("[data-act=claimed]")
        expect(page.locator(".ending")).to_contain_text("share the win with 0 points")
        expect(page.locator(".seat.me .total")).to_have_text("2")


def test_a_claim_need_not_be_made(browser: Browser, house: str) -> None:
    """By the key M it is told as well; who plays on plays a card, and a last trick is not offered."""
    with visitor(browser) as person:
        page = person.new_page()
        to_claim(page, house)
        page.keyboard.press("m")
        page.get_by_role("button", name="Play on").click()
        expect(page.locator("dialog")).to_have_count(0)
        seq = seq_of(page)
        page.click(".hand .card.clear")
        wait_past(page, seq)
        wait_for_me(page)
        expect(page.locator("[data-act=claim]")).to_have_count(0)


def test_a_claim_that_is_not_proved_is_not_offered(browser: Browser, house: str) -> None:
    """At the first card of a whole hand there is no offer, and the key says why."""
    with visitor(browser) as person:
        page = person.new_page()
        sit(page, house)
        pass_three(page)
        expect(page.locator("[data-act=claim]")).to_have_count(0)
        page.keyboard.press("m")
        expect(page.locator("dialog")).to_have_count(0)
        expect(page.locator(".says")).to_have_text(
            "It is not certain that you take all tricks that are left."
        )
