"""Every family and number of seats, played to the end over HTTP by as many clients at once as there are seats."""

from __future__ import annotations

import secrets
import threading
from itertools import pairwise

import httpx
import pytest

from api.client import Client, Events, Problem, Table
from domain.record import read_record, replay
from domain.shuffle import genesis_head, next_head
from domain.variants import VARIANTS
from services.proof import read_proof
from services.verdicts import verify_proof

TABLES = [(name, seats) for name, variant in VARIANTS.items() for seats in variant.seats]
TARGET = 26
"""Games end sooner than usual."""
LONG_POLL = 20


class Person(threading.Thread):
    """A client that plays one seat until the game is over: the first legal card, the first cards as a pass."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.client = Client(url)
        self.id = self.client.new_player("A person").id
        self.opening = secrets.token_bytes(32)
        self.game = ""
        self.table: Table | None = None
        self.seen: list[tuple[int, str, str]] = []
        self.failed: BaseException | None = None

    def run(self) -> None:
        """Get ready, then follow the events and move whenever it is one's turn."""
        try:
            self.client.ready(self.game, self.opening)
            while self._follow() and (self.table is None or self.table.phase != "over"):
                pass
            self._follow(wait=0)
        except BaseException as error:  # noqa: BLE001 (told by the test, in the thread that waits)
            self.failed = error
        finally:
            self.client.close()

    def _follow(self, wait: int = LONG_POLL) -> bool:
        after = self.seen[-1][0] if self.seen else 0
        events: Events = self.client.events(self.game, after, wait)
        self.seen += [(item.seq, item.head, item.event) for item in events.events]
        self.table = self.client.table(self.game)
        self._move(self.table)
        return bool(events.events) or wait > 0

    def _move(self, table: Table) -> None:
        hand = table.hand.split()
        if table.phase == "pass" and table.you is not None and not table.seats[table.you].passed:
            self.table = self.client.pass_cards(self.game, hand[: table.rules["pass_count"]])
        elif table.phase == "moon" and table.turn == table.you:
            self.table = self.client.choose_moon(self.game, "add")
        elif table.legal:
            self.table = self.client.play(self.game, table.legal.split()[0])


def play_out(url: str, variant: str, seats: int) -> list[Person]:
    """A game of persons alone, each in a thread of its own."""
    people = [Person(url) for _ in range(seats)]
    host = people[0]
    opened = host.client.open_table(
        variant,
        ["me", *["open"] * (seats - 1)],
        {"players": seats, "target": TARGET},
        host.opening,
    )
    for person in people:
        person.game = opened.id
    for person in people[1:]:
        person.client.sit(opened.id, opening=person.opening)
    for person in people:
        person.start()
    for person in people:
        person.join(150)
    return people


@pytest.mark.parametrize(("variant", "seats"), TABLES)
def test_a_whole_game_over_http(house_url: str, variant: str, seats: int) -> None:
    """All see the same chain of events to the end; the proof and the record hold, fair for every seat."""
    people = play_out(house_url, variant, seats)
    assert [person.failed for person in people] == [None] * seats
    table = people[0].table
    assert table is not None
    assert (table.status, table.reason) == ("over", "target")
    for person in people:
        head = genesis_head(person.game)
        for _seq, told, public in person.seen:
            head = next_head(head, public.encode())
            assert told == head.hex()
        assert [seq for seq, _, _ in person.seen] == list(range(1, table.seq + 1))
        assert head.hex() == table.head
    with httpx.Client(base_url=f"{house_url}/v1/games/{people[0].game}", trust_env=False) as http:
        report = verify_proof(read_proof(http.get("proof").content))
        verdict = replay(read_record(http.get("record").content))
    fair, whole, ruled, _ = report.claims
    assert (fair.status, whole.status, ruled.status) == ("holds", "holds", "holds")
    assert fair.detail.startswith(f"for seats {', '.join(map(str, range(seats)))},")
    assert (verdict.ok, verdict.totals, verdict.winners) == (True, table.totals, table.winners)


def test_a_double_click_plays_one_card(house_url: str) -> None:
    """Two equal requests at once under one key: one card is played, both are told of it."""
    people = [Person(house_url) for _ in range(3)]
    game = people[0].client.open_table("standard", ["me", "open", "open"], {"players": 3, "pass_count": 0}).id
    for person in people[1:]:
        person.client.sit(game)
    for person in people:
        table = person.client.ready(game)
    mover = next(person for person in people if person.client.table(game).legal)
    card = mover.client.table(game).legal.split()[0]
    headers = {"Authorization": f"Bearer {mover.client.token}", "Idempotency-Key": "one-click"}
    answers: list[httpx.Response] = []
    barrier = threading.Barrier(2)

    def click() -> None:
        with httpx.Client(trust_env=False) as http:
            barrier.wait()
            answers.append(
                http.post(f"{house_url}/v1/games/{game}/moves", json={"play": card}, headers=headers)
            )

    clicks = [threading.Thread(target=click) for _ in range(2)]
    for one in clicks:
        one.start()
    for one in clicks:
        one.join(30)
    assert [answer.status_code for answer in answers] == [200, 200]
    assert {answer.json()["seq"] for answer in answers} == {table.seq + 1}
    assert sorted(answer.headers.get("Idempotency-Replayed", "") for answer in answers) == ["", "true"]
    with pytest.raises(Problem) as refused:
        mover.client.play(game, card)
    assert refused.value.code == "play/not_your_turn"
    events = mover.client.events(game).events
    assert all(later.seq == earlier.seq + 1 for earlier, later in pairwise(events))
    for person in people:
        person.client.close()
