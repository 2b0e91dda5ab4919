"""``unworn ask QUESTION --to URL``: one question of a holdout behind a wall."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unworn.cli.card_option import check_card, save_card
from unworn.cli.output import BadInput, complain, exit_code, note
from unworn.cli.shown_answer import show_answer, show_quote


def ask_server(
    to: str,
    question: str,
    guesses: tuple[float | None, float | None],
    range: tuple[float, float] | None,
    label: str | None,
    tags: Any,
    *,
    again: bool,
    noise: bool,
    quote: bool,
    card: Path | None,
    json: bool,
) -> None:
    """Ask, and print what came back: the same lines as for a file."""
    from unworn.client import connect
    from unworn.client.connected_holdout import ConnectedHoldout
    from unworn.client.remote_server import RemoteServer
    from unworn.queries.language.sql_text import parse as parse_sql

    query = parse_sql(question, range=range)
    check_card(card, "")
    holdout: Any = connect(to)
    if isinstance(holdout, RemoteServer):
        holdout = holdout.only_holdout()
    if not isinstance(holdout, ConnectedHoldout):
        raise BadInput(
            f"{holdout.url} is not a holdout.\n  Name one, as in --to {holdout.url.split('/boards')[0]}/holdouts/people"
        )
    guess, guess_se = guesses
    try:
        if quote:
            price = holdout.quote(query, guess, guess_se=guess_se, noise=noise)
            show_quote(price, holdout, ("server", holdout.url), "Only quoted: nothing was asked or charged.", json)
            return
        before = holdout.meter.asked
        answer: Any = holdout.ask(query, guess, guess_se=guess_se, again=again, noise=noise, name=label, tags=tags)
        unsaved = save_card(answer, card)
        repeat, card = answer.index <= before, card if unsaved is None else None
        show_answer(answer, holdout, ("server", holdout.url), card, repeat, json)
        if unsaved is not None:
            complain(unsaved, as_json=False)
            note("  The answer is in the ledger: the same ask again is free, and saves the card.")
            raise SystemExit(exit_code(unsaved))
    finally:
        holdout.close()
