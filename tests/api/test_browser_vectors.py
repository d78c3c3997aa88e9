"""The vectors of the audit protocol, held by the page's own code in a browser."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.support.browser import ORIGIN, Answer, open_page, web_files
from tests.support.page_verdicts import by_page

TESTS = Path(__file__).resolve().parents[1]
LINES: list[dict[str, Any]] = [
    json.loads(line) for line in (TESTS / "conformance/audit.ndjson").read_text(encoding="utf-8").splitlines()
]
MOVES = [
    {"what": "move", "input": line, "expected": {"message": line["message"], "valid": line["valid"]}}
    for line in map(json.loads, (TESTS / "conformance/signing.ndjson").read_text("utf-8").splitlines())
    if "signature" in line
]
KINDS = list(dict.fromkeys(line["what"] for line in [*LINES, *MOVES]))


def with_vectors(method: str, address: str) -> Answer:
    """The files of the page, the vectors' module, and the files that the vectors name."""
    if address == "/vectors.js":
        text = (TESTS / "support/vectors.js").read_bytes()
        return Answer(200, {"Content-Type": "text/javascript"}, text)
    if address.startswith("/conformance/"):
        return Answer(200, {}, (TESTS / address[1:]).read_bytes())
    return web_files(method, address)


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """An empty page that can load the modules."""
    with open_page(browser, with_vectors) as page:
        page.goto(f"{ORIGIN}/")
        yield page


@pytest.mark.parametrize("what", KINDS)
def test_the_page_agrees_with_every_line(page: Page, what: str) -> None:
    """Each formula gives in the browser what the line expects."""
    lines = [line for line in [*LINES, *MOVES] if line["what"] == what]
    found = page.evaluate(
        """async (lines) => {
            const { made } = await import("/vectors.js");
            return Promise.all(lines.map(made));
        }""",
        lines,
    )
    assert [line["expected"] for line in lines] == found


def test_the_page_judges_honest_and_forged_files_as_published(page: Page) -> None:
    """Claims F and I of each, and the event that is named; what the page leaves to the house it does not judge."""
    packed = (TESTS / "conformance/forged.ndjson.xz").read_bytes()
    cases = [json.loads(line) for line in lzma.decompress(packed).splitlines()]
    found = by_page(page, [case["file"].encode() for case in cases])
    for case, report in zip(cases, found, strict=True):
        if "line" in case["expected"]:
            assert report["problem"].startswith(f"line {case['expected']['line']}: "), case["name"]
            continue
        told = {one["name"]: [one["status"], one["event"]] for one in report["claims"]}
        assert {name: case["expected"][name] for name in "FI"} == {name: told[name] for name in "FI"}, case[
            "name"
        ]
        assert told["R"] in (["not shown", None], case["expected"]["R"])
        assert "not shown" == told["B"][0]


def test_the_page_is_held_to_every_kind_of_line(page: Page) -> None:
    """No kind of line is left out, and none is held that no line is of."""
    held = page.evaluate("""async () => (await import("/vectors.js")).kinds""")
    assert set(KINDS) == set(held)
