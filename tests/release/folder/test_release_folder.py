"""A release in a folder: it comes back whole, and anything that was touched is noticed."""

from __future__ import annotations

import csv
import io
import json
import shutil
import zipfile
from collections.abc import Callable
from contextlib import closing
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

from unworn import Unaskable, UnwornError, charts, col, share
from unworn.basics.json_text import write_json
from unworn.errors import MissingExtra, Tampered
from unworn.ledger import MemoryStore, open_store
from unworn.release import Release, fit
from unworn.release.folder.array_file import expected_arrays
from unworn.release.folder.packing import digest
from unworn.release.folder.release_folder import check_sheets, is_release
from unworn.release.folder.spreadsheets import file_name, write_cell
from unworn.release.methods.mwem import MWEM
from unworn.release.problem import Problem
from unworn.universe.domain.domain import OTHER, Bins, Domain
from unworn.universe.workload import Both, Conjunctions, Marginals, Ranges, Shares, Thresholds

ROWS = 3_000
DOMAIN = Domain(
    {
        "age": Bins([0, 30, 60, None], whole=True),
        "plan": ["basic", "pro, plus", 'say "hi"', OTHER, None],
        "paid": [False, True],
        "joined": [date(2024, 1, 1), datetime(2024, 6, 1, 12)],
        "../we ird\n/名": [0.5, 1, 2],
    }
)


def people(rows: int = ROWS, seed: int = 1) -> pandas.DataFrame:
    rng = np.random.default_rng(seed)
    return pandas.DataFrame(
        {
            "age": rng.integers(0, 90, rows),
            "plan": rng.choice(np.array(["basic", "pro, plus", 'say "hi"', "rare", None], dtype=object), rows),
            "paid": rng.random(rows) < 0.3,
            "joined": pandas.to_datetime(rng.choice(["2024-01-01T00", "2024-06-01T12"], rows)),
            "../we ird\n/名": rng.choice([0.5, 1.0, 2.0], rows),
        }
    )


def made(workload: Any = 2, **options: Any) -> Release:
    fixed = {"method": MWEM(rounds=3), "epsilon": 1.0, "delta": 1e-9, "domain": DOMAIN, "ledger": None}
    options = {**fixed, **options}
    return fit(options.pop("frame", people()), workload, **options)


@pytest.fixture(scope="module")
def release() -> Release:
    return made()


@pytest.fixture(scope="module")
def saved(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return release.save(tmp_path_factory.mktemp("saved") / "deep" / "release", rows=500)


@pytest.fixture
def folder(saved: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(saved, tmp_path / "release"))


def same(one: Release, other: Release) -> None:
    assert other.certificate == one.certificate
    assert other.problem == one.problem
    assert other.method == one.method
    assert other.intervals.sample_error == one.intervals.sample_error
    for place in range(len(one.problem.blocks)):
        ours, theirs = one.intervals.block(place), other.intervals.block(place)
        for name in ("values", "errors", "lows", "highs"):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=0, atol=2 / ROWS)
    assert digest(*other.content) == one.certificate.said["digest"]


# ---------------------------------------------------------------------- there and back


def test_what_is_saved_comes_back(release: Release, saved: Path, tmp_path: Path) -> None:
    again = Release.load(saved)
    same(release, again)
    question = share((col("age") >= 30) & col("paid"))
    assert again.answer(question).value == pytest.approx(release.answer(question).value, abs=1e-12)
    assert isinstance(again.sample(5), pandas.DataFrame)
    # A copy of a copy is still what was signed.
    same(release, Release.load(again.save(tmp_path / "again")))


@pytest.mark.parametrize(
    ("workload", "options"),
    [
        (Marginals(2, ("paid", "plan")) + Thresholds("age"), {"method": "gaussian"}),
        (Marginals(2), {"method": "projection", "domain": DOMAIN.only(["age", "paid", "plan"])}),
        (Marginals(1), {"method": "laplace", "delta": 0.0}),
        (Conjunctions(1), {"method": "mwem"}),
        (Ranges("age") + Shares([share(col("paid")), share(col("paid") & (col("age") < 60))]), {"method": "mwem"}),
        (Thresholds("age"), {"method": "thresholds", "domain": DOMAIN.only(["age"])}),
        (Thresholds("age"), {"method": "thresholds"}),
        (1, {"method": "averaged-mwem", "domain": DOMAIN.only(["age", "paid"])}),
        (1, {"method": "small-db", "domain": DOMAIN.only(["paid"])}),
    ],
    ids=lambda each: each["method"] if isinstance(each, dict) else "",
)
def test_every_kind_of_release_comes_back(workload: Any, options: dict[str, Any], tmp_path: Path) -> None:
    release = made(workload, **options)
    again = Release.load(release.save(tmp_path / "out", rows=50))
    same(release, again)
    assert check_sheets(tmp_path / "out", again)


