"""The options of `hearts play`: hostile ones are wrong usage, told before anything is sent."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from api.play import play
from api.playoptions import read_changes
from domain.variants import CUSTOM, VARIANTS


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["basic", "--set", "target"], "is not key=value"),
        (["basic", "--set", "=3"], "is not key=value"),
        (["basic", "--set", "players=many"], "players is a number"),
        (["basic", "--set", "players=1000000000"], "players is a number"),
        (["basic", "--players", "2"], "--players"),
        (["basic", "--players", "12"], "--players"),
        (["basic", "--set", "players=null"], "players is a number"),
        (["basic", "--set", "players=[1]"], "players is a number"),
        (["basic", "--set", "seats=[]"], "seats cannot be set; what can is players, "),
        (["basic", "--set", "entropy_commit=00"], "entropy_commit cannot be set"),
        (["basic", "--set", "variant=classic"], "the variant stands before the options"),
        (["basic", "--set", "tie=\udcff"], "--set"),
        (["basic", "--name", "\udcff"], "--name"),
        (["basic", "--bot", "\udcff"], "--bot"),
        (["--game", "\udcff"], "--game"),
        (["--game", " "], "--game"),
        (["\udcff"], "UTF-8"),
        (["basic", "--token", "é"], "--token"),
        (["basic", "--token", ""], "--token"),
        (["basic", "--token", "a b"], "--token"),
        (["basic", "--url", "ftp://x"], "--url"),
        (["basic", "--url", "http://[::1"], "--url"),
        (["basic", "--url", "http://127.0.0.1:x"], "--url"),
        (["basic", "--url", "\udcff"], "--url"),
        (["--url", "http://localhost:8000/v1"], "without a path: 'http://localhost:8000'"),
        (["--url", "localhost:8000/v1/"], "without a path: 'localhost:8000'"),
        (["basic", "--game", "last"], "leave out VARIANT, or --game"),
        (["--game", "g", "--set", "target=5", "--open", "0"], "leave out --open, --set, or --game"),
        (["--game", "g", "--players", "4", "--bot", "rules"], "leave out --players, --bot, or --game"),
        (["--set", 'points={"QS":1,"QS":2}'], "the key 'QS' stands there twice"),
        (["basic", "--pace", "nan"], "--pace"),
        (["basic", "--pace", "-1"], "--pace"),
    ],
)
def test_mistakes_in_the_command_are_explained(words: list[str], told: str) -> None:
    """Before a table is opened, with the exit status of misuse."""
    done = CliRunner().invoke(play, words)
    assert (2, True) == (done.exit_code, told in done.output), done.output


def test_the_help_names_every_variant() -> None:
    """Those that this version knows, and custom."""
    told = CliRunner().invoke(play, ["--help"]).output.split("Options:")[0]
    assert {*VARIANTS, CUSTOM} <= set(re.findall(r"\w+", told))


@pytest.mark.parametrize(
    ("pair", "value"),
    [
        ("target=50", 50),
        ("target= 50 ", 50),
        ("moon_effect=add", "add"),
        ('removed=["2C"]', ["2C"]),
        ("cancel=true", True),
        ("target=NaN", "NaN"),
        ("target=1e999", "1e999"),
        ("target=" + "9" * 5000, "9" * 5000),
        ("target=" + "[" * 5000, "[" * 5000),
        ("tie=a=b", "a=b"),
    ],
)
def test_a_value_is_json_or_a_text(pair: str, value: object) -> None:
    """What JSON cannot hold goes to the server as it stands, which says what is allowed."""
    assert {pair.partition("=")[0]: value} == read_changes([pair])
