"""How a measure grows with the size of the problem: fits of models, and how sure they are."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import attrs

from ankerl_py.errors import ConfigError, ConfigTypeError
from ankerl_py.results.measure import Measure
from ankerl_py.statistics import robust
from ankerl_py.units import check_text, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Self  # type checkers know it, installed or not

    from ankerl_py.results.result import Result

__all__ = ["BigO", "Fits", "Point", "fit_custom", "fit_model", "points_of"]

LIKELY = 0.05
"""A model that is the best one in so many of the resamples or more cannot be ruled out."""

FEWEST_SIZES = 3
"""Two different problem sizes lie on curves of any kind."""

POOR_ERROR = 0.1
POOR_FACTOR = 3.0
"""From an error of 10 % on, if it is also so many times what the epochs' spread explains, the best
model is a poor one: as may be the case when the true one is none of those that were tried."""

_MEDIAN_ERROR = 1.4826 * 1.2533
"""Standard error of the median of n values from a normal distribution, times the root of n, in
units of their median absolute deviation."""


@attrs.frozen
class Point:
    """A result as it takes part in a fit."""

    n: float
    """Size of the problem."""

    epochs: tuple[float, ...]
    """What was measured in each epoch, per iteration."""

    @property
    def value(self) -> float:
        """The median of the epochs, which is what is fitted."""
        return robust.median(self.epochs)

    @property
    def error(self) -> float:
        """The standard error of `value`, as far as the epochs' spread tells."""
        value = self.value
        deviation = robust.median([abs(each - value) for each in self.epochs])
        return _MEDIAN_ERROR * deviation / math.sqrt(len(self.epochs))


@attrs.frozen
class BigO:
    """The fit of one model: ``measured = constant * f(n)``."""

    name: str
    """Name of the model, such as ``"O(n log n)"``."""

    constant: float
    """What f is multiplied with; seconds, unless another measure was fitted."""

    normalized_root_mean_square: float
    """Root of the mean squared distance from what was measured, divided by the mean of that."""

    failure: str | None = None
    """Why the model cannot be fitted, None if it can."""

    def __str__(self) -> str:
        if self.failure is not None:
            return f"{self.name}: {self.failure}"
        return f"{self.constant:g} * {self.name}, rms={self.normalized_root_mean_square:g}"


@attrs.frozen
class Fits:
    """The fits of all models, best first. It is a sequence of `BigO`."""

    fits: tuple[BigO, ...]
    """The fits, best first."""

    points: tuple[Point, ...]
    """What was fitted."""

    measure: Measure
    """What was measured: times, or something else."""

    shares: tuple[float, ...] = attrs.field(repr=False)
    """For each fit, in how large a share of all resamples it is the best one. Empty if unknown."""

    @classmethod
    def of(cls, results: Iterable[Result], measure: Measure | str = Measure.ELAPSED) -> Self:
        """Fit all models.

        Args:
            results: Results of one title and unit. Those without `Config.complexity_n`, those that
                failed, and those that do not have the measure do not take part.
            measure: What should be fitted.

        Returns:
            The fits.

        Raises:
            ConfigError: There is no such measure.
        """
        from ankerl_py.statistics import complexity  # noqa: PLC0415 (needs numpy)

        known = _measure(measure)
        points = points_of(results, known)
        sizes = [point.n for point in points]
        models = {name: complexity.model_values(name, sizes) for name in complexity.MODELS}
        fits = [fit_model(name, values, points) for name, values in models.items()]
        errors = [each.normalized_root_mean_square for each in fits]
        order = complexity.order_of_fits(errors, list(models))
        shares = dict.fromkeys(models, 0.0)
        usable = [each.name for each in fits if each.failure is None]
        found = complexity.shares_of_best(
            [models[name] for name in usable], [point.epochs for point in points], sizes
        )
        shares.update(zip(usable, found or (), strict=False))
        return cls(
            tuple(fits[i] for i in order),
            points,
            known,
            () if found is None else tuple(shares[fits[i].name] for i in order),
        )

    def __len__(self) -> int:
        """Count the models."""
        return len(self.fits)

    def __iter__(self) -> Iterator[BigO]:
        return iter(self.fits)

    def __getitem__(self, index: Any) -> Any:
        """Give the fit at a position, best first, or those of a slice."""
        return self.fits[index]

    @property
    def best(self) -> BigO:
        """The model with the smallest error."""
        return self.fits[0]

    @property
    def undecided(self) -> str | None:
        """Why the data cannot tell how the measure grows; None if they can."""
        different = len({point.n for point in self.points})
        if different < FEWEST_SIZES:
            return f"at least {FEWEST_SIZES} different n are needed, and there {_are(different)}"
        if not any(point.value > 0.0 for point in self.points):
            return f"all values of {self.measure} are 0"
        return None

    @property
    def likely(self) -> tuple[BigO, ...]:
        """The models that could be the true one of these: one, if the data are good enough.

        They are those that are the best one in `LIKELY` or more of all resamples of the data, the
        best one of the data themselves first. Empty if nothing can be told.
        """
        if self.undecided is not None:
            return ()
        others = [
            each
            for each, share in zip(self.fits[1:], self.shares[1:], strict=True)
            if share >= LIKELY
        ]
        return (self.best, *others)

    @property
    def noise(self) -> float:
        """What `BigO.normalized_root_mean_square` the epochs' spread alone would give the truth."""
        values = [point.value for point in self.points]
        mean = robust.average(values)
        if not mean:
            return 0.0
        return math.sqrt(robust.average([(p.error / mean) ** 2 for p in self.points]))

    @property
    def poor(self) -> bool:
        """Whether even the best model is far off, and not because of noise."""
        limit = max(POOR_ERROR, POOR_FACTOR * self.noise)
        return self.undecided is None and self.best.normalized_root_mean_square > limit

    @property
    def verdict(self) -> str:
        """What the data say, in words: ``"O(n log n)"``, or ``"O(n log n) or O(n)"``."""
        if self.undecided is not None:
            return f"cannot tell: {self.undecided}"
        names = " or ".join(each.name for each in self.likely)
        return f"{names}, but none of the models fits well" if self.poor else names


