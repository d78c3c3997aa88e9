"""A headless Chromium for the pages and their modules. Nothing leaves the process: each request is answered here."""

from __future__ import annotations

import base64
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, ConsoleMessage, Page, Route, sync_playwright

ORIGIN = "http://localhost"
"""Where the pages are said to come from: a secure context, in which a browser lends its cryptography."""
WEB = Path(__file__).resolve().parents[2] / "api/web"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}


class Answer(NamedTuple):
    """What a request is answered with."""

    status: int
    headers: dict[str, str]
    body: bytes


Server = Callable[[str, str], Answer]
"""From a method and an address below `ORIGIN` to an answer."""


def web_files(_method: str, address: str) -> Answer:
    """The files of the web folder, and an empty page."""
    path = WEB / address.lstrip("/")
    if address == "/":
        return Answer(200, {"Content-Type": "text/html"}, b"<!doctype html><title>empty</title>")
    if not path.is_file():
        return Answer(404, {}, b"")
    return Answer(200, {"Content-Type": _TYPES[path.suffix]}, path.read_bytes())


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Debian's Chromium with an empty profile of its own; gone at the end."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def open_page(browser: Browser, server: Server = web_files, **looks: Any) -> Iterator[Page]:
    """A page whose every request ``server`` answers; ``looks`` are those of Playwright's contexts.

    What its scripts throw, or the browser complains of, fails the test at the end.
    """
    context = browser.new_context(**looks)
    try:
        page = context.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda told: faults.append(told.text) if _is_fault(told) else None)
        page.route("**/*", lambda route: _answer(route, server))
        yield page
        assert [] == faults
    finally:
        context.close()


def _is_fault(told: ConsoleMessage) -> bool:
    """Whether the browser complains of more than that a request was refused, which a page may expect."""
    return told.type == "error" and not told.text.startswith("Failed to load resource")


def _answer(route: Route, server: Server) -> None:
    request = route.request
    if not request.url.startswith(f"{ORIGIN}/"):
        route.abort()
        return
    answer = server(request.method, request.url.removeprefix(ORIGIN))
    route.fulfill(status=answer.status, headers=answer.headers, body=answer.body)


def in_base64(data: bytes) -> str:
    """Bytes as a script of a page can take them."""
    return base64.b64encode(data).decode()
