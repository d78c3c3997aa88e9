"""Games whose server key was rotated: which key a receipt is held against, and forged rotations."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import msgspec
import pytest

from domain import events as e
from domain.variants import ruleset_of
from services.audit import ServerKey, rotation_message
from services.codec import CODEC
from services.folded import Table, follow, resume
from services.proof import Claim
from services.snapshot import take_snapshot
from tests.support.games import play_game
from tests.support.proofs import KEY, OTHER_KEY, Events, at_of, changed, claim, file_of, report_of
from tests.support.signing import heads_of


def rotated(events: Events, at: int, old: ServerKey = KEY, new: ServerKey = OTHER_KEY) -> int:
    """Let the server turn from one key to another after ``at`` events; the number of the event."""
    number = at + 1
    signature = old.sign(rotation_message("g-test", number, new.public)).hex()
    events.insert(at, e.KeyRotated(at=events[at - 1].at, server_key=new.public, signature=signature))
    return number


@pytest.mark.parametrize("seed", range(6))
def test_whoever_follows_a_game_agrees_on_who_signs(seed: int) -> None:
    """Read at once, in pieces, or from snapshots, a game with rotations anywhere has the same mark and signer."""
    rng = Random(seed)
    rules = ruleset_of({"variant": "standard", "hand_limit": 1, "players": 4})
    events: Events = list(play_game(rules, seed, kinds="ppnb", server_key=KEY.public).events)
    for _ in range(5):
        rotated(events, rng.randrange(1, len(events)), new=ServerKey(rng.randbytes(32)))
    entries = [(seq, *CODEC.encode(event, seq)) for seq, event in enumerate(events, 1)]
    signer = KEY.public
    table: Table | None = None
    for at, event in enumerate(events, 1):
        whole = follow("g-test", None, entries[:at])
        table = follow("g-test", table, entries[at - 1 : at])
        resumed = resume(take_snapshot(*table))
        assert resumed is not None
        assert whole[1:] == table[1:] == resumed[1:]
        assert signer == whole.signer
        assert follow("g-test", resumed, [])[1:] == resumed[1:]
        if isinstance(event, e.KeyRotated):
            signer = event.server_key


def receipted(events: Events, seq: int, by: ServerKey) -> Claim:
    """Claim I of a file whose receipt is of event ``seq``, by a key."""
    lines = file_of(events, None)
    receipt = by.receipt("g-test", seq, heads_of(events)[seq])
    line = msgspec.json.encode({"receipt": receipt._asdict()})
    return claim(report_of(lines + line + b"\n"), "I")


@pytest.fixture
def game() -> Events:
    """The events of a game."""
    rules = ruleset_of({"variant": "basic", "hand_limit": 1})
    return list(play_game(rules, 7, kinds="ppnb", server_key=KEY.public).events)


def test_a_receipt_is_held_against_the_key_of_its_time(game: Events) -> None:
    """The event that names the new key is still the old one's; later ones are not."""
    number = rotated(game, 20)
    verdicts = {
        (seq, by.public): receipted(game, seq, by).status
        for seq in (number - 1, number, number + 1, len(game))
        for by in (KEY, OTHER_KEY)
    }
    assert verdicts == {
        (number - 1, KEY.public): "holds",
        (number - 1, OTHER_KEY.public): "fails",
        (number, KEY.public): "holds",
        (number, OTHER_KEY.public): "fails",
        (number + 1, KEY.public): "fails",
        (number + 1, OTHER_KEY.public): "holds",
        (len(game), KEY.public): "fails",
        (len(game), OTHER_KEY.public): "holds",
    }


def test_keys_follow_one_another(game: Events) -> None:
    """Each is signed by the one before it, as often as a game is rotated."""
    third = ServerKey(bytes([3] * 32))
    rotated(game, 20)
    rotated(game, 30, OTHER_KEY, third)
    assert "holds" == receipted(game, len(game), third).status
    assert "fails" == receipted(game, len(game), OTHER_KEY).status


def by_itself(events: Events) -> int:
    """The new key vouches for itself."""
    return rotated(events, 20, OTHER_KEY)


def for_another_place(events: Events) -> int:
    """A rotation that was signed for another event."""
    number = rotated(events, 20)
    signature = KEY.sign(rotation_message("g-test", number + 1, OTHER_KEY.public)).hex()
    return changed(events, number - 1, signature=signature)


def for_another_game(events: Events) -> int:
    """A rotation that was signed for another game."""
    number = rotated(events, 20)
    signature = KEY.sign(rotation_message("g-other", number, OTHER_KEY.public)).hex()
    return changed(events, number - 1, signature=signature)


def to_another_key(events: Events) -> int:
    """The signature of a rotation to a third key."""
    number = rotated(events, 20)
    return changed(events, number - 1, server_key=ServerKey(bytes([3] * 32)).public)


def by_the_key_before_last(events: Events) -> int:
    """A key that is no longer valid names another successor."""
    rotated(events, 20)
    return rotated(events, 30, KEY, ServerKey(bytes([3] * 32)))


def to_nonsense(events: Events) -> int:
    """A key that is none."""
    return changed(events, rotated(events, 20) - 1, server_key="zz")


@pytest.mark.parametrize(
    "forge",
    [by_itself, for_another_place, for_another_game, to_another_key, by_the_key_before_last, to_nonsense],
)
def test_a_forged_rotation_fails_at_its_event(game: Events, forge: Callable[[Events], int]) -> None:
    """With a receipt by whichever key or none: who took over a server cannot pass for it."""
    number = forge(game)
    for by in (KEY, OTHER_KEY, None):
        found = claim(report_of(file_of(game, by)), "I")
        assert ("fails", number) == (found.status, found.event), found.line


def test_a_rotation_after_the_end_fails(game: Events) -> None:
    """Nothing follows the end of a game."""
    number = rotated(game, len(game))
    found = claim(report_of(file_of(game)), "R")
    assert ("fails", number) == (found.status, found.event)
    assert at_of(game, e.GameEnded) == number - 2
