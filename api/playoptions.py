"""The options of ``hearts play``: what each may be, told as wrong usage before anything is sent."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import click

from api.client import is_token
from domain.knobs import MOST_SEATS
from domain.ruleset import KEYS
from services.cli_rules import read_changes

_LINK: Final = re.compile(
    r"(?P<server>https?://[^/#?]+)?/v1/games/(?P<game>[A-Za-z0-9_-]{1,64})(?:#(?P<code>[!-~]{1,100}))?"
)
OURS: Final = frozenset(("seats", "entropy_commit"))
"""Fields of a new table that are no rules: this command fills them itself."""


def read_table_changes(pairs: Sequence[str]) -> dict[str, Any]:
    """``key=value`` pairs as changes of a table's rule set. Raises `click.BadParameter`."""
    changes = read_changes(pairs)
    for key in OURS & changes.keys():
        told = f"{key} cannot be set; what can is {', '.join(rule for rule in KEYS if rule != 'variant')}"
        raise click.BadParameter(told, param_hint="--set")
    players = changes.get("players")
    if "players" in changes and (type(players) is not int or not 1 <= players <= MOST_SEATS):
        raise click.BadParameter(
            f"players is a number up to {MOST_SEATS}, not {players!r:.40}", param_hint="--set"
        )
    return changes


def read_words(_context: click.Context, _parameter: click.Parameter, text: Any) -> Any:
    """A text or several. Raises `click.BadParameter` for what cannot be sent: stray bytes of another encoding."""
    for one in (text,) if isinstance(text, str) else text or ():
        try:
            one.encode()
        except UnicodeEncodeError as error:
            raise click.BadParameter(f"{one!r:.80} is no text in UTF-8") from error
    return text


def read_address(context: click.Context, parameter: click.Parameter, text: str) -> str:
    """A server's address. Raises `click.BadParameter` for one with a path, such as that of the API."""
    found: str = read_words(context, parameter, text)
    _, _, rest = found.rpartition("://")
    host, _, path = rest.strip().partition("/")
    if path.strip("/") and host:
        scheme = found.strip().removesuffix(rest.strip())
        raise click.BadParameter(f"the address is that of the server, without a path: {scheme + host!r:.80}")
    return found


def read_token(_context: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
    """An option's token. Raises `click.BadParameter` for what no header can carry."""
    if text is not None and not is_token(text):
        raise click.BadParameter("a token is a word of letters, digits and signs, as the server gave it")
    return text


def read_key(_context: click.Context, _parameter: click.Parameter, text: str | None) -> str | None:
    """An option's public key. Raises `click.BadParameter` for what is none."""
    if text is not None and re.fullmatch("[0-9a-fA-F]{64}", text) is None:
        raise click.BadParameter(f"{text!r:.80} is no public key: that is 64 digits of hex")
    return None if text is None else text.lower()


def read_pace(_context: click.Context, _parameter: click.Parameter, pace: float | None) -> float | None:
    """An option's seconds. Raises `click.BadParameter` for nan."""
    if pace is not None and math.isnan(pace):  # which is neither below nor above a range
        raise click.BadParameter("nan is no number of seconds")
    return pace


class Link(NamedTuple):
    """What ``--game`` names: the id of a game, and of an invitation's link its server and the code."""

    game: str
    server: str | None = None
    invitation: str | None = None


def read_link(text: str) -> Link:
    """A game's id, its address, or the link of an invitation: the address of the table, and behind ``#`` the code."""
    found = _LINK.fullmatch(text.strip())
    return Link(text) if found is None else Link(found["game"], found["server"], found["code"])
