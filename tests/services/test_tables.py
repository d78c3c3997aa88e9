"""The command handler on a real log: conflicts, repeats, stale versions, the moves of the house."""

from __future__ import annotations

import threading

import pytest

from domain.cards import cards_of, parse_cards
from domain.commands import GetReady, PassCards, PlayCard, SitDown
from domain.refusals import HeartsError, Refused
from domain.shuffle import genesis_head, next_head
from domain.variants import ruleset_of
from services.audit import ServerKey, verify_receipt
from services.folded import follow, tell
from services.once import KeyReused
from services.paging import EventPages
from services.store import CorruptStream, Store
from services.tables import StaleVersion, UnknownGame
from tests.support.clock import Clock
from tests.support.handler import BOT, PERSONS, first_move, key, started, tables_on


def test_what_is_handled_is_in_the_log_and_its_receipt_holds(log: Store, clock: Clock) -> None:
    """The table answered is the fold of the stored bytes, the head is their chain, and the server signed it."""
    tables = tables_on(log, clock)
    outcome = tables.handle((table := started(tables, pass_count=0)).state.game, first_move(table))
    stored = log.read(table.state.game)
    head = genesis_head(table.state.game)
    for _, public, _ in stored:
        head = next_head(head, public)
    assert (outcome.table.seq, outcome.table.head) == (len(stored), head)
    assert tables_on(log, clock).load(table.state.game).head == head
    assert verify_receipt(outcome.receipt, ServerKey(bytes(32)).public)
    assert outcome.table.etag == f'"{len(stored)}-{head.hex()[:16]}"'


def test_a_writer_that_is_behind_decides_again(log: Store, clock: Clock) -> None:
    """Two processes have the same table; each plays in turn though neither was told of the other's move."""
    here, there = tables_on(log, clock, 1), tables_on(log, clock, 2)
    table = started(here, pass_count=0)
    game = table.state.game
    there.load(game)
    after = here.handle(game, first_move(table)).table
    assert there.handle(game, first_move(after)).table.seq == after.seq + 1


def test_a_refusal_is_judged_against_the_table_as_it_is(log: Store, clock: Clock) -> None:
    """What a process's own old table would refuse is accepted when the log has moved on."""
    here, there = tables_on(log, clock, 1), tables_on(log, clock, 2)
    game = here.open(ruleset_of({"variant": "basic"}), [PERSONS[0], BOT, BOT, BOT]).table.state.game
    old = there.load(game)
    here.handle(game, GetReady(player="p0"))
    hand = here.load(game).state.hand
    assert hand is not None
    assert old.state.phase == "seats"
    cards = tuple(cards_of(hand.held[0])[:3])
    assert there.handle(game, PassCards(who="p0", cards=cards)).table.state.hand.passes[0]  # type: ignore[union-attr]


