"""Which field of a JSON object is not as it should be, told in words for people."""

from __future__ import annotations

from typing import Any

import msgspec


def wrong_field(found: Any, kind: type[msgspec.Struct]) -> str:
    """The first field of ``found`` that keeps it from being of the kind; one that is too many, where the others are right."""
    if not isinstance(found, dict):
        return "the whole, which is no object"
    fields = msgspec.structs.fields(kind)
    for field in fields:
        try:
            msgspec.convert(found[field.name], field.type)
        except (KeyError, msgspec.ValidationError):
            return field.name
    return next((name for name in found if name not in kind.__struct_fields__), "the whole")


def told_wrong(found: Any, kind: type[msgspec.Struct]) -> str:
    """What is wrong with ``found`` as a sentence, in the words of the page ``/verify``."""
    name = wrong_field(found, kind)
    if isinstance(found, dict) and name in found and name not in kind.__struct_fields__:
        return f"{name} does not belong there"
    return f"{name} is missing or not as it should be"
