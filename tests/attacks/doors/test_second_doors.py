"""Second doors: the same rows opened again, in another process or under another ledger, get no second budget."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from unworn import Holdout, col, share
from unworn.cli import app
from unworn.errors import LedgerError, Mismatch, SecondLedger
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import GuessAndCheck
from unworn.release import fit

ROWS = 400
QUESTION = share(col("a") > 0)
USES = {"asks": 0.7, "release": 0.3}


def people(seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"a": rng.normal(size=ROWS), "b": rng.integers(0, 3, ROWS), "y": rng.integers(0, 2, ROWS)})


def coins(seed: int = 0) -> pd.DataFrame:
    """Rows of which no column tells once they are shuffled."""
    return pd.DataFrame(np.random.default_rng(seed).integers(0, 2, (ROWS, 6)), columns=list("pqrsty"))


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, [*map(str, arguments)], env={"COLUMNS": "200"})


# ---------------------------------------------------------------- the ledger that nobody named


def test_an_object_made_again_goes_on_with_the_same_ledger() -> None:
    first = Holdout(people(), "y")
    told = first.ask(QUESTION, 0.5)
    first.close()
    again = Holdout(people().sample(frac=1, random_state=1), "y")
    assert (again.id, again.meter.asked) == (first.id, 1)
    assert again.ask(QUESTION, 0.9) == told
    again.close()


def test_another_process_goes_on_with_the_same_ledger(tmp_path: Path) -> None:
    people().to_parquet(tmp_path / "people.parquet")
    code = (
        "import sys; from unworn import Holdout, col, share; h = Holdout(sys.argv[1], 'y'); "
        "h.ask(share(col('a') > float(sys.argv[2])), 0.5); print(h.meter.asked)"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "people.parquet"), at],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for at in ("0", "1", "2")
    ]
    assert told == ["1", "2", "3"]


def test_a_restart_after_every_few_asks_buys_nothing() -> None:
    """The repro: 'kernel restarted' between asks; each session used to start with an empty meter."""
    rng = np.random.default_rng(0)
    X, y = rng.choice([-1.0, 1.0], size=(ROWS, 12)), rng.integers(0, 2, ROWS)
    for place in range(12):
        session = Holdout(X, y)
        session.score((X[:, place] > 0).astype(int), guess=0.5)
        assert session.meter.asked == place + 1
        session.close()


def test_left_out_means_the_ledger_that_has_the_rows(tmp_path: Path) -> None:
    named = Holdout(people(), "y", ledger=tmp_path / "churn.db")
    named.ask(QUESTION, 0.5)
    named.close()
    again = Holdout(people(), "y")
    assert again.ledger_url == f"sqlite:///{os.path.realpath(tmp_path / 'churn.db')}"
    assert again.meter.asked == 1
    again.close()


def test_nothing_is_readable_by_others_and_no_value_or_name_is_kept(home_of_its_own: Path) -> None:
    frame = people().assign(shibboleth=np.where(people()["a"] > 0, "xyzzy", "plugh"))
    Holdout(frame, "y").close()
    kept = b"".join(path.read_bytes() for path in home_of_its_own.glob("registry.*"))
    assert all(word not in kept for word in (b"shibboleth", b"xyzzy", b"plugh"))
    if os.name == "posix":
        assert all((home_of_its_own / f"registry.{end}").stat().st_mode & 0o077 == 0 for end in ("key", "db"))


# ---------------------------------------------------------------- a second ledger


@pytest.mark.parametrize("left_out", [False, True])
def test_another_ledger_is_refused_and_the_first_is_named(tmp_path: Path, left_out: bool) -> None:
    first = Holdout(people(), "y", **({} if left_out else {"ledger": tmp_path / "one.db"}))
    with pytest.raises(Mismatch, match="second budget") as caught:
        Holdout(people(), "y", ledger=tmp_path / "two.db")
    assert caught.value.numbers["ledger"] == first.ledger_url
    assert str(first.ledger_url).removeprefix("sqlite:///") in str(caught.value)
    assert not (tmp_path / "two.db").exists()
    first.close()


def test_the_same_file_by_another_way_is_no_other_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Holdout(people(), "y", ledger=tmp_path / "one.db").close()
    monkeypatch.chdir(tmp_path)
    for way in ("one.db", "sqlite:///one.db", Path("one.db"), tmp_path / "." / "one.db"):
        Holdout(people(), "y", ledger=way).close()


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.assign(prediction=1.0),
        lambda frame: frame.rename(columns={"a": "alpha", "y": "label"}),
        lambda frame: frame[["a"]],
        lambda frame: frame.sample(frac=1, random_state=3).assign(more=2),
    ],
)
def test_shared_columns_are_refused_across_ledgers(tmp_path: Path, change: Any) -> None:
    Holdout(people(), "y", ledger=tmp_path / "one.db").close()
    for ledger in ({"ledger": tmp_path / "two.db"}, {}):
        with pytest.raises(Mismatch, match="second budget"):
            Holdout(change(people()), **ledger)
    assert not (tmp_path / "two.db").exists()


def test_coins_shuffled_with_a_column_added_are_refused_across_ledgers(tmp_path: Path) -> None:
    Holdout(coins(), "y", ledger=tmp_path / "one.db").close()
    more = coins().assign(prediction=np.random.default_rng(9).integers(0, 2, ROWS)).sample(frac=1, random_state=3)
    with pytest.raises(Mismatch, match="columns but those that were added"):
        Holdout(more, "y", ledger=tmp_path / "two.db")


def test_other_rows_of_the_same_shape_are_other_rows(tmp_path: Path) -> None:
    """A few labels coincide by chance, and are not taken for one another."""
    for seed in range(5):
        Holdout(people(seed), "y", ledger=tmp_path / f"{seed}.db").close()
        Holdout(coins(seed), "y").close()
    rng = np.random.default_rng(5)
    for place in range(5):  # as many zeros and ones each, in another order
        Holdout(None, rng.permutation(np.repeat([0, 1], 50)), ledger=tmp_path / f"labels-{place}.db").close()
    for place in range(3):
        Holdout({"id": np.arange(100)}, ledger=tmp_path / f"ids-{place}.db").close()


def test_two_processes_with_two_ledgers_make_one_budget(tmp_path: Path) -> None:
    """Both look, both find nothing: whoever seals second is refused before anything is asked."""
    np.savez(tmp_path / "rows.npz", **{name: column.to_numpy() for name, column in people().items()})
    code = """
