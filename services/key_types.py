"""What a key of the store should hold, by its template."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from services.key_templates import TEMPLATES, Template

_PATTERNS: Final = [
    (
        re.compile(
            re.sub(
                r"<(\w+)>|pNN",
                lambda hole: f"(?P<{hole[1]}>.+)" if hole[1] else r"p\d+",
                re.escape(one.key),
            )
        ),
        one,
    )
    for one in TEMPLATES
]


def template_of(key: str) -> tuple[Template, dict[str, str]] | None:
    """The template of a key, and what stands in its holes; none where it is no key of ours."""
    for pattern, template in _PATTERNS:
        if match := pattern.fullmatch(key):
            return template, match.groupdict()
    return None


def type_of(key: str) -> str | None:
    """The type that a key should have in the store; none where it is no key of ours."""
    found = template_of(key)
    return None if found is None else found[0].type


def wrong_types(
    ask: Callable[[Sequence[tuple[str, str]]], list[bytes]], keys: Iterable[str]
) -> dict[str, str]:
    """Those of our keys that hold something of another type than they should, each with a sentence on it.

    ``ask`` sends commands and gives their replies.
    """
    wanted = [(key, kind) for key in keys if (kind := type_of(key)) is not None]
    found = ask([("TYPE", key) for key, _ in wanted])
    return {
        key: f"the key {key} holds a {there.decode()}, and should hold a {kind}"
        for (key, kind), there in zip(wanted, found, strict=True)
        if there.decode() not in (kind, "none")
    }
