"""Practice tables on a real log: found in it, opened once under a key, and honest about what they cannot show."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import msgspec
import pytest

from domain import events as e
from domain.record import Record, parse_record, record_of, replay
from domain.refusals import Refused
from domain.variants import ruleset_of
from services import branches
from services.audit import ServerKey
from services.branches import Branches
from services.codec import CODEC
from services.once import Key, KeyReused
from services.proof import proof_lines, read_proof
from services.sealed import seal, unseal
from services.store import Store
from services.tables import Tables, UnknownGame
from services.verdicts import verify_proof
from tests.golden.test_golden import recorded
from tests.support.clock import Clock
from tests.support.games import play_game
from tests.support.handler import BOT, first_move, started, tables_on
from tests.support.practice import finish, practice
from tests.support.proofs import Events, at_of, changed, claim_of

OWN_KEY = ServerKey(bytes(32))
"""That of `tables_on`."""
HOUR = 60 * 60 * 1000


def house(log: Store, clock: Clock, seed: int = 1) -> tuple[Tables, Branches]:
    """Tables, and practice from them, as one process has them."""
    tables = tables_on(log, clock, seed)
    return tables, Branches(log, tables, OWN_KEY)


def finished(tables: Tables, **rules: object) -> str:
    """A game of bots that is over."""
    game = tables.open(ruleset_of({"variant": "basic", "hand_limit": 2, **rules}), [BOT] * 4).table.state.game
    while tables.act_for_house(game).state.phase != "over":
        pass
    return game


def places(log: Store, game: str, kind: type[e.Event]) -> list[int]:
    """The seqs of a game's events of a kind."""
    return [seq for seq, public, hidden in log.read(game) if isinstance(CODEC.decode(public, hidden), kind)]


def play_out(tables: Tables, game: str, clock: Clock) -> None:
    """Play a practice table of p0 to its end."""
    while (table := tables.act_for_house(game)).state.phase != "over":
        clock.now += 7
        hand = table.state.hand
        assert hand is not None
        move = first_move(table)
        tables.handle(game, msgspec.structs.replace(move, who="p0"))


def key(fingerprint: str = "f") -> Key:
    """A key of p0."""
    return Key("p0", "POST /branch", "k", fingerprint)


def test_it_is_played_like_any_table(log: Store, clock: Clock) -> None:
    """Given a finished game, when p0 branches off in its second hand, then bots are due, and the hand is played to its end."""
    tables, practice = house(log, clock)
    game = finished(tables, pass_count=0)
    before = log.read(game)
    at = places(log, game, e.CardPlayed)[60]
    outcome = practice.open(game, at, 3, "p0")
    new = outcome.table.state.game
    assert outcome.receipt.seq == outcome.table.seq == len(log.read(new))
    other = tables_on(log, clock, 2)
    assert outcome.table.head == other.load(new).head
    play_out(other, new, clock)
    state = other.load(new).state
    assert ("over", "limit", 1, False) == (state.phase, state.reason, len(state.hands), state.rated)
    assert before == log.read(game)
    assert {} == log.dues()


def test_its_proof_and_record(log: Store, clock: Clock) -> None:
    """F, I and B are not shown, R is; the record is one of a first hand, its seats turned, and replays."""
    tables, practice = house(log, clock)
    game = finished(tables)
    at = places(log, game, e.PassesExchanged)[1]
    new = practice.open(game, at, 0, "p0").table.state.game
    play_out(tables, new, clock)
    report = verify_proof(read_proof(b"".join(proof_lines(log.read(new), OWN_KEY))), OWN_KEY.public)
    told = {claim.name: (claim.status, claim.detail.split(";")[0]) for claim in report.claims}
    assert report.ok
    assert {("not shown", f"practice table branched from game {game} at {at}")} == {
        told[one] for one in "FIB"
    }
    assert ("holds", "1 hand checked to the last card") == told["R"]
    written = record_of(CODEC.decode_all(log.read(new)), ["a", "b", "c", "d"])  # type: ignore[arg-type]
    assert ["b", "c", "d", "a"] == written["seats"]
    assert ([-1], 1) == (list(parse_record(written).rules.pass_cycle), parse_record(written).rules.hand_limit)
    verdict = replay(parse_record(written))
    assert (True, "over") == (verdict.ok, verdict.phase)
    points = tables.load(new).state.hands[0]
    assert [[*points[1:], points[0]]] == verdict.points
    assert unseal(seal(log.read(new)))[6:] == CODEC.decode_all(log.read(new))[6:]