import sys
import numpy as np
import unworn.holdout.rows_ledger as choosing
from unworn import Holdout, col, share
from unworn.errors import Mismatch
known = choosing._known
def look_and_wait(*args):
    found = known(*args)
    if not found:
        print("looked", flush=True)
        sys.stdin.readline()
    return found
choosing._known = look_and_wait
try:
    h = Holdout(dict(np.load(sys.argv[1])), ledger=sys.argv[2])
    h.ask(share(col("a") > 0), 0.5)
    print("asked", flush=True)
except Mismatch as error:
    print("refused", error.numbers["ledger"].rpartition("/")[2], flush=True)
"""
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path / "rows.npz"), str(tmp_path / f"{name}.db")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in ("one", "two")
    ]
    for racer in racers:
        assert racer.stdout is not None
        assert racer.stdout.readline().strip() == "looked"
    told = sorted(racer.communicate("go\n", timeout=120)[0].strip().splitlines()[-1] for racer in racers)
    assert told[0] == "asked"
    assert told[1].startswith("refused")


# ---------------------------------------------------------------- ledgers that are gone, moved, copied, forgotten


def test_a_deleted_ledger_does_not_refill_the_budget(tmp_path: Path) -> None:
    Holdout(people(), "y", ledger=tmp_path / "one.db").close()
    os.rename(tmp_path / "one.db", tmp_path / "away.db")
    os.rename(tmp_path / "one.db.keys", tmp_path / "away.db.keys")
    for ledger in ({"ledger": tmp_path / "one.db"}, {"ledger": tmp_path / "two.db"}, {}):
        with pytest.raises(Mismatch, match="not there any more") as caught:
            Holdout(people(), "y", **ledger)
        assert "--forget" in str(caught.value)
    assert not (tmp_path / "one.db").exists()
    Holdout(people(7), "y", ledger=tmp_path / "one.db").close()  # another ledger under the old name
    with pytest.raises(Mismatch, match="does not have it any more"):
        Holdout(people(), "y", ledger=tmp_path / "one.db")


def test_a_moved_ledger_is_known_again_and_a_copy_refused(tmp_path: Path) -> None:
    first = Holdout(people(), "y", ledger=tmp_path / "one.db")
    first.ask(QUESTION, 0.5)
    first.close()
    shutil.copy(tmp_path / "one.db", tmp_path / "copy.db")
    shutil.copytree(tmp_path / "one.db.keys", tmp_path / "copy.db.keys")
    with pytest.raises(Mismatch, match="another ledger"):
        Holdout(people(), "y", ledger=tmp_path / "copy.db")
    (tmp_path / "one.db").unlink()
    moved = Holdout(people(), "y", ledger=tmp_path / "copy.db")
    assert (moved.id, moved.meter.asked) == (first.id, 1)
    moved.close()
    left_out = Holdout(people(), "y")
    assert left_out.ledger_url == moved.ledger_url
    left_out.close()


def test_forgetting_is_spelled_out(tmp_path: Path) -> None:
    Holdout(people(), "y", ledger=tmp_path / "one.db").close()
    Holdout(people(1), "y", ledger=tmp_path / "one.db", name="kept").close()
    said = run("ledger", str(tmp_path / "one.db"), "--forget", "--name", "holdout")
    assert said.exit_code == 0
    assert "starts anew" in said.output
    Holdout(people(), "y", ledger=tmp_path / "two.db").close()
    with pytest.raises(Mismatch, match=r"another ledger.*two\.db"):
        Holdout(people(), "y", ledger=tmp_path / "one.db")
    with pytest.raises(Mismatch, match=r"another ledger.*one\.db"):
        Holdout(people(1), "y", ledger=tmp_path / "two.db")
    assert json.loads(run("ledger", str(tmp_path / "none.db"), "--forget", "--json").output)["forgotten"] == 0


def test_what_was_not_sealed_claims_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="number of asks"):
        Holdout(people(), "y", ledger=tmp_path / "one.db", mechanism=_Unsealable())
    Holdout(people(), "y", ledger=tmp_path / "two.db").close()


def test_a_claim_that_was_never_sealed_does_not_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crash between claiming the rows and sealing them, in a ledger that is there for others."""
    Holdout(people(1), "y", ledger=tmp_path / "one.db").close()
    with monkeypatch.context() as crash:
        crash.setattr("unworn.holdout.opening._seal", _crash)
        crash.setattr("unworn.holdout.rows_ledger.RowsLedger.withdraw", lambda place: place.close())
        with pytest.raises(SystemExit):
            Holdout(people(), "y", ledger=tmp_path / "one.db")
    Holdout(people(), "y", ledger=tmp_path / "two.db").close()
    with pytest.raises(Mismatch, match=r"another ledger.*two\.db"):
        Holdout(people(), "y", ledger=tmp_path / "one.db")