def _are(number: int) -> str:
    return "is 1" if number == 1 else f"are {number}"


def _measure(measure: Measure | str) -> Measure:
    known = Measure.parse(measure)
    if known is None:
        raise ConfigError(f"{shown(measure)} is no measure - there are {', '.join(Measure)}")
    return known


def points_of(results: Iterable[Result], measure: Measure) -> tuple[Point, ...]:
    """Select what takes part in a fit.

    Args:
        results: Results in any order.
        measure: What should be fitted.

    Returns:
        One point for each result with a problem size that was measured.
    """
    return tuple(
        Point(result.config.complexity_n, values)
        for result in results
        if result.config.complexity_n is not None
        and not result.overflowed
        and (values := result.values(measure))
    )


def fit_model(name: str, values: Any, points: tuple[Point, ...]) -> BigO:
    """Fit one model.

    Args:
        name: Its name.
        values: A numpy array of its values, one for each point.
        points: What was measured.

    Returns:
        The fit. One that cannot be made has an infinite error, and says why.
    """
    import numpy as np  # noqa: PLC0415 (slow to import)

    from ankerl_py.statistics import complexity  # noqa: PLC0415 (needs numpy)

    fitted = complexity.fit(values, np.asarray([point.value for point in points]))
    if fitted is not None:
        return BigO(name, *fitted)
    bad = [point.n for point, value in zip(points, values, strict=True) if not math.isfinite(value)]
    where = f"it has no finite value at n = {bad[0]:g}" if bad else "its constant is too large"
    return BigO(name, 0.0, math.inf, where)


def fit_custom(
    results: Iterable[Result],
    name: object,
    fn: object,
    measure: Measure | str = Measure.ELAPSED,
) -> BigO:
    """Fit a model of one's own.

    Args:
        results: As in `Fits.of`.
        name: What to call it, a text such as ``"O(log log n)"``.
        fn: A function that gives its value at a problem size, which is a float.
        measure: What should be fitted.

    Returns:
        The fit.

    Raises:
        ConfigError: The name is blank, or there is no such measure.
        ConfigTypeError: The name is no text, or the model is no function that returns numbers.
    """
    from ankerl_py.statistics import complexity  # noqa: PLC0415 (needs numpy)

    try:
        model = check_text(name)
    except (ConfigError, ConfigTypeError) as error:
        raise type(error)(f"complexity_big_o: name: {error}") from None
    if not callable(fn):
        raise ConfigTypeError(f"complexity_big_o: {shown(fn)} is not a function of n")
    points = points_of(results, _measure(measure))
    try:
        values = complexity.custom_values(fn, [point.n for point in points])
    except TypeError as error:
        raise ConfigTypeError(
            f"complexity_big_o: the model {model} gave no number: {error}"
        ) from error
    return fit_model(model, values, points)
