"""Where a distribution starts: uniform, kept cell by cell where memory allows, and else in factors."""

from __future__ import annotations

from unworn.release.methods.method import ReleaseOutcome
from unworn.release.problem import Problem
from unworn.universe.model.explicit_model import Explicit
from unworn.universe.model.factored_model import Factored
from unworn.universe.model.model import Axes, Model
from unworn.universe.model.model_fitting import fit_model

EXPLICIT = 2**24
"""Above so many cells a distribution is kept in factors."""


def uniform(problem: Problem) -> Model:
    """The uniform distribution over the problem's domain."""
    shape = problem.domain.shape
    return Explicit.uniform(shape) if problem.cells <= EXPLICIT else Factored(shape)


def fits(model: Model, *many: Axes) -> bool:
    """Whether the distribution can learn from tables over all these columns."""
    return not isinstance(model, Factored) or model.fits(*many)


def fit_answers(problem: Problem, outcome: ReleaseOutcome) -> Model:
    """The distribution that fits noisy answers best: for whoever released only those. It reads no rows.

    Where the columns asked about are too many for the factors, as many of the tables as fit are learned from.
    """
    if outcome.answers is None:
        raise TypeError("only noisy answers can be fitted")
    model, measured = uniform(problem), []
    taken: list[Axes] = []
    for block, answers, errors in zip(problem.blocks, outcome.answers, outcome.errors, strict=True):
        if fits(model, *taken, block.axes):
            taken.append(block.axes)
            # What bounds the noise is proportional to its deviation, and only the proportions matter.
            measured.append((block, answers, 1.0 / max(float(errors.mean()), 1e-9) ** 2))
    return fit_model(model, measured)
