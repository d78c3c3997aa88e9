"""Events as stored bytes: the exact public form of every kind, the hidden parts, and what is refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from domain import events as e
from domain.refusals import CorruptLog
from domain.ruleset import RuleSet
from domain.variants import ruleset_of
from services.codec import CODEC, Codec, UnknownEvent
from tests.support.games import play_game, rule_sets, steady, stored

BASIC = ruleset_of({"variant": "basic"})
BOT = e.BotName("rules", "1", 0)
HASH = "ab" * 32
_RULES = (
    b'{"variant":"basic","players":4,"decks":1,"removed":"","hand":13,"kitty_to":"first","pass_count":3,'
    b'"pass_cycle":[1,-1,2,0],"opener":"forced","opening_ban":[],"trick1_ban":["H","QS"],'
    b'"trick1_all_banned":"any","breakers":["H"],"qs_hearts_lead":"qs","cancel":false,'
    b'"dead_trick":"no_live_card","dead_last":"nobody","points":{"H":1,"QS":13},"moon_effect":"add",'
    b'"moon_x":26,"moon_needs_bonus":false,"floor":null,"target":100,"tie":"continue","perfect_hand":false,'
    b'"hand_limit":null}'
)
_HASH = HASH.encode()
_SEALED = (
    b'{"n":7,"t":"hand_scored","at":12,"hand":2,"secret":null,"deal":null,"kitty":null,'
    b'"passes":null,"points":[26,0],"totals":[30,4]}'
)
_BOT = b'{"name":"rules","version":"1","budget":0}'

WRITTEN: list[tuple[e.Event, bytes, bytes]] = [
    (
        e.GameCreated(
            at=1,
            game="g-1",
            rules=BASIC,
            anchor=HASH,
            chain=64,
            server_key="cd",
            ready_seconds=60,
            stand_in=BOT,
            rated=False,
            hints=True,
            clock=None,
            hidden=e.OpenedSecret(chain="ef", reserved={2: "anna"}),
        ),
        b'{"n":7,"t":"game_created","at":1,"game":"g-1","rules":' + _RULES + b',"anchor":"' + _HASH + b'",'
        b'"chain":64,"server_key":"cd","ready_seconds":60,"stand_in":{"name":"rules","version":"1","budget":0},'
        b'"rated":false,"hints":true,"clock":null}',
        b'{"chain":"ef","reserved":{"2":"anna"}}',
    ),
    (
        e.SeatTaken(at=2, seat=0, kind="player", player="p0", bot=None, entropy_commit=HASH, public_key=None),
        b'{"n":7,"t":"seat_taken","at":2,"seat":0,"kind":"player","player":"p0","bot":null,"entropy_commit":"'
        + _HASH
        + b'","public_key":null}',
        b"",
    ),
    (
        e.SeatTaken(at=2, seat=1, kind="bot", player=None, bot=BOT, entropy_commit=None, public_key=None),
        b'{"n":7,"t":"seat_taken","at":2,"seat":1,"kind":"bot","player":null,"bot":' + _BOT + b","
        b'"entropy_commit":null,"public_key":null}',
        b"",
    ),
    (e.SeatLeft(at=3, seat=2), b'{"n":7,"t":"seat_left","at":3,"seat":2}', b""),
    (
        e.SeatReady(at=4, seat=2, entropy="0102"),
        b'{"n":7,"t":"seat_ready","at":4,"seat":2,"entropy":"0102"}',
        b"",
    ),
    (
        e.GameLocked(at=5, entropy=((0, "player", "0102"), (1, "bot", "")), root=HASH),
        b'{"n":7,"t":"game_locked","at":5,"entropy":[[0,"player","0102"],[1,"bot",""]],"root":"'
        + _HASH
        + b'"}',
        b"",
    ),
    (
        e.HandDealt(
            at=6,
            hand=2,
            hands=("aa", "bb"),
            kitty=None,
            hidden=e.DealtSecret(secret="5e", deal=("2C 3C", "QS AH"), kitty=""),
        ),
        b'{"n":7,"t":"hand_dealt","at":6,"hand":2,"hands":["aa","bb"],"kitty":null}',
        b'{"secret":"5e","deal":["2C 3C","QS AH"],"kitty":""}',
    ),
    (
        e.CardsPassed(at=7, seat=3, cards=HASH, by="clock", hidden="2C QS AH"),
        b'{"n":7,"t":"cards_passed","at":7,"seat":3,"cards":"' + _HASH + b'","by":"clock"}',
        b'"2C QS AH"',
    ),
    (e.PassesExchanged(at=8, hand=2), b'{"n":7,"t":"passes_exchanged","at":8,"hand":2}', b""),
    (
        e.CardPlayed(at=9, seat=1, card="QS", by="player"),
        b'{"n":7,"t":"card_played","at":9,"seat":1,"card":"QS","by":"player"}',
        b"",
    ),
    (e.TrickEnded(at=10, seat=None), b'{"n":7,"t":"trick_ended","at":10,"seat":null}', b""),
    (
        e.MoonChosen(at=11, seat=1, choice="subtract", by="bot"),
        b'{"n":7,"t":"moon_chosen","at":11,"seat":1,"choice":"subtract","by":"bot"}',
        b"",
    ),
    (
        e.HandScored(
            at=12,
            hand=2,
            secret=HASH,
            deal=("2C", "3C"),
            kitty="",
            passes=None,
            points=(26, -10),
            totals=(30, 4),
        ),
        b'{"n":7,"t":"hand_scored","at":12,"hand":2,"secret":"' + _HASH + b'","deal":["2C","3C"],"kitty":"",'
        b'"passes":null,"points":[26,-10],"totals":[30,4]}',
        b"",
    ),
    (
        e.HandScored(
            at=12, hand=2, secret=None, deal=None, kitty=None, passes=None, points=(26, 0), totals=(30, 4)
        ),
        _SEALED,
        b"",
    ),
    (
        e.HandsRevealed(at=12, hand=2, secret=HASH, deal=("2C", "3C"), kitty="", passes=None),
        b'{"n":7,"t":"hands_revealed","at":12,"hand":2,"secret":"' + _HASH + b'","deal":["2C","3C"],'
        b'"kitty":"","passes":null}',
        b"",
    ),
    (e.SeatToBot(at=13, seat=1), b'{"n":7,"t":"seat_to_bot","at":13,"seat":1}', b""),
    (e.SeatTakenBack(at=14, seat=1), b'{"n":7,"t":"seat_taken_back","at":14,"seat":1}', b""),
    (
        e.KeyRotated(at=15, server_key="aa", signature="bb"),
        b'{"n":7,"t":"key_rotated","at":15,"server_key":"aa","signature":"bb"}',
        b"",
    ),
    (
        e.GameEnded(at=16, winners=(1, 3), totals=(30, 4), reason="target", secret=None),
        b'{"n":7,"t":"game_ended","at":16,"winners":[1,3],"totals":[30,4],"reason":"target","secret":null}',
        b"",
    ),
]
each_kind = pytest.mark.parametrize(
    ("event", "public", "hidden"),
    WRITTEN,
    ids=[f"{type(one[0]).__name__}-{at}" for at, one in enumerate(WRITTEN)],
)


def test_every_kind_is_spelled_out() -> None:
    """The examples above have every kind of event, and the codec knows them by their stored names."""
    assert {type(event) for event, _, _ in WRITTEN} == set(e.EVENTS)
    assert set(CODEC.names) == {msgspec.json.decode(public)["t"] for _, public, _ in WRITTEN}


@each_kind
def test_an_event_is_stored_as_these_bytes(event: e.Event, public: bytes, hidden: bytes) -> None:
    """Names, order and spacing of the stored bytes are those that other programs rely on."""
    assert CODEC.encode(event, 7) == (public, hidden)


@each_kind
def test_stored_bytes_are_read_as_the_event(event: e.Event, public: bytes, hidden: bytes) -> None:
    """What is read back equals what was stored; without its hidden bytes the hidden part alone is missing."""
    assert CODEC.decode(public, hidden) == event
    open_part = CODEC.decode(public)
    if hidden:
        assert open_part == msgspec.structs.replace(event, hidden=UNSET)
        assert CODEC.encode(open_part, 7) == (public, b"")
    else:
        assert open_part == event


@each_kind
def test_further_fields_are_ignored(event: e.Event, public: bytes, hidden: bytes) -> None:
    """A field that a later program adds at the end does not keep this one from reading the event."""
    assert CODEC.decode(public[:-1] + b',"mood":"calm"}', hidden) == event


@each_kind
def test_an_event_without_its_first_own_field_is_no_event(
    event: e.Event, public: bytes, hidden: bytes
) -> None:
    """A missing field is an error that names the event."""
    fields = msgspec.json.decode(public)
    name = list(fields)[3]
    del fields[name]
    with pytest.raises(CorruptLog, match=rf"{fields['t']} cannot be read.*{name}"):
        CODEC.decode(msgspec.json.encode(fields), hidden)


@each_kind
def test_a_hidden_part_belongs_to_its_kind(event: e.Event, public: bytes, hidden: bytes) -> None:
    """Hidden bytes of the wrong form, or of a kind with nothing to hide, are a corrupt log."""
    for wrong in (b"17", b"{", b"\xff", b'{"chain":7}', b"[]"):
        with pytest.raises(CorruptLog):
            CODEC.decode(public, wrong)
        with pytest.raises(CorruptLog):
            CODEC.decode_all([(1, public, hidden), (2, public, wrong)])
    if not hidden:
        with pytest.raises(CorruptLog, match="has nothing to hide"):
            CODEC.decode(public, b'"2C"')


@steady(60)
@given(rule_sets(), st.integers(0, 2**32))
def test_the_events_of_a_game_come_back(rules: RuleSet, seed: int) -> None:
    """All events of a game are read back equal, one by one and all at once, and written again to the same bytes."""
    events = play_game(rules, seed).events
    entries = stored(events)
    assert CODEC.decode_all(entries) == events
    for event, (seq, public, hidden) in zip(events, entries, strict=True):
        again = CODEC.decode(public, hidden)
        assert again == event
        assert CODEC.encode(again, seq) == (public, hidden)
        assert public.startswith(b'{"n":%d,"t":"' % seq)
        assert b"\n" not in public


BAD: list[tuple[str, bytes, type[CorruptLog], str]] = [
    ("a list without end", b"[" * 100_000, CorruptLog, "cannot be read"),
    ("unknown name", b'{"n":1,"t":"card_eaten","at":0,"seat":1}', UnknownEvent, "card_eaten"),
    ("no name", b'{"n":1,"at":0,"seat":1}', UnknownEvent, "None"),
    ("name of another type", b'{"n":1,"t":7,"at":0}', UnknownEvent, "7"),
    ("name that is a list", b'{"n":1,"t":[7],"at":0}', UnknownEvent, "7"),
    (
        "nested too deeply",
        b'{"n":1,"t":"seat_left","at":0,"seat":1,"x":' + b"[" * 9000 + b"]" * 9000 + b"}",
        CorruptLog,
        "deep",
    ),
    ("version 0", b'{"n":1,"t":"seat_left","at":0,"seat":1,"v":0}', UnknownEvent, "version 0"),
    ("version true", b'{"n":1,"t":"seat_left","at":0,"seat":1,"v":true}', UnknownEvent, "version True"),
    ("unknown version", b'{"n":1,"t":"seat_left","at":0,"seat":1,"v":2}', UnknownEvent, "version 2"),
    ("version of another type", b'{"n":1,"t":"seat_left","at":0,"seat":1,"v":"x"}', UnknownEvent, "'x'"),
    ("no JSON", b"garbage", CorruptLog, "cannot be read"),
    ("nothing", b"", CorruptLog, "cannot be read"),
    ("cut short", b'{"n":1,"t":"seat_left","at":0,"se', CorruptLog, "cannot be read"),
    ("a list", b"[1,2]", CorruptLog, "cannot be read"),
    ("a list with a version mark", b'[{"a":1,"v":1}]', CorruptLog, "object"),
    ("bad UTF-8", b'{"n":1,"t":"seat_ready","at":0,"seat":1,"entropy":"\xff\xfe"}', CorruptLog, "UTF-8|read"),
    ("wrong type", b'{"n":1,"t":"seat_left","at":0,"seat":"one"}', CorruptLog, "seat_left cannot be read"),
    ("wrong choice", b'{"n":1,"t":"card_played","at":0,"seat":1,"card":"2C","by":"me"}', CorruptLog, "by"),
    ("two events", b'{"n":1,"t":"seat_left","at":0,"seat":1}\n{"n":2}', CorruptLog, "cannot be read"),
]
each_bad = pytest.mark.parametrize(
    ("public", "error", "words"), [one[1:] for one in BAD], ids=[one[0] for one in BAD]
)


@each_bad
def test_bytes_that_are_no_event_are_refused(public: bytes, error: type[CorruptLog], words: str) -> None:
    """An unknown name or version is an error of its own, other bytes are a corrupt log; nothing is skipped."""
    with pytest.raises(CorruptLog, match=words) as caught:
        CODEC.decode(public)
    assert type(caught.value) is error


@each_bad
def test_reading_many_refuses_the_same_as_reading_one(
    public: bytes, error: type[CorruptLog], words: str
) -> None:
    """The quick way through many events raises what the slow one does, wherever the bad one stands."""
    good = (b'{"n":1,"t":"seat_left","at":0,"seat":1}', b"")
    for entries in ([public], [good[0], public], [public, good[0]], [good[0], public, good[0]]):
        with pytest.raises(CorruptLog) as caught:
            CODEC.decode_all([(at, text, b"") for at, text in enumerate(entries, 1)])
        with pytest.raises(CorruptLog) as alone:
            CODEC.decode(public)
        assert str(caught.value) == str(alone.value)
        assert type(caught.value) is type(alone.value) is error


def test_an_empty_log_has_no_events() -> None:
    """Reading no entries gives no events."""
    assert CODEC.decode_all([]) == []


# --- versions


def older(fields: dict[str, Any]) -> dict[str, Any]:
    """The made-up first version of `seat_left` called its seat ``chair`` and counted from 1."""
    fields = dict(fields)
    fields["seat"] = fields.pop("chair") - 1
    return fields


def halved(fields: dict[str, Any]) -> dict[str, Any]:
    """The made-up second version counted half seats."""
    return fields | {"seat": fields["seat"] // 2}


def test_a_later_version_is_written_last_and_read_again() -> None:
    """With an upcaster to version 2 the event is stored with ``v`` at its end, and other events without."""
    codec = Codec(upcasters={("seat_left", 1): older})
    public, hidden = codec.encode(e.SeatLeft(at=3, seat=2), 9)
    assert (public, hidden) == (b'{"n":9,"t":"seat_left","at":3,"seat":2,"v":2}', b"")
    assert codec.decode(public) == e.SeatLeft(at=3, seat=2)
    assert codec.encode(e.SeatToBot(at=3, seat=2), 9)[0] == b'{"n":9,"t":"seat_to_bot","at":3,"seat":2}'


def test_an_older_version_is_brought_up_to_date() -> None:
    """Events stored before are read through every upcaster from their version on; the newest through none."""
    codec = Codec(upcasters={("seat_left", 1): older, ("seat_left", 2): halved})
    first = b'{"n":9,"t":"seat_left","at":3,"chair":7}'
    second = b'{"n":9,"t":"seat_left","at":3,"seat":6,"v":2}'
    third = b'{"n":9,"t":"seat_left","at":3,"seat":3,"v":3}'
    right = e.SeatLeft(at=3, seat=3)
    assert [codec.decode(one) for one in (first, second, third)] == [right, right, right]
    entries = [(at, one, b"") for at, one in enumerate((first, second, third), 1)]
    assert codec.decode_all(entries) == [right, right, right]
    assert codec.encode(right, 9)[0] == third


def test_a_version_of_the_future_is_refused() -> None:
    """A version above the newest known is an unknown event, alone and among others."""
    codec = Codec(upcasters={("seat_left", 1): older})
    public = b'{"n":9,"t":"seat_left","at":3,"seat":6,"v":3}'
    with pytest.raises(UnknownEvent, match="version 3, and this program knows 2"):
        codec.decode(public)
    with pytest.raises(UnknownEvent, match="version 3"):
        codec.decode_all([(1, b'{"n":1,"t":"seat_to_bot","at":3,"seat":2}', b""), (2, public, b"")])


@pytest.mark.parametrize("version", [b"0", b"-1", b"null", b"true", b"1.5"])
def test_a_version_that_is_none_is_refused(version: bytes) -> None:
    """Versions are whole numbers from 1; anything else is refused and never guessed at."""
    codec = Codec(upcasters={("seat_left", 1): older})
    with pytest.raises(CorruptLog):
        codec.decode(b'{"n":9,"t":"seat_left","at":3,"seat":6,"v":' + version + b"}")


@steady(30)
@given(rule_sets(), st.integers(0, 2**32))
def test_hidden_parts_survive_the_versioned_way(rules: RuleSet, seed: int) -> None:
    """The slow way that knows versions reads a whole game like the quick way."""
    slow = Codec(upcasters={("seat_left", 1): older})
    events = play_game(rules, seed, moves=30).events
    assert slow.decode_all(stored(events)) == events
