"""The published variants, by value."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Final

from flask import Response
from marshmallow import fields

from api.answers import VariantAnswer, VariantsAnswer
from api.errors import Problem
from api.inputs import read_query
from api.present import encode
from api.queries import LanguageQuery, VariantQuery
from api.room import Room
from api.rulebook import LANGUAGE_QUERY, RulesSection, sections_of
from api.tongues import language_of, spoken
from domain.variants import VARIANTS, Variant, ruleset_of
from services.languages import words_of
from services.rules_text import published_summary

variants: Final = Room("variants", __name__, url_prefix="/v1/variants", description="The published rule sets")

VARIANT: Final = VariantQuery()


class ToldVariantAnswer(VariantAnswer):
    """A published variant for a number of seats, and its rules in words."""

    sections = fields.List(fields.Nested(RulesSection), required=True)


@variants.view("GET", "", VariantsAnswer, query=LanguageQuery)
def list_variants() -> Response:
    """List the published variants.

    Each with its rules by value, for its usual number of seats.
    """
    language = language_of(read_query(LANGUAGE_QUERY)["language"])
    found = [_describe(variant, variant.usual_seats, language) for variant in VARIANTS.values()]
    return Response(encode({"variants": found}), headers=spoken(language))


@variants.view(
    "GET",
    "/<name>",
    ToldVariantAnswer,
    query=VariantQuery,
    refuses=(404,),
    codes=("variant/unknown", "rules/invalid"),
)
def show_variant(name: str) -> Response:
    """See a variant for a number of seats.

    With its rules in sentences as well, as `hearts rules` tells them.
    """
    variant = VARIANTS.get(name)
    if variant is None:
        near = get_close_matches(name[:40], VARIANTS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(VARIANTS)}"
        raise Problem("variant/unknown", f"{name!r:.60} is no published variant", hint=hint)
    asked = read_query(VARIANT)
    seats, language = asked["players"], language_of(asked["language"])
    found = _describe(variant, variant.usual_seats if seats is None else seats, language)
    sections = sections_of(found["rules"], words_of(language))
    return Response(encode(found | {"sections": sections}), headers=spoken(language))


def _describe(variant: Variant, seats: int, language: str) -> dict[str, Any]:
    rules = ruleset_of({"variant": variant.name, "players": seats})
    return {
        "name": variant.name,
        "title": words_of(language).gettext(variant.title),
        "summary": published_summary(variant.name, seats, language),
        "source": variant.source,
        "players": sorted(variant.seats),
        "rules": rules,
    }
