"""`Bench.compare` and `Bench.complexity_big_o`: from what is asked for to what is printed."""

from __future__ import annotations

import io
import math
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ankerl_py import Bench, BigO, BigOFits, CompareResult, ResultStore
from ankerl_py.errors import ConfigError, ConfigTypeError, OpError, OutputError, SlowerError
from ankerl_py.testing import FakeClock, make_result

if TYPE_CHECKING:
    from collections.abc import Callable

    from ankerl_py.core.instruments import Instruments


def ticking(clock: FakeClock, nanoseconds: int) -> Callable[[], None]:
    """An op that takes so long on a virtual clock."""
    return lambda: clock.advance(nanoseconds)


def virtual(bench: Bench, clock: FakeClock) -> Bench:
    """Ten iterations an epoch, and nothing subtracted."""
    return bench.clock(clock).epoch_iterations(10).correct_overhead(False)


TEXT = """
| relative |              95% CI |               ns/op |                op/s |    err% |     total \
| benchmark
|---------:|--------------------:|--------------------:|--------------------:|--------:|----------:\
|:----------
|   100.0% |                     |              300.00 |        3,333,333.33 |    0.0% |      0.00 \
| `slow`
|   150.0% |    150.0% .. 150.0% |              200.00 |        5,000,000.00 |    0.0% |      0.00 \
| `fast`

  Summary
    `fast` ran 1.50x faster than `slow`
    95% CI [1.50 .. 1.50], 12 paired rounds, interleaved
"""


def test_a_comparison_is_measured_printed_and_returned(instruments: Instruments) -> None:
    """Whatever loops measure; and nothing of it is among the results."""
    clock, stream = FakeClock(), io.StringIO()
    bench = virtual(Bench(instruments=instruments), clock).output(stream)
    compared = bench.compare("slow", ticking(clock, 300), "fast", ticking(clock, 200))
    assert stream.getvalue() == str(compared) == TEXT
    assert isinstance(compared, CompareResult)
    assert compared["fast"].relative == pytest.approx(1.5)
    assert bench.results == ()


def test_statements_and_callables(bench: Bench) -> None:
    """Both kinds can be compared, by names in turn or as a mapping."""
    clock = FakeClock()
    names = {"tick": ticking(clock, 100), "tock": ticking(clock, 400)}
    bench = virtual(bench, clock)
    compared = bench.compare({"a": "tick()", "b": "tock()", "c": names["tick"]}, globals=names)
    assert [entry.relative for entry in compared] == pytest.approx([1.0, 0.25, 1.0])


def test_the_next_row_has_a_header(bench: Bench) -> None:
    """A comparison ends the table above it."""
    clock, stream = FakeClock(), io.StringIO()
    bench = virtual(bench, clock).output(stream)
    op = ticking(clock, 100)
    bench.run("a", op).compare("b", op, "c", op)
    bench.run("d", op)
    assert stream.getvalue().count("| benchmark\n") == 3


