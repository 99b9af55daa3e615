"""nanobench's table: recorded cases, columns, remarks, whole tables in Markdown and HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from io import StringIO

import pytest
from comparisons import comparison
from hypothesis import example, given
from hypothesis import strategies as st

from ankerl_py.config import Column, Config
from ankerl_py.environment import Environment
from ankerl_py.errors import ConfigError
from ankerl_py.renderers.cells import code_span, display_width, plain_text, visible_text
from ankerl_py.renderers.columns import (
    TableShape,
    available_measures,
    table_columns,
    table_rows,
)
from ankerl_py.renderers.markdown import TableWriter, header, html_table, markdown_table, row
from ankerl_py.renderers.remarks import Code, remark
from ankerl_py.results.measure import COUNTER_MEASURES, Measure
from ankerl_py.results.measurement import Overhead, RawMeasurement
from ankerl_py.testing import make_result
from strategies import labels, raw_measurements
from support import check_case, departs, load_cases

SETTINGS = {
    "complexityN": "complexity_n",
    "performanceCounters": "performance_counters",
    "minEpochIterations": "min_epoch_iterations",
    "epochIterations": "epoch_iterations",
    "timeUnit": "time_unit",
}


class Replay:
    """A benchmark object of a recorded case: it gets settings and measurements."""

    def __init__(self, stream):
        self.config = Config()
        self.results = []
        self.stream = stream

    def apply(self, settings, streams):
        for name, *values in settings:
            config = self.config
            before = (config.title, config.unit)
            changes = {}
            if name == "output":
                self.stream = None if values[0] is None else streams[values[0]]
            elif name == "context":
                changes = {"context_items": (*config.context_items, tuple(values))}
            elif name == "clearContext":
                changes = {"context_items": ()}
            elif name == "contextColumn":
                changes = {"context_columns": (*config.context_columns, *values)}
            elif name == "clearContextColumns":
                changes = {"context_columns": ()}
            elif name == "hideColumn":
                changes = {"hidden_columns": config.hidden_columns | {Column.parse(values[0])}}
            elif name == "showColumn":
                changes = {"hidden_columns": config.hidden_columns - {Column.parse(values[0])}}
            elif name == "complexityN":
                changes = {"complexity_n": values[0] or None}  # not set is None here
            else:
                value = values[0] if len(values) == 1 else tuple(values)
                changes = {SETTINGS.get(name, name): value}
            self.config = config.replace(**changes)
            if before != (self.config.title, self.config.unit):
                self.results.clear()

    def run(self, writer, step, streams):
        self.apply(step.get("set", []), streams)
        epochs = [
            RawMeasurement(
                int(epoch["elapsed_ns"]),
                int(epoch["iterations"]),
                {key: int(value) for key, value in epoch.get("counters", {}).items()},
            )
            for epoch in step["epochs"]
        ]
        self.config = self.config.replace(name=step["name"], epochs=len(epochs) or 11)
        result = make_result(epochs, config=self.config, failure=step.get("error"))
        baseline = next((each for each in self.results if not each.overflowed), None)
        environment = Environment(step.get("env", {}))
        writer.write_result(
            self.stream, result, baseline, suppress_warnings=environment.suppress_warnings
        )
        self.results.append(result)


def replay(case):
    streams = [StringIO() for _ in range(case["in"]["streams"])]
    benches = [Replay(streams[0]) for _ in range(case["in"]["benches"])]
    writer = TableWriter()
    for step in case["in"]["steps"]:
        if step["op"] == "set":
            benches[step["bench"]].apply(step["set"], streams)
        elif step["op"] == "run":
            benches[step["bench"]].run(writer, step, streams)
        elif step["op"] == "compare":
            writer.write_text(streams[step["stream"]], comparison(step["compare"]).text)
        elif step["op"] == "write":
            streams[step["stream"]].write(step["text"])
    return {
        "streams": [stream.getvalue() for stream in streams],
        "num_results": [len(bench.results) for bench in benches],
    }


def replace(*pairs):
    def edit(text):
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new)
        return text

    return edit


OPS = "        0.00 |    0.0%"
NO_RATE = (
    "|                0.00 |                0.00 |",
    "|                0.00 |                   - |",
)
SETTING = ("`minEpochIterations`", "`min_epoch_iterations`")
SPECIAL_TITLE = r"a title with \| and \`ticks\`"
LONG_UNIT = "a_rather_long_unit_name_for_a_column"


BOOM = ":boom: `beta` (iterations overflow. Maybe your code got optimized away?)"


def one_header(text):
    """Leave the first header alone, and give the overflowed run the columns under it."""
    head, separator, alpha, _, _, beta, _, _, gamma = filter(None, text.split("\n"))
    missing = "".join(f"|{'-':>{len(cell) - 1}} " for cell in separator.split("|")[1:-1])
    assert beta.endswith(f"- | {BOOM}")
    return "\n".join(["", head, separator, alpha, f"{missing}| {BOOM}", gamma, ""])


# What the departures of table.json are instead, as a change of nanobench's text.
BETTER = {
    "table-022-relative-zero-time": replace(NO_RATE, ("|     0.0% |", "|        - |")),
    "table-023-relative-zero-baseline": replace(NO_RATE),
    "table-036-context-unicode": replace(
        ("|  größe |", "|    größe |"), ("|   naïve |", "|    naïve |")
    ),
    "table-038-context-pipe": replace(("|      a|b |", r"|     a\|b |")),
    "table-053-title-unicode": replace(("-" * 18 + "\n", "-" * 16 + "\n")),
    "table-054-title-special": replace(
        ("a title with | and `ticks`", SPECIAL_TITLE),
        ("|:" + "-" * 27 + "\n", "|:" + "-" * 30 + "\n"),
    ),
    "table-056-unstable": replace(SETTING),
    "table-057-unstable-suppressed": replace(SETTING),
    "table-058-unstable-many-iterations": replace(
        (
            "`minEpochIterations` to e.g. 12345670",
            "`epochs` to e.g. 12, or look for a quieter machine",
        ),
    ),
    "table-059-unstable-one-iteration": replace(SETTING),
    "table-060-unstable-fractional-iterations": replace(SETTING),
    "table-062-unstable-or-not": replace(SETTING),
    "table-063-unstable-name": replace(SETTING, ("`a ``tick```", "`` a `tick` ``")),
    "table-064-infinite-error": replace(SETTING),
    "table-067-boom-between-counters": one_header,
    "table-068-boom-all-columns": replace(("`x ``y```", "`` x `y` ``")),
    "table-069-boom-baseline": replace(
        ("|     0.0% |               49.86", "|   100.0% |               49.86"),
        ("|     0.0% |               99.99", "|    49.9% |               99.99"),
    ),
    "table-071-name": replace(("`with ``backticks```", "`` with `backticks` ``")),
    "table-072-name": replace(("`pipe | pipe`", r"`pipe \| pipe`")),
    "table-074-name": replace(("`two\nlines`", r"`two\nlines`")),
    "table-088-one-epoch": replace(("|    0.0% |", "|       - |")),
    "table-092-zero-time": replace(NO_RATE),
    "table-100-everything": replace(SETTING),
    "table-101-unit-unicode": replace(
        (" ns/µop |", "  ns/µop |"),
        *((f" {title} |", f"  {title} |") for title in ("µop/s", "ins/µop", "cyc/µop", "bra/µop")),
    ),
    "table-102-unit-long": lambda text: LONG_TABLE,
}

LONG_TABLE = """
| ns/a_rather_long_unit_name_for_a_column | a_rather_long_unit_name_for_a_column/s |    err% \
| ins/a_rather_long_unit_name_for_a_column | cyc/a_rather_long_unit_name_for_a_column |    IPC \
| bra/a_rather_long_unit_name_for_a_column |   miss% |     total | benchmark
|----------------------------------------:|---------------------------------------:|--------:\
|-----------------------------------------:|-----------------------------------------:|-------:\
|-----------------------------------------:|--------:|----------:|:----------
|                                  110.49 |                           9,050,589.79 |    0.6% \
|                                   587.48 |                                   345.57 |  1.700 \
|                                    97.91 |    1.0% |      0.04 | `alpha`
"""

REFUSED = {"table-052-title-empty", "table-070-name", "table-095-batch-zero"}


@pytest.mark.parametrize("case", load_cases("table"))
def test_tables_are_those_of_nanobench(case):
    """Tables are nanobench's, character for character, but for what is listed as better."""
    if case["id"] in REFUSED:
        assert departs("table", case)
        with pytest.raises(ConfigError):
            replay(case)
        return
    actual = replay(case)
    check_case("table", case, actual, case["out"])
    if case["id"] in BETTER:
        better = [BETTER[case["id"]](text) for text in case["out"]["streams"]]
        assert actual == {**case["out"], "streams": better}


