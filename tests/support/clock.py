"""The time, as a test sets it."""

START = 1_800_000_000_000
"""Where it begins, in ms since 1970 UTC."""


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self, now: int = START) -> None:
        self.now = now

    def __call__(self) -> int:
        """The time in ms."""
        return self.now
