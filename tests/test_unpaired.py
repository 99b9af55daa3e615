"""Two runs compared with each other: what belongs together, what has changed, what is said."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from ankerl_py.comparing import compare_results
from ankerl_py.errors import ConfigError, ConfigTypeError
from ankerl_py.renderers.runs import CompareRuns
from ankerl_py.results.comparison import SlowerError
from ankerl_py.results.measure import Measure
from ankerl_py.results.measurement import Overhead, RawMeasurement
from ankerl_py.results.ratio import NOTHING
from ankerl_py.results.unpaired import RunsComparison
from ankerl_py.testing import make_result


def result(name, *times_ns, **settings):
    return make_result([(ns * 10, 10) for ns in times_ns], name=name, **settings)


FAST = (100, 101, 99, 102, 98)
SLOW = (120, 121, 119, 122, 118)


def runs():
    """Something slower, something faster, something neither, and something in one run only."""
    old = [result("a", *FAST), result("b", *SLOW), result("c", *FAST), result("gone", 1)]
    new = [result("c", *FAST), result("b", *FAST), result("a", *SLOW), result("new", 1)]
    return old, new


def test_changes_are_found():
    """Below 1 is slower; results belong together by name, whatever their order."""
    old, new = runs()
    compared = compare_results(old, new)
    assert [change.name for change in compared] == ["c", "b", "a"]
    assert [change.ratio.value for change in compared] == pytest.approx([1.0, 1.2, 1 / 1.2])
    assert [change.name for change in compared.slower] == ["a"]
    assert [change.name for change in compared.faster] == ["b"]
    assert (compared.only_old, compared.only_new) == ((old[3],), (new[3],))
    assert compared.confidence == pytest.approx(1 - 0.05 / 3)
    assert (len(compared), compared.measure) == (3, Measure.ELAPSED)
    change = compared.changes[2]
    # With 5 and 5 epochs and this confidence, one difference is left out on each side.
    ratios = sorted(a / b for a in FAST for b in SLOW)
    assert (change.ratio.low, change.ratio.high) == pytest.approx((ratios[1], ratios[-2]))
    assert (change.title, change.ratio.compared_rounds) == ("benchmark", 5)


def test_results_belong_together_by_title_name_unit_and_size():
    """And of several such ones the first with the first, the second with the second."""
    settings = [{}, {"title": "t"}, {"unit": "byte"}, {"complexity_n": 8}, {}]
    old = [result("a", 100 + i, **each) for i, each in enumerate(settings)]
    new = [result("a", 200 + i, **each) for i, each in enumerate(settings)]
    compared = compare_results(old, reversed(new))
    assert [(c.old, c.new) for c in compared] == list(
        zip([old[0], old[3], old[2], old[1], old[4]], reversed(new), strict=True)
    )


def test_ratios_are_per_unit():
    """A larger batch in the same time is faster."""
    compared = compare_results([result("a", *FAST)], [result("a", *FAST, batch=2)])
    assert compared.changes[0].ratio.value == pytest.approx(2.0)


def test_too_few_epochs_have_no_interval():
    """Then nothing is sure, however large the difference is."""
    (change,) = compare_results([result("a", 1, 1, 1)], [result("a", 100, 100, 100)])
    assert (change.ratio.value, change.ratio.low) == (pytest.approx(0.01), None)
    assert not change.is_slower
    assert not change.is_faster
    (change,) = compare_results([result("a", 0, 0)], [result("a", 5, 0)])
    assert (change.ratio.value, change.ratio.dropped_rounds) == (None, 3)


def test_failed_results_have_no_ratio():
    """What failed has no epochs to compare."""
    failed = make_result(name="a", failure="overflow")
    for old, new in ((failed, result("a", 1)), (result("a", 1), failed)):
        assert compare_results([old], [new]).changes[0].ratio == NOTHING


def test_overheads_of_two_runs_are_two():
    """Even if they are equal: they were measured at different times, and may be wrong both ways."""
    overhead = Overhead(0.0, 50.0, 5.0, "function")
    (change,) = compare_results(
        [result("a", *FAST, overhead=overhead)], [result("a", *FAST, overhead=overhead)]
    )
    assert change.corrected
    assert change.ratio.low < 45 / 55
    assert change.ratio.high > 55 / 45


def test_hardly_anything_left_means_raw_times():
    """As in a paired comparison."""
    overhead = Overhead(0.0, 97.0, 5.0, "function")
    compared = compare_results(
        [result("a", *FAST, overhead=overhead)], [result("a", *SLOW, overhead=overhead)]
    )
    assert not compared.changes[0].corrected
    assert compared.changes[0].ratio.value == pytest.approx(1 / 1.2)


def test_other_measures():
    """Instructions tell of changes that times hide."""
    old, new = (
        [make_result([RawMeasurement(100, 1, {"instructions": n + i}) for i in range(5)], name="a")]
        for n in (300, 330)
    )
    compared = compare_results(old, new, measure="instructions")
    assert compared.changes[0].is_slower
    assert compared.changes[0].ratio.value == pytest.approx(0.91, abs=0.01)
    assert "old instructions/unit" in str(compared)
    assert "302.00" in str(compared)
    assert compare_results(old, new).changes[0].ratio.value == 1.0
    with pytest.raises(ConfigError, match="'ticks' is no measure - there are elapsed"):
        compare_results(old, new, measure="ticks")


def test_raise_if_slower():
    """Slower than allowed for sure is an error, and so is failing where it did not before."""
    old, new = runs()
    compare_results(old, new).raise_if_slower(25)
    with pytest.raises(SlowerError) as caught:
        compare_results(old, new).raise_if_slower(5)
    assert str(caught.value) == "'a' takes 20% more, at least 16.7% - allowed: 5% more"
    failed = [make_result(name="a", failure="overflow")]
    with pytest.raises(SlowerError, match="'a' fails: overflow - allowed: 5% more"):
        compare_results(old, failed).raise_if_slower(5)
    compare_results(failed, failed).raise_if_slower(5)
    compare_results(failed, old).raise_if_slower(5)
    with pytest.raises(ConfigError, match="percent: -1"):
        compare_results(old, new).raise_if_slower(-1)


def test_equal_runs_do_not_differ():
    """Of 40 benchmarks that did not change, one looks as if it did in 5 % of all runs or less."""
    rng = np.random.default_rng(5)

    def run():
        return [
            make_result(
                [(round(ns), 1) for ns in 1e6 * (1 + rng.exponential(0.02, 11))], name=str(i)
            )
            for i in range(40)
        ]

    wrong = 0
    for _ in range(40):
        compared = RunsComparison.of(run(), run())
        wrong += bool(compared.slower or compared.faster)
    assert wrong <= 5


# ---------------------------------------------------------------- how it is shown


def test_runs_print_as_a_table():
    """With what changed, and what is in one run only."""
    compared = compare_results(*runs())
    assert (
        str(compared)
        == """
