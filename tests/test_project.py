"""The project as a package: lock files, entry points, the wheel, the documents' promises, words that may not stand here."""

import importlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from domain import kernel

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
COMMANDS = PROJECT["project"]["entry-points"]["hearts.commands"]
FLOORS = ("domain", "services", "workers", "api")
LOCKS = sorted((ROOT / "requirements").glob("*.lock"))
# Made on the machine, not part of the tree.
MADE = {".git", ".venv", "build", "dist", "hearts-data", "__pycache__", ".hypothesis", "mutants"}
MADE |= {".mypy_cache", ".pytest_cache", ".ruff_cache"}
# Written in pieces, so that this file does not hold them.
INDEXES = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "--index" + "-url",
    "--extra-" + "index-url",
    "--find" + "-links",
]
MACHINE = ["/" + "work/", "/" + "tmp/", "/" + "root/", "/" + "home/", ".." + "/shared"]


def texts() -> dict[Path, str]:
    """Every text file of the tree by its path from the root."""
    found = {}
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in MADE and not name.endswith(".egg-info")]
        for name in files:
            path = Path(folder, name)
            try:
                found[path.relative_to(ROOT)] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue
    return found


def pins(lock: str) -> dict[str, list[str]]:
    """Pinned requirement (`name==version`) -> its hashes, as a lock file states them."""
    joined = lock.replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return {line.split()[0]: re.findall(r"--hash=sha256:[0-9a-f]{64}\b", line) for line in lines}


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.name)
def test_every_locked_release_is_pinned_with_hashes(path: Path) -> None:
    """Each line of a lock is one exact version and at least one hash, so that any mirror serves."""
    locked = pins(path.read_text(encoding="utf-8"))
    assert locked
    assert [] == [
        name for name, hashes in locked.items() if not hashes or not re.match(r"[\w.-]+==[\w.]+$", name)
    ]


def test_a_line_without_hash_is_noticed() -> None:
    """The reader of lock files sees hashes only where they are."""
    hashed = "a==1 \\\n    --hash=sha256:" + "0" * 64
    assert {"a==1": 1, "b==2": 0} == {
        name: len(found) for name, found in pins(f"# x\n{hashed}\nb==2\n").items()
    }


def test_the_locks_agree() -> None:
    """What a house runs on is exactly what the tests run on."""
    run, build, dev = (
        pins((ROOT / f"requirements/{name}.lock").read_text()) for name in ("run", "build", "dev")
    )
    assert {} == {name: found for name, found in {**run, **build}.items() if dev.get(name) != found}


def test_every_declared_dependency_is_locked() -> None:
    """A dependency added to pyproject.toml without `make lock` is noticed."""
    declared = [*PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"]["test"]]
    locked = {name.split("==")[0] for name in pins((ROOT / "requirements/dev.lock").read_text())}
    assert [] == [line for line in declared if re.match(r"[\w-]+", line)[0].lower() not in locked]


def test_nothing_names_an_index_or_a_path_of_a_machine() -> None:
    """No file of the tree names a package index or a folder of the machine it was written on.

    Absolute paths are allowed where they are a matter of the container or of the system: in deploy/ and .ci/.
    """
    found = {
        f"{path}: {word}"
        for path, text in texts().items()
        for word in [*INDEXES, *MACHINE]
        if word in text and not (path.parts[0] in {"deploy", ".ci"} and word in MACHINE)
    }
    assert set() == found


def test_entry_points_resolve_to_click_commands() -> None:
    """Each subcommand of `hearts` can be imported, is a click command, and bears its own name."""
    import click

    for name, target in COMMANDS.items():
        module, _, attribute = target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command), target
        assert name == command.name
        assert command.get_short_help_str(), f"hearts {name} has no help"


def test_the_hearts_command_offers_every_entry_point() -> None:
    """`hearts --help` lists what pyproject.toml declares, and `hearts --version` the version it declares."""
    hearts = Path(sys.executable).with_name("hearts")
    shown = subprocess.run([hearts, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
    assert [] == [name for name in COMMANDS if not re.search(rf"^  {name}\b", shown, re.MULTILINE)]
    version = subprocess.run(
        [hearts, "--version"], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert PROJECT["project"]["version"] in version


def test_the_wheel_holds_the_four_packages_and_nothing_else(tmp_path: Path) -> None:
    """Every module of the four floors is in the wheel, with its data; tests, docs and games are not."""
    tree = tmp_path / "tree"
    for floor in FLOORS:
        shutil.copytree(ROOT / floor, tree / floor, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tree)
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-build-isolation",
        "--no-deps",
        "-w",
        tmp_path,
        tree,
    ]
    done = subprocess.run(build, capture_output=True, text=True, check=False, timeout=600)
    assert 0 == done.returncode, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    held = {Path(name) for name in zipfile.ZipFile(wheel).namelist()}
    kinds = {".py", ".po", ".lua", ".js", ".css", ".html", ".svg"}
    made = {
        path.relative_to(tree)
        for floor in FLOORS
        for path in (tree / floor).rglob("*")
        if path.suffix in kinds
    }
    assert set() == made - held
    assert {*FLOORS} == {path.parts[0] for path in held if not path.parts[0].endswith(".dist-info")}


def test_documents_name_only_make_targets_that_exist() -> None:
    """Every `make x` of README, CONTRIBUTING and .ci/run is a target of the Makefile."""
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    documents = ["README.md", "CONTRIBUTING.md", ".ci/run"]
    named = {
        (document, target)
        for document in documents
        for target in re.findall(
            r"(?:`|^[ $]*)make ([a-z]+)\b", (ROOT / document).read_text(encoding="utf-8"), re.MULTILINE
        )
    }
    assert {"run", "test"} <= {target for document, target in named if document == "README.md"}
    assert [] == sorted(f"{document}: make {target}" for document, target in named if target not in targets)


def test_documents_link_to_files_that_exist() -> None:
    """Every relative link of a Markdown page leads to a file or folder of the tree."""
    broken = [
        f"{path}: {target}"
        for path, text in texts().items()
        if path.suffix == ".md"
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text)
        if "://" not in target and not (ROOT / path.parent / target).exists()
    ]
    assert [] == broken


def test_ignored_folders_are_never_part_of_an_image() -> None:
    """The build context of the image lists what may enter, so that games, keys and caches cannot."""
    lines = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line and line[0] != "#"]
    assert "*" == lines[0]
    assert [] == [line for line in lines if line.strip("!/").split("/")[0] in MADE]


def test_what_the_tests_require_is_there() -> None:
    """What HEARTS_TEST_REQUIRE names is installed; without this, its tests would quietly not exist."""
    required = [name for name in os.environ.get("HEARTS_TEST_REQUIRE", "").split(",") if name]
    programs = [name for name in required if name != "compiler"]
    assert [] == [name for name in programs if not shutil.which(name)]
    assert kernel.AVAILABLE or "compiler" not in required
