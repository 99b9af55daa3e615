"""nanobench's recorded runs: whole ones in virtual time, and the rows that they end with."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest

from ankerl_py import Bench
from ankerl_py.core.instruments import Instruments
from ankerl_py.core.runner import Run
from ankerl_py.core.schedule import Schedule
from ankerl_py.environment import Environment
from ankerl_py.errors import ConfigError
from ankerl_py.renderers.markdown import TableWriter
from ankerl_py.results.measure import Measure
from ankerl_py.testing import FakeClock
from support import check_case, config_from_set, departs, load_cases, no_notice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ankerl_py.results.result import Result


def bench_of(instruments: Instruments, case: dict[str, Any], stream: StringIO) -> Bench:
    bench = Bench(instruments=instruments)
    return bench.with_config(config_from_set(case["in"]["set"], bench.config)).output(stream)


def replay(instruments: Instruments, case: dict[str, Any]) -> dict[str, Any]:
    """Run a benchmark whose op lets virtual time go by, and answer in the form of the vectors."""
    clock = FakeClock(resolution_ns=20)
    costs = [int(ns) for ns in case["in"]["op_cost_ns"]]
    calls = setups = 0

    def op() -> None:
        nonlocal calls
        clock.advance(costs[calls % len(costs)])
        calls += 1

    def setup() -> None:
        nonlocal setups
        clock.advance(int(case["in"]["setup_cost_ns"]))
        setups += 1

    stream = StringIO()
    bench = bench_of(instruments, case, stream).clock(clock)
    if "setup_cost_ns" in case["in"]:
        bench = bench.setup(setup)
    bench.run(case["in"]["name"], op)
    (result,) = bench.results
    return {
        "target_ns": str(Schedule(bench.config, 20).target_ns),
        "op_calls": str(calls),
        "setup_calls": str(setups),
        "result": {
            "iterations": list(result.values("iterations")),
            "elapsed": list(result.values("elapsed")),
        },
        "text": stream.getvalue(),
    }


@pytest.mark.parametrize("case", load_cases("iteration_logic", "run"))
def test_runs_are_those_of_nanobench(instruments: Instruments, case: dict[str, Any]) -> None:
    """Calls of op and of a setup, iterations, times and the printed row are nanobench's."""
    actual, expected = replay(instruments, case), dict(case["out"])
    text, nanobench = actual.pop("text"), expected.pop("text")
    check_case("iteration_logic", case, actual, expected)
    check_case("iteration_text", case, text, nanobench)
    if departs("iteration_text", case):
        # The setting is named as it is called here, and it is the one that counts.
        assert text == nanobench.replace("`minEpochIterations`", "`epoch_iterations`")


class Given(Exception):
    """The recorded steps are over."""


class RecordedLoop:
    """A loop that takes as long as nanobench was told that its epochs took."""

    kind = "recorded"
    in_setup = False

    def __init__(self, durations: Callable[[int, int], int], max_steps: int) -> None:
        self.iterations: list[int] = []
        self.started = 0
        self._durations = durations
        self._max_steps = max_steps

    def run(self, iterations: int, signal_interval: int) -> int:
        if len(self.iterations) == self._max_steps:
            raise Given
        self.iterations.append(iterations)
        return self._durations(len(self.iterations) - 1, iterations)

    def empty_twin(self) -> RecordedLoop:
        return self

    def prepare_traceback(self) -> None:
        pass


class RecordedCounters:
    """Counters that count a given number of events per iteration."""

    absences = ()
    reason = ""

    def __init__(self, loop: RecordedLoop, per_iteration: Mapping[str, int]) -> None:
        self._loop = loop
        self._per_iteration = per_iteration

    def begin(self) -> None:
        pass

    def end(self) -> None:
        pass

    def read(self) -> dict[Measure, int]:
        n = self._loop.iterations[-1]
        return {Measure(key): count * n for key, count in self._per_iteration.items()}


