"""What strangers wrote says one thing, of the types and sizes that can be, or it is not read at all."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from unworn import Holdout, col, share
from unworn.basics.json_text import canonical, read_canonical, read_document, read_json, write_json
from unworn.cli import app
from unworn.errors import Tampered, UnwornError
from unworn.ledger import Entry, Key
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.mechanisms.contract.record import Record
from unworn.record.certificate import Certificate, replay
from unworn.record.transcript import Terms
from unworn.release import Release, fit
from unworn.release.folder.release_folder import check_readme

KEY = Key(bytes(range(32)))


@pytest.fixture(scope="module")
def certificate() -> Certificate:
    rows = np.random.default_rng(0).normal(size=200)
    return Holdout({"a": rows}).ask(share(col("a") > 0), 0.5).certificate


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng = np.random.default_rng(0)
    made = fit(
        {"a": rng.integers(0, 2, 300), "b": rng.integers(0, 2, 300)}, 2, epsilon=1.0, domain={"a": [0, 1], "b": [0, 1]}
    )
    return made.save(tmp_path_factory.mktemp("release") / "release", rows=20)


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    import shutil

    return Path(shutil.copytree(saved, tmp_path / "release"))


# ---------------------------------------------------------------------- one text, one meaning


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1,"a":2}',
        '{"b":{"a":1,"a":1}}',
        "[NaN]",
        "[Infinity]",
        "[-Infinity]",
        "[1e999]",
        f"[{'9' * 400}]",
        "[" * 300 + "]" * 300,
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
    ids=lambda text: text[:12],
)
def test_json_with_no_single_meaning(text: str) -> None:
    for read in (read_json, read_canonical, read_document):
        with pytest.raises(ValueError):
            read(text)


@pytest.mark.parametrize("text", ['{"a": 1}', '{"b":1,"a":1}', '{"a":1.0e0}', '{"\\u0061":1}', ' {"a":1}', '{"a":1}\n'])
def test_entries_have_one_text(text: str) -> None:
    with pytest.raises(ValueError):
        read_canonical(text)
    assert read_canonical('{"a":1}') == {"a": 1}


def test_an_entry_with_a_name_twice(certificate: Certificate) -> None:
    line = canonical(certificate.entry.to_json())
    assert Entry.from_line(line) == certificate.entry
    for twice in (line.replace('{"body":', '{"body":{},"body":', 1), line.replace('"index":1', '"index":1,"index":1')):
        with pytest.raises(Tampered):
            Entry.from_line(twice)
    body = canonical(certificate.entry.body)
    row = (
        certificate.entry.holdout,
        1,
        certificate.entry.previous,
        body,
        certificate.head,
        certificate.entry.signature,
    )
    assert Entry.from_row(*row) == certificate.entry
    with pytest.raises(Tampered):
        Entry.from_row(*row[:3], body.replace('"by":null', '"by":"other","by":null'), *row[4:])
    with pytest.raises(Tampered):
        Entry.from_row(*row[:3], body.replace(":", ": "), *row[4:])


def test_a_card_with_a_name_twice(certificate: Certificate, tmp_path: Path) -> None:
    """A reader that takes the first sees another question than the one that was signed."""
    text = certificate.save(tmp_path / "card.json").read_text()
    spellings = {
        text: True,
        text.replace("\n", "\r\n"): True,
        canonical(json.loads(text)): True,
        text.replace('{\n  "format"', '{\n  "question": "another",\n  "format"', 1): False,
        text.replace('"low": 0.', '"low": 0.99, "low": 0.', 1): False,
        text.replace('"format"', '"\\u0066ormat"', 1): False,
        text.replace("  ", "   "): False,
    }
    for spelling, good in spellings.items():
        card = tmp_path / "other.json"
        card.write_bytes(spelling.encode())
        told = CliRunner().invoke(app, ["verify", str(card)])
        assert told.exit_code == (0 if good else 4), told.output


def test_a_document_reads_back(tmp_path: Path) -> None:
    told = {"name": "\x9b\u202e", "numbers": [1, 0.1, -0.0, 1e300, None, True], "nested": {"é": []}}
    assert read_document(write_json(told)) == told


# ---------------------------------------------------------------------- types and sizes

SIZES = [0, -1, 1.5, True, "100", None, [], {}, 10**16, 10**30, 10**400, math.inf]


def spoiled_terms(certificate: Certificate) -> list[Callable[[dict[str, Any]], Any]]:
    changes: list[Callable[[dict[str, Any]], Any]] = []
    for value in SIZES:
        changes.append(lambda body, value=value: body.update(size=value))
        changes.append(lambda body, value=value: body.update(size=value, rows=value))
        if value is not None:
            changes.append(lambda body, value=value: body.update(asks=value))
    changes += [
        lambda body, value=value: body.update(confidence=value)
        for value in (0, 1, 1.0, -0.5, "0.95", None, True, [0.95], 10**400)
    ]
    changes += [
        lambda body, value=value: body["mechanism"].update(z=value)
        for value in (10**400, -1, 0, "4", True, [4.0], math.inf, 1e999)
    ]
    changes += [
        lambda body, value=value: body["mechanism"].update(pieces=value) for value in (10**400, 1, "8", 2.5, True)
    ]
    changes += [
        lambda body, value=value: body["mechanism"].update(law=value) for value in ("D", "c", "", 3, True, [], {"a": 1})
    ]
    for name in ("name", "public", "version", "kept", "digest", "order", "columns", "schema", "mechanism"):
        changes += [
            lambda body, name=name, value=value: body.update({name: value}) for value in (3, None, [], {"a": 1}, True)
        ]
    changes.append(lambda body: body["mechanism"].update(name=["GuessAndCheck"]))
    changes.append(lambda body: body["mechanism"].update(more=1))
    changes.append(lambda body: body["schema"].update(target=3))
    changes.append(lambda body: body["schema"]["columns"].update(a=["number", 1]))
    changes.append(lambda body: body["schema"]["columns"].update(a="nu"))
    return changes


def test_hostile_terms(certificate: Certificate) -> None:
    """Refused at once when they are read: nothing is computed with them."""
    for change in spoiled_terms(certificate):
        body = json.loads(json.dumps(certificate.first.body))
        change(body)
        with pytest.raises(UnwornError):
            Terms.from_body(body)
    assert Terms.from_body(certificate.first.body) == certificate.terms


def test_terms_that_name_no_law(certificate: Certificate) -> None:
    """Or another one than the answers were priced by."""
    for law in (None, "C"):
        mechanism = {**certificate.first.body["mechanism"], "law": law}
        body = {**certificate.first.body, "public": KEY.public, "mechanism": mechanism}
        first = Entry.seal(certificate.first.holdout, 0, certificate.first.previous, body, KEY)
        entry = Entry.seal(first.holdout, 1, first.hash, certificate.entry.body, KEY)
        with pytest.raises(UnwornError):
            replay([first, entry])


def test_hostile_asks(certificate: Certificate) -> None:
    changes: dict[str, list[Any]] = {
        "at": [1e18, -1, "now", None, True, 10**400],
        "batch": [[0], [1, 1], [-1, 1], ["0", 1], "01", None, [0, 1, 2], [0, 10**400]],
        "parent": ["1", 1.5, True, 10**400, [1]],
        "by": [3, [], {}],
        "label": [None, 3, []],
        "fingerprint": [None, 3],
        "question": [None, [], "share"],
        "guess": [
            *([], ["0.5", None, None, "asker"], [0.5, None, None, "asker", "1"], [0.5, None, None, "asker", 1.0, 1]),
            *(0.5, [10**400, None, None, "asker"]),
        ],
        "symbol": [None, {}, [[]], "x" * 101, [0] * 17, 10**400, True],
        "event": [None, {}, {"event": "described"}, {"event": "described", "surprise": 1, "nats": 0.0}, {"event": []}],
        "published": [None, [], [1, 2, 3], ["0.5", 0, 1, "guess"], [0.5, 0, 1, "guess", 1], [10**400, 0, 1, "guess"]],
        "draw": [[], ["a"], [1, 1], ["a", "1"], ["a", 10**400]],
        "offer": [None, [], [1], {}, "offer"],
    }
    for name, values in changes.items():
        for value in values:
            with pytest.raises(Tampered):
                Record.from_body({**certificate.entry.body, name: value})
    offer = certificate.entry.body["offer"]
    for place in range(len(offer)):
        for value in ("1", [], {}, 10**400, math.nan, [1, 2, 3, 4]):
            with pytest.raises(Tampered):
                Record.from_body({**certificate.entry.body, "offer": [*offer[:place], value, *offer[place + 1 :]]})
    assert Record.from_body(certificate.entry.body) == certificate.record


def test_a_stranger_may_sign_what_they_like(certificate: Certificate) -> None:
    """All of it is signed, by a key of their own: what cannot be is refused all the same, and nothing hangs."""
    for change in spoiled_terms(certificate):
        body = json.loads(json.dumps(certificate.first.body))
        change(body)
        try:
            body["public"] = KEY.public if "public" in body and isinstance(body["public"], str) else body["public"]
            first = Entry.seal(certificate.first.holdout, 0, certificate.first.previous, body, KEY)
        except UnwornError:
            continue
        entry = Entry.seal(first.holdout, 1, first.hash, certificate.entry.body, KEY)
        with pytest.raises(UnwornError):
            Certificate.of(first, entry).verify()


def test_more_rows_on_an_answer_than_were_sealed(certificate: Certificate) -> None:
    """A card alone names its rows twice; a million of them in the offer would make a narrower interval."""
    mechanism = certificate.terms.mechanism
    body = json.loads(json.dumps(certificate.entry.body))
    body["offer"][1] = 10**6
    offer = Record.from_body(body).offer
    published = publish_symbol(mechanism, offer, body["symbol"])
    body["published"] = [published.value, published.low, published.high, published.source]
    first = Entry.seal(
        certificate.first.holdout, 0, certificate.first.previous, {**certificate.first.body, "public": KEY.public}, KEY
    )
    forged = Certificate.of(first, Entry.seal(first.holdout, 1, first.hash, body, KEY))
    with pytest.raises(Tampered, match="does not follow"):
        forged.verify()


# ---------------------------------------------------------------------- a release's folder


def test_a_release_with_a_name_twice(folder: Path) -> None:
    for name in ("certificate.json", "release.json"):
        text = (folder / name).read_text()
        (folder / name).write_text(text.replace('{\n  "format"', '{\n  "format": "x",\n  "format"', 1))
        with pytest.raises(Tampered):
            Release.load(folder)
        (folder / name).write_text(text)
    Release.load(folder)


def test_a_changed_readme_is_noticed(folder: Path) -> None:
    assert CliRunner().invoke(app, ["verify", str(folder)]).exit_code == 0
    page = (folder / "README.md").read_text()
    (folder / "README.md").write_text(page.replace("± ", "± 0.000"))
    told = CliRunner().invoke(app, ["verify", str(folder)])
    assert told.exit_code == 4
    assert "README.md" in told.output


def test_what_is_not_compared_is_named(folder: Path) -> None:
    (folder / "errors.svg").write_text("<svg onload='alert(1)'/>")
    told = CliRunner().invoke(app, ["verify", str(folder), "--json"])
    assert told.exit_code == 0
    assert json.loads(told.stdout)["unchecked"] == ["errors.svg"]
    assert "errors.svg was not compared" in CliRunner().invoke(app, ["verify", str(folder)]).output
    (folder / "errors.svg").unlink()
    assert check_readme(folder, Release.load(folder)) == []
