"""What each mechanism would give for the same rows and asks, by its own theorem."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

from unworn.bounds import best_rounding, splitting_exact
from unworn.mechanisms import (
    AboveThreshold,
    BoundedNoise,
    Gaussian,
    GuessAndCheck,
    Ladder,
    Laplace,
    Mechanism,
    MedianOracle,
    MultiplicativeWeights,
    OneSample,
    PairedLadder,
    PrivateGuessAndCheck,
    PrivateLadder,
    Rounding,
    SampleSplitting,
    SparseVector,
    Subsampled,
    Thresholdout,
)
from unworn.mechanisms.coded.coded_mechanism import CodedMechanism
from unworn.mechanisms.contract.declarations import THEOREM_U
from unworn.mechanisms.noisy.noisy_mean import THEOREM_F
from unworn.mechanisms.noisy.noisy_mechanism import Noisy
from unworn.plan import other_options
from unworn.plan.guess_price import MOST, guess_width, noisy_check_width
from unworn.plan.other_options import WidthAndReason
from unworn.plan.result import Option, Tells

HOPELESS = 0.5
"""An interval of this half-width is the whole range."""

DRAWN = 10_000
"""Rows an ask reads where only some are drawn."""

_MOST_COMPOSED = 10**9
"""Past this many asks, noise whose privacy is composed numerically is not priced: that takes minutes."""

_COMPOSED = " bounded"

_FAR = 10**6
"""Where fewer rows than this may be wrong, noise answers fewer asks than would be hard to price."""

_CLOSE = 2e-3
"""How near, as a share, to the most asks within a width it is enough to come."""

_TOO_LARGE = "more than can be priced here"


def price(mechanism: str, rows: int, asks: int, surprises: int, confidence: float) -> Option:
    """One mechanism for these rows and asks; those that need no guesses do not depend on the surprises.

    >>> option = price("BoundedNoise", 1_000_000, 10_000, 0, 0.95)
    >>> round(option.width, 3), option.theorem
    (0.019, 'noisy means (Theorem F)')
    >>> price("AboveThreshold", 10_000, 1_000, 0, 0.95).tells
    'sides'
    """
    width, reason = width_and_reason(mechanism, rows, asks, surprises, 1 - confidence)
    theorem = theorem_of(mechanism, rows, asks, 1 - confidence)
    return option(mechanism, theorem, width, reason, tells=_TELLS.get(mechanism, "values"))


def noisy_checks(rows: int, asks: int, surprises: int, confidence: float) -> Option:
    """Guess and check where so many surprises are planned that agreement is told with noise.

    >>> option = noisy_checks(10_000, 1_000, 20, 0.95)
    >>> option.mechanism, option.theorem, round(option.width, 2)
    ('GuessAndCheck(surprises=20)', 'one currency (Theorem U)', 0.08)
    """
    width = noisy_check_width(rows, asks, surprises, 1 - confidence)
    reason = _TOO_LARGE if width is None else f"{right(asks, surprises)}; guesses are checked with noise"
    return option(f"GuessAndCheck({surprises=})", THEOREM_U, width, reason)


def width_and_reason(mechanism: str, rows: int, asks: int, surprises: int, beta: float) -> WidthAndReason:
    """The bare half-width, however large, and what to know about it."""
    kind = KINDS[mechanism]
    if kind is GuessAndCheck:
        return guess_width(rows, asks, surprises, beta), right(asks, surprises)
    if kind in _OTHERS:
        return _other(mechanism, rows, asks, surprises, beta)
    return _PRICES[kind](rows, asks, beta)


def option(
    mechanism: str,
    theorem: str,
    width: float | None,
    reason: str,
    comparison: bool = False,
    tells: Tells = "values",
) -> Option:
    """An option, with no width where the interval would be the whole range."""
    if width is not None and not width < HOPELESS:
        width, reason = None, _HOPELESSLY[tells]
    return Option(mechanism, theorem, width, reason, comparison=comparison, tells=tells)


def right(asks: int, surprises: int) -> str:
    """How good guesses are taken to be."""
    return f"all but {surprises:,} of {asks:,} guesses are right" if surprises else "every guess is right"


def most_asks(mechanism: str, rows: int, width: float, beta: float, close: float = _CLOSE) -> int | None:
    """How many asks a mechanism that needs no guesses answers within a width; none where that is not known.

    >>> most_asks("SampleSplitting", 10_000, 0.1, 0.05)
    38
    """
    plain = {"SampleSplitting": "splitting, exact", "Rounding": "rounding"}.get(mechanism)
    names = certificates(mechanism) if plain is None else (plain,)
    found = [asks_within(name, rows, width, beta, close) for name in names]
    return max((asks for asks in found if asks is not None), default=None)


def certificates(mechanism: str) -> tuple[str, ...]:
    """Under which names the registry of theorems has a noise."""
    kind = KINDS[mechanism]
    return kind.certificates if issubclass(kind, Noisy) and kind is not Subsampled else ()


def theorem_of(mechanism: str, rows: int, asks: int, beta: float) -> str:
    """The theorem that a mechanism of such a plan would rest on."""
    widths = _noise_widths(certificates(mechanism), rows, asks, beta)
    best = min(widths, key=widths.__getitem__, default="")
    return THEOREM_F if best.startswith("F ") else KINDS[mechanism].theorem


@lru_cache(maxsize=4096)
def asks_within(theorem: str, rows: int, width: float, beta: float, close: float = _CLOSE) -> int | None:
    """The same for a theorem by its name in the registry."""
    from unworn.bounds.transfer import registry

    # Far above what can be priced the search would take minutes, or leave 64-bit numbers: look at the end first.
    end = _MOST_COMPOSED if theorem.endswith(_COMPOSED) else MOST
    noisy = not theorem.startswith(("splitting", "rounding"))
    if noisy and rows * width > _FAR and (noise_width(theorem, rows, end, beta) or 1.0) <= width:
        return MOST if end == MOST else None
    try:
        return min(registry.most_asks(theorem, rows, width, beta, close=close), MOST)
    except ValueError:  # composing so many answers, or such wide noise, is more than the accountant can hold
        return None


def noise_width(theorem: str, rows: int, asks: int, beta: float) -> float | None:
    """The half-width of a theorem of the registry at its best noise; none where the accountant cannot follow."""
    from unworn.bounds.transfer import registry

    if theorem.endswith(_COMPOSED) and not theorem.startswith("F ") and asks > _MOST_COMPOSED:
        return None
    try:
        return registry.best_scale(theorem, rows, asks, beta)[1]
    except ValueError:
        return None


def _noise_widths(names: tuple[str, ...], rows: int, asks: int, beta: float) -> dict[str, float]:
    """The half-width by each theorem that can be had; the first comes first where they are the same."""
    found = {name: noise_width(name, rows, asks, beta) for name in names}
    return {name: width for name, width in found.items() if width is not None}


def _noisy(kind: type[Noisy], what: str, rows: int, asks: int, beta: float) -> WidthAndReason:
    width = min(_noise_widths(kind.certificates, rows, asks, beta).values(), default=None)
    return width, f"needs no guesses; {what}" if width is not None else _TOO_LARGE


def _splitting(rows: int, asks: int, beta: float) -> WidthAndReason:
    if asks > rows:
        return None, "there are fewer rows than asks"
    part = rows // asks
    return splitting_exact(rows, asks, beta), f"{part:,} {'row' if part == 1 else 'rows'} per ask"


def _rounding(rows: int, asks: int, beta: float) -> WidthAndReason:
    return best_rounding(rows, asks, beta)[1], "needs no guesses; no noise"


@lru_cache(maxsize=1024)
def _subsampled(rows: int, asks: int, beta: float) -> WidthAndReason:
    drawn = min(rows, DRAWN)
    try:
        width = Subsampled(drawn=drawn).best(rows, asks, beta)[1] if asks <= _MOST_COMPOSED else None
    except ValueError:
        width = None
    if width is None:
        return None, _TOO_LARGE
    return width, f"quick: an ask reads {drawn:,} rows" if drawn < rows else "reads all rows, so it is Laplace's equal"


def _one_sample(rows: int, asks: int, beta: float) -> WidthAndReason:
    """No interval at all: its promise is about a chance, so it never competes."""
    coin = "one row per ask: a coin, not an interval"
    if asks > _MOST_COMPOSED:
        return None, f"{coin}; {_TOO_LARGE}"
    try:
        flip = OneSample.for_(rows=rows, asks=asks, confidence=1 - beta).flip
    except ValueError:
        return None, f"{coin}, and here not even its chance can be promised"
    return None, f"{coin}; its chance of a yes is within ± {2 * (flip or 0):.3g}"


@lru_cache(maxsize=1024)
def _other(mechanism: str, rows: int, asks: int, surprises: int, beta: float) -> WidthAndReason:
    if asks > _MOST_COMPOSED and not issubclass(KINDS[mechanism], CodedMechanism):
        return None, _TOO_LARGE
    try:
        return _OTHERS[KINDS[mechanism]](rows, asks, surprises, beta)
    except ValueError:  # nothing that could be chosen for it promises anything
        return None, _HOPELESSLY[_TELLS.get(mechanism, "values")]


_PRICES: dict[type[Mechanism], Callable[[int, int, float], WidthAndReason]] = {
    BoundedNoise: partial(_noisy, BoundedNoise, "noise without tails"),
    Gaussian: partial(_noisy, Gaussian, "normal noise"),
    Laplace: partial(_noisy, Laplace, "pure privacy"),
    Rounding: _rounding,
    SampleSplitting: _splitting,
    Subsampled: _subsampled,
    OneSample: _one_sample,
}
_OTHERS: dict[type[Mechanism], Callable[[int, int, int, float], WidthAndReason]] = {
    PrivateGuessAndCheck: other_options.private_guess_and_check,
    Thresholdout: other_options.thresholdout,
    MultiplicativeWeights: other_options.multiplicative_weights,
    MedianOracle: other_options.median_oracle,
    AboveThreshold: other_options.above_threshold,
    SparseVector: other_options.sparse_vector,
    Ladder: other_options.ladder,
    PairedLadder: other_options.paired_ladder,
    PrivateLadder: other_options.private_ladder,
}
_TELLS: dict[str, Tells] = {
    "MultiplicativeWeights": "domain values",
    "MedianOracle": "domain values",
    "AboveThreshold": "sides",
    "SparseVector": "sides",
    "Ladder": "bests",
    "PairedLadder": "bests",
    "PrivateLadder": "bests",
    "OneSample": "coins",
}
_HOPELESSLY: dict[Tells, str] = {
    "values": "the interval would be the whole range",
    "domain values": "nothing to promise, even over a domain of few cells",
    "sides": "nothing could be said about any value",
    "bests": "no lead would be seen for certain",
    "coins": "not even a coin",
}
_ALL: list[type[Mechanism]] = [GuessAndCheck, *_PRICES, *_OTHERS]
KINDS = {kind.__name__: kind for kind in _ALL}
"""Every mechanism with a promise, by its name."""
GUESSED = frozenset({"GuessAndCheck", "PrivateGuessAndCheck", "Thresholdout"})
"""Those that hold a guess against the rows."""
