"""What a fuzzer puts in place of arguments, and cards that strangers signed."""

from __future__ import annotations

import json
import math
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from unworn import Holdout, col, share
from unworn import mechanisms as kinds
from unworn.errors import UnwornError
from unworn.ledger import Entry, Key
from unworn.record.certificate import Certificate
from unworn.release.release_certificate import ReleaseCertificate

LONG = "long" * 5_000_000


class Model:
    """Something that can be scored, and raises where it is asked for what it has not."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.value)


NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 0.5, 0.3, 0.95, 1.5, -0.0, 10**400, 10**5000, -(10**400), 10**18, 2**53, 2**63, 10**30,
    math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 1e-310, True, False, np.float64(0.5), np.int8(1),
    np.float16("nan"), np.array(0.5), np.array([0.5]), np.array([1, 2]), np.zeros((0, 3)), Decimal("0.5"),
    Decimal("NaN"), Fraction(1, 3), 1j, "0.5", "x", "", b"x", None, [], [0.5], (0, 1), {}, {"a": 1}, set(), object(),
    lambda: 1, col("a"), datetime(2024, 1, 1), date(2024, 1, 1), datetime(2024, 1, 1, tzinfo=UTC),
    np.datetime64("NaT", "us"), ..., type, range(3),
]  # fmt: skip
TEXTS: list[Any] = [
    "", "a", "b", "t", "y", "none", "asks", "a > 1", "accuracy", "brier", "f1", "\x00", "\x1b[31mred", "\ud800",
    "\u202eevil", "é", "名前", "'", '"', "</script>", "x" * 2000, "\n", "a\nb", " ", "nan", "../etc", "*", "%s", "{}",
    None, 3, b"a", ["a"], object(),
]  # fmt: skip
SQL = [
    "a", "b", "t", "y", "1", "2.5", "'x'", '"a"', "null", "true", "(", ")", "((", "))", ",", "and", "or", "not", "in",
    "in (", "between", "is", "is not null", "=", "<>", "<", ">=", "+", "-", "*", "/", "coalesce(", "avg(", "mean(",
    "cast(", "as date", "date", "date '2024-01-31'", "timestamp", "interval", "date(", "if", "case", "when", "select",
    "--", "/*", ";", "\x00", "\ud800", "é", "'", '"', "1e999", "9" * 400, ".", "0x1", "1_000",
]  # fmt: skip


def sign_again(card: Any) -> Certificate | None:
    """The card of somebody who has a key of their own: everything on it is signed, whatever it says."""
    key = Key(bytes(range(32)))
    try:
        first, entry = card["terms"], card["entry"]
        first["body"]["public"] = key.public
        sealed = Entry.seal(first["holdout"], 0, first["previous"], first["body"], key)
        answer = Entry.seal(entry["holdout"], entry["index"], sealed.hash, entry["body"], key)
    except (UnwornError, TypeError, LookupError, AttributeError):
        return None  # no card at all
    return Certificate.of(sealed, answer)


def sign_release_again(card: Any) -> ReleaseCertificate | None:
    """The same for a release."""
    key = Key(bytes(range(32)))
    try:
        first = card["terms"]
        first["body"]["public"] = key.public
        sealed = Entry.seal(first["holdout"], 0, first["previous"], first["body"], key)
        said = {name: value for name, value in card.items() if name not in ("format", "terms", "signature")}
        return ReleaseCertificate.sign(sealed, said, key)
    except (UnwornError, TypeError, LookupError, AttributeError, ValueError):
        return None  # no card at all


MECHANISMS = ("AboveThreshold", "BoundedNoise", "Gaussian", "Laplace", "Naive", "Rounding", "SampleSplitting",
               "SparseVector", "Subsampled", "Thresholdout", "OneSample", "PrivateGuessAndCheck")  # fmt: skip


@cache
def card_of(kind: str) -> Any:
    """A card of a mechanism, of a few rows."""
    rows, asks = 4000, 5
    chosen = {
        "AboveThreshold": {"threshold": 0.5},
        "SparseVector": {"threshold": 0.5, "tops": 2},
        "OneSample": {"flip": 0.3},
    }
    made = kinds.kinds()[kind]
    mechanism = made(**chosen[kind]) if kind in chosen else made.for_(rows=rows, asks=asks)
    holdout = Holdout({"a": np.random.default_rng(1).normal(size=rows)}, asks=asks, mechanism=mechanism, ledger=None)
    return json.loads(json.dumps(holdout.ask(share(col("a") > 0), 0.5).certificate.to_json()))


@cache
def release_card() -> Any:
    from unworn.release import fit

    rng = np.random.default_rng(2)
    data = {"a": rng.integers(0, 2, 300), "b": rng.integers(0, 3, 300)}
    made = fit(data, 2, epsilon=1.0, domain={"a": [0, 1], "b": [0, 1, 2]})
    return json.loads(json.dumps(made.certificate.to_json()))
