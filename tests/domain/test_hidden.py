"""Nothing that leaves a table depends on a card its reader may not see.

A position is dealt again in another way that its reader cannot tell apart: the cards it has not seen change places
among the other hands, their passes and the kitty, and everything that was played stays. Whatever the table shows or
answers to that reader must be equal to the last byte.
"""

from __future__ import annotations

import re
from collections import Counter
from random import Random

import msgspec
import pytest
from hypothesis import given

from domain import commands as c
from domain import events as e
from domain.cards import (
    Card,
    Mask,
    cards_of,
    mask_of,
)
from domain.game import advance, is_over, to_act
from domain.refusals import Refused
from domain.rules import find_opener, kitty_in_trick
from domain.ruleset import RuleSet
from domain.state import HandState, State
from domain.variants import ruleset_of
from domain.view import private_part, view
from services.codec import CODEC
from tests.support.games import (
    PUBLISHED,
    Game,
    hand_of,
    picture,
    play_game,
    rule_sets,
    seeds,
    steady,
    stored,
    who_moves,
)

Cards = Counter[Card]


# --- another deal that the reader cannot tell from the real one


def count(mask: Mask | None) -> Cards:
    """A hand as a multiset of cards."""
    return Counter(cards_of(mask or 0))


def deal_again(state: State, reader: int | None, rng: Random) -> State:
    """``state`` with all cards that ``reader`` (none: a spectator) has not seen dealt in another way."""
    hand = hand_of(state)
    seats = range(len(hand.dealt))
    held, kitty = shuffled(state, reader, rng)
    played = played_cards(hand)
    after_pass = [played[seat] + held[seat] for seat in seats]
    passes = new_passes(hand, reader, after_pass, rng)
    dealt = after_pass
    if hand.exchanged:
        dealt = [after_pass[seat] - passes[hand.receives_from(seat)] + passes[seat] for seat in seats]
    twin = state.copy()
    twin.hand = replay_hand(state, [mask_of(cards.elements()) for cards in dealt], kitty, passes)
    return twin


def played_cards(hand: HandState) -> list[Cards]:
    """What each seat has played in the hand."""
    played: list[Cards] = [Counter() for _ in hand.dealt]
    for leader, cards, _ in [*hand.history, (hand.leader, tuple(hand.trick), None)]:
        for at, card in enumerate(cards):
            played[(leader + at) % len(played)][card] += 1
    return played


def shuffled(state: State, reader: int | None, rng: Random) -> tuple[list[Cards], Cards]:
    """The hands and the kitty after the cards unknown to ``reader`` have changed places."""
    hand = hand_of(state)
    places = [count(mask) for mask in [*hand.held, hand.kitty]]
    fixed = fixed_cards(state, reader)
    loose = [place - stay for place, stay in zip(places, fixed, strict=True)]
    pool = [card for place in loose for card in sorted(place.elements())]
    rng.shuffle(pool)
    moved = []
    for place, stay in zip(loose, fixed, strict=True):
        moved.append(stay + Counter(pool[: place.total()]))
        del pool[: place.total()]
    return moved[:-1], moved[-1]


def fixed_cards(state: State, reader: int | None) -> list[Cards]:
    """The cards that ``reader`` knows to be where they are: by seat, those in the kitty last."""
    hand = hand_of(state)
    places = [count(mask) for mask in [*hand.held, hand.kitty]]
    fixed = [places[seat] if seat == reader else Counter[int]() for seat in range(len(places))]
    if reader is not None and hand.exchanged:
        # the reader knows where its own pass went
        receiver = (reader + hand.offset) % len(hand.dealt)
        fixed[receiver] = fixed[receiver] | (count(hand.passes[reader]) & places[receiver])
    if state.phase != "pass" and state.terms.rules.opener == "forced":
        # who opened, and with which card, is public: the lowest club held stays where it is
        lowest = hand.forced if hand.forced >= 0 else 12
        for at, place in enumerate(places):
            fixed[at] = fixed[at] | Counter({card: n for card, n in place.items() if card <= lowest})
    return fixed


def new_passes(hand: HandState, reader: int | None, after_pass: list[Cards], rng: Random) -> list[Cards]:
    """A pass for every seat that has passed: the reader's own and the one it got are kept."""
    passes = [count(mask) for mask in hand.passes]
    for seat, cards in enumerate(passes):
        receiver = (seat + hand.offset) % len(passes)
        if seat == reader or (hand.exchanged and receiver == reader):
            continue
        source = after_pass[receiver if hand.exchanged else seat]
        if hand.exchanged and reader is not None and hand.receives_from(receiver) == reader:
            continue
        passes[seat] = Counter(rng.sample(sorted(source.elements()), cards.total()))
    return passes


