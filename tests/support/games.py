"""Random rule sets and whole games for tests, played through the decider and repeatable from a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from domain import commands as c
from domain import events as e
from domain.bots import BOTS, house_move
from domain.cards import NAMES, SUITS, cards_of, distinct_cards, mask_of
from domain.game import advance, is_over, to_act
from domain.rules import legal_plays
from domain.ruleset import KEYS, LATER, RuleSet
from domain.shuffle import commit_entropy
from domain.state import HandState, State
from domain.variants import VARIANTS, ruleset_of
from services.codec import CODEC
from services.signing import MoveKey
from services.store import Entry

PUBLISHED = [(name, players) for name, variant in VARIANTS.items() for players in variant.seats]
"""Every published variant with every number of seats it has."""
SERVER_KEY = "c0" * 32


seeds = st.integers(0, 2**32)
"""Seeds of games."""


def steady(examples: int) -> Callable[[Any], Any]:
    """Hypothesis settings for ``examples`` examples, the same ones in every run."""
    return settings(
        max_examples=examples,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


# --- rule sets

_CLASSES = st.lists(
    st.one_of(st.sampled_from(["H", "QS"]), st.sampled_from([*SUITS, *NAMES])), max_size=3, unique=True
)
_POINTS = st.one_of(
    st.just({"H": 1, "QS": 13}),
    st.just({"H": 1, "QS": 13, "JD": -10}),
    st.sampled_from([{"QS": 13}, {"QS": 5, "AC": -3}, {}, {"JD": -10}, {"H": 1, "QH": 0, "KH": -2}]),
    st.dictionaries(st.sampled_from([*SUITS, *NAMES]), st.integers(-20, 20), max_size=4),
)


MOONS = ["choice", "choice", "choice_if_lost", "add", "subtract", "auto", "collect", "none"]
"""Every moon effect."""


@st.composite
def later_keys(draw: st.DrawFn, players: int) -> dict[str, object]:
    """Values of the keys that a rule set may leave out, half the time all at their defaults."""
    if draw(st.booleans()):
        return dict(LATER)
    return {
        "moon_choice_from": draw(st.sampled_from([None, 0, 5])),
        "moon_bonus": draw(st.sampled_from(["kept", "swallowed"])),
        "sun_effect": draw(st.sampled_from(["none", "add", "subtract", "punish", "reset"])),
        "sun_x": draw(st.sampled_from([52, 39, 7])),
        "sun_from": draw(st.sampled_from([1, 1, 2])),
        "no_trick_points": draw(st.sampled_from([0, -5])),
        "hand_floor": draw(st.sampled_from([None, 0, -3])),
        "partners": "none" if players % 2 else draw(st.sampled_from(["none", "opposite"])),
    }


@st.composite
def house_rules(draw: st.DrawFn) -> RuleSet:
    """Rule sets with every key drawn: any number of seats, decks, removed cards, kitty and house rule."""
    decks = draw(st.sampled_from([1, 2]))
    players = draw(st.integers(3, 11))
    removed: list[str] = draw(st.lists(st.sampled_from(NAMES), max_size=8, unique=True))
    removed += (
        draw(st.lists(st.sampled_from(removed or ["2C"]), max_size=3, unique=True)) if decks == 2 else []
    )
    most = min(34, (52 * decks - len(removed)) // players)
    hand = draw(st.one_of(st.just(most), st.integers(1, most)))
    offsets = [1, -1, 0] if players % 2 else [1, -1, 2, 0]
    given: dict[str, object] = {
        "variant": "custom",
        "players": players,
        "decks": decks,
        "removed": " ".join(removed),
        "hand": hand,
        "kitty_to": draw(st.sampled_from(["first", "last"])),
        "pass_count": draw(st.integers(0, min(4, hand))),
        "pass_cycle": draw(st.lists(st.sampled_from(offsets), min_size=1, max_size=4)),
        "opener": draw(st.sampled_from(["forced", "left"])),
        "opening_ban": draw(_CLASSES),
        "trick1_ban": draw(_CLASSES),
        "trick1_all_banned": draw(st.sampled_from(["any", "must_qs"])),
        "breakers": draw(_CLASSES),
        "qs_hearts_lead": draw(st.sampled_from(["qs", "any"])),
        "cancel": draw(st.sampled_from([True, True, False])) if decks == 2 else draw(st.booleans()),
        "dead_trick": draw(st.sampled_from(["no_live_card", "two_pairs"])),
        "dead_last": draw(st.sampled_from(["nobody", "leader"])),
        "points": draw(_POINTS),
        "moon_effect": draw(st.sampled_from(MOONS)),
        "moon_x": draw(st.integers(0, 60)),
        "moon_needs_bonus": draw(st.booleans()),
        "floor": draw(st.sampled_from([None, 0, -7])),
        "target": draw(st.integers(1, 60)),
        "tie": draw(st.sampled_from(["shared", "continue"])),
        "perfect_hand": draw(st.booleans()),
        "hand_limit": draw(st.integers(1, 5)),
        **draw(later_keys(players)),
    }
    if hand == 1:
        given["sun_from"] = 1
    assert set(given) == set(KEYS), "a key of the rule set is not drawn"
    return ruleset_of(given)


@st.composite
def published_rules(draw: st.DrawFn) -> RuleSet:
    """A published variant at a number of seats it has, cut short by a hand limit."""
    name, players = draw(st.sampled_from(PUBLISHED))
    effect = draw(st.sampled_from(["choice", "auto", "add", "subtract", "none"]))
    few = draw(st.booleans())
    given: dict[str, object] = {"variant": name, "players": players, "hand_limit": draw(st.integers(1, 5))}
    if few:
        # with so few penalty cards somebody often takes them all
        given |= {
            "points": {"QS": 13, "QH": 1, "JD": -10},
            "moon_effect": effect,
            "moon_needs_bonus": draw(st.booleans()),
        }
    return ruleset_of(given)


@st.composite
def dead_ends(draw: st.DrawFn) -> RuleSet:
    """Rule sets of many seats and few tricks in which a trick often has no winner, the last one too."""
    players = draw(st.integers(9, 11))
    given: dict[str, object] = {
        "variant": "cancellation",
        "players": players,
        "hand": draw(st.integers(1, 4)),
        "pass_count": draw(st.integers(0, 1)),
        "dead_trick": "two_pairs",
        "dead_last": draw(st.sampled_from(["leader", "nobody"])),
        "kitty_to": draw(st.sampled_from(["first", "last"])),
        "hand_limit": draw(st.integers(2, 6)),
    }
    return ruleset_of(given)


def rule_sets() -> st.SearchStrategy[RuleSet]:
    """Valid rule sets: published ones with every number of seats, ones with every key drawn, and dead tricks."""
    return st.one_of(published_rules(), house_rules(), dead_ends())


# --- games


class Step(NamedTuple):
    """One command and what it did."""

    before: State | None
    command: c.AnyCommand
    events: list[e.Event]
    after: State


@dataclass
class Game:
    """A game as it was played: its commands with their events, and the state it came to."""

    rules: RuleSet
    steps: list[Step] = field(default_factory=list)
    state: State | None = None

    @property
    def events(self) -> list[e.Event]:
        """All events in order."""
        return [event for step in self.steps for event in step.events]

    @property
    def end(self) -> State:
        """The state after the last command."""
        assert self.state is not None
        return self.state

    def do(self, command: c.AnyCommand) -> list[e.Event]:
        """Let one command happen."""
        events, after = advance(self.state, command)
        self.steps.append(Step(self.state, command, events, after))
        self.state = after
        return events

    def entries(self) -> list[Entry]:
        """The events as the log stores them."""
        return stored(self.events)


def stored(events: Sequence[e.Event]) -> list[Entry]:
    """``events`` as the log stores them: number, public and hidden bytes."""
    return [(seq, *CODEC.encode(event, seq)) for seq, event in enumerate(events, 1)]


def clock(start: int = 1_700_000_000_000) -> Iterator[int]:
    """Times for commands, five milliseconds apart."""
    while True:
        start += 5
        yield start


def move_key(seat: int) -> MoveKey:
    """The key that a seat of kind ``k`` signs with."""
    return MoveKey(bytes([seat + 65] * 32))


def open_game(
    rules: RuleSet,
    rng: Random,
    kinds: str,
    *,
    name: str = "g-test",
    bot: str = "random",
    ticks: Iterator[int] | None = None,
    chain: int = 64,
    server_key: str = SERVER_KEY,
    deal_group: str = "",
) -> Game:
    """A game that was opened, filled and locked.

    ``kinds`` has a letter a seat: ``b`` a house bot, ``p`` a player with entropy, ``n`` a player without, and ``s`` a
    player with entropy who sits down later, ``k`` one with entropy and a key, which its moves are then to be signed with
    (`tests.support.signing`). The player of seat 2 is ``p2``.
    """
    ticks = clock() if ticks is None else ticks
    game = Game(rules)
    openings = {seat: rng.randbytes(32) for seat, kind in enumerate(kinds) if kind in "psk"}
    commits = {seat: commit_entropy(opening).hex() for seat, opening in openings.items()}
    plans = []
    for seat, kind in enumerate(kinds):
        if kind == "b":
            plans.append(c.SeatPlan(kind="bot", bot=BOTS[bot].id))
        elif kind == "s":
            plans.append(c.SeatPlan(kind="open"))
        else:
            key = move_key(seat).public if kind == "k" else None
            plans.append(
                c.SeatPlan(kind="player", player=f"p{seat}", entropy_commit=commits.get(seat), public_key=key)
            )
    game.do(
        c.OpenTable(
            at=next(ticks),
            game=name,
            rules=rules,
            secret=rng.randbytes(32),
            seats=tuple(plans),
            server_key=server_key,
            stand_in=BOTS["rules"].id,
            chain=chain,
            deal_group=deal_group,
        )
    )
    for seat, kind in enumerate(kinds):
        if kind == "s":
            game.do(c.SitDown(at=next(ticks), player=f"p{seat}", seat=seat, entropy_commit=commits.get(seat)))
    for seat in rng.sample(range(len(kinds)), len(kinds)):
        if kinds[seat] != "b":
            entropy = openings[seat].hex() if seat in openings else ""
            game.do(c.GetReady(at=next(ticks), player=f"p{seat}", entropy=entropy))
    return game


def who_moves(state: State, seat: int) -> c.Who:
    """In whose name ``seat`` is moved for: its player's id, or its number where the house plays."""
    one = state.seats[seat]
    return seat if one.house_plays else one.player


