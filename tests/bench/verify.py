"""Records checked a second: the plain path and the compiled kernel, against decoding their JSON and nothing more."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from random import Random
from typing import Any

import msgspec

from domain import kernel
from domain.cards import cards_of, distinct_cards, mask_of
from domain.record import Record, RecordHand, Verdict, print_record, read_record, replay
from domain.rules import (
    add_points,
    find_opener,
    game_end,
    hand_points,
    kitty_in_trick,
    legal_plays,
    moon_chooser,
    trick_taker,
)
from domain.ruleset import RuleSet, Terms
from domain.state import HandState
from domain.variants import VARIANTS, ruleset_of
from tests.conformance.make_openspiel import DIRECTIONS
from tests.conformance.test_openspiel import recorded

ROUNDS = 5
GAMES = 2000
"""Records, of all published variants at all numbers of seats in turn."""
HANDS = 6
"""Hands of a record at most, so that each family has its share of the plays."""
PLAIN_SHARE = 10
"""The plain path is given one record in so many, or its rounds would last a minute."""
Paths = dict[str, tuple[Callable[[bytes], object], int]]
"""What to do with a record, and the share of the records (one in so many) that it is done with, by name."""


def play_hand(terms: Terms, number: int, totals: list[int], rng: Random) -> RecordHand:
    """A hand of random legal moves, with its score."""
    deck, seats, size = list(terms.deck), range(terms.players), terms.hand
    rng.shuffle(deck)
    deal = [tuple(deck[seat * size : (seat + 1) * size]) for seat in seats]
    kitty = tuple(deck[terms.players * size :])
    masks = [mask_of(cards) for cards in deal]
    hand = HandState(number, terms.pass_offset(number), (number - 1) % terms.players, masks, mask_of(kitty))
    passes = None
    if hand.offset:
        passes = tuple(tuple(rng.sample(cards, terms.rules.pass_count)) for cards in deal)
        hand.passes = [mask_of(cards) for cards in passes]
        hand.exchange()
    hand.lead_with(*find_opener(terms, hand))
    plays = []
    while hand.turn >= 0:
        plays.append(rng.choice(distinct_cards(legal_plays(terms, hand))))
        hand.lay(plays[-1], terms.breakers)
        if hand.turn < 0:
            extra = cards_of(hand.kitty) if kitty_in_trick(terms, hand) else []
            hand.take(trick_taker(terms, hand), terms, extra)
    moon = None if moon_chooser(terms, hand, totals) is None else "add"
    points = hand_points(terms, hand, totals, moon)
    return RecordHand(
        deal=tuple(deal),
        kitty=kitty,
        passes=passes,
        plays=tuple(plays),
        moon=moon,
        points=tuple(points),
        totals=tuple(add_points(terms, totals, points)),
    )


def random_record(rules: RuleSet, rng: Random) -> Record:
    """A game of random legal moves, to its end or through `HANDS` hands."""
    terms = Terms(rules)
    hands: list[RecordHand] = []
    totals, end = [0] * rules.players, None
    while end is None and len(hands) < HANDS:
        hand = play_hand(terms, len(hands) + 1, totals, rng)
        hands.append(hand)
        totals = list(hand.totals or ())
        end = game_end(terms, totals, hand.points or (), len(hands))
    names = tuple(f"player {seat}" for seat in range(rules.players))
    return Record(rules=rules, seats=names, hands=tuple(hands), winners=end.winners if end else ())


def corpus(games: int) -> list[tuple[bytes, int]]:
    """Records as lines of JSON, each with the number of its plays; the same in every run."""
    rng = Random(20)
    families = [(name, players) for name, variant in VARIANTS.items() for players in variant.seats]
    records = []
    for number in range(games):
        name, players = families[number % len(families)]
        record = random_record(ruleset_of({"variant": name, "players": players}), rng)
        records.append((print_record(record), sum(len(hand.plays) for hand in record.hands)))
    return records


def plain(line: bytes) -> Verdict:
    """A record read and replayed without the kernel."""
    return replay(read_record(line))


def plays_a_second(path: Callable[[bytes], object], records: list[tuple[bytes, int]]) -> float:
    """How many plays a second ``path`` gets through, one record after the other."""
    start = time.perf_counter()
    for line, _ in records:
        path(line)
    return sum(plays for _, plays in records) / (time.perf_counter() - start)


def bench_verify() -> None:
    """Measure each path in turn, round after round; ratios are to the decoding of the same records in that round."""
    records = corpus(GAMES)
    paths: Paths = {"plain path   ": (plain, PLAIN_SHARE)}
    if kernel.AVAILABLE:
        paths["kernel       "] = (kernel.judge, 1)
    for line, _ in records[::PLAIN_SHARE]:
        assert kernel.judge(line) == plain(line)
    peers: list[float] = []
    figures: dict[str, list[float]] = {name: [] for name in paths}
    for _ in range(ROUNDS):
        peers.append(plays_a_second(msgspec.json.decode, records))
        for name, (path, share) in paths.items():
            figures[name].append(plays_a_second(path, records[::share]))
    plays = sum(plays for _, plays in records)
    print(f"\nVerify: {GAMES:,} records of {plays:,} plays, JSON in and a verdict out, one core")
    print(f"  decoded only : {statistics.median(peers):>12,.0f} plays/s   (msgspec, no rules)")
    for name, values in figures.items():
        ratios = [value / other for value, other in zip(values, peers, strict=True)]
        print(
            f"  {name}: {statistics.median(values):>12,.0f} plays/s   {statistics.median(ratios):6.3f} times decoding"
            f"   ({min(ratios):.3f} to {max(ratios):.3f})"
        )
    if not kernel.AVAILABLE:
        print("  kernel       : not compiled here")
    _print_openspiel({name: statistics.median(values) for name, values in figures.items()})


def _print_openspiel(figures: dict[str, float]) -> None:
    """The same figures beside OpenSpiel's, where it is installed: its rules in C++, driven from Python, no reading."""
    try:
        import pyspiel
    except ImportError:
        print("  OpenSpiel    : not installed here; `make peers` does it")
        return
    peer = statistics.median([_openspiel_plays(pyspiel) for _ in range(ROUNDS)])
    print(f"  OpenSpiel    : {peer:>12,.0f} plays/s   (apply_action of recorded hands, driven from Python)")
    for name, figure in figures.items():
        print(f"  {name}: {figure / peer:6.2f} times OpenSpiel")


def _action(card: str) -> int:
    """The number that OpenSpiel has for a card."""
    return "23456789TJQKA".index(card[0]) * 4 + "CDHS".index(card[1])


def _openspiel_plays(pyspiel: Any) -> float:
    """Plays a second of OpenSpiel over hands that were recorded with it; dealing and passing are not counted."""
    game = pyspiel.load_game("hearts")
    hands = [hand for hand in recorded() if not hand["flags"]]
    spent, plays = 0.0, 0
    for hand in hands:
        state = game.new_initial_state()
        state.apply_action(DIRECTIONS.index(hand["direction"]))
        deal = [text.split() for text in hand["deal"]]
        for at in range(52):
            state.apply_action(_action(deal[at % 4][at // 4]))
        for text in hand["pass"] or ():
            for card in text.split():
                state.apply_action(_action(card))
        actions = [_action(card) for card in hand["plays"]]
        start = time.perf_counter()
        for action in actions:
            state.apply_action(action)
        spent += time.perf_counter() - start
        plays += len(actions)
        assert state.is_terminal()
    return plays / spent
