"""The audit of games in the store: an honest one holds, and whatever was done to one by hand is found and named."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import redis

from domain.cards import NAMES
from domain.commands import GetReady, PlayCard
from domain.variants import ruleset_of
from services.projections import GROUP
from services.settings import Settings
from services.tables import UnknownGame
from services.wiring import Services, build
from tests.services.test_imported import record_named
from tests.support.audited import ANNA, BOT, PERSON, audit, open_game, project, status, told
from tests.support.bot_games import Cheat
from tests.support.clock import Clock
from tests.support.tampering import change, place, rewrite, stream


@pytest.fixture
def services(valkey: redis.Redis, tmp_path: Path) -> Services:
    """Services on an empty store."""
    return build(Settings(data=tmp_path, partitions=4), store=valkey, clock=Clock(1_700_000_000_000))


@pytest.fixture
def game(services: Services) -> str:
    """A finished game of one hand."""
    return open_game(services)


# --- what is in order


def test_a_finished_game_holds(services: Services, game: str) -> None:
    """Nothing is wrong, I is shown by the log, and the report names the end."""
    report = audit(services, game)
    table = services.tables.load(game)
    assert (True, (), "over", True) == (report.ok, report.problems, report.status, report.settled)
    assert (table.seq, table.head.hex()) == (report.seq, report.head)
    assert ("holds", "holds", "holds") == (status(report, "I"), status(report, "R"), status(report, "B"))
    assert ["F", "I", "R", "B"] == [one.name for one in report.claims]


def test_a_bot_that_was_not_honest_is_found(services: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a server whose bot plays otherwise than it would from what it sees, B fails at that move."""
    cheat = Cheat(PlayCard, after=3)
    monkeypatch.setattr("services.owed.house_move", cheat)
    report = audit(services, open_game(services))
    assert isinstance(cheat.instead, PlayCard)
    assert isinstance(cheat.honest, PlayCard)
    assert ["B"] == [problem.check for problem in report.problems]
    assert f"would play {NAMES[cheat.honest.card]}, not {NAMES[cheat.instead.card]}" in told(report)


@pytest.mark.parametrize("most", [1, 20, 45, 60])
def test_a_game_that_goes_on_holds(services: Services, most: int) -> None:
    """At any moment: with or without a snapshot, in the pass or in a trick."""
    report = audit(services, open_game(services, most=most))
    assert (True, "playing") == (report.ok, report.status), told(report)


def test_a_table_that_waits_holds(services: Services) -> None:
    """For players to be ready; and then for one to move, of whose turn the read models know."""
    game = open_game(services, PERSON)
    report = audit(services, game)
    assert (True, "open", "not shown") == (report.ok, report.status, status(report, "I")), told(report)
    services.tables.handle(game, GetReady(player=ANNA))
    services.tables.act_for_house(game)
    project(services, game)
    report = audit(services, game)
    assert (True, "playing") == (report.ok, report.status), told(report)


def test_an_imported_game_holds(services: Services) -> None:
    """As far as there is anything to hold it to."""
    table, _ = services.tables.import_record(
        record_named("omnibus-4"), lambda: [services.players.name(f"n{seat}") for seat in range(4)]
    )
    project(services, table.state.game)
    report = audit(services, table.state.game)
    assert report.ok, told(report)
    assert "not shown" == status(report, "F")


def test_what_the_projector_is_about_to_do_is_not_wrong(services: Services, game: str) -> None:
    """Given that pointers wait in the feed, then what the read models and the log lack is no problem, and not settled."""
    other = services.tables.open(
        ruleset_of({"variant": "basic", "hand_limit": 1}), [BOT] * 4
    ).table.state.game
    services.feed.ensure_group(GROUP)
    report = audit(services, other)
    assert (True, False) == (report.ok, report.settled), told(report)


def test_what_was_never_projected_is_wrong(services: Services) -> None:
    """Given that nothing waits in the feed, then it was lost on the way."""
    game = services.tables.open(ruleset_of({"variant": "basic", "hand_limit": 1}), [BOT] * 4).table.state.game
    report = audit(services, game)
    assert "projection: the game is not in the read models" in told(report)
    assert "the lock has no leaf in the transparency log" in told(report, "log")
    assert not report.settled


def test_no_such_game(services: Services) -> None:
    """It is told as one that there is not."""
    with pytest.raises(UnknownGame):
        audit(services, "nothing")


# --- what was done to the events


def test_a_changed_event_is_found(services: Services, game: str) -> None:
    """Who moved was changed: R names the event, I the first copy that was made of other events."""
    seq = change(
        services, game, "card_played", lambda raw: raw.replace(b'"by":"bot"', b'"by":"clock"'), which=5
    )
    report = audit(services, game)
    assert "fails" == status(report, "R") == status(report, "I")
    assert f"R at event {seq}: " in told(report)
    assert "I at event" in told(report)


