"""Settings: one reader of the environment, and all its mistakes at once."""

from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest

from services.settings import InvalidSettings, Settings, variable
from tests.support.environs import environ_of


def problems(**environ: str) -> list[str]:
    """What is wrong with an environment, a line a problem."""
    with pytest.raises(InvalidSettings) as caught:
        Settings.from_environ({f"HEARTS_{name}": value for name, value in environ.items()})
    return [str(problem) for problem in caught.value.problems]


def test_an_empty_environment_gives_the_defaults() -> None:
    """Nothing has to be set, and what is not ours is not looked at."""
    expected = Settings(
        data=Path("hearts-data"),
        store_url="",
        queue_url="",
        host="127.0.0.1",
        port=8000,
        partitions=64,
        fsync="always",
        api_workers=1,
        bot_workers=2,
        audit_workers=1,
        log_level="info",
        key_file="",
    )
    assert expected == Settings.from_environ({"PATH": "/bin", "PORT": "x"})


def test_every_setting_is_read_from_its_variable() -> None:
    """The variable of a field is HEARTS_ and its name in capitals."""
    environ = {
        "HEARTS_DATA": "/srv/my hearts",
        "HEARTS_STORE_URL": "rediss://u:p@store:6380/2",
        "HEARTS_QUEUE_URL": "unix:///run/q.sock",
        "HEARTS_ARCHIVE": "s3://games/hearts",
        "HEARTS_ARCHIVE_HOURS": "0",
        "HEARTS_HOST": "::1",
        "HEARTS_PORT": "0",
        "HEARTS_PARTITIONS": "8",
        "HEARTS_FSYNC": "everysec",
        "HEARTS_API_THREADS": "7",
        "HEARTS_API_WORKERS": "3",
        "HEARTS_REPLICAS": "2",
        "HEARTS_LISTENERS": "77",
        "HEARTS_BOT_WORKERS": "0",
        "HEARTS_AUDIT_WORKERS": "4",
        "HEARTS_METRICS_PORT": "9100",
        "HEARTS_METRICS_HOST": "::1",
        "HEARTS_LOG_LEVEL": "debug",
        "HEARTS_KEY_FILE": "/run/secrets/key",
        "HEARTS_ORIGIN": "example.org/hearts",
        "HEARTS_RATE_PLAYER": "50/second;1000/minute",
        "HEARTS_RATE_ADDRESS": "5 per 10 seconds",
        "HEARTS_RATE_NEW_PLAYERS": "",
        "HEARTS_RATE_BAD_TOKENS": "1/day",
        "HEARTS_MOST_TABLES": "0",
        "HEARTS_MOST_LAG": "5000",
        "HEARTS_MOST_MEMORY": "75",
        "HEARTS_PROXIES": "1",
        "HEARTS_CORS_ORIGINS": "https://cards.example, http://localhost:5173",
    }
    assert {variable(field.name) for field in fields(Settings)} == set(environ)
    settings = Settings.from_environ(environ)
    assert (Path("/srv/my hearts"), 0, 8, "everysec") == (
        settings.data,
        settings.port,
        settings.partitions,
        settings.fsync,
    )
    assert environ == environ_of(settings)


def test_the_embedded_store_has_no_replicas() -> None:
    """Whoever asks for some without naming a server is told so, and is not refused every command."""
    with pytest.raises(InvalidSettings, match="HEARTS_REPLICAS='1': the embedded store has no replicas"):
        Settings.from_environ({"HEARTS_REPLICAS": "1"})
    assert 1 == Settings.from_environ({"HEARTS_REPLICAS": "1", "HEARTS_STORE_URL": "redis://h"}).replicas


def test_where_finished_games_go() -> None:
    """Below the data folder where the store is the embedded one; with a store of one's own only where it is said."""
    assert str(Path("d") / "archive") == Settings(data=Path("d")).archive_place
    assert Settings(store_url="redis://h").archive_place is None
    assert "s3://b" == Settings(store_url="redis://h", archive="s3://b").archive_place


def test_what_is_set_is_read_back() -> None:
    """A process that is given a setting's value as text reads the same settings."""
    settings = Settings(data=Path("a b"), port=1, store_url="redis://h", bot_workers=9)
    assert settings == Settings.from_environ(environ_of(settings))


