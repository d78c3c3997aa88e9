"""A policy that speaks the bot line protocol ``hearts-bot/1`` (``docs/spec/bot-stdio.md``) on standard input and output.

`serve` makes a bot of a function, ours and other people's alike::

    from services.bot_desk import serve

    def policy(view, seed, playouts):
        ...  # a tuple of cards, a card, or "add" or "subtract"

    if __name__ == "__main__":
        serve("mybot", "1", policy)
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from typing import BinaryIO, Final, Protocol

from domain.bots import BOTS, Action, Bot, Policy
from domain.bots.lines import (
    LONGEST_LINE,
    PROTOCOL,
    QUESTIONS,
    Question,
    SeatLines,
    format_answer,
    read_number,
)
from domain.refusals import HeartsError, Malformed
from domain.shuffle import hash_parts
from services.bot_pace import Pace
from services.printable import printable

OK: Final = "ok"
_MOST_TOLD: Final = 400
"""Characters of an error."""
_SEEDS: Final = 1 << 256


def decision_seed(number: int, decision: int) -> bytes:
    """The seed of a decision: of ``seed N``, and of how many decisions were made since that line."""
    return hash_parts("hearts/v1/bot-line", number.to_bytes(32, "big"), str(decision).encode())


class Desk:
    """One bot at one end of the protocol: a line in, a line out."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._seat = SeatLines()
        self._greeted = False
        self._playouts, self._milliseconds = bot.budget, 0
        self._seed, self._decisions = 0, 0
        self._pace = Pace(bot.policy)
        self._measured: object = None

    def answer(self, line: str) -> str | None:
        """What is answered to a line; none to ``quit``. A line that is refused has changed nothing."""
        try:
            return self._answer(line.strip())
        except HeartsError as error:
            return f"error {printable(str(error), _MOST_TOLD)}"

    def _answer(self, line: str) -> str | None:
        if line == "quit":
            return None
        if line == PROTOCOL:
            self._greeted = True
            return f"{OK} {self._bot.name} {self._bot.version}"
        if not self._greeted:
            raise Malformed(f"the first line is {PROTOCOL}")
        if line in QUESTIONS:
            return format_answer(self._decide(QUESTIONS[line]))
        word, _, rest = line.partition(" ")
        if word == "budget":
            self._set_budget(rest.split())
        elif word == "seed":
            self._seed, self._decisions = _read_seed(rest), 0
        else:
            self._seat.tell(line)
        if word in ("budget", "rules"):
            self._measure()
        return OK

    def _set_budget(self, words: list[str]) -> None:
        if len(words) != 2 or words[0] not in ("playouts", "ms"):
            raise Malformed("budget wants playouts or ms, and a number")
        number = read_number(words[1])
        if number < (words[0] == "ms"):
            raise Malformed(f"budget: not so many {words[0]}: {number}")
        self._playouts, self._milliseconds = (number, 0) if words[0] == "playouts" else (0, number)

    def _measure(self) -> None:
        rules = self._seat.rules
        if self._milliseconds and self._bot.budget and rules is not None and rules != self._measured:
            self._pace.measure(rules)
            self._measured = rules

    def _decide(self, asked: Question) -> Action:
        seen = self._seat.view(asked)
        seed = decision_seed(self._seed, self._decisions)
        try:
            if self._milliseconds and self._bot.budget:
                action = self._pace.decide(seen, seed, self._milliseconds)
            else:
                action = self._bot.policy(seen, seed, self._playouts)
        except Exception as error:
            traceback.print_exc()
            raise Malformed(f"the bot failed: {type(error).__name__}: {error}") from error
        self._decisions += 1
        return action


def _read_seed(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 78 and int(text) < _SEEDS):
        raise Malformed(f"seed wants a number below 2**256, not {text!r:.40}")
    return int(text)


def serve(name: str, version: str, policy: Policy, playouts: int = 0) -> None:
    """Answer on standard output what comes on standard input, until ``quit`` or the end of it.

    ``playouts`` is how many a decision has unless a ``budget`` says so; 0 for a policy that counts none. What the policy
    prints goes to standard error.
    """
    serve_bot(Bot(name=name, version=version, budget=playouts, policy=policy, summary=""))


def serve_bot(bot: Bot) -> None:
    """The same for a `Bot`."""
    source, sink = taken_streams()
    with source, sink:
        converse(Desk(bot), source, sink)


def taken_streams() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for the protocol alone: whoever prints or reads from now on does neither there."""
    sys.stdout.flush()
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, sink


class Answering(Protocol):
    """What has an answer to every line, none to the one that ends it."""

    def answer(self, line: str) -> str | None:
        """The answer."""


def converse(desk: Answering, source: BinaryIO, sink: BinaryIO) -> None:
    """A line in, a line out, flushed, to the end; also where nobody listens any more."""
    try:
        for line in _lines(source):
            answer = f"error a line has at most {LONGEST_LINE} bytes" if line is None else _reply(desk, line)
            if answer is None:
                return
            sink.write(answer.encode() + b"\n")
            sink.flush()
    except BrokenPipeError:
        # what could not be written must not be tried again as the stream is closed
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sink.fileno())
        os.close(nothing)


def _reply(desk: Answering, line: bytes) -> str | None:
    try:
        return desk.answer(line.decode())
    except UnicodeDecodeError:
        return "error a line is UTF-8"


def _lines(source: BinaryIO) -> Iterator[bytes | None]:
    """The lines of ``source``; none in the place of one that is too long."""
    while line := source.readline(LONGEST_LINE):
        if line.endswith(b"\n") or len(line) < LONGEST_LINE:
            yield line
            continue
        while (rest := source.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
            pass
        yield None


if __name__ == "__main__":
    serve_bot(BOTS[sys.argv[1]])
