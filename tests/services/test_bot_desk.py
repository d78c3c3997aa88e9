"""House bots by the line protocol: every line has its answer, and budgets are kept."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from io import BytesIO

import pytest

from domain.bots import BOTS, Action, Bot
from domain.bots.lines import LONGEST_LINE
from domain.bots.telling import rules_line
from domain.variants import VARIANTS, ruleset_of
from domain.view import View
from services.bot_child import bare_environ
from services.bot_desk import Desk, converse, decision_seed
from services.bot_pace import SHARE, Pace, sample_views
from services.outside_bot import house_command

BASIC = ruleset_of({"variant": "basic"})
RULES = rules_line(BASIC)
DEALT = "hand 1 0 1 2C 4C 6C 8C TC QC AC 2S 3S 4S 5S 6S 7S"
PASSED = "passed AC QC TC received 2H 3H 4H"
TOLD = ["hearts-bot 1", RULES, "seed 7", DEALT, "totals 0 0 0 0"]


def answers(bot: Bot, lines: Sequence[str]) -> list[str]:
    """What a bot's desk answers to all of the lines."""
    sink = BytesIO()
    converse(Desk(bot), BytesIO("".join(f"{line}\n" for line in lines).encode()), sink)
    return sink.getvalue().decode().splitlines()


def played_by(policy: object, *, playouts: int = 0) -> Bot:
    """A bot of a test."""
    return Bot(name="test", version="3", budget=playouts, policy=policy, summary="")  # type: ignore[arg-type]


def talk(name: str, said: bytes) -> subprocess.CompletedProcess[bytes]:
    """A house bot as a program."""
    return subprocess.run(
        house_command(name), input=said, capture_output=True, env=bare_environ(ours=True), timeout=60
    )


@pytest.mark.parametrize("name", BOTS)
def test_a_house_bot_is_a_program(name: str) -> None:
    """A hand up to the first card, by standard input and output, and the end by `quit`."""
    said = "\n".join([*TOLD, "budget playouts 40", "pass?", PASSED, "move?", "quit", "totals", ""])
    done = talk(name, said.encode())
    *told, passed, ok, move = done.stdout.decode().splitlines()
    assert [f"ok {name} {BOTS[name].version}", *["ok"] * 5] == told
    assert (4, "ok", "play 2C", 0, b"") == (len(passed.split()), ok, move, done.returncode, done.stderr)


@pytest.mark.parametrize("said", [b"", b"hearts-bot 1\n", b"hearts-bot 1", b"hearts-bot 1\r\n"])
def test_it_ends_with_its_input(said: bytes) -> None:
    """At once, in the middle of a line, and with the line ends of other systems."""
    done = talk("random", said)
    assert (b"ok random 1\n" if said else b"", 0, b"") == (done.stdout, done.returncode, done.stderr)