def test_an_abandoned_practice_ends_too(log: Store, clock: Clock) -> None:
    """Given nobody goes on with it, then it is over after the time of the old table; there is no secret to reveal."""
    tables, practice = house(log, clock)
    old = started(tables, pass_count=0).state.game
    clock.now += 7 * 24 * HOUR
    assert "abandoned" == tables.act_for_house(old).state.reason
    new = practice.open(old, tables.load(old).seq - 1, 0, "p0").table.state.game
    tables.act_for_house(new)
    clock.now += 7 * 24 * HOUR
    state = tables.act_for_house(new).state
    assert ("over", "abandoned") == (state.phase, state.reason)
    last = CODEC.decode(*log.read(new)[-1][1:])
    assert isinstance(last, e.GameEnded)
    assert None is last.secret
    assert verify_proof(read_proof(b"".join(proof_lines(log.read(new))))).ok
    verdict = replay(parse_record(record_of(CODEC.decode_all(log.read(new)))))  # type: ignore[arg-type]
    assert (True, "play", 1) == (verdict.ok, verdict.phase, verdict.hand)


def test_an_imported_game_and_a_practice_can_be_branched_too(log: Store, clock: Clock) -> None:
    """All of their cards are known as well."""
    tables, practice = house(log, clock)
    events = CODEC.decode_all(recorded("standard-3")[1])
    record: Record = parse_record(record_of(events))  # type: ignore[arg-type]
    game = tables.import_record(record, lambda: ["x", "y", "z"])[0].state.game
    first = practice.open(game, places(log, game, e.CardPlayed)[40], 1, "p0").table.state.game
    play_out(tables, first, clock)
    second = practice.open(first, places(log, first, e.HandDealt)[0], 2, "p0").table
    assert e.Branch(first, 7, 2) == second.state.branch
    assert second.state.hand is not None
    assert tables.load(first).state.hand.dealt == second.state.hand.dealt  # type: ignore[union-attr]


def test_a_repeat_under_a_key_is_the_same_table(log: Store, clock: Clock) -> None:
    """Given a key, then another process finds the table that was opened; another request under it is refused."""
    tables, practice = house(log, clock)
    game = finished(tables)
    at = places(log, game, e.HandDealt)[0]
    first = practice.open(game, at, 0, "p0", key())
    tables.act_for_house(first.table.state.game)
    again = house(log, clock, 2)[1].open(game, at, 0, "p0", key())
    assert (first.table.head, True) == (again.table.head, again.replayed)
    with pytest.raises(KeyReused):
        practice.open(game, at, 1, "p0", key("other"))
    assert first.table.state.game != practice.open(game, at, 0, "p0").table.state.game


def test_where_there_is_no_position(log: Store, clock: Clock) -> None:
    """Before the first deal, at a score, at the end, and beyond it; a game that is none or goes on. Nothing is stored."""
    tables, practice = house(log, clock)
    game, open_game = finished(tables), started(tables).state.game
    keys = log.client.dbsize()
    end = tables.load(game).seq
    for at in (1, 5, 6, *places(log, game, e.HandScored), end):
        with pytest.raises(Refused, match=f"at: event {at} is in no hand"):
            practice.open(game, at, 0, "p0", key())
    for at in (0, -1, end + 1):
        with pytest.raises(Refused, match=f"at: the game has {end} events"):
            practice.open(game, at, 0, "p0")
    with pytest.raises(Refused, match="seat: there is no seat 4"):
        practice.open(game, 7, 4, "p0")
    with pytest.raises(Refused, match="game/not_over"):
        practice.open(open_game, 7, 0, "p0")
    with pytest.raises(UnknownGame):
        practice.open("nothing", 7, 0, "p0")
    assert keys == log.client.dbsize()


