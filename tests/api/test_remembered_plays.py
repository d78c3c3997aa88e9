"""A play alone is read by what was found before, which is what marshmallow says."""

from __future__ import annotations

from typing import Any

import pytest
from marshmallow import ValidationError

from api.schemas import Move, Request
from domain.cards import NAMES

ODD = ["10H", "qs", "Q", "", "QSS", " QS", "1OH", "ＱＳ", "QS\n"]


def outcome(schema: Move, sent: dict[str, Any], load: Any) -> Any:
    """What is read of a body, or why nothing is."""
    try:
        return load(schema, sent)
    except ValidationError as error:
        return error.messages


@pytest.mark.parametrize("play", [*NAMES[:52], *ODD, None, 7, ["QS"], {"QS": 1}, True])
def test_a_play_is_read_as_marshmallow_reads_it(play: Any) -> None:
    """The first time and again, right or wrong, alone or beside other fields."""
    schema = Move()
    for sent in ({"play": play}, {"play": play, "moon": "add"}, {"play": play, "x": 1}, {"play": "QS"}):
        expected = outcome(schema, sent, Request.load)
        for _ in range(3):
            assert expected == outcome(schema, sent, Move.load)


def test_what_was_read_may_be_changed() -> None:
    """Who takes a field out of what was read takes nothing from the next reader; what was wrong is not kept."""
    schema = Move()
    assert schema.load({"play": "QS"}).pop("play") == schema.load({"play": "QS"}).pop("play")
    with pytest.raises(ValidationError):
        schema.load({"play": "XX"})
    assert ["QS"] == list(schema._plays)
