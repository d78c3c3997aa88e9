"""A table followed event by event agrees with the server's own view of it, at every step."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from flask import Flask

from api.client import Client, Item, SeatInfo, Strange, Table
from api.scene import Scene, display_names
from domain.cards import NAMES, Card, format_mask
from services.wiring import Services
from tests.api.stories import Story
from tests.api.wires import Wire

OPENING = bytes(32)


def laid(cards: dict[int, Card]) -> list[tuple[int, str]]:
    """Cards on the table as pairs."""
    return [(seat, NAMES[card]) for seat, card in cards.items()]


def seen(scene: Scene) -> dict[str, Any]:
    """What a scene makes of the events, under the names of the server's view."""
    return {
        "seq": scene.seq,
        "hand": format_mask(scene.own),
        "received": format_mask(scene.received),
        "hand_number": scene.tally.number,
        "trick": laid(scene.trick),
        "last_trick": laid(scene.last_laid()),
        "last_winner": None if scene.last_trick is None else scene.last_trick[2],
        "hearts_broken": scene.tally.broken,
        "totals": scene.totals,
        "hands": [(scored.hand, list(scored.points)) for scored in scene.scored],
        "cards": [scene.cards_left(seat) for seat in range(scene.players)],
        "taken": scene.tally.tricks_taken(),
    }


def shown(table: Table) -> dict[str, Any]:
    """The server's view of the same."""
    return {
        "seq": table.seq,
        "hand": table.hand,
        "received": table.received,
        "hand_number": table.hand_number,
        "trick": [(one.seat, one.card) for one in table.trick],
        "last_trick": [(one.seat, one.card) for one in table.last_trick],
        "last_winner": table.last_winner,
        "hearts_broken": table.hearts_broken,
        "totals": table.totals,
        "hands": [(one.hand, one.points) for one in table.hands],
        "cards": [seat.cards for seat in table.seats],
        "taken": [seat.taken for seat in table.seats],
    }


def move(client: Client, table: Table) -> None:
    """The first legal move."""
    if table.phase == "pass":
        client.pass_cards(table.id, table.hand.split()[: table.rules["pass_count"]])
    elif table.phase == "moon":
        client.choose_moon(table.id, "add")
    else:
        client.play(table.id, table.legal.split()[0])


@pytest.mark.parametrize(
    ("variant", "players"),
    [
        ("basic", 4),
        ("standard", 3),
        ("standard", 7),
        ("omnibus", 4),
        ("cancellation", 6),
        ("cancellation", 11),
    ],
)
def test_what_is_followed_is_what_the_server_sees(
    app: Flask, services: Services, variant: str, players: int
) -> None:
    """Own cards, tricks, points, totals and counts, after every move of three hands and more."""
    client = Client("http://hearts.test", transport=Wire(app, services.tables))
    client.new_player("Anna")
    bots: list[Any] = [{"bot": "rules"}] * (players - 1)
    table = client.open_table(variant, ["me", *bots], {"hand_limit": 3}, OPENING)
    scene = Scene(table)
    client.ready(table.id, OPENING)
    while (table := client.table(table.id)).phase != "over":
        for item in client.events(table.id, scene.seq).events:
            scene.follow(item)
        assert shown(table) == seen(scene)
        scene.settle(table)
        move(client, table)
    for item in client.events(table.id, scene.seq).events:
        scene.follow(item)
    assert (table.totals, 3) == (scene.totals, len(scene.scored))


def test_a_changed_past_is_noticed() -> None:
    """An event whose bytes are not those that its head was made of does not follow."""
    story = Story()
    item = story.item({"t": "seat_left", "at": 0, "seat": 1})
    forged = msgspec.structs.replace(item, event=item.event.replace("1", "2"))
    with pytest.raises(Strange, match="does not follow"):
        story.scene.follow(forged)
    assert 0 == story.scene.seq
    with pytest.raises(Strange, match="event 2 does not follow"):
        story.scene.follow(msgspec.structs.replace(item, seq=2))
    story.scene.follow(item)


def test_a_gap_is_noticed() -> None:
    """An event that was left out is missed."""
    story = Story()
    story.item({"t": "seat_left", "at": 0, "seat": 1})
    with pytest.raises(Strange, match="event 2 does not follow"):
        story.scene.follow(story.item({"t": "seat_left", "at": 0, "seat": 2}))


