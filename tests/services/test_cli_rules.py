"""`hearts rules`: what it prints, in which language, and what it answers to arguments that make no rules."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from domain.variants import VARIANTS, ruleset_of
from services.cli_rules import page, rules
from services.languages import LANGUAGES, words_of
from services.rules_text import summary

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "house-rules.md").read_text(encoding="utf-8")
NO_LOCALE = dict.fromkeys(("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LANG"))


def run(*arguments: str, charset: str = "utf-8", **environment: str) -> Result:
    """The command with arguments, in an environment whose locale is only what is given."""
    env: dict[str, str | None] = {**NO_LOCALE, "COLUMNS": "80", **environment}
    return CliRunner(charset=charset).invoke(rules, arguments, env=env)


def test_without_a_variant_all_are_listed() -> None:
    """A line each: the name, the seats, what sets it apart."""
    result = run()
    assert (0, "") == (result.exit_code, result.stderr)
    lines = [line.split(maxsplit=2) for line in result.stdout.splitlines()]
    assert [*VARIANTS] == [name for name, _, _ in lines]
    spans = {name: seats for name, seats, _ in lines}
    assert ("4", "3-7", "6-11") == (spans["basic"], spans["standard"], spans["cancellation"])
    assert [summary(variant.rules()) for variant in VARIANTS.values()] == [text for _, _, text in lines]


def test_a_variant_is_told_for_the_seats_asked_for() -> None:
    """The page of its rules for so many seats, on lines that fit the terminal."""
    result = run("standard", "--players", "5")
    assert (0, "") == (result.exit_code, result.stderr)
    assert page(VARIANTS["standard"].rules(5), words_of(), 80) + "\n" == result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    narrow = run("standard", "--players", "5", COLUMNS="40")
    assert max(map(len, narrow.stdout.splitlines())) <= 40
    assert result.stdout.split() == narrow.stdout.split()


def test_players_may_be_set_too() -> None:
    """`--set players=5` means the same, and saying it twice alike is no contradiction."""
    expected = run("standard", "--players", "5").stdout
    assert expected == run("standard", "--set", "players=5").stdout
    assert expected == run("standard", "--set", "players=5", "--players", "5").stdout


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("target=50", 50),
        ("moon_effect=add", "add"),
        ('moon_effect="add"', "add"),
        ("removed=2D 2C", "2C 2D"),
        ('breakers=["H"]', ("H",)),
        ('points={"h": 1, "10d": -10}', {"H": 1, "TD": -10}),
        ("floor=null", None),
        ("perfect_hand=true", True),
        (" target = 7 ", 7),
    ],
)
def test_every_kind_of_value_can_be_set(pair: str, value: object) -> None:
    """JSON, or a text as it stands; the rule set by value shows it."""
    base = {"variant": "custom", "hand": 12} if pair.startswith("removed") else {"variant": "custom"}
    result = run("custom", "--set", f"hand={base.get('hand', 13)}", "--set", pair, "--json")
    key = pair.partition("=")[0].strip()
    found = json.loads(result.stdout)
    assert ruleset_of({**base, key: value}) == ruleset_of(found)
    assert json.loads(json.dumps(value)) == found[key]


def test_json_is_the_rule_set_by_value() -> None:
    """One object with every key in order; without a variant an array of all."""
    result = run("classic", "--set", "target=7", "--json", "--lang", "sv")
    assert (
        msgspec.json.encode(ruleset_of({"variant": "classic", "target": 7})).decode() == result.stdout.strip()
    )
    every = json.loads(run("--json").stdout)
    assert [variant.rules() for variant in VARIANTS.values()] == [ruleset_of(one) for one in every]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_language_is_asked_for_or_that_of_the_locale(language: str) -> None:
    """--lang first, then the environment; list and page both."""
    expected = page(VARIANTS["basic"].rules(), words_of(language), 80) + "\n"
    assert expected == run("basic", "--lang", language).stdout
    assert expected == run("basic", LANG=f"{language}_XX.UTF-8").stdout
    assert expected == run("basic", "--lang", language, LANG="de_DE.UTF-8", LANGUAGE="sv").stdout
    assert (
        summary(VARIANTS["basic"].rules(), words_of(language))
        in run(LANG="en_GB.UTF-8", LANGUAGE=language).stdout
    )


def test_a_language_that_is_missing_falls_back_to_english() -> None:
    """In silence for a locale; where it was asked for, a line says which there are."""
    english = run("omnibus").stdout
    by_locale = run("omnibus", LANG="de_DE.UTF-8")
    assert (english, "", 0) == (by_locale.stdout, by_locale.stderr, by_locale.exit_code)
    asked = run("omnibus", "--lang", "de")
    assert (english, 0) == (asked.stdout, asked.exit_code)
    assert asked.stderr == "there is no 'de' yet, only en, el, fi, is, sv: told in English\n"


def test_a_terminal_without_signs_is_shown_letters() -> None:
    """Latin-1 has the letters of Swedish and no suits; it cannot show Greek, which then is told in English."""
    swedish = run("standard", "--players", "5", "--lang", "sv", charset="latin-1")
    assert 0 == swedish.exit_code
    assert "2 kort tas bort före given: 2C, 2D." in " ".join(swedish.stdout.split())
    greek = run("standard", "--players", "5", "--lang", "el", charset="latin-1")
    assert greek.stderr == "the letters of 'el' cannot be shown here: told in English\n"
    assert greek.stdout.startswith("Standard Hearts (standard)\n")
    assert "?" not in greek.stdout


def test_all_problems_are_told_at_once() -> None:
    """A sentence each, status 2, and nothing on standard output."""
    result = run("basic", "--set", "hand=99", "--set", "targt=5", "--set", "tie=never", "--set", "decks=3")
    assert (2, "") == (result.exit_code, result.stdout)
    assert [
        "Error: hand must be a number from 1 to 34; it is 99",
        "Error: 'targt' is no key of a rule set; did you mean target?",
        "Error: tie must be shared or continue; it is 'never'",
        "Error: decks must be 1 or 2; it is 3",
    ] == result.stderr.splitlines()
    misfit = run("custom", "--set", "players=5", "--set", "removed=2C 2C")
    assert 3 == len(misfit.stderr.splitlines())
    assert 2 == misfit.exit_code


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["clasic"], "'clasic' is no published variant; did you mean classic?"),
        (["--players", "4"], "say which variant to change: basic"),
        (["--set", "target=5"], "say which variant to change: basic"),
        ([""], "'' is no published variant"),
        (["../basic"], "'../basic' is no published variant"),
        (["basic", "--players", "5"], "basic is not played with 5 seats; it is with 4"),
        (["custom", "--players", "12"], "players must be a number from 3 to 11; it is 12"),
        (["custom", "--players", "-1"], "players must be a number from 3 to 11; it is -1"),
        (["standard", "--players", "5", "--set", "players=6"], "say different numbers"),
        (["basic", "--players", "four"], "'four' is not a valid int"),
        (["basic", "--set", "target"], "'target' is not key=value"),
        (["basic", "--set", "=5"], "'=5' is not key=value"),
        (["basic", "--set", ""], "'' is not key=value"),
        (["basic", "--set", "target=5", "--set", "target=6"], "'target' is set twice"),
        (["basic", "--set", "variant=classic"], "the variant stands before the options, not under --set"),
        (["basic", "--set", "target="], "target must be a number from 1 to 1000000; it is ''"),
        (["basic", "--set", "target=NaN"], "it is 'NaN'"),
        (["basic", "--set", "target=1e999"], "target must be a number"),
        (["basic", "--set", f"target={'9' * 5000}"], "target must be a number"),
        (["basic", "--set", "target=" + "[" * 100_000], "target must be a number"),
        (["basic", "--set", "target=true"], "target must be a number from 1 to 1000000; it is True"),
        (["basic", "--set", "removed=\udc80"], "removed must be a card list"),
        (
            ["basic", "--set", "removed=\x1b[31m"],
            r"removed must be a card list, as in '2D 2C'; it is '\x1b[31m'",
        ),
        (["basic", "--set", "\x1b[31m=1"], r"'\x1b[31m' is no key of a rule set"),
        (["basic", "--set", 'points={"H":1,"h":1e400}'], "points must be an object"),
        (["basic", "--set", "a" * 100_000 + "=1"], "is no key of a rule set"),
        (["basic", "classic"], "unexpected extra argument"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_arguments_that_make_no_rules_get_one_sentence(arguments: list[str], words: str) -> None:
    """Status 2, the last line says what is wrong with what, and it is short and safe to print."""
    result = run(*arguments)
    assert isinstance(result.exception, SystemExit)
    assert (2, "") == (result.exit_code, result.stdout)
    errors = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert 1 == len(errors)
    assert result.stderr.splitlines()[-1] == errors[0]
    assert words in errors[0]
    assert len(errors[0]) < 250
    assert errors[0].isprintable()


@pytest.mark.parametrize("asked", ["../../etc/passwd", "\0", "\x1b[31m", "x" * 10_000, "", " ", "\udc80"])
def test_a_language_is_never_a_path(asked: str) -> None:
    """Whatever is asked for, the rules are told in English, with one short line about it."""
    result: Any = run("basic", "--lang", asked)
    assert (0, run("basic").stdout) == (result.exit_code, result.stdout)
    assert result.stderr.startswith("there is no ")
    assert result.stderr.strip().isprintable()
    assert len(result.stderr) < 120


def test_the_document_shows_what_the_command_does() -> None:
    """Every command of docs/house-rules.md runs; the one that is refused is refused in the words shown there."""
    shown = re.findall(r"^    (\$ )?hearts rules(.*)$", DOCUMENT, re.MULTILINE)
    assert len(shown) > 7
    for refused, arguments in shown:
        result = run(*shlex.split(arguments, comments=True))
        assert (2 if refused else 0) == result.exit_code, arguments
        if refused:
            assert [f"    {line}" for line in result.stderr.splitlines()] == re.findall(
                r"^    Error: .*$", DOCUMENT, re.MULTILINE
            )


def test_every_house_rule_of_the_document_can_be_played_and_changes_the_text() -> None:
    """Each setting of its table, alone, from the rules of basic, is told and none is without effect."""
    rows = re.findall(r"^\| .* \| (`.*`) \|$", DOCUMENT, re.MULTILINE)
    settings = [setting for row in rows for setting in re.findall(r"`([^`]*=[^`]*)`", row)]
    assert len(settings) > 12
    basic = run("basic").stdout
    for setting in settings:
        result = run("classic" if setting == "tie=continue" else "basic", "--set", setting)
        assert 0 == result.exit_code, setting
        assert "with house rules" in result.stdout
        assert "Without effect" not in result.stdout
        assert basic.split("\n", 1)[1] != result.stdout.split("\n", 1)[1], setting
