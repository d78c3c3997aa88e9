"""A house in which games are played, end and are archived, without processes, and what its store takes for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

from domain import commands as c
from domain.bots import house_move
from domain.game import to_act
from domain.ruleset import RuleSet
from services.archiver import Archiver
from services.key_types import template_of
from services.once import Key
from services.standings_fold import Ledger
from services.wiring import Services
from tests.support.audited import BOT
from workers.projector import Projector

SERVER = "the rest of the server"


class Ageing:
    """Plays games, the projector and the archive at its side."""

    def __init__(self, house: Services, rules: RuleSet) -> None:
        self.house, self._rules = house, rules
        self._ledger = Ledger(house.store.wire, house.keys)
        self._projector = Projector(house.store, house.feed, house.projections, house.clock, block_ms=0)
        self._projector.begin()
        self.raw = 0
        """Bytes of all events of the games that were played."""

    @property
    def archiver(self) -> Archiver:
        """Who moves games into the archive."""
        assert self.house.archiver is not None
        return self.house.archiver

    def play(self, players: Sequence[str] = (), most: int = 10_000) -> str:
        """A game up to so many events; the first seats are of ``players``, whose commands have keys."""
        tables, seats = self.house.tables, [c.SeatPlan(kind="player", player=one) for one in players]
        table = tables.open(self._rules, [*seats, *[BOT] * (self._rules.players - len(seats))]).table
        game, count = table.state.game, 0
        for player in players:
            table = tables.handle(game, c.GetReady(at=0, player=player), key=_key(player, "ready", 0)).table
        while table.seq < most and table.state.phase != "over":
            if table.seq < (table := tables.act_for_house(game, min(100, most - table.seq))).seq:
                continue
            seat, count = to_act(table.state)[0], count + 1
            move, player = house_move(table.state, seat, table.at), players[seat]
            move = type(move)(**{**{f: getattr(move, f) for f in move.__struct_fields__}, "who": player})
            table = tables.handle(game, move, key=_key(player, "moves", count)).table
        self.raw += sum(len(public) + len(hidden) for _, public, hidden in self.house.store.read(game))
        return game

    def project(self) -> None:
        """Fold all that there is, and trim the feeds."""
        while self._projector.round():
            pass
        while self._ledger.step():
            pass
        for partition in range(self.house.keys.partitions):
            self.house.feed.trim(partition)

    def archive(self) -> int:
        """Move all finished games into the archive. Returns how many."""
        every = range(self.house.keys.partitions)
        return sum(self.archiver.archive(game) for p in every for game in self.archiver.games(p, hours=0))


def keys_by_template(house: Services) -> tuple[Counter[str], Counter[str], Counter[str]]:
    """By the name of a template: how many keys there are, how many members in them, and the bytes that they take."""
    keys, members, taken = Counter[str](), Counter[str](), Counter[str]()
    client = house.client
    for key in client.scan_iter("*", count=1000):
        found = template_of(key.decode())
        name = found[0].name if found else key.decode()
        keys[name] += 1
        members[name] += _members(client, key)
        taken[name] += int(client.memory_usage(key, samples=0) or 0)
    return keys, members, taken


def _members(client: object, key: bytes) -> int:
    command = {b"stream": "xlen", b"hash": "hlen", b"zset": "zcard", b"set": "scard", b"string": "strlen"}
    return int(getattr(client, command[client.type(key)])(key))  # type: ignore[attr-defined]


def used_memory(house: Services) -> int:
    """Bytes that the store's server has taken, without what its connections hold."""
    told = house.client.info("memory")
    return int(told["used_memory"]) - int(told["mem_clients_normal"])


def _key(player: str, what: str, number: int) -> Key:
    """A key as clients make them: its length is that of a UUID."""
    word = sha256(f"{player} {what} {number}".encode()).hexdigest()
    return Key(player, f"POST /v1/games/<game>/{what}", word[:36], word)
