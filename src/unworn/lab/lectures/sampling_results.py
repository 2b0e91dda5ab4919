"""The rows of lecture 001 from its summary of results on: fewer rows an answer, convex queries, one-bit answers."""

from __future__ import annotations

from typing import Final

from unworn.lab.lectures.lecture_contract import LectureRow

SUMMARY, FAST, WHY = "Summary of our results", "Fast mechanism for SQs", "Why does this work?"
CONVEX, DESCENT = "Applications to convex optimization", "(Stochastic block) gradient descent with a black box"
COUNTING, SCQ = "Sampling counting queries", "SCQ results"
COUNTS = "unworn.lab.theorems.convex_counts"
AMPLIFICATION = "unworn.bounds.privacy.amplification"
RATES = "theory/optimisation.md#rates-and-the-published-counts"
COMPUTE = "unworn lab lecture 001 --compute"

RESULTS: Final = (
    LectureRow(
        section=SUMMARY,
        kind="theorem",
        says="Samples per query: Õ(ln k/α²) for statistical and for sampling counting queries, where √k/α² were "
        "needed.",
        ours=(f"{COUNTS}.lecture_counts", f"{COUNTS}.former_counts"),
        claim="subsampling",
        page="mechanisms/subsampled.md",
        measured="1.9 % of 100,000 rows an answer certify ± .119, where all rows certify ± .095.",
        note="lecture_counts has the published rates, every hidden constant taken as 1.",
    ),
    LectureRow(
        section=SUMMARY,
        kind="theorem",
        says="Iterations per query: Õ(ln k/α²) for convex and Õ(ln k/α) for strongly convex optimization, where dk/α⁴ "
        "and dk/α³ were needed.",
        ours=(f"{COUNTS}.lecture_counts", f"{COUNTS}.former_counts", "unworn.bounds.optimisation.published_iterations"),
        command=COMPUTE,
        page=RATES,
        measured="d = 4, k = 100, α = .1, β = .05: 760 iterations for 4,000,000 before, every hidden constant taken "
        "as 1.",
    ),
    LectureRow(
        section="SQs",
        kind="theorem",
        says="There is a mechanism with n = Õ(√k/α²), Õ(ln k/α²) samples per query and Õ(ln² k/α²) time per query.",
        ours=("unworn.mechanisms.Subsampled", f"{COUNTS}.lecture_counts", f"{COUNTS}.lecture_time"),
        claim="subsampling",
        page="mechanisms/subsampled.md",
        measured="k = 10,000, α = .1, β = .05: 10,000 rows and 921 samples a query, every hidden constant taken as 1.",
    ),
    LectureRow(
        section=FAST,
        kind="algorithm",
        says="Sample ℓ points uniformly, with or without replacement, and return q(S_ℓ) + Lap(1/(ℓε)); every query "
        "samples anew, like the bootstrap.",
        ours=("unworn.mechanisms.Subsampled",),
        command="unworn audit subsampled",
        page="mechanisms/subsampled.md",
        measured="The audit finds no fault: two answers for which ε = 1.236 is claimed at δ = .001 show at least .677.",
        note="Subsampled(replace=True) is with replacement; both are accounted exactly.",
    ),
    LectureRow(
        section=WHY,
        kind="remark",
        says="Sampling makes the estimator worse and privacy better, and the two cancel in a transfer theorem.",
        ours=(f"{AMPLIFICATION}.without_replacement", f"{AMPLIFICATION}.poisson", "unworn.bounds.privacy.amplified"),
        claim="subsampling",
        page="theory/privacy.md#looking-at-a-sample-of-the-rows",
        measured="ε = 1 on 10 of 100 rows without replacement is ln(1 + (ℓ/n)(e^ε − 1)) = .159 on all.",
    ),
    LectureRow(
        section=WHY,
        kind="theorem",
        says="Proposition: for ℓ points sampled with replacement an ε-private mechanism becomes ln(1 + (1 − (1 − "
        "1/n)^ℓ)(e^ε − 1))-private.",
        ours=(f"{AMPLIFICATION}.claimed_with_replacement", f"{AMPLIFICATION}.with_replacement_pure"),
        command=COMPUTE,
        page="theory/privacy.md#with-replacement-an-erratum",
        measured="n = ℓ = 10, ε = 1: .751 claimed, 1.586 true.",
        erratum="False for ℓ ≥ 2: a row may be drawn more than once, and the mechanism is ε-private for one change "
        "only. n = ℓ = 10, ε = 1: claimed .751, and the truth, attained, is 1.586. Without replacement ln(1 + "
        "(ℓ/n)(e^ε − 1)) is right.",
    ),
    LectureRow(
        section=CONVEX,
        kind="definition",
        says="Conditions: L differentiable and convex or strongly convex, Θ convex, ∇L statistical, E‖∇L‖² ≤ G², and "
        "a bounded diameter of Θ unless strongly convex.",
        ours=("unworn.learn.convex_loss", "unworn.learn.LinearLoss", "unworn.learn.Region", "unworn.learn.Ball"),
        command=COMPUTE,
        page="optimisation.md#a-loss-of-your-own",
        measured="d = 4, k = 10, α = .3: 532,096 rows are certified for gradients with coordinates of at most 1, "
        "and 4,332,544 for 2, in a ball of radius 1.",
        note="A loss declares its constants, and values outside them are refused.",
    ),
    LectureRow(
        section=CONVEX,
        kind="theorem",
        says="Convex optimization: n = Õ(d^{3/2} √k ln(k/β)/α⁵), Õ(d² ln(k/β)/α⁵) samples and Õ(ln(k/β)/α²) "
        "iterations a query.",
        ours=(f"{COUNTS}.lecture_counts", f"{COUNTS}.certified_counts", "unworn.learn.minimise"),
        command=COMPUTE,
        page=RATES,
        measured="d = 4, k = 10, α = .3: certified with 100 iterations, 4,000 asks and 532,096 rows, which grow like "
        "α⁻³ here.",
    ),
    LectureRow(
        section=CONVEX,
        kind="theorem",
        says="Strongly convex optimization: n = Õ(d^{3/2} √k ln(k/β)/α^{5/2}), Õ(d² ln(k/β)/α³) samples and "
        "Õ(ln(k/β)/α) iterations a query.",
        ours=(f"{COUNTS}.lecture_counts", f"{COUNTS}.certified_counts"),
        command=COMPUTE,
        page=RATES,
        measured="The same with curvature 1: 39 iterations, 1,560 asks and 16,528 rows, which grow like α^{−3/2} here.",
    ),
    LectureRow(
        section=DESCENT,
        kind="algorithm",
        says="x_t = x_{t−1} − η ∇̃L, each component of the gradient given by the mechanism for statistical queries.",
        ours=("unworn.learn.minimise", "unworn.learn.gradient", "unworn.learn.Gradient"),
        command=COMPUTE,
        page="optimisation.md",
        measured="d = 4, k = 10, α = .3: 100 iterations for each of the ten, 4,000 gradient components in all.",
        note="minimise(blocks=…) asks for some components in each round: stochastic blocks.",
    ),
    LectureRow(
        section=DESCENT,
        kind="theorem",
        says="Proof idea: make the mechanism so accurate that the cumulative difference of the gradients is small in "
        "the worst case.",
        ours=("unworn.bounds.optimisation.convex_regret", "unworn.bounds.optimisation.block_deviation"),
        command=COMPUTE,
        page="theory/optimisation.md#the-certificate",
        measured="d = 4, k = 10, α = .3: each component to within ± .025 is accurate enough.",
        note="Ours adds up the published intervals, and is certified by them afterwards.",
    ),
    LectureRow(
        section=COUNTING,
        kind="definition",
        says="A sampling counting query is answered by a ∈ {0, 1}, as if by q(x) itself for a fresh x ∼ D, where "
        "so far a value close to E q(x) was wanted.",
        ours=("unworn.mechanisms.OneSample",),
        command="unworn audit one-sample",
        page="mechanisms/one-sample.md",
        measured="The audit finds no fault: two bits for which ε = 1.896 is claimed at δ = .001 show at least .628.",
    ),
    LectureRow(
        section=COUNTING,
        kind="definition",
        says="A mechanism is (α, β)-accurate for k of them if, with probability 1 − β, |E M(q_i) − q_i(D)| ≤ α for "
        "all i.",
        ours=("unworn.bounds.transfer.counting_width",),
        claim="one-bit",
        page="theory/transfer.md#values-between-0-and-1-the-coins-belong-to-the-record",
        measured="n = 5,000, k = 3,000: the chance of a yes is off by .0046, where α = .236 is promised.",
    ),
    LectureRow(
        section=SCQ,
        kind="theorem",
        says="Transfer theorem: (α/64, αβ/16)-private, (α/2, 0)-accurate on S and n ≥ 1024 ln(k/β)/α² make it (α, "
        "β)-accurate on D.",
        ours=(
            "unworn.bounds.transfer.counting_rows",
            "unworn.bounds.transfer.counting_width",
            "unworn.bounds.transfer.counting_width_sharp",
        ),
        command="unworn plan --rows 10000 --asks 1000",
        page="mechanisms/one-sample.md",
        measured="k = 1,000, α = .1, β = .05: 1,014,118 rows; a million rows have ± .101 by this theorem and ± .014 "
        "by D2.",
    ),
    LectureRow(
        section=SCQ,
        kind="theorem",
        says="There is such a mechanism with n = O(√k ln(1/(αβ))/α²), one sample per query and Õ(ln(k ln(1/β)/α)) "
        "time.",
        ours=("unworn.mechanisms.OneSample", f"{COUNTS}.lecture_counts", f"{COUNTS}.lecture_time"),
        claim="one-bit",
        page="mechanisms/one-sample.md",
        measured="k = 10,000, α = .1, β = .05: 52,983 rows, the hidden constant taken as 1.",
        note="The talk does not say which mechanism; ours reveals the property of one random row, and flips it with a "
        "small chance.",
    ),
    LectureRow(
        section="Conclusions",
        kind="remark",
        says="Faster data analysis is possible by simple mechanisms without downsides, even with a constant number of "
        "samples.",
        ours=("unworn.mechanisms.Subsampled", "unworn.mechanisms.OneSample"),
        claim="subsampling",
        page="mechanisms/index.md",
        measured="1.9 % of 100,000 rows an answer certify ± .119; all rows certify ± .095.",
        note="With one downside: by the corrected proposition, sampling with replacement hides less than claimed.",
    ),
)
