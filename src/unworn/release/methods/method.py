"""What a method of release is: a frozen configuration, and what comes out of it."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Self

from unworn.bounds.privacy import Profile
from unworn.noise import Stream
from unworn.queries.query import canonical
from unworn.queries.row_protocol import Floats
from unworn.release.methods.noisy_table import Measured
from unworn.release.problem import Problem, Tables
from unworn.universe.model.model import Model

Progress = Callable[[int, int], None]
"""Called with (steps done, steps in all), now and then."""


@dataclass(frozen=True)
class ReleaseOutcome:
    """What a method releases. Everything here is public from now on.

    ``model`` is the distribution it found, ``answers`` the noisy shares, a vector for each block, where a method
    releases such; at least one of the two is there. ``errors`` bounds, for every question of every block, how far the
    released answer (the noisy one, or else the model's) lies from that of the rows; all of them hold with probability
    ``1 - problem.chance``. ``numbers`` tells how it was made, for the certificate. ``measured`` are the noisy
    tables that the distribution was fitted to, where there are such.
    """

    model: Model | None
    answers: list[Floats] | None
    errors: list[Floats]
    numbers: dict[str, Any] = field(default_factory=dict)
    measured: list[Measured] = field(default_factory=list)


@dataclass(frozen=True)
class Method(ABC):
    """A way to answer a whole workload at once, privately."""

    theorem: ClassVar[str]
    """Who proved what makes its sample error hold."""

    @abstractmethod
    def check(self, problem: Problem) -> None:
        """Refuse what this method cannot do (:class:`~unworn.errors.Unaskable`), from public numbers alone."""

    @abstractmethod
    def settled(self, problem: Problem) -> Self:
        """This configuration with what it leaves open (None) chosen for the problem: what is recorded."""

    @abstractmethod
    def profile(self, problem: Problem) -> Profile:
        """What the whole release reveals of one row. Its delta at the problem's epsilon is at most the problem's."""

    @abstractmethod
    def predicted(self, problem: Problem) -> float:
        """About how large the largest error over the workload will be, as a share: public numbers only."""

    @abstractmethod
    def run(self, problem: Problem, tables: Tables, noise: Stream, progress: Progress | None = None) -> ReleaseOutcome:
        """Read the rows: the only step that does. All randomness comes from ``noise`` (and streams beside it)."""

    def to_json(self) -> dict[str, Any]:
        """The method as plain JSON: lists for tuples, so that it is the same once it was written and read."""
        parameters: dict[str, Any] = json.loads(canonical(asdict(self)))
        return {"method": type(self).__name__, **parameters}
