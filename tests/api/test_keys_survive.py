"""Idempotency keys outlive everything that may be killed: connections, the API, the store's server."""

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import httpx

from services.embedded import EmbeddedStore
from tests.api.callers import Caller, code, open_table, seat_all
from tests.api.test_serve import ROOT, serving
from tests.support.embedded import server
from tests.support.house import until


def test_keys_survive_that_all_is_killed(tmp_path: Path) -> None:
    """Given commands of every kind that were answered, when store and API are killed and start again on the same folder,
    then each repeat gets its answer again, another body is refused, and nothing has happened twice.
    """
    with ExitStack() as stack:
        store = stack.enter_context(EmbeddedStore(tmp_path))
        environ = {
            **os.environ,
            "HEARTS_STORE_URL": store.url,
            "HEARTS_DATA": str(tmp_path),
            "PYTHONPATH": str(ROOT),
        }
        with serving(environ, "--port", "0") as api:
            four = [Caller(api.url, stack, f"Player {n}") for n in range(4)]
            said = [
                (who, call, who.call(*call, Idempotency_Key=f"{n}"))
                for n, (who, call) in enumerate(commands(four))
            ]
            assert {200, 201} == {answer.status_code for _, _, answer in said}
            games = {answer.json()["id"]: four[0].table(answer.json()["id"])["seq"] for _, _, answer in said}
            pid = server(store)
            os.kill(pid, signal.SIGKILL)
            until(lambda: not store.poll())
            assert (503, "store/unavailable") == code(four[0].http.get(f"/v1/games/{next(iter(games))}"))
            store.start()
            assert pid != server(store)
            check_again(said)
        with serving(environ, "--port", "0") as api:
            said = [(who.again(api.url), call, answer) for who, call, answer in said]
            check_again(said)
            assert games == {game: said[0][0].table(game)["seq"] for game in games}


def commands(four: list[Caller]) -> list[tuple[Caller, tuple[object, ...]]]:
    """Commands that are accepted in this order, each with who sends it."""
    game = seat_all(four, pass_count=0)
    turn = four[0].table(game)["turn"]
    waiting = open_table(four[0], ["me", "open", {"bot": "rules"}, {"bot": "rules"}])
    table = {"variant": "basic", "seats": ["me", "open", "open", "open"]}
    return [
        (four[0], ("POST", "/v1/games", table)),
        (four[1], ("POST", f"/v1/games/{waiting}/seats", {"seat": 1})),
        (four[1], ("POST", f"/v1/games/{waiting}/ready", {})),
        (four[turn], ("POST", f"/v1/games/{game}/moves", {"play": "2C"})),
        (four[0], ("DELETE", f"/v1/games/{game}/seats/0")),
        (four[0], ("POST", f"/v1/games/{game}/seats/0/back")),
    ]


def check_again(said: list[tuple[Caller, tuple[object, ...], httpx.Response]]) -> None:
    """Repeat every command under its key, and one with another body."""
    for n, (who, call, answer) in enumerate(said):
        again = who.call(*call, Idempotency_Key=f"{n}")
        kept = ("ETag", "Location", "Content-Type")
        assert (answer.status_code, answer.content) == (again.status_code, again.content)
        assert [answer.headers.get(name) for name in kept] == [again.headers.get(name) for name in kept]
        assert "true" == again.headers["Idempotency-Replayed"]
    who, (method, path, _), _ = said[3]
    assert (422, "key/reused") == code(who.call(method, path, {"play": "3C"}, Idempotency_Key="3"))
