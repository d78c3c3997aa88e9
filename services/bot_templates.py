"""What `hearts bot new` writes: a bot that plays, and its test."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from services.bot_plugins import RESERVED

NAME: Final = re.compile(r"[a-z][a-z0-9_]{1,30}")
"""The name of a new bot: a module can be called so, and the protocol can say it."""
_TEMPLATES: Final = Path(__file__).with_name("templates")
LANGUAGES: Final = ("python", "plain")
"""With our package, as a plug-in too; and a program that needs nothing but Python, to be written anew in any language."""


def wrong_name(name: str) -> str:
    """What is wrong with the name of a new bot, ``""`` if nothing."""
    if name in RESERVED:
        return f"{name} is taken"
    if NAME.fullmatch(name) and _is_module(name):
        return f"a module is called {name} already, which the new one would hide"
    return "" if NAME.fullmatch(name) else "a name is 2 to 31 of a-z, 0-9 and _, a letter first"


def _is_module(name: str) -> bool:
    """Whether a program can import something else by this name, the standard library and ours included."""
    try:
        return name in sys.stdlib_module_names or find_spec(name) is not None
    except (ImportError, ValueError):
        return True


def write_bot(name: str, language: str, folder: Path) -> list[Path]:
    """Write a new bot into ``folder``, which is made; the files. Raises `FileExistsError`."""
    folder.mkdir(parents=True)
    written = []
    for template in sorted((_TEMPLATES / language).glob("*.txt")):
        path = folder / template.name.removesuffix(".txt").replace("NAME", name)
        path.write_text(template.read_text(encoding="utf-8").replace("NAME", name), encoding="utf-8")
        written.append(path)
    return written