| relative |              95% CI |   old ns/unit |   new ns/unit | benchmark
|---------:|--------------------:|--------------:|--------------:|:----------
|   100.0% |     97.0% .. 103.1% |        100.00 |        100.00 | `c`
|   120.0% |    116.7% .. 123.5% |        120.00 |        100.00 | `b` (faster)
|    83.3% |      81.0% .. 85.7% |        100.00 |        120.00 | `a` (slower)

  Summary
    of 3 in both runs: 1 slower, 1 faster, 1 not told apart
    intervals from the ranks of the epochs, corrected for 3 comparisons; the runs are not paired
    only in the old run: `gone`
    only in the new run: `new`
"""
    )
    assert repr(compared) == "<CompareRuns: 1 slower, 1 faster, 1 not told apart>"
    assert compared._repr_markdown_() == compared.render() == str(compared)[1:]
    assert compared._repr_html_() == compared.render("html")
    assert compared.summary.startswith("of 3 in both runs: ")


def test_runs_have_all_formats():
    """Programs get raw values."""
    compared = compare_results(*runs())
    rows = list(csv.DictReader(io.StringIO(compared.render("csv"))))
    assert [row["slower"] for row in rows] == ["False", "False", "True"]
    record = json.loads(compared.render("json"))[2]
    assert (record["name"], record["old"], record["new"]) == ("a", 1e-7, 1.2e-7)
    assert compared.render("html").count("<tr>") == 4
    empty = compare_results([], [])
    assert str(empty).count("\n") == 7
    assert empty.render("json") == "[]\n"


def test_titles_are_shown_if_there_are_several():
    """Names may be the same in two tables, and a table's title may be missing in one run."""
    old = [result("a", 1, title="t"), result("a", 0, title="u|v")]
    text = str(compare_results(old, old))
    assert "| t: `a`\n" in text
    assert "| u\\|v: `a`\n" in text
    raw = [result("a", *FAST, overhead=Overhead(0.0, 97.0, 5.0, "function"))]
    assert "| `a` (raw times: can hardly be told from an empty op)\n" in str(
        compare_results(raw, raw)
    )
    failed = [make_result(name="a", failure="overflow")]
    assert "|        - |                   - |             - |             - | `a`\n" in str(
        compare_results(failed, failed)
    )


# ---------------------------------------------------------------- what is compared


def test_paths_are_loaded():
    """A path stands for what is saved there."""
    saved = {"old.json": runs()[0], Path("new.json"): runs()[1]}
    compared = compare_results("old.json", Path("new.json"), load=saved.__getitem__)
    assert compared == compare_results(*runs())
    assert isinstance(compared, CompareRuns)
    with pytest.raises(ConfigTypeError, match=r"old: 'old\.json' is a path, but nothing is given"):
        compare_results("old.json", [])


@pytest.mark.parametrize(
    ("given", "message"),
    [(5, "new: 5 is no series of results"), ([1], "new: 1 is not a Result"), (b"x", "new: 120 is")],
)
def test_other_things_are_refused(given, message):
    """The message says which of the two it is."""
    with pytest.raises(ConfigTypeError, match=message):
        compare_results([], given)
