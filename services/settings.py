"""The only reader of the environment: every `HEARTS_*` variable, checked once and frozen.

Each field of `Settings` is one variable, `HEARTS_` and the field's name in capitals. Nothing else in the
house looks at `os.environ`; child processes inherit it.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

PREFIX = "HEARTS_"

RESERVED = "HEARTS_TEST_"
"""Names with this prefix steer the test suite; they are no settings and no mistakes either."""

LONGEST_ORIGIN = 200
"""Characters of an origin."""

Reader = Callable[[str], Any]
"""Text of a variable -> the field's value; raises ValueError for a text that is not allowed."""


class Problem(NamedTuple):
    """One thing wrong with the environment: the variable, what it held, and what it may hold."""

    name: str
    value: str
    allowed: str

    def __str__(self) -> str:
        return f"{self.name}={self.value!r}: {self.allowed}"


class InvalidSettings(Exception):
    """The environment cannot be used. `problems` lists everything that is wrong, not only the first."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("\n".join(["these settings cannot be used:", *(f"  {p}" for p in problems)]))


class Row(NamedTuple):
    """One line of `hearts config`; passwords in the texts are masked."""

    name: str
    value: str
    default: str
    meaning: str


def _whole(low: int, high: int) -> tuple[Reader, str]:
    """Reader of a whole number from `low` to `high`, both allowed."""

    def read(text: str) -> int:
        # isdecimal: int() alone would also take "1_000", " 7 " and digits of other scripts
        if not (text.isascii() and text.isdecimal()) or not low <= int(text) <= high:
            raise ValueError(text)
        return int(text)

    return read, f"a whole number from {low} to {high}"


def _one_of(*choices: str) -> tuple[Reader, str]:
    """Reader of one word of a fixed list."""

    def read(text: str) -> str:
        if text not in choices:
            raise ValueError(text)
        return text

    return read, " or ".join(choices)


def _filled(kind: Callable[[str], Any], what: str) -> tuple[Reader, str]:
    """Reader of any text that is not empty."""

    def read(text: str) -> Any:
        if not text.strip() or "\0" in text:
            raise ValueError(text)
        return kind(_utf8(text))

    return read, f"{what}, not empty"


def _utf8(text: str) -> str:
    """The text, where it can be written down again. Raises ValueError for stray bytes of another encoding."""
    text.encode()
    return text


def _read_url(text: str) -> str:
    from services.addresses import read_address

    if text:
        read_address(text)
    return _utf8(text)


def _read_queue(text: str) -> str:
    from services.addresses import kind_of

    if kind_of(text) == "cluster":  # RQ's transactions have keys of several slots
        raise ValueError(text)
    return _read_url(text)


def _read_rate(text: str) -> str:
    from limits import parse_many

    if not text:
        return text
    if not text.isascii():
        raise ValueError(text)
    for one in parse_many(text):
        if not 1 <= one.amount <= 1_000_000_000 or not 1 <= one.get_expiry() <= 86_400 * 366:
            raise ValueError(text)
    return text


def _read_origins(text: str) -> str:
    for origin in text.replace(",", " ").split():
        parts = urlsplit(origin)
        # what a browser sends is scheme, host and port alone, in lower case
        plain = f"{parts.scheme}://{parts.netloc}" == origin.lower() == origin and parts.port != 0
        if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc or not plain:
            raise ValueError(text)
    return _utf8(text)


def _read_archive(text: str) -> str:
    if (text and not text.strip()) or ("memory" in text.partition("://")[0].split("::") and "://" in text):
        raise ValueError(text)
    return _utf8(text)


_RATE: tuple[Reader, str] = (
    _read_rate,
    'empty for no limit, or as in "100/second;1000/minute" or "600/10 seconds"',
)
_ORIGINS: tuple[Reader, str] = (
    _read_origins,
    "empty, or addresses like https://cards.example or http://localhost:5173 between commas, without a path",
)
_ADDRESS = "an address like redis://HOST:6379/0, rediss://HOST:6379/0, unix:///PATH"
_SENTINEL = "redis+sentinel://HOST:26379,HOST:26379/SERVICE"
_URL = (_read_url, f"empty, or {_ADDRESS}, {_SENTINEL}, redis+cluster://HOST:6379,HOST:6379")
_QUEUE = (_read_queue, f"empty, or {_ADDRESS}, {_SENTINEL}; not a cluster, where RQ does not run")
_TEXT: tuple[Reader, str] = (_utf8, "a path")
_ARCHIVE: tuple[Reader, str] = (
    _read_archive,
    "empty, a folder, or an address like s3://BUCKET/FOLDER, where it stays when this process has ended",
)


def is_origin(text: str) -> bool:
    """Whether a text can be the origin of a log, which is a name in C2SP's signed notes: no spaces and no plus sign."""
    return 0 < len(text) <= LONGEST_ORIGIN and text.isprintable() and not set(text) & set(" +")


