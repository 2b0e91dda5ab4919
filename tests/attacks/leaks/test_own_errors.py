"""Our own exceptions: whatever is raised once rows are touched, by whomever, is an entry, and tells nothing else.

A failure that depends on rows and is not entered is a free bit an ask; its type, its text or its traceback would be as
many as there are rows. So failures are planted at every step between the rows and the answer, for every mechanism.
"""

from __future__ import annotations

import math
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from unworn import Failed, Holdout, Unaskable, accuracy, col, compare, mean, share
from unworn.errors import Conflict, Exhausted, LedgerError, Refused, Unavailable
from unworn.ledger import MemoryStore
from unworn.mechanisms import GuessAndCheck, Ladder, Mechanism, Reply, Rounding, kinds
from unworn.mechanisms.contract.declarations import settle_parameters
from unworn.mechanisms.contract.record import Record
from unworn.queries.row_protocol import Raised
from unworn.rows import Sample

ROWS = 20_000
SCHEMA = {"x": "number", "b": "bool"}
PARAMETERS: dict[str, dict[str, Any]] = {
    "AboveThreshold": {"threshold": 0.5, "tops": 3},
    "Ladder": {"step": 0.05, "baseline": 0.3},
    "MedianOracle": {"domain": {"b": [False, True]}},
    "MultiplicativeWeights": {"domain": {"b": [False, True]}},
    "PrivateGuessAndCheck": {"tops": 2},
    "PrivateLadder": {"tops": 2},
    "SparseVector": {"tops": 2},
    "Subsampled": {"drawn": 2000},
}
SETTLED: dict[str, Mechanism] = {}


def rows(seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"x": rng.random(ROWS), "b": rng.random(ROWS) < 0.5}


def opened(name: str, store: MemoryStore | None = None) -> Holdout:
    if name not in SETTLED:  # pricing takes a while
        SETTLED[name] = settle_parameters(kinds()[name](**PARAMETERS.get(name, {})), ROWS, 0.95, 4)
    labels = "b" if name == "PairedLadder" else None
    return Holdout(rows(), labels, mechanism=SETTLED[name], asks=4, ledger=store or MemoryStore(), schema=SCHEMA)


def question(name: str, place: int = 0) -> Any:
    if name == "PairedLadder":
        first, second = (np.arange(ROWS) % (place + 2) == 0), np.zeros(ROWS, dtype=bool)
        return compare(accuracy(first), accuracy(second))
    if name in ("MedianOracle", "MultiplicativeWeights"):
        return share(col("b") == (place == 0))
    return share(col("x") > 0.4 + place / 10)


class Secret:
    """Facts about the rows, as an exception would carry them."""

    def __init__(self, fact: str) -> None:
        self.fact = fact

    def errors(self) -> list[BaseException]:
        class OfTheRows(Exception):
            pass

        return [
            ZeroDivisionError(self.fact),
            MemoryError(),
            OfTheRows(self.fact, {"row": 17}),
            Unaskable(self.fact, row=self.fact),
            Conflict(self.fact),
            LedgerError(self.fact),
            Raised(),
            RecursionError(self.fact),
        ]


Plant = Callable[[pytest.MonkeyPatch, str, BaseException], None]


def in_the_rows(patch: pytest.MonkeyPatch, name: str, error: BaseException) -> None:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    for verb in ("statistics", "counts", "means", "differences", "rounded", "drawn", "statistic"):
        patch.setattr(Sample, verb, fail)


def after_the_rows(patch: pytest.MonkeyPatch, name: str, error: BaseException) -> None:
    answer = kinds()[name].answer

    def fail(*args: Any, **named: Any) -> Any:
        answer(*args, **named)
        raise error

    patch.setattr(kinds()[name], "answer", fail)


def in_publishing(patch: pytest.MonkeyPatch, name: str, error: BaseException) -> None:
    def fail(*_: Any) -> Any:
        raise error

    patch.setattr(kinds()[name], "reveal", fail)


def in_writing(patch: pytest.MonkeyPatch, name: str, error: BaseException) -> None:
    to_text = Record.to_text

    def fail(self: Record, question: str) -> Any:
        if self.symbol not in ("raised", "stopped"):
            raise error
        return to_text(self, question)

    patch.setattr(Record, "to_text", fail)


def no_symbol(patch: pytest.MonkeyPatch, name: str, error: BaseException) -> None:
    """An answer that no ledger can hold: what goes wrong then is not planted, but ours."""
    answer = kinds()[name].answer

    def strange(*args: Any, **named: Any) -> Any:
        return Reply(object() if isinstance(error, MemoryError) else math.nan, answer(*args, **named).event)  # type: ignore[arg-type]

    patch.setattr(kinds()[name], "answer", strange)


PLANTS: list[Plant] = [in_the_rows, after_the_rows, in_publishing, in_writing, no_symbol]


