"""fit: sealing, refusals before anything is spent, certificates, and rows out in the library they came in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from unworn import Holdout, Mismatch, Unaskable, col, share
from unworn.errors import ReadOnly, Tampered
from unworn.holdout.opening import open_rows
from unworn.holdout.wanted_terms import WantedTerms
from unworn.ledger import Entry, Key, MemoryStore, open_store
from unworn.mechanisms import Gaussian
from unworn.mechanisms.sealed_release import Released
from unworn.record.terms import Terms
from unworn.record.transcript import Transcript
from unworn.release.fit import fit
from unworn.release.methods.method_choice import METHODS, method_from_json
from unworn.release.methods.mwem import MWEM
from unworn.release.methods.projection import Projection
from unworn.release.problem import Problem
from unworn.release.release_certificate import OFF_THE_ROWS, ReleaseCertificate, follows
from unworn.rows import Sample
from unworn.universe.domain.domain import Domain
from unworn.universe.workload import Conjunctions, Marginals, Shares, Thresholds

DOMAIN = Domain({"plan": ["basic", "pro", "team"], "churned": [False, True], "visits": [0, 1, 2, 3]})


def people(rows: int = 4_000, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    plan = rng.choice(["basic", "pro", "team"], rows, p=[0.6, 0.3, 0.1])
    return {
        "plan": plan,
        "churned": rng.random(rows) < np.where(plan == "basic", 0.3, 0.1),
        "visits": rng.integers(0, 4, rows),
    }


def test_a_release_answers_with_intervals() -> None:
    release = fit(people(), 2, epsilon=1.0, delta=1e-9, domain=DOMAIN, ledger=None)
    listed = release.answer(share(col("churned") & (col("plan") == "basic")))
    assert listed.low <= 0.18 <= listed.high
    assert listed.promised
    summed = release.answer("churned and plan in ('basic', 'pro')")
    assert summed.low <= 0.21 <= summed.high
    assert summed.promised
    other = release.answer("churned and plan = 'basic' and visits >= 2")
    assert not other.promised
    assert (other.low, other.high) == (0.0, 1.0)
    assert abs(other.value - 0.09) < 0.03
    assert "nothing is promised" in str(other)
    assert release.certificate.sample_error < 0.05
    assert listed.error <= release.certificate.sample_error


@pytest.mark.parametrize("method", ["mwem", "projection", "gaussian", "laplace", "averaged-mwem"])
def test_every_method_by_its_name(method: str) -> None:
    release = fit(
        people(500), Marginals(2) + Marginals(1), epsilon=2.0, delta=1e-6, domain=DOMAIN, method=method, ledger=None
    )
    assert type(release.method) is METHODS[method]
    assert abs(float(release.answer("plan = 'basic'")) - 0.6) < 0.3
    assert len(release.sample(20)["plan"]) == 20
    assert sum(line for line in release.errors["questions"]) == release.problem.questions


def test_small_and_one_dimensional_methods() -> None:
    rows = {"visits": people(500)["visits"]}
    domain = Domain({"visits": [0, 1, 2, 3]})
    tree = fit(rows, Thresholds("visits"), epsilon=1.0, domain=domain, method="thresholds", ledger=None)
    assert abs(float(tree.answer(share(col("visits") <= 1))) - 0.5) < 0.1
    small = fit(rows, Marginals(1), epsilon=1.0, domain=domain, method="small-db", ledger=None)
    assert abs(float(small.answer(share(col("visits") == 1))) - 0.25) < 0.2


def test_other_workloads() -> None:
    asked = Shares([share(col("visits") > 1), share((col("plan") == "pro") | col("churned"))])
    release = fit(people(), asked, epsilon=1.0, delta=1e-9, domain=DOMAIN, ledger=None)
    told = release.answer(share(col("visits") > 1))
    assert told.promised
    assert told.low <= 0.5 <= told.high
    binary = {"a": np.arange(900) % 2 == 0, "b": np.arange(900) % 3 == 0}
    both = fit(
        binary, Conjunctions(), epsilon=1.0, delta=1e-6, domain={"a": [False, True], "b": [False, True]}, ledger=None
    )
    assert abs(float(both.answer("a and b")) - 1 / 6) < 0.1


@pytest.mark.parametrize(
    ("make", "kind"), [(pd.DataFrame, pd.DataFrame), (pl.DataFrame, pl.DataFrame), (pa.table, pa.Table), (dict, dict)]
)
def test_rows_come_back_in_the_library_they_came_in(make: Any, kind: type) -> None:
    release = fit(make(people(300)), 1, epsilon=1.0, domain=DOMAIN, ledger=None)
    drawn = release.sample(50, seed=3)
    assert isinstance(drawn, kind)
    again = release.sample(50, seed=3)
    assert str(drawn) == str(again)
    assert str(release.sample(50, seed=4)) != str(drawn)


# ------------------------------------------------------------------ the ledger


def test_the_same_terms_give_the_same_release_and_other_terms_are_refused(tmp_path: Path) -> None:
    ledger = str(tmp_path / "release.db")
    one = fit(people(500), 2, epsilon=1.0, domain=DOMAIN, ledger=ledger)
    two = fit(people(500), 2, epsilon=1.0, domain=DOMAIN, ledger=ledger)
    assert one.certificate.said == two.certificate.said
    assert one.certificate.first == two.certificate.first
    for other in ({"epsilon": 2.0}, {"delta": 1e-9}, {"workload": 1}, {"method": MWEM()}, {"confidence": 0.9}):
        terms: dict[str, Any] = {"workload": 2, "epsilon": 1.0, "domain": DOMAIN, **other}
        with pytest.raises(Mismatch, match="sealed"):
            fit(people(500), terms.pop("workload"), ledger=ledger, **terms)
    store = open_store(ledger)
    assert len(store.holdouts()) == 1
    assert [entry.body["type"] for entry in store.read(next(iter(store.holdouts())))] == ["terms", "released"]
    store.close()


def test_a_method_with_its_parameters_is_found_again(tmp_path: Path) -> None:
    ledger, way = str(tmp_path / "release.db"), Projection(noise="laplace")
    one = fit(people(500), 2, epsilon=1.0, domain=DOMAIN, ledger=ledger, method=way)
    two = fit(people(500), 2, epsilon=1.0, domain=DOMAIN, ledger=ledger, method=way)
    assert one.certificate == two.certificate
    assert method_from_json(one.method.to_json()) == one.method


def test_what_would_come_out_otherwise_is_not_released_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another version that replays otherwise would select other tables: a second release of the same rows."""
    from unworn.universe.model import measurement_replay

    ledger, way = str(tmp_path / "release.db"), MWEM(rounds=3)
    domain = Domain({name: [0, 1] for name in "abcdefgh"})
    rng = np.random.default_rng(0)
    rows = {name: rng.integers(0, 2, 300) * (rng.random(300) < 0.8) for name in "abcdefgh"}
    one = fit(rows, 2, epsilon=3.0, delta=1e-6, domain=domain, ledger=ledger, method=way)
    assert (
        fit(rows, 2, epsilon=3.0, delta=1e-6, domain=domain, ledger=ledger, method=way).certificate == one.certificate
    )
    plain = measurement_replay.Measurement.exponents
    monkeypatch.setattr(measurement_replay.Measurement, "exponents", lambda *told: 0.5 * plain(*told))
    with pytest.raises(Mismatch, match="would come out otherwise"):
        fit(rows, 2, epsilon=3.0, delta=1e-6, domain=domain, ledger=ledger, method=way)


