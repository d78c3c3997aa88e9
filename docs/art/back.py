"""The back."""
from __future__ import annotations
from pen import tag
def back() -> list[str]:
    return [tag("symbol", tag("rect", width=250, height=350), id="back", viewBox="0 0 250 350")]
