"""What each question of a workload says, as labels: for people who read a release's tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from unworn.release.problem import Problem
from unworn.universe.domain.domain import Domain
from unworn.universe.model.model import Axes
from unworn.universe.model.question_blocks import Block, Marginal, Prefix, Range
from unworn.universe.workload import Both, Shares, Workload

Labels = tuple[list[str], list[Sequence[str]]]
"""The headers, and under each the labels of all questions."""


def cells(domain: Domain, axes: Axes) -> Labels:
    """Every cell of a table by the labels of its values.

    >>> cells(Domain({"paid": [False, True], "plan": ["basic", "pro"]}), (0, 1))
    (['paid', 'plan'], [['False', 'False', 'True', 'True'], ['basic', 'pro', 'basic', 'pro']])
    """
    names = [domain.names[axis] for axis in axes]
    shape = tuple(domain.shape[axis] for axis in axes)
    places = np.indices(shape).reshape(len(axes), -1)
    return names, [_picked(domain.labels(name), place.tolist()) for name, place in zip(names, places, strict=True)]


def lines(problem: Problem, place: int) -> Labels:
    """Every question of one block."""
    block, domain = problem.blocks[place], problem.domain
    if isinstance(block, Marginal):
        return cells(domain, block.axes)
    if isinstance(block, Prefix | Range):
        name = domain.names[block.axes[0]]
        labels = domain.labels(name)
        if isinstance(block, Prefix):
            return [f"{name} at most"], [labels[:-1]]
        first, last = (ends.tolist() for ends in np.triu_indices(block.shape[0]))
        return [f"{name} from", f"{name} to"], [_picked(labels, first), _picked(labels, last)]
    return ["question"], [_listed(problem, place, block)]


def _picked(labels: Sequence[str], places: Sequence[int]) -> list[str]:
    return [labels[place] for place in places]


def _listed(problem: Problem, place: int, block: Block) -> list[str]:
    """Questions that were listed one by one: the label each was asked by, or else the columns that all say yes."""
    at = place
    for part in _parts(problem.workload):
        count = len(part.blocks(problem.domain))
        if at < count:
            if isinstance(part, Shares):
                asked = [(problem.domain.weights(one)[0], one.label) for one in part.questions]
                return [label for axes, label in asked if axes == block.axes]
            break
        at -= count
    return [" and ".join(problem.domain.names[axis] for axis in block.axes)] * block.size


def _parts(workload: Workload) -> tuple[Workload, ...]:
    if not isinstance(workload, Both):
        return (workload,)
    return tuple(inner for part in workload.parts for inner in _parts(part))