def test_a_changed_time_is_found(services: Services, game: str) -> None:
    """No rule speaks of it: the log does."""
    change(services, game, "card_played", lambda raw: re.sub(rb'"at":(\d+)', rb'"at":\g<1>1', raw), which=51)
    report = audit(services, game)
    end = services.log.tree.of_game(game)[-1][1].seq
    assert "fails" == status(report, "I")
    assert re.search(rf"I at event ({end}|\d+): (a snapshot|the transparency log)", told(report))
    assert f"has the end of game {game} at event {end}" in told(report, "log")


@pytest.mark.parametrize("which", [0, 30])
def test_a_dropped_event_is_found(services: Services, game: str, which: int) -> None:
    """Whether the hole is left, or what follows is numbered anew."""
    entries = stream(services, game)
    at = place(entries, "card_played", which)
    services.client.xdel(services.keys.stream(game), f"{at + 1}-0")
    assert f"stream at event {at + 1}: the stream has entry {at + 2}-0 here" in told(audit(services, game))
    rewrite(services, game, entries[:at] + entries[at + 1 :])
    report = audit(services, game)
    assert "fails" == status(report, "I") == status(report, "R")
    assert f"R at event {at + 1}: " in told(report)


def test_an_added_event_is_found(services: Services, game: str) -> None:
    """In the middle, and behind the end."""
    entries = stream(services, game)
    at = place(entries, "trick_ended", 3)
    rewrite(services, game, [*entries[:at], entries[at], *entries[at:]])
    report = audit(services, game)
    assert f"R at event {at + 2}: " in told(report)
    assert "fails" == status(report, "I")
    rewrite(services, game, [*entries, {b"p": b'{"n":0,"t":"seat_to_bot","at":1700000000001,"seat":0}'}])
    assert "game was over" in told(audit(services, game), "R")


def test_reordered_events_are_found(services: Services, game: str) -> None:
    """Two plays that changed places."""
    entries = stream(services, game)
    first, second = place(entries, "card_played", 12), place(entries, "card_played", 13)
    entries[first], entries[second] = entries[second], entries[first]
    rewrite(services, game, entries)
    report = audit(services, game)
    assert f"R at event {first + 1}: " in told(report)
    assert "fails" == status(report, "I")


def test_events_in_each_others_place_are_found_unnumbered(services: Services, game: str) -> None:
    """The number that an event bears is held to its place."""
    entries = stream(services, game)
    entries[8], entries[9] = entries[9], entries[8]
    rewrite(services, game, entries, number=False)
    assert "at event 9: it is not numbered in order" in told(audit(services, game), "R")


def test_a_tail_that_was_cut_off_is_found(services: Services, game: str) -> None:
    """Snapshot, read models and log all know of more events."""
    entries = stream(services, game)
    rewrite(services, game, entries[:-4])
    report = audit(services, game)
    lines = told(report)
    last = len(entries) - 4
    assert f"snapshot at event {last + 1}: it was taken after event {len(entries)}" in lines
    assert f"projection at event {last + 1}: it has events up to {len(entries)}" in lines
    assert f"has the end of game {game} at event {len(entries)}" in lines
    assert "fails" == status(report, "I")


def test_a_stream_that_is_gone_is_found(services: Services, game: str) -> None:
    """Nothing is left but the copies, and the game is among those that are audited."""
    services.client.delete(services.keys.stream(game))
    assert [game] == list(services.auditor.games())
    report = audit(services, game)
    assert not report.ok
    assert (0, "unknown") == (report.seq, report.status)
    assert "cut off" in told(report, "projection")


def test_bytes_that_are_no_event_are_found(services: Services, game: str) -> None:
    """Garbage, a line break inside, a name that nobody knows; and what comes first is no opening."""
    for how in (
        lambda raw: raw[:0] + b"garbage",
        lambda raw: raw[:0] + b"[" * 100_000,
        lambda raw: raw[:-1] + b',"x":' + b"[" * 100_000,
        lambda raw: raw[:-1] + b"\n}",
        lambda raw: raw.replace(b"card_played", b"card_eaten"),
    ):
        entries = stream(services, game)
        at = place(entries, "card_played", 2)
        kept = dict(entries[at])
        entries[at][b"p"] = how(entries[at][b"p"])
        rewrite(services, game, entries, number=False)
        report = audit(services, game)
        assert f"at event {at + 1}" in told(report, "fold", "R", "stream"), told(report)
        entries[at] = kept
        rewrite(services, game, entries, number=False)
    assert audit(services, game).ok
    rewrite(services, game, stream(services, game)[1:])
    assert "there is no proof file of it" in told(audit(services, game), "stream")


# --- what was done to deal, pass, score, winner


def cards_swapped(raw: bytes) -> bytes:
    """A deal in which two seats have changed a card."""
    event = json.loads(raw)
    first, second = event["deal"][0].split(), event["deal"][1].split()
    first[0], second[0] = second[0], first[0]
    event["deal"][:2] = [" ".join(first), " ".join(second)]
    return msgspec.json.encode(event)


def number_changed(name: str) -> Callable[[bytes], bytes]:
    """A list of numbers whose first is one more."""

    def how(raw: bytes) -> bytes:
        event = json.loads(raw)
        event[name][0] += 1
        return msgspec.json.encode(event)

    return how


