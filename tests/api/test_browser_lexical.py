"""Files written otherwise than the house writes them: page and house refuse the same, in the same words, and read the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

from tests.support.browser import ORIGIN, open_page
from tests.support.games import steady
from tests.support.lexical import BYTES, FIRST, LINES, NUMBER, READ, REFUSED, relined, rewritings, rewritten
from tests.support.page_verdicts import Told, by_house, by_page, comparable

AT_ONCE = 20
"""Files that the page is given in one go."""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """An empty page that can load the modules."""
    with open_page(browser) as page:
        page.goto(f"{ORIGIN}/")
        yield page


def in_words(report: Told) -> dict[str, Any]:
    """What must be equal of a report, with the words of what cannot be read."""
    if report["problem"]:
        return {"problem": report["problem"]}
    told = comparable(report)
    words = {claim["name"]: claim["detail"] for claim in report["claims"]}["R"]
    return {**told, "words": words if told["unread"] else ""}


def check_words(page: Page, files: list[bytes]) -> list[Told]:
    """That page and house say the same of files, to the word; what the page says.

    But not the words for rules that cannot be played, which house and page judge at another step.
    """
    found = by_page(page, files)
    for data, report in zip(files, found, strict=True):
        house, here = in_words(by_house(data)), in_words(report)
        if house.get("unread") == 1 and "rules" in house["words"] + here["words"]:
            house["words"] = here["words"]
        assert house == here
    return found


def test_what_is_refused_is_refused_by_both(page: Page) -> None:
    """Numbers, halves of pairs, keys twice, no JSON, no UTF-8, too deep, too much: R fails at the event, F is not shown."""
    changes = {name: change for name, (change, _) in REFUSED.items()} | BYTES
    found = check_words(page, [rewritten(NUMBER, change) for change in changes.values()])
    for name, report in zip(changes, found, strict=True):
        told = {
            claim["name"]: (claim["status"], claim["event"], claim["detail"]) for claim in report["claims"]
        }
        assert ("not shown", None, "the events cannot be read") == told["F"]
        assert ("fails", NUMBER) == told["R"][:2]
        assert name in BYTES or REFUSED[name][1] == told["R"][2]


def test_what_is_read_is_read_by_both(page: Page) -> None:
    """White space, escapes, unknown fields of any kind: both claims that the page judges hold."""
    for report in check_words(page, [rewritten(NUMBER, change) for change in READ.values()]):
        assert report["ok"]
        assert ["holds", "holds"] == [claim["status"] for claim in report["claims"][:2]]


def test_the_first_event_and_the_other_lines_are_held_to_it(page: Page) -> None:
    """Rules, points and seed chain; header, heads and receipt."""
    found = check_words(page, [rewritten(1, change) for change in FIRST.values()])
    assert [1] * len(FIRST) == [report["claims"][2]["event"] for report in found]
    for report in check_words(page, [relined(name) for name in LINES]):
        assert report["problem"].startswith("line ")


@given(st.lists(rewritings(), min_size=AT_ONCE, max_size=AT_ONCE))
@steady(12)
def test_whatever_an_event_is_made_into_both_say_the_same(page: Page, lines: list[tuple[int, bytes]]) -> None:
    """Given events spoilt in their writing, heads and receipt made to fit, then the verdicts are equal, to the word."""
    check_words(page, [rewritten(number, lambda _, line=line: line) for number, line in lines])
