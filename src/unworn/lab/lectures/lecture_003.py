"""Lecture 003: the sparse vector technique, and what is built of it: guess and check, median oracle, Ladder."""

from __future__ import annotations

from unworn.lab.lectures.lecture_contract import Lecture, LectureRow

TECHNIQUE, USING, NOTES = "1 The Sparse Vector Technique", "2 Using Sparse Vector", "3 Notes"
BOUNDS, STABILITY = "unworn.bounds.sparse.sparse_vector_bounds", "unworn.lab.theorems.kl_stability"
FEEDBACK, RESTARTS = "unworn.lab.theorems.private_feedback", "unworn.lab.theorems.sparse_restarts"
PROOF = "theory/sparse-vector.md#theorem-1-an-instance"
ERRORS = "theory/sparse-vector.md#errors-to-expect"
COMPUTE = "unworn lab lecture 003 --compute"

LECTURE = Lecture(
    number="003",
    title="The sparse vector technique",
    source="lecture 12 of The Algorithmic Foundations of Adaptive Data Analysis",
    rows=(
        LectureRow(
            section=TECHNIQUE,
            kind="algorithm",
            says="AboveThreshold says ⊥ while the next query's value is below T, and ⊤ at the first that is not; then "
            "it stops.",
            ours=("unworn.mechanisms.AboveThreshold",),
            command=COMPUTE,
            page="mechanisms/above-threshold.md",
            measured="10,000 rows, 1,000 queries, one ⊤, the last: it reaches .0232 below the threshold.",
            note="Ours goes on after ⊤, for as many as are planned.",
        ),
        LectureRow(
            section=TECHNIQUE,
            kind="theorem",
            says="AboveThreshold is log₂(k + 1)-compressible over k rounds.",
            ours=("unworn.bounds.compression.code_length", "unworn.bounds.compression.position_nats"),
            command=COMPUTE,
            page="theory/code-length.md",
            measured="k = 1,000: 9.97 bits; 16.8 bits by Theorem C′ if k is not known beforehand.",
            note="By Theorem C′ the price of saying ⊥ is next to nothing even if k is not known beforehand.",
        ),
        LectureRow(
            section=TECHNIQUE,
            kind="algorithm",
            says="SparseVector compares q_j(s) + Lap(4Δ/ε) with T + Lap(2Δ/ε), one noisy threshold for the run.",
            ours=("unworn.mechanisms.SparseVector", f"{BOUNDS}.split"),
            command="unworn audit sparse-vector",
            page="mechanisms/sparse-vector.md",
            measured="The audit finds no fault: a run for which ε = 3 is claimed shows an ε of at least 1.003.",
            note="SparseVector(split='even') is the lecture's; split='best' divides the noise better. Noise is exact, "
            "on whole rows.",
        ),
        LectureRow(
            section=TECHNIQUE,
            kind="theorem",
            says="Theorem 1: sparse vector is (ε, 0)-differentially private.",
            ours=(f"{BOUNDS}.run_profile",),
            command="unworn audit lyu-1",
            page=PROOF,
            measured="Where ε = 1 is claimed, the audit shows at least .909 in four million runs.",
            erratum="Only in the proof: τ′ and z′ need g(s′) − g(s), and z′ also q_k(s) − q_k(s′). As printed, z′ has "
            "q_k(s′) − q_k(s′) = 0, and the events do not match. Take k = 2, counts (0, 0) on s and (1, 0) on s′, z₁ "
            "= 0: (τ, z) = (.5, 1) satisfies E_s, 0 < .5 ≤ 1; its image (−.5, 0) does not satisfy E_s′, which needs 1 "
            "< τ′.",
        ),
        LectureRow(
            section=TECHNIQUE,
            kind="exercise",
            says="Exercise 1: with the threshold T itself, without noise, sparse vector is not (ε, 0)-private for any "
            "ε.",
            ours=("unworn.lab.audit.controls.no_threshold_noise", f"{STABILITY}.bare_stability"),
            command="unworn audit no-threshold-noise",
            page="theory/sparse-vector.md#what-goes-wrong-without-it",
            measured="The ratio of (⊥)^k on two neighbours grows like e^{kε/4}. Yet such a run is KL-stable: τ ≤ "
            ".0013 at ε = .1 for any k.",
            note="Solved: the audit finds an output that tells the neighbours apart, and refutes the claim.",
        ),
        LectureRow(
            section=TECHNIQUE,
            kind="remark",
            says="Proof idea: g(s) = max_{j<k} q_j(s) + z_j is itself 1-sensitive; shift threshold and last noise "
            "together.",
            ours=("unworn.bounds.sparse.sparse_vector_bounds",),
            command="unworn audit lyu-1",
            page=PROOF,
            measured="The audit shows most, .909 of ε = 1, by an output with ten ⊥ before the ⊤: they cost nothing.",
        ),
        LectureRow(
            section=TECHNIQUE,
            kind="exercise",
            says="The output (⊥)^∞ is left as an exercise.",
            ours=(f"{BOUNDS}.run_profile",),
            command=COMPUTE,
            page=PROOF,
            measured="ε = .1: P(all below) changes by a factor of 1.051 at most.",
            note="Solved by the same page: shift the threshold alone. P(all below) changes by e^{ε/2} at most.",
        ),
        LectureRow(
            section=TECHNIQUE,
            kind="definition",
            says="Empirical error in a round: max(0, q_j(s) − T) after ⊥, max(0, T − q_j(s)) after ⊤; population "
            "error has q_j(D) in place of q_j(s).",
            ours=("unworn.bounds.sparse.crossing.largest_error", f"{RESTARTS}.measured_error"),
            claim="sparse-vector",
            page="theory/sparse-vector.md#how-far-off-the-outcomes-are",
            measured="k = 1,000 to 10⁶: the mean of the worst error in a run is 2.2 to 3.2 times ln(k)/ε rows.",
        ),
        LectureRow(
            section=TECHNIQUE,
            kind="theorem",
            says="Theorem 2: with probability 1 − β the empirical error is at most 6Δ ln((k + 1)/β)/ε in all rounds.",
            ours=(f"{BOUNDS}.empirical_error", "unworn.bounds.sparse.crossing.largest_error"),
            claim="sparse-vector",
            page="theory/sparse-vector.md#how-far-off-the-outcomes-are",
            measured="k = 1,000, ε = .1, β = .05: 594 rows by the theorem; 384 by the exact law with the better "
            "division of the noise.",
            note="One row more for noise that is rounded to whole rows.",
        ),
        LectureRow(
            section=TECHNIQUE,
            kind="theorem",
            says="Corollary: the expected empirical error is O(Δ ln k/ε).",
            ours=(f"{STABILITY}.expected_empirical_error",),
            command=COMPUTE,
            page=ERRORS,
            measured="(2H_m + 4H_k)/ε: 319 rows for k = 1,000 and ε = .1.",
        ),
        LectureRow(
            section=USING,
            kind="algorithm",
            says="For several ⊤, run m copies one after another; the whole run ends at the m-th ⊤.",
            ours=("unworn.mechanisms.SparseVector", "unworn.lab.theorems.sparse_restarts.restarts"),
            command="unworn audit sparse-vector-standard",
            page="theory/sparse-vector.md#theorem-3-a-fresh-threshold-after-each-above",
            measured="The audit finds no fault: a run to two ⊤ for which ε = 6 is claimed shows at least 1.888.",
        ),
        LectureRow(
            section=USING,
            kind="theorem",
            says="m copies have expected empirical error O(ln k/(nε)), are mε-private, and τ-KL stable for τ ≤ mε(e^ε "
            "− 1).",
            ours=(f"{STABILITY}.kl_stability", f"{STABILITY}.expected_empirical_error"),
            command=COMPUTE,
            page=ERRORS,
            measured="ε = .1, m = 10: τ ≤ .105 by the lecture, .050 = mε tanh(ε/2) here.",
        ),
        LectureRow(
            section=USING,
            kind="theorem",
            says="The expected population error is O(ln k/(nε) + ε√m), which is O(m^¼ √(ln k/n)) at ε = √(ln k/(n√m)).",
            ours=(f"{STABILITY}.expected_error", f"{STABILITY}.best_expected_error", f"{RESTARTS}.restart_epsilon"),
            claim="restarts",
            page="theory/sparse-vector.md#the-fourth-root",
            measured="n = 10⁶, k = 10⁴, m = 16: ± .0192 at the best ε = .0048. Over m = 1 … 256 the measured error "
            "grows with the exponent .25.",
        ),
        LectureRow(
            section=USING,
            kind="theorem",
            says="With probability 1 − β the empirical error is O(m^¼ √(ln(k/β)/n)), and the generalisation error is "
            "of that order in expectation.",
            ours=(f"{RESTARTS}.restarts", "unworn.bounds.sparse.crossing.run_price"),
            claim="restarts",
            page="theory/sparse-vector.md#the-fourth-root",
            measured="n = 10⁶, k = 10⁴: certified for the population ± .0187 for one ⊤, ± .0429 for 16.",
            note="Our certificates hold with high probability for the population too, not in expectation.",
            erratum="Two lines above, the empirical error is said to be O(ln(k/β)/ε), for O(ln(k/β)/(nε)). As "
            "printed, at ε = √(ln(k/β)/(n√m)) and n = 10⁶, m = 16, k/β = 2·10⁵, it is 6,987 for values of at most 1; "
            "divided by n, it is .0070 = m^¼ √(ln(k/β)/n).",
        ),
        LectureRow(
            section=USING,
            kind="algorithm",
            says="PrivGuessAndCheck: give |q_i(s) − g_i| to sparse vector; answer g_i after ⊥, q_i(s) + Lap(4Δ/ε) "
            "after ⊤, until m guesses were wrong.",
            ours=("unworn.mechanisms.PrivateGuessAndCheck",),
            command="unworn audit private-guess-and-check",
            page="mechanisms/private-guess-and-check.md",
            measured="The audit finds no fault: a run to one ⊤ for which ε = 2.498 is claimed at δ = .001 shows at "
            "least .282.",
        ),
        LectureRow(
            section=USING,
            kind="theorem",
            says="Its answers have error O(m^¼ √(ln(k/β)/n)) until it halts, for the noisy answers at most double the "
            "privacy parameters.",
            ours=("unworn.mechanisms.PrivateGuessAndCheck", f"{STABILITY}.expected_error"),
            command="unworn plan --rows 10000 --asks 1000 --theorems",
            page="mechanisms/private-guess-and-check.md",
            measured="± .1289 certified on 10,000 rows for 1,000 queries.",
            note="Noise of scale 4Δ/ε on the answer adds ε/4, a quarter and not the double.",
        ),
        LectureRow(
            section=USING,
            kind="theorem",
            says="In contrast, the compressible guess and check of lecture 6 has error O(√(m ln(kn/m)/n)).",
            ours=("unworn.mechanisms.GuessAndCheck", "unworn.bounds.compression.level"),
            command="unworn plan --rows 10000 --asks 1000",
            claim="wrong-guesses",
            page="theory/code-length.md",
            measured="± .0375 on 10,000 rows for 1,000 queries with no wrong guess, ± .0542 with one.",
            note="√m against m^¼, but with smaller constants: for few wrong guesses compression is narrower.",
        ),
        LectureRow(
            section=USING,
            kind="algorithm",
            says="MedianOracle keeps the databases of n′ = ln(4k)/(2η²) points that agree with all answers; the guess "
            "is the median of their values.",
            ours=("unworn.mechanisms.MedianOracle",),
            command="unworn audit median-oracle",
            page="mechanisms/median-oracle.md",
            measured="The audit finds no fault: a run to one wrong guess for which ε = 4.997 is claimed at δ = .001 "
            "shows at least .72.",
            note="Counts histograms where the lecture counts ordered samples, which is the same version space.",
            erratum="The pseudo-code has two else-branches and tests â_i. It means: if a_i = g_i, S_i is S_{i−1}; "
            "else the databases that are more than η away from a_i are removed. Read literally, the first else keeps "
            "all of them: with two databases, and 0 answered where the median guess is 1, the guess would be 1 again "
            "for ever.",
        ),
        LectureRow(
            section=USING,
            kind="theorem",
            says="At most m = n′ log|X| guesses are wrong by more than η, and the version space never becomes empty.",
            ours=("unworn.mechanisms.MedianOracle",),
            command=COMPUTE,
            page="mechanisms/median-oracle.md#why-so-few-guesses-are-wrong",
            measured="k = 1,000, η = .1, |X| = 8: n′ = 415 and m = 1,245; 48 if histograms are counted, as here.",
            erratum="Not with one η for both. Take X = {1, 2}, half of the rows each, φ_j = 1 for x = j, and η = "
            ".25: k = 2 queries have n′ = 17. Both answered .75, off by η and no more, the first keeps the databases "
            "with 9 or more of 17 points at 1, the second those with 9 or more at 2: none is left. Nor must an "
            "answer that is off by η lie on the true side of the guess. With answers within η, databases within 2η "
            "have to be kept, and guesses be wrong by more than 3η; here a database is removed by the side of the "
            "guess it is on.",
        ),
        LectureRow(
            section=USING,
            kind="theorem",
            says="Its expected error is O(√(ln(k/β)) (log|X|)^{1/6}/n^⅓): n = O(ln^{3/2}(k/β) √(log|X|)/η³) rows "
            "suffice, a guarantee by the number of rows.",
            ours=("unworn.mechanisms.MedianOracle", "unworn.mechanisms.MultiplicativeWeights"),
            command="unworn plan --rows 10000 --asks 1000",
            page="mechanisms/median-oracle.md#what-it-promises",
            measured="± .428 on 10,000 rows for 1,000 queries over 8 points: a theorem for more rows than most have.",
        ),
        LectureRow(
            section=USING,
            kind="exercise",
            says="Exercise 2: improve the Ladder and the reusable holdout by private guess and check; what error do "
            "they have?",
            ours=(
                "unworn.mechanisms.PrivateLadder",
                "unworn.mechanisms.Thresholdout",
                f"{FEEDBACK}.ladder_rate",
                f"{FEEDBACK}.reusable_error",
            ),
            claim="ladder",
            page=ERRORS,
            measured="Ladder O((ln k/n)^⅖), .0097 for n = 10⁶ and k = 10⁴, where the compressible one has .0284; "
            "reusable holdout O(B^¼ √(ln k/n)), .0195 with constants for B = 16.",
            note="Solved, with constants. Each step up of a Ladder uses up a ⊤, and a step of η leaves 1/η of them.",
        ),
        LectureRow(
            section=USING,
            kind="remark",
            says="The reusable holdout of lecture 6: compare a holdout value with the training value, and answer by "
            "it while they agree.",
            ours=("unworn.mechanisms.Thresholdout", "unworn.mechanisms.GuessAndCheck"),
            claim="freedman",
            page="mechanisms/thresholdout.md",
            measured="500 meaningless features, chosen by looking: a plain holdout reports .633, Thresholdout .508, "
            "guess and check .502; .500 is true.",
        ),
        LectureRow(
            section=NOTES,
            kind="remark",
            says="Sparse vector is notoriously tricky: several incorrect versions are in the literature (Lyu, Su and "
            "Li).",
            ours=("unworn.lab.audit.controls", "unworn.lab.audit.audit"),
            command="unworn audit lyu-3",
            page="audit.md#controls",
            measured="Six published versions are here, as controls: lyu-1 and lyu-2 are private, and lyu-3 to lyu-6 "
            "are refuted.",
        ),
    ),
)
