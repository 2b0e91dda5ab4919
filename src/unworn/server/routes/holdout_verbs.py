"""What can be done with a holdout over HTTP: the verbs of :class:`~unworn.holdout.Holdout`, of plain values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import msgspec

from unworn.basics.display import show_value
from unworn.basics.json_text import canonical
from unworn.errors import Failed, Unaskable, UnwornError
from unworn.queries import Composite, parse, parse_composite
from unworn.record.certificate import Certificate
from unworn.server.account import Account
from unworn.server.requests.json_reply import ReplyText, proof_text
from unworn.server.requests.request_keys import TAG, RequestKeys, tag_of
from unworn.server.routes.released_entries import find_tagged, has_no_answer, ledger_length, read_certificate

if TYPE_CHECKING:
    from unworn.holdout import Holdout
    from unworn.record.derived_answer import DerivedQuote
    from unworn.record.meter import Quote

MOST_IN_A_BATCH = 5_000
LONGEST_QUESTION = 20_000
"""Characters of a question in SQL."""
Number = int | float
PlainTags = dict[str, str | int | float | bool] | None


class AskBody(msgspec.Struct, forbid_unknown_fields=True):
    """A question: SQL text or a query in JSON; and what the asker expects."""

    question: str | dict[str, Any]
    guess: Number | list[Number | None] | None = None
    guess_se: Number | list[Number | None] | None = None
    gauge: Number | None = None
    again: bool = False
    noise: bool = False
    name: str | None = None
    tags: PlainTags = None

    def options(self) -> dict[str, Any]:
        """What goes along with the question and its guess."""
        plain = {"guess_se": self.guess_se, "again": self.again, "noise": self.noise}
        return plain if self.gauge is None else {**plain, "gauge": self.gauge}


class BatchBody(msgspec.Struct, forbid_unknown_fields=True):
    """Questions that were all chosen before any of them is answered."""

    asks: list[AskBody]


class HypothesisBody(msgspec.Struct, forbid_unknown_fields=True):
    """A hypothesis to be tested."""

    question: str | dict[str, Any]
    level: Number = 0.05
    above: Number | None = None
    below: Number | None = None
    name: str | None = None
    tags: PlainTags = None


class PracticeBody(msgspec.Struct, forbid_unknown_fields=True):
    """A question to the practice rows."""

    question: str | dict[str, Any]


class SharpenBody(msgspec.Struct, forbid_unknown_fields=True):
    """Which answer should have a narrower interval."""

    index: int
    name: str | None = None
    tags: PlainTags = None


class FinalBody(msgspec.Struct, forbid_unknown_fields=True):
    """Which answers should have their last word, and whether the holdout is closed with them."""

    indexes: list[int]
    close: bool = True
    name: str | None = None
    tags: PlainTags = None


def read_question(question: str | dict[str, Any]) -> Any:
    """A question as a value: text stays text, which the holdout parses; JSON is read against what is known."""
    if isinstance(question, str):
        if len(question) > LONGEST_QUESTION:
            raise Unaskable(f"a question has at most {LONGEST_QUESTION:,} characters, not {len(question):,}")
        return question
    try:
        return parse_composite(question) if "combine" in question else parse(question)
    except (KeyError, TypeError, ValueError, RecursionError) as why:
        raise why if isinstance(why, UnwornError) else Unaskable("this is not a question that can be read") from None


def prepare_ask(caller: Account, body: AskBody, keys: RequestKeys, key: str | None, digest: str) -> dict[str, Any]:
    """What a holdout is asked, once it is read and its key, if it has one, is noted."""
    told = {"question": read_question(body.question), "guess": body.guess, **body.options()}
    told |= {"by": caller.name, "name": body.name, "tags": check_tags(body.tags)}
    keys.note(caller.name, key, digest)
    return told


def ask_question(
    holdout: Holdout, caller: Account, body: AskBody, keys: RequestKeys, key: str | None, digest: str
) -> ReplyText:
    """Ask by oneself, and tell the answer as JSON: once for a key, also where the question is asked anew."""
    if not body.again or key is None:
        return ReplyText.one(holdout.ask(**prepare_ask(caller, body, keys, key, digest)))
    question, tags = read_question(body.question), check_tags(body.tags)

    def ask(more: dict[str, Any]) -> ReplyText:
        noted, how = {**(tags or {}), **more}, body.options()
        return ReplyText.one(holdout.ask(question, body.guess, by=caller.name, name=body.name, tags=noted, **how))

    derived = "null" if not isinstance(question, Composite) else canonical(question.to_json())
    return answer_once(keys, holdout, caller, key, digest, ask, derived)


def ask_batch(holdout: Holdout, caller: Account, body: BatchBody) -> ReplyText:
    """Ask several at once: one pass over the rows, all or none."""
    if len(body.asks) > MOST_IN_A_BATCH:
        raise Unaskable(
            f"a batch has at most {MOST_IN_A_BATCH:,} questions, not {len(body.asks):,}: others wait in the meantime",
            limit=MOST_IN_A_BATCH,
        )
    for ask in body.asks:
        if ask.again or ask.guess_se is not None or ask.gauge is not None or isinstance(ask.guess, list):
            raise Unaskable("a batch takes questions, guesses, names and tags; ask the others one by one")
    if len({ask.noise for ask in body.asks}) > 1:
        raise Unaskable("all questions of a batch are asked with noise, or none")
    answers = holdout.ask_many(
        [read_question(ask.question) for ask in body.asks],
        [ask.guess for ask in body.asks],  # type: ignore[misc]
        by=caller.name,
        noise=bool(body.asks) and body.asks[0].noise,
        name=[ask.name for ask in body.asks],
        tags=[check_tags(ask.tags) for ask in body.asks],
    )
    return ReplyText.several(answers)


def quote_question(holdout: Holdout, body: AskBody) -> dict[str, Any]:
    """What a question would cost."""
    return quote_json(holdout.quote(read_question(body.question), body.guess, **body.options()))


def quote_json(quote: Quote | DerivedQuote) -> dict[str, Any]:
    """A quote as plain values; what has no bound is null."""
    plain = asdict(quote).items()
    return {name: None if isinstance(value, float) and value - value != 0 else value for name, value in plain}


def check_hypothesis(holdout: Holdout, caller: Account, body: HypothesisBody) -> ReplyText:
    """Test, and tell the verdict as the answer that it is."""
    verdict = holdout.test(
        read_question(body.question),
        body.level,
        above=body.above,
        below=body.below,
        by=caller.name,
        name=body.name,
        tags=check_tags(body.tags),
    )
    return ReplyText.one(verdict)


def sharpen_answer(holdout: Holdout, caller: Account, body: SharpenBody) -> ReplyText:
    """A narrower interval for an answer of the ledger."""
    answer = answers_of(holdout, [body.index])[0]
    return ReplyText.one(holdout.sharpen(answer, by=caller.name, name=body.name, tags=check_tags(body.tags)))


def finish_answers(holdout: Holdout, caller: Account, body: FinalBody) -> ReplyText:
    """The last word on answers of the ledger."""
    if not 1 <= len(body.indexes) <= 1000:
        raise Unaskable(f"name 1 to 1,000 answers, not {len(body.indexes)}")
    answers = holdout.final(
        answers_of(holdout, body.indexes),
        close=body.close,
        by=caller.name,
        name=body.name,
        tags=check_tags(body.tags),
    )
    return ReplyText.several(answers)


def answers_of(holdout: Holdout, indexes: Sequence[int]) -> list[Any]:
    """Answers of the ledger by their numbers."""
    from unworn.record.answer import Answer

    return [Answer.of(read_certificate(holdout, index)) for index in indexes]


def answer_once(
    keys: RequestKeys,
    holdout: Holdout,
    caller: Account,
    key: str,
    digest: str,
    work: Callable[[dict[str, Any]], ReplyText],
    derived: str = "null",
) -> ReplyText:
    """Do what would be charged again, once for a key: also where the process ended between the entry and its note."""
    tag = tag_of(caller.name, key)
    with keys.turn(caller.name, key):
        start, places, began_before = keys.begin(caller.name, key, digest, ledger_length(holdout))
        if places is None and began_before:
            places = find_tagged(holdout, start, TAG, tag) or None
            if places is not None:
                keys.finish(caller.name, key, places)
        if places is not None:
            return repeat_answer([read_certificate(holdout, place) for place in places], derived)
        try:
            told = work({TAG: tag})
        except UnwornError:
            keys.finish(caller.name, key, find_tagged(holdout, start, TAG, tag) or None)
            raise
        keys.finish(caller.name, key, find_tagged(holdout, start, TAG, tag))
        return told


def repeat_answer(proofs: list[Certificate], derived: str) -> ReplyText:
    """What was answered before, again; a failure is told as one."""
    if len(proofs) == 1 and has_no_answer(proofs[0]):
        raise Failed(Failed.MESSAGE)
    return ReplyText(proof_text(proofs, derived))


def check_tags(tags: dict[str, Any] | None) -> dict[str, Any] | None:
    """An asker's own tags: one name is the server's."""
    if tags and TAG in tags:
        raise Unaskable(f"the tag {show_value(TAG)} is the server's own: call yours something else")
    return tags
