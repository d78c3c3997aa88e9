"""The message catalogues as the code wants them; run as a program it writes them.

``python -m tests.support.catalogues`` lists every message of the code in ``services/locale/hearts.pot`` and brings each
language's ``hearts.po`` to that list: new messages come in untranslated, those that nobody uses any more go.
"""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract, extract_from_file
from babel.messages.pofile import read_po, write_po

from domain.variants import VARIANTS
from services.languages import ENGLISH, LANGUAGES, PAGE

ROOT = Path(__file__).resolve().parents[2]
LOCALE = ROOT / "services" / "locale"
TEMPLATE = LOCALE / "hearts.pot"
FOREIGN = [language for language in LANGUAGES if language != ENGLISH]
KEYWORDS = {"gettext": None, "ngettext": (1, 2), "pgettext": ((1, "c"), 2)}
PAGE_KEYWORDS = {"t": None, "counted": (2, 3)}
INSIDE = {"parse_template_string": "true"}
"""Texts of a script may stand within a template."""
HEADER = """\
# {} of the Hearts house: its rules in words.
# This file is distributed under the MIT licence, as the house is."""


def po_path(language: str) -> Path:
    """Where the catalogue of a language is kept."""
    return LOCALE / language / "LC_MESSAGES" / "hearts.po"


def wanted() -> Catalog:
    """Every message of the code, in the order of modules and lines, the titles of the variants, and the page's texts."""
    catalogue = Catalog(charset="utf-8", fuzzy=False)
    for path in sorted((ROOT / "services").glob("*.py")):
        for _, message, _, context in extract_from_file("python", path, keywords=KEYWORDS):
            catalogue.add(message, context=context)
    for variant in VARIANTS.values():
        catalogue.add(variant.title)
    for path in sorted((ROOT / "api" / "web" / "play").glob("*.js")):
        with path.open("rb") as source:
            for _, message, _, _ in extract("javascript", source, keywords=PAGE_KEYWORDS, options=INSIDE):
                catalogue.add(message, context=PAGE)
    return catalogue


def kept(language: str) -> Catalog:
    """The catalogue of a language as it is kept."""
    with po_path(language).open("rb") as source:
        return read_po(source, locale=language, abort_invalid=True)


def written(catalogue: Catalog) -> bytes:
    """A catalogue as it stands in a file: without dates and line numbers, which would change with everything."""
    language = catalogue.locale_identifier
    head = HEADER.format(f"The {language} messages" if language else "The messages")
    lines = [*head.splitlines(), 'msgid ""', 'msgstr ""']
    fields = {"Content-Type": "text/plain; charset=utf-8", "Content-Transfer-Encoding": "8bit"}
    if language:
        fields |= {"Language": language, "Plural-Forms": catalogue.plural_forms}
    lines += [f'"{name}: {value}\\n"' for name, value in fields.items()]
    out = BytesIO()
    write_po(out, catalogue, width=110, no_location=True, omit_header=True, ignore_obsolete=True)
    return "\n".join([*lines, "", ""]).encode() + out.getvalue().strip() + b"\n"


def brought_up(language: str) -> Catalog:
    """The catalogue of a language with exactly the messages of the code."""
    catalogue = kept(language) if po_path(language).exists() else Catalog(locale=language, charset="utf-8")
    catalogue.update(wanted(), no_fuzzy_matching=True)
    return catalogue


def main() -> None:
    """Write the template and every catalogue."""
    TEMPLATE.parent.mkdir(exist_ok=True)
    TEMPLATE.write_bytes(written(wanted()))
    for language in FOREIGN:
        catalogue = brought_up(language)
        po_path(language).parent.mkdir(parents=True, exist_ok=True)
        po_path(language).write_bytes(written(catalogue))
        missing = [message.id for message in catalogue if message.id and not message.string]
        print(f"{language}: {len(missing)} to translate")


if __name__ == "__main__":
    main()
