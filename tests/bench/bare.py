"""The bare route that a move over HTTP is measured against, and a view: Flask, marshmallow and one command under granian."""

from __future__ import annotations

import sys
from typing import Any

from flask import Flask, Response, jsonify, request
from granian.server import Server
from marshmallow import Schema, fields

from api.serving import options
from services.wire import connect


class MoveIn(Schema):
    """What the bare route takes."""

    play = fields.String(required=True)


class MoveOut(Schema):
    """What the bare route answers."""

    id = fields.String()
    play = fields.String()


def load(url: str) -> Flask:
    """The bare application on the store at ``url``."""
    app = Flask("bare")
    client = connect(url)
    taken, given = MoveIn(), MoveOut()

    @app.post("/moves")
    def move() -> Response:
        body: Any = taken.load(request.get_json())
        key = client.xadd("bare", {"p": body["play"]})
        return jsonify(given.dump({"id": key, "play": body["play"]}))

    @app.get("/view")
    def view() -> Response:
        return jsonify(given.dump({"id": client.get("bare:view"), "play": "QS"}))

    return app


if __name__ == "__main__":
    store_url, port = sys.argv[1], int(sys.argv[2])
    server = Server("bare", port=port, **options(1024))
    server.serve(target_loader=lambda *_: load(store_url), wrap_loader=False)
