"""Makes `variants.ndjson`: for every published variant and number of seats a case for every code and phase it can come to.

Run from the project's root as ``python -m tests.conformance.make_variants``. What a case expects is asked of the referee
of the tests, which is written apart from the rules; only whole verdicts of records that hold are the house's own, and the
referee follows the games they are of.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

import msgspec

from domain.cards import NAMES
from domain.record import FORMAT, parse_record, record_of, replay, short_rules
from domain.ruleset import RuleSet, terms_of
from domain.variants import VARIANTS, ruleset_of
from tests.domain.test_record_properties import spoil
from tests.domain.test_referee import follow_game
from tests.support.games import play_game
from tests.support.referee import RANKS, RefereeHand, deck_of

FILE: Final = Path(__file__).with_name("variants.ndjson")
TRIES: Final = 3000
Case = tuple[str, dict[str, Any], dict[str, Any]]


def played(rules: RuleSet, seed: str) -> dict[str, Any]:
    """The record of a game that the referee has followed."""
    game = play_game(rules, seed, kinds="b" * rules.players)
    follow_game(game)
    names = [f"p{seat}" for seat in range(rules.players)]
    record: dict[str, Any] = msgspec.to_builtins(record_of(game.events, names))  # type: ignore[arg-type]
    return record | {"rules": short_rules(rules)}


def verdict(record: dict[str, Any]) -> dict[str, Any]:
    """What the house says of a record, without its words."""
    said: dict[str, Any] = msgspec.to_builtins(replay(parse_record(record)))
    return {key: value for key, value in said.items() if key != "detail"}


def wrong_plays(record: dict[str, Any]) -> Iterator[Case]:
    """The first play of each code that a card which is held, or is not, could have been."""
    seen: set[str] = set()
    whole = msgspec.to_builtins(ruleset_of(record["rules"]))
    for number, hand in enumerate(record["hands"], 1):
        referee = RefereeHand(
            whole, number, [text.split() for text in hand["deal"]], hand.get("kitty", "").split()
        )
        if "pass" in hand:
            referee.exchange([text.split() for text in hand["pass"]])
        referee.open()
        for at, right in enumerate(hand["plays"]):
            codes = {card: referee.judge(card) for card in NAMES}
            legal = [card for card in NAMES if codes[card] is None]
            for card, code in codes.items():
                if code is not None and code not in seen:
                    seen.add(code)
                    twin = copy.deepcopy(record)
                    twin["hands"][number - 1]["plays"][at] = card
                    expect = {"ok": False, "code": code, "hand": number, "play": at, "seat": referee.turn}
                    yield code, twin, expect | {"legal": legal}
            referee.play(right)


def wrong_rest(record: dict[str, Any]) -> Iterator[Case]:
    """One copy for each other code."""
    seen: set[str] = set()
    terms = terms_of(ruleset_of(record["rules"]))
    for number in range(len(record["hands"])):
        for code, hand, twin in spoil(record, number, terms):
            if code not in seen and not code.startswith("play/not"):
                seen.add(code)
                yield code, twin, {"ok": False, "code": code} | ({} if hand is None else {"hand": hand})


def breaks(record: dict[str, Any], rng: Random) -> Iterator[Case]:
    """The game broken off: before the pass, in the middle of a trick, before the next hand."""
    for name, number in (("deal", 1), ("play", 1), ("pass", 0)):
        twin = copy.deepcopy(record)
        twin["hands"], twin["winners"] = twin["hands"][: number if name == "deal" else 1], []
        if name != "deal":
            hand = twin["hands"][0]
            for key in ("points", "totals", "moon"):
                hand.pop(key, None)
            hand["plays"] = hand["plays"][: rng.randrange(1, len(hand["plays"]))] if name == "play" else []
            if name == "pass" and hand.pop("pass", None) is None:
                continue
        yield f"phase {name}", twin, verdict(twin)


def rare_plays(rules: RuleSet, missing: set[str]) -> Iterator[Case]:
    """A case for each code that the game at hand did not have, from the first of many games that has it."""
    for number in range(TRIES):
        if not missing:
            return
        record = played(rules, f"rare {rules.variant} {rules.players} {number}")
        for code, twin, expect in wrong_plays(record):
            if code in missing:
                missing.remove(code)
                yield code, twin, expect


def codes_of(rules: RuleSet) -> set[str]:
    """The codes of single plays that the rules can come to."""
    found = {"play/not_in_hand", "play/must_follow_suit"}
    found |= {"play/penalty_on_first_trick"} if rules.trick1_ban else set()
    found |= {"play/hearts_not_broken"} if rules.breakers else set()
    found |= {"play/must_open_with"} if rules.opener == "forced" else set()
    return found | ({"play/penalty_opening_lead"} if rules.opening_ban else set())


def moon_games(rules: RuleSet, rng: Random, *, sun: bool = False) -> Iterator[Case]:
    """A hand whose moon or sun is shot, by a seat with the high cards that plays them: each choice, and none made."""
    found = next((one for _ in range(TRIES) if (one := _try_moon(rules, rng, sun=sun)) is not None), None)
    assert found is not None, f"no moon at {rules.variant} with {rules.players} seats"
    hand, referee = found
    choosing = referee.chooser([0] * rules.players) is not None
    for choice in ("add", "subtract") if choosing else (None,):
        points = referee.points([0] * rules.players, choice)
        totals = referee.totals([0] * rules.players, points)
        made = {} if choice is None else {"moon": choice}
        record = _record(rules, [hand | made | {"points": points, "totals": totals}])
        winners = referee.end(totals, points)
        assert winners is not None
        expect = {"ok": True, "phase": "over", "points": [points], "totals": totals, "winners": winners}
        yield f"moon {choice or 'shot'}", record | {"winners": winners}, expect
    if choosing:
        pending = {"ok": True, "phase": "moon", "turn": referee.chooser([0] * rules.players)}
        yield "phase moon", _record(rules, [hand]), pending
        missing = {"ok": False, "code": "moon/choice_missing", "hand": 1}
        yield "moon/choice_missing", _record(rules, [hand, hand]), missing


def _record(rules: RuleSet, hands: list[dict[str, Any]]) -> dict[str, Any]:
    names = [f"p{seat}" for seat in range(rules.players)]
    return {"format": FORMAT, "rules": short_rules(rules), "seats": names, "hands": hands}


def _try_moon(rules: RuleSet, rng: Random, *, sun: bool) -> tuple[dict[str, Any], RefereeHand] | None:
    """One hand of the referee's in which seat 0, and its partner, play high and the others low."""
    whole = msgspec.to_builtins(rules)
    deck = deck_of(whole)
    rng.shuffle(deck)
    deck.sort(key=lambda card: RANKS.index(card[0]) + 4 * (card[1] in "SH") + rng.random() * 3)
    mine = [deck.pop() for _ in range(rules.hand)]
    rng.shuffle(deck)
    hands = [mine, *(deck[at * rules.hand : (at + 1) * rules.hand] for at in range(rules.players - 1))]
    kitty = deck[(rules.players - 1) * rules.hand :]
    hand: dict[str, Any] = {"deal": [" ".join(cards) for cards in hands]}
    if kitty:
        hand["kitty"] = " ".join(kitty)
    referee = RefereeHand(whole, 1, hands, kitty)
    if referee.pass_to():
        low = [sorted(cards, key=lambda card: RANKS.index(card[0])) for cards in hands]
        given = [
            cards[: rules.pass_count] if seat == 0 else cards[-rules.pass_count :]
            for seat, cards in enumerate(low)
        ]
        hand["pass"] = [" ".join(cards) for cards in given]
        referee.exchange(given)
    referee.open()
    plays: list[str] = []
    while referee.turn is not None:
        seat = referee.turn
        legal = sorted(
            (card for card in set(referee.hands[seat]) if referee.judge(card) is None),
            key=lambda card: (RANKS.index(card[0]), card),
        )
        plays.append(legal[-1 if seat in referee.team(0) else 0])
        referee.play(plays[-1])
    hand["plays"] = plays
    return None if (referee.sun() if sun else referee.shooter()) is None else (hand, referee)