def test_four_passes_at_once_are_all_accepted(log: Store, clock: Clock) -> None:
    """Four processes pass at the same moment from the same version; the exchange follows the last."""
    table = started(tables_on(log, clock))
    game, hand = table.state.game, table.state.hand
    assert hand is not None
    barrier, failed = threading.Barrier(4), []

    def pass_cards(seat: int) -> None:
        tables = tables_on(log, clock, seat)
        tables.load(game)
        barrier.wait()
        try:
            tables.handle(game, PassCards(who=f"p{seat}", cards=tuple(cards_of(hand.held[seat])[:3])))
        except HeartsError as error:
            failed.append(error)

    threads = [threading.Thread(target=pass_cards, args=(seat,)) for seat in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    after = tables_on(log, clock).load(game).state
    assert after.phase == "play"
    assert after.hand is not None
    assert [held.bit_count() for held in after.hand.held] == [13] * 4


def test_the_same_key_gives_the_same_outcome_again(log: Store, clock: Clock) -> None:
    """A repeat under a key is answered as the first time, by another process and after more has happened."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    game = table.state.game
    first = tables.handle(game, first_move(table), key=key("k"))
    tables.handle(game, first_move(first.table))
    again = tables_on(log, clock).handle(game, first_move(table), key=key("k"))
    assert again.replayed
    assert not first.replayed
    assert (again.table.seq, again.table.head, again.receipt) == (
        first.table.seq,
        first.table.head,
        first.receipt,
    )


def test_a_key_is_looked_up_before_the_version_and_the_rules(log: Store, clock: Clock) -> None:
    """A repeat is answered although its version is stale and the card is gone."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    game, move = table.state.game, first_move(table)
    first = tables.handle(game, move, key=key("k"), if_match=(table.etag,))
    assert tables.handle(game, move, key=key("k"), if_match=(table.etag,)).table.seq == first.table.seq
    with pytest.raises(StaleVersion):
        tables.handle(game, move, key=key("other"), if_match=(table.etag,))


def test_a_key_of_another_request_is_refused(log: Store, clock: Clock) -> None:
    """The same key with another body tells so, whether or not that body would be legal."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    game = table.state.game
    after = tables.handle(game, first_move(table), key=key("k")).table
    with pytest.raises(KeyReused):
        tables.handle(game, first_move(after), key=key("k", "g"))
    with pytest.raises(KeyReused):
        tables.handle(game, first_move(table), key=key("k", "g"))
    assert tables.load(game).seq == after.seq


def test_a_refused_command_burns_no_key(log: Store, clock: Clock) -> None:
    """After a refusal the same key may be used for what is right."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    game, move = table.state.game, first_move(table)
    with pytest.raises(Refused, match="play/not_your_turn"):
        tables.handle(game, PlayCard(who=f"p{(int(str(move.who)[1]) + 1) % 4}", card=0), key=key("k", "g"))
    assert not tables.handle(game, move, key=key("k")).replayed


def test_a_key_is_forgotten_after_a_day(log: Store, clock: Clock) -> None:
    """24 hours later the same key asks for a new move, which is judged anew."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    game, move = table.state.game, first_move(table)
    tables.handle(game, move, key=key("k"))
    clock.now += 24 * 60 * 60 * 1000 + 1
    with pytest.raises(Refused):
        tables.handle(game, move, key=key("k"))


def test_a_table_opened_twice_under_a_key_is_one_table(log: Store, clock: Clock) -> None:
    """The id follows from caller and key, across processes of one server key; another body is refused."""
    rules = ruleset_of({"variant": "basic"})
    first = tables_on(log, clock, 1).open(rules, PERSONS, key=key("k"))
    again = tables_on(log, clock, 2).open(rules, PERSONS, key=key("k"))
    assert again.replayed
    assert again.table.state.game == first.table.state.game
    with pytest.raises(KeyReused):
        tables_on(log, clock, 3).open(rules, PERSONS, key=key("k", "g"))
    clock.now += 24 * 60 * 60 * 1000 + 1
    later = tables_on(log, clock, 4).open(rules, PERSONS, key=key("k"))
    assert later.table.state.game != first.table.state.game
    assert (
        tables_on(log, clock, 5).open(rules, PERSONS, key=key("k")).table.state.game == later.table.state.game
    )


def test_if_match_takes_only_the_version_it_names(log: Store, clock: Clock) -> None:
    """A move under the present version passes, under an older one it is stale, and the answer has the present one."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    game = table.state.game
    after = tables.handle(game, first_move(table), if_match=(table.etag,)).table
    with pytest.raises(StaleVersion) as stale:
        tables.handle(game, first_move(after), if_match=(table.etag,))
    assert stale.value.table.etag == after.etag


def test_unknown_games_are_told(log: Store, clock: Clock) -> None:
    """Neither reading nor moving makes a game; an event it has not got is unknown too."""
    tables = tables_on(log, clock)
    game = tables.open(ruleset_of({"variant": "basic"}), PERSONS).table.state.game
    for ask in (
        lambda: tables.load("nobody"),
        lambda: tables.entries("nobody"),
        lambda: tables.handle("nobody", SitDown(player="p9")),
        lambda: tables.act_for_house("nobody"),
        lambda: tables.at(game, 99),
        lambda: tables.at(game, 0),
    ):
        with pytest.raises(UnknownGame):
            ask()


def test_readers_get_their_private_parts_and_no_others(log: Store, clock: Clock) -> None:
    """A seat's items carry its own cards, others' carry none; heads are the chain; the cursor goes on."""
    tables = tables_on(log, clock)
    table = started(tables)
    game, hand = table.state.game, table.state.hand
    assert hand is not None
    for seat in range(4):
        tables.handle(game, PassCards(who=f"p{seat}", cards=tuple(cards_of(hand.held[seat])[:3])))
    pages = EventPages(log)
    own = pages.read(game, 0, 1000, 2)
    parts = [item.private for item in own if item.private is not None]
    assert [sorted(part) for part in parts] == [["cards", "key"], ["cards", "key"], ["key", "received"]]
    assert parse_cards(parts[0]["cards"]) == cards_of(hand.dealt[2])
    assert all(item.private is None for item in pages.read(game, 0, 1000, None))
    assert own[-1].head == tables.load(game).head
    assert [item.seq for item in pages.read(game, 10, 1000, 2)] == list(range(11, own[-1].seq + 1))
    told, table = tell(game, follow(game, None, log.read(game, 0, 5)), log.read(game, 5))
    assert table[1:] == tables.load(game)[1:]
    assert own[5:] == [one.to(2) for one in told]
    assert pages.read(game, 5, 1000, None) == [one.to(None) for one in told]


def test_a_spoiled_log_is_named_and_nothing_is_made_of_it(log: Store, clock: Clock) -> None:
    """An event that does not follow is an error that names its number."""
    tables = tables_on(log, clock)
    table = started(tables)
    game = table.state.game
    log.append(
        game,
        table.seq,
        [(b'{"n":1,"t":"card_played","at":1,"seat":0,"card":"QS","by":"player"}', b"")],
        now=1,
        due=None,
    )
    with pytest.raises(CorruptStream) as spoiled:
        tables_on(log, clock).load(game)
    assert spoiled.value.seq == table.seq + 1


def test_a_store_that_lost_its_tail_is_believed(log: Store, clock: Clock) -> None:
    """After the store came back without events that a process had seen, the process judges by the store."""
    tables = tables_on(log, clock)
    table = started(tables, pass_count=0)
    game = table.state.game
    after = tables.handle(game, first_move(table)).table
    kept = [(public, hidden) for _, public, hidden in log.read(game, 0, table.seq)]
    log.client.delete(log.keys.stream(game))
    log.append(game, 0, kept, now=1, due=None)
    assert tables.handle(game, first_move(table)).table.seq == after.seq
