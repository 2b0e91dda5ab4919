"""What a report says, in order: how it stands, the best of each metric, surprises, the budget, how to verify."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterator

from unworn.basics.display import show_number, show_width
from unworn.basics.tags import show_tags
from unworn.mechanisms.contract.mechanism import NO_ANSWER
from unworn.record.certificate import NO_PROMISE
from unworn.record.meter import show_spent
from unworn.record.report.ledger_digest import METRICS, LedgerDigest, MetricDigest, Row
from unworn.record.report.report_blocks import Block, Commands, Grid, Heading, Items, KeyFacts, Paragraph
from unworn.record.report.report_figures import draw_answers, draw_ranking

_MADE_OF = {
    "jaccard": "F1 is made of it, as 2J/(1 + J) of a value J, and has the same order.",
    "mse": "RMSE is its root. R² is 1 minus a model's value over that of a constant.",
}
"""Of metrics that composites are made of: a composite has no answer of its own, and its asker looks for it here."""
_HEADERS = ("answer", "question", "value", "interval", "±", "source")


def report_sections(digest: LedgerDigest, ledger: str | None, *, figures: bool) -> Iterator[Block]:
    """The blocks of a report; without ``figures`` nothing is drawn, and it says so."""
    yield from _summary(digest, figures)
    for group in digest.metrics[:METRICS]:
        yield from _metric(group, figures)
    if len(digest.metrics) > METRICS:
        yield Paragraph(
            f"{len(digest.metrics) - METRICS:,} more kinds of question were asked; the list below has them."
        )
    yield from _surprises(digest)
    yield from _tests(digest)
    yield from _budget(digest)
    yield from _verify(digest, ledger)
    if digest.listed:
        yield Heading("Every answer")
        if figures and digest.drawn:
            yield draw_answers(digest.drawn, digest.asked)
        cut = "" if len(digest.listed) == digest.asked else f"The last {len(digest.listed)} of {digest.asked:,} answers"
        folded = cut or f"All {digest.asked:,} answers"
        yield Grid((*_HEADERS, "guess", "by", "at"), [_full(row) for row in digest.listed], (0, 2, 3, 4, 6), folded)


def _summary(digest: LedgerDigest, figures: bool) -> Iterator[Block]:
    terms, meter = digest.terms, digest.meter
    unit = "groups" if terms.schema.grouped else "rows"
    aside = f", and {terms.practice_size:,} set aside for practice" if terms.practice else ""
    yield KeyFacts(
        [
            ("sealed " + unit, f"{terms.size:,}"),
            ("answers", f"{digest.asked:,}"),
            ("surprises", f"{meter.surprises:,}"),
            (f"{meter.currency} spent", show_spent(meter.spent)),
            ("next answer", "none left" if meter.next_width is None else show_width(meter.next_width)),
        ]
    )
    if not terms.mechanism.promises:
        yield Paragraph(NO_PROMISE)
    elif digest.asked:
        yield Paragraph(
            f"{digest.asked:,} questions were asked of {terms.size:,} sealed {unit}{aside}. With probability at least "
            f"{100 * terms.confidence:.6g} % all intervals in this report hold together, for the population that the "
            f"{unit} came from, however the questions were chosen."
        )
    else:
        yield Paragraph(f"{terms.size:,} {unit} are sealed{aside}, and nothing has been asked of them.")
    if not figures:
        yield Paragraph("Figures are left out: they need the extra 'plot' (pip install 'unworn[plot]').")


def _metric(group: MetricDigest, figures: bool) -> Iterator[Block]:
    yield Heading(group.metric)
    answers = f"{group.asked:,} answer{'s' * (group.asked != 1)}"
    surprises = f", {group.surprises:,} of them a surprise" if group.surprises else ""
    if len(group.best) == 1:
        yield Paragraph(f"{answers}{surprises}.")
    elif group.direction:
        order = "highest" if group.direction > 0 else "lowest"
        yield Paragraph(
            f"{answers}{surprises}. Below, the best: the {order} values first. Two whose intervals overlap may be in "
            "the other order; holdout.compare tells them apart."
        )
    else:
        yield Paragraph(f"{answers}{surprises}. Below, the latest first.")
    made_of = _part_words(group.metric)
    if made_of is not None:
        yield Paragraph(made_of)
    if figures and group.direction and len(group.best) > 1:
        yield draw_ranking(group)
    yield Grid(_HEADERS, [_line(row) for row in group.best], (0, 2, 3, 4))


def _part_words(metric: str) -> str | None:
    """What is made of such values, where something usually is."""
    if " less a constant times " in metric:
        return (
            "How far losses lie from the constant that is named, and 0 outside of the subgroup: the mean in the "
            "subgroup is the constant plus the value over the subgroup's share. Each has a constant of its own."
        )
    if " times " in metric:
        return "0 outside of the subgroup: over its share it is the mean in the subgroup."
    return _MADE_OF.get(metric.partition(" ")[0])


def _surprises(digest: LedgerDigest) -> Iterator[Block]:
    yield Heading("Surprises")
    if not digest.meter.surprises:
        yield Paragraph("None: wherever there was a guess, the rows agreed with it.")
        return
    yield Paragraph(
        "A surprise is an answer that the guess did not lead one to expect: the rows say something else. Surprises are "
        "what costs, and worth a look: a model that does worse here than where its guess came from may have been "
        f"fitted to that data. {digest.meter.surprises:,} so far"
        + (", the latest below." if digest.surprises else ".")
        + (" A hypothesis that was rejected is one too." if any(row["value"] for row in digest.tests) else "")
    )
    if digest.surprises:
        rows = [[*_line(row)[:2], _guess(row), *_line(row)[2:5]] for row in reversed(digest.surprises)]
        yield Grid(("answer", "question", "guess", "value", "interval", "±"), rows, (0, 2, 3, 4, 5))


def _tests(digest: LedgerDigest) -> Iterator[Block]:
    if digest.tests:
        yield Heading("Tests")
        yield Paragraph("A hypothesis that was not rejected may be false all the same.")
        rows = [
            [str(row["index"]), question_words(row), "rejected" if row["value"] else "not rejected"]
            for row in digest.tests
        ]
        yield Grid(("answer", "hypothesis", "outcome"), rows, (0,))
    if digest.failures:
        yield Heading("Without an answer")
        yield Paragraph("Asks whose code failed, or that were interrupted. They were charged, and tell nothing else.")
        rows = [[str(row["index"]), question_words(row), row["source"]] for row in digest.failures]
        yield Grid(("answer", "question", "what happened"), rows, (0,))


def _budget(digest: LedgerDigest) -> Iterator[Block]:
    terms, meter = digest.terms, digest.meter
    yield Heading("Budget")
    if meter.currency == "nats":
        yield Paragraph(
            f"{show_spent(meter.spent)} nats are spent. Answers are paid for in nats: one that was e times less "
            "likely, by a law fixed before the conversation began, costs one nat more. Agreement is nearly free, a "
            "surprise costs about ten, and what is spent widens every later interval."
        )
    planned = "no cap on the number of asks" if meter.planned is None else f"a cap of {meter.planned:,} asks"
    width = "None is left" if meter.next_width is None else f"The next one gets {show_width(meter.next_width)}"
    yield Paragraph(
        f"{meter.asked:,} asks so far, with {planned}. {width}, if the rows agree with a guess of one half. The "
        f"mechanism is {type(terms.mechanism).__name__}, at {100 * terms.confidence:.6g} %"
        + (f", by the theorem {digest.theorem}." if digest.theorem else ".")
    )


def _verify(digest: LedgerDigest, ledger: str | None) -> Iterator[Block]:
    yield Heading("How to verify this")
    if ledger is None:
        yield Paragraph(
            "The ledger is kept in one program's memory: holdout.verify() replays it while that program runs."
        )
    else:
        yield Paragraph(
            "Everything above follows from the ledger, which is chained and signed. Whoever has it can replay every "
            "answer, without the rows and without the key:"
        )
        where = shlex.quote(ledger.removeprefix("sqlite:///"))
        yield Commands([f"unworn verify --ledger {where} --head {digest.head}", f"unworn ledger {where}"])
    yield Paragraph(f"Head: {digest.head}. Public key: {digest.terms.public}.")
    if digest.assumptions:
        yield Paragraph("What must be true of the world:")
        yield Items(digest.assumptions)


def question_words(row: Row) -> str:
    """The question, with the name and tags that were kept with it."""
    name = row["name"] if row["name"] and row["name"] not in row["question"] else ""
    return " · ".join(part for part in (name, row["question"], show_tags(row["tags"])) if part)


def _line(row: Row) -> list[str]:
    if row["source"] in NO_ANSWER.values():
        return [str(row["index"]), question_words(row), "", "", "", row["source"]]
    if row["source"] == "test":
        return [str(row["index"]), question_words(row), "rejected" if row["value"] else "not rejected", "", "", "test"]
    interval = f"[{show_number(row['low'])}, {show_number(row['high'])}]"
    value, width = show_number(_rounded_beside(row["value"], row["width"])), show_width(row["width"]).removeprefix("± ")
    return [str(row["index"]), question_words(row), value, interval, width, row["source"]]


def _rounded_beside(value: float, width: float) -> float:
    """A value that is nearly 0 beside its interval, without digits that say nothing."""
    if not 0 < width < math.inf or abs(value) >= width:
        return value
    return round(value, 2 - math.floor(math.log10(width))) + 0.0


def _full(row: Row) -> list[str]:
    return [*_line(row), _guess(row), row["by"] or "", row["at"][:19].replace("T", " ")]


def _guess(row: Row) -> str:
    return "" if row["guess"] is None else show_number(_rounded_beside(row["guess"], row["width"] or 0.0))
