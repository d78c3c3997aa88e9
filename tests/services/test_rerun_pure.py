"""A bot's decision follows from name and version, its seat's view, its budget and a seed, of which nothing stands in the log."""

from __future__ import annotations

import hashlib
import hmac
from functools import cache
from random import Random

import msgspec
import pytest
from hypothesis import given

from domain import bots
from domain import events as e
from domain.bots import BOTS, Bot, UnknownBot, bot_of, decision_number, house_action, house_move
from domain.game import fold, to_act
from domain.ruleset import RuleSet
from domain.state import State
from domain.variants import ruleset_of
from domain.view import View
from services.snapshot import read_snapshot, take_snapshot
from tests.services.test_rerun import MOON, STANDARD, assert_holds, published
from tests.support.bot_games import bot_game
from tests.support.games import Game, play_game, rule_sets, seeds, steady
from tests.support.proofs import at_of


def mac(secret: bytes, seat: int, k: int) -> bytes:
    """The seed of a decision, by the text of the protocol."""
    hashed = hashlib.sha256(b"hearts/v1/bot\0")
    for part in (str(seat).encode(), str(k).encode()):
        hashed.update(len(part).to_bytes(4, "big") + part)
    return hmac.digest(secret, hashed.digest(), "sha256")


def test_budget_and_seed_are_those_of_the_protocol(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seat's budget each time; k is 0 for the pass, 1, 2, ... for the seat's plays, whoever made them, then the moon."""
    asked: list[tuple[int, str, bytes, int]] = []

    def spy(seen: View, seed: bytes, playouts: int) -> bots.Action:
        assert seen.seat is not None
        asked.append((seen.seat, seen.phase, seed, playouts))
        return BOTS["random"].policy(seen, seed, playouts)

    bot = Bot(name="rules", version="1", budget=500, policy=spy, summary="")
    monkeypatch.setitem(BOTS, "rules", bot)
    for seed in range(20):
        asked.clear()
        game = bot_game(published("standard", 4, **MOON), seed, "bpbp", seconds=10, leaves=0.1, claims=True)
        if any(phase == "moon" for _, phase, _, _ in asked):
            break
    secret = bytes.fromhex(game.events[at_of(list(game.events), e.HandScored)].secret)  # type: ignore[attr-defined]
    wanted, made = [], [0] * 4
    for event in game.events:
        if not isinstance(event, e.CardsPassed | e.CardPlayed | e.MoonChosen):
            continue
        if isinstance(event, e.CardPlayed):
            made[event.seat] += 1
        k = {e.CardsPassed: 0, e.CardPlayed: made[event.seat], e.MoonChosen: 14}[type(event)]
        if event.by in ("bot", "clock"):
            wanted.append((event.seat, mac(secret, event.seat, k), 500))
    assert wanted == [(seat, seed, playouts) for seat, _, seed, playouts in asked]
    assert [500] == list({one.bot.budget for one in game.end.seats if one.bot is not None})
    assert_holds(game)


@given(rules=rule_sets(), seed=seeds)
@steady(40)
def test_a_decision_is_the_same_from_a_snapshot_and_from_the_log(rules: RuleSet, seed: int) -> None:
    """Wherever a game is taken up again, by whichever process."""
    moves = Random(seed).randrange(120)
    game = bot_game(rules, seed, "b" * rules.players, moves=moves)
    state = game.end
    kept = read_snapshot(take_snapshot(state, len(game.events), b"", 0, (0, b""), ""))
    assert kept is not None
    for seat in to_act(state):
        decision = house_action(state, seat)
        for other in (kept.state(), fold(None, game.events)):
            assert (decision_number(state, seat), decision) == (
                decision_number(other, seat),
                house_action(other, seat),
            )


def test_a_bot_of_another_version_is_not_replaced_by_this_one() -> None:
    """Where the house has to move for a bot that it does not have, it does not move."""
    state = play_game(ruleset_of(STANDARD), 1, moves=0, kinds="bbbb").end.copy()
    state.seats = [msgspec.structs.replace(one, bot=e.BotName("rules", "7", 0)) for one in state.seats]
    with pytest.raises(UnknownBot, match="rules@7"):
        house_move(state, 0, 0)


def test_an_older_version_plays_the_games_that_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a bot with a newer version, a game of the older one is played on by that, and checked by it."""
    newer = msgspec.structs.replace(BOTS["rules"], version="2", policy=BOTS["random"].policy)
    older = BOTS["rules"]
    begun = bot_game(ruleset_of(STANDARD), 5, "bbbb")
    monkeypatch.setitem(BOTS, "rules", newer)
    monkeypatch.setattr(bots, "OLDER", (older,))
    assert (older, newer) == (bot_of(older.id), bot_of(newer.id))
    assert_holds(begun)


# --- what stands in the log


@cache
def all_bots() -> Game:
    """A game of two hands by bots."""
    return bot_game(ruleset_of(STANDARD | {"hand_limit": 2}), 5, "bbbb")


def test_nothing_of_seeds_and_views_stands_in_any_event() -> None:
    """Public or hidden: of a bot an event has name, version and budget, and of its moves the seat, the card and `by`."""
    game = all_bots()
    stored = b"".join(public + hidden for _, public, hidden in game.entries())
    for step in game.steps:
        state: State | None = step.before
        if state is not None and state.hand is not None and state.phase in ("pass", "play", "moon"):
            seat = to_act(state)[0]
            seed = mac(bytes.fromhex(state.hand.secret), seat, decision_number(state, seat))
            assert seed.hex().encode() not in stored
    for _, public, _ in game.entries():
        event = msgspec.json.decode(public)
        fields = set(event) - {"n", "t", "at"}
        if event["t"] in ("cards_passed", "card_played", "moon_chosen"):
            assert fields in ({"seat", "cards", "by"}, {"seat", "card", "by"}, {"seat", "choice", "by"})
        if event["t"] == "seat_taken":
            assert {"name", "version", "budget"} == set(event["bot"])
        if event["t"] == "game_created":
            assert {"name", "version", "budget"} == set(event["stand_in"])
