"""Names and tags are kept and shown, change no question, and a name never gets another model's answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unworn import DerivedAnswer, Holdout, col, ratio, share
from unworn.errors import Tampered, Unaskable
from unworn.mechanisms.contract.record import Record
from unworn.queries import metric
from unworn.queries.predictions import NamedPredictions
from unworn.record.certificate import Certificate

RNG = np.random.default_rng(11)
X = RNG.normal(size=(4_000, 3))
Y = (X[:, 0] > 0).astype(int)


class Cut:
    def __init__(self, at: float) -> None:
        self.at = at

    def predict(self, rows: Any) -> Any:
        return (np.asarray(rows)[:, 0] > self.at).astype(int)

    def fit(self, rows: Any, labels: Any) -> Cut:
        return self

    def get_params(self, deep: bool = True) -> dict[str, float]:
        return {"at": self.at}


def sealed(**options: Any) -> Holdout:
    return Holdout(X, Y, **{"ledger": None, "practice": 0, **options})


def test_every_verb_keeps_a_name_and_tags() -> None:
    holdout = sealed()
    label: dict[str, Any] = {"name": "mine", "tags": {"fold": np.int64(3), "at": 0.5}}
    kept = ("mine", {"at": 0.5, "fold": 3})
    question = share(col("x0") > 0)
    asked = holdout.ask(question, 0.5, **label)
    several = holdout.ask_many([share(col("x0") > c) for c in (0.1, 0.2)], [0.46, 0.42], **label)
    scored = holdout.score(Cut(0.1), 0.96, **label)
    compared = holdout.compare(Cut(0.1), Cut(0.2), **label)
    verdict = holdout.test(question, above=0.3, **label)
    sharper = holdout.sharpen(asked, name="sharper", tags={"step": 2})
    inherited = holdout.final(scored)
    for told in (asked, *several, scored, compared, verdict, inherited):
        assert (told.name, told.tags) == kept
    assert (sharper.name, sharper.tags) == ("sharper", {"step": 2})
    assert str(asked).startswith("mine · share of x0 > 0 · at=0.5, fold=3: 0.5 in [")
    assert str(scored).startswith("accuracy of mine · at=0.5, fold=3: 0.96 in [")
    assert "mine · " in str(verdict)
    holdout.verify()


def test_a_batch_has_one_label_or_one_for_each() -> None:
    questions = [share(col("x0") > c) for c in (0.1, 0.2)]
    told = sealed().ask_many(questions, [0.46, 0.42], name=["a", None], tags=[None, {"b": 1}])
    assert [(answer.name, answer.tags) for answer in told] == [("a", {}), (None, {"b": 1})]
    with pytest.raises(Unaskable, match="2 questions but 3 names"):
        sealed().ask_many(questions, name=["a", "b", "c"])


def test_a_scorer_labels_and_identifies_nothing() -> None:
    holdout = sealed()
    scorer = holdout.scorer("accuracy", name="search", tags=lambda model: {"at": model.at})
    scores = [scorer(Cut(at), X[:100], Y[:100]) for at in (0.0, 0.5)]
    assert scores[0] != scores[1]
    table = holdout.answers
    assert list(table["name"]) == ["search", "search"]
    assert list(table["tags.at"]) == [0.0, 0.5]
    with pytest.raises(Unaskable, match="name="):
        holdout.scorer("accuracy", name=3)  # type: ignore[arg-type]


def test_a_label_is_no_part_of_the_question() -> None:
    holdout = sealed()
    first = holdout.ask(share(col("x0") > 0), 0.5, name="a")
    again = holdout.ask(share(col("x0") > 0), 0.5, name="b", tags={"c": 1})
    assert (again.index, again.name) == (first.index, "a")
    array = Cut(0.3).predict(X)
    assert holdout.score(array, 0.88, name="one").index == holdout.score(array, name="two").index


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ({"name": ""}, "1 to 200 characters"),
        ({"name": "x" * 201}, "1 to 200 characters"),
        ({"name": 7}, "name="),
        ({"tags": ["fold"]}, "dictionary"),
        ({"tags": {"": 1}}, "key"),
        ({"tags": {1: 1}}, "key"),
        ({"tags": {"x" * 61: 1}}, "key"),
        ({"tags": {"half": "\ud800"}}, "'half'"),
        ({"tags": {"nan": float("nan")}}, "finite"),
        ({"tags": {"none": None}}, "'none'"),
        ({"tags": {"deep": {"a": 1}}}, "'deep'"),
        ({"tags": {"long": 10**30}}, "'long'"),
        ({"tags": {str(k): k for k in range(51)}}, "51 tags"),
    ],
)
def test_what_cannot_be_kept_is_refused_before_rows_are_read(label: dict[str, Any], said: str) -> None:
    holdout = sealed()
    question = share(col("x0") > 0)
    for verb in (
        lambda: holdout.ask(question, **label),
        lambda: holdout.ask_many([question], **label),
        lambda: holdout.compare(Cut(0.0), Cut(0.1), **label),
        lambda: holdout.test(question, above=0.5, **label),
        lambda: holdout.final(question, **label),
    ):
        with pytest.raises(Unaskable, match=said):
            verb()
    with pytest.raises(Unaskable, match=said):
        holdout.score(Cut(0.0), **label)
    assert holdout.meter.asked == 0


# ---------------------------------------------------------------- names that identify


def test_a_name_never_gets_another_models_answer(tmp_path: Path) -> None:
    where = str(tmp_path / "ledger.db")
    holdout = sealed(ledger=where)
    first = holdout.score(Cut(0.1), 0.96, name="model")
    assert holdout.score(Cut(0.1), name="model").index == first.index
    before = holdout.meter.spent
    for attempt in (
        lambda: holdout.score(Cut(0.4), name="model"),
        lambda: holdout.score(Cut(0.4), name="model", again=True),
        lambda: holdout.final(metric("accuracy", NamedPredictions(Cut(0.4), "model"))),
        lambda: holdout.quote(metric("accuracy", NamedPredictions(Cut(0.4), "model"))),
        lambda: holdout.ask_many([metric("accuracy", NamedPredictions(Cut(at), "new")) for at in (0.1, 0.4)]),
    ):
        with pytest.raises(Unaskable, match="this name stands for something else"):
            attempt()
    assert (holdout.meter.asked, holdout.meter.spent) == (1, before)
    holdout.close()
    reopened = sealed(ledger=where)  # and in the next process too
    assert reopened.score(Cut(0.1), name="model").index == first.index
    with pytest.raises(Unaskable, match="in answer 1 this name"):
        reopened.score(Cut(0.4), name="model")
    reopened.verify()
    reopened.close()


def test_on_the_askers_word_a_name_is_enough() -> None:
    holdout = sealed()
    told = holdout.score(NamedPredictions(Cut(0.1), "v1", watch=False), 0.96)
    assert holdout.score(NamedPredictions(Cut(0.4), "v1", watch=False)).index == told.index
    assert holdout.score(Cut(0.4), name="v1").index == told.index  # nothing was noted to compare with


def test_entries_without_labels_are_as_before_and_bad_labels_are_found() -> None:
    holdout = sealed()
    plain = holdout.score(Cut(0.1), 0.96)
    assert not {"name", "tags", "code"} & set(plain.certificate.entry.body)
    labelled = holdout.score(Cut(0.2), 0.92, name="named", tags={"b": 1, "a": "x"})
    body = labelled.certificate.entry.body
    assert (body["name"], body["tags"], len(body["code"])) == ("named", {"a": "x", "b": 1}, 64)
    assert Record.from_body(body) == labelled.certificate.record
    for broken in ({"tags": [1]}, {"tags": {"a": [1]}}, {"tags": {"a": None}}, {"name": 3}, {"code": 7}):
        with pytest.raises(Tampered):
            Record.from_body({**body, **broken})


def test_cards_show_labels_and_verify(tmp_path: Path) -> None:
    answer = sealed().ask(share(col("x0") > 0), 0.5, name="<b>half</b>", tags={"year": 2026})
    card = answer.certificate.save(tmp_path / "card.json")
    loaded = Certificate.load(card)
    loaded.verify()
    assert (loaded.to_json()["name"], loaded.to_json()["tags"]) == ("<b>half</b>", {"year": 2026})
    assert "&lt;b&gt;half&lt;/b&gt; · " in answer._repr_html_()
    card.write_text(card.read_text().replace('"year": 2026', '"year": 2027', 1))
    with pytest.raises(Tampered):
        Certificate.load(card)


def test_mixed_tags_make_a_column_of_words() -> None:
    holdout = sealed()
    holdout.ask(share(col("x0") > 0), 0.5, tags={"k": 1})
    holdout.ask(share(col("x0") > 1), 0.16, tags={"k": "all"})
    assert list(holdout.answers["tags.k"]) == ["1", "all"]


# ---------------------------------------------------------------- composites


def test_a_composites_label_is_kept_with_every_part() -> None:
    holdout = sealed()
    label: dict[str, Any] = {"name": "mine", "tags": {"fold": 3}}
    question = share(col("x0") > 0) - share(col("x1") > 0)
    answers = [
        holdout.ask(question, guess=[0.5, 0.5], **label),
        holdout.score(Cut(0.1), metric="neg_mse", range=(0, 1), **label),
        holdout.compare(Cut(0.1), Cut(0.2), metric="rmse", range=(0, 1), **label),
    ]
    answers.append(holdout.final(question, **label))
    for told in answers:
        assert isinstance(told, DerivedAnswer)
        assert {(part.name, *part.tags.items()) for part in told.parts} == {("mine", ("fold", 3))}
        assert (told.name, told.tags) == ("mine", {"fold": 3})
    assert str(answers[0]).startswith("mine · share of x0 > 0 − share of x1 > 0 · fold=3: 0 in [")
    assert "mine · " in answers[0]._repr_html_()
    holdout.verify()


def test_a_composites_label_is_what_its_parts_have_in_common() -> None:
    holdout = sealed()
    holdout.ask(share(col("x0") > 0), 0.5, name="first", tags={"fold": 1, "kind": "a"})
    told = holdout.ask(
        share(col("x0") > 0) - share(col("x1") > 0), [None, 0.5], name="b", tags={"fold": 2, "kind": "a"}
    )
    assert [part.name for part in told.parts] == ["first", "b"]
    assert (told.name, told.tags) == (None, {"kind": "a"})
    inherited = holdout.final(told)
    assert [(part.name, part.tags["fold"]) for part in inherited.parts] == [("first", 1), ("b", 2)]


def test_a_scorer_labels_the_parts_of_a_composite() -> None:
    holdout = sealed()
    scorer = holdout.scorer("neg_rmse", range=(0, 1), name="search", tags=lambda model: {"at": model.at})
    assert scorer(Cut(0.0), X[:100], Y[:100]) > scorer(Cut(0.5), X[:100], Y[:100])
    assert list(holdout.answers["name"]) == ["search", "search"]
    assert list(holdout.answers["tags.at"]) == [0.0, 0.5]


def test_a_name_in_a_composite_never_gets_another_models_answer() -> None:
    holdout = sealed()
    options = {"metric": "rmse", "range": (0, 1)}
    first = holdout.score(Cut(0.1), name="model", **options)
    assert holdout.score(Cut(0.1), name="model", **options).parts == first.parts
    with pytest.raises(Unaskable, match="this name stands for something else"):
        holdout.score(Cut(0.4), name="model", **options)
    with pytest.raises(Unaskable, match="this name stands for something else"):
        holdout.quote(metric("rmse", NamedPredictions(Cut(0.4), "model"), range=(0, 1)))
    one, other = (NamedPredictions(Cut(at), "both") for at in (0.1, 0.4))
    with pytest.raises(Unaskable, match="two things with other bytes or code go by this name"):
        holdout.compare(one, other, **options)
    with pytest.raises(Unaskable, match="two things with other bytes or code go by this name"):
        holdout.ask(ratio(metric("accuracy", one), metric("accuracy", other), range=(0, 2)))
    assert holdout.meter.asked == 1
