"""The trial is no trial unless it notices a leak: each of these is made on purpose, and must be told of."""

import re
from pathlib import Path

import pytest
import redis

from tests.hidden.leaks import LEAKS, Deliberate
from tests.hidden.telling import Leak
from tests.hidden.trial import Effort, Trial


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.make.__name__)
def test_a_leak_is_noticed(
    leak: Deliberate, valkey: redis.Redis, valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trial of a program that leaks fails, and names the channel."""
    effort = Effort(steps=None, checks=1.0, readers=1, few=leak.few, streams=0.0, only=leak.only)
    trial = Trial(valkey_url, tmp_path, leak.plan, effort, leak.make.__name__)
    leak.make(monkeypatch)
    with pytest.raises(Leak) as caught:
        trial.run()
    assert re.match(leak.channel, caught.value.channel)
