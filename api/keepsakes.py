"""The folder of what is kept of games: a small file each, and the proof files of those that were played to their end."""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from api.private_files import write_privately
from api.witness import Keepsake
from domain.cards import Seat

MOST: Final = 200
"""Games of which something is kept; the one that was written to least lately goes first."""
MOST_PROOFS: Final = 20
_GAME: Final = re.compile("[A-Za-z0-9_-]{1,64}")


class Keepsakes:
    """The folder. Files are for their user alone; what cannot be read counts as not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find(self, url: str, game: str, seat: Seat) -> Keepsake:
        """What is kept of a seat's game at a server; as good as nothing where nothing is."""
        nothing = Keepsake(url=url, game=game, seat=seat)
        with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
            found = msgspec.json.decode(self.path(nothing).read_bytes(), type=Keepsake)
            if (found.url, found.game, found.seat) == (url, game, seat):
                return found
        return nothing

    def keep(self, kept: Keepsake) -> None:
        """Write down what is kept of a game. Raises `OSError`."""
        data = msgspec.json.format(msgspec.json.encode(kept))
        self._write(self.path(kept), data, ".json", MOST)

    def keep_proof(self, kept: Keepsake, proof: bytes) -> Path:
        """Write down a game's proof file. Returns where. Raises `OSError`."""
        path = self.path(kept).with_suffix(".ndjson")
        self._write(path, proof, ".ndjson", MOST_PROOFS)
        return path

    def keep_key_list(self, kept: Keepsake, listed: bytes) -> Path:
        """Write down the server's list of its keys beside a game's receipt. Returns where. Raises `OSError`."""
        path = self.path(kept).with_suffix(".keys")
        self._write(path, listed, ".keys", MOST_PROOFS)
        return path

    def path(self, kept: Keepsake) -> Path:
        """Where the small file of a game is. Two servers may name games alike, and a server must not name files."""
        server = hashlib.sha256(kept.url.encode()).hexdigest()[:8]
        name = kept.game if _GAME.fullmatch(kept.game) else hashlib.sha256(kept.game.encode()).hexdigest()
        return self._folder / f"{server}-{name}-{kept.seat}.json"

    def _write(self, path: Path, data: bytes, kind: str, most: int) -> None:
        write_privately(path, data)
        self._bound(kind, most)

    def _bound(self, kind: str, most: int) -> None:
        with suppress(OSError):  # another process may be at it, too
            files = [one for one in self._folder.iterdir() if one.suffix == kind and one.name[0] != "."]
            if len(files) > most:
                for old in sorted(files, key=lambda one: one.stat().st_mtime_ns)[:-most]:
                    old.unlink(missing_ok=True)
