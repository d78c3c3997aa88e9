"""What a house has when all is over: its log as the checker reads it, and what its own audits say."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from domain import events as e
from domain.cards import format_cards, parse_cards
from domain.refusals import CorruptLog
from domain.shuffle import genesis_head, next_head
from services.audit import Receipt
from services.codec import CODEC
from services.keyscheck import KeysCheck
from services.logcheck import check_log
from services.standings_check import StandingsCheck
from services.store import CorruptStream, Entry
from services.wiring import Services
from tests.faults.checker import Final, Logged
from tests.faults.history import MOON, OPEN, PASS, PLAY, READY, SIT, Call


def read_final(services: Services, history: Iterable[Call]) -> Final:
    """The final state of the house behind ``services``, which must be at rest."""
    receipts: dict[str, list[Receipt]] = defaultdict(list)
    for call in history:
        if call.done and call.receipt is not None:
            receipts[call.game].append(call.receipt)
    games = sorted(services.auditor.games())
    logs = {game: _log(services, game) for game in games}
    over = {game for game in games if services.tables.load(game).state.phase == "over"} if games else set()
    return Final(
        logs=logs,
        unfinished=[game for game in games if game not in over],
        problems=[*_of_games(services, games, receipts), *_of_all(services)],
    )


def is_at_rest(services: Services) -> bool:
    """Whether everything that was appended has been projected."""
    return services.projections.lag() == 0


def _of_games(
    services: Services, games: Sequence[str], receipts: Mapping[str, Sequence[Receipt]]
) -> Iterator[str]:
    for game in games:
        report = services.auditor.audit(game, receipts.get(game, ()))
        if not report.ok:
            told = [one.line for one in (*report.claims, *report.problems) if "fail" in one.line.lower()]
            yield f"game {game}: {'; '.join(told or [one.line for one in report.problems])}"
        yield from (f"game {game}: {one.line}" for one in report.receipts if one.status != "holds")
    yield from (
        f"game {game}: it was set aside: {one.why}" for game, one in services.projections.parked().items()
    )


def _of_all(services: Services) -> Iterator[str]:
    for name, report in (
        ("keys", KeysCheck(services.store.wire, services.keys).run()),
        ("transparency log", check_log(services.log, services.key.held)),
        ("standings", StandingsCheck(services.store.wire, services.keys, services.tables.load).run()),
    ):
        yield from (f"{name}: {problem}" for problem in report.problems)


def _log(services: Services, game: str) -> list[Logged]:
    """The events of a game; those that can be read, where it is corrupt, which the audit tells."""
    try:
        return list(logged(game, services.store.read(game)))
    except (CorruptStream, CorruptLog):
        return []


def logged(game: str, entries: Iterable[Entry]) -> Iterator[Logged]:
    """The events of a stream with their heads, and the commands that they answer."""
    head, seats = genesis_head(game), {}
    begun: Logged | None = None
    for seq, public, hidden in entries:
        head = next_head(head, public)
        event = CODEC.decode(public, hidden)
        if isinstance(event, e.SeatTaken) and event.kind == "player":
            seats[event.seat] = event.player or ""
            if begun is not None:  # who opened the table has its first seat
                yield begun._replace(player=seats[event.seat])
                begun = None
                yield Logged(seq, head.hex(), "")
                continue
        one = Logged(seq, head.hex(), *_command_of(event, seats))
        if seq == 1:
            begun = one
        else:
            yield one


def _command_of(event: e.Event, seats: Mapping[int, str]) -> tuple[str, str, str]:
    """The command that an event answers: its kind, who asked, and what for; in a damaged log nobody may have a seat that acts."""
    match event:
        case e.GameCreated():
            return OPEN, "", ""
        case e.SeatTaken(kind="player", seat=seat):
            return SIT, seats.get(seat, ""), ""
        case e.SeatReady(seat=seat) if seat in seats:
            return READY, seats.get(seat, ""), ""
        case e.CardsPassed(seat=seat, by="player", hidden=hidden):
            cards = hidden if isinstance(hidden, str) else getattr(hidden, "cards", "")
            return PASS, seats.get(seat, ""), format_cards(parse_cards(cards))
        case e.CardPlayed(seat=seat, by="player", card=card):
            return PLAY, seats.get(seat, ""), card
        case e.MoonChosen(seat=seat, by="player", choice=choice):
            return MOON, seats.get(seat, ""), choice
    return "", "", ""
