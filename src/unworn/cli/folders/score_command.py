"""``unworn score``: a file of predictions against a file of labels, joined by id, without a server."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from unworn.cli.card_option import check_card, save_card
from unworn.cli.folders.board_commands import plain_value
from unworn.cli.ledger_lookup import ledger_path, open_ledger, place_of_url
from unworn.cli.output import SOURCES, BadInput, Json, complain, emit, exit_code, note, number, percent, say
from unworn.cli.sealed_rows import RowOptions, check_file, ledger_beside, rehearsal
from unworn.errors import Mismatch, Unaskable
from unworn.holdout import Holdout
from unworn.rows.reading.given_data import drop_columns, read_given

_MOST = 2**33


def score(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="The labels: CSV or Parquet.")],
    predictions: Annotated[Path, typer.Argument(metavar="PREDS", help="CSV, JSON lines or Parquet.")],
    id: Annotated[str, typer.Option(help="The column that both files have in common.")],
    target: Annotated[str, typer.Option(help="The column of labels.")] = "label",
    metric: Annotated[
        str, typer.Option(help="accuracy, f1, roc_auc, log_loss, mae, …: docs/questions.md.")
    ] = "accuracy",
    prediction: Annotated[str, typer.Option(help="The column of predictions.")] = "prediction",
    positive: Annotated[str | None, typer.Option(help="The positive class.")] = None,
    classes: Annotated[str | None, typer.Option(help="All classes, with commas between.")] = None,
    range: Annotated[
        tuple[float, float] | None, typer.Option(metavar="LOW HIGH", help="The range of losses that matters.")
    ] = None,
    k: Annotated[int | None, typer.Option(help="top_k_accuracy: how many guesses count.")] = None,
    where: Annotated[str | None, typer.Option(help="Score only rows where this holds.")] = None,
    guess: Annotated[
        float | None, typer.Option(help="What you expect; practice rows guess where there are some.")
    ] = None,
    ledger: Annotated[
        str | None, typer.Option(metavar="FILE|URL", help="Where answers are recorded.  [default: DATA.ledger.db]")
    ] = None,
    label: Annotated[str | None, typer.Option(help="What the predictions are called.")] = None,
    by: Annotated[str | None, typer.Option(help="Who asks.")] = None,
    card: Annotated[Path | None, typer.Option(help="Save the certificate here.")] = None,
    json: Json = False,
) -> None:
    """Score predictions on the rows of a file, and get an interval that holds together with all that was asked before.

    The first time, the labels are sealed in a ledger beside them, and where there are at least 500 rows, a part of
    them is set aside for practice: it makes the guesses, and the rest confirms them. Scoring the same predictions
    again is free.

    \b
    Examples:
      unworn score labels.csv preds.csv --id id --target label
      unworn score labels.parquet preds.parquet --id id --target price --metric mae --range 0 100
    """
    check_file(data, "data file")
    check_file(predictions, "file of predictions")
    where_kept = ledger or ledger_beside(str(data))
    check_card(card, where_kept)
    options: dict[str, Any] = {
        "positive": None if positive is None else plain_value(positive),
        "classes": None if classes is None else [plain_value(each.strip()) for each in classes.split(",")],
        "range": None if range is None else list(range),
        "k": k,
        "where": where,
    }
    options = {name: value for name, value in options.items() if value is not None}
    given = RowOptions(str(data), target)
    _check_no_board(data, id, target, where_kept)
    with ExitStack() as stack:
        try:
            holdout = _opened(stack, given, id, where_kept)
        except Mismatch as error:
            if ledger is not None or not error.numbers.get("same"):
                raise
            where_kept = place_of_url(error.numbers["ledger"])  # nobody named a ledger: the one that has these rows
            holdout = _opened(stack, given, id, where_kept)
        stack.callback(holdout.close)
        array = _joined(holdout, data, predictions, id, target, prediction, metric, options)
        before = holdout.meter.asked
        answer = holdout.score(array, guess, metric=metric, name=label, by=by, **options)
        parts: tuple[Any, ...] = getattr(answer, "parts", (answer,))
        unsaved = save_card(parts[0], card) if len(parts) == 1 else _several(card)
        told = _document(answer, parts, holdout, where_kept, repeat=parts[-1].index <= before)
        if json:
            emit(told)
        else:
            _print(told)
        if unsaved is not None:
            complain(unsaved, as_json=False)
            raise typer.Exit(exit_code(unsaved))


def _check_no_board(data: Path, id: str, target: str, where: str) -> None:
    """Refuse labels that are sealed behind a board, which keeps them in the order of their ids."""
    from unworn.boards.board_errors import InvalidBoard, InvalidSubmission
    from unworn.boards.files.sealed_labels import label_frame, seal_labels
    from unworn.holdout.rows_ledger import check_unsealed

    path = ledger_path(where)
    if path is None or os.path.exists(path):
        return
    try:
        labels, _ = seal_labels(data, id=id, target=target)
    except (InvalidBoard, InvalidSubmission):
        return  # no board could have them; what is wrong with them, if anything, is said when they are joined
    try:
        check_unsealed(label_frame(labels), where)
    except Mismatch as error:
        raise Mismatch(
            f"{error.message}\n  Behind a board, the board scores them: unworn board submit BOARD PREDS --team NAME.",
            **error.numbers,
        ) from None


def _opened(stack: ExitStack, given: RowOptions, id: str, where: str) -> Holdout:
    """The rows of the file; without its ids where other rows have the same: 0, 1, 2, … stand in many files."""
    try:
        return _opened_as(stack, given, where)
    except Mismatch as error:
        if error.numbers.get("same") or error.numbers.get("part"):  # those very rows, and not only their ids
            raise
        bare = drop_columns(read_given(given.data).native, [id])
        try:
            return _opened_as(stack, replace(given, rows=bare), where)
        except Mismatch:
            raise error from None


def _opened_as(stack: ExitStack, given: RowOptions, where: str) -> Holdout:
    path = ledger_path(where)
    if path is not None and not os.path.exists(path):
        given.open(rehearsal(where)).close()  # what cannot be sealed makes no ledger
    with ExitStack() as own:
        holdout = given.open(own.enter_context(open_ledger(where)))
        stack.push(own.pop_all())
    return holdout


def _joined(
    holdout: Holdout,
    data: Path,
    predictions: Path,
    id: str,
    target: str,
    prediction: str,
    metric: str,
    options: dict[str, Any],
) -> Any:
    """Predictions in the order of the rows; checked without looking at labels."""
    from unworn.boards.board_config import BoardConfig
    from unworn.boards.files.prediction_shapes import prediction_shape
    from unworn.boards.files.predictions_check import check_predictions
    from unworn.boards.files.table_files import read_table_file
    from unworn.boards.files.value_columns_check import read_ids

    if data.suffix.lower() not in (".csv", ".parquet"):
        raise BadInput(f"{data} is joined by id, which needs a CSV or Parquet file.")
    rows = read_table_file(data, max_bytes=_MOST, max_rows=2**31)
    if id not in rows.columns:
        raise BadInput(f"{data} has no column {id!r}; there are: {', '.join(rows.columns)[:200]}")
    ids, wrong = read_ids(rows.columns[id])
    places = {name: place for place, name in enumerate(ids)}
    if wrong or len(places) < len(ids):
        raise BadInput(f"{data}: every row needs an id of its own in {id!r}; {len(ids) - len(places):,} are repeated.")
    if len(ids) != holdout._sample.length:
        raise Unaskable(f"{data} has {len(ids):,} rows with an id, and {holdout._sample.length:,} are sealed")
    kind = holdout.terms.schema.of(target).kind
    config = BoardConfig(
        "score",
        "score",
        id,
        target,
        metric,
        prediction,
        kind if kind in ("number", "bool") else "text",
        options=options,
    )
    table = read_table_file(predictions, max_bytes=_MOST, max_rows=2 * len(ids) + 1000)
    return check_predictions(table, prediction_shape(config), id, target, places).values


def _several(card: Path | None) -> Any:
    if card is not None:
        note("The answer is made of several, each with a certificate of its own: ask the ledger for them.")


def _document(answer: Any, parts: Any, holdout: Holdout, where: str, repeat: bool) -> dict[str, Any]:
    practice = answer.practice if len(parts) == 1 and hasattr(answer, "practice") else None
    return {
        "question": answer.label,
        "value": answer.value,
        "low": answer.low,
        "high": answer.high,
        "width": answer.width,
        "confidence": answer.confidence,
        "source": answer.source,
        "indexes": [part.index for part in parts],
        "repeat": repeat,
        "practice": None if practice is None else practice.value,
        "holdout": holdout.name,
        "rows": holdout.size,
        "ledger": where,
    }


def _print(told: dict[str, Any]) -> None:
    say(told["question"])
    say(f"  {number(told['value'])}  in [{number(told['low'])}, {number(told['high'])}], ± {number(told['width'])}")
    say(f"  {SOURCES.get(told['source'], told['source'])}")
    if told["practice"] is not None:
        say(f"  practice rows: {number(told['practice'])}, free and without a promise")
    if told["repeat"]:
        say("  asked before: the recorded answer again, free")
    note(f"{told['rows']:,} rows · {percent(told['confidence'])} for all answers together · {told['ledger']}")
