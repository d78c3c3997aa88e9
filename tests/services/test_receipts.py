"""Receipts that players send to the operator: held to the head in the store, and to the keys that this server has had."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis

from services.audit import Receipt, ServerKey
from services.inspection import AuditReport
from services.keyring import rotate_game
from services.receipts import ReceiptReport
from services.settings import Settings
from services.tables import UnknownGame
from services.wiring import Services, build
from tests.support.audited import open_game, project, status, told
from tests.support.clock import Clock
from tests.support.tampering import change, rewrite, stream

OTHER = ServerKey(bytes(range(32)))


@pytest.fixture
def services(valkey: redis.Redis, tmp_path: Path) -> Services:
    """Services on an empty store."""
    return build(Settings(data=tmp_path, partitions=4), store=valkey, clock=Clock(1_700_000_000_000))


@pytest.fixture
def game(services: Services) -> str:
    """A game that goes on."""
    return open_game(services, most=44)


def receipt_of(services: Services, game: str, signer: ServerKey | None = None) -> Receipt:
    """The receipt of a game's last event."""
    table = services.tables.load(game)
    return (signer or services.key.of(table.signer)).receipt(game, table.seq, table.head)


def audit(services: Services, *receipts: Receipt) -> tuple[AuditReport, ReceiptReport]:
    """The report on the game of some receipts, and what it says of the last of them."""
    report = services.auditor.audit(receipts[0].game, receipts)
    return report, report.receipts[-1]


def test_a_receipt_of_the_event_in_the_store(services: Services, game: str) -> None:
    """It holds, with the key that has signed it, and shows claim I of a game that no log has the end of."""
    assert (True, ()) == (services.auditor.audit(game).ok, services.auditor.audit(game).receipts)
    report, one = audit(services, receipt_of(services, game))
    key = services.key.first.public
    assert (True, "holds", key) == (report.ok, one.status, one.signed_by)
    assert f"receipt of event {report.seq} holds: the event there has the same head" in one.line
    assert key in one.line
    assert f"by a receipt of event {report.seq}" in next(c.detail for c in report.claims if c.name == "I")


def test_a_receipt_of_other_events(services: Services, game: str) -> None:
    """Given an event that was changed with every copy of it, then the receipt finds it, where nothing else would."""
    kept = receipt_of(services, game)
    entries = stream(services, game)
    services.client.delete(services.keys.snapshot(game))
    entries[-1][b"p"] = entries[-1][b"p"].replace(b'"at":1700000000000', b'"at":1700000000001')
    rewrite(services, game, entries)
    table = services.keys.table(game)
    summary = services.client.hget(table, "summary").replace(
        b'"updated_at":1700000000000', b'"updated_at":1700000000001'
    )
    services.client.hset(table, "summary", summary)
    assert services.auditor.audit(game).ok
    report, one = audit(services, kept)
    assert (False, "fails", services.key.first.public) == (report.ok, one.status, one.signed_by)
    assert f"receipt of event {kept.seq} FAILS: the server signed head {kept.head}" in one.line
    assert f"receipt at event {kept.seq}: " in told(report, "receipt")
    assert "fails" == status(report, "I")


def test_a_receipt_of_an_event_that_is_gone(services: Services, game: str) -> None:
    """The game was cut off behind it; or nothing is left of the game at all, which is no game that there never was."""
    kept = receipt_of(services, game)
    rewrite(services, game, stream(services, game)[:-3])
    report, one = audit(services, kept)
    assert "fails" == one.status
    assert f"there are {kept.seq - 3} events that can be read: cut off" in told(report, "receipt")
    first_missing = {one.event for one in [*report.problems, *report.claims] if one.event is not None}
    assert {kept.seq - 2} == first_missing
    services.client.flushall()
    report, one = audit(services, kept)
    assert ("fails", "unknown", False) == (one.status, report.status, report.ok)
    assert "nothing of the game can be read: cut off" in told(report, "receipt")


def test_a_receipt_that_is_not_this_servers(services: Services, game: str) -> None:
    """It says nothing of the game, whatever it claims: the report on it stays as it is."""
    mine = receipt_of(services, game)
    for forged in (
        receipt_of(services, game, OTHER),
        mine._replace(head=bytes(32).hex()),
        mine._replace(seq=mine.seq + 1),
        mine._replace(signature="no hex"),
        mine._replace(seq=-1),
    ):
        report, one = audit(services, mine, forged)
        assert (True, "foreign", None) == (report.ok, one.status, one.signed_by)
        assert "is not this server's: none of the server's keys has signed it" in one.line
    with pytest.raises(UnknownGame):
        audit(services, OTHER.receipt("nothing", 3, bytes(32)))


def test_receipts_over_a_rotation(services: Services, game: str, tmp_path: Path) -> None:
    """Each is held to the key that the game had at its event; one by another key of the server is not right."""
    before = receipt_of(services, game)
    old = services.key.first
    services.key.turn_to(services.key.add(bytes))
    assert rotate_game(services.tables, services.key, game)
    services.tables.act_for_house(game, 60)
    project(services, game)
    after = receipt_of(services, game)
    report, one = audit(services, before, after)
    assert ["holds", "holds"] == [each.status for each in report.receipts], one
    assert [old.public, services.key.public] == [each.signed_by for each in report.receipts]
    report, one = audit(services, receipt_of(services, game, old))
    assert ("fails", old.public) == (one.status, one.signed_by)
    assert f"and at this event the game's was {services.key.public}" in one.detail


def test_a_receipt_where_the_events_cannot_be_read(services: Services, game: str) -> None:
    """Which key was valid is not known then; that the head is another is."""
    kept = receipt_of(services, game)
    change(services, game, "game_created", lambda raw: raw[:20] + b"?" + raw[20:])
    report, one = audit(services, kept)
    assert "fails" == one.status
    assert "was changed" in one.detail
    assert not report.ok
