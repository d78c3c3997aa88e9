"""Keys: one slot a game, and a table that tells of every key."""

import inspect
import re
from fnmatch import fnmatchcase as fnmatch
from zlib import crc32

import pytest
from redis.crc import key_slot

from services.key_templates import TEMPLATES
from services.key_types import type_of
from services.keys import STREAMS_PATTERN, Keys, game_of_stream, version_of

GAME = "5f1c"
CONSTANTS = {
    "archive": Keys.archive,
    "partitions": Keys.partitions_key,
    "sweep": Keys.sweep,
    "server_key": Keys.server_key,
    "server_key_now": Keys.server_key_now,
    "versions": Keys.versions,
}
CONSTANTS |= {
    name: value
    for name, value in vars(Keys).items()
    if name.startswith(("standings_", "log_")) and type(value) is str
}


def spelt(keys: Keys, name: str) -> str:
    """The key of a template, for one game, its partition, one status, a player of the same id and a digest."""
    known = {
        "game": GAME,
        "partition": keys.partition(GAME),
        "status": "open",
        "player": GAME,
        "digest": "ab",
    }
    known |= {"fold": 3, "family": "basic", "level": 3, "chunk": 2, "limit": "x", "run": "5f"}
    if name in CONSTANTS:
        return CONSTANTS[name]
    plain, of_version, _ = name.partition("_of_version")
    known |= {"version": 3 if of_version else 0, "projection": "games"}
    method = getattr(keys, plain)
    return method(*(known[parameter] for parameter in inspect.signature(method).parameters))


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda t: t.name)
def test_a_key_is_spelt_as_its_template_says(template) -> None:
    """Every template has a method or a constant that spells exactly that key."""
    keys = Keys(64)
    filled = template.key.replace("pNN", f"p{keys.partition(GAME):02}")
    values = {
        "game": GAME,
        "status": "open",
        "player": GAME,
        "digest": "ab",
        "fold": "3",
        "family": "basic",
        "limit": "x",
        "run": "5f",
        "version": "3",
        "projection": "games",
    }
    for name, value in values.items():
        filled = filled.replace(f"<{name}>", value)
    filled = filled.replace("<level>:<chunk>", "3:2")
    assert filled == spelt(keys, template.name)
    assert template.type == type_of(filled)
    assert type_of(f"x{filled}") is None


def test_every_method_that_spells_a_key_has_a_template() -> None:
    """No key is spelt that the table does not tell of."""
    methods = {name for name, _ in inspect.getmembers(Keys, inspect.isroutine) if not name.startswith("_")}
    told = {template.name.removesuffix("_of_version") for template in TEMPLATES} - set(CONSTANTS)
    assert told == methods - {"partition", "of_append"}


@pytest.mark.parametrize("partitions", [1, 64, 1000])
def test_all_keys_of_a_game_share_a_slot(partitions: int) -> None:
    """One script may use all keys of a game, on a cluster too."""
    keys = Keys(partitions)
    of_game = [template.name for template in TEMPLATES if "pNN" in template.key]
    for game in ("a", "b", "{x}", "5f1c-77"):
        p = keys.partition(game)
        spelt_keys = [keys.stream(game), keys.idempotency(game), keys.table(game), *keys.of_append(game)]
        spelt_keys += [keys.feed(p), keys.due(p), keys.parked(p), keys.lobby(p, "over"), keys.seats(p)]
        spelt_keys += [keys.inbox(p), keys.desk(game), keys.finished(p), keys.written(p)]
        spelt_keys += [keys.table(game, 3), keys.lobby(p, "over", 3), keys.seats(p, 3), keys.desk(game, 3)]
        assert 1 == len({key_slot(key.encode()) for key in spelt_keys})
    assert 17 == len(of_game)


def test_the_keys_of_an_append_are_those_spelt_one_by_one() -> None:
    """`of_append` is only a faster way to say five keys."""
    keys = Keys(64)
    p = keys.partition(GAME)
    one_by_one = (keys.stream(GAME), keys.feed(p), keys.due(p), keys.idempotency(GAME), keys.snapshot(GAME))
    assert one_by_one == keys.of_append(GAME)


def test_the_log_is_of_one_slot_and_no_games() -> None:
    """All keys of the transparency log may be used by one script, and none is taken for the stream of a game."""
    names = [Keys.log_leaves, Keys.log_index, Keys.log_places, Keys.log_nodes(0, 0), Keys.log_nodes(3, 7)]
    assert 1 == len({key_slot(name.encode()) for name in names})
    keys = Keys(200)
    assert fnmatch(keys.stream(GAME), STREAMS_PATTERN)
    assert GAME == game_of_stream(keys.stream(GAME).encode())
    others = [*names, keys.feed(3), keys.table(GAME), keys.snapshot(GAME), keys.idempotency(GAME)]
    assert [] == [name for name in others if fnmatch(name, STREAMS_PATTERN)]


def test_the_version_of_a_key() -> None:
    """A key of a later version is told from the same key of the first one, whatever stands in it."""
    keys = Keys(64)
    for plain, later in (
        (keys.table("v3:t:x"), keys.table("v3:t:x", 12)),
        (keys.lobby(7, "open"), keys.lobby(7, "open", 12)),
        (keys.seats(7), keys.seats(7, 12)),
        (keys.desk(GAME), keys.desk(GAME, 12)),
    ):
        assert ((plain, 0), (plain, 12)) == (version_of(plain), version_of(later))
        assert type_of(plain) == type_of(later)
    assert ("h:{p01}:v0:seats", 0) == version_of("h:{p01}:v0:seats")


def test_the_partition_is_the_crc32_of_the_id() -> None:
    """Any program can tell in which partition a game is."""
    assert crc32(b"5f1c") % 64 == Keys(64).partition("5f1c")
    assert {0} == {Keys(1).partition(game) for game in ("a", "b", "c")}


def test_tags_of_one_store_have_one_width() -> None:
    """At least two digits, three where there are more than a hundred partitions."""
    assert "h:{p07}:feed" == Keys(8).feed(7)
    assert "h:{p07}:feed" == Keys(100).feed(7)
    assert "h:{p007}:feed" == Keys(101).feed(7)


def test_a_store_has_at_least_one_partition() -> None:
    """No partitions is a mistake, told as one."""
    with pytest.raises(ValueError, match="at least one partition"):
        Keys(0)


def test_templates_are_told_once_and_in_full() -> None:
    """Names and keys are unique, types are the server's, owners are modules."""
    assert len(TEMPLATES) == len({t.name for t in TEMPLATES}) == len({t.key for t in TEMPLATES})
    assert {"stream", "zset", "hash", "set", "string", "list"} >= {t.type for t in TEMPLATES}
    assert all(re.fullmatch(r"(services|workers)(\.\w+)+", t.owner) and t.meaning for t in TEMPLATES)
