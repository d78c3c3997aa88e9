"""What the page's own code says of proof files, held to what the house says: the same claims, in the same words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from playwright.sync_api import Browser, Page

from domain import events as e
from domain.variants import ruleset_of
from services.proof import proof_lines
from tests.golden.test_golden import HEADS, recorded
from tests.services.test_proof_broken_off import FORGED as FORGED_ENDS
from tests.services.test_proof_broken_off import broken_off, game_of
from tests.services.test_proof_forged import ABSURD
from tests.services.test_proof_log import file_of as logged
from tests.services.test_proof_rotated import rotated
from tests.support.browser import ORIGIN, open_page
from tests.support.duplicates import FORGED as FORGED_REVEALS
from tests.support.duplicates import WHENS, duplicate
from tests.support.duplicates import broken_off as ended
from tests.support.forged_deals import FAIRNESS
from tests.support.games import play_game
from tests.support.page_verdicts import by_house, by_page, check_same, statuses, turned
from tests.support.practice import finish, practice
from tests.support.proofs import KEY, changed, file_of, opened_late, played

PROOFS = sorted((Path(__file__).resolve().parents[1] / "conformance/proofs").glob("*.ndjson"))
CHANGES = 80
"""Bytes changed of each file, one at a time."""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """An empty page that can load the modules."""
    with open_page(browser) as page:
        page.goto(f"{ORIGIN}/")
        yield page


# --- honest files


def test_files_of_other_programs_hold(page: Page) -> None:
    """The four proof files of the conformance data: F and I hold in both, in the same words."""
    for report in check_same(page, [path.read_bytes() for path in PROOFS]):
        assert (True, "hh") == (report["ok"], statuses(report))


def test_recorded_games_of_every_family_hold(page: Page) -> None:
    """Each recording ends in its head, and F holds; without a receipt I is not shown."""
    files = [b"".join(proof_lines(recorded(name)[1])) for name in HEADS]
    for name, report in zip(HEADS, check_same(page, files), strict=True):
        assert (HEADS[name], "hn") == (report["head"], statuses(report))


def imported() -> bytes:
    """A game that has no anchor, and says that it was imported."""
    events = list(played().events)
    changed(events, 0, anchor=None, imported=True)
    return file_of(events)


def practised() -> bytes:
    """A practice table, played to its end."""
    begun, state = practice(list(played().events), 60)
    return file_of(finish(begun, state, Random(1))[0])


def of_a_rule_set(**rules: Any) -> bytes:
    """A short game by rules of its own."""
    return file_of(play_game(ruleset_of(rules), 7, kinds=None, server_key=KEY.public).events)


HONEST = {
    "imported": (imported, "nn"),
    "practice": (practised, "nn"),
    "a key rotated": (turned, "hh"),
    "unfinished": (lambda: file_of(played(moves=70).events), "hh"),
    "before the first score": (lambda: file_of(played(moves=20).events), "nh"),
    "no contribution": (lambda: file_of(played("nbbn").events), "nh"),
    "opened late": (lambda: file_of(opened_late()), "hh"),
    "opened late, by two": (lambda: file_of(opened_late(count=2)), "hh"),
    "broken off in a pass": (lambda: file_of(broken_off(game_of(2))), "hh"),
    "broken off in a trick": (lambda: file_of(broken_off(game_of(60))), "hh"),
    "broken off before the deal": (lambda: file_of(broken_off(game_of(0, kinds="bbbb"))), "nh"),
    "in the log": (logged, "hh"),
    "in the log, with a receipt": (lambda: logged(key=KEY), "hh"),
    "two decks, a kitty": (lambda: of_a_rule_set(variant="cancellation", players=7, hand_limit=1), "hh"),
    "every later key": (
        lambda: of_a_rule_set(
            variant="custom",
            players=4,
            hand_limit=1,
            moon_choice_from=3,
            sun_x=9,
            moon_bonus="swallowed",
            sun_effect="punish",
            sun_from=2,
            no_trick_points=-5,
            hand_floor=-3,
            partners="opposite",
            removed="2C 2D",
            hand=12,
        ),
        "hh",
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_what_is_shown_of_an_honest_file_is_the_same(page: Page, name: str) -> None:
    """Whatever kind of game it is: nothing fails, and what is not shown is not shown for the same reason."""
    make, expected = HONEST[name]
    (report,) = check_same(page, [make()])
    assert report["ok"]
    shown = statuses(report)
    assert expected[1] == shown[1]
    assert shown[0] in (expected[0], "n")  # at random nobody may have contributed


# --- changed files


@pytest.mark.parametrize("path", PROOFS, ids=lambda path: path.stem)
def test_a_changed_byte_is_judged_the_same(page: Page, path: Path) -> None:
    """Any byte of a file changed to any other: both refuse the file, for the same claim at the same event or the same line."""
    rng = Random(path.stem)
    whole = path.read_bytes()
    # the middle of a long game is like that of a short one: what surrounds it is taken more often
    edges = (*range(6000), *range(len(whole) - 25000, len(whole)))
    files = []
    for _ in range(CHANGES):
        data = bytearray(whole)
        data[rng.choice(edges)] ^= rng.randrange(1, 256) if rng.random() < 0.3 else 1 << rng.randrange(5)
        files.append(bytes(data))
    for report in check_same(page, files):
        assert not report["ok"]


def test_forged_deals_are_found_at_the_same_event(page: Page) -> None:
    """Servers that cheat with secrets, openings, commitments and deals, and make chain and receipt anew to fit."""
    files, numbers = [], []
    for forge in FAIRNESS:
        events = list(played().events)
        numbers.append(forge(events))
        files.append(file_of(events))
    found = check_same(page, files)
    assert [("f", "h", number) for number in numbers] == [
        (*statuses(report), report["claims"][0]["event"]) for report in found
    ]


def test_duplicate_tables_are_judged_the_same(page: Page) -> None:
    """Hands that were revealed at once, later, at the end, never; after a hand that was broken off; forged reveals."""
    games = [duplicate(when) for when in (*WHENS, "never")]
    games += [ended(moves, shown=shown) for moves in (2, 30, 70) for shown in (True, False)]
    games += [duplicate("late", "p" * 7, variant="cancellation", players=7)]
    found = check_same(page, [file_of(game.events) for game in games])
    assert ["hh", "hh", "hh", "nh", *["hh", "nh"] * 3, "hh"] == [statuses(report) for report in found]
    files, numbers = [], []
    for when in WHENS:
        for forge in FORGED_REVEALS:
            events = list(duplicate(when).events)
            numbers.append(forge(events))
            files.append(file_of(events))
    assert numbers == [report["claims"][0]["event"] for report in check_same(page, files)]


def test_forged_ends_are_found_at_the_same_event(page: Page) -> None:
    """Games broken off whose last secret shows another hand, kitty or pass than there was."""
    files = []
    for forge in FORGED_ENDS:
        events = broken_off(game_of(90))
        forge(events)
        files.append(file_of(events))
    assert ["fh"] * len(FORGED_ENDS) == [statuses(report) for report in check_same(page, files)]


def test_absurd_events_are_judged_the_same(page: Page) -> None:
    """Impossible seats, cards and secrets anywhere in a file: the same verdict, and never an error of the program."""
    events = played().events
    places = (1, 5, 9, 12, 30, len(events) - 1)
    check_same(page, [file_of([*events[:at], event, *events[at:]]) for event in ABSURD for at in places])


BOT = e.BotName(name="rules", version="1", budget=0)
FIRSTS: list[dict[str, Any]] = [
    {"anchor": None},
    {"anchor": "XX"},
    {"chain": 0},
    {"chain": 1},
    {"chain": 10**9},
    {"ready_seconds": 14},
    {"ready_seconds": 3601},
    {"imported": True},
    {"branch": e.Branch("g-old", 7, 0)},
    {"anchor": None, "branch": e.Branch("g-old", 7, 0)},
]
RULES: list[dict[str, Any]] = [
    {"hand": 34},
    {"hand": 0},
    {"players": 5},
    {"variant": "omnibus", "players": 3},
    {"decks": 3},
    {"removed": "2C 2C"},
    {"removed": "3C 2C"},
    {"removed": "1C"},
    {"pass_count": 5},
    {"pass_cycle": ()},
    {"pass_cycle": (3,)},
    {"hand_limit": None},
    {"hand_limit": 65},
    {"opening_ban": ("H", "H")},
    {"points": {"h": 1}},
    {"points": {"H": 10**7}},
    {"sun_from": 2, "hand": 1},
    {"moon_x": -1},
]


def test_first_events_that_no_honest_server_writes_are_judged_the_same(page: Page) -> None:
    """Anchors, chains and times out of range, rule sets that cannot be played."""
    files = []
    for fields in FIRSTS:
        events = list(played().events)
        changed(events, 0, **fields)
        files.append(file_of(events))
    for fields in RULES:
        events = list(played().events)
        changed(events, 0, rules=msgspec.structs.replace(events[0].rules, **fields))
        files.append(file_of(events))
    found = check_same(page, files)
    unread = [report["claims"][0]["detail"] == "the events cannot be read" for report in found]
    playable = ({"hand_limit": None}, {"hand_limit": 65})
    assert [*[False] * len(FIRSTS), *[fields not in playable for fields in RULES]] == unread


def test_lines_in_another_order_or_left_out_are_judged_the_same(page: Page) -> None:
    """Events swapped, dropped, doubled; heads too short, too long; the tail cut off; a rotation forged."""
    lines = file_of(played().events).splitlines(keepends=True)
    heads = json.loads(lines[-2])["heads"]
    files = [
        [*lines[:30], lines[31], lines[30], *lines[32:]],
        [*lines[:30], *lines[31:]],
        [*lines[:31], lines[30], *lines[31:]],
        [*lines[:30], *lines[-2:]],
        [*lines[:2], *lines[-2:]],
        *(
            [*lines[:-2], json.dumps({"heads": text}, separators=(",", ":")).encode() + b"\n", lines[-1]]
            for text in (heads[:-16], heads + "00" * 8, heads[:-2], "00")
        ),
    ]
    events = list(played().events)
    at = rotated(events, 20) - 1
    changed(events, at, signature="00" * 64)
    files.append([file_of(events)])
    changed(events, at, server_key="zz")
    files.append([file_of(events)])
    assert not any(report["ok"] for report in check_same(page, [b"".join(one) for one in files]))


HEADER = b'{"format":"hearts-audit/1","game":"g","server_key":"c0"}\n'
EVENT = b'{"n":1,"t":"seat_left","at":0,"seat":1}\n'
HEADS_LINE = b'{"heads":"0123456789abcdef"}\n'
RECEIPT = b'{"receipt":{"game":"g","seq":1,"head":"c0","signature":"c0"}}\n'
WHOLE = HEADER + EVENT + HEADS_LINE
NO_FILES = [
    b"",
    b"\n",
    b"garbage",
    b"\xff\xfe\n",
    b"null\n",
    b"[]\n",
    HEADER,
    HEADER + HEADS_LINE,
    HEADER + EVENT,
    HEADER.replace(b"/1", b"/2"),
    HEADER.replace(b'"c0"', b'"C0"') + EVENT,
    HEADER.replace(b'"c0"', b'""') + EVENT,
    HEADER.replace(b"}", b',"mood":1}') + EVENT,
    b" " + WHOLE,
    b"\xef\xbb\xbf" + WHOLE,
    HEADER.replace(b"\n", b"\r\n") + EVENT + HEADS_LINE,
    HEADER + EVENT + b"\n" + HEADS_LINE,
    HEADER + EVENT + RECEIPT,
    WHOLE + HEADS_LINE,
    WHOLE + RECEIPT + RECEIPT,
    WHOLE + RECEIPT.replace(b"seq", b"number"),
    WHOLE + RECEIPT.replace(b":1,", b":1.0,"),
    WHOLE + RECEIPT + b"\n",
    WHOLE + b'{"checkpoint":"garbage"}\n',
    WHOLE + b'{"checkpoint":7}\n',
    WHOLE + b'{"inclusion":{"leaf":"00","index":0,"size":1,"path":[]}}\n',
    HEADER.replace(b'"g"', b'"\\ud800"') + EVENT + HEADS_LINE,
]
UNREAD = [
    b'{"n":1,"t":"cards_eaten","at":0}',
    b'{"n":1,"t":[7],"at":0}',
    b'{"n":1,"t":"seat_left"',
    b'{"n":1,"t":"seat_left","at":0}',
    b'{"n":1,"t":"seat_left","at":0,"seat":1.0}',
    b'{"n":1,"t":"seat_left","at":0,"seat":1,"v":2}',
    b'{"n":1,"t":"seat_left","at":0,"seat":1} ',
    b'{"n":2,"t":"seat_left","at":0,"seat":1}',
    b'{"n":1,"t":"seat_left","at":0,"seat":1,"x":' + b"[" * 9000 + b"]" * 9000 + b"}",
    b'{"n":1,"t":"seat_left","at":0,"seat":1,"x":"\\ud800"}',
    b'{"n":1,"t":"seat_left","at":0,"seat":1,"x":"\xff"}',
    b'{"n":1,"t":"seat_left","\xe1t":0,"seat":1}',
    EVENT.strip(),
]


def test_what_is_no_proof_file_is_refused_at_the_same_line(page: Page) -> None:
    """A problem that names the line, never an error."""
    for report in check_same(page, NO_FILES):
        assert report["problem"].startswith("line ")


def test_why_a_line_is_refused_is_told_in_the_same_words(page: Page) -> None:
    """A mark or nothing before the header, no header, a field too few, too many or of another type, a number too large."""
    files = [
        b"\xef\xbb\xbf" + WHOLE,
        b"\n" + WHOLE,
        EVENT + HEADS_LINE,
        HEADER.replace(b'"game"', b'"gain"') + EVENT,
        HEADER.replace(b"}", b',"mood":1}') + EVENT,
        HEADER.replace(b"}", b"") + EVENT,
        WHOLE + RECEIPT.replace(b":1,", b":1" + b"0" * 30 + b","),
        WHOLE + RECEIPT.replace(b"seq", b"number"),
        WHOLE + b'{"checkpoint":7}\n',
        WHOLE + b'{"inclusion":{"leaf":"00","index":0,"size":1,"path":[]}}\n',
        WHOLE + b'{"inclusion":{"leaf":"00","index":0,"size":1' + b"0" * 30 + b',"path":[]}}\n',
    ]
    assert [by_house(data)["problem"] for data in files] == [one["problem"] for one in by_page(page, files)]


def test_events_that_cannot_be_read_are_named_by_both(page: Page) -> None:
    """An unknown kind, a missing field, another type or version: R fails there, and F is not shown."""
    files = [HEADER + one + b"\n" + HEADS_LINE for one in UNREAD]
    for report in check_same(page, files):
        assert ["not shown", "fails", "fails"] == [claim["status"] for claim in report["claims"][:3]]
        assert 1 == report["claims"][2]["event"]


def test_what_an_event_lacks_is_told_in_the_same_words(page: Page) -> None:
    """A field that is missing or something else, bytes that are no JSON or no UTF-8: in words, and not in a program's."""
    lines = {
        b'{"n":1,"t":"seat_left","at":0}': "seat_left lacks what it must have (seat)",
        b'{"n":1,"t":"seat_left","at":0,"seat":"one"}': "seat_left has not what it must have (seat)",
        b'{"n":1,"t":"seat_left","at":0,"seat":1.0}': "a number in it is not written as a whole one up to 2^53 - 1",
        b'{"n":1,"t":"seat_left"': "an event is a JSON object, and this is none",
        b'{"n":1,"t":"seat_left","at":0,"seat":1,"x":"\xff"}': "an event is UTF-8, and this is not",
    }
    files = [HEADER + one + b"\n" + HEADS_LINE for one in lines]
    assert [*lines.values()] == [report["claims"][2]["detail"] for report in by_page(page, files)]
    assert [*lines.values()] == [by_house(data)["claims"][2]["detail"] for data in files]
