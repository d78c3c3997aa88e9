"""What docs/spec/http.md promises of every command: idempotency keys, versions, receipts, and refusals that change nothing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
import redis
from flask import Flask
from werkzeug.test import TestResponse

from api.app import create_app
from services.audit import Receipt, verify_receipt
from services.integrity import read_kept_receipt
from services.settings import Settings
from services.wiring import Services, build
from tests.api.guests import Guest, open_table
from tests.api.scenes import ACCOUNT, KEYLESS, SCENES, TABLE, Command, routes
from tests.support.clock import Clock

DAY_MS = 24 * 60 * 60 * 1000
ALL = pytest.mark.parametrize("route", SCENES, ids=[f"{method} {rule}" for method, rule in SCENES])


def code(answer: TestResponse) -> tuple[int, str]:
    """Status and code of a refusal."""
    return answer.status_code, answer.json["code"]


def outcome(answer: TestResponse) -> tuple[Any, ...]:
    """What of an answer must be the same again: all of it but the mark of a repeat."""
    kept = ("ETag", "Location", "Content-Type", "Cache-Control", "Vary")
    return answer.status_code, answer.data, *(answer.headers.get(name) for name in kept)


def is_new(answer: TestResponse, command: Command) -> bool:
    """Whether a command was carried out, and for the first time."""
    return (command.accepted, None) == (answer.status_code, answer.headers.get("Idempotency-Replayed"))


def is_again(answer: TestResponse, first: TestResponse) -> bool:
    """Whether an answer is the first one once more, and says so."""
    return (outcome(first), "true") == (outcome(answer), answer.headers.get("Idempotency-Replayed"))


def seqs(services: Services) -> dict[str, int]:
    """How far every game of the store has got."""
    return {game: services.store.last(game) for game in services.store.games()}


@pytest.fixture
def scene(services: Services, four: list[Guest]) -> Callable[[tuple[str, str]], Command]:
    """A maker of commands, by their route."""
    return lambda route: SCENES[route](services, four)


Scene = Callable[[tuple[str, str]], Command]


def test_no_command_is_forgotten(app: Flask) -> None:
    """Each route that changes a game has a scene, and so is held to all that follows."""
    assert SCENES.keys() | KEYLESS | ACCOUNT == routes(app)
    assert not SCENES.keys() & (KEYLESS | ACCOUNT)


@ALL
def test_a_repeat_gets_the_same_outcome(services: Services, scene: Scene, route: tuple[str, str]) -> None:
    """View, status, ETag, receipt and address as they were, however far the table has got since; nothing happens again."""
    command = scene(route)
    first = command.send(Idempotency_Key="k")
    assert is_new(first, command), first.text
    command.go_on()
    before = seqs(services)
    for _ in range(2):
        assert is_again(command.send(Idempotency_Key="k"), first)
    assert before == seqs(services)


@ALL
def test_a_whole_answer_is_evidence(scene: Scene, route: tuple[str, str]) -> None:
    """What a player keeps as it came is read alike by everybody: its receipt is the one that the answer tells."""
    answer = scene(route).send()
    told = answer.json.get("receipt") if answer.data else None
    if told is not None:
        assert read_kept_receipt(answer.data)._asdict() == told


@ALL
def test_many_at_once_under_a_key_are_one(services: Services, scene: Scene, route: tuple[str, str]) -> None:
    """Whichever is first is carried out, and all hear the same."""
    command = scene(route)
    before = seqs(services)
    barrier = Barrier(4)

    def send(_: int) -> TestResponse:
        barrier.wait(10)
        return command.send(Idempotency_Key="k")

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(send, range(4)))
    assert 1 == len({outcome(answer) for answer in answers})
    assert [True] == [is_new(answer, command) for answer in answers if is_new(answer, command)]
    last = Receipt(**answers[0].json["receipt"])
    assert {last.game: last.seq} == dict(seqs(services).items() - before.items())


@ALL
def test_another_body_under_a_used_key_is_refused(
    services: Services, scene: Scene, route: tuple[str, str]
) -> None:
    """422 key/reused, though the command has moved the table on and whatever version is named; nothing happens."""
    command = scene(route)
    assert is_new(command.send(Idempotency_Key="k"), command)
    command.go_on()
    before = seqs(services)
    versions = ({}, {"If_Match": '"1-0"'}) if command.versioned else ({},)
    for version in versions:
        if command.other is not None:
            assert (422, "key/reused") == code(
                command.send(body=command.other, Idempotency_Key="k", **version)
            )
        unknown = command.send(body={"nonsense": 1}, Idempotency_Key="k", **version)
        assert (422, "request/invalid") == code(unknown)
    assert before == seqs(services)


@ALL
def test_the_key_is_looked_up_before_the_version(scene: Scene, route: tuple[str, str]) -> None:
    """A repeat with the version of its first try, or any other, is answered; without its key the version is stale."""
    command = scene(route)
    etag = command.who.get(f"/v1/games/{command.game}").headers["ETag"] if command.versioned else '"1-0"'
    first = command.send(Idempotency_Key="k", If_Match=etag)
    assert is_new(first, command), first.text
    for version in (etag, '"1-0"', f"W/{etag}"):
        assert is_again(command.send(Idempotency_Key="k", If_Match=version), first)
    if command.versioned:
        assert (412, "version/stale") == code(command.send(Idempotency_Key="l", If_Match=etag))


@ALL
def test_a_refused_command_burns_no_key_and_changes_nothing(
    services: Services, scene: Scene, route: tuple[str, str]
) -> None:
    """Whatever it was refused for, the key is as good as new, and no game has got any further."""
    command = scene(route)
    before = seqs(services)
    path = command.path
    refused = [
        command.send(body={"nonsense": 1}, Idempotency_Key="k"),
        command.send(Idempotency_Key="k", Authorization="Bearer nobody"),
        command.who.client.open(
            path,
            method=command.method,
            data=b"{",
            content_type="application/json",
            headers={"Idempotency-Key": "k", "Authorization": f"Bearer {command.who.token}"},
        ),
        command.send(Idempotency_Key="k k"),
    ]
    wanted = [(422, "request/invalid"), (401, "auth/required"), *[(400, "request/unreadable")] * 2]
    if command.versioned:
        refused.append(command.send(Idempotency_Key="k", If_Match='"1-0"'))
        wanted.append((412, "version/stale"))
    if command.game:
        command.path = path.replace(command.game, "0" * 24)
        refused.append(command.send(Idempotency_Key="k"))
        wanted.append((404, "game/unknown"))
        command.path = path
    assert wanted == [code(answer) for answer in refused]
    assert before == seqs(services)
    assert is_new(command.send(Idempotency_Key="k"), command)


@ALL
def test_a_key_is_its_callers_and_its_routes(
    services: Services, four: list[Guest], scene: Scene, route: tuple[str, str]
) -> None:
    """Another player's key of the same name, and one's own at another address, of this table too, are other keys."""
    command = scene(route)
    first = command.send(Idempotency_Key="k")
    other = next(one for one in four if one is not command.who)
    theirs = command.send(other, Idempotency_Key="k")
    assert "Idempotency-Replayed" not in theirs.headers
    assert first.data != theirs.data
    beside = "claim" if command.path.endswith("/ready") else "ready"
    if command.game:
        other_command = command.who.post(f"/v1/games/{command.game}/{beside}", Idempotency_Key="k")
        assert "Idempotency-Replayed" not in other_command.headers
        assert "key/reused" != other_command.json.get("code")
    elsewhere = command.who.post("/v1/games", TABLE | {"target": 33}, Idempotency_Key="k")
    if command.path == "/v1/games":
        assert (422, "key/reused") == code(elsewhere)
    else:
        assert (201, 33) == (elsewhere.status_code, elsewhere.json["rules"]["target"])
        assert is_again(command.who.post("/v1/games", TABLE | {"target": 33}, Idempotency_Key="k"), elsewhere)
    assert is_again(command.send(Idempotency_Key="k"), first)


@ALL
def test_a_key_is_kept_for_a_day_and_across_processes(
    valkey: redis.Redis, services: Services, clock: Clock, scene: Scene, route: tuple[str, str]
) -> None:
    """A process that has seen nothing of it gives the same outcome up to 24 hours later, and from then on none."""
    command = scene(route)
    first = command.send(Idempotency_Key="k")
    command.go_on()
    settings = Settings(data=services.settings.data, partitions=4)
    clock.now += DAY_MS - 1
    command.who.client = create_app(build(settings, store=valkey, clock=clock)).test_client()
    assert is_again(command.send(Idempotency_Key="k"), first)
    clock.now += 1
    late = command.send(Idempotency_Key="k")
    assert "Idempotency-Replayed" not in late.headers
    assert first.headers["ETag"] != late.headers["ETag"]


@ALL
def test_a_key_has_1_to_255_characters_that_can_be_seen(
    services: Services, scene: Scene, route: tuple[str, str]
) -> None:
    """400 for any other, and nothing happens; the longest is as good as any."""
    command = scene(route)
    before = seqs(services)
    for key in ("", " ", "a b", "ä", "x" * 256, "a\tb", "\x7f", "a, b"):
        refused = command.send(Idempotency_Key=key)
        assert (400, "request/unreadable", "Idempotency-Key") == (
            *code(refused),
            refused.json["errors"][0]["field"],
        ), key
    assert before == seqs(services)
    longest = "!~|" * 85
    first = command.send(Idempotency_Key=longest)
    assert is_new(first, command)
    assert is_again(command.send(Idempotency_Key=longest), first)


@ALL
def test_the_version_of_a_command_is_that_of_its_last_event(
    services: Services, scene: Scene, route: tuple[str, str]
) -> None:
    """ETag, body and signed receipt name the same event, the last one that the command caused."""
    command = scene(route)
    before = seqs(services)
    answer = command.send()
    receipt = Receipt(**answer.json["receipt"])
    assert verify_receipt(receipt, services.key.public)
    assert {receipt.game: receipt.seq} == dict(seqs(services).items() - before.items())
    assert (receipt.game, receipt.seq, receipt.head) == tuple(
        answer.json[name] for name in ("id", "seq", "head")
    )
    assert f'"{receipt.seq}-{receipt.head[:16]}"' == answer.headers["ETag"]
    items = command.who.get(f"/v1/games/{receipt.game}/events?after={receipt.seq - 1}").json["events"]
    assert [(receipt.seq, receipt.head)] == [(item["seq"], item["head"]) for item in items]
    assert (command.accepted == 201) == ("Location" in answer.headers)


UNVERSIONED = {
    ("POST", "/v1/games"),
    ("POST", "/v1/games/<game>/rematch"),
    ("POST", "/v1/games/<game>/branch"),
}
"""What opens a table of its own has no version to be meant for."""
VERSIONED = pytest.mark.parametrize("route", [route for route in SCENES if route not in UNVERSIONED])


@VERSIONED
def test_every_command_at_a_table_may_name_its_version(
    services: Services, scene: Scene, route: tuple[str, str]
) -> None:
    """Stale, weak, and foreign ones are 412 with the version that it is; what is none is 400; * and the current one do."""
    command = scene(route)
    assert command.versioned
    etag = command.who.get(f"/v1/games/{command.game}").headers["ETag"]
    before = seqs(services)
    for stale in ('"1-0"', f"W/{etag}", etag.replace("-", "0-"), '""', f'"x", W/{etag}', '"a","b"'):
        refused = command.send(If_Match=stale)
        assert (412, "version/stale", etag) == (*code(refused), refused.headers["ETag"])
        assert etag.startswith(f'"{refused.json["seq"]}-')
    for garbage in ("57", etag.strip('"'), '"a', 'w/"a"', '"ä"', "", f"{etag} {etag}", f"*, {etag}", '"a",'):
        refused = command.send(If_Match=garbage)
        assert (400, "request/unreadable", "If-Match") == (*code(refused), refused.json["errors"][0]["field"])
    assert before == seqs(services)
    assert is_new(command.send(If_Match=f'"x" , {etag}'), command)


def test_a_table_may_be_any_version(four: list[Guest]) -> None:
    """`If-Match: *` asks for a table, whichever version it has; where there is none it is 404."""
    game = open_table(four[0], TABLE["seats"])
    assert 200 == four[1].post(f"/v1/games/{game}/seats", If_Match=" * ").status_code
    assert 404 == four[1].post(f"/v1/games/{'0' * 24}/seats", If_Match="*").status_code
