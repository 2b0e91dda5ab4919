"""Which method to take: the one with the smallest predicted error, from public numbers alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from unworn.errors import Tampered, Unaskable
from unworn.release.methods.additive_noise import Additive, GaussianRelease, LaplaceRelease
from unworn.release.methods.averaged_mwem import AveragedMWEM
from unworn.release.methods.method import Method
from unworn.release.methods.mwem import MWEM
from unworn.release.methods.projection import Projection
from unworn.release.methods.small_db import SmallDB
from unworn.release.methods.threshold_release import ThresholdRelease
from unworn.release.problem import Problem

METHODS: dict[str, type[Method]] = {
    "gaussian": GaussianRelease,
    "laplace": LaplaceRelease,
    "projection": Projection,
    "mwem": MWEM,
    "averaged-mwem": AveragedMWEM,
    "small-db": SmallDB,
    "thresholds": ThresholdRelease,
}
"""Every method by the name it is asked for."""


Prediction = tuple[float, Method | None, str]
"""A predicted error, the method settled for the problem, or None and why it cannot."""
_VARIANTS: dict[str, tuple[Method, ...]] = {
    "projection": (Projection(), Projection(noise="laplace")),
    "mwem": (MWEM(), MWEM(noise="laplace")),
}
"""What is tried of a method by its name; of all others just the method as it is."""
_NO_WORSE = 1.02
"""By so little a prediction may be larger for a method that releases a distribution, from which rows can be drawn."""


def choose_method(method: Method | str, problem: Problem) -> Method:
    """The method asked for, settled for the problem; ``"auto"`` for the one with the smallest predicted error.

    A refusal says why the method cannot do it, or, where none can, what each of them says.
    """
    if isinstance(method, Method):
        method.check(problem)
        return method.settled(problem)
    if method in METHODS:
        return _best(_VARIANTS.get(method, (METHODS[method](),)), problem)[1]
    if method != "auto":
        raise ValueError(f"no method is called {method!r}: there are auto, {', '.join(METHODS)}")
    found = predictions(problem)
    return found[best(found)][1] or _refuse(found)


def best(found: Mapping[str, Prediction]) -> str:
    """The name of the method to take: the smallest predicted error, or nearly, where it releases a distribution."""
    able = {name: told for name, told in found.items() if told[1] is not None}
    if not able:
        _refuse(found)
    return min(able, key=lambda name: able[name][0] * (_NO_WORSE if isinstance(able[name][1], Additive) else 1.0))


def _refuse(found: Mapping[str, Prediction]) -> NoReturn:
    reasons = "\n".join(f"  {name}: {why}" for name, (_, _, why) in found.items())
    raise Unaskable(f"no method can release this workload:\n{reasons}")


def predictions(problem: Problem) -> dict[str, Prediction]:
    """For each method its predicted largest error, itself settled, or None and why it cannot."""
    told: dict[str, Prediction] = {}
    for name, kind in METHODS.items():
        try:
            told[name] = (*_best(_VARIANTS.get(name, (kind(),)), problem), "")
        except Unaskable as why:
            told[name] = (1.0, None, why.message)
    return told


def _best(ways: tuple[Method, ...], problem: Problem) -> tuple[float, Method]:
    """The variant with the smallest predicted error; the first one's refusal where none can do it."""
    able, refused = [], None
    for way in ways:
        try:
            settled = choose_method(way, problem)
            able.append((settled.predicted(problem), settled))
        except Unaskable as why:
            refused = refused or why
    if refused is not None and not able:
        raise refused
    return min(able, key=lambda pair: pair[0])


def method_from_json(data: Any) -> Method:
    """The method that an entry 0 names."""
    if not isinstance(data, Mapping):
        raise Tampered("the method of a release is a JSON object")
    parameters = dict(data)
    name = parameters.pop("method", None)
    for kind in METHODS.values():
        if kind.__name__ == name:
            try:
                return kind(**parameters)
            except (TypeError, ValueError) as error:
                raise Tampered(f"the parameters of {name} do not fit: {error}") from None
    raise Tampered(f"this version knows no method {name!r:.40} of release")