def test_a_recorded_method_is_checked_before_it_is_run() -> None:
    """Whoever wrote an entry 0 by hand with noise that is never pure is told so, and nothing is drawn."""
    store = MemoryStore()
    wrong = MWEM(rounds=2, noise="gaussian")
    problem = Problem(500, DOMAIN, Marginals(2), 0.1, 0.0)
    terms = Released(wrong.to_json(), Marginals(2).to_json(), DOMAIN.to_json(), 0.1, 0.0)
    opened = open_rows(Sample.read(people(500)), store, WantedTerms(None, terms, 0.95, None))
    with pytest.raises(Unaskable, match="delta > 0"):
        fit(people(500), 2, epsilon=0.1, domain=DOMAIN, ledger=store)
    assert opened.key is not None
    said = follows(opened.transcript.first, problem, wrong)
    with pytest.raises(Tampered, match="delta > 0"):
        ReleaseCertificate.sign(opened.transcript.first, said, opened.key).verify()


def test_rows_of_a_holdout_are_not_released_nor_the_other_way_round() -> None:
    store = MemoryStore()
    Holdout(people(500), ledger=store)
    with pytest.raises(Mismatch, match="other terms"):
        fit(people(500), 2, epsilon=1.0, domain=DOMAIN, ledger=store)
    store = MemoryStore()
    fit(people(500), 2, epsilon=1.0, domain=DOMAIN, ledger=store)
    with pytest.raises(Mismatch, match="other terms"):
        Holdout(people(500), ledger=store)


