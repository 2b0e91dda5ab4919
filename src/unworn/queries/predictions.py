"""Where predictions come from: an array the asker made, or a model that is shown the rows.

The difference matters twice. An array is the asker's own, so what is wrong with it is said aloud and costs
nothing. A model is user code that sees rows, so whatever it does has a value or is one fixed failure. And a
question's fingerprint is made of the array or of the model's own bytes and code, never of what the model says
about rows.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from inspect import getattr_static
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from unworn.basics.display import show_line
from unworn.errors import Unaskable
from unworn.queries.arrays import are_floats, number_words
from unworn.queries.code.live_code import Code
from unworn.queries.column_reader import read_predictions
from unworn.queries.constant_prediction import ConstantPrediction
from unworn.queries.language.literals import text
from unworn.queries.metrics.class_labels import MOST_COLUMNS, Class, as_classes
from unworn.queries.recorded_predictions import RecordedPredictions
from unworn.queries.row_protocol import Column, Frame, run_code

T = TypeVar("T")


class FeatureFrame(Frame, Protocol):
    """A frame with labels and features: what metrics and callables need beyond columns."""

    @property
    def labels(self) -> Column:
        """The target's values over these rows."""

    @property
    def small_labels(self) -> NDArray[np.int8]:
        """Numeric labels over these rows in a byte each (:func:`small_labels`)."""

    @property
    def names(self) -> Sequence[str]:
        """The names of all columns."""

    @property
    def features(self) -> Any:
        """All rows' features in the form the owner gave them, or None when there are only labels."""

    @property
    def whole(self) -> Frame:
        """All the rows."""

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` returns, made once in a pass over the rows and forgotten with it."""


def as_feature_frame(frame: Frame) -> FeatureFrame:
    """The same frame: metrics are only ever evaluated on rows that have labels."""
    return cast(FeatureFrame, frame)


class GivenPredictions:
    """Predictions supplied as an array, one a row in the order of the holdout's rows.

    The array is copied and frozen, so that a question keeps the value it was fingerprinted with. Equal
    numbers of different dtypes have the same digest.

    >>> GivenPredictions([1, 0, 1]).digest == GivenPredictions(np.array([1.0, 0.0, 1.0], dtype=np.float32)).digest
    True
    >>> GivenPredictions([0.5, float("nan")])
    Traceback (most recent call last):
        ...
    unworn.errors.Unaskable: 1 of the 2 predictions are missing or infinite; fill them before asking
    """

    runs_code = False

    def __init__(self, array: Any, name: str | None = None) -> None:
        if array is None:
            raise Unaskable("there are no predictions: supply an array, one prediction per row, or a model")
        column = read_predictions(array)
        values = column.values
        if values.ndim not in (1, 2):
            raise Unaskable(
                f"predictions have {values.ndim} dimensions; give one value per row, or rows × classes",
                shape=list(values.shape),
            )
        if column.missing is not None:
            bad = int(np.count_nonzero(column.missing))
        else:
            bad = 0 if column.finite or values.dtype.kind != "f" else values.size - int(np.isfinite(values).sum())
        if bad:
            raise Unaskable(
                f"{bad} of the {values.size} predictions are missing or infinite; fill them before asking",
                bad=bad,
            )
        frozen = _small(np.array(values, order="C"))
        frozen.setflags(write=False)
        self.column = Column(column.kind, frozen, None, column.vocabulary, names=column.names)
        self.shape = tuple(int(side) for side in frozen.shape)
        self.digest = _digest(self.column)
        self.name = None if name is None else text(name, "the name of predictions")

    def __repr__(self) -> str:
        return f"Given({self.column.kind}, shape={self.shape}, digest={self.digest[:8]})"

    @property
    def label(self) -> str:
        return self.name or f"predictions {self.digest[:6]}"

    def to_json(self) -> dict[str, Any]:
        return {"digest": self.digest, "shape": list(self.shape)}


SMALL = 127
"""Class labels up to this size are compared as bytes; -128 is left to stand for all others."""


def _small(values: NDArray[Any]) -> NDArray[Any]:
    """Predicted classes in a byte each where they fit: an eighth of the memory to read at every ask.

    Decided by the asker's own array, so that how long an ask takes says nothing about the labels.
    """
    if values.ndim != 1 or values.dtype.kind not in "iub" or values.size == 0:
        return values
    if values.dtype.kind == "b":
        return values.view(np.int8)
    if values.min() < -SMALL or values.max() > SMALL:
        return values.astype(np.int16) if values.dtype == np.int8 else values
    return values.astype(np.int8, copy=False)


def small_labels(labels: Column) -> NDArray[np.int8]:
    """Numeric labels in a byte each: what is not a whole number up to ``SMALL`` equals none of those, and is -128.

    >>> small_labels(Column("number", np.array([0.0, 1.0, 0.5, 300.0, np.nan]))).tolist()
    [0, 1, -128, -128, -128]
    """
    values = labels.values
    with np.errstate(invalid="ignore"):
        fits = (values >= -SMALL) & (values <= SMALL) & (values == np.trunc(values))
    small: NDArray[np.int8] = np.where(fits, values, values.dtype.type(0)).astype(np.int8)
    small[~fits] = -128  # afterwards: no type without a sign holds it
    return small


def _digest(column: Column) -> str:
    """SHA-256 over the values: numbers as words, text as codes in order of first appearance."""
    shape = ",".join(map(str, column.values.shape)).encode()
    if column.vocabulary is None and not are_floats(column.values):
        signed = column.values.dtype.kind == "i" or int(column.values.max()) < 2**63
        words = column.values.astype("<i8" if signed else "<u8")  # no word for a float may stand for one of these
        return hashlib.sha256(b"integers\0" + words.dtype.str.encode() + shape + b"\0" + words.tobytes()).hexdigest()
    if column.vocabulary is None:
        return hashlib.sha256(b"numbers\0" + shape + b"\0" + number_words(column.values).tobytes()).hexdigest()
    digest = hashlib.sha256(b"text\0" + shape + b"\0")
    for word in column.vocabulary.tolist():
        data = word.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    digest.update(column.values.astype("<i4").tobytes())
    return digest.hexdigest()


class FromModel:
    """Predictions a model makes when it is shown the rows: user code, run once a question on all of them.

    The model is known by the digest of its own pickle and code (:mod:`~unworn.queries.code.code_digest`), taken now,
    before it sees any row; or by ``name``, which then must change whenever the model does. Either way it is looked at
    again before it runs, and refused if it has changed meanwhile (``watch=False`` leaves that out for a model with a
    name).

    >>> class Majority:
    ...     def predict(self, X): return [1] * len(X)
    >>> FromModel(Majority(), name="majority").to_json()
    {'method': 'predict', 'name': 'majority'}
    """

    runs_code = True

    def __init__(self, model: Any, method: str = "predict", name: str | None = None, *, watch: bool = True) -> None:
        if not callable(getattr(model, method, None)):
            raise Unaskable(f"{type(model).__name__} has no method {method}(); give an array or another model")
        self.model, self.method = model, method
        self.code = Code(model, "model", name, method=method, watch=watch)
        self.name = self.code.name
        self.classes = _classes(model)

    def __repr__(self) -> str:
        return f"FromModel({show_line(self.label)}, method={self.method!r})"

    @property
    def label(self) -> str:
        return self.code.label

    def to_json(self) -> dict[str, Any]:
        identity = {"name": self.name} if self.name is not None else {"model": self.code.digest}
        return {"method": self.method, **identity}

    def run(self, features: Any, rows: int) -> Column:
        """Predictions for every row, or ``Raised``, which says nothing about what happened."""
        if features is None:
            raise Unaskable("this holdout has labels only, no features to show a model: supply its predictions")

        def run() -> Column:
            told = getattr(self.model, self.method)(features)
            if told is None:
                raise TypeError(f"{self.method}() returned nothing")
            column = read_predictions(told)
            shape = column.values.shape
            if len(shape) not in (1, 2) or shape[0] != rows:
                raise ValueError(f"{self.method}() returned an array of shape {shape} for {rows} rows")
            return column

        return run_code(run)


Source = GivenPredictions | FromModel | ConstantPrediction | RecordedPredictions


def _classes(model: Any) -> tuple[Class, ...] | None:
    try:
        return as_classes(model.classes_, most=MOST_COLUMNS)
    except Exception:  # no classes_, or those of several outputs: then classes= says what the columns are
        return None


@dataclass(frozen=True)
class NamedPredictions:
    """An array or a model, with the one name it should go by."""

    predictions: Any
    name: str
    watch: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.predictions, NamedPredictions):
            raise Unaskable("these predictions have a name already, and what has two is known by neither: give one")
        object.__setattr__(self, "name", text(self.name, "the name of predictions"))


def as_source(
    predictions: Any, methods: Sequence[str] = ("predict",), name: str | None = None, watch: bool = True
) -> Source:
    """Predictions in any form the asker may bring: array, model, or an explicit source.

    >>> as_source([0, 1]).shape
    (2,)
    """
    if type(predictions) is NamedPredictions:
        return as_source(predictions.predictions, methods, predictions.name, predictions.watch)
    if isinstance(predictions, (GivenPredictions, FromModel, ConstantPrediction, RecordedPredictions)):
        return predictions
    if isinstance(predictions, type) and not _needs_no_instance(predictions, (*methods, "predict")):
        name = predictions.__name__
        raise Unaskable(f"{name} is a class, not a model: make one and fit it, as in {name}().fit(X, y)")
    if any(callable(getattr(predictions, method, None)) for method in (*methods, "predict")):
        for method in methods:
            if callable(getattr(predictions, method, None)):
                return FromModel(predictions, method, name, watch=watch)
        raise Unaskable(f"{type(predictions).__name__} has no {' or '.join(methods)}, which this metric needs")
    if callable(predictions) and not hasattr(predictions, "__array__"):
        return FromModel(predictions, "__call__", name, watch=watch)
    return GivenPredictions(predictions, name)


def _needs_no_instance(kind: type, methods: Sequence[str]) -> bool:
    """Whether a class is a model by itself, because it predicts without an instance."""
    return any(isinstance(getattr_static(kind, method, None), staticmethod | classmethod) for method in methods)


def predicted_everywhere(source: Source, frame: FeatureFrame) -> Column:
    """The predictions of all rows; a model runs at most once in a pass."""
    if isinstance(source, GivenPredictions):
        return source.column
    if isinstance(source, RecordedPredictions):
        raise Unaskable("this record of a question has no predictions; supply them")
    if isinstance(source, ConstantPrediction):
        return source.column(frame.whole.size)
    return frame.once((id(source), "predictions"), lambda: source.run(frame.features, frame.whole.size))


def predictions_on(source: Source, frame: FeatureFrame) -> Column:
    """The predictions of this frame's rows."""
    return predicted_everywhere(source, frame).on(frame)
