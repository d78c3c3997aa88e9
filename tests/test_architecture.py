"""The law of the house: who imports whom, what is alive, where each truth is written.

Each check is a function from source to findings, so that the tests can first show it a broken sample and
then the project.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FLOORS = {
    "domain": {"domain"},
    "services": {"domain", "services"},
    "workers": {"domain", "services", "workers"},
    "api": {"domain", "services", "api"},
}
# What the domain may use: values, text and arithmetic. Nothing with a clock, chance, a file or a socket in it.
PURE = {
    *("__future__", "abc", "array", "bisect", "collections", "copy", "dataclasses", "difflib", "enum"),
    *("functools", "hashlib", "heapq", "hmac", "itertools", "json", "math", "msgspec", "operator", "re"),
    *("string", "struct", "textwrap", "types", "typing"),
}
IMPURE_CALLS = {"open", "print", "input", "breakpoint", "exec", "eval", "__import__"}
VARIANTS = {"basic", "classic", "special", "standard", "cancellation", "omnibus", "custom"}
LONGEST_FILE, LONGEST_FUNCTION, USUAL_FUNCTION = 400, 60, 40

Check = Callable[[Path, ast.Module], Iterator[str]]


def sources(*folders: str) -> list[Path]:
    """Paths, relative to the root, of all Python files below the folders."""
    return sorted(
        path.relative_to(ROOT)
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if "__pycache__" not in path.parts
    )


def findings(check: Check, *folders: str) -> list[str]:
    """What a check finds in the folders, each with its file."""
    paths = sources(*folders)
    assert paths, f"no sources under {folders}"
    return [
        f"{path}:{finding}"
        for path in paths
        for finding in check(path, ast.parse((ROOT / path).read_text(encoding="utf-8")))
    ]


def imports(path: Path, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and full name of every module imported, at any depth, by statement or by `import_module`."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, level=level, names=names):
                package = path.with_suffix("").parts[:-level] if level else ()
                base = [*package, *([module] if module else [])]
                yield from ((node.lineno, ".".join([*base, alias.name])) for alias in names)
            case ast.Call(func=ast.Name(id="import_module") | ast.Attribute(attr="import_module")) if (
                node.args
            ):
                if isinstance(name := node.args[0], ast.Constant):
                    yield node.lineno, str(name.value)


def foreign_floors(path: Path, tree: ast.Module) -> Iterator[str]:
    """Imports of a floor that this one may not know, or of the tests."""
    allowed = FLOORS[path.parts[0]]
    for line, name in imports(path, tree):
        root = name.split(".")[0]
        if root in {*FLOORS, "tests"} - allowed:
            yield f"{line}: {path.parts[0]} imports {name}"


def impure(path: Path, tree: ast.Module) -> Iterator[str]:
    """Imports and calls by which the domain would see a clock, chance, a file or a socket."""
    for line, name in imports(path, tree):
        if name.split(".")[0] not in {*PURE, "domain"}:
            yield f"{line}: imports {name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in IMPURE_CALLS:
            yield f"{node.lineno}: calls {node.func.id}"


def environment(path: Path, tree: ast.Module) -> Iterator[str]:
    """Readers and writers of the environment, click's own included."""
    names = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv"}
    if path == Path("services/settings.py"):
        return
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(attr=attr) if attr in names:
                yield f"{node.lineno}: os.{attr}"
            case ast.ImportFrom(module="os", names=aliases) if names & {alias.name for alias in aliases}:
                yield f"{node.lineno}: from os import"
            case ast.keyword(arg="envvar" | "auto_envvar_prefix"):
                yield f"{node.value.lineno}: click reads {node.arg}"


def docstrings(tree: ast.Module) -> set[int]:
    """Identities of the nodes that are docstrings or strings standing alone, which do nothing."""
    return {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def spelt_keys(path: Path, tree: ast.Module) -> Iterator[str]:
    """String literals that spell a key of the store, whole or as part of an f-string or a script."""
    if path in (Path("services/keys.py"), Path("services/key_templates.py")):
        return
    prose = docstrings(tree)
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in prose else None
        if isinstance(text, str) and re.search(r"^h:|\bh:\{", text):
            yield f"{node.lineno}: {text[:40]!r}"


def sizes(path: Path, tree: ast.Module) -> Iterator[str]:
    """Files and functions that have grown past what one reader holds in mind."""
    if (last := max((node.end_lineno or 0 for node in tree.body), default=0)) > LONGEST_FILE:
        yield f" {last} lines"
    for node, length in functions(tree):
        if length > LONGEST_FUNCTION:
            yield f"{node.lineno}: {node.name} has {length} lines"


def functions(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, int]]:
    """Every function with its length in lines, decorators left out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node, (node.end_lineno or node.lineno) - node.lineno + 1


def variant_names(path: Path, tree: ast.Module) -> Iterator[str]:
    """Rules that ask for the name of a variant instead of a knob: `==`, `in` and `match` on it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(_is_variant(side) for side in sides) and any(_literals(side) & VARIANTS for side in sides):
                yield f"{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Match) and _is_variant(node.subject):
            yield f"{node.lineno}: match {ast.unparse(node.subject)}"


