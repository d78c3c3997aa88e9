"""The bare route that a move over HTTP is measured against: Flask, marshmallow and one XADD under granian."""

from __future__ import annotations

import sys
from typing import Any

from flask import Flask, Response, jsonify, request
from granian.server import Server
from marshmallow import Schema, fields

from api.serving import GRANIAN
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

    return app


if __name__ == "__main__":
    store_url, port = sys.argv[1], int(sys.argv[2])
    server = Server("bare", port=port, **GRANIAN)
    server.serve(target_loader=lambda *_: load(store_url), wrap_loader=False)