def test_each_departure_is_checked_itself():
    """There is no departure of which nothing is known but that it differs."""
    listed = {param.id for param in load_cases("table") if departs("table", param.values[0])}
    assert listed == set(BETTER) | REFUSED


STABLE = [(1_000_000, 1000)] * 11
UNSTABLE = [(8_000, 100), (10_000, 100), (12_000, 100)]
EMPTY_LIKE = Overhead(per_iteration_ns=20.0, uncertainty_ns=0.5, kind="function")
UNSTABLE_NOTE = "Unstable with ~100.0 iters. Increase min_epoch_iterations to e.g. 1000"


def columns(result, baseline=None):
    """Key and text of each column."""
    shape = TableShape.of(result)
    return {column.key: column.text(result, baseline) for column in shape.columns}


def test_columns_give_value_and_text_unescaped():
    """Other renderers take values or texts from columns and escape in their own way."""
    config = Config(relative=True, complexity_n=1e6, unit="a|b", batch=4, time_unit="us").replace(
        context_items=[("x|y", "<1>")], context_columns=["x|y", "unset"]
    )
    result = make_result([(5_000_000, 1000)], config=config)
    baseline = make_result([(6_000_000, 1000)], config=config.replace(batch=2))
    shape = TableShape.of(result)
    assert [
        (column.key, column.title, column.value(result, baseline), column.text(result, baseline))
        for column in shape.columns
    ] == [
        (Column.RELATIVE, "relative", pytest.approx(240.0), "240.0%"),
        (Column.COMPLEXITY_N, "complexityN", 1e6, "1,000,000"),
        ("x|y", "x|y", "<1>", "<1>"),
        ("unset", "unset", "", ""),
        (Column.TIME_PER_UNIT, "us/a|b", pytest.approx(1.25), "1.25"),
        (Column.UNIT_PER_SECOND, "a|b/s", pytest.approx(8e5), "800,000.00"),
        (Column.ERROR, "err%", None, None),
        (Column.TOTAL, "total", 0.005, "0.01"),
    ]


