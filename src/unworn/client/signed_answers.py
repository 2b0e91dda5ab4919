"""Answers from the other side, believed for their signatures: rebuilt, checked, and about what was asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from unworn.boards.gate_values import GateClaim, Milestone
from unworn.client.transport.pinned_keys import PinnedKey
from unworn.client.transport.problem_errors import BadReply
from unworn.errors import Failed, Mismatch, Tampered
from unworn.ledger import Entry
from unworn.mechanisms.contract.mechanism import STOPPED, has_failed
from unworn.queries import Composite, Query, parse_composite
from unworn.queries.composite import Question
from unworn.record.answer import Answer
from unworn.record.certificate import Certificate
from unworn.record.derived_answer import DerivedAnswer

Expected = Callable[[Certificate], bool]


def read_certificate(terms: Any, entry: Any, pin: PinnedKey) -> Certificate:
    """The certificate of an entry: signed by the key that is known, its interval following from its symbol."""
    certificate = Certificate.of(Entry.from_json(terms), Entry.from_json(entry))
    certificate.verify()
    pin.check(certificate.terms.public)
    return certificate


def read_answer(reply: Any, pin: PinnedKey, question: Question | None = None) -> Answer | DerivedAnswer:
    """What a server answered; with ``question``, refused where it is the answer to another one."""
    if not isinstance(reply, dict) or "terms" not in reply:
        raise BadReply("the server's answer has no signed entries")
    entries = reply.get("entries", [reply["entry"]] if "entry" in reply else None)
    if not isinstance(entries, list) or not entries:
        raise BadReply("the server's answer has no signed entries")
    proofs = [read_certificate(reply["terms"], entry, pin) for entry in entries]
    derived = reply.get("derived")
    composite = _composite(derived, question)
    parts: Sequence[Query | None] = [None] * len(proofs)
    if composite is not None and isinstance(question, Composite):
        parts = question.questions
    elif isinstance(question, Query):
        parts = [question]
    if len(parts) != len(proofs) or (composite is None and len(proofs) != 1):
        raise BadReply(f"the server answers with {len(proofs)} entries where {len(parts)} are needed")
    for proof, part in zip(proofs, parts, strict=True):
        check_question(proof, part)
    answers = [Answer.of(proof, part) for proof, part in zip(proofs, parts, strict=True)]
    for proof in proofs:
        check_success(proof)
    return answers[0] if composite is None else DerivedAnswer.of(composite, answers)


def join_answers(proofs: Sequence[Certificate], derived: Any) -> Answer | DerivedAnswer:
    """What entries say together, by a composite that is about these very entries; or what the only one says."""
    composite = _composite(derived, None)
    parts: Sequence[Query | None] = [None] if composite is None else composite.questions
    if len(parts) != len(proofs):
        raise BadReply(f"the server shows {len(proofs)} entries where {len(parts)} are needed")
    for proof, part in zip(proofs, parts, strict=True):
        check_question(proof, part)
    answers = [Answer.of(proof) for proof in proofs]
    return answers[0] if composite is None else DerivedAnswer.of(composite, answers)


def check_success(proof: Certificate) -> None:
    """Raise what a holdout raises where no answer could be made of the rows: it was entered and charged."""
    record = proof.record
    if has_failed(record.symbol):
        message = Failed.MESSAGE if record.offer.runs_code else Failed.OURS
        raise Failed(Failed.STOPPED if record.symbol == STOPPED else message, index=proof.entry.index)


def check_question(proof: Certificate, query: Query | None) -> None:
    """Refuse an entry about something else: a signature proves what was asked, not that it was asked by us."""
    if query is not None and proof.record.fingerprint != query.fingerprint:
        raise Tampered(
            f"the server answered another question ({proof.record.label[:80]}) than was asked ({query.label[:80]})"
        )


def check_milestone(told: Milestone, card: Any, pin: PinnedKey) -> None:
    """Refuse a milestone of the gate that says other than the signed entry behind it.

    Of a metric such as F1, whose gain is made of several entries, the milestone names the first: it is checked to be
    signed, and the gain is the server's word.
    """
    certificate = Certificate.from_json(card)
    certificate.verify()
    pin.check(certificate.terms.public)
    if certificate.entry.index != told.index or told.is_confirmed != (told.low > 0.0):
        raise Tampered("the entry behind this milestone is that of another one")
    if not _is_difference(certificate):
        return
    answer = Answer.of(certificate)
    said, signed = (told.value, told.low, told.high), (answer.value, answer.low, answer.high)
    if said != signed:
        raise Tampered(f"the milestone says {said}, and the entry behind it {signed}")


def _is_difference(proof: Certificate) -> bool:
    question = proof.record.question
    return isinstance(question, dict) and question.get("ask") == "difference"


def check_claim(told: GateClaim, proofs: Sequence[Certificate]) -> None:
    """Refuse the last word on a lane where it says other than the signed entries behind it: its gain, then its score.

    Of a metric such as F1, and where nothing was gained, the entries are checked to be signed and to be those named.
    """
    if [proof.entry.index for proof in proofs] != list(told.indexes):
        raise Tampered("the entries behind this claim are those of another one")
    if told.gain is None or len(proofs) != 2:
        return
    are_gains = [_is_difference(proof) for proof in proofs]
    if not any(are_gains):
        return
    if are_gains != [True, False]:
        raise Tampered("the entries behind this claim are not those of a gain and a score")
    gain, score = map(Answer.of, proofs)
    said, signed = (told.gain, told.gain_low, told.gain_high), (gain.value, gain.low, gain.high)
    if said != signed:
        raise Tampered(f"the claim says a gain of {said}, and the entry behind it {signed}")
    check_score("claim", (told.score, told.score_low, told.score_high), score)


def check_score(what: str, said: tuple[Any, Any, Any], signed: Answer | DerivedAnswer) -> None:
    """Refuse a score that is not what the signed entries behind it say, or its negative, as of a loss."""
    shown = (signed.value, signed.low, signed.high)
    if said not in (shown, (-signed.value, -signed.high, -signed.low)):
        raise Tampered(f"the {what} says a score of {said}, and the entries behind it {shown}")


def mentions_digest(proof: Certificate, digest: str) -> bool:
    """Whether an entry is about these predictions: its question has their digest in it."""
    waiting: list[Any] = [proof.record.question]
    for part in waiting:  # which grows meanwhile
        if isinstance(part, dict):
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
        elif part == digest:
            return True
    return False


def _composite(derived: Any, question: Question | None) -> Composite | None:
    if derived is None:
        if isinstance(question, Composite):
            raise BadReply("the server answers one question where several were asked together")
        return None
    if isinstance(question, Query):
        raise BadReply("the server answers several questions where one was asked")
    composite = parse_composite(derived)
    if isinstance(question, Composite) and composite.to_json() != question.to_json():
        raise Mismatch("the server made its answer of another composite than was asked for")
    return composite
