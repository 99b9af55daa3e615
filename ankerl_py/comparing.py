"""Comparing runs that are over: saved results, or those of two benches."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ankerl_py.errors import ConfigTypeError
from ankerl_py.renderers.runs import CompareRuns
from ankerl_py.results.measure import Measure
from ankerl_py.results.result import Result
from ankerl_py.units import shown

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Run: TypeAlias = Iterable[Result] | str | os.PathLike[str]

__all__ = ["compare_results"]


def compare_results(
    old: Run,
    new: Run,
    *,
    measure: Measure | str = Measure.ELAPSED,
    load: Callable[[Any], Iterable[Result]] | None = None,
) -> CompareRuns:
    """Compare two runs of the same benchmarks.

    The runs are not paired: what differs between two processes by chance (where things lie in
    memory, how warm the processor is) counts as a difference. To find out which of two things is
    faster, let `Bench.compare` run both.

    Args:
        old: The results of the old run, as from ``bench.results``, or the path of a saved file.
        new: Those of the new run. Results belong together that have the same title, name, unit and
            problem size.
        measure: What should be compared, such as ``"instructions"``.
        load: Reads a saved file.

    Returns:
        The comparison, which prints as a table.

    Raises:
        ConfigError: There is no such measure.
        ConfigTypeError: Something is no result.
    """
    return CompareRuns.of(_results("old", old, load), _results("new", new, load), measure)


def _results(which: str, run: Any, load: Callable[[Any], Iterable[Result]] | None) -> list[Result]:
    if isinstance(run, (str, os.PathLike)):
        if load is None:
            raise ConfigTypeError(
                f"compare_results: {which}: {shown(run)} is a path, but nothing is given to load it"
            )
        run = load(run)
    if not isinstance(run, Iterable):
        raise ConfigTypeError(f"compare_results: {which}: {shown(run)} is no series of results")
    results = list(run)
    for each in results:
        if not isinstance(each, Result):
            raise ConfigTypeError(f"compare_results: {which}: {shown(each)} is not a Result")
    return results
