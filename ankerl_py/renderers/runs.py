"""What has changed between two runs, as a table with a summary below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from ankerl_py.renderers.cells import code_span, format_number
from ankerl_py.renderers.comparison import percent, percent_interval
from ankerl_py.renderers.remarks import Code
from ankerl_py.renderers.sheets import Sheet, Sheeted
from ankerl_py.results.measure import Measure
from ankerl_py.results.unpaired import RunsComparison

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ankerl_py.renderers.sheets import Cell
    from ankerl_py.results.result import Result
    from ankerl_py.results.unpaired import Change

__all__ = ["CompareRuns", "runs_sheet"]

_WIDTHS = (11, 22, 16, 16)


@attrs.frozen(repr=False)
class CompareRuns(Sheeted, RunsComparison):
    """Two runs, benchmark by benchmark, which print as a table with a summary.

    Attributes:
        changes: What is in both runs, in the order of the new one.
        only_old: Results that the new run does not have.
        only_new: Results that the old run does not have.
        measure: What is compared.
    """

    @property
    def summary(self) -> str:
        """What came out, in a few lines of Markdown, each with its line break."""
        return "".join(f"{line}\n" for line in _summary(self))

    def _sheet(self) -> Sheet:
        return runs_sheet(self)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {_counts(self)}>"


def runs_sheet(runs: CompareRuns) -> Sheet:
    """Arrange a comparison of two runs as a table.

    Args:
        runs: The comparison.

    Returns:
        The table.
    """
    of = "ns" if runs.measure is Measure.ELAPSED else str(runs.measure)
    titles = {change.title for change in runs.changes}
    return Sheet(
        ("relative", "95% CI", f"old {of}/unit", f"new {of}/unit", "benchmark"),
        _WIDTHS,
        tuple(_row(change, runs.measure, len(titles) > 1) for change in runs.changes),
        tuple(_record(change, runs.measure) for change in runs.changes),
        "  Summary\n" + "".join(f"    {line}\n" for line in _summary(runs)),
    )


def _row(change: Change, measure: Measure, with_title: bool) -> tuple[Cell, ...]:
    verdict = ""
    if change.is_slower:
        verdict = " (slower)"
    elif change.is_faster:
        verdict = " (faster)"
    elif not change.corrected:
        verdict = " (raw times: can hardly be told from an empty op)"
    return (
        percent(change.ratio.value),
        percent_interval(change.ratio),
        _figure(change.old, measure),
        _figure(change.new, measure),
        (f"{change.title}: " if with_title else "", Code(change.name), verdict),
    )


def _figure(result: Result, measure: Measure) -> str | None:
    if not result.has(measure):
        return None
    factor = 1e9 if measure is Measure.ELAPSED else 1.0
    return format_number(factor * result.median(measure) / result.config.batch, 2)


def _record(change: Change, measure: Measure) -> dict[str, Any]:
    return {
        "title": change.title,
        "name": change.name,
        "unit": change.new.unit,
        "old": change.old.median(measure) / change.old.config.batch,
        "new": change.new.median(measure) / change.new.config.batch,
        "relative": change.ratio.value,
        "low": change.ratio.low,
        "high": change.ratio.high,
        "slower": change.is_slower,
        "faster": change.is_faster,
    }


def _counts(runs: CompareRuns) -> str:
    slower, faster = len(runs.slower), len(runs.faster)
    return f"{slower} slower, {faster} faster, {len(runs) - slower - faster} not told apart"


def _summary(runs: CompareRuns) -> Iterator[str]:
    yield f"of {len(runs)} in both runs: {_counts(runs)}"
    number = len(runs)
    corrected = f", corrected for {number} comparisons" if number > 1 else ""
    yield f"intervals from the ranks of the epochs{corrected}; the runs are not paired"
    for what, results in (("old", runs.only_old), ("new", runs.only_new)):
        if results:
            yield f"only in the {what} run: {', '.join(code_span(each.name) for each in results)}"
