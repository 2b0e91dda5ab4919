"""Asking a file: terms are remembered, repeats are free, mistakes cost nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Run, people
from unworn import Certificate

OLD = "age > 65 and plan = 'basic'"


def test_an_answer_is_printed_recorded_and_carded(run: Run, data: Path, ledger: str, tmp_path: Path) -> None:
    card = tmp_path / "card.json"
    result = run("ask", str(data), OLD, "--guess", "0.17", "--card", str(card))
    assert result.exit_code == 0
    assert "0.17  in [" in result.stdout
    assert "agree with the guess" in result.stdout
    assert "Sealed 2,000 rows as 'people'" in result.stderr
    assert Path(ledger).exists()
    assert Certificate.load(card).record.published.value == 0.17


def test_json_is_one_document_and_a_repeat_is_free(run: Run, data: Path, ledger: str) -> None:
    first = json.loads(run("ask", str(data), OLD, "--guess", "0.17", "--json").stdout)
    again = json.loads(run("ask", str(data), OLD, "--json").stdout)
    assert first["source"] == "guess"
    assert first["low"] < first["value"] < first["high"]
    assert (first["repeat"], again["repeat"]) == (False, True)
    assert again["index"] == first["index"] == 1
    assert first["ledger"] == ledger
    paid = json.loads(run("ask", str(data), OLD, "--guess", "0.17", "--again", "--by", "blue", "--json").stdout)
    assert (paid["index"], paid["by"], paid["meter"]["asked"]) == (2, "blue", 2)


def test_later_asks_take_the_sealed_terms(run: Run, data: Path) -> None:
    options = ("--asks", "50", "--confidence", "0.9", "--target", "plan", "--groups", "team")
    assert run("ask", str(data), "age > 40", "--guess", "0.6", *options).exit_code == 0
    bare = run("ask", str(data), "age > 41", "--guess", "0.6")
    assert bare.exit_code == 3
    assert "--groups COLUMN" in bare.stderr
    told = json.loads(run("ask", str(data), "age > 41", "--guess", "0.6", "--groups", "team", "--json").stdout)
    assert (told["confidence"], told["meter"]["planned"], told["meter"]["asked"]) == (0.9, 50, 2)


def test_terms_are_found_by_the_rows_when_the_file_was_renamed(run: Run, data: Path, ledger: str) -> None:
    assert run("ask", str(data), "age > 40", "--asks", "50").exit_code == 0
    other = data.with_name("renamed.csv")
    shutil.copy(data, other)
    told = json.loads(run("ask", str(other), "age > 41", "--ledger", ledger, "--json").stdout)
    assert (told["holdout"], told["meter"]["asked"]) == ("people", 2)


def test_a_namesake_with_other_rows_gets_terms_of_its_own(run: Run, data: Path, ledger: str, tmp_path: Path) -> None:
    assert run("ask", str(data), "age > 40", "--asks", "50").exit_code == 0
    other = tmp_path / "elsewhere" / "people.csv"
    other.parent.mkdir()
    people(seed=2).to_csv(other, index=False)
    told = json.loads(run("ask", str(other), "age > 40", "--ledger", ledger, "--json").stdout)
    assert told["meter"] | {"spent": 0, "next_width": 0} == {
        "asked": 1,
        "surprises": 0,
        "currency": "nats",
        "planned": None,
        "spent": 0,
        "next_width": 0,
    }
    back = json.loads(run("ask", str(data), "age > 41", "--json").stdout)
    assert (back["meter"]["planned"], back["meter"]["asked"]) == (50, 2)


def test_terms_that_are_insisted_on_are_refused(run: Run, data: Path) -> None:
    assert run("ask", str(data), "age > 40", "--asks", "50").exit_code == 0
    result = run("ask", str(data), "age > 41", "--asks", "60", "--json")
    assert result.exit_code == 3
    assert "asks: sealed with 50, opened with 60" in result.stderr
    assert json.loads(result.stdout)["numbers"]["differing"] == ["asks"]
    assert run("ask", str(data), "age > 41", "--name", "others").exit_code == 3


def test_train_provides_the_guess(run: Run, data: Path, tmp_path: Path) -> None:
    train = tmp_path / "train.csv"
    people(seed=5).to_csv(train, index=False)
    told = json.loads(run("ask", str(data), "age > 65", "--train", str(train), "--json").stdout)
    assert told["guess"] == pytest.approx(24 / 72, abs=0.06)
    later = run("ask", str(data), "age > 64")  # sealed with train's schema, opened without train
    assert later.exit_code == 0


def test_a_mean_needs_a_range(run: Run, data: Path) -> None:
    told = json.loads(
        run("ask", str(data), "coalesce(income, 0)", "--range", "0", "200000", "--guess", "40000", "--json").stdout
    )
    assert told["low"] < 40_000 < told["high"]
    refused = run("ask", str(data), "income / 2")
    assert refused.exit_code == 2
    assert "range" in refused.stderr


def test_noise_by_request(run: Run, data: Path, ledger: str) -> None:
    quoted = run("ask", str(data), OLD, "--guess", "0.17", "--noise", "--quote")
    assert quoted.exit_code == 0
    assert not Path(ledger).exists()
    told = json.loads(run("ask", str(data), OLD, "--guess", "0.17", "--noise", "--json").stdout)
    assert told["source"] == "noise"
    assert told["low"] <= told["value"] <= told["high"]
    assert json.loads(run("ask", str(data), "age > 30", "--guess", "0.8", "--json").stdout)["source"] != "noise"
    assert run("verify", "--ledger", ledger).exit_code == 0


def test_a_quote_changes_nothing(run: Run, data: Path, ledger: str) -> None:
    result = run("ask", str(data), OLD, "--guess", "0.17", "--asks", "9", "--quote")
    assert result.exit_code == 0
    assert "±" in result.stdout
    assert not Path(ledger).exists()
    run("ask", str(data), OLD, "--guess", "0.17", "--asks", "100")
    told = json.loads(run("ask", str(data), "age > 30", "--guess", "0.8", "--quote", "--json").stdout)
    assert (told["quote"]["index"], told["quote"]["repeat"]) == (2, False)
    assert json.loads(run("ask", str(data), OLD, "--quote", "--json").stdout)["quote"]["repeat"] is True
    assert json.loads(run("ask", str(data), "age > 30", "--guess", "0.8", "--json").stdout)["index"] == 2


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("agee > 65", "the columns are: age, plan, income, team"),
        ("age > 65; drop table people", "allowed are"),
        ("age > (select max(age) from people)", "allowed are"),
        ("read_csv('/etc/passwd') = 1", "allowed are"),
        ("plan > 3", "plan"),
        ("", "SQL"),
        ("((((", "could not be read"),
    ],
)
def test_hostile_and_wrong_questions_seal_nothing(run: Run, data: Path, ledger: str, question: str, says: str) -> None:
    result = run("ask", str(data), question, "--json")
    assert result.exit_code == 2
    assert result.stderr.startswith("Unaskable: ")
    assert says in result.stderr
    assert json.loads(result.stdout)["error"] == "Unaskable"
    assert not Path(ledger).exists()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--guess", "7"), "outside the question's range"),
        (("--guess-se", "0.1"), "Add --guess"),
        (("--confidence", "95"), "between 0 and 1"),
        (("--max-width", "-1"), "max_width"),
        (("--target", "label"), "no column 'label'"),
        (("--groups", "household"), "no column 'household'"),
        (("--train", "nowhere.csv"), "nowhere.csv"),
        (("--card", "no/such/folder/card.json"), "a folder that exists"),
    ],
)
def test_wrong_options_are_bad_input(run: Run, data: Path, ledger: str, arguments: tuple[str, ...], says: str) -> None:
    result = run("ask", str(data), "age > 65", *arguments)
    assert result.exit_code == 2
    assert says in result.stderr
    assert result.stdout == ""
    assert not Path(ledger).exists()


def test_a_missing_or_unreadable_file(run: Run, tmp_path: Path) -> None:
    missing = run("ask", str(tmp_path / "nowhere.csv"), "age > 65")
    assert missing.exit_code == 2
    assert "Check the path" in missing.stderr
    (tmp_path / "notes.txt").write_text("age\n1\n")
    assert ".parquet" in run("ask", str(tmp_path / "notes.txt"), "age > 65").stderr
    (tmp_path / "bad.parquet").write_bytes(b"not parquet")
    assert run("ask", str(tmp_path / "bad.parquet"), "age > 65").exit_code == 2


def test_exhausted_is_refused(run: Run, data: Path) -> None:
    wide = run("ask", str(data), "age > 65", "--guess", "0.3", "--max-width", "0.001", "--asks", "1")
    assert wide.exit_code == 3
    assert "\nExhausted: the next answer would be" in wide.stderr
    assert "\n  Raise max_width" in wide.stderr
    assert run("ask", str(data), "age > 65", "--guess", "0.3").exit_code == 0
    spent = run("ask", str(data), "age > 66", "--guess", "0.3")
    assert spent.exit_code == 3
    assert "all 1 planned asks are spent" in spent.stderr


def test_without_its_key_a_holdout_is_read_only(run: Run, data: Path, ledger: str) -> None:
    run("ask", str(data), "age > 65")
    shutil.rmtree(f"{ledger}.keys")
    result = run("ask", str(data), "age > 66")
    assert result.exit_code == 3
    assert "key" in result.stderr


def test_a_ledger_that_is_no_ledger(run: Run, data: Path, tmp_path: Path) -> None:
    result = run("ask", str(data), "age > 65", "--ledger", str(data))
    assert result.exit_code == 4
    assert "not a SQLite file" in result.stderr
    assert run("ask", str(data), "age > 65", "--ledger", "postgresql://host/db").exit_code == 4


def test_a_final_value_is_exact_and_closes_the_holdout(run: Run, data: Path) -> None:
    asked = json.loads(run("ask", str(data), OLD, "--guess", "0.17", "--json").stdout)
    quoted = run("ask", str(data), OLD, "--final", "--quote")
    assert quoted.exit_code == 0
    assert "closed" in quoted.stdout
    result = run("ask", str(data), OLD, "--final", "--yes")
    assert result.exit_code == 0
    assert "the exact value, as the last word" in result.stdout
    assert "at most ±" in result.stderr
    told = json.loads(run("ask", str(data), OLD, "--final", "--yes", "--json").stdout)
    assert (told["source"], told["index"], told["repeat"]) == ("final", 2, True)
    again = run("ask", str(data), OLD, "--final", said="")  # nobody need agree to what was done
    assert again.exit_code == 0
    assert "costs nothing" in again.stderr
    assert told["width"] < asked["width"]
    assert asked["low"] <= told["low"] <= told["high"] <= asked["high"]
    closed = run("ask", str(data), "age > 41", "--guess", "0.6")
    assert closed.exit_code == 3
    assert "closed" in closed.stderr
    listed = run("ledger", f"{data}.ledger.db").stdout
    assert "final" in listed.splitlines()[-1]


@pytest.mark.parametrize("said", ["n\n", ""])
def test_without_a_yes_the_holdout_stays_open(run: Run, data: Path, said: str) -> None:
    refused = run("ask", str(data), OLD, "--final", said=said)
    assert refused.exit_code == 2
    assert "left open" in refused.stderr
    assert run("ask", str(data), OLD, "--guess", "0.17").exit_code == 0
    assert run("ask", str(data), OLD, "--final", said="y\n").exit_code == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--final", "--guess", "0.2", "--yes"), "no --guess"),
        (("--final", "--again", "--yes"), "no --again"),
        (("--final", "--noise", "--yes"), "no --noise"),
        (("--yes",), "only --final"),
        (("--final", "--json"), "Add --yes"),
    ],
)
def test_final_options_that_do_not_go_together(run: Run, data: Path, options: tuple[str, ...], says: str) -> None:
    result = run("ask", str(data), OLD, *options)
    assert result.exit_code == 2
    assert says in result.stderr
    assert not Path(f"{data}.ledger.db").exists()
