"""A third party's mechanism, written by CONTRIBUTING's recipe alone, is as good as ours."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unworn import Holdout, col, mechanisms, share, testing
from unworn.errors import LedgerError
from unworn.mechanisms.contract.symbol import Published, Symbol
from unworn.record.certificate import Certificate

GUIDE = Path(__file__).parents[3] / "CONTRIBUTING.md"


@pytest.fixture
def recipe(tmp_path: Path) -> Iterator[Any]:
    """The module that the recipe is, imported from a file of its own."""
    found = re.search(r"<!-- recipe -->\s+```python\n(.*?)```\s+<!-- end of recipe -->", GUIDE.read_text(), re.DOTALL)
    assert found is not None
    file = tmp_path / "third_party.py"
    file.write_text(found[1])
    spec = importlib.util.spec_from_file_location("third_party", file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["third_party"] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules["third_party"]


def test_it_passes_the_conformance_suite(recipe: Any) -> None:
    report = testing.check_mechanism(recipe.EvenGrid(), rows=300, asks=8, repetitions=20)
    assert report.passed, str(report)
    assert "EvenGrid" not in mechanisms.kinds()


def test_it_seals_asks_and_verifies_in_a_file(recipe: Any, tmp_path: Path) -> None:
    mechanisms.register(recipe.EvenGrid)
    try:
        rows = {"x": np.arange(1_000) / 1_000}
        sealed = {"mechanism": recipe.EvenGrid.for_(rows=1_000, asks=9), "asks": 9, "practice": 0}
        url = f"sqlite:///{tmp_path / 'grid.db'}"
        with closing(Holdout(rows, ledger=url, **sealed)) as holdout:
            answer = holdout.ask(share(col("x") >= 0.25))
            assert answer.low <= 0.75 <= answer.high
            entry = answer.certificate.entry
            assert entry.body["offer"][8:] == [{"payload": "EvenCells", "count": 7}]
        with closing(Holdout(rows, ledger=url, **sealed)) as again:
            assert again.ask(share(col("x") >= 0.25)).index == answer.index
            again.verify()
            card = again.ask(share(col("x") >= 0.75)).certificate.save(tmp_path / "card.json")
        Certificate.load(card).verify()
    finally:
        mechanisms.forget(recipe.EvenGrid)
    with pytest.raises(LedgerError, match="knows no mechanism 'EvenGrid'"):
        Certificate.load(card)


def test_what_is_wrong_with_another_is_found(recipe: Any) -> None:
    @dataclass(frozen=True)
    class Boastful(recipe.EvenGrid):  # type: ignore[misc,name-defined]
        def reveal(self, offer: Any, symbol: Symbol) -> Published:
            told = super().reveal(offer, symbol)
            return Published(told.value, told.value - 1e-4, told.value + 1e-4, "grid")

    @dataclass(frozen=True)
    class Forgetful(recipe.EvenGrid):  # type: ignore[misc,name-defined]
        payloads = ()

    @dataclass(frozen=True)
    class Restless(recipe.EvenGrid):  # type: ignore[misc,name-defined]
        def after(self, state: Any, event: Any) -> Any:
            return state

    found = {
        "miss more often": Boastful(),
        "ValueError where nothing is refused": Forgetful(),
        "does not count it": Restless(),
    }
    for words, mechanism in found.items():
        report = testing.check_mechanism(mechanism, rows=200, asks=6, repetitions=20)
        assert not report.passed
        assert words in str(report), str(report)