@given(st.sets(st.sampled_from(COUNTER_MEASURES)))
def test_columns_of_counters_depend_on_availability_only(measures):
    """Whether counters counted nothing or much, the columns are the same."""
    tables = [
        TableShape.of(make_result([RawMeasurement(1000, 10, dict.fromkeys(measures, count))]))
        for count in (0, 10**6)
    ]
    assert tables[0] == tables[1]
    branches = Measure.BRANCHINSTRUCTIONS in measures
    both = {Measure.INSTRUCTIONS, Measure.CPUCYCLES} <= measures
    assert [each.key for each in tables[0].columns if each.key in COUNTERS] == [
        key
        for key, expected in zip(
            COUNTERS,
            [
                Measure.INSTRUCTIONS in measures,
                Measure.CPUCYCLES in measures,
                both,
                branches,
                branches and Measure.BRANCHMISSES in measures,
            ],
            strict=True,
        )
        if expected
    ]


def test_branch_misses_need_branches():
    """A part of an unknown whole is not shown."""
    with_misses = table_columns(Config(), {Measure.ELAPSED, Measure.BRANCHMISSES})
    assert with_misses == table_columns(Config(), {Measure.ELAPSED})


COUNTERS = [
    Column.INSTRUCTIONS,
    Column.CYCLES,
    Column.IPC,
    Column.BRANCHES,
    Column.BRANCH_MISSES,
]


def test_available_measures_are_those_recorded():
    """A counter that counted 0 is available, one that was not there is not."""
    result = make_result([RawMeasurement(1000, 10, {Measure.INSTRUCTIONS: 0})])
    assert available_measures(result) == {
        Measure.ELAPSED,
        Measure.ITERATIONS,
        Measure.INSTRUCTIONS,
    }
    assert available_measures(make_result()) == frozenset()


@given(st.sets(st.sampled_from(Column)))
def test_hidden_columns_are_left_out_and_nothing_else(hidden):
    """Hiding a column takes away that one, whichever others there are."""
    config = Config(relative=True, complexity_n=7, context_columns=["total"])
    shown = table_columns(config.replace(hidden_columns=hidden), Measure)
    assert shown == tuple(
        column
        for column in table_columns(config, Measure)
        if not isinstance(column.key, Column) or column.key not in hidden
    )


