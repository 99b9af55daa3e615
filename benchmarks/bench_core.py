"""Speed, memory and accuracy of the core, each figure beside its bar.

Run it by hand on a quiet machine (`make bench`, or this file); it takes a minute or two. Every
figure comes from fresh processes, pinned to one core.
"""

from __future__ import annotations

import statistics

from harness import Figure, in_fresh_process, medians, report, run_sections, spread

PROCESSES = 10

DURATION = """
start = time.perf_counter()
from ankerl_py import Bench
import_s = time.perf_counter() - start
def f(): pass
out = open(os.devnull, "w")
def run():
    start = time.perf_counter()
    Bench().output(out).run("f", f)
    return time.perf_counter() - start
first = run()
later = [run() for _ in range(20)]
print(json.dumps({"first": first * 1e3, "later": statistics.median(later) * 1e3,
                  "numpy": float("numpy" in sys.modules)}))
"""

SET = {
    "fast": ('Bench().run("x += 1", globals={"x": 1})', ""),
    "slow": ('Bench().run("sleep", lambda: time.sleep(0.010))', ""),
    "fluctuating": (
        'Bench().run("for _ in range(g(8)): g(64)", globals={"g": g})',
        "import random; g = random.Random(1).getrandbits",
    ),
}

# The same by hand: 11 epochs of 1 ms, with no table, no overhead and no search worth the name.
BY_HAND = """
n = 1
while True:
    start = time.perf_counter_ns(); loop(n)
    if time.perf_counter_ns() - start > 600_000: break
    n *= 2
samples = []
for _ in range(11):
    start = time.perf_counter_ns(); loop(n); samples.append((time.perf_counter_ns() - start) / n)
statistics.median(samples)
"""

BY_HAND_LOOPS = {
    "fast": "def loop(n):\n x = 1\n for _ in range(n): x += 1",
    "slow": "def loop(n):\n for _ in range(n): time.sleep(0.010)",
    "fluctuating": (
        "import random; g = random.Random(1).getrandbits\n"
        "def loop(n):\n for _ in range(n):\n  for _ in range(g(8)): g(64)"
    ),
}

WHOLE = """
import subprocess
def whole(code):
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start
"""

LADDER = """
from ankerl_py import Bench
x = 1000
s = "abc"
d = {"k": 1}
bench = Bench().output(None)
def measure(op):
    result = bench.run("op", op, globals=globals()).results[-1]
    return result.median("elapsed") * 1e9
def intercept(times):
    weights = {k: 1 / k for k in times}
    total = sum(weights.values())
    mean_k = sum(weights[k] * k for k in times) / total
    mean_t = sum(weights[k] * t for k, t in times.items()) / total
    slope = sum(weights[k] * (k - mean_k) * (t - mean_t) for k, t in times.items()) / sum(
        weights[k] * (k - mean_k) ** 2 for k in times)
    return mean_t - slope * mean_k
def as_function(text):
    names = {"x": x, "s": s, "d": d}
    exec(f"def op(): {text}", names)
    return names["op"]
def empty(): pass
figures = {"empty": measure(empty), "lambda": measure(lambda: None), "pass": measure("pass")}
for statement in ("x + 1", "x < 5", "d['k']", "len(s)"):
    ladder = {k: "; ".join([statement] * k) for k in (1, 2, 4, 8, 16, 32, 64)}
    figures[f"function {statement}"] = intercept(
        {k: measure(as_function(text)) for k, text in ladder.items()})
    figures[f"statement {statement}"] = intercept({k: measure(t) for k, t in ladder.items()})
print(json.dumps(figures))
"""

REPEAT = """
import hashlib
from ankerl_py import Bench
data = bytes(range(256)) * 4
bench = Bench().output(None)
times = [bench.run("sha256", lambda: hashlib.sha256(data).digest()).results[-1].median("elapsed")
         for _ in range(50)]
print(json.dumps({"cv": statistics.stdev(times) / statistics.mean(times) * 100}))
"""