def test_a_distribution_in_factors_comes_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    frame = {f"c{place:02}": rng.integers(0, 4, 2_000) for place in range(14)}
    domain = {name: range(4) for name in frame}
    release = fit(frame, 2, epsilon=1.0, delta=1e-9, domain=domain, method=MWEM(rounds=4), ledger=None)
    assert release.content[0]["model"]["kind"] == "factored"
    again = Release.load(release.save(tmp_path / "out", rows=20))
    for axes in [(0, 1), (5,), (2, 9)]:
        np.testing.assert_allclose(again.model.table(axes), release.model.table(axes), atol=1e-12)
    assert len(again.sample(7)["c00"]) == 7
    assert check_sheets(tmp_path / "out", again)


def test_more_than_a_thousand_files_have_names_of_their_own() -> None:
    names = [file_name(place, 4, ["a", "b"]) for place in range(1, 2_000)]
    assert len(set(names)) == len(names)
    hostile = file_name(1, 1, ["../../etc/passwd", "CON", "x" * 300, "\0"])
    assert hostile == "1-etc-passwd-con-" + "x" * 25 + ".csv"


# ---------------------------------------------------------------------- what is in it


def test_the_folder_has_what_the_readme_says(release: Release, saved: Path) -> None:
    present = {path.name for path in saved.iterdir()}
    assert present == {
        *("README.md", "answers", "arrays.npz", "certificate.json", "errors.csv", "errors.svg"),
        *("release.json", "rows.csv", "tables"),
    }
    readme = (saved / "README.md").read_text()
    for name in present - {"README.md"}:
        assert f"`{name}" in readme
    assert f"{release.problem.questions:,} questions about 3,000 rows" in readme
    assert "2.72 times as likely" in readme
    assert "one in 1,000,000,000" in readme
    assert release.certificate.said["public_key"] in readme
    for assumption in release.certificate.assumptions:
        assert assumption in readme
    assert not list(saved.parent.glob(".*"))  # nothing unfinished is left beside it


def test_rows_are_the_releases_own_and_read_back(release: Release, saved: Path) -> None:
    lines = list(csv.DictReader(io.StringIO((saved / "rows.csv").read_text())))
    drawn = Release.load(saved).sample(500)
    assert len(lines) == 500
    assert set(lines[0]) == set(DOMAIN.names)
    assert [line["paid"] for line in lines] == [str(value).lower() for value in drawn["paid"]]
    assert [line["plan"] for line in lines] == [
        value or "" for value in drawn["plan"].astype(object).where(drawn["plan"].notna(), "")
    ]
    read = pandas.read_csv(saved / "rows.csv")
    assert read["age"].dtype.kind == "i"
    assert read["paid"].dtype == bool
    assert set(read["joined"]) == {"2024-01-01", "2024-06-01T12:00:00"}
    # What is read back lies in the domain: missing where it may be, and nowhere else.
    assert set(read["plan"].dropna()) <= {"basic", "pro, plus", 'say "hi"', "(other)"}


def test_tables_hold_the_noisy_counts(release: Release, saved: Path) -> None:
    index = list(csv.DictReader(io.StringIO((saved / "tables" / "index.csv").read_text())))
    assert len(index) == len(release.outcome.measured) == 3
    for line, each in zip(index, release.outcome.measured, strict=True):
        cells = list(csv.DictReader(io.StringIO((saved / "tables" / line["file"]).read_text())))
        assert [int(cell["noisy_count"]) for cell in cells] == each.counts.reshape(-1).tolist()
        assert float(line["scale"]) == pytest.approx(each.scale, rel=1e-5)
        labels = [DOMAIN.labels(DOMAIN.names[axis]) for axis in each.axes]
        assert list(cells[-1].values())[:-1] == [label[-1] for label in labels]


