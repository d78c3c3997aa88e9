"""For operators: whether the process lives, whether it can work, what it is."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from flask import Response

from api.answers import LiveAnswer, ReadyAnswer, VersionAnswer
from api.errors import Problem
from api.house import house
from api.present import encode
from api.room import Room
from domain import kernel
from services.durability import NOTHING_KEPT

ops: Final = Room("ops", __name__, description="For operators")

_HEADERS: Final = {"Content-Type": "application/json", "Cache-Control": "no-store"}


@ops.view("GET", "/livez", LiveAnswer)
def livez() -> Response:
    """Whether the process answers."""
    return Response(encode({"live": True}), headers=_HEADERS)


@ops.view("GET", "/readyz", ReadyAnswer, refuses=(503,))
def readyz() -> Response:
    """Whether the server can do its work.

    ``warnings`` tells what of the store's settings may lose what it has acknowledged, and whether the archive of finished
    games cannot be read; it is no reason not to serve.

    503 where the store does not answer, takes no writes, has fewer replicas that keep up than the server promises, or is not
    the one that this process was started for.
    """
    services = house().services
    stored = services.store.wire.call("GET", services.keys.partitions_key)
    partitions = services.keys.partitions
    if stored is None or int(stored) != partitions:
        raise Problem(
            "store/unavailable",
            f"the store has {'no' if stored is None else int(stored)} partitions, and this process works with {partitions}",
            hint="start the process again",
        )
    why = services.durability.hindrance()
    if why is not None:
        raise Problem(
            "store/unavailable",
            f"{NOTHING_KEPT}: {why}"[:500],
            hint="the store's log tells more; commands are refused until it takes writes again",
        )
    body: dict[str, Any] = {
        "ready": True,
        "partitions": partitions,
        "projector_lag": services.projections.lag(),
        "warnings": services.warnings(),
    }
    return Response(encode(body), headers=_HEADERS)


@ops.view("GET", "/version", VersionAnswer)
def show_version() -> Response:
    """What is running."""
    body = {
        "version": program_version(),
        "commit": _commit(),
        "kernel": "compiled" if kernel.AVAILABLE else None,
        "server_key": house().services.key.shown(),
    }
    return Response(encode(body), headers=_HEADERS)


@cache
def program_version() -> str:
    """The version of the installed program, ``unknown`` where it runs from a tree that is not installed."""
    try:
        return version("hearts-house")
    except PackageNotFoundError:
        return "unknown"


@cache
def _commit() -> str | None:
    """The commit of the tree that the program runs from, none where it is no working copy."""
    folder = Path(__file__).resolve().parents[1] / ".git"
    try:
        head = (folder / "HEAD").read_text(encoding="ascii").strip()
        if not head.startswith("ref: "):
            return head
        name = head.removeprefix("ref: ")
        if (folder / name).exists():
            return (folder / name).read_text(encoding="ascii").strip()
        packed = (folder / "packed-refs").read_text(encoding="ascii").splitlines()
    except (OSError, ValueError):
        return None
    return next((line.split()[0] for line in packed if line.endswith(f" {name}")), None)