def test_total_is_raw_time():
    """The total says how long one waited, so nothing is subtracted from it."""
    overhead = Overhead(per_iteration_ns=500.0, kind="function")
    result = make_result([(2_000_000_000, 2_000_000)] * 3, overhead=overhead)
    assert columns(result)[Column.TIME_PER_UNIT] == "500.00"
    assert columns(result)[Column.TOTAL] == "6.00"


def test_relative_without_other_baseline_is_100_percent():
    """The baseline itself is 100 %, whether it is given or not, and even if it took no time."""
    for elapsed_ns in (0, 1000):
        result = make_result([(elapsed_ns, 10)], relative=True)
        assert columns(result)[Column.RELATIVE] == "100.0%"
        assert columns(result, result)[Column.RELATIVE] == "100.0%"


def test_results_at_the_noise_floor_have_no_derived_figures():
    """What cannot be told from an empty op has no rate, no error, no ratio, nor is it a base."""
    noise = make_result(
        [(20_010, 1000), (20_000, 1000), (90_000, 1000)], relative=True, overhead=EMPTY_LIKE
    )
    real = make_result([(30_000, 1000)], relative=True, overhead=EMPTY_LIKE)
    assert columns(noise, real) == {
        Column.RELATIVE: None,
        Column.TIME_PER_UNIT: "0.01",
        Column.UNIT_PER_SECOND: None,
        Column.ERROR: None,
        Column.TOTAL: "0.00",
    }
    assert columns(real, noise)[Column.RELATIVE] is None
    assert columns(real, real)[Column.RELATIVE] == "100.0%"


def test_row_at_the_noise_floor_says_so():
    """A row that cannot be told from an empty op never shows a bare 0."""
    result = make_result([(20_000, 1000)] * 3, name="nop", overhead=EMPTY_LIKE)
    assert row(TableShape.of(result), result, None) == (
        "|                0.00 |                   - |       - |      0.00 "
        "| `nop` (cannot be told from an empty op)\n"
    )


def note(result, **options):
    said = remark(result, **options)
    return said.marker, "".join(f"`{p}`" if isinstance(p, Code) else p for p in said.note)


LIMIT_NS = 100_000_000


@pytest.mark.parametrize(
    ("epochs", "settings", "advice"),
    [
        (UNSTABLE, {}, "`min_epoch_iterations` to e.g. 1000"),
        ([(10, 1), (30, 2), (40, 2)], {}, "`min_epoch_iterations` to e.g. 17"),
        (UNSTABLE, {"epoch_iterations": 100}, "`epoch_iterations` to e.g. 1000"),
        (
            [(1000, 2**64 - 1), (2000, 2**64 - 1)],
            {"epoch_iterations": 2**64 - 1},
            f"`epoch_iterations` to e.g. {2**64 - 1}",
        ),
        # One iteration takes longer than an epoch should.
        (
            [(LIMIT_NS, 1), (2 * LIMIT_NS, 1), (3 * LIMIT_NS, 1)],
            {},
            EPOCHS := "`epochs` to e.g. 12",
        ),
        ([(LIMIT_NS, 1), (2 * LIMIT_NS, 1), (3 * LIMIT_NS, 1)], {"epoch_iterations": 1}, EPOCHS),
        # The median epoch just reaches two thirds of the limit, or just does not.
        ([(66_666_667, 9), (50_000_000, 9), (90_000_000, 9)], {}, EPOCHS),
        (
            [(60_000_000, 9), (40_000_000, 9), (80_000_000, 9)],
            {"max_epoch_time_ns": 90_000_000},
            EPOCHS,
        ),
        (
            [(50_000_000, 9), (90_000_000, 9), (66_666_666, 9)],
            {},
            "`min_epoch_iterations` to e.g. 90",
        ),
        # A long least time wins over the limit, as in the schedule.
        (
            [(50_000_000, 9), (70_000_000, 9), (90_000_000, 9)],
            {"min_epoch_time_ns": 2 * LIMIT_NS},
            "`min_epoch_iterations` to e.g. 90",
        ),
        (UNSTABLE, {"min_epoch_time_ns": 0, "max_epoch_time_ns": 10_000}, EPOCHS),
        # The clock is too coarse for such short epochs.
        ([(0, 2), (0, 2), (10, 2), (20, 2)], {}, "`min_epoch_iterations` to e.g. 20"),
    ],
)
def test_unstable_results_get_advice_that_can_help(epochs, settings, advice):
    """More iterations are suggested where they make epochs longer, otherwise more epochs."""
    result = make_result(epochs, **settings)
    marker, text = note(result)
    assert marker == "wavy_dash"
    found = re.fullmatch(
        r"Unstable with ~([0-9,]+\.[0-9]) iters\. Increase (`[a-z_]+` to e\.g\. [0-9]+)(.*)", text
    )
    assert found[2] == advice
    assert found[3] == (", or look for a quieter machine" if "`epochs`" in advice else "")
    mean = sum(iterations for _, iterations in epochs) / len(epochs)
    assert float(found[1].replace(",", "")) == pytest.approx(mean, abs=0.05)


