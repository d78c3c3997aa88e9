"""The published variants, by value."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, Final

from flask import Response

from api.answers import VariantAnswer, VariantsAnswer
from api.errors import Problem
from api.inputs import read_query
from api.present import encode
from api.queries import VariantQuery
from api.room import Room
from domain.variants import VARIANTS, Variant, ruleset_of
from services.rules_text import published_summary

variants: Final = Room("variants", __name__, url_prefix="/v1/variants", description="The published rule sets")

VARIANT: Final = VariantQuery()
_HEADERS: Final = {"Content-Type": "application/json", "Cache-Control": "no-cache"}


@variants.view("GET", "", VariantsAnswer)
def list_variants() -> Response:
    """List the published variants.

    Each with its rules by value, for its usual number of seats.
    """
    found = [_describe(variant, variant.usual_seats) for variant in VARIANTS.values()]
    return Response(encode({"variants": found}), headers=_HEADERS)


@variants.view(
    "GET",
    "/<name>",
    VariantAnswer,
    query=VariantQuery,
    refuses=(404,),
    codes=("variant/unknown", "rules/invalid"),
)
def show_variant(name: str) -> Response:
    """See a variant for a number of seats."""
    variant = VARIANTS.get(name)
    if variant is None:
        near = get_close_matches(name[:40], VARIANTS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(VARIANTS)}"
        raise Problem("variant/unknown", f"{name!r:.60} is no published variant", hint=hint)
    seats = read_query(VARIANT)["players"]
    return Response(
        encode(_describe(variant, variant.usual_seats if seats is None else seats)), headers=_HEADERS
    )


def _describe(variant: Variant, seats: int) -> dict[str, Any]:
    rules = ruleset_of({"variant": variant.name, "players": seats})
    return {
        "name": variant.name,
        "title": variant.title,
        "summary": published_summary(variant.name, seats),
        "source": variant.source,
        "players": sorted(variant.seats),
        "rules": rules,
    }