def _is_variant(node: ast.expr) -> bool:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Subscript(slice=ast.Constant(value=name)):
            return name in {"name", "variant"}
    return False


def _literals(node: ast.expr) -> set[str]:
    return {
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


def idle_tests(path: Path, tree: ast.Module) -> Iterator[str]:
    """Tests that sleep instead of waiting for an event, or that are skipped or expected to fail."""
    banned = {"sleep", "skip", "skipif", "importorskip", "xfail", "skipTest"}
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(
                attr=attr, value=ast.Name(id="time" | "pytest") | ast.Attribute(attr="mark")
            ) if attr in banned:
                yield f"{node.lineno}: {ast.unparse(node)}"
            case ast.ImportFrom(module="time" | "pytest", names=aliases) if banned & {
                a.name for a in aliases
            }:
                yield f"{node.lineno}: from {node.module} import"


BROKEN = [
    (foreign_floors, "domain/rules.py", "import services.store"),
    (foreign_floors, "domain/rules.py", "def f():\n    from api import app"),
    (foreign_floors, "services/store.py", "from workers.jobs import drive"),
    (foreign_floors, "services/queue.py", "import importlib\nimportlib.import_module('workers.jobs')"),
    (foreign_floors, "workers/seats.py", "import api"),
    (foreign_floors, "api/app.py", "from workers import seats"),
    (foreign_floors, "api/app.py", "from tests.helpers import x"),
    (impure, "domain/game.py", "import time"),
    (impure, "domain/game.py", "from random import Random"),
    (impure, "domain/game.py", "import os.path"),
    (impure, "domain/game.py", "import redis"),
    (impure, "domain/game.py", "text = open('x').read()"),
    (environment, "services/store.py", "import os\nos.environ['HOME']"),
    (environment, "api/app.py", "from os import getenv"),
    (environment, "api/cli.py", "import click\nclick.option('--port', envvar='PORT')"),
    (spelt_keys, "services/store.py", "key = f'h:{{{tag}}}:feed'"),
    (spelt_keys, "workers/projector.py", "key = 'h:lobby'"),
    (spelt_keys, "services/store.py", 'script = \'return redis.call("GET", "h:{p01}:due")\''),
    (sizes, "domain/rules.py", "x = 1\n" * 401),
    (sizes, "domain/rules.py", "def f():\n" + "    x = 1\n" * 60),
    (variant_names, "domain/rules.py", "if rules.variant == 'special': pass"),
    (variant_names, "domain/rules.py", "if 'omnibus' != name: pass"),
    (variant_names, "domain/rules.py", "if rules['variant'] in ('basic', 'classic'): pass"),
    (variant_names, "domain/rules.py", "match rules.variant:\n    case 'basic': pass"),
    (idle_tests, "tests/x.py", "import time\ntime.sleep(1)"),
    (idle_tests, "tests/x.py", "import pytest\npytest.importorskip('redis')"),
    (idle_tests, "tests/x.py", "import pytest\n@pytest.mark.skipif(True)\ndef test(): ..."),
    (idle_tests, "tests/x.py", "from time import sleep"),
]

SOUND = [
    (foreign_floors, "domain/bots/rules.py", "from .. import cards\nfrom domain.view import View"),
    (foreign_floors, "api/app.py", "from services.wiring import build\nimport domain.cards"),
    (
        impure,
        "domain/game.py",
        "from collections.abc import Sequence\nimport hashlib\nfrom .state import State",
    ),
    (environment, "services/settings.py", "import os\nos.environ.get('HEARTS_DATA')"),
    (spelt_keys, "services/keys.py", "FEED = 'h:{%s}:feed'"),
    (spelt_keys, "services/store.py", 'def f():\n    """Reads `h:{pNN}:feed`."""\n    return "path:{x}"'),
    (sizes, "domain/rules.py", "x = 1\n" * 340 + "def f():\n" + "    x = 1\n" * 59),
    (variant_names, "domain/variants.py", "if variant in VARIANTS and name == 'seat': pass"),
    (idle_tests, "tests/x.py", "event.wait(5)\nprocess.wait(timeout=5)"),
]


@pytest.mark.parametrize(("check", "path", "source"), BROKEN)
def test_each_check_finds_what_it_is_for(check: Check, path: str, source: str) -> None:
    """A sample that breaks the law is found, so silence about the project means something."""
    assert list(check(Path(path), ast.parse(source)))


@pytest.mark.parametrize(("check", "path", "source"), SOUND)
def test_no_check_complains_of_sound_code(check: Check, path: str, source: str) -> None:
    """A sample that keeps the law is let pass."""
    assert [] == list(check(Path(path), ast.parse(source)))


def test_floors_import_only_what_lies_below_them() -> None:
    """`domain` knows none of ours, `services` knows `domain`, `api` and `workers` never know each other."""
    assert [] == findings(foreign_floors, *FLOORS)


def test_the_domain_is_pure() -> None:
    """The domain uses no module and no builtin that reaches a clock, chance, a file or a network."""
    assert [] == findings(impure, "domain")


def test_only_settings_reads_the_environment() -> None:
    """`services/settings.py` is the one reader of the environment."""
    assert [] == findings(environment, *FLOORS)


def test_only_keys_spells_key_templates() -> None:
    """`services/keys.py`, beside its table of templates, is the one place that spells keys of the store, Lua scripts included."""
    assert [] == findings(spelt_keys, *FLOORS)
    scripts = [path for floor in FLOORS for path in (ROOT / floor).rglob("*.lua")]
    assert [] == [path.name for path in scripts if "h:{" in path.read_text(encoding="utf-8")]


def test_variants_are_data() -> None:
    """No rule asks for the name of a variant: it reads a knob of the rule set."""
    assert [] == findings(variant_names, "domain")


def test_files_and_functions_stay_small() -> None:
    """No file is over 400 lines and no function over 60."""
    assert [] == findings(sizes, *FLOORS, "tests")


def test_functions_are_mostly_short() -> None:
    """Nine functions in ten have at most 40 lines."""
    trees = [ast.parse((ROOT / path).read_text(encoding="utf-8")) for path in sources(*FLOORS)]
    lengths = sorted(length for tree in trees for _, length in functions(tree))
    assert lengths[len(lengths) * 9 // 10] <= USUAL_FUNCTION


def test_tests_neither_sleep_nor_skip() -> None:
    """Tests wait on events, and what is there is run."""
    assert [] == findings(idle_tests, "tests")


def test_tests_are_no_packages() -> None:
    """A package `tests/domain` would shadow `domain`."""
    assert [] == list((ROOT / "tests").rglob("__init__.py"))


# Run in an interpreter of its own: what importing does is told by audit events, which no module can avoid.
IMPORT_ALL = """
import _thread, importlib, json, os, sys

QUIET = {"socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "subprocess.Popen", "os.system",
         "os.fork", "os.forkpty", "os.posix_spawn", "os.exec", "os.mkdir", "os.remove", "os.rename", "os.putenv"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
LIVE = ["redis.client.Redis", "redis.connection.ConnectionPool", "flask.app.Flask", "httpx.Client", "rq.queue.Queue",
        "socket.socket", "threading.Thread", "subprocess.Popen", "concurrent.futures.Executor"]
names = json.loads(sys.argv[1])
current, seen = None, []

def refuse(event, args):
    seen.append([str(current), event, repr(args)[:200]])
    raise RuntimeError(f"{event} while {current} is imported")

def hook(event, args):
    if event in QUIET or event == "open" and isinstance(args[2], int) and args[2] & WRITES:
        refuse(event, args)

sys.addaudithook(hook)
# Python 3.11 tells no audit hook of a new thread.
for starter in ("start_new_thread", "start_joinable_thread"):
    for module, prefix in ((_thread, ""), (sys.modules.get("threading"), "_")):
        if hasattr(module, prefix + starter):
            setattr(module, prefix + starter, lambda *args, **_: refuse("thread", args))

for current in names:
    try:
        importlib.import_module(current)
    except RuntimeError:
        if not seen:
            raise
classes = []
for name in LIVE:
    home, _, cls = name.rpartition(".")
    if cls in vars(sys.modules.get(home, object)):
        classes.append(getattr(sys.modules[home], cls))
for name in names:
    for key, value in vars(sys.modules[name]).items() if name in sys.modules else ():
        if isinstance(value, tuple(classes)):
            seen.append([name, "is alive", key])
print(json.dumps(seen))
"""


def alive(root: Path, modules: list[str]) -> list[list[str]]:
    """What importing the modules opens, starts, writes or leaves alive, as [module, event, detail]."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", IMPORT_ALL, json.dumps(modules)],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert 0 == done.returncode, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(
    "source",
    [
        "import socket\nsocket.create_connection(('127.0.0.1', 9))",
        "import threading\nthreading.Thread(target=print).start()",
        "import subprocess\nsubprocess.Popen(['true'])",
        "open('trace', 'w')",
        "import redis\nstore = redis.Redis()",
        "import flask\napp = flask.Flask('x')",
    ],
)
def test_the_import_check_finds_live_modules(tmp_path: Path, source: str) -> None:
    """A module that connects, starts, writes or keeps a live object as it is imported is found."""
    (tmp_path / "sample.py").write_text(source)
    assert "sample" == alive(tmp_path, ["sample"])[0][0]


def test_nothing_is_alive_at_import() -> None:
    """Importing every module opens no connection, starts no thread or process and writes no file."""
    modules = [".".join(path.with_suffix("").parts).removesuffix(".__init__") for path in sources(*FLOORS)]
    assert [] == alive(ROOT, [module for module in modules if not module.endswith("__main__")])
