"""Whole numbers in the schemas of what ``/v1`` sends."""

from __future__ import annotations

from typing import Final

from marshmallow import fields, validate

LARGEST_COUNT: Final = 2**53 - 1
"""No number that is sent is larger, so that every reader of JSON can hold it."""


def number(
    description: str, low: int, high: int, *, allow_none: bool = False, required: bool = True
) -> fields.Integer:
    """A number from ``low`` to ``high``."""
    return fields.Integer(
        required=required,
        allow_none=allow_none,
        validate=validate.Range(low, high),
        metadata={"description": description},
    )


def count(
    description: str, *, low: int = 0, allow_none: bool = False, required: bool = True
) -> fields.Integer:
    """A number that has no bound of its own: how many, a place in an order, a moment in ms."""
    return number(description, low, LARGEST_COUNT, allow_none=allow_none, required=required)
