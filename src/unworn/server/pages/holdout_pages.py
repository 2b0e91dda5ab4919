"""The pages of a holdout, made of its ledger's answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from unworn.basics.display import show_width
from unworn.mechanisms.contract.mechanism import NO_ANSWER
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate
from unworn.record.meter import Meter, Quote
from unworn.server.pages.web_page import Notice, WebPage, turn_pages


@dataclass(frozen=True)
class HoldoutFacts:
    """What everybody who may see a holdout knows of it."""

    name: str
    size: int
    practice_size: int
    confidence: float
    closed: bool
    currency: str = "nats"

    @property
    def address(self) -> str:
        return f"/holdouts/{quote(self.name, safe='')}"


@dataclass(frozen=True)
class AskWords:
    """What somebody wrote into the ask box, as it was written: so that a refusal does not lose it."""

    question: str = ""
    guess: str = ""
    low: str = ""
    high: str = ""


def make_holdout_page(
    holdout: HoldoutFacts,
    section: str,
    template: str,
    words: str,
    data: Mapping[str, Any],
    path: str = "",
    status: int = 200,
) -> WebPage:
    """A page with the holdout's head and tabs."""
    title = f"{words}: {holdout.name}" if words else holdout.name
    return WebPage(
        template, title, {"holdout": asdict(holdout), **data}, f"{holdout.address}{path}.json", section, status
    )


def describe_answer(answer: Answer) -> dict[str, Any]:
    """One row of a table of answers."""
    facts = answer.certificate.record.facts
    row = answer.row()
    return {
        **row,
        "practice": None if answer.practice is None else answer.practice.value,
        "surprise": answer.source == "surprise",
        "has_value": answer.source not in NO_ANSWER.values(),
        "range": [facts.low, facts.high],
    }


def show_ask_form(
    holdout: HoldoutFacts,
    meter: Meter,
    *,
    columns: Sequence[Mapping[str, str]],
    answers: Sequence[Answer],
    words: AskWords | None = None,
    quote: Mapping[str, Any] | None = None,
    notice: Notice | None = None,
    status: int = 200,
) -> WebPage:
    """Where one asks: the meter, the box, and what was answered last. With a quote, the second step of asking."""
    data = {
        "meter": meter.to_json(),
        "columns": [dict(column) for column in columns],
        "example": _example(columns),
        "answers": [describe_answer(answer) for answer in answers],
        **asdict(words or AskWords()),
        "quote": quote and dict(quote),
        "message": notice and notice.to_json(),
    }
    return make_holdout_page(holdout, "ask", "holdout.html", "", data, status=status)


def describe_quote(quote: Quote, label: str, words: AskWords) -> dict[str, Any]:
    """A price in words, before anything is charged."""
    if quote.repeat:
        sentences = [f"This was asked before: answer {quote.index} comes back, free."]
    else:
        agrees = "If the rows agree with the guess" if quote.guess is not None else "Without a guess"
        sentences = [
            f"{agrees}, the answer is good to {show_width(quote.width)} and costs {quote.cost:.2g} {quote.currency}.",
            f"At worst it is good to {show_width(quote.widest)} and costs {quote.surprise_cost:.2g} {quote.currency}.",
        ]
    return {
        "label": label,
        "question": words.question,
        "guess_text": words.guess,
        "low_text": words.low,
        "high_text": words.high,
        "repeat": quote.repeat,
        "sentences": sentences,
        "width": quote.width,
        "widest": quote.widest,
        "cost": quote.cost,
        "surprise_cost": quote.surprise_cost,
        "currency": quote.currency,
        "guess": quote.guess,
    }


def show_answers(
    holdout: HoldoutFacts, answers: Sequence[Answer], *, total: int, page: int, chart: str | None
) -> WebPage:
    """All answers, the latest first, so many to a page."""
    data = {
        "answers": [describe_answer(answer) for answer in answers],
        "total": total,
        "pages": turn_pages(f"{holdout.address}/answers", page, total),
        "chart": chart,
    }
    return make_holdout_page(holdout, "answers", "answers.html", "Answers", data, "/answers").at_page(page)


def show_ledger(
    holdout: HoldoutFacts,
    entries: Sequence[Mapping[str, Any]],
    *,
    length: int,
    page: int,
    head: str,
    public_key: str,
    mechanism: str,
    notice: Notice | None = None,
) -> WebPage:
    """The chain of entries, and whether it holds."""
    data = {
        "entries": [dict(entry) for entry in entries],
        "length": length,
        "head": head,
        "public_key": public_key,
        "mechanism": mechanism,
        "pages": turn_pages(f"{holdout.address}/ledger", page, length),
        "message": notice and notice.to_json(),
    }
    return make_holdout_page(holdout, "ledger", "ledger.html", "Ledger", data, "/ledger").at_page(page)


def show_report(holdout: HoldoutFacts, meter: Meter) -> WebPage:
    """Where the report is."""
    return make_holdout_page(holdout, "report", "report.html", "Report", {"meter": meter.to_json()}, "/report")


def show_card(card: Certificate, *, place: str, index: int, back: str) -> WebPage:
    """A certificate under its permanent address; the JSON twin is the card itself, as ``unworn verify`` reads it."""
    answer = Answer.of(card)
    confidence = f"{100 * card.terms.confidence:.6g} %"
    data = {
        "card": card.to_json(),
        "index": index,
        "question": answer.full_label,
        "at": card.record.at,
        "practice": None if answer.practice is None else answer.practice.value,
        "has_value": answer.source not in NO_ANSWER.values(),
        "promise": f"With probability {confidence} the truth lies in this interval and in every other one of the same "
        "ledger, however the questions were chosen.",
        "back": back,
        "file": f"card-{index}.json",
    }
    twin = f"/cards/{quote(place, safe='')}/{index}.json"
    return WebPage("card.html", f"Certificate {index} of {card.terms.name}", data, twin)


def _example(columns: Sequence[Mapping[str, str]]) -> str:
    """A question that this holdout understands."""
    for column in columns:
        name, kind = column["name"], column["kind"]
        if name.isidentifier() and kind.startswith("number"):
            return f"{name} > 0"
        if name.isidentifier() and kind.startswith("text"):
            return f"{name} = 'yes'"
    return "age > 65 and plan = 'basic'"