def random_move(
    state: State, rng: Random, at: int = 0, seats: Sequence[int] | None = None
) -> c.PassCards | c.PlayCard | c.ChooseMoon:
    """Any legal move of a seat that the table waits for, or of one of ``seats``."""
    seat = rng.choice(seats or to_act(state))
    who = who_moves(state, seat)
    hand = hand_of(state)
    if state.phase == "pass":
        cards = rng.sample(cards_of(hand.held[seat]), state.terms.rules.pass_count)
        return c.PassCards(at=at, who=who, cards=tuple(cards))
    if state.phase == "moon":
        choice: e.Choice = "add" if rng.random() < 0.5 else "subtract"
        return c.ChooseMoon(at=at, who=who, choice=choice)
    return c.PlayCard(at=at, who=who, card=rng.choice(distinct_cards(legal_plays(state.terms, hand))))


def hand_of(state: State) -> HandState:
    """The hand in play."""
    assert state.hand is not None
    return state.hand


def with_others_swapped(state: State, seat: int, rng: Random) -> State | None:
    """The table with the cards of all others but ``seat`` dealt anew among them; none where one would have a card thrice.

    Of seats that have passed and not yet exchanged the cards stay.
    """
    other = state.copy()
    hand = hand_of(other)
    others = [one for one in range(len(hand.held)) if hand.passes[one] is None or hand.exchanged]
    others = [one for one in others if one != seat]
    cards = [card for one in others for card in cards_of(hand.held[one])]
    rng.shuffle(cards)
    for one in others:
        count = hand.held[one].bit_count()
        mine, cards = cards[:count], cards[count:]
        if any(mine.count(card) > 2 for card in mine):
            return None
        hand.held[one] = mask_of(mine)
    return other


