"""The OpenAPI document, the pages, and that they say what the server does."""

import json
import re
from html import escape, unescape
from html.parser import HTMLParser
from typing import Any

import pytest
from flask import Flask

from api.answers import (
    CommandAnswer,
    EventsAnswer,
    GamesAnswer,
    HintAnswer,
    MeAnswer,
    PlayerAnswer,
    ReadyAnswer,
    RecordAnswer,
    TableAnswer,
    VariantAnswer,
    VersionAnswer,
)
from api.document import operations_of
from api.errors import CODES
from api.pages import PAGE_FILES, PLAY_FILES
from api.refusing import codes_in
from api.schemas import Knobs
from domain.ruleset import KEYS
from services.languages import ENGLISH, LANGUAGES
from services.summaries import update
from services.wiring import Services
from tests.api.guests import Guest, open_table, play_on, seat_all

METHODS = {"GET", "POST", "DELETE", "PUT", "PATCH"}
PAGES = {
    "/",
    "/about",
    "/docs",
    "/docs.css",
    "/v1/openapi.json",
    "/verify",
    "/audit",
    "/admin",
    *(f"/{name}" for name in PAGE_FILES),
    *(f"/play/texts/{language}.json" for language in LANGUAGES if language != ENGLISH),
}


@pytest.fixture
def spec(stranger: Guest) -> dict[str, Any]:
    """The OpenAPI document as it is served."""
    found: dict[str, Any] = stranger.get("/v1/openapi.json").json
    return found


def references(value: Any) -> set[str]:
    """Every `$ref` in a document."""
    if isinstance(value, dict):
        return {value["$ref"]} if "$ref" in value else set().union(*map(references, value.values()))
    return set().union(*map(references, value)) if isinstance(value, list) else set()


def types(value: Any) -> list[list[str]]:
    """Every `type` in a document that is a list of several."""
    if isinstance(value, dict):
        found = [value["type"]] if isinstance(value.get("type"), list) else []
        return found + [kinds for inner in value.values() for kinds in types(inner)]
    return [kinds for inner in value for kinds in types(inner)] if isinstance(value, list) else []


def integers(value: Any) -> list[dict[str, Any]]:
    """Every integer of a document that is no enumeration."""
    if isinstance(value, dict):
        kinds = value.get("type", ())
        found = (
            [value]
            if "integer" in ([kinds] if isinstance(kinds, str) else kinds) and "enum" not in value
            else []
        )
        return found + [one for inner in value.values() for one in integers(inner)]
    return [one for inner in value for one in integers(inner)] if isinstance(value, list) else []


def test_every_route_is_documented(app: Flask, spec: dict[str, Any]) -> None:
    """Whatever the application answers is in the document, but for the pages; and nothing else is."""
    routes = {
        (method, re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule))
        for rule in app.url_map.iter_rules()
        for method in (rule.methods or set()) & METHODS
        if rule.rule not in PAGES
    }
    documented = {
        (method.upper(), path)
        for path, item in spec["paths"].items()
        for method in item
        if method.upper() in METHODS
    }
    assert routes == documented
    assert 45 == len(routes)


def test_the_document_is_sound(spec: dict[str, Any]) -> None:
    """Version, references, parameters and answers are as OpenAPI 3.1 wants them."""
    assert ("3.1.0", "Hearts") == (spec["openapi"], spec["info"]["title"])
    for reference in references(spec):
        place: Any = spec
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]
        assert place
    for kinds in types(spec):
        assert len(kinds) == len(set(kinds))
    for path, item in spec["paths"].items():
        shared = item.get("parameters", [])
        for method in item.keys() & {"get", "post", "delete"}:
            operation = item[method]
            assert operation["summary"], path
            assert set(re.findall(r"{(\w+)}", path)) == {one["name"] for one in shared if one["in"] == "path"}
            assert all(re.fullmatch(r"20[014]|304|4..|503", status) for status in operation["responses"])
            assert ("requestBody" in operation) <= (method == "post")
            for one in operation.get("parameters", []):
                assert {"name", "in", "schema"} <= one.keys()
    assert {"type": "http", "scheme": "bearer"}.items() <= spec["components"]["securitySchemes"][
        "bearer"
    ].items()


def test_no_number_is_without_bounds(spec: dict[str, Any]) -> None:
    """Wherever the document has an integer, it says how small and how large it may be."""
    assert [] == [kind for kind in integers(spec) if not {"minimum", "maximum"} <= kind.keys()]
    schemas = spec["components"]["schemas"]
    for name in ("target", "moon_x", "floor"):
        assert 1_000_000 == schemas["NewTable"]["properties"][name]["maximum"]
        assert "1000000" in schemas["NewTable"]["properties"][name]["description"]
    assert 64 == schemas["NewTable"]["properties"]["pass_cycle"]["maxItems"]


