"""What is sent again and again as it is, pages and what they are made of: compressed once, and told by its version."""

from __future__ import annotations

from functools import cached_property
from gzip import compress
from hashlib import sha256
from typing import Final

from flask import Response, request

GZIP: Final = "gzip"
ASK_AGAIN: Final = "no-cache"
"""It may be kept, and is asked for again by its ETag."""
_HEX_DIGITS: Final = 32


class Fixed:
    """Bytes that stay the same while the server runs, and the answers with them to the current request."""

    def __init__(self, data: bytes, content_type: str, cache: str = ASK_AGAIN) -> None:
        self._data = data
        self._headers = {
            "Content-Type": content_type,
            "Cache-Control": cache,
            "Vary": "Accept-Encoding",
        }

    @cached_property
    def _etag(self) -> str:
        return sha256(self._data).hexdigest()[:_HEX_DIGITS]

    @cached_property
    def _packed(self) -> bytes:
        return compress(self._data, mtime=0)

    def answer(self) -> Response:
        """An answer in the encoding that the caller takes, without a body where it has that already."""
        packs = _takes_gzip()
        response = Response(self._packed if packs else self._data, headers=self._headers)
        if packs:
            response.headers["Content-Encoding"] = GZIP
        # a strong ETag names these very bytes, so each encoding has its own
        response.set_etag(f"{self._etag}-{GZIP}" if packs else self._etag)
        response.make_conditional(request)
        return response


def _takes_gzip() -> bool:
    """Whether the caller takes gzip, and does not like plain bytes better."""
    accepted = request.accept_encodings
    return accepted.quality(GZIP) > 0 and accepted.quality(GZIP) >= accepted.quality("identity")
