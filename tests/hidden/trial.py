"""A game is played, and at each of its events it is asked who could tell that the hidden cards are not others.

The true world is played over HTTP and by the workers. For a reader and a step of the game a twin world is made: the store
as it was before the step, the cards that this reader may not see even after it dealt another way. There the step is done
again. What the reader is told of it and may ask after it, and all that lies in the store beside the log, must be the same
in both to the last byte. A difference is a `Leak`.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from domain.cards import NAMES, cards_of
from domain.game import is_over
from services.folded import Table
from tests.hidden.channels import NDJSON, SSE, Ask, Follow, Reader, Told, looks, refusals, send
from tests.hidden.company import Company, Plan, Step
from tests.hidden.house import Call, noted, scripted
from tests.hidden.oracle import Oracle
from tests.hidden.telling import public_part, same
from tests.hidden.twin import make_twin
from tests.hidden.worlds import Figures, World, since
from tests.support.clock import Clock

_DOES: Final = ("POST", "DELETE")


class Effort(NamedTuple):
    """How much is tried."""

    steps: int | None
    """Moves of persons and rounds of the house; to the end of the game where it is none."""
    checks: float
    """In what share of the steps somebody is asked."""
    readers: int | None
    """How many readers are asked at a step; all where it is none."""
    few: int
    """Of what there is one for each event or card, how many are asked for."""
    streams: float
    """In what share of the checks streams are read."""
    only: str = ""
    """What the name of a reader must match."""


class Done(NamedTuple):
    """What came of a step in a world."""

    told: list[Told]
    """The answer to who made it, and that to a repetition."""
    calls: list[Call]
    lines: list[bytes]
    figures: Figures


class Trial:
    """One game in the true world, and its twins."""

    def __init__(self, url: str, folder: Path, plan: Plan, effort: Effort, seed: int | str) -> None:
        self.plan, self.effort, self.rng = plan, effort, Random(seed)
        self.clock = Clock(1_700_000_000_000)
        self.true, self.base, self.twin = [World(url, db, folder, self.clock) for db in range(3)]
        self.oracle = Oracle()
        self.company = Company(self.true, plan, self.rng)
        self.credit = self.rng.random()
        """How much of a check is due."""
        self.tried: Counter[str] = Counter()
        """How many checks there were, how many of them with other cards, and answers by status."""

    def run(self) -> Counter[str]:
        """Play. Returns what was tried. Raises `Leak`."""
        try:
            with self.oracle.installed():
                self.true.client.flushall()
                self.true.start()
                self.company.open()
                self.true.work(drive=False)
                for _ in itertools.count() if self.effort.steps is None else range(self.effort.steps):
                    if is_over(self._table(self.true).state):
                        break
                    self._step()
        finally:
            for world in (self.true, self.base, self.twin):
                world.stop()
        return self.tried

    def _table(self, world: World) -> Table:
        return world.services.tables.load(self.company.game)

    # --- a step

    def _step(self) -> None:
        rng, effort = self.rng, self.effort
        self.clock.now += rng.randint(1, 900)
        readers: list[Reader] = []
        self.credit += effort.checks
        if self.credit >= 1:
            self.credit -= 1
            asked = [reader for reader in self.company.readers if re.match(effort.only, reader.name)]
            most = len(asked) if effort.readers is None else min(effort.readers, len(asked))
            readers = rng.sample(asked, most)
            self.true.start()
            self.base.copy(self.true)
        before = self._table(self.true)
        step = self.company.choose(before)
        followed = [reader for reader in readers if rng.random() < effort.streams]
        with ExitStack() as stack:
            follows = {one: stack.enter_context(self._follow(self.true, one, before.seq)) for one in followed}
            with noted() as calls:
                ask = self.company.signed(step, step.ask)
                done = self._perform(self.true, step, ask, calls, compared=bool(readers))
            for reader in readers:
                self._check(reader, step, done, before, follows.get(reader))

    def _perform(
        self, world: World, step: Step, ask: Ask | None, calls: list[Call], *, compared: bool = True
    ) -> Done:
        before = world.figures() if compared else {}
        told = []
        with world.heard() as lines:
            if step.mover is not None and ask is not None:
                told.append(send(world.app, step.mover, ask))
                if "Idempotency-Key" in ask.headers:
                    told.append(send(world.app, step.mover, ask))
            world.work(drive=step.mover is None)
        if world is self.true:
            assert all(one.status == 200 for one in told), (str(ask), told)
        return Done(told, calls, lines.said, since(before, world.figures()) if compared else {})

    @contextmanager
    def _follow(self, world: World, reader: Reader, seq: int) -> Iterator[list[Follow]]:
        rng, here = Random(f"{reader.name} {seq}"), f"/v1/games/{self.company.game}/events"
        after = [rng.randint(0, seq), seq]
        follows = [
            Follow(world.app, reader, f"{here}?after={after[0]}", SSE),
            Follow(world.app, reader, f"{here}?after={after[1]}", NDJSON),
        ]
        if reader.player and reader.seat is not None:
            follows.append(Follow(world.app, reader, "/v1/me/events", rng.choice([SSE, NDJSON])))
        try:
            yield follows
        finally:
            for follow in follows:
                follow.close()

    # --- a check

    def _check(
        self,
        reader: Reader,
        step: Step,
        true: Done,
        before: Table,
        follows: list[Follow] | None,
    ) -> None:
        self.twin.copy(self.base)
        game, true_hand = self.company.game, self._table(self.true).state.hand
        hand = make_twin(self.twin, self.true, game, self.oracle, reader.seat, before.seq, self.rng)
        self.twin.start()
        self.tried["checks"] += 1
        if hand is not None and true_hand is not None:
            self.tried["other cards"] += hand.dealt != true_hand.dealt or hand.kitty != true_hand.kitty
        passes = [tuple(cards_of(mask or 0)) for mask in hand.passes] if hand else []
        cards = None
        if (
            step.mover is not None
            and step.mover.seat != reader.seat
            and passes
            and before.state.phase == "pass"
        ):
            mine = [NAMES[card] for card in passes[step.mover.seat or 0]]
            cards = self.rng.sample(mine, len(mine))
        with ExitStack() as stack:
            others = None
            if follows is not None:
                others = stack.enter_context(self._follow(self.twin, reader, before.seq))
            with scripted(true.calls, passes) as calls:
                ask = self.company.signed(step, step.done_as(cards))
                twin = self._perform(self.twin, step, ask, calls)
            self._compare_step(reader, step, true, twin)
            self._compare_stores(reader)
            after = self._table(self.true)
            for one, other in zip(follows or (), others or (), strict=True):
                same("a stream", reader, one.head, other.head)
                same("a stream", reader, one.upto(after.seq), other.upto(after.seq))
        self._compare_answers(reader, after)
        self.twin.stop()

    def _compare_step(self, reader: Reader, step: Step, true: Done, twin: Done) -> None:
        for one, other in zip(true.told, twin.told, strict=True):
            if step.mover is not None and step.mover.player == reader.player:
                same("the answer to a move", reader, one, other)
            else:
                same("the answer to a move of another", reader, public_part(one), public_part(other))
        shown = [
            [
                call.seen
                for call in done.calls
                if reader.name.startswith("bot") and call.seen.seat == reader.seat
            ]
            for done in (true, twin)
        ]
        same("what a bot is shown", reader, *shown)
        same("log lines", reader, true.lines, twin.lines)
        same("metrics", reader, true.figures, twin.figures)

    def _compare_stores(self, reader: Reader) -> None:
        public = [
            [raw for _, raw, _ in world.services.tables.entries(self.company.game)]
            for world in (self.true, self.twin)
        ]
        same("public events", reader, *public)
        stores = [world.beside_the_log(self.company.game) for world in (self.true, self.twin)]
        # whose hand a repeated request was about is in the digest of its body
        kept = self.true.services.keys.idempotency(self.company.game).encode()
        for store in stores:
            store.pop(kept, None)
        same("the store beside the log", reader, *stores)

    def _compare_answers(self, reader: Reader, table: Table) -> None:
        rng, few, game, state = self.rng, self.effort.few, self.company.game, table.state
        asks = looks(game, reader, [one.player for one in state.seats], table.seq, rng, few)
        asks += refusals(game, reader, state, rng, few)
        told = []
        for world in (self.true, self.twin):
            before = world.figures()
            with world.heard() as lines:
                answers = [send(world.app, reader, ask) for ask in asks]
            told.append((answers, lines.said, since(before, world.figures())))
        for ask, one, other in zip(asks, told[0][0], told[1][0], strict=True):
            same(str(ask), reader, one, other)
            assert one.status < 500, (str(ask), one)
            self.tried[str(one.status)] += 1
        same("log lines of requests", reader, told[0][1], told[1][1])
        same("metrics of requests", reader, told[0][2], told[1][2])
        done = [
            str(ask)
            for ask, one in zip(asks, told[0][0], strict=True)
            if ask.method in _DOES and one.status < 400
        ]
        assert not done, f"{reader.name} was to be refused: {done}"
