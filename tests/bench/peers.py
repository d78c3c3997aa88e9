"""The peers that `make bench` measures against, each the plainest use of its library."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from eventsourcing.application import Application
from eventsourcing.domain import Aggregate, event


class PeerGame(Aggregate):
    """A game as the library's own examples would write it: a list of plays and a count."""

    def __init__(self) -> None:
        self.plays: list[tuple[int, str]] = []

    @event("Played")
    def play(self, seat: int, card: str) -> None:
        """Note a card; no rule is checked."""
        self.plays.append((seat, card))


class PeerHouse(Application[UUID]):
    """Games in the library's in-memory recorder."""

    def open_game(self, plays: int) -> UUID:
        """A game of so many events, the creation counted."""
        game = PeerGame()
        for number in range(plays - 1):
            game.play(number % 4, "QS")
        self.save(game)
        return game.id

    def load(self, game: UUID) -> Any:
        """Replay a game from its events."""
        return self.repository.get(game)

    def move(self, game: UUID, seat: int, card: str) -> None:
        """Load, change and save."""
        loaded: Any = self.repository.get(game)
        loaded.play(seat, card)
        self.save(loaded)