def test_infinite_error_after_correction_is_not_cured_by_iterations():
    """If the correction made half of the epochs 0, longer epochs have the same error."""
    overhead = Overhead(per_iteration_ns=20.0, uncertainty_ns=0.0, kind="function")
    result = make_result([(200, 10), (200, 10), (250, 10), (260, 10)], overhead=overhead)
    assert result.median_absolute_percent_error("elapsed") == float("inf")
    assert note(result) == (
        "wavy_dash",
        "Unstable with ~10.0 iters. Increase `epochs` to e.g. 16, or look for a quieter machine",
    )


def test_five_percent_error_is_unstable():
    """From 5 % on a row is marked, if warnings are not suppressed; below, it is not."""
    seconds = 1_000_000_000
    exact = make_result([(n * seconds, 1) for n in (16, 18, 19, 20, 20)])
    assert exact.median_absolute_percent_error("elapsed") == 0.05
    below = make_result([(n * seconds + (n == 19), 1) for n in (16, 18, 19, 20, 20)])
    assert 0.0499 < below.median_absolute_percent_error("elapsed") < 0.05
    assert note(exact)[0] == "wavy_dash"
    assert note(exact, suppress_warnings=True) == ("", "")
    assert note(below) == ("", "")


def test_failed_results_say_why_whatever_was_measured_before():
    """A failed result has no figures and its message, also if warnings are suppressed."""
    failed = make_result(UNSTABLE, failure="no | good", relative=True, name="x")
    assert note(failed, suppress_warnings=True) == ("boom", "no | good")
    assert row(TableShape.of(failed), failed, None, suppress_warnings=True) == (
        "|        - |                   - |                   - |       - |         - "
        "| :boom: `x` (no \\| good)\n"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"title": "other"},
        {"unit": "byte"},
        {"time_unit": (1e-9, "nanos")},
        {"time_unit": (1e-6, "ns")},
        {"relative": True},
        {"complexity_n": 5},
        {"context_columns": ["threads"]},
        {"hidden_columns": ["error"]},
    ],
)
def test_shape_changes_with_what_is_seen(change):
    """What changes the columns, or what their numbers mean, makes another shape."""
    result = make_result(STABLE)
    assert TableShape.of(make_result(STABLE, **change)) != TableShape.of(result)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"batch": 5},
        {"performance_counters": False},
        {"context_items": [("threads", "4")]},
        {"hidden_columns": ["ipc"]},
        {"warmup": 3},
    ],
)
def test_shape_does_not_change_with_what_is_not_seen(change):
    """Settings that show up in rows only, or not at all, leave the shape as it is."""
    result = make_result(STABLE)
    assert TableShape.of(make_result(STABLE, **change)) == TableShape.of(result)


COUNTED = [RawMeasurement(1_000_000, 1000, {Measure.INSTRUCTIONS: 5000})] * 3


@pytest.mark.parametrize(
    "change",
    [
        {"title": "other"},
        {"unit": "byte"},
        {"time_unit": (1e-6, "ns")},
        {"relative": True},
        {"complexity_n": 5},
        {"performance_counters": False},
        {"context_columns": ["threads"]},
        {"hidden_columns": ["instructions"]},
    ],
)
def test_failed_results_take_the_shape_in_force_only_for_equal_settings(change):
    """A failed result keeps the header above it, unless its own settings ask for another."""
    in_force = TableShape.of(make_result(COUNTED))
    assert TableShape.of(make_result(failure="no"), in_force) is in_force
    failed = make_result(failure="no", **change)
    assert TableShape.of(failed, in_force) == TableShape.of(failed)
    assert TableShape.of(make_result(STABLE), in_force) != in_force


