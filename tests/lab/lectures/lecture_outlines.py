"""What the five documents contain, in their own headings and their own order: each with words of the rows that say it.

Written down from the documents and not from the map, so that a statement which is dropped from the map is missed. A
slide that repeats the one before it, and pictures without words, are left out.
"""

from __future__ import annotations

from typing import Final

OUTLINES: Final[dict[str, tuple[tuple[str, tuple[str, ...]], ...]]] = {
    "000": (
        ("Adaptive Data Analysis", ("reusable holdout",)),
        ("Model for Adaptive Data Analysis", ("φ from rows to [0, 1]", "interact on i.i.d. rows", "Sample accuracy")),
        ("Transfer Theorem", ("α′ = α + (e^ε − 1) + c + 2d",)),
        ("Answering k adaptive queries", ("that of sample splitting √(k/n)", "compress the output")),
        ("Sparse Vector", ("noisy threshold T + Lap(2Δ/ε)",)),
        ("Accuracy", ("Empirical error", "6Δ ln((k+1)/β)/ε")),
        ("Composing m runs of SV", ("Population error", "O(ln k/(nε) + ε√m)", "m counts the answers above")),
        ("Privacy", ("Sparse vector is (ε, 0)-private",)),
        ("Synthetic data", ("Hope: most queries", "update it by multiplicative weights")),
        ("Sample complexity, accuracy", ("(ln k √(ln|X|)/n)^⅓", "which may be infinite")),
        ("Lower bound", ("after O(n²) queries",)),
    ),
    "001": (
        ("The problem", ("reused, which leads to overfitting",)),
        (
            "Adaptivity",
            (
                "Static: all queries are fixed",
                "Adaptivity makes it more difficult to generalize",
            ),
        ),
        ("The goal", ("assuming nothing about the adaptivity",)),
        ("Adaptive data analysis", ("How many queries can we answer",)),
        ("Queries", ("A query is just a function", "A statistical query")),
        ("Statistical Queries, motivation", ("Most methods can be implemented",)),
        ("Queries we consider", ("A counting query", "An optimization query")),
        ("Other queries", ("A low sensitivity query",)),
        ("Accuracy", ("(α, β)-accurate if with probability 1 − β all its answers",)),
        ("PAC method", ("empirical estimate turns out to be suboptimal",)),
        (
            "Taking advantage of adaptivity in leaderboards",
            ("The leaderboard has n points", "The boosting attack", "1/2 − Ω(√(k/n))"),
        ),
        ("An idea", ("cannot learn the data will not overfit",)),
        ("Transfer", ("stable algorithms generalize",)),
        ("Differential privacy", ("(ε, δ)-private if P[M(S) = z]",)),
        ("Differentially private responses in leaderboards", ("private responses the attack's loss stays",)),
        ("A mechanism for SQs", ("q(S) + Lap(1/(nε))", "accurate on the sample and private")),
        ("Known results (sample complexity)", ("tight in k", "Õ(√(kd)/α²)", "Bounded max-information")),
        ("Computational complexity", ("Ω(n) time per query",)),
        ("Summary of our results", ("Samples per query", "Iterations per query")),
        ("SQs", ("Õ(ln k/α²) samples per query and Õ(ln² k/α²) time",)),
        ("Fast mechanism for SQs", ("Sample ℓ points uniformly",)),
        ("Why does this work?", ("the two cancel", "ln(1 + (1 − (1 − 1/n)^ℓ)(e^ε − 1))")),
        (
            "Applications to convex optimization",
            ("Conditions: L differentiable", "Convex optimization: n =", "Strongly convex optimization: n ="),
        ),
        ("(Stochastic Block) Gradient descent with a black box", ("x_t = x_{t−1} − η", "cumulative difference")),
        ("Sampling counting queries", ("answered by a ∈ {0, 1}", "|E M(q_i) − q_i(D)| ≤ α")),
        ("SCQ results", ("(α/64, αβ/16)-private", "one sample per query")),
        ("Conclusions", ("simple mechanisms without downsides",)),
    ),
    "002": (
        (
            "What will we get?",
            ("n_Gauss", "n_Proj", "n_MWEM", "Which of the three", "Thresholds, k = m", "Pairwise marginals"),
        ),
        (
            "MW outputs as vectors",
            ("random action in each round", "at most 2√(ln m/T), with", "Proof:"),
        ),
        (
            "Query Release Via Synthetic Data Distributions",
            ("the histogram of the rows", "φ_i(x) = 1 if x ≤ i", "Idea 1", "Absolute values"),
        ),
        (
            "From Online Learning to Query Release",
            ("MW-EM: p¹", "interaction between an analyst", "exp(ε₀ score(i; x)/2)", "score's sensitivity is 1/n"),
        ),
        ("Why is this not crazy?", ("KL(h_x‖p^t) decreases",)),
        (
            "How does the analysis work?",
            (
                "regret is at least α",
                "ε₀√(2T ln(1/δ))",
                "4 ln(kT/β)/(ε₀ n)",
                "by Jensen's inequality",
                "n = Õ(C ln(k/β) √(ln m)/α₀²)",
            ),
        ),
    ),
    "003": (
        (
            "1 The Sparse Vector Technique",
            (
                "AboveThreshold says ⊥",
                "log₂(k + 1)-compressible",
                "SparseVector compares",
                "Theorem 1:",
                "Exercise 1:",
                "(⊥)^∞",
                "g(s) = max_{j<k}",
                "Empirical error in a round",
                "Theorem 2:",
                "Corollary:",
            ),
        ),
        (
            "2 Using Sparse Vector",
            (
                "run m copies",
                "τ-KL stable",
                "O(m^¼ √(ln k/n))",
                "in expectation",
                "PrivGuessAndCheck",
                "double the privacy parameters",
                "√(m ln(kn/m)/n)",
                "MedianOracle keeps",
                "m = n′ log|X|",
                "(log|X|)^{1/6}",
                "Exercise 2:",
                "reusable holdout of lecture 6",
            ),
        ),
        ("3 Notes", ("several incorrect versions",)),
    ),
    "004": (
        ("More DP techniques", ("Composition and advanced composition",)),
        ("Sparse Vector Technique", ("a numeric answer only", "Example 1", "Example 2", "Sparse(D, {f_i}")),
        ("BLR Mechanism", ("A synthetic database", "ln|Q|/α² rows errs", "put out r ∈ R", "BLR is (ε, δ)")),
        ("DP ⇒ generalization", ("A model that is accurate on n labelled examples",)),
        ("Intro: an estimation problem", ("Estimate h(P)", "Hoeffding: P(")),
        ("Simultaneously estimating a family of functions", ("by the union bound",)),
        ("When h is chosen based on the sample", ("Hoeffding's bound fails",)),
        ("Generalization", ("h α-generalizes", "What we saw")),
        ("Differential privacy → generalization “on average”", ("≤ ε + δ.", "≤ 2ε + δ, proved by swapping")),
        ("Differential privacy → generalization (summary)", ("DFHPRR'15", "BNSSSU'16")),
        ("In theory*", ("in practice analysts c",)),
        (
            "Application to adaptive querying",
            ("closed under post-processing", "inadvertently reveal the sample", "closed under adaptive composition"),
        ),
        ("Summary", ("Mechanisms to mix and match", "DP is connected to generalization")),
        ("Other directions", ("Pan-privacy", "Local privacy", "continual observation")),
    ),
}