def random_kinds(rng: Random, players: int) -> str:
    """A mixture of bots and players for `open_game`."""
    return "".join(rng.choice("bpns") for _ in range(players))


def play_game(
    rules: RuleSet,
    seed: int | str,
    *,
    moves: int | None = None,
    kinds: str | None = None,
    house: bool = False,
    **opened: Any,
) -> Game:
    """A game with random legal moves to its end, or for so many ``moves``.

    With ``house`` the moves are those that the bots of the seats and the stand-in make. Equal arguments give equal
    games.
    """
    rng = Random(seed)
    ticks = clock()
    kinds = random_kinds(rng, rules.players) if kinds is None else kinds
    game = open_game(rules, rng, kinds, ticks=ticks, **opened)
    while not is_over(game.state) and moves != 0:
        state, at = game.end, next(ticks)
        seat = to_act(state)[0]
        by_bot = house and state.seats[seat].house_plays
        seats = [one for one in to_act(state) if not (house and state.seats[one].house_plays)]
        game.do(house_move(state, seat, at) if by_bot else random_move(state, rng, at, seats))
        moves = None if moves is None else moves - 1
    return game


# --- states


def picture(state: State) -> dict[str, Any]:
    """Everything in a state, for comparing two of them in depth."""
    whole = {name: getattr(state, name) for name in State.__slots__}
    whole["terms"] = state.terms.rules
    whole["hand"] = (
        None if state.hand is None else {name: getattr(state.hand, name) for name in HandState.__slots__}
    )
    return whole
