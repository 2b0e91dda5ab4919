"""What a question is called: no name makes an answer that cannot be entered, and none is read after rows were seen.

Were it found out with the answer that a ledger cannot hold it, the question's code would have seen the rows for
nothing, and one that raises an interrupt for some of them would have told a bit an ask.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from unworn import Holdout, col, function, share, statistic
from unworn.errors import LedgerError, Unaskable
from unworn.holdout.asks import Label
from unworn.ledger import MemoryStore
from unworn.mechanisms import Laplace
from unworn.queries import FromModel, GivenPredictions, NamedPredictions, metric

ROWS = 400
X = np.random.default_rng(7).normal(size=(ROWS, 1))
Y = (X[:, 0] > 0).astype(int)
HALF, LONG = "\ud800", "a" * 5_000_000


class Swollen(str):
    """A text that is short, written and like another whenever it is asked."""

    __hash__ = str.__hash__

    def __len__(self) -> int:
        return 3

    def __eq__(self, other: object) -> bool:
        return True

    def encode(self, *args: Any, **options: Any) -> bytes:
        return b"abc"


class Spy:
    """Code that counts how often it sees rows, and interrupts."""

    def __init__(self, **attributes: Any) -> None:
        self.seen = 0
        vars(self).update(attributes)

    def __call__(self, columns: Any) -> Any:
        self.seen += 1
        raise KeyboardInterrupt

    def __reduce__(self) -> Any:
        return Spy, ()


class Nameless(Spy):
    @property
    def __name__(self) -> str:
        raise KeyError("no name")


def error_of(run: Callable[[], Any]) -> BaseException | None:
    """What is raised, an interrupt too: it would end all tests."""
    try:
        run()
    except BaseException as error:
        return error
    return None


def opened(**options: Any) -> Holdout:
    return Holdout(X, Y, practice=0, ledger=None, **options)


NAMES = {"half a character": HALF, "a number": 3, "far too long": LONG, "swollen": Swollen(LONG), "odd": Swollen(HALF)}
WAYS: dict[str, Callable[[Holdout, Spy, Any], Any]] = {
    "function(name=)": lambda holdout, spy, name: holdout.ask(function(spy, range=(0, 1), name=name)),
    "score(name=)": lambda holdout, spy, name: holdout.score(spy, name=name),
    "NamedPredictions": lambda holdout, spy, name: holdout.score(NamedPredictions(spy, name)),
    "final": lambda holdout, spy, name: holdout.final(metric("accuracy", NamedPredictions(spy, name))),
    "FromModel": lambda holdout, spy, name: holdout.score(FromModel(spy, "__call__", name)),
    "by=": lambda holdout, spy, name: holdout.score(spy, name="spy", by=name),
    "tags=": lambda holdout, spy, name: holdout.score(spy, name="spy", tags={"a": [] if name == 3 else name}),
    "a tag's key": lambda holdout, spy, name: holdout.score(spy, name="spy", tags={name: 1}),
    "composite": lambda holdout, spy, name: holdout.ask(
        (metric("accuracy", NamedPredictions(spy, "spy")) - share(col("x0") > 0)).named(name)
    ),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_cannot_be_entered_is_refused_before_rows_are_seen(way: str, name: str) -> None:
    holdout, spy = opened(), Spy()
    assert isinstance(error_of(lambda: WAYS[way](holdout, spy, NAMES[name])), Unaskable)
    assert (spy.seen, holdout.meter.asked) == (0, 0)


@pytest.mark.parametrize("name", NAMES)
def test_names_of_arrays_and_statistics_are_refused_likewise(name: str) -> None:
    holdout, noisy, spy = opened(), opened(mechanism=Laplace(), asks=5), Spy()
    attempts: list[Callable[[], Any]] = [
        lambda: holdout.score(GivenPredictions(Y, NAMES[name])),
        lambda: holdout.score(NamedPredictions(Y, NAMES[name])),
        lambda: holdout.final(metric("accuracy", NamedPredictions(Y, NAMES[name]))),
        lambda: noisy.ask(statistic(spy, sensitivity=0.001, range=(0, 1), name=NAMES[name])),
    ]
    for attempt in attempts:
        assert isinstance(error_of(attempt), Unaskable)
    assert (spy.seen, holdout.meter.asked, noisy.meter.asked) == (0, 0, 0)


@pytest.mark.parametrize("own", ["half a character", "a number", "far too long", "swollen", "raises"])
@pytest.mark.parametrize("way", ["score", "function"])
def test_what_code_calls_itself_is_written_so_that_it_can_be_entered(own: str, way: str) -> None:
    holdout = opened()
    spy = Nameless() if own == "raises" else Spy(__name__=NAMES[own])
    with pytest.raises(KeyboardInterrupt):
        holdout.score(spy) if way == "score" else holdout.ask(function(spy, range=(0, 1)))
    assert (spy.seen, holdout.meter.asked) == (1, 1)  # the interrupt is an answer, and paid for
    label = holdout._desk.transcript.record(1).label
    assert type(label) is str
    assert len(label) < 300
    assert label.encode()
    holdout.verify()


def test_swollen_texts_that_are_short_are_kept_as_what_they_are() -> None:
    holdout = opened()
    holdout.score(Y, 1.0, name=Swollen("name"), by=Swollen("me"), tags={Swollen("key"): Swollen("value")})
    record = holdout._desk.transcript.record(1)
    told = (record.name, record.by, record.tags)
    assert told == ("name", "me", {"key": "value"})
    assert {type(text) for text in (record.name, record.by, *(record.tags or {}).values(), *(record.tags or {}))} == {
        str
    }


class Renamed:
    """A model that puts what it saw into every name it can reach."""

    source: Any = None

    def __reduce__(self) -> Any:
        return Renamed, ()

    def predict(self, X: Any) -> Any:
        self.__name__ = self.source.name = self.source.code.label = self.source.code.name = f"{X[0, 0]:.6f}"
        return np.ones(len(X))


@pytest.mark.parametrize("batch", [False, True])
def test_a_label_is_not_read_after_the_rows(batch: bool) -> None:
    holdout, model = opened(), Renamed()
    model.source = FromModel(model, "predict", "model")
    question = metric("accuracy", model.source)
    last = (
        holdout.ask_many([question, function(lambda columns: columns["x0"] > 9, binary=True)])[0]
        if batch
        else (holdout.ask(question))
    )
    assert last.certificate.record.label == "accuracy of model"
    assert f"{X[0, 0]:.6f}" not in last.certificate.entry.text
    assert model.source.name == f"{X[0, 0]:.6f}"  # it did try


class Noting:
    """A model that writes what it saw into tags that were handed over with it."""

    def __init__(self) -> None:
        self.tags: dict[str, Any] = {"seen": "nothing"}

    def __reduce__(self) -> Any:
        return Noting, ()

    def predict(self, X: Any) -> Any:
        self.tags["seen"] = f"{X[0, 0]:.6f}"
        return np.ones(len(X))


@pytest.mark.parametrize("way", ["tags", "label", "sharpen", "final"])
def test_tags_are_not_read_after_the_rows(way: str) -> None:
    holdout, model = opened(), Noting()
    told = holdout.score(
        model, 0.5, guess_se=0.2, name="noting", tags=Label("one", model.tags) if way == "label" else model.tags
    )
    if way in ("sharpen", "final"):  # what follows an answer has its tags
        kept = holdout._desk.transcript.record(1).tags
        assert kept is not None
        model.tags = kept
        told = getattr(holdout, way)(told)
    assert told.certificate.record.tags == {"seen": "nothing"}
    assert f"{X[0, 0]:.6f}" not in told.certificate.entry.text
    assert model.tags["seen"] == f"{X[0, 0]:.6f}"  # it did try


class FullStore(MemoryStore):
    """A store that can be opened, and takes no answer."""

    def append(self, entries: Any, expect: Any = None) -> None:
        if entries[0].index > 0:
            raise LedgerError("the disk is full")
        super().append(entries, expect=expect)


@pytest.mark.parametrize("interrupts", [False, True])
def test_where_nothing_can_be_entered_an_interrupt_tells_nothing(interrupts: bool) -> None:
    def code(columns: Any) -> Any:
        if interrupts:
            raise KeyboardInterrupt
        return columns["x0"] > 0

    holdout = Holdout(X, Y, practice=0, ledger=FullStore())
    error = error_of(lambda: holdout.ask(function(code, binary=True, name="code")))
    assert isinstance(error, LedgerError)
    assert str(error) == "the disk is full"
    assert holdout.meter.asked == 0
