"""``unworn ask``: one question of one file."""

from __future__ import annotations

import os
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Annotated, Any

import typer

from unworn.cli.card_option import check_card, save_card
from unworn.cli.ledger_lookup import ledger_path, open_ledger, place_of_url
from unworn.cli.output import BadInput, Json, complain, exit_code, note, percent
from unworn.cli.remote.remote_ask import ask_server
from unworn.cli.sealed_rows import RowOptions, check_data, check_file, ledger_beside, rehearsal
from unworn.cli.shown_answer import show_answer, show_quote
from unworn.cli.tag_options import parse_tags
from unworn.errors import Mismatch
from unworn.holdout import Holdout
from unworn.holdout.asks import read_label


def ask(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="Parquet, CSV, Arrow or Feather; duckdb:FILE or duckdb:BASE#TABLE to leave rows there."
        ),
    ],
    question: Annotated[
        str | None, typer.Argument(metavar="QUESTION", help="A condition, as in SQL; with --range a number.")
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="URL", help="Ask a holdout on a server; then there is no DATA.")
    ] = None,
    guess: Annotated[float | None, typer.Option(help="What you expect: agreement is nearly free.")] = None,
    guess_se: Annotated[float | None, typer.Option(help="The guess's standard error, if you know it.")] = None,
    range: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="LO HI", help="Ask for the mean of a number that is clipped to this range."),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|URL", help="Where answers are recorded.  [default: what has the rows, or DATA.ledger.db]"
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="What the holdout is called.  [default: the file's name]")] = None,
    target: Annotated[str | None, typer.Option("--target", "-y", metavar="COLUMN", help="The labels.")] = None,
    groups: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The sampled unit, where rows are not independent.")
    ] = None,
    asks: Annotated[
        int | None, typer.Option(min=1, help="A cap on the number of questions; noise needs it as its plan.")
    ] = None,
    confidence: Annotated[
        float | None, typer.Option(help="The probability that all answers hold together.  [default: 0.95]")
    ] = None,
    max_width: Annotated[float | None, typer.Option(help="Refuse rather than answer wider than this.")] = None,
    train: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Other rows you may see: they provide the guess.")
    ] = None,
    practice: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Set a share of the rows aside: they make the guesses.  [default: 0.25 with --target, else 0]",
        ),
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="TEAM", help="Who asks, for the record.")] = None,
    label: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A name for this answer, kept beside it (name= in Python).")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(metavar="KEY=VALUE", help="Kept beside the answer; may be given several times.")
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Ask again, and pay, even if it was asked before.")] = False,
    noise: Annotated[
        bool, typer.Option("--noise", help="Answer with noise, whatever the guess: for when surprises are likely.")
    ] = False,
    quote: Annotated[bool, typer.Option("--quote", help="Only the price: nothing is asked or charged.")] = False,
    final: Annotated[
        bool, typer.Option("--final", help="The exact value, as sharp as possible; it closes the holdout for good.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="With --final: close the holdout without asking for confirmation.")
    ] = False,
    card: Annotated[Path | None, typer.Option(metavar="FILE", help="Save the answer's certificate here.")] = None,
    json: Json = False,
) -> None:
    """Ask the rows in a file one question, and get an answer that holds for the population.

    QUESTION is a condition as in SQL, and the answer is the share of the population for which it is true; with
    --range it is a number, and the answer is its mean. Bring a guess: if the rows agree, the answer costs almost
    nothing. The first ask seals the rows (asks, confidence, name are fixed for good); later asks take these
    terms from the ledger. The same question again is free. Answers are recorded in the ledger that has these rows
    already, whoever sealed them there, or else in DATA.ledger.db (--ledger names another, for rows that no ledger has),
    because a forgotten charge would make every later interval wrong. The text is never run by a database:
    it is read into a small language of its own.

    With --noise the answer is the rows' own value plus noise that hides it: no guess can be wrong then, but everything
    after it is a little wider. A guess near 0 or 1 makes the noise narrower.

    With --final you get the exact value, nearly as sharp as from a test set that nobody had touched, because nothing
    may follow: the holdout is closed for good. The command first says how sharp it will be, and asks you to confirm
    (--yes confirms in advance).

    \b
    Examples:
      unworn ask people.csv "age > 65 and plan = 'basic'" --guess 0.2
      unworn ask people.csv "coalesce(income, 0)" --range 0 200000 --guess 41000
      unworn ask people.csv "age > 65" --label pensioners --tag year=2026
      unworn ask people.csv "age > 65" --quote
      unworn ask people.csv "age > 65" --final
      unworn ask people.csv "churned" --train train.csv --asks 1000 --card card.json
      unworn ask duckdb:people.parquet "age > 65"
      unworn ask duckdb:base.duckdb#people "age > 65"
      unworn ask "age > 65" --to https://example.org/holdouts/people --guess 0.2
    """
    _check_final(final, yes or quote, again or noise, guess, json)
    if yes and not final:
        raise BadInput("--yes says that the holdout may be closed, which only --final does.\n  Leave it out.")
    if guess_se is not None and guess is None:
        raise BadInput("--guess-se is the error of a guess, and there is none.\n  Add --guess.")
    tags = parse_tags(tag)
    read_label(label, tags)  # refused before a ledger is made for it
    if to is not None:
        others = (ledger, name, target, groups, asks, confidence, max_width, train, practice, by)
        if question is not None or final or any(other is not None for other in others):
            raise BadInput(
                "with --to the rows, their terms and who asks are the server's.\n  Leave DATA and those out."
            )
        ask_server(
            to, data, (guess, guess_se), range, label, tags, again=again, noise=noise, quote=quote, card=card, json=json
        )
        return
    if question is None:
        raise BadInput('say what to ask, as in: unworn ask people.csv "age > 65"\n  --to URL asks a server instead.')
    check_data(data)
    if train is not None:
        check_file(train, "training file")
    check_card(card, ledger or ledger_beside(data))
    from unworn.queries.language.sql_text import parse as parse_sql

    query = parse_sql(question, range=range)  # refused before a ledger is made for it
    given = RowOptions(data, target, groups, train, asks, confidence, name, max_width, practice)
    with ExitStack() as stack:
        where = ledger or ledger_beside(data)
        try:
            known, holdout = _opened(stack, given, where, query, guess, guess_se, noise, quote)
        except Mismatch as error:
            if ledger is not None or not error.numbers.get("same"):
                raise
            where = place_of_url(error.numbers["ledger"])  # nobody named a ledger: take the one that has these rows
            known, holdout = _opened(stack, given, where, query, guess, guess_se, noise, quote)
        try:
            if quote:
                price = (
                    holdout.quote_final(query) if final else holdout.quote(query, guess, guess_se=guess_se, noise=noise)
                )
                nothing = "Only quoted: nothing was asked, sealed or charged."
                show_quote(price, holdout, ("ledger", where), nothing, json)
                if not json and not final and guess is None and holdout.id not in known and holdout.terms.practice:
                    note("Priced without a guess: once the rows are sealed, those for practice guess.")
                return
            if holdout.id not in known:
                _sealed(holdout, where)
            before = holdout.meter.asked
            if final:
                _confirm(holdout, query, yes)
                answer = holdout.final(query, by=by, name=label, tags=tags)
            else:
                answer = holdout.ask(
                    query, guess, guess_se=guess_se, again=again, by=by, noise=noise, name=label, tags=tags
                )
            unsaved = save_card(answer, card)
            card = card if unsaved is None else None
            repeat = answer.index <= before
            show_answer(answer, holdout, ("ledger", where), card, repeat, json)
            if unsaved is not None:  # last, and on standard error alone: the answer was paid for, and is told
                complain(unsaved, as_json=False)
                note("  The answer is in the ledger: the same ask again is free, and saves the card.")
                raise typer.Exit(exit_code(unsaved))
        finally:
            holdout.close()