def test_answers_and_errors_hold_what_is_promised(release: Release, saved: Path) -> None:
    errors = list(csv.DictReader(io.StringIO((saved / "errors.csv").read_text())))
    assert len(errors) == len(release.problem.blocks)
    assert max(float(line["sample_error"]) for line in errors) == pytest.approx(
        release.certificate.sample_error, rel=1e-4
    )
    for place, line in enumerate(errors):
        told = list(csv.DictReader(io.StringIO((saved / line["file"]).read_text())))
        known = release.intervals.block(place)
        np.testing.assert_allclose([float(cell["share"]) for cell in told], known.values, atol=1e-5)
        np.testing.assert_allclose([float(cell["high"]) for cell in told], known.highs, atol=2 / ROWS)


def test_questions_that_are_no_cells_are_worded(tmp_path: Path) -> None:
    asked = Thresholds("age") + Ranges("age") + Shares([share(col("paid"))]) + Conjunctions(1)
    folder = made(asked).save(tmp_path / "out", rows=1)
    files = [line["file"] for line in csv.DictReader(io.StringIO((folder / "errors.csv").read_text()))]
    first = [(folder / file).read_text().splitlines() for file in files]
    assert [lines[0].split(",share")[0] for lines in first] == [
        "age at most",
        "age from,age to",
        "question",
        "question",
    ]
    assert first[0][1].startswith('"[0, 30)",')
    assert first[1][-1].startswith('"[60, inf)","[60, inf)",')
    assert first[2][1].startswith("share of paid,")
    assert first[3][1].startswith("paid,")


def test_a_column_may_be_called_like_ours(tmp_path: Path) -> None:
    frame = {name: np.arange(400) % 2 for name in ("noisy_count", "share", "low", "count")}
    release = fit(
        frame, 2, epsilon=1.0, delta=1e-9, domain={name: [0, 1] for name in frame}, method=MWEM(rounds=2), ledger=None
    )
    folder = release.save(tmp_path / "out", rows=1)
    for path in folder.rglob("*.csv"):
        headers = next(csv.reader(io.StringIO(path.read_text())))
        assert len(set(headers)) == len(headers)
    assert check_sheets(folder, Release.load(folder))


def test_rows_as_parquet(release: Release, tmp_path: Path) -> None:
    folder = release.save(tmp_path / "out", rows=40, parquet=True)
    assert not (folder / "rows.csv").exists()
    assert len(pandas.read_parquet(folder / "rows.parquet")) == 40
    assert check_sheets(folder, Release.load(folder))


