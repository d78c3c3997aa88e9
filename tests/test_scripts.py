"""The scripts of the pages: their types, checked by the TypeScript compiler that Deno carries; nothing is fetched, nothing is built."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from deno import find_deno_bin

ROOT = Path(__file__).resolve().parents[1]
WEB = ROOT / "api" / "web"
SCRIPTS = sorted([*WEB.glob("*.js"), *WEB.glob("play/*.js")])


def problems(folder: Path, *scripts: Path) -> str:
    """What the compiler has to say of ``scripts``, by its strict rules and by what a browser offers; empty for nothing."""
    config = folder / "deno.json"
    options = {"checkJs": True, "strict": True, "lib": ["esnext", "dom", "dom.iterable"]}
    addresses = {f"/{path.name}": str(path) for path in WEB.glob("*.js")}
    config.write_text(json.dumps({"compilerOptions": options, "imports": addresses}))
    command = [find_deno_bin(), "check", "--quiet", "--no-remote", "--no-npm", "--config", str(config)]
    environ = os.environ | {"DENO_DIR": str(folder / "cache"), "DENO_NO_UPDATE_CHECK": "1", "NO_COLOR": "1"}
    done = subprocess.run(
        [*command, *map(str, scripts)], env=environ, capture_output=True, text=True, check=False
    )
    assert bool(done.returncode) == bool(done.stderr)
    return done.stderr


def test_types_hold(tmp_path: Path) -> None:
    """No script uses what another does not offer; each parameter of each function has a type."""
    assert "" == problems(tmp_path, *SCRIPTS)


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("// @ts-check\nexport const one = (words) => words;\n", "implicitly has an 'any' type"),
        (
            "import { element } from '/page-parts.js';\nelement('p', 7);\n",
            "'number' is not assignable to parameter of type 'string'",
        ),
        ("/** @param {string} id */\nexport const of = (id) => document.nothing(id);\n", "does not exist"),
    ],
    ids=["no type", "another type", "no such thing"],
)
def test_faults_are_found(tmp_path: Path, script: str, told: str) -> None:
    """A function without types, an argument of another type, and what no browser has."""
    path = tmp_path / "faulty.js"
    path.write_text(script)
    assert told in problems(tmp_path, path)


def test_every_script_says_that_it_is_checked() -> None:
    """Editors look for the first line; the pages' scripts are all among those that are checked."""
    assert len(SCRIPTS) > 40
    assert [] == [
        path.name for path in SCRIPTS if not path.read_text(encoding="utf-8").startswith("// @ts-check\n")
    ]
