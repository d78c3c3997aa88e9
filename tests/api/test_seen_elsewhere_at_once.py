"""Faults seen in other servers of games where much happens at once, and what happens here in their place.

Two API processes serve one store, one of them with two workers, and nothing else runs: no read model is ever up to date,
so whatever is judged here is judged by the log.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial

import httpx
import pytest

from tests.api.callers import (
    Caller,
    Pair,
    at_once,
    code,
    cut_off,
    open_table,
    play_on,
    raw_status,
    seat_all,
    two_servers,
)
from tests.api.test_serve import Server

NO_PASS = {"pass_count": 0}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    """The servers that the tests of a process share; each test has players and tables of its own."""
    with two_servers(tmp_path_factory.mktemp("pair")) as both:
        yield both


@pytest.fixture
def pair(servers: tuple[Server, Server]) -> Iterator[Pair]:
    """The servers, and the connections of one test."""
    with ExitStack() as stack:
        yield Pair(*servers, stack)


# --- a double click draws twice


def test_a_double_click_plays_one_card(pair: Pair) -> None:
    """Elsewhere both clicks drew a card. Here one of six is carried out, and the others find the turn gone."""
    four = pair.four()
    game = seat_all(four, decks=2, hand=26, **NO_PASS)
    turn = four[0].table(game)["turn"]
    card = four[turn].table(game)["legal"].split()[0]
    answers = pair.clicks(four[turn], lambda tab: tab.move(game, {"play": card}))
    assert [200, 409, 409, 409, 409, 409] == sorted(answer.status_code for answer in answers)
    assert {"play/not_your_turn"} == {one.json()["code"] for one in answers if one.status_code == 409}
    assert 1 == len(four[0].events(game, "card_played"))
    assert 25 == len(four[turn].table(game)["hand"].split())


def test_a_double_click_under_a_key_is_answered_alike(pair: Pair) -> None:
    """With a key all six clicks hear the one outcome, five of them marked as repeats."""
    four = pair.four()
    game = seat_all(four, decks=2, hand=26, **NO_PASS)
    turn = four[0].table(game)["turn"]
    card = four[turn].table(game)["legal"].split()[0]
    answers = pair.clicks(four[turn], lambda tab: tab.move(game, {"play": card}, Idempotency_Key="click"))
    assert {200} == {answer.status_code for answer in answers}
    assert 1 == len({(answer.content, answer.headers["ETag"]) for answer in answers})
    assert 5 == sum("Idempotency-Replayed" in answer.headers for answer in answers)
    assert 1 == len(four[0].events(game, "card_played"))


def test_a_double_click_opens_one_table(pair: Pair) -> None:
    """Under a key six requests for a new table open one."""
    anna = pair.caller()
    body = {"variant": "basic", "seats": ["me", "open", "open", "open"]}
    answers = pair.clicks(anna, lambda tab: tab.post("/v1/games", body, Idempotency_Key="new"))
    assert {201} == {answer.status_code for answer in answers}
    assert 1 == len({(answer.content, answer.headers["Location"]) for answer in answers})
    assert 5 == sum("Idempotency-Replayed" in answer.headers for answer in answers)


# --- a hello resets the counter, and a resend is accepted again


def test_a_new_connection_makes_no_resend_new(pair: Pair) -> None:
    """Elsewhere saying hello set the counter back, and what had been sent before was carried out again.

    Here nothing about a key hangs on a connection, a stream, a process or on what the player did last.
    """
    four = pair.four()
    game = seat_all(four, decks=2, hand=26, **NO_PASS)
    mover, card, first = play_to_twin(four, game)
    table = mover.table(game)
    for again in [mover.again(url) for url in pair.urls * 3]:
        assert 200 == again.http.get("/v1/me").status_code
        with again.stream(game) as items:
            assert 1 == next(items)["seq"]
        resent = again.move(game, {"play": card}, Idempotency_Key="twin")
        assert (first.content, "true") == (resent.content, resent.headers["Idempotency-Replayed"])
    assert table == mover.table(game)
    assert 200 == mover.move(game, {"play": card}, Idempotency_Key="other").status_code


def play_to_twin(four: list[Caller], game: str) -> tuple[Caller, str, httpx.Response]:
    """Play until somebody is to play who may play the twin of a card that it has played under the key ``twin``."""
    played: dict[int, tuple[str, httpx.Response]] = {}
    while True:
        turn = four[0].table(game)["turn"]
        table = four[turn].table(game)
        legal, hand = table["legal"].split(), table["hand"].split()
        if turn in played and played[turn][0] in legal:
            return four[turn], *played[turn]
        twins = [card for card in legal if hand.count(card) == 2]
        if turn in played or not twins:
            assert 200 == four[turn].move(game, {"play": legal[0]}).status_code
        else:
            played[turn] = twins[0], four[turn].move(game, {"play": twins[0]}, Idempotency_Key="twin")


# --- two posts at one version are both accepted


def test_of_posts_at_one_version_one_is_accepted(pair: Pair) -> None:
    """Elsewhere both of two posts at one version were let in. Here one of four is, and the others hear 412."""
    four = pair.four()
    game = seat_all(four)
    seen = four[0].http.get(f"/v1/games/{game}")
    etag = seen.headers["ETag"]
    passes = [one.table(game)["hand"].split()[:3] for one in four]
    answers = at_once(
        [
            partial(one.move, game, {"pass": cards}, If_Match=etag)
            for one, cards in zip(four, passes, strict=True)
        ]
    )
    assert [200, 412, 412, 412] == sorted(answer.status_code for answer in answers)
    after = next(answer for answer in answers if answer.status_code == 200)
    for answer in answers:
        assert answer.headers["ETag"] == after.headers["ETag"]
        assert 200 == answer.status_code or ("version/stale", seen.json()["seq"] + 1) == (
            answer.json()["code"],
            answer.json()["seq"],
        )
    assert 1 == len(four[0].events(game, "cards_passed"))


def test_without_a_version_all_four_passes_are_accepted(pair: Pair) -> None:
    """Whoever names no version is judged by the table as it is: four passes at once, on two servers, all count."""
    four = pair.four()
    game = seat_all(four)
    hands = [one.table(game)["hand"].split() for one in four]
    answers = at_once(
        [partial(one.move, game, {"pass": hand[:3]}) for one, hand in zip(four, hands, strict=True)]
    )
    assert {200} == {answer.status_code for answer in answers}
    assert 4 == len({answer.headers["ETag"] for answer in answers})
    assert 1 == len(four[0].events(game, "passes_exchanged"))
    assert [hand[:3] for hand in hands[-1:] + hands[:-1]] == [
        one.table(game)["received"].split() for one in four
    ]


# --- validation against a stale projection


def test_a_move_is_judged_by_the_log(pair: Pair) -> None:
    """Elsewhere a move was judged by a read model that lagged behind.

    Here a process that has last seen the table tricks ago, with no projector at work anywhere, accepts what is legal now
    and refuses what was legal then.
    """
    four = [one.again(pair.other.url) for one in pair.four()]
    game = seat_all(four, **NO_PASS)
    behind = [one.again(pair.wide.url) for one in four]
    opener = behind[0].table(game)["turn"]
    assert ["2C", *[None] * 3] == [behind[opener - at].table(game).get("legal") for at in range(4)]
    for _ in range(9):
        table = play_on(four, game)
    twice = behind[opener].move(game, {"play": "2C"})
    assert (True, table["seq"]) == (twice.status_code in (409, 422), twice.json()["seq"])
    mover = behind[table["turn"]]
    late = mover.move(game, {"play": "2C"})
    assert (422, table["seq"]) == (late.status_code, late.json()["seq"])
    assert 200 == mover.move(game, {"play": late.json()["legal"].split()[0]}).status_code
    assert [] == four[0].http.get(f"/v1/games?player={four[0].id}").json()["games"]


# --- a dropped client aborts a tournament


def test_a_dropped_client_ends_nothing(pair: Pair) -> None:
    """Elsewhere one client that dropped out aborted the games of all.

    Here connections may break within a request, an answer or a stream: the table waits, the others play on as far as they
    can, at other tables too, and the seat is still its player's.
    """
    four = pair.four()
    game, beside = seat_all(four, **NO_PASS), seat_all(four, **NO_PASS)
    turn = four[0].table(game)["turn"]
    gone = four[turn]
    head = f"Host: x\r\nAuthorization: Bearer {gone.token}\r\nContent-Type: application/json\r\n"
    for url in pair.urls:
        for started in (
            f'POST /v1/games/{game}/moves HTTP/1.1\r\n{head}Content-Length: 14\r\n\r\n{{"play"',
            f'POST /v1/games/{game}/moves HTTP/1.1\r\n{head}Transfer-Encoding: chunked\r\n\r\n5\r\n{{"pl',
            f"GET /v1/games/{game}/events?wait=30&after=99 HTTP/1.1\r\n{head}\r\n",
            f"GET /v1/games/{game}/events HTTP/1.1\r\n{head}Accept: text/event-stream\r\n\r\n",
            f"GET /v1/me/events HTTP/1.1\r\n{head}Accept: application/x-ndjson\r\n\r\n",
        ):
            cut_off(url, started)
    gone.http.close()
    others = [one for one in four if one is not gone]
    assert ("playing", turn) == tuple(others[0].table(game)[key] for key in ("status", "turn"))
    while (waits := others[0].table(beside)["turn"]) != turn:
        mover = four[waits]
        assert 200 == mover.move(beside, {"play": mover.table(beside)["legal"].split()[0]}).status_code
    back = gone.again(pair.other.url)
    assert (turn, False) == (back.table(game)["you"], back.table(game)["seats"][turn]["away"])
    assert 200 == back.move(game, {"play": "2C"}).status_code
    assert 200 == back.move(beside, {"play": back.table(beside)["legal"].split()[0]}).status_code


# --- a bad character kills the receiver

ODD_BYTES = [
    b'{"play": "\x00"}',
    b'{"play": "\xff\xfe\xf0"}',
    b'{"play": "\\ud800"}',
    b'{"play": "\\u0000QS"}',
    '{"play": "♠Q\u202e\u2028"}'.encode(),
    b'{"play": "2C\r\nX-Injected: 1"}',
    b"\x00" * 64,
    b'{"\\ud800": 1}',
]
"""What has ended receivers."""
_REQUEST = (
    b"POST /v1/games/%(game)b/%(path)b?%(query)b HTTP/1.1\r\nHost: x\r\n%(line)bAuthorization: Bearer %(token)b\r\n"
    b"Idempotency-Key: %(key)b\r\nIf-Match: %(version)b\r\nContent-Type: application/json\r\n"
    b"Content-Length: %(length)b\r\n\r\n%(body)b"
)


@pytest.mark.parametrize("place", ["body", "key", "version", "token", "path", "query", "line"])
def test_a_bad_character_ends_no_receiver(pair: Pair, place: str) -> None:
    """Elsewhere one odd character in a message ended the thread that read it, and with it the game of all.

    Here it is that request's fault: refused, or its connection closed. Listeners, the table and further requests, on the
    same connection where there still is one, know nothing of it.
    """
    four = pair.four()
    game = seat_all(four, **NO_PASS)
    turn, seq = four[0].table(game)["turn"], four[0].table(game)["seq"]
    usual = {
        "path": b"moves",
        "query": b"",
        "line": b"",
        "key": b"k",
        "version": b"*",
        "body": b'{"play": "2C"}',
    }
    with four[turn - 1].stream(game, after=seq) as items:
        for odd in ODD_BYTES:
            parts = usual | {"token": four[turn].token.encode(), place: odd}
            request = _REQUEST % {
                name.encode(): value
                for name, value in (
                    parts | {"game": game.encode(), "length": b"%d" % len(parts["body"])}
                ).items()
            }
            for url in pair.urls:
                assert raw_status(url, request)[:1] in ("", "4"), odd
        assert seq == four[0].table(game)["seq"]
        played = four[turn].move(game, {"play": "2C"})
        assert (200, seq + 1) == (played.status_code, next(items)["seq"])


# --- a returning player is locked out


def test_a_returning_player_is_let_in(pair: Pair) -> None:
    """Elsewhere whoever lost the connection could not come back, for the seat was taken: by that very player.

    Here the token is the way back, from anywhere and through any process: to the cards, to the turn and, where the seat
    was handed to the bot, to the seat. Sitting down again says which seat one has.
    """
    four = pair.four()
    game = seat_all(four, **NO_PASS)
    turn = four[0].table(game)["turn"]
    hand = four[turn].table(game)["hand"]
    for url in pair.urls:
        four[turn].http.close()
        back = four[turn] = four[turn].again(url)
        assert (turn, hand) == (back.table(game)["you"], back.table(game)["hand"])
        sat = back.post(f"/v1/games/{game}/seats")
        assert (409, f"you have seat {turn} at this table already") == (
            sat.status_code,
            sat.json()["detail"],
        )
        away = back.call("DELETE", f"/v1/games/{game}/seats/{turn}")
        assert (200, True, hand) == (
            away.status_code,
            away.json()["seats"][turn]["away"],
            away.json()["hand"],
        )
        taken = back.again().post(f"/v1/games/{game}/seats/{turn}/back")
        assert (200, "2C") == (taken.status_code, taken.json()["legal"])
    assert 200 == four[turn].move(game, {"play": "2C"}).status_code


# --- a seat is changed after the start


def test_sitting_down_and_the_first_ready_do_not_cross(pair: Pair) -> None:
    """At the same moment one gets up from the last seat and another is ready: whichever is first, the table is whole.

    Either the seat is free and nobody is ready, or the seat is fixed; never is there a start without a player.
    """
    for _ in range(6):
        four = pair.four()
        game = open_table(four[0], ["me", "open", "open", "open"])
        for one in four[1:]:
            one.post(f"/v1/games/{game}/seats")
        left, ready = at_once(
            [
                partial(four[3].call, "DELETE", f"/v1/games/{game}/seats/3"),
                partial(four[0].post, f"/v1/games/{game}/ready"),
            ]
        )
        seats = four[1].table(game)["seats"]
        if left.status_code == 200:
            assert (409, "game/not_started") == code(ready)
            assert ("open", False) == (seats[3]["kind"], seats[0]["ready"])
        else:
            assert (409, "seat/taken", 200) == (*code(left), ready.status_code)
            assert ("player", True) == (seats[3]["kind"], seats[0]["ready"])


# --- two tabs


def test_two_tabs_of_one_player_are_one_player(pair: Pair) -> None:
    """Two tabs that play different cards at once play one; each then sees what the other did, and may go on from there."""
    four = pair.four()
    game = seat_all(four, decks=2, hand=26, **NO_PASS)
    for _ in range(4):
        table = play_on(four, game)
    turn = table["turn"]
    tabs = [four[turn].again(url) for url in pair.urls]
    seen = [tab.http.get(f"/v1/games/{game}") for tab in tabs]
    assert seen[0].content == seen[1].content
    cards = seen[0].json()["legal"].split()
    answers = at_once(
        [
            partial(tab.move, game, {"play": card}, Idempotency_Key=f"{card} {n}".replace(" ", "-"))
            for n, (tab, card) in enumerate(zip(tabs, (cards[0], cards[-1]), strict=True))
        ]
    )
    assert [200, 409] == sorted(answer.status_code for answer in answers)
    assert 5 == len(four[0].events(game, "card_played"))
    assert tabs[0].table(game) == tabs[1].table(game)
    late = tabs[1].move(game, {"play": cards[0]}, If_Match=seen[1].headers["ETag"])
    assert (412, "version/stale") == code(late)
    assert late.headers["ETag"] == tabs[0].http.get(f"/v1/games/{game}").headers["ETag"]