def told(error: BaseException) -> tuple[Any, ...]:
    """All that an asker can see of an exception."""
    frames = [(frame.filename, frame.lineno, frame.name) for frame in traceback.extract_tb(error.__traceback__)]
    numbers = getattr(error, "numbers", None)
    return type(error), str(error), error.args, numbers, error.__cause__, error.__context__, vars(error), frames


def seen(name: str, plant: Plant, error: BaseException) -> tuple[Any, ...]:
    store = MemoryStore()
    holdout = opened(name, store)
    with pytest.MonkeyPatch.context() as patch:
        plant(patch, name, error)
        try:
            holdout.ask(question(name), 0.5)
        except Exception as caught:
            found = told(caught)
        else:
            raise AssertionError("nothing was planted")
    assert holdout.meter.asked == 1
    assert len(store.read(holdout.id)) == 2
    holdout.verify()
    opened(name, store).verify()  # who reads the ledger finds the same
    with pytest.raises(Failed):  # and it is not asked again behind anybody's back
        holdout.ask(question(name), 0.5)
    assert holdout.meter.asked == 1
    if holdout.mechanism.prices_failure:
        holdout.ask(question(name, 1), 0.5)
        assert holdout.meter.asked == 2
    else:
        with pytest.raises(Exhausted, match="closed"):
            holdout.ask(question(name, 1), 0.5)
        with pytest.raises(Exhausted, match="closed"):
            opened(name, store).ask(question(name, 1), 0.5)
        assert holdout.meter.next_width is None
    holdout.verify()
    return found


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("name", sorted(kinds()))
def test_whatever_is_raised_is_entered_and_all_of_it_looks_alike(name: str, plant: Plant) -> None:
    looks = [
        seen(name, plant, error) for error in Secret("row 17 is 42").errors()[:: 1 if name == "GuessAndCheck" else 3]
    ]
    assert looks[0][0] is Failed
    assert looks[0][1] in (Failed.MESSAGE, Failed.OURS)
    assert all(look == looks[0] for look in looks)


@pytest.mark.parametrize("name", sorted(kinds()))
def test_a_batch_of_which_one_fails_is_entered_whole(name: str) -> None:
    """What follows a failure that closes the holdout fails too; where failures have a price, it is answered."""
    if name in ("Ladder", "PrivateLadder"):
        pytest.skip("a ladder is climbed one at a time")
    holdout = opened(name)
    answer = kinds()[name].answer
    asked = [question(name, place) for place in range(2)]

    def fail(self: Any, state: Any, offer: Any, query: Any, *rest: Any) -> Any:
        if query is asked[0]:
            raise ZeroDivisionError
        return answer(self, state, offer, query, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds()[name], "answer", fail)
        answers = holdout.ask_many(asked, [0.5] * len(asked))
    symbols = [each.certificate.record.symbol for each in answers]
    assert holdout.meter.asked == 2
    assert (answers[0].low, answers[0].high) == (
        answers[0].certificate.record.offer.low,
        answers[0].certificate.record.offer.high,
    )
    assert symbols[0] == "raised"
    assert (symbols[1] == "raised") == (not holdout.mechanism.prices_failure)
    holdout.verify()
    for each in answers:
        each.certificate.verify()


def test_a_pass_for_many_questions_that_fails_fails_only_who_fails_alone() -> None:
    holdout, statistics = opened("GuessAndCheck"), Sample.statistics
    asked = [question("GuessAndCheck", place) for place in range(3)]

    def fail(self: Sample, queries: Any, part: Any = None) -> Any:
        if len(queries) > 1 or queries[0] is asked[1]:
            raise MemoryError
        return statistics(self, queries, part)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Sample, "statistics", fail)
        patch.setattr(Sample, "counts", lambda self, queries, part=None: np.array(fail(self, queries, part)))
        answers = holdout.ask_many(asked, [0.5] * 3)
    assert [each.certificate.record.symbol == "raised" for each in answers] == [False, True, False]
    holdout.verify()


# ---------------------------------------------------------------- ranges that floats have no room for


TINY = [(0.0, 5e-324), (0.0, 1e-310), (-5e-324, 5e-324), (0.0, 1e-300), (-8e307, 8e307), (0.0, 1.7e308)]


@pytest.mark.parametrize("ends", TINY)
def test_a_range_that_has_no_room_for_cells_is_refused_whatever_the_rows(ends: tuple[float, float]) -> None:
    for sign in (-1.0, 1.0):
        holdout = Holdout({"x": sign * np.ones(50)}, sign * np.ones(50), schema={"x": "number", "y": "number"})
        for asked in (
            lambda to: to.ask(mean(col("x"), range=ends), guess=0.0, guess_se=0.0),
            lambda to: to.ask(mean(col("x"), range=ends)),
            lambda to: to.score(np.ones(50), metric="mae", range=ends, guess=0.0),
            lambda to: to.score(np.ones(50), metric="mse", range=ends),
            lambda to: to.compare(np.ones(50), np.zeros(50), metric="mae", range=ends),
            lambda to: to.test(mean(col("x"), range=ends), above=0.0),
        ):
            with pytest.raises((Refused, ValueError)):
                asked(holdout)
        assert holdout.meter.asked == 0


