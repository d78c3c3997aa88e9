"""The client of the contract: what it sends, what it reads, and when it sends again."""

from __future__ import annotations

from typing import Any

import httpx
import msgspec
import pytest
from flask import Flask

from api.client import Client, Problem, Strange, Unreachable, is_token, server_url
from domain.shuffle import commit_entropy
from domain.variants import VARIANTS
from services.wiring import Services
from tests.api.wires import Wire, answering

OPENING = bytes(range(32))
BOTS: list[Any] = ["me", {"bot": "rules"}, {"bot": "rules"}, {"bot": "rules"}]


class Naps:
    """Waits that take no time, and are remembered."""

    def __init__(self) -> None:
        self.taken: list[float] = []

    def __call__(self, seconds: float) -> None:
        """Sleep."""
        self.taken.append(seconds)


@pytest.fixture
def naps() -> Naps:
    """The waits of `client`."""
    return Naps()


@pytest.fixture
def wire(app: Flask, services: Services) -> Wire:
    """A connection on which bots move at once."""
    return Wire(app, services.tables)


@pytest.fixture
def client(wire: Wire, naps: Naps) -> Client:
    """A player at the application."""
    made = Client("http://hearts.test", transport=wire, sleep=naps, waits=(1, 2), chance=lambda: 0.0)
    made.new_player("Anna")
    return made


def events_of(client: Client, game: str) -> list[dict[str, Any]]:
    """All events of a game, decoded."""
    return [msgspec.json.decode(item.event) for item in client.events(game).events]


# --- against the application


def test_variants_come_with_their_rules(client: Client) -> None:
    """All of them, and one for a number of seats."""
    found = {variant.name: variant for variant in client.variants()}
    assert set(VARIANTS) == set(found)
    assert [3, 4, 5, 6, 7] == found["standard"].players
    assert (17, "2D") == (
        (rules := client.variant("standard", 3).rules)["hand"],
        rules["removed"],
    )


def test_entropy_is_committed_to_and_opened(client: Client) -> None:
    """The commitment stands in the event of the seat, the opening in that of readiness, and the cards are dealt."""
    table = client.open_table("basic", BOTS, {"target": 30}, OPENING)
    assert ("open", 0, 30) == (table.status, table.you, table.ruleset().target)
    assert 13 == len(client.ready(table.id, OPENING).hand.split())
    by_name = {event["t"]: event for event in reversed(events_of(client, table.id))}
    assert commit_entropy(OPENING).hex() == by_name["seat_taken"]["entropy_commit"]
    assert OPENING.hex() == by_name["seat_ready"]["entropy"]


def test_a_hand_can_be_played(client: Client) -> None:
    """Pass and plays through the client, with what is private to the seat in the events."""
    game = client.open_table("basic", BOTS, None, OPENING).id
    hand = client.ready(game, OPENING).hand
    client.pass_cards(game, hand.split()[:3])
    private = [item.private for item in client.events(game).events if item.private]
    assert hand == private[0]["cards"]
    assert 3 == len(private[2]["received"].split())
    while (table := client.table(game)).hand_number == 1:
        client.play(game, table.legal.split()[0])
    assert (2, 1) == (table.hand_number, len(table.hands))


def test_others_sit_down_stand_up_and_come_back(client: Client, app: Flask) -> None:
    """Seats are taken and left; after the deal the stand-in plays until the player takes it back."""
    game = client.open_table("basic", ["me", "open", *BOTS[2:]]).id
    with Client("http://hearts.test", transport=Wire(app)) as other:
        other.new_player("Bea")
        assert 1 == other.sit(game, 1, OPENING).you
        assert "open" == other.stand(game, 1).seats[1].kind
        assert 1 == other.sit(game).you
        client.ready(game)
        assert "playing" == other.ready(game).status
        assert other.stand(game, 1).seats[1].away
        assert not other.take_back(game, 1).seats[1].away


def test_events_are_read_from_a_cursor(client: Client) -> None:
    """Those after it, and none where there are none; the cursor goes on."""
    game = client.open_table("basic", BOTS).id
    first = client.events(game)
    assert [1, 2, 3, 4, 5] == [item.seq for item in first.events]
    assert ([], 5) == ((rest := client.events(game, first.next)).events, rest.next)


