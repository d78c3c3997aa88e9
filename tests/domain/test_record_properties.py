"""The record of any game: it replays to the same score, and whatever is spoiled in it is told."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import msgspec
from hypothesis import given

from domain.cards import (
    CARDS,
    NAMES,
    distinct_cards,
)
from domain.record import parse_record, print_record, record_of, replay
from domain.rules import legal_plays
from domain.ruleset import RuleSet, Terms
from tests.support.games import (
    Game,
    hand_of,
    play_game,
    rule_sets,
    seeds,
    steady,
)


def parse_and_replay(game: Game) -> Any:
    """The verdict on the record of a game."""
    return replay(parse_record(record_of(game.events)))  # type: ignore[arg-type]


@steady(120)
@given(rule_sets(), seeds)
def test_the_record_of_a_game_replays_to_the_same_score(rules: RuleSet, seed: int) -> None:
    """Written down, read and replayed, a game has the same points, totals and winners; also after printing it."""
    game = play_game(rules, seed)
    verdict = parse_and_replay(game)
    assert verdict.ok, verdict
    assert verdict.phase == "over"
    assert verdict.points == [list(points) for points in game.end.hands]
    assert verdict.totals == game.end.totals
    assert verdict.winners == list(game.end.winners)
    record = parse_record(record_of(game.events))  # type: ignore[arg-type]
    printed = parse_record(msgspec.json.decode(print_record(record)))
    assert replay(printed) == verdict
    assert printed.rules == record.rules


@steady(120)
@given(rule_sets(), seeds)
def test_every_position_of_a_record_is_the_position_of_the_game(rules: RuleSet, seed: int) -> None:
    """A record cut off in the middle of a hand waits for the same seat with the same legal cards as the table."""
    game = play_game(rules, seed)
    record = record_of(game.events)  # type: ignore[arg-type]
    for step in Random(seed).sample(game.steps, min(12, len(game.steps))):
        state = step.after
        if state.phase != "play":
            continue
        hand = hand_of(state)
        cut = copy.deepcopy(record)
        cut["hands"] = cut["hands"][: hand.number]
        played = sum(len(trick) for _, trick, _ in hand.history) + len(hand.trick)
        last = cut["hands"][-1]
        last["plays"] = last["plays"][:played]
        for key in ("moon", "points", "totals"):
            last.pop(key, None)
        cut["winners"] = []
        verdict = replay(parse_record(cut))
        assert (verdict.ok, verdict.phase, verdict.hand) == (True, "play", hand.number)
        assert verdict.turn == hand.turn
        assert verdict.legal == [NAMES[card] for card in distinct_cards(legal_plays(state.terms, hand))]
        assert verdict.totals == state.totals


@steady(120)
@given(rule_sets(), seeds)
def test_a_spoiled_record_is_told_by_its_code(rules: RuleSet, seed: int) -> None:
    """Whatever is wrong with a record is found, in the hand where it is wrong and under its stable code."""
    game = play_game(rules, seed)
    good = record_of(game.events)  # type: ignore[arg-type]
    number = Random(seed).randrange(len(good["hands"]))
    for code, where, spoiled in spoil(good, number, Terms(rules)):
        verdict = replay(parse_record(spoiled))
        assert not verdict.ok, code
        assert (verdict.code, verdict.hand) == (code, where)


def spoil(
    good: dict[str, Any], number: int, terms: Terms
) -> Iterator[tuple[str, int | None, dict[str, Any]]]:
    """Copies of a record with one thing wrong in hand ``number`` (from 0): the code, the hand, the copy."""
    whole = len(good["hands"])
    last = number == whole - 1

    def bad() -> tuple[dict[str, Any], dict[str, Any]]:
        twin = copy.deepcopy(good)
        return twin, twin["hands"][number]

    for key in ("points", "totals"):
        record, hand = bad()
        hand[key][-1] += 1
        yield f"score/{key}", number + 1, record
    record, hand = bad()
    record["winners"] = [seat for seat in range(terms.players) if seat not in record["winners"]]
    yield "score/winners", None, record
    record, hand = bad()
    first, *rest = hand["deal"][0].split()
    hand["deal"][0] = " ".join([*rest, "2S" if first != "2S" else "3S"])
    yield "deal/wrong_cards", number + 1, record
    record, hand = bad()
    hand["plays"].append(hand["plays"][0])
    yield "play/hand_over", number + 1, record
    record, hand = bad()
    hand["plays"][-1] = hand["plays"][0]
    if Counter(hand["plays"])[hand["plays"][0]] > terms.deck.count(CARDS[hand["plays"][0]]):
        yield "play/not_in_hand", number + 1, record
    record, hand = bad()
    hand["plays"].pop()
    hand.pop("moon", None)
    yield ("score/points" if last else "hand/unfinished"), number + 1, record
    record, hand = bad()
    record["hands"].append(copy.deepcopy(hand))
    yield "game/over", whole + 1, record
    record, hand = bad()
    if "pass" in hand:
        hand["pass"][0] = " ".join(hand["pass"][0].split()[1:])
        yield "pass/wrong_cards", number + 1, record
        record, hand = bad()
        del hand["pass"]
        yield "pass/missing", number + 1, record
    else:
        hand["pass"] = ["2C"] * terms.players
        yield "pass/not_now", number + 1, record
    record, hand = bad()
    if "moon" in hand:
        del hand["moon"]
        yield ("score/points" if last else "moon/choice_missing"), number + 1, record
    else:
        hand["moon"] = "add"
        yield "moon/not_now", number + 1, record
