"""Fits of growth models: recorded cases, odd data, how sure they are, and how they are shown."""

from __future__ import annotations

import csv
import io
import json
import math

import numpy as np
import pytest
from comparisons import measurements
from hypothesis import example, given
from hypothesis import strategies as st

from ankerl_py.config import Config
from ankerl_py.errors import ConfigError, ConfigTypeError
from ankerl_py.renderers.big_o import BigOFits
from ankerl_py.results.big_o import BigO, Fits, Point, fit_custom, points_of
from ankerl_py.results.measure import Measure
from ankerl_py.results.measurement import RawMeasurement
from ankerl_py.statistics import complexity
from ankerl_py.testing import make_result
from support import check_case, departs, load_cases, number

CUSTOM = {
    "log2(log2(n))": lambda n: math.log2(math.log2(n)),
    "sqrt(n)": math.sqrt,
    "n*sqrt(n)": lambda n: n * math.sqrt(n),
    "2^n": lambda n: 2.0**n,
    "log2(n)*log2(n)": lambda n: math.log2(n) ** 2,
    "1/n": lambda n: 1.0 / n,
    "0": lambda n: 0.0,
}


class Known:
    """A result whose median is given, as in most recorded cases."""

    overflowed = False

    def __init__(self, n, *values):
        self.config = Config(complexity_n=n)
        self._values = values

    def values(self, measure):
        return self._values


def recorded(case):
    """The results of a recorded case, in which a size of 0 or less means that there is none."""
    results = []
    for each in case["in"]["results"]:
        n = number(each["complexityN"])
        n = n if n > 0.0 else None
        if "seconds" in each:
            results.append(Known(n, number(each["seconds"])))
        else:
            epochs = measurements(each["epochs"])
            failure = None if epochs else "iterations overflow"
            results.append(make_result(epochs, complexity_n=n, failure=failure))
    return results


def shown(fit, expected):
    """A fit as in the vectors. Digits that hang on the last bit of an operation do not count."""
    text = str(fit)
    if expected["rounding_noise"]:
        text = expected["text"] if fit.normalized_root_mean_square < 1e-12 else text
    return {
        "name": fit.name,
        "constant": pytest.approx(fit.constant, rel=1e-12, abs=0.0, nan_ok=True),
        "rms": pytest.approx(fit.normalized_root_mean_square, rel=1e-12, abs=1e-12, nan_ok=True),
        "text": text,
    }


def answer(expected):
    return {
        "name": expected["name"],
        "constant": number(expected["constant"]),
        "rms": number(expected["normalizedRootMeanSquare"]),
        "text": expected["text"],
    }


@pytest.mark.parametrize("case", load_cases("big_o"))
def test_fits_are_those_of_nanobench(case):
    """Order, constants, errors, texts and the table are the same."""
    results, out = recorded(case), case["out"]
    fits = BigOFits.of(results)
    order = [each["name"] for each in out["fits"]]
    names = [fit.name for fit in fits]
    if out["near_tie"]:  # nothing but rounding decides on the order
        assert sorted(names) == sorted(order)
        order = names
    by_name = {each["name"]: each for each in out["fits"]}
    custom = [fit_custom(results, each["name"], CUSTOM[each["fn"]]) for each in out["custom"]]
    expected = [by_name[name] for name in order] + out["custom"]
    actual = [shown(*pair) for pair in zip([*fits, *custom], expected, strict=True)]
    check_case("big_o", case, actual, [answer(each) for each in expected])
    if not departs("big_o", case):
        assert names == order
        if not out["near_tie"]:
            assert fits.table == out["table"]


def test_departures_are_better():
    """What is done instead: a model without a value says so, and a failed run is left out."""
    cases = {param.id: param.values[0] for param in load_cases("big_o")}
    results = recorded(cases["bigo-020-loglog-of-1"])
    fit = fit_custom(results, "O(log log n)", CUSTOM["log2(log2(n))"])
    assert str(fit) == "O(log log n): it has no finite value at n = 1"
    assert (fit.constant, fit.normalized_root_mean_square) == (0.0, math.inf)
    with_failed = Fits.of(recorded(cases["bigo-031-overflowed-run"]))
    assert with_failed == Fits.of(recorded(cases["bigo-030-epochs"]))


# ---------------------------------------------------------------- odd data


sizes = st.floats(0.0, exclude_min=True, allow_infinity=False) | st.sampled_from(
    [1.0, 2.0, 0.5, 1e-300, 1e300, 5e-324]
)
times = st.floats(0.0, 1e18) | st.sampled_from([0.0, 5e-324, 1e-9])


