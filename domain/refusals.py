"""Why something cannot be: errors that say whose fault it is, each with a stable code.

`Malformed` cannot be read at all; `Refused` was read and is against the rules of the game as it stands. Codes are
``area/reason``, listed in ``docs/spec/record.md`` and ``docs/spec/http.md``; they are sent to clients and never renamed.
"""

from __future__ import annotations

from collections.abc import Sequence


class HeartsError(Exception):
    """The root of every error that the house itself raises."""


class Malformed(HeartsError):
    """The input cannot be read: not a card, not a record, not an event. The message names what was read."""


class Refused(HeartsError):
    """A command that the game as it stands does not allow; it changes nothing.

    ``code`` is the stable ``area/reason``; ``detail`` a sentence for people, which must not depend on a card that the
    sender may not see; ``hint`` says what would be accepted; ``legal`` lists the cards that may be played instead.
    """

    def __init__(self, code: str, detail: str, *, hint: str = "", legal: Sequence[str] | None = None) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.hint = hint
        self.legal = legal


class InvalidRules(HeartsError):
    """A rule set that cannot be played. ``problems`` lists everything wrong with it, a sentence each."""

    code = "rules/invalid"

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = list(problems)


class CorruptLog(HeartsError):
    """Events that cannot have been written by this house: their order or content contradicts what came before."""
