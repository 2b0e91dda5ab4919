"""Releasing a file: from what is typed to a folder that can be given away, and every way it can be refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import Run
from unworn.release import Release

TOML = """
plan = ["basic", "pro"]
churned = [false, true]
[age]
edges = [0, 30, 60, inf]
whole = true
"""


def people(rows: int = 2_000, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, rows),
            "plan": rng.choice(["basic", "pro"], rows, p=[0.7, 0.3]),
            "churned": rng.random(rows) < 0.2,
            "id": [f"person {place}" for place in range(rows)],
        }
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    people().to_csv(path, index=False)
    (tmp_path / "domain.toml").write_text(TOML)
    return path


@pytest.fixture
def domain(data: Path) -> str:
    return str(data.with_name("domain.toml"))


def test_a_release_is_made_told_and_verified(run: Run, data: Path, domain: str, tmp_path: Path) -> None:
    out = tmp_path / "release"
    result = run("synth", str(data), "--marginals", "2", "--epsilon", "1", "--domain", domain, "--out", str(out))
    assert result.exit_code == 0, result.stderr
    assert "2,000 rows · 3 columns, 12 cells (values as declared)" in result.stdout
    assert "16 questions in 3 tables · epsilon 1, delta 1e-09" in result.stdout
    assert result.stdout.count("taken") == 1
    assert "at most 2.72 times as likely, but for a chance of 1e-09" in " ".join(result.stdout.split())
    assert f"unworn verify {out}" in result.stdout
    assert "Sealed 2,000 rows as 'people'" in result.stderr
    assert "keep the key to yourself" in result.stderr
    assert len(pd.read_csv(out / "rows.csv")) == 2_000
    release = Release.load(out)
    assert release.answer("churned").promised
    checked = run("verify", str(out), "--ledger", f"{data}.ledger.db")
    assert checked.exit_code == 0, checked.stderr
    assert "The release is valid." in checked.stdout
    assert "the ledger holds entry 0 of this release" in checked.stdout
    shown = run("ledger", f"{data}.ledger.db")
    assert shown.exit_code == 0, shown.stderr
    assert "one release with epsilon 1" in shown.stdout


def test_the_same_again_is_the_same_and_anything_else_is_refused(
    run: Run, data: Path, domain: str, tmp_path: Path
) -> None:
    terms = ("synth", str(data), "--marginals", "2", "--epsilon", "1", "--domain", domain, "--json")
    first = json.loads(run(*terms, "--out", str(tmp_path / "one")).stdout)
    again = json.loads(run(*terms, "--out", str(tmp_path / "two"), "--rows", "7").stdout)
    assert (first["repeat"], again["repeat"]) == (False, True)
    assert first["digest"] == again["digest"]
    assert len(pd.read_csv(tmp_path / "two" / "rows.csv")) == 7
    other = run(*terms, "--epsilon", "2", "--out", str(tmp_path / "three"))
    assert other.exit_code == 3
    assert "sealed with {'epsilon': 1.0}, opened with {'epsilon': 2.0}" in other.stderr
    assert json.loads(other.stdout)["error"] == "Mismatch"
    assert not (tmp_path / "three").exists()
    assert run("ask", str(data), "churned").exit_code in (2, 3)


def test_json_is_one_document(run: Run, data: Path, domain: str, tmp_path: Path) -> None:
    out = tmp_path / "release"
    result = run(
        *("synth", str(data), "--marginals", "1", "--thresholds", "age", "--share", "churned and plan = 'pro'"),
        *("--epsilon", "2", "--delta", "0", "--domain", domain, "--out", str(out), "--json"),
    )
    told = json.loads(result.stdout)
    assert (told["rows"], told["questions"], told["tables"], told["delta"]) == (2_000, 3 + 2 + 2 + 2 + 1, 5, 0)
    assert told["columns"] == {"age": 3, "churned": 2, "plan": 2}
    assert told["out"] == str(out)
    assert {"rows.csv", "README.md", "certificate.json", "arrays.npz"} <= set(told["files"])
    assert 0 < told["sample_error"] < told["population_error"] < 1
    chosen = [line for line in told["predictions"] if line["chosen"]]
    assert [line["method"] for line in chosen] == [told["method"]]
    assert chosen[0]["error"] == min(line["error"] for line in told["predictions"] if line["error"] is not None)
    refused = {line["method"]: line["why"] for line in told["predictions"] if line["error"] is None}
    assert "delta > 0" in refused["gaussian"]


def test_a_dry_run_predicts_and_touches_nothing(run: Run, data: Path, domain: str) -> None:
    before = set(os.listdir(data.parent))
    terms = ("synth", str(data), "--marginals", "2", "--epsilon", "1", "--domain", domain, "--dry-run")
    result = run(*terms)
    assert result.exit_code == 0
    assert "is expected to be about" in " ".join(result.stdout.split())
    assert "nothing was counted, sealed or charged" in result.stderr
    told = json.loads(run(*terms, "--json").stdout)
    assert told["dry_run"] is True
    assert 0 < told["predicted_error"] < 0.2
    assert set(os.listdir(data.parent)) == before


def test_a_dry_run_does_not_look_at_values(run: Run, data: Path, tmp_path: Path) -> None:
    """The same number of rows and columns gives the same prediction, whatever the rows hold."""
    domain = tmp_path / "narrow.toml"
    domain.write_text('plan = ["nobody has this"]\nchurned = [false, true]\n')
    terms = ("--marginals", "2", "--epsilon", "1", "--domain", str(domain), "--json")
    told = run("synth", str(data), *terms, "--dry-run")
    assert told.exit_code == 0
    other = tmp_path / "other.csv"
    people(seed=9).to_csv(other, index=False)
    assert run("synth", str(other), *terms, "--dry-run").stdout == told.stdout
    refused = run("synth", str(data), *terms)  # the release itself looks, and refuses before anything is sealed
    assert refused.exit_code == 2
    assert "outside the domain" in refused.stderr
    assert not Path(f"{data}.ledger.db").exists()


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_values_from_train_and_from_the_rows(run: Run, tmp_path: Path, suffix: str) -> None:
    def write(frame: pd.DataFrame, name: str) -> str:
        path = tmp_path / f"{name}{suffix}"
        frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
        return str(path)

    data, train = write(people(), "people"), write(people(seed=2), "train")
    declared = tmp_path / "part.toml"
    declared.write_text("[age]\nedges = [0, 30, inf]\n")
    terms = ("synth", data, "--marginals", "2", "--epsilon", "1", "--columns", "age,churned,plan", "--json")
    told = json.loads(run(*terms, "--train", train, "--domain", str(declared), "--dry-run").stdout)
    assert (told["domain"], told["columns"]["age"], told["columns"]["plan"]) == ("train", 2, 3)
    told = json.loads(run(*terms, "--train", train, "--out", str(tmp_path / "train-out")).stdout)
    assert told["columns"]["age"] == 16
    elsewhere, other = {"UNWORN_HOME": str(tmp_path / "elsewhere")}, str(tmp_path / "other.db")
    off = run(*terms, "--domain", "rows", "--out", str(tmp_path / "rows-out"), "--ledger", other, env=elsewhere)
    told = json.loads(off.stdout)
    assert told["domain"] == "rows"
    assert any("read off the rows" in assumption for assumption in told["assumptions"])
    assert "read off the rows" in (tmp_path / "rows-out" / "README.md").read_text()


def test_every_column_of_train_but_what_is_declared(run: Run, data: Path, tmp_path: Path) -> None:
    train = tmp_path / "train.csv"
    people(seed=2).assign(more=1).drop(columns="id").to_csv(train, index=False)
    (tmp_path / "id.toml").write_text('id = {values = ["person 1"], other = true}')
    told = run(
        *("synth", str(data), "--marginals", "1", "--epsilon", "1", "--dry-run", "--json"),
        *("--train", str(train), "--domain", str(tmp_path / "id.toml")),
    )
    assert json.loads(told.stdout)["columns"] == {"age": 16, "churned": 2, "id": 2, "plan": 3}


def test_dtypes_are_enough_where_they_list_values(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    people().assign(plan=lambda frame: frame["plan"].astype("category")).to_parquet(path)
    out = tmp_path / "release"
    result = run(
        *("synth", str(path), "--marginals", "2", "--epsilon", "1", "--columns", "plan,churned"),
        *("--out", str(out), "--parquet", "--method", "mwem"),
    )
    assert result.exit_code == 0, result.stderr
    assert "values from dtypes" in result.stdout
    assert "expected error" not in result.stdout  # there is nothing to choose from
    assert len(pd.read_parquet(out / "rows.parquet")) == 2_000
    checked = run("verify", str(out))
    assert checked.exit_code == 0
    assert "rows.parquet was not compared" in checked.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--epsilon", "0", "--marginals", "2"), "epsilon must lie in (0, 700)"),
        (("--epsilon", "-1", "--marginals", "2"), "epsilon must lie in (0, 700)"),
        (("--epsilon", "nan", "--marginals", "2"), "epsilon must lie in (0, 700)"),
        (("--epsilon", "1", "--marginals", "2", "--delta", "1"), "delta must lie in [0, 1)"),
        (("--epsilon", "1", "--marginals", "2", "--delta", "nan"), "delta must lie in [0, 1)"),
        (("--epsilon", "1", "--marginals", "2", "--confidence", "95"), "confidence must lie"),
        (("--epsilon", "1"), "the workload asks nothing"),
        (("--epsilon", "1", "--marginals", "0"), "marginals are of 1, 2, 3"),
        (("--epsilon", "1", "--marginals", "9"), "there are 3 columns"),
        (("--epsilon", "1", "--thresholds", "plan"), "'plan' has no order"),
        (("--epsilon", "1", "--thresholds", "height"), "no column 'height'"),
        (("--epsilon", "1", "--share", "age > 31"), "the nearest edges are 30 and 60"),
        (("--epsilon", "1", "--share", "plan = 'gold'", "--marginals", "1", "--share", "; drop"), "SQL"),
        (("--epsilon", "1", "--marginals", "2", "--method", "magic"), "averaged-mwem"),
        (("--epsilon", "1", "--marginals", "2", "--method", "thresholds"), "nothing else"),
        (("--epsilon", "1", "--marginals", "2", "--method", "gaussian", "--delta", "0"), "needs delta > 0"),
        (("--epsilon", "1", "--marginals", "2", "--columns", "age,height"), "no column 'height'"),
        (("--epsilon", "1", "--marginals", "2", "--columns", ","), "--columns names no column"),
        (("--epsilon", "1", "--marginals", "2", "--train", "nowhere.csv"), "nowhere.csv"),
        (("--epsilon", "1", "--marginals", "2", "--domain", "nowhere.toml"), "nowhere.toml"),
        (("--marginals", "2"), "--epsilon"),
    ],
)
def test_what_cannot_be_used_is_refused_before_anything_is_sealed(
    run: Run, data: Path, domain: str, arguments: tuple[str, ...], says: str
) -> None:
    given = ("synth", str(data), "--out", str(data.with_name("release")), *arguments)
    result = run(*given, *(() if "--domain" in arguments else ("--domain", domain)))
    assert result.exit_code == 2, result.output
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    assert sorted(os.listdir(data.parent)) == ["domain.toml", "people.csv"]


def test_values_that_are_not_known(run: Run, data: Path) -> None:
    result = run("synth", str(data), "--marginals", "2", "--epsilon", "1")
    assert result.exit_code == 2
    assert "dtypes do not list the values of 'age' (number)" in result.stderr
    for way in ("--domain domain.toml", "--train FILE", "--columns", "--domain rows"):
        assert way in result.stderr
    both = run("synth", str(data), "--marginals", "2", "--epsilon", "1", "--domain", "rows", "--train", str(data))
    assert both.exit_code == 2
    assert "not both" in both.stderr


def test_an_unknown_category_names_the_column_and_no_value(run: Run, data: Path, tmp_path: Path) -> None:
    domain = tmp_path / "narrow.toml"
    domain.write_text('plan = ["basic", "gold"]\n')
    result = run("synth", str(data), "--marginals", "1", "--epsilon", "1", "--domain", str(domain), "--json")
    assert result.exit_code == 2
    assert "'plan'" in result.stderr
    assert "with_other()" in result.stderr
    assert "pro" not in result.stderr.replace("--progress", "")
    assert json.loads(result.stdout)["numbers"] == {"columns": ["plan"]}
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("plan = [1, 2]\n")
    kind = run("synth", str(data), "--marginals", "1", "--epsilon", "1", "--domain", str(wrong), "--dry-run")
    assert kind.exit_code == 2
    assert "number in the domain and text in the rows" in kind.stderr


def test_a_domain_of_a_million_million_cells(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    columns = {f"c{place:02}": rng.integers(0, 10, 300) for place in range(12)}
    path, domain, out = tmp_path / "wide.csv", tmp_path / "wide.toml", tmp_path / "release"
    pd.DataFrame(columns).to_csv(path, index=False)
    domain.write_text("\n".join(f"{name} = {list(range(10))}" for name in columns))
    terms = ("synth", str(path), "--epsilon", "1", "--domain", str(domain), "--out", str(out))
    for method in ("averaged-mwem", "small-db"):
        refused = run(*terms, "--marginals", "1", "--method", method)
        assert refused.exit_code == 2, method
        assert "1,000,000,000,000" in refused.stderr
        assert not Path(f"{path}.ledger.db").exists()
    made = run(*terms, "--marginals", "1", "--method", "mwem", "--rows", "10")
    assert made.exit_code == 0, made.stderr
    assert len(pd.read_csv(out / "rows.csv").columns) == 12


def test_where_it_cannot_be_written(run: Run, data: Path, domain: str, tmp_path: Path) -> None:
    terms = ("synth", str(data), "--marginals", "1", "--epsilon", "1", "--domain", domain, "--out")
    result = run(*terms, str(tmp_path))
    assert result.exit_code == 2
    assert "holds other files" in result.stderr
    assert run(*terms, str(data)).exit_code == 2
    assert not Path(f"{data}.ledger.db").exists()
    assert run(*terms, str(tmp_path / "new" / "release")).exit_code == 0
    again = run(*terms, str(tmp_path / "new" / "release"))
    assert again.exit_code == 2
    assert "overwrite" in again.stderr
    assert run(*terms, str(tmp_path / "new" / "release"), "--overwrite").exit_code == 0


def test_the_folder_is_named_after_the_data(run: Run, data: Path, domain: str) -> None:
    told = json.loads(
        run("synth", str(data), "--marginals", "1", "--epsilon", "1", "--domain", domain, "--json").stdout
    )
    assert told["out"] == str(data.with_name("people-release"))


def test_the_default_delta_follows_the_rows_and_a_large_one_is_noted(run: Run, data: Path, domain: str) -> None:
    terms = ("synth", str(data), "--marginals", "1", "--epsilon", "1", "--domain", domain, "--dry-run")
    assert json.loads(run(*terms, "--json").stdout)["delta"] == 1e-9
    large = run(*terms, "--delta", "0.001")
    assert large.exit_code == 0
    assert "lets the release show 2 of the rows outright" in large.stderr


# ---------------------------------------------------------------------- verify


@pytest.fixture
def released(run: Run, data: Path, domain: str, tmp_path: Path) -> Path:
    out = tmp_path / "release"
    terms = ("--marginals", "2", "--epsilon", "1", "--domain", domain, "--method", "mwem")
    assert run("synth", str(data), *terms, "--out", str(out)).exit_code == 0
    return out


def test_a_certificate_alone(run: Run, released: Path) -> None:
    result = run("verify", str(released / "certificate.json"))
    assert result.exit_code == 0
    assert "The certificate is valid." in result.stdout
    assert "Give the whole folder" in result.stderr
    told = json.loads(run("verify", str(released), "--json").stdout)
    assert told["ok"] is True
    assert told["epsilon"] == 1
    assert len(told["checked"]) == 5


def _smaller(card: dict[str, Any]) -> None:
    card["sample_error"] = 1e-6


def _another(card: dict[str, Any]) -> None:
    card["format"] = "unworn release 2"


@pytest.mark.parametrize("change", [_smaller, _another])
def test_a_changed_certificate(run: Run, released: Path, change: Any) -> None:
    path = released / "certificate.json"
    card = json.loads(path.read_text())
    change(card)
    path.write_text(json.dumps(card))
    for what in (released, path):
        result = run("verify", str(what), "--json")
        assert result.exit_code == 4
        assert json.loads(result.stdout)["error"] == "Tampered"


def test_changed_rows_and_other_folders(run: Run, released: Path, tmp_path: Path, data: Path) -> None:
    rows = released / "rows.csv"
    rows.write_text(rows.read_text().replace("basic", "pro", 1))
    result = run("verify", str(released))
    assert result.exit_code == 4
    assert "rows.csv is not what this release gives" in result.stderr
    assert run("verify", str(tmp_path)).exit_code == 4
    (tmp_path / "other.csv").write_text(data.read_text())
    frame = people(seed=7).drop(columns="id")
    frame.to_csv(tmp_path / "other.csv", index=False)
    assert run("ask", str(tmp_path / "other.csv"), "age > 65").exit_code == 0
    card = str(released / "certificate.json")
    strange = run("verify", card, "--ledger", str(tmp_path / "other.csv.ledger.db"))
    assert strange.exit_code == 3
    assert "does not know" in strange.stderr
    assert run("verify", card, "--ledger", f"{data}.ledger.db", "--head", "ab" * 32).exit_code == 4


def test_help_teaches(run: Run) -> None:
    shown = run("synth", "--help").stdout
    for word in ("Examples:", "How large should epsilon be?", "A domain file:", "--dry-run", "--delta"):
        assert word in shown
    assert "synth" in run("--help").stdout