@given(st.lists(st.builds(Known, sizes, times, times), max_size=6))
@example([])
@example([Known(1.0, 1.0)] * 3)
@example([Known(float(n), 0.0) for n in range(1, 5)])
@example([Known(1e200, 1.0), Known(1e-200, 1.0), Known(3.0, 2.0)])
def test_no_data_give_nan(results):
    """Whatever the data, there are six fits and a verdict, and no figure is NaN."""
    fits = BigOFits.of(results)
    assert len(fits) == 6
    assert not any(math.isnan(fit.constant) for fit in fits)
    assert not any(math.isnan(fit.normalized_root_mean_square) for fit in fits)
    assert all(fit.constant >= 0.0 for fit in fits)
    assert fits.verdict
    assert "nan" not in str(fits)
    json.loads(fits.render("json"))


@given(
    st.lists(st.integers(2, 1000), min_size=3, max_size=8, unique=True),
    st.sampled_from(list(complexity.MODELS)),
    st.floats(1e-12, 1e3),
    st.randoms(use_true_random=False),
)
def test_exact_data_are_recognised(ns, name, constant, random):
    """Without noise the true model wins, with its constant, whatever the order of the results."""
    values = complexity.model_values(name, [float(n) for n in ns])
    results = [Known(float(n), constant * value) for n, value in zip(ns, values, strict=True)]
    fits = Fits.of(results)
    assert fits.best.name == name
    assert fits.best.constant == pytest.approx(constant, rel=1e-9)
    assert fits.likely == (fits.best,)
    assert fits.verdict == name
    shuffled = random.sample(results, len(results))
    assert [fit.name for fit in Fits.of(shuffled)] == [fit.name for fit in fits]


@pytest.mark.parametrize(
    ("ns", "verdict"),
    [
        ([], "cannot tell: at least 3 different n are needed, and there are 0"),
        ([7], "cannot tell: at least 3 different n are needed, and there is 1"),
        ([7, 7, 7], "cannot tell: at least 3 different n are needed, and there is 1"),
        ([7, 8, 8, 7], "cannot tell: at least 3 different n are needed, and there are 2"),
        ([7, 8, 16], "O(n)"),
    ],
)
def test_too_few_sizes_tell_nothing(ns, verdict):
    """Two points lie on curves of any kind, and the output says so."""
    fits = BigOFits.of([Known(float(n), n * 1e-9) for n in ns])
    assert fits.verdict == verdict
    assert str(fits).endswith(f"\n{verdict}\n")
    assert (fits.likely == ()) == verdict.startswith("cannot")
    assert (fits.shares == ()) == verdict.startswith("cannot")


def test_zeros_tell_nothing():
    """What takes no time does not grow."""
    fits = Fits.of([Known(float(n), 0.0) for n in (1, 2, 4, 8)])
    assert fits.verdict == "cannot tell: all values of elapsed are 0"
    assert (fits.noise, fits.poor) == (0.0, False)


def test_ties_have_a_fixed_order():
    """Errors that differ by rounding only are sorted by name, not by chance."""
    fits = Fits.of([Known(50.0, 3.5e-9), Known(50.0, 7e-9), Known(50.0, 1e-8)])
    names = ["O(1)", "O(log n)", "O(n log n)", "O(n)", "O(n^2)", "O(n^3)"]
    assert [fit.name for fit in fits] == names
    errors = [0.5, 0.1 + 2e-13, math.inf, 0.1, 0.1 + 1e-13, math.inf]
    assert complexity.order_of_fits(errors, ["f", "b", "d", "c", "a", "e"]) == [4, 1, 3, 0, 2, 5]


def test_a_growth_is_not_negative():
    """Below 1 the logarithm is negative; a cost of less than nothing is none."""
    fits = {fit.name: fit for fit in Fits.of([Known(n, 1.0) for n in (0.25, 0.5, 0.75)])}
    assert (fits["O(log n)"].constant, fits["O(log n)"].normalized_root_mean_square) == (0.0, 1.0)


def test_too_large_models_are_not_fitted():
    """n^3 of a huge n is no float; the other models are fitted all the same."""
    fits = BigOFits.of([Known(n, n) for n in (1e120, 1e121, 1e122)])
    assert fits.verdict == "O(n)"
    assert fits[-1] == BigO("O(n^3)", 0.0, math.inf, "it has no finite value at n = 1e+120")
    assert "- | O(n^3) (it has no finite value at n = 1e+120)" in fits.table
    small = fit_custom([Known(1.0, 1e300)], "O(tiny)", lambda n: 1e-300)
    assert str(small) == "O(tiny): its constant is too large"


# ---------------------------------------------------------------- what takes part


def grown(n, **settings):
    times = (1000 * n, 1000 * n + 250, 1000 * n + 500)
    epochs = [RawMeasurement(time, 10, {Measure.INSTRUCTIONS: 40 * n}) for time in times]
    return make_result(epochs, complexity_n=n, **settings)