def _opened(
    stack: ExitStack,
    given: RowOptions,
    where: str,
    query: Any,
    guess: float | None,
    guess_se: float | None,
    noise: bool,
    quote: bool,
) -> tuple[set[str], Holdout]:
    """The holdouts that a ledger had, and that of these rows: for a price, in a copy of the ledger."""
    path = ledger_path(where)
    made = path is not None and not os.path.exists(path)
    if quote:
        store = rehearsal(where, None if made else stack.enter_context(open_ledger(where)))
    else:
        if made:  # a question that cannot be asked must neither make a ledger nor seal the rows for good
            with closing(given.open(rehearsal(where))) as rehearsed:
                rehearsed.quote(query, guess, guess_se=guess_se, noise=noise)
        store = stack.enter_context(open_ledger(where))
    return set(store.holdouts()), given.open(store)


def _check_final(final: bool, agreed: bool, again_or_noise: bool, guess: float | None, json: bool) -> None:
    if final and (again_or_noise or guess is not None):
        raise BadInput(
            "a final value is exact, and released once: it takes no --guess, no --again and no --noise.\n"
            "  Leave them out."
        )
    if final and json and not agreed:
        raise BadInput("--final closes the holdout for good, and with --json nobody is asked.\n  Add --yes.")


def _confirm(holdout: Holdout, query: Any, yes: bool) -> None:
    """Say what will be reached, and ask whether the holdout may be closed for it, unless it was said or done."""
    price = holdout.quote_final(query)
    note(str(price))
    if yes or price.repeat:
        return
    try:
        agreed = typer.confirm("Tell it, and close the holdout for good?", err=True)
    except typer.Abort:  # nobody is there to say so
        agreed = False
    if not agreed:
        raise BadInput("the holdout was left open: nothing was released or charged.\n  Add --yes to skip the question.")


def _sealed(holdout: Any, where: str) -> None:
    unit = "groups" if holdout.terms.schema.grouped else "rows"
    plan = "no planned number of asks" if holdout.terms.asks is None else f"{holdout.terms.asks:,} planned asks"
    aside = f", {holdout.practice.size:,} more for practice" if holdout.practice.size else ""
    note(
        f"Sealed {holdout.size:,} {unit} as {holdout.name!r}{aside}: {plan}, {percent(holdout.confidence)} for all "
        "together.\n"
        f"  The ledger is {where}, its key lies in {where}.keys: keep both, and keep the key to yourself."
    )
