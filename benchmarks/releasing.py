"""One method of release on the Adult-like table, in a process of its own, so that its memory can be told.

``python releasing.py METHOD DELTA ROWS SEEDS`` prints errors, seconds and memory as JSON. Timed is the choice of the
method and its parameters with the run itself (``Method.run``), on rows that are read and coded; beside it, all of
``fit``: reading rows, coding, sealing, the method, its certificate.
"""

from __future__ import annotations

import sys

import numpy as np

import adult
from peers import Clock, errors, told
from unworn.noise import Stream
from unworn.release.fit import fit
from unworn.release.methods.method_choice import choose_method
from unworn.release.problem import Problem
from unworn.rows import Sample
from unworn.rows.memory.domain_coding import CodedRows
from unworn.universe.workload import Marginals

EPSILON = 1.0


def main(method: str, delta: float, rows: int, seeds: int) -> None:
    domain, workload, runs, name = adult.domain(), Marginals(2) + Marginals(3), [], ""
    for seed in range(seeds):
        frame, codes = adult.frame(seed, rows), adult.codes(seed, rows)
        problem = Problem(rows, domain, workload, EPSILON, delta)
        tables = CodedRows(Sample.read(frame), domain)
        if method == "none":
            continue
        clock = Clock()
        way = choose_method(method, problem)
        found = way.run(problem, tables, Stream(bytes(32), "benchmark", seed))
        spent = clock.spent()
        axes = [block.axes for block in problem.blocks]
        if found.answers is None:
            assert found.model is not None
            shares = dict(zip(axes, found.model.tables(axes), strict=True))
        else:
            shares = {
                block.axes: answers.reshape(block.shape)
                for block, answers in zip(problem.blocks, found.answers, strict=True)
            }
        largest, mean = errors(codes, domain.shape, shares)
        bound = max(float(np.max(each)) for each in found.errors)
        clock, name = Clock(), type(way).__name__
        fit(frame, workload, epsilon=EPSILON, delta=delta, domain=domain, method=method, ledger=None)
        whole = clock.spent()["seconds"]
        runs.append({"largest": largest, "mean": mean, "bound": bound, "fit": whole, **spent})
    print(told(runs, chosen=name))


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
