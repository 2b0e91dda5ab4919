"""How a board is made: labels are sealed, a ledger is begun, and only then is there a board.toml."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unworn.basics.display import show_line
from unworn.basics.durable_files import write_durably
from unworn.boards.board import Board
from unworn.boards.board_config import OPTIONS, TEXT_GRADERS, BoardConfig
from unworn.boards.board_errors import GraderFailed, InvalidBoard, InvalidSubmission
from unworn.boards.board_questions import BoardQuestions
from unworn.boards.board_view import DATABASE, LEDGER, check_pools, count_parts, digest_of_ids, open_rows
from unworn.boards.files.board_toml import FILE, write_board_toml
from unworn.boards.files.prediction_shapes import needs_numbers
from unworn.boards.files.predictions_check import Predictions
from unworn.boards.files.right_answers import right_answers
from unworn.boards.files.sealed_labels import SealedLabels, refuse_second_budget, seal_labels
from unworn.boards.graders.own_grader import copy_grader
from unworn.boards.graders.text_graders import CANONICAL, canonical_texts, numbers_in_texts
from unworn.boards.label_classes import with_classes
from unworn.boards.scoring_rules import is_pairable, single_part
from unworn.boards.submission_table import open_tables
from unworn.errors import Mismatch, SecondLedger, UnwornError
from unworn.mechanisms.contract.conversation import check_question
from unworn.queries.composite import Composite, Question
from unworn.queries.metrics.paired_query import compare_questions
from unworn.queries.metrics.scored_query import Metric

_TRIED = 100
"""So many right answers a grader is tried on before anything is sealed."""


def create_board(
    folder: str | Path,
    labels: Any,
    *,
    id: str,
    target: str,
    metric: str = "accuracy",
    name: str | None = None,
    title: str | None = None,
    prediction: str | None = None,
    practice: float | None = None,
    rule: str = "practice-and-check",
    surprises_per_team: int = 5,
    pools: int = 1,
    confidence: float = 0.95,
    grader: str | None = None,
    tolerance: float = 0.0,
    relative_tolerance: float = 0.0,
    grader_seconds: float = 60.0,
    grader_megabytes: int = 1024,
    step: float | None = None,
    asks: int | None = None,
    kind: str | None = None,
    columns: Sequence[str] | None = None,
    mechanism: Mapping[str, Any] | None = None,
    max_bytes: int = 2**28,
    ledger: str | None = None,
    database: str | None = None,
    **options: Any,
) -> Board:
    """Seal labels behind a new board in ``folder``, which must not have one.

    ``labels`` is a file (CSV, Parquet, JSON lines), a frame or a dictionary of columns, with ``id`` and ``target``;
    ``columns`` are further ones to keep for ``where=``. ``options`` are the metric's: ``positive``, ``range``, ``k``,
    ``average``, ``classes``, ``where``, …. Half of the rows are for practice under the rule ``practice-and-check``,
    none under the others, unless ``practice`` says so.
    """
    home = Path(folder)
    if (home / FILE).exists():
        raise InvalidBoard(f"there is a board in {show_line(home)} already: choose another folder")
    _check_names(options)
    share = (0.5 if rule == "practice-and-check" else 0.0) if practice is None else practice
    config = BoardConfig(
        name=name or _name_of(home),
        title=title or name or _name_of(home),
        id=id,
        target=target,
        metric=metric,
        prediction=prediction or "prediction",
        rule=rule,
        practice=share,
        surprises_per_team=surprises_per_team,
        pools=pools,
        confidence=confidence,
        grader=_grader_name(grader),
        tolerance=tolerance,
        relative_tolerance=relative_tolerance,
        grader_seconds=grader_seconds,
        grader_megabytes=grader_megabytes,
        step=step,
        asks=asks,
        max_bytes=max_bytes,
        ledger=ledger,
        database=database,
        options={key: _listed(value) for key, value in options.items() if value is not None},
        mechanism=dict(mechanism or {}),
    )
    try:
        sealed, found = seal_labels(
            labels,
            id=id,
            target=target,
            kind="text" if grader else kind or ("number" if needs_numbers(config) else None),
            columns=columns,
            keep_all=columns is None and "where" in config.options,
            ledger=config.ledger or home / LEDGER,
        )
    except InvalidSubmission as why:
        raise InvalidBoard(f"the labels cannot be read: {why.message}") from None
    config, sealed = _with_references(replace(config, kind=found), sealed)
    config = with_classes(config, sealed)
    _make_folder(home)
    if config.is_own_grader and grader is not None:
        copy_grader(grader, home)
    questions = BoardQuestions(config, home)
    config = _with_step(config, questions, len(sealed.ids))
    sealed.save(home)
    try:
        _begin(home, config, sealed)
    except BaseException:
        (home / "labels.sealed").unlink(missing_ok=True)
        raise
    return Board(home)


def _make_folder(home: Path) -> None:
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        raise InvalidBoard(f"{show_line(home)} is a file: a board is a folder") from None
    except OSError as error:
        raise InvalidBoard(f"the folder {show_line(home)} cannot be made: {error.strerror}") from None


def _check_names(options: Mapping[str, Any]) -> None:
    settings = [part.name for part in fields(BoardConfig) if part.name not in ("options", "kind")]
    for name in options:
        if name not in OPTIONS:
            close = difflib.get_close_matches(name, [*settings, *OPTIONS], n=1)
            hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join([*settings, *OPTIONS])}"
            raise InvalidBoard(f"a board has no setting {name!r:.60}; {hint}", setting="options")


def _begin(home: Path, config: BoardConfig, sealed: SealedLabels) -> None:
    """Seal the rows, note what may not change, and write the file that makes the folder a board."""
    questions = BoardQuestions(config, home)
    try:
        question = questions.sample_question(len(sealed.ids))
        _rehearse(config, sealed, questions, question)
        holdout = open_rows(config, sealed, questions, config.ledger or home / LEDGER)
    except InvalidBoard:
        raise
    except Mismatch as why:
        raise refuse_second_budget(why) from None
    except (UnwornError, ValueError) as why:
        raise InvalidBoard(f"this board cannot be made: {why}") from None
    try:
        fixed = config.fixed()
        if config.is_own_grader:
            fixed["grader_code"] = questions.grader_digest
        table = open_tables(config.database or home / DATABASE, config.name)
        try:
            table.note(
                "board",
                {
                    "holdout": holdout.id,
                    "size": holdout.size,
                    "practice_size": holdout.terms.practice_size,
                    "parts": count_parts(question),
                    "span": _span(question),
                    "ids": digest_of_ids(sealed.ids),
                    "fixed": fixed,
                },
            )
        finally:
            table.close()
    finally:
        holdout.close()
    if not write_durably(home / FILE, write_board_toml(config).encode(), mode=0o644):
        raise InvalidBoard(f"there is a board in {show_line(home)} already: choose another folder")


def _rehearse(config: BoardConfig, sealed: SealedLabels, questions: BoardQuestions, question: Question) -> None:
    """Try it in memory first: rows are sealed for good, and what cannot be asked of them should seal nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecondLedger)
        rehearsed = open_rows(config, sealed, questions, None)
    try:
        if config.rule == "ladder" and config.step is None:
            question = compare_questions(question, question)
        for part in question.questions if isinstance(question, Composite) else (question,):
            check_question(rehearsed.mechanism, rehearsed._understand(part)[1])
        right = right_answers(config, sealed, questions)
        if right is not None:
            questions.check(rehearsed, right)
        if config.is_own_grader and right is not None:
            _try_grader(questions, right, sealed.columns[config.target])
        if config.rule == "mechanism" and not config.is_own_grader:
            # Whether it can be asked at all is public; what this copy in memory says is thrown away.
            rehearsed.ask(question if right is None else questions.question(right))
        check_pools(config.pools, rehearsed.terms.practice_size)
    except InvalidSubmission as why:
        raise InvalidBoard(f"the right answers could not be submitted: {why.numbers['problems'][0]}") from None
    finally:
        rehearsed.close()


