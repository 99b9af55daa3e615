"""Untimed setup: what an op seems to take if something has to come before every call of it.

Beside the figures of this package stand those of timeit, pytest-benchmark and pyperf doing the
same, where they are installed.
"""

from __future__ import annotations

import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from harness import Figure, in_fresh_process, machine, medians, report, spread

PROCESSES = 5


@dataclass(frozen=True)
class Case:
    """An op and its setup, as statements over the names of a prelude."""

    name: str
    setup: str
    op: str
    prelude: str = "v = []"
    rounds: int = 2000
    bar: float | None = None


THRASH = "big = bytearray(64 << 20)"

CASES = [
    Case("empty op, empty setup", "pass", "pass", bar=3),
    Case("empty op, setup of 1 ms", "spin(0.001)", "pass", rounds=200, bar=3),
    Case("empty op, cache thrashed", "big.count(1, 0, 16 << 20)", "pass", THRASH, 200, bar=3),
    Case("list.pop of a fresh list", "v[:] = (1, 2, 3)", "v.pop()"),
    Case("allocate an object", "v.clear()", "v.append(object())"),
    Case("deallocate an object", "v.append(object())", "v.pop()"),
    Case(
        "insert into a short list", "v[:] = short", "v.insert(0, 'x')", "v = []; short = ['a'] * 10"
    ),
    Case(
        "insert into a long list", "v[:] = long", "v.insert(0, 'x')", "v = []; long = ['a'] * 5000"
    ),
    Case(
        "sort 1000 shuffled ints",
        "v[:] = base",
        "v.sort()",
        ("import random; v = []; base = random.Random(1).sample(range(1000), 1000)"),
        500,
    ),
    Case(
        "keep the even of 100,000",
        "v[:] = range(100_000)",
        "v[:] = [x for x in v if x & 1 == 0]",
        rounds=100,
    ),
]

SOURCE = """
import time
def spin(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end: pass
{prelude}
def setup(): {setup}
def op(): {op}
"""

OURS = (
    SOURCE
    + """
from ankerl_py import Bench
bench = Bench().output(None)
def ns(): return bench.results[-1].median("elapsed") * 1e9
bench.setup(setup, "iteration").run(op)
figures = {{"setup, callable": ns()}}
bench.setup({setup!r}, "iteration").run({op!r}, globals=globals())
figures["setup, statement"] = ns()
def setup_state(state): {setup}
def op_state(state): {op}
bench.run_excluding_setup("op", None, setup_state, op_state)
figures["run_excluding_setup"] = ns()
print(json.dumps(figures))
"""
)

TIMEIT = (
    SOURCE
    + """
import statistics, timeit
timer = timeit.Timer(op, setup)
times = [timer.timeit(1) for _ in range({rounds})]
print(json.dumps({{"timeit, number=1": statistics.median(times) * 1e9}}))
"""
)

PYPERF = (
    SOURCE
    + """
import pyperf
def time_func(loops):
    elapsed = 0.0
    for _ in range(loops):
        setup()
        start = pyperf.perf_counter()
        op()
        elapsed += pyperf.perf_counter() - start
    return elapsed
runner = pyperf.Runner(values=3, processes=2, warmups=1, loops={rounds})
runner.bench_time_func("op", time_func)
"""
)

PYTEST = (
    SOURCE
    + """
def test_op(benchmark):
    benchmark.pedantic(op, setup=setup, rounds={rounds})
"""
)


def text(template: str, case: Case) -> str:
    """Fill a script in for a case."""
    return template.format(setup=case.setup, op=case.op, prelude=case.prelude, rounds=case.rounds)


