"""The published variants over HTTP: what is told of them is made of their rules."""

from __future__ import annotations

from domain.variants import VARIANTS
from services.rules_text import summary
from tests.api.guests import Guest


def test_the_summary_is_made_of_the_rules(stranger: Guest) -> None:
    """In the list, and for every number of seats that a variant has."""
    listed = stranger.get("/v1/variants").json["variants"]
    assert [summary(variant.rules()) for variant in VARIANTS.values()] == [one["summary"] for one in listed]
    for name, variant in VARIANTS.items():
        for seats in variant.seats:
            one = stranger.get(f"/v1/variants/{name}?players={seats}").json
            assert summary(variant.rules(seats)) == one["summary"]
