"""Abandoned tables on a real log: due like clocks, ended by the house, and proved to have had their time."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from domain import events as e
from domain.commands import GetReady, SeatPlan, SitDown, StandUp, TakeBack
from domain.record import parse_record, record_of, replay
from domain.variants import ruleset_of
from services.audit import ServerKey
from services.codec import CODEC
from services.folded import Table
from services.proof import Report, proof_lines, read_proof
from services.sealed import seal, unseal
from services.store import Store
from services.tables import Tables
from services.verdicts import verify_proof
from tests.support.clock import Clock
from tests.support.games import play_game, stored
from tests.support.handler import BOT, PERSONS, first_move, started, tables_on
from tests.support.proofs import KEY, Events, at_of, changed, claim_of

HOUR = 60 * 60 * 1000
OPEN = SeatPlan(kind="open")


def opened(tables: Tables, *seats: SeatPlan, seconds: int = 3600, **more: object) -> str:
    """A table that waits an hour for persons."""
    rules = ruleset_of({"variant": "basic", "pass_count": 0})
    return tables.open(rules, seats, abandon_seconds=seconds, **more).table.state.game  # type: ignore[arg-type]


def playing(tables: Tables, **more: object) -> str:
    """Such a table of four persons, dealt."""
    game = opened(tables, *PERSONS, **more)
    for seat in range(4):
        tables.handle(game, GetReady(player=f"p{seat}"))
    return game


def ends_at(log: Store, tables: Tables, clock: Clock, game: str, ms: int) -> Table:
    """Let the house act at ``ms``, when the table is due to end, and a moment before, when it is not. The table after."""
    assert ms == log.next_due(log.keys.partition(game))
    seq = tables.load(game).seq
    clock.now = ms - 1
    assert seq == tables.act_for_house(game).seq
    clock.now = ms
    table = tables.act_for_house(game)
    assert (seq + 1, "over", "abandoned", ()) == (
        table.seq,
        table.state.phase,
        table.state.reason,
        table.state.winners,
    )
    assert {} == log.dues()
    return table


def report(log: Store, game: str) -> Report:
    """What the proof of a game shows."""
    return verify_proof(read_proof(b"".join(proof_lines(log.read(game), ServerKey(bytes(32))))))


def test_a_table_that_nobody_fills_is_over(log: Store, clock: Clock) -> None:
    """Given an open table, when its hour is over, then the house ends it, whichever worker acts; the proof holds."""
    tables = tables_on(log, clock)
    game = opened(tables, PERSONS[0], OPEN, OPEN, BOT)
    clock.now += 5
    tables.handle(game, SitDown(player="p1"))
    ends_at(log, tables_on(log, clock, 2), clock, game, clock.now + HOUR)
    assert report(log, game).ok


def test_a_game_that_nobody_goes_on_with_is_over(log: Store, clock: Clock) -> None:
    """Given a player who does not play, then an hour after the last card; what was played is shown by the secret."""
    tables = tables_on(log, clock)
    game = playing(tables)
    for _ in range(6):
        clock.now += 1000
        tables.handle(game, first_move(tables.load(game)))
    ends_at(log, tables, clock, game, clock.now + HOUR)
    found = report(log, game)
    told = {claim.name: claim for claim in found.claims}
    assert (True, "holds") == (found.ok, told["R"].status)
    assert "broken off" in told["R"].detail
    events = CODEC.decode_all(log.read(game))
    record = record_of(events)  # type: ignore[arg-type]
    verdict = replay(parse_record(record))
    assert (True, "play", [], 6) == (
        verdict.ok,
        verdict.phase,
        record["winners"],
        len(record["hands"][0]["plays"]),
    )


def test_who_comes_in_time_saves_the_table(log: Store, clock: Clock) -> None:
    """Given a card a moment before the end, then the hour begins anew."""
    tables = tables_on(log, clock)
    game = playing(tables)
    clock.now += HOUR - 1
    tables.handle(game, first_move(tables.load(game)))
    clock.now += 1
    assert "play" == tables.act_for_house(game).state.phase
    assert clock.now - 1 + HOUR == log.next_due(log.keys.partition(game))


def test_a_late_worker_moves_its_bots_first(log: Store, clock: Clock) -> None:
    """Given a bot's move that no worker made for days, then it is made, and the person has its whole time from then."""
    tables = tables_on(log, clock)
    game = opened(tables, PERSONS[0], BOT, BOT, BOT)
    tables.handle(game, GetReady(player="p0"))
    tables.act_for_house(game)
    tables.handle(game, first_move(tables.load(game)))
    clock.now += 100 * HOUR
    table = tables.act_for_house(game)
    assert ("play", clock.now) == (table.state.phase, table.at)
    ends_at(log, tables, clock, game, clock.now + HOUR)
    assert report(log, game).ok