def replay_hand(state: State, dealt: list[Mask], kitty: Cards, passes: list[Cards]) -> HandState:
    """The hand of ``state`` dealt as ``dealt``, with these passes and the plays that were made."""
    old, terms = hand_of(state), state.terms
    hand = HandState(old.number, old.offset, old.opener, dealt, mask_of(sorted(kitty.elements())), old.secret)
    for seat, cards in enumerate(old.passes):
        hand.passes[seat] = None if cards is None else mask_of(passes[seat].elements())
    if old.exchanged:
        hand.exchange()
    if state.phase == "pass":
        return hand
    hand.lead_with(*find_opener(terms, hand))
    for _, cards, winner in old.history:
        for card in cards:
            hand.lay(card, terms.breakers)
        extra = cards_of(hand.kitty) if kitty_in_trick(terms, hand) else []
        hand.take(winner, terms, extra)
    for card in old.trick:
        hand.lay(card, terms.breakers)
    assert (hand.turn, hand.leader, hand.forced) == (old.turn, old.leader, old.forced)
    return hand


def readers(state: State) -> list[int | None]:
    """A spectator and every seat."""
    return [None, *range(len(state.seats))]


def positions(game: Game, rng: Random, wanted: int) -> list[State]:
    """Some positions of a game with a hand in play: of each phase it has been in."""
    found = [step.after for step in game.steps if step.after.hand is not None and not is_over(step.after)]
    phases = {state.phase: state for state in rng.sample(found, len(found))}
    return [*phases.values(), *rng.sample(found, min(wanted, len(found)))]


# --- what must be equal


def answer(state: State, command: c.AnyCommand, reader: int) -> object:
    """All that ``reader`` learns from a command: the refusal, or the public bytes and its own private parts."""
    try:
        events, after = advance(state, command)
    except Refused as refused:
        return refused.code, refused.detail, refused.hint, refused.legal, str(refused)
    public = [entry[1] for entry in stored(events)]
    for at, event in enumerate(events):
        if isinstance(event, (e.PassesExchanged, e.HandScored)):
            # from here on the reader sees more: the cards it got, or the whole hand
            return public[: at + isinstance(event, e.PassesExchanged)]
    return public, view(after, reader), [private_part(after, event, reader) for event in events]


def requests(state: State, seat: int, rng: Random) -> list[c.AnyCommand]:
    """Everything ``seat`` might ask for in its turn or out of it, most of it refused."""
    who = who_moves(state, seat)
    hand = hand_of(state)
    count_ = state.terms.rules.pass_count
    commands: list[c.AnyCommand] = [c.PlayCard(who=who, card=card) for card in range(52)]
    own = cards_of(hand.held[seat])
    if len(own) >= count_:
        commands.append(c.PassCards(who=who, cards=tuple(rng.sample(own, count_))))
    commands += [c.PassCards(who=who, cards=tuple(rng.sample(range(52), count_))) for _ in range(4)]
    commands += [c.PassCards(who=who, cards=(0, 0, 0)), c.PassCards(who=who, cards=())]
    commands += [c.ChooseMoon(who=who, choice="add"), c.ChooseMoon(who=who, choice="subtract")]
    return commands


@steady(120)
@given(rule_sets(), seeds)
def test_a_view_is_the_same_whatever_the_hidden_cards_are(rules: RuleSet, seed: int) -> None:
    """No field of a view, a seat's or a spectator's, changes with the cards that its reader has not seen."""
    rng = Random(seed)
    for state in positions(play_game(rules, seed), rng, 6):
        for reader in readers(state):
            for _ in range(2):
                twin = deal_again(state, reader, rng)
                assert view(twin, reader) == view(state, reader)
                assert to_act(twin) == to_act(state)


@steady(60)
@given(rule_sets(), seeds)
def test_an_answer_is_the_same_whatever_the_hidden_cards_are(rules: RuleSet, seed: int) -> None:
    """Refusals of a seat's moves, to the last word, and what accepted moves tell, do not depend on hidden cards."""
    rng = Random(seed)
    for state in positions(play_game(rules, seed), rng, 2):
        for reader in range(rules.players):
            twin = deal_again(state, reader, rng)
            # the last card of a hand reveals it; before that, the rest of an answer is comparable
            for command in requests(state, reader, rng):
                assert answer(twin, command, reader) == answer(state, command, reader), command


