"""Hypothesis strategies that several test modules share. Append only."""

from __future__ import annotations

from hypothesis import strategies as st

from ankerl_py.config import Column, Config
from ankerl_py.results.measure import COUNTER_MEASURES
from ankerl_py.results.measurement import Overhead, RawMeasurement
from ankerl_py.units import TimeUnit

AWKWARD = "|`\\<>*_[]#~&\n\r\t \u00a0\u200b\u2028\u202e\u0301\u4e2d\U0001f600"
"""Characters that mean something to Markdown or terminals, or have an unusual width."""


def raw_measurements(
    max_elapsed_ns: int = 2**63 - 1, max_count: int = 2**64 - 1
) -> st.SearchStrategy[RawMeasurement]:
    """Epochs with any times, any number of iterations, and any of the counters."""
    counts = st.integers(0, max_count)
    return st.builds(
        RawMeasurement,
        elapsed_ns=st.integers(0, max_elapsed_ns),
        iterations=st.integers(1, max_count),
        counters=st.dictionaries(st.sampled_from(COUNTER_MEASURES), counts),
    )


def overheads(max_ns: float = 1e6) -> st.SearchStrategy[Overhead]:
    """Overheads from none at all to more than most epochs last."""
    cost = st.floats(0.0, max_ns)
    return st.builds(
        Overhead,
        fixed_ns=cost,
        per_iteration_ns=cost,
        uncertainty_ns=cost,
        kind=st.sampled_from(["none", "function", "statement"]),
    )


def labels(max_size: int = 12) -> st.SearchStrategy[str]:
    """Texts that a setting takes: not blank, often of characters that are trouble in a table."""
    characters = st.characters(exclude_categories=["Cs"]) | st.sampled_from(AWKWARD)
    return st.text(characters, min_size=1, max_size=max_size).filter(lambda text: text.strip())


def counts(minimum: int = 0) -> st.SearchStrategy[int]:
    """Small numbers, and now and then any of 64 bits."""
    return st.integers(minimum, 1000) | st.integers(minimum, 2**64 - 1)


def configs() -> st.SearchStrategy[Config]:
    """Any valid configuration with a clock that has a name."""
    positive = st.floats(0.0, exclude_min=True, allow_nan=False, allow_infinity=False)
    return st.builds(
        Config,
        title=labels(),
        name=labels(),
        unit=labels(),
        batch=positive,
        complexity_n=st.none() | positive,
        time_unit=st.builds(TimeUnit, positive, labels()),
        relative=st.booleans(),
        performance_counters=st.booleans(),
        context_items=st.dictionaries(labels(), st.text(max_size=5), max_size=3),
        context_columns=st.lists(labels(), max_size=3),
        hidden_columns=st.sets(st.sampled_from(Column)),
        epochs=counts(1),
        warmup=counts(),
        min_epoch_iterations=counts(),
        epoch_iterations=counts(),
        clock_resolution_multiple=counts(),
        min_epoch_time_ns=st.integers(0, 2**63 - 1),
        max_epoch_time_ns=st.integers(0, 2**63 - 1),
        clock=st.sampled_from(["wall", "process", "thread"]),
        gc=st.booleans(),
        correct_overhead=st.booleans(),
    )