HOUSE: Final[dict[str, dict[str, Any]]] = {
    "sun add": {"sun_effect": "add", "sun_x": 39},
    "sun subtract": {"sun_effect": "subtract"},
    "sun punish": {"sun_effect": "punish"},
    "sun reset": {"sun_effect": "reset"},
    "sun from the second trick": {"sun_effect": "add", "sun_from": 2},
    "sun of partners": {"sun_effect": "subtract", "partners": "opposite"},
    "moon of partners": {"partners": "opposite"},
    "moon collected by partners": {"partners": "opposite", "moon_effect": "collect"},
    "jack swallowed": {"points": {"H": 1, "QS": 13, "JD": -10}, "moon_bonus": "swallowed"},
    "jack kept": {"points": {"H": 1, "QS": 13, "JD": -10}, "hand_floor": 0, "moon_effect": "add"},
    "no tricks, but a moon": {"no_trick_points": -5},
    "no choice below a total": {"moon_choice_from": 26},
    "no choice where add wins": {"moon_effect": "choice_if_lost"},
}
"""House rules of standard Hearts for four, by what is shot with them."""


def cases() -> Iterator[Case]:
    """Every case, named."""
    for variant, published in VARIANTS.items():
        for players in published.seats:
            rng = Random(f"{variant} {players}")
            rules = ruleset_of({"variant": variant, "players": players, "hand_limit": 2})
            record = played(rules, f"variants {variant} {players}")
            found = [("phase over", record, verdict(record))]
            found += [*breaks(record, rng), *wrong_plays(record), *wrong_rest(record)]
            found += rare_plays(rules, codes_of(rules) - {name for name, _, _ in found})
            if rules.moon_effect != "none":
                short = ruleset_of({"variant": variant, "players": players, "hand_limit": 1})
                found += moon_games(short, rng)
            for name, twin, expect in found:
                yield f"{variant}-{players} {name}", twin, expect

    for name, changes in HOUSE.items():
        rules = ruleset_of({"variant": "standard", "hand_limit": 1, **changes})
        for what, record, expect in moon_games(rules, Random(name), sun="sun" in name):
            yield f"house: {name}, {what}", record, expect


def main() -> None:
    """Write `FILE`."""
    encode = msgspec.json.encode
    lines = [encode({"name": name, "record": record, "expect": expect}) for name, record, expect in cases()]
    FILE.write_bytes(b"\n".join(lines) + b"\n")


if __name__ == "__main__":
    main()
