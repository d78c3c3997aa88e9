"""The message catalogues: complete, true to the code, and chosen by the names that locales have."""

from __future__ import annotations

import re
import string
from collections.abc import Iterator

import pytest
from babel.messages.catalog import Catalog, Message

from services.languages import ENGLISH, LANGUAGES, choose_language, words_of
from tests.support.catalogues import FOREIGN, LOCALE, TEMPLATE, brought_up, kept, po_path, wanted, written


def texts(value: str | tuple[str, ...] | list[str]) -> list[str]:
    """The forms of a message."""
    return [value] if isinstance(value, str) else list(value)


def shape(text: str) -> tuple[tuple[str, ...], str, str]:
    """What a translation has in common with its message: placeholders, spaces about it, a full stop or a colon."""
    names = tuple(sorted({name for _, name, _, _ in string.Formatter().parse(text) if name is not None}))
    ending = re.search(r"[.:,]?$", text)
    assert ending
    return names, text[len(text.rstrip()) :], ending[0]


def faults(catalogue: Catalog) -> Iterator[str]:
    """What is wrong with the translations of a catalogue."""
    for message in catalogue:
        if not message.id:
            continue
        forms = texts(message.string)
        if message.fuzzy:
            yield f"fuzzy: {message.id}"
        if not all(form.strip() for form in forms):
            yield f"empty: {message.id}"
        elif len(forms) != (catalogue.num_plurals if isinstance(message.id, tuple) else 1):
            yield f"forms: {message.id}"
        elif {shape(form) for form in forms} != {shape(text) for text in texts(message.id)}:
            yield f"shape: {message.id}"


@pytest.mark.parametrize(
    ("message", "fault"),
    [
        (Message("a", "á"), None),
        (Message("{a} of {b}.", "{b}: {a}."), None),
        (Message("{a} of {b}", "{b}"), "shape"),
        (Message("a.", "á"), "shape"),
        (Message("; ", ";"), "shape"),
        (Message("a", ""), "empty"),
        (Message("a", "á", flags=["fuzzy"]), "fuzzy"),
        (Message(("{n} a", "{n} b"), ("{n} á", "{n} ð")), None),
        (Message(("{n} a", "{n} b"), ("{n} á",)), "forms"),
        (Message(("{n} a", "{n} b"), ("{n} á", "")), "empty"),
        (Message(("{n} a", "{n} b"), ("{n} á", "ð")), "shape"),
    ],
)
def test_the_check_of_translations_finds_what_it_is_for(message: Message, fault: str | None) -> None:
    """A faulty translation is found, so silence about the catalogues means something."""
    catalogue = Catalog(locale="is")
    catalogue[message.id] = message
    assert ([] if fault is None else [fault]) == [found.split(":")[0] for found in faults(catalogue)]


@pytest.mark.parametrize("language", FOREIGN)
def test_every_message_is_translated(language: str) -> None:
    """None is empty, fuzzy, short of a plural form, or has other placeholders than the message."""
    assert [] == list(faults(kept(language)))


@pytest.mark.parametrize("language", FOREIGN)
def test_catalogues_have_the_messages_of_the_code(language: str) -> None:
    """None is missing, none is left over: `python -m tests.support.catalogues` would change nothing."""
    assert written(brought_up(language)) == po_path(language).read_bytes()


def test_the_template_lists_the_messages_of_the_code() -> None:
    """`python -m tests.support.catalogues` would change nothing; and there is a lot to say."""
    assert written(wanted()) == TEMPLATE.read_bytes()
    assert len(wanted()) > 80


def test_every_catalogue_is_of_a_language_that_is_offered() -> None:
    """A folder for each language but English, and nothing else."""
    assert sorted(FOREIGN) == sorted(path.name for path in LOCALE.iterdir() if path.is_dir())
    assert ENGLISH in LANGUAGES


@pytest.mark.parametrize("language", FOREIGN)
def test_numbers_choose_the_plural_form(language: str) -> None:
    """Icelandic counts 21, 31 and 101 as it counts one, but not 11 and 111; the others have one and many."""
    message = "After {n} hand the game ends in any case, and all who have the lowest total win."
    many = message.replace("hand ", "hands ")
    words = words_of(language)
    form = {n: words.ngettext(message, many, n).replace(str(n), "#") for n in (0, 1, 2, 11, 21, 31, 101, 111)}
    singular = {1, 21, 31, 101} if language == "is" else {1}
    for n, text in form.items():
        # Finnish says "1 jaon jälkeen" and "2 jaon jälkeen"
        assert (text == form[1]) == (n in singular or language == "fi"), n


@pytest.mark.parametrize(
    ("asked", "language"),
    [
        ("sv", "sv"),
        ("sv_SE.UTF-8", "sv"),
        ("sv-FI", "sv"),
        ("IS", "is"),
        ("el_GR@euro", "el"),
        (" fi ", "fi"),
        ("en_US", "en"),
        ("de_DE", "en"),
        ("svx", "en"),
        ("C", "en"),
        ("", "en"),
        ("../../sv", "en"),
        ("\0", "en"),
        ("ísl", "en"),
    ],
)
def test_a_language_is_known_by_the_names_of_its_locales(asked: str, language: str) -> None:
    """Tags and POSIX names; English for everything that we do not have."""
    assert language == choose_language(asked)


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "fi_FI.UTF-8"}, "fi"),
        ({"LANG": "fi_FI.UTF-8", "LC_MESSAGES": "sv_SE.UTF-8"}, "sv"),
        ({"LANG": "fi_FI.UTF-8", "LC_MESSAGES": "sv_SE.UTF-8", "LC_ALL": "el_GR.UTF-8"}, "el"),
        ({"LANG": "fi_FI.UTF-8", "LC_ALL": "el_GR.UTF-8", "LANGUAGE": "is:en"}, "is"),
        ({"LANG": "fi_FI.UTF-8", "LC_CTYPE": "sv_SE.UTF-8"}, "fi"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "C.UTF-8", "LANGUAGE": "is"}, "en"),
        ({"LANG": "fi_FI.UTF-8", "LANGUAGE": "fr:is:sv"}, "is"),
        ({"LANG": "fi_FI.UTF-8", "LANGUAGE": "fr"}, "fi"),
        ({"LANG": "no such locale"}, "en"),
    ],
)
def test_without_a_wish_the_locale_names_the_language(
    environment: dict[str, str], language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LANGUAGE before LC_ALL before LC_MESSAGES before LANG."""
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert language == choose_language()


def test_there_are_no_words_of_a_language_that_we_do_not_have() -> None:
    """A name is no path: only the languages of the list are ever looked for."""
    with pytest.raises(KeyError):
        words_of("../is")