def test_the_process_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an argument the settings come from the process's environment."""
    monkeypatch.setenv("HEARTS_PORT", "1234")
    assert 1234 == Settings.from_environ().port


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("PORT", "65536", "a whole number from 0 to 65535"),
        ("PORT", "-1", "a whole number"),
        ("PORT", "", "a whole number"),
        ("PORT", "1_0", "a whole number"),
        ("PORT", " 80", "a whole number"),
        ("PORT", "٨٠", "a whole number"),
        ("PARTITIONS", "0", "from 1 to 1024"),
        ("API_WORKERS", "0", "from 1"),
        ("ORIGIN", "my log", "without spaces and plus signs"),
        ("ORIGIN", "a+b", "without spaces and plus signs"),
        ("ORIGIN", "x" * 201, "at most 200 characters"),
        ("FSYNC", "no", "always or everysec"),
        ("LOG_LEVEL", "INFO", "debug or info or warning or error"),
        ("DATA", "  ", "a folder, not empty"),
        ("HOST", "", "not empty"),
        ("STORE_URL", "http://store", "redis://HOST:6379/0"),
        ("STORE_URL", "redis://", "redis://HOST:6379/0"),
        ("STORE_URL", "redis://h:99999", "redis://HOST:6379/0"),
        ("STORE_URL", "redis://h:port", "redis://HOST:6379/0"),
        ("QUEUE_URL", "unix://", "unix:///PATH"),
        ("STORE_URL", "redis://h:6379/zero", "redis://HOST:6379/0"),
        ("STORE_URL", "redis://h:6379/0/1", "redis://HOST:6379/0"),
        ("STORE_URL", "redis://h:6379/-1", "redis://HOST:6379/0"),
        ("STORE_URL", "redis://h?db=x", "redis://HOST:6379/0"),
        ("STORE_URL", "redis://h?no_such_option=1", "redis://HOST:6379/0"),
        ("STORE_URL", "redis://[::1", "redis://HOST:6379/0"),
        ("STORE_URL", "redis+sentinel://h", "redis+sentinel://HOST:26379,HOST:26379/SERVICE"),
        ("STORE_URL", "redis+sentinel:///s", "redis+sentinel://HOST"),
        ("STORE_URL", "redis+sentinel://h,/s", "redis+sentinel://HOST"),
        ("STORE_URL", "redis+sentinel://h:0/s", "redis+sentinel://HOST"),
        ("STORE_URL", "redis+sentinel://h/s/0", "redis+sentinel://HOST"),
        ("STORE_URL", "redis+sentinel://h/s?no_such_option=1", "redis+sentinel://HOST"),
        ("STORE_URL", "redis+cluster://", "redis+cluster://HOST:6379,HOST:6379"),
        ("STORE_URL", "redis+cluster://h:x", "redis+cluster://HOST"),
        ("STORE_URL", "redis+cluster://h/0", "redis+cluster://HOST"),
        ("STORE_URL", "redis+cluster://h?db=1", "redis+cluster://HOST"),
        ("STORE_URL", "redis+cluster://h?sentinel_username=x", "redis+cluster://HOST"),
        ("STORE_URL", "redis+cluster://a@h,b@i", "redis+cluster://HOST"),
        ("QUEUE_URL", "redis+cluster://h", "not a cluster, where RQ does not run"),
        ("REPLICAS", "17", "from 0 to 16"),
        ("RATE_PLAYER", "often", "empty for no limit"),
        ("RATE_PLAYER", "0/second", "empty for no limit"),
        ("RATE_PLAYER", "5/second;", "empty for no limit"),
        ("RATE_ADDRESS", "5/fortnight", "empty for no limit"),
        ("RATE_ADDRESS", "٨/second", "empty for no limit"),
        ("RATE_BAD_TOKENS", "10000000000/second", "empty for no limit"),
        ("MOST_TABLES", "-1", "a whole number from 0"),
        ("PROXIES", "17", "from 0 to 16"),
        ("CORS_ORIGINS", "*", "empty, or addresses like https://"),
        ("CORS_ORIGINS", "cards.example", "empty, or addresses like https://"),
        ("CORS_ORIGINS", "https://cards.example/", "empty, or addresses like https://"),
        ("CORS_ORIGINS", "https://Cards.example", "empty, or addresses like https://"),
        ("CORS_ORIGINS", "https://u@b.example", "empty, or addresses like https://"),
        ("DATA", "\udcff", "a folder, not empty"),
        ("HOST", "\udcff", "a host name"),
        ("KEY_FILE", "\udcff", "a path"),
    ],
)
def test_a_value_that_is_not_allowed_is_refused(name: str, value: str, allowed: str) -> None:
    """The problem names the variable, the value and what may be there instead."""
    (problem,) = problems(**{name: value})
    assert problem.startswith(f"HEARTS_{name}={value!r}: ")
    assert allowed in problem


