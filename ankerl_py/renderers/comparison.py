"""Paired comparisons as nanobench's table, with a summary below it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs

from ankerl_py.config import Column
from ankerl_py.renderers.cells import code_span, format_number
from ankerl_py.renderers.columns import TableColumn, available_measures, table_columns
from ankerl_py.renderers.remarks import Code, remark
from ankerl_py.renderers.sheets import Sheet, Sheeted
from ankerl_py.results.comparison import Comparison
from ankerl_py.results.measure import Measure
from ankerl_py.results.measurement import NO_OVERHEAD
from ankerl_py.statistics.intervals import fewest_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ankerl_py.renderers.sheets import Cell
    from ankerl_py.results.comparison import CompareEntry
    from ankerl_py.results.ratio import Ratio

__all__ = ["CompareResult", "comparison_sheet", "percent", "percent_interval", "times_interval"]

_RELATIVE_WIDTH = 11
_INTERVAL_WIDTH = 22

_INTERVAL_TITLE = "95% CI"


@attrs.frozen(repr=False)
class CompareResult(Sheeted, Comparison):
    """The alternatives of a paired experiment, which print as a table with a summary.

    Iterating gives the entries; ``result["name"]`` gives the one of that name.

    Attributes:
        entries: The alternatives. The first one that could be measured is the baseline.
        rounds: How many rounds there were, in each of which each alternative had one epoch.
        corrected: Whether the ratios are those of times without overhead. They are of raw times
            if an alternative takes so little time that hardly anything is left of it.
        anytime: Whether the intervals are right whenever one stops to measure, and wider for it.
        until: Below how many percent of width the intervals should get, None if that was not
            asked for.
    """

    @property
    def summary(self) -> str:
        """What came out, in a few lines of Markdown, each with its line break."""
        return "".join(f"{line}\n" for line in _summary(self))

    @property
    def text(self) -> str:
        """What is printed: the table behind an empty line, and the summary; nothing if empty."""
        return f"\n{self.render()}" if self.entries else ""

    def _sheet(self) -> Sheet:
        return comparison_sheet(self)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        names = ", ".join(repr(entry.name) for entry in self.entries)
        return f"<{type(self).__name__} of {names}: {self.rounds} rounds>"


# ---------------------------------------------------------------------- the table


def comparison_sheet(comparison: CompareResult) -> Sheet:
    """Arrange a comparison as a table.

    Args:
        comparison: The comparison.

    Returns:
        The table.
    """
    entries = comparison.entries
    if not entries:
        return Sheet(("benchmark",), (), (), ())
    columns = _columns(comparison)
    show_relative = Column.RELATIVE not in entries[0].result.config.hidden_columns
    titles = ["relative"] * show_relative + [_INTERVAL_TITLE]
    widths = [_RELATIVE_WIDTH] * show_relative + [_INTERVAL_WIDTH]
    base = comparison.baseline
    rows = []
    for entry in entries:
        own: list[Cell] = [percent(entry.ratio.value)] * show_relative
        own.append("" if entry is base else percent_interval(entry.ratio))
        figures = [
            None if entry.result.overflowed else column.text(entry.result, None)
            for column in columns
        ]
        rows.append((*own, *figures, _name(entry, comparison)))
    return Sheet(
        (*titles, *(column.title for column in columns), entries[0].result.title),
        (*widths, *(column.width for column in columns)),
        tuple(rows),
        tuple(_record(entry) for entry in entries),
        "  Summary\n" + "".join(f"    {line}\n" for line in _summary(comparison)),
    )


def _columns(comparison: CompareResult) -> tuple[TableColumn, ...]:
    """The columns of the usual table, those that all alternatives can fill."""
    shown = comparison.measured or comparison.entries
    available = frozenset.intersection(*(available_measures(entry.result) for entry in shown))
    config = shown[0].result.config.replace(relative=False)
    if len({entry.result.unit for entry in shown}) > 1:
        config = config.replace(unit="unit")
    return table_columns(config, available)


def _name(entry: CompareEntry, comparison: CompareResult) -> Cell:
    said = remark(entry.result, suppress_warnings=True)
    notes = ["".join(said.note)] if said.note else []
    if len({each.result.unit for each in comparison.entries}) > 1:
        notes.insert(0, f"unit: {entry.result.unit}")
    marker = f":{said.marker}: " if said.marker else ""
    return marker, Code(entry.name), f" ({'; '.join(notes)})" if notes else ""


def _record(entry: CompareEntry) -> dict[str, Any]:
    result, ratio, raw = entry.result, entry.ratio, entry.raw_ratio
    return {
        "title": result.title,
        "name": entry.name,
        "unit": result.unit,
        "batch": result.config.batch,
        "relative": ratio.value,
        "low": ratio.low,
        "high": ratio.high,
        "significant": ratio.is_significant,
        "raw_relative": raw.value,
        "raw_low": raw.low,
        "raw_high": raw.high,
        "median(elapsed)": result.median(Measure.ELAPSED),
        "rounds": ratio.compared_rounds,
        "tied": ratio.tied_rounds,
        "dropped": ratio.dropped_rounds,
        "failure": result.failure,
    }


def percent(value: float | None) -> str | None:
    """Write a ratio in percent; None if there is none."""
    return None if value is None else f"{format_number(100.0 * value, 1)}%"


def percent_interval(ratio: Ratio) -> str | None:
    """Write the interval of a ratio in percent; None if there is none."""
    if ratio.low is None or ratio.high is None:
        return None
    return f"{percent(ratio.low)} .. {percent(ratio.high)}"


def times_interval(ratio: Ratio) -> str:
    """Write the interval of a ratio as factors, or that there is none."""
    if ratio.low is None or ratio.high is None:
        return f"no {_INTERVAL_TITLE}"
    return f"{_INTERVAL_TITLE} [{format_number(ratio.low, 2)} .. {format_number(ratio.high, 2)}]"


# ---------------------------------------------------------------------- the summary


def _times(value: float | None) -> str:
    return "?" if value is None else f"{format_number(value, 2)}x"


def _summary(comparison: CompareResult) -> Iterator[str]:
    measured = comparison.measured
    if not measured:
        yield "nothing could be measured"
        return
    if len(measured) == 1:
        yield f"{code_span(measured[0].name)} is alone: there is nothing to compare it with"
        return
    if len(comparison.entries) == 2:
        yield from _pair(comparison, *measured)
    else:
        yield from _many(comparison)
    ratios = [entry.ratio for entry in measured[1:]]
    tied = max(ratio.tied_rounds for ratio in ratios)
    if tied:
        yield f"up to {_of_rounds(tied, comparison)} rounds tied at the clock's resolution"
    dropped = max(ratio.dropped_rounds for ratio in ratios)
    if dropped:
        yield f"up to {_of_rounds(dropped, comparison)} rounds dropped: the clock showed no time"
    yield from _missing_interval(comparison)
    yield from _correction(comparison)
    if comparison.until is not None:
        yield _adaptive(comparison, comparison.until)


def _of_rounds(number: int, comparison: Comparison) -> str:
    return f"{format_number(number, 0)} of {format_number(comparison.rounds, 0)}"


def _pair(comparison: Comparison, base: CompareEntry, other: CompareEntry) -> Iterator[str]:
    ratio, names = other.ratio, (code_span(base.name), code_span(other.name))
    if not ratio.is_significant:
        yield f"no difference resolved between {names[0]} and {names[1]}"
        yield f"ratio {_times(ratio.value)}, {times_interval(ratio)}, {_rounds(comparison)}"
        return
    faster = ratio.low is not None and ratio.low > 1.0
    shown = ratio if faster else ratio.inverse()
    yield f"{names[1]} ran {_times(shown.value)} {'faster' if faster else 'slower'} than {names[0]}"
    yield f"{times_interval(shown)}, {_rounds(comparison)}"


def _many(comparison: Comparison) -> Iterator[str]:
    ranking, lead = comparison.ranking, comparison.lead
    first, second = code_span(ranking[0].name), code_span(ranking[1].name)
    number = len(comparison.measured)
    if lead.low is not None and lead.low > 1.0:
        yield f"{first} is fastest of {number}, {_times(lead.value)} ahead of {second}"
    else:
        yield f"{first} and {second} are the two fastest of {number}, and were not separated"
    corrected = f"intervals corrected for {comparison.num_comparisons} comparisons"
    yield f"{times_interval(lead)}, {corrected}, {_rounds(comparison)}"


def _rounds(comparison: Comparison) -> str:
    return f"{format_number(comparison.rounds, 0)} paired rounds, interleaved"


def _missing_interval(comparison: Comparison) -> Iterator[str]:
    ratios = [comparison.lead, *(entry.ratio for entry in comparison.measured[1:])]
    fewest = min(ratio.compared_rounds for ratio in ratios)
    if any(ratio.low is None for ratio in ratios):
        needed = fewest_values(comparison.confidence)
        if fewest < needed:
            yield f"an interval needs {needed} rounds or more that can be compared, not {fewest}"


def _correction(comparison: Comparison) -> Iterator[str]:
    """State what was subtracted, and what the ratio is without that."""
    measured = comparison.measured
    overheads = [entry.result.overhead for entry in measured]
    if all(overhead.kind == NO_OVERHEAD.kind for overhead in overheads):
        return
    if not comparison.corrected:
        lost = min(measured, key=lambda entry: entry.result.median(Measure.ELAPSED))
        yield (
            "ratios are those of raw times, harness and all: "
            f"{code_span(lost.name)} can hardly be told from an empty op"
        )
        return
    subtracted = [overhead.per_iteration_ns for overhead in overheads]
    if all(overhead == overheads[0] for overhead in overheads):
        what = f"{format_number(subtracted[0], 2)} ns/iteration subtracted from all alike"
    else:
        listed = ", ".join(format_number(ns, 2) for ns in subtracted)
        what = f"{listed} ns/iteration subtracted"
    if len(measured) == 2:
        raw = measured[1].raw_ratio
        what += f"; ratio of raw times {_times(raw.value)}, {times_interval(raw)}"
    yield f"overhead: {what}"


def _adaptive(comparison: Comparison, until: float) -> str:
    width = comparison.widest_percent
    reached = f"widest interval {width:.3g}%" if math.isfinite(width) else "an interval is missing"
    met = "reached" if width < until else "not reached in time"
    return f"{until:g}% wanted, {met}: {reached} - intervals allow for looking at them meanwhile"
