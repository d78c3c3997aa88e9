"""Plug-in bots, the list of bots, new bots: `hearts bot`."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from domain.bots import BOTS
from domain.variants import VARIANTS
from services import bot_trial
from services.bot_child import bare_environ
from services.bot_plugins import describe_plugin, plugin_names
from services.bot_table import opened
from services.bot_templates import LANGUAGES
from services.bot_trial import try_bot
from services.cli_bot import bot as bot_command
from services.outside_bot import OutsideBot, house_command, outside_bot
from tests.support.plugins import SOUND, install_plugin

Install = Callable[..., None]
BROKEN = {
    "raises": ("1 / 0", "ZeroDivisionError"),
    "leaves": ("import sys; sys.exit(5)", "SystemExit: 5"),
    "dies": ("import os; os._exit(3)", "with status 3"),
    "lacks": ("", "has no attribute 'policy'"),
    "no_policy": ("policy = 5", "neither a policy nor a bot"),
    "no_budget": ("def policy(*_): ...\npolicy.playouts = 'many'", "no number of playouts"),
    "another": ("from domain.bots import BOTS\npolicy = BOTS['rules']", "its bot is called 'rules'"),
    "rules": ("def policy(*_): ...", "no plug-in can be called 'rules'"),
}


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a distribution with one plug-in."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    return partial(install_plugin, site)


def run(*words: str) -> tuple[int, str]:
    """`hearts bot`, in this process."""
    done = CliRunner().invoke(bot_command, list(words))
    return done.exit_code, done.output


def test_a_plugin_plays(install: Install) -> None:
    """By its name, in a process of its own; what it prints is no answer."""
    install("sound", SOUND)
    assert ["sound"] == plugin_names()
    with outside_bot("sound") as bot:
        try_bot(bot)
    assert ({}, "sound", "4.5") == (dict(bot.failures), bot.name, bot.version)
    assert not any("hearts_sound" in name for name in sys.modules)


def test_the_folder_in_which_a_plugin_is_run_is_not_looked_at(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Given a folder called as the plug-in there, and a file called as a module of Python, then the plug-in plays."""
    install("sound", SOUND)
    here = tmp_path / "here"
    (here / "hearts_sound").mkdir(parents=True)
    (here / "random.py").write_text("raise SystemExit('shadowed')")
    monkeypatch.chdir(here)
    assert "" == describe_plugin("sound").problem
    with outside_bot("sound") as bot:
        bot.start()
        assert "sound" == bot.name
    with OutsideBot(house_command("rules")) as bot:
        bot.start()


def test_hearts_bot_serves_a_plugin(install: Install, tmp_path: Path) -> None:
    """With nothing of the environment that it is started in."""
    install(
        "nosy",
        "import os\ndef policy(*_): ...\nopen(os.path.dirname(__file__) + '/seen', 'w').write(' '.join(os.environ))",
    )
    run_it = "from services.cli_bot import bot; bot(['nosy'])"
    done = subprocess.run(
        [sys.executable, "-c", run_it],
        input="hearts-bot 1\nquit\n",
        env=bare_environ(ours=True) | {"HEARTS_STORE_URL": "redis://secret"},
        capture_output=True,
        text=True,
    )
    assert ("ok nosy 4.5\n", "", 0) == (done.stdout, done.stderr, done.returncode)
    assert "HEARTS" not in (tmp_path / "site" / "seen").read_text()


def test_the_list_says_what_there_is_and_what_is_wrong(install: Install) -> None:
    """House bots, plug-ins with version, budget and summary, and of broken ones why."""
    install("sound", SOUND)
    for name, (code, _) in BROKEN.items():
        install(name, code)
    status, told = run("list", "--json")
    rows = {(row["kind"], row["name"]): row for row in json.loads(told)}
    assert 0 == status
    assert {("house", name) for name in BOTS} == {key for key in rows if key[0] == "house"}
    assert ("4.5", 12, "Plays what it may.", "") == tuple(rows["plug-in", "sound"].values())[2:]
    for name, (_, why) in BROKEN.items():
        assert why in rows["plug-in", name]["problem"]
    status, told = run("list")
    assert "sound@4.5  (plug-in)  12 playouts; Plays what it may." in told.splitlines()
    assert len(BOTS) + 1 + len(BROKEN) == len(told.splitlines())


