"""Recorded comparisons of the vectors, as objects of this package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ankerl_py.renderers.comparison import CompareResult
from ankerl_py.results.comparison import CompareEntry
from ankerl_py.results.measurement import RawMeasurement
from ankerl_py.results.ratio import Ratio
from ankerl_py.testing import make_result
from support import config_from_set, number

if TYPE_CHECKING:
    from ankerl_py.config import Config


def config_of(settings: dict[str, Any]) -> Config:
    """Make a config of an object of settings (README 1.7)."""
    steps: list[list[Any]] = []
    for key, value in settings.items():
        if key == "context":
            steps += [[key, *item] for item in value.items()]
        elif key in ("contextColumns", "hiddenColumns"):
            step = {"contextColumns": "contextColumn", "hiddenColumns": "hideColumn"}[key]
            steps += [[step, each] for each in value]
        else:
            steps.append([key, *(value if isinstance(value, list) else [value])])
    return config_from_set(steps)


def measurements(epochs: list[dict[str, Any]]) -> list[RawMeasurement]:
    """Make measurements of epochs (README 1.5)."""
    return [
        RawMeasurement(
            int(epoch["elapsed_ns"]),
            int(epoch["iterations"]),
            {key: int(value) for key, value in epoch.get("counters", {}).items()},
        )
        for epoch in epochs
    ]


def comparison(case: dict[str, Any]) -> CompareResult:
    """Make the comparison that a case of kind `text` describes (README 9)."""
    config = config_of(case.get("config", {}))
    results = [
        make_result(measurements(entry["epochs"]), config=config, name=entry["name"])
        for entry in case["entries"]
    ]
    if not any("relative" in entry for entry in case["entries"]):
        return CompareResult.of(results)
    ratios = [
        Ratio(
            *(number(entry[key]) for key in ("relative", "relative_low", "relative_high")),
            case["rounds"],
            entry["tied_rounds"],
        )
        for entry in case["entries"]
    ]
    entries = [
        CompareEntry(result, ratio, ratio) for result, ratio in zip(results, ratios, strict=True)
    ]
    return CompareResult(tuple(entries), case["rounds"])
