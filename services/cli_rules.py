"""`hearts rules`: the rules of a table as a person would read them, in the reader's language."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, Final

import click
import msgspec

from domain.refusals import InvalidRules
from domain.ruleset import RuleSet
from domain.variants import CUSTOM, VARIANTS, ruleset_of
from services.json_keys import find_twice
from services.languages import ENGLISH, LANGUAGES, Words, choose_language, words_of
from services.rules_cards import SIGNS, without_signs
from services.rules_text import summary, tell_rules, tell_title

UNPLAYABLE: Final = 2
NARROWEST, WIDEST = 20, 100
"""Columns of a line of text, whatever the terminal says of itself."""


def read_changes(pairs: Sequence[str]) -> dict[str, Any]:
    """``key=value`` pairs as changes of a rule set; a value is JSON, or else a text as it stands.

    Raises `click.BadParameter`.
    """
    changes: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key.strip()
        if not equals or not key:
            raise click.BadParameter(f"{pair!r:.60} is not key=value, as in target=50", param_hint="--set")
        if key in changes:
            raise click.BadParameter(f"{key!r:.60} is set twice", param_hint="--set")
        if key == "variant":
            raise click.BadParameter("the variant stands before the options, not under --set")
        changes[key] = _read_value(value)
    return changes


def _read_value(text: str) -> Any:
    try:
        value = msgspec.json.decode(text)
        twice = find_twice(text.encode()) if isinstance(value, dict | list) else None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text.strip()
    if twice is not None:
        raise click.BadParameter(f"the key {twice.key!r:.60} stands there twice", param_hint="--set")
    return value


def read_rules(variant: str, players: int | None, changes: Mapping[str, Any]) -> RuleSet:
    """The rule set of a variant with changes. Raises `InvalidRules` with everything that is wrong with it."""
    if players is not None:
        changes = {"players": players, **changes}
    return ruleset_of({"variant": variant, **changes})


@click.command()
@click.argument("variant", required=False)
@click.option("--players", type=int, help="Seats; the variant's usual number where it is left out.")
@click.option("--set", "pairs", multiple=True, metavar="KEY=VALUE", help="Change a rule; may be repeated.")
@click.option(
    "--lang", metavar="CODE", help=f"The language: {', '.join(LANGUAGES)}; else the one of the locale."
)
@click.option("--json", "as_json", is_flag=True, help="The rule set by value, for programs.")
def rules(
    variant: str | None, players: int | None, pairs: tuple[str, ...], lang: str | None, as_json: bool
) -> None:
    """Tell the rules of a variant, or list the variants.

    VARIANT is the name of a published variant; `custom` starts from the rules of basic. Every key of a rule set can be
    --set; its value is JSON or plain text. Exit status 2: such rules cannot be played, and all reasons are told.
    """
    changes = read_changes(pairs)
    words = _words(lang)
    if variant is None:
        if changes or players is not None:
            raise click.UsageError(f"say which variant to change: {', '.join([*VARIANTS, CUSTOM])}")
        _list_variants(words, as_json)
        return
    if players is not None and changes.get("players", players) != players:
        raise click.UsageError("--players and --set players say different numbers")
    try:
        found = read_rules(variant, players, changes)
    except InvalidRules as error:
        for problem in error.problems:
            click.echo(f"Error: {problem}", err=True)
        raise SystemExit(UNPLAYABLE) from error
    if as_json:
        click.echo(msgspec.json.encode(found))
    else:
        _say(page(found, words, _columns()))


def page(found: RuleSet, words: Words, columns: int) -> str:
    """A rule set as a page of text, its lines no longer than so many ``columns``."""
    lines = [tell_title(found, words)]
    for section in tell_rules(found, words):
        lines += ["", section.heading]
        lines += textwrap.wrap(
            " ".join(section.sentences),
            columns,
            initial_indent="  ",
            subsequent_indent="  ",
            break_on_hyphens=False,
        )
    return "\n".join(lines)


def _list_variants(words: Words, as_json: bool) -> None:
    if as_json:
        click.echo(msgspec.json.encode([variant.rules() for variant in VARIANTS.values()]))
        return
    wide = max(map(len, VARIANTS))
    for variant in VARIANTS.values():
        seats = sorted(variant.seats)
        span = f"{seats[0]}-{seats[-1]}" if len(seats) > 1 else str(seats[0])
        _say(f"{variant.name:{wide}}  {span:4}  {summary(variant.rules(), words)}")


def _columns() -> int:
    return max(NARROWEST, min(WIDEST, shutil.get_terminal_size().columns))


def _words(asked: str | None) -> Words:
    """The words of the language asked for, else of the locale; English, and why, where they cannot be had or shown."""
    language = choose_language(asked)
    if asked is not None and language == ENGLISH and not asked.lower().startswith(ENGLISH):
        click.echo(f"there is no {asked!r:.40} yet, only {', '.join(LANGUAGES)}: told in English", err=True)
    words = words_of(language)
    if not _can_show(without_signs(page(VARIANTS["basic"].rules(), words, WIDEST))):
        click.echo(f"the letters of {language!r} cannot be shown here: told in English", err=True)
        return words_of()
    return words


def _can_show(text: str) -> bool:
    try:
        text.encode(sys.stdout.encoding)
    except UnicodeEncodeError:
        return False
    return True


def _say(text: str) -> None:
    """Print a text, cards without their signs where the output has none."""
    click.echo(text if _can_show("".join(SIGNS.values())) else without_signs(text))
