"""The rules of a table in words over HTTP, and the language that they are told in."""

from __future__ import annotations

import pytest
from flask import Flask

from domain.variants import VARIANTS, ruleset_of
from services.languages import ENGLISH, LANGUAGES, page_texts, words_of
from services.rules_text import summary, tell_rules, tell_title
from tests.api.guests import Guest, open_table

SEATS = ["me", "open", "open", "open"]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("rules", [{"variant": "spot"}, {"variant": "standard", "target": 50}], ids=str)
def test_they_are_those_of_the_command(four: list[Guest], language: str, rules: dict[str, object]) -> None:
    """Title, summary and sections as `hearts rules` tells them, of a table with house rules too, to anybody."""
    game = open_table(four[0], SEATS, **rules)
    words, found = words_of(language), ruleset_of(four[0].table(game)["rules"])
    answer = four[1].get(f"/v1/games/{game}/rules?language={language}")
    assert {
        "game": game,
        "language": language,
        "title": tell_title(found, words),
        "summary": summary(found, words),
        "sections": [
            {"heading": one.heading, "sentences": one.sentences} for one in tell_rules(found, words)
        ],
    } == answer.json
    assert language == answer.headers["Content-Language"]


@pytest.mark.parametrize(
    ("accepts", "language"),
    [
        ("sv-FI, fi;q=0.9", "sv"),
        ("de, is;q=0.5, en;q=0.4", "is"),
        ("de", "en"),
        ("*", "en"),
        ("", "en"),
        ("el;q=0", "en"),
        (";;=", "en"),
    ],
)
def test_the_browser_says_which_language(app: Flask, four: list[Guest], accepts: str, language: str) -> None:
    """By Accept-Language, where the address names none; caches keep languages apart."""
    game = open_table(four[0], SEATS)
    client = app.test_client()
    for path in (f"/v1/games/{game}/rules", "/v1/variants", "/v1/variants/standard"):
        answer = client.get(path, headers={"Accept-Language": accepts})
        assert (language, "Accept-Language") == (
            answer.headers["Content-Language"],
            answer.headers["Vary"],
        ), path
        named = client.get(f"{path}?language=fi", headers={"Accept-Language": accepts})
        assert "fi" == named.headers["Content-Language"]


def test_what_cannot_be_told(four: list[Guest]) -> None:
    """No such game, and no such language."""
    game = open_table(four[0], SEATS)
    assert 404 == four[0].get("/v1/games/nothing/rules").status_code
    for asked in ("de", "SV", "", "../sv"):
        assert 422 == four[0].get(f"/v1/games/{game}/rules?language={asked}").status_code


@pytest.mark.parametrize("language", LANGUAGES)
def test_variants_are_told_in_every_language(stranger: Guest, language: str) -> None:
    """Title and summary; names, rules and sources stay."""
    words = words_of(language)
    for one in stranger.get(f"/v1/variants?language={language}").json["variants"]:
        variant = VARIANTS[one["name"]]
        assert words.gettext(variant.title) == one["title"]
        assert summary(variant.rules(), words) == one["summary"]
        assert variant.source == one["source"]


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one != ENGLISH])
def test_the_page_is_given_its_texts(stranger: Guest, language: str) -> None:
    """Those of the page alone, by their English, with both forms of what goes with a number."""
    texts = stranger.get(f"/play/texts/{language}.json").json
    assert len(texts) > 200
    assert 2 == len(texts["{n} trick"])
    assert {
        name: list(one) if isinstance(one, tuple) else one for name, one in page_texts(language).items()
    } == texts
    assert "Passing" not in texts
