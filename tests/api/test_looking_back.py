"""Looking back: what somebody could see at an event, and the cards of all once their hand is over."""

import json
from random import Random
from typing import Any

import pytest
from werkzeug.test import TestResponse

from domain.cards import format_mask
from services.wiring import Services
from tests.api.guests import Guest, noted_reads, open_table, play_on, seat_all
from tests.api.twins import deal_twin, move_to

FOR_ME = ("private, max-age=3600", "Authorization")
FOR_ALL = ("public, max-age=3600", None)


def code(answer: TestResponse) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json["code"]


def kept(answer: TestResponse) -> tuple[str | None, str | None]:
    """For how long and by whom an answer may be kept."""
    return answer.headers["Cache-Control"], answer.headers.get("Vary")


def look(guest: Guest, game: str, query: str) -> TestResponse:
    """See a table by a query."""
    return guest.get(f"/v1/games/{game}?{query}")


def happened(guest: Guest, game: str) -> list[dict[str, Any]]:
    """The events of a game."""
    found = guest.get(f"/v1/games/{game}/events").json["events"]
    return [json.loads(item["event"]) for item in found]


def seq_of(guest: Guest, game: str, kind: str, nth: int = 0) -> int:
    """The seq of the ``nth`` event of a kind."""
    return [event["n"] for event in happened(guest, game) if event["t"] == kind][nth]


def second_hand(four: list[Guest], **fields: Any) -> str:
    """A game in whose second hand some tricks have been played."""
    game = seat_all(four, hand_limit=2, **fields)
    while play_on(four, game)["hand_number"] < 2:
        pass
    for _ in range(7):
        play_on(four, game)
    return game


def test_each_sees_again_what_it_saw(four: list[Guest], stranger: Guest) -> None:
    """Given what players and a spectator were shown move by move, `at` shows each the same bytes, also when all is over."""
    readers = [*four, stranger]
    game = open_table(four[0], ["me", *["open"] * 3], hand_limit=1)
    seen: list[tuple[int, list[TestResponse]]] = []

    def see() -> str:
        answers = [one.get(f"/v1/games/{game}") for one in readers]
        seen.append((answers[0].json["seq"], answers))
        status: str = answers[0].json["status"]
        return status

    for call, guests in (("seats", four[1:]), ("ready", four)):
        for one in guests:
            see()
            one.post(f"/v1/games/{game}/{call}")
    while see() != "over":
        play_on(four, game)
    assert len(seen) > 60
    for seq, answers in seen:
        for one, then in zip(readers, answers, strict=True):
            again = look(one, game, f"at={seq}")
            assert (200, then.data, then.headers["ETag"]) == (
                again.status_code,
                again.data,
                again.headers["ETag"],
            )
            assert FOR_ME == kept(again)


def test_a_lent_seat_is_seen_as_it_saw_itself(four: list[Guest], stranger: Guest) -> None:
    """Given a hand that is over, `as` shows to anybody, at each of its events, what that seat is shown itself."""
    game = second_hand(four)
    end = seq_of(stranger, game, "hand_scored")
    for seq in range(1, end + 1):
        for seat in (seq % 4, (seq + 1) % 4):
            own = look(four[seat], game, f"at={seq}")
            for one in (stranger, four[0]):
                lent = look(one, game, f"at={seq}&as={seat}")
                if "you" in own.json:
                    assert (own.data, own.headers["ETag"]) == (lent.data, lent.headers["ETag"])
                else:  # it had not sat down yet
                    assert own.json | {"you": seat, "hand": "", "received": "", "given": ""} == lent.json
                assert FOR_ALL == kept(lent)


