"""When a page shows a played card: in frames and milliseconds, beside when it was pressed and when its answer had come."""

from __future__ import annotations

from typing import NamedTuple

from playwright.sync_api import Page

from tests.support.playing import POLL, clear_cards

_WATCH = """() => {
    const seen = {frame: 0};
    window.played = seen;
    const now = () => [seen.frame, performance.now()];
    const tick = () => { seen.frame += 1; requestAnimationFrame(tick); };
    tick();
    const read = Response.prototype.text;
    Response.prototype.text = async function () {
        const text = await read.call(this);
        if (this.url.endsWith("/moves")) seen.answered = now();
        return text;
    };
    addEventListener("click", (event) => {
        const card = event.target.closest(".hand .card.clear")?.dataset.card;
        if (card) Object.assign(seen, {card, pressed: now(), answered: null, shown: null});
    }, true);
    new MutationObserver(() => {
        const there = document.querySelector(".seat.me .laid [data-card]")?.dataset.card;
        if (!seen.shown && there === seen.card) seen.shown = now();
    }).observe(document.querySelector(".seats"), {childList: true, subtree: true});
}"""


class Played(NamedTuple):
    """A card that was played: frames and milliseconds from its answer until it was shown, and milliseconds from the press.

    What comes of the answer is negative where the stream told of the card before.
    """

    frames: int
    after_answer: float
    """ms"""
    after_press: float
    """ms"""


def watch(page: Page) -> None:
    """Watch the table that a page shows, from now on."""
    page.evaluate(_WATCH)


def play_watched(page: Page) -> Played:
    """Play the first card that may be played, and tell when it was shown."""
    clear_cards(page).first.click()
    page.wait_for_function("() => played.answered && played.shown", polling=POLL)
    (press, answer, shown) = page.evaluate("[played.pressed, played.answered, played.shown]")
    return Played(shown[0] - answer[0], shown[1] - answer[1], shown[1] - press[1])
