"""What is recorded, shown and carried of several uses of the same rows."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.holdout.uses.support import QUESTION, ROWS, USES, Sign, origin, people
from unworn import Certificate, Holdout
from unworn.errors import LedgerError, Tampered
from unworn.holdout.uses import check_uses
from unworn.holdout.workers.remote_holdout import RemoteHoldout
from unworn.ledger import GENESIS, Entry, Key, MemoryStore
from unworn.ledger.backup import export, restore
from unworn.ledger.stores.sqlite_store import SQLiteStore
from unworn.mechanisms import Naive, SampleSplitting
from unworn.queries.schema import ColumnType, Schema
from unworn.record.declared_uses import Uses
from unworn.record.transcript import Terms


def test_ledgers_without_uses_are_written_as_before() -> None:
    """The hash is that of format 3, whatever else entry 0 may come to say where uses are declared.

    The mechanism is one whose parameters stay: those of guess and check have grown a law.
    """
    key = Key(bytes(32))
    terms = Terms(
        name="people",
        size=10,
        rows=10,
        schema=Schema({"a": ColumnType("number", True)}, None, False),
        digest="d" * 64,
        grouping="g" * 64,
        order="o" * 64,
        columns={"a": ("1" * 64, "2" * 64)},
        sealed_for=SampleSplitting(),
        confidence=0.95,
        asks=7,
        public=key.public,
        kept="memory",
        version="0.0",
    )
    entry = Entry.seal("ab" * 16, 0, GENESIS, terms.to_body(), key)
    assert entry.hash == "6740d28d972ca6c9207f2716673d063dc81edc244b5fea879691d3ba3fd0fe2e"
    assert Terms.from_body(entry.body) == terms
    assert terms.whole == 10


def test_terms_with_uses_are_read_back_or_refused() -> None:
    holdout = Holdout(people(), "y", uses=USES, ledger=None)
    body = holdout._desk.transcript.first.body
    assert body["format"] == 4
    assert body["uses"] == {"shares": USES, "use": "asks", "units": ROWS, "first": None}
    assert Terms.from_body(body) == holdout.terms
    assert (holdout.terms.size, holdout.terms.whole, holdout.terms.rows) == (280, ROWS, ROWS)
    for changed in (
        {"size": ROWS},
        {"type": "ask"},
        {"uses": None},
        {"uses": {**body["uses"], "units": ROWS + 40}},
        {"uses": {**body["uses"], "units": float(ROWS)}},
        {"uses": {**body["uses"], "use": "release"}},
        {"uses": {**body["uses"], "first": "../key"}},
        {"uses": {**body["uses"], "shares": {"asks": 0.8, "release": 0.3}}},
    ):
        with pytest.raises(Tampered):
            Terms.from_body({**body, **changed})
    for other in (1, 2, 6, None):
        with pytest.raises(LedgerError, match="format"):
            Terms.from_body({**body, "format": other})


def test_uses_that_do_not_belong_together(store: MemoryStore) -> None:
    first, second = (Holdout(people(), "y", ledger=store, uses=USES, use=use) for use in USES)
    known = {holdout.id: holdout.terms for holdout in (first, second)}
    check_uses(known)
    with pytest.raises(Tampered, match="is not in this ledger or declares others"):
        check_uses({second.id: second.terms})
    other = replace(first.terms, uses=Uses.of({"asks": 0.6, "release": 0.4}, "asks"))
    with pytest.raises(Tampered, match="is not in this ledger or declares others"):
        check_uses({first.id: other, second.id: second.terms})
    with pytest.raises(Tampered, match="both use 'release'"):
        check_uses({**known, "ab" * 16: second.terms})
    for one, two in combinations((first, second), 2):
        assert set(origin(one)).isdisjoint(origin(two))


def test_cards_and_meters_say_which_use(tmp_path: Path) -> None:
    ledger, runner = tmp_path / "ledger.db", CliRunner()
    holdouts = [Holdout(people(), "y", ledger=ledger, uses=USES, use=use, name=f"people-{use}") for use in USES]
    for holdout in holdouts:
        answer = holdout.ask(QUESTION, 0.5)
    card = answer.certificate.save(tmp_path / "card.json")
    numbers = Certificate.load(card).numbers
    assert (numbers["rows"], numbers["use"], numbers["share"]) == (120, "release", 0.3)
    plain = Holdout(people(seed=1), "y", ledger=None).ask(QUESTION, 0.5).certificate
    assert answer.certificate.assumptions == plain.assumptions[: len(answer.certificate.assumptions)]
    assert "share" not in plain.numbers
    asks, release = holdouts
    assert "280 rows (use asks, share 70 %)" in repr(asks)
    assert (release.meter.use, release.meter.share) == ("release", 0.3)
    assert str(release.meter).endswith("use release, share 30 %")
    assert "share" in release._repr_html_()
    assert "share" not in Holdout(people(seed=2), "y", ledger=None).meter.to_json()
    release.verify(card)
    for holdout in holdouts:
        holdout.close()

    from unworn.cli import app

    shown = runner.invoke(app, ["ledger", str(ledger)], env={"COLUMNS": "120"}).stdout
    assert "people-asks · 280 rows (use asks, share 70 %)" in shown
    told = json.loads(runner.invoke(app, ["ledger", str(ledger), "--json"]).stdout)["holdouts"]
    assert sorted((one["use"], one["shares"], one["rows"], one["size"]) for one in told) == [
        ("asks", USES, ROWS, 280),
        ("release", USES, ROWS, 120),
    ]
    shown = runner.invoke(app, ["verify", "--ledger", str(ledger)]).stdout
    assert "people-release · use release, share 30 % · 1 answer · " in shown
    assert "120 rows (use release, share 30 %)" in runner.invoke(app, ["verify", str(card)]).stdout


def test_a_ledger_without_the_first_use_is_not_whole(tmp_path: Path) -> None:
    from unworn.cli import app

    ledger = tmp_path / "ledger.db"
    for use in USES:
        Holdout(people(), "y", ledger=ledger, uses=USES, use=use).close()
    store = SQLiteStore(ledger)
    export(store, tmp_path / "all.jsonl")
    store.close()
    lines = (tmp_path / "all.jsonl").read_text().splitlines(keepends=True)
    (later,) = [line for line in lines if json.loads(line)["body"]["uses"]["first"] is not None]
    (tmp_path / "cut.jsonl").write_text(later)
    cut = SQLiteStore(tmp_path / "cut.db")
    restore(tmp_path / "cut.jsonl", cut)
    cut.close()
    result = CliRunner().invoke(app, ["verify", "--ledger", str(tmp_path / "cut.db")])
    assert result.exit_code != 0
    assert CliRunner().invoke(app, ["verify", "--ledger", str(ledger)]).exit_code == 0


TICKET = """
import pickle, sys
holdout = pickle.loads(bytes.fromhex(sys.argv[1]))
print(holdout.id, holdout.terms.uses.use, *holdout._sample.origin.tolist())
"""


def test_tickets_by_path_carry_the_use(tmp_path: Path) -> None:
    people().to_parquet(tmp_path / "rows.parquet")
    first, second = (
        Holdout(tmp_path / "rows.parquet", "y", ledger=tmp_path / "ledger.db", uses=USES, use=use) for use in USES
    )
    ticket = pickle.dumps(second)
    assert pickle.loads(ticket) is second
    assert pickle.loads(pickle.dumps(first)) is first
    told = subprocess.run(
        [sys.executable, "-c", TICKET, ticket.hex()], capture_output=True, text=True, check=True, timeout=120
    ).stdout.split()
    assert told == [second.id, "release", *map(str, origin(second))]
    first.close()
    second.close()


def test_a_remote_holdout_is_of_the_same_part() -> None:
    holdout = Holdout(people(), "y", uses=USES, mechanism=Naive(), ledger=None)
    remote = RemoteHoldout(holdout.__reduce__()[1][-1])
    told = remote.score(Sign())
    cut = people().iloc[origin(holdout)]
    assert told.value == np.mean((cut["a"] > 0).astype(int) == cut["y"])
    assert (remote.meter["use"], remote.meter["share"]) == ("asks", 0.7)
    holdout.close()