def test_it_answers_before_the_next_line_is_there() -> None:
    """Each answer is flushed."""
    with subprocess.Popen(
        house_command("rules"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=bare_environ(ours=True)
    ) as process:
        assert process.stdin
        assert process.stdout
        for line, answer in (("hearts-bot 1", b"ok rules 1\n"), ("nonsense", None), (RULES, b"ok\n")):
            process.stdin.write(f"{line}\n".encode())
            process.stdin.flush()
            assert process.stdout.readline().startswith(answer or b"error ")
        process.stdin.close()
        assert 0 == process.wait(60)


def test_lines_that_are_wrong_are_told_and_lose_nothing() -> None:
    """Nothing before the greeting; budgets, seeds, questions and lengths; then the game goes on."""
    wrong = [
        *["budget", "budget playouts", "budget ms 0", "budget ms -5", "budget hours 3", "budget playouts x"],
        *["seed", "seed -1", "seed x", "seed 1 2", f"seed {1 << 256}", "seed \u0663", "move?", "moon?", ""],
        *["x" * LONGEST_LINE, "x" * 3 * LONGEST_LINE, "play 0 2C", "passed 2C"],
    ]
    heard = answers(BOTS["rules"], ["pass?", *TOLD, *wrong, "pass?"])
    refused = [heard[0], *heard[6:-1]]
    assert len(wrong) + 1 == len(refused)
    assert all(line.startswith("error ") and line.isprintable() and len(line) < 500 for line in refused)
    assert answers(BOTS["rules"], [*TOLD, "pass?"])[-1] == heard[-1]


def test_bytes_that_are_no_text_are_told() -> None:
    """And the next line is read."""
    sink = BytesIO()
    converse(Desk(BOTS["rules"]), BytesIO(b"\xff\xfe\nhearts-bot 1\n"), sink)
    assert [b"error a line is UTF-8", b"ok rules 1"] == sink.getvalue().splitlines()


def test_everything_random_follows_from_the_seed() -> None:
    """Each decision has a seed of its own, of the number and its place behind the `seed` line; a failed one counts not."""
    seeds: list[bytes] = []

    def policy(seen: View, seed: bytes, _playouts: int) -> Action:
        seeds.append(seed)
        if len(seeds) == 2:
            raise RuntimeError("once")
        return (0, 2, 4)

    heard = answers(
        played_by(policy), [*TOLD, "pass?", "pass?", "pass?", "seed 7", "pass?", "seed 8", "pass?"]
    )
    assert [
        decision_seed(7, 0),
        decision_seed(7, 1),
        decision_seed(7, 1),
        decision_seed(7, 0),
        decision_seed(8, 0),
    ] == seeds
    assert ["pass 2C 4C 6C", "error the bot failed: RuntimeError: once"] == heard[5:7]


@pytest.mark.parametrize("action", [None, 99, ("x",), "both"])
def test_a_policy_that_answers_nonsense_is_told_so(action: object) -> None:
    """No line that is no answer leaves the desk."""
    assert answers(played_by(lambda *_: action), [*TOLD, "pass?"])[-1].startswith("error not an action")


def test_playouts_are_handed_on() -> None:
    """Those of the bot unless a budget says otherwise."""
    given: list[int] = []

    def policy(_seen: View, _seed: bytes, playouts: int) -> Action:
        given.append(playouts)
        return (0, 2, 4)

    answers(played_by(policy, playouts=30), [*TOLD, "pass?", "budget playouts 5", "pass?"])
    assert [30, 5] == given


class Costly:
    """A policy with a clock of its own: a decision costs ``least`` seconds, and each playout ``each`` more."""

    def __init__(self, least: float, each: float) -> None:
        self.least, self.each, self.now = least, each, 0.0

    def __call__(self, seen: View, seed: bytes, playouts: int) -> Action:
        """Decide."""
        assert playouts > 0
        self.now += self.least + self.each * playouts
        return -1

    def clock(self) -> float:
        """CPU seconds."""
        return self.now


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("least", "each"), [(0.0, 1e-6), (0.0005, 1e-5), (0.002, 0.0004), (0.0, 0.0)])
def test_milliseconds_are_a_bound_that_is_kept(variant: str, least: float, each: float) -> None:
    """And mostly used, whatever a playout costs; a position that costs thrice of what was measured keeps to it, too."""
    rules = ruleset_of({"variant": variant})
    costly = Costly(least, each)
    pace = Pace(costly, costly.clock)
    pace.measure(rules)
    for dearer in (1, 3):
        costly.least, costly.each = least * dearer, each * dearer
        for seen in sample_views(rules):
            begun = costly.now
            assert -1 == pace.decide(seen, b"", 50)
            spent = (costly.now - begun) * 1000
            assert spent <= 50
            assert spent > 50 * SHARE / 3 or not each


def test_what_would_not_fit_is_decided_by_rule() -> None:
    """Where the least search takes longer than there is, the policy is not asked."""
    costly = Costly(0.02, 0.0)
    pace = Pace(costly, costly.clock)
    pace.measure(BASIC)
    seen = sample_views(BASIC)[0]
    begun = costly.now
    assert BOTS["rules"].policy(seen, b"", 0) == pace.decide(seen, b"", 10)
    assert begun == costly.now


def test_the_searching_bot_keeps_its_milliseconds() -> None:
    """By the lines, with the clock as it is: a budget before the rules and behind them."""
    for told in ([*TOLD, "budget ms 40"], ["hearts-bot 1", "budget ms 40", *TOLD[1:]]):
        desk = Desk(BOTS["search"])
        for line in told:
            assert "ok" == (desk.answer(line) or "").split()[0]
        for line in ("pass?", PASSED, "move?", "play 0 2C", "play 1 KC", "play 2 3C", "play 3 5C", "trick 1"):
            begun = time.process_time()
            assert "error" != (desk.answer(line) or "").split()[0]
            assert time.process_time() - begun < 0.04
