"""How does it grow? Searching, sorting and building a string, for n from 25 to 800."""

import bisect
import random
from collections.abc import Callable

from ankerl_py import Bench

SIZES = (25, 50, 100, 200, 400, 600, 800)

rng = random.Random(1)


def grown(title: str, make: Callable[[int], Callable[[], object]]) -> Bench:
    """Measure ops that `make` makes for each size, and print how they grow."""
    bench = Bench().title(title)
    for n in SIZES:
        bench.complexity_n(n).run(f"{title}, n = {n}", make(n))
    fits = bench.complexity_big_o()
    print(f"\n## {title}: {fits.verdict}\n{fits}")
    return bench


def numbers(n: int) -> list[int]:
    return rng.sample(range(10**6), n)


def in_dict(n: int) -> Callable[[], object]:
    values = dict.fromkeys(numbers(n))
    wanted = list(values)[n // 2]
    return lambda: [wanted in values for _ in range(10)]


def in_list(n: int) -> Callable[[], object]:
    values = numbers(n)
    return lambda: -1 in values


def by_bisect(n: int) -> Callable[[], object]:
    values = sorted(numbers(n))
    wanted = [values[i] for i in range(0, n, max(1, n // 20))][:20]
    return lambda: [bisect.bisect(values, each) for each in wanted]


def sorting(n: int) -> Callable[[], object]:
    values = numbers(n)
    return lambda: sorted(values)


def prepending(n: int) -> Callable[[], object]:
    text = 150 * "x"  # all of the string has to be copied each time that this is put before it

    def build() -> str:
        built = ""
        for _ in range(n):
            built = text + built
        return built

    return build


grown("search in a dict", in_dict)
grown("search in a list", in_list)
grown("bisect", by_bisect)
bench = grown("sorting", sorting)
grown("prepending to a string", prepending)

# A model of one's own, and the figures behind the verdict.
print(bench.complexity_big_o("O(n sqrt n)", lambda n: n * n**0.5))
for fit, share in zip(bench.complexity_big_o(), bench.complexity_big_o().shares, strict=True):
    print(f"{fit.name:10} is the best one in {share:.0%} of the resamples")