def pyperf(case: Case) -> dict[str, float]:
    """The figure of pyperf, timed by hand around each call."""
    with tempfile.TemporaryDirectory() as folder:
        script, out = Path(folder, "script.py"), Path(folder, "out.json")
        script.write_text(text(PYPERF, case), encoding="utf-8")
        subprocess.run(
            [sys.executable, script, "--quiet", "-o", out], check=True, stdout=subprocess.DEVNULL
        )
        runs = json.loads(out.read_text(encoding="utf-8"))["benchmarks"][0]["runs"]
    values = [value for run in runs for value in run.get("values", [])]
    return {"pyperf, bench_time_func": statistics.median(values) * 1e9}


def pytest_benchmark(case: Case) -> dict[str, float]:
    """The figure of pytest-benchmark's pedantic mode."""
    with tempfile.TemporaryDirectory() as folder:
        script, out = Path(folder, "test_op.py"), Path(folder, "out.json")
        script.write_text(text(PYTEST, case), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", script, f"--benchmark-json={out}"]
        subprocess.run(
            [*command, "-p", "no:cacheprovider", f"--rootdir={folder}"],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
        )
        stats = json.loads(out.read_text(encoding="utf-8"))["benchmarks"][0]["stats"]
    return {"pytest-benchmark, pedantic": stats["median"] * 1e9}


def consistency() -> None:
    """An op without its setup, its setup without the op, and both together must agree."""
    code = """
from ankerl_py import Bench
v = list(range(100_000))
def fill(): v[:] = range(100_000)
def op(): v[:] = [x for x in v if x & 1 == 0]
def both(): fill(); op()
bench = Bench().output(None).epochs(25)
def ns(bench, f): return bench.run(f).results[-1].median("elapsed") * 1e9
alone = ns(bench.setup(fill, "iteration"), op)
fill_alone = ns(bench.setup(op, "iteration"), fill)
together = ns(bench, both)
print(json.dumps({"percent": ((alone + fill_alone) / together - 1) * 100, "us": alone / 1e3}))
"""
    runs = [in_fresh_process(code) for _ in range(PROCESSES)]
    found = medians(runs)
    report(
        "Op and setup, each without the other, against both together",
        [
            Figure(
                f"keep the even of 100,000 ({found['us']:.0f} us): sum of the parts",
                found["percent"],
                3,
                "%",
                spread([run["percent"] for run in runs]),
            )
        ],
    )


def budget() -> None:
    """A setup that takes far longer than the op ends in bounded time."""
    code = """
from ankerl_py import Bench
start = time.perf_counter()
bench = Bench().output(None).setup(lambda: time.sleep(0.010), "iteration")
bench.run(lambda: sum((1, 2, 3)))
print(json.dumps({"s": time.perf_counter() - start}))
"""
    seconds = in_fresh_process(code)["s"]
    report("Time limit", [Figure("op of 100 ns with a setup of 10 ms", seconds, 2, "s")])


def main() -> None:
    """Print all figures as tables."""
    print(machine())
    others = {"pyperf": pyperf, "pytest_benchmark": pytest_benchmark}
    others = {name: run for name, run in others.items() if importlib.util.find_spec(name)}
    bars = []
    rows: list[dict[str, float]] = []
    for case in CASES:
        runs = [in_fresh_process(text(OURS, case)) for _ in range(PROCESSES)]
        row = medians(runs)
        if case.bar is not None:
            bars += [
                Figure(
                    f"{case.name}, {way}", row[way], case.bar, "ns", spread([r[way] for r in runs])
                )
                for way in row
            ]
        timeit = [in_fresh_process(text(TIMEIT, case)) for _ in range(PROCESSES)]
        row |= medians(timeit)
        for run in others.values():
            row |= run(case)
        rows.append(row)
    print("\n### Setup excluded, ns\n")
    print("| case |", " | ".join(rows[0]), "|")
    print("|:--|" + "--:|" * len(rows[0]))
    for case, row in zip(CASES, rows, strict=True):
        print(f"| {case.name} |", " | ".join(f"{value:,.1f}" for value in row.values()), "|")
    report("An empty op", bars)
    consistency()
    budget()


if __name__ == "__main__":
    main()
