"""``fit``: seal the rows for one release, and make it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

from unworn.basics.float_settings import with_usual_floats
from unworn.errors import Unaskable
from unworn.ledger import Store, ledger_exists, ledger_url
from unworn.ledger.registry import PER_USER, PerUser
from unworn.record.declared_uses import Uses
from unworn.release.methods.method import Method, Progress
from unworn.release.problem import Problem
from unworn.release.release import Release
from unworn.universe.domain.domain import Domain
from unworn.universe.workload import Workload


@with_usual_floats
def fit(
    frame: Any,
    workload: Workload | int,
    *,
    epsilon: float,
    delta: float = 0.0,
    domain: Domain | Mapping[str, Iterable[Any]] | str | os.PathLike[str] | None = None,
    method: Method | str = "auto",
    train: Any = None,
    confidence: float = 0.95,
    ledger: str | os.PathLike[str] | Store | PerUser | None = PER_USER,
    name: str | None = None,
    uses: Mapping[str, float] | None = None,
    progress: Progress | None = None,
) -> Release:
    """Answer a whole workload at once, so that one row more or less shows in nothing that is released.

    Parameters
    ----------
    frame
        The rows, in any form that :class:`~unworn.Holdout` takes.
    workload
        What is asked (see :mod:`unworn.universe.workload`); a number asks all marginals of so many columns.
    epsilon, delta
        What may be revealed of one row that is replaced by another. With ``delta=0`` (pure) the release is dearer.
    domain
        The values each column can have: a :class:`~unworn.universe.domain.domain.Domain`, a mapping, a TOML file;
        ``"rows"`` reads them off the rows, which the certificate then says. By default they come from ``train``, or
        from dtypes.
    method
        ``"auto"`` for the method with the smallest predicted error, a name (``"mwem"``, ``"projection"``, ...), or a
        method from this package.
    train
        Rows that may be seen, to read the domain off.
    confidence
        The probability with which all that is promised of the release holds together.
    ledger, name
        Where the rows are sealed, as for a holdout, and by default in the ledger that has them or in the per-user
        directory: rows that are sealed already, in whatever ledger, raise ``Mismatch``.
    uses
        The shares of the rows that declared uses have, as ``{"asks": 0.7, "release": 0.3}``: this one is ``"release"``.
    progress
        Called with (steps done, steps in all).

    Examples
    --------
    >>> import numpy as np
    >>> from unworn import col, share
    >>> rng = np.random.default_rng(1)
    >>> people = {"plan": rng.choice(["basic", "pro"], 20_000), "churned": rng.random(20_000) < 0.2}
    >>> release = fit(people, 2, epsilon=1.0, domain={"plan": ["basic", "pro"], "churned": [False, True]})
    >>> told = release.answer(share(col("churned") & (col("plan") == "pro")))
    >>> told.low < 0.1 < told.high, release.certificate.sample_error < 0.01
    (True, True)
    >>> len(release.sample(100)["plan"])
    100
    """
    from unworn.holdout.rows_ledger import check_domain_readable, find_ledger
    from unworn.release.methods.method_choice import choose_method
    from unworn.release.sealing import seal_and_release
    from unworn.rows import Sample
    from unworn.rows.memory.domain_coding import CodedRows
    from unworn.universe.workload import Marginals

    asked = Marginals(int(workload)) if isinstance(workload, Integral) and not isinstance(workload, bool) else workload
    if not isinstance(asked, Workload):
        raise Unaskable(
            f"a workload is Marginals(2), Thresholds('age'), … or their sum, not a {type(workload).__name__}"
        )
    sample = Sample.read(frame)
    memory = find_ledger(sample, None) if ledger is None else None  # says if the rows have a ledger, before all else
    if isinstance(domain, str) and domain == "rows":
        check_domain_readable(sample, ledger)
    known = _domain(domain, sample, train)
    if uses is not None and known.origin == "rows":
        raise Unaskable("a domain cannot be read off rows that several uses share: declare it, or give train=")
    shared = None if uses is None else Uses.of(uses, "release")
    rows = sample.size if shared is None else shared.size(sample.size)
    problem = Problem(rows, known, asked, epsilon, delta, confidence)
    way = choose_method(method, problem)
    # Rows that the domain has no place for are refused before there is a ledger; but where one may know these rows, or
    # columns of them, it is asked first, or refusals would answer questions about rows whose terms are fixed.
    tables = CodedRows(sample, known) if memory or is_unknown(sample, ledger) else None
    auto = isinstance(method, str) and method == "auto"
    place = memory or find_ledger(sample, ledger)
    try:
        made = seal_and_release(
            sample, place, problem, way, name=name, uses=shared, auto=auto, progress=progress, tables=tables
        )
    except BaseException:
        place.withdraw()
        raise
    place.close()
    return made


def is_unknown(sample: Any, ledger: str | os.PathLike[str] | Store | PerUser | None) -> bool:
    """Whether no ledger can know these rows: the one that is named is not there, and the registry knows no other."""
    from unworn.holdout.rows_ledger import is_known

    if isinstance(ledger, Store) or (isinstance(ledger, str | os.PathLike) and ledger_exists(ledger_url(ledger))):
        return False
    return not is_known(sample)


def _domain(given: Any, sample: Any, train: Any) -> Domain:
    if isinstance(given, Domain):
        return given
    if isinstance(given, Mapping):
        return Domain(given)
    if isinstance(given, str) and given == "rows":
        return Domain.of_rows(sample)
    if isinstance(given, str | os.PathLike):
        return Domain.read(given)
    if given is not None:
        raise ValueError(f"domain is a Domain, a mapping, a TOML file or 'rows', not a {type(given).__name__}")
    if train is None:
        return Domain.of_dtypes(sample)
    seen = sample.read_train(train)
    return Domain.of_train(seen, columns=[name for name in sample.columns if name in seen.columns])
