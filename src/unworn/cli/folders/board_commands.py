"""``unworn board``: make a board, see what it promises, submit, look at the standings, close it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Any

import typer

from unworn.basics.display import show_line
from unworn.cli.output import BadInput, Json, bad_input, count, emit, note, percent, say, say_wrapped, table

board = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Boards: leaderboards over sealed labels that nobody can overfit, each in a folder.",
)
Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The board's folder.")]


@board.command(short_help="Seal labels behind a new board.", no_args_is_help=True)
def new(
    folder: Folder,
    labels: Annotated[Path, typer.Option(help="The labels: CSV, Parquet or JSON lines.")],
    id: Annotated[str, typer.Option(help="The column that names each row.")],
    target: Annotated[str, typer.Option(help="The column to predict.")],
    metric: Annotated[
        str, typer.Option(help="accuracy, f1, roc_auc, log_loss, mae, …: docs/questions.md.")
    ] = "accuracy",
    title: Annotated[str | None, typer.Option(help="What people read above the standings.")] = None,
    rule: Annotated[str, typer.Option(help="practice-and-check, ladder or mechanism.")] = "practice-and-check",
    practice: Annotated[
        float | None, typer.Option(help="The share of rows for practice.  [default: 0.5, with a ladder 0]")
    ] = None,
    surprises: Annotated[int, typer.Option(help="How many submissions of a team may surprise the check rows.")] = 5,
    confidence: Annotated[float, typer.Option(help="The probability that all intervals hold together.")] = 0.95,
    grader: Annotated[
        str | None, typer.Option(help="For text: exact, normalised, 'multiple choice', numeric, or grade.py:score.")
    ] = None,
    tolerance: Annotated[float, typer.Option(help="numeric: how far a right number may be off.")] = 0.0,
    relative_tolerance: Annotated[float, typer.Option(help="numeric: the same, as a share of the right number.")] = 0.0,
    prediction: Annotated[str | None, typer.Option(help="The column of predictions.  [default: prediction]")] = None,
    positive: Annotated[str | None, typer.Option(help="The positive class, of f1, recall, roc_auc, ….")] = None,
    classes: Annotated[str | None, typer.Option(help="All classes, with commas between.")] = None,
    range: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LOW HIGH", help="The losses that matter (rmse, r2: squared)."),
    ] = None,
    k: Annotated[int | None, typer.Option(help="top_k_accuracy: how many guesses count.")] = None,
    average: Annotated[str | None, typer.Option(help="macro, micro or weighted.")] = None,
    where: Annotated[str | None, typer.Option(help="Score only rows where this holds: \"plan = 'basic'\".")] = None,
    baseline: Annotated[float | None, typer.Option(help="r2: the constant to compare with.")] = None,
    alpha: Annotated[float | None, typer.Option(help="pinball: the quantile.  [default: 0.5]")] = None,
    step: Annotated[float | None, typer.Option(help="ladder: what counts as an improvement.")] = None,
    mechanism: Annotated[str | None, typer.Option(help="With --rule mechanism: its name.")] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A parameter of the mechanism; may be given several times."),
    ] = None,
    asks: Annotated[int | None, typer.Option(help="A cap on the number of questions; some mechanisms need it.")] = None,
    pools: Annotated[
        int, typer.Option(help="Parts of the practice rows; a lane of the gate climbs on one at a time.")
    ] = 1,
    ledger: Annotated[str | None, typer.Option(metavar="URL", help="The ledger, if not in FOLDER: PostgreSQL.")] = None,
    database: Annotated[str | None, typer.Option(metavar="URL", help="Submissions, if not in FOLDER.")] = None,
    json: Json = False,
) -> None:
    """Make a board: labels are copied and sealed, a ledger is begun, and board.toml says in words what was chosen.

    Half of the rows give every submission an exact score at once, which may wear out; the other half checks it: the
    interval it confirms holds, together with all others, however many submissions there are and however they were
    chosen.

    \b
    Examples:
      unworn board new bench/ --labels y.csv --id id --target label --metric f1
      unworn board new quiz/ --labels answers.jsonl --id id --target answer --grader normalised
      unworn serve bench/
    """
    from unworn.boards.board_making import create_board

    if parameter and mechanism is None:
        raise BadInput("--parameter is one of a mechanism: name it, as in --rule mechanism --mechanism Ladder.")
    if not labels.is_file():
        raise BadInput(f"there is no file of labels {labels}.\n  Check the path.")
    with bad_input():
        made = create_board(
            folder,
            labels,
            id=id,
            target=target,
            metric=metric,
            title=title,
            rule=rule,
            practice=practice,
            surprises_per_team=surprises,
            confidence=confidence,
            grader=grader,
            tolerance=tolerance,
            relative_tolerance=relative_tolerance,
            prediction=prediction,
            pools=pools,
            ledger=ledger,
            database=database,
            alpha=alpha,
            step=step,
            mechanism=None if mechanism is None else {"name": mechanism, **_parameters(parameter or [])},
            asks=asks,
            positive=positive,
            classes=None if classes is None else [each.strip() for each in classes.split(",")],
            range=None if range is None else list(range),
            k=k,
            average=average,
            where=where,
            baseline=baseline,
        )
    with made:
        if json:
            emit(
                {"folder": str(folder), **made.config.public(), "rows": made.size, "practice_rows": made.practice_size}
            )
            return
        rows = f"{made.size:,} rows check, {made.practice_size:,} are for practice"
        say(f"The board {made.name!r} is in {folder}: {rows}.")
        say(f"The labels in {show_line(target)!r} are {made.label_words}.")
        for line in made.promise().words[1:]:
            say_wrapped(line)
        place = shlex.quote(str(folder))
        note(f"Keep {folder}/ledger.db.keys to yourself. What was chosen is in {folder}/board.toml.")
        note(f"  unworn board check {place}        what it can promise")
        note(f"  unworn serve {place}              for others")
        note(f"  unworn board submit {place} preds.csv --team me")


@board.command(short_help="What a board can promise; and whether a file can be scored.", no_args_is_help=True)
def check(
    folder: Folder,
    predictions: Annotated[
        Path | None, typer.Argument(metavar="[PREDS]", help="A file to check without submitting it: free.")
    ] = None,
    submissions: Annotated[int, typer.Option(help="After this many submissions.")] = 1000,
    surprises: Annotated[
        int | None, typer.Option(help="How many of them are surprises.  [default: one team's share]")
    ] = None,
    json: Json = False,
) -> None:
    """Say in words how sharp a board's intervals are with its rows and this many submissions. Nothing is charged."""
    from unworn.boards.board import Board

    if submissions < 1 or (surprises is not None and surprises < 0):
        raise BadInput("--submissions is at least 1, and --surprises at least 0.")
    with Board(folder) as opened:
        if predictions is not None:
            rows = opened.validate(predictions).rows
            if json:
                emit({"valid": True, "rows": rows})
            else:
                say(f"{predictions} can be scored: {rows:,} rows")
            return
        opened.holdout  # noqa: B018  so that what cannot be asked is said now, and not to the first participant
        promise = opened.promise(submissions, surprises)
        if json:
            emit(promise.to_json())
            return
        for line in promise.words:
            say_wrapped(line)
        made = opened.submissions()
        note(f"So far: {count(len(made), 'submission')}, {count(sum(each.surprise for each in made), 'surprise')}.")


