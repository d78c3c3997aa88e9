"""Figures of an arena: means over deals, differences deal by deal, the report as JSON, and the picture."""

from __future__ import annotations

import math
import statistics
from pathlib import Path
from xml.etree import ElementTree

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.standings import student
from tests.support.contests import plan
from workers.arena.figures import CHECK_DEALS, Figure, Sample, Tally, percentile_ms
from workers.arena.match import Dealt, Score, play_deal, time_class
from workers.arena.picture import draw
from workers.arena.report import Report, report_of, signed, table_lines

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "spec" / "arena.schema.json"
SVG = "{http://www.w3.org/2000/svg}"


def dealt(number: int, *points: int, hands: int = 12) -> Dealt:
    """A deal in which the bots came to so many points."""
    return Dealt(number, 6, [Score(points=one, hands=hands) for one in points])


def tally_of(*points: tuple[int, ...]) -> Tally:
    """Deals in which the bots came to so many points."""
    tally = Tally(len(points[0]))
    for number, one in enumerate(points, 1):
        tally.add(dealt(number, *one))
    return tally


@given(st.lists(st.integers(-500, 500), min_size=2, max_size=60))
def test_a_sample_has_the_mean_and_interval_of_the_textbook(figures: list[int]) -> None:
    """Summed up as they come, deals give Student's interval of their mean."""
    sample = Sample()
    for figure in figures:
        sample.add(figure)
    assert statistics.mean(figures) == pytest.approx(sample.mean, abs=1e-9)
    wide = student(len(figures) - 1) * statistics.stdev(figures) / math.sqrt(len(figures))
    assert wide == pytest.approx(sample.half_width or 0.0, abs=1e-6)


def test_one_deal_has_no_interval() -> None:
    """Of a single deal nothing can be said but its points."""
    tally = tally_of((12, 36))
    assert Figure(-2.0, None) == tally.points.pairs[0, 1].figure
    assert not tally.is_precise(1e9)


def test_differences_are_taken_deal_by_deal() -> None:
    """Given deals that differ much and bots that always differ by a point a hand, then that is known exactly."""
    tally = tally_of((12, 24), (144, 156), (60, 72))
    assert Figure(-1.0, 0.0) == tally.points.pairs[0, 1].figure
    assert (tally.points.own[0].half_width or 0) > 10


def test_of_many_bots_each_is_compared_with_the_mean_of_the_others() -> None:
    """Three bots of 1, 2 and 6 points a hand."""
    tally = tally_of((12, 24, 72), (12, 24, 72))
    assert [-3.0, -1.5, 4.5] == [sample.mean for sample in tally.points.rest]
    assert {(0, 1): -1.0, (0, 2): -5.0, (1, 2): -4.0} == {
        pair: sample.mean for pair, sample in tally.points.pairs.items()
    }


def test_it_is_looked_at_fixed_deals_whether_the_intervals_are_small() -> None:
    """Given differences of one width, then it is told at every fiftieth deal, so that it does not depend on who plays."""
    tally, told = Tally(2), []
    for number in range(1, 2 * CHECK_DEALS + 1):
        tally.add(dealt(number, 12 + number % 2, 24))
        if tally.is_precise(0.02):
            told.append(number)
    assert [CHECK_DEALS, 2 * CHECK_DEALS] == told
    assert not tally.is_precise(0.001)


def test_percentiles_are_of_classes() -> None:
    """99 of a hundred moves at 1 ms, one at 50 ms."""
    times = {time_class(1_000_000): 99, time_class(50_000_000): 1}
    assert 1.0 == pytest.approx(percentile_ms(times, 0.99), rel=0.022)
    assert 50.0 == pytest.approx(percentile_ms(times, 0.999), rel=0.022)
    assert percentile_ms({}, 0.99) is None


@pytest.fixture(scope="module", params=[False, True], ids=["hands", "games"])
def report(request: pytest.FixtureRequest) -> Report:
    """Of an arena of three, with a name that must be escaped."""
    played = plan("rules", "random", "random", games=request.param, target=30)
    tally = Tally(3)
    for deal in (1, 2):
        tally.add(play_deal(played, deal))
    named = msgspec.structs.replace(
        played, bots=("rules", "random", "stdio:./bot <&> 'a \"very\" long command'")
    )
    return report_of(named, tally, 5)


def test_the_schema_is_that_of_reports() -> None:
    """docs/spec/arena.schema.json says what is written."""
    assert msgspec.json.schema(Report) == msgspec.json.decode(SCHEMA.read_bytes())


def test_a_report_keeps_to_its_schema(report: Report) -> None:
    """Results can be read by the schema alone, and come back as they were."""
    written = msgspec.json.encode(report)
    jsonschema_rs.validator_for(SCHEMA.read_text()).validate(msgspec.json.decode(written))
    assert report == msgspec.json.decode(written, type=Report)


def test_a_report_can_be_worked_out_again(report: Report) -> None:
    """Given the deals that a report lists, then mean and differences follow from them."""
    for place, bot in enumerate(report.bots):
        own = statistics.mean(points[place] / hands[place] for _, _, points, hands in report.each)
        assert own == pytest.approx(bot.points.mean)
    assert report.bots[0].points.mean - report.bots[1].points.mean == pytest.approx(
        report.pairs[0].points.mean
    )
    assert ("hands" == report.mode) == all(bot.won is None for bot in report.bots)


def test_the_table_can_be_read(report: Report) -> None:
    """A line for each bot and each pair, of one width, and how many deals of how many."""
    lines = list(table_lines(report))
    assert "2 of 5 deals of classic for 4" in lines[0]
    assert ["A rules", "B random", "C stdio:"] == [
        line[: len(name)] for line, name in zip(lines[3:6], ("A rules", "B random", "C stdio:"), strict=True)
    ]
    assert len({len(line) for line in lines[2:6]}) == 1
    assert 3 == sum(" less B " in line or " less C " in line for line in lines)


def test_the_picture_has_a_row_for_each_pair(report: Report) -> None:
    """It is well-formed, has an interval and a point each, the line of zero, and colours for dark paper."""
    root = ElementTree.fromstring(draw(report))
    kinds = [one.get("class") for one in root.iter(f"{SVG}line")]
    assert (1, 9) == (kinds.count("zero"), kinds.count("bar"))
    assert 3 == len(list(root.iter(f"{SVG}circle")))
    texts = [one.text or "" for one in root.iter(f"{SVG}text")]
    assert all(signed(pair.points) in texts for pair in report.pairs)
    assert "prefers-color-scheme: dark" in (root.findtext(f"{SVG}style") or "")
    width = float(root.get("width") or 0)
    places = [float(one.get(name) or 0) for one in root.iter(f"{SVG}line") for name in ("x1", "x2")]
    assert 0 < min(places) < max(places) < width


@pytest.mark.parametrize("points", [(12, 12), (12, 13), (1200, 12), (-1, 5000)])
def test_any_difference_fits_on_the_axis(points: tuple[int, int]) -> None:
    """Nought, small or large: all of it is inside the picture, zero too."""
    tally = tally_of(points, points[::-1], points)
    root = ElementTree.fromstring(draw(report_of(plan("rules", "random"), tally, 3)))
    lines = list(root.iter(f"{SVG}line"))
    assert 1 == [one.get("class") for one in lines].count("zero")
    assert all(0 < float(one.get("x1") or -1) < float(root.get("width") or 0) for one in lines)
