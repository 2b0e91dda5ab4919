"""Every certificate for k adaptive shares under its name, each at the noise that suits it best.

Names are "theorem noise": F with ``bounded`` (raised cosine) and ``Gaussian`` noise, D2, D1+ and D1 with these and
``Laplace`` noise, the published theorems with Gaussian noise, and what needs no noise. All hold for all k answers at
once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial

from unworn.bounds import privacy
from unworn.bounds.baselines import best_rounding, splitting_exact, splitting_width
from unworn.bounds.extremes import NARROWEST, WIDEST, largest_gaussian, largest_laplace
from unworn.bounds.numerics import check_probability, check_whole
from unworn.bounds.privacy.profiles import GDP, Profile
from unworn.bounds.transfer.jung import jlnrss20_gaussian, jlnrss20_profile
from unworn.bounds.transfer.parameter_search import lowest
from unworn.bounds.transfer.price import stability
from unworn.bounds.transfer.published_theorems import Chosen, bnsssu16, check_plan, dfhprr15, rogers20
from unworn.bounds.transfer.sharpened_transfer import d1, d1_plus
from unworn.events import Noised

_SHARPENED: dict[str, Callable[[Profile, float], float]] = {
    "D2": lambda profile, beta: stability(profile, beta).width,
    "D1+": d1_plus,
    "D1": d1,
}
_MEANS = ("F bounded", "F Gaussian")
_NOISES = {"bounded": "cosine", "Gaussian": "gaussian", "Laplace": "laplace"}
_PUBLISHED: dict[str, Callable[[int, int, float], Chosen]] = {
    "JLNRSS20 Gaussian": jlnrss20_gaussian,
    "JLNRSS20 Gaussian, CKS20 profile": partial(jlnrss20_profile, exact=False),
    "JLNRSS20 Gaussian, exact profile": jlnrss20_profile,
    "Rogers20 Gaussian": rogers20,
    "BNSSSU16 Gaussian": bnsssu16,
    "DFHPRR15 Gaussian": dfhprr15,
}
_NOISELESS: dict[str, Callable[[int, int, float], float]] = {
    "splitting, exact": splitting_exact,
    "splitting, Hoeffding": splitting_width,
    "rounding": lambda n, k, beta: best_rounding(n, k, beta)[1],
}
THEOREMS = (
    *_MEANS,
    *(f"{theorem} {noise}" for theorem in _SHARPENED for noise in _NOISES),
    *_PUBLISHED,
    *_NOISELESS,
)
_LAST = 3  # profiles looked at, at most, in the search for a scale:
_CLOSE = 0.03  # a scale as near as this to the best one makes the width greater by less than a thousandth


def widths(n: int, k: int, confidence: float = 0.95) -> dict[str, float]:
    """The half-width of every theorem in :data:`THEOREMS`, least over the free noise; 1 where it promises nothing.

    >>> for name, width in sorted(widths(10**6, 10**4).items(), key=lambda item: item[1])[:5]:
    ...     print(f"{width:.4f} {name}")
    0.0186 F bounded
    0.0231 F Gaussian
    0.0287 D2 bounded
    0.0290 D1+ bounded
    0.0352 D2 Gaussian
    """
    check_probability("confidence", confidence)
    beta = 1.0 - confidence
    check_plan(n, k, beta)
    return {theorem: _width(theorem, n, k, beta) for theorem in THEOREMS}


def _width(theorem: str, n: int, k: int, beta: float) -> float:
    if theorem in _NOISELESS:
        return 1.0 if k > n and theorem != "rounding" else min(1.0, _NOISELESS[theorem](n, k, beta))
    return best_scale(theorem, n, k, beta)[1]


def best_scale(theorem: str, n: int, k: int, beta: float) -> tuple[float, float]:
    """The noise that makes a theorem's half-width least, in rows, and that half-width.

    Standard deviation of Gaussian noise, scale of Laplace noise, or the whole number N that bounded noise stays below.
    A half-width of 1 promises nothing, and then neither does the scale.

    >>> scale, width = best_scale("D1 Gaussian", 10**6, 10**4, 0.05)
    >>> round(scale), round(width, 4)
    (4953, 0.0472)
    """
    check_plan(n, k, beta)
    if theorem in _MEANS:
        from unworn.bounds.covers import WIDEST_RADIUS
        from unworn.bounds.noisy_means import best_cosine, best_gaussian  # which search as this package does

        found = (best_cosine if theorem == "F bounded" else best_gaussian)(int(n), int(k), float(beta))
        if found.kappa == math.inf and found.noise > WIDEST_RADIUS:
            raise ValueError(f"noise of more than {WIDEST_RADIUS:,} rows is not priced by Theorem F")
        return found.noise, min(1.0, found.width)
    if theorem in _PUBLISHED:
        chosen = _PUBLISHED[theorem](n, k, beta)
        return n * chosen.sigma, min(1.0, chosen.width)
    name, _, noise = theorem.partition(" ")
    if name not in _SHARPENED or noise not in _NOISES:
        noisy = [known for known in THEOREMS if known not in _NOISELESS]
        raise ValueError(f"no theorem with noise is called {theorem!r}; there are {', '.join(noisy)}")
    return _best_scale(name, noise, int(n), int(k), float(beta))


@lru_cache(maxsize=4096)
def _best_scale(theorem: str, noise: str, n: int, k: int, beta: float) -> tuple[float, float]:
    """Start from the central limit theorem, where noise is Gaussian, and correct it by a few exact profiles."""
    stable = _SHARPENED[theorem]
    # What the largest noise and the total privacy loss are, per unit and per inverse unit of scale.
    reach = {"bounded": 1.0, "Gaussian": largest_gaussian(k, beta), "Laplace": largest_laplace(1e5, k, beta) / 1e5}[
        noise
    ]
    loss = math.sqrt(k) * (math.pi if noise == "bounded" else 1.0)

    def limit(scale: float) -> float:
        return stable(GDP(loss / scale), beta)

    scale = lowest(lambda scale: reach * scale / n + limit(scale), math.sqrt(n * loss / reach), close=2e-3)
    if noise == "Gaussian" or reach * scale / n + limit(scale) >= 1.0:
        return _possible(scale), min(1.0, reach * scale / n + limit(scale))
    found: dict[float, tuple[float, float]] = {}  # scale: its width, and by how much its profile exceeds the limit's
    for _ in range(_LAST):
        scale = float(max(2, round(scale))) if noise == "bounded" else _possible(scale)
        if any(abs(math.log(scale / seen)) < _CLOSE for seen in found):
            break
        total = stable(privacy.profile(Noised(_NOISES[noise], scale), n, k), beta)
        most = scale - 1.0 if noise == "bounded" else largest_laplace(scale, k, beta)
        found[scale] = most / n + total, math.log(total / limit(scale))
        scale = lowest(partial(_corrected, found, limit, reach / n), scale, close=2e-3, step=1.1)
    best = min(found, key=lambda scale: found[scale][0])
    return best, min(1.0, found[best][0])


def _possible(scale: float) -> float:
    """Where no noise helps, the search for a scale runs off; it is brought back to what noise can be."""
    return min(max(scale, 2.0 * NARROWEST), WIDEST / 2.0)


def _corrected(
    found: dict[float, tuple[float, float]], limit: Callable[[float], float], rate: float, scale: float
) -> float:
    """The width at a scale, its profile interpolated between the last exact ones (in logarithms)."""
    *_, (last, (_, excess)) = found.items()
    if len(found) > 1:
        (other, (_, before)) = list(found.items())[-2]
        slope = (excess - before) / math.log(last / other)
        excess += max(-2.0, min(2.0, slope)) * math.log(scale / last)
    return rate * scale + limit(scale) * math.exp(excess)


def most_asks(theorem: str, n: int, width: float, beta: float, *, close: float = 5e-4) -> int:
    """The most adaptive asks that a theorem answers within ``width``, to a share of ``close`` from below.

    Widths are near a power of k, so straight lines in logarithms find the place in a few steps.

    >>> most_asks("D1 Gaussian", 10**4, 0.1, 0.05), most_asks("splitting, Hoeffding", 10**4, 0.1, 0.05)
    (37, 28)
    """
    check_whole("the number of rows", n, 1)
    check_probability("width", width)
    if theorem not in THEOREMS:
        raise ValueError(f"no theorem is called {theorem!r}; there are {', '.join(THEOREMS)}")

    def excess(k: int) -> float:
        return math.log(_width(theorem, n, k, beta) / width)

    low, below = 1, excess(1)
    if below > 0:
        return 0
    high, above = 0, math.inf
    while high == 0:
        # A width grows at least like k^(1/4) in the end; the third power falls short rather than far beyond.
        step = max(2 * low, math.floor(low * math.exp(min(-3.0 * below, 30.0))))
        passed = excess(step)
        if passed > 0:
            high, above = step, passed
        else:
            low, below = step, passed
    nudge = 0.0
    while high - low > max(1.0, close * low):
        straight = -below / (above - below) * math.log(high / low)
        middle = min(max(round(low * math.exp(straight + nudge)), low + 1), high - 1)
        passed = excess(middle)
        # The line's guess is nearly right: look next just on its other side, further if that was the same side again.
        if passed > 0:
            high, above, nudge = middle, passed, min(2.0 * nudge, -0.5 * close)
        else:
            low, below, nudge = middle, passed, max(2.0 * nudge, 0.5 * close)
    return low