def test_no_component_is_unused(spec: dict[str, Any]) -> None:
    """Every schema and every answer of the document is one that a call leads to."""
    found = {"#/components/securitySchemes/bearer"} | references(spec)
    assert found == {
        f"#/components/{kind}/{name}" for kind, named in spec["components"].items() for name in named
    }


def test_requests_are_described_by_what_reads_them(spec: dict[str, Any]) -> None:
    """The bodies of the document have the fields that the schemas take, the rules' own included."""
    schemas = spec["components"]["schemas"]
    assert {"pass", "play", "moon", "signed_seq", "signature"} == schemas["Move"]["properties"].keys()
    settings = {
        "seats",
        "clock",
        "ready_seconds",
        "abandon_seconds",
        "chain",
        "hints",
        "rated",
        "entropy_commit",
        "public_key",
    }
    assert {*KEYS, *settings} == schemas["NewTable"]["properties"].keys()
    assert ["seats", "variant"] == sorted(schemas["NewTable"]["required"])
    assert set(KEYS) - {"variant"} == Knobs().fields.keys()
    moves = spec["paths"]["/v1/games/{game}/moves"]["post"]
    assert {"Idempotency-Key", "If-Match"} == {one["name"] for one in moves["parameters"]}
    assert {"at", "as", "open", "If-None-Match"} == {
        one["name"] for one in spec["paths"]["/v1/games/{game}"]["get"]["parameters"]
    }
    assert {"after", "wait", "limit"} == {
        one["name"] for one in spec["paths"]["/v1/games/{game}/events"]["get"]["parameters"]
    }


def check(schema: Any, body: Any) -> None:
    """Hold an answer against the schema that describes it: no key more, none of the required ones less."""
    fields = {field.data_key or name: field for name, field in schema().fields.items()}
    assert body.keys() <= fields.keys(), body.keys() - fields.keys()
    assert {name for name, field in fields.items() if field.required} <= body.keys()
    for name, value in body.items():
        field = fields[name]
        inner = getattr(field, "inner", field)
        if value is None:
            assert field.allow_none, name
        elif hasattr(inner, "schema"):
            for one in value if isinstance(value, list) else [value]:
                check(type(inner.schema), one)
        else:
            field.deserialize(value)


def test_answers_are_what_the_document_says(services: Services, four: list[Guest], stranger: Guest) -> None:
    """Every kind of answer, in every phase of a game, has exactly the keys that its schema describes."""
    check(PlayerAnswer, stranger.post("/v1/players", {"name": "Anna"}).json)
    check(MeAnswer, four[0].get("/v1/me").json)
    check(VersionAnswer, stranger.get("/version").json)
    check(ReadyAnswer, stranger.get("/readyz").json)
    for one in stranger.get("/v1/variants").json["variants"]:
        check(VariantAnswer, one)
    game = open_table(four[0], ["me", {"bot": "rules"}, "open", "open"])
    check(TableAnswer, stranger.table(game))
    table = services.tables.load(game)
    services.projections.write({services.keys.partition(game): [update(game, table, table.at)]})
    check(GamesAnswer, stranger.get("/v1/games").json)
    game = seat_all(four, hand_limit=1)
    while four[0].table(game)["status"] == "playing":
        check(TableAnswer, four[0].table(game))
        check(HintAnswer, four[four[0].table(game)["turn"] or 0].get(f"/v1/games/{game}/hint").json)
        check(TableAnswer, stranger.table(game))
        check(CommandAnswer, play_on(four, game))
    check(TableAnswer, four[0].table(game))
    check(TableAnswer, four[0].get(f"/v1/games/{game}?at=40&open=1").json)
    check(CommandAnswer, four[0].post(f"/v1/games/{game}/rematch").json)
    check(EventsAnswer, four[0].get(f"/v1/games/{game}/events").json)
    check(RecordAnswer, stranger.get(f"/v1/games/{game}/record").json)


class Tags(HTMLParser):
    """Looks for tags that are not closed, links, and anything that a strict policy forbids."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: set[str] = set()
        self.ids: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the tag and what it points to."""
        named = dict(attrs)
        assert tag not in ("script", "style", "img", "iframe")
        assert "style" not in named
        self.links |= {named[name] or "" for name in ("href", "src") if name in named}
        self.ids |= {named["id"] or ""} if "id" in named else set()
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """The innermost open tag is closed."""
        assert tag == self.open.pop()


def sections_of(page: str) -> dict[str, str]:
    """The sections of the documentation by their anchors."""
    return dict(re.findall(r'<section id="([^"]+)"(.*?)</section>', page, re.DOTALL))


