"""The mechanism that guesses by itself: what it guesses, what wrong guesses teach it, and that a replay finds out."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.two_sizes import in_two_sizes, reseeded
from unworn import Holdout, col, mean, share
from unworn.errors import Exhausted, Mismatch, Tampered, Unaskable
from unworn.ledger import GENESIS, Entry, Key
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import GuessAndCheck, MedianOracle, Offer, from_json
from unworn.mechanisms.contract.conversation import publish_symbol
from unworn.mechanisms.contract.offer_codec import PLACE_OF
from unworn.mechanisms.synthetic.version_space import GRID, VersionSpace, data_sets, most_wrong, nearness
from unworn.mechanisms.synthetic.wrong_guesses import FollowedRecords, Wrong, surviving, weights_of
from unworn.mechanisms.threshold.secret_threshold import BELOW
from unworn.queries import Query, function, statistic
from unworn.record.certificate import Certificate, replay
from unworn.universe.domain.domain import Domain

ROWS, ASKS = 100_000, 500
DOMAIN = {"age": [20, 40], "plan": ["basic", "pro"]}
POINTS = [(age, plan) for age in DOMAIN["age"] for plan in DOMAIN["plan"]]
SHARES = np.array([0.5, 0.1, 0.3, 0.1])
PLANNED = MedianOracle(domain=DOMAIN, size=40).settled(ROWS, 0.95, ASKS)


def people(rows: int = ROWS, seed: int = 1) -> dict[str, np.ndarray]:
    drawn = np.random.default_rng(seed).choice(4, rows, p=SHARES)
    return {"age": np.array([20, 40])[drawn // 2], "plan": np.array(["basic", "pro"])[drawn % 2]}


def among(points: tuple[int, ...]) -> Query:
    """The share of rows at these points."""
    at = [(col("age") == POINTS[point][0]) & (col("plan") == POINTS[point][1]) for point in points]
    return share(at[0] if len(at) == 1 else at[0] | at[1] if len(at) == 2 else at[0] | at[1] | at[2])


SUBSETS = [points for many in (1, 2, 3) for points in combinations(range(4), many)]


def sealed(mechanism: MedianOracle = PLANNED, seed: int = 5, **options: Any) -> Holdout:
    options.setdefault("ledger", SeededStore(np.random.default_rng(seed)))
    options.setdefault("asks", ASKS)
    return Holdout(options.pop("data", None) or people(), mechanism=mechanism, **{"ledger": None, **options})


def chain(holdout: Holdout) -> list[Entry]:
    return holdout._desk.store.read(holdout.id)


def guesses(holdout: Holdout) -> list[float]:
    return [record.guess.value for record in holdout._desk.transcript.records]


# ------------------------------------------------------------------ guessing and learning


def test_answers_cover_and_the_guesses_become_right() -> None:
    """Planned for a confidence of 1 - 2e-7. False alarms: misses, and right guesses that fail, 2e-7 each at most."""
    sure = 1 - 2e-7
    mechanism = MedianOracle(domain=DOMAIN, size=40).settled(4 * ROWS, sure, ASKS)
    holdout = sealed(mechanism, data=people(4 * ROWS), confidence=sure)
    first = [holdout.ask(among(points)) for points in SUBSETS]
    second = [holdout.ask(among(points), again=True) for points in SUBSETS]
    for points, answer in zip(SUBSETS * 2, first + second, strict=True):
        assert answer.low <= SHARES[list(points)].sum() <= answer.high
    wrong = [answer.source == "noise" for answer in first]
    assert 0 < sum(wrong) <= mechanism.limit - 1 == most_wrong(4, 40) <= 40 * 2
    assert not any(answer.source == "noise" for answer in second)
    truths = np.array([SHARES[list(points)].sum() for points in SUBSETS])
    before, after = np.split(np.array(guesses(holdout)), 2)
    assert np.abs(after - truths).max() < np.abs(before - truths).max()
    assert max(answer.width for answer in first + second) <= mechanism.reach(4 * ROWS, ASKS, sure) + 1e-9 < 0.3


def test_the_first_guess_is_the_median_of_all_small_data_sets() -> None:
    holdout = sealed()
    answer = holdout.ask(among((0,)), guess=0.99)  # not used: the mechanism guesses
    assert answer.certificate.record.guess.origin == "mechanism"
    shares = np.sort(VersionSpace.of(4, 40).histograms[0] / 40)
    assert answer.certificate.record.guess.value == shares[(len(shares) - 1) // 2]


def test_what_is_left_is_what_agrees_with_every_answer() -> None:
    """Against the definition, one data set at a time, in fractions of rows."""
    holdout = sealed()
    for points in SUBSETS:
        holdout.ask(among(points))
    records = holdout._desk.transcript.records
    wrong = FollowedRecords(PLANNED.level).wrong(records)
    left = surviving(Domain(DOMAIN), 40, wrong)
    kept = []
    for histogram in VersionSpace.of(4, 40).histograms.T.tolist():
        agrees = True
        for points, record in zip(SUBSETS, records, strict=True):
            if record.symbol != BELOW:
                value = sum(histogram[point] for point in points) / 40 * ROWS
                guess = round(record.guess.value * ROWS)
                agrees &= abs(value - record.symbol) <= PLANNED.level(ROWS)
                agrees &= value >= guess + 1 if record.symbol > guess else value <= guess - 1
        if agrees:
            kept.append(histogram)
    assert sorted(kept) == sorted(left.histograms.T.tolist())
    assert 0 < len(left) < len(VersionSpace.of(4, 40)) / 2 ** len(wrong)
    # The nearest to the rows is left, but with the plan's 5 % (seeded), and they are near to the population.
    near = np.abs(left.histograms / 40 - SHARES[:, np.newaxis]).sum(axis=0).min() / 2
    assert near <= nearness(4, 40) + 0.01


@pytest.mark.parametrize("side", [-1, 1])
def test_every_wrong_guess_halves_whatever_the_noise(side: int) -> None:
    """An answer just beside the guess, or far outside the range: at most log2 of all can be wrong, always."""
    domain, rng = Domain(DOMAIN), np.random.default_rng(3)
    for far in (1, 200, 10**9):
        wrong: tuple[Wrong, ...] = ()
        left = surviving(domain, 12, wrong)
        while len(left):
            question = among(SUBSETS[rng.integers(len(SUBSETS))])
            median = left.median(weights_of(domain, question, 0.0, 1.0)) / (12 * GRID)
            guess = round(median * 1_000)
            told = Wrong(_text(question), 0.0, 1.0, 1_000, guess, guess + side * far, 10**12)
            wrong, before = (*wrong, told), len(left)
            left = surviving(domain, 12, wrong)
            assert 2 * len(left) <= before
        assert len(wrong) - 1 <= most_wrong(4, 12)


def _text(question: Query) -> str:
    from unworn.queries.query import canonical

    return canonical(question.to_json())


def test_means_are_guessed_in_their_own_units() -> None:
    holdout = sealed()
    for points in SUBSETS:
        holdout.ask(among(points))
    answer = holdout.ask(mean(col("age"), range=(10, 60)))
    assert answer.low <= 20 * 0.6 + 40 * 0.4 <= answer.high
    assert answer.source == "guess"
    assert abs(answer.value - 28) < 2


def test_groups_are_asked_as_units() -> None:
    data = people(20_000)
    holdout = Holdout(
        data | {"team": np.repeat(np.arange(10_000), 2)},
        groups="team",
        mechanism=MedianOracle(domain=DOMAIN, size=10),
        asks=50,
        ledger=SeededStore(np.random.default_rng(2)),
    )
    answer = holdout.ask(among((0,)))
    assert answer.low <= 0.5 <= answer.high
    replay(chain(holdout))


# ------------------------------------------------------------------ from the ledger alone


def test_a_restart_makes_the_same_guesses(tmp_path: Path) -> None:
    def open_() -> Holdout:
        return Holdout(data, mechanism=MedianOracle(domain=DOMAIN, size=40), asks=ASKS, ledger=str(tmp_path / "m.db"))

    data, half = people(), len(SUBSETS) // 2
    holdout = open_()
    for points in SUBSETS[:half]:
        holdout.ask(among(points))
    quoted = [holdout.quote(among(points)).guess for points in SUBSETS[half:]]
    holdout.close()
    reopened = open_()
    assert [reopened.quote(among(points)).guess for points in SUBSETS[half:]] == quoted
    answers = [reopened.ask(among(points)) for points in SUBSETS[half:]]
    answers[-1].certificate.verify(chain(reopened))
    with pytest.raises(Mismatch, match="mechanism"):
        Holdout(data, mechanism=MedianOracle(domain={"age": [20, 40]}), asks=ASKS, ledger=str(tmp_path / "m.db"))
    reopened.close()


def forged(entries: list[Entry], index: int, change: Callable[[dict[str, Any]], None]) -> list[Entry]:
    """The same chain with one body changed, sealed anew by somebody who has a key."""
    key, sealed_anew = Key(bytes(range(32))), []
    for place, entry in enumerate(entries):
        body = copy.deepcopy(entry.body)
        if place == 0:
            body["public"] = key.public
        if place == index:
            change(body)
        previous = sealed_anew[-1].hash if sealed_anew else GENESIS
        sealed_anew.append(Entry.seal(entry.holdout, place, previous, body, key))
    return sealed_anew


def test_a_replay_finds_a_guess_that_the_mechanism_did_not_make() -> None:
    """Everything else in the entry fits the guess, and the card alone cannot tell; the ledger can."""
    holdout = sealed()
    for points in SUBSETS[:6]:
        holdout.ask(among(points))
    entries, mechanism = chain(holdout), holdout.mechanism
    passed = next(place for place in range(1, 7) if entries[place].body["symbol"] == BELOW)
    guess_at = PLACE_OF["guess"]

    def shift(body: dict[str, Any]) -> None:
        body["guess"][0] += 0.01
        body["offer"][guess_at] = body["guess"][0]
        told = publish_symbol(mechanism, Offer.from_json(body["offer"]), body["symbol"])
        body["published"] = [told.value, told.low, told.high, told.source]

    replay(forged(entries, passed, lambda body: None))
    tampered = forged(entries, passed, shift)
    Certificate.of(tampered[0], tampered[passed]).verify()
    with pytest.raises(Tampered, match=rf"entry {passed} holds the guess"):
        replay(tampered)
    with pytest.raises(Tampered):
        replay(forged(entries, passed, lambda body: body.update(guess=None)))
    with pytest.raises(Tampered):
        replay(forged(entries, passed, lambda body: body.update(question={"ask": "share"})))


def test_a_replay_finds_an_answer_after_which_guesses_would_have_been_others() -> None:
    holdout = sealed()
    for points in SUBSETS[:6]:
        holdout.ask(among(points))
    entries, mechanism = chain(holdout), holdout.mechanism
    wrong = next(place for place in range(1, 7) if entries[place].body["symbol"] != BELOW)

    def more(body: dict[str, Any]) -> None:
        body["symbol"] += 5 * mechanism.level(ROWS)
        told = publish_symbol(mechanism, Offer.from_json(body["offer"]), body["symbol"])
        body["published"] = [told.value, told.low, told.high, told.source]

    with pytest.raises(Tampered):
        replay(forged(entries, wrong, more))


def test_a_batch_is_guessed_from_what_was_told_before_it() -> None:
    holdout = sealed()
    holdout.ask(share(col("age") == 20))
    quoted = [holdout.quote(among(points)).guess for points in SUBSETS[:5]]
    answers = holdout.ask_many([among(points) for points in SUBSETS[:5]])
    assert [answer.certificate.record.guess.value for answer in answers] == quoted
    holdout.ask(among((1, 2, 3)))
    replay(chain(holdout))
    with pytest.raises(Exhausted, match="ask at most"):
        holdout.ask_many([among(points) for points in SUBSETS] + [share(col("age") > age) for age in range(15)])
    assert holdout.meter.asked == 7  # refused as a whole, before any row was read


def test_records_are_read_once_and_again_only_after_a_cut() -> None:
    class Counting(list[Any]):
        reads = 0

        def __getitem__(self, place: Any) -> Any:
            self.reads += 1
            return super().__getitem__(place)

    holdout = sealed()
    for points in SUBSETS:
        holdout.ask(among(points))
    records = Counting(holdout._desk.transcript.records)
    followed = FollowedRecords(PLANNED.level)
    all_wrong, reads = followed.wrong(records), records.reads
    assert followed.wrong(records) == all_wrong
    assert records.reads - reads <= 2
    cut = records[:3]
    assert followed.wrong(cut) == FollowedRecords(PLANNED.level).wrong(cut) == all_wrong[: len(followed.wrong(cut))]
    assert followed.wrong(records) == all_wrong
    copied = pickle.loads(pickle.dumps(holdout.mechanism))  # what was seen stays behind
    assert copied == holdout.mechanism
    assert copied._followed.wrong(records) == all_wrong


# ------------------------------------------------------------------ refusals


def test_rows_outside_the_domain_end_the_guessing_and_break_no_interval() -> None:
    """Nobody is 20 or 40, which no data set over the domain allows."""
    rows = {"age": np.full(ROWS, 30)}
    mechanism = MedianOracle(domain={"age": [20, 40]})
    holdout = Holdout(rows, mechanism=mechanism, asks=ASKS, ledger=SeededStore(np.random.default_rng(4)))
    told = [holdout.ask(share(col("age") == age)) for age in (20, 40)]
    assert all(answer.low == 0.0 and answer.source == "noise" for answer in told)
    with pytest.raises(Exhausted, match=r"after 2 wrong guesses no data set.*outside the domain"):
        holdout.ask(share(col("age") > 10))
    with pytest.raises(Exhausted):
        holdout.quote(share(col("age") > 10))
    assert holdout.meter.asked == 2
    replay(chain(holdout))


def test_questions_that_have_no_value_on_the_domain() -> None:
    data = people() | {"income": np.ones(ROWS), "y": np.zeros(ROWS, dtype=int)}
    holdout = Holdout(data, y="y", mechanism=PLANNED, asks=ASKS, ledger=None)
    with pytest.raises(Unaskable, match=r"declared domain: there is no column 'income'.*age, plan"):
        holdout.ask(share(col("income") > 0))
    with pytest.raises(Unaskable, match="predictions, models and functions belong to rows"):
        holdout.score(np.zeros(ROWS, dtype=int))
    with pytest.raises(Unaskable, match="code that sees all the rows"):
        holdout.ask(function(lambda columns: columns["age"] > 3, range=(0, 1)))
    with pytest.raises(Unaskable, match="not a mean over rows"):
        holdout.ask(statistic(lambda columns: 0.5, sensitivity=1 / ROWS, range=(0, 1)))
    with pytest.raises(Unaskable, match="exact test would show"):
        holdout.test(among((0,)), above=0.4)
    assert holdout.meter.asked == 0
    with pytest.raises(Unaskable, match="nothing to sharpen"):
        holdout.sharpen(holdout.ask(among((0,))))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"domain": DOMAIN, "size": 300}, r"10\^6\.7 data sets of size 300 over the domain's 4 points.*exponential"),
        ({"domain": {"a": range(1_000), "b": range(3_000)}}, r"10\^6\.5 data sets.*GuessAndCheck"),
        ({"domain": {"a": range(1_000)}, "size": 10**7}, r"data sets of size 10,000,000"),
        ({"domain": {"a": [1]}}, "single point"),
        ({"domain": {"a": []}}, "none at all"),
        ({"domain": DOMAIN, "size": 0}, "whole number"),
        ({"domain": DOMAIN, "size": 2.5}, "whole number"),
        ({"domain": DOMAIN, "size": True}, "whole number"),
        ({"domain": DOMAIN, "threshold": 1.5}, "share of the range"),
        ({"domain": DOMAIN, "threshold": float("nan")}, "share of the range"),
        ({"domain": DOMAIN, "epsilon": 0.0}, "above 0"),
        ({"domain": DOMAIN, "epsilon": float("inf")}, "at most 700"),
    ],
)
def test_what_is_no_configuration_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"(?s){said}"):
        MedianOracle(**options)


def test_a_domain_too_large_for_its_data_sets_is_refused_with_the_numbers() -> None:
    with pytest.raises(ValueError, match=r"(?s)domain of 40 points, which says nothing.*2,000,000.*no efficient way"):
        MedianOracle.for_(rows=10**6, asks=1_000, domain={"a": range(40)})
    with pytest.raises(ValueError, match="cannot do better than"):
        MedianOracle.for_(rows=ROWS, asks=ASKS, width=0.001, domain=DOMAIN)
    with pytest.raises(ValueError, match="give domain="):
        MedianOracle.for_(rows=ROWS, asks=ASKS)
    with pytest.raises(ValueError, match="asks="):
        Holdout(people(), mechanism=MedianOracle(domain=DOMAIN), ledger=None)


# ------------------------------------------------------------------ the plan


def test_the_configuration_survives_entry_0() -> None:
    assert from_json(PLANNED.to_json()) == PLANNED
    assert MedianOracle(domain={"plan": ["pro", "basic"], "age": [40, 20.0]}, size=40).accepts(PLANNED)
    assert not MedianOracle(domain=DOMAIN, size=41).accepts(PLANNED)
    assert not GuessAndCheck().accepts(PLANNED)
    numbers = sealed().ask(among((0,))).certificate.numbers
    assert (numbers["points"], numbers["size"], numbers["data_sets"]) == (4, 40, data_sets(4, 40))
    assert numbers["tops"] == most_wrong(4, 40) + 1


@pytest.mark.parametrize("rows", [50_000, 2_000_000])
def test_the_plan_chooses_a_size_near_the_best(rows: int) -> None:
    best = MedianOracle.for_(rows=rows, asks=1_000, domain={"a": [0, 1]})
    widths = {
        size: replace(best, size=size, epsilon=None, threshold=None).settled(rows, 0.95, 1_000).reach(rows, 1_000)
        for size in (6, 30, 126, 510, 2046)
    }
    assert best.reach(rows, 1_000) <= 1.02 * min(widths.values())
    assert best.threshold >= nearness(2, best.size)


# ------------------------------------------------------------------ coverage


def hunting(holdout: Holdout, asks: int, rng: np.random.Generator) -> Iterator[tuple[float, float, float]]:
    """An analyst who knows the population, votes by every answer on which points the rows have too many of, and then
    asks for those."""
    votes = np.zeros(4)
    for _ in range(asks):
        points = SUBSETS[rng.integers(len(SUBSETS))]
        if rng.random() < 0.5:
            points = tuple(np.flatnonzero(votes > np.median(votes))) or points
        answer = holdout.ask(among(points), again=True)
        truth = float(SHARES[list(points)].sum())
        inside = np.isin(np.arange(4), points)
        votes += np.where(inside, 1 / inside.sum(), -1 / (~inside).sum()) * (answer.value - truth)
        yield answer.low, truth, answer.high


def coverage(plays: int, rows: int, asks: int, mechanism: MedianOracle) -> int:
    missed = 0
    for play in range(plays):
        rng, seed = np.random.default_rng([7, reseeded(play)]), reseeded(play)
        holdout = sealed(mechanism, seed, data=people(rows, seed), asks=asks)
        missed += any(not low <= truth <= high for low, truth, high in hunting(holdout, asks, rng))
        assert holdout._desk.transcript.state.surprises <= mechanism.limit
    return missed


@in_two_sizes(short=(12, 40, 8), full=(100, 200, 20))
def test_intervals_hold_against_an_adaptive_analyst(size: tuple[int, int, int]) -> None:
    """Promised: 5 % of plays miss. If so, more than 8 of 12 do with probability below 1e-9, 20 of 100 with 3e-8."""
    plays, asks, most = size
    mechanism = MedianOracle(domain=DOMAIN, size=20).settled(20_000, 0.95, asks)
    assert coverage(plays, 20_000, asks, mechanism) <= most