MEMORY = """
import resource
from ankerl_py import Bench, ResultStore
from ankerl_py.testing import make_result
def rss_mb():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() / 1e6
epochs = [(1_000_000 + i, 65_000 + i) for i in range(11)]
make_result(epochs)
store = ResultStore()
before = rss_mb()
seconds = []
for block in range(10):
    results = [make_result(epochs, name=f"benchmark {block} {i}") for i in range(10_000)]
    start = time.perf_counter()
    for result in results: store.append(result)
    seconds.append(time.perf_counter() - start)
    del results
bench = Bench(store=store).output(None)
after = rss_mb()
def table(n):
    from ankerl_py.renderers.markdown import markdown_table
    chosen = bench.results[:n]
    start = time.perf_counter(); markdown_table(chosen)
    return time.perf_counter() - start
table(100)
small, large = table(2_000), table(20_000)
print(json.dumps({"mb": after - before, "append": min(seconds[5:]) / min(seconds[:5]),
                  "table": large / small / 10, "row_us": large / 20_000 * 1e6}))
"""


def duration() -> None:
    """How long a default benchmark and a small set of them take."""
    runs = [in_fresh_process(DURATION) for _ in range(PROCESSES)]
    times = medians(runs)
    sums = {"ankerl_py": 0.0, "by hand": 0.0}
    for name, (statement, prelude) in SET.items():
        ours = f"import time\nfrom ankerl_py import Bench\n{prelude}\n{statement}"
        hand = f"import time, statistics\n{BY_HAND_LOOPS[name]}\n{BY_HAND}"
        code = f"{WHOLE}\npairs = [(whole({ours!r}), whole({hand!r})) for _ in range(5)]\n"
        code += (
            "ours, hand = (statistics.median(times) for times in zip(*pairs))\n"
            "print(json.dumps({'ankerl_py': ours, 'by hand': hand}))"
        )
        for key, value in in_fresh_process(code).items():
            sums[key] += value
    report(
        "Speed",
        [
            Figure(
                "a default run of a fast op",
                times["later"],
                20,
                "ms",
                spread([run["later"] for run in runs]),
            ),
            Figure(
                "the first run in a process, beyond that",
                times["first"] - times["later"],
                40,
                "ms",
                spread([run["first"] - run["later"] for run in runs]),
            ),
            Figure(
                "fast, slow, fluctuating: three whole processes",
                sums["ankerl_py"],
                0.35,
                "s",
                f"by hand, in the same run: {sums['by hand']:.3f} s",
            ),
        ],
    )


def imports() -> None:
    """What `import ankerl_py` adds to a bare Python."""
    code = WHOLE + (
        "pairs = [(whole('import ankerl_py'), whole('pass')) for _ in range(20)]\n"
        "print(json.dumps({'ms': statistics.median(a - b for a, b in pairs) * 1e3}))"
    )
    heavy = "numpy", "tabulate", "mstache"
    loaded = in_fresh_process(
        f"import ankerl_py\nprint(json.dumps({{m: float(m in sys.modules) for m in {heavy!r}}}))"
    )
    report(
        "Import",
        [
            Figure("import ankerl_py over bare Python", in_fresh_process(code)["ms"], 35, "ms"),
            Figure("of numpy, tabulate, mstache imported", sum(loaded.values()), 0, "modules"),
        ],
    )


def bias() -> None:
    """What is wrongly charged to an op: intercept of reported time over a growing body."""
    runs = [in_fresh_process(LADDER) for _ in range(PROCESSES)]
    figures = []
    for key, value in medians(runs).items():
        bar = 0.3 if key in ("empty", "lambda", "pass") else 0.5
        what = key if bar == 0.3 else f"intercept, as {key}"
        figures.append(Figure(what, value, bar, "ns", spread([run[key] for run in runs])))
    report("Bias", figures)


def repeatability() -> None:
    """How far the figure of sha256 of 1 KiB moves within a process."""
    values = [in_fresh_process(REPEAT)["cv"] for _ in range(5)]
    report(
        "Repeatability",
        [
            Figure(
                "coefficient of variation of 50 runs of sha256",
                statistics.median(values),
                1,
                "%",
                spread(values),
            )
        ],
    )


def memory() -> None:
    """100,000 results, and what it takes to store and to print them."""
    run = in_fresh_process(MEMORY)
    report(
        "Memory and scaling",
        [
            Figure("100,000 results of 11 epochs", run["mb"], 150, "MB"),
            Figure("appending: the last 10,000 against the first", run["append"], 2, "times"),
            Figure(
                "a table ten times as long, per row",
                run["table"],
                1.5,
                "times",
                f"{run['row_us']:.0f} us a row",
            ),
        ],
    )


SECTIONS = {
    "duration": duration,
    "imports": imports,
    "bias": bias,
    "repeatability": repeatability,
    "memory": memory,
}


if __name__ == "__main__":
    run_sections(SECTIONS)