def test_two_distributions_of_one_name_are_told(install: Install) -> None:
    """Neither is played by."""
    install("twice", SOUND, "hearts-one")
    install("twice", SOUND, "hearts-two")
    assert "several distributions name it: hearts-one, hearts-two" == describe_plugin("twice").problem
    with outside_bot("twice") as bot:
        try_bot(bot)
    assert bot.decisions == bot.failures["died"]
    assert "several distributions" in bot.last_failure


def test_a_house_bot_is_served_by_its_name() -> None:
    """`hearts bot` lists them; an unknown name is a usage error."""
    listed = run("--help")[1]
    for name in (*BOTS, "list", "new", "try"):
        assert f"  {name} " in listed
    assert 2 == run("nobody")[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_new_bot_plays_and_its_test_passes(language: str, tmp_path: Path) -> None:
    """As it is written: every variant without a failure, and its own test by `python -m unittest`."""
    folder = tmp_path / "my bots" / "one"
    folder.parent.mkdir()
    status, told = run("new", "my_bot", "--language", language, "--folder", str(folder))
    python = sys.executable if language == "python" else "python3"
    assert (0, True) == (status, f"&& {python} -m unittest" in told)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "unittest"],
        cwd=folder,
        env=bare_environ(ours=language == "python"),
        capture_output=True,
        text=True,
    )
    assert (0, True) == (done.returncode, "Ran 1 test" in done.stderr), done.stderr
    command = [sys.executable, str(folder / "my_bot.py")]
    with OutsideBot(command, environ=bare_environ(ours=language == "python")) as bot:
        try_bot(bot)
    assert ({}, "my_bot", "1") == (dict(bot.failures), bot.name, bot.version), bot.last_failure


def test_a_new_bot_is_short() -> None:
    """Ten lines of code, less its words."""
    template = Path(__file__).parents[2] / "services" / "templates" / "python" / "NAME.py.txt"
    words = ast.unparse(ast.parse(template.read_text())).splitlines()
    code = [line for line in words if line.strip() and not line.lstrip().startswith(('"""', "Its policy"))]
    assert len(code) <= 10, code


def test_the_folder_of_a_new_bot_must_be_new(tmp_path: Path) -> None:
    """Nothing is overwritten; names that are taken, or that no module can have, are refused."""
    (tmp_path / "there").mkdir()
    status, told = run("new", "there", "--folder", str(tmp_path / "there"))
    assert (1, True) == (status, "there already" in told)
    hiding = ("services", "domain", "json", "unittest", "msgspec")
    for name in (*BOTS, *hiding, "list", "new", "try", "A", "a-b", "1a", "x" * 40, "../up"):
        assert 2 == run("new", name, "--folder", str(tmp_path / "other"))[0]
    assert not (tmp_path / "other").exists()


def test_a_program_is_tried(tmp_path: Path) -> None:
    """Status 0 where every decision was legal, 1 where some were lost, 2 for what is no command."""
    assert 0 == run("new", "tried", "--language", "plain", "--folder", str(tmp_path / "tried"))[0]
    program = tmp_path / "tried" / "tried.py"
    status, told = run("try", f"{sys.executable} {program}")
    assert (0, True) == (status, "decisions, 0 lost" in told)
    program.write_text(
        program.read_text().replace('"moon add"', '"moon"').replace('return "play "', 'return "plays "')
    )
    status, told = run("try", f"stdio:{sys.executable} {program}")
    assert (1, True) == (status, "illegal; the last one: move? plays" in told)
    assert 2 == run("try", "'")[0]


def test_a_trial_is_of_every_variant_and_number_of_seats(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `hearts bot try` says: a hand of each, and no more."""
    played = []
    monkeypatch.setattr(bot_trial, "opened", lambda rules: (played.append(rules), opened(rules))[1])
    bot = OutsideBot([])
    bot.ask = lambda seen, seed: BOTS["rules"].policy(seen, seed, 0)  # type: ignore[method-assign]
    try_bot(bot)
    tables = [(name, players) for name, variant in VARIANTS.items() for players in variant.seats]
    assert tables == [(rules.variant, rules.players) for rules in played]
    assert {1} == {rules.hand_limit for rules in played}
    assert "every variant with every number of seats" in " ".join(run("try", "--help")[1].split())


def test_a_program_that_cannot_begin_is_not_tried() -> None:
    """It has lost no decision: why it cannot is all that is said."""
    assert (1, "Error: /no/bot cannot play: no such program: '/no/bot'\n") == run("try", "/no/bot")
    assert (2, True) == ((found := run("try", "rules"))[0], "rules is a house bot" in found[1])