def _crash(*_: Any) -> None:
    raise SystemExit


class _Unsealable(GuessAndCheck):
    def begin(self, *terms: Any) -> Any:
        raise ValueError("no number of asks has a price")


# ---------------------------------------------------------------- the registry itself


def test_a_deleted_registry_is_made_anew_as_ledgers_are_opened(tmp_path: Path, home_of_its_own: Path) -> None:
    Holdout(people(), "y").close()
    Holdout(people(1), "y", ledger=tmp_path / "one.db").close()
    (home_of_its_own / "registry.db").unlink()
    Holdout(people().sample(frac=1, random_state=1), "y").close()
    Holdout(people(1), "y", ledger=tmp_path / "one.db").close()
    for seed in (0, 1):
        with pytest.raises(Mismatch, match="another ledger"):
            Holdout(people(seed), "y", ledger=tmp_path / "two.db")


def test_a_damaged_registry_or_a_lost_key_is_said(tmp_path: Path, home_of_its_own: Path) -> None:
    Holdout(people(), "y").close()
    whole = (home_of_its_own / "registry.db").read_bytes()
    (home_of_its_own / "registry.db").write_bytes(b"no database" * 100)
    with pytest.raises(LedgerError, match="damaged"):
        Holdout(people(), "y")
    (home_of_its_own / "registry.db").write_bytes(whole)
    key = (home_of_its_own / "registry.key").read_text()
    (home_of_its_own / "registry.key").unlink()
    with pytest.raises(LedgerError, match="is gone"):
        Holdout(people(), "y")
    (home_of_its_own / "registry.key").write_text("00" * 32)
    with pytest.raises(LedgerError, match="another key"):
        Holdout(people(), "y")
    (home_of_its_own / "registry.key").write_text(key)
    Holdout(people(), "y").close()


def test_a_home_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("no directory")
    monkeypatch.setenv("UNWORN_HOME", str(tmp_path / "file"))
    with pytest.raises(LedgerError, match=r"UNWORN_HOME[\s\S]*ledger='churn.db'"):
        Holdout(people(), "y")
    with pytest.warns(UserWarning, match="goes unnoticed"):
        Holdout(people(), "y", ledger=tmp_path / "one.db").close()
    Holdout(people(), "y", ledger=None)


# ---------------------------------------------------------------- memory, spelled out


