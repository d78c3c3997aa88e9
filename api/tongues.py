"""In which language a caller is told what is told in several: the one it asks for, else the first of its Accept-Language that we have."""

from __future__ import annotations

from typing import Final

from flask import request
from marshmallow import fields, validate

from services.languages import ENGLISH, LANGUAGES

LANGUAGE: Final = fields.String(
    load_default=None,
    validate=validate.OneOf(LANGUAGES),
    metadata={"description": "the language of what is told; by Accept-Language unless you say so"},
)
"""The language, as a field of a query."""


def language_of(asked: str | None) -> str:
    """The language to answer the current request in, ``asked`` being the one that its query names."""
    if asked:
        return asked
    # by the order of the caller's likings, where a country makes no difference
    liked = (tag.partition("-")[0].lower() for tag, quality in request.accept_languages if quality > 0)
    return next((code for code in liked if code in LANGUAGES), ENGLISH)


def spoken(language: str) -> dict[str, str]:
    """The headers of an answer in a language."""
    return {
        "Content-Type": "application/json",
        "Cache-Control": "no-cache",
        "Content-Language": language,
        "Vary": "Accept-Language",
    }
