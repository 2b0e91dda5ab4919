"""Everything that can be audited by name: this package's private mechanisms, and the controls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unworn.audit import controls
from unworn.audit.mechanism import kebab, mechanism_target
from unworn.audit.target import Target
from unworn.errors import UnwornError
from unworn.mechanisms import BoundedNoise, Gaussian, Laplace, Mechanism, OneSample, Subsampled


@dataclass(frozen=True)
class Plan:
    """A plan under which a mechanism is audited: few rows and little noise, so that a mistake shows in few trials.

    How much noise a mechanism adds is a parameter; whether it is as private as it says for that noise is what an audit
    tests, and with epsilons near 1 a factor of two cannot hide.
    """

    mechanism: Mechanism
    rows: int = 20
    asks: int = 2
    others: int | Sequence[int] | None = None
    guesses: Sequence[float] | None = None

    def target(self) -> Target:
        options = {"others": self.others, "guesses": self.guesses}
        return mechanism_target(self.mechanism, self.rows, self.asks, **options)  # type: ignore[arg-type]


PLANS: tuple[Plan, ...] = (
    Plan(BoundedNoise(0.3)),
    Plan(Gaussian(0.1)),
    Plan(Laplace(0.1)),
    # Where no other row says yes, a fresh draw hides nothing but whether the changed row is in it.
    Plan(Subsampled(0.5, drawn=2), rows=4, others=0),
    Plan(OneSample(0.1), rows=5, others=0),
)
"""Every private mechanism there is: a test asks for each that is registered."""


def catalogue() -> dict[str, Callable[[], Target]]:
    """How to make each target, by name: mechanisms first, then controls.

    >>> list(catalogue())[:3]
    ['bounded-noise', 'gaussian', 'laplace']
    """
    made: dict[str, Callable[[], Target]] = {kebab(type(plan.mechanism).__name__): plan.target for plan in PLANS}
    return made | {name: (lambda control=control: control) for name, control in controls.targets().items()}


def find(name: str) -> Target:
    """The target of this name."""
    known = catalogue()
    if name not in known:
        raise UnwornError(f"nothing to audit is called {name!r}.\n  There are: {', '.join(known)}.", known=list(known))
    return known[name]()
