"""Lecture 001: sampling without compromising accuracy in adaptive data analysis; this half is what it builds on."""

from __future__ import annotations

from unworn.lab.lectures.lecture_contract import Lecture, LectureRow
from unworn.lab.lectures.sampling_results import RESULTS

QUERIES, BOARDS, KNOWN = "Queries we consider", "Taking advantage of adaptivity in leaderboards", "Known results"
COMPUTE = "unworn lab lecture 001 --compute"

LECTURE = Lecture(
    number="001",
    title="Sampling without compromising accuracy",
    source="a talk on adaptive data analysis and on work of Fish, Reyzin and Rubinstein",
    rows=(
        LectureRow(
            section="The problem",
            kind="remark",
            says="Data sets are often reused, which leads to overfitting (false discovery, the garden of forking "
            "paths, p-hacking): a loss measured again on a validation set may not generalize.",
            ours=("unworn.mechanisms.Naive", "unworn.lab.analysts.GreedySelection"),
            command="unworn demo",
            page="five-minutes.md",
            measured="A vote of the 1,983 clues that looked good on 10,000 rows is reported to be right 73.4 % of the "
            "time; on fresh rows it is right 63.0 % of the time.",
        ),
        LectureRow(
            section="Adaptivity",
            kind="definition",
            says="Static: all queries are fixed before the first answer. Adaptive: each is chosen after the answers "
            "so far.",
            ours=(
                "unworn.lab.Analyst",
                "unworn.holdout.Holdout.ask_many",
            ),
            claim="four-rates",
            page="promise.md",
            measured="Certified for 10⁸ rows, the error grows with the number of queries to the power .02 if they "
            "are fixed, and .26 with Gaussian noise if they are adaptive.",
        ),
        LectureRow(
            section="The goal",
            kind="definition",
            says="Answer queries adaptively on a fixed dataset, assuming nothing about the adaptivity nor a class of "
            "bounded complexity that queries come from.",
            ours=("unworn.holdout.Holdout", "unworn.lab.Analyst"),
            command='unworn ask people.csv "age > 65" --guess 0.2',
            page="promise.md",
            measured="10,000 rows, 1,000 queries, each of them any function of a row: ± .0375 while guesses are "
            "right, whoever asks.",
        ),
        LectureRow(
            section="Adaptive data analysis",
            kind="remark",
            says="How many queries can we answer, how many samples do k of them take, and how long does it need to "
            "take?",
            ours=("unworn.plan",),
            command="unworn plan --rows 10000 --asks 1000",
            page="mechanisms/index.md",
            measured="10,000 rows, 1,000 queries: ± .0375 by guess and check, ± .107 and ± .129 with bounded and "
            "with Gaussian noise. One answer takes a fifth of a millisecond.",
        ),
        LectureRow(
            section="Queries",
            kind="definition",
            says="A query is just a function from distributions to numbers, on which the mechanism wants to return a "
            "value close to q(D).",
            ours=(
                "unworn.queries.Query",
                "unworn.lab.Rule",
            ),
            command='unworn ask people.csv "age > 65" --guess 0.2',
            page="questions.md",
            note="With a declared range and a fingerprint, so that a repeat is known. A rule of the lab has its q(D) "
            "as well.",
        ),
        LectureRow(
            section="Queries",
            kind="definition",
            says="A statistical query is a function q: X → [0, 1], and q(S) its mean over the sample.",
            ours=("unworn.queries.mean", "unworn.queries.share", "unworn.queries.Query"),
            command="unworn ask people.csv income --range 0 200000 --guess 41000",
            page="questions.md",
            measured="10,000 rows: ± .0136 for one query fixed beforehand, at 95 %.",
        ),
        LectureRow(
            section="Statistical queries, motivation",
            kind="algorithm",
            says="Most methods can be implemented by statistical queries: gradient descent, EM, SVM, boosting, linear "
            "and convex optimization, MCMC, simulated annealing.",
            ours=(
                "unworn.learn.minimise",
                "unworn.learn.fit_mixture",
                "unworn.learn.hinge",
                "unworn.learn.boost",
                "unworn.learn.solve_program",
                "unworn.learn.sample_states",
                "unworn.learn.anneal",
            ),
            command=COMPUTE,
            page="optimisation.md#learners-made-of-asks",
            measured="The function boost on 10⁵ rows, whose label is the majority of three signs among five: with "
            "151 answers of Gaussian noise it finds it, and certifies an error of at most .017.",
            note="One function each, in the slide's order; every answer comes through a holdout and has its interval.",
        ),
        LectureRow(
            section=QUERIES,
            kind="definition",
            says="A counting query asks what proportion of the data satisfies a given property: q: X → {0, 1}.",
            ours=("unworn.queries.share",),
            command='unworn ask people.csv "age > 65" --guess 0.2',
            page="questions.md",
            measured="10,000 rows, 500 of them yes: .0458 to .0545 by the exact limits for counts, at 95 %; ± .0136 "
            "for any query.",
        ),
        LectureRow(
            section=QUERIES,
            kind="definition",
            says="An optimization query is the argmin over θ ∈ Θ of the expected loss L(S, θ).",
            ours=("unworn.learn.minimise", "unworn.learn.Minimum", "unworn.learn.convex_loss"),
            command=COMPUTE,
            page="optimisation.md",
            measured="Logistic regression, 10⁵ rows, three coefficients, 61 asks and a penalty of .1: certified to "
            "be within .0170 of the least risk.",
        ),
        LectureRow(
            section="Other queries",
            kind="definition",
            says="A low sensitivity query is a function of the whole sample that one element changes by at most 1/n; "
            "its population value is its mean over fresh samples.",
            ours=("unworn.queries.statistic", "unworn.bounds.transfer.sensitive_width"),
            command=COMPUTE,
            page="questions.md#statistics-of-the-whole-sample",
            measured="Sensitivity 2/n, noise .02 and a privacy profile of .05-GDP: ± .0849.",
        ),
        LectureRow(
            section="Accuracy",
            kind="definition",
            says="A mechanism is (α, β)-accurate if with probability 1 − β all its answers are within α of q(D).",
            ours=("unworn.Certificate", "unworn.lab.Result", "unworn.lab.audit.coverage"),
            command="unworn audit gaussian --coverage",
            page="promise.md",
            measured="Gaussian noise, 40 answers about 2,000 rows: in none of 340 plays does an interval miss.",
            note="width and confidence = 1 − β; intervals may differ from answer to answer.",
        ),
        LectureRow(
            section="PAC method",
            kind="remark",
            says="Returning the empirical estimate turns out to be suboptimal.",
            ours=("unworn.mechanisms.Naive", "unworn.mechanisms.SampleSplitting"),
            command="unworn demo",
            page="mechanisms/naive.md",
            measured="In the demonstration the plain holdout says 73.4 % where 63.0 % is true; 1,909 of its 2,016 "
            "intervals hold.",
        ),
        LectureRow(
            section=BOARDS,
            kind="definition",
            says="The leaderboard has n points with labels y ∈ {0, 1}^n, and returns the average 0-1 loss of any "
            "prediction u.",
            ours=("unworn.boards.Board", "unworn.queries.accuracy"),
            command="",
            claim="ladder",
            page="boards.md",
            measured="n = k = 2,000: the error of the best score is .110 on a plain board, and .053 on a Ladder.",
        ),
        LectureRow(
            section=BOARDS,
            kind="algorithm",
            says="The boosting attack: submit k random vectors, and take the majority of those with loss at most 1/2.",
            ours=("unworn.lab.analysts.Boosting",),
            claim="boosting",
            page="lab.md",
            measured="k = 1,000 vectors on n = 1,000 labels: the majority's loss on them is .286, where 1/2 is true.",
        ),
        LectureRow(
            section=BOARDS,
            kind="theorem",
            says="Blum and Hardt: with at least constant probability its loss is at most 1/2 − Ω(√(k/n)).",
            ours=("unworn.lab.analysts.Boosting", "unworn.mechanisms.Naive"),
            claim="boosting",
            page="lab.md#claims-of-papers-and-lectures-run-again",
            measured="After 1,000 submissions on 1,000 rows a plain board says .715, and 1/2 is true (Φ(√(k/πn)) = "
            ".714 by theory).",
            note="For k up to about n, that is: 1/2 − c√(k/n) is below 0 for many more. The law is 1 − Φ(√(k/πn)).",
        ),
        LectureRow(
            section="Transfer",
            kind="remark",
            says="An algorithm that cannot learn the data will not overfit: stable algorithms generalize, by a "
            "transfer theorem.",
            ours=("unworn.bounds.transfer.d2", "unworn.bounds.transfer.widths"),
            command="unworn plan --rows 10000 --asks 1000 --theorems",
            page="theory/transfer.md",
            measured="10,000 rows, 1,000 queries with Gaussian noise: ± .189 by Theorem D2, for whatever the analyst "
            "makes of the answers.",
        ),
        LectureRow(
            section="Differential privacy",
            kind="definition",
            says="A mechanism is (ε, δ)-private if P[M(S) = z] ≤ e^ε P[M(S′) = z] + δ for neighbouring S, S′ and "
            "every outcome z.",
            ours=("unworn.bounds.privacy.Profile", "unworn.bounds.privacy.Approximate"),
            command="unworn audit laplace",
            page="theory/privacy.md",
            measured="Two answers with Laplace noise, ε = 1 claimed: the audit shows an ε of at least .553.",
            erratum="For every event, not every outcome. Outcome by outcome, ε = 0 and δ = 10⁻³ allow telling the "
            "whole sample beside a random number of three digits: every outcome has probability 10⁻³ at most, and the "
            "event that it shows this sample has probability 1 or 0.",
        ),
        LectureRow(
            section="Differentially private responses in leaderboards",
            kind="remark",
            says="With private responses the attack's loss stays near 1/2.",
            ours=("unworn.mechanisms.Gaussian", "unworn.mechanisms.Ladder", "unworn.mechanisms.GuessAndCheck"),
            claim="private-board",
            page="boards.md#what-to-believe",
            measured="The claim boosting: .55 on a ladder and .50 with guess and check, on 1,000 rows after 1,000 "
            "submissions.",
        ),
        LectureRow(
            section=BOARDS,
            kind="remark",
            says="Adaptivity makes it more difficult to generalize: a board that reveals less stays valid longer.",
            ours=("unworn.mechanisms.Ladder",),
            claim="ladder",
            page="mechanisms/ladder.md",
            measured="As many submissions as rows: the Ladder's error falls from .073 on 250 rows to .053 on 2,000; a "
            "plain board's does not fall.",
        ),
        LectureRow(
            section="A mechanism for SQs",
            kind="algorithm",
            says="Return q(S) + Lap(1/(nε)).",
            ours=("unworn.mechanisms.Laplace",),
            command="unworn audit laplace",
            page="mechanisms/laplace.md",
            measured="10,000 rows, 1,000 queries: ± .303; the audit finds no fault.",
        ),
        LectureRow(
            section="A mechanism for SQs",
            kind="theorem",
            says="It is accurate on the sample and private, which is sufficient for accuracy on the distribution.",
            ours=("unworn.bounds.transfer.jlnrss20", "unworn.bounds.transfer.d2"),
            command="unworn plan --rows 10000 --asks 1000 --theorems",
            page="theory/transfer.md#theorem-d2-in-odds",
            measured="10,000 rows, 1,000 queries: ± .303 with Laplace noise, ± .129 with Gaussian noise.",
        ),
        LectureRow(
            section=KNOWN,
            kind="theorem",
            says="Low sensitivity and statistical queries take n = Õ(√k/α²), tight in k.",
            ours=("unworn.lab.theorems.convex_counts.former_counts", "unworn.bounds.transfer.most_asks"),
            claim="wall",
            page="theory/noisy-means.md",
            measured="Answers with noise of .1 give half of 50 rows away after 7,756 queries, 3.1 n².",
        ),
        LectureRow(
            section=KNOWN,
            kind="theorem",
            says="Convex optimization in d dimensions takes Õ(√(kd)/α²) rows.",
            ours=("unworn.lab.theorems.convex_counts.former_counts",),
            command=COMPUTE,
            page="theory/optimisation.md#rates-and-the-published-counts",
            measured="d = 4, k = 100, α = .1: 2,000 rows, every hidden constant taken as 1.",
        ),
        LectureRow(
            section=KNOWN,
            kind="theorem",
            says="Bounded max-information is sufficient too, and enables hypothesis testing.",
            ours=(
                "unworn.holdout.Holdout.test",
                "unworn.lab.theorems.max_information",
                "unworn.lab.theorems.approximate_privacy.private_bits",
            ),
            command=COMPUTE,
            page="theory/tests.md#max-information",
            measured="n = 10,000, ε = .001, slack .01: .22 bits with δ = 0, .45 with δ = 10⁻¹².",
            note="holdout.test goes through Theorems C′ and F, which are sharper than max-information.",
        ),
        LectureRow(
            section="Computational complexity",
            kind="remark",
            says="All of these take Ω(n) time per query, and practice samples instead, by the bootstrap for one.",
            ours=("unworn.mechanisms.Subsampled", "unworn.lab.theorems.convex_counts.lecture_time"),
            claim="subsampling",
            page="mechanisms/subsampled.md",
            measured="k = 10,000, α = .1, β = .05: some 8,483 steps a query, every hidden constant taken as 1, for "
            "any number of rows.",
        ),
        *RESULTS,
    ),
)
