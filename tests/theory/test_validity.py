"""Every mechanism against every analyst: the share of plays with any miss stays within 1 − confidence.

A play is one sample, sealed, and asked through the real holdout; it is missed when *any* of its intervals excludes
the truth. A mechanism that keeps its promise misses a play with probability at most 1 − confidence, so the number of
missed plays is at most Binomial. A test rejects when that binomial would reach the number seen with probability below
1e-7: that, for the correct mechanisms and over all seeds, is the false-alarm rate of each assertion (about 150 in
all). Rows, coins and keys come from seeds, so a run repeats itself.

Low confidence makes the tests sharper: intervals are made of unions of bounds, and a mistake that eats the slack
shows at 0.5 long before it shows at 0.95. That the suite can fail at all is shown in ``test_planted.py``.

Every day there are four plays a world, at 0.95 and at 0.5: of a player's eight, 7 missed ones are enough to reject at
0.95, and of all 112 together 22; at 0.5 only all together can be caught, by 84. The full size has 25 plays a world on
twice the rows: 15 of a player's 50 and 70 of all 700 reject at 0.95, 44 and 420 at 0.5. ``test_noise.py`` has the same
for noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np
import pytest

from tests.two_sizes import in_two_sizes, reseeded
from unworn import Answer, Holdout
from unworn.lab import ANALYSTS, Analyst, FiniteWorld, Result, SignWorld, World, run
from unworn.lab.analysts import Boosting, SelectThenVote, Sharpener
from unworn.ledger.seeded_keys import SeededStore
from unworn.mechanisms import (
    AboveThreshold,
    GuessAndCheck,
    Mechanism,
    Naive,
    OneSample,
    Rounding,
    SampleSplitting,
)
from unworn.mechanisms.noisy.privacy_price import PricedMechanism
from unworn.rows import Sample

ALARM = 1e-7

# name: (mechanism, whether the number of asks is planned)
MECHANISMS: dict[str, tuple[Mechanism, bool]] = {
    "guess and check, anytime": (GuessAndCheck(), False),
    "guess and check, planned": (GuessAndCheck(), True),
    "guess and check, talkative": (GuessAndCheck(z=0.1, cell=0.01), False),
    "rounding, anytime": (Rounding(12), False),
    "rounding, planned": (Rounding(12), True),
    "a part an ask": (SampleSplitting(), True),
    "three rounds": (SampleSplitting(rounds=3), True),
    "above a half": (AboveThreshold(0.5, tops=None), False),
}
PLAYERS: dict[str, Analyst] = {name: kind() for name, kind in ANALYSTS.items()}
PLAYERS |= {"select_then_vote, batch": SelectThenVote(batch=True), "boosting, batch": Boosting(batch=True)}


def worlds(player: Analyst, points: int, mechanism: Mechanism) -> list[World]:
    # Splitting and noise refuse questions that run code.
    plain = isinstance(mechanism, SampleSplitting | PricedMechanism)
    finite = FiniteWorld(points, forms=("accuracy", "mae", "share") if plain else FiniteWorld(points).forms)
    return [finite] if player.finite else [SignWorld(), finite]


@dataclass(frozen=True)
class Plays:
    """How large a table of plays is: rows and asks of each, and how many in each world."""

    rows: int
    asks: int
    repetitions: int


def table(name: str, size: Plays, confidence: float, seed: int) -> dict[str, Result]:
    """One mechanism against everybody, each player on fresh seeds and the worlds it can play in."""
    mechanism, planned = MECHANISMS[name]
    results = {}
    for place, (player, analyst) in enumerate(PLAYERS.items()):
        plays = [
            run(world, analyst, mechanism, size.rows, size.asks, size.repetitions, seed + where, confidence, planned)
            for where, world in enumerate(worlds(analyst, 2 * size.rows, mechanism), start=reseeded(10 * place))
        ]
        results[player] = reduce(add, plays)
    return results


def check(results: dict[str, Result]) -> None:
    for player, result in results.items():
        assert result.tail >= ALARM, f"{player}: {result}"
    together = reduce(add, results.values())
    assert together.tail >= ALARM, f"all players together: {together}"


@pytest.mark.parametrize("confidence", [0.95, 0.5])
@pytest.mark.parametrize("name", MECHANISMS)
@in_two_sizes(short=Plays(100, 24, 4), full=Plays(200, 50, 25))
def test_no_analyst_makes_a_mechanism_miss_too_often(name: str, confidence: float, size: Plays) -> None:
    check(table(name, size, confidence, seed=5000))


@pytest.mark.parametrize("player", ["select_then_vote", "boosting"])
@in_two_sizes(short=600, full=2_000)
def test_a_few_rows_and_many_plays(player: str, size: int) -> None:
    """Misses do occur, and no more than they may: at few rows a word that comes often may spend much of the promise.

    The test can fail at all because of them: of 500 plays 16 missed, so that none of 600 does with a probability of
    3e-9. Of 600 plays 364 missed ones reject, of 2,000 plays 1,117.
    """
    mechanism = GuessAndCheck(z=0.1, cell=0.02)
    result = run(SignWorld(), PLAYERS[player], mechanism, 40, 8, size, reseeded(70 + len(player)), confidence=0.5)
    assert result.tail >= ALARM
    assert result.misses > 0


# The edge guesser is not here: it learns from agreement, and exact answers have none.
@pytest.mark.parametrize("player", sorted(set(PLAYERS) - {"edge_guesser"}))
def test_the_unprotected_control_fails(player: str) -> None:
    """The same test rejects Naive, whoever plays; against the two published attacks it misses most plays.

    Power: 11 missed plays of 24 reject. Of 200 plays by the weakest, averaging, 181 missed: where nine in ten do, 10 or
    fewer of 24 have a probability below 1e-8. Of the two attacks' at least 197 missed: 51 of 60 are asked for.
    """
    analyst = PLAYERS[player]
    published = analyst.name in ("select_then_vote", "boosting")
    plays = 60 if published else 24
    result = run(
        worlds(analyst, 400, Naive())[0], analyst, Naive(), rows=100, asks=61, repetitions=plays, seed=reseeded(3)
    )
    assert result.tail < ALARM, str(result)
    if published:
        assert result.limits(1e-7)[0] > 0.5, str(result)


def test_answers_are_worth_having() -> None:
    """Intervals that cover everything would pass the tests above; these do not."""
    honest = run(SignWorld(), Sharpener(times=1), GuessAndCheck(), rows=2000, asks=30, repetitions=5, seed=reseeded(9))
    assert honest.width < 0.12
    assert honest.misses == 0  # at most 5 % a play by the promise, in truth far below; seeded, so it repeats


@pytest.mark.parametrize("player", ["select_then_vote", "quadratic_adaptive", "boosting"])
def test_no_analyst_moves_the_coin_of_one_sample(player: str) -> None:
    """The promise is about the chance of a yes, which the rows give exactly: (1 − 2·flip)·q(S) + flip."""
    rows, asks = 40_000, 60
    mechanism = OneSample.for_(rows=rows, asks=asks)
    scene = SignWorld().draw(rows, asks, np.random.default_rng(reseeded(4)))
    holdout = Holdout(
        None, scene.labels, mechanism=mechanism, asks=asks, ledger=SeededStore(np.random.default_rng(reseeded(5)))
    )
    rows_themselves = Sample.read(None, scene.labels)
    for answer, truth in PLAYERS[player].play(holdout, scene, asks, np.random.default_rng(reseeded(6))):
        offer, flip = answer.certificate.record.offer, mechanism.flip or 0.0
        seen, true = ((x - offer.low) / (offer.high - offer.low) for x in (_value(rows_themselves, answer), truth))
        assert abs((1 - 2 * flip) * seen + flip - true) <= answer.certificate.numbers["chance"]


def _value(rows: Sample, answer: Answer) -> float:
    assert answer.query is not None
    value = rows.statistics([answer.query])[0]
    return value[0] if isinstance(value, tuple) else value / rows.size
