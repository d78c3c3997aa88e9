"""Who is at a table, and what they do there."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any, Final, NamedTuple

from domain.cards import NAMES, cards_of, distinct_cards
from domain.claim import proving_order
from domain.game import bots_owe, to_act
from domain.rules import legal_plays
from domain.state import State
from domain.view import view
from services.folded import Table
from services.signing import MoveKey
from tests.hidden.channels import Ask, Reader, Told, send
from tests.hidden.worlds import World
from tests.support.games import hand_of, move_key

SCOPES: Final = (("play",), ("watch",), ("audit",), ("admin",), ("audit", "watch"))
"""Scopes of tokens that a player reads by, besides its first one."""


class Plan(NamedTuple):
    """A table to try: a published variant and who sits at it."""

    variant: str
    seats: str
    """A letter a seat: ``p`` a person, ``s`` one who signs its moves, ``b`` a house bot."""
    rules: dict[str, Any] = {}  # noqa: RUF012 (it is never changed)
    clock: int | None = None
    hints: bool = True

    @property
    def name(self) -> str:
        """As a test is called."""
        return f"{self.variant}-{self.seats}"


class Step(NamedTuple):
    """What is done at the table."""

    mover: Reader | None
    """None: the house."""
    ask: Ask | None
    seq: int = 0
    head: bytes = b""
    """Version of the table before."""

    def done_as(self, cards: Sequence[str] | None) -> Ask | None:
        """The request, with other cards to pass."""
        if self.ask is None or cards is None or "pass" not in (self.ask.body or {}):
            return self.ask
        return self.ask._replace(body={"pass": list(cards)})


class Company:
    """Players with tokens of every scope, somebody without, house bots, and the game of the first of them."""

    def __init__(self, world: World, plan: Plan, rng: Random) -> None:
        self.world, self.plan, self.rng = world, plan, rng
        self.game = ""
        self.readers: list[Reader] = []
        """Everybody who may look."""
        self.persons: dict[int, Reader] = {}
        self.keys: dict[int | None, MoveKey] = {}
        """Of those who sign."""
        self._numbers = itertools.count()

    def open(self) -> None:
        """Let everybody come, open the table, and let all but one be ready."""
        plan, tokens = self.plan, self.world.services.players.tokens
        names = [f"seat {seat}" for seat, kind in enumerate(plan.seats) if kind in "ps"]
        people = {name: self._person(name) for name in [*names, "outsider"]}
        self.persons = {
            seat: people[f"seat {seat}"]._replace(seat=seat)
            for seat, kind in enumerate(plan.seats)
            if kind in "ps"
        }
        self.keys = {seat: move_key(seat) for seat, kind in enumerate(plan.seats) if kind == "s"}
        for reader in [*self.persons.values(), people["outsider"]]:
            self.readers.append(reader)
            for scopes in SCOPES:
                token = tokens.issue(reader.player, scopes).token
                self.readers.append(reader._replace(name=f"{reader.name} ({'+'.join(scopes)})", token=token))
        self.readers.append(Reader("stranger", None, "", ""))
        self.readers += [
            Reader(f"bot {seat}", seat, "", "") for seat, kind in enumerate(plan.seats) if kind == "b"
        ]
        first, *others = self.persons.values()
        seats: list[Any] = [{"bot": "rules"} if kind == "b" else "open" for kind in plan.seats]
        seats[first.seat or 0] = "me"
        body = {
            "variant": plan.variant,
            "seats": seats,
            "clock": plan.clock,
            "hints": plan.hints,
            **plan.rules,
        }
        body |= self._key(first)
        self.game = json.loads(self._do(first, Ask("POST", "/v1/games", body)).body)["id"]
        for reader in others:
            body = {"seat": reader.seat, **self._key(reader)}
            self._do(reader, Ask("POST", f"/v1/games/{self.game}/seats", body))
        for reader in others:
            self._do(reader, Ask("POST", f"/v1/games/{self.game}/ready", {}))
        for reader in self.readers:
            # the store notes the day on which a token was used last
            send(self.world.app, reader, Ask("GET", "/v1/me"))

    def _key(self, reader: Reader) -> dict[str, str]:
        """The field by which a seat registers its key, where it has one."""
        return {"public_key": self.keys[reader.seat].public} if reader.seat in self.keys else {}

    def _person(self, name: str) -> Reader:
        nobody = Reader(name, None, "", "")
        made = json.loads(self._do(nobody, Ask("POST", "/v1/players", {"name": name})).body)
        return nobody._replace(player=made["id"], token=made["token"])

    def _do(self, reader: Reader, ask: Ask) -> Told:
        told = send(self.world.app, reader, ask)
        assert told.status in (200, 201), (str(ask), told)
        return told

    def choose(self, table: Table) -> Step:
        """The next step: of the house where it owes one, though somebody who may pass may be quicker; else of a person."""
        rng, here, state = self.rng, f"/v1/games/{self.game}", table.state
        at = partial(Step, seq=table.seq, head=table.head)
        waiting = [seat for seat in to_act(state) if not state.seats[seat].house_plays]
        for seat, reader in self.persons.items():
            away = state.seats[seat].away
            if away and not state.seats[seat].returning and rng.random() < 0.2:
                return at(reader, Ask("POST", f"{here}/seats/{seat}/back"))
            if not away and state.phase not in ("seats", "over") and rng.random() < 0.01:
                return at(reader, Ask("DELETE", f"{here}/seats/{seat}"))
        if bots_owe(state) and (not waiting or rng.random() < 0.6):
            return at(None, None)
        if state.clock is not None and state.phase != "seats" and rng.random() < 0.1:
            self.world.clock.now += state.clock * 1000
            return at(None, None)
        seat = rng.choice(waiting)
        path, body = self._move(state, seat)
        headers = {"Idempotency-Key": f"key-{next(self._numbers)}"}
        return at(self.persons[seat], Ask("POST", f"{here}/{path}", body, headers))

    def _move(self, state: State, seat: int) -> tuple[str, Any]:
        rng = self.rng
        if state.phase == "seats":
            return "ready", {}
        if state.phase == "moon":
            return "moves", {"moon": rng.choice(["add", "subtract"])}
        hand = hand_of(state)
        if state.phase == "pass":
            cards = rng.sample(cards_of(hand.held[seat]), state.terms.rules.pass_count)
            return "moves", {"pass": [NAMES[card] for card in cards]}
        if proving_order(view(state, seat)) is not None and rng.random() < 0.3:
            return "claim", {}
        return "moves", {"play": NAMES[rng.choice(distinct_cards(legal_plays(state.terms, hand)))]}

    def signed(self, step: Step, ask: Ask | None) -> Ask | None:
        """A request of a step, with a signature where it is a move of somebody who signs."""
        key = None if step.mover is None else self.keys.get(step.mover.seat)
        move = {} if ask is None else ask.body or {}
        if key is None or ask is None or not {"pass", "play", "moon"} & move.keys():
            return ask
        return ask._replace(body=key.sign_move(self.game, step.seq, step.head.hex(), move))
