"""Lecture 004: sparse vector for numbers, the small database of Blum, Ligett and Roth, privacy as generalization."""

from __future__ import annotations

from unworn.lab.lectures.generalization_rows import GENERALIZATION
from unworn.lab.lectures.lecture_contract import Lecture, LectureRow

SPARSE, BLR = "Sparse vector technique", "BLR mechanism"
COMPUTE = "unworn lab lecture 004 --compute"

LECTURE = Lecture(
    number="004",
    title="More techniques, and generalization",
    source="slides: composition, sparse vector, Blum–Ligett–Roth, and DP ⇒ generalization",
    rows=(
        LectureRow(
            section="More DP techniques",
            kind="remark",
            says="Composition and advanced composition.",
            ours=("unworn.bounds.privacy.basic", "unworn.bounds.privacy.advanced", "unworn.bounds.privacy.compose"),
            command=COMPUTE,
            page="theory/privacy.md#many-answers",
            measured="100 answers of ε₀ = .1 at δ = 10⁻⁶: ε = 10 by basic, 6.31 by advanced composition, 5.76 by its "
            "sharper form.",
            note="Certificates compose whole privacy profiles.",
        ),
        LectureRow(
            section=SPARSE,
            kind="remark",
            says="A lot of queries, and a numeric answer only where the value is over a threshold T.",
            ours=("unworn.mechanisms.SparseVector", "unworn.mechanisms.Thresholdout"),
            command="unworn audit sparse-vector-values",
            page="theory/sparse-vector.md#numbers-above-the-threshold-and-nothing-below",
            measured="The audit finds no fault: a run to one number for which ε = 2.498 is claimed at δ = .001 shows "
            "at least .282.",
            note="SparseVector(values=True), NumericSparse in the book, for ε/4 more per number. The slides' "
            "algorithm itself says 1 and 0 only.",
        ),
        LectureRow(
            section=SPARSE,
            kind="remark",
            says="Example 1: a stream of people and salaries; say “above” for those with salaries above T.",
            ours=("unworn.mechanisms.AboveThreshold", "unworn.mechanisms.SparseVector"),
            command="unworn audit sparse-vector",
            page="mechanisms/above-threshold.md",
            measured="n = 10⁶, k = 10⁴ shares of the people, one above: each outcome is right to within ± .0187.",
            note="For shares and means of the people. Whether one person's salary is above T is that person's secret, "
            "and no private mechanism reveals it; nor do ours follow a stream (see “other directions”).",
        ),
        LectureRow(
            section=SPARSE,
            kind="remark",
            says="Example 2: test a model on a holdout; say “error” if its error exceeds T.",
            ours=("unworn.mechanisms.SparseVector", "unworn.mechanisms.PrivateGuessAndCheck", "unworn.Holdout"),
            claim="sparse-vector",
            page="mechanisms/sparse-vector.md",
            measured="10,000 rows, 1,000 models, the last of them above: by AboveThreshold it reaches .0232 below T.",
        ),
        LectureRow(
            section=SPARSE,
            kind="algorithm",
            says="Sparse(D, {f_i}, T, c, ε, δ): θ = 2c/ε if δ = 0, else 32 c ln(1/δ)/ε; compare f_i + Lap(2θ) with T "
            "+ Lap(θ), drawn again after each 1; halt when count ≥ c.",
            ours=("unworn.mechanisms.SparseVector", "unworn.bounds.sparse.sparse_vector_bounds.sparse_scale"),
            command="unworn audit sparse-vector",
            page="theory/sparse-vector.md#theorem-3-a-fresh-threshold-after-each-above",
            measured="c = 10, ε = 1: θ = 20 at δ = 0, and 66.5 at δ = 10⁻⁶, where the slide has 4,421.",
            erratum="With δ > 0 it is √(32 c ln(1/δ))/ε. As printed the algorithm is private all the same, and for c "
            "= 10, δ = 10⁻⁶, ε = 1 it is 66 times too noisy (4,421 for 66.5), worse than δ = 0. Also: i = 1, 2, …, "
            "not 1, 3, …; and noise is added to the threshold, not “to count”.",
        ),
        LectureRow(
            section=BLR,
            kind="definition",
            says="A synthetic database, or a distribution over them, is to answer every query of a family Q "
            "accurately; its utility is −max |f(x) − f(y)|.",
            ours=("unworn.release.SmallDB", "unworn.universe.Workload"),
            command="unworn audit release-small-db",
            page="theory/release.md#the-small-database",
            measured="n = 100,000, |X| = 16, |Q| = 20, ε = 1: all 20 queries to within ± .104, at 95 %.",
        ),
        LectureRow(
            section=BLR,
            kind="theorem",
            says="For every x and every set Q of linear queries some database of ln|Q|/α² rows errs by at most α.",
            ours=("unworn.bounds.release.small_size",),
            command=COMPUTE,
            page="theory/release.md#the-small-database",
            measured="|Q| = 100, α = .1: 461 rows as printed, 265 = ln(2|Q|)/(2α²) are enough.",
            erratum="For |Q| = 1 it says that a database of 0 rows is enough (ln 1 = 0), which answers nothing. Right "
            "from three queries on, by Hoeffding's inequality.",
        ),
        LectureRow(
            section=BLR,
            kind="algorithm",
            says="R is the set of all databases of ln|Q|/α² rows; put out r ∈ R by the exponential mechanism.",
            ours=("unworn.release.SmallDB",),
            command="unworn audit release-small-db",
            page="release.md#the-methods",
            measured="The audit finds no fault: a database of three rows for which ε = 2 is claimed shows at least "
            ".969.",
            note="Goes through all of R, and so is for small universes only; the lecture's slide has log(|Q|/a²), for "
            "log|Q|/α².",
        ),
        LectureRow(
            section=BLR,
            kind="theorem",
            says="BLR is (ε, δ)-private, and very accurate.",
            ours=("unworn.bounds.release.small_error", "unworn.bounds.release.small_rows"),
            command=COMPUTE,
            page="theory/release.md#the-small-database",
            measured="n = 100,000, |X| = 16, |Q| = 20, ε = 1: ± .104 at 95 %.",
            note="It is (ε, 0)-private: no δ is needed.",
        ),
        *GENERALIZATION,
    ),
)