def test_when_all_have_left_the_bots_play_it_out(log: Store, clock: Clock) -> None:
    """Given all persons hand their seats to the stand-in, then the game is played to its end; one that comes back is waited for."""
    tables = tables_on(log, clock)
    game = playing(tables)
    for seat in range(4):
        tables.handle(game, StandUp(player=f"p{seat}", seat=seat))
    tables.act_for_house(game, most=20)
    tables.handle(game, TakeBack(player="p2", seat=2))
    assert "play" == tables.act_for_house(game).state.phase
    tables.handle(game, StandUp(player="p2", seat=2))
    while tables.load(game).state.phase != "over":
        clock.now += 9 * HOUR
        tables.act_for_house(game)
    assert tables.load(game).state.reason in ("target", "limit")
    assert report(log, game).ok


def test_a_clock_moves_and_never_abandons(log: Store, clock: Clock) -> None:
    """Given a clock that is longer than the hour, then it is the clock that is due, and it moves."""
    tables = tables_on(log, clock)
    game = playing(tables, clock=7200)
    assert clock.now + 2 * HOUR == log.next_due(log.keys.partition(game))
    clock.now += 2 * HOUR
    assert "play" == tables.act_for_house(game).state.phase


def test_a_table_from_before_the_rule_is_due_never(log: Store, clock: Clock) -> None:
    """Given stored events without such a time, then nothing is due, however long it waits."""
    tables = tables_on(log, clock)
    entries = log.read(started(tables).state.game)
    first = CODEC.decode(*entries[0][1:])
    assert isinstance(first, e.GameCreated)
    old = msgspec.structs.replace(first, game="old", abandon_seconds=msgspec.UNSET)
    pairs = [CODEC.encode(old, 1), *[pair[1:] for pair in entries[1:]]]
    log.append("old", 0, pairs, now=clock.now, due=clock.now)
    clock.now += 9999 * HOUR
    assert len(entries) == tables_on(log, clock).act_for_house("old").seq


@pytest.mark.parametrize("moves", [0, 2, 4, 30, 90])
def test_it_can_be_sealed(moves: int) -> None:
    """Given a hand that was broken off, in its pass too, then the secret of the end brings back all that was hidden."""
    events = forgery(moves)
    back = unseal(seal(stored(events)))
    assert events[1:] == back[1:]


# --- what must not pass


def forgery(moves: int = 9, kinds: str = "ppnn") -> Events:
    """A game that was rightly abandoned, by the times of its events."""
    rules = ruleset_of({"variant": "standard", "hand_limit": 2})
    game = play_game(rules, 7, moves=moves, kinds=kinds, server_key=KEY.public)
    hand = game.end.hand
    assert hand is not None
    at = game.end.last_at + 7 * 24 * HOUR
    return [
        *game.events,
        e.GameEnded(at=at, winners=(), totals=tuple(game.end.totals), reason="abandoned", secret=hand.secret),
    ]


def too_early(events: Events) -> str:
    """A millisecond before the time was over."""
    events[-1] = msgspec.structs.replace(events[-1], at=events[-1].at - 1)
    return "before its time was over"


def no_such_time(events: Events) -> str:
    """At a table that waits for ever."""
    changed(events, 0, abandon_seconds=msgspec.UNSET)
    return "names no time"


def a_clock(events: Events) -> str:
    """Where the clock would have moved."""
    changed(events, 0, clock=60)
    return "with a clock"


def a_bot(events: Events) -> str:
    """Where the house itself was to move."""
    events.insert(-1, e.SeatToBot(at=events[-2].at, seat=(events[-2].seat + 1) % 4))
    return "waited for a bot"


@pytest.mark.parametrize("forge", [too_early, no_such_time, a_clock, a_bot])
def test_an_end_that_was_not_due_fails(forge: Callable[[Events], str]) -> None:
    """The verifier judges it by the events' own times, as it judges moves by the clock."""
    events = forgery()
    assert "holds" == claim_of(events, "R").status
    why = forge(events)
    found = claim_of(events, "R")
    assert ("fails", len(events)) == (found.status, found.event)
    assert why in found.detail


def test_an_end_before_a_pass_that_a_bot_owes_fails() -> None:
    """In the pass it is known who has passed."""
    assert "holds" == claim_of(forgery(moves=2), "R").status
    found = claim_of(forgery(moves=2, kinds="ppnb"), "R")
    assert ("fails", True) == (found.status, "waited for a bot" in found.detail)


def test_an_end_while_the_deadline_for_the_deal_runs_fails() -> None:
    """From the first who is ready on the table is dealt, by rule."""
    events = forgery()
    at = at_of(events, e.SeatReady)
    ended = msgspec.structs.replace(events[-1], at=events[at].at + 7 * 24 * HOUR, secret=None)
    assert "not shown" == claim_of([*events[:at], ended], "R").status
    found = claim_of([*events[: at + 1], ended], "R")
    assert ("fails", at + 2) == (found.status, found.event)


@pytest.mark.parametrize("seconds", [0, 3599, 2_592_001])
def test_a_time_out_of_bounds_fails(seconds: int) -> None:
    """A first event with a time that no table may have."""
    events = forgery()
    changed(events, 0, abandon_seconds=seconds)
    found = claim_of(events, "R")
    assert ("fails", 1) == (found.status, found.event)
