"""A replay may give other last bits than the ledger tells, and nothing beyond them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from unworn import Holdout, col, mean
from unworn.mechanisms.contract.record import Record

HALF = 400.0


@pytest.fixture(scope="module")
def record() -> Record:
    rows = {"x": np.random.default_rng(5).normal(size=2_000)}
    asked = mean(col("x").fill(0), range=(-HALF, HALF))
    return Holdout(rows, ledger=None, practice=0).ask(asked, 0.0).certificate.record


@pytest.mark.parametrize(("off", "same"), [(0.0, True), (1e-14, True), (-1e-14, True), (1e-7, False), (-1e-7, False)])
def test_numbers_agree_up_to_rounding(record: Record, off: float, same: bool) -> None:
    offer, event, told = record.offer, record.event, record.published
    for published in (replace(told, low=told.low * (1 + off)), replace(told, high=told.high * (1 + off))):
        assert record.matches(offer, event, published) is same
    assert record.matches(replace(offer, log_level=offer.log_level * (1 + off)), event, told) is same
    assert record.matches(offer, replace(event, nats=event.nats + off), told) is same


def test_the_questions_units_are_the_scale(record: Record) -> None:
    """A value near nought has few bits of its own: it is compared with the length of the range."""
    offer, event, told = record.offer, record.event, record.published
    assert told.value == 0.0
    for off, same in ((1e-10, True), (1e-8, False)):
        assert record.matches(offer, event, replace(told, value=off * 2 * HALF)) is same


def test_words_and_places_agree_entirely(record: Record) -> None:
    offer, event, told = record.offer, record.event, record.published
    assert not record.matches(offer, event, replace(told, source="rows"))
    assert not record.matches(replace(offer, index=offer.index + 1), event, told)
    assert not record.matches(replace(offer, zero_one=True), event, told)
