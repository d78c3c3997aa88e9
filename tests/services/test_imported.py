"""Records of games played elsewhere, kept as games: what they say is checked, and what they cannot show is said."""

from __future__ import annotations

import msgspec
import pytest

from domain import events as e
from domain.record import Record, parse_record, print_record, record_of, replay
from domain.view import view
from services.audit import ServerKey
from services.codec import CODEC
from services.imported import MOST_EVENTS, NotImportable, check_record
from services.proof import proof_lines, read_proof
from services.sealed import seal, unseal
from services.store import Store
from services.tables import Tables
from services.verdicts import verify_proof
from tests.golden.test_golden import HEADS, recorded
from tests.support.clock import Clock
from tests.support.handler import tables_on
from tests.support.records import small_record

KEY = ServerKey(bytes(32))


def record_named(name: str) -> Record:
    """The record of a recorded game."""
    _, entries = recorded(name)
    return parse_record(record_of(CODEC.decode_all(entries)))  # type: ignore[arg-type]


def kept(tables: Tables, record: Record) -> tuple[str, bool]:
    """The game that a record is kept as, and whether it is new."""
    table, new = tables.import_record(record, lambda: [f"p{seat}" for seat in range(len(record.seats))])
    return table.state.game, new


@pytest.mark.parametrize("name", HEADS)
def test_a_record_comes_out_as_it_went_in(log: Store, clock: Clock, name: str) -> None:
    """A game of every family: the same deals, passes, plays, points and winners, and nothing is owed at the table."""
    record = record_named(name)
    tables = tables_on(log, clock)
    game, new = kept(tables, record)
    assert new
    events = CODEC.decode_all(log.read(game))
    names = list(record.seats)
    assert print_record(parse_record(record_of(events, names))) == print_record(record)  # type: ignore[arg-type]
    table = tables_on(log, clock).load(game)
    assert ("over", False, None) == (table.state.phase, table.state.rated, table.state.anchor)
    assert log.dues() == {}
    assert view(table.state, 0).winners == tuple(record.winners or ())


@pytest.mark.parametrize("name", HEADS)
def test_its_proof_says_what_it_cannot_show(log: Store, clock: Clock, name: str) -> None:
    """Rules and score are checked; fair deals, an unaltered past and honest bots are `not shown: imported`."""
    game, _ = kept(tables_on(log, clock), record_named(name))
    report = verify_proof(read_proof(b"".join(proof_lines(log.read(game), KEY))), KEY.public)
    assert report.ok
    told = {claim.name: (claim.status, claim.detail.split(";")[0]) for claim in report.claims}
    assert {told[claim] for claim in "FIB"} == {("not shown", "imported")}
    assert told["R"][0] == "holds"
    assert "since then it holds up to event" in next(
        claim.detail for claim in report.claims if claim.name == "I"
    )


def test_a_change_after_the_import_is_found(log: Store, clock: Clock) -> None:
    """The chain begins with the import: a changed card breaks it."""
    game, _ = kept(tables_on(log, clock), record_named("basic-4"))
    lines = list(proof_lines(log.read(game), KEY))
    at = next(at for at, line in enumerate(lines) if b'"card_played"' in line)
    lines[at] = lines[at].replace(b'"by":"player"', b'"by":"bot"')
    claims = {claim.name: claim for claim in verify_proof(read_proof(b"".join(lines))).claims}
    assert ("fails", at) == (claims["I"].status, claims["I"].event)


def test_the_same_record_is_the_same_game(log: Store, clock: Clock) -> None:
    """Imported again, by another process, it is found; names and spelling of another make another."""
    record = record_named("standard-3")
    game, _ = kept(tables_on(log, clock), record)
    assert (game, False) == kept(tables_on(log, clock, 2), record)
    other = msgspec.structs.replace(record, seats=("x", "y", "z"))
    assert game != kept(tables_on(log, clock), other)[0]


def test_it_can_be_sealed(log: Store, clock: Clock) -> None:
    """Its hidden parts come back from what its hands reveal."""
    game, _ = kept(tables_on(log, clock), record_named("cancellation-6"))
    stored = CODEC.decode_all(log.read(game))
    assert unseal(seal(log.read(game)))[1:] == stored[1:]
    first = stored[0]
    assert isinstance(first, e.GameCreated)
    assert first.imported is True


def test_an_unfinished_or_wrong_record_is_not_imported(log: Store, clock: Clock) -> None:
    """Given a game that goes on, one with a wrong card, or one too long, then it is refused with the reason."""
    record = record_named("basic-4")
    cut = msgspec.structs.replace(record, hands=record.hands[:-1], winners=())
    wrong = msgspec.structs.replace(record.hands[0], plays=record.hands[0].plays[::-1])
    for spoiled, why in (
        (cut, "not over"),
        (msgspec.structs.replace(record, hands=(wrong, *record.hands[1:])), "hand 1: play/"),
    ):
        with pytest.raises(NotImportable, match=why):
            kept(tables_on(log, clock), spoiled)
    assert log.client.dbsize() == 0


def test_a_record_too_long_is_not_imported() -> None:
    """A bound on what one append may carry."""
    record = parse_record(small_record())
    assert replay(record).ok
    hands = MOST_EVENTS // (record.rules.players * record.rules.hand)
    endless = msgspec.structs.replace(record.rules, target=1_000_000, hand_limit=hands)
    long = msgspec.structs.replace(record, rules=endless, hands=record.hands * hands, winners=None)
    with pytest.raises(NotImportable):
        check_record(long)