def test_complexity_may_change_under_the_same_header():
    """Another problem size is another row, also for a failed result."""
    in_force = TableShape.of(make_result(COUNTED, complexity_n=5))
    assert TableShape.of(make_result(failure="no", complexity_n=6), in_force) is in_force


def test_rows_are_relative_to_the_first_that_did_not_fail():
    """Each title and unit has its own baseline; results without epochs have no row."""
    failed = make_result(failure="no")
    first, second = make_result(STABLE), make_result(STABLE)
    byte, titled = make_result(STABLE, unit="byte"), make_result(STABLE, title="other")
    rows = table_rows([failed, make_result(), first, byte, titled, second])
    assert [each.result for each in rows] == [failed, first, byte, titled, second]
    assert [each.baseline for each in rows] == [first, first, byte, titled, first]
    assert all(
        each.baseline is baseline
        for each, baseline in zip(rows, [first, first, byte, titled, first], strict=True)
    )


def test_finished_failed_results_look_at_what_follows():
    """A failed result at the top takes the columns of the results below it."""
    failed, counted = make_result(failure="no"), make_result(COUNTED)
    plain = make_result(STABLE)
    shapes = [each.shape for each in table_rows([failed, counted, failed, plain, failed])]
    assert [len(shape.columns) for shape in shapes] == [5, 5, 5, 4, 4]


def written(results, **options):
    stream, writer = StringIO(), TableWriter()
    for each in table_rows(results):
        writer.write_result(stream, each.result, each.baseline, **options)
    return stream.getvalue()


def test_whole_tables_are_what_was_written_row_by_row():
    """The table of finished results has the same text as the rows printed while running."""
    results = [
        make_result(STABLE, name="a", relative=True),
        make_result(UNSTABLE, name="b", relative=True),
        make_result(failure="no", name="c", relative=True),
        make_result(COUNTED, name="d", relative=True),
        make_result(STABLE, name="e", title="other"),
    ]
    text = markdown_table(results)
    assert "\n" + text == written(results)
    assert [line[:12] for line in text.splitlines()] == [
        "| relative |",
        "|---------:|",
        "|   100.0% |",
        "| 1,000.0% |",
        "|        - |",
        "",
        "| relative |",
        "|---------:|",
        "|   100.0% |",
        "",
        "|           ",
        "|-----------",
        "|           ",
    ]
    assert "wavy_dash" in text
    assert "wavy_dash" not in markdown_table(results, suppress_warnings=True)
    assert "wavy_dash" not in written(results, suppress_warnings=True)


def test_no_results_make_no_table():
    """Nothing measured: nothing to show."""
    assert markdown_table([]) == html_table([]) == markdown_table([make_result()]) == ""


def gfm_cells(line):
    """Split a line of a table as GitHub's Markdown does: a backslash protects a bar."""
    return re.split(r"(?<!\\)\|", line)


def results(texts=labels()):
    """Results with any texts wherever texts can be, measured or failed."""
    configs = st.builds(
        Config,
        title=texts,
        name=texts,
        unit=texts,
        relative=st.booleans(),
        complexity_n=st.none() | st.floats(1e-300, 1e300),
        batch=st.floats(1e-300, 1e300),
        time_unit=st.tuples(st.floats(1e-300, 1e300), texts),
        context_items=st.lists(st.tuples(texts, st.text() | texts), max_size=2),
    ).flatmap(
        lambda config: st.booleans().map(
            lambda all_shown: config.replace(context_columns=config.context if all_shown else ())
        )
    )
    overheads = st.builds(
        Overhead,
        per_iteration_ns=st.floats(0.0, 1e3),
        uncertainty_ns=st.floats(0.0, 1e3),
        kind=st.sampled_from(["none", "function"]),
    )
    return st.builds(
        make_result,
        st.lists(raw_measurements(), max_size=4),
        config=configs,
        failure=st.none() | texts,
        overhead=overheads,
    )