@steady(60)
@given(rule_sets(), seeds)
def test_private_parts_are_of_the_seats_own_cards(rules: RuleSet, seed: int) -> None:
    """What an event tells one seat alone is equal in every deal it cannot tell apart, and other passes tell nothing."""
    rng = Random(seed)
    game = play_game(rules, seed)
    for state in positions(game, rng, 4):
        hand = hand_of(state)
        told: list[e.Event] = [e.HandDealt(hand=hand.number, hands=(), kitty=None)]
        told += [
            e.CardsPassed(seat=seat, cards="", by="bot")
            for seat, mask in enumerate(hand.passes)
            if mask is not None
        ]
        if hand.exchanged:
            told.append(e.PassesExchanged(hand=hand.number))
        told += [e.CardPlayed(seat=0, card="2C", by="bot"), e.TrickEnded(seat=0)]
        for reader in range(rules.players):
            twin = deal_again(state, reader, rng)
            for event in told:
                part = private_part(state, event, reader)
                assert part == private_part(twin, event, reader)
                mine = isinstance(event, (e.HandDealt, e.PassesExchanged)) or (
                    isinstance(event, e.CardsPassed) and event.seat == reader
                )
                assert (part is not None) is mine


@steady(60)
@given(rule_sets(), seeds)
def test_a_table_looks_the_same_whatever_its_secrets_are(rules: RuleSet, seed: int) -> None:
    """The seed chain, the hand's secret and the seats kept for somebody show in no view, before the deal or after."""
    for state in [step.after for step in play_game(rules, seed, moves=6).steps]:
        twin = state.copy()
        twin.chain_secret = "5e" * 32
        if twin.hand is not None:
            twin.hand.secret = "5e" * 32
        for reader in readers(state):
            assert view(twin, reader) == view(state, reader)


# --- the public bytes


_CARD = re.compile(r"\b[2-9TJQKA][CDSH]\b")


_HASH = re.compile(r"[0-9a-f]{64}")


@steady(60)
@given(rule_sets(), seeds)
def test_public_bytes_name_no_card_before_it_is_played(rules: RuleSet, seed: int) -> None:
    """Deals and passes stand in the public bytes as commitments; only plays and the reveal name cards."""
    for event in play_game(rules, seed).events:
        public, _ = CODEC.encode(event, 1)
        fields = msgspec.json.decode(public)
        if isinstance(event, e.GameCreated):
            assert set(fields) == {*e.GameCreated.__struct_fields__, "n", "t"} - {
                "hidden",
                "imported",
                "branch",
                "deal_group",
            }
        elif isinstance(event, e.CardPlayed):
            assert _CARD.findall(public.decode()) == [event.card]
        elif isinstance(event, e.HandScored):
            assert tuple(fields["deal"]) == event.deal
        else:
            assert not _CARD.search(public.decode())
        if isinstance(event, e.HandDealt):
            assert all(_HASH.fullmatch(text) for text in fields["hands"])
            assert fields["kitty"] is None or _HASH.fullmatch(fields["kitty"])
            assert set(fields) == {"n", "t", "at", "hand", "hands", "kitty"}
        if isinstance(event, e.CardsPassed):
            assert _HASH.fullmatch(fields["cards"])
            assert set(fields) == {"n", "t", "at", "seat", "cards", "by"}


@steady(40)
@given(rule_sets(), seeds)
def test_no_secret_stands_in_public_bytes_before_its_reveal(rules: RuleSet, seed: int) -> None:
    """The last link of the seed chain is never public, and a hand's secret not before the hand is scored."""
    game = play_game(rules, seed)
    public = b""
    for event in game.events:
        if isinstance(event, e.HandScored):
            assert event.secret is not None
            assert event.secret.encode() not in public
        public += CODEC.encode(event, 1)[0]
    first = game.events[0]
    assert isinstance(first, e.GameCreated)
    assert isinstance(first.hidden, e.OpenedSecret)
    last_link_used = len(game.end.hands) == first.chain
    assert (first.hidden.chain.encode() in public) is last_link_used


# --- the check itself


@pytest.mark.parametrize(("variant", "players"), PUBLISHED)
def test_dealing_again_really_moves_cards(variant: str, players: int) -> None:
    """The comparisons above compare something: the other deal has the same cards in other hands."""
    rules = ruleset_of({"variant": variant, "players": players, "hand_limit": 1})
    rng = Random(variant)
    moved = 0
    game = play_game(rules, 11)
    for step in game.steps:
        state = step.after
        if state.hand is None or is_over(state):
            continue
        reader = rng.randrange(players)
        twin = deal_again(state, reader, rng)
        old, new = hand_of(state), hand_of(twin)
        assert new.held[reader] == old.held[reader]
        assert new.dealt[reader] == old.dealt[reader]
        assert [mask.bit_count() for mask in new.held] == [mask.bit_count() for mask in old.held]
        every = sum((count(mask) for mask in [*new.dealt, new.kitty]), Counter[int]())
        assert every == Counter(state.terms.deck)
        moved += picture(twin) != picture(state)
    assert moved > len(game.steps) // 2