@pytest.mark.parametrize("bad", [1e-310, 5e-324, 1e-12, 0.0, -1.0, math.nan, math.inf])
def test_cells_and_steps_that_floats_cannot_tell_apart_are_refused(bad: float) -> None:
    for made in (lambda: GuessAndCheck(cell=bad), lambda: Ladder(step=bad)):
        with pytest.raises(ValueError, match="from 1e-09 to 1"):
            made()
    for cells in (1, 10**400, 10**10):
        for some in (lambda cells=cells: Rounding(cells), lambda cells=cells: GuessAndCheck(pieces=cells)):
            with pytest.raises(ValueError, match="whole number"):
                some()


def test_ranges_of_ordinary_people_are_answered_in_any_unit() -> None:
    """From nanometres to light years: the same question in another unit has the same answer."""
    x = np.random.default_rng(3).random(500)
    wanted = None
    for unit in (1e-200, 1e-9, 1.0, 1e15, 1e200):
        holdout = Holdout({"x": x * unit}, schema={"x": "number"})
        answer = holdout.ask(mean(col("x"), range=(0, unit)), guess=0.1 * unit)
        got = (answer.low / unit, answer.high / unit)
        wanted = wanted or got
        assert got == pytest.approx(wanted, abs=1e-6)


# ---------------------------------------------------------------- engines, releases, rows drawn ahead


def test_an_engine_that_fails_at_what_rows_hold_is_an_entry_and_one_out_of_reach_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The engine's error quotes a row, and its type depends on one; neither is told. A dropped table is the world's."""
    duckdb = pytest.importorskip("duckdb")
    from unworn.rows.sql.duckdb import duckdb_engine as engine

    looks = []
    for failure in ("error('row ' || age)", "(2147483647 + age)::INTEGER", "CAST('row ' || age AS INTEGER)"):
        with duckdb.connect() as connection:
            connection.execute("create table people as select range::INTEGER as age from range(100)")
            holdout = Holdout(connection.table("people"), ledger=None)
            with monkeypatch.context() as patch:
                written = engine.statement

                def failing(*args: Any, failure: str = failure, written: Any = written) -> Any:
                    told = written(*args)
                    first = [f'{failure} AS "unworn planted"', *told.layers[0]] if told.layers else [failure]
                    planted = [
                        f'sum(CASE WHEN "unworn planted" IS NULL THEN 0 ELSE 1 END) + {sums}' for sums in told.sums
                    ]
                    layers = [first, *([*layer, '"unworn planted"'] for layer in told.layers[1:])]
                    return replace(told, layers=layers, sums=planted)

                patch.setattr(engine, "statement", failing)
                with pytest.raises(Failed) as caught:
                    holdout.ask(share(col("age") > 50), 0.5)
            looks.append(told(caught.value))
            assert holdout.meter.asked == 1
            connection.execute("drop table people")
            with pytest.raises(Unavailable):
                holdout.ask(share(col("age") > 20), 0.5)
            assert holdout.meter.asked == 1
            holdout.verify()
    assert all(look == looks[0] for look in looks)


def test_a_release_that_fails_says_that_it_failed_and_stays_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    from unworn.release import fit
    from unworn.release.methods.additive_noise import GaussianRelease

    looks = []
    for error in Secret("row 17 is 42").errors()[:3]:

        def fail(*_: Any, error: BaseException = error) -> Any:
            raise error

        store = MemoryStore()
        with monkeypatch.context() as patch:
            patch.setattr(GaussianRelease, "run", fail)
            with pytest.raises(Failed) as caught:
                fit(
                    {"b": rows()["b"]},
                    1,
                    epsilon=1.0,
                    delta=1e-6,
                    domain={"b": [False, True]},
                    method=GaussianRelease(),
                    ledger=store,
                )
        looks.append(told(caught.value))
        assert len(store.holdouts()) == 1  # the rows are sealed for it, which is the charge
    assert looks[0][1] == Failed.RELEASE
    assert all(look == looks[0] for look in looks)


def test_rows_drawn_ahead_fail_once_and_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    from unworn.rows.memory import draw_pool

    looks = []
    for error in Secret("row 17 is 42").errors()[:3]:
        holdout = opened("Subsampled")

        def fail(*_: Any, error: BaseException = error) -> Any:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(draw_pool, "GatheredRows", fail)
            with pytest.raises(Failed) as caught:
                holdout.gather(2)
            looks.append(told(caught.value))
        with pytest.raises(Unaskable, match="could not be drawn ahead"):
            holdout.gather(2)
        holdout.ask(question("Subsampled"))
    assert all(look == looks[0] for look in looks)
