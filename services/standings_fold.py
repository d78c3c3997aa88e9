"""The writing side of the standings: finished games in one order, folded into what is known of each player.

The order matters, since ratings are moved game by game. So each finished game is entered once in one stream, whoever
enters it and however often, and the stream is folded from its start in its order: again from the start gives the same
figures to the last bit. A fold and how far it has got change in one step, and only from where it is known to be; so two
who fold at the same time do no harm. `services.standings` reads what stands here.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from domain.commands import FULL_CHAIN
from domain.ruleset import RuleSet
from domain.state import State
from domain.variants import FAMILIES, VARIANTS
from services.cluster import Client, wire_of
from services.folded import Table
from services.keys import Keys
from services.ratings import Finisher, Skill, rate
from services.standings import RECENT, Family, Recent, Standing, bot_id
from services.standings_scripts import BEGIN, ENTER, FOLD, GIVE_UP, SWITCH
from services.wire import Wire

VERSION: Final = 2
"""Of how games are folded; a program of a higher one folds them all again, beside what is read until that is done."""
AT_ONCE: Final = 50
"""Games that are folded in one step."""
RETIRED_MS: Final = 60_000
"""For how long a fold that is no longer read is kept, for who is just reading it."""

log = logging.getLogger(__name__)


class Sat(msgspec.Struct, frozen=True, array_like=True):
    """A seat at the end of a game."""

    who: str
    total: int
    points: int
    """Of all its hands; `total` may differ where the rules have a floor."""
    left: bool
    side: int
    """Partners have one in common; -1 where everybody plays alone."""
    withheld: bool = False
    """Whether it committed to entropy and never opened it. Not known of games that were entered before it was asked."""


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """A finished game, as far as standings need to know it. Stored: fields are only ever added, with a default."""

    game: str
    at: int
    """When it ended, in ms since 1970 UTC."""
    variant: str
    rated: bool
    """It was opened as rated, by the published rules, and was not cut short."""
    counted: bool
    """It was played by the published rules, though perhaps to another target: its points are points of the family."""
    hands: int
    winners: tuple[int, ...]
    seats: tuple[Sat, ...]


def finished_of(table: Table) -> Finished | None:
    """What the standings are told of a table; none where it is not finished, was given up, or was not dealt here.

    Practice tables and imported games have no seed chain of their own.
    """
    state = table.state
    if state.phase != "over" or state.reason not in ("target", "limit") or state.anchor is None:
        return None
    rules = state.terms.rules
    published = _published(rules)
    own_length = {"hand_limit": None, "target": 1}
    # fewer hands are no whole game where nobody has reached the target
    whole = state.reason == "target" or (rules.hand_limit or FULL_CHAIN) >= FULL_CHAIN
    return Finished(
        game=state.game,
        at=table.at,
        variant=rules.variant,
        rated=state.rated and whole and published is not None and _same(rules, published, hand_limit=None),
        counted=published is not None and _same(rules, published, **own_length),
        hands=len(state.hands),
        winners=state.winners,
        seats=_seats(state),
    )


def _published(rules: RuleSet) -> RuleSet | None:
    variant = VARIANTS.get(rules.variant)
    return None if variant is None or rules.players not in variant.seats else variant.rules(rules.players)


def _same(rules: RuleSet, published: RuleSet, **but: Any) -> bool:
    return msgspec.structs.replace(rules, **but) == msgspec.structs.replace(published, **but)


def _seats(state: State) -> tuple[Sat, ...]:
    return tuple(
        Sat(
            who=one.player if one.bot is None else bot_id(one.bot),
            total=state.totals[seat],
            points=sum(points[seat] for points in state.hands),
            left=one.away,
            side=min(team) if len(team) > 1 else -1,
            withheld=one.entropy_commit is not None and not one.entropy,
        )
        for seat, (one, team) in enumerate(zip(state.seats, state.terms.teams, strict=True))
    )


def fold_game(standings: Mapping[str, Standing], game: Finished) -> dict[str, Standing]:
    """The standings of those who played a game, after it. ``standings`` has what there was of them before.

    Who has handed its seat over has won nothing, and no points: the stand-in bot may have taken them. Where all seats
    that won were handed over, the lowest of the others have.
    """
    family = VARIANTS[game.variant].family if game.variant in VARIANTS else ""
    known = {sat.who: standings.get(sat.who, Standing()) for sat in game.seats}
    skills = _rate(known, game, family) if game.rated else {}
    winners = _winners(game)
    return {
        who: _fold_one(standing, game, family, skills.get(who), who, winners)
        for who, standing in known.items()
    }


def _rate(known: Mapping[str, Standing], game: Finished, family: str) -> dict[str, Skill]:
    before = {
        who: standing.families[family].skill or Skill()
        for who, standing in known.items()
        if family in standing.families
    }
    return rate(before, [Finisher(sat.who, sat.total, sat.left, sat.side) for sat in game.seats])


def _winners(game: Finished) -> set[int]:
    stayed = {seat: sat.total for seat, sat in enumerate(game.seats) if not sat.left}
    winners = {seat for seat in game.winners if seat in stayed}
    return winners or {seat for seat, total in stayed.items() if total == min(stayed.values())}


def _fold_one(
    standing: Standing, game: Finished, family: str, skill: Skill | None, who: str, winners: set[int]
) -> Standing:
    seats = [seat for seat, sat in enumerate(game.seats) if sat.who == who]
    left, withheld = game.seats[seats[0]].left, game.seats[seats[0]].withheld
    won = not winners.isdisjoint(seats)
    families = standing.families
    if game.counted or skill is not None:
        before = families.get(family, Family())
        hands = before.hands
        if game.counted and not left:
            points = sum(game.seats[seat].points for seat in seats)
            hands = hands.add(len(seats) * game.hands, points)
        rated = skill is not None
        after = Family(skill or before.skill, before.games + rated, before.wins + (rated and won), hands)
        families = {**families, family: after}
    total = game.seats[seats[0]].total
    recent = Recent(game.game, game.at, game.variant, seats[0], total, won, left, skill, withheld)
    return Standing(
        families=families,
        finished=standing.finished + 1,
        rated=standing.rated + (skill is not None),
        won=standing.won + won,
        left=standing.left + left,
        withheld=standing.withheld + withheld,
        recent=(recent, *standing.recent)[:RECENT],
    )


class Folds(NamedTuple):
    """The folds there are: the one that is read, and the one that is being made; 0 where there is none."""

    live: int
    next: int


class Ledger:
    """The finished games of a store and their folds; made of a client, or of the wire of somebody who makes many."""

    def __init__(self, client: Client | Wire, keys: Keys) -> None:
        self._wire = client if isinstance(client, Wire) else wire_of(client)
        self._keys = keys

    def enter(self, games: Sequence[Finished]) -> int:
        """Enter finished games, each once however often it comes. Returns how many were new."""
        if not games:
            return 0
        keys = (self._keys.standings_known, self._keys.standings_games)
        args: list[Any] = []
        for game in games:
            args += [game.game, msgspec.json.encode(game)]
        return int(self._wire.run(ENTER, keys, args))

    def begin(self, *, anew: bool = False, hold: bool = False) -> int:
        """See that there is a fold of this version; ``anew`` makes another one. Returns its number.

        One that is to be held is made in any case, and is read only by `switch`.
        """
        keys, args = (self._keys.standings_state,), (VERSION, "h" if hold else "1" if anew else "0")
        newest, given_up = self._wire.run(BEGIN, keys, args)
        self._retire(given_up)
        return int(newest)

    def step(self) -> int:
        """Fold some games that have not been yet. Returns how many; 0 when there is nothing to do.

        What a program of a higher version keeps is left to it.
        """
        self.begin()
        state = self._state()
        folds = Folds(int(state["live"]), int(state.get("next", 0)))
        done = 0
        for fold in filter(None, folds):
            if int(state.get(f"v:{fold}", 0)) == VERSION:
                done += self._advance(fold, state.get(f"at:{fold}", b"").decode())
        held = int(state.get("held", 0)) == folds.next
        if folds.next and not done and not held and int(state.get(f"v:{folds.next}", 0)) == VERSION:
            self.switch(folds.next)
        return done

    def advance(self, fold: int) -> int | None:
        """Fold some games into one fold. Returns how many; none where there is no such fold any more.

        What a program of another version keeps is left to it.
        """
        state = self._state()
        if f"v:{fold}" not in state:
            return None
        if int(state[f"v:{fold}"]) != VERSION:
            return 0
        return self._advance(fold, state.get(f"at:{fold}", b"").decode())

    def place(self) -> tuple[Folds, tuple[bytes, bytes]]:
        """The folds there are, and how far each is."""
        state = self._state()
        folds = Folds(int(state.get("live", 0)), int(state.get("next", 0)))
        return folds, (state.get(f"at:{folds.live}", b""), state.get(f"at:{folds.next}", b""))

    def lag(self) -> int:
        """Finished games that are not in the standings yet."""
        live = self._wire.call("HGET", self._keys.standings_state, "live") or b"0"
        at = self._wire.call("HGET", self._keys.standings_state, b"at:" + live)
        after = "-" if at is None else b"(" + at
        return len(self._wire.call("XRANGE", self._keys.standings_games, after, "+", "COUNT", 1000))

    # --- inside

    def _advance(self, fold: int, at: str) -> int:
        after = f"({at}" if at else "-"
        entries = self._wire.call("XRANGE", self._keys.standings_games, after, "+", "COUNT", AT_ONCE)
        if not entries:
            return 0
        games = _readable(entries)
        players = self._keys.standings_players(fold)
        ids = list(dict.fromkeys(sat.who for game in games for sat in game.seats))
        stored = self._wire.call("HMGET", players, *ids) if ids else []
        standings = {
            who: msgspec.json.decode(one, type=Standing)
            for who, one in zip(ids, stored, strict=True)
            if one is not None
        }
        for game in games:
            try:
                standings |= fold_game(standings, game)
            except Exception:
                # one game that cannot be folded, whatever the reason, must not keep the others waiting
                log.exception("game %s is left out of the standings", game.game)
        boards = [self._keys.standings_board(fold, family) for family in FAMILIES]
        args: list[Any] = [f"at:{fold}", at, entries[-1][0], len(standings)]
        for who, standing in standings.items():
            args += [who, msgspec.json.encode(standing)]
        for line in lines_of(standings):
            args += line
        self._wire.run(FOLD, (self._keys.standings_state, players, *boards), args)
        return len(entries)

    def _state(self) -> dict[str, bytes]:
        flat = self._wire.call("HGETALL", self._keys.standings_state)
        return {name.decode(): value for name, value in zip(flat[::2], flat[1::2], strict=True)}

    def switch(self, fold: int) -> bool:
        """Have a fold read from now on, in one step. False, and nothing is changed, where another is being made."""
        old = self._wire.run(SWITCH, (self._keys.standings_state,), (fold,))
        self._retire(old)
        return bool(old)

    def give_up(self, fold: int) -> bool:
        """Drop a fold that is being made. False where another is."""
        done = bool(self._wire.run(GIVE_UP, (self._keys.standings_state,), (fold,)))
        if done:
            self._wire.pipeline([("UNLINK", key) for key in self._keys_of(fold)])
        return done

    def _retire(self, fold: int) -> None:
        """Let a fold go that nobody will read any more."""
        if fold:
            self._wire.pipeline([("PEXPIRE", key, RETIRED_MS) for key in self._keys_of(fold)])

    def _keys_of(self, fold: int) -> list[str]:
        boards = [self._keys.standings_board(fold, family) for family in FAMILIES]
        return [self._keys.standings_players(fold), *boards]


def _readable(entries: Sequence[Any]) -> list[Finished]:
    """The games of stream entries; one that cannot be read is told and left out, so that the others go on."""
    found = []
    for entry, fields in entries:
        try:
            found.append(msgspec.json.decode(fields[1], type=Finished))
        except msgspec.MsgspecError as error:
            log.error("entry %s of the finished games cannot be read: %s", entry.decode(), error)
    return found


def lines_of(standings: Mapping[str, Standing]) -> list[tuple[int, str, str]]:
    """For each rated family of each player: the number of its board, from 1, the score, the id."""
    return [
        (FAMILIES.index(family) + 1, repr(known.skill.score), who)
        for who, standing in standings.items()
        for family, known in standing.families.items()
        if known.skill is not None
    ]
