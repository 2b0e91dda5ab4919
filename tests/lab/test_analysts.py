"""Analysts: they keep to their number of asks, they adapt, and each does what its name says."""

from __future__ import annotations

import numpy as np
import pytest

from unworn import Holdout
from unworn.lab import ANALYSTS, Analyst, FiniteWorld, Played, SeededStore, SignWorld
from unworn.lab.analysts import (
    Boosting,
    EdgeGuesser,
    Fingerprinting,
    RollCall,
    SelectThenVote,
    SurpriseMaximiser,
)
from unworn.lab.analysts.sharpener import Sharpener
from unworn.lab.worlds import Scene
from unworn.mechanisms import GuessAndCheck, Mechanism, Naive

WORLDS = {"sign": SignWorld(), "finite": FiniteWorld(160)}


def play(
    analyst: Analyst, world: str = "finite", mechanism: Mechanism | None = None, asks: int = 30, flip: bool = False
) -> tuple[list[Played], Holdout, Scene]:
    rng = np.random.default_rng(11)
    scene = WORLDS[world].draw(80, asks, rng)
    labels = -scene.labels if flip else scene.labels
    holdout = Holdout(scene.data, labels, mechanism=mechanism or GuessAndCheck(), ledger=SeededStore(rng))
    return list(analyst.play(holdout, scene, asks, np.random.default_rng(12))), holdout, scene


@pytest.mark.parametrize("asks", [1, 2, 5, 30])
@pytest.mark.parametrize("mechanism", [GuessAndCheck(), Naive()], ids=["guess and check", "naive"])
@pytest.mark.parametrize("name", ANALYSTS)
def test_nobody_asks_more_than_they_said(name: str, mechanism: Mechanism, asks: int) -> None:
    played, holdout, _ = play(ANALYSTS[name](), mechanism=mechanism, asks=asks)
    assert len(played) <= asks
    assert holdout.meter.asked <= asks
    assert asks < 5 or len(played) >= asks / 3


@pytest.mark.parametrize("name", [name for name, kind in ANALYSTS.items() if not kind.finite])
def test_what_is_asked_depends_on_what_was_answered(name: str) -> None:
    """Other labels, other answers, and so other questions, though all coins are the same."""
    asked = []
    for flip in (False, True):
        _, holdout, _ = play(ANALYSTS[name](), "sign", GuessAndCheck(z=0.5, cell=0.01), flip=flip)
        records = [(entry.body["fingerprint"], entry.body["guess"]) for entry in holdout._desk.transcript.entries[1:]]
        asked.append(records)
    assert asked[0] != asked[1]


def test_a_roll_call_finds_the_rows() -> None:
    played, _, scene = play(RollCall(), mechanism=Naive(), asks=161)
    assert played[-1].answer.value == 1.0  # all of the rows, though few of the points
    assert played[-1].truth < 0.5
    assert played[-1].truth == pytest.approx(len(np.unique(scene.labels * scene.data["point"])) / 160)


@pytest.mark.parametrize("name", [name for name, kind in ANALYSTS.items() if kind.finite])
def test_who_reasons_about_points_needs_points(name: str) -> None:
    with pytest.raises(TypeError, match="FiniteWorld"):
        play(ANALYSTS[name](), "sign")


@pytest.mark.parametrize("kind", [SelectThenVote, Boosting, Fingerprinting])
def test_an_honest_batch_asks_the_same(kind: type[SelectThenVote | Boosting | Fingerprinting]) -> None:
    """Under a mechanism whose answers do not depend on the order, a batch changes nothing but the entries' places."""
    alone, _, _ = play(kind(), mechanism=Naive())
    together, holdout, _ = play(kind(batch=True), mechanism=Naive())
    assert [(p.answer.value, p.truth) for p in alone] == [(p.answer.value, p.truth) for p in together]
    assert max(entry.body["batch"][1] for entry in holdout._desk.transcript.entries[1:]) > 3


def test_the_surprise_maximiser_is_always_surprised() -> None:
    played, holdout, _ = play(SurpriseMaximiser(), "sign")
    assert holdout.meter.surprises == len(played) == 30


def test_the_edge_guesser_finds_the_edge() -> None:
    """After seven halvings the last guesses on both sides agree, and leave the value between them."""
    played, _, scene = play(EdgeGuesser(steps=7), "sign", asks=15)
    share = float((scene.probe(0).question.source.column.values == scene.labels).mean())
    below = [p.answer for p in played[:7] if p.answer.source == "guess"][-1].certificate.record.offer.payload
    above = [p.answer for p in played[7:14] if p.answer.source == "guess"][-1].certificate.record.offer.payload
    assert below.guess + below.slack - share == pytest.approx(0, abs=0.02)
    assert share - (above.guess - above.slack) == pytest.approx(0, abs=0.02)


def test_the_sharpener_sharpens() -> None:
    played, _, _ = play(Sharpener(), "sign")
    widths = [p.answer.width for p in played[:3]]
    assert widths[0] > widths[1]
    assert played[1].answer.certificate.record.parent == played[0].answer.index
    assert played[2].answer.certificate.record.parent is None  # a second time there is nothing to sharpen: asked again
    assert len(played) == 30
