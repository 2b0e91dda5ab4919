"""An ask's text is put together by hand: it is the canonical text of what is read back, whatever was asked."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np
import pytest

from unworn import Answer, Holdout, accuracy, col, compare, mean, share
from unworn.mechanisms import Gaussian, Laplace, Mechanism, OneSample, Subsampled
from unworn.mechanisms.contract.record import Record

RNG = np.random.default_rng(11)
DATA = {"x": RNG.normal(size=20_000), 'é"\\': RNG.integers(0, 5, 20_000)}
Y = RNG.integers(0, 2, 20_000)


def plain(body: object) -> str:
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


ASKS: list[Callable[[Holdout], object]] = [
    lambda h: h.ask(share(col("x") > 0), 0.5, by='a "name"\n'),
    lambda h: h.ask(share(col("x") > 0.1), 0.99, guess_se=0.001),
    lambda h: h.ask(share(col('é"\\') == 3)),
    lambda h: h.ask(mean(col("x").fill(0), range=(-4, 4)), 0),
    lambda h: h.score(Y, 0.9),
    lambda h: h.compare(Y, 1 - Y, guess=0.2, discordance=0.3),
    lambda h: h.test(share(col("x") > 0), above=0.1),
    lambda h: h.sharpen(h.ask(share(col("x") > 0.2))),
    lambda h: h.ask_many([share(col("x") > 1), accuracy(Y), compare(accuracy(Y), accuracy(1 - Y))], [0.1, None, None]),
]


def check(holdout: Holdout) -> None:
    entries = holdout._desk.transcript.entries[1:]
    assert entries
    for entry, record in zip(entries, holdout._desk.transcript.records, strict=True):
        assert entry.text == plain(json.loads(entry.text))
        assert entry.body == json.loads(entry.text)
        assert Record.from_body(entry.body) == record


def test_of_guess_and_check() -> None:
    holdout = Holdout(DATA, Y, ledger=None, practice=0)
    for ask in ASKS:
        ask(holdout)
    check(holdout)


@pytest.mark.parametrize("mechanism", [Gaussian, Laplace, OneSample, Subsampled])
def test_of_other_mechanisms(mechanism: type[Mechanism]) -> None:
    holdout = Holdout(DATA, Y, ledger=None, mechanism=mechanism.for_(rows=20_000, asks=20), asks=20)
    for low in (0.0, 0.5):
        holdout.ask(share(col("x") > low))
    if holdout.mechanism.reads == "draws":
        holdout.gather(2)
        holdout.ask(share(col("x") > 0.7))
        assert holdout._desk.transcript.records[-1].draw is not None
    check(holdout)


def test_a_failure() -> None:
    class Broken:
        def predict(self, X: object) -> object:
            raise ValueError

    holdout = Holdout(DATA, Y, ledger=None, practice=0)
    with pytest.raises(Exception, match="failed"):
        holdout.score(Broken(), 0.5, name="broken")
    check(holdout)


def test_answers_carry_the_same_entry() -> None:
    answer: Answer = Holdout(DATA, Y, ledger=None, practice=0).ask(share(col("x") > 0), 0.5)
    assert answer.certificate.entry.to_json()["body"]["label"] == answer.label