def test_a_refusal_is_a_problem_in_the_servers_words(client: Client) -> None:
    """Status, code, detail, hint and the cards that may be played."""
    game = client.open_table("basic", BOTS, {"pass_count": 0}, OPENING).id
    table = client.ready(game, OPENING)
    table = client.table(game)
    wrong = next(card for card in table.hand.split() if card not in table.legal.split())
    with pytest.raises(Problem) as told:
        client.play(game, wrong)
    problem = told.value
    assert (422, table.legal) == (problem.status, problem.legal)
    assert problem.code.startswith("play/")
    assert wrong in problem.detail
    assert problem.hint in str(problem)
    assert client.table(game).seq == table.seq


def test_all_problems_of_a_rule_set_are_told(client: Client) -> None:
    """One sentence each."""
    with pytest.raises(Problem) as told:
        client.open_table("basic", BOTS, {"target": 0, "tie": "never"})
    assert ("rules/invalid", 2) == (told.value.code, len(told.value.errors))


@pytest.mark.parametrize("game", ["nothing", "..", ".", "a/b", "a b?x=1#y", "é"])
def test_an_odd_id_stays_one_part_of_the_path(client: Client, game: str) -> None:
    """Whatever is asked for is asked as the id of a game, and there is none."""
    with pytest.raises(Problem) as told:
        client.table(game)
    assert 404 == told.value.status


# --- broken connections


def test_a_move_whose_answer_is_lost_is_made_once(client: Client, wire: Wire, naps: Naps) -> None:
    """It is sent again under its key, and the server gives the first outcome again."""
    game = client.open_table("basic", BOTS, {"pass_count": 0}, OPENING).id
    client.ready(game, OPENING)
    card = client.table(game).legal.split()[0]
    wire.seen.clear()
    wire.faults = ["dropped", "refused", None]
    client.play(game, card)
    keys = wire.keys()
    assert (3, 1) == (len(keys), len(set(keys)))
    assert [1, 2] == naps.taken
    mine = [event for event in events_of(client, game) if event["t"] == "card_played" and event["seat"] == 0]
    assert [card] == [event["card"] for event in mine]


def test_a_table_whose_answer_is_lost_is_opened_once(client: Client, wire: Wire) -> None:
    """The repeat finds the same table."""
    wire.faults = ["dropped"]
    game = client.open_table("basic", BOTS, None, OPENING).id
    assert 5 == client.events(game).next


def test_each_request_has_a_key_of_its_own(client: Client, wire: Wire) -> None:
    """Two equal requests are two requests; reading needs no key."""
    wire.seen.clear()
    one, two = client.open_table("basic", BOTS), client.open_table("basic", BOTS)
    client.table(one.id)
    assert one.id != two.id
    first, second, reading = wire.keys()
    assert first != second
    assert reading is None


def test_a_new_player_is_not_made_twice(wire: Wire, naps: Naps) -> None:
    """That request takes no key: it is sent again only where it never arrived."""
    client = Client("http://hearts.test", transport=wire, sleep=naps, waits=(1,), chance=lambda: 0.0)
    wire.faults = ["dropped"]
    with pytest.raises(Unreachable):
        client.new_player("Anna")
    wire.faults = ["refused"]
    assert client.new_player("Anna").token == client.token
    assert [None] * 3 == wire.keys()
    assert [1] == naps.taken


def test_clients_come_back_one_after_the_other(wire: Wire, naps: Naps) -> None:
    """Each waits as long as is planned, and by chance up to a quarter more."""
    client = Client("http://hearts.test", transport=wire, sleep=naps, waits=(1, 2), chance=lambda: 0.8)
    wire.faults = ["refused"] * 2
    client.new_player("Anna")
    assert [1.2, 2.4] == naps.taken


def test_a_server_that_stays_away_is_said_to_be(client: Client, wire: Wire, naps: Naps) -> None:
    """After the last wait; each wait is told with its reason before it begins."""
    told: list[tuple[float, str]] = []
    client.on_wait = lambda seconds, why: told.append((seconds, why))
    wire.faults = ["refused"] * 3
    with pytest.raises(Unreachable) as error:
        client.variants()
    assert "http://hearts.test" in str(error.value)
    assert [(1, "connection refused"), (2, "connection refused")] == told
    assert [1, 2] == naps.taken


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_server_that_asks_to_wait_is_waited_for(
    client: Client, wire: Wire, naps: Naps, status: int
) -> None:
    """As long as it asks, if that is longer than planned, and never for ever; then its answer stands."""
    busy = [httpx.Response(status, headers={"Retry-After": after}) for after in ("7", "9999999")]
    wire.faults = [*busy]
    assert client.variants()
    assert [7, 30] == naps.taken
    wire.faults = [httpx.Response(status, json={"status": status, "code": "x/y", "detail": "busy"})] * 3
    with pytest.raises(Problem) as told:
        client.variants()
    assert (status, "busy") == (told.value.status, told.value.detail)


