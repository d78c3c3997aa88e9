"""axe-core in a page that a test has open: what it finds wrong, on a desk and a phone, by day and by night."""

from __future__ import annotations

from importlib.resources import files
from itertools import product
from typing import Any, Literal

from playwright.sync_api import Page

from tests.support.playing import DESK, PHONE

SCRIPT = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
_RUN = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .flatMap((one) => one.nodes.map((node) => `${one.id}: ${node.target} ${node.html.slice(0, 160)} (${node.failureSummary})`))"""
SIZES = {"desk": DESK, "phone": PHONE}
COLOURS: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def findings(page: Page) -> list[str]:
    """What axe has to say of the page as it is now, by all its rules, best practices among them; one line an element."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(SCRIPT)
    found: list[str] = page.evaluate(_RUN)
    return found


def findings_everywhere(page: Page) -> list[str]:
    """The same in each size and each colour, whose names stand before it."""
    found = []
    before: Any = page.viewport_size
    for (name, size), colours in product(SIZES.items(), COLOURS):
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        page.emulate_media(color_scheme=colours, reduced_motion="reduce")
        found += [f"{name}, {colours}: {one}" for one in findings(page)]
    page.set_viewport_size(before)
    return found
