"""A game of ``hearts play`` from the seat to the last card: played, left or lost sight of, and how it can be checked."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import click
from rich.console import Console

from api.client import DEFAULT_URL, PATIENT, ClientError, Table, Unreachable, VariantInfo
from api.keepsakes import Keepsakes
from api.playpages import end_page
from api.playtable import Game, Left
from api.purse import Purse
from api.scene import Scene
from api.signer import SigningClient
from api.terminals import Terminal
from api.witness import Keepsake, Witness
from domain.refusals import Malformed
from services.keylist import KeyList, read_key_list
from services.printable import printable, printable_line

LONGEST_ID: Final = 64
"""Characters of a game's id."""
_KEY: Final = re.compile("[0-9a-f]{64}")


@dataclass
class Sitting:
    """A seat that was found: the table, the entropy committed to for it, and what the server says of its variant."""

    table: Table
    opening: bytes | None = field(default=None, repr=False)
    about: VariantInfo | None = None
    taken: bool = False
    """Whether the seat was taken just now."""


@dataclass
class Kept:
    """What outlives the command: players and keys in the purse, and of each game a file of its own."""

    purse: Purse
    games: Keepsakes
    pinned: str | None = None
    """The server's key that the player says it has, now or before."""
    told: bool = False
    """Whether the player was told that nothing can be kept."""

    def witness(self, client: SigningClient, sitting: Sitting) -> Witness:
        """Who gathers what the player can show of its game."""
        url, table = client.url, sitting.table
        kept = self.games.find(url, table.id, table.you or 0)
        # where the purse could not write the given key down, what it knows is of another one
        stale = self.pinned is not None and self.pinned != self.purse.given_key(url)
        if sitting.taken:
            kept.seat_key = client.key.public if client.signs else ""
        witness = Witness(
            kept,
            [] if stale else self.purse.server_keys(url),
            opening=sitting.opening,
            pinned=self.pinned,
            list_keys=lambda: _keys_of(client),
            keep=self._keep,
            learn=lambda key: self.purse.learn_key(url, key),
        )
        if table.receipt is not None:
            witness.hear(table.receipt)
        return witness

    def _keep(self, kept: Keepsake) -> None:
        try:
            self.games.keep(kept)
        except OSError as error:
            if not self.told:
                click.echo(f"Receipts are not kept, so you can prove less afterwards: {error}", err=True)
            self.told = True


def _keys_of(client: SigningClient) -> KeyList | None:
    """The server's own list of its keys, none where it has none that can be read."""
    try:
        return read_key_list(client.key_list())
    except (ClientError, Malformed):
        return None


def run_game(
    client: SigningClient, sitting: Sitting, terminal: Terminal, console: Console, kept: Kept, *, demo: bool
) -> None:
    """Play the game to its end, or until the player leaves; then tell how to come back, or how to check it."""
    # ids stand in lines that people paste into a shell
    game = shlex.quote(printable(sitting.table.id, LONGEST_ID))
    url = "" if client.url == DEFAULT_URL else f" --url {client.url}"
    back = f"{program()} play --game {game}{url}"
    scene, witness = Scene(sitting.table), kept.witness(client, sitting)
    client.on_receipt = witness.hear
    client.waits = PATIENT
    client.on_wait = lambda seconds, why: _tell_wait(terminal, seconds, why)
    left = False
    try:
        with terminal:
            Game(
                client,
                scene,
                terminal,
                opening=sitting.opening,
                auto=demo,
                invitation=f"They come with: {back}",
                witness=witness,
            ).run()
    except Left:
        left = True
    except KeyboardInterrupt as error:
        console.print(f"\nThe game stays on the server. Come back with: {back}", markup=False, soft_wrap=True)
        raise SystemExit(130) from error
    except Unreachable:
        console.print(
            f"The game stays on the server. Once it is up again: {back}", markup=False, soft_wrap=True
        )
        raise
    if not left:
        console.print(end_page(scene, terminal.look))
        console.print(f"\nAll {scene.seq} events fit one chain.", soft_wrap=True, end=" ")
    for wrong in witness.warnings:
        console.print(f"\n{printable_line(wrong)}", style="bold", markup=False, soft_wrap=True)
    if left:
        console.print(f"\nThe game stays on the server. Come back with: {back}", markup=False, soft_wrap=True)
        return
    command = check_command(client, kept.games, witness)
    console.print(
        f"Check deals, scores and bots too:\n{command}\nor look at {client.url}/verify?game={game}",
        markup=False,
        soft_wrap=True,
    )


def check_command(client: SigningClient, games: Keepsakes, witness: Witness) -> str:
    """The command that checks a finished game with all that the player has, as a line for a shell."""
    kept, verify, fetch = witness.kept, [program(), "verify"], ""
    try:
        verify.append(str(games.keep_proof(kept, client.proof(kept.game))))
    except (OSError, ClientError):
        fetch = f"curl -s {shlex.quote(f'{client.url}/v1/games/{kept.game}/proof')} | "
        verify.append("-")
    path = games.path(kept)
    if kept.receipt is not None and path.is_file():
        verify += ["--receipt", str(path)]
    verify += _server_key(client, games, witness)
    if kept.seat_key:
        verify += ["--seat-key", f"{kept.seat}={kept.seat_key}"]
    return f"{fetch}{shlex.join([*verify, '--rerun-bots'])}"


def _server_key(client: SigningClient, games: Keepsakes, witness: Witness) -> list[str]:
    """The options that pin the server's key: by what the player knew, never by what a server says that was warned of."""
    kept, anchor = witness.kept, witness.anchor
    if not _KEY.fullmatch(kept.server_key):
        return []
    if witness.is_foreign:
        return ["--server-key", witness.pinned] if witness.pinned else []
    if anchor == kept.server_key:
        return ["--server-key", anchor]
    with suppress(ClientError, Malformed, OSError):
        listed = client.key_list()
        if kept.server_key in read_key_list(listed).since(anchor):
            path = games.keep_key_list(kept, listed)
            return ["--server-key", anchor, "--server-keys", str(path)]
    # an older key vouched for it in a game that was followed
    return [] if witness.pinned else ["--server-key", kept.server_key]


def program() -> str:
    """What a shell must be told to run this program: its name, or where that is not found, its path."""
    called = Path(sys.argv[0])
    found = shutil.which("hearts")
    if called.name != "hearts" or (found is not None and Path(found).resolve() == called.resolve()):
        return "hearts"
    return shlex.quote(str(called))


def _tell_wait(terminal: Terminal, seconds: float, why: str) -> None:
    if seconds >= 1:
        terminal.say(
            f"No answer from the server ({why}). Trying again in {seconds:.0f} s; Ctrl-C leaves the table."
        )
