"""Games of a store that are projected as the projector would, and what the audit says of them."""

from __future__ import annotations

import json
from typing import Any

from domain.bots import BOTS
from domain.commands import SeatPlan
from domain.variants import ruleset_of
from services.desks import news_of
from services.inspection import AuditReport
from services.leaves import find_leaves
from services.standings_fold import Ledger, finished_of
from services.summaries import update
from services.wiring import Services

BOT = SeatPlan(kind="bot", bot=BOTS["rules"].id)
ANNA = "p000000000000000a"
PERSON = SeatPlan(kind="player", player=ANNA)


def project(services: Services, game: str) -> None:
    """Bring the read models and the log up to the game, as the projector would."""
    table = services.tables.load(game)
    entries = services.store.read(game)
    services.log.tree.add(find_leaves(game, entries))
    opened = json.loads(entries[0][1])["at"]
    services.desks.write(news_of(game, table.state, table.seq, None), opened)
    finished = finished_of(table)
    Ledger(services.store.wire, services.keys).enter([finished] if finished else [])
    services.projections.write({services.keys.partition(game): [update(game, table, opened)]})


def open_game(services: Services, *seats: SeatPlan, most: int = 10_000, **rules: Any) -> str:
    """A game that the house has played on with, as far as it goes, projected."""
    plans = [*seats, *[BOT] * (4 - len(seats))]
    chosen = ruleset_of({"variant": "standard", "hand_limit": 1, **rules})
    game = services.tables.open(chosen, plans).table.state.game
    services.tables.act_for_house(game, most)
    project(services, game)
    return game


def audit(services: Services, game: str) -> AuditReport:
    """The report on a game."""
    return services.auditor.audit(game)


def told(report: AuditReport, *checks: str) -> str:
    """The problems of a report, those of these checks, or all, a line each."""
    return "\n".join(one.line for one in report.problems if not checks or one.check in checks)


def status(report: AuditReport, name: str) -> str:
    """What became of a claim."""
    return next(one.status for one in report.claims if one.name == name)
