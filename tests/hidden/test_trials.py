"""Nobody can tell which cards it may not see: not by an answer, an event, a refusal, a log line, a metric or a job.

A sample of what `make leaks` tries at length: each table is played with other readers asked at other events.
"""

from pathlib import Path

import pytest
import redis

from tests.hidden.company import Plan
from tests.hidden.plans import PLANS
from tests.hidden.trial import Effort, Trial

SAMPLE = Effort(steps=None, checks=0.15, readers=1, few=3, streams=0.2)


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.name)
def test_hidden_cards_show_nowhere(plan: Plan, valkey: redis.Redis, valkey_url: str, tmp_path: Path) -> None:
    """Whoever looks, at whatever event and by whatever channel, is told the same of any cards that it may not see."""
    tried = Trial(valkey_url, tmp_path, plan, SAMPLE, plan.name).run()
    assert tried["checks"] >= 3
    assert tried["other cards"] > tried["checks"] // 2, "the twins had other cards"
    assert {"200", "403", "404", "409"} <= tried.keys()
