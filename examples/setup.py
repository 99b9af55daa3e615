"""Ops that use up what they work on: the setup before each call is not in the figures."""

import random
from collections import deque

from ankerl_py import Bench

# What does it take to sort 1000 numbers? Sorted ones are sorted faster, so they are shuffled anew.
numbers = list(range(1000))
random.Random(1).shuffle(numbers)
v: list[int] = []


def refill() -> None:
    v[:] = numbers


bench = Bench().title("sorting").time_unit("us").setup(refill, scope="iteration")
bench.run("list.sort", v.sort)
bench.run("list.sort, backwards", lambda: v.sort(reverse=True))
bench.run("sorted", "w = sorted(v)", globals=globals())

# What does the first element cost, in a list and in a deque? Each call gets a fresh one.
some = numbers[:200]
bench = Bench().title("taking the first of 200").relative()
bench.inputs(lambda: list(some)).run("list.pop(0)", lambda values: values.pop(0))
bench.inputs(lambda: deque(some)).run("deque.popleft", lambda values: values.popleft())

# What does it take to make an object, and what to release it again? One is the other's setup.
objects: list[object] = []


def make(objects: list[object]) -> None:
    objects.append(object())


def release(objects: list[object]) -> None:
    objects.pop()


bench = Bench().title("one object")
bench.run_excluding_setup("make", objects, list.clear, make)
bench.run_excluding_setup("release", objects, make, release)
