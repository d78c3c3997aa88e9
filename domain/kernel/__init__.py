"""Records checked by a compiled kernel: the same verdicts as `domain.record`, many times as fast.

The kernel is optional and answers only what it is sure of. `check_record` is none for a record written in an unusual
way, for rules that the kernel does not play, and wherever it was not compiled; then the plain path answers, and `judge`
asks both in turn. Of a faulty record the kernel finds the hand, and the plain path tells what is wrong there, so that no
fault is described twice. `score_hand` does the same for one hand of a proof. What the C files hold: `hearts.h` and
`score.h` a hand, `whole.h` one that is replayed at once, `json.h` and `record.c` the reading and the replay of a record,
`module.c` and `terms.c` the way in from Python.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec

from domain.cards import Mask
from domain.record import Fault, Record, Verdict, _Replay, read_record, replay
from domain.record_format import _parse_hand
from domain.refusals import HeartsError
from domain.ruleset import KEYS, RuleSet, terms_of
from domain.variants import CUSTOM, ruleset_of

AVAILABLE: bool = True
"""Whether the kernel is compiled."""
try:
    from domain.kernel import _hearts
except ImportError:  # there was no compiler when this was installed
    AVAILABLE = False
NO_KERNEL: Final = "the compiled kernel is not here"
"""What is said of its lack, with what follows from it."""

PLAYED: Final = frozenset(
    (
        *("variant", "players", "decks", "removed", "hand", "kitty_to", "pass_count", "pass_cycle"),
        *("opener", "opening_ban", "trick1_ban", "trick1_all_banned", "breakers", "qs_hearts_lead"),
        *("cancel", "dead_trick", "dead_last", "points", "moon_effect", "moon_x", "moon_needs_bonus"),
        *("floor", "target", "tie", "perfect_hand", "hand_limit", "moon_choice_from", "moon_bonus"),
        *("sun_effect", "sun_x", "sun_from", "no_trick_points", "hand_floor", "partners"),
    )
)
"""The keys of a rule set that the kernel plays by, all their values included."""
HANDED_OVER: Final[frozenset[str]] = frozenset()
"""The keys that it knows nothing of: with another value than the default the plain path answers."""
CHOICES: Final[dict[str, tuple[object, ...]]] = {
    "kitty_to": ("first", "last"),
    "opener": ("left", "forced"),
    "trick1_all_banned": ("any", "must_qs"),
    "qs_hearts_lead": ("qs", "any"),
    "dead_trick": ("no_live_card", "two_pairs"),
    "dead_last": ("nobody", "leader"),
    "moon_effect": ("add", "subtract", "choice", "choice_if_lost", "auto", "collect", "none"),
    "tie": ("shared", "continue"),
    "moon_bonus": ("kept", "swallowed"),
    "sun_effect": ("none", "add", "subtract", "punish", "reset"),
    "sun_from": (1, 2),
    "partners": ("none", "opposite"),
}
"""What may be chosen for a key, as far as the kernel knows; it counts them from 0."""
_WAYS: Final = frozenset((-1, 0, 1, 2))
_DEFAULTS: Final = RuleSet(variant=CUSTOM)
_KEPT: Final = 256
"""Rule sets as they were written that are kept compiled."""


def check_record(line: bytes) -> Verdict | None:
    """The verdict on the record that is the JSON text ``line``, where the kernel is sure of it; else none."""
    found = _hearts.check(line, _find_terms) if AVAILABLE else None
    if found is None:
        return None
    if len(found) == 6:
        return _judge_hand(*found)
    phase, hand, turn, legal, points, totals, winners = found
    return Verdict(
        ok=True,
        phase=phase,
        hand=hand,
        turn=turn,
        legal=legal,
        points=points,
        totals=totals,
        winners=winners,
    )


def _judge_hand(
    rules: RuleSet, number: int, last: bool, written: bytes, points: list[list[int]], totals: list[int]
) -> Verdict | None:
    """The verdict on a record whose hand ``number`` is wrong, from the plain path, which replays this hand alone."""
    game = _Replay(Record(rules=rules, seats=(), hands=()))
    game.points, game.totals = points, totals
    try:
        game._play_hand(number, _parse_hand(msgspec.json.decode(written), number, rules.players), last=last)
    except Fault as fault:
        return fault.verdict
    return None


def judge(line: bytes) -> Verdict:
    """The verdict on the record that is the JSON text ``line``, from the kernel or else from the plain path.

    Raises `Malformed` or `InvalidRules` as `domain.record.read_record` does.
    """
    verdict = check_record(line)
    return replay(read_record(line)) if verdict is None else verdict


Arm = tuple[int, Mask, Mask, bool]
"""What a search tries: a card, or -1 and the first and second copies of a pass; and whether it shoots the moon."""


def search(
    position: bytes, rules: RuleSet, arms: list[Arm], budget: int, seed: int
) -> list[tuple[int, int, int]] | None:
    """What comes of each arm: its place among ``arms``, the sum of its playouts, their number; the best first.

    None where the kernel was not compiled, or does not play by these rules; then `domain.bots.search` answers, whose
    twin it is. Raises `ValueError` for a position that cannot be played on.
    """
    terms = _terms_to_search(msgspec.json.encode(rules)) if AVAILABLE else None
    return None if terms is None else _hearts.search(terms, position, arms, budget, seed)


@lru_cache(maxsize=_KEPT)
def _terms_to_search(encoded: bytes) -> _hearts.Terms | None:
    return compile_rules(msgspec.json.decode(encoded, type=RuleSet))


NOBODY: Final = 255
"""The taker of a dead trick, in `ToldHand`."""


class ToldHand(NamedTuple):
    """A finished hand: card lists as we write them, and a byte a play or trick, in the order played."""

    number: int
    deal: tuple[str, ...]
    kitty: str
    passes: tuple[str, ...] | None
    """None in a hold hand."""
    seats: bytes
    """Who made each play."""
    plays: bytes
    """The card of each play."""
    takers: bytes
    """Who took each trick, or `NOBODY`."""


def score_hand(terms: _hearts.Terms | None, hand: ToldHand, totals: list[int]) -> list[int] | None:
    """What a hand adds to ``totals``, where all of it is right and nobody must choose for a moon; else none.

    None too where there are no ``terms``, for the kernel does not play by them or is not here: then the plain path,
    `services.replay`, judges the hand, and it also tells what is wrong. Raises ValueError for text that is no Unicode.
    """
    return None if terms is None else _hearts.score_hand(terms, totals, *hand)


def are_plain(lines: bytes, first: int) -> bool:
    """Whether published events, one a line, surely are JSON that everybody reads alike, numbered in order from ``first`` on.

    False too where the kernel is not here; then `services.plain_json` judges, which also tells what is wrong.
    """
    return AVAILABLE and _hearts.are_plain(lines, first)


class _Names(msgspec.Struct):
    seats: list[str]


def seat_names(line: bytes) -> list[str]:
    """The names in a record that was judged; nothing else of it is kept, which is quick."""
    return msgspec.json.decode(line, type=_Names).seats


@lru_cache(maxsize=_KEPT)
def _find_terms(written: bytes, seats: int) -> _hearts.Terms | None:
    """The kernel's terms for the ``rules`` of a record of so many seats; none where the plain path shall look at them."""
    try:
        rules = ruleset_of({"players": seats, **msgspec.json.decode(written, type=dict[str, Any])})
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, HeartsError):
        return None
    return compile_rules(rules) if rules.players == seats else None


