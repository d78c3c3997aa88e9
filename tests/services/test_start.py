"""A command that is interrupted as it starts: no traceback."""

from __future__ import annotations

import subprocess
import sys
import tomllib

import pytest

from tests.support.ending import started
from tests.support.running import ROOT, house_environ

INTERRUPTED = """
import importlib, os, signal, sys

class Ctrl_C:
    def find_spec(self, name, *_):
        if name == LOADED:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Ctrl_C())
LOADED, entry = sys.argv[1:3]
module, _, function = entry.partition(":")
del sys.argv[1:3]
getattr(importlib.import_module(module), function)()
"""


@pytest.mark.parametrize("module", ["services.cli", "click", "services.settings", "services.cli_records"])
@pytest.mark.parametrize("words", [["verify", "--help"], ["--help"]])
def test_an_interrupt_while_it_is_loaded(module: str, words: list[str]) -> None:
    """Given the entry point of `hearts`, when Ctrl-C comes while some module is loaded, then it ends without a word."""
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    command = (sys.executable, "-c", INTERRUPTED, module, scripts["hearts"], *words)
    pipes = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    with started(*command, env=house_environ(), **pipes) as process:
        told = process.communicate(timeout=60)
    assert (130, ("", "")) == (process.returncode, told)