def test_a_wrong_retry_after_is_no_harm(client: Client, wire: Wire, naps: Naps) -> None:
    """A date or nonsense leaves the planned wait."""
    wire.faults = [httpx.Response(503, headers={"Retry-After": "Mon, 30 Nov 2026 12:00:00 GMT"})]
    client.variants()
    assert [1] == naps.taken


# --- other servers


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>a page</html>"),
        httpx.Response(200, json={"id": "g"}),
        httpx.Response(200, content=b"\xff\xfe"),
        httpx.Response(404, text="<html>not here</html>"),
        httpx.Response(301, headers={"Location": "http://elsewhere.test"}),
        httpx.Response(404, json=["no", "problem"]),
    ],
)
def test_what_is_no_hearts_server_is_told_apart(answer: httpx.Response) -> None:
    """An answer that cannot be read is strange, never a traceback."""
    with (
        Client("http://page.test", transport=answering(lambda _: answer)) as client,
        pytest.raises(Strange) as told,
    ):
        client.table("g")
    assert "http://page.test" in str(told.value)


def test_a_newer_server_may_say_more() -> None:
    """Members that are not known are ignored, those that may be missing are not missed."""
    answer = httpx.Response(404, json={"code": "game/unknown", "new": {"deep": 1}})
    with (
        Client("http://hearts.test", transport=answering(lambda _: answer)) as client,
        pytest.raises(Problem) as told,
    ):
        client.table("g")
    assert (404, "game/unknown", "the server answered 404") == (
        told.value.status,
        told.value.code,
        told.value.detail,
    )


def test_the_token_goes_in_the_header_alone() -> None:
    """Never in an address."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"variants": []})

    with Client("http://hearts.test", "hearts_secret", transport=answering(answer)) as client:
        client.variants()
    assert "Bearer hearts_secret" == seen[0].headers["Authorization"]
    assert "secret" not in str(seen[0].url)


def test_waiting_for_events_outlasts_the_servers_wait() -> None:
    """The answer is waited for longer than the server was asked to wait."""
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"events": [], "next": 7})

    with Client("http://hearts.test", transport=answering(answer)) as client:
        client.events("g", 7, 25)
    assert b"after=7&wait=25" == seen[0].url.query
    assert seen[0].extensions["timeout"]["read"] > 25


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000"),
        (" localhost:8000 ", "http://localhost:8000"),
        ("https://hearts.test/here/", "https://hearts.test/here"),
        ("[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_addresses_are_read_kindly(text: str, url: str) -> None:
    """A scheme may be left out, a slash at the end is dropped."""
    assert url == server_url(text)


@pytest.mark.parametrize(
    "text",
    ["", "http://", "ftp://x", "http://x:port", "http://me:pass@x", "http://x/?a=1", "http://x/#a", "::::"],
)
def test_what_is_no_address_is_refused(text: str) -> None:
    """Before anything is asked of it."""
    with pytest.raises(ValueError):
        server_url(text)


def test_a_server_below_a_path_is_asked_there() -> None:
    """A house behind a proxy may have a path in front."""
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.path)
        return httpx.Response(200, json={"variants": []})

    with Client("https://hearts.test/here", transport=answering(answer)) as client:
        client.variants()
    assert ["/here/v1/variants"] == seen


def test_the_environments_proxy_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy that the environment names does not come between."""
    proxies: list[Any] = []
    begin = httpx.HTTPTransport.__init__

    def note(self: httpx.HTTPTransport, **options: Any) -> None:
        proxies.append(options.get("proxy"))
        begin(self, **options)

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setattr(httpx.HTTPTransport, "__init__", note)
    Client("http://hearts.test").close()
    assert [None] == proxies


@pytest.mark.parametrize(
    ("text", "sent"), [("hearts_x-1", True), ("", False), ("é", False), ("a b", False), ("a\n", False)]
)
def test_a_token_is_what_a_header_can_carry(text: str, sent: bool) -> None:
    """Anything else is refused here as the server would refuse it, and nothing is sent."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json={"variants": []})

    with Client(token=text, transport=httpx.MockTransport(answer)) as client:
        assert sent == is_token(text)
        if sent:
            assert [] == client.variants()
        else:
            with pytest.raises(Problem) as caught:
                client.variants()
            assert (401, "auth/required") == (caught.value.status, caught.value.code)
    assert sent == bool(asked)