def test_all_problems_are_told_at_once() -> None:
    """One run shows everything that has to be put right."""
    told = problems(PORT="x", FSYNC="never", PARTITIONS="0", NOPE="1")
    assert ["FSYNC", "NOPE", "PARTITIONS", "PORT"] == [line.split("=")[0][7:] for line in told]


def test_one_setting_is_read_from_an_option() -> None:
    """As its variable would be; the refusal says what is allowed."""
    assert (Path("x"), 80) == (Settings.read("data", "x"), Settings.read("port", "80"))
    for name, text in (("data", ""), ("port", "http"), ("host", " ")):
        with pytest.raises(ValueError, match=r": (a folder|a whole number|a host name)"):
            Settings.read(name, text)


def test_an_unknown_name_is_a_problem_with_a_hint() -> None:
    """A misspelt variable is not silently without effect."""
    assert ["HEARTS_STORE_ULR='redis://h': no such setting; did you mean HEARTS_STORE_URL?"] == problems(
        STORE_ULR="redis://h"
    )
    assert ["HEARTS_XYZZY='1': no such setting; see `hearts config`"] == problems(XYZZY="1")


def test_names_for_the_test_suite_are_no_settings() -> None:
    """HEARTS_TEST_... steers tests and does not disturb a server that they start."""
    assert Settings() == Settings.from_environ({"HEARTS_TEST_REQUIRE": "redis-server"})


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://h:6379/0", "redis://h:6379/0"),
        ("redis://u:secret@h/0", "redis://u:***@h/0"),
        ("redis://:se@cret@h/0", "redis://:***@h/0"),
        ("redis+sentinel://u:secret@h,i/s", "redis+sentinel://u:***@h,i/s"),
        ("redis+sentinel://h/s?sentinel_password=secret", "redis+sentinel://h/s?sentinel_password=***"),
        ("unix:///run/s?db=1&password=secret", "unix:///run/s?db=1&password=***"),
        ("redis://u:secret@h/0?password=secret", "redis://u:***@h/0?password=***"),
    ],
)
def test_passwords_are_masked(url: str, shown: str) -> None:
    """Neither `hearts config` nor a refusal shows the password in an address."""
    rows = {row.name: row.value for row in Settings(store_url=url).describe()}
    assert shown == rows["HEARTS_STORE_URL"]
    assert all(
        "secret" not in line for line in problems(STORE_URL=url.replace("redis", "http"), NOPE=url, PORT=url)
    )


def test_every_setting_is_described() -> None:
    """`hearts config` has name, value, default and meaning of each."""
    rows = Settings(port=1).describe()
    assert [variable(field.name) for field in fields(Settings)] == [row.name for row in rows]
    assert all(row.meaning for row in rows)
    assert ("1", "8000") == next((row.value, row.default) for row in rows if row.name == "HEARTS_PORT")


def test_the_key_file_is_in_the_data_folder_unless_it_is_named() -> None:
    """An empty key_file means server.key in the data folder."""
    assert Path("d/server.key") == Settings(data=Path("d")).key_path
    assert Path("/k") == Settings(data=Path("d"), key_file="/k").key_path


def test_settings_cannot_be_changed() -> None:
    """What was read at the start holds to the end."""
    with pytest.raises(FrozenInstanceError):
        Settings().port = 1  # type: ignore[misc]
