"""Least-squares fits of growth models, and how far the data can tell one from another.

Uses numpy; whoever needs this imports it late.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

__all__ = [
    "MODELS",
    "custom_values",
    "fit",
    "model_values",
    "order_of_fits",
    "shares_of_best",
]

MODELS: Mapping[str, Callable[[Floats], Floats]] = {
    "O(1)": np.ones_like,
    "O(n)": lambda n: n,
    "O(log n)": np.log2,
    "O(n log n)": lambda n: n * np.log2(n),
    "O(n^2)": lambda n: n * n,
    "O(n^3)": lambda n: n * n * n,
}
"""nanobench's models of growth."""

TIE = 1e-12
"""Errors that differ by less differ by rounding only."""

RESAMPLES = 1000

_SEED = 1

_MAX_CELLS = 1 << 20
"""So many numbers are in one array of resamples at most: 8 MB."""


def model_values(name: str, n: Sequence[float]) -> Floats:
    """Compute one of the `MODELS` at some problem sizes.

    Args:
        name: Name of the model.
        n: The problem sizes, above 0.

    Returns:
        One value for each; infinite where it is too large for a float.
    """
    with np.errstate(all="ignore"):
        return MODELS[name](np.asarray(n, dtype=np.float64))


def custom_values(fn: Callable[[float], Any], n: Sequence[float]) -> Floats:
    """Compute a user's model at some problem sizes.

    Args:
        fn: The model.
        n: The problem sizes.

    Returns:
        One value for each; NaN where the model has none.

    Raises:
        TypeError: The model gives something that is no number.
        BaseException: What else the model raises, except for errors of arithmetic.
    """
    return np.asarray([_value(fn, size) for size in n], dtype=np.float64)


def _value(fn: Callable[[float], Any], size: float) -> float:
    try:
        return float(fn(size))
    except (ArithmeticError, ValueError):  # log(0), 1 / 0, 2.0 ** 5000
        return math.nan


def fit(f: Floats, y: Floats) -> tuple[float, float] | None:
    """Fit ``y = constant * f`` by least squares.

    Args:
        f: Values of the model.
        y: What was measured, 0 or more.

    Returns:
        The constant, at least 0, and the error: the root of the mean squared residual, divided by
        the mean of y; 0 if that mean is 0. None if the model has no finite values, or its constant
        has none.
    """
    if not y.size:
        return 0.0, 0.0
    if not np.all(np.isfinite(f)):
        return None
    # Powers of two, so that squares neither overflow nor vanish, and no bit is rounded off.
    f_exponent, y_exponent = _exponent(f), _exponent(y)
    f, y = np.ldexp(f, -f_exponent), np.ldexp(y, -y_exponent)
    squares = _total(f * f)
    # A growth that costs less than nothing is none, so the best such constant is 0.
    constant = max(0.0, _total(f * y) / squares) if squares else 0.0
    mean = _total(y) / y.size
    distances = y - constant * f
    error = math.sqrt(_total(distances * distances) / y.size) / mean if mean else 0.0
    try:
        return math.ldexp(constant, y_exponent - f_exponent), error
    except OverflowError:
        return None


def _total(values: Floats) -> float:
    """Add from left to right, for nanobench's last bits; ``np.sum`` adds in another order."""
    return float(np.cumsum(values)[-1])


def _exponent(values: Floats) -> int:
    return math.frexp(float(np.max(np.abs(values))))[1]


def order_of_fits(errors: Sequence[float], names: Sequence[str]) -> list[int]:
    """Sort fits: by error, and those whose errors differ by rounding only by name.

    Args:
        errors: The errors; infinite ones come last.
        names: The names of the fits.

    Returns:
        The positions of the fits, best first.
    """
    by_error = sorted(range(len(errors)), key=lambda i: (errors[i], names[i]))
    groups: list[list[int]] = []
    for i in by_error:
        if groups and _tied(errors[groups[-1][-1]], errors[i]):
            groups[-1].append(i)
        else:
            groups.append([i])
    return [i for group in groups for i in sorted(group, key=lambda i: names[i])]


def _tied(smaller: float, larger: float) -> bool:
    return smaller == larger or larger - smaller < TIE


def shares_of_best(
    models: Sequence[Floats], epochs: Sequence[Sequence[float]], n: Sequence[float]
) -> list[float] | None:
    """Find how often each model would be the best one, if all was measured again.

    A bootstrap in two stages (Efron 1979; Davison and Hinkley 1997, 3.8): as many results are drawn
    with replacement as there are, and of each of them as many epochs as it has. Their medians are
    fitted as the real ones are.

    Args:
        models: For each model its values, one per result. They are finite.
        epochs: For each result what was measured in its epochs, at least once.
        n: For each result its problem size.

    Returns:
        For each model the share of the resamples in which it is the best, or ties with the best.
        None if there are fewer than 3 different problem sizes, so that nothing can be told.
    """
    sizes = np.unique(np.asarray(n, dtype=np.float64), return_inverse=True)[1].reshape(-1)
    if not models or len(set(sizes.tolist())) < 3:
        return None
    rng = np.random.default_rng(_SEED)
    scaled = [np.ldexp(f, -_exponent(f)) for f in models]
    best = np.zeros(len(models))
    done = 0
    step = max(1, _MAX_CELLS // len(n))
    while done < RESAMPLES:
        count = min(step, RESAMPLES - done)
        weights = _draw_results(rng, sizes, count)
        y = np.stack([_draw_medians(rng, each, count) for each in epochs], axis=1)
        y = np.ldexp(y, -_exponent(y))
        errors = np.stack([_squared_errors(f, y, weights) for f in scaled])
        means = np.sum(weights * y, axis=1) / len(n)
        with np.errstate(invalid="ignore", divide="ignore"):
            errors = np.where(means > 0.0, np.sqrt(errors) / means, 0.0)
        best += np.sum(errors < np.min(errors, axis=0) + TIE, axis=1)
        done += count
    return [float(share) for share in best / RESAMPLES]


def _draw_results(rng: np.random.Generator, sizes: NDArray[np.intp], count: int) -> Floats:
    """Draw how often each result takes part, in so many resamples of 3 or more problem sizes."""
    drawn = np.empty((0, sizes.size), dtype=np.intp)
    while len(drawn) < count:
        more = rng.integers(0, sizes.size, (count, sizes.size))
        different = np.sort(sizes[more], axis=1)
        enough = np.sum(np.diff(different, axis=1) > 0, axis=1) >= 2
        drawn = np.concatenate([drawn, more[enough]])
    drawn = drawn[:count] + np.arange(count)[:, None] * sizes.size
    weights = np.bincount(drawn.reshape(-1), minlength=count * sizes.size)
    return weights.reshape(count, sizes.size).astype(np.float64)


def _draw_medians(rng: np.random.Generator, values: Sequence[float], count: int) -> Floats:
    """Draw as many epochs as there are, so many times, and take their medians."""
    epochs = np.asarray(values, dtype=np.float64)
    return np.median(epochs[rng.integers(0, epochs.size, (count, epochs.size))], axis=1)


def _squared_errors(f: Floats, y: Floats, weights: Floats) -> Floats:
    """Give the mean squared residual of the fit in each resample."""
    squares = weights @ (f * f)
    products = np.sum(weights * y * f, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        constants = np.where(squares > 0.0, np.maximum(products / squares, 0.0), 0.0)
    residuals = y - constants[:, None] * f
    squared: Floats = np.sum(weights * residuals * residuals, axis=1) / f.size
    return squared