def test_a_home_that_moves_with_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative UNWORN_HOME would be another registry, and so another budget, after every chdir."""
    monkeypatch.setenv("UNWORN_HOME", "home")
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        monkeypatch.chdir(tmp_path / place)
        for ledger in ({}, {"ledger": tmp_path / f"{place}.db"}):
            with pytest.raises(LedgerError, match="Give a full path"):
                Holdout(people(), "y", **ledger)
        assert not any((tmp_path / place).iterdir())


def test_memory_says_that_the_promise_ends_with_the_object() -> None:
    answer = Holdout(people(), "y", ledger=None).ask(QUESTION, 0.5)
    assert any("the promise ends with it" in words for words in answer.certificate.assumptions)
    assert "the promise ends with this object" in str(answer)
    assert "the promise ends with this object" in answer._repr_html_()
    kept = Holdout(people(), "y").ask(QUESTION, 0.5)
    assert not any("memory" in words for words in kept.certificate.assumptions)
    assert "ends with" not in str(kept)


def test_memory_beside_a_ledger_is_warned_of_and_certified_as_such() -> None:
    Holdout(people(), "y").close()
    with pytest.warns(SecondLedger, match="have a ledger already"):
        beside = Holdout(people(), "y", ledger=None)
    assert any("have another ledger" in words for words in beside.ask(QUESTION, 0.5).certificate.assumptions)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Holdout(people(1), "y", ledger=None)
        Holdout(people(), "y", ledger=SeededStore(np.random.default_rng(1)))  # a simulation


# ---------------------------------------------------------------- commands and releases


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    people().assign(b=people()["b"].astype(bool)).to_csv(path, index=False)
    return path


def synth(data: Path, *more: str) -> Any:
    folder = str(data.with_name("release"))
    return run("synth", data, "--columns", "b", "--marginals", "1", "--epsilon", "1", "--out", folder, *more)


def test_ask_then_synth_under_another_ledger(data: Path, tmp_path: Path) -> None:
    assert run("ask", data, "a > 0", "--guess", "0.5", "--ledger", tmp_path / "one.db").exit_code == 0
    for more in ((), ("--ledger", str(tmp_path / "two.db"))):
        refused = synth(data, *more)
        assert refused.exit_code != 0
        assert "Mismatch" in refused.output
    assert not (tmp_path / "two.db").exists()
    assert not data.with_name("people.csv.ledger.db").exists()


def test_synth_then_ask_under_another_ledger(data: Path, tmp_path: Path) -> None:
    assert synth(data, "--ledger", str(tmp_path / "one.db")).exit_code == 0
    named = ("--ledger", str(tmp_path / "two.db"))
    for more, why in (
        ((), "sealed for a release"),
        (named, "in another ledger"),
        (("--quote",), "sealed for a release"),
    ):
        refused = run("ask", data, "a > 0", "--guess", "0.5", *more)
        assert refused.exit_code != 0
        assert why in refused.output
    assert not (tmp_path / "two.db").exists()


def test_ask_goes_on_with_the_ledger_of_the_library(data: Path, tmp_path: Path) -> None:
    Holdout(str(data), ledger=tmp_path / "churn.db", name="churn").close()
    said = run("ask", data, "a > 0", "--guess", "0.5", "--json")
    assert said.exit_code == 0, said.output
    assert json.loads(said.stdout)["holdout"] == "churn"
    assert not data.with_name("people.csv.ledger.db").exists()
    assert Holdout(str(data)).meter.asked == 1


def test_releases_and_questions_share_rows_only_as_declared(tmp_path: Path) -> None:
    domain = {"b": [0, 1, 2]}
    rows = people()[["a", "b"]]
    Holdout(rows, ledger=tmp_path / "one.db", uses=USES).close()
    release = fit(rows, 1, epsilon=1.0, domain=domain, uses=USES)  # found, and a declared use of its own
    assert release.certificate.terms.uses is not None
    with pytest.raises(Mismatch):
        fit(rows, 1, epsilon=1.0, domain=domain)
    with pytest.raises(Mismatch, match="another ledger"):
        fit(rows, 1, epsilon=1.0, domain=domain, uses=USES, ledger=tmp_path / "two.db")


def test_verify_does_not_claim_what_no_release_can_show(data: Path) -> None:
    assert synth(data).exit_code == 0
    said = " ".join(run("verify", str(data.with_name("release"))).output.split())
    assert "The rows are seen only through this release. " not in said
    assert "for no release can show it" in said
    assert "whether another ledger has them too, its signature cannot say" in said
