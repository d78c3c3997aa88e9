"""Pages for people: the game, what this server is, and its documentation, made of the OpenAPI document. Nothing comes from elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import cache, cached_property, lru_cache, partial
from html import escape
from typing import Any, Final

from flask import Flask, Response, request

from api.compressed import ASK_AGAIN, Fixed
from api.docs import ADDRESS, WEB, docs_page
from api.document import complete
from api.ops import program_version
from api.present import encode
from domain.variants import VARIANTS
from services.languages import ENGLISH, LANGUAGES, page_texts
from services.rules_text import published_summary

_QUICK_START: Final = """\
URL={url}
TOKEN=$(curl -s --json '{{"name": "Anna"}}' $URL/v1/players | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
WHO="Authorization: Bearer $TOKEN"
GAME=$(curl -s -H "$WHO" --json '{{"variant": "standard", "seats": ["me", {{"bot": "rules"}}, {{"bot": "rules"}}, {{"bot": "rules"}}]}}' \\
  $URL/v1/games | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
curl -s -H "$WHO" -X POST $URL/v1/games/$GAME/ready                            # deals; "hand" is yours
curl -s -H "$WHO" --json '{{"pass": ["AS", "KS", "QS"]}}' $URL/v1/games/$GAME/moves  # three cards of your hand
curl -s -H "$WHO" $URL/v1/games/$GAME                                          # "legal" when it is your turn
curl -s -H "$WHO" --json '{{"play": "2C"}}' $URL/v1/games/$GAME/moves
curl -s $URL/v1/games/$GAME/proof                                              # for hearts verify
"""


PLAY_FILES: Final = (
    "cards.svg",
    "icon.svg",
    "play/acts.js",
    "play/asking.js",
    "play/cards.js",
    "play/chart.js",
    "play/client.js",
    "play/dom.js",
    "play/game.css",
    "play/game.js",
    "play/hand.js",
    "play/keyboard.js",
    "play/kept.js",
    "play/language.js",
    "play/ledger.js",
    "play/lobby.js",
    "play/main.js",
    "play/memory.js",
    "play/opening.js",
    "play/pace.js",
    "play/play.css",
    "play/rules.js",
    "play/scene.js",
    "play/score.js",
    "play/seating.js",
    "play/shapes.js",
    "play/share.js",
    "play/sitting.js",
    "play/stream.js",
    "play/stuck.js",
    "play/table.css",
    "play/table.js",
    "play/telling.js",
    "play/tools.js",
    "play/witness.js",
    "play/variants.js",
    "play/words.js",
)
"""What the game in the browser is made of, each served at its name."""
REPLAY_FILES: Final = (
    "play/moments.js",
    "play/open-hands.js",
    "play/reel.js",
    "play/replay.css",
    "play/replay.js",
    "play/score-map.js",
)
"""What a game is looked at again by, loaded when somebody wants to."""
FAIR_FILES: Final = (
    "play/checker.js",
    "play/checking.js",
    "play/claims.js",
    "play/fair.css",
    "play/fair.js",
)
"""What tells how the deals come about and checks a game, beside the files of the page that checks proof files; loaded likewise."""
PAGE_FILES: Final = (
    *PLAY_FILES,
    *REPLAY_FILES,
    *FAIR_FILES,
    "admin.css",
    "admin-page.js",
    "admin-pictures.js",
    "audit-page.js",
    "page-parts.js",
    "verify.css",
    "verify-page.js",
    "verify.js",
    "verify-deals.js",
    "verify-formulas.js",
    "verify-json.js",
    "verify-levels.js",
    "verify-reading.js",
    "verify-shapes.js",
)
"""What the pages are made of, those that check proof files and show reports too; each served at its name."""
_HTML: Final = "text/html; charset=utf-8"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".html": _HTML,
    ".svg": "image/svg+xml",
}
_CACHED: Final = {".svg": "max-age=86400"}
"""What a browser need not ask for again: each card that is shown anew would be such a question."""
_MOST_ADDRESSES: Final = 8
"""Addresses by which callers know the server, for which a page that names it is kept."""


class Pages:
    """The pages of an application whose OpenAPI document is ``gathered``; it is completed when it is first asked for."""

    def __init__(self, gathered: dict[str, Any]) -> None:
        self._gathered = gathered

    @cached_property
    def _spec(self) -> dict[str, Any]:
        return complete(deepcopy(self._gathered))

    @cached_property
    def _openapi(self) -> Fixed:
        return Fixed(encode(self._spec), "application/json")

    @cached_property
    def _docs(self) -> bytes:
        return docs_page(self._spec).encode()

    @cached_property
    def _docs_at(self) -> Callable[[str], Fixed]:
        return lru_cache(_MOST_ADDRESSES)(
            lambda url: Fixed(self._docs.replace(ADDRESS.encode(), escape(url).encode()), _HTML)
        )

    def install(self, app: Flask) -> None:
        """Add the pages to ``app``."""
        app.add_url_rule("/", "game", _file("play.html"))
        app.add_url_rule("/about", "about", self.about)
        app.add_url_rule("/docs", "docs", self.docs)
        app.add_url_rule("/docs.css", "docs_css", _file("docs.css"))
        app.add_url_rule("/verify", "verify", _file("verify.html"))
        app.add_url_rule("/audit", "audit", _file("audit.html"))
        app.add_url_rule("/admin", "admin_page", _file("admin.html"))
        for name in PAGE_FILES:
            app.add_url_rule(f"/{name}", name.replace(".", "_"), _file(name))
        for language in LANGUAGES:
            if language != ENGLISH:
                app.add_url_rule(
                    f"/play/texts/{language}.json", f"texts_{language}", partial(_texts, language)
                )
        app.add_url_rule("/v1/openapi.json", "openapi", self.openapi)

    def openapi(self) -> Response:
        """The calls as OpenAPI has them."""
        return self._openapi.answer()

    def docs(self) -> Response:
        """Every call, with the server's own address as the caller knows it."""
        return self._docs_at(request.host_url.rstrip("/")).answer()

    def about(self) -> Response:
        """What this is and how to begin, with the server's own address as the caller knows it."""
        return _about_at(request.host_url.rstrip("/")).answer()


@lru_cache(_MOST_ADDRESSES)
def _about_at(url: str) -> Fixed:
    rows = "".join(
        f"<dt><a href='/v1/variants/{one.name}'>{one.name}</a>: {escape(one.title)}, "
        f"{_seats(sorted(one.seats))} seats</dt><dd>{escape(published_summary(one.name, one.usual_seats))}</dd>"
        for one in VARIANTS.values()
    )
    page = _page(
        "Hearts",
        f"""<h1>Hearts</h1>
<p>This server deals Hearts by the rules of six families and their relatives, for people and bots. Each shuffle is fixed before play and no event
can be altered unseen: whoever played can check the whole game afterwards, offline.</p>
<h2>The game in short</h2>
<p>Everybody gets as many cards, and each takes part alone. Who leads lays a card; the others lay one of the same suit, if they have any, and the highest of that suit takes
the trick. Tricks with hearts cost a point a heart, the queen of spades costs thirteen, and the lowest total wins; but who takes all of them has shot the moon, and the
others pay. Before most hands three cards are passed on.</p>
<h2>Play</h2>
<p>In the browser: <a href="/">to the tables</a>; <i>How it is played</i> there has the rules of each variant in words.</p>
<p>In a terminal, where the program is installed:</p><pre tabindex="0">hearts play standard --url {escape(url)}</pre>
<p>By HTTP, with a recent curl:</p><pre tabindex="0">{escape(_QUICK_START.format(url=url))}</pre>
<p><a href="/verify">Check a game</a> · <a href="/audit">The server's report on one</a> · <a href="/docs">All calls</a> · <a href="/v1/openapi.json">OpenAPI</a> · <a href="/v1/games">tables</a></p>
<h2>Variants</h2>
<dl>{rows}</dl>
<p>Version {escape(program_version())} · <a href="/version">key and build</a></p>""",
    )
    return Fixed(page.encode(), _HTML)


def _file(name: str) -> Callable[[], Response]:
    """What answers with a file of the web folder, which is read once."""
    path = WEB / name
    return Fixed(path.read_bytes(), _TYPES[path.suffix], _CACHED.get(path.suffix, ASK_AGAIN)).answer


@cache
def _texts_in(language: str) -> Fixed:
    return Fixed(encode(page_texts(language)), "application/json")


def _texts(language: str) -> Response:
    """What the game in the browser says in a language."""
    return _texts_in(language).answer()


def _seats(counts: list[int]) -> str:
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="/icon.svg" type="image/svg+xml">\n'
        f'<link rel="stylesheet" href="/docs.css"></head>\n<body><main>{body}</main></body></html>\n'
    )
