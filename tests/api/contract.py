"""Every answer of a test held against the OpenAPI document: its status, headers, body and code are as described there."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from jsonschema_rs import Draft202012Validator, ValidationError
from werkzeug.exceptions import HTTPException
from werkzeug.test import TestResponse

from api.document import schemas_in
from api.errors import PROBLEM_JSON

BEYOND = {"405", "500"}
"""Statuses that are no matter of a call: its address has other methods, or the server has failed."""


class Contract:
    """A document, ready to judge answers."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self.spec = spec
        self._closed = copy.deepcopy(self.spec["components"])
        for one in schemas_in(self._closed["schemas"]):
            if "properties" in one and one.get("type") == "object":
                one.setdefault("additionalProperties", False)
        self._validators: dict[str, Draft202012Validator] = {}

    def operation(self, app: Flask, method: str, path: str) -> tuple[str, dict[str, Any]] | None:
        """The call that an address leads to, none where the document has none there."""
        try:
            rule, _ = app.url_map.bind("localhost").match(path, method, return_rule=True)
        except HTTPException:
            return None
        address = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        item = self.spec["paths"].get(address, {})
        found = item.get("get" if method == "HEAD" else method.lower())
        return None if found is None else (f"{method} {address}", found)

    def faults(self, app: Flask, answer: TestResponse) -> list[str]:
        """What of an answer of ``app`` is not as the document says."""
        method = answer.request.method
        found = self.operation(app, method, answer.request.path)
        status = str(answer.status_code)
        if found is None or status in BEYOND:
            return []
        name, operation = found
        if status not in operation["responses"]:
            return [f"{name} answers {status}, which is not described"]
        response = self.resolve(operation["responses"][status])
        faults = self._of_headers(response, answer)
        if method != "HEAD":
            faults += self._of_body(f"{name} {status}", response, answer)
        return [f"{name} {status}: {fault}" for fault in faults]

    def resolve(self, value: dict[str, Any]) -> dict[str, Any]:
        """What a reference leads to, or ``value`` itself."""
        place: Any = value
        while "$ref" in place:
            steps = place["$ref"].removeprefix("#/").split("/")
            place = self.spec
            for step in steps:
                place = place[step]
        return place

    def _of_headers(self, response: dict[str, Any], answer: TestResponse) -> list[str]:
        faults = []
        for name, header in response.get("headers", {}).items():
            described = self.resolve(header)
            value = answer.headers.get(name)
            if value is None and described.get("required"):
                faults.append(f"the header {name} is missing")
            pattern = described["schema"].get("pattern")
            if value is not None and pattern and not re.search(pattern, value):
                faults.append(f"the header {name} is {value!r}")
        return faults + [
            f"the header {name} is not described"
            for name in (
                "ETag",
                "Location",
                "Link",
                "Retry-After",
                "WWW-Authenticate",
                "Idempotency-Replayed",
            )
            if name in answer.headers and name not in response.get("headers", {})
        ]

    def _of_body(self, where: str, response: dict[str, Any], answer: TestResponse) -> list[str]:
        described = response.get("content", {})
        if not described:
            return [] if not answer.data else ["a body is not described"]
        if answer.mimetype not in described:
            return [f"a body of {answer.mimetype} is not described"]
        media = described[answer.mimetype]
        if "json" not in answer.mimetype or "ndjson" in answer.mimetype:
            return []
        body = json.loads(answer.data)
        faults = [fault for fault in [self._misfit(where, media["schema"], body)] if fault]
        if answer.mimetype == PROBLEM_JSON and body["code"] not in media["examples"]:
            faults.append(f"the code {body['code']} is not described")
        return faults

    def _misfit(self, where: str, schema: dict[str, Any], body: Any) -> str | None:
        if where not in self._validators:
            self._validators[where] = Draft202012Validator({**schema, "components": self._closed})
        try:
            self._validators[where].validate(body)
        except ValidationError as error:
            return f"{error.message[:300]} at {'/'.join(map(str, error.instance_path))}"
        return None


_CONTRACTS: dict[frozenset[str], Contract] = {}


def contract_of(app: Flask) -> Contract:
    """The contract of an application, made once for all that have the same addresses."""
    addresses = frozenset(f"{rule.endpoint} {rule.rule}" for rule in app.url_map.iter_rules())
    if addresses not in _CONTRACTS:
        _CONTRACTS[addresses] = Contract(app.test_client(check=False).get("/v1/openapi.json").json)
    return _CONTRACTS[addresses]


class ContractClient(FlaskClient):
    """A client that fails where an answer is not as the document says."""

    def __init__(self, *args: Any, check: bool = True, **options: Any) -> None:
        super().__init__(*args, **options)
        self.check = check

    def open(self, *args: Any, **options: Any) -> TestResponse:
        """See `FlaskClient.open`."""
        answer = super().open(*args, **options)
        if self.check:
            faults = contract_of(self.application).faults(self.application, answer)
            assert not faults, "\n".join(faults)
        return answer
