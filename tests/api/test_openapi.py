"""The OpenAPI document as tools read it, and the eye that holds every answer of these tests against it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema_rs
import pytest
from flask import Flask, Response
from openapi_spec_validator import OpenAPIV31SpecValidator

from api.document import operations_of, schemas_in
from api.errors import CODES
from api.explained import EXPLAINED
from api.refusing import codes_in, codes_of, example
from tests.api.guests import Guest, open_table


@pytest.fixture
def spec(stranger: Guest) -> dict[str, Any]:
    """The OpenAPI document as it is served."""
    found: dict[str, Any] = stranger.get("/v1/openapi.json").json
    return found


def resolved(schema: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """A schema that can be used by itself."""
    return {**schema, "components": spec["components"]}


def test_the_document_is_valid(spec: dict[str, Any]) -> None:
    """OpenAPI 3.1 has no complaint about it, and JSON Schema 2020-12 none about its schemas."""
    assert [] == [error.message for error in OpenAPIV31SpecValidator(spec).iter_errors()]
    for schema in spec["components"]["schemas"].values():
        jsonschema_rs.Draft202012Validator(resolved(schema, spec))


def test_the_words_are_those_of_3_1(spec: dict[str, Any]) -> None:
    """No `nullable`, no `example` in a schema, no null among the choices of a parameter, which cannot be sent."""
    for one in schemas_in(spec["components"]["schemas"]):
        assert "nullable" not in one
        assert not ("type" in one and "example" in one)
    for _, _, operation in operations_of(spec).values():
        for parameter in operation.get("parameters", ()):
            assert isinstance(parameter["schema"]["type"], str)
            assert None not in parameter["schema"].get("enum", ())


def test_each_call_has_a_name_a_group_and_a_word_on_tokens(spec: dict[str, Any]) -> None:
    """An operationId is unique, tags are declared, and a call that answers 401 says that it takes a token."""
    ids = [
        one["operationId"]
        for item in spec["paths"].values()
        for name, one in item.items()
        if name != "parameters"
    ]
    assert len(ids) == len(set(ids))
    declared = {tag["name"] for tag in spec["tags"]}
    for name, (_, _, operation) in operations_of(spec).items():
        assert set(operation["tags"]) <= declared
        assert ("401" in operation["responses"]) == ({"bearer": []} in operation["security"]), name


def test_every_refusal_lists_its_codes_with_an_example(spec: dict[str, Any]) -> None:
    """Each has the status it stands under, and its example is a problem as the schema of problems has it."""
    problem = jsonschema_rs.Draft202012Validator(
        resolved(spec["components"]["schemas"]["ProblemAnswer"], spec)
    )
    for name, (_, _, operation) in operations_of(spec).items():
        for status, response in operation["responses"].items():
            if status < "400":
                continue
            codes = codes_in(response)
            assert codes, f"{name} {status}"
            assert {int(status)} == {CODES[code][0] for code in codes}
            for shown in response["content"]["application/problem+json"]["examples"].values():
                value = spec["components"]["examples"][shown["$ref"].rpartition("/")[2]]["value"]
                problem.validate(value)
    for code in CODES:
        problem.validate(example(code))


def test_every_code_is_explained() -> None:
    """What it means and what to do; a code that is added is added to `api.explained` too."""
    assert set() == CODES.keys() - EXPLAINED.keys()
    for code in CODES:
        assert EXPLAINED[code].meaning.endswith("."), code
        assert EXPLAINED[code].advice.endswith("."), code


def test_examples_fit_their_schemas(spec: dict[str, Any]) -> None:
    """Of what is sent and of what is answered."""
    shown = 0
    for name, (_, _, operation) in operations_of(spec).items():
        places = [operation.get("requestBody", {}), *operation["responses"].values()]
        for media in (one for place in places for one in place.get("content", {}).values()):
            values = [media["example"]] if "example" in media else []
            values += [one["value"] for one in media.get("examples", {}).values() if "value" in one]
            for value in values:
                shown += 1
                validator = jsonschema_rs.Draft202012Validator(resolved(media["schema"], spec))
                assert [] == [f"{name}: {error.message}" for error in validator.iter_errors(value)]
    assert shown > 20


def test_links_lead_to_calls_that_take_what_they_bring(spec: dict[str, Any]) -> None:
    """Each names a call of the document and parameters that it has; from an opened table every call at one is reached."""
    operations = operations_of(spec)
    for name, (_, _, operation) in operations.items():
        for response in operation["responses"].values():
            for link in response.get("links", {}).values():
                _, path, target = operations[link["operationId"]]
                taken = [*spec["paths"][path].get("parameters", ()), *target.get("parameters", ())]
                assert link["parameters"].keys() <= {one["name"] for one in taken}, name
    opened = operations["open_table"][2]["responses"]["201"]["links"]
    assert opened.keys() == {
        name for name, (_, path, _) in operations.items() if path.startswith("/v1/games/{game}")
    }
    hinted = operations["get_hint"][2]["responses"]["200"]["links"]
    assert {"play": "$response.body#/play"} == hinted["play"]["requestBody"]


def test_a_command_that_names_no_codes_may_refuse_with_any() -> None:
    """A call is described truly from the start: what it names makes the description narrower."""
    wide = codes_of([403, 404, 409, 422], (), "/v1/games/{game}/claim", keyed=True)
    narrow = codes_of([403, 404, 409, 422], ("game/over",), "/v1/games/{game}/claim", keyed=True)
    assert set(narrow) == {"auth/forbidden", "game/unknown", "game/over", "key/reused", "request/invalid"}
    assert {code for code, (status, _) in CODES.items() if status in (403, 409, 422)} < set(wide)
    assert "variant/unknown" not in wide


@pytest.mark.parametrize(
    ("status", "body", "headers", "fault"),
    [
        (418, {}, {}, "answers 418, which is not described"),
        (200, {"live": "yes"}, {}, "is not of type"),
        (200, {"live": True, "more": 1}, {}, "Additional properties"),
        (200, {"live": True}, {"ETag": '"1-00"'}, "the header ETag is not described"),
        (200, {"live": True}, {"Content-Type": "text/plain"}, "a body of text/plain is not described"),
    ],
)
def test_an_answer_that_is_not_described_is_noticed(
    app: Flask, status: int, body: Any, headers: dict[str, str], fault: str
) -> None:
    """The eye on all answers sees status, body and headers that the document does not have."""
    sent = {"Content-Type": "application/json", **headers}
    app.view_functions["ops.livez"] = lambda: Response(json.dumps(body), status, headers=sent)
    with pytest.raises(AssertionError, match=fault):
        app.test_client().get("/livez")


def test_a_code_that_is_not_described_is_noticed(app: Flask, four: list[Guest]) -> None:
    """Nor does it let pass a code that the call does not list for the status, or a header that is missing."""
    game = open_table(four[0], ["me", "open", "open", "open"])

    def answer(code: str, headers: dict[str, str]) -> Any:
        status = CODES[code][0]
        sent = {"Content-Type": "application/problem+json", **headers}
        return lambda **_: Response(json.dumps(example(code)), status, headers=sent)

    app.view_functions["games.show_table"] = answer("game/full", {})
    with pytest.raises(AssertionError, match="the code game/full is not described"):
        four[0].get(f"/v1/games/{game}")
    app.view_functions["games.show_table"] = answer("auth/required", {})
    with pytest.raises(AssertionError, match="the header WWW-Authenticate is missing"):
        four[0].get(f"/v1/games/{game}")


@pytest.mark.parametrize(
    ("number", "status"), [("7.0", 409), ("1e0", 200), ("1.5", 422), ("1e400", 400), ("-0.0", 200)]
)
def test_a_number_is_whole_where_json_schema_says_so(four: list[Guest], number: str, status: int) -> None:
    """A fraction of nothing is none, wherever it stands; any other is refused."""
    rules = {"variant": "custom", "players": 8, "decks": 2, "hand": 13.0, "pass_cycle": [1.0, -1]}
    made = four[0].post("/v1/games", {**rules, "seats": ["open"] * 7 + [{"bot": "rules"}]})
    assert (201, [1, -1]) == (made.status_code, made.json["rules"]["pass_cycle"])
    sat = four[0].client.post(
        f"/v1/games/{made.json['id']}/seats",
        data=f'{{"seat": {number}}}',
        content_type="application/json",
        headers={"Authorization": f"Bearer {four[0].token}"},
    )
    assert status == sat.status_code, sat.text