def test_a_stream_that_fails(bench: Bench) -> None:
    """What could not be written is in the message."""

    class Broken(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(28, "no space")

    clock = FakeClock()
    op = ticking(clock, 100)
    with pytest.raises(OutputError, match=r"no space(.|\n)*this text is lost: \| relative"):
        virtual(bench, clock).output(Broken()).compare("a", op, "b", op)


def test_unit_and_batch_of_each(bench: Bench) -> None:
    """As a mapping; ratios are per unit."""
    clock = FakeClock()
    op = ticking(clock, 100)
    compared = virtual(bench, clock).compare(
        "a", op, "b", op, unit="row", batch={"a": 5.0, "b": 10.0}
    )
    assert [each.config.unit for each in compared.results] == ["row", "row"]
    assert compared["b"].relative == pytest.approx(2.0)


def test_overhead_is_subtracted_and_stated(instruments: Instruments) -> None:
    """From both alike, if they are of one kind; raw times are kept. A method is of another."""
    bench = Bench(instruments=instruments).output(None).epochs(6).min_epoch_time("50us")
    compared = bench.compare("a", lambda: [0] * 2000, "b", lambda: [1] * 2000)
    overheads = [result.overhead for result in compared.results]
    assert overheads[0] == overheads[1]
    assert overheads[0].per_iteration_ns > 0.0
    assert "ns/iteration subtracted from all alike" in compared.text
    mixed = bench.compare("a", lambda: [0] * 2000, "b", "[0] * 2000")
    kinds = [result.overhead.kind for result in mixed.results]
    assert kinds == ["function", "statement"]
    plain = bench.correct_overhead(False).compare("a", lambda: [0], "b", lambda: [1])
    assert "overhead" not in plain.text


def test_setup_and_inputs_come_before_each(bench: Bench) -> None:
    """They are those of the bench, untimed as in a run."""
    clock = FakeClock()
    made = []

    def make() -> int:
        clock.advance(10_000)
        made.append(1)
        return 100

    bench = virtual(bench, clock).epochs(6)
    compared = bench.inputs(make).compare("a", clock.advance, "b", lambda ns: clock.advance(2 * ns))
    assert compared["b"].relative == pytest.approx(0.5)
    assert compared["a"].result.median("elapsed") == 100e-9
    assert len(made) == 2 * 6 * 10
    epochs = []
    bench.setup(lambda: epochs.append(1)).compare("a", make, "b", make)
    assert len(epochs) == 12


def test_adaptive_comparison(bench: Bench) -> None:
    """It says how wide it is, and that intervals allow for having looked."""
    clock = FakeClock()
    bench = virtual(bench, clock)
    compared = bench.compare("a", ticking(clock, 100), "b", ticking(clock, 101), until=1.0)
    assert compared.anytime
    assert compared.rounds == 14
    assert "1% wanted, reached" in compared.text
    with pytest.raises(ConfigError, match="until: 0"):
        bench.compare("a", len, "b", len, until=0)
    with pytest.raises(ConfigError, match="time_budget"):
        bench.compare("a", len, "b", len, until=1, time_budget=-1)


def test_what_cannot_be_compared_is_refused(bench: Bench) -> None:
    """Before anything is measured."""
    with pytest.raises(OpError, match="no pairs"):
        bench.compare(len)
    with pytest.raises(OpError, match="cannot be called without arguments"):
        bench.compare("a", lambda: 1, "b", lambda x: x)
    with pytest.raises(OpError, match="cannot take an argument"):
        bench.inputs(int).compare("a", "1", "b", "2")


def test_raise_if_slower(bench: Bench) -> None:
    """It is an AssertionError, which test runners know."""
    clock = FakeClock()
    compared = virtual(bench, clock).compare("a", ticking(clock, 100), "b", ticking(clock, 120))
    compared.raise_if_slower(25)
    with pytest.raises(SlowerError, match="'b' takes 20% more time than 'a', at least 20%"):
        compared.raise_if_slower(10)


# ---------------------------------------------------------------- big O


def grown(bench: Bench, *sizes: int) -> Bench:
    """Something that grows with the square of its size."""
    clock = FakeClock()
    for n in sizes:
        virtual(bench, clock).complexity_n(n).run(str(n), ticking(clock, n * n))
    return bench


def test_growth(bench: Bench) -> None:
    """Sizes are those that the results have, whatever the bench has now."""
    fits = grown(bench, 10, 20, 40, 80).complexity_big_o()
    assert isinstance(fits, BigOFits)
    assert (fits.verdict, fits.best.constant) == ("O(n^2)", pytest.approx(1e-9))
    own = bench.complexity_big_o("O(n sqrt n)", lambda n: n * math.sqrt(n))
    assert isinstance(own, BigO)
    assert own.normalized_root_mean_square == pytest.approx(0.18, abs=0.01)
    assert bench.complexity_big_o(measure="iterations").verdict == "O(1)"


def test_growth_is_that_of_one_title_and_unit() -> None:
    """Other tables, and other units, have nothing to do with it."""
    store = ResultStore(
        make_result([(n * factor, 1)], complexity_n=n, **settings)
        for n in (10, 20, 40)
        for factor, settings in [(1, {}), (n, {"title": "t"}), (n * n, {"unit": "byte"})]
    )
    bench = Bench(store=store).output(None)
    assert bench.complexity_big_o().verdict == "O(n)"
    assert bench.title("t").complexity_big_o().verdict == "O(n^2)"
    assert bench.unit("byte").complexity_big_o().verdict == "O(n^3)"
    assert bench.title("none").complexity_big_o().verdict.startswith("cannot tell: at least 3")


def test_growth_checks_what_it_is_given(bench: Bench) -> None:
    """A name without a model, and the other way round."""
    with pytest.raises(ConfigTypeError, match="None is not a function of n"):
        bench.complexity_big_o("O(x)", None)  # type: ignore[call-overload]
    with pytest.raises(ConfigTypeError, match="name: None is not a text"):
        bench.complexity_big_o(None, math.sqrt)  # type: ignore[call-overload]
    with pytest.raises(ConfigError, match="no measure"):
        bench.complexity_big_o(measure="ticks")


@pytest.mark.parametrize("example", ["compare.py", "big_o.py"])
def test_examples_run(example: str) -> None:
    """What they print depends on the machine; that they do is what is tested."""
    path = Path(__file__).parent.parent / "examples" / example
    done = subprocess.run([sys.executable, "-W", "error", path], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) > 30


def test_comparing_needs_no_numpy() -> None:
    """Only fits of growth do; a comparison starts without waiting for it."""
    code = (
        "import sys, ankerl_py\n"
        "ankerl_py.Bench(output=None).epochs(1).epoch_iterations(1).compare('a', int, 'b', int)\n"
        "assert 'numpy' not in sys.modules and 'tabulate' not in sys.modules\n"
        "ankerl_py.Bench(output=None).complexity_big_o()\n"
        "assert 'numpy' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
