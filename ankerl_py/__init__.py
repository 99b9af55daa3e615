"""Microbenchmarks in 15 ms, with the harness's own cost measured and taken out.

::

    from ankerl_py import Bench

    Bench().unit("byte").batch(len(data)).run("sha256", lambda: sha256(data))

A Python library after the C++ library nanobench: the same fluent interface, in snake_case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ankerl_py import errors
from ankerl_py.bench import Bench, do_not_optimize_away
from ankerl_py.config import Column, Config
from ankerl_py.units import TimeUnit

if TYPE_CHECKING:
    from ankerl_py.comparing import compare_results
    from ankerl_py.core.instruments import clock_resolution
    from ankerl_py.renderers.big_o import BigOFits
    from ankerl_py.renderers.comparison import CompareResult
    from ankerl_py.renderers.runs import CompareRuns
    from ankerl_py.results.big_o import BigO
    from ankerl_py.results.measure import Measure
    from ankerl_py.results.measurement import CorrectedMeasurement, Overhead, RawMeasurement
    from ankerl_py.results.result import Result
    from ankerl_py.results.store import ResultStore
    from ankerl_py.rng import Rng

__all__ = [
    "Bench",
    "BigO",
    "BigOFits",
    "Column",
    "CompareResult",
    "CompareRuns",
    "Config",
    "CorrectedMeasurement",
    "Measure",
    "Overhead",
    "RawMeasurement",
    "Result",
    "ResultStore",
    "Rng",
    "TimeUnit",
    "clock_resolution",
    "compare_results",
    "do_not_optimize_away",
    "errors",
]

__version__ = "0.1.0"

# Names that few programs need, or that are needed only once something is measured. They are
# imported when they are first asked for, since a fifth of the import time is theirs.
_LATER = {
    "BigO": "ankerl_py.results.big_o",
    "BigOFits": "ankerl_py.renderers.big_o",
    "CompareResult": "ankerl_py.renderers.comparison",
    "CompareRuns": "ankerl_py.renderers.runs",
    "CorrectedMeasurement": "ankerl_py.results.measurement",
    "Measure": "ankerl_py.results.measure",
    "Overhead": "ankerl_py.results.measurement",
    "RawMeasurement": "ankerl_py.results.measurement",
    "Result": "ankerl_py.results.result",
    "ResultStore": "ankerl_py.results.store",
    "Rng": "ankerl_py.rng",
    "clock_resolution": "ankerl_py.core.instruments",
    "compare_results": "ankerl_py.comparing",
}


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    value: object = getattr(import_module(_LATER[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