def durations(model: dict[str, Any]) -> Callable[[int, int], int]:
    """The duration of the k-th epoch, of n iterations, as the vectors define it."""
    if "elapsed_ns" in model:
        elapsed = [int(ns) for ns in model["elapsed_ns"]]
        return lambda k, n: elapsed[k % len(elapsed)]
    cost = [int(ps) for ps in model["cost_ps"]]
    overhead, tick = int(model.get("overhead_ns", 0)), int(model.get("tick_ns", 1))
    return lambda k, n: min((n * cost[k % len(cost)] // 1000 + overhead) // tick * tick, 4 * 10**17)


def run(case: dict[str, Any]) -> tuple[Result | None, list[int]]:
    """Run on a recorded loop: the result, unless it is endless, and iterations of all epochs."""
    config = config_from_set(case["in"]["set"])
    model = case["in"]["model"]
    loop = RecordedLoop(durations(model), case["in"]["max_steps"])
    counters: Any = RecordedCounters(
        loop, {k: int(v) for k, v in model.get("counters", {}).items()}
    )
    endless = config.name == Environment(case["in"].get("env", {})).endless_name
    try:
        result = Run(config, loop, Schedule(config, 20, endless), counters, None).measure()
    except Given:
        return None, loop.iterations
    return result, loop.iterations


def replace(*changes: tuple[str, str]) -> Callable[[str], str]:
    def change(text: str) -> str:
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        return text

    return change


SETTING = replace(("`minEpochIterations`", "`min_epoch_iterations`"))
NO_RATE = replace(("|                0.00 |    0.0% |", "|                   - |    0.0% |"))

# What the rows that depart from nanobench's are instead, as a change of nanobench's text.
BETTER = {
    "iter-006-zero-cost-overflow-relative": replace(("`tick ``tick```", "`` tick `tick` ``")),
    "iter-022-exact-zero-cost": NO_RATE,
    "iter-041-tick-coarse": NO_RATE,
    "iter-042-tick-coarse-exact": NO_RATE,
    "iter-043-fluctuating": SETTING,
    "iter-045-fluctuating-not-suppressed": SETTING,
    "iter-046-getting-faster": SETTING,
    "iter-047-slow-first-call": replace(("|      0.01 |", "|      0.03 |")),
    "iter-051-target-zero-cost-zero": NO_RATE,
}

REFUSED = {
    "iter-054-epochs-0-fast",
    "iter-055-epochs-0-slow",
    "iter-059-negative-max-time",
    "iter-060-negative-min-time",
}


@pytest.mark.parametrize("case", load_cases("iteration_logic", "logic"))
def test_rows_are_those_of_nanobench(case: dict[str, Any]) -> None:
    """The row that a run ends with, from its epochs to the text, is nanobench's."""
    if case["id"] in REFUSED:
        with pytest.raises(ConfigError):
            run(case)
        return
    result, iterations = run(case)
    if not departs("iteration_logic", case) and not case["out"]["stderr"]:
        assert [str(n) for n in iterations] == case["out"]["n"]
    assert (result is not None) == case["out"]["finished"]
    stream = StringIO()
    if result is not None and case["in"]["output"]:
        quiet = Environment(case["in"].get("env", {})).suppress_warnings
        TableWriter().write_result(stream, result, None, suppress_warnings=quiet)
    check_case("iteration_text", case, stream.getvalue(), case["out"]["text"])
    if case["id"] in BETTER:
        assert stream.getvalue() == BETTER[case["id"]](case["out"]["text"])


def test_each_departure_is_checked_itself() -> None:
    """There is no row of which nothing is known but that it differs."""
    cases = load_cases("iteration_logic", "logic")
    assert set(BETTER) | REFUSED == {
        each.id for each in cases if departs("iteration_text", each.values[0])
    }


@pytest.mark.parametrize("case", load_cases("iteration_logic", "logic"))
def test_what_is_said_on_stderr(
    instruments: Instruments, case: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """That a run is endless is said before it begins, in nanobench's words, and nothing else is."""
    if departs("iteration_logic", case):
        return
    environment = Environment(case["in"].get("env", {}))
    instruments = Instruments(
        environment=environment, compiled=instruments.compiled, stability_notice=no_notice
    )

    def op() -> None:
        raise Given

    bench = bench_of(instruments, case, StringIO())
    with pytest.raises(Given):
        bench.run(bench.config.name, op)
    assert capsys.readouterr().err == case["out"]["stderr"]
