"""A holdout in the browser: asking in two steps, answers, the ledger, the report; and certificates of both kinds."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from litestar import Response, get, post
from litestar.params import FromPath

from unworn import charts
from unworn.basics.json_text import write_json
from unworn.errors import Tampered, UnwornError
from unworn.queries.language.means import Mean, Share
from unworn.queries.language.sql_text import parse
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate
from unworn.server.browser.board_handlers import pictures, reply_svg
from unworn.server.browser.form_body import SentForm, read_form
from unworn.server.browser.page_reply import (
    TWIN,
    Reply,
    go_to,
    name_of,
    option,
    page_number,
    reply_page,
    viewer_of,
    wants_twin,
)
from unworn.server.guards import caller_of, check_may, services_of
from unworn.server.pages import holdout_pages
from unworn.server.pages.drawn_charts import draw_answers
from unworn.server.pages.holdout_pages import AskWords, HoldoutFacts, describe_quote
from unworn.server.pages.kept_texts import KeptTexts
from unworn.server.pages.web_page import PER_PAGE, Notice, WebPage, notice_of
from unworn.server.requests.request_body import AnyRequest
from unworn.server.routes.board_access import use_board
from unworn.server.routes.board_routes import find_card
from unworn.server.routes.holdout_routes import use_holdout
from unworn.server.routes.holdout_verbs import LONGEST_QUESTION
from unworn.server.routes.released_entries import is_closed, ledger_length, read_certificate, read_entries
from unworn.server.server_errors import Malformed, NotThere, status_of

if TYPE_CHECKING:
    from unworn.holdout import Holdout

_PLACE = "/holdouts/{place:str}"
_OPEN: dict[str, Any] = {"open": True}
_FORM: dict[str, Any] = {"form": True}
_LATEST = 5
_MOST_DRAWN = 300
checks = KeptTexts()
log = logging.getLogger("unworn.server")


def facts_of_holdout(place: str, holdout: Holdout) -> HoldoutFacts:
    """What stands at the head of each page."""
    practice = holdout.terms.practice_size
    return HoldoutFacts(place, holdout.size, practice, holdout.confidence, is_closed(holdout))


@get(_PLACE, opt=_OPEN)
async def ask_form(request: AnyRequest, place: FromPath[str]) -> Reply:
    place = name_of(place)
    page = await use_holdout(request, "see", place, lambda holdout: _ask_page(place, holdout))
    return reply_page(request, page, viewer_of(request, "holdout", place))


def _ask_page(place: str, holdout: Holdout, **given: Any) -> WebPage:
    columns = [
        {"name": name, "kind": kind + (", may be missing" if nullable else "")}
        for name, (kind, nullable) in holdout.terms.schema.to_json()["columns"].items()
    ]
    length = ledger_length(holdout)
    return holdout_pages.show_ask_form(
        facts_of_holdout(place, holdout),
        holdout.meter,
        columns=columns,
        answers=_answers(holdout, max(1, length - _LATEST), length),
        **given,
    )


def _answers(holdout: Holdout, start: int, stop: int) -> list[Answer]:
    """Answers of the ledger, the latest first."""
    if stop <= start:
        return []
    first = read_entries(holdout, 0, 1)[0]
    return [Answer.of(Certificate.of(first, entry)) for entry in reversed(read_entries(holdout, start, stop))]


@post(f"{_PLACE}/quote", opt=_FORM)
async def quote(request: AnyRequest, place: FromPath[str]) -> Reply:
    """The first step of asking: what it would cost, for nothing."""
    check_may(caller_of(request), "ask", "holdout", place)
    words = _words(await read_form(request))

    def work(holdout: Holdout) -> WebPage:
        try:
            query = read_asked(words)
            price = holdout.quote(query, read_number(words.guess, "guess"))
        except UnwornError as error:
            return _ask_page(place, holdout, words=words, notice=notice_of(error), status=status_of(error))
        return _ask_page(place, holdout, quote=describe_quote(price, query.label, words))

    page = await use_holdout(request, "ask", place, work)
    return reply_page(request, page, viewer_of(request, "holdout", place))


@post(f"{_PLACE}/ask", opt=_FORM)
async def ask(request: AnyRequest, place: FromPath[str]) -> Response[Any]:
    """The second step: ask. Sent twice it is charged once, since a question that was asked before is free."""
    check_may(caller_of(request), "ask", "holdout", place)
    words, caller = _words(await read_form(request)), caller_of(request)

    def work(holdout: Holdout) -> WebPage | int:
        try:
            return holdout.ask(read_asked(words), read_number(words.guess, "guess"), by=caller.name).index
        except UnwornError as error:
            return _ask_page(place, holdout, words=words, notice=notice_of(error), status=status_of(error))

    done = await use_holdout(request, "ask", place, work, grid=services_of(request).settings.answer_grid)
    if isinstance(done, int):
        return go_to(f"/cards/{place}/{done}")
    return reply_page(request, done, viewer_of(request, "holdout", place))


def _words(form: SentForm) -> AskWords:
    return AskWords(form.text("question"), form.text("guess"), form.text("low"), form.text("high"))


def read_asked(words: AskWords) -> Share | Mean:
    """The question that was written: the share of a condition, or a mean within a range.

    >>> read_asked(AskWords("age > 65")).label, read_asked(AskWords("avg(age)", "", "0", "100")).label
    ('share of age > 65', 'mean of age in [0, 100]')
    """
    low, high = read_number(words.low, "lowest value"), read_number(words.high, "highest value")
    if len(words.question) > LONGEST_QUESTION:
        raise Malformed(f"a question has at most {LONGEST_QUESTION:,} characters")
    if (low is None) != (high is None):
        raise Malformed("a mean needs both ends of its range: the lowest value and the highest")
    return parse(words.question, None if low is None or high is None else (low, high))


def read_number(text: str, what: str) -> float | None:
    """A number as people write it.

    >>> read_number("0,25", "guess"), read_number("25 %", "guess"), read_number("", "guess")
    (0.25, 0.25, None)
    """
    plain = text.strip().replace(",", ".")
    if not plain:
        return None
    try:
        return float(plain.removesuffix("%")) / (100.0 if plain.endswith("%") else 1.0)
    except ValueError:
        raise Malformed(f"the {what} is a number, such as 0.25 or 25 %") from None


@get([f"{_PLACE}/answers", f"{_PLACE}/answers.json"], opt=_OPEN)
async def answers(request: AnyRequest, place: FromPath[str]) -> Reply:
    page = page_number(request)

    def look(holdout: Holdout) -> WebPage:
        length, facts = ledger_length(holdout), facts_of_holdout(place, holdout)
        stop = max(1, length - PER_PAGE * (page - 1))
        shown = _answers(holdout, max(1, stop - PER_PAGE), stop)
        chart = f"{facts.address}/answers.svg" if shown and charts.available() else None
        return holdout_pages.show_answers(facts, shown, total=length - 1, page=page, chart=chart)

    found = await use_holdout(request, "see", place, look)
    return reply_page(request, found, viewer_of(request, "holdout", place))


@get(f"{_PLACE}/answers.svg", opt=_OPEN)
async def answers_chart(request: AnyRequest, place: FromPath[str]) -> Reply:
    def look(holdout: Holdout) -> str | None:
        length = ledger_length(holdout)
        shown = _answers(holdout, max(1, length - _MOST_DRAWN), length)
        return pictures.get(holdout.head, lambda: draw_answers(place, shown)) if shown else None

    svg = await use_holdout(request, "see", place, look)
    if svg is None:
        raise NotThere("there is nothing to draw yet")
    return reply_svg(svg)


@get([f"{_PLACE}/ledger", f"{_PLACE}/ledger.json"], opt=_OPEN)
async def ledger(request: AnyRequest, place: FromPath[str]) -> Reply:
    page, is_checked = page_number(request), bool(option(request, "verify"))

    def look(holdout: Holdout) -> WebPage:
        notice = _verify(holdout) if is_checked else None
        length = ledger_length(holdout)
        stop = max(0, length - PER_PAGE * (page - 1))
        entries = [
            {
                "index": entry.index,
                "what": Answer.of(Certificate.of(first, entry)).full_label if entry.index else "the terms",
                "hash": entry.hash,
                "at": Certificate.of(first, entry).record.at if entry.index else None,
            }
            for first in read_entries(holdout, 0, 1)
            for entry in reversed(read_entries(holdout, max(0, stop - PER_PAGE), stop))
        ]
        return holdout_pages.show_ledger(
            facts_of_holdout(place, holdout),
            entries,
            length=length,
            page=page,
            head=holdout.head,
            public_key=holdout.terms.public,
            mechanism=type(holdout.mechanism).__name__,
            notice=notice,
        )

    found = await use_holdout(request, "see", place, look)
    return reply_page(request, found, viewer_of(request, "holdout", place))


def _verify(holdout: Holdout) -> Notice:
    """Replay the whole ledger and say whether it holds; once for each head, since that takes a while."""

    def check() -> str:
        holdout.verify()
        return f"{ledger_length(holdout):,} entries: every hash, every signature, every price and every interval."

    try:
        return Notice("done", "The ledger holds.", checks.get(holdout.head, check))
    except Tampered as error:
        log.error("the ledger of %s does not hold: %s", holdout.id, error)
        return Notice("refused", "The ledger does not hold.", "The server’s log says what is wrong: tell its owner.")
    except UnwornError as error:
        return notice_of(error)


@get([f"{_PLACE}/report", f"{_PLACE}/report.json"], opt=_OPEN)
async def report(request: AnyRequest, place: FromPath[str]) -> Reply:
    def look(holdout: Holdout) -> WebPage:
        return holdout_pages.show_report(facts_of_holdout(place, holdout), holdout.meter)

    found = await use_holdout(request, "see", place, look)
    return reply_page(request, found, viewer_of(request, "holdout", place))


@get("/cards/{place:str}/{index:str}", opt=_OPEN)
async def card(request: AnyRequest, place: FromPath[str], index: FromPath[str]) -> Reply:
    """A certificate, of a board or a holdout; the twin is the card itself, as it is verified."""
    number, caller = name_of(index), caller_of(request)
    if not (number.isascii() and number.isdecimal() and len(number) < 16):
        raise NotThere("there is no answer of that number")
    is_board = place in services_of(request).workspace.boards() and caller.may("see", "board", place)
    if is_board:
        found = await use_board(request, "see", place, lambda board: find_card(board, caller, place, int(number)))
    else:
        found = await use_holdout(request, "see", place, lambda holdout: read_certificate(holdout, int(number)))
    if wants_twin(request):
        name = f'attachment; filename="card-{number}{TWIN}"'
        headers = {"Content-Disposition": name, "X-Content-Type-Options": "nosniff"}
        return Response(write_json(found.to_json()).encode(), media_type="application/json", headers=headers)
    back = f"/boards/{place}" if is_board else f"/holdouts/{place}"
    page = holdout_pages.show_card(found, place=place, index=int(number), back=back)
    return reply_page(request, page, viewer_of(request, "board" if is_board else "holdout", place))


HOLDOUT_HANDLERS = [ask_form, quote, ask, answers, answers_chart, ledger, report, card]