@pytest.mark.parametrize(
    "event",
    [
        {"at": 0},
        {"t": "hand_dealt", "at": 0},
        {"t": "card_played", "at": 0, "seat": 0, "card": "1X"},
        {"t": "trick_ended", "at": 0, "seat": 9},
        {"t": "hand_scored", "at": 0, "hand": 1, "kitty": "", "points": None, "totals": None},
    ],
)
def test_an_event_that_cannot_be_read_is_told(event: dict[str, Any]) -> None:
    """Whatever a server sends ends in an error for people."""
    story = Story().deal("2C", 4).play(0, "2C 3C 4C 5C")
    with pytest.raises(Strange, match="cannot be read"):
        story.scene.follow(story.item(event))


def test_an_event_that_is_not_json_is_told() -> None:
    """Bytes that fit the chain and say nothing."""
    story = Story()
    item = story.item({"t": "x"})
    plain = Item(item.seq, item.head, "no json")
    with pytest.raises(Strange, match="does not follow"):
        story.scene.follow(plain)


def test_an_unknown_event_is_followed() -> None:
    """A newer server may let more happen."""
    assert 1 == Story().happens("weather_changed").scene.seq


def test_passed_cards_leave_with_the_exchange() -> None:
    """Until then they are held; the twin of a card that was passed stays."""
    story = Story("cancellation", players=6).deal("9C 9C KC AC")
    story.happens("cards_passed", {"cards": "9C KC AC", "key": ""}, seat=0, cards="", by="player")
    assert "9C 9C KC AC" == format_mask(story.scene.own)
    story.happens("passes_exchanged", {"received": "9C 2D 3D", "key": ""}, hand=1)
    assert ("9C 9C 2D 3D", "9C 2D 3D") == (format_mask(story.scene.own), format_mask(story.scene.received))


def test_the_queen_is_found_wherever_she_went() -> None:
    """On the table, in a dead trick that waits, and with the next who takes."""
    queen = NAMES.index("QS")
    story = Story("cancellation", players=6).deal("2C").exchange("2C", "3C")
    assert [] == story.scene.seen(queen)
    assert [None, None] == story.play(0, "QS QS KS KS AS AS").scene.seen(queen)
    assert [None, None] == story.happens("trick_ended", seat=None).scene.seen(queen)
    assert [4, 4] == story.play(0, "2S 3S 4S 5S 6S 7S", 4).scene.seen(queen)


def test_names_are_safe_different_and_never_empty() -> None:
    """Players keep theirs, bots get ours, in the order of the seats."""
    kinds = [
        ("player", "Cleo"),
        ("bot", "rules"),
        ("bot", "rules"),
        ("open", ""),
        ("player", ""),
        ("player", "cleo"),
    ]
    seats = [SeatInfo(seat, kind, name) for seat, (kind, name) in enumerate(kinds)]
    assert ["Cleo", "Bo", "Dag", "(open)", "seat 4", "cleo"] == display_names(seats, 0)
    many = [SeatInfo(seat, "player", "A very long name indeed") for seat in range(11)]
    assert 11 == len(set(display_names(many, 0)))
    assert max(map(len, display_names(many, 0))) <= 12


def test_what_steers_a_terminal_is_in_no_name() -> None:
    """Escapes, line ends and marks that turn the writing around."""
    seats = [SeatInfo(0, "player", "\x1b[31m花\r\n\u202e子\x07"), SeatInfo(1, "player", "\u200d \u200c")]
    assert ["\ufffd[31m花\ufffd\ufffd\ufffd子\ufffd", "seat 1"] == display_names(seats, 0)


@pytest.mark.parametrize("rules", [{}, {"variant": "x", "players": 9}, {"variant": "x", "removed": "1X"}])
def test_a_view_that_cannot_be_read_is_told(rules: dict[str, Any]) -> None:
    """Rules that are none, too few seats for them, a hand that is none."""
    with pytest.raises(Strange):
        Scene(Story().table(rules=rules))
    with pytest.raises(Strange):
        Story().settle(hand="1X")
