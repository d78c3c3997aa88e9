"""The other deals are ones that a reader cannot tell from the true one, however well it reasons."""

from collections import Counter
from random import Random

import pytest

from domain import commands as c
from domain.cards import cards_of
from domain.game import advance, is_over
from domain.state import State
from domain.variants import ruleset_of
from domain.view import view
from tests.domain.test_hidden import count
from tests.hidden.deals import deal_consistently
from tests.support.games import PUBLISHED, hand_of, play_game, who_moves


@pytest.mark.parametrize(("variant", "players"), PUBLISHED)
def test_a_game_could_have_gone_so(variant: str, players: int) -> None:
    """The reader has what it had, the others as many cards as they had, and all that was played can be played again."""
    rng = Random(variant)
    game = play_game(ruleset_of({"variant": variant, "players": players, "hand_limit": 1}), players)
    steps = [step for step in game.steps if step.after.hand is not None and not is_over(step.after)]
    others = 0
    for step in rng.sample(steps, 12):
        reader = rng.choice([None, *range(players)])
        true, hand = step.after, deal_consistently(step.after, reader, rng)
        twin = true.copy()
        twin.hand = hand
        assert view(twin, reader) == view(true, reader)
        every = sum((count(mask) for mask in [*hand.dealt, hand.kitty]), Counter[int]())
        assert every == Counter(true.terms.deck)
        again = _begun(next(one.after for one in steps), twin)
        for one in steps[1 : steps.index(step) + 1]:
            again = advance(again, _done_again(one.command, twin, again))[1]
        assert hand_of(again).held == hand.held
        others += hand.dealt != hand_of(true).dealt
    assert others > 6


def _begun(dealt: State, twin: State) -> State:
    """The table right after the deal, with the cards of the twin."""
    begun = dealt.copy()
    hand = hand_of(begun)
    hand.dealt, hand.held, hand.kitty = hand_of(twin).dealt, hand_of(twin).dealt[:], hand_of(twin).kitty
    return begun


def _done_again(command: c.AnyCommand, twin: State, now: State) -> c.AnyCommand:
    """A command of the true game, with the twin's cards to pass."""
    if not isinstance(command, c.PassCards):
        return command
    seat = command.who if isinstance(command.who, int) else now.seat_of(command.who)
    assert seat is not None
    cards = tuple(cards_of(hand_of(twin).passes[seat] or 0))
    return c.PassCards(at=command.at, who=who_moves(now, seat), cards=cards, by=command.by)