def test_results_without_size_or_measure_take_no_part():
    """No size, no epochs, failed, or not counted: left out."""
    results = [
        grown(4),
        make_result([(1, 1)]),
        make_result([], complexity_n=8),
        make_result([], complexity_n=8, failure="overflow"),
        make_result([(8_000, 10)], complexity_n=8, failure="stopped"),
        make_result([(16_000, 10)], complexity_n=16),
    ]
    assert points_of(results, Measure.ELAPSED) == (
        Point(4.0, tuple(time / 1e9 / 10 for time in (4000.0, 4250.0, 4500.0))),
        Point(16.0, (1600e-9,)),
    )
    assert points_of(results, Measure.INSTRUCTIONS) == (Point(4.0, (16.0, 16.0, 16.0)),)


def test_other_measures_can_be_fitted():
    """Instructions grow, too, and the table says what it is about."""
    fits = BigOFits.of(map(grown, (10, 20, 40)), measure="instructions")
    assert (fits.measure, fits.verdict) == (Measure.INSTRUCTIONS, "O(n)")
    assert str(fits.best) == "4 * O(n), rms=0"
    assert fits.table.splitlines()[1].endswith("| complexity of instructions")
    custom = fit_custom(map(grown, (10, 20, 40)), "O(sqrt n)", math.sqrt, "instructions")
    assert custom.constant == pytest.approx(21.374, rel=1e-4)


@pytest.mark.parametrize("make", [Fits.of, lambda *a: fit_custom(a[0], "f", math.sqrt, a[1])])
def test_unknown_measures_are_refused(make):
    """The message lists what there is."""
    with pytest.raises(ConfigError, match=r"'ticks' is no measure - there are elapsed, iterations"):
        make([], "ticks")


@pytest.mark.parametrize(
    ("name", "fn", "error", "message"),
    [
        (" ", math.sqrt, ConfigError, "complexity_big_o: name: ' ' is empty or blank"),
        (3, math.sqrt, ConfigTypeError, "complexity_big_o: name: 3 is not a text"),
        ("f", None, ConfigTypeError, "complexity_big_o: None is not a function of n"),
        ("f", lambda n: "x" * 3, ConfigError, None),
        ("f", lambda n: None, ConfigTypeError, "the model f gave no number: float"),
        ("f", lambda: 1.0, ConfigTypeError, "the model f gave no number: .*argument"),
    ],
)
def test_models_of_ones_own_are_checked(name, fn, error, message):
    """What is no model is refused; a text that is no number is a value the model does not have."""
    if message is None:
        assert fit_custom([Known(1.0, 1.0)], name, fn).failure == "it has no finite value at n = 1"
        return
    with pytest.raises(error, match=message):
        fit_custom([Known(1.0, 1.0)], name, fn)


def test_exceptions_of_a_model_are_its_own():
    """Errors of arithmetic mean that there is no value; others are a mistake in the model."""
    with pytest.raises(KeyError):
        fit_custom([Known(1.0, 1.0)], "f", lambda n: {}["missing"])
    for undefined in (
        lambda n: 1 / (n - 1),
        lambda n: math.log(n - 1),
        lambda n: math.exp(n * 1e3),
    ):
        assert fit_custom([Known(1.0, 1.0)], "f", undefined).failure is not None


# ---------------------------------------------------------------- how sure it is


def noisy(rng, name, ns, spread, offset=0.0):
    """Eleven skewed epochs for each size, and an offset that all epochs of one size share."""
    values = complexity.model_values(name, ns)
    return [
        Known(n, *(value * math.exp(rng.normal(0.0, offset)) * np.exp(rng.exponential(spread, 11))))
        for n, value in zip(ns, values, strict=True)
    ]


RUN = [25.0, 50.0, 100.0, 200.0, 400.0, 600.0, 800.0]


@pytest.mark.parametrize("name", ["O(1)", "O(log n)", "O(n)", "O(n log n)", "O(n^2)"])
@pytest.mark.parametrize(("spread", "offset"), [(0.3, 0.0), (0.02, 0.1)])
def test_the_truth_is_among_the_likely_models(name, spread, offset):
    """Nineteen times in twenty or more, also where noise hides what the best model is."""
    rng = np.random.default_rng(10)
    trials = 60
    missed = sum(
        name not in {fit.name for fit in Fits.of(noisy(rng, name, RUN, spread, offset)).likely}
        for _ in range(trials)
    )
    assert missed / trials <= 0.05


