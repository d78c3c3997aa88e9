"""How a table comes to play: opened, sat at, made ready, locked, dealt. Decisions behind `domain.game.decide`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import msgspec

from domain import commands as c
from domain import events as e
from domain.cards import Seat, format_cards
from domain.fold import apply
from domain.refusals import InvalidRules, Refused
from domain.ruleset import MOST_HANDS, RuleSet, check_rules
from domain.shuffle import (
    Opening,
    chain_link,
    commit_cards,
    commit_entropy,
    deal_cards,
    deal_seed,
    entropy_root,
    hiding_key,
)
from domain.state import INVITED, HandState, Phase, SeatState, State
from domain.waiting import deadline


class Run:
    """A decision under way: the events so far and the state after them, on a copy of its own."""

    def __init__(self, state: State | None, at: int) -> None:
        self.state: State = State.__new__(State) if state is None else state.copy()
        self.at = at
        self.events: list[e.Event] = []

    def add(self, event: e.Event) -> None:
        """Let ``event`` happen."""
        apply(self.state, event)
        self.events.append(event)

    @property
    def phase(self) -> Phase:
        """What the table waits for after the events so far."""
        return self.state.phase

    @property
    def hand(self) -> HandState:
        """The hand in play."""
        hand = self.state.hand
        assert hand is not None
        return hand


def open_table(run: Run, command: c.OpenTable) -> None:
    """Open the table, seat who sits at once, and lock it where bots alone play."""
    rules = _limited(command)
    _check_times(command)
    _check_plans(command.seats, rules.players)
    reserved = {
        seat: INVITED if plan.kind == "invited" else plan.player
        for seat, plan in enumerate(command.seats)
        if plan.kind in ("reserved", "invited")
    }
    chain = command.secret.hex()
    run.add(
        e.GameCreated(
            at=run.at,
            game=command.game,
            rules=rules,
            anchor=chain_link(command.secret, command.chain, 0).hex(),
            chain=command.chain,
            server_key=command.server_key,
            ready_seconds=command.ready_seconds,
            stand_in=command.stand_in,
            rated=command.rated,
            hints=command.hints,
            clock=command.clock,
            hidden=e.OpenedSecret(chain=chain, reserved=reserved),
            abandon_seconds=command.abandon_seconds,
        )
    )
    for seat, plan in enumerate(command.seats):
        if plan.kind == "player":
            _take_seat(run, seat, plan.player, plan.entropy_commit, plan.public_key)
        elif plan.kind == "bot":
            run.add(
                e.SeatTaken(
                    at=run.at,
                    seat=seat,
                    kind="bot",
                    player=None,
                    bot=plan.bot,
                    entropy_commit=None,
                    public_key=None,
                )
            )
    if all(one.ready for one in run.state.seats):
        _lock(run)


def _limited(command: c.OpenTable) -> RuleSet:
    """The rules with the hand limit that the seed chain sets."""
    rules = check_rules(command.rules)
    if not 1 <= command.chain <= MOST_HANDS:
        raise InvalidRules([f"chain must be a number from 1 to {MOST_HANDS}; it is {command.chain}"])
    if rules.hand_limit is None:
        return msgspec.structs.replace(rules, hand_limit=command.chain)
    if rules.hand_limit > command.chain:
        raise InvalidRules(
            [f"hand_limit {rules.hand_limit} is more than the {command.chain} hands of the seed chain"]
        )
    return rules


def _check_times(command: c.OpenTable) -> None:
    low, high = c.READY_SECONDS
    if not low <= command.ready_seconds <= high:
        raise Refused(
            "request/invalid",
            f"ready_seconds must be a number from {low} to {high}; it is {command.ready_seconds}",
        )
    if command.clock is not None and not 1 <= command.clock <= c.LONGEST_CLOCK:
        raise Refused(
            "request/invalid",
            f"clock must be a number of seconds from 1 to {c.LONGEST_CLOCK}, or none; it is {command.clock}",
        )
    low, high = c.ABANDON_SECONDS
    if not low <= command.abandon_seconds <= high:
        raise Refused(
            "request/invalid",
            f"abandon_seconds must be a number from {low} to {high}; it is {command.abandon_seconds}",
        )


def _check_plans(plans: tuple[c.SeatPlan, ...], players: int) -> None:
    if len(plans) != players:
        raise Refused(
            "request/invalid",
            f"seats lists {len(plans)} seats, and the rules have {players}",
            hint="one entry a seat",
        )
    for seat, plan in enumerate(plans):
        if (plan.kind in ("player", "reserved") and not plan.player) or (plan.kind == "bot" and not plan.bot):
            raise Refused("request/invalid", f"seat {seat} is a {plan.kind} seat and does not say whose")
    persons = Counter(plan.player for plan in plans if plan.kind in ("player", "reserved"))
    if any(seats > 1 for seats in persons.values()):
        raise Refused("seat/taken", "a player has two seats in the plan", hint="one seat a player")


def _take_seat(run: Run, seat: Seat, player: str, commit: str | None, public_key: str | None) -> None:
    seats = run.state.seats
    if commit is not None and any(one.entropy_commit == commit for one in seats):
        raise Refused(
            "entropy/repeated",
            "this commitment is at the table already",
            hint="commit to 32 fresh random bytes of your own",
        )
    run.add(
        e.SeatTaken(
            at=run.at,
            seat=seat,
            kind="player",
            player=player,
            bot=None,
            entropy_commit=commit,
            public_key=public_key,
        )
    )


def _require_seats_phase(state: State) -> None:
    if state.phase == "over":
        raise Refused("game/over", "the game is over")
    if state.phase != "seats":
        raise Refused("seat/taken", "the game has started, and its seats are fixed")


def sit_down(run: Run, command: c.SitDown) -> None:
    """Take a free seat."""
    state = run.state
    own = state.seat_of(command.player)
    if own is not None and state.phase != "over":
        raise Refused("seat/taken", f"you have seat {own} at this table already", hint="one seat a player")
    _require_seats_phase(state)
    if state.first_ready_at is not None:
        raise Refused("seat/taken", "a player is ready already, so the seats are fixed")
    seat = _free_seat(state, command) if command.seat is None else command.seat
    one = seat_state(state, seat)
    mine = ("", command.player, INVITED) if command.invited else ("", command.player)
    if one.kind != "open" or one.reserved not in mine:
        kept = "for who is invited to it" if one.reserved == INVITED else "for another player"
        what = "taken" if one.kind != "open" else f"kept {kept}"
        raise Refused("seat/taken", f"seat {seat} is {what}", hint="choose an open seat, or none for any")
    _take_seat(run, seat, command.player, command.entropy_commit, command.public_key)


def _free_seat(state: State, command: c.SitDown) -> Seat:
    for wanted in (command.player, ""):
        for seat, one in enumerate(state.seats):
            if one.kind == "open" and one.reserved == wanted:
                return seat
    raise Refused("game/full", "no seat is open to you at this table")


def seat_state(state: State, seat: Seat) -> SeatState:
    """One seat of the table. Raises `Refused` where it has no such seat."""
    if not 0 <= seat < len(state.seats):
        raise Refused("request/invalid", f"there is no seat {seat}; seats are 0 to {len(state.seats) - 1}")
    return state.seats[seat]


def _own_seat(state: State, player: str, seat: Seat) -> SeatState:
    one = seat_state(state, seat)
    if one.kind != "player" or one.player != player:
        raise Refused("seat/not_yours", f"seat {seat} is not yours")
    return one


def stand_up(run: Run, command: c.StandUp) -> None:
    """Free a seat before anyone is ready; after the lock hand it to the stand-in bot."""
    state = run.state
    one = _own_seat(state, command.player, command.seat)
    if state.phase == "over":
        raise Refused("game/over", "the game is over")
    if state.phase != "seats":
        if one.away and not one.returning:
            raise Refused("seat/not_yours", "the stand-in bot plays this seat already")
        run.add(e.SeatToBot(at=run.at, seat=command.seat))
    elif state.first_ready_at is not None:
        raise Refused(
            "seat/taken",
            "a player is ready already, so the seats are fixed until the deal",
            hint="after the deal you can hand the seat to the stand-in bot",
        )
    else:
        run.add(e.SeatLeft(at=run.at, seat=command.seat))


def take_back(run: Run, command: c.TakeBack) -> None:
    """Return to a seat that the stand-in bot plays."""
    one = _own_seat(run.state, command.player, command.seat)
    if run.state.phase == "over":
        raise Refused("game/over", "the game is over")
    if not one.away or one.returning:
        raise Refused("seat/taken", "you play this seat yourself, or will with the next hand")
    run.add(e.SeatTakenBack(at=run.at, seat=command.seat))


def get_ready(run: Run, command: c.GetReady) -> None:
    """Open one's entropy; the last to be ready locks the table.

    When the time is over nobody opens any more, though the lock may not have come yet: else the house could give those
    it likes more time, in which they have seen what the others opened.
    """
    state = run.state
    if state.phase not in ("seats", "over"):
        raise Refused("seat/taken", "the game has started, and nobody has to get ready any more")
    _require_seats_phase(state)
    seat = state.seat_of(command.player)
    if seat is None:
        raise Refused("seat/not_yours", "you have no seat at this table", hint="sit down first")
    if any(one.kind == "open" for one in state.seats):
        raise Refused(
            "game/not_started",
            "a seat is still open, and entropy is opened only at a full table",
            hint="wait until all seats are taken",
        )
    one = state.seats[seat]
    if one.ready:
        raise Refused("seat/taken", "you are ready already")
    due = deadline(state)
    if due is not None and command.at >= due:
        raise Refused(
            "seat/taken",
            "the time to get ready is over",
            hint="wait: the cards are dealt without what you committed to, and the seat stays yours",
        )
    _check_opening(one, command.entropy)
    run.add(e.SeatReady(at=run.at, seat=seat, entropy=command.entropy))
    if all(other.ready for other in run.state.seats):
        _lock(run)


def _check_opening(seat: SeatState, entropy: str) -> None:
    if seat.entropy_commit is None:
        right = entropy == ""
    else:
        try:
            opened = bytes.fromhex(entropy)
        except ValueError:
            opened = b""
        right = (
            len(opened) == 32
            and opened.hex() == entropy
            and commit_entropy(opened).hex() == seat.entropy_commit
        )
    if not right:
        raise Refused(
            "entropy/wrong_opening",
            "this does not open the commitment made when sitting down",
            hint="send the 32 bytes committed to in lower-case hex, or nothing where none were",
        )


def lock_table(run: Run, command: c.LockTable) -> None:
    """Lock without the openings that did not come in time."""
    state = run.state
    _require_seats_phase(state)
    if state.first_ready_at is None:
        raise Refused("game/not_started", "nobody is ready yet")
    if command.at < state.first_ready_at + state.ready_seconds * 1000:
        raise Refused("game/not_started", "the time to get ready is not over")
    _lock(run)


def _lock(run: Run) -> None:
    openings = [(seat, str(one.kind), one.entropy) for seat, one in enumerate(run.state.seats)]
    run.add(lock_event(run.state.game, openings, run.at))
    deal_hand(run, 1)


def lock_event(game: str, openings: Sequence[Opening], at: int) -> e.GameLocked:
    """The lock of a table at which the seats have opened so much entropy; ``at`` is in ms."""
    return e.GameLocked(at=at, entropy=tuple(openings), root=entropy_root(game, openings).hex())


def deal_hand(run: Run, number: int) -> None:
    """Deal hand ``number`` from its secret and the players' entropy."""
    state = run.state
    terms = state.terms
    secret = chain_link(bytes.fromhex(state.chain_secret), state.chain, number)
    seed = deal_seed(secret, state.game, number, bytes.fromhex(state.root))
    hands, kitty = deal_cards(terms.deck, terms.players, terms.hand, seed)
    deal = tuple(format_cards(hand) for hand in hands)
    extras = format_cards(kitty)
    run.add(
        e.HandDealt(
            at=run.at,
            hand=number,
            hands=tuple(
                commit_cards(hiding_key(secret, str(seat), "hand"), text).hex()
                for seat, text in enumerate(deal)
            ),
            kitty=commit_cards(hiding_key(secret, "kitty", "kitty"), extras).hex() if kitty else None,
            hidden=e.DealtSecret(secret=secret.hex(), deal=deal, kitty=extras),
        )
    )
