"""The certificate of a release: what it reveals of a row, how far it may be off, and who signed that."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from unworn.basics.display import show_html
from unworn.errors import Tampered
from unworn.ledger import Entry, Key, check_signature, verify
from unworn.mechanisms.sealed_release import Released
from unworn.queries.query import canonical
from unworn.record.certificate import (
    BESIDE,
    BESIDE_A_LEDGER,
    FORMER_WORDS,
    FROM_SEED,
    IN_MEMORY,
    SECRET,
    in_memory,
    read_card,
    write_card,
)
from unworn.record.transcript import Terms
from unworn.release.methods.method import Method
from unworn.release.problem import Problem
from unworn.universe.domain.domain import Domain
from unworn.universe.workload import from_json as workload_from_json

if TYPE_CHECKING:
    from pathlib import Path

FORMAT = "unworn release 1"

ASSUMPTIONS = (
    "The rows are independent draws from the population that the answers speak of (privacy needs no such assumption).",
    "Domain, workload, epsilon and delta were chosen without looking at the rows.",
    "The rows are seen only through this release: it is the one use that its ledger seals them for, and nothing else, "
    "no other ledger on another machine either, has shown anything of them.",
)
OF_THE_PART = (
    "The rows of this part are seen only through this release; other declared uses have other rows, and what is shown "
    "of those is theirs to promise. No other ledger, on another machine either, has shown anything of them."
)
_FORMER = {
    ASSUMPTIONS[2]: "The rows are seen only through this release.",
    OF_THE_PART: "The rows are seen only through this release; other declared uses have other rows, and what is shown "
    "of those is theirs to promise.",
    IN_MEMORY: FORMER_WORDS[IN_MEMORY],
}
"""The same, as earlier versions signed it."""
OFF_THE_TYPES = "The categories of the columns' types were declared, and not made from the rows."
OFF_THE_ROWS = "The domain was read off the rows themselves: which values occur is not hidden by this release."


@dataclass(frozen=True)
class ReleaseCertificate:
    """What a release promises, bound to its terms (entry 0 of the ledger) and to its content by a signature.

    ``said`` is the readable part; ``signature`` covers all of it, the content's digest included.
    """

    first: Entry
    said: dict[str, Any]
    signature: str

    @classmethod
    def sign(cls, first: Entry, said: dict[str, Any], key: Key) -> ReleaseCertificate:
        plain = json.loads(canonical(said))
        return cls(first, plain, key.sign(_digest(first, plain)))

    @property
    def terms(self) -> Terms:
        return Terms.from_body(self.first.body)

    @property
    def epsilon(self) -> float:
        """What the release may reveal of one row, with ``delta``."""
        return float(self.said["epsilon"])

    @property
    def delta(self) -> float:
        return float(self.said["delta"])

    @property
    def confidence(self) -> float:
        """The probability with which all intervals of the release hold together."""
        return float(self.said["confidence"])

    @property
    def sample_error(self) -> float:
        """How far the answers to the workload lie from those of the rows, at most."""
        return float(self.said["sample_error"])

    @property
    def population_error(self) -> float:
        """How far they lie from those of the population, at most."""
        return float(self.said["population_error"])

    @property
    def assumptions(self) -> tuple[str, ...]:
        return tuple(self.said["assumptions"])

    def to_json(self) -> dict[str, Any]:
        return {"format": FORMAT, **self.said, "terms": self.first.to_json(), "signature": self.signature}

    @classmethod
    def from_json(cls, data: Any) -> ReleaseCertificate:
        """Read a certificate somebody else wrote, and check it: see :meth:`verify`."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise Tampered(f"this is not a release's certificate: its 'format' should be {FORMAT!r}")
        said = {name: value for name, value in data.items() if name not in ("format", "terms", "signature")}
        certificate = cls(Entry.from_json(data.get("terms")), said, str(data.get("signature")))
        certificate.verify()
        return certificate

    def verify(self) -> None:
        """Check that the key named in entry 0 signed all of this, and that it says what entry 0 says."""
        verify([self.first])
        terms, public = self.terms, str(self.first.body.get("public"))
        try:
            signed = check_signature(public, _digest(self.first, self.said), self.signature)
        except (TypeError, ValueError, RecursionError):
            signed = False
        if not signed:
            raise Tampered("the certificate of this release is not what was signed")
        problem, method = read_promise(terms)
        for name, value in follows(self.first, problem, method).items():
            former = [_FORMER.get(words, words) for words in value] if name == "assumptions" else value
            if canonical(self.said.get(name)) not in (canonical(value), canonical(former)):
                raise Tampered(f"the certificate's {name} is not what entry 0 makes it")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it as JSON; ``unworn verify`` checks the file."""
        return write_card(path, self.to_json())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> ReleaseCertificate:
        return cls.from_json(read_card(path))

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{show_html(assumption)}</li>" for assumption in self.assumptions)
        return (
            f"<div><b>Release</b> · {show_html(self.said['name'])} · {show_html(self.said['method']['method'])}<br>"
            f"ε = {self.epsilon:g}, δ = {self.delta:g} for one row replaced · within ± {self.sample_error:.4g} of the "
            f"rows and ± {self.population_error:.4g} of the population ({100 * self.confidence:.6g} %)"
            f"<ul>{items}</ul></div>"
        )


def read_promise(terms: Terms) -> tuple[Problem, Method]:
    """What entry 0 seals rows for; ``Tampered`` where its method would reveal more than its budget, or is none."""
    from unworn.release.methods.method_choice import method_from_json

    sealed = terms.sealed_for
    if not isinstance(sealed, Released):
        raise Tampered("entry 0 seals these rows for questions, not for a release")
    try:
        domain, workload = Domain(sealed.domain), workload_from_json(sealed.workload)
        problem = Problem(terms.size, domain, workload, sealed.epsilon, sealed.delta, terms.confidence)
        method = method_from_json(sealed.method)
        method.check(problem)
    except (ArithmeticError, LookupError, TypeError, ValueError) as why:
        raise Tampered(f"entry 0 holds no release that could be made: {why}") from None
    return problem, method


def follows(first: Entry, problem: Problem, method: Method) -> dict[str, Any]:
    """What the certificate says that entry 0 alone decides."""
    terms = Terms.from_body(first.body)
    return {
        "name": terms.name,
        "method": method.to_json(),
        "workload": problem.workload.to_json(),
        "domain": problem.domain.to_json(),
        "epsilon": problem.epsilon,
        "delta": problem.delta,
        "unit": "one row replaced by another",
        "rows": problem.rows,
        "questions": problem.questions,
        "confidence": problem.confidence,
        "theorems": {
            "sample": method.theorem,
            "population": "Clopper and Pearson's limits for all questions of the workload together",
            "chosen later": "privacy transfer (Theorem D2)",
        },
        "assumptions": _assumptions(terms, problem.domain.origin),
        "version": terms.version,
        "public_key": terms.public,
    }


def _assumptions(terms: Terms, origin: str) -> list[str]:
    """What must be true of the world, in words."""
    told = [*ASSUMPTIONS[:2], ASSUMPTIONS[2] if terms.uses is None else OF_THE_PART, SECRET]
    special = {
        OFF_THE_ROWS: origin == "rows",
        OFF_THE_TYPES: origin == "dtypes",
        IN_MEMORY: in_memory(terms),
        BESIDE: terms.kept == BESIDE_A_LEDGER,
        FROM_SEED: terms.kept == "seed",
    }
    return told + [words for words, holds in special.items() if holds]


def _digest(first: Entry, said: dict[str, Any]) -> str:
    return sha256(canonical({"format": FORMAT, "first": first.hash, "said": said}).encode()).hexdigest()
