"""Who the searching bot is held against: peers that are no bots of the house, as entrants of the arena.

``peer:uct`` is PIMC-UCT with 20 worlds of 50 simulations, as OpenSpiel's xinxin is set up; ``peer:flat:N`` plain flat Monte
Carlo with N playouts a decision; ``peer:duck`` what a beginner does. The first two are ``peers.c``, compiled when they are
first asked for; they pass by the house's rules of thumb.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import shlex
import subprocess
import sysconfig
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from domain import kernel
from domain.bots import Action, Bot
from domain.bots.knowledge import facts_of
from domain.bots.playout import choose_pass
from domain.bots.rules import choose_moon
from domain.bots.search import Position
from domain.cards import SUIT_OF, Card, cards_of, distinct_cards
from domain.ruleset import RuleSet
from domain.view import View
from workers.arena.bots import KINDS, HouseBot
from workers.arena.seat import Entrant

WORLDS, SIMULATIONS = 20, 50
"""Of the PIMC-UCT peer."""
KERNEL = Path(kernel.__file__).parent
SOURCES = (Path(__file__).with_name("peers.c"), KERNEL / "asked.c")


@functools.cache
def compiled_peers() -> ctypes.PyDLL:
    """``peers.c`` as a library, compiled by the compiler that this Python was made with, or ``CC``."""
    folder = tempfile.TemporaryDirectory(prefix="hearts-peers-")
    atexit.register(folder.cleanup)
    library = Path(folder.name) / "peers.so"
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    flags = ["-O3", "-shared", "-fPIC", f"-I{KERNEL}", f"-I{sysconfig.get_path('include')}"]
    abi = [] if sysconfig.get_config_var("Py_GIL_DISABLED") else ["-DPy_LIMITED_API=0x030B0000"]
    subprocess.run(
        [*compiler, *flags, *abi, *map(str, SOURCES), "-o", str(library), "-lm"],
        check=True,
    )
    return ctypes.PyDLL(str(library))


@functools.lru_cache(maxsize=32)
def _terms(rules: bytes) -> Any:
    terms = kernel.compile_rules(msgspec.json.decode(rules, type=RuleSet))
    assert terms is not None, "the peers need the compiled kernel, and rules that it plays by"
    return terms


def _ask(name: str, seen: View, seed: bytes, *numbers: ctypes.c_int | ctypes.c_int64) -> Action:
    """The answer of a compiled peer, that to a pass by rules of thumb."""
    own = seen.own
    assert own is not None
    if seen.phase == "moon":
        return choose_moon(seen)
    position = Position(seen)
    if position.passing:
        return choose_pass(position.thumb, own.hand, seen.rules.pass_count)
    legal = distinct_cards(own.legal)
    if len(legal) == 1:
        return legal[0]
    packed = position.pack()
    chance = ctypes.c_uint64(int.from_bytes(seed[:8], "big"))
    terms, size = ctypes.py_object(_terms(msgspec.json.encode(seen.rules))), ctypes.c_size_t(len(packed) // 8)
    card: int = getattr(compiled_peers(), name)(terms, packed, size, *numbers, chance)
    return card


def uct_policy(seen: View, seed: bytes, _playouts: int) -> Action:
    """Pass by rules of thumb, play by PIMC-UCT."""
    return _ask("peer_uct", seen, seed, ctypes.c_int(WORLDS), ctypes.c_int(SIMULATIONS))


def flat_policy(seen: View, seed: bytes, playouts: int) -> Action:
    """Pass by rules of thumb, play by flat Monte Carlo."""
    return _ask("peer_flat", seen, seed, ctypes.c_int64(playouts))


def duck_policy(seen: View, _seed: bytes, _playouts: int) -> Action:
    """Pass the highest, lead the lowest, stay under where it can, throw the dearest: what a beginner does."""
    own = seen.own
    assert own is not None
    values = facts_of(seen.rules).values

    def height(card: Card) -> tuple[int, int]:
        return card % 13, values[card]

    def price(card: Card) -> tuple[int, int]:
        return values[card], card % 13

    if seen.phase == "moon":
        return "add"
    if seen.phase == "pass":
        count = seen.rules.pass_count
        return tuple(sorted(cards_of(own.hand), key=height, reverse=True)[:count])
    legal = distinct_cards(own.legal)
    if not seen.trick:
        return min(legal, key=height)
    led = SUIT_OF[seen.trick[0]]
    if SUIT_OF[legal[0]] != led or SUIT_OF[legal[-1]] != led:
        return max(legal, key=price)
    best = max(card for card in seen.trick if SUIT_OF[card] == led)
    under = [card for card in legal if card < best]
    if under:
        return max(under)
    return max(legal) if len(seen.trick) + 1 == seen.rules.players else min(legal)


PEERS: dict[str, tuple[Callable[[View, bytes, int], Action], str]] = {
    "uct": (uct_policy, f"PIMC-UCT, {WORLDS} worlds of {SIMULATIONS} simulations"),
    "flat": (flat_policy, "flat Monte Carlo"),
    "duck": (duck_policy, "what a beginner does"),
}


class Peer(HouseBot, frozen=True):
    """A peer as an entrant."""

    @property
    def text(self) -> str:
        """See `Entrant`."""
        return f"peer:{self.bot.name}" + (f":{self.budget}" if self.budget else "")


def read_peer(rest: str, budget: int | None) -> Entrant:
    """The peer of ``peer:REST``, such as ``uct`` or ``flat:3000``."""
    name, _, playouts = rest.partition(":")
    policy, summary = PEERS[name]
    return Peer(
        Bot(name=name, version="1", budget=0, policy=policy, summary=summary),
        int(playouts or budget or 0),
    )


KINDS["peer"] = read_peer
