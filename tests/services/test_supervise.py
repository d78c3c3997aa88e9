"""Looking after processes: what dies is started again, and nothing is left when it stops."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from services import supervise
from services.supervise import Backoff, Losses, Program, Stop, Supervisor

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 30
"""Seconds after which a test that waits has failed."""

READY = "import os, sys, time, signal; print('ready', os.getpid(), flush=True)\n"
CHILD = READY + "sys.stdin.read(); print('end of input', flush=True)"
STUBBORN = READY + (
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\nprint('stubborn', flush=True)\nwhile True: signal.pause()"
)
PARENT = (
    READY + "import subprocess\n"
    f"child = subprocess.Popen([sys.executable, '-c', {STUBBORN!r}])\n"
    "sys.stdin.read()"
)


@pytest.fixture
def told() -> list[str]:
    """What was said to people."""
    return []


@pytest.fixture
def run(tmp_path: Path, told: list[str]) -> Iterator[Callable[..., Supervisor]]:
    """Starts Python programs, by name and text, under a supervisor that the end of the test stops."""
    started: list[Supervisor] = []

    def start(**programs: str) -> Supervisor:
        supervisor = Supervisor(
            [
                Program(name, [sys.executable, "-c", text], tmp_path / f"{name}.log")
                for name, text in programs.items()
            ],
            told.append,
        )
        supervisor.start()
        started.append(supervisor)
        return supervisor

    yield start
    for supervisor in started:
        supervisor.stop(lambda: True)


def until(condition: Callable[[], object], supervisor: Supervisor | None = None) -> None:
    """Wait for something that has no event of its own, looking after the programs meanwhile."""
    pause, deadline = threading.Event(), time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        if supervisor is not None:
            supervisor.check()
        pause.wait(0.01)


class TestSupervisor:
    def test_a_program_that_dies_is_started_again(self, run, told: list[str]) -> None:
        """Given two programs, when one is killed, then it runs again, the other is not touched, and it is told."""
        supervisor = run(one=CHILD, two=CHILD)
        before = supervisor.pids()
        os.kill(before["one"], signal.SIGKILL)
        until(lambda: supervisor.pids().get("one") not in (None, before["one"]), supervisor)
        assert before["two"] == supervisor.pids()["two"]
        ((sentence),) = told
        assert sentence.startswith("one was ended by SIGKILL and is started again; see ")
        assert (1, 0) == (supervisor.deaths("one"), supervisor.deaths("two"))

    def test_one_that_ends_at_once_is_started_less_and_less_often(self, run, told: list[str]) -> None:
        """Each death in a row lengthens the wait; the first is told, and the third with the end of the log."""
        supervisor = run(one="import sys; print('why', flush=True); sys.exit(3)")
        until(lambda: supervisor.deaths("one") == 4, supervisor)
        first, third = told
        assert first.startswith("one ended with exit code 3 and is started again; see ")
        assert third.startswith("one has ended 3 times in a row (exit code 3) and is tried again")
        assert third.endswith("one.log, ends:\nwhy")
        assert "why" == supervisor.output("one")

    def test_what_has_got_over_its_deaths_is_told(
        self, run, told: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Given a program that died several times, when it has lived for a while, then that is told once."""
        gate = tmp_path / "gate"
        supervisor = run(
            one=f"import os, sys; os.path.exists({str(gate)!r}) or sys.exit(3); sys.stdin.read()"
        )
        until(lambda: supervisor.deaths("one") >= 3, supervisor)
        monkeypatch.setattr(supervise, "ROW_SECONDS", 0.0)
        gate.touch()
        until(lambda: "one runs again" in told, supervisor)
        supervisor.check()
        assert 1 == told.count("one runs again")

    def test_a_program_is_unsettled_until_it_tells(self, tmp_path: Path, told: list[str]) -> None:
        """Given a program that tells when it is ready and one that does not, then only the first is waited for."""
        tells = f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom services.supervise import tell_ready\n"
        tells += f"open({str(tmp_path / 'gate')!r}).read(); tell_ready(); sys.stdin.read()"
        os.mkfifo(tmp_path / "gate")
        supervisor = Supervisor(
            [
                Program("mute", [sys.executable, "-c", CHILD], tmp_path / "mute.log"),
                Program("one", [sys.executable, "-c", tells], tmp_path / "one.log", tells=True),
            ],
            told.append,
        )
        supervisor.start()
        try:
            until(lambda: "ready" in supervisor.output("mute"), supervisor)
            assert ["one"] == supervisor.unsettled()
            (tmp_path / "gate").write_text("go")
            until(lambda: not supervisor.unsettled(), supervisor)
        finally:
            supervisor.stop(lambda: True)
        assert ["mute", "one"] == supervisor.unsettled()

    def test_what_has_died_is_unsettled_for_a_while(self, run, monkeypatch: pytest.MonkeyPatch) -> None:
        """A program that was started again may die again at once."""
        monkeypatch.setattr(supervise, "SETTLED_SECONDS", 3600.0)
        supervisor = run(one=CHILD)
        assert [] == supervisor.unsettled()
        os.kill(supervisor.pids()["one"], signal.SIGKILL)
        until(lambda: supervisor.deaths("one") and supervisor.pids(), supervisor)
        assert ["one"] == supervisor.unsettled()
        monkeypatch.setattr(supervise, "SETTLED_SECONDS", 0.0)
        assert [] == supervisor.unsettled()

    def test_what_a_dead_program_leaves_in_its_group_is_killed(self, run) -> None:
        """A process that a program has started does not outlive it, however it ends."""
        supervisor = run(one=PARENT)
        until(lambda: "stubborn" in supervisor.output("one"))
        (orphan,) = psutil.Process(supervisor.pids()["one"]).children()
        os.kill(supervisor.pids()["one"], signal.SIGKILL)
        until(lambda: not orphan.is_running() or orphan.status() == psutil.STATUS_ZOMBIE, supervisor)

    def test_stopping_is_asked_for_first(self, run) -> None:
        """Given a program that tidies up on SIGTERM, then it can, and is gone when `stop` returns."""
        tidy = (
            READY
            + "signal.signal(signal.SIGTERM, lambda *_: (print('tidied', flush=True), sys.exit(0)))\n"
            + "print('set', flush=True)\n"
            + "while True: signal.pause()"
        )
        supervisor = run(one=tidy)
        until(lambda: "set" in supervisor.output("one"))
        (pid,) = supervisor.pids().values()
        supervisor.stop()
        assert supervisor.output("one").endswith("tidied")
        assert {} == supervisor.pids()
        assert not psutil.pid_exists(pid)

    @pytest.mark.parametrize("hurry", [True, False])
    def test_one_that_does_not_stop_is_killed(
        self, run, hurry: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """After a while, or at once in a hurry."""
        monkeypatch.setattr(supervise, "STOP_SECONDS", 3600.0 if hurry else 0.05)
        supervisor = run(one=STUBBORN)
        until(lambda: "stubborn" in supervisor.output("one"))
        (pid,) = supervisor.pids().values()
        supervisor.stop(lambda: hurry)
        assert not psutil.pid_exists(pid)

    def test_a_command_that_is_not_there(self, tmp_path: Path, told: list[str]) -> None:
        """It cannot be started: an error at first, and told and tried again later."""
        command = tmp_path / "command"
        supervisor = Supervisor([Program("one", [str(command)], tmp_path / "log")], told.append)
        with pytest.raises(OSError, match="command"):
            supervisor.start()
        supervisor.check()
        assert told[0].startswith("one cannot be started: ")
        command.symlink_to("/bin/cat")
        until(supervisor.pids, supervisor)
        supervisor.stop()

    def test_a_log_that_is_long_is_put_aside(self, run, tmp_path: Path) -> None:
        """The next start begins a new one and keeps the last."""
        (tmp_path / "one.log").write_bytes(b"x" * (supervise.LOG_BYTES + 1))
        supervisor = run(one=CHILD)
        until(lambda: "ready" in supervisor.output("one"))
        assert (tmp_path / "one.log.1").stat().st_size == supervise.LOG_BYTES + 1


class TestExitWithParent:
    CHILD = (
        "import signal, sys, time\n"
        "from services.supervise import exit_with_parent\n"
        "{handler}\n"
        "exit_with_parent({seconds})\n"
        "print('ready', flush=True)\n"
        "while True: signal.pause()\n"
    )

    @pytest.mark.parametrize(
        ("handler", "code"),
        [
            ("", -signal.SIGTERM),
            ("signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))", 7),
            ("signal.signal(signal.SIGTERM, signal.SIG_IGN)", 1),
        ],
    )
    def test_the_end_of_input_stops_it(self, handler: str, code: int) -> None:
        """As SIGTERM would; a process that does not listen is ended."""
        text = self.CHILD.format(handler=handler, seconds=0.2)
        root = Path(__file__).resolve().parents[2]
        with subprocess.Popen(
            [sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=root
        ) as child:
            assert child.stdin
            assert child.stdout
            assert b"ready\n" == child.stdout.readline()
            child.stdin.write(b"words change nothing")
            child.stdin.close()
            assert code == child.wait(PATIENCE)


class TestStop:
    def test_all_who_wait_are_told(self) -> None:
        """One request ends the wait of every thread, and later ones do not wait at all."""
        stop = Stop()
        answers: list[bool] = []
        waiting = [threading.Thread(target=lambda: answers.append(stop.wait(PATIENCE))) for _ in range(3)]
        for thread in waiting:
            thread.start()
        began = time.monotonic()
        stop.set()
        for thread in waiting:
            thread.join()
        assert [True] * 3 == answers
        assert time.monotonic() - began < PATIENCE / 2
        assert stop.wait(PATIENCE)
        assert stop.is_set()

    def test_nobody_asks(self) -> None:
        """A wait ends by itself."""
        stop = Stop()
        assert not stop.wait(0.001)
        assert not stop.is_set()

    def test_a_signal_asks(self) -> None:
        """Ctrl-C, SIGTERM and the terminal's end ask; each is counted."""
        before = [signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
        stop = Stop()
        try:
            stop.on_signals()
            for times, signum in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), 1):
                signal.raise_signal(signum)
                assert times == stop.times
        finally:
            for signum, handler in zip((signal.SIGINT, signal.SIGTERM, signal.SIGHUP), before, strict=True):
                signal.signal(signum, handler)


def test_backoff_doubles_up_to_a_limit() -> None:
    """Each failure in a row waits twice as long; a success begins anew and tells that there was a failure."""
    backoff = Backoff(0.5, 3.0)
    assert not backoff.succeed()
    assert [0.5, 1.0, 2.0, 3.0, 3.0] == [backoff.fail() for _ in range(5)]
    assert 5 == backoff.failures
    assert backoff.succeed()
    assert 0.5 == backoff.fail()
    assert 3.0 == [backoff.fail() for _ in range(5000)][-1]


def test_losses_are_told_less_and_less() -> None:
    """The first, the third, and then each tenfold more; one that came late begins a new row."""
    losses = Losses()
    assert [1, 3, 10, 100, 1000] == [time for time in range(1, 1500) if losses.add(0.0)]
    assert losses.add(supervise.ROW_SECONDS)
    assert 1 == losses.times
    assert not losses.recover(supervise.ROW_SECONDS), "one death was not told as a row"


def test_who_has_no_supervisor_tells_nobody() -> None:
    """Nothing is written where standard input is no socket, and nothing fails where there is none."""
    text = "from services.supervise import tell_ready; tell_ready()"
    for code in (text, f"import os; os.close(0); {text}"):
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True
        )
        assert (0, b"", b"") == (done.returncode, done.stdout, done.stderr)
