"""Games played at random, move by move, for the tests that look at every position."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from domain import commands as c
from domain import events as e
from domain.cards import cards_of, distinct_cards
from domain.game import advance, is_over, to_act
from domain.rules import legal_plays
from domain.ruleset import RuleSet
from domain.state import State
from tests.support.tables import RULES_BOT, commitment_of, entropy_of


def random_command(state: State, random: Random) -> c.AnyCommand:
    """A move that one of the seats that the table waits for may make."""
    hand = state.hand
    assert hand is not None
    seat = random.choice(to_act(state))
    who = state.seats[seat].player or seat
    if state.phase == "pass":
        cards = random.sample(cards_of(hand.held[seat]), state.terms.rules.pass_count)
        return c.PassCards(who=who, cards=tuple(cards))
    if state.phase == "moon":
        return c.ChooseMoon(who=who, choice=random.choice(("add", "subtract")))
    return c.PlayCard(who=who, card=random.choice(distinct_cards(legal_plays(state.terms, hand))))


class Game:
    """A game in play: its events, its state, and a source of chance of its own."""

    def __init__(self, rules: RuleSet, seed: int, kinds: str = "", **opened: object) -> None:
        self.random = Random(seed)
        self.state: State | None = None
        self.events: list[e.Event] = []
        kinds = kinds or "".join(self.random.choice("pb") for _ in range(rules.players))
        bot = c.SeatPlan(kind="bot", bot=RULES_BOT)
        seats = tuple(
            bot
            if kind == "b"
            else c.SeatPlan(kind="player", player=f"p{seat}", entropy_commit=commitment_of(seat))
            for seat, kind in enumerate(kinds)
        )
        fields = {"chain": 8, "server_key": "ab" * 32, "stand_in": RULES_BOT, **opened}
        self.do(
            c.OpenTable(game="g-random", rules=rules, secret=self.random.randbytes(32), seats=seats, **fields)  # type: ignore[arg-type]
        )
        for seat, kind in enumerate(kinds):
            if kind == "p":
                self.do(c.GetReady(player=f"p{seat}", entropy=entropy_of(seat)))

    @property
    def now(self) -> State:
        """The state."""
        assert self.state is not None
        return self.state

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return is_over(self.state)

    def do(self, command: c.AnyCommand) -> list[e.Event]:
        """Let a command happen; its events."""
        events, self.state = advance(self.state, command)
        self.events.extend(events)
        return events

    def step(self) -> list[e.Event]:
        """One move of chance."""
        return self.do(random_command(self.now, self.random))

    def positions(self) -> Iterator[State]:
        """The state before each move, and the last one."""
        while not self.over:
            yield self.now
            self.step()
        yield self.now

    def finish(self) -> State:
        """Play on to the end."""
        while not self.over:
            self.step()
        return self.now
