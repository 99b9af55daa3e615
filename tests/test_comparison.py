"""What a comparison says: recorded cases, ratios and their errors, the text, and other formats."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import attrs
import pytest
from comparisons import comparison
from hypothesis import given
from hypothesis import strategies as st

from ankerl_py.errors import ConfigError
from ankerl_py.renderers.comparison import CompareResult
from ankerl_py.results.comparison import Comparison, SlowerError
from ankerl_py.results.measurement import NO_OVERHEAD, Overhead, RawMeasurement
from ankerl_py.results.ratio import (
    ITSELF,
    NOTHING,
    Ratio,
    can_be_corrected,
    compare_values,
    exp,
    ratio_of,
)
from ankerl_py.testing import make_result
from strategies import labels
from support import check_case, departs, load_cases, number

# ---------------------------------------------------------------- recorded cases


def close(value):
    return value if value is None else pytest.approx(value, rel=1e-12, abs=1e-12)


def as_recorded(compared):
    entries = compared.entries
    return {
        "size": len(entries),
        "rounds": compared.rounds,
        "comparisons": compared.num_comparisons,
        "fastest": entries.index(compared.fastest) if entries else 0,
        "entries": [
            {
                "name": entry.name,
                "median_elapsed": close(entry.result.median("elapsed")),
                "relative": close(entry.relative),
                "relative_low": close(entry.ratio.low),
                "relative_high": close(entry.ratio.high),
                "tied_rounds": entry.ratio.tied_rounds,
                "is_significant": entry.is_significant,
            }
            for entry in entries
        ],
        "text": compared.text,
    }


def numbers(out):
    """The answer of a case with inf and nan as numbers."""
    entries = [
        {key: number(x) if key in ("relative", "relative_low") else x for key, x in entry.items()}
        for entry in out["entries"]
    ]
    return {**out, "entries": entries}


def replaced(*pairs):
    def better(text):
        for pattern, replacement in pairs:
            changed = re.sub(pattern, replacement, text, flags=re.MULTILINE)
            assert changed != text, pattern
            text = changed
        return text

    return better


def needs(rounds, there):
    return (
        r"\Z",
        f"    an interval needs {rounds} rounds or more that can be compared, not {there}\n",
    )


NO_INTERVAL = (r"95% CI \[1\.00 \.\. 1\.00\]", "no 95% CI")
NO_RATE = (r"\| {16}0\.00 (?=\|    0\.0%)", "|                   - ")

BETTER = {
    "cmp-055-pair-huge-ratio": replaced(
        (r"^\| relative \|  ", "|      relative |             "),
        (r"^\|-{9}:\|-{20}:", f"|{'-' * 14}:|{'-' * 31}:"),
        (r"^\|   100\.0% \|  ", "|        100.0% |             "),
        (r"^\|50,000,000\.0% \|", "| 50,000,000.0% | "),
    ),
    "cmp-056-pair-names": replaced(("`a ``b```", "`` a `b` ``"), (r"`c\|d`", r"`c\|d`")),
    "cmp-059-pair-hidden-columns": replaced(
        (r"^\| relative (?=\|)", ""), (r"^\|-{9}:(?=\|)", ""), (r"^\|   \d00\.0% (?=\|)", "")
    ),
    "cmp-064-three-too-few-rounds": replaced(NO_INTERVAL, needs(7, 4)),
    "cmp-065-three-all-equal": replaced(NO_INTERVAL, needs(7, 6)),
    "cmp-067-one-entry": replaced(
        (r"`alone` and [^|]*\Z", "`alone` is alone: there is nothing to compare it with\n")
    ),
    "cmp-069-all-zero-times": replaced(NO_RATE, needs(6, 0)),
    "cmp-070-rounds-shown": replaced((r"\b1234\b", "1,234")),
    "cmp-075-derived-too-few-rounds": replaced(
        (r"\|    100\.0% \.\. 100\.0%", "|                   -"), NO_INTERVAL, needs(6, 5)
    ),
    "cmp-077-derived-zero-rounds": replaced(
        (r"\| {16}0\.00 (?=\|    0\.0% \|      0\.00 \| `a`)", "|                   - "),
        (r"\|    100\.0% \.\. 100\.0%", "|                   -"),
        NO_INTERVAL,
        (r"\Z", "    up to 18 of 24 rounds dropped: the clock showed no time\n"),
        needs(7, 6),
    ),
}
"""What the texts of nanobench are changed to, so that nothing else can differ."""


@pytest.mark.parametrize("case", load_cases("compare", "text"))
def test_comparisons_print_as_those_of_nanobench(case):
    """Figures and text are the same, but for what is listed as better."""
    actual = as_recorded(comparison(case["in"]))
    expected = numbers(case["out"])
    check_case("compare", case, actual, expected)
    if departs("compare", case):
        text = expected["text"]
        # The first pattern of this one is the same as its replacement but for the backslash.
        better = (
            text.replace("`a ``b```", "`` a `b` ``").replace("`c|d`", r"`c\|d`")
            if case["id"] == "cmp-056-pair-names"
            else BETTER[case["id"]](text)
        )
        assert actual["text"] == better


# ---------------------------------------------------------------- ratios


positive = st.floats(1e-9, 1e9)


@given(st.lists(st.tuples(positive, positive), min_size=6, max_size=30))
def test_ratio_lies_in_its_interval(pairs):
    """The interval holds the median; the inverse is what comes out the other way round."""
    above, below = zip(*pairs, strict=True)
    ratio = compare_values(above, below, 0.95)
    assert ratio.low <= ratio.value <= ratio.high
    assert (ratio.compared_rounds, ratio.dropped_rounds) == (len(pairs), 0)
    inverse, other = ratio.inverse(), compare_values(below, above, 0.95)
    for field in ("value", "low", "high"):
        assert getattr(other, field) == pytest.approx(getattr(inverse, field), rel=1e-9)
    assert inverse.is_significant == ratio.is_significant
    assert compare_values(above, above, 0.95) == Ratio(1, 1, 1, len(pairs), len(pairs), 0)


def test_zeros_are_dropped_and_counted():
    """A time of 0 has no ratio to anything; how often that was is known."""
    ratio = compare_values([2.0] * 6 + [0.0, 1.0, 0.0], [1.0] * 6 + [1.0, 0.0, 0.0], 0.95)
    assert (ratio.value, ratio.compared_rounds, ratio.dropped_rounds) == (pytest.approx(2), 6, 3)
    assert ratio.is_significant
    nothing = compare_values([0.0], [1.0], 0.95)
    assert nothing == Ratio(None, None, None, 0, 0, 1)
    assert (nothing.is_significant, nothing.width_percent) == (False, math.inf)
    assert nothing.inverse() == nothing


def test_width_is_that_of_the_interval():
    """By how much the upper end exceeds the lower one, whatever the ratio is."""
    assert Ratio(2.0, 1.8, 2.25).width_percent == pytest.approx(25.0)
    assert Ratio(2.0, 1.8, 2.25).inverse().width_percent == pytest.approx(25.0)
    assert Ratio(0.0, 0.0, 0.0).width_percent == math.inf
    assert Ratio(0.0, 0.0, 1.0).inverse() == Ratio(math.inf, 1.0, math.inf)
    assert exp(1e9) == math.inf


def test_anytime_interval_is_wider():
    """Someone who looked meanwhile pays for it."""
    above = [1.0 + i / 100 for i in range(40)]
    usual = compare_values(above, [1.0] * 40, 0.95)
    anytime = compare_values(above, [1.0] * 40, 0.95, anytime=True)
    assert anytime.low < usual.low < usual.high < anytime.high
    assert anytime.value == usual.value


# ---------------------------------------------------------------- overhead


def result(*times_ns, overhead=NO_OVERHEAD, iterations=1, **settings):
    return make_result(
        [(round(ns * iterations), iterations) for ns in times_ns], overhead=overhead, **settings
    )


CALL = Overhead(per_iteration_ns=15.0, uncertainty_ns=0.5, kind="function")
RAW = [(115, 65), (117, 66), (113, 64), (116, 66), (114, 65), (118, 67)]


def pair(overhead=CALL, other=None, rows=RAW):
    a, b = zip(*rows, strict=True)
    return [
        result(*a, overhead=overhead, name="a"),
        result(*b, overhead=other or overhead, name="b"),
    ]


def test_overhead_is_subtracted_from_both():
    """Ratios are those of what is left; those of raw times are kept."""
    compared = CompareResult.of(pair())
    assert compared.corrected
    assert compared["b"].relative == pytest.approx(1.99036, rel=1e-5)
    assert compared["b"].raw_ratio.value == pytest.approx(115.5 / 65.5, rel=1e-2)
    assert compared.summary.splitlines()[2] == (
        "overhead: 15.00 ns/iteration subtracted from all alike; ratio of raw times 1.76x, "
        "95% CI [1.75 .. 1.77]"
    )


def test_doubts_about_the_overhead_widen_the_interval():
    """One that both share is wrong for both alike; two of them can be wrong in both directions."""
    exact = attrs.evolve(CALL, uncertainty_ns=0.0)
    widths = [
        Comparison.of(pair(*overheads))["b"].ratio.width_percent
        for overheads in ([exact], [CALL], [CALL, attrs.evolve(CALL, kind="other")])
    ]
    assert widths[0] == pytest.approx(0.0, abs=3.0)
    assert widths[0] < widths[1] < widths[2]
    ratio = Comparison.of(pair(CALL))["b"].ratio
    assert ratio.low == pytest.approx(min((a - 14.5) / (b - 14.5) for a, b in RAW))
    assert ratio.high == pytest.approx(max((a - 15.5) / (b - 15.5) for a, b in RAW))
    apart = Comparison.of(pair(CALL, attrs.evolve(CALL, kind="method")))["b"].ratio
    assert apart.low == pytest.approx(min((a - 15.5) / (b - 14.5) for a, b in RAW))
    assert apart.high == pytest.approx(max((a - 14.5) / (b - 15.5) for a, b in RAW))


@given(
    st.lists(st.tuples(st.integers(20, 60), st.integers(20, 60)), min_size=6, max_size=20),
    st.floats(0.0, 10.0),
    st.floats(0.0, 5.0),
)
def test_a_shared_overhead_never_makes_a_difference(rows, cost_ns, uncertainty_ns):
    """Whether one is faster for sure is the same with and without what both have in common."""
    overhead = Overhead(0.0, cost_ns, uncertainty_ns, "function")
    entry = Comparison.of(pair(overhead, rows=rows)).entries[1]
    assert entry.is_significant == entry.raw_ratio.is_significant
    assert entry.raw_ratio == Comparison.of(pair(NO_OVERHEAD, rows=rows)).entries[1].ratio


def test_hardly_anything_left_means_raw_times():
    """A ratio of remains means nothing, so it is that of raw times, and the text says so."""
    nearly_all = attrs.evolve(CALL, per_iteration_ns=153.6)
    results = [
        result(*[115] * 6, overhead=CALL, name="a"),
        result(*[154] * 6, overhead=nearly_all, name="b"),
    ]
    assert [can_be_corrected(each) for each in results] == [True, False]
    compared = CompareResult.of(results)
    assert not compared.corrected
    assert compared["b"].relative == compared["b"].raw_ratio.value == pytest.approx(115 / 154)
    assert compared.fastest is compared["a"]
    assert "ratios are those of raw times, harness and all: `b` can hardly be told" in compared.text
    assert "`b` (cannot be told from an empty op)" in compared.text


def test_overheads_of_several_kinds_are_listed():
    """It is stated what was subtracted from which."""
    other = Overhead(per_iteration_ns=4.0, kind="statement")
    assert (
        "overhead: 15.00, 4.00 ns/iteration subtracted; ratio of raw"
        in CompareResult.of(pair(CALL, other)).summary
    )
    three = [*pair(), result(*[50] * 6, overhead=CALL, name="c")]
    assert CompareResult.of(three).summary.endswith(
        "overhead: 15.00 ns/iteration subtracted from all alike\n"
    )


# ---------------------------------------------------------------- comparisons


def test_entries_can_be_found():
    """By iterating, by name, and the fastest and the baseline at once."""
    compared = Comparison.of(pair())
    assert [entry.name for entry in compared] == ["a", "b"]
    assert compared["b"] is compared.entries[1] is compared.fastest
    assert compared.baseline is compared["a"]
    assert compared["a"].ratio == compared["a"].raw_ratio == ITSELF
    assert [each.name for each in compared.results] == ["a", "b"]
    assert (len(compared), compared.rounds, compared.num_comparisons) == (2, 6, 1)
    with pytest.raises(KeyError, match="c"):
        compared["c"]


def test_ratios_are_per_unit():
    """An alternative that does twice as much in the same time is twice as fast."""
    results = [
        result(*[100] * 6, name="a", batch=3),
        result(*[100] * 6, name="b", batch=6),
        result(*[150] * 7, name="c", batch=3, unit="row"),
    ]
    compared = CompareResult.of(results)
    assert [entry.relative for entry in compared] == pytest.approx([1.0, 2.0, 2 / 3])
    assert compared.fastest is compared["b"]
    assert compared.lead.value == pytest.approx(2.0)
    assert "ns/unit |" in compared.text
    assert "| `c` (unit: row)\n" in compared.text
    assert compared.rounds == 6
    assert "ns/op |" in CompareResult.of(results[:2]).text


def test_winner_needs_a_lead():
    """The fastest of several is called so only if it is ahead of the second for sure."""
    a, b, c = (
        result(*times, name=name)
        for name, times in [("a", [100] * 8), ("b", [50, 51] * 4), ("c", [51, 50] * 4)]
    )
    assert "`b` and `c` are the two fastest of 3, and were not" in CompareResult.of([a, b, c]).text
    c = result(*[60] * 8, name="c")
    assert "`b` is fastest of 3, 1.19x ahead of `c`" in CompareResult.of([a, b, c]).text
    # By its median b is the fastest, but it loses all rounds but one against c.
    times = [(1, 1000), *((10 * i, 10 * i - 1) for i in range(1, 12))]
    lost = [result(*x, name=n) for n, x in zip("bc", zip(*times, strict=True), strict=True)]
    compared = CompareResult.of([result(*[900] * 12, name="a"), *lost])
    assert compared.fastest.name == "b"
    assert compared.lead.high < 1.0
    assert "are the two fastest of 3, and were not separated" in compared.text


def test_columns_are_those_that_all_can_fill():
    """A counter that one of them lacks is not shown; relative to the baseline is there anyway."""
    results = [counted(*[30] * 6, relative=True), counted(*[None] * 6, relative=True)]
    text = CompareResult.of(results).text
    assert "ins/op" not in text
    assert text.count("| relative |") == 1
    assert "ins/op" in CompareResult.of(results[:1] * 2).text


def test_confidence_is_shared_among_comparisons():
    """More alternatives, more rounds for an interval."""
    results = [result(*[10 + i] * 6, name=str(i)) for i in range(3)]
    assert Comparison.of(results[:2])["1"].is_significant
    assert Comparison.of(results)["1"].ratio.low is None
    assert Comparison.of(results).confidence == pytest.approx(0.975)
    assert Comparison.of(results).widest_percent == math.inf
    assert Comparison.of(results[:2]).widest_percent == pytest.approx(0.0, abs=1e-9)


def counted(*instructions, **settings):
    return make_result(
        [RawMeasurement(100, 1, {} if n is None else {"instructions": n}) for n in instructions],
        **settings,
    )


def test_other_measures():
    """Only counts of the same rounds are compared."""
    compared = Comparison.of(
        [counted(*[30] * 8), counted(*[20] * 8), counted(*[10] * 7, None), counted(*[None] * 8)]
    )
    values = [ratio.value for ratio in compared.ratios("instructions")]
    assert values == [1.0, pytest.approx(1.5), None, None]
    assert compared.ratios("elapsed") == tuple(entry.ratio for entry in compared)
    assert compared.ratios("branchmisses") == (NOTHING,) * 4
    with pytest.raises(ConfigError, match="'ticks' is no measure - there are elapsed"):
        compared.ratios("ticks")


def test_empty_comparisons():
    """Nothing is compared with nothing, without an error."""
    empty = CompareResult.of([])
    assert (empty.text, str(empty), empty.rounds, len(empty)) == ("", "", 0, 0)
    assert empty.summary == "nothing could be measured\n"
    assert (empty.fastest, empty.baseline, empty.lead) == (None, None, NOTHING)
    assert (empty.render("csv"), empty.render("json")) == ("\n", "[]\n")
    assert empty.render("html").startswith("<table>")
    assert empty.render("rst")
    empty.raise_if_slower(0)


# ---------------------------------------------------------------- in tests and CI


SLOWER = [(100, 110), (101, 112), (99, 110), (100, 111), (102, 112), (100, 110)]


def test_raise_if_slower():
    """Slower than allowed for sure is an error that says by how much."""
    compared = Comparison.of(pair(NO_OVERHEAD, rows=SLOWER))
    compared.raise_if_slower(10)
    with pytest.raises(SlowerError) as caught:
        compared.raise_if_slower(5)
    assert (
        str(caught.value) == "'b' takes 10.4% more time than 'a', at least 9.8% - allowed: 5% more"
    )
    with pytest.raises(AssertionError):
        compared.raise_if_slower(0)
    Comparison.of(pair(NO_OVERHEAD, rows=RAW)).raise_if_slower(0)


def test_raise_if_slower_names_all():
    """Several at once, and what could not be measured, too."""
    results = [
        result(*[100] * 8, name="a"),
        result(*[200] * 8, name="b"),
        result(*[90] * 8, name="c"),
        make_result(name="d", failure="overflow"),
        result(*[300] * 8, name="e"),
    ]
    with pytest.raises(SlowerError) as caught:
        Comparison.of(results).raise_if_slower(1.5)
    assert str(caught.value) == (
        "'b' takes 100% more time than 'a', at least 100%; 'd' could not be compared: overflow; "
        "'e' takes 200% more time than 'a', at least 200% - allowed: 1.5% more"
    )
    with pytest.raises(SlowerError, match="'b' could not be compared, the rounds are too few"):
        Comparison.of(pair(NO_OVERHEAD, rows=SLOWER[:3])).raise_if_slower(5)


@pytest.mark.parametrize("percent", [-1, math.nan, math.inf, True, "5", None])
def test_raise_if_slower_checks_its_limit(percent):
    """A limit that allows anything would never fail."""
    with pytest.raises(ConfigError, match="percent: "):
        Comparison.of(pair()).raise_if_slower(percent)


# ---------------------------------------------------------------- other formats


def test_comparisons_have_all_formats():
    """Programs get raw values, people tables."""
    compared = CompareResult.of(pair())
    (first, second) = csv.DictReader(io.StringIO(compared.render("csv"), newline=""))
    assert (first["name"], second["name"]) == ("a", "b")
    assert float(second["relative"]) == compared["b"].relative
    assert float(second["raw_high"]) == compared["b"].raw_ratio.high
    record = json.loads(compared.render("json"))[1]
    assert (record["low"], record["significant"]) == (compared["b"].ratio.low, True)
    assert (record["rounds"], record["tied"], record["dropped"]) == (6, 0, 0)
    assert compared._repr_markdown_() == compared.render() == compared.text[1:]
    html = compared._repr_html_()
    assert html == compared.render("html")
    assert "<code>b</code>" in html
    assert "<pre>  Summary\n" in html
    assert compared.render("rst").count("\n") == 6
    assert repr(compared) == "<CompareResult of 'a', 'b': 6 rounds>"
    with pytest.raises(ConfigError, match="format: 'word' is not known"):
        compared.render("word")


@given(labels(), labels())
def test_tables_stay_tables_whatever_the_names(name, title):
    """One line for each row, the same number of cells in each, and nothing breaks a format."""
    results = [result(*[10] * 6, name=name, title=title), result(*[11] * 6, name="b", title=title)]
    compared = CompareResult.of(results)
    lines = compared.text.split("\n")
    assert lines[5:7] == ["", "  Summary"]
    cells = {len(re.findall(r"(?<!\\)\|", line)) for line in lines[1:5]}
    assert cells == {7}
    assert next(csv.DictReader(io.StringIO(compared.render("csv"), newline="")))["name"] == name
    assert json.loads(compared.render("json"))[0]["name"] == name
    assert compared.render("html").count("<tr>") == 3
    for text_format in ("github", "latex", "tsv"):
        assert compared.render(text_format)


def test_ratio_of_another_measure_has_no_overhead():
    """What is known of times says nothing of counts."""
    results = [
        attrs.evolve(counted(*[30] * 6), overhead=CALL),
        attrs.evolve(counted(*[20] * 6), overhead=CALL),
    ]
    found = Comparison.of(results).ratios("instructions")[1]
    assert found.width_percent == pytest.approx(0.0, abs=1e-9)
    ratio = ratio_of(*results, lambda a, b: compare_values(a, b, 0.95), raw=True)
    assert ratio.width_percent == pytest.approx(0.0, abs=1e-9)