def _read_origin(text: str) -> str:
    if text and not is_origin(text):
        raise ValueError(text)
    return text


def _setting(default: Any, meaning: str, reader: tuple[Reader, str]) -> Any:
    return field(default=default, metadata={"meaning": meaning, "read": reader[0], "allowed": reader[1]})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything an operator may choose. Made by `from_environ`, or by hand in tests."""

    data: Path = _setting(  # noqa: RUF009 (a dataclass field, made by a helper)
        Path("hearts-data"),
        "folder of the embedded store, the keys and the archive",
        _filled(Path, "a folder"),
    )
    store_url: str = _setting(
        "",
        "Redis or Valkey server, Sentinels or cluster of the event log; empty: the embedded store in the data folder",
        _URL,
    )
    queue_url: str = _setting(
        "", "Redis or Valkey server of the job queue; empty: the store's, which must not be a cluster", _QUEUE
    )
    replicas: int = _setting(
        0,
        "replicas that must have an event, and whatever else a command keeps, before it is answered with 2xx",
        _whole(0, 16),
    )
    archive: str = _setting(
        "",
        "folder, or address for fsspec, that finished games are moved to; empty: archive in the data folder where the "
        "store is the embedded one, else they stay in the store",
        _ARCHIVE,
    )
    archive_hours: int = _setting(
        24,
        "how long a game has been over when it is moved; 0: only by `hearts archive`",
        _whole(0, 1_000_000),
    )
    host: str = _setting("127.0.0.1", "address the API listens on", _filled(str, "a host name or address"))
    port: int = _setting(8000, "port the API listens on; 0: any free one", _whole(0, 65535))
    partitions: int = _setting(
        64, "parts the log is divided into; fixed when a store is first used", _whole(1, 1024)
    )
    fsync: str = _setting(
        "always",
        "when the embedded store writes to disk: always = before an answer, everysec = up to a second later",
        _one_of("always", "everysec"),
    )
    api_threads: int = _setting(64, "requests that one API process works at at a time", _whole(1, 1000))
    listeners: int = _setting(
        1024, "streams and long polls that one API process keeps at a time", _whole(1, 10_000)
    )
    api_workers: int = _setting(1, "API processes", _whole(1, 256))
    bot_workers: int = _setting(2, "processes that play the bots and watch the clocks", _whole(0, 256))
    audit_workers: int = _setting(
        1, "processes that do the work of `hearts audit`, when it is asked for", _whole(0, 256)
    )
    metrics_port: int = _setting(
        0,
        "port that the API's metrics are served on, and the next ones where there are more API processes; 0: none",
        _whole(0, 65535),
    )
    metrics_host: str = _setting(
        "127.0.0.1", "address that the metrics are served on", _filled(str, "a host name or address")
    )
    log_level: str = _setting(
        "info", "least severity that is logged", _one_of("debug", "info", "warning", "error")
    )
    key_file: str = _setting(
        "", "file of the server's secret key; empty: server.key in the data folder", _TEXT
    )
    origin: str = _setting(
        "",
        "name of the transparency log, best an address such as example.org/hearts; "
        "empty: hearts-house/ and the first 16 digits of the server's public key",
        (_read_origin, f"empty, or at most {LONGEST_ORIGIN} characters without spaces and plus signs"),
    )

    rate_player: str = _setting(
        "6000/10 seconds", "requests of a player, by all of its tokens; empty: any number", _RATE
    )
    rate_address: str = _setting(
        "1000/10 seconds", "requests without a token that is valid, by address; empty: any number", _RATE
    )
    rate_new_players: str = _setting(
        "120/minute;5000/day", "players that are made from an address; empty: any number", _RATE
    )
    rate_bad_tokens: str = _setting(
        "60/minute", "requests of an address with a token that is not valid; empty: any number", _RATE
    )
    most_tables: int = _setting(
        500, "tables that are not over which a player may have opened; 0: any number", _whole(0, 1_000_000)
    )
    most_lag: int = _setting(
        100_000,
        "appends that the projectors may be behind before no new table is opened; 0: any number",
        _whole(0, 1_000_000_000),
    )
    most_memory: int = _setting(
        90,
        "percent of its maxmemory that the store may use before no new table is opened, of its machine's where it has none; "
        "0: all of it",
        _whole(0, 100),
    )
    proxies: int = _setting(
        0, "proxies before the API whose X-Forwarded-For and X-Forwarded-Proto are believed", _whole(0, 16)
    )
    cors_origins: str = _setting(
        "", "web sites whose pages may call the API from a browser, by comma; empty: none", _ORIGINS
    )

    @classmethod
    def from_environ(cls, environ: Mapping[str, str] | None = None) -> Settings:
        """Read the settings from `environ`, by default the process's own.

        Raises InvalidSettings with all problems at once: values that are not allowed, and names
        beginning with HEARTS_ that are no setting.
        """
        environ = os.environ if environ is None else environ
        known = {variable(f.name): f for f in fields(cls)}
        values: dict[str, Any] = {}
        problems: list[Problem] = []
        for name, text in environ.items():
            if not name.startswith(PREFIX) or name.startswith(RESERVED):
                continue
            if name not in known:
                problems.append(Problem(name, _masked(text), _unknown(name, list(known))))
                continue
            setting = known[name]
            try:
                values[setting.name] = setting.metadata["read"](text)
            except ValueError:
                problems.append(Problem(name, _masked(text), setting.metadata["allowed"]))
        problems += _of_both(values)
        if problems:
            raise InvalidSettings(sorted(problems))
        return cls(**values)

    def describe(self) -> list[Row]:
        """One row a setting for `hearts config`, passwords masked."""
        return [
            Row(variable(f.name), _masked(str(getattr(self, f.name))), str(f.default), f.metadata["meaning"])
            for f in fields(self)
        ]

    @classmethod
    def read(cls, field_name: str, text: str) -> Any:
        """The value of one field from a text, as its variable would be read: for options that take its place.

        Raises ValueError that says what is allowed.
        """
        setting = next(f for f in fields(cls) if f.name == field_name)
        try:
            return setting.metadata["read"](text)
        except ValueError as error:
            raise ValueError(f"{text!r:.80}: {setting.metadata['allowed']}") from error

    @property
    def archive_place(self) -> str | None:
        """Where finished games go, a folder or an address; None where they stay in the store."""
        return self.archive or (None if self.store_url else str(self.data / "archive"))

    @property
    def key_path(self) -> Path:
        """The file of the server's secret key."""
        return Path(self.key_file) if self.key_file else self.data / "server.key"

    @property
    def signed_path(self) -> Path:
        """The file that keeps what was signed last of the transparency log, beside the key."""
        return self.key_path.with_name(f"{self.key_path.name}.signed")


