"""An answer as it goes out: bytes, a status, and exactly the headers that it is given."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from flask import Response
from werkzeug.datastructures import Headers

Fields = list[tuple[str, str]]
"""Headers, by name and value."""

JSON: Final = "application/json"
_STATUS: Final = {200: "200 OK", 201: "201 Created", 304: "304 Not Modified"}


class Answer(Response):
    """A response that is known whole when it is made.

    werkzeug's own weighs each header and completes what may be missing, which takes longer than making a table's body.
    Here that is done only for whoever asks for `headers`.
    """

    def __init__(self, body: bytes, fields: Fields, status: int = 200) -> None:
        self._body = body
        self._fields = fields
        self._status = _STATUS[status]
        self._status_code = status
        self._headers: Headers | None = None

    @property
    def headers(self) -> Headers:  # type: ignore[override]
        """The headers, which may be changed; made for who asks for them."""
        if self._headers is None:
            self._headers = Headers(self._fields)
        return self._headers

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        """Send it, as WSGI has it."""
        fields = self._fields if self._headers is None else self._headers.to_wsgi_list()
        if self._status_code != 304:
            fields = [*fields, ("Content-Length", str(len(self._body)))]
        start_response(self._status, fields)
        return [b"" if environ["REQUEST_METHOD"] == "HEAD" else self._body]
