"""Lecture 002: query release by synthetic distributions; from multiplicative weights to MW-EM."""

from __future__ import annotations

from unworn.lab.lectures.lecture_contract import Lecture, LectureRow

WHAT, VECTORS, RELEASE, MWEM = (
    "What will we get?",
    "MW outputs vectors",
    "Query release via synthetic data distributions",
    "From online learning to query release: MW-EM",
)
ANALYSIS = "How does the analysis work?"
REGIMES = "unworn.lab.theorems.release_regimes"
PAIRS = "unworn synth people.csv --marginals 2 --epsilon 1 --domain domain.toml --out release/"
LINES = "unworn synth people.csv --thresholds age --epsilon 1 --domain domain.toml --out release/"
COMPUTE = "unworn lab lecture 002 --compute"

LECTURE = Lecture(
    number="002",
    title="Query release via synthetic data",
    source="a lecture on private query release by synthetic distributions and online learning",
    rows=(
        LectureRow(
            section=WHAT,
            kind="theorem",
            says="Gaussian or Laplace noise answers k linear queries with largest error α from n_Gauss = C√(k ln k)/α "
            "rows on.",
            ours=("unworn.release.GaussianRelease", "unworn.release.LaplaceRelease", f"{REGIMES}.noise_rows"),
            claim="regimes",
            page="theory/release.md#three-regimes",
            measured="14,100 rows are certified for k = 1,000, α = .05, (ε, δ) = (1, 10⁻⁹), at 95 %.",
            note="lecture_rows has the lecture's form with its constant C, noise_rows the certificate's number.",
        ),
        LectureRow(
            section=WHAT,
            kind="theorem",
            says="Projection has root mean square error α from n_Proj = C√(ln m)/α² rows on, for a universe of m "
            "elements and any number of queries.",
            ours=("unworn.release.Projection", f"{REGIMES}.projection_rows"),
            claim="regimes",
            page="theory/release.md#projection",
            measured="8,961 rows for m = 2¹⁶ and α = .05 at (1, 10⁻⁹), for 1,000 queries and for 10⁹ alike.",
        ),
        LectureRow(
            section=WHAT,
            kind="theorem",
            says="MW-EM has largest error α from n_MWEM = C (ln k) √(ln m)/α² rows on; ln m is about the dimension of "
            "the data.",
            ours=("unworn.release.MWEM", "unworn.release.AveragedMWEM", f"{REGIMES}.mwem_rows"),
            claim="regimes",
            page="theory/release.md#mwem",
            measured="427,616 rows are certified for m = 2¹⁶, k = 1,000, α = .05 at (1, 10⁻⁹).",
            note="The certificate of AveragedMWEM, which is the lecture's algorithm. MWEM learns from measurements as "
            "well, and its own certificates are narrower.",
        ),
        LectureRow(
            section=WHAT,
            kind="remark",
            says="Which of the three is best depends on k, m and α.",
            ours=(f"{REGIMES}.rows_needed", f"{REGIMES}.regimes", "unworn.release.predictions"),
            command=f"{PAIRS} --dry-run",
            claim="regimes",
            page="release.md#the-methods",
            measured="At m = 2¹⁶, α = .1, (1, 10⁻⁹): noise is best up to some 200,000 queries, MW-EM beyond.",
            note="By default a release takes the method with the smallest predicted error.",
        ),
        LectureRow(
            section=WHAT,
            kind="remark",
            says="Thresholds, k = m: MW-EM needs ln^{3/2}(m)/α² rows, and Gaussian noise with a binary tree "
            "ln^{3/2}(m)/α².",
            ours=("unworn.release.ThresholdRelease", "unworn.universe.Thresholds", "unworn.bounds.release.tree_sd"),
            command=LINES,
            claim="tree-root",
            page="theory/release.md#prefix-sums",
            measured="m = 1,024: noise of standard deviation 10.5 with the tree, 3.27 with the square-root "
            "factorisation, in units of 1/μ rows.",
            erratum="The tree's is ln^{3/2}(m)/α, with α to the first power. Its noise is a number of rows that does "
            "not depend on n (10.5/μ at m = 1,024), so that the error as a share falls like 1/n: half the α takes "
            "twice the rows, and not four times.",
        ),
        LectureRow(
            section=WHAT,
            kind="remark",
            says="Pairwise marginals: U = {0, 1}^d, q_ij(x) = 1 if x_i = x_j = 1, so k = d² and m = 2^d; MW-EM needs "
            "√(d² · ln d)/α², Gaussian noise d √(ln d)/α.",
            ours=("unworn.universe.Conjunctions", "unworn.universe.Marginals", f"{REGIMES}.lecture_rows"),
            command=PAIRS,
            page="theory/release.md#three-regimes",
            measured="d = 1,000, α = .1: the lecture's forms give 37,169 C and 36,373 C rows with the factor 2 of ln "
            "k = 2 ln d; the certificates ask for 299,560 with noise and 1,261,318 with MW-EM.",
            erratum="n_MWEM is √d ln d/α²: put k = d² and m = 2^d into the formula above. As printed, d√(ln d)/α² "
            "would never be below the d√(ln d)/α of noise; at d = 1,000 and α = .1 it says 263,000 C, where 21,800 C "
            "is right and noise has 26,300 C.",
        ),
        LectureRow(
            section=VECTORS,
            kind="definition",
            says="Last time multiplicative weights took a random action in each round; now it puts out a vector p^t "
            "in the simplex Δ([m]).",
            ours=("unworn.universe.model", "unworn.bounds.regret"),
            claim="regimes",
            page="theory/release.md#regret",
            measured="m = 2¹⁶, T = 100: on average within .235 of the best distribution.",
        ),
        LectureRow(
            section=VECTORS,
            kind="theorem",
            says="Against every adversary and for every p*, the average of ⟨c^t, p^t⟩ exceeds that of ⟨c^t, p*⟩ by at "
            "most 2√(ln m/T), with probability 1.",
            ours=("unworn.bounds.regret.regret_bound", "unworn.bounds.regret.regret"),
            command=COMPUTE,
            page="theory/release.md#regret",
            measured="m = 2¹⁶, T = 100: .666, and .235 by √(ln m/2T) at that form's own learning rate.",
        ),
        LectureRow(
            section=VECTORS,
            kind="remark",
            says="Proof: the average cost of p* is an expectation over actions, and so at least that of the best one.",
            ours=("unworn.bounds.regret.regret",),
            command=COMPUTE,
            page="theory/release.md#regret",
            measured="m = 2¹⁶, T = 100: .666 as in the lecture, .235 by the proof through KL.",
            note="Ours goes through KL(p*‖p^t), which proves it for every p* at once.",
        ),
        LectureRow(
            section=RELEASE,
            kind="definition",
            says="k queries f_i(x), means of φ_i: U → [0, 1] over the n rows; h_x is the histogram of the rows, and a "
            "≈ F h_x is wanted.",
            ours=("unworn.universe.Workload", "unworn.universe.Domain", "unworn.release.Tables"),
            command="unworn synth people.csv --marginals 2 --epsilon 1 --domain domain.toml --out release/ --dry-run",
            page="release.md#what-is-asked",
            measured="m = 2¹⁶, k = 1,000, α = .05: 14,100 rows with noise on each of the k means.",
        ),
        LectureRow(
            section=RELEASE,
            kind="definition",
            says="Thresholds: U = {1, …, m}, and φ_i(x) = 1 if x ≤ i.",
            ours=("unworn.universe.Thresholds", "unworn.universe.Bins"),
            command=LINES,
            claim="tree-root",
            page="release.md#what-is-asked",
            measured="m = 16,384: the largest error is 57 rows by the tree, and 20 by the square root.",
        ),
        LectureRow(
            section=RELEASE,
            kind="definition",
            says="Idea 1: release a distribution p̂ on U for which the largest of |⟨φ_i, p̂⟩ − ⟨φ_i, h_x⟩| is at most α.",
            ours=("unworn.release.fit", "unworn.release.Release"),
            command=PAIRS,
            claim="regimes",
            page="release.md#what-the-certificate-says",
            measured="10,000 rows, 5,000 queries: the largest error is .045 by MW-EM, and .172 by noise on each.",
            note="A release holds for the population as well, with a second width for that.",
        ),
        LectureRow(
            section=RELEASE,
            kind="remark",
            says="Absolute values: if the queries are closed under complements, φ′ = 1 − φ, the error is a maximum of "
            "linear functions without them.",
            ours=("unworn.release.methods.candidates.Candidates", "unworn.bounds.release.averaged_mwem_error"),
            command=COMPUTE,
            page="theory/release.md#mwem",
            measured="n = 50,000, m = 1,024: ± .211 for k = 2,000 candidates, 1,000 queries and their complements, "
            "where 1,000 without them would have ± .208.",
            note="Complements are candidates of the choice; the k of the bounds counts them.",
        ),
        LectureRow(
            section=MWEM,
            kind="algorithm",
            says="MW-EM: p¹ = (1, …, 1); for t = 1 … T choose i_t privately by M₀, let c^t = φ_{i_t}, and update; "
            "return the average of the p^t.",
            ours=("unworn.release.AveragedMWEM", "unworn.release.MWEM"),
            command="unworn audit release-averaged-mwem",
            page="theory/release.md#mwem",
            measured="The audit finds no fault: two rounds for which ε = 2 is claimed show at least .671.",
            erratum="p¹ has to be a distribution: 1/m in each place. As printed its entries add up to m, and ⟨c¹, p¹⟩ "
            "is m times too large: with m = 2 and φ = (1, 0) it is 1 in place of ½.",
        ),
        LectureRow(
            section=MWEM,
            kind="remark",
            says="MW-EM is an interaction between an analyst who proposes p¹ … p^T and a private interface that runs "
            "T exponential mechanisms.",
            ours=("unworn.release.methods.averaged_mwem", "unworn.bounds.selection.Selections"),
            command="unworn audit release-averaged-mwem",
            page="theory/release.md#mwem",
            measured="n = 50,000, m = 1,024, k = 2,000: T = 2,243 rounds at the best.",
        ),
        LectureRow(
            section=MWEM,
            kind="algorithm",
            says="M₀ outputs i with probability ∝ exp(ε₀ score(i; x)/2), score(i; x) = ⟨φ_i, p̂ − h_x⟩: the exponential "
            "mechanism.",
            ours=("unworn.bounds.selection", "unworn.release.methods.candidates.Candidates"),
            command="unworn audit release-mwem",
            page="theory/release.md#choosing",
            measured="The audit finds no fault: a choice and a measurement for which ε = 2 is claimed show at least "
            "1.157.",
            erratum="The exponent is ε₀ n score/2, for the score's sensitivity is 1/n. As printed the choice is "
            "ε₀/n-private and next to uniform: with k = 1,000, ε₀ = .1 and scores from 0 to 1, the best is 1.05 times "
            "as likely as the worst, whatever n is.",
        ),
        LectureRow(
            section=MWEM,
            kind="remark",
            says="The largest score is the error, and the score's sensitivity is 1/n.",
            ours=("unworn.bounds.selection.selection_gap",),
            command=COMPUTE,
            page="theory/release.md#choosing",
            measured="So the best of 1,000 queries is missed by 19.7 rows at most, at ε₀ = 1 and 95 %, whatever n is.",
        ),
        LectureRow(
            section="Why is this not crazy?",
            kind="remark",
            says="In each round p^t comes closer to h_x: KL(h_x‖p^t) decreases. Thresholds show it: where p^t has too "
            "much below i, the update takes weight from there.",
            ours=("unworn.bounds.release.most_updates",),
            command=COMPUTE,
            page="theory/release.md#one-by-one",
            measured="m = 2¹⁶ and gaps of .1: after 554 updates nothing is left to correct (4,436 in the book).",
        ),
        LectureRow(
            section=ANALYSIS,
            kind="theorem",
            says="If the error is α in each of T rounds, regret is at least α; so α ≤ 2√(ln m/T), and T is at most "
            "about ln m/α².",
            ours=("unworn.bounds.regret.regret_bound", "unworn.bounds.release.averaged_mwem_rounds"),
            command=COMPUTE,
            page="theory/release.md#mwem",
            measured="m = 2¹⁶, α = .1: at most 4,436 rounds by this bound, and 554 by √(ln m/2T).",
        ),
        LectureRow(
            section=ANALYSIS,
            kind="theorem",
            says="Privacy: T runs that are (ε₀, 0)-private are (ε, δ)-private for ε = ε₀√(2T ln(1/δ)) + T ε₀ (e^ε₀ − "
            "1)/(e^ε₀ + 1).",
            ours=("unworn.bounds.privacy.advanced", "unworn.bounds.selection.selection_epsilon"),
            command=COMPUTE,
            page="theory/privacy.md#many-answers",
            measured="T = 100, (ε, δ) = (.1, 10⁻⁶): choices of ε₀ = .0051 are allowed.",
            note="True. A choice by scores moves every log probability within a range of ε₀, which buys about twice "
            "as much.",
        ),
        LectureRow(
            section=ANALYSIS,
            kind="theorem",
            says="With probability 1 − β/T a choice misses the largest score by at most 4 ln(kT/β)/(ε₀ n).",
            ours=("unworn.bounds.selection.selection_gap",),
            command=COMPUTE,
            page="theory/release.md#choosing",
            measured="19.7 rows for k = 1,000, ε₀ = 1, T = 1 and β = .05.",
            note="2 ln(kT/β)/(ε₀ n) is proved here, half of it.",
        ),
        LectureRow(
            section=ANALYSIS,
            kind="theorem",
            says="Accuracy: by Jensen's inequality the error of the average is at most 2√(ln m/T) + 4 ln(kT/β) C "
            "√T/n; at the best T, as printed ln m √n/√(ln(k/β) C), it is Õ(√C ln^¼ m ln^½(k/β)/√n).",
            ours=("unworn.bounds.release.averaged_mwem_error", "unworn.bounds.release.averaged_mwem_rounds"),
            command=COMPUTE,
            page="theory/release.md#mwem",
            measured="n = 50,000, m = 1,024, k = 2,000, (1, 10⁻⁹): ± .211 at T = 2,243.",
            erratum="The two terms balance at T = n √(ln m)/(2C ln(kT/β)), which grows with n and not with √n. For m "
            "= 1,024, k/β = 40,000, C = 1 (and ln T left out) at n = 50,000 the printed T is 476, where the bound is "
            ".26; the two terms are equal at 6,211, where it is .13.",
        ),
        LectureRow(
            section=ANALYSIS,
            kind="theorem",
            says="So the error is at most α₀ with probability 1 − β from n = Õ(C ln(k/β) √(ln m)/α₀²) rows on.",
            ours=(f"{REGIMES}.mwem_rows",),
            command=PAIRS,
            claim="regimes",
            page="theory/release.md#three-regimes",
            measured="427,616 rows are certified for m = 2¹⁶, k = 1,000, α₀ = .05 at (1, 10⁻⁹).",
        ),
    ),
)