def test_terms_in_whole_numbers_are_the_same_terms(tmp_path: Path) -> None:
    ledger = str(tmp_path / "release.db")
    one = fit(people(500), 2, epsilon=1.0, domain=DOMAIN, ledger=ledger)
    two = fit(people(500), np.int64(2), epsilon=1, delta=0, domain=DOMAIN, ledger=ledger)  # type: ignore[call-overload]
    two.certificate.verify()
    assert one.certificate == two.certificate


def test_other_terms_are_named_piece_by_piece() -> None:
    store = MemoryStore()
    fit(people(500), 2, epsilon=1.0, domain=DOMAIN, ledger=store)
    other = Domain({"plan": ["basic", "pro", "team", "gold"], "churned": [False, True], "visits": [0, 1, 2, 3]})
    with pytest.raises(Mismatch, match=r"domain of 'plan'.*gold") as refused:
        fit(people(500), 2, epsilon=1.0, domain=other, ledger=store)
    assert "visits" not in str(refused.value)


def test_known_rows_answer_nothing_by_refusals() -> None:
    """Whether a value occurs cannot be asked of sealed rows by declaring domains without it."""
    store = MemoryStore()
    fit(people(500), 2, epsilon=1.0, domain=DOMAIN, ledger=store)
    for visits in ([0, 1], [0, 1, 2, 3, 4]):  # the rows have 3, and no 4
        with pytest.raises(Mismatch):
            fit(people(500), 2, epsilon=1.0, domain={"visits": visits, "churned": [False, True]}, ledger=store)


def test_equal_columns_do_not_show_in_the_certificate() -> None:
    rng = np.random.default_rng(0)
    one = rng.integers(0, 2, 3_000)
    for two in (one, np.where(np.arange(3_000) == 7, 1 - one, one)):
        rows = {"then": one, "now": two}
        release = fit(rows, 1, epsilon=1.0, domain={"then": [0, 1], "now": [0, 1]}, ledger=None)
        kept = release.certificate.first.body["columns"]
        assert not set(kept["then"]) & set(kept["now"])


def test_borrowed_columns_are_still_found() -> None:
    store = MemoryStore()
    rng = np.random.default_rng(0)
    rows = {"a": rng.integers(0, 2, 3_000), "b": rng.integers(0, 2, 3_000)}
    fit(rows, 1, epsilon=1.0, domain={"a": [0, 1], "b": [0, 1]}, ledger=store)
    with pytest.raises(Mismatch, match="share its column"):
        Holdout({"z": rows["a"]}, ledger=store)


def test_declared_uses_share_the_rows() -> None:
    store, uses = MemoryStore(), {"asks": 0.6, "release": 0.4}
    release = fit(people(1_000), 2, epsilon=1.0, domain=DOMAIN, ledger=store, uses=uses)
    assert release.problem.rows == 400
    assert "other declared uses have other rows" in " ".join(release.certificate.assumptions)
    holdout = Holdout(people(1_000), ledger=store, uses=uses)
    assert holdout.ask(share(col("plan") == "basic"), guess=0.6).low < 0.6
    with pytest.raises(Mismatch):
        Holdout(people(1_000), ledger=store, uses={"asks": 0.5, "release": 0.5})
    with pytest.raises(Mismatch):
        fit(people(1_000), 2, epsilon=2.0, domain=DOMAIN, ledger=store, uses=uses)


