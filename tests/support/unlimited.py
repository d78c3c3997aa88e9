"""Settings without rate limits, for tests that are no test of them."""

from typing import Final

UNLIMITED: Final = dict.fromkeys(("rate_player", "rate_address", "rate_new_players", "rate_bad_tokens"), "")
"""Fields of `Settings`."""
UNLIMITED_ENVIRON: Final = {f"HEARTS_{name.upper()}": value for name, value in UNLIMITED.items()}
"""The same as variables."""
