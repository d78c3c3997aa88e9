"""A blueprint whose views are documented by the schemas that they use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, Literal, TypeVar

from flask_smorest import Blueprint
from marshmallow import Schema

from api.refusing import REFUSES

View = TypeVar("View", bound=Callable[..., Any])
_OF_BODIES: Final = frozenset((400, 413, 415, 422))
_OF_QUERIES: Final = frozenset((400, 422))
_OF_LIMITS: Final = frozenset((429,))
"""Of every call below /v1: `api.limits`."""
Who = Literal["anyone", "bearer", "player"]
"""Anybody, with a token or without; any valid token; one with a scope."""
_OF_WHO: Final[dict[Who, tuple[int, ...]]] = {"anyone": (), "bearer": (401,), "player": (401, 403)}
_SECURITY: dict[Who, list[dict[str, list[str]]]] = {
    "anyone": [{}, {"bearer": []}],
    "bearer": [{"bearer": []}],
    "player": [{"bearer": []}],
}


class Room(Blueprint):
    """flask-smorest's blueprint, less what its decorators cost a request.

    They wrap a view in layers that parse by webargs and serialise by marshmallow, two thirds of the time of a small
    request. Here they only document: the view that is called is the function itself.
    """

    def view(
        self,
        method: str,
        rule: str,
        answer: type[Schema] | dict[str, Any],
        *,
        status: int = 200,
        who: Who = "anyone",
        takes: type[Schema] | None = None,
        query: type[Schema] | None = None,
        headers: type[Schema] | None = None,
        sends: dict[str, Any] | None = None,
        content_type: str | None = None,
        refuses: Iterable[int] = (),
        codes: Iterable[str] = (),
        unchanged: bool = False,
        also: dict[int, Any] | None = None,
    ) -> Callable[[View], View]:
        """Register a view under ``rule``; its docstring becomes summary and description.

        ``takes``, ``query`` and ``headers`` are what it reads, ``answer`` and the headers ``sends`` what it sends.
        ``refuses`` are its refusals beside those that follow from who may call and what is read; ``unchanged`` tells
        whether it answers 304, ``also`` what else
        is to be said of its answers, by status.
        """
        refusals = {*refuses, *_OF_WHO[who], *(_OF_BODIES if takes else ())}
        if (self.url_prefix or "").startswith("/v1"):
            refusals |= _OF_LIMITS
        if query is not None:
            refusals |= _OF_QUERIES

        def register(function: View) -> View:
            shell: Any = function
            for schema, location in ((takes, "json"), (query, "query"), (headers, "headers")):
                if schema is not None:
                    shell = self.arguments(schema, location=location)(shell)
            shell = self.response(status, answer, headers=sends, content_type=content_type)(shell)
            shell = self.doc(security=_SECURITY[who])(shell)
            documented = shell._apidoc
            documented["manual_doc"] |= {"operationId": function.__name__, REFUSES: [*codes]}
            # webargs' own refusals are not ours
            documented.get("arguments", {}).pop("responses", None)
            if also is not None:
                documented["manual_doc"]["responses"] = also
            answers = documented["response"]["responses"]
            if unchanged:
                answers[304] = ["UNCHANGED"]
            answers.update({one: ["PROBLEM"] for one in sorted(refusals)})
            function._apidoc = documented  # type: ignore[attr-defined]
            self.add_url_rule(rule, function.__name__, function, methods=[method])
            return function

        return register