@board.command(short_help="Submit a file of predictions.", no_args_is_help=True)
def submit(
    folder: Folder,
    predictions: Annotated[Path, typer.Argument(metavar="PREDS", help="CSV, JSON lines or Parquet, joined by id.")],
    team: Annotated[str, typer.Option(help="Who submits.")] = "me",
    name: Annotated[str | None, typer.Option(help="What the submission is called.")] = None,
    message: Annotated[str | None, typer.Option("--message", "-m", help="What was tried.")] = None,
    format: Annotated[str | None, typer.Option(help="csv, jsonl or parquet.  [default: by the file's name]")] = None,
    json: Json = False,
) -> None:
    """Submit predictions to a board in a folder; the same as unworn submit PREDS --to FOLDER."""
    from unworn.cli.remote.submit import submit as submit_to

    submit_to(predictions, str(folder), team, name, message, format, False, json)


@board.command(short_help="Who is ahead, as far as intervals can tell.", no_args_is_help=True)
def standings(
    folder: Folder,
    spending: Annotated[bool, typer.Option("--spending", help="For the organiser: who spent what.")] = False,
    json: Json = False,
) -> None:
    """Show the standings. Teams that cannot be told apart share a rank."""
    from unworn.boards.board import Board

    with Board(folder) as opened:
        told = opened.standings()
        spent = opened.spending() if spending else []
        if json:
            emit({**told.to_json(), **({"spending": [each.to_json() for each in spent]} if spending else {})})
            return
        if not told.rows:
            say("There are no submissions yet.")
        else:
            _print_standings(told)
        if spent:
            say()
            lines = [[each.team, f"{each.submissions:,}", f"{each.surprises:,}", f"{each.nats:.2f}"] for each in spent]
            table(["team", "asked", "surprises", "nats"], lines, right=(1, 2, 3))


