"""Lecture 000: adaptive data analysis as the application of everything before it; sparse vector, synthetic data."""

from __future__ import annotations

from unworn.lab.lectures.lecture_contract import Lecture, LectureRow

COMPUTE = "unworn lab lecture 000 --compute"

LECTURE = Lecture(
    number="000",
    title="Adaptive data analysis",
    source="lecture 24 of a course on privacy: reusable holdout, sparse vector, synthetic data",
    rows=(
        LectureRow(
            section="Adaptive data analysis: reusable holdout",
            kind="remark",
            says="Adaptive data analysis is about a reusable holdout; its tools are sparse vector and synthetic data.",
            ours=("unworn.mechanisms.Thresholdout", "unworn.mechanisms.GuessAndCheck"),
            claim="freedman",
            page="mechanisms/thresholdout.md",
            measured="500 meaningless features, chosen by looking: a plain holdout reports .633, Thresholdout "
            ".508, guess and check .502; .500 is true.",
        ),
        LectureRow(
            section="Model for adaptive data analysis",
            kind="definition",
            says="A statistical (or linear) query is a function φ from rows to [0, 1]; its population value is the "
            "mean of φ over the population, its empirical average the mean over the n rows of the data.",
            ours=("unworn.queries.share", "unworn.queries.mean", "unworn.queries.Query", "unworn.lab.Rule"),
            command='unworn ask people.csv "age > 65" --guess 0.2',
            page="questions.md",
            measured="10,000 rows: the empirical average of one query fixed beforehand is within ± .0136 of its "
            "population value, at 95 %.",
            note="A rule of the lab is a question together with its population value; the empirical average of a "
            "holdout is never shown.",
        ),
        LectureRow(
            section="Interaction of adaptive data analysis",
            kind="definition",
            says="The analyst A and the mechanism M interact on i.i.d. rows: each query may depend on all queries and "
            "answers before it.",
            ours=("unworn.holdout.Holdout", "unworn.lab.Analyst", "unworn.lab.World", "unworn.lab.run"),
            command="unworn demo",
            page="promise.md",
            measured="All 2,017 intervals of the demonstration hold, asked by an analyst who keeps what looks good; "
            "of a plain holdout's 2,016, 1,909 do.",
        ),
        LectureRow(
            section="Interaction of adaptive data analysis",
            kind="definition",
            says="Sample accuracy: the answers are near the empirical averages; distributional accuracy: they are "
            "near the population values.",
            ours=("unworn.Certificate", "unworn.lab.Result", "unworn.lab.audit.coverage"),
            command="unworn audit gaussian --coverage",
            page="promise.md",
            measured="Gaussian noise, 40 answers about 2,000 rows: each of 17 analysts plays 20 times, and in no "
            "play does an interval miss.",
        ),
        LectureRow(
            section="Transfer theorem",
            kind="theorem",
            says="If the interaction is (α, β)-sample accurate and (ε, δ)-private, then for all c, d > 0 it is (α′, "
            "β′)-distributionally accurate with α′ = α + (e^ε − 1) + c + 2d and β′ = β/c + δ/d: α′ = O(α + ε) and β′ "
            "= O(β/α + δ/ε) for c = α and d = ε.",
            ours=(
                "unworn.bounds.transfer.jlnrss20",
                "unworn.bounds.transfer.jlnrss20_profile",
                "unworn.bounds.transfer.d2",
            ),
            command="unworn plan --rows 10000 --asks 1000 --theorems",
            page="theory/transfer.md#variants",
            measured="10,000 rows, 1,000 queries with Gaussian noise: ± .430 by this theorem, ± .189 by D2, ± .129 by "
            "F.",
            note="jlnrss20 is this theorem; d2 is sharper for the same privacy, and what certificates use.",
        ),
        LectureRow(
            section="Answering k adaptive queries",
            kind="remark",
            says="The Gaussian mechanism's error is α′ ≈ √(√k/n), that of sample splitting √(k/n): k ≈ n² queries "
            "against k ≈ n.",
            ours=("unworn.mechanisms.Gaussian", "unworn.mechanisms.SampleSplitting"),
            claim="four-rates",
            page="theory/noisy-means.md",
            measured="Certified half-widths grow with k to the power .54 (splitting) and .26 (Gaussian noise).",
        ),
        LectureRow(
            section="Answering k adaptive queries",
            kind="remark",
            says="Better: compress the output (sparse vector), and sparse vector with private multiplicative weights, "
            "a method of synthetic data.",
            ours=(
                "unworn.mechanisms.AboveThreshold",
                "unworn.mechanisms.GuessAndCheck",
                "unworn.mechanisms.MultiplicativeWeights",
            ),
            claim="four-rates",
            page="theory/sparse-vector.md",
            measured="10,000 rows, 1,000 queries: ± .129 with Gaussian noise, ± .0375 by guess and check while "
            "guesses are right.",
        ),
        LectureRow(
            section="Sparse vector",
            kind="algorithm",
            says="Compare each Δ-sensitive query plus Lap(4Δ/ε) with one noisy threshold T + Lap(2Δ/ε); say below "
            "until the first that is above, then stop.",
            ours=("unworn.mechanisms.SparseVector", "unworn.bounds.sparse.sparse_vector_bounds.split"),
            command="unworn audit sparse-vector",
            page="mechanisms/sparse-vector.md",
            measured="The audit finds no fault: a run for which ε = 3 is claimed shows an ε of at least 1.003.",
            note="Noise is exact, in whole rows; the noise may be divided better than evenly between threshold and "
            "queries.",
        ),
        LectureRow(
            section="Accuracy",
            kind="definition",
            says="Empirical error: for 'below' max(0, f(D) − T), for 'above' max(0, T − f(D)).",
            ours=(
                "unworn.bounds.sparse.crossing.largest_error",
                "unworn.lab.theorems.sparse_restarts.measured_error",
            ),
            claim="sparse-vector",
            page="theory/sparse-vector.md#how-far-off-the-outcomes-are",
            measured="k = 1,000 to 10⁶: the mean of the worst error in a run is 2.2 to 3.2 times ln(k)/ε rows.",
        ),
        LectureRow(
            section="Accuracy",
            kind="theorem",
            says="With probability 1 − β the empirical error over k queries is at most 6Δ ln((k+1)/β)/ε: logarithmic "
            "in k.",
            ours=("unworn.bounds.sparse.sparse_vector_bounds.empirical_error",),
            claim="sparse-vector",
            page="theory/sparse-vector.md#how-far-off-the-outcomes-are",
            measured="k = 1,000, ε = .1, β = .05: 594 rows by the theorem, 384 by the exact law with the better "
            "division of the noise.",
            note="It stands in every certificate of a sparse vector; largest_error is the exact quantile.",
        ),
        LectureRow(
            section="Composing m runs",
            kind="theorem",
            says="With m runs for k queries the population error is O(ln k/(nε) + ε√m), and O(m^¼ √(ln k)/√n) at the "
            "best ε.",
            ours=("unworn.lab.theorems.sparse_restarts.restarts", "unworn.bounds.sparse.crossing.run_price"),
            claim="restarts",
            page="theory/sparse-vector.md#the-fourth-root",
            measured="n = 10⁶, k = 10⁴, m = 1 … 256: the measured error grows with the exponent .25. Certified: ± "
            ".0187 for m = 1, ± .0429 for m = 16.",
        ),
        LectureRow(
            section="Composing m runs",
            kind="definition",
            says="Population error: for 'below' max(0, f(P) − T), for 'above' max(0, T − f(P)), with the "
            "population's value in place of the sample's.",
            ours=(
                "unworn.lab.theorems.sparse_restarts.restarts",
                "unworn.lab.theorems.kl_stability.expected_error",
            ),
            claim="restarts",
            page="theory/sparse-vector.md#the-fourth-root",
            measured="n = 10⁶, k = 10⁴, one 'above': at most .0187 in all outcomes together, at 95 %.",
        ),
        LectureRow(
            section="Composing m runs",
            kind="remark",
            says="m counts the answers above, and k is about the number of answers below: the price is for the "
            "interesting events.",
            ours=("unworn.mechanisms.SparseVector",),
            command="unworn audit sparse-vector-standard",
            page="theory/sparse-vector.md#theorem-3-a-fresh-threshold-after-each-above",
            measured="n = 10⁶, certified: ± .0187 for m = 1 and k = 10⁴; a hundred times the queries make it ± "
            ".0205, sixteen times the answers above ± .0429.",
        ),
        LectureRow(
            section="Privacy",
            kind="theorem",
            says="Sparse vector is (ε, 0)-private: threshold and last noise are shifted together, so that 'below' is "
            "free.",
            ours=("unworn.bounds.sparse.sparse_vector_bounds.run_profile", "unworn.lab.audit.audit"),
            command="unworn audit lyu-1",
            page="theory/sparse-vector.md#theorem-1-an-instance",
            measured="Where ε = 1 is claimed, the audit shows at least .909 in four million runs; without noise on "
            "the threshold it shows 1.367, and refutes the claim.",
            note="lyu-3 to lyu-6 and no-threshold-noise are versions that are not private: the audit finds them.",
            erratum="In the last line of the proof both sides have (τ, z): the right one is to have (τ′, z′). As "
            "printed, P ≤ e^ε P of one and the same event, the line is true of every mechanism, for ε = 0 as well.",
        ),
        LectureRow(
            section="Synthetic data",
            kind="algorithm",
            says="Answer most queries from a synthetic distribution, and update it by multiplicative weights where "
            "sparse vector says it is wrong: PMW, the adaptive analogue of MWEM, in time linear in the universe.",
            ours=(
                "unworn.mechanisms.MultiplicativeWeights",
                "unworn.mechanisms.MedianOracle",
                "unworn.bounds.release.online_weights.online_error",
            ),
            command="unworn synth people.csv --marginals 2 --epsilon 1 --domain domain.toml --out release/",
            page="mechanisms/multiplicative-weights.md",
            measured="m = 2¹⁶ and gaps of .1: at most 554 updates.",
        ),
        LectureRow(
            section="Synthetic data",
            kind="remark",
            says="Hope: most queries are answered by the synthetic data; PMW runs in time linear in |X|, X = {0, 1}^d.",
            ours=("unworn.mechanisms.MultiplicativeWeights", "unworn.universe.Domain"),
            command="unworn audit multiplicative-weights",
            page="mechanisms/multiplicative-weights.md#limits",
            measured="The audit finds no fault: a run for which ε = 4.997 is claimed at δ = .001 shows an ε of at "
            "least .72.",
        ),
        LectureRow(
            section="Sample complexity and accuracy",
            kind="remark",
            says="Non-adaptive empirical averages: √(ln k/n); adaptive: sample splitting √(k/n), the Gaussian "
            "mechanism √(√k/n), private multiplicative weights (ln k √(ln|X|)/n)^⅓.",
            ours=(
                "unworn.bounds.hoeffding_width",
                "unworn.bounds.baselines.splitting_width",
                "unworn.bounds.transfer.widths",
                "unworn.bounds.release.online_weights.online_error",
            ),
            claim="four-rates",
            page="theory/transfer.md#theorem-d2-in-odds",
            measured="Powers of k: .02 for fixed queries, .54, .26 and .01 (certified half-widths, in the order of "
            "the lecture).",
        ),
        LectureRow(
            section="Sample complexity and accuracy",
            kind="remark",
            says="The time of private multiplicative weights is linear in |X| (which may be infinite, or e^d), and "
            "its error depends on ln|X| ≈ d, the dimension of the data.",
            ours=("unworn.universe.Domain", "unworn.bounds.release.online_weights.online_alpha"),
            command=COMPUTE,
            page="theory/release.md#one-by-one",
            measured="n = 10⁷, 10⁵ queries, (1, 10⁻⁹), by the book's constants: α = .037, .044 and .053 for |X| = "
            "2⁸, 2¹⁶ and 2³².",
        ),
        LectureRow(
            section="Lower bound",
            kind="theorem",
            says="If the algorithm runs in time polynomial in d, or ln|X| ≥ Ω(n²), an analyst comes up with a query "
            "of high error after O(n²) queries; the Gaussian mechanism reaches k ≈ n².",
            ours=(
                "unworn.lab.analysts.InteractiveFingerprinting",
                "unworn.lab.games.play_game",
            ),
            command="",
            claim="wall",
            page="lab.md#the-wall",
            measured="100 rows: exact answers give half of them away after 3,334 queries, Gaussian noise of .1 after "
            "29,649, about 3 n².",
            note="At 20 rows and 801 queries every mechanism here has stopped, ends at ± .25 or wider, or is wrong. "
            "For how near the strongest known attack comes to what Theorem F allows below the wall, see "
            "unworn lab run theorem-f.",
        ),
    ),
)