@pytest.mark.parametrize(
    ("name", "how", "claim"),
    [
        ("hand_scored", cards_swapped, "F"),
        ("hand_scored", number_changed("points"), "R"),
        ("hand_scored", number_changed("totals"), "R"),
        ("game_ended", number_changed("totals"), "R"),
        ("game_ended", number_changed("winners"), "R"),
        ("card_played", lambda raw: raw.replace(b'"seat":1', b'"seat":2'), "R"),
        ("cards_passed", lambda raw: re.sub(rb'"cards":"..', b'"cards":"zz', raw), "F"),
        ("hand_dealt", lambda raw: re.sub(rb'"hands":\["..', b'"hands":["zz', raw), "F"),
        ("game_locked", lambda raw: re.sub(rb'"root":"..', b'"root":"zz', raw), "F"),
        ("trick_ended", lambda raw: re.sub(rb'"seat":(\d)', b'"seat":null', raw), "R"),
    ],
    ids=["deal", "points", "totals", "last_totals", "winner", "play", "pass", "hand", "entropy", "trick"],
)
def test_what_a_game_came_to_cannot_be_changed(
    services: Services, game: str, name: str, how: Callable[[bytes], bytes], claim: str
) -> None:
    """The claim names the event, or the reveal that shows it, and I fails as well."""
    entries = stream(services, game)
    which = next(
        at
        for at, raw in enumerate(one[b"p"] for one in entries if f'"t":"{name}"'.encode() in one[b"p"])
        if how(raw) != raw
    )
    seq = change(services, game, name, how, which=which)
    report = audit(services, game)
    assert "fails" == status(report, claim)
    assert "fails" == status(report, "I")
    found = next(one for one in report.problems if one.check == claim)
    assert found.event is not None
    assert found.event >= seq


def chain_changed(raw: bytes) -> bytes:
    """A hidden chain with another first byte than it has."""
    return re.sub(rb'"chain":"(..)', lambda found: b'"chain":"%02x' % (int(found[1], 16) ^ 1), raw)


@pytest.mark.parametrize(
    ("name", "how", "words"),
    [
        ("hand_dealt", cards_swapped, "secret deal of hand 1"),
        ("cards_passed", lambda raw: raw[:0] + b'"2C 3C 4C"', "secret pass of seat"),
        ("game_created", chain_changed, "chain that the anchor"),
    ],
    ids=["deal", "pass", "chain"],
)
def test_changed_secrets_are_found(
    services: Services, game: str, name: str, how: Callable[[bytes], bytes], words: str
) -> None:
    """They stand in no proof file: only the server can see that they are not what was revealed."""
    seq = change(services, game, name, how, part=b"s")
    assert re.search(rf"secrets at event {seq}: .*{words}", told(audit(services, game)))


def hidden_cards_swapped(raw: bytes) -> bytes:
    """A hidden deal in which two seats have changed two cards."""
    event = json.loads(raw)
    first, second = event["deal"][0].split(), event["deal"][1].split()
    first[:2], second[:2] = second[:2], first[:2]
    event["deal"][:2] = [" ".join(first), " ".join(second)]
    return msgspec.json.encode(event)


@pytest.mark.parametrize(
    ("name", "how", "words"),
    [
        ("hand_dealt", hidden_cards_swapped, "secret deal of hand 1 does not follow"),
        ("hand_dealt", lambda raw: re.sub(rb'"secret":"..', b'"secret":"zz', raw), "secret of hand 1 is not"),
        ("hand_dealt", lambda raw: raw.replace(b'"secret":"', b'"secret":"00'), "secret of hand 1 is not"),
        ("hand_dealt", lambda raw: raw[:0], "secret deal of hand 1 is not there"),
        ("cards_passed", lambda raw: raw[:0] + b'"2C 3C 4C"', "secret pass of seat . is not the one"),
        ("game_created", chain_changed, "chain that the anchor"),
    ],
    ids=["deal", "secret", "longer", "gone", "pass", "chain"],
)
def test_changed_secrets_of_a_game_that_goes_on_are_found(
    services: Services, name: str, how: Callable[[bytes], bytes], words: str
) -> None:
    """Long before anything is revealed, and without a snapshot that knows better: by chain, entropy and commitments."""
    game = open_game(services, most=40)
    services.client.delete(services.keys.snapshot(game))
    assert audit(services, game).ok
    seq = change(services, game, name, how, part=b"s")
    found = [one for one in audit(services, game).problems if one.check == "secrets"]
    assert [seq] == [one.event for one in found]
    assert re.search(words, found[0].detail)


def test_a_commitment_that_opens_to_other_cards_is_found_at_once(services: Services) -> None:
    """The public part of a deal, or of a pass, was changed while the hand is played."""
    game = open_game(services, most=40)
    for name, field in (("hand_dealt", b'"hands":["'), ("cards_passed", b'"cards":"')):
        seq = change(services, game, name, lambda raw, field=field: raw.replace(field, field + b"0"))
        assert re.search(f"secrets at event {seq}: .* committed to", told(audit(services, game)))