def test_open_shows_every_hand(services: Services, four: list[Guest], stranger: Guest) -> None:
    """`open=1` is a spectator's table and the cards of all seats at that event, the same for everybody."""
    game = second_hand(four)
    for seq in (seq_of(four[0], game, kind, 1) for kind in ("cards_passed", "card_played", "trick_ended")):
        shown = look(stranger, game, f"at={seq}&open=1")
        assert 200 == shown.status_code
        assert FOR_ALL == kept(shown)
        for one in four:
            assert shown.data == look(one, game, f"at={seq}&open=1").data
        hand = services.tables.at(game, seq).state.hand
        assert hand is not None
        assert [format_mask(mask) for mask in hand.held] == [one["hand"] for one in shown.json["open"]]
        assert [format_mask(mask or 0) for mask in hand.passes] == [
            one["given"] for one in shown.json["open"]
        ]
        own = [look(one, game, f"at={seq}").json for one in four]
        assert [one["received"] for one in own] == [one["received"] for one in shown.json["open"]]
        assert look(stranger, game, f"at={seq}").json == {
            name: value for name, value in shown.json.items() if name != "open"
        }


def test_cards_are_lent_only_when_their_hand_is_over(four: list[Guest], stranger: Guest) -> None:
    """What counts is the present, not the moment looked at: the hand in play stays shut from its deal on."""
    game = seat_all(four, hand_limit=2)
    dealt = seq_of(four[0], game, "hand_dealt")
    shut = [f"at={seq}&{lent}" for seq in (dealt,) for lent in ("as=0", "as=3", "open=1")]
    for one in (four[0], stranger):
        for query in [*shut, "as=0", "open=1"]:
            refused = look(one, game, query)
            assert (409, "hand/not_over") == code(refused), query
            assert one.table(game)["seq"] == refused.json["seq"]
            assert "no-store" == refused.headers["Cache-Control"]
        assert 200 == look(one, game, f"at={dealt - 1}&open=1").status_code
    while play_on(four, game)["hand_number"] < 2:
        assert (409, "hand/not_over") == code(look(four[1], game, f"at={dealt}&open=1"))
    for one in (four[0], stranger):
        assert all(200 == look(one, game, query).status_code for query in shut)
        second = seq_of(one, game, "hand_dealt", 1)
        assert 200 == look(one, game, f"at={second - 1}&open=1").status_code
        assert (409, "hand/not_over") == code(look(one, game, f"at={second}&open=1"))
        assert (409, "hand/not_over") == code(look(one, game, "open=1"))


def test_when_the_game_is_over_all_is_open(four: list[Guest], stranger: Guest) -> None:
    """Every event of it, the last one without `at`, too, which may then not be kept."""
    game = seat_all(four, hand_limit=1, pass_count=0)
    while play_on(four, game)["status"] != "over":
        pass
    last = stranger.table(game)["seq"]
    for seq in range(1, last + 1):
        assert 200 == look(stranger, game, f"at={seq}&open=1").status_code
    now = look(stranger, game, "open=1")
    assert (look(stranger, game, f"at={last}&open=1").data, ("private, no-store", "Authorization")) == (
        now.data,
        kept(now),
    )


def test_what_was_is_told_anew_each_time(four: list[Guest], stranger: Guest) -> None:
    """Never 304: the names in it may have been changed or erased. The present is, and nothing that is refused."""
    game = second_hand(four)
    for query in ("at=9", "at=9&as=2", "at=9&open=1"):
        etag = look(stranger, game, query).headers["ETag"]
        again = stranger.get(f"/v1/games/{game}?{query}", If_None_Match=etag)
        assert (200, etag) == (again.status_code, again.headers["ETag"])
    known = stranger.get(f"/v1/games/{game}", If_None_Match=four[0].get(f"/v1/games/{game}").headers["ETag"])
    assert 304 == known.status_code
    refused = stranger.get(f"/v1/games/{game}?open=1", If_None_Match="*")
    assert (409, "hand/not_over") == code(refused)


def test_an_erased_name_is_gone_from_the_past(four: list[Guest], stranger: Guest) -> None:
    """What a cache asks for again after its hour has it no more."""
    game = second_hand(four)
    path = f"/v1/games/{game}?at=9&as=2"
    before = stranger.get(path)
    assert "Player 2" in before.text
    four[1].delete("/v1/me")
    assert "Player 2" not in stranger.get(path, If_None_Match=before.headers["ETag"]).text


