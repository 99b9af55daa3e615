from __future__ import annotations

import copy
import pickle
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ankerl_py.errors import ConfigError, ConfigTypeError
from ankerl_py.rng import Rng, splitmix64
from support import check_case, load_cases


def texts(numbers: Any) -> list[str]:
    return [str(number) for number in numbers]


def values(rng: Rng, count: int = 20) -> list[str]:
    return texts(rng() for _ in range(count))


def shuffled(rng: Rng, size: int) -> list[int]:
    items = list(range(size))
    rng.shuffle(items)
    return items


def walk(rng: Rng) -> dict[str, Any]:
    return {
        "state": texts(rng.state),
        "values": values(rng),
        "state_after_values": texts(rng.state),
    }


def answer(case: dict[str, Any]) -> dict[str, Any]:
    """What this package answers, in the form of the vectors."""
    given_ = case["in"]
    try:
        return globals()[f"answer_{given_['kind']}"](given_)  # type: ignore[no-any-return]
    except ConfigError as error:
        return {"error": str(error)}


def answer_seed(given_: dict[str, Any]) -> dict[str, Any]:
    seed = int(given_["seed"])
    bounded = []
    for limit in given_["bounded_ranges"]:
        rng = Rng(seed)
        bounded.append({"range": limit, "values": [rng.bounded(int(limit)) for _ in range(20)]})
    uniform = Rng(seed)
    shuffles = []
    for size in given_["shuffle_sizes"]:
        rng = Rng(seed)
        result = shuffled(rng, size)
        shuffles.append({"size": size, "result": result, "state_after": texts(rng.state)})
    return {
        **walk(Rng(seed)),
        "bounded": bounded,
        "uniform01": [uniform.uniform01() for _ in range(20)],
        "shuffle": shuffles,
    }


def answer_xy(given_: dict[str, Any]) -> dict[str, Any]:
    return walk(Rng.from_state(int(given_["x"]), int(given_["y"])))


def answer_vector(given_: dict[str, Any]) -> dict[str, Any]:
    return walk(Rng.from_data([int(number) for number in given_["data"]]))


def answer_splitmix64(given_: dict[str, Any]) -> dict[str, Any]:
    state, numbers = int(given_["state"]), []
    for _ in range(given_["count"]):
        state, number = splitmix64(state)
        numbers.append(str(number))
    return {"values": numbers, "state": str(state)}


def answer_copy(given_: dict[str, Any]) -> dict[str, Any]:
    rng = Rng(int(given_["seed"]))
    values(rng, given_["advance"])
    other = rng.copy()
    return {
        "state": texts(rng.state),
        "copy_state": texts(other.state),
        "copy_values": values(other),
        "values": values(rng),
    }


def answer_mixed(given_: dict[str, Any]) -> dict[str, Any]:
    rng = Rng(int(given_["seed"]))
    do: dict[str, Any] = {
        "next": lambda: str(rng()),
        "bounded": lambda limit: str(rng.bounded(int(limit))),
        "uniform01": rng.uniform01,
        "shuffle": lambda size: shuffled(rng, size),
    }
    results = [do[op](*args) for op, *args in given_["ops"]]
    return {"results": results, "state": texts(rng.state)}


@pytest.mark.parametrize("case", load_cases("rng"))
def test_sequence_is_that_of_nanobench(case: dict[str, Any]) -> None:
    """Numbers, shuffles and states are nanobench's, bit for bit."""
    check_case("rng", case, answer(case), case["out"])


def test_without_a_seed_each_generator_is_another() -> None:
    """No seed means the system's randomness."""
    assert Rng().state != Rng().state


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seed_has_64_bits(seed: int) -> None:
    """A seed that does not fit is refused rather than cut."""
    with pytest.raises(ConfigError, match=f"^seed: {seed} is not in the range 0 to {2**64 - 1}"):
        Rng(seed)


def test_seed_is_an_integer() -> None:
    """Anything else is a wrong type."""
    with pytest.raises(ConfigTypeError, match=r"^seed: 1\.5 is not a whole number"):
        Rng(1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [-1, 2**32])
def test_limit_has_32_bits(limit: int) -> None:
    """A limit that does not fit is refused, because the numbers would not reach it."""
    with pytest.raises(ConfigError, match=f"^n: {limit} is not in the range 0 to {2**32 - 1}"):
        Rng(1).bounded(limit)


def test_state_of_zeros_is_refused() -> None:
    """A generator in that state could never leave it."""
    for make in (lambda: Rng.from_state(0, 0), lambda: Rng.from_data([0, 0])):
        with pytest.raises(ConfigError, match=r"\(0, 0\) would only ever give 0"):
            make()


def test_halves_of_the_state_are_checked() -> None:
    """Each half is an unsigned 64 bit integer; the error names it."""
    with pytest.raises(ConfigError, match=r"^x: -1 is not in the range"):
        Rng.from_state(-1, 1)
    with pytest.raises(ConfigError, match=r"^y: 18446744073709551616 is not in the range"):
        Rng.from_state(1, 2**64)


def test_data_has_two_entries() -> None:
    """The error tells how many there were."""
    with pytest.raises(ConfigError) as error:
        Rng.from_data([1, 2, 3])
    assert str(error.value) == "Rng: needed exactly 2 entries in data, but got 3"


@given(st.integers(0, 2**64 - 1), st.integers(0, 30))
def test_copies_go_on_alike(seed: int, advance: int) -> None:
    """A copy of any kind, and one from the state, gives the same numbers as the original."""
    rng = Rng(seed)
    values(rng, advance)
    others = [
        rng.copy(),
        copy.copy(rng),
        pickle.loads(pickle.dumps(rng)),
        Rng.from_state(*rng.state),
        Rng.from_data(rng.state),
        eval(repr(rng), {"Rng": Rng}),
    ]
    expected = values(rng)
    assert [values(other) for other in others] == [expected] * len(others)


def test_setting_a_state_goes_on_from_there() -> None:
    """A generator can be set back."""
    rng = Rng(7)
    state = rng.state
    first = values(rng)
    rng.state = state
    assert values(rng) == first


@given(st.integers(0, 2**64 - 1), st.lists(st.integers(), max_size=50))
def test_shuffle_keeps_the_items(seed: int, items: list[int]) -> None:
    """Shuffling changes the order only, in place."""
    actual = items.copy()
    Rng(seed).shuffle(actual)
    assert Counter(actual) == Counter(items)


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**32 - 1))
def test_numbers_are_in_their_ranges(seed: int, limit: int) -> None:
    """Numbers stay below their limits."""
    rng = Rng(seed)
    assert all(0 <= rng.bounded(limit) < limit for _ in range(20))
    assert all(0.0 <= rng.uniform01() < 1.0 for _ in range(20))
    assert all(0 <= rng() < 2**64 for _ in range(20))
