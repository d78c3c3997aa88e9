"""The languages that people are spoken to in: one gettext catalogue each, read from its ``.po`` as it is needed.

English is the language of the code. ``services/locale/hearts.pot`` lists every message of it, and the tests hold each
catalogue to that list.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from gettext import GNUTranslations, NullTranslations
from importlib.resources import files
from io import BytesIO
from typing import Final

from babel.lists import format_list
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.numbers import format_decimal

from services.settings import asked_languages

ENGLISH: Final = "en"
LANGUAGES: Final = (ENGLISH, "el", "fi", "is", "sv")
"""ISO 639-1 codes of all languages there are."""
PAGE: Final = "page"
"""The context of the messages of the page in the browser, whose code is ``api/web/play``."""
_CONVENTIONS: Final = {ENGLISH: "en_GB"}
"""Where lists and numbers follow another locale than the language's own: our English has no comma before `or`."""


class Words:
    """One language: its messages, and how it joins lists and writes numbers.

    The three ways to a message have gettext's names, by which `babel.messages.extract` finds them. Their placeholders
    are named and filled as by `str.format`.
    """

    def __init__(self, language: str, catalogue: NullTranslations) -> None:
        self.language = language
        self._catalogue = catalogue
        self._locale = _CONVENTIONS.get(language, language)

    def gettext(self, message: str, **values: str) -> str:
        """A message with its placeholders filled."""
        return self._catalogue.gettext(message).format(**values)

    def pgettext(self, context: str, message: str) -> str:
        """A message of few words in the form, mostly the case, that a context wants."""
        return self._catalogue.pgettext(context, message)

    def ngettext(self, one: str, many: str, n: int, **values: str) -> str:
        """The form of a message that goes with a number, which fills the placeholder ``n``."""
        return self._catalogue.ngettext(one, many, abs(n)).format(n=self.number(n), **values)

    def number(self, n: int) -> str:
        """A number as it is written in running text."""
        return format_decimal(n, locale=self._locale)

    def either(self, items: Iterable[str]) -> str:
        """Alternatives, as in ``a, b or c``."""
        return format_list(list(items), style="or", locale=self._locale)


def choose_language(asked: str | None = None) -> str:
    """The language meant by a tag or locale name such as ``sv``, ``sv-FI`` or ``sv_SE.UTF-8``.

    ``None`` asks for what the locale of the environment names. English where it is none that we have.
    """
    for name in asked_languages() if asked is None else [asked]:
        code = re.split(r"[^a-z]", name.strip().lower(), maxsplit=1)[0]
        if code in LANGUAGES:
            return code
    return ENGLISH


@lru_cache(maxsize=len(LANGUAGES))
def words_of(language: str = ENGLISH) -> Words:
    """The words of one of `LANGUAGES`. Raises `KeyError` for any other."""
    if language not in LANGUAGES:
        raise KeyError(language)
    return Words(language, NullTranslations() if language == ENGLISH else _read(language))


def page_texts(language: str) -> dict[str, object]:
    """What the page in the browser says in one of the foreign `LANGUAGES`, by the English; forms of what goes with a number."""
    return {
        message.id if isinstance(message.id, str) else message.id[0]: message.string
        for message in _catalogue(language)
        if message.id and message.context == PAGE
    }


def _catalogue(language: str) -> Catalog:
    path = files("services") / "locale" / language / "LC_MESSAGES" / "hearts.po"
    with path.open("rb") as source:
        return read_po(source, locale=language, abort_invalid=True)


def _read(language: str) -> GNUTranslations:
    catalogue = _catalogue(language)
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    compiled.seek(0)
    return GNUTranslations(compiled)
