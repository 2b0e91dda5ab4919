"""The lecture map leads somewhere: every import path, every claim, every command."""

from __future__ import annotations

import shlex
from typing import Any

import pytest
from typer.main import get_command

from tests.lab.lectures.lecture_outlines import OUTLINES
from unworn.cli import app
from unworn.lab.audit import catalogue
from unworn.lab.lectures.computed_numbers import computed_numbers
from unworn.lab.lectures.lecture_contract import Lecture, LectureRow, UnfitLecture, import_path
from unworn.lab.lectures.lecture_registry import lecture_named, lecture_numbers
from unworn.lab.papers.claim_registry import claim_files, claim_named

GIVEN: dict[str, Any] = {
    "section": "1",
    "kind": "theorem",
    "says": "It holds.",
    "ours": ("unworn.mechanisms.Naive",),
    "page": "mechanisms/naive.md",
}
NUMBERS = lecture_numbers()


def test_the_five_lectures_are_there() -> None:
    assert NUMBERS == ("000", "001", "002", "003", "004")


@pytest.mark.parametrize("number", NUMBERS)
def test_whatever_the_document_says_has_its_row(number: str) -> None:
    rows = lecture_named(number).rows
    said = [words for _, all_words in OUTLINES[number] for words in all_words]
    found = [[row for row in rows if words in row.says] for words in said]
    assert [words for words, there in zip(said, found, strict=True) if not there] == []
    reached = {row.says for there in found for row in there}
    assert [row.says for row in rows if row.says not in reached] == [], "a row of nothing that the document says"


@pytest.mark.parametrize("number", NUMBERS)
def test_no_row_can_be_dropped_unnoticed(number: str) -> None:
    rows = lecture_named(number).rows
    said = [words for _, all_words in OUTLINES[number] for words in all_words]
    for row in rows:
        others = [other for other in rows if other is not row]
        assert any(all(words not in other.says for other in others) for words in said), row.says


@pytest.mark.parametrize("number", NUMBERS)
def test_no_row_is_empty(number: str) -> None:
    rows = lecture_named(number).rows
    assert len(rows) >= 15
    assert len({(row.section, row.says) for row in rows}) == len(rows)
    for row in rows:
        assert row.ours or row.note.startswith("Not offered"), row.says
        assert row.page, row.says
        assert row.command or row.note.startswith("Not offered"), f"nothing to run: {row.says}"
        assert row.measured or row.note, f"no number: {row.says}"
        if row.kind in ("algorithm", "theorem", "exercise"):
            assert row.measured or row.erratum, f"no number: {row.says}"
        if row.erratum:
            assert any(letter.isdigit() for letter in row.erratum), f"no counterexample: {row.erratum}"


def test_the_errata_are_marked() -> None:
    assert {number: sum(bool(row.erratum) for row in lecture_named(number).rows) for number in NUMBERS} == {
        "000": 1,
        "001": 2,
        "002": 5,
        "003": 4,
        "004": 3,
    }


@pytest.mark.parametrize("number", NUMBERS)
def test_what_is_to_be_computed_is_computed(number: str) -> None:
    for row in lecture_named(number).rows:
        if row.command == f"unworn lab lecture {number} --compute":
            assert computed_numbers(number, row), row.says


@pytest.mark.parametrize("number", NUMBERS)
def test_every_import_path_leads_somewhere(number: str) -> None:
    for row in lecture_named(number).rows:
        for path in row.ours:
            assert import_path(path) is not None, path


@pytest.mark.parametrize("number", NUMBERS)
def test_every_claim_is_there_and_names_the_lecture(number: str) -> None:
    for row in lecture_named(number).rows:
        if row.claim:
            assert row.claim in claim_files(), row.claim
            assert any(text.startswith(number) for text in claim_named(row.claim).lectures), (number, row.claim)


@pytest.mark.parametrize("number", NUMBERS)
def test_every_command_is_one_of_ours(number: str) -> None:
    commands: Any = get_command(app)
    for row in lecture_named(number).rows:
        if not row.command:
            continue
        _, verb, *more = shlex.split(row.command)
        assert verb in commands.commands, row.command
        group = getattr(commands.commands[verb], "commands", None)
        assert group is None or more[0] in group, row.command
        if (verb, *more[:1]) == ("lab", "run"):
            assert more[1] in claim_files(), row.command
        if verb == "audit" and not more[0].startswith("-"):
            assert more[0] in catalogue(), row.command
        if "--help" not in more:
            check_options(commands.commands[verb] if group is None else group[more.pop(0)], more)


def check_options(command: Any, words: list[str]) -> None:
    """Ends in an error if the command has no such option, or not so many arguments."""
    _, left, _ = command.make_parser(command.context_class(command)).parse_args(list(words))
    assert not left


def test_an_option_that_is_not_there_is_seen() -> None:
    commands: Any = get_command(app)
    check_options(commands.commands["plan"], ["--rows", "10"])
    for words, why in ((["--rowz", "10"], "No such option"), (["--rows"], "requires an argument")):
        with pytest.raises(Exception, match=why):
            check_options(commands.commands["plan"], words)


def test_lectures_of_claims_are_among_the_five() -> None:
    for name in claim_files():
        assert {text[:3] for text in claim_named(name).lectures} <= {"000", "001", "002", "003", "004"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "lemma"},
        {"section": " "},
        {"says": ""},
        {"ours": ("numpy.array",)},
        {"ours": "unworn.mechanisms.Naive"},
        {"ours": (), "note": ""},
        {"page": ""},
        {"page": "docs/../index.md"},
        {"page": "https://example.org"},
        {"command": "rm -r bench/"},
    ],
)
def test_a_row_says_all_there_is_to_say(wrong: dict[str, Any]) -> None:
    with pytest.raises(UnfitLecture):
        LectureRow(**{**GIVEN, **wrong})


def test_a_row_with_a_claim_has_its_command() -> None:
    assert LectureRow(**GIVEN, claim="boosting").command == "unworn lab run boosting"
    assert LectureRow(**GIVEN, claim="boosting", command="unworn demo").command == "unworn demo"


@pytest.mark.parametrize("path", ["unworn.mechanisms.Nothing", "unworn.nothing.at.all", "os.path", "unworn"])
def test_a_path_that_leads_nowhere_is_refused(path: str) -> None:
    with pytest.raises(UnfitLecture):
        import_path(path)


def test_rows_are_shown_by_section_in_the_lectures_order() -> None:
    rows = tuple(LectureRow(**{**GIVEN, "section": name}) for name in ("b", "a", "b"))
    assert {name: len(found) for name, found in Lecture("000", "t", "s", rows).sections.items()} == {"b": 2, "a": 1}
    assert list(Lecture("000", "t", "s", rows).sections) == ["b", "a"]
    with pytest.raises(UnfitLecture):
        Lecture("24", "t", "s", rows)
    with pytest.raises(UnfitLecture, match="there is no lecture"):
        lecture_named("999")