@given(st.lists(results(), max_size=3))
@example([make_result(STABLE, name="a|b", title="`|", unit="\\|", time_unit=(1.0, "\n."))])
def test_whatever_the_texts_the_table_is_a_table(results):
    """Every line has as many cells as its header, and title and name are in their cells."""
    text = markdown_table(results)
    rows = iter(table_rows(results))
    for block in text.split("\n\n") if text else []:
        head, separator, *lines = block.removesuffix("\n").split("\n")
        cells = gfm_cells(head)
        assert re.fullmatch(r"(\|-+:)*\|:-+", separator)
        assert len(gfm_cells(separator)) == len(cells)
        widths = [display_width(cell) for cell in gfm_cells(separator)[:-1]]
        assert [display_width(cell) for cell in cells[:-1]] == widths
        for line in lines:
            each = next(rows)
            assert len(line.splitlines()) == 1
            assert len(gfm_cells(line)) == len(cells)
            assert code_span(each.result.name) in gfm_cells(line)[-1]
            assert plain_text(each.result.title) == cells[-1][1:]
            assert all(
                display_width(cell) >= width
                for cell, width in zip(gfm_cells(line)[:-1], widths, strict=True)
            )
    assert next(rows, None) is None


class Tables(HTMLParser):
    """Reads the cells of the tables of an HTML document, and which of them are code."""

    def __init__(self, text):
        super().__init__()
        self.tables = []
        self.tags = set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_data(self, data):
        if self.tables and self.tables[-1] and self.tables[-1][-1]:
            self.tables[-1][-1][-1] += data


def test_html_has_the_same_columns_and_remarks():
    """The table for notebooks shows what the Markdown table shows, with names as code."""
    config = Config(
        relative=True,
        title="T & <b>",
        unit="a<b",
        context_items=[("<c>", "<i>&amp;")],
        context_columns=["<c>"],
    )
    results = [
        make_result(STABLE, config=config, name="<script>alert('x')</script>"),
        make_result(UNSTABLE, config=config, name="b|`"),
        make_result(failure="no <good>", config=config, name="c\nd"),
        make_result(STABLE, name="e"),
    ]
    text = html_table(results)
    parsed = Tables(text)
    assert parsed.tags == {"table", "thead", "tbody", "tr", "td", "th", "code"}
    stripped = [[[cell.strip() for cell in row] for row in table] for table in parsed.tables]
    assert stripped == [
        [
            ["relative", "<c>", "ns/a<b", "a<b/s", "err%", "total", "T & <b>"],
            [
                "100.0%",
                "<i>&amp;",
                "1,000.00",
                "1,000,000.00",
                "0.0%",
                "0.01",
                "<script>alert('x')</script>",
            ],
            [
                "1,000.0%",
                "<i>&amp;",
                "100.00",
                "10,000,000.00",
                "16.7%",
                "0.00",
                "\u3030 b|` (" + UNSTABLE_NOTE + ")",
            ],
            ["-", "-", "-", "-", "-", "-", "\U0001f4a5 c\\nd (no <good>)"],
        ],
        [
            ["ns/op", "op/s", "err%", "total", "benchmark"],
            ["1,000.00", "1,000,000.00", "0.0%", "0.01", "e"],
        ],
    ]
    assert "<code>min_epoch_iterations</code>" in text
    assert "<code>b|`</code>" in text
    assert text.count('<td style="text-align: right;">') == 6 * 3 + 4
    assert "Unstable" not in html_table(results, suppress_warnings=True)


@given(st.lists(results(), max_size=3))
def test_html_shows_any_texts_as_they_are(results):
    """No text makes tags of its own or is lost; cells are as many as the header's."""
    parsed = Tables(html_table(results))
    assert parsed.tags <= {"table", "thead", "tbody", "tr", "td", "th", "code"}
    names = []
    for head, *rows in parsed.tables:
        assert {len(cells) for cells in rows} == {len(head)}
        names += [cells[-1] for cells in rows]
    shown = table_rows(results)
    assert len(names) == len(shown)
    for name, each in zip(names, shown, strict=True):
        assert visible_text(each.result.name).strip() in name


def test_header_is_two_lines_in_nanobenchs_layout():
    """The dashes under the title are one more than its columns on the terminal."""
    config = Config(title="日本", hidden_columns=["time_per_unit", "unit_per_second", "error"])
    assert header(TableShape.of(make_result(STABLE, config=config))) == (
        "|     total | 日本\n|----------:|:-----\n"
    )