def _of_both(values: Mapping[str, Any]) -> list[Problem]:
    from services.addresses import kind_of

    url, replicas = values.get("store_url", ""), values.get("replicas", 0)
    problems = []
    if kind_of(url) == "cluster" and not values.get("queue_url"):
        needed = "must name a server of its own where the log is on a cluster, for RQ does not run there"
        problems.append(Problem(variable("queue_url"), "", needed))
    if replicas and not url:
        needed = "the embedded store has no replicas; HEARTS_STORE_URL names servers that have"
        problems.append(Problem(variable("replicas"), str(replicas), needed))
    return problems


def asked_languages(environ: Mapping[str, str] | None = None) -> list[str]:
    """The locale names that the environment asks for texts in, best first, in gettext's order; [] for plain English."""
    found = os.environ if environ is None else environ
    name = next((found[key] for key in ("LC_ALL", "LC_MESSAGES", "LANG") if found.get(key)), "C")
    if name.split(".")[0] in ("C", "POSIX"):
        return []
    return [*filter(None, found.get("LANGUAGE", "").split(":")), name]


def variable(field_name: str) -> str:
    """Name of the environment variable of a field: `store_url` -> `HEARTS_STORE_URL`."""
    return PREFIX + field_name.upper()


def _unknown(name: str, known: list[str]) -> str:
    # compared without the prefix, which all names share and which would make any two of them alike
    rests = [variable_name.removeprefix(PREFIX) for variable_name in known]
    close = difflib.get_close_matches(name.removeprefix(PREFIX).upper(), rests, n=1)
    hint = f"did you mean {PREFIX}{close[0]}?" if close else "see `hearts config`"
    return f"no such setting; {hint}"


def _masked(text: str) -> str:
    """The text with the password of an address replaced; a text that is no address stays as it is."""
    head, at, rest = text.rpartition("@")
    if at and "://" in head:
        scheme, _, user = head.partition("://")
        name, colon, _ = user.partition(":")
        text = f"{scheme}://{name}{':***' if colon else ''}@{rest}"
    before, query, options = text.partition("?")
    if query and "://" in before:
        text = before + query + re.sub(r"(^|&)(\w*password)=[^&]*", r"\1\2=***", options)
    return text