def _try_grader(questions: BoardQuestions, right: Predictions, references: NDArray[Any]) -> None:
    """Run the organiser's own code on some right answers: what it says, and where it fails, is the organiser's."""
    try:
        questions.grader.grade(right.values[:_TRIED].tolist(), references[:_TRIED].tolist(), tells_why=True)
    except GraderFailed as failure:
        raise InvalidBoard(f"the grader fails on right answers: {failure.message}", setting="grader") from None


def _span(question: Question) -> float:
    """The length of the range of a loss; of shares, and of what is made of them, 1."""
    return question.bounds[1] - question.bounds[0] if isinstance(question, Metric) else 1.0


def _name_of(home: Path) -> str:
    bare = "".join(
        mark if (mark.isalnum() and mark.isascii()) or mark in "_.-" else "-" for mark in home.resolve().name
    )
    return bare.lstrip("_.-")[:64] or "board"


def _listed(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): each for key, each in value.items()}
    return (
        [each.item() if hasattr(each, "item") else each for each in value] if isinstance(value, list | tuple) else value
    )


def _grader_name(grader: str | None) -> str | None:
    if grader is None or grader in TEXT_GRADERS:
        return grader
    path, _, function = grader.rpartition(":")
    return f"{Path(path).name}:{function}" if path else grader


def _with_references(config: BoardConfig, sealed: SealedLabels) -> tuple[BoardConfig, SealedLabels]:
    """The references in the grader's form."""
    target, grader = config.target, config.grader
    if grader in CANONICAL:
        texts = canonical_texts(grader, sealed.columns[target].tolist())
        _check_references([name for name, text in zip(sealed.ids, texts.tolist(), strict=True) if not text], grader)
        return config, SealedLabels(sealed.ids, {**sealed.columns, target: texts})
    if grader == "numeric":
        numbers = numbers_in_texts(sealed.columns[target].tolist())
        _check_references([sealed.ids[place] for place in np.flatnonzero(~np.isfinite(numbers)).tolist()], grader)
        return replace(config, kind="number"), SealedLabels(sealed.ids, {**sealed.columns, target: numbers})
    return config, sealed


def _check_references(empty: list[str], grader: str) -> None:
    if empty:
        raise InvalidBoard(
            f"{len(empty):,} references say nothing to the grader {grader!r}, such as that of id {empty[0]!r:.60}: "
            "nobody could answer right"
        )


def _with_step(config: BoardConfig, questions: BoardQuestions, rows: int) -> BoardConfig:
    """The step of a ladder for a metric that cannot be compared row by row."""
    if config.rule != "ladder" or config.step is not None:
        return config
    question = questions.sample_question(rows)
    if is_pairable(question) or single_part(question) is None:
        return config
    from unworn.mechanisms import Ladder

    return replace(config, step=Ladder.for_(rows=max(rows, 100), asks=1000).step)