@pytest.mark.parametrize("path", ["/about", "/docs"])
def test_the_pages_are_plain_and_lead_somewhere(stranger: Guest, path: str) -> None:
    """Well-formed, nothing inline, nothing from elsewhere, and no dead link."""
    page = stranger.get(path)
    assert "text/html; charset=utf-8" == page.headers["Content-Type"]
    tags = Tags()
    tags.feed(page.text)
    assert [] == tags.open
    assert tags.links
    for link in tags.links:
        if link.startswith("#"):
            assert link[1:] in tags.ids
        else:
            assert link.startswith("/")
            assert 200 == stranger.get(link).status_code, link
    if path == "/docs":
        assert CODES.keys() <= tags.ids


def test_the_docs_list_every_call(stranger: Guest, spec: dict[str, Any]) -> None:
    """Each operation has its section with summary, parameters, fields, an example and the codes it refuses with."""
    sections = sections_of(stranger.get("/docs").text)
    for name, (method, path, operation) in operations_of(spec).items():
        text = sections[name]
        assert f">{method}</b> {path}</code>" in text
        assert operation["summary"].rstrip(".") in unescape(text)
        parameters = [*spec["paths"][path].get("parameters", ()), *operation.get("parameters", ())]
        for one in parameters:
            assert f"<code>{one['name']}</code>" in text
        for status, response in operation["responses"].items():
            assert f">{status}</b>" in text
            assert all(f'href="#{code}"' in text for code in codes_in(response))
        assert re.search("<pre[^>]*>curl ", text)
    assert all(f"<code>{key}</code>" in sections["open_table"] for key in (*KEYS, "entropy_commit"))


def test_the_docs_explain_every_code(stranger: Guest) -> None:
    """The `type` of a problem leads to its meaning, what to do, and an example."""
    sections = sections_of(stranger.get("/docs").text)
    for code, (status, title) in CODES.items():
        text = sections[code]
        for said in (str(status), escape(title), "What to do:", f"&#34;code&#34;: &#34;{code}&#34;"):
            assert said in text, code
    refused = stranger.get("/v1/games/nothing")
    assert refused.json["type"].removeprefix("/docs#") in sections


def test_no_field_goes_without_a_word(spec: dict[str, Any]) -> None:
    """Whatever is sent has a description, or is told by its choices or the schema that it refers to."""
    for name, (_, path, operation) in operations_of(spec).items():
        for one in (*spec["paths"][path].get("parameters", ()), *operation.get("parameters", ())):
            assert one.get("description") or "enum" in one["schema"] or one["name"] == "limit", (name, one)
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        if body:
            schema = spec["components"]["schemas"][body["schema"]["$ref"].rpartition("/")[2]]
            assert [] == [
                field for field, what in schema["properties"].items() if not what.get("description")
            ]
    assert all(one["description"] for one in spec["components"]["schemas"].values())


def test_the_docs_name_this_server(stranger: Guest) -> None:
    """The examples are for the address by which the caller reached it, and cannot be made to hold anything else."""
    text = stranger.get("/docs", Host="hearts.example:8443").text
    assert "URL=http://hearts.example:8443\n" in text
    assert "hearts.invalid" not in text


def test_the_quick_start_names_this_server(stranger: Guest) -> None:
    """The address is the one by which the caller reached it, and the variants are all there."""
    text = stranger.get("/about", Host="hearts.example:8443").text
    assert "URL=http://hearts.example:8443" in text
    for variant in ("basic", "cancellation", "omnibus"):
        assert f"/v1/variants/{variant}" in text
    assert "hearts play" in text


def test_the_bodies_of_the_quick_start_are_taken(
    services: Services, stranger: Guest, four: list[Guest]
) -> None:
    """The JSON of the page's curl lines is understood by the calls that it is sent to."""
    text = stranger.get("/about").text.replace("&quot;", '"').replace("&#x27;", "'")
    bodies = [json.loads(found) for found in re.findall(r"--json '([^']*)'", text)]
    player, table, passing, playing = bodies
    assert 201 == stranger.post("/v1/players", player).status_code
    made = four[0].post("/v1/games", table)
    assert 201 == made.status_code
    game = made.json["id"]
    four[0].post(f"/v1/games/{game}/ready")
    assert four[0].move(game, passing).status_code in (200, 422)
    assert four[0].move(game, playing).json["code"] == "play/not_your_turn"


def test_the_game_names_its_modules_before_they_are_asked_for(stranger: Guest) -> None:
    """The page tells the browser of all of them at once, so that none is found out through another."""
    named = set(re.findall(r'(?:src|href)="(/[^"]+\.(?:js|css|svg))"', stranger.get("/").text))
    shared = {"/page-parts.js", "/verify-formulas.js"}
    assert {f"/{name}" for name in PLAY_FILES} - {"/cards.svg"} | shared == named