@board.command(short_help="Retire the rows: final numbers, cards, a signed summary.", no_args_is_help=True)
def close(
    folder: Folder,
    top: Annotated[int, typer.Option(help="How many of the best teams get final numbers.")] = 10,
    yes: Annotated[bool, typer.Option("--yes", help="Close it without asking for confirmation.")] = False,
    json: Json = False,
) -> None:
    """Close a board for good. The best teams get their exact score on the check rows, with an interval nearly as
    narrow as that of a test set nobody had touched; after that, nothing more is released about these rows."""
    from unworn.boards.board import Board

    if top < 1:
        raise BadInput("--top is a whole number of at least 1.")
    with Board(folder) as opened:
        if not (yes or opened.closed):
            _confirm(opened.name, json)
        summary = opened.close_board(top)
        if json:
            emit(summary.document)
            return
        said = "difference to the best" if any(each.is_difference for each in summary.finals) else "final score"
        lines = [[each.team, f"{each.value:.4g}", f"[{each.low:.4g}, {each.high:.4g}]"] for each in summary.finals]
        if lines:
            table(["team", said, "holds within"], lines, right=(1,))
        else:
            say(
                "There are no final numbers: nobody has a rank, or nobody but the best (where rows are compared with "
                "the best), or the board's mechanism has no exact values to give."
            )
        say(f"The board is closed. {percent(opened.config.confidence)} for all intervals together.")
        note(f"page:    {summary.page}")
        note(f"summary: {summary.path}  (unworn verify {shlex.quote(str(summary.path))})")


def _confirm(name: str, json: bool) -> None:
    agreed = False
    if not json:
        try:
            agreed = typer.confirm(f"Close the board {name!r} for good?", err=True)
        except typer.Abort:  # nobody is there to say so
            note("")
    if not agreed:
        raise BadInput("the board was left open: nothing was released or charged.\n  Add --yes to skip the question.")


def _print_standings(told: Any) -> None:
    columns = told.table()

    def shown(value: float | None) -> str:
        return "" if value is None else f"{value:.4f}"

    lines = [
        [
            columns["rank"][place],
            team,
            shown(columns["value"][place]),
            "" if columns["low"][place] is None else f"[{columns['low'][place]:.4f}, {columns['high'][place]:.4f}]",
            shown(columns["practice"][place]),
            str(columns["tries"][place]),
            columns["status"][place],
        ]
        for place, team in enumerate(columns["team"])
    ]
    table(["rank", "team", "score", "certified", "practice", "tries", ""], lines, right=(0, 2, 4, 5))


def _parameters(given: list[str]) -> dict[str, Any]:
    parted = [each.partition("=") for each in given]
    for name, mark, value in parted:
        if not name or not mark or not value:
            raise BadInput("--parameter is NAME=VALUE, as in --parameter step=0.01.")
    return {name: plain_value(value) for name, _, value in parted}


def plain_value(text: str) -> Any:
    """A class as it was typed: a number where it is one.

    >>> plain_value("1"), plain_value("0.5"), plain_value("yes")
    (1, 0.5, 'yes')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