def test_a_sealed_release_answers_no_questions() -> None:
    store = MemoryStore()
    fit(people(500), 2, epsilon=1.0, domain=DOMAIN, ledger=store)
    (first,) = store.holdouts().values()
    terms = Terms.from_body(first.body)
    assert isinstance(terms.sealed_for, Released)
    assert terms.is_release
    with pytest.raises(Unaskable, match="sealed for a release"):
        Transcript.of([first]).offer(share(col("churned")).facts(terms.schema, terms.rows), None, None)
    with pytest.raises(Unaskable, match="mechanism= is one of"):  # a release is none
        Holdout(people(500), ledger=store, mechanism=terms.sealed_for)  # type: ignore[arg-type]
    with pytest.raises(Mismatch, match="sealed with a release"):
        Holdout(people(500), ledger=store)


def test_without_its_key_a_release_is_not_made_again(tmp_path: Path) -> None:
    ledger = tmp_path / "r.db"
    fit(people(500), 2, epsilon=1.0, domain=DOMAIN, ledger=ledger, name="people")
    for key in tmp_path.rglob("*.key"):
        key.unlink()
    with pytest.raises(ReadOnly, match="key"):
        fit(people(500), 2, epsilon=1.0, domain=DOMAIN, ledger=ledger, name="people")


# ------------------------------------------------------------------ refusals, before anything is sealed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": float("inf")}, "epsilon"),
        ({"epsilon": True}, "epsilon"),
        ({"delta": 1.0}, "delta"),
        ({"delta": float("nan")}, "delta"),
        ({"confidence": 1.0}, "confidence"),
        ({"workload": Shares([])}, "asks nothing"),
        ({"workload": Shares([share(col("plan") == "gold")])}, "known without the rows"),
        ({"workload": Marginals(1, among=("one",)), "domain": {"one": [1]}}, "known without the rows"),
        ({"workload": 9}, "no marginals of 9"),
        ({"workload": 0}, "not of 0"),
        ({"workload": "all"}, "workload is"),
        ({"workload": Marginals(2, among=("plan", "job"))}, "no column 'job'"),
        ({"workload": Shares([share(col("visits") * 2 > 1), share(col("job") == "x")])}, "no column 'job'"),
        ({"workload": Thresholds("plan")}, "no order"),
        ({"method": "magic"}, "no method is called 'magic'"),
        ({"method": "gaussian"}, "delta"),
        ({"domain": {"plan": ["basic", "pro"], "churned": [False, True], "visits": [0, 1, 2, 3]}}, "'plan'"),
        ({"domain": {"plan": ["basic", "pro", "team"], "job": ["x", "y"]}}, "'job'"),
        ({"domain": 7}, "domain is"),
        ({"domain": None}, "plan"),
        ({"uses": {"asks": 1.0}}, "uses="),
        ({"uses": {"asks": 0.5, "release": 0.5}, "domain": "rows"}, "several uses share"),
    ],
)
def test_bad_input_is_refused_and_nothing_sealed(changed: dict[str, Any], message: str) -> None:
    store = MemoryStore()
    terms: dict[str, Any] = {"workload": 2, "epsilon": 1.0, "domain": DOMAIN, **changed}
    with pytest.raises((ValueError, Unaskable), match=message):
        fit(people(500), terms.pop("workload"), ledger=store, **terms)
    assert not store.holdouts()


def test_a_refusal_tells_no_values_of_rows() -> None:
    rows = people(500)
    rows["plan"] = np.where(np.arange(500) == 7, "secret plan", rows["plan"])
    with pytest.raises(Unaskable) as refused:
        fit(rows, 2, epsilon=1.0, domain=DOMAIN, ledger=None)
    assert "secret" not in str(refused.value)
    assert "'plan'" in str(refused.value)


def test_a_huge_domain_needs_the_factored_model() -> None:
    rng = np.random.default_rng(0)
    names = [f"x{place:02}" for place in range(20)]
    rows = {name: rng.integers(0, 4, 2_000) for name in names}
    domain = Domain({name: [0, 1, 2, 3] for name in names})
    for method in ("averaged-mwem", "small-db"):
        with pytest.raises(Unaskable, match="cells"):
            fit(rows, Marginals(2), epsilon=1.0, delta=1e-6, domain=domain, method=method, ledger=None)
    release = fit(
        rows, Marginals(1) + Marginals(2, among=tuple(names[:3])), epsilon=1.0, delta=1e-6, domain=domain, ledger=None
    )
    assert abs(float(release.answer("x00 = 1")) - 0.25) < 0.05
    assert len(release.sample(30)["x19"]) == 30