def test_without_the_extra_there_is_no_figure_and_it_says_so(
    release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(charts, "available", lambda: False)
    folder = release.save(tmp_path / "out", rows=1)
    assert not (folder / "errors.svg").exists()
    assert "unworn[plot]" in (folder / "README.md").read_text()
    assert check_sheets(folder, Release.load(folder))


def test_neither_key_nor_rows_are_in_it(tmp_path: Path) -> None:
    store = MemoryStore()
    secret = "a name that only one row has"
    frame = people().assign(name=[f"person {place}" for place in range(ROWS - 1)] + [secret])
    folder = made(frame=frame, ledger=store).save(tmp_path / "out")
    (identity,) = store.holdouts()
    key = store.key(identity)
    assert key is not None
    hidden = [key.derive("unworn/noise"), key.derive("unworn/rows"), secret.encode(), b"person 17"]
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert not any(piece in content or piece.hex().encode() in content for piece in hidden), path
    with zipfile.ZipFile(folder / "arrays.npz") as archive:
        inside = b"".join(archive.read(name) for name in archive.namelist())
    assert not any(piece in inside for piece in hidden)


# ---------------------------------------------------------------------- where it may be written


def test_other_folders_are_never_written_into(release: Release, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(UnwornError, match="holds a release already"):
        release.save(folder)
    release.save(folder, rows=3, overwrite=True)
    assert (folder / "rows.csv").read_text().count("\n") == 3 + 2  # a column's name has one
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(UnwornError, match="holds other files"):
        release.save(folder, overwrite=True)
    assert (folder / "notes.txt").read_text() == "mine"
    (tmp_path / "file").write_text("")
    with pytest.raises(UnwornError, match="is a file"):
        release.save(tmp_path / "file")
    (tmp_path / "empty").mkdir()
    assert is_release(release.save(tmp_path / "empty", rows=1))


def test_what_fails_on_the_way_leaves_nothing(
    release: Release, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("no ink")

    monkeypatch.setattr(charts, "save", fail)
    before = (folder / "rows.csv").read_bytes()
    with pytest.raises(RuntimeError, match="no ink"):
        release.save(folder, rows=2, overwrite=True)
    with pytest.raises(RuntimeError, match="no ink"):
        release.save(tmp_path / "new", rows=2)
    assert (folder / "rows.csv").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["release"]


@pytest.mark.parametrize("rows", [0, -1, True, 2.5, "many"])
def test_numbers_of_rows_that_are_none(release: Release, tmp_path: Path, rows: Any) -> None:
    with pytest.raises(ValueError, match="whole number from 1"):
        release.save(tmp_path / "out", rows=rows)
    assert not (tmp_path / "out").exists()


def test_parquet_that_cannot_be_written(release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"unworn\[sql\]"):
        release.save(tmp_path / "out", parquet=True)


def test_a_distribution_that_was_changed_is_not_saved(tmp_path: Path) -> None:
    release = made(1)
    release.model.tilt((0,), np.array([0.0, 0.0, 1.0]))
    with pytest.raises(Tampered, match="changed after it was made"):
        release.save(tmp_path / "out")


# ---------------------------------------------------------------------- what was touched


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    data = json.loads(path.read_text())
    told = change(data)
    path.write_text(write_json(data if told is None else told))


def repack(folder: Path, change: Callable[[dict[str, Any]], None], **options: Any) -> None:
    with np.load(folder / "arrays.npz") as file:
        arrays = dict(file)
    change(arrays)
    np.savez_compressed(folder / "arrays.npz", **arrays)


CERTIFICATES: dict[str, Callable[[Any], Any]] = {
    "less epsilon": lambda card: card.update(epsilon=0.1),
    "smaller error": lambda card: card.update(sample_error=1e-9),
    "other assumptions": lambda card: card.update(assumptions=[]),
    "more rows": lambda card: card.update(rows=10**6),
    "other digest": lambda card: card.update(digest="00" * 32),
    "no terms": lambda card: card.pop("terms") and None,
    "other terms": lambda card: card["terms"]["body"].update(confidence=0.5),
    "no signature": lambda card: card.update(signature=""),
    "another format": lambda card: card.update(format="unworn certificate 1"),
    "a list": lambda card: [],
}


@pytest.mark.parametrize("change", CERTIFICATES.values(), ids=CERTIFICATES)
def test_a_changed_certificate(folder: Path, change: Callable[[Any], Any]) -> None:
    edit(folder / "certificate.json", change)
    with pytest.raises(Tampered):
        Release.load(folder)


CONTENTS: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda told: told["structure"]["numbers"].update(rounds=99),
    "no model": lambda told: told["structure"].update(model=None),
    "another model": lambda told: told["structure"]["model"].update(kind="pickle"),
    "factors": lambda told: told["structure"].update(model={"kind": "factored", "limit": 10**18, "axes": [[0, 1]]}),
    "answers": lambda told: told["structure"].update(answers=True),
    "less measured": lambda told: told["structure"]["measured"].pop() and None,
    "wild columns": lambda told: told["structure"]["measured"][0].update(axes=[0, 99]),
    "columns that are none": lambda told: told["structure"]["measured"][0].update(axes="ab"),
    "scale": lambda told: told["structure"]["measured"][0].update(scale=1.0),
    "no structure": lambda told: told.pop("structure") and None,
    "structure is a list": lambda told: told.update(structure=[]),
    "format": lambda told: told.update(format="other"),
    "a list": lambda told: [],
}


@pytest.mark.parametrize("change", CONTENTS.values(), ids=CONTENTS)
def test_changed_content(folder: Path, change: Callable[[Any], Any]) -> None:
    edit(folder / "release.json", change)
    with pytest.raises(Tampered):
        Release.load(folder)


ARRAYS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "one error": lambda arrays: arrays["errors_0"].__setitem__(0, 0.0),
    "one count": lambda arrays: np.add.at(arrays["measured_0"].reshape(-1), 0, 1),
    "one weight": lambda arrays: arrays["model"].reshape(-1).__setitem__(0, 0.5),
    "not numbers": lambda arrays: arrays["errors_0"].__setitem__(0, np.nan),
    "another type": lambda arrays: arrays.update(errors_0=arrays["errors_0"].astype(np.float32)),
    "another order": lambda arrays: arrays.update(errors_0=arrays["errors_0"].astype(">f8")),
    "another shape": lambda arrays: arrays.update(errors_0=arrays["errors_0"][:-1]),
    "one less": lambda arrays: arrays.pop("errors_0"),
    "one more": lambda arrays: arrays.update(more=np.zeros(3)),
    "objects": lambda arrays: arrays.update(errors_0=np.array([print] * len(arrays["errors_0"]), dtype=object)),
}


@pytest.mark.parametrize("change", ARRAYS.values(), ids=ARRAYS)
def test_changed_arrays(folder: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    repack(folder, change)
    with pytest.raises(Tampered):
        Release.load(folder)


def test_a_bomb_is_not_unpacked(folder: Path) -> None:
    """A gigabyte of zeros in a small file is refused by what the terms allow, before it is unpacked."""
    with np.load(folder / "arrays.npz") as file:
        names = list(file)
    with zipfile.ZipFile(folder / "arrays.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name in names:
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                for _ in range(64 if name == "errors_0" else 1):
                    member.write(bytes(2**20))
    with pytest.raises(Tampered, match="larger than it can be"):
        Release.load(folder)


@pytest.mark.parametrize("name", ["certificate.json", "release.json", "arrays.npz"])
@pytest.mark.parametrize("content", [None, b"", b"{", b"[" * 100_000, b"\xff\xfe", b"PK\x03\x04", b"null"])
def test_missing_and_broken_files(folder: Path, name: str, content: bytes | None) -> None:
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(Tampered):
        Release.load(folder)


def test_a_cut_archive(folder: Path) -> None:
    whole = (folder / "arrays.npz").read_bytes()
    for length in (len(whole) // 2, len(whole) - 10):
        (folder / "arrays.npz").write_bytes(whole[:length])
        with pytest.raises(Tampered):
            Release.load(folder)


def test_no_flipped_byte_changes_what_is_read(release: Release, folder: Path) -> None:
    """A byte may be one that says nothing (the time a file was packed); else the file is refused."""
    whole, refused = (folder / "arrays.npz").read_bytes(), 0
    for place in range(0, len(whole), len(whole) // 40):
        broken = bytearray(whole)
        broken[place] ^= 0xFF
        (folder / "arrays.npz").write_bytes(bytes(broken))
        try:
            same(release, Release.load(folder))
        except Tampered:
            refused += 1
    assert refused > 20


def test_content_of_another_release(folder: Path, tmp_path: Path) -> None:
    other = made(frame=people(seed=2)).save(tmp_path / "other", rows=1)
    for name in ("arrays.npz", "release.json"):
        shutil.copy(other / name, folder / name)
    with pytest.raises(Tampered, match="is not what its certificate signs"):
        Release.load(folder)


@pytest.mark.parametrize("where", ["rows.csv", "errors.csv", "tables/index.csv", "tables", "answers"])
def test_sheets_that_were_touched(folder: Path, where: str) -> None:
    release = Release.load(folder)
    path = folder / where
    path = sorted(path.iterdir())[0] if path.is_dir() else path
    text = path.read_text()
    path.write_text(text + "1,2,3\n")
    with pytest.raises(Tampered, match="is not what this release gives"):
        check_sheets(folder, release)
    path.write_text(text[:-2] + ("9" if text[-2] != "9" else "8") + "\n")
    with pytest.raises(Tampered, match="is not what this release gives"):
        check_sheets(folder, release)
    path.write_text(text)
    assert check_sheets(folder, release)
    if where != "rows.csv":  # a folder without rows is one that was saved with Parquet
        path.unlink()
        with pytest.raises(Tampered):
            check_sheets(folder, release)


def test_files_that_nobody_signed(folder: Path) -> None:
    (folder / "tables" / "more.csv").write_text("a\n1\n")
    with pytest.raises(Tampered, match=r"not part of the release: tables/more\.csv"):
        check_sheets(folder, Release.load(folder))


@pytest.mark.parametrize("rows", [0, -3, True, "x", 10**12])
def test_a_number_of_rows_that_cannot_be(folder: Path, rows: Any) -> None:
    edit(folder / "release.json", lambda told: told.update(rows=rows))
    with pytest.raises(Tampered, match="has no number of rows"):
        check_sheets(folder, Release.load(folder))


def test_an_unknown_library_is_a_dictionary(folder: Path) -> None:
    edit(folder / "release.json", lambda told: told.update(backend="os; rm -rf"))
    assert isinstance(Release.load(folder).sample(3), dict)


def test_no_folder_at_all(tmp_path: Path) -> None:
    with pytest.raises(UnwornError, match="there is no folder"):
        Release.load(tmp_path / "nowhere")
    with pytest.raises(Tampered, match=r"no certificate\.json"):
        Release.load(tmp_path)


def test_terms_that_are_signed_but_cannot_be(release: Release, folder: Path) -> None:
    """Anyone can sign with a key of their own, so what is signed is not trusted to be possible."""
    from unworn.ledger import GENESIS, Entry, Key
    from unworn.release.release_certificate import ReleaseCertificate

    key = Key.new()

    def signed(**changes: Any) -> None:
        body = json.loads(json.dumps(release.certificate.first.body))
        body["public"] = key.public
        said = {**release.certificate.said, **changes, "public_key": key.public}
        body["mechanism"].update({name: value for name, value in changes.items() if name in body["mechanism"]})
        entry = Entry.seal("00" * 16, 0, GENESIS, body, key)
        ReleaseCertificate.sign(entry, said, key).save(folder / "certificate.json")

    signed()
    assert Release.load(folder).problem == release.problem  # the same terms under another key are a release
    many = {f"c{place}": [0, 1] for place in range(70)}
    for changes, says in (
        ({"sample_error": 0.5 * release.certificate.sample_error}, "promises a sample error"),
        ({"population_error": 0.5 * release.certificate.population_error}, "promises a population error"),
        ({"population_error": "nan"}, "promises a population error"),
        ({"workload": {"workload": "marginals", "ways": 35, "among": None}, "domain": many}, "sets of 35"),
        ({"domain": {}}, "no release that could be"),
        ({"epsilon": -1.0}, "."),
        ({"method": {"method": "MWEM", "rounds": "many"}}, "do not fit"),
        ({"method": {"method": "os.system"}}, "no method"),
        ({"digest": 7}, "not what its certificate signs"),
    ):
        signed(**changes)
        with pytest.raises(Tampered, match=says):
            Release.load(folder)


def test_sizes_follow_from_the_terms(release: Release) -> None:
    structure, arrays = release.content
    wanted = expected_arrays(release.problem, structure)
    assert {name: (array.dtype.str, array.shape) for name, array in arrays.items()} == wanted
    columns = [f"x{place}" for place in range(20)]
    every = Both(tuple(Ranges(name) for name in columns))
    wide = Problem(10, Domain({name: range(5_700) for name in columns}), every, 1.0, 0.0)
    with pytest.raises(Tampered, match="would take 2,599,656,000 bytes"):
        expected_arrays(wide, {"model": None, "answers": False, "measured": []})


def test_a_cell_is_quoted_where_it_must_be() -> None:
    for text in ("plain", "a,b", 'say "x"', "two\nlines", " space ", "", "0"):
        assert next(csv.reader(io.StringIO(write_cell(text)))) == [text]


# ---------------------------------------------------------------------- in a notebook


def test_how_a_release_looks(release: Release) -> None:
    shown = release._repr_html_()
    assert "Release" in shown
    assert "ε = 1" in shown
    assert "10 tables" in shown
    hostile = made(1, name="<script>alert(1)</script>")._repr_html_()
    assert "<script>" not in hostile
    assert "&lt;script&gt;" in hostile


def test_a_release_in_a_file_ledger_is_the_same_again(tmp_path: Path) -> None:
    ledger = str(tmp_path / "ledger.db")
    first = made(ledger=ledger).save(tmp_path / "one", rows=9)
    again = made(ledger=ledger).save(tmp_path / "two", rows=9)
    for path in first.rglob("*"):
        if path.is_file() and path.name != "arrays.npz":
            assert path.read_bytes() == (again / path.relative_to(first)).read_bytes()
    with closing(open_store(ledger)) as store:
        assert len(store.holdouts()) == 1


def test_rows_outside_the_domain_make_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(Unaskable, match="outside the domain"):
        made(domain=Domain({"age": Bins([0, 10]), "paid": [False, True]}), ledger=str(tmp_path / "ledger.db"))
    assert not (tmp_path / "ledger.db").exists()
