"""docs/scale.md says what the model makes of the costs that stand there, and the model does what its words say."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.bench.million import (
    BUSY,
    USUAL,
    Costs,
    _in_line,
    _moments,
    _together,
    most_tables,
    needs,
    read_costs,
    told_costs,
    told_needs,
    waits_ms,
)

DOCUMENT = (Path(__file__).resolve().parents[1] / "docs" / "scale.md").read_text()
COSTS = read_costs(DOCUMENT)


def test_the_document_says_what_the_model_says() -> None:
    """Both tables are those that the benchmark prints for these costs."""
    assert told_costs(COSTS) in DOCUMENT
    assert told_needs(COSTS) in DOCUMENT


def test_ten_times_the_tables_take_ten_times_as_much() -> None:
    """But for what each API process hears of tables that are none of its own, which takes more."""
    one, ten = needs(COSTS, 10_000), needs(COSTS, 100_000)
    assert one.appends * 10 == pytest.approx(ten.appends)
    assert one.memory_gb * 10 == pytest.approx(ten.memory_gb)
    assert ten.bots == pytest.approx(10 * one.bots, abs=10)
    assert one.api is not None
    assert ten.api is not None
    assert ten.api > 9 * one.api


def test_a_house_has_a_most() -> None:
    """Up to there some number of API processes and one sweep do; beyond it one of the two does not."""
    most, _ = most_tables(COSTS)
    below, above = needs(COSTS, int(most * 0.99)), needs(COSTS, int(most * 1.01))
    assert below.api is not None
    assert below.sweep <= BUSY
    assert above.api is None or above.sweep > BUSY


def test_nobody_can_wait_at_a_house_that_cannot_be() -> None:
    """Beyond what any number of processes can do nothing is simulated."""
    dear = COSTS._replace(elsewhere=1e6)
    with pytest.raises(ValueError, match="no number of API processes"):
        waits_ms(dear, USUAL, needs(dear, 1_000))


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_waits_in_line_are_those_of_the_formula(load: float) -> None:
    """Who does one thing at a time, always for as long, keeps people waiting as Pollaczek and Khinchine say."""
    waits = _in_line(_moments(random.Random(3), load * 1e6 / 100), 100, 0, random.Random(4))
    assert 100 + 100 * load / 2 / (1 - load) == pytest.approx(sum(waits) / len(waits), rel=0.05)


def test_a_write_to_disk_is_shared() -> None:
    """Given many more than there is time to write to disk for each, then none waits much longer than for two writes."""
    waits = _together(_moments(random.Random(5), 20_000), 10, 1_000)
    assert max(waits) < 2 * 1_000 + 2 * 100 * 10
    assert min(waits) > 1_000


def test_costs_are_read_as_they_are_told() -> None:
    """To a hundredth."""
    costs = Costs(*(1000 + number / 100 for number in range(len(Costs._fields))))
    assert costs == read_costs(told_costs(costs))
    with pytest.raises(KeyError):
        read_costs("| `command` | 1 |")