def plays_by(rules: RuleSet) -> bool:
    """Whether the kernel plays by every key of a valid rule set, and knows its value."""
    return (
        all(key in PLAYED or rules.get(key) == _DEFAULTS.get(key) for key in KEYS)
        and all(rules.get(key) in words for key, words in CHOICES.items())
        and _WAYS.issuperset(rules.pass_cycle)
    )


def compile_rules(rules: RuleSet) -> _hearts.Terms | None:
    """A valid rule set as the kernel plays it, or none where it does not, or is not `AVAILABLE`."""
    if not AVAILABLE or not plays_by(rules):
        return None
    terms = terms_of(rules)
    first, second = 0, 0
    for card in terms.deck:
        bit = 1 << card
        second |= first & bit
        first |= bit
    said = {key: words.index(rules.get(key)) for key, words in CHOICES.items()}
    return _hearts.Terms(
        rules=rules,
        players=terms.players,
        hand=terms.hand,
        deck=(first, second),
        pass_count=rules.pass_count,
        offsets=tuple(terms.pass_offset(hand) for hand in range(1, len(rules.pass_cycle) + 1)),
        opening_ban=terms.opening_ban,
        trick1_ban=terms.trick1_ban,
        breakers=terms.breakers,
        values=terms.values,
        opener_forced=bool(said["opener"]),
        kitty_last=bool(said["kitty_to"]),
        must_qs=bool(said["trick1_all_banned"]),
        hearts_beside_qs=bool(said["qs_hearts_lead"]),
        cancel=rules.cancel,
        two_pairs_dead=bool(said["dead_trick"]),
        dead_last_to_leader=bool(said["dead_last"]),
        partners=bool(said["partners"]),
        moon=said["moon_effect"],
        sun=said["sun_effect"],
        sun_from=rules.get("sun_from"),
        moon_needs_bonus=rules.moon_needs_bonus,
        swallows=bool(said["moon_bonus"]),
        tie_goes_on=bool(said["tie"]),
        perfect_hand=rules.perfect_hand,
        moon_x=rules.moon_x,
        sun_x=rules.get("sun_x"),
        no_trick_points=terms.no_trick_points,
        moon_choice_from=terms.moon_choice_from,
        hand_floor=terms.hand_floor,
        floor=rules.floor,
        target=rules.target,
        hand_limit=rules.hand_limit or 0,
    )
