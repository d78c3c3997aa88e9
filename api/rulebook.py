"""The rules of a table in words, made of its rule set by what `hearts rules` tells them with."""

from __future__ import annotations

from typing import Any, Final

from flask import Response
from marshmallow import Schema, fields, validate

from api.house import house
from api.inputs import check_game_id, read_query
from api.present import encode
from api.queries import LanguageQuery
from api.room import Room
from api.tongues import language_of, spoken
from domain.ruleset import RuleSet
from services.languages import LANGUAGES, Words, words_of
from services.rules_text import summary, tell_rules, tell_title

rulebook: Final = Room(
    "rulebook", __name__, url_prefix="/v1/games", description="The rules of a table in words"
)


class RulesSection(Schema):
    """What is to be said of one matter."""

    heading = fields.String(required=True)
    sentences = fields.List(fields.String(), required=True)


class RulesTextAnswer(Schema):
    """The rules of a table in words."""

    game = fields.String(required=True)
    language = fields.String(required=True, validate=validate.OneOf(LANGUAGES))
    title = fields.String(required=True, metadata={"description": "what people call them"})
    summary = fields.String(required=True, metadata={"description": "what sets them apart, in one line"})
    sections = fields.List(fields.Nested(RulesSection), required=True)


LANGUAGE_QUERY: Final = LanguageQuery()


def sections_of(rules: RuleSet, words: Words) -> list[dict[str, Any]]:
    """A rule set in words, as `RulesSection`s."""
    return [{"heading": one.heading, "sentences": one.sentences} for one in tell_rules(rules, words)]


@rulebook.view("GET", "/<game>/rules", RulesTextAnswer, query=LanguageQuery, refuses=(404, 503))
def tell_table_rules(game: str) -> Response:
    """Read the rules of a table.

    In sentences under headings, made of its rule set and of nothing else, as `hearts rules` tells them. What a moment of
    the game allows is in the table's `legal` and at `/why`.
    """
    check_game_id(game)
    language = language_of(read_query(LANGUAGE_QUERY)["language"])
    words = words_of(language)
    rules = house().tables.load(game).state.terms.rules
    body: dict[str, Any] = {
        "game": game,
        "language": language,
        "title": tell_title(rules, words),
        "summary": summary(rules, words),
        "sections": sections_of(rules, words),
    }
    return Response(encode(body), headers=spoken(language))
