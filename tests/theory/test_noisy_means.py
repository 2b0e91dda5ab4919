"""Theorem F against whoever knows best what to do with noisy means, and against the mistakes one makes with it.

*All analysts*, where rows are few: the best of them, found by working backwards through every conversation, makes some
interval miss with a chance that is computed exactly. *The posterior attack*, where they are many: ask at random, weigh
each answer by Bayes' rule, and ask last for the share of those whom the answers speak for. No other attack that is
known comes closer to what the theorem allows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, hypergeom

from tests.two_sizes import in_two_sizes, reseeded
from unworn import Certificate, Holdout, col, share
from unworn.bounds.covers import cosine_nats
from unworn.bounds.noisy_means import claim_nats, count_limits
from unworn.errors import Tampered
from unworn.ledger import GENESIS, Entry, Key
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import BoundedNoise, Gaussian, Offer
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.mechanisms.noisy.noisy_mean import NoisyMean
from unworn.noise import Stream
from unworn.queries.query import Facts

ALARM = 1e-7
SHARE = Facts("binary", 0.0, 1.0, zero_one=True)

# ---------------------------------------------------------------------------- all analysts


@dataclass(frozen=True)
class FewRows:
    """So few rows, of so few kinds, that every conversation about them can be gone through."""

    rows: int
    chances: tuple[float, ...]
    asks: int
    radius: int
    beta: float
    zero: int | None = None
    """Where the cosine would be 0, if it is cut off."""

    def cost(self, kept: float) -> float:
        return cosine_nats(self.rows, kept, self.radius, self.zero)

    def nats(self) -> float:
        """The least that the theorem gives, over the chances of keeping a row."""
        return min(claim_nats(self.beta, self.asks * self.cost(kept), kept) for kept in np.linspace(0.1, 0.9, 17))

    def worst(self, nats: float, reach: int) -> float:
        """The best analyst's chance that some interval misses: exactly, over all questions and all outcomes."""
        weights, moves = self._world()
        places = range(1 - self.radius, self.rows + self.radius)
        ends = [count_limits(r - reach, r + reach, self.rows, nats) for r in places]
        missed = [np.array([not low <= truth <= high for low, high in ends]) for truth, _ in moves]

        def value(known: np.ndarray, left: int) -> float:
            best = 0.0
            for gone, (_, said) in zip(missed, moves, strict=True):
                after = said * known
                chance = float(after[gone].sum())
                if left > 1:
                    chance += sum(value(each, left - 1) for each in after[~gone] if each.sum() > 0)
                best = max(best, chance)
            return best

        return value(weights, self.asks)

    def learned(self, kept: float) -> float:
        """The most, over all analysts, of ln E exp((1 - kept) KL(what is known of the rows || what was)).

        The theorem's own step: it is at most asks times kappa, and from it the bound follows for every event.
        """
        weights, moves = self._world()

        def ending(after: np.ndarray) -> np.ndarray:
            total = after.sum(axis=1, keepdims=True)
            with np.errstate(divide="ignore", invalid="ignore"):
                terms = np.where(after > 0, after / total * np.log(after / total / weights), 0.0)
            return np.where(total[:, 0] > 0, total[:, 0] * np.exp((1 - kept) * terms.sum(axis=1)), 0.0)

        def value(known: np.ndarray, left: int) -> float:
            after = (said * known for _, said in moves)
            if left == 1:
                return max(float(ending(each).sum()) for each in after)
            return max(sum(value(row, left - 1) for row in each if row.sum() > 0) for each in after)

        return math.log(value(weights, self.asks))

    def _world(self) -> tuple[np.ndarray, list[tuple[float, np.ndarray]]]:
        """The chances of the rows' counts by kind; of each question the truth, and the chances of what is said."""
        kinds = len(self.chances)
        counts = np.array(_histograms(self.rows, kinds))
        log_chance = [math.lgamma(self.rows + 1) - sum(math.lgamma(c + 1) for c in each) for each in counts]
        weights = np.exp(np.array(log_chance) + counts @ np.log(self.chances))
        places = np.arange(1 - self.radius, self.rows + self.radius)
        law = 1 + np.cos(np.pi * np.arange(1 - self.radius, self.radius) / (self.zero or self.radius))
        chances = np.append(law / law.sum(), 0.0)
        moves = []
        for size in range(1, kinds // 2 + 1):  # the others say the same the other way round
            for asked in combinations(range(kinds), size):
                z = places[:, np.newaxis] - counts[:, list(asked)].sum(axis=1)
                said = chances[np.where(abs(z) < self.radius, z + self.radius - 1, -1)]
                moves.append((sum(self.chances[kind] for kind in asked), said))
        return weights, moves


def _histograms(rows: int, kinds: int) -> list[tuple[int, ...]]:
    if kinds == 1:
        return [(rows,)]
    return [(first, *rest) for first in range(rows + 1) for rest in _histograms(rows - first, kinds - 1)]


FEW = [
    FewRows(6, (0.05, 0.15, 0.8), 2, 2, 0.5),
    FewRows(8, (0.02, 0.08, 0.9), 2, 3, 0.4),
    FewRows(12, (0.01, 0.03, 0.96), 2, 2, 0.7),
    FewRows(6, (0.05, 0.15, 0.8), 2, 2, 0.5, zero=3),
    FewRows(8, (0.02, 0.08, 0.9), 2, 3, 0.4, zero=5),
]


@pytest.mark.parametrize("plan", FEW, ids=str)
@in_two_sizes(short=2, full=3)
def test_no_analyst_of_few_rows_makes_an_interval_miss_too_often(plan: FewRows, size: int) -> None:
    plan = replace(plan, asks=size)
    assert plan.worst(plan.nats(), plan.radius - 1) <= plan.beta


@pytest.mark.parametrize("plan", [FEW[0], FEW[3]], ids=str)
@in_two_sizes(short=2, full=3)
def test_nor_a_test_of_a_true_hypothesis_reject_at_any_level(plan: FewRows, size: int) -> None:
    """Verdicts are read off the limits of one plan, whose ``kept`` suits its own confidence and no other level."""
    plan = replace(plan, asks=size)
    kept = min(np.linspace(0.1, 0.9, 17), key=lambda each: claim_nats(plan.beta, size * plan.cost(each), each))
    for level in (plan.beta, 0.3, 0.1, 0.02):
        nats = claim_nats(level, size * plan.cost(kept), kept)
        assert plan.worst(nats, plan.radius - 1) <= level


@pytest.mark.parametrize(
    ("plan", "kept"),
    [
        (FewRows(60, (0.5, 0.5), 1, 20, 0.5), 0.7),
        (FewRows(7, (0.3, 0.3, 0.4), 2, 4, 0.5), 0.5),
        (FewRows(9, (0.2, 0.3, 0.5), 2, 3, 0.5), 0.4),
        (FewRows(5, (0.1, 0.2, 0.3, 0.4), 2, 3, 0.5), 0.6),
        (FewRows(60, (0.5, 0.5), 1, 20, 0.5, zero=23), 0.7),
        (FewRows(9, (0.2, 0.3, 0.5), 2, 3, 0.5, zero=5), 0.4),
    ],
    ids=str,
)
@in_two_sizes(short=1, full=2)
def test_no_analyst_of_few_rows_learns_more_than_is_paid(plan: FewRows, kept: float, size: int) -> None:
    plan = replace(plan, asks=plan.asks if size == 1 else min(plan.asks + 1, 3))
    assert 0 < plan.learned(kept) <= plan.asks * plan.cost(kept)


def test_half_the_cost_is_less_than_is_learned() -> None:
    """The check above can fail: kappa halved. Where rows are many and most of them kept, little is left of it."""
    for zero in (None, 23):
        plan = FewRows(60, (0.5, 0.5), 1, 20, 0.5, zero)
        assert plan.learned(0.7) > plan.cost(0.7) / 2


def test_intervals_that_forget_noise_and_questions_miss_too_often() -> None:
    """The check above can fail: limits as if the released count were the rows' own, at the level of a single ask."""
    plan = FewRows(12, (0.01, 0.03, 0.96), 2, 2, 0.3)
    assert plan.worst(-math.log(plan.beta), 0) > plan.beta


# ---------------------------------------------------------------------------- the posterior attack


@dataclass(frozen=True)
class Attack:
    rows: int
    asks: int
    plays: int


def posterior_attack(kind: NoisyMean, attack: Attack, seed: int) -> tuple[list[float], float, int]:
    """Per play how far the last share of the rows is off, what the theorem allows, and in how many an interval missed.

    Rows are fair bits, one for each question. Row x is spoken for by an answer R with the logarithm of the chance of R
    if its bit is 1, over that if it is 0; the last question is whether all answers together speak for a row.
    """
    rows, asks = attack.rows, attack.asks
    mechanism = kind.settled(rows, 0.95, asks + 1)
    offer = mechanism.offer(mechanism.begin(rows, 0.95, asks + 1), SHARE, None)
    noise = mechanism.largest(rows, asks + 1, 1 - 0.95)
    step, allowed = offer.payload.steps // rows, mechanism.half_width(rows, asks + 1, math.log1p(-0.95)) - noise
    rng, biases, missed = np.random.default_rng(seed), [], 0
    for play in range(attack.plays):
        bits = rng.integers(0, 2, (asks, rows), dtype=np.int8)
        counts = bits.sum(axis=1, dtype=np.int64)
        drawn = [mechanism.draw(rows, Stream(rng.bytes(32), "ask", j, "head", str(play))) for j in range(asks + 1)]
        told = step * counts + np.array(drawn[:asks])
        weights = _weights(mechanism, rows, told / step)
        spoken = (weights @ (bits - 0.5)) > 0
        last = step * int(spoken.sum()) + drawn[asks]
        biases.append(float(spoken.mean()) - 0.5)
        missed += not all(_holds(mechanism, offer, int(symbol)) for symbol in (*told, last))
    return biases, allowed, missed


def _holds(mechanism: NoisyMean, offer: Offer, symbol: int) -> bool:
    told = publish_symbol(mechanism, offer, symbol)
    return told.low <= 0.5 <= told.high


def _weights(mechanism: NoisyMean, rows: int, told: np.ndarray) -> np.ndarray:
    """By Bayes' rule: what an answer says for a row whose bit is 1."""
    scale = mechanism.noised(rows).scale
    if isinstance(mechanism, Gaussian):  # all but normal, and so all but linear
        return (told - rows / 2) / (scale**2 + rows / 4)
    radius = int(scale)
    z = np.arange(1 - radius, radius)
    others = binom.pmf(np.arange(rows), rows - 1, 0.5)
    zero = (mechanism.cosine_zero if isinstance(mechanism, BoundedNoise) else None) or radius
    law = 1 + np.cos(np.pi * z / zero)
    spread = np.convolve(others, law / law.sum())  # from 1 - radius on
    logs = np.log(np.maximum(np.concatenate([[0.0], spread, [0.0]]), 1e-300))
    at = told.astype(int) - (1 - radius) + 1
    return logs[at - 1] - logs[at]


@pytest.mark.parametrize("kind", [BoundedNoise(), Gaussian()], ids=["bounded noise", "gaussian"])
@in_two_sizes(short=Attack(2_000, 5_000, 8), full=Attack(4_000, 8_000, 24))
def test_the_posterior_attack_comes_half_way_and_no_interval_misses(kind: NoisyMean, size: Attack) -> None:
    """False alarm of misses: each play misses with 5 % at most; 7 of 8 and 12 of 24 reject.

    Power: the bias of a play was .63 of what is allowed (bounded noise) and .66 (Gaussian), with a standard deviation
    of 1/(2 sqrt n); one half is five standard errors of the mean over the plays away, or more (3e-7).
    """
    biases, allowed, missed = posterior_attack(replace(kind, accounting="F"), size, reseeded(50))
    assert 0.5 * allowed <= np.mean(biases) <= allowed
    assert binom.sf(missed - 1, size.plays, 0.05) > ALARM


# ---------------------------------------------------------------------------- mistakes


def test_a_cost_that_is_halved_does_not_cover() -> None:
    """(1) at some z and count, by plain sums: with half of kappa the kept rows do not say as much."""
    from tests.bounds.test_noisy_means import _direct_cost

    for n, kept, radius in ((12, 0.5, 20), (13, 0.7, 9)):
        direct = _direct_cost(n, kept, radius)
        assert cosine_nats(n, kept, radius) >= direct * (1 - 1e-6)
        assert cosine_nats(n, kept, radius) / 2 < 0.6 * direct


def fixed_share_cost(n: int, m: int, radius: int, counts: list[int]) -> list[float]:
    """The cost where a fixed number of rows is kept, covered for n/2: the way that must look at every count."""

    def law(count: int) -> tuple[np.ndarray, np.ndarray]:
        low, high = (int(hypergeom.ppf(tail, n, count, m)) for tail in (1e-14, 1 - 1e-14))
        kept = np.arange(low, high + 1)
        place = kept * n / m - count
        below, over = np.floor(place).astype(int), place - np.floor(place)
        chance = hypergeom.pmf(kept, n, count, m)
        return np.concatenate([below, below + 1]), np.concatenate([chance * (1 - over), chance * over])

    z = np.arange(1 - radius, radius)
    noise = (1 + np.cos(np.pi * z / radius)) / (2 * radius)
    cover = np.full(4 * n + 1, 1e-13 / (4 * n + 1))
    for place, chance in zip(*law(n // 2), strict=True):
        cover[2 * n + place + z] += chance * noise
    logs = np.log(cover / cover.sum())
    costs = []
    for count in counts:
        places, chances = law(count)
        costs.append(float((np.log(noise) - logs[2 * n + z[:, np.newaxis] - places] @ chances).max()))
    return costs


def test_a_cost_that_is_looked_at_for_one_count_is_found_out() -> None:
    """Fixed numbers of rows stretch to a lattice: a cover made for one count fits no other where noise is narrow.

    Rows that are kept one by one, and rounded by a spline, have no such trap: no count costs more than what is told.
    """
    middle, *others = fixed_share_cost(20_000, 600, 10, [10_000, 10_017])
    assert max(others) > 5 * middle
    from unworn.bounds import covers

    told, reach = cosine_nats(400, 0.35, 10), covers._reach(400, 0.35, 100.0, 2)
    logs = covers._log_cover(10, 10, math.sqrt(covers.stretched_variance(400, 0.35)), 9 + reach)
    z = np.arange(-9, 10)
    noise = np.log((1 + np.cos(np.pi * z / 10)) / 20)
    ahead = covers._Ahead(logs)
    costs = [float((noise - ahead.mean(covers._stretched_law(400, 0.35, c, reach))).max()) for c in range(401)]
    assert max(costs) <= told


def test_rows_that_are_kept_count_neither_for_nothing_nor_twice() -> None:
    """m rows counted as n: what all rows could tell is (1 - m/n) of what is bounded. Without that more is learned than
    is said, exactly computed; and a plan sealed at such a budget, or for more rows than there are, is refused.
    """
    plan = FewRows(60, (0.5, 0.5), 1, 20, 0.5)
    assert plan.learned(0.0) > cosine_nats(60, 0.7, 20)
    sealed = BoundedNoise(0.05, accounting="F").settled(10_000, 0.95, 300)
    noise, kept, nats = sealed.price or (0.0, 0.0, 0.0)
    with pytest.raises(ValueError, match="too low"):
        replace(sealed, price=(noise, kept, nats * (1 - kept))).begin(10_000, 0.95, 300)
    with pytest.raises(ValueError, match="too low"):
        replace(sealed, scale=0.025, price=(noise / 2, kept, nats)).begin(20_000, 0.95, 300)


def miss_chance(mechanism: BoundedNoise, rows: int, truth: float, held: np.ndarray, values: np.ndarray) -> float:
    """Exactly, for one answer: ``values`` are what the rows may say, in rows, and ``held`` how likely each is."""
    offer = mechanism.offer(mechanism.begin(rows, 0.95, 1), SHARE, None)
    radius = int(mechanism.noised(rows).scale)
    z = np.arange(1 - radius, radius)
    noise = 1 + np.cos(np.pi * z / (mechanism.cosine_zero or radius))
    told = np.arange(values.min() - radius, values.max() + radius)
    limits = (publish_symbol(mechanism, offer, int(symbol)) for symbol in told)
    missed = np.array([not each.low <= truth <= each.high for each in limits])
    return float(sum(f * (held @ missed[values + m - told[0]]) for m, f in zip(z, noise / noise.sum(), strict=True)))


def test_an_answer_that_is_no_mean_is_not_covered() -> None:
    """By how many more than half of the rows count, if more do: one row changes it by one, and it is no mean over rows.

    Its own mean is small and its spread that of a count near one half; told and priced as if it were a mean it misses
    one time in two. A share as small, told in the same way, does so less than once in a million. So statistics are
    refused under F.
    """
    rows = 100_000
    mechanism = BoundedNoise(30 / rows, accounting="F").settled(rows, 0.95, 1)
    counts = np.arange(rows // 2 - 1_300, rows // 2 + 1_300)
    held, beyond = binom.pmf(counts, rows, 0.5), np.maximum(counts - rows // 2, 0)
    truth = float(held @ beyond) / rows
    assert miss_chance(mechanism, rows, truth, held, beyond) > 0.45
    few = np.arange(200)
    assert miss_chance(mechanism, rows, truth, binom.pmf(few, rows, truth), few) < 1e-6


def test_a_share_of_rows_chosen_when_the_costs_are_seen_is_found_out() -> None:
    """An offer at the best m of the asks so far, and not of the plan: the card does not verify, though well signed."""
    data = {"age": np.random.default_rng(1).integers(18, 90, 20_000)}
    holdout = Holdout(data, mechanism=BoundedNoise(), asks=60, ledger=SeededStore(np.random.default_rng(5)))
    holdout.ask(share(col("age") > 50))
    first, entry = holdout._desk.transcript.entries[:2]
    sealed = holdout.mechanism
    seen: Any = replace(sealed, price=None, kappa=None, cosine_zero=None).settled(20_000, 0.95, 1)
    assert seen.price[2] < sealed.price[2]
    key = Key.new()
    body = {**entry.body, "offer": [list(seen.price) if v == list(sealed.price) else v for v in entry.body["offer"]]}
    again = Entry.seal(first.holdout, 0, GENESIS, {**first.body, "public": key.public}, key)
    with pytest.raises(Tampered):
        Certificate.of(again, Entry.seal(first.holdout, 1, again.hash, body, key)).verify()