def test_fourteen_columns_and_all_pairs_are_not_refused() -> None:
    """Of 268 million cells: too many to be kept one by one, and for all pairs to have a factor each."""
    rng = np.random.default_rng(1)
    hidden = rng.integers(0, 2, 5_000)
    names = [f"x{place:02}" for place in range(14)]
    rows = {name: (hidden + rng.integers(0, 3, 5_000)) % 4 for name in names}
    domain = Domain({name: [0, 1, 2, 3] for name in names})
    release = fit(rows, Marginals(2), epsilon=2.0, delta=1e-6, domain=domain, ledger=None)
    told = release.answer(share((col("x03") == 1) & (col("x11") == 2)))
    assert told.promised
    assert told.low <= 1 / 9 <= told.high
    assert told.width < 0.5


# ------------------------------------------------------------------ certificates


def test_the_certificate_is_signed_and_says_what_was_done(tmp_path: Path) -> None:
    release = fit(people(500), 2, epsilon=1.0, delta=1e-9, domain=DOMAIN, name="people", ledger=None)
    card = release.certificate
    assert (card.epsilon, card.delta, card.confidence) == (1.0, 1e-9, 0.95)
    assert card.said["name"] == "people"
    assert OFF_THE_ROWS not in card.assumptions
    path = card.save(tmp_path / "card.json")
    again = ReleaseCertificate.load(path)
    assert again == card
    assert "ε = 1" in card._repr_html_()
    key = Key.new()
    body = {**card.first.body, "public": key.public}
    other = Entry.seal(card.first.holdout, 0, card.first.previous, body, key)
    for name, value in (("unit", "one household"), ("assumptions", []), ("public_key", "ab"), ("questions", 10**6)):
        said = {**card.said, "public_key": key.public, name: value}
        with pytest.raises(Tampered, match=f"the certificate's {name}"):
            ReleaseCertificate.sign(other, said, key).verify()
    for name, value in (("epsilon", 0.5), ("sample_error", 0.0), ("digest", "0" * 64), ("assumptions", [])):
        changed = json.loads(path.read_text())
        changed[name] = value
        with pytest.raises(Tampered):
            ReleaseCertificate.from_json(changed)
    stranger = fit(people(500, seed=5), 2, epsilon=1.0, delta=1e-9, domain=DOMAIN, ledger=None).certificate
    mixed = {**card.to_json(), "terms": stranger.to_json()["terms"]}
    with pytest.raises(Tampered):
        ReleaseCertificate.from_json(mixed)
    sealed = Holdout(people(500, seed=6), mechanism=Gaussian(), asks=5, ledger=None)
    with pytest.raises(Tampered):
        ReleaseCertificate.from_json({**card.to_json(), "terms": sealed._desk.transcript.first.to_json()})
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    for junk in (None, [], {"format": "unworn release 1"}, {"format": "x"}, {**card.to_json(), "epsilon": deep}):
        with pytest.raises(Tampered):
            ReleaseCertificate.from_json(junk)


def test_a_domain_read_off_the_rows_is_confessed() -> None:
    release = fit(people(500), 1, epsilon=1.0, domain="rows", ledger=None)
    assert OFF_THE_ROWS in release.certificate.assumptions


def test_a_domain_from_train_and_from_a_file(tmp_path: Path) -> None:
    release = fit(people(500), 1, epsilon=1.0, train=people(300, seed=9), ledger=None)
    assert release.problem.domain.origin == "train"
    assert abs(float(release.answer("plan = 'pro'")) - 0.3) < 0.2
    file = tmp_path / "domain.toml"
    file.write_text('plan = ["basic", "pro", "team"]\nchurned = [false, true]\nvisits = [0, 1, 2, 3]\n')
    assert fit(people(500), 1, epsilon=1.0, domain=file, ledger=None).problem.domain == DOMAIN