@pytest.mark.parametrize(
    "query, field",
    [
        ("at=0", "at"),
        ("at=-1", "at"),
        ("at=x", "at"),
        ("at=", "at"),
        ("at=4000", "at"),
        ("as=4", "as"),
        ("as=99", "as"),
        ("as=me", "as"),
        ("open=2", "open"),
        ("open=yes", "open"),
        ("at=1&as=1&open=1", "open"),
    ],
)
def test_what_there_is_not_is_told(four: list[Guest], query: str, field: str) -> None:
    """Events and seats that there are not, and two questions at once, are told by their field."""
    refused = look(four[0], open_table(four[0], ["me", *["open"] * 3]), query)
    assert (422, "request/invalid") == code(refused)
    assert [field] == [error["field"] for error in refused.json["errors"]]


def test_the_present_is_the_present(four: list[Guest]) -> None:
    """`open=0`, and what the call does not know, ask for the table as it is, which may not be kept."""
    game = seat_all(four)
    for query in ("open=0", "x=1", ""):
        now = look(four[0], game, query)
        assert (four[0].get(f"/v1/games/{game}").data, ("private, no-store", "Authorization")) == (
            now.data,
            kept(now),
        )
    assert (404, "game/unknown") == code(look(four[0], "0" * 24, "at=1"))
    assert (401, "auth/required") == code(four[0].get(f"/v1/games/{game}?at=1", Authorization="Bearer x"))


@pytest.mark.parametrize("fields", [{}, {"variant": "basic", "removed": "2C 2D", "hand": 12}])
def test_no_moment_depends_on_hidden_cards(
    services: Services, four: list[Guest], stranger: Guest, fields: dict[str, Any]
) -> None:
    """Given the hidden cards dealt in another way, each caller is answered the same bytes at every event, lent or not."""
    game, rng = second_hand(four, **fields), Random(5)
    last = four[0].table(game)["seq"]
    readers: list[tuple[int | None, Guest]] = [(None, stranger), *enumerate(four)]
    queries = [f"at={seq}{lent}" for seq in range(1, last + 1) for lent in ("", f"&as={seq % 4}", "&open=1")]
    for seat, reader in readers:
        told = [look(reader, game, query) for query in queries]
        hands = [one.table(game)["hand"] for one in four]
        app = deal_twin(services, game, seat, rng)
        twin = move_to(app, reader)
        for query, then in zip(queries, told, strict=True):
            again = look(twin, game, query)
            assert (then.status_code, then.data) == (again.status_code, again.data), query
            assert list(then.headers) == list(again.headers), query
        assert hands != [move_to(app, one).table(game)["hand"] for one in four], "cards were dealt again"
        services.tables._cache.drop(game)
        services.tables.pages.drop(game)
    assert {200, 409} == {one.status_code for one in told}


def test_who_looks_back_does_not_make_the_server_begin_again(
    services: Services, four: list[Guest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a long game a moment takes reading its page; far back, the pages since the last station kept on the way."""
    game = seat_all(four, hand_limit=1)
    while play_on(four, game)["status"] != "over":
        pass
    last = four[0].table(game)["seq"]
    whole = [look(four[0], game, f"at={seq}").data for seq in range(1, last + 1)]
    monkeypatch.setattr("services.paging.PAGE", 4)
    monkeypatch.setattr("services.paging.SPARSE", 4)
    monkeypatch.setattr("services.paging.STEP", 2)
    services.tables.pages.drop(game)
    asked = noted_reads(services.store, monkeypatch)
    look(four[0], game, "at=63")
    assert [(at, at + 4) for at in range(0, 60, 4)] == [pair for pair in asked if pair[1] == pair[0] + 4]
    for seq, pages in (
        # the station's own event is read again, to see that it is still there
        (63, [(61, 63)]),
        (60, [(59, 60)]),
        (43, [(31, 36), (36, 40), (40, 43)]),
        (42, [(41, 42)]),
        (17, [(15, 17)]),
    ):
        asked.clear()
        assert whole[seq - 1] == look(four[0], game, f"at={seq}").data
        assert pages == [pair for pair in asked if pair[1] is not None], seq
    assert whole == [look(four[0], game, f"at={seq}").data for seq in range(1, last + 1)]
