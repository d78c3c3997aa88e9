"""The sprite of the playing cards: what the script draws, complete, small and closed in itself."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parent.parent
FILE = ROOT / "api" / "web" / "cards.svg"
SVG = "{http://www.w3.org/2000/svg}"
NAMES = [rank + suit for suit in "CDSH" for rank in "23456789TJQKA"] + ["back"]
MAX_BYTES = 60 * 1024
MAX_GZIPPED_BYTES = 20 * 1024


@pytest.fixture(scope="module")
def tree() -> ElementTree.Element:
    """The sprite, read."""
    return ElementTree.fromstring(FILE.read_bytes())


def test_the_sprite_is_what_the_script_draws():
    """The file served is the script's work, byte for byte."""
    script = ROOT / "docs" / "art" / "cards.py"
    drawn = subprocess.run([sys.executable, "-B", script], capture_output=True, check=True).stdout
    assert FILE.read_bytes() == drawn, "python docs/art/cards.py > api/web/cards.svg"


def test_every_card_and_the_back_is_a_symbol_of_one_size(tree):
    """Fifty-two faces and a back, nothing else, all 250 by 350."""
    symbols = {one.get("id"): one.get("viewBox") for one in tree.iter(f"{SVG}symbol")}
    assert dict.fromkeys(NAMES, "0 0 250 350") == symbols


def test_a_name_is_given_once_and_whatever_is_used_is_there_and_not_in_a_circle(tree):
    """Each reference stays within the file, finds one element, and ends."""
    ids = [one.get("id") for one in tree.iter() if one.get("id")]
    assert len(ids) == len(set(ids))
    users = {
        one.get("id"): {use.get("href", "").removeprefix("#") for use in one.iter(f"{SVG}use")}
        for one in tree.iter()
        if one.get("id")
    }
    assert set().union(*users.values()) <= set(ids)
    assert all(use.get("href", "").startswith("#") for use in tree.iter(f"{SVG}use"))
    while ends := {name for name, used in users.items() if not used & users.keys()}:
        users = {name: used for name, used in users.items() if name not in ends}
    assert {} == users


def test_nothing_is_drawn_that_no_card_shows(tree):
    """Only the cards themselves are used by nothing in the file."""
    used = {use.get("href", "").removeprefix("#") for use in tree.iter(f"{SVG}use")}
    assert set(NAMES) == {one.get("id") for one in tree.iter() if one.get("id")} - used


def test_the_sprite_holds_shapes_only_and_fetches_nothing(tree):
    """No script, style, text or picture; no handler; no address."""
    shapes = {f"{SVG}{name}" for name in ("svg", "defs", "symbol", "g", "use", "path", "rect")}
    assert shapes >= {one.tag for one in tree.iter()}
    attributes = {(name, value) for one in tree.iter() for name, value in one.attrib.items()}
    assert not [name for name, _ in attributes if name.startswith("on") or name in ("style", "class")]
    assert not [value for _, value in attributes if re.search(r"url\(|https?:|data:|@import", value)]


def test_suits_differ_in_their_sign_and_not_only_in_colour(tree):
    """Each card shows its own rank letter and its own suit sign."""
    symbols = {one.get("id"): one for one in tree.iter(f"{SVG}symbol")}
    for name in NAMES[:-1]:
        shown = [use.get("href") for use in symbols[name].iter(f"{SVG}use")]
        assert [f"#r{name[0]}", f"#i{name[1]}"] == shown[1:3], name
    signs = {one.get("d") for one in tree.iter(f"{SVG}path") if one.get("id") in ("sC", "sD", "sS", "sH")}
    assert 4 == len(signs)


def test_a_page_can_choose_the_colours():
    """Suits, paper, ink, gold and the back are custom properties with colours to fall back on."""
    text = FILE.read_text()
    for name in ("club", "diamond", "spade", "heart", "paper", "edge", "ink", "gold", "back", "back-line"):
        assert f"var(--{name},#" in text


def test_the_sprite_stays_small():
    """At most 60 KiB, and 20 KiB as it travels."""
    data = FILE.read_bytes()
    assert len(data) <= MAX_BYTES
    assert len(gzip.compress(data, 9)) <= MAX_GZIPPED_BYTES