def test_good_data_leave_one_model():
    """Epochs that agree leave no doubt; epochs that do not leave some, and the best comes first."""
    rng = np.random.default_rng(11)
    sure = [Fits.of(noisy(rng, "O(n log n)", RUN, 0.01)) for _ in range(20)]
    assert {fits.verdict for fits in sure} == {"O(n log n)"}
    assert all(fits.shares[0] >= 0.95 for fits in sure)
    unsure = Fits.of(noisy(rng, "O(n log n)", RUN, 0.4))
    assert len(unsure.likely) > 1
    assert unsure.verdict == " or ".join(fit.name for fit in unsure.likely)
    assert unsure.likely[0] is unsure.best
    assert sum(unsure.shares) == pytest.approx(1.0)
    assert "O(n log n)" in {fit.name for fit in unsure.likely}


def test_the_same_data_give_the_same_verdict():
    """Resampling is random, but not from one time to the next."""
    results = noisy(np.random.default_rng(12), "O(n)", RUN, 0.4)
    assert Fits.of(results) == Fits.of(results)


def test_many_results_are_resampled_in_parts(monkeypatch):
    """However much memory is used at a time, each resample counts once."""
    results = noisy(np.random.default_rng(13), "O(n)", RUN, 0.4)
    whole = Fits.of(results)
    monkeypatch.setattr(complexity, "_MAX_CELLS", 70)
    parts = Fits.of(results)
    assert parts.shares == pytest.approx(whole.shares, abs=0.06)
    assert sum(parts.shares) == pytest.approx(1.0)


def test_resamples_have_three_sizes_or_more():
    """What could not be told at all is not drawn; of three sizes, all are drawn each time."""
    rng = np.random.default_rng(14)
    drawn = complexity._draw_results(rng, np.array([0, 1, 2]), 100)
    assert drawn.tolist() == [[1.0, 1.0, 1.0]] * 100
    drawn = complexity._draw_results(rng, np.array([0, 0, 1, 2, 3]), 200)
    merged = np.column_stack([drawn[:, 0] + drawn[:, 1], drawn[:, 2:]])
    assert (drawn.sum(axis=1) == 5.0).all()
    assert ((merged > 0.0).sum(axis=1) >= 3).all()
    assert drawn.max() == 3.0


def test_a_poor_best_model_is_called_so():
    """None of the models is exponential; the one that wins is far off, and not because of noise."""
    exponential = [Known(float(n), *(2.0**n * x for x in (1.0, 1.01, 0.99))) for n in (3, 5, 8, 12)]
    fits = BigOFits.of(exponential)
    assert fits.verdict == "O(n^3), but none of the models fits well"
    assert fits.noise == pytest.approx(1.4826 * 1.2533 * 0.01 / math.sqrt(3) * 1.8689, rel=1e-4)
    noise = Fits.of(noisy(np.random.default_rng(15), "O(n)", RUN, 1.0))
    assert noise.best.normalized_root_mean_square > 0.1
    assert not noise.poor


# ---------------------------------------------------------------- how they are shown


TABLE = """
|   coefficient |   err% | complexity
|--------------:|-------:|------------
| 1.0000000e-09 |   0.0% | O(n)
| 2.7953625e-10 |  19.8% | O(n log n)
| 3.0636973e-09 |  25.3% | O(log n)
| 7.7786088e-11 |  32.8% | O(n^2)
| 5.4880552e-12 |  48.0% | O(n^3)
| 7.0000000e-09 |  65.5% | O(1)

O(n)
"""


def linear():
    return BigOFits.of([Known(n, n * 1e-9) for n in (2.0, 4.0, 8.0, 14.0)])


def test_fits_print_as_a_table():
    """The table of nanobench, and what the data say below it."""
    fits = linear()
    assert str(fits) == TABLE
    assert fits._repr_markdown_() == fits.render() == fits.render("markdown") == TABLE[1:]
    assert repr(fits) == "<BigOFits: O(n), from 4 results>"
    assert (fits[0].name, len(fits[:2]), next(f.name for f in fits)) == ("O(n)", 2, "O(n)")


def test_fits_have_all_formats():
    """Programs get raw values, people tables."""
    fits = linear()
    rows = list(csv.DictReader(io.StringIO(fits.render("csv"))))
    assert [row["complexity"] for row in rows] == [fit.name for fit in fits]
    assert float(rows[1]["error"]) == fits[1].normalized_root_mean_square
    assert [row["likely"] for row in rows] == ["True"] + ["False"] * 5
    assert json.loads(fits.render("json"))[0] == {
        "complexity": "O(n)",
        "coefficient": pytest.approx(1e-9),
        "error": pytest.approx(0.0, abs=1e-12),
        "share": 1.0,
        "likely": True,
    }
    html = fits._repr_html_()
    assert html == fits.render("html")
    assert html.count("<tr>") == 7
    assert html.endswith("</table>\n<pre>O(n)\n</pre>")
    assert fits.render("github").splitlines()[0].split() == [
        *("|", "coefficient", "|", "err%", "|", "complexity", "|")
    ]
    with pytest.raises(
        ConfigError, match=r"format: 'word' is not known - there are markdown, html"
    ):
        fits.render("word")
