"""The rows of lecture 004 from generalization on: from one hypothesis to whatever is chosen privately."""

from __future__ import annotations

from typing import Final

from unworn.lab.lectures.lecture_contract import LectureRow

PROBLEM, CHOSEN = "Intro: an estimation problem", "When h is chosen based on the sample"
AVERAGE, SUMMARY = (
    "Differential privacy → generalization “on average”",
    "Differential privacy → generalization (summary)",
)
THEORY, APPLIED, OTHER = "In theory, and in practice", "Application to adaptive querying", "Other directions"
TRANSFER = "theory/transfer.md#theorem-d2-in-odds"
COMPUTE = "unworn lab lecture 004 --compute"

GENERALIZATION: Final = (
    LectureRow(
        section="DP ⇒ generalization",
        kind="definition",
        says="A model that is accurate on n labelled examples should be accurate on the whole distribution.",
        ours=("unworn.holdout.Holdout", "unworn.queries.accuracy"),
        command="unworn demo",
        page="promise.md",
        measured="The demonstration: a vote of chosen clues is right 73.4 % of the time on the rows, and 63.0 % "
        "on fresh ones.",
    ),
    LectureRow(
        section=PROBLEM,
        kind="definition",
        says="Estimate h(P) = E h(x), h: X → [0, 1], by h(S), the mean over n i.i.d. rows.",
        ours=("unworn.queries.mean", "unworn.queries.share", "unworn.lab.Rule"),
        command='unworn ask people.csv "age > 65" --guess 0.2',
        page="questions.md",
        measured="10,000 rows: ± .0136 at 95 %, by the bound below.",
    ),
    LectureRow(
        section=PROBLEM,
        kind="theorem",
        says="Hoeffding: P(|μ̂ − μ| ≥ α) ≤ 2 exp(−2nα²), so n = O(ln(1/β)/α²) rows suffice for one h.",
        ours=("unworn.bounds.hoeffding_width", "unworn.bounds.chernoff_kl"),
        command=COMPUTE,
        page="for/student.md",
        measured="10,000 rows: ± .0136 at 95 % (two sides).",
    ),
    LectureRow(
        section="Simultaneously estimating a family of functions",
        kind="theorem",
        says="n = O((ln|H| + ln(1/β))/α²) rows suffice for all h ∈ H at once, by the union bound.",
        ours=("unworn.bounds.hoeffding_width",),
        command=COMPUTE,
        page="for/student.md",
        measured="|H| = 1,000, 10,000 rows: ± .0230 at 95 %.",
    ),
    LectureRow(
        section=CHOSEN,
        kind="remark",
        says="Hoeffding's bound fails for h chosen by the sample: with P uniform on [0, 1] and h_S(x) = 1 if x ∈ "
        "S, h_S(S) = 1 and h_S(P) = 0.",
        ours=("unworn.lab.analysts.Memoriser", "unworn.lab.analysts.SelectThenVote", "unworn.mechanisms.Naive"),
        command="",
        claim="expectation",
        page="lab.md",
        measured="The best of 256 questions looks .50 better on 4 rows than it is.",
        note="Memoriser is this h, learned from answers alone.",
    ),
    LectureRow(
        section="Generalization",
        kind="definition",
        says="h α-generalizes with respect to S if |h(S) − h(P)| ≤ α.",
        ours=("unworn.Answer", "unworn.Certificate", "unworn.lab.Result"),
        claim="expectation",
        page="promise.md",
        measured="Chosen with ε = 1, it looks .125 better than it is on 4 rows; without privacy .50.",
        note="An answer's interval says more: that the population's value is in it, for all answers together.",
    ),
    LectureRow(
        section="Generalization",
        kind="remark",
        says="What we saw: n = O(ln(1/β)/α²) rows for one h fixed beforehand, n = O((ln|H| + ln(1/β))/α²) for a "
        "fixed family, and overfitting for an h chosen by the sample.",
        ours=(
            "unworn.bounds.hoeffding_width",
            "unworn.lab.analysts.Memoriser",
        ),
        command=COMPUTE,
        page="for/student.md",
        measured="10,000 rows: ± .0136 for one h, ± .0230 for all of 1,000.",
        erratum="The slide has log β where ln(1/β) is meant: at β = .05 it asks for n = −3.0/α² rows.",
    ),
    LectureRow(
        section=AVERAGE,
        kind="theorem",
        says="McSherry, folklore: |E h(S) − E h(P)| ≤ ε + δ.",
        ours=("unworn.bounds.transfer.tanh_expectation", "unworn.bounds.transfer.sharp_expectation"),
        claim="expectation",
        page=TRANSFER,
        measured="ε = .1, δ = 10⁻⁶: .100 by the slide, .025 = tanh(ε/4) + δ (to four digits) here.",
        note="True, and not tight: e^ε − 1 + δ is what the usual proof gives, .105.",
    ),
    LectureRow(
        section=AVERAGE,
        kind="theorem",
        says="|E h(S) − E h(P)| ≤ 2ε + δ, proved by swapping one row for a fresh one; e^ε ≤ 1 + 2ε for ε < 1.",
        ours=("unworn.bounds.transfer.expectation",),
        claim="expectation",
        page=TRANSFER,
        measured="ε = .1, δ = 10⁻⁶: .105 = e^ε − 1 + δ, below 2ε + δ = .200.",
        note="The same idea, two experiments that differ in one row, proves Theorem D2 for all answers at once.",
    ),
    LectureRow(
        section=SUMMARY,
        kind="theorem",
        says="DFHPRR'15: P(|h(S) − h(P)| > ε) ≤ δ^ε for an (ε, δ)-private choice of h.",
        ours=("unworn.bounds.transfer.dfhprr15", "unworn.bounds.transfer.dfhprr15_pure"),
        command="unworn plan --rows 10000 --asks 1000 --theorems",
        page="theory/transfer.md#variants",
        measured="No interval at 10,000 rows and 1,000 queries.",
        note="With the constants of the published theorem.",
    ),
    LectureRow(
        section=SUMMARY,
        kind="theorem",
        says="BNSSSU'16, tight: for n ≥ O(ln(1/δ)/ε²) i.i.d. rows, P(|h(S) − h(P)| > ε) ≤ O(δ/ε).",
        ours=(
            "unworn.bounds.transfer.bnsssu16",
            "unworn.bounds.transfer.bnsssu16_tail",
            "unworn.bounds.transfer.d2",
        ),
        command="unworn plan --rows 10000 --asks 1000 --theorems",
        page="theory/transfer.md#variants",
        measured="Published constants: ε becomes a width of 18ε. No interval at 10,000 rows and 1,000 queries, "
        "where Gaussian noise has ± .189 by D2 and ± .129 by Theorem F.",
    ),
    LectureRow(
        section=THEORY,
        kind="remark",
        says="In theory results are valid if the sample is large enough (about ln|H|); in practice analysts "
        "choose queries by earlier results, and much that is published is wrong.",
        ours=("unworn.lab.analysts.GreedySelection", "unworn.lab.analysts.HillClimber"),
        command="unworn demo",
        page="lab.md",
        measured="All 2,017 intervals of the demonstration hold, asked by an analyst who keeps what looks good; "
        "of a plain holdout's 2,016, 1,909 do.",
    ),
    LectureRow(
        section=APPLIED,
        kind="theorem",
        says="Privacy is closed under post-processing: whatever is made of the answers generalizes too.",
        ours=("unworn.DerivedAnswer", "unworn.Composite", "unworn.release.Release"),
        claim="private-board",
        page="questions.md#made-of-several-answers",
        measured="1,000 private answers on 1,000 labels: whatever the boosting attack makes of them, its "
        "majority's loss on the labels is .424, and .286 after exact answers.",
        note="Arithmetic on answers costs nothing, and intervals are carried through it.",
    ),
    LectureRow(
        section=APPLIED,
        kind="remark",
        says="In standard learning a model that generalizes may inadvertently reveal the sample, and so lead to "
        "a hypothesis that does not generalize.",
        ours=(
            "unworn.lab.games.play_game",
            "unworn.lab.analysts.RollCall",
        ),
        claim="wall",
        page="lab.md#the-wall",
        measured="Answers that are each right to .1 give half of 50 rows away after 7,756 queries, and the next "
        "one asks who they are.",
    ),
    LectureRow(
        section=APPLIED,
        kind="theorem",
        says="Privacy is closed under adaptive composition, so adaptive querying cannot lead to a hypothesis that "
        "does not generalize.",
        ours=("unworn.bounds.privacy.compose", "unworn.bounds.transfer.widths", "unworn.mechanisms.Gaussian"),
        command="unworn audit gaussian --coverage",
        page="theory/transfer.md",
        measured="Gaussian noise, 40 answers about 2,000 rows: in none of 340 plays by 17 analysts does an "
        "interval miss.",
    ),
    LectureRow(
        section="Summary",
        kind="remark",
        says="Mechanisms to mix and match: Laplace, Gaussian, sparse vector, subsampling, advanced composition, "
        "exponential mechanism.",
        ours=(
            "unworn.mechanisms.Laplace",
            "unworn.mechanisms.Gaussian",
            "unworn.mechanisms.SparseVector",
            "unworn.mechanisms.Subsampled",
            "unworn.bounds.selection",
        ),
        command="unworn audit --list",
        page="mechanisms/index.md",
        measured="All of them are audited, and none is refuted.",
    ),
    LectureRow(
        section="Summary",
        kind="remark",
        says="DP is connected to generalization in ML, and to hypothesis testing.",
        ours=(
            "unworn.holdout.Holdout.test",
            "unworn.Verdict",
            "unworn.lab.theorems.approximate_privacy.private_bits",
        ),
        command=COMPUTE,
        page="theory/tests.md#max-information",
        measured="n = 10,000, ε = .001: p-values are to be compared with a level divided by 2^.22 (δ = 0).",
    ),
    LectureRow(
        section=OTHER,
        kind="remark",
        says="Pan-privacy: the entire state of the computation is private at all times.",
        page="theory/privacy.md#other-models-pan-private-local-continual",
        note="Not offered. A holdout's state is its rows; its ledger alone reveals no more than the answers did.",
    ),
    LectureRow(
        section=OTHER,
        kind="remark",
        says="Local privacy, and privacy in distributed systems.",
        command=COMPUTE,
        page="theory/privacy.md#other-models-pan-private-local-continual",
        measured="10,000 rows, ε = 1: randomised response adds a standard error of .0096 to a share, Laplace "
        "noise by a trusted holder .0001.",
        note="Not offered: rows are trusted to whoever keeps the holdout. Rows randomised beforehand are rows "
        "like any others.",
    ),
    LectureRow(
        section=OTHER,
        kind="remark",
        says="Privacy under continual observation.",
        page="theory/privacy.md#other-models-pan-private-local-continual",
        note="Not offered for streams: all rows are sealed before the first question. Prefix sums of rows that "
        "are there are a release of thresholds.",
    ),
)
