"""Rows drawn ahead: fresh, used once, never after a fork or a crash, and named in the ledger."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

from unworn import Holdout, col, mean, share
from unworn.errors import Tampered, Unaskable
from unworn.ledger import Entry, Key
from unworn.mechanisms import Gaussian, OneSample, Subsampled
from unworn.noise import Stream
from unworn.record.certificate import Certificate, replay
from unworn.record.transcript import Transcript
from unworn.rows import Sample
from unworn.rows.memory.draw_pool import GatheredRows, Pool

N = 50_000
DRAWN = 1_000


def rows(seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {"x": rng.random(N), "t": np.array(["a", "b", "c"])[rng.integers(0, 3, N)]}


def opened(ledger: Path | None = None, replace: bool = False) -> Holdout:
    mechanism = Subsampled(0.05, DRAWN, replace)
    return Holdout(rows(), asks=20, mechanism=mechanism, ledger=None if ledger is None else str(ledger))


def questions(count: int) -> list:
    return [share(col("x") > place / 100) for place in range(count)]


def test_draws_are_used_once_and_named_in_the_certificate() -> None:
    holdout = opened()
    assert holdout.gather(3) == 3
    answers = [holdout.ask(question) for question in questions(5)]
    draws = [answer.certificate.numbers.get("drawn_ahead") for answer in answers]
    assert [None if draw is None else draw[1] for draw in draws] == [1, 2, 3, None, None]
    assert len({draw[0] for draw in draws if draw is not None}) == 1
    card = Certificate.from_json(answers[0].certificate.to_json())
    assert card.record.draw == tuple(draws[0])
    holdout.verify()


def test_no_rows_are_drawn_for_asks_past_the_plan() -> None:
    holdout = opened()
    assert holdout.gather(3) == 3
    holdout.ask_many(questions(5))
    assert holdout.gather(100) == 15
    assert holdout.gather(1) == 15
    holdout.ask_many(questions(20))
    assert holdout.gather(1) == 0


def test_a_repeat_uses_no_rows_and_a_batch_uses_its_own() -> None:
    holdout = opened()
    holdout.gather(4)
    first = holdout.ask(questions(1)[0])
    assert holdout.ask(questions(1)[0]).index == first.index
    batch = holdout.ask_many(questions(4)[1:])
    assert [answer.certificate.record.draw[1] for answer in batch] == [2, 3, 4]


@pytest.mark.parametrize("replace", [False, True])
def test_gathered_rows_are_answered_as_drawn_ones_are(replace: bool) -> None:
    sample = Sample.read(rows())
    for names in ((), ("x",), ("x", "t")):
        ready = GatheredRows(sample, ("pool", 1), bytes(32), DRAWN, replace, names)
        fresh = sample.drawn(share(col("t") == "b"), DRAWN, Stream(bytes(32), "pool", "pool", 1), replace)
        assert ready.count(share(col("t") == "b"), Stream(bytes(32), "ask")) == fresh
        values = mean(col("x").fill(0), range=(0, 1))
        fresh = sample.drawn(values, DRAWN, Stream(bytes(32), "pool", "pool", 1), replace)
        # The same rows, rounded with other coins: apart by no more than seven standard deviations of both.
        assert abs(ready.count(values, Stream(bytes(32), "ask")) - fresh) < 7 * (2 * DRAWN * 0.25) ** 0.5


def test_every_pool_and_every_draw_is_another() -> None:
    sample = Sample.read({"id": np.arange(10**6, dtype=np.float64)})
    pools = [Pool(sample, bytes(32)) for _ in range(2)]
    for pool in pools:
        pool.gather(2, 100, True)
    taken = [pool.take(lambda draw: False) for pool in pools for _ in range(2)]
    seen = [set(ready._runs[0]._rows.tolist()) for ready in taken if ready is not None]
    # 100 of a million rows: two draws share one with probability 1e-2, and three or more below 1e-6.
    assert all(len(one & other) < 5 for place, one in enumerate(seen) for other in seen[:place])
    assert pools[0].take(lambda draw: False) is None


def test_rows_that_some_answer_used_are_passed_over() -> None:
    pool = Pool(Sample.read(rows()), bytes(32))
    pool.gather(3, 10, False)
    ready = pool.take(lambda draw: draw[1] < 3)
    assert ready is not None
    assert ready.draw[1] == 3


def test_a_copy_of_the_process_cannot_use_the_same_rows_again(tmp_path: Path) -> None:
    """Two holdouts with the very same pool, as after a snapshot: the second finds the draw in the ledger."""
    one, other = opened(tmp_path / "ledger.db"), opened(tmp_path / "ledger.db")
    one.gather(2)
    pool = one._desk.pool
    assert pool is not None
    twin = Pool(other._sample, other._desk.noise_key)
    twin._name, twin._ready = pool._name, pool._ready.copy()
    other._desk.pool = twin
    first = one.ask(questions(1)[0])
    second = other.ask(questions(2)[1])  # overtaken: the first try is thrown away, and with it the first draw
    third = one.ask(questions(3)[2])
    draws = [answer.certificate.record.draw for answer in (first, second, third)]
    assert len({draw for draw in draws if draw is not None}) == len([draw for draw in draws if draw is not None])
    other.verify()
    for holdout in (one, other):
        holdout.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_begins_a_pool_of_its_own() -> None:
    pool = Pool(Sample.read(rows()), bytes(32))
    pool.gather(2, 10, False)
    name, (reading, writing) = pool._name, os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, f"{len(pool)} {pool._name}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    left, other = os.read(reading, 100).decode().split()
    assert (left, len(pool), pool._name) == ("0", 2, name)
    assert other != name


def test_a_ledger_in_which_two_answers_share_rows_is_refused() -> None:
    holdout = opened()
    holdout.gather(2)
    for question in questions(2):
        holdout.ask(question)
    entries = list(holdout._desk.transcript.entries)
    key = holdout._desk.key
    assert isinstance(key, Key)
    body = dict(entries[2].body) | {"draw": entries[1].body["draw"]}
    forged = Entry.seal(entries[0].holdout, 2, entries[1].hash, body, key)
    with pytest.raises(Tampered, match="another answer"):
        replay([*entries[:2], forged])
    transcript = Transcript.of(entries[:2])
    transcript.extend(entries[2])
    transcript.truncate(2)  # as if it had not become durable
    transcript.extend(entries[2])  # what was forgotten may come again
    assert transcript.drew(("", 0)) is False


def test_entries_without_a_pool_are_written_as_before() -> None:
    holdout = opened()
    assert "draw" not in holdout.ask(questions(1)[0]).certificate.entry.body


def test_who_cannot_draw_ahead_is_told() -> None:
    holdout = Holdout(rows(), asks=10, mechanism=Gaussian(), ledger=None)
    with pytest.raises(Unaskable, match="reads all the rows"):
        holdout.gather(1)
    grouped = Holdout(
        {"x": rows()["x"]}, groups=np.arange(N) // 2, asks=5, mechanism=Subsampled(0.05, DRAWN), ledger=None
    )
    with pytest.raises(Unaskable, match="groups"):
        grouped.gather(1)
    for wrong in (0, -1, 1.5, True, "2"):
        with pytest.raises(ValueError, match="whole number"):
            opened().gather(wrong)  # type: ignore[arg-type]
    with pytest.raises(Unaskable, match="nowhere"):
        opened().gather(1, ["nowhere"])


def test_one_row_at_a_time_is_gathered_too() -> None:
    holdout = Holdout({"x": np.random.default_rng(0).random(200_000)}, asks=20, mechanism=OneSample(), ledger=None)
    holdout.gather(2)
    told = [holdout.ask(question) for question in questions(3)]
    assert [answer.certificate.record.draw is not None for answer in told] == [True, True, False]


def test_gathered_rows_do_not_travel() -> None:
    ready = GatheredRows(Sample.read(rows()), ("pool", 1), bytes(32), 10, False, ["x"])
    with pytest.raises(TypeError, match="do not travel"):
        pickle.dumps(ready)


@pytest.mark.parametrize("replace", [False, True])
def test_pooled_draws_are_uniform_and_independent_of_each_other(replace: bool) -> None:
    """How often each row is drawn, and each pair of rows by one draw and the next; false alarms of 1e-7 each.

    The counts of one draw have variance v and, as their sum is fixed, covariance v (k I - 1) / (k - 1) for k rows. So
    the squared sums of many draws, over v k / (k - 1) each, are chi-square with k - 1 degrees of freedom, and those of
    the products of neighbours, over its square, with (k - 1)².
    """
    rows, drawn, asks = 20, 5, 4_000
    pool = Pool(Sample.read({"id": np.arange(rows, dtype=np.float64)}), bytes(range(32)))
    pool._name = "seeded"
    pool.gather(asks, drawn, replace, [])
    inside = np.stack([np.bincount(ready._runs[0]._rows, minlength=rows) for ready in pool._ready]) - drawn / rows
    variance = drawn / rows * ((1 - 1 / rows) if replace else (1 - drawn / rows)) * rows / (rows - 1)
    alone, pairs = inside.sum(axis=0), inside[:-1].T @ inside[1:]
    assert (alone**2).sum() / (asks * variance) < chi2.isf(1e-7, rows - 1)
    assert (pairs**2).sum() / ((asks - 1) * variance**2) < chi2.isf(1e-7, (rows - 1) ** 2)
    again = inside[:-1].T @ inside[:-1]  # a draw that served twice would show
    assert (again**2).sum() / ((asks - 1) * variance**2) > chi2.isf(1e-7, (rows - 1) ** 2)


def test_other_rows_have_other_noise_even_when_a_ledger_is_put_back(tmp_path: Path) -> None:
    """Every row says yes, so a count is the noise: were it the same for other rows, differences would show them."""
    rows, ledger, back = {"x": np.ones(50_000)}, tmp_path / "l.db", tmp_path / "back"
    terms = {"mechanism": Subsampled(drawn=2_000), "asks": 5, "ledger": str(ledger)}
    Holdout(rows, **{"ledger": None, **terms})
    back.mkdir()
    for file in tmp_path.glob("l.db*"):
        (shutil.copytree if file.is_dir() else shutil.copy)(file, back / file.name)
    symbols = set()
    for _ in range(8):  # all eight alike by chance: at scale 2 and more, below 1e-6
        for file in back.iterdir():
            if file.is_dir():
                shutil.copytree(file, tmp_path / file.name, dirs_exist_ok=True)
            else:
                shutil.copy(file, tmp_path / file.name)
        holdout = Holdout(rows, **{"ledger": None, **terms})
        holdout.gather(1)
        symbols.add(str(holdout.ask(share(col("x") == 1)).certificate.record.symbol))
    assert len(symbols) > 1
