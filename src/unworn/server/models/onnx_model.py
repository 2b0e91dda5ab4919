"""An ONNX model as a model like any other: user code that is shown rows, and is known by its digest.

It runs in a process of its own, with a limit to its memory and time, and one thread. What fails there is a failure of
the question's own code: on rows that are sealed it is a word of the answer and nothing else (law 5), and even on
practice rows no message of the runtime is passed on, because it may quote what a row contains.
"""

from __future__ import annotations

import hashlib
import io
import json
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from unworn.basics.display import show_line
from unworn.errors import MissingExtra, Unaskable
from unworn.queries.predictions import NamedPredictions
from unworn.queries.schema import Schema
from unworn.queries.table_output import as_frame, series_of

_TURNS: Final = threading.BoundedSemaphore(4)
"""Models that run at the same time: each may have gigabytes."""
_CHILD: Final = Path(__file__).with_name("onnx_child.py")
_NOT_TAKEN: Final = 3
_DTYPES: Final = {"float32": "f4", "float64": "f8", "int32": "i4", "int64": "i8", "bool": "?", "text": "U"}


@dataclass(frozen=True)
class ModelLimits:
    """What a model may use."""

    memory: int
    seconds: float


class OnnxModel:
    """A model that predicts: the first output, or with ``predict_proba`` the first that has several columns."""

    def __init__(self, data: bytes, schema: Schema, limits: ModelLimits) -> None:
        self._data, self._limits = data, limits
        told = json.loads(_run_child("check", data, b"", limits, checking=True))
        self._inputs, self._outputs, self.classes = told["inputs"], told["outputs"], told["classes"]
        self._features = [name for name in schema if name != schema.target]
        self._matrix = is_matrix(self._inputs, self._features)
        self.digest = hashlib.sha256(data).hexdigest()

    @property
    def gives_scores(self) -> bool:
        """Whether one of its outputs has several columns: a score per class."""
        return self._scores_place is not None

    @property
    def _scores_place(self) -> int | None:
        for place, each in enumerate(self._outputs):
            if len(each["shape"]) == 2 and each["shape"][1] != 1 and each["type"].startswith("float"):
                return place
        return None

    def predict(self, features: Any) -> NDArray[Any]:
        """The model's first output, one value a row."""
        return self._run(features, 0)

    def scores(self, features: Any) -> NDArray[Any]:
        """The model's scores, one column a class."""
        place = self._scores_place
        return self._run(features, 0 if place is None else place)

    def _run(self, features: Any, output: int) -> NDArray[Any]:
        columns = _columns_of(features)
        if self._matrix:
            fed = [_as_matrix(columns, self._features, self._inputs[0]["type"])]
        else:
            fed = [_as_column(columns[each["name"]], each["type"]) for each in self._inputs]
        packed = io.BytesIO()
        np.savez(packed, **{f"i{place}": array for place, array in enumerate(fed)})  # type: ignore[arg-type]
        told = _run_child("run", self._data, packed.getvalue(), self._limits, checking=False)
        with np.load(io.BytesIO(told), allow_pickle=False) as found:
            array: NDArray[Any] = found[f"o{output}"]
        return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


class ScoringModel:
    """The same for metrics that want scores: beside ``predict`` it has ``predict_proba``."""

    def __init__(self, model: OnnxModel) -> None:
        self._model = model
        if model.classes is not None:
            self.classes_ = np.array(model.classes)

    def predict(self, features: Any) -> NDArray[Any]:
        return self._model.predict(features)

    def predict_proba(self, features: Any) -> NDArray[Any]:
        return self._model.scores(features)


def as_predictions(model: OnnxModel) -> NamedPredictions:
    """What a holdout scores: the model under the name of its digest, which is all that identifies it."""
    source = ScoringModel(model) if model.gives_scores else model
    return NamedPredictions(source, f"onnx {model.digest}", watch=False)


def is_matrix(inputs: Sequence[Mapping[str, Any]], features: Sequence[str]) -> bool:
    """Whether a model takes all features as one matrix; refused where it takes neither that nor columns by name."""
    names = [each["name"] for each in inputs]
    if set(names) <= set(features):
        return False
    if len(inputs) == 1 and inputs[0]["type"] != "text" and len(inputs[0]["shape"]) == 2:
        wide = inputs[0]["shape"][1]
        if wide in (None, len(features)):
            return True
        raise Unaskable(f"the model takes {wide} features, and the rows have {len(features)}")
    unknown = next(name for name in names if name not in features)
    raise Unaskable(
        f"the model has an input {show_line(unknown)[:60]!r}, and no feature is called so: a model takes one matrix of "
        f"all features, or features by their names"
    )


def _run_child(mode: str, model: bytes, inputs: bytes, limits: ModelLimits, *, checking: bool) -> bytes:
    """What the child says; of a model that is not taken, why; of one that fails, that it failed.

    A model that sees rows takes all the time it may, whatever it does with them: else a model made for it would tell
    about rows by how long it runs, to whoever asked and to whoever waits behind it.
    """
    command = [sys.executable, "-I", str(_CHILD), mode, str(limits.memory), str(max(1, int(limits.seconds)))]
    with _TURNS:
        started = time.monotonic()
        done = _run_limited(command, len(model).to_bytes(8, "little") + model + inputs, limits.seconds)
    if not checking:
        time.sleep(max(0.0, started + limits.seconds - time.monotonic()))
    if done is not None and done.returncode == 0:
        return done.stdout
    if checking:
        why = "it takes too much memory or time to load"
        if done is not None and done.returncode == _NOT_TAKEN:
            why = show_line(done.stderr.decode("utf-8", "replace")[:300])
        raise Unaskable(f"this model is not taken: {why}")
    raise RuntimeError("the model failed, or ran out of memory or time")


def _run_limited(command: list[str], told: bytes, seconds: float) -> subprocess.CompletedProcess[bytes] | None:
    """What became of a child; none where it had to be ended."""
    try:
        return subprocess.run(
            command,
            input=told,
            capture_output=True,
            timeout=seconds,
            env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            cwd="/",
            start_new_session=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None


def check_onnx_installed() -> None:
    """Refuse models where what runs them is not installed."""
    from importlib.util import find_spec

    if find_spec("onnx") is None or find_spec("onnxruntime") is None:
        raise MissingExtra.of("onnx", "scoring an ONNX model")


def _columns_of(features: Any) -> dict[str, NDArray[Any]]:
    """A frame, or whatever rows came in, as arrays by name."""
    frame = as_frame(features)
    if frame is not None:
        return {name: series.to_numpy() for name, series in series_of(frame).items()}
    if isinstance(features, Mapping):
        return {str(name): np.asarray(values) for name, values in features.items()}
    matrix = np.asarray(features)
    return {f"x{place}": matrix[:, place] for place in range(matrix.shape[1])}


def _as_matrix(columns: Mapping[str, NDArray[Any]], names: Sequence[str], kind: str) -> NDArray[Any]:
    return np.column_stack([columns[name] for name in names]).astype(_DTYPES[kind])


def _as_column(values: NDArray[Any], kind: str) -> NDArray[Any]:
    array = np.asarray(values)
    plain = array.astype(str) if kind == "text" else array.astype(_DTYPES[kind])
    return plain.reshape(-1, 1)
