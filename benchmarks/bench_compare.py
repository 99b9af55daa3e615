"""How well comparisons tell: identical ops on a real machine, and larger simulations.

Run it by hand (`make bench`, or this file); name sections to run only those. `identical` takes half
a minute on a real clock, pinned to one core; the others are arithmetic and take a few minutes.
"""

from __future__ import annotations

import statistics
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
from harness import Figure, in_fresh_process, report, run_sections

from ankerl_py.results.big_o import Fits
from ankerl_py.statistics import complexity, intervals

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from test_big_o import RUN, noisy
from test_intervals import NOISE, misses, paired_logs, slot_noise, stops_wrong

PROCESSES = 5

IDENTICAL = """
import hashlib
from ankerl_py import Bench
EPOCHS = 200
data = bytes(range(256)) * 4
numbers = [(i * 7919) % 1009 for i in range(300)]
document = {"a": [1, 2, 3], "b": {"c": "text", "d": None}}
words = [str(number) for number in numbers]
ops = {
    "sha256": lambda: hashlib.sha256(data).digest(),
    "sorted": lambda: sorted(numbers),
    "json": lambda: json.dumps(document),
    "join": lambda: ",".join(words),
    "loop": lambda: [number * 2 for number in numbers],
}
found = {}
for name, op in ops.items():
    compared = Bench().output(None).epochs(EPOCHS).compare("one", op, "other", op)
    runs = Bench().output(None).epochs(EPOCHS).run("one", op).run("other", op).results
    one, other = (run.median("elapsed") for run in runs)
    found[name] = [
        compared["other"].relative, compared["other"].ratio.low, compared["other"].ratio.high,
        float(compared["other"].is_significant), one / other,
    ]
print(json.dumps(found))
"""


def identical() -> None:
    """25 comparisons of an op with itself, beside runs one after the other."""
    processes = [in_fresh_process(IDENTICAL) for _ in range(PROCESSES)]
    rows = [(name, *figures) for run in processes for name, figures in run.items()]
    print("\n| op | paired | 95% CI | one after the other |\n|:--|--:|--:|--:|")
    for name, ratio, low, high, _, sequential in rows:
        print(
            f"| {name} | {(ratio - 1) * 100:+.2f}% | {(low - 1) * 100:+.2f}% .. "
            f"{(high - 1) * 100:+.2f}% | {(sequential - 1) * 100:+.2f}% |"
        )
    paired = [abs(row[1] - 1) * 100 for row in rows]
    sequential = [abs(row[5] - 1) * 100 for row in rows]
    significant = sum(row[4] for row in rows)
    report(
        f"{len(rows)} comparisons of an op with itself, 200 rounds each",
        [
            Figure(
                "worst error of the ratio",
                max(paired),
                0.5,
                "%",
                f"median {statistics.median(paired):.2f}%; one after the other: worst "
                f"{max(sequential):.2f}%, median {statistics.median(sequential):.2f}%",
            ),
            # More than 3 of 25 at 5 % each is what happens by chance in 3 % of all cases.
            Figure("significant", significant, 3, "of 25", "5 % of them are by chance"),
        ],
    )


def coverage() -> None:
    """How often intervals miss the truth: paired ones, adaptive ones, unpaired ones."""
    rng = np.random.default_rng(1)
    trials, figures = 20_000, []
    for kind in NOISE:
        for size, rounds in ((2, 12), (2, 60), (4, 16)):
            confidence = intervals.bonferroni_confidence(size - 1)
            indices = intervals.median_interval_indices(rounds, confidence)
            logs = (paired_logs(rng, kind, rounds, size) for _ in range(trials))
            wrong = sum(misses(each, indices) for each in logs)
            what = f"paired, {kind} noise, {size} alternatives, {rounds} rounds"
            figures.append(Figure(what, 100 * wrong / trials, 5, "% wrong"))
    report("Intervals that miss: paired", figures)
    figures = []
    for kind in NOISE:
        for until in (0.01, 0.03):
            find, number = intervals.anytime_interval_indices, 1500
            logs = (paired_logs(rng, kind, 400, 2)[:, 0] for _ in range(number))
            wrong = sum(stops_wrong(each, find, until) for each in logs)
            what = f"adaptive, {kind} noise, until {until:.0%}"
            figures.append(Figure(what, 100 * wrong / number, 5, "% wrong"))
    report("Intervals that miss: adaptive", figures)
    figures = []
    for kind in NOISE:
        samples = ([slot_noise(rng, kind, 11).tolist() for _ in "ab"] for _ in range(5000))
        ends = (intervals.shift_interval(*pair, 0.95) for pair in samples)
        wrong = sum(not low <= 0.0 <= high for low, high in ends)
        # Only where epochs are independent of each other does it hold what it promises.
        bar = 5.6 if kind in ("white", "skewed") else 100
        figures.append(Figure(f"unpaired, {kind} noise", 100 * wrong / 5000, bar, "% wrong"))
    report("Intervals that miss: unpaired", figures)


def own_noise() -> None:
    """What pairing cannot take out: noise of one alternative that lasts for some rounds."""
    rng = np.random.default_rng(2)
    figures = []
    for memory in (0.0, 0.3, 0.6, 0.9):
        wrong = 0
        for _ in range(5000):
            noise = np.zeros(60)
            for i, j in pairwise(range(60)):
                noise[j] = memory * noise[i] + rng.normal()
            wrong += misses(noise[:, None], intervals.median_interval_indices(60, 0.95))
        what = f"autocorrelation {memory:g} from round to round, 60 rounds"
        figures.append(Figure(what, wrong / 50, 100, "% wrong"))
    report("Intervals that miss: noise of an alternative's own", figures)


def growth() -> None:
    """How often the true model is not among those that are called likely."""
    rng = np.random.default_rng(3)
    figures = []
    for name in list(complexity.MODELS)[:-1]:
        for spread, offset in ((0.01, 0.0), (0.05, 0.0), (0.3, 0.0), (0.02, 0.02), (0.02, 0.1)):
            likely = [
                [fit.name for fit in Fits.of(noisy(rng, name, RUN, spread, offset)).likely]
                for _ in range(400)
            ]
            missed = sum(name not in names for names in likely) / 4
            alone = sum(len(names) == 1 for names in likely) / 4
            what = f"{name}, epochs {spread:.0%}, sizes {offset:.0%}"
            figures.append(Figure(what, missed, 5, "% missed", f"alone: {alone:.0f}%"))
    report("Growth: the truth is not among the likely models", figures)


SECTIONS = {
    "identical": identical,
    "coverage": coverage,
    "own_noise": own_noise,
    "growth": growth,
}


if __name__ == "__main__":
    run_sections(SECTIONS)
