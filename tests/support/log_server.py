"""A server of which only the transparency log is there, over HTTP without a network; it may be told to cheat."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import fakeredis
import httpx
import msgspec

from services.checkpoints import PublicLog
from services.logwatch import Had, LogClient, Unanswered, Watch
from services.notes import read_checkpoint
from services.translog import TransparencyLog
from services.wire import Wire

URL = "https://hearts.example"
Cheat = Callable[[httpx.Request], httpx.Response]


def log_of(*leaves: Any, key: Any, origin: str = "example.org/hearts") -> PublicLog:
    """A log with these leaves, under a key or several."""
    tree = TransparencyLog(
        Wire(fakeredis.FakeRedis(server=fakeredis.FakeServer(), protocol=2, version=(7, 0)))
    )
    tree.add(leaves)
    return PublicLog(tree, key, origin)


def json_answer(body: Any) -> httpx.Response:
    """An answer of the API."""
    return httpx.Response(200, content=msgspec.json.encode(body))


def served(log: PublicLog, cheats: Mapping[str, Cheat] | None = None) -> httpx.Client:
    """A client of a server with this log, which answers as ``cheats`` says at the addresses that it names."""

    def answer(request: httpx.Request) -> httpx.Response:
        path, query = request.url.path, request.url.params
        if cheats and path in cheats:
            return _unread(cheats[path](request))
        return _unread(honest(path, query))

    def honest(path: str, query: httpx.QueryParams) -> httpx.Response:
        size = log.tree.size()
        match path:
            case "/v1/log/keys":
                return json_answer({"origin": log.origin, "keys": log.keys()})
            case "/v1/log/checkpoint":
                return httpx.Response(200, content=log.checkpoint().encode())
            case "/v1/log/proof":
                first, second = int(query["first"]), int(query["second"])
                return json_answer({"path": [one.hex() for one in log.tree.consistency(first, second)]})
            case "/v1/log/entries":
                places = log.tree.leaves(int(query["start"]), int(query["limit"]))
                found = [{**leaf._asdict(), "head": leaf.head.hex(), "index": at} for at, leaf in places]
                return json_answer({"size": size, "entries": found, "next": int(query["start"]) + len(found)})
        return httpx.Response(404)

    return httpx.Client(transport=httpx.MockTransport(answer))


def _unread(answer: httpx.Response) -> httpx.Response:
    """An answer whose body is still to come, as from a network."""
    try:
        body = answer.content
    except httpx.ResponseNotRead:
        return answer
    return httpx.Response(answer.status_code, headers=answer.headers, stream=httpx.ByteStream(body))


def watched(
    log: PublicLog,
    had: str | None = None,
    server_key: str | None = None,
    cheats: Mapping[str, Cheat] | None = None,
) -> Watch:
    """What a watcher finds who had a checkpoint (a note) or a key before."""
    before = None if had is None else read_checkpoint(had)
    with served(log, cheats) as client:
        watch = Watch(LogClient(client, URL, 60), Had(server_key, before))
        try:
            watch.run()
        except Unanswered as error:
            watch.notices.append(str(error))
    return watch
