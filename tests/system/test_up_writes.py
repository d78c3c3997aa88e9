"""`hearts up` on a store that answers and takes no writes: it is told, and nobody is sent there."""

import shutil
from contextlib import closing
from pathlib import Path

import httpx

from services.store import connect
from tests.support.house import until, up
from tests.support.own_store import OwnStore


def status(url: str) -> int:
    """The status of /readyz."""
    with httpx.Client(trust_env=False, timeout=10) as http:
        return http.get(f"{url}/readyz").status_code


def test_a_store_whose_folder_is_gone(tmp_path: Path) -> None:
    """Given a server that could not save and so refuses writes (MISCONF), then one warning, and not ready; when it takes
    writes again, a word and ready.
    """
    folder = tmp_path / "store"
    folder.mkdir()
    with (
        closing(OwnStore(folder, "--save", "3600 1")) as store,
        connect(store.url) as client,
        up(tmp_path / "data", HEARTS_STORE_URL=store.url, HEARTS_BOT_WORKERS="1") as house,
    ):
        assert 200 == status(house.url)
        shutil.rmtree(folder)
        client.bgsave()
        until(lambda: "can keep nothing now" in house.told())
        assert 503 == status(house.url)
        client.config_set("stop-writes-on-bgsave-error", "no")
        until(lambda: "keeps games again" in house.told())
        assert 200 == status(house.url)
        assert 1 == house.told().count("can keep nothing now")
        assert 0 == house.stop()


def test_an_embedded_store_whose_folder_is_gone(tmp_path: Path) -> None:
    """What it would acknowledge is lost with its process."""
    data = tmp_path / "data"
    with up(data) as house:
        assert 200 == status(house.url)
        data.rename(tmp_path / "away")
        until(lambda: "was taken away" in house.told())
        assert 503 == status(house.url)
        assert 0 == house.stop()


def test_a_key_that_others_may_read_is_warned_of(tmp_path: Path) -> None:
    """At the start, in a sentence, once."""
    data = tmp_path / "data"
    data.mkdir()
    key = data / "server.key"
    key.write_text("5a" * 32)
    key.chmod(0o666)
    with up(data) as house:
        assert f"warning: others may read and write the server key in {key}" in house.told()
        assert 1 == house.told().count("server key")
        assert 0 == house.stop()
