"""Which one is faster, really? Alternatives that take turns, a second for all of it."""

import json
import random

from ankerl_py import Bench
from ankerl_py.errors import SlowerError

words = [str(number) for number in random.Random(1).sample(range(10**6), 1000)]
bench = Bench().title("1000 words").unit("word").batch(len(words))


def plus() -> str:
    text = ""
    for word in words:
        text += word
    return text


# Two alternatives: the second one against the first, with a confidence interval.
bench.compare("join", lambda: "".join(words), "+=", plus)

# Several, as statements; the summary names the fastest, and whether it is ahead for sure.
bench.compare(
    {
        "append": "found = []\nfor word in words: found.append(word.upper())",
        "comprehension": "found = [word.upper() for word in words]",
        "map": "found = list(map(str.upper, words))",
    },
    globals={"words": words},
)

# Do they differ at all? Go on until the interval is narrower than 1 %, for two seconds at most.
numbers = sorted(map(int, words))
backwards = numbers[::-1]
same = bench.title("sorting").compare(
    "sorted", lambda: sorted(numbers), "reversed", lambda: sorted(backwards), until=1, time_budget=2
)
print(f"\nfrom {same.rounds} rounds: {same['reversed'].relative:.3f} times as fast")

# What an alternative processes may differ: ratios are per unit.
short, long = words[:100], words
bench.title("JSON").compare(
    "short",
    lambda: json.dumps(short),
    "long",
    lambda: json.dumps(long),
    batch={"short": len(short), "long": len(long)},
)

# In tests and CI: fail if something is slower than it may be, but only if that is sure.
compared = bench.output(None).compare("old", lambda: sum(numbers), "new", lambda: max(numbers))
try:
    compared.raise_if_slower(10)
except SlowerError as error:
    print(f"\nToo slow: {error}")
