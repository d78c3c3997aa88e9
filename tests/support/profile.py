"""How much Hypothesis tries: the same examples in every run, and no deadline on a machine that others share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, settings

Test = Callable[..., Any]


def examples(number: int) -> Callable[[Test], Test]:
    """Try a property on ``number`` examples, always the same ones."""
    return settings(
        max_examples=number,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
