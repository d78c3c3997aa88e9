"""Signed moves on a live table: keys that may be registered, and signatures judged against the table as it is."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from domain.cards import NAMES, SUITS, distinct_cards
from domain.commands import GetReady, PassCards, PlayCard, SeatPlan, StandUp, TakeBack
from domain.events import CardsPassed, SignedPass
from domain.game import advance
from domain.refusals import Malformed, Refused
from domain.rules import legal_plays
from domain.signing import Signed, move_message
from domain.variants import ruleset_of
from services.codec import CODEC
from services.folded import Table, follow, resume
from services.revealed import restore_hidden
from services.signing import MoveKey, action_of, check_public_key, check_signed, is_signed
from services.snapshot import take_snapshot
from services.store import Store
from services.tables import Tables
from tests.api.guests import noted_reads
from tests.support.clock import Clock
from tests.support.games import hand_of, move_key, stored
from tests.support.handler import key, tables_on
from tests.support.signing import heads_of, mark_of, play_signed, signed_game
from tests.support.states import assert_same

PLANS = [SeatPlan(kind="player", player=f"p{seat}", public_key=move_key(seat).public) for seat in range(4)]


def begin(tables: Tables, pass_count: int = 0) -> Table:
    """A table of four persons who sign, ready and dealt."""
    rules = ruleset_of({"variant": "basic", "pass_count": pass_count})
    table = tables.open(rules, PLANS).table
    for seat in range(4):
        table = tables.handle(table.state.game, GetReady(player=f"p{seat}")).table
    return table


def signed_play(table: Table, seq: int | None = None, head: bytes | None = None, **wrong: Any) -> PlayCard:
    """A legal play of the seat to act, signed at the last event or at ``seq``."""
    hand = hand_of(table.state)
    card = distinct_cards(legal_plays(table.state.terms, hand))[0]
    by = move_key(wrong.get("seat", hand.turn))
    action = wrong.get("action", f"play {NAMES[card]}")
    game = wrong.get("game", table.state.game)
    signed = by.sign(game, table.seq if seq is None else seq, head or table.head, action)
    return PlayCard(who=f"p{hand.turn}", card=card, signed=signed)


def play_of(table: Table, card: int) -> PlayCard:
    """This card by the seat to play, signed at the table's last event."""
    turn = hand_of(table.state).turn
    signed = move_key(turn).sign(table.state.game, table.seq, table.head, f"play {NAMES[card]}")
    return PlayCard(who=f"p{turn}", card=card, signed=signed)


def signed_pass(table: Table, seat: int) -> PassCards:
    """The pass of a seat's first three cards, signed at the table's last event."""
    cards = distinct_cards(hand_of(table.state).held[seat])[:3]
    text = " ".join(NAMES[card] for card in sorted(cards))
    signed = move_key(seat).sign(table.state.game, table.seq, table.head, f"pass {text}")
    return PassCards(who=f"p{seat}", cards=tuple(cards), signed=signed)


@pytest.fixture
def tables(log: Store, clock: Clock) -> Tables:
    """Tables of one process."""
    return tables_on(log, clock)


# --- at a table


