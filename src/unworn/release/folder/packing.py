"""A release as plain JSON and arrays, and back: what is saved, signed and checked.

Nothing here is ever unpickled, and whatever is read back has to fit the problem it claims to answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.errors import Tampered
from unworn.queries.query import canonical
from unworn.queries.row_protocol import Floats
from unworn.release.methods.method import ReleaseOutcome
from unworn.release.methods.noisy_table import Measured
from unworn.release.problem import Problem
from unworn.universe.model.explicit_model import Explicit
from unworn.universe.model.factored_model import Factored
from unworn.universe.model.model import Model

Arrays = dict[str, NDArray[Any]]


def pack_outcome(outcome: ReleaseOutcome) -> tuple[dict[str, Any], Arrays]:
    """What was released: its structure, and its numbers by name."""
    structure: dict[str, Any] = {"numbers": outcome.numbers, "model": None, "answers": outcome.answers is not None}
    arrays: Arrays = {}
    if isinstance(outcome.model, Explicit):
        structure["model"] = {"kind": "explicit"}
        arrays["model"] = outcome.model.weights
    elif isinstance(outcome.model, Factored):
        factors = outcome.model.factors
        axes = [list(some) for some in factors]
        structure["model"] = {"kind": "factored", "limit": outcome.model.limit, "axes": axes}
        arrays |= {f"factor_{place}": table for place, table in enumerate(factors.values())}
    for name, lines in (("answers", outcome.answers or []), ("errors", outcome.errors)):
        arrays |= {f"{name}_{place}": np.asarray(line, dtype=np.float64) for place, line in enumerate(lines)}
    structure["measured"] = [
        {"axes": list(each.axes), "noise": each.noise, "scale": each.scale} for each in outcome.measured
    ]
    arrays |= {f"measured_{place}": each.counts for place, each in enumerate(outcome.measured)}
    return structure, arrays


def digest(structure: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> str:
    """One digest of it all, so that what is read can be held against what was signed."""
    whole = sha256(canonical(structure).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        whole.update(canonical([name, array.dtype.str, list(array.shape)]).encode())
        whole.update(array.tobytes())
    return whole.hexdigest()


def path(outcome: ReleaseOutcome) -> str:
    """A digest of every random choice that was made: what was selected, and every noisy count.

    All else follows from these and from public numbers, up to how a machine rounds.
    """
    taken = [outcome.numbers.get("selected"), [each.counts.tolist() for each in outcome.measured]]
    noisy = [] if outcome.answers is None else [np.round(line, 9).tolist() for line in outcome.answers]
    return sha256(canonical([*taken, noisy]).encode()).hexdigest()


def unpack_outcome(problem: Problem, structure: Any, arrays: Mapping[str, NDArray[Any]]) -> ReleaseOutcome:
    """The release read back; ``Tampered`` where it could not be one of this problem."""
    try:
        answers = _lines(problem, arrays, "answers") if structure["answers"] else None
        tables = [(each, arrays[f"measured_{place}"]) for place, each in enumerate(structure["measured"])]
        measured = [
            Measured(tuple(each["axes"]), _counts(problem, each, counts), each["noise"], each["scale"])
            for each, counts in tables
        ]
        model = _model(problem, structure["model"], arrays)
        return ReleaseOutcome(model, answers, _lines(problem, arrays, "errors"), dict(structure["numbers"]), measured)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise Tampered(f"this is not a release of that workload ({type(error).__name__})") from error


def _lines(problem: Problem, arrays: Mapping[str, NDArray[Any]], name: str) -> list[Floats]:
    lines = [arrays[f"{name}_{place}"] for place in range(len(problem.blocks))]
    for line, block in zip(lines, problem.blocks, strict=True):
        if line.dtype != np.float64 or line.shape != (block.size,) or not np.isfinite(line).all():
            raise ValueError(f"{name} do not fit their block")
        if name == "errors" and (line < 0).any():
            raise ValueError("an error is never negative")
    return lines


def _counts(problem: Problem, told: Mapping[str, Any], counts: NDArray[Any]) -> NDArray[np.int64]:
    shape = tuple(problem.domain.shape[axis] for axis in told["axes"])
    if counts.dtype != np.int64 or counts.shape != shape:
        raise ValueError("a measured table does not fit its columns")
    if told["noise"] not in ("gaussian", "laplace") or not 0 < float(told["scale"]) < np.inf:
        raise ValueError("a measured table has noise of a known kind and scale")
    return counts


def _model(problem: Problem, told: Any, arrays: Mapping[str, NDArray[Any]]) -> Model | None:
    shape = problem.domain.shape
    if told is None:
        return None
    if told["kind"] == "explicit":
        weights = arrays["model"]
        if weights.shape != shape or weights.dtype != np.float64 or not (np.isfinite(weights) & (weights >= 0)).all():
            raise ValueError("the distribution does not fit the domain")
        return Explicit(weights)
    if told["kind"] != "factored":
        raise ValueError("no such distribution")
    model = Factored(shape, told["limit"])
    axes = [tuple(some) for some in told["axes"]]
    tables = [arrays[f"factor_{place}"] for place in range(len(axes))]
    if any(table.dtype != np.float64 or not np.isfinite(table).all() for table in tables):
        raise ValueError("a factor is not made of finite numbers")
    if axes:
        model.tilts(axes, tables)
    return model