def test_only_the_pages_of_the_hand_are_read(
    log: Store, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given pages of ten events, then those back to the deal are read, and the table is the same."""
    tables, practice = house(log, clock)
    game = finished(tables)
    at = places(log, game, e.CardPlayed)[-3]
    whole = practice.open(game, at, 0, "p0").table.state
    monkeypatch.setattr(branches, "PAGE", 10)
    asked: list[int] = []
    read = log.read

    def told(name: str, after: int = 0, upto: int | None = None) -> list[tuple[int, bytes, bytes]]:
        asked.append(after)
        return read(name, after, upto)

    monkeypatch.setattr(log, "read", told)
    again = practice.open(game, at, 0, "p0").table.state
    assert again.hand is not None
    assert whole.hand is not None
    assert again.hand.history == whole.hand.history
    dealt = places(log, game, e.HandDealt)[-1]
    asked = [after for after in asked if after]
    assert dealt - 10 <= min(asked) < dealt


# --- what must not pass


def a_practice() -> Events:
    """The events of a practice table in a second hand, from the middle of a trick, played out."""
    game = play_game(ruleset_of({"variant": "basic", "hand_limit": 2}), 7, kinds="pbpb")
    at = [seq for seq, event in enumerate(game.events, 1) if isinstance(event, e.CardPlayed)][70]
    return finish(*practice(game.events, at, 0, game.end), Random(1))[0]


def anchored(events: Events) -> int:
    """An anchor, of which nothing could be checked."""
    return changed(events, 0, anchor="77" * 32)


def commits_to_a_hand(events: Events) -> int:
    """A commitment that nothing can open."""
    at = at_of(events, e.HandDealt)
    return changed(events, at, hands=("77" * 32, None, None, None))


def commits_to_a_pass(events: Events) -> int:
    """Likewise."""
    return changed(events, at_of(events, e.CardsPassed), cards="77" * 32)


def has_a_secret(events: Events) -> int:
    """A secret of no chain."""
    return changed(events, at_of(events, e.HandScored), secret="77" * 32)


def is_rated(events: Events) -> int:
    """A practice that counts."""
    return changed(events, 0, rated=True)


def has_more_hands(events: Events) -> int:
    """A hand limit behind its hand."""
    changed(events, 0, rules=msgspec.structs.replace(events[0].rules, hand_limit=3))
    return at_of(events, e.HandDealt) + 1


def a_card_not_held(events: Events) -> int:
    """A copied card that another seat held."""
    at = at_of(events, e.CardPlayed, 5)
    later = [one for one in events[at:] if isinstance(one, e.CardPlayed) and one.seat != events[at].seat]
    return changed(events, at, card=later[-1].card)


def in_anothers_name(events: Events) -> int:
    """A move made at the practice table in the name of the wrong one; of a copied one it is not known here."""
    at = max(at for at, one in enumerate(events) if isinstance(one, e.CardPlayed) and one.by == "player")
    return changed(events, at, by="bot")


def other_points(events: Events) -> int:
    """Points other than those of the tricks."""
    return changed(events, at_of(events, e.HandScored), points=(26, 0, 0, 0))


FAIR = [anchored, commits_to_a_hand, commits_to_a_pass, has_a_secret]
RIGHT = [is_rated, has_more_hands, a_card_not_held, in_anothers_name, other_points]


@pytest.mark.parametrize("forge", [*FAIR, *RIGHT], ids=[one.__name__ for one in [*FAIR, *RIGHT]])
def test_a_practice_is_held_to_what_it_is(forge: Callable[[Events], int]) -> None:
    """Whatever is not as in a practice table, or against the rules, fails where it stands."""
    events = a_practice()
    name = "F" if forge in FAIR else "R"
    assert "fails" != claim_of(events, name).status
    number = forge(events)
    found = claim_of(events, name)
    assert ("fails", number) == (found.status, found.event)