def test_moves_signed_at_the_last_event_are_taken_and_no_event_is_read_for_it(
    tables: Tables, log: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who signs what the last answer said costs the server a signature, and no look at the stream."""
    table = begin(tables)
    reads = noted_reads(log, monkeypatch)
    for _ in range(9):
        table = tables.handle(table.state.game, signed_play(table)).table
    assert [] == reads
    assert table.seq > table.mark[0]


def test_a_move_may_be_signed_at_any_event_since_the_trick_before(
    tables: Tables, log: Store, clock: Clock
) -> None:
    """Every head from the mark on is good, also for a process that loads the table from a snapshot."""
    start = begin(tables)
    game = start.state.game
    seen = [start]
    for _ in range(7):
        seen.append(tables.handle(game, signed_play(seen[-1])).table)
    now = seen[-1]
    first = now.mark[0]
    assert now.seq - first == 3
    old = [table for table in seen if table.seq >= first]
    for table in old:
        fresh = tables_on(log, clock)
        assert fresh.load(game).mark == now.mark
        play = signed_play(now, table.seq, table.head)
        events, _ = advance(now.state, play)
        check_signed(now, events[0], log.read)
    last = tables_on(log, clock).handle(game, signed_play(now, old[0].seq, old[0].head))
    assert last.table.seq > now.seq


def test_a_signature_from_before_the_trick_is_refused(tables: Tables) -> None:
    """A right signature by an older head is refused, and the hint names the event to sign at."""
    start = begin(tables)
    table = start
    for _ in range(4):
        before, table = table, tables.handle(start.state.game, signed_play(table)).table
    with pytest.raises(Refused) as caught:
        tables.handle(start.state.game, signed_play(table, before.seq, before.head))
    assert "move/wrong_signature" == caught.value.code
    assert f"at event {table.seq}," in caught.value.hint
    assert table.head.hex() in caught.value.hint


@pytest.mark.parametrize(
    "wrong",
    [
        {"seat": 3},
        {"action": "play ZZ"},
        {"game": "g-other"},
        {"head": bytes(32)},
        {"seq": 10**9},
        {"seq": 1},
    ],
)
def test_a_signature_of_something_else_is_refused(tables: Tables, wrong: dict[str, Any]) -> None:
    """Another seat's key, another card, another game, another history, an event that is not there: nothing happens."""
    table = begin(tables)
    game = table.state.game
    if "seat" in wrong:
        wrong = {"seat": (hand_of(table.state).turn + 1) % 4}
    with pytest.raises(Refused) as caught:
        tables.handle(game, signed_play(table, **wrong))
    assert "move/wrong_signature" == caught.value.code
    assert table.seq == tables.load(game).seq


def test_the_hint_tells_the_very_bytes_to_sign(tables: Tables) -> None:
    """Whoever signs what the hint says, where its program says the same, is heard."""
    table = begin(tables)
    right = signed_play(table)
    assert right.signed is not None
    wrong = msgspec.structs.replace(right, signed=Signed(table.seq, "00" * 64))
    with pytest.raises(Refused) as caught:
        tables.handle(table.state.game, wrong)
    message = move_message(table.state.game, table.seq, table.head, f"play {NAMES[right.card]}")
    assert message.hex() in caught.value.hint


def test_four_passes_signed_at_the_same_moment_all_count(tables: Tables, log: Store, clock: Clock) -> None:
    """Given four players who sign the deal as each saw it, then each pass is taken, by whichever process."""
    table = begin(tables, pass_count=3)
    for seat in range(4):
        after = tables_on(log, clock).handle(table.state.game, signed_pass(table, seat)).table
    assert after.state.phase == "play"
    assert all(after.state.hand.pass_signatures)  # type: ignore[union-attr]
    with pytest.raises(Refused, match="pass/not_now"):
        tables.handle(table.state.game, signed_pass(table, 0))


def test_a_signature_is_judged_again_where_another_writer_was_first(
    tables: Tables, log: Store, clock: Clock
) -> None:
    """A player whose move is sent twice, to two processes, with different cards: the second one's signature is too old.

    Its card would be legal as the next lead, and without the signature it would be played.
    """
    table = begin(tables)
    game = table.state.game
    for _ in range(52):
        hand = hand_of(table.state)
        cards = sorted(distinct_cards(legal_plays(table.state.terms, hand)), key=lambda card: card % 13)
        other = tables_on(log, clock)
        stale = other.load(game)
        before, card = hand.turn, cards[-1]
        table = tables.handle(game, play_of(table, card)).table
        spare = [one for one in cards[:-1] if SUITS[one // 13] != "H"]
        if table.mark[0] == table.seq and hand_of(table.state).turn == before and spare:
            assert advance(stale.state, play_of(stale, spare[0]))
            assert advance(table.state, play_of(stale, spare[0]))
            with pytest.raises(Refused, match="move/wrong_signature"):
                other.handle(game, play_of(stale, spare[0]))
            assert tables.load(game).seq == table.seq
            return
    raise AssertionError("nobody took a trick as the last to play")


def test_a_retry_under_its_key_gets_its_answer_though_the_signature_is_old(tables: Tables) -> None:
    """The idempotency key is looked up before a signature is found too old."""
    table = begin(tables)
    game = table.state.game
    play = signed_play(table)
    first = tables.handle(game, play, key=key("k"))
    for _ in range(4):
        tables.handle(game, signed_play(tables.load(game)))
    again = tables.handle(game, play, key=key("k"))
    assert again.replayed
    assert again.table.seq == first.table.seq


def test_who_comes_back_signs_again(tables: Tables) -> None:
    """Given a signing seat that the bot has played, when its player takes it back, then it signs as before."""
    table = begin(tables)
    game, turn = table.state.game, hand_of(table.state).turn
    tables.handle(game, StandUp(player=f"p{turn}", seat=turn))
    table = tables.act_for_house(game)
    table = tables.handle(game, TakeBack(player=f"p{turn}", seat=turn)).table
    while hand_of(table.state).turn != turn:
        table = tables.handle(game, signed_play(table)).table
    with pytest.raises(Refused, match="move/unsigned"):
        tables.handle(game, msgspec.structs.replace(signed_play(table), signed=None))
    assert tables.handle(game, signed_play(table)).events


@pytest.mark.parametrize("moves", [0, 2, 4, 9, 60])
def test_a_snapshot_holds_what_was_signed(moves: int) -> None:
    """Who goes on from a snapshot has the signatures of the passes, and reveals them as who folded every event."""
    game = play_signed(ruleset_of({"variant": "standard", "players": 4, "hand_limit": 2}), 7, moves=moves)
    table = follow("g-test", None, game.entries())
    resumed = resume(take_snapshot(*table))
    assert resumed is not None
    assert_same(resumed.state, table.state)
    assert resumed[1:] == table[1:]
    assert resumed.mark == (mark_of(game.events), heads_of(game.events)[mark_of(game.events)])


def test_a_sealed_game_has_its_signatures_put_back() -> None:
    """What was hidden of a signed pass follows from `hand_scored`, cards and signature."""
    events = signed_game().events
    public = [CODEC.decode(line) for _, line, _ in stored(events)]
    passes = [event for event in restore_hidden(public) if isinstance(event, CardsPassed)]
    assert passes == [event for event in events if isinstance(event, CardsPassed)]
    assert any(isinstance(event.hidden, SignedPass) for event in passes)


# --- keys, and what clients sign with


@pytest.mark.parametrize("seed", range(8))
def test_real_keys_may_be_registered(seed: int) -> None:
    """Every key that a generator makes is one."""
    check_public_key(MoveKey(bytes([seed]) * 32).public)


POINTS = {
    "order 1": "0100000000000000000000000000000000000000000000000000000000000000",
    "order 2": "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "order 4": "0000000000000000000000000000000000000000000000000000000000000000",
    "order 4, the other": "0000000000000000000000000000000000000000000000000000000000000080",
    "order 8": "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "order 8, its mirror": "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
    "order 8, another": "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "order 8, the last": "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    "y = p": "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "y = p + 1": "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "no point": "0200000000000000000000000000000000000000000000000000000000000000",
    "short": "ab" * 31,
    "long": "ab" * 33,
    "capitals": MoveKey(bytes(32)).public.upper(),
    "empty": "",
    "no hex": "zz" * 32,
}


@pytest.mark.parametrize("name", POINTS)
def test_what_is_no_key_is_not_registered(name: str) -> None:
    """Points of small order (RFC 8032 leaves them to the verifier), second spellings, and what is no point at all."""
    with pytest.raises(Malformed):
        check_public_key(POINTS[name])


def test_our_key_signs_as_the_library_does() -> None:
    """`MoveKey` is plain Ed25519 over the message of the specification."""
    seed, head = bytes(range(32)), bytes(range(32, 64))
    signed = MoveKey(seed).sign("g", 7, head, "play QS")
    plain = Ed25519PrivateKey.from_private_bytes(seed).sign(move_message("g", 7, head, "play QS"))
    assert (7, plain.hex()) == signed
    assert is_signed(MoveKey(seed).public, signed.signature, move_message("g", 7, head, "play QS"))
    assert not is_signed(MoveKey(seed).public, signed.signature, move_message("g", 8, head, "play QS"))
    assert not is_signed("00", signed.signature, b"")


@pytest.mark.parametrize(
    ("move", "action"),
    [
        ({"play": "QS"}, "play QS"),
        ({"play": "10H"}, "play TH"),
        ({"pass": ["AS", "2C", "QS"]}, "pass 2C QS AS"),
        ({"pass": ["QS", "QS"]}, "pass QS QS"),
        ({"moon": "subtract"}, "moon subtract"),
    ],
)
def test_a_move_is_signed_as_its_action(move: dict[str, Any], action: str) -> None:
    """However a move is written, what is signed is one text: short card names, a pass in the order of card lists."""
    assert action == action_of(move)
    body = MoveKey(bytes(32)).sign_move("g", 7, "ab" * 32, move)
    signature = MoveKey(bytes(32)).sign("g", 7, bytes.fromhex("ab" * 32), action).signature
    assert {**move, "signed_seq": 7, "signature": signature} == body


@pytest.mark.parametrize(
    "move", [{}, {"play": 7}, {"play": "ZZ"}, {"moon": "up"}, {"play": "QS", "moon": "add"}, {"hold": "QS"}]
)
def test_what_is_no_move_is_not_signed(move: dict[str, Any]) -> None:
    """Nothing is signed that the server would not read."""
    with pytest.raises(Malformed):
        MoveKey(bytes(32)).sign_move("g", 7, "ab" * 32, move)


def test_a_head_that_is_none_is_not_signed() -> None:
    """A head is hex."""
    with pytest.raises(Malformed):
        MoveKey(bytes(32)).sign_move("g", 7, "no", {"play": "QS"})
