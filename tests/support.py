"""Access to nanobench's recorded answers, and to the list of those this package departs from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ankerl_py.config import Column, Config

VECTORS = Path(__file__).parent / "vectors"


def load_cases(file: str, *kinds: str) -> list[Any]:
    """The cases of a vector file as pytest parameters, only of some kinds if any are named."""
    cases = json.loads((VECTORS / f"{file}.json").read_text(encoding="utf-8"))["cases"]
    return [
        pytest.param(case, id=case["id"])
        for case in cases
        if not kinds or case["in"].get("kind") in kinds
    ]


def departs(file: str, case: dict[str, Any]) -> str | None:
    """Why this package answers otherwise than nanobench in a case, or None if it does not."""
    departures = json.loads((VECTORS / "departures.json").read_text(encoding="utf-8"))
    reason: str | None = departures.get(file, {}).get(case["id"])
    return reason


def check_case(file: str, case: dict[str, Any], actual: Any, expected: Any) -> None:
    """Compare with nanobench's answer; a listed departure has to be one, or the list is stale."""
    reason = departs(file, case)
    if reason is None:
        assert actual == expected
    else:
        assert actual != expected, f"{case['id']} is listed as a departure, but agrees: {reason}"


def number(value: float | str) -> float:
    """A double of a vector file: a number, or one of the texts inf, -inf, nan."""
    return float(value)


COUNTS = {
    "epochs": "epochs",
    "warmup": "warmup",
    "minEpochIterations": "min_epoch_iterations",
    "epochIterations": "epoch_iterations",
    "clockResolutionMultiple": "clock_resolution_multiple",
    "minEpochTime_ns": "min_epoch_time_ns",
    "maxEpochTime_ns": "max_epoch_time_ns",
}
"""Numeric settings of the vectors, which are texts there, by our names."""

_PLAIN = {
    "title": "title",
    "unit": "unit",
    "name": "name",
    "relative": "relative",
    "performanceCounters": "performance_counters",
}

_NUMBERS = {"batch": "batch", "complexityN": "complexity_n"}


def config_from_set(settings: list[list[Any]], config: Config | None = None) -> Config:
    """Apply a list of settings of the vectors (README 1.6); the output is not part of a config."""
    config = config or Config()
    for key, *args in settings:
        config = config.replace(**_changes(config, key, args))
    return config


def _changes(config: Config, key: str, args: list[Any]) -> dict[str, Any]:
    hidden = config.hidden_columns
    if key in COUNTS:
        return {COUNTS[key]: int(args[0])}
    if key in _PLAIN:
        return {_PLAIN[key]: args[0]}
    if key in _NUMBERS:
        return {_NUMBERS[key]: number(args[0])}
    if key == "timeUnit":
        return {"time_unit": (number(args[0]), args[1])}
    if key == "context":
        return {"context_items": config.context | {args[0]: args[1]}}
    if key == "contextColumn":
        return {"context_columns": (*config.context_columns, args[0])}
    if key == "hideColumn":
        return {"hidden_columns": hidden | {Column.parse(args[0])}}
    if key == "showColumn":
        return {"hidden_columns": hidden - {Column.parse(args[0])}}
    return {
        "clearContext": {"context_items": ()},
        "clearContextColumns": {"context_columns": ()},
        "output": {},
    }[key]


def settings_of(config: Config) -> dict[str, str]:
    """Write the numeric settings of a config as the vectors do."""
    return {key: str(getattr(config, setting)) for key, setting in COUNTS.items()}


def no_notice(*, suppress: bool) -> str:
    """Say nothing about the machine that the tests run on."""
    return ""
