"""The tables at which is tried whether a reader can tell what it may not know."""

from __future__ import annotations

from typing import Any, Final

from tests.hidden.company import Plan

_ONE: Final[dict[str, Any]] = {"hand_limit": 1}
_TWO: Final[dict[str, Any]] = {"hand_limit": 2}
_MOON: Final[dict[str, Any]] = {"points": {"QS": 13}, "moon_effect": "choice", "hand_limit": 2}
"""With one penalty card somebody shoots the moon in every hand."""

PLANS: Final = [
    Plan("basic", "ppbb", _TWO),
    Plan("classic", "pppp", _ONE, hints=False),
    Plan("special", "pbpb", _ONE, clock=30),
    Plan("standard", "ppb", _TWO),
    Plan("cancellation", "pbpbpbpb", _ONE),
    Plan("omnibus", "spbs", _ONE),
    # relatives: a kitty, passes to the right, hands without a pass, partners, a sun, a moon that its shooter chooses
    Plan("bicycle_cancellation", "ppbbbbb", _ONE),
    Plan("cancellation", "ppbbbbb", _TWO),
    Plan("black_maria", "psbp", _ONE),
    Plan("spot", "ppbb", {**_ONE, "pass_cycle": [0]}),
    Plan("partnership", "ppbp", _ONE, clock=60),
    Plan("standard", "pbbpp", {**_MOON, "sun_effect": "punish"}),
]
"""The six families and what their relatives add to them."""
