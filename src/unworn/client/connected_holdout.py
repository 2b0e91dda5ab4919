"""A holdout behind a wall: the verbs of a holdout, answered by a server that has the rows and the key."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, SupportsFloat, TypeVar

from unworn.basics.typed_fields import read_fields
from unworn.client.ask_words import Guesses, ask_body, check_by, label_body, read_question
from unworn.client.connected_scoring import ConnectedScoring
from unworn.client.signed_answers import read_answer
from unworn.client.transport.problem_errors import BadReply
from unworn.errors import Tampered, Unaskable
from unworn.holdout.asking.argument_checks import check_list
from unworn.holdout.asks import GivenTags, read_labels
from unworn.queries import Composite, Query, hypothesis
from unworn.queries.composite import Question
from unworn.record.answer import Answer
from unworn.record.derived_answer import DerivedAnswer, DerivedQuote
from unworn.record.meter import Quote
from unworn.record.verdict import Verdict

_UNBOUNDED = {"width": math.inf, "widest": math.inf, "low": -math.inf, "high": math.inf}
"""What JSON has no word for: a composite may have no bound."""
_Q = TypeVar("_Q", Quote, DerivedQuote)


class ConnectedHoldout(ConnectedScoring):
    """What :func:`~unworn.connect` returns for a holdout: the verbs of :class:`~unworn.Holdout`.

    Every answer is rebuilt from the ledger's own signed entry: the signature, that the interval follows from what was
    told, and that the entry is about the question that was asked are checked here. A pickle of it names the server and
    not the token: a worker finds that in ``UNWORN_TOKEN`` or where ``unworn login`` stored it.
    """

    def ask(
        self,
        question: Question | str,
        guess: Guesses = None,
        *,
        guess_se: float | Sequence[float | None] | None = None,
        gauge: float | None = None,
        again: bool = False,
        by: str | None = None,
        noise: bool = False,
        name: str | None = None,
        tags: GivenTags = None,
    ) -> Answer | DerivedAnswer:
        """As :meth:`Holdout.ask`; who asks is the token's account."""
        check_by(by)
        asked = read_question(question)
        body = ask_body(asked, guess, guess_se=guess_se, gauge=gauge, again=again, noise=noise, name=name, tags=tags)
        return read_answer(self._wire.post(f"{self._base}/asks", body), self._pin, asked)

    def ask_many(
        self,
        questions: Iterable[Query | str],
        guesses: Iterable[SupportsFloat | None] | None = None,
        *,
        by: str | None = None,
        noise: bool = False,
        name: str | Sequence[str | None] | None = None,
        tags: GivenTags | Sequence[GivenTags] = None,
    ) -> list[Answer]:
        """As :meth:`Holdout.ask_many`: all or none."""
        check_by(by)
        asked = [read_question(question) for question in check_list(questions, "questions")]
        expected = [None] * len(asked) if guesses is None else check_list(guesses, "guesses")
        if len(expected) != len(asked):
            raise Unaskable(f"there are {len(asked)} questions but {len(expected)} guesses")
        labels = read_labels(name, tags, len(asked))
        asks = [
            ask_body(question, guess, noise=noise, tags=label)
            for question, guess, label in zip(asked, expected, labels, strict=True)
        ]
        told = self._wire.post(f"{self._base}/asks/batch", {"asks": asks})
        if not isinstance(told, list) or len(told) != len(asked):
            raise BadReply(f"{len(asked)} questions were asked, and the server answers others")
        answers = [read_answer(each, self._pin, one) for each, one in zip(told, asked, strict=True)]
        return [answer for answer in answers if isinstance(answer, Answer)]

    def quote(
        self,
        question: Question | str,
        guess: Guesses = None,
        *,
        guess_se: float | Sequence[float | None] | None = None,
        gauge: float | None = None,
        noise: bool = False,
    ) -> Quote | DerivedQuote:
        """As :meth:`Holdout.quote`: what it would cost and how wide it would be, for nothing."""
        asked = read_question(question)
        body = ask_body(asked, guess, guess_se=guess_se, gauge=gauge, noise=noise)
        told = self._wire.post(f"{self._base}/quotes", body)
        try:
            if isinstance(asked, Composite):
                return _read_quote(DerivedQuote, told)
            return _read_quote(Quote, told)
        except (TypeError, ValueError, AttributeError):
            raise BadReply("the server shows no price that can be read") from None

    def test(
        self,
        question: Query | str,
        level: float = 0.05,
        *,
        above: float | None = None,
        below: float | None = None,
        by: str | None = None,
        name: str | None = None,
        tags: GivenTags = None,
    ) -> Verdict:
        """As :meth:`Holdout.test`."""
        check_by(by)
        asked = read_question(question)
        if not isinstance(asked, Query):
            raise Unaskable("a hypothesis is about one question, not about what is made of several")
        tested = hypothesis(asked, level, above=above, below=below)
        body: dict[str, Any] = {"question": asked.to_json(), "level": level, **label_body(name, tags)}
        body |= {key: value for key, value in (("above", above), ("below", below)) if value is not None}
        answer = read_answer(self._wire.post(f"{self._base}/tests", body), self._pin, tested)
        if not isinstance(answer, Answer):
            raise BadReply("the server answers a hypothesis with several answers")
        return Verdict.of(answer.certificate)

    # ------------------------------------------------------------------ after an answer

    def sharpen(
        self, answer: Answer, *, by: str | None = None, name: str | None = None, tags: GivenTags = None
    ) -> Answer:
        """As :meth:`Holdout.sharpen`: a narrower interval for an answer that matters."""
        check_by(by)
        if not isinstance(answer, Answer):
            raise Unaskable(f"sharpen takes an answer of this holdout, not a {type(answer).__name__}")
        self._pin.check(answer.certificate.terms.public)
        body = {"index": answer.index, **label_body(name, tags)}
        return self._same_question(self._wire.post(f"{self._base}/sharpen", body), answer)

    def final(
        self,
        answers: Answer | DerivedAnswer | Iterable[Answer | DerivedAnswer],
        *,
        close: bool = True,
        by: str | None = None,
        name: str | None = None,
        tags: GivenTags = None,
    ) -> Any:
        """As :meth:`Holdout.final`, of answers of this holdout: exact values as the last word."""
        check_by(by)
        one = isinstance(answers, Answer | DerivedAnswer)
        listed: list[Any] = [answers] if one else check_list(answers, "answers")
        parts = [part for each in listed for part in _parts(each)]
        for part in parts:
            self._pin.check(part.certificate.terms.public)
        body = {"indexes": [part.index for part in parts], "close": bool(close), **label_body(name, tags)}
        told = self._wire.post(f"{self._base}/final", body)
        replies = _one_by_one(told)
        if len(replies) != len(parts):
            raise BadReply(f"{len(parts)} final values were asked for, and the server sent {len(replies)}")
        waiting = iter([self._same_question(reply, part) for reply, part in zip(replies, parts, strict=True)])
        done = [
            next(waiting)
            if isinstance(each, Answer)
            else DerivedAnswer.of(each.query, [next(waiting) for _ in each.parts])
            for each in listed
        ]
        return done[0] if one else done

    def _same_question(self, reply: Any, answer: Answer) -> Answer:
        told = read_answer(reply, self._pin)
        if not isinstance(told, Answer) or told.certificate.record.fingerprint != answer.certificate.record.fingerprint:
            raise Tampered("the server answered a different question from the one this answer is about")
        return told

    def __copy__(self) -> ConnectedHoldout:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ConnectedHoldout:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        from unworn.client.connecting import redeem_connection

        return redeem_connection, (self.url, self._wire.ticket)


def _read_quote(kind: type[_Q], told: dict[str, Any]) -> _Q:
    """A price; an end without a bound comes as nothing at all."""
    open_ends: dict[str, Any] = {
        name: _UNBOUNDED[name] for name, value in told.items() if value is None and name in _UNBOUNDED
    }
    return replace(read_fields(kind, {**told, **dict.fromkeys(open_ends, 0.0)}), **open_ends)


def _parts(answer: Any) -> tuple[Answer, ...]:
    if isinstance(answer, Answer):
        return (answer,)
    if isinstance(answer, DerivedAnswer):
        return answer.parts
    raise Unaskable(f"final values are of answers that a server gave, not of a {type(answer).__name__}: ask first")


def _one_by_one(told: Any) -> list[Any]:
    """One reply per entry: a list of such, or one reply with all entries."""
    if isinstance(told, list):
        return told
    if isinstance(told, dict) and isinstance(told.get("entries"), list):
        return [{"terms": told.get("terms"), "entries": [entry]} for entry in told["entries"]]
    raise BadReply("the server shows no final values that can be read")
